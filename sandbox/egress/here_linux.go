package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// probeFor bounds the wait for a service of this machine's to refuse, which the
// kernel does at once, and a busy machine notices late. What says nothing within it
// counts as there.
const probeFor = time.Second

// absent says that nobody serves dst, an address of this machine's loopback:
// connecting there would be refused at once. The gate takes a connection before
// it makes its own, so it is asked while the run's connect waits: programs that
// look for a service until it is there would otherwise find it too soon.
//
// The kernel's table of listeners answers as a rule. What is not in it is tried,
// since a firewall's rule may lead it elsewhere.
func (g *Gate) absent(dst netip.AddrPort) bool {
	if !dst.Addr().IsLoopback() || g.listeners.meets(dst) {
		return false
	}
	ctx, cancel := context.WithTimeout(g.ctx, probeFor)
	defer cancel()
	c, err := g.cfg.Dial(ctx, "tcp", dst.String())
	if err == nil {
		c.Close()
	}
	return errors.Is(err, unix.ECONNREFUSED)
}

// listeners asks the kernel which TCP listeners there are, by one socket, since
// to make one takes longer than the question.
type listeners struct {
	mu   sync.Mutex
	made bool
	fd   int // -1 where the kernel does not tell
}

// meets says that the kernel knows of a listener which a connection to dst would
// meet.
func (l *listeners) meets(dst netip.AddrPort) bool {
	const tcpListen = 10
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.made {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
		if err != nil {
			fd = -1
		}
		l.made, l.fd = true, fd
	}
	if l.fd < 0 || unix.Sendto(l.fd, diagnose(dst), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) != nil {
		return false
	}
	var reply [512]byte
	n, _, err := unix.Recvfrom(l.fd, reply[:], unix.MSG_DONTWAIT) // it is there when sendto returns
	return err == nil && n >= unix.SizeofNlMsghdr+2 &&
		binary.NativeEndian.Uint16(reply[4:]) == unix.SOCK_DIAG_BY_FAMILY && reply[unix.SizeofNlMsghdr+1] == tcpListen
}

// Close is for when nobody asks any more.
func (l *listeners) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made && l.fd >= 0 {
		unix.Close(l.fd)
	}
	l.made, l.fd = true, -1
	return nil
}

// diagnose asks for the one socket that a connection to dst would meet, by
// struct inet_diag_req_v2 (sock_diag(7)).
func diagnose(dst netip.AddrPort) []byte {
	b := []byte{unix.AF_INET, unix.IPPROTO_TCP, 0, 0}
	if dst.Addr().Is6() {
		b[0] = unix.AF_INET6
	}
	b = binary.NativeEndian.AppendUint32(b, ^uint32(0)) // in any state
	b = binary.BigEndian.AppendUint16(b, dst.Port())
	b = binary.BigEndian.AppendUint16(b, 0)
	var addr [16]byte
	copy(addr[:], dst.Addr().AsSlice())
	b = append(b, addr[:]...)
	b = append(b, make([]byte, 16)...) // from anywhere
	b = binary.NativeEndian.AppendUint32(b, loIndex)
	b = binary.NativeEndian.AppendUint64(b, ^uint64(0)) // no cookie
	return netlink(unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_REQUEST, b)
}

// unroutable gives the error with which this machine refuses to send to an
// address of IPv6 at all. In the run's namespace every address is local, and a
// program that is not told would not turn to IPv4.
func unroutable(dst netip.Addr) unix.Errno {
	if !dst.Is6() || dst.IsLoopback() {
		return 0
	}
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = unix.Connect(fd, &unix.SockaddrInet6{Port: 53, Addr: dst.As16()})
	}
	var e unix.Errno
	errors.As(err, &e)
	return e
}
