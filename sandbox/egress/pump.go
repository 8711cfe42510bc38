package egress

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	chunk    = 32 << 10        // one read
	maxInUse = 1024            // chunks, of one gate: a run that fills them waits
	maxHeads = 32 << 20        // bytes of heads that are not complete, of one gate
	bulk     = 16 << 20        // bytes moved by the kernel before we look again
	bulkWait = 2 * time.Second // how long a pipe is kept for a sender that paused
)

var errBudget = errors.New("byte budget used up")

// buffers holds read buffers: a connection has one only while bytes are there,
// and all of them together are bounded, whatever a run does.
type buffers struct {
	pool  sync.Pool
	slots chan struct{}
	pipes chan struct{} // places for what the kernel moves
}

// try gives a buffer unless too many are in use.
func (b *buffers) try() *[chunk]byte {
	select {
	case b.slots <- struct{}{}:
		return b.fresh()
	default:
		return nil
	}
}

func (b *buffers) get() *[chunk]byte {
	b.slots <- struct{}{}
	return b.fresh()
}

func (b *buffers) fresh() *[chunk]byte {
	if p, ok := b.pool.Get().(*[chunk]byte); ok {
		return p
	}
	return new([chunk]byte)
}

func (b *buffers) put(p *[chunk]byte) {
	if p != nil {
		b.pool.Put(p)
		<-b.slots
	}
}

// flow is the pair of connections of one exchange, and what passed.
type flow struct {
	buffers *buffers
	rule    *rule
	idle    time.Duration
	moved   atomic.Int64 // when something last passed, Unix nanoseconds
	answer  beginning
}

// beginning is how the answer to a first request begins, which says whether what
// follows is still HTTP (WebSocket).
type beginning struct {
	of    *atomic.Int64 // the count of what the server sends
	b     []byte
	known chan struct{} // closed when b is complete, or nothing more comes
}

const switched = "HTTP/1.1 101"

// note adds what the server sent.
func (g *beginning) note(b []byte) {
	if len(g.b) == len(switched) {
		return
	}
	g.b = append(g.b, b[:min(len(b), len(switched)-len(g.b))]...)
	if len(g.b) == len(switched) {
		close(g.known)
	}
}

// over is called when nothing more comes.
func (g *beginning) over() {
	if len(g.b) < len(switched) {
		close(g.known)
	}
}

// switches waits for the answer, and says whether it leaves HTTP.
func (g *beginning) switches(wait time.Duration) bool {
	select {
	case <-g.known:
		return string(g.b) == switched
	case <-time.After(wait):
		return false
	}
}

// touch notes that something passed.
func (f *flow) touch() { f.moved.Store(time.Now().UnixNano()) }

// left says how long the flow may stay idle from now.
func (f *flow) left() time.Duration {
	return f.idle - time.Duration(time.Now().UnixNano()-f.moved.Load())
}

// pump moves bytes from src to dst until src ends, which it passes on as the
// end of one direction. While nothing comes it holds neither a buffer nor a
// pipe; a sender that fills whole buffers is handed to the kernel (splice),
// unless bytes have a budget, which is exact only when each one is counted.
func (f *flow) pump(dst, src net.Conn, count *atomic.Int64) error {
	for {
		n, err := f.move(dst, src, count)
		if err == nil && n == chunk && f.rule.MaxBytes == 0 {
			err = f.splice(dst, src, count)
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			closeWrite(dst)
			return nil
		default:
			return err
		}
	}
}

// move waits for bytes and passes one read of them on.
func (f *flow) move(dst, src net.Conn, count *atomic.Int64) (int, error) {
	for {
		left := f.left()
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		src.SetReadDeadline(time.Now().Add(left))
		buf, n, err := f.buffers.read(src)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue // the other direction may have moved
		}
		if n > 0 {
			if count == f.answer.of {
				f.answer.note(buf[:n])
			}
			err = f.write(dst, buf[:n], count)
		}
		f.buffers.put(buf)
		return n, err
	}
}

// write passes bytes on, as far as the budget goes.
func (f *flow) write(dst net.Conn, b []byte, count *atomic.Int64) error {
	f.touch()
	allowed := f.rule.take(len(b))
	dst.SetWriteDeadline(time.Now().Add(f.idle))
	n, err := dst.Write(b[:allowed])
	count.Add(int64(n))
	if err == nil && allowed < len(b) {
		err = errBudget
	}
	return err
}

// splice lets the kernel move a stretch of bulk data, unless it does so for too
// many: each takes a pipe, and descriptors are needed elsewhere.
func (f *flow) splice(dst, src net.Conn, count *atomic.Int64) error {
	to, ok := dst.(*net.TCPConn)
	from, ok2 := src.(*net.TCPConn)
	if !ok || !ok2 {
		return nil
	}
	select {
	case f.buffers.pipes <- struct{}{}:
		defer func() { <-f.buffers.pipes }()
	default:
		return nil
	}
	from.SetReadDeadline(time.Now().Add(bulkWait))
	to.SetWriteDeadline(time.Now().Add(f.idle))
	n, err := to.ReadFrom(&io.LimitedReader{R: from, N: bulk})
	count.Add(n)
	f.rule.take(int(n))
	if n > 0 {
		f.touch()
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil // paused, or slower than the stretch: wait without a pipe
	case err == nil && n < bulk:
		return io.EOF
	}
	return err
}

// read waits until src has bytes and only then takes a buffer. What it gives
// goes back with put, also after an error.
func (b *buffers) read(src net.Conn) (*[chunk]byte, int, error) {
	sc, ok := src.(syscall.Conn)
	if !ok {
		buf := b.get()
		n, err := src.Read(buf[:])
		return buf, n, err
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, 0, err
	}
	var buf *[chunk]byte
	var n int
	var rerr error
	crowded := false
	try := func(fd uintptr) bool {
		if buf == nil {
			if buf = b.try(); buf == nil {
				crowded = true
				return true
			}
		}
		for {
			n, rerr = syscall.Read(int(fd), buf[:])
			if rerr != syscall.EINTR {
				break
			}
		}
		if rerr == syscall.EAGAIN {
			b.put(buf)
			buf = nil
			return false
		}
		return true
	}
	for err = raw.Read(try); crowded && err == nil; err = raw.Read(try) {
		crowded = false
		buf = b.get() // and lost again if what was there is gone
	}
	switch {
	case err != nil:
		return buf, 0, err
	case rerr != nil:
		return buf, 0, rerr
	case n == 0:
		return buf, 0, io.EOF
	}
	return buf, n, nil
}

// closeWrite passes the end of a direction on.
func closeWrite(c net.Conn) {
	if t, ok := c.(interface{ CloseWrite() error }); ok {
		t.CloseWrite()
		return
	}
	c.Close()
}
