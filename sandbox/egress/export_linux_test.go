package egress

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// AnyAddress makes every address of a netlink socket's namespace local, even
// of our own.
func AnyAddress(nl int) error { return anyIP(nl) }

// AddAddress gives the loopback device of a netlink socket's namespace an address.
func AddAddress(nl int, p netip.Prefix) error { return request(nl, newAddress(p)) }

// HasIPv6 is hasIPv6.
func HasIPv6() bool { return hasIPv6() }

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
