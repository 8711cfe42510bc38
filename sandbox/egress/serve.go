package egress

import (
	"net"
	"net/netip"
)

// serve accepts connections of the run whose own address, as the accepted
// socket shows it, is where the run wanted to go: a listener inside a network
// namespace in which every address is local.
func (g *Gate) serve(ln net.Listener) error {
	return g.accept(ln, func(c net.Conn) {
		g.exchange(c, DoorGate).plain(addrPort(c.LocalAddr()))
	}, func(c net.Conn) { g.crowd(addrPort(c.LocalAddr())) })
}

// crowd reports a connection that was one too many, to dst if that is known.
func (g *Gate) crowd(dst netip.AddrPort) {
	x := g.exchange(nil, DoorGate)
	if why := x.aim(dst, g.Handed(dst.Addr())); why != Granted && dst.IsValid() {
		x.v.Reason = why
	} else {
		x.v.Reason = OverCount
	}
	x.report()
}

func addrPort(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case *net.TCPAddr:
		ap := a.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
	case *net.UDPAddr:
		ap := a.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
	}
	return netip.AddrPort{}
}
