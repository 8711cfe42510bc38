package egress

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// Namespace is what has to be done inside a new network namespace so that the
// run finds the gate at every address: plain data, for a child that after
// clone may do nothing but raw system calls. First all Messages, then all
// Sockets, in order; whatever fails fails the launch, unless it is Optional.
type Namespace struct {
	// Messages are rtnetlink requests: loopback up, and every address local.
	Messages []Message
	// Sockets are the listeners. Their descriptors, in this order, go to
	// [Gate.ServeNamespace].
	Sockets []Socket
	// Later are granted ports that no socket listens on from the start,
	// because there are too many. They are refused until [Gate.Open] is called
	// for one, which a supervisor does at the run's connect; where connect is
	// not supervised, they are a gap in what is allowed, not in what is refused.
	Later []profiles.PortRange
}

// Message is one request on a socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE). The
// kernel answers each with an acknowledgement, whose error number, negative or
// zero, is the int32 at byte 16.
type Message struct {
	Bytes    []byte
	Optional bool // may fail: a kernel without IPv6
}

// Use is what a socket of a Namespace is for.
type Use uint8

// The uses.
const (
	UseGate   Use = iota // TCP listener of the gate
	UseDNS               // datagrams for the resolver
	UseDNSTCP            // connections for the resolver
	UseUDP               // datagrams for the gate
	UseSpare             // neither bound nor listening, for Gate.Open
)

// Socket is one socket to make: socket(2), setsockopt(2) with each option as
// an int, bind(2) unless Address is nil, listen(2) unless Backlog is 0. The
// flags SOCK_CLOEXEC and SOCK_NONBLOCK are part of Type.
type Socket struct {
	Use                    Use
	Port                   uint16
	Family, Type, Protocol int
	Options                []Option
	Address                []byte // a struct sockaddr
	Backlog                int
	Optional               bool // may fail: a kernel without IPv6
}

// Option is an argument of setsockopt(2).
type Option struct{ Level, Name, Value int }

const (
	loIndex  = 1    // of the loopback interface, in every namespace
	backlog  = 4096 // the kernel's own limit in a new namespace
	maxEager = 128  // ports listened on from the start
	maxSpare = 64   // per family: ports that can be opened later
)

// common are the ports that a wide range opens from the start.
var common = [...]uint16{21, 22, 25, 80, 110, 143, 443, 465, 587, 853, 993, 995, 1433, 3000, 3306, 5000, 5432, 5671, 5672, 6379, 8000, 8080, 8443, 8888, 9000, 9092, 9200, 9418, 11434, 27017}

// AnyIP plans the namespace of a run with this network. Every granted port is
// listened on, up to 128 of each protocol; of wider ranges the well-known ports
// are, and the rest is Later.
func AnyIP(n *profiles.Network) Namespace {
	ns := Namespace{Messages: []Message{
		{Bytes: linkUp(loIndex)},
		{Bytes: localRoute(unix.AF_INET, loIndex)},
		{Bytes: localRoute(unix.AF_INET6, loIndex), Optional: true},
	}}
	dgram, stream := unix.SOCK_DGRAM, unix.SOCK_STREAM
	ns.add(UseDNS, dgram, 53)
	ns.add(UseDNSTCP, stream, 53)
	if n.Mode != profiles.NetHosts {
		return ns
	}
	tcp, later := eager(n.Hosts, profiles.TCP)
	for _, p := range tcp {
		ns.add(UseGate, stream, p)
	}
	udp, _ := eager(n.Hosts, profiles.UDP)
	for _, p := range udp {
		ns.add(UseUDP, dgram, p)
	}
	if ns.Later = later; len(later) > 0 {
		for range maxSpare {
			ns.add(UseSpare, stream, 0)
		}
	}
	return ns
}

// eager lists the ports to listen on from the start, and the ranges that are
// left.
func eager(hosts []profiles.HostRule, proto profiles.Protocol) (ports []uint16, later []profiles.PortRange) {
	take := func(p uint16) {
		if p != 0 && p != 53 && !slices.Contains(ports, p) && len(ports) < maxEager {
			ports = append(ports, p)
		}
	}
	for pass := range 2 { // single ports come before ranges
		for _, h := range hosts {
			if h.Protocols&proto == 0 {
				continue
			}
			for _, r := range h.Ports {
				switch {
				case (pass == 0) != (r.First == r.Last):
				case len(ports)+int(r.Last)-int(r.First) < maxEager:
					for p := int(r.First); p <= int(r.Last); p++ {
						take(uint16(p))
					}
				default:
					for _, p := range common {
						if r.First <= p && p <= r.Last {
							take(p)
						}
					}
					if !slices.Contains(later, r) {
						later = append(later, r)
					}
				}
			}
		}
	}
	slices.Sort(ports)
	return ports, later
}

// add plans one port in both families.
func (ns *Namespace) add(use Use, kind int, port uint16) {
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		s := Socket{
			Use: use, Port: port, Family: family,
			Type:     kind | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK,
			Options:  []Option{{unix.SOL_SOCKET, unix.SO_REUSEADDR, 1}},
			Optional: family == unix.AF_INET6,
		}
		if family == unix.AF_INET6 {
			s.Options = append(s.Options,
				Option{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1},
				// An answer has to come from the address that was asked, which
				// is local by route only.
				Option{unix.IPPROTO_IPV6, unix.IPV6_FREEBIND, 1})
		}
		if use != UseSpare {
			s.Address = wildcard(family, port)
			if kind == unix.SOCK_STREAM {
				s.Backlog = backlog
			}
		}
		ns.Sockets = append(ns.Sockets, s)
	}
}

// wildcard is the sockaddr of every address of a family.
func wildcard(family int, port uint16) []byte {
	size := unix.SizeofSockaddrInet4
	if family == unix.AF_INET6 {
		size = unix.SizeofSockaddrInet6
	}
	b := binary.NativeEndian.AppendUint16(nil, uint16(family))
	b = binary.BigEndian.AppendUint16(b, port)
	return append(b, make([]byte, size-len(b))...)
}

// linkUp is RTM_NEWLINK with the flag IFF_UP for one interface.
func linkUp(index uint32) []byte {
	b := []byte{unix.AF_UNSPEC, 0, 0, 0}
	b = binary.NativeEndian.AppendUint32(b, index)
	b = binary.NativeEndian.AppendUint32(b, unix.IFF_UP) // flags
	b = binary.NativeEndian.AppendUint32(b, unix.IFF_UP) // which of them to change
	return netlink(unix.RTM_NEWLINK, unix.NLM_F_REQUEST|unix.NLM_F_ACK, b)
}

// localRoute is "ip route add local default dev lo table local": every address
// of the family is ours.
func localRoute(family byte, index uint32) []byte {
	scope := byte(unix.RT_SCOPE_UNIVERSE)
	if family == unix.AF_INET {
		scope = unix.RT_SCOPE_HOST
	}
	b := []byte{family, 0, 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_STATIC, scope, unix.RTN_LOCAL, 0, 0, 0, 0}
	b = binary.NativeEndian.AppendUint16(b, 8) // length of the attribute
	b = binary.NativeEndian.AppendUint16(b, unix.RTA_OIF)
	b = binary.NativeEndian.AppendUint32(b, index)
	return netlink(unix.RTM_NEWROUTE, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL, b)
}

func netlink(kind, flags uint16, payload []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(payload)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, 1) // sequence number
	b = binary.NativeEndian.AppendUint32(b, 0) // to the kernel
	return append(b, payload...)
}

// Make does all of it on the calling thread, which must be in the namespace
// and hold CAP_NET_ADMIN there, and gives the descriptors of Sockets; -1 stands
// for an optional one that this kernel does not have. It is the reference for
// launchers that do it by raw system calls.
func (ns *Namespace) Make() (fds []int, err error) {
	defer func() {
		if err != nil {
			for _, fd := range fds {
				if fd >= 0 {
					unix.Close(fd)
				}
			}
			fds = nil
		}
	}()
	nl, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("rtnetlink socket: %w", err)
	}
	defer unix.Close(nl)
	for i, m := range ns.Messages {
		if err := request(nl, m.Bytes); err != nil && !m.Optional {
			return nil, fmt.Errorf("rtnetlink message %d: %w", i, err)
		}
	}
	for _, s := range ns.Sockets {
		fd, err := s.make()
		if err != nil {
			if !s.Optional {
				return fds, fmt.Errorf("socket for port %d: %w", s.Port, err)
			}
			fd = -1
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

func request(nl int, msg []byte) error {
	if err := unix.Sendto(nl, msg, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	var reply [1024]byte
	n, _, err := unix.Recvfrom(nl, reply[:], 0)
	if err != nil {
		return err
	}
	if n < 20 || binary.NativeEndian.Uint16(reply[4:]) != unix.NLMSG_ERROR {
		return unix.EPROTO
	}
	if e := int32(binary.NativeEndian.Uint32(reply[16:])); e != 0 {
		return unix.Errno(-e)
	}
	return nil
}

func (s *Socket) make() (int, error) {
	fd, err := unix.Socket(s.Family, s.Type, s.Protocol)
	if err != nil {
		return -1, err
	}
	for _, o := range s.Options {
		if err = unix.SetsockoptInt(fd, o.Level, o.Name, o.Value); err != nil {
			unix.Close(fd)
			return -1, err
		}
	}
	if s.Address != nil {
		if _, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&s.Address[0])), uintptr(len(s.Address))); e != 0 {
			unix.Close(fd)
			return -1, e
		}
	}
	if s.Backlog > 0 {
		if err = unix.Listen(fd, s.Backlog); err != nil {
			unix.Close(fd)
			return -1, err
		}
	}
	return fd, nil
}
