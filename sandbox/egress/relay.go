package egress

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// relay carries bytes both ways until both have ended, or one fails.
func (x *exchange) relay(up net.Conn) {
	if !x.g.hold(up, false) {
		x.v.Reason = Unreachable
		return
	}
	defer x.g.release(up)
	x.dialed = true
	f := x.flow()
	var why atomic.Value // of whichever direction failed first
	fail := func(err error) {
		why.CompareAndSwap(nil, failure(err))
		reset(x.c)
		reset(up)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer f.answer.over()
		if err := f.pump(x.c, up, &x.rcvd); err != nil {
			fail(err)
		}
	}()
	if err := x.forward(f, up); err != nil {
		fail(err)
	}
	x.g.settle(x.c)
	<-done
	if r, ok := why.Load().(Reason); ok {
		x.v.Reason = r
	}
}

func (x *exchange) flow() *flow {
	f := &flow{buffers: &x.g.buffers, rule: x.rule, idle: x.g.cfg.IdleTimeout}
	f.answer = beginning{of: &x.rcvd, known: make(chan struct{})}
	f.touch()
	return f
}

// failure is the reason that an error of one direction stands for.
func failure(err error) Reason {
	var refused refusal
	switch {
	case errors.As(err, &refused):
		return Reason(refused)
	case errors.Is(err, errBudget):
		return OverBytes
	}
	return Granted // a peer that goes away is no refusal
}

// refusal is the error of a direction that the policy ended.
type refusal Reason

func (r refusal) Error() string { return string(r) }

// forward carries what the run sends. What has not been judged is judged
// first; HTTP is judged request by request.
func (x *exchange) forward(f *flow, up net.Conn) error {
	for !x.free() && !x.seen {
		left := f.left()
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		if why := x.inspect(left); why != Granted {
			return refusal(why)
		}
		if x.seen && len(x.buf) == 0 { // the run ended without a word
			closeWrite(up)
			return nil
		}
	}
	if x.http {
		if err := x.requests(f, up); err != nil || x.http {
			return err
		}
	}
	if len(x.buf) > 0 {
		if err := f.write(up, x.buf, &x.sent); err != nil {
			return err
		}
		x.drop()
	}
	return f.pump(up, x.c, &x.sent)
}

// more reads on into buf.
func (x *exchange) more(f *flow) error {
	for {
		left := f.left()
		if len(x.buf) > 0 {
			left = min(left, x.g.cfg.HeadTimeout)
		}
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		err := x.read(time.Now().Add(left))
		if errors.Is(err, os.ErrDeadlineExceeded) && len(x.buf) == 0 {
			continue
		}
		return err
	}
}

// requests forwards HTTP requests, each after its check, as they came, to their end
// or until the server has left HTTP.
func (x *exchange) requests(f *flow, up net.Conn) error {
	first := true
	for {
		h, err := parseHead(x.buf)
		if errors.Is(err, errMore) {
			if err := x.more(f); err != nil {
				if errors.Is(err, io.EOF) && len(x.buf) == 0 {
					closeWrite(up)
					return nil
				}
				return err
			}
			continue
		}
		if err != nil || h.upgrade != "" && !first {
			return refusal(Malformed)
		}
		if why := x.judgeHead(&h); why != Granted {
			return refusal(why)
		}
		if h.h2c {
			form := h.rewrite(x.buf, h.target, h.host, "", withoutH2C[:]...)
			x.buf, h.size = append(form, x.buf[h.size:]...), len(form)
		}
		if x.parent != nil {
			form, err := x.parent.absoluteForm(x.buf[:h.size], x.host())
			if err != nil {
				return err
			}
			x.buf, h.size = append(form, x.buf[h.size:]...), len(form)
		}
		if err := x.pass(f, up, int64(h.size)); err != nil {
			return err
		}
		if err := x.lookInto(f, &h); err != nil {
			return err
		}
		if err := x.body(f, up, h.length); err != nil {
			return err
		}
		if h.upgrade != "" && f.answer.switches(x.g.cfg.HeadTimeout) {
			x.http = false
			return nil
		}
		first = false
	}
}

// lookInto refuses a body that begins as a request does, where the method is one for
// which many servers read none: they would take it for the next request, with a Host
// that nobody checked. Behind the size of a chunk it begins as no request does.
func (x *exchange) lookInto(f *flow, h *head) error {
	switch h.method {
	case "POST", "PUT", "PATCH":
		return nil
	}
	for h.length > 0 {
		b := x.buf[:min(h.length, int64(len(x.buf)))]
		switch s := classify(b); {
		case s == isHTTP:
			return refusal(Malformed)
		case s != unclear || int64(len(b)) == h.length:
			return nil
		}
		if err := x.more(f); err != nil {
			return err
		}
	}
	return nil
}

// pass forwards exactly n bytes.
func (x *exchange) pass(f *flow, up net.Conn, n int64) error {
	for n > 0 {
		if len(x.buf) == 0 {
			if err := x.more(f); err != nil {
				return err
			}
		}
		m := min(n, int64(len(x.buf)))
		if err := f.write(up, x.buf[:m], &x.sent); err != nil {
			return err
		}
		x.buf = x.buf[m:]
		x.tally() // what was passed on fills nothing
		n -= m
	}
	if len(x.buf) == 0 {
		x.drop()
	}
	return nil
}

// body forwards a body of n bytes, or of chunks if n is -1.
func (x *exchange) body(f *flow, up net.Conn, n int64) error {
	if n >= 0 {
		return x.pass(f, up, n)
	}
	for {
		size, line, err := chunkSize(x.buf)
		if errors.Is(err, errMore) {
			if err := x.more(f); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return refusal(Malformed)
		}
		if size == 0 {
			return x.trailer(f, up, line)
		}
		if err := x.pass(f, up, int64(line)+size); err != nil {
			return err
		}
		for len(x.buf) < 2 {
			if err := x.more(f); err != nil {
				return err
			}
		}
		if x.buf[0] != '\r' || x.buf[1] != '\n' {
			return refusal(Malformed)
		}
		if err := x.pass(f, up, 2); err != nil {
			return err
		}
	}
}

// trailer forwards the end of a chunked body. Trailer fields are refused:
// nearly nobody sends them, and a server that merges them into the head would
// see fields that were not checked.
func (x *exchange) trailer(f *flow, up net.Conn, line int) error {
	for len(x.buf) < line+2 {
		if err := x.more(f); err != nil {
			return err
		}
	}
	if x.buf[line] != '\r' || x.buf[line+1] != '\n' {
		return refusal(Malformed)
	}
	return x.pass(f, up, int64(line)+2)
}
