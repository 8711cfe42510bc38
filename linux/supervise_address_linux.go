package linux

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inet reads an internet address for a socket of a family. AF_UNSPEC gives the
// zero address. IPv4-mapped addresses become IPv4. mixed says that a socket of
// IPv6 takes addresses of IPv4 as they are.
func (a *address) inet(six, mixed bool) (netip.AddrPort, unix.Errno) {
	switch a.family {
	case unix.AF_UNSPEC:
		return netip.AddrPort{}, 0
	case unix.AF_INET:
		switch {
		case six && !mixed:
			return netip.AddrPort{}, unix.EAFNOSUPPORT
		case len(a.raw) < unix.SizeofSockaddrInet4:
			return netip.AddrPort{}, unix.EINVAL
		}
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(a.raw[4:8])), binary.BigEndian.Uint16(a.raw[2:])), 0
	case unix.AF_INET6:
		const withoutScope = 24 // RFC 2133
		switch {
		case !six:
			return netip.AddrPort{}, unix.EAFNOSUPPORT
		case len(a.raw) < withoutScope:
			return netip.AddrPort{}, unix.EINVAL
		}
		addr := netip.AddrFrom16([16]byte(a.raw[8:24])).Unmap()
		if len(a.raw) >= unix.SizeofSockaddrInet6 && addr.IsLinkLocalUnicast() {
			addr = addr.WithZone(strconv.Itoa(int(binary.NativeEndian.Uint32(a.raw[24:]))))
		}
		return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(a.raw[2:])), 0
	}
	return netip.AddrPort{}, unix.EAFNOSUPPORT
}

// specified gives the address that an unspecified destination means.
func specified(dst netip.AddrPort) netip.AddrPort {
	switch {
	case !dst.Addr().IsUnspecified():
		return dst
	case dst.Addr().Is4():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), dst.Port())
	}
	return netip.AddrPortFrom(netip.IPv6Loopback(), dst.Port())
}

// inetRaw is an address in the kernel's form for a socket of a family.
func inetRaw(a netip.AddrPort, six bool) []byte {
	if !six {
		raw := make([]byte, unix.SizeofSockaddrInet4)
		binary.NativeEndian.PutUint16(raw, unix.AF_INET)
		binary.BigEndian.PutUint16(raw[2:], a.Port())
		if a.Addr().Is4() {
			four := a.Addr().As4()
			copy(raw[4:], four[:])
		}
		return raw
	}
	raw := make([]byte, unix.SizeofSockaddrInet6)
	binary.NativeEndian.PutUint16(raw, unix.AF_INET6)
	binary.BigEndian.PutUint16(raw[2:], a.Port())
	sixteen := a.Addr().As16()
	copy(raw[8:], sixteen[:])
	return raw
}

// localOf is the address of an internet socket of ours. It is one system call,
// where x/sys makes two.
func localOf(fd int) netip.AddrPort {
	var raw [unix.SizeofSockaddrInet6]byte
	size := uint32(len(raw))
	_, _, e := unix.Syscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&raw)), uintptr(unsafe.Pointer(&size)))
	if e != 0 {
		return netip.AddrPort{}
	}
	a := address{raw: raw[:min(size, uint32(len(raw)))], family: binary.NativeEndian.Uint16(raw[:])}
	at, _ := a.inet(a.family == unix.AF_INET6, false)
	return at
}

// source gives the address from which this machine would send to dst, or the
// error for which it would not. No packet is sent.
func source(dst netip.AddrPort) (netip.Addr, unix.Errno) {
	domain := unix.AF_INET
	if dst.Addr().Is6() {
		domain = unix.AF_INET6
	}
	fd, err := unix.Socket(domain, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return netip.Addr{}, errno(err)
	}
	defer unix.Close(fd)
	if e := connectRaw(fd, inetRaw(dst, domain == unix.AF_INET6)); e != 0 {
		return netip.Addr{}, e
	}
	return localOf(fd).Addr(), 0
}

// listens says whether a stream still listens: the kernel's table lists it,
// by address and inode number, before all connections.
func (s *Supervisor) listens(k *inetSocket) bool {
	file := "tcp"
	if k.six {
		file = "tcp6"
	}
	at, ino, found := tableAddress(k.actual, k.six), strconv.FormatUint(k.ino, 10), false
	s.eachStream(file, func(local, state, number string) bool {
		found = state == tcpListen && local == at && number == ino
		return !found && state == tcpListen // all of these come first
	})
	return found
}

// streamState gives the state of a stream as the kernel's table has it, "" for one that
// is not in it.
func (s *Supervisor) streamState(ino uint64) (is string) {
	for _, file := range [...]string{"tcp", "tcp6"} {
		s.eachStream(file, func(_, state, number string) bool {
			if number == strconv.FormatUint(ino, 10) {
				is = state
			}
			return is == ""
		})
	}
	return is
}

// States of a stream, as /proc/net/tcp spells them.
const (
	tcpSynSent = "02"
	tcpListen  = "0A"
)

// eachStream tells of the streams in one of the kernel's tables, by address, state and
// inode number, as long as each wants more.
func (s *Supervisor) eachStream(file string, each func(local, state, ino string) bool) {
	fd, err := unix.Openat(s.proc, "thread-self/net/"+file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	buf := make([]byte, 0, 16<<10)
	for {
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
		if err != nil || n <= 0 {
			return
		}
		buf = buf[:len(buf)+n]
		for {
			line, rest, whole := bytes.Cut(buf, []byte("\n"))
			if !whole {
				break
			}
			buf = rest
			fields := bytes.Fields(line)
			if len(fields) >= 10 && string(fields[0]) != "sl" && !each(string(fields[1]), string(fields[3]), string(fields[9])) {
				return
			}
		}
		buf = append(make([]byte, 0, 16<<10), buf...)
	}
}

// tableAddress is an address as /proc/net/tcp and tcp6 spell it: words of the
// machine's own byte order.
func tableAddress(a netip.AddrPort, six bool) string {
	var words []byte
	if six {
		sixteen := a.Addr().As16()
		words = sixteen[:]
	} else {
		four := a.Addr().As4()
		words = four[:]
	}
	native := make([]byte, 0, 18)
	for ; len(words) > 0; words = words[4:] {
		native = binary.BigEndian.AppendUint32(native, binary.NativeEndian.Uint32(words))
	}
	return string(bytes.ToUpper(hex.AppendEncode(nil, native))) + ":" +
		string(bytes.ToUpper(hex.AppendEncode(nil, binary.BigEndian.AppendUint16(nil, a.Port()))))
}
