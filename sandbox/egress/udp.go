package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skillrun/profiles"
)

const (
	maxFlows = 1024             // of datagrams, at once: each has a buffer of maxUDP
	udpIdle  = 60 * time.Second // after which a flow is over
	maxUDP   = 64 << 10
)

// flowKey is one flow of datagrams: the run's socket, by its address or its
// number, and where it sends to.
type flowKey struct {
	from   netip.AddrPort
	socket uint64
	dst    netip.AddrPort
}

// flows are those of a gate.
type flows struct {
	mu sync.Mutex
	m  map[flowKey]*datagramFlow
}

// datagramFlow is one flow under way.
type datagramFlow struct {
	x    *exchange
	up   net.Conn
	last atomic.Int64 // Unix nanoseconds
}

// serveUDP carries datagrams to hosts that the policy grants by UDP. pc is
// bound to a wildcard address inside a namespace in which every address is
// local; with port 0 of a flow's destination, it is pc's own. Names are judged
// by the address alone: what QUIC or DTLS say inside is not looked at.
func (g *Gate) serveUDP(pc net.PacketConn) error {
	port := addrPort(pc.LocalAddr()).Port()
	if !g.hold(pc, true) {
		return net.ErrClosed
	}
	defer g.release(pc)
	d, err := newDatagrams(pc)
	if err != nil {
		return err
	}
	buf := make([]byte, maxUDP)
	failed := failures(0)
	for !g.over(pc) {
		n, p, err := d.read(buf)
		if failed.over(err) {
			return err
		}
		if err != nil || !p.to.IsValid() {
			continue
		}
		key := flowKey{from: p.addr, dst: netip.AddrPortFrom(p.to.Unmap(), port)}
		g.pass(key, buf[:n], func(b []byte) error { return d.write(b, p) })
	}
	return net.ErrClosed
}

// Datagram takes a datagram that a supervisor holds: one that the run's socket
// with this number sends to dst. What comes back goes to answer. It returns
// false for what no rule grants. Port 53 is always the run's resolver.
func (g *Gate) Datagram(socket uint64, dst netip.AddrPort, data []byte, answer func([]byte)) bool {
	dst = netip.AddrPortFrom(dst.Addr().Unmap(), dst.Port())
	if dst.Port() != 53 {
		return g.pass(flowKey{socket: socket, dst: dst}, data, func(b []byte) error { answer(b); return nil })
	}
	select {
	case g.questions <- struct{}{}:
	default:
		return true // the program asks again
	}
	question := slices.Clone(data)
	go func() {
		defer func() { <-g.questions }()
		if reply := g.reply(question, true); reply != nil {
			answer(reply)
		}
	}()
	return true
}

// pass carries one datagram, and what comes back.
func (g *Gate) pass(key flowKey, data []byte, answer func([]byte) error) bool {
	fs := &g.flows
	fs.mu.Lock()
	f, many := fs.m[key], len(fs.m) >= maxFlows
	fs.mu.Unlock()
	if f == nil {
		if f = g.newFlow(key.dst, many); f == nil {
			return false
		}
		if !g.begin() {
			f.x.report()
			g.release(f.up)
			return false
		}
		fs.mu.Lock()
		if fs.m == nil {
			fs.m = map[flowKey]*datagramFlow{}
		}
		fs.m[key] = f
		fs.mu.Unlock()
		g.live.Add(1)
		go func() {
			defer g.work.Done()
			defer g.live.Add(-1)
			f.answers(answer)
			fs.mu.Lock()
			if fs.m[key] == f {
				delete(fs.m, key)
			}
			fs.mu.Unlock()
		}()
	}
	f.last.Store(time.Now().UnixNano())
	if f.x.rule.take(len(data)) < len(data) {
		f.x.v.Reason = OverBytes
		f.up.Close()
		return false
	}
	// Counted first: a host that refuses it at once ends the flow, which is then
	// reported while this goes on.
	f.x.sent.Add(int64(len(data)))
	if _, err := f.up.Write(data); err != nil {
		f.x.sent.Add(-int64(len(data)))
	}
	return true
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
	if x.v.Reason == Granted && x.stands {
		x.v.Reason = Unreachable // proxies carry no datagrams
	}
	if x.v.Reason == Granted && (many || g.live.Load() >= int64(g.cfg.MaxConnections)) {
		x.v.Reason = OverCount
	}
	if x.v.Reason == Granted {
		x.v.Reason = x.admit()
	}
	if x.v.Reason == Granted {
		ctx, cancel := context.WithTimeout(g.ctx, time.Second)
		defer cancel()
		up, err := g.cfg.Dial(ctx, "udp", netip.AddrPortFrom(x.v.Addr, x.v.Port).String())
		if err == nil && g.hold(up, false) {
			f := &datagramFlow{x: x, up: up}
			f.last.Store(time.Now().UnixNano())
			return f
		}
		x.v.Reason = Unreachable
	}
	x.report()
	return nil
}

// answers sends back what comes, until the flow is idle or over.
func (f *datagramFlow) answers(answer func([]byte) error) {
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
		case err != nil: // closed, or refused by the host: the run sees nothing, as on a lossy net
			return
		}
		f.last.Store(time.Now().UnixNano())
		if f.x.rule.take(n) < n {
			f.x.v.Reason = OverBytes
			return
		}
		if answer(buf[:n]) == nil {
			f.x.rcvd.Add(int64(n))
		}
	}
}
