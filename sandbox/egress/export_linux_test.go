package egress

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// AnyAddress makes every address of a netlink socket's namespace local, even
// of our own.
func AnyAddress(nl int) error { return anyIP(nl) }

// AddAddress gives the loopback device of a netlink socket's namespace an address.
func AddAddress(nl int, p netip.Prefix) error {
	a := p.Addr()
	family := byte(unix.AF_INET)
	if a.Is6() {
		family = unix.AF_INET6
	}
	b := []byte{family, byte(p.Bits()), unix.IFA_F_NODAD, unix.RT_SCOPE_UNIVERSE}
	b = binary.NativeEndian.AppendUint32(b, loIndex)
	b = binary.NativeEndian.AppendUint16(b, uint16(4+a.BitLen()/8))
	b = binary.NativeEndian.AppendUint16(b, unix.IFA_LOCAL)
	return request(nl, netlink(unix.RTM_NEWADDR, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE, append(b, a.AsSlice()...)))
}

// Make makes the sockets on the calling thread, which must be in the namespace.
// It gives their descriptors; -1 stands for an optional one that this kernel
// does not have. The launcher does the same by raw system calls.
func (ns *Namespace) Make() ([]int, error) {
	var fds []int
	for _, s := range ns.Sockets {
		fd, err := unix.Socket(s.Family, s.Type, s.Protocol)
		if err != nil && !s.Optional {
			for _, fd := range fds {
				unix.Close(fd)
			}
			return nil, fmt.Errorf("socket for port %d: %w", s.Port, err)
		}
		if err != nil {
			fd = -1
		}
		fds = append(fds, fd)
	}
	return fds, nil
}
