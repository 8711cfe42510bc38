package egress

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"skillrun/profiles"
)

// pending keeps, for each connection that a supervisor led to the gate, where
// the run wanted to go, under the address of the run's socket.
type pending struct {
	mu    sync.Mutex
	m     map[netip.AddrPort]*waiting
	tcp   [2]netip.AddrPort // of the gate's listeners: IPv4, IPv6
	udp   [2]netip.AddrPort
	dns   [2]netip.AddrPort
	dnsT  [2]netip.AddrPort
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

// at picks the door of the same family as dst.
func at(doors *[2]netip.AddrPort, dst netip.Addr) netip.AddrPort {
	if dst.Is4() {
		return doors[0]
	}
	return doors[1]
}

func (g *Gate) door(doors *[2]netip.AddrPort, a net.Addr) {
	ap := addrPort(a)
	g.known.mu.Lock()
	defer g.known.mu.Unlock()
	if ap.Addr().Is4() {
		doors[0] = ap
	} else {
		doors[1] = ap
	}
}

// UseDNS names the loopback sockets on which ServeDNS and ServeDNSTCP run, for
// Connect to send the run's questions to. Call it once per family.
func (g *Gate) UseDNS(udp, tcp net.Addr) {
	g.door(&g.known.dns, udp)
	g.door(&g.known.dnsT, tcp)
}

// ServeRegistered accepts connections that a supervisor led here by Connect.
// ln is on loopback; one of each family is enough. A connection of which the
// supervisor knows nothing is reset.
func (g *Gate) ServeRegistered(ln net.Listener) error {
	g.door(&g.known.tcp, ln.Addr())
	return g.accept(ln, func(c net.Conn) {
		x := g.exchange(c, DoorGate)
		dst, ok := g.known.wait(g.ctx, addrPort(c.RemoteAddr()))
		if !ok {
			reset(c)
			x.v.Reason = NotRegistered
			x.report()
			return
		}
		x.plain(dst)
	})
}

// Connect decides about a connect or an addressed send that a supervisor
// holds, and says where to lead it. dst is what the run asked for, an
// IPv4-mapped address counting as IPv4; proto is TCP or UDP.
//
// If the verdict is allowed, the supervisor connects the run's socket to door,
// which has dst's family, and calls register with the socket's local address
// as soon as it knows it; register is nil where nothing needs it (DNS). If it
// is refused, the supervisor fails the call with ECONNREFUSED and reports the
// verdict; what depends on the bytes is refused by the gate later. Port 53 is
// always the run's resolver. A door that is not being served is invalid: the
// verdict is then a refusal.
func (g *Gate) Connect(dst netip.AddrPort, proto profiles.Protocol) (door netip.AddrPort, register func(local netip.AddrPort), verdict Verdict) {
	dst = netip.AddrPortFrom(dst.Addr().Unmap(), dst.Port())
	x := g.exchange(nil, DoorGate)
	x.v.Protocol = proto
	g.known.mu.Lock()
	tcp, udp, dns, dnsTCP := g.known.tcp, g.known.udp, g.known.dns, g.known.dnsT
	g.known.mu.Unlock()
	doors := &tcp
	switch {
	case dst.Port() == 53 && proto == profiles.UDP:
		doors = &dns
	case dst.Port() == 53:
		doors = &dnsTCP
	case proto == profiles.UDP:
		doors = &udp
	}
	v := &x.v
	switch {
	case dst.Addr().Zone() != "" || proto != profiles.TCP && proto != profiles.UDP:
		v.Addr, v.Port, v.Reason = dst.Addr(), dst.Port(), UnknownAddr
	case dst.Port() == 53:
		v.Addr, v.Port = dst.Addr(), dst.Port()
	default:
		v.Reason = x.aim(dst, g.Handed(dst.Addr()))
	}
	if door = at(doors, dst.Addr()); v.Reason == Granted && !door.IsValid() {
		v.Reason = Unreachable
	}
	v.Allowed = v.Reason == Granted
	if x.rule != nil {
		v.Rule = x.rule.HostRule
	}
	if v.Allowed && dst.Port() != 53 {
		register = func(local netip.AddrPort) {
			g.known.register(netip.AddrPortFrom(local.Addr().Unmap().WithZone(""), local.Port()), dst)
		}
	}
	if !v.Allowed {
		door = netip.AddrPort{}
	}
	return door, register, *v
}
