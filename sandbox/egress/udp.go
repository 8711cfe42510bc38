package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"skillrun/profiles"
)

const (
	maxFlows = 1024             // of datagrams, at once
	udpIdle  = 60 * time.Second // after which a flow is over
	maxUDP   = 64 << 10
)

// flowKey is one flow of datagrams: the run's socket and where it sends to.
type flowKey struct{ from, dst netip.AddrPort }

// datagramFlow is one flow under way.
type datagramFlow struct {
	x    *exchange
	up   net.Conn
	last atomic.Int64 // Unix nanoseconds
}

// ServeUDP carries datagrams to hosts that the policy grants by UDP. pc is
// bound to a wildcard address inside a namespace in which every address is
// local; with port 0 of a flow's destination, it is pc's own. Names are judged
// by the address alone: what QUIC or DTLS say inside is not looked at.
func (g *Gate) ServeUDP(pc net.PacketConn) error {
	port := addrPort(pc.LocalAddr()).Port()
	return g.serveUDP(pc, func(p peer) (netip.AddrPort, bool) {
		return netip.AddrPortFrom(p.to.Unmap(), port), p.to.IsValid()
	})
}

// ServeUDPRegistered carries datagrams that a supervisor led here by Connect.
func (g *Gate) ServeUDPRegistered(pc net.PacketConn) error {
	g.door(&g.known.udp, pc.LocalAddr())
	return g.serveUDP(pc, func(p peer) (netip.AddrPort, bool) {
		return g.known.peek(netip.AddrPortFrom(p.addr.Addr().Unmap().WithZone(""), p.addr.Port()))
	})
}

// peek gives the destination of a socket's datagrams without waiting.
func (p *pending) peek(local netip.AddrPort) (netip.AddrPort, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.m[local]
	if w == nil || !w.dst.IsValid() {
		return netip.AddrPort{}, false
	}
	w.since = time.Now()
	return w.dst, true
}

func (g *Gate) serveUDP(pc net.PacketConn, destination func(peer) (netip.AddrPort, bool)) error {
	if !g.hold(pc) {
		return net.ErrClosed
	}
	defer g.release(pc)
	d, err := newDatagrams(pc)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	flows := map[flowKey]*datagramFlow{}
	buf := make([]byte, maxUDP)
	failed := failures(0)
	for {
		n, p, err := d.read(buf)
		if failed.over(err) {
			return err
		}
		if err != nil {
			continue
		}
		dst, ok := destination(p)
		if !ok {
			continue
		}
		key := flowKey{p.addr, dst}
		mu.Lock()
		f, many := flows[key], len(flows) >= maxFlows
		mu.Unlock()
		if f == nil {
			if f = g.newFlow(dst, many); f == nil {
				continue
			}
			if !g.begin() {
				f.x.report()
				return net.ErrClosed
			}
			mu.Lock()
			flows[key] = f
			mu.Unlock()
			go func() {
				defer g.work.Done()
				f.answers(d, p)
				mu.Lock()
				delete(flows, key)
				mu.Unlock()
			}()
		}
		f.last.Store(time.Now().UnixNano())
		if f.x.rule.take(n) < n {
			f.x.v.Reason = OverBytes
			f.up.Close()
			continue
		}
		if m, err := f.up.Write(buf[:n]); err == nil {
			f.x.sent.Add(int64(m))
		}
	}
}

// newFlow judges a flow's first datagram; nil means that it was refused and
// reported.
func (g *Gate) newFlow(dst netip.AddrPort, many bool) *datagramFlow {
	x := g.exchange(nil, DoorUDP)
	x.v.Protocol = profiles.UDP
	x.v.Reason = x.aim(dst, g.Handed(dst.Addr()))
	if x.v.Reason == Granted && x.rule.ReadOnly {
		x.v.Reason = ReadOnly // nothing shows what a datagram asks for
	}
	if x.v.Reason == Granted && many {
		x.v.Reason = OverCount
	}
	if x.v.Reason == Granted {
		x.v.Reason = x.admit()
	}
	if x.v.Reason == Granted {
		ctx, cancel := context.WithTimeout(g.ctx, time.Second)
		defer cancel()
		up, err := g.cfg.Dial(ctx, "udp", netip.AddrPortFrom(x.v.Addr, x.v.Port).String())
		if err == nil && g.hold(up) {
			return &datagramFlow{x: x, up: up}
		}
		x.v.Reason = Unreachable
	}
	x.report()
	return nil
}

// answers sends back what comes, until the flow is idle or over.
func (f *datagramFlow) answers(d *datagrams, p peer) {
	defer f.x.report()
	defer f.x.g.release(f.up)
	buf := make([]byte, maxUDP)
	for {
		idle := udpIdle - time.Duration(time.Now().UnixNano()-f.last.Load())
		if idle <= 0 {
			return
		}
		f.up.SetReadDeadline(time.Now().Add(idle))
		n, err := f.up.Read(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			continue
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // refused by the host: the run sees nothing, as on a lossy net
			return
		}
		f.last.Store(time.Now().UnixNano())
		if f.x.rule.take(n) < n {
			f.x.v.Reason = OverBytes
			return
		}
		if d.write(buf[:n], p) == nil {
			f.x.rcvd.Add(int64(n))
		}
	}
}
