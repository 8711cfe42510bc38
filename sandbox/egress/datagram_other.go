//go:build !linux

package egress

import (
	"net"
	"net/netip"
)

// datagrams reads and writes datagrams. Here the address on our side is not
// known; sockets are bound to one.
type datagrams struct{ pc net.PacketConn }

type peer struct {
	from net.Addr
	addr netip.AddrPort
	to   netip.Addr
}

func newDatagrams(pc net.PacketConn) (*datagrams, error) { return &datagrams{pc}, nil }

func (d *datagrams) read(b []byte) (int, peer, error) {
	n, from, err := d.pc.ReadFrom(b)
	p := peer{from: from}
	if u, ok := from.(*net.UDPAddr); ok {
		p.addr = u.AddrPort()
	}
	return n, p, err
}

func (d *datagrams) write(b []byte, p peer) error {
	_, err := d.pc.WriteTo(b, p.from)
	return err
}
