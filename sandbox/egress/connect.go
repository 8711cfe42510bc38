package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// pending keeps, for each connection that a supervisor led to the gate, where
// the run wanted to go, under the address of the run's socket.
type pending struct {
	mu    sync.Mutex
	m     map[netip.AddrPort]*waiting
	gate  netip.AddrPort // of the listeners that ServeLoopback made
	dns   netip.AddrPort
	sweep time.Time
}

type waiting struct {
	dst   netip.AddrPort
	known chan struct{} // closed when dst is set
	since time.Time
}

const (
	// registerWait is how long the gate waits for the supervisor to say where
	// a connection that it accepted wanted to go: accept can come first.
	registerWait = 2 * time.Second
	staleAfter   = time.Minute
)

func (p *pending) slot(local netip.AddrPort) *waiting {
	now := time.Now()
	if p.m == nil {
		p.m = map[netip.AddrPort]*waiting{}
	}
	if now.Sub(p.sweep) > staleAfter {
		p.sweep = now
		for k, w := range p.m {
			if now.Sub(w.since) > staleAfter {
				delete(p.m, k)
			}
		}
	}
	w := p.m[local]
	if w == nil {
		w = &waiting{known: make(chan struct{}), since: now}
		p.m[local] = w
	}
	return w
}

func (p *pending) register(local, dst netip.AddrPort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.slot(local)
	if w.dst.IsValid() { // the port was used before, and its connection never came
		delete(p.m, local)
		w = p.slot(local)
	}
	w.dst = dst
	close(w.known)
}

// take gives the destination of the connection from local, once, if it is known.
func (p *pending) take(local netip.AddrPort) netip.AddrPort {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.m[local]
	if w == nil || !w.dst.IsValid() {
		return netip.AddrPort{}
	}
	delete(p.m, local)
	return w.dst
}

// wait gives the destination of the connection from local, once.
func (p *pending) wait(over context.Context, local netip.AddrPort) (netip.AddrPort, bool) {
	p.mu.Lock()
	w := p.slot(local)
	p.mu.Unlock()
	select {
	case <-w.known:
	case <-time.After(registerWait):
	case <-over.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m[local] == w {
		delete(p.m, local)
	}
	return w.dst, w.dst.IsValid()
}

// ServeLoopback serves a run that has no network namespace, and whose sockets a
// supervisor makes: it listens on loopback for what [Gate.Connect] leads there,
// and returns at once. A connection of which the supervisor knows nothing is
// reset. Call it once.
func (g *Gate) ServeLoopback() error {
	listen := func(door *netip.AddrPort) (net.Listener, error) {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("listen for the run on loopback: %w", err)
		}
		*door = addrPort(ln.Addr())
		return ln, nil
	}
	g.known.mu.Lock()
	defer g.known.mu.Unlock()
	gate, err := listen(&g.known.gate)
	if err != nil {
		return err
	}
	dns, err := listen(&g.known.dns)
	if err != nil {
		gate.Close()
		return err
	}
	g.hold(dns, true) // here, since Close may come before the goroutines
	g.hold(gate, true)
	go g.serveDNSTCP(dns)
	go g.accept(gate, func(c net.Conn) {
		x := g.exchange(c, DoorGate)
		dst, ok := g.known.wait(g.ctx, addrPort(c.RemoteAddr()))
		if !ok {
			reset(c)
			x.v.Reason = NotRegistered
			x.report()
			return
		}
		x.plain(dst)
	}, func(c net.Conn) { g.crowd(g.known.take(addrPort(c.RemoteAddr()))) })
	return nil
}

// Connect decides about a connect that a supervisor holds, and says where to
// lead it. dst is what the run asked for, an IPv4-mapped address counting as
// IPv4.
//
// If the verdict is allowed, the supervisor connects the run's socket to door,
// which is on IPv4 loopback, and calls register with the socket's local address
// as soon as it knows it; register is nil where nothing needs it (DNS). If it
// is refused, the supervisor fails the call with ECONNREFUSED and reports the
// verdict; what depends on the bytes is refused by the gate later. Port 53 is
// always the run's resolver.
func (g *Gate) Connect(dst netip.AddrPort) (door netip.AddrPort, register func(local netip.AddrPort), verdict Verdict) {
	dst = netip.AddrPortFrom(dst.Addr().Unmap(), dst.Port())
	x := g.exchange(nil, DoorGate)
	g.known.mu.Lock()
	gate, dns := g.known.gate, g.known.dns
	g.known.mu.Unlock()
	v := &x.v
	switch door = gate; {
	case dst.Addr().Zone() != "":
		v.Addr, v.Port, v.Reason = dst.Addr(), dst.Port(), UnknownAddr
	case dst.Port() == 53:
		v.Addr, v.Port = dst.Addr(), dst.Port()
		door = dns
	default:
		v.Reason = x.aim(dst, g.Handed(dst.Addr()))
	}
	switch {
	case v.Reason != Granted:
	case !door.IsValid():
		v.Reason = Unreachable
	case g.live.Load() >= int64(g.cfg.MaxConnections):
		v.Reason = OverCount
	case dst.Port() != 53 && g.absent(dst):
		v.Reason = Unreachable
	}
	v.Allowed = v.Reason == Granted
	if x.rule != nil {
		v.Rule = x.rule.HostRule
	}
	if !v.Allowed {
		return netip.AddrPort{}, nil, *v
	}
	if dst.Port() != 53 {
		register = func(local netip.AddrPort) {
			g.known.register(netip.AddrPortFrom(local.Addr().Unmap().WithZone(""), local.Port()), dst)
		}
	}
	return door, register, *v
}
