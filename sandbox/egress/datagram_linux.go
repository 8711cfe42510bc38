package egress

import (
	"errors"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// datagrams reads and writes datagrams together with the address on our side:
// behind a wildcard socket a program expects the answer from the address that
// it asked, and a flow's destination is that address.
type datagrams struct {
	pc  net.PacketConn
	udp *net.UDPConn // nil if pc is something else
}

// peer is the program's address, and the one of ours that it sent to.
type peer struct {
	from net.Addr // where only this is known
	addr netip.AddrPort
	to   netip.Addr
	six  bool
}

func newDatagrams(pc net.PacketConn) (*datagrams, error) {
	d := &datagrams{pc: pc}
	udp, ok := pc.(*net.UDPConn)
	if !ok {
		return d, nil
	}
	raw, err := udp.SyscallConn()
	if err != nil {
		return nil, err
	}
	var four, six error
	err = raw.Control(func(fd uintptr) {
		four = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
		six = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	})
	if err != nil || four != nil && six != nil {
		return nil, errors.Join(err, four, six)
	}
	d.udp = udp
	return d, nil
}

func (d *datagrams) read(b []byte) (int, peer, error) {
	if d.udp == nil {
		n, from, err := d.pc.ReadFrom(b)
		return n, peer{from: from}, err
	}
	var oob [128]byte
	n, oobn, _, addr, err := d.udp.ReadMsgUDPAddrPort(b, oob[:])
	if err != nil {
		return 0, peer{}, err
	}
	p := peer{addr: addr}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return n, p, nil
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_PKTINFO && len(m.Data) >= 12:
			p.to = netip.AddrFrom4([4]byte(m.Data[8:12]))
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_PKTINFO && len(m.Data) >= 16:
			p.to, p.six = netip.AddrFrom16([16]byte(m.Data[:16])), true
		}
	}
	return n, p, nil
}

func (d *datagrams) write(b []byte, p peer) error {
	if d.udp == nil {
		_, err := d.pc.WriteTo(b, p.from)
		return err
	}
	var oob []byte
	switch {
	case !p.to.IsValid():
	case p.six && !p.to.Is4In6():
		oob = unix.PktInfo6(&unix.Inet6Pktinfo{Addr: p.to.As16()})
	default:
		oob = unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: p.to.Unmap().As4()})
	}
	_, _, err := d.udp.WriteMsgUDPAddrPort(b, oob, p.addr)
	return err
}
