package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"skillrun/profiles"
)

// exchange is one connection of the run on its way through the gate.
type exchange struct {
	g    *Gate
	c    net.Conn
	v    Verdict
	buf  []byte // bytes of the run, read and not yet passed on
	held int64  // bytes of it that are counted
	seen bool   // buf was inspected
	http bool   // each request has to be checked
	sent atomic.Int64
	rcvd atomic.Int64

	names  map[string]*rule // what the rules grant at this address and port, by name
	addr   *rule            // what they grant to the address itself, nil if nothing
	rule   *rule            // the one that decided
	dialed bool
	tls    bool    // the first bytes are a client hello
	stands bool    // the address stands for the name
	parent *parent // each request is for this proxy, in absolute form
}

// firstBytes is how long the gate waits for the run to speak before it
// connects. What speaks within it is judged before anything leaves; what does
// not (the server speaks first) is judged when it does. On the ports of the web
// no server does, and programs may take their time: which of several names it is,
// and whether a proxy is asked, only their bytes tell.
const firstBytes = 40 * time.Millisecond

// firstBytesToProxy is the same where a proxy is asked for what is TLS or HTTP: a
// connection that is made without it is often no way at all.
const firstBytesToProxy = time.Second

// patience is how long the gate waits for this connection's first bytes.
func (x *exchange) patience() time.Duration {
	switch {
	case web(x.v.Port) && x.stands:
		return x.g.cfg.IdleTimeout
	case web(x.v.Port):
		return x.g.cfg.HeadTimeout
	case x.stands:
		return firstBytesToProxy
	}
	return firstBytes
}

// web says that a port carries nothing but TLS and HTTP.
func web(port uint16) bool { return port == 80 || port == 443 }

func (g *Gate) exchange(c net.Conn, door Door) *exchange {
	return &exchange{g: g, c: c, v: Verdict{Start: g.cfg.Now(), Door: door, Protocol: profiles.TCP, Reason: Granted}}
}

// report ends the exchange's story.
func (x *exchange) report() {
	x.drop()
	x.v.Sent, x.v.Received = x.sent.Load(), x.rcvd.Load()
	x.v.Allowed = x.v.Reason == Granted
	if x.rule != nil {
		x.v.Rule = x.rule.HostRule
	}
	x.g.cfg.Report(x.v)
}

// aim finds what the rules grant at an address, for the names that it was
// given out for.
func (x *exchange) aim(dst netip.AddrPort, names []string) Reason {
	x.v.Addr, x.v.Port = dst.Addr().Unmap(), dst.Port()
	if x.stands = x.g.cfg.Parents.standsIn(x.v.Addr); x.stands {
		x.v.Addr = netip.Addr{} // the name alone is judged
	}
	q := Request{Addr: x.v.Addr, Port: x.v.Port, Protocol: x.v.Protocol}
	var why Reason
	x.addr, why = x.g.policy.decide(q)
	slices.Sort(names)
	x.names = map[string]*rule{}
	for _, n := range names {
		q.Name = n
		r, w := x.g.policy.decide(q)
		if r != nil {
			x.names[n] = r
			if x.v.Name == "" {
				x.v.Name = n
			}
		} else if x.addr == nil && len(x.names) == 0 {
			why, x.v.Name = w, n
		}
	}
	if x.addr == nil && len(x.names) == 0 {
		return why
	}
	if x.rule = x.addr; x.rule == nil || x.rule.ReadOnly && x.v.Name != "" {
		x.rule = x.names[x.v.Name]
	}
	return Granted
}

// free says that no look at the bytes can change the decision.
func (x *exchange) free() bool { return x.addr != nil && !x.addr.ReadOnly }

// admit asks the budgets.
func (x *exchange) admit() Reason { return x.rule.admit(x.g.cfg.Now()) }

// dial connects to the first address that answers.
func (x *exchange) dial(addrs []netip.Addr) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(x.g.ctx, x.g.cfg.HeadTimeout)
	defer cancel()
	var err error
	for i, a := range addrs {
		try, stop := ctx, context.CancelFunc(func() {})
		if i < len(addrs)-1 {
			try, stop = context.WithTimeout(ctx, 3*time.Second)
		}
		var up net.Conn
		up, err = x.g.cfg.Dial(try, "tcp", netip.AddrPortFrom(a, x.v.Port).String())
		stop()
		if err == nil {
			x.v.Addr = a
			return up, nil
		}
	}
	return nil, err
}

// plain carries a connection whose destination is known by address.
func (x *exchange) plain(dst netip.AddrPort) {
	defer x.report()
	if x.v.Reason = x.aim(dst, x.g.Handed(dst.Addr())); x.v.Reason != Granted {
		reset(x.c)
		return
	}
	if !x.free() {
		if x.v.Reason = x.inspect(x.patience()); x.v.Reason != Granted {
			x.refuse()
			return
		}
	}
	if x.v.Reason = x.admit(); x.v.Reason != Granted {
		x.refuse()
		return
	}
	up, err := x.reach(x.addresses())
	if err != nil && x.stands && !x.seen {
		// Silent so far, and there is no way without the proxy.
		if x.v.Reason = x.inspect(x.g.cfg.IdleTimeout); x.v.Reason != Granted {
			x.refuse()
			return
		}
		if x.tls || x.http {
			up, err = x.reach(nil)
		}
	}
	if err != nil {
		x.v.Reason = Unreachable
		reset(x.c)
		return
	}
	x.relay(up)
}

// addresses are where the connection may be made: the address that the run chose
// and then, as the run was told at once that it is connected and will not try
// them itself, what else was given out for the name.
func (x *exchange) addresses() []netip.Addr {
	addrs := []netip.Addr{x.v.Addr}
	if x.free() || x.v.Name == "" {
		return addrs
	}
	for _, a := range x.g.handed.addresses(x.v.Name, x.g.cfg.Now()) {
		q := Request{Name: x.v.Name, Addr: a, Port: x.v.Port, Protocol: x.v.Protocol}
		if r, _ := x.g.policy.decide(q); r == x.rule && a != x.v.Addr {
			addrs = append(addrs, a)
		}
	}
	return addrs
}

// inspect reads until it is clear what the run speaks, and compares names. A
// run that says nothing within wait is judged later.
func (x *exchange) inspect(wait time.Duration) Reason {
	until := time.Now().Add(wait)
	if len(x.buf) > 0 {
		until = time.Now().Add(x.g.cfg.HeadTimeout)
	}
	for {
		if len(x.buf) > 0 {
			why, err := x.judge()
			if err == nil {
				x.seen = why == Granted
				return why
			}
			if !errors.Is(err, errMore) {
				return Malformed
			}
		}
		silent := len(x.buf) == 0
		err := x.read(until)
		switch {
		case err != nil && silent && len(x.buf) == 0:
			// Silence, or an end without a word: nothing to judge.
			x.seen = !errors.Is(err, os.ErrDeadlineExceeded)
			return Granted
		case err != nil:
			return Malformed
		case silent:
			until = time.Now().Add(x.g.cfg.HeadTimeout)
		}
	}
}

// read reads on into buf.
func (x *exchange) read(until time.Time) error {
	x.c.SetReadDeadline(until)
	b, n, err := x.g.buffers.read(x.c)
	if n > 0 {
		x.buf = append(x.buf, b[:n]...)
		if x.tally() > maxHeads {
			err = errCrowd
		}
	}
	x.g.buffers.put(b)
	return err
}

// drop forgets what was read.
func (x *exchange) drop() {
	x.buf = nil
	x.tally()
}

// tally counts of this connection what buf has now, and gives the sum of all.
func (x *exchange) tally() int64 {
	n := int64(len(x.buf)) - x.held
	x.held += n
	return x.g.heads.Add(n)
}

var errCrowd = errors.New("too many incomplete heads")

// judge says what buf means, or errMore. It is asked where a name decides, or
// an address that is granted for reading only.
func (x *exchange) judge() (Reason, error) {
	switch classify(x.buf) {
	case unclear:
		return "", errMore
	case isTLS:
		h, err := parseHello(x.buf)
		if errors.Is(err, errMore) && len(x.buf) < maxHello {
			return "", errMore
		}
		if err != nil {
			return Malformed, nil
		}
		x.tls = true
		x.v.TLSName = cut(h.name)
		return x.judgeHello(h), nil
	case isHTTP:
		h, err := parseHead(x.buf)
		if err != nil {
			return Malformed, err
		}
		x.http = true
		return x.judgeHead(&h), nil
	case oddTLS:
		return Malformed, nil
	}
	// Not TLS, not HTTP: nothing names a host. The ports of the web carry
	// nothing else.
	if x.rule.ReadOnly || web(x.v.Port) {
		return Malformed, nil
	}
	return Granted, nil
}

func (x *exchange) judgeHello(h hello) Reason {
	if x.addr != nil {
		return Granted // by address; the method under TLS is not visible
	}
	if h.name == "" {
		if h.ech {
			return HiddenName
		}
		return Granted // names nothing else than the address does
	}
	t, err := ParseTarget(h.name)
	switch {
	case err == nil && x.choose(t.Name):
		return Granted
	case h.ech:
		return HiddenName
	}
	return Mismatch
}

// choose settles on one of several names that the address was given out for. One
// that is allowed by another rule has to have a connection of its own, unless this
// one was made before it said anything and the rules differ in names alone.
func (x *exchange) choose(name string) bool {
	r := x.names[name]
	switch {
	case r == nil:
		return false
	case x.dialed && (name == x.v.Name || r == x.rule):
		return true
	case x.dialed && (x.seen || !r.like(x.rule) || !slices.Contains(x.g.Handed(x.v.Addr), name)):
		return false
	}
	x.v.Name, x.rule = name, r
	return true
}

// judgeHead checks one request.
func (x *exchange) judgeHead(h *head) Reason {
	x.v.HTTPHost = cut(h.host)
	switch {
	case x.addr != nil && h.readOnly():
		return Granted // by address, whatever it names
	case !x.named(h):
		if x.addr != nil {
			return ReadOnly
		}
		return Mismatch
	case x.rule.ReadOnly && !h.readOnly():
		return ReadOnly
	case h.upgrade != "" && (h.length != 0 || !strings.EqualFold(h.upgrade, "websocket")):
		return Malformed
	}
	return Granted
}

// named says whether a request names nothing but what the address was given out
// for, and settles on that.
func (x *exchange) named(h *head) bool {
	for _, s := range []string{h.authority, h.host} {
		if s == "" {
			continue
		}
		t, _, err := splitHostPort(s)
		if slices.Contains(loopback[:], t.Addr) || t.Addr.IsUnspecified() {
			t.Name = localhost // which connecting there comes to
		}
		if err != nil || !x.choose(t.Name) {
			return false
		}
	}
	return h.method != "CONNECT" // a tunnel's end would not be seen
}

// cut bounds what an audit record has to carry.
func cut(s string) string { return s[:min(len(s), 255)] }
