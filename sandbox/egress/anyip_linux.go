package egress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// Namespace is the plan of a network namespace in which the run finds the gate
// at every address. It is plain data, and asks nearly nothing of the child
// that a launcher clones into the namespace: to make the sockets, in order,
// and leave their descriptors where the launcher has them (a descriptor table
// that is shared until the child's exec). A socket belongs to the namespace
// that it was made in, whoever uses it, so all the rest is done from outside,
// by [Gate.ServeNamespace].
type Namespace struct {
	// Sockets are to be made with socket(2): Family, Type, Protocol. The first
	// is an rtnetlink socket.
	Sockets []Socket
	// Later are granted ports that no socket listens on from the start,
	// because there are too many. They are refused until [Gate.Open] is called
	// for one, which a supervisor does at the run's connect or addressed send;
	// where those are not supervised, they are a gap in what is allowed, not in
	// what is refused.
	Later []profiles.PortRange
}

// Use is what a socket of a Namespace is for.
type Use uint8

// The uses.
const (
	UseNetlink Use = iota // brings loopback up and makes every address local
	UseGate               // TCP listener of the gate
	UseDNS                // datagrams for the resolver
	UseDNSTCP             // connections for the resolver
	UseUDP                // datagrams for the gate
	UseSpare              // neither bound nor listening, for Gate.Open
)

// Socket is one socket to make. Type includes SOCK_CLOEXEC, and SOCK_NONBLOCK
// where Go is to serve it.
type Socket struct {
	Use                    Use
	Port                   uint16
	Family, Type, Protocol int
	// Optional sockets are of IPv6, which a kernel may lack.
	Optional bool
}

const (
	loIndex  = 1    // of the loopback interface, in every namespace
	backlog  = 4096 // the kernel's own limit in a new namespace
	maxEager = 128  // ports listened on from the start
	maxSpare = 16   // per protocol and family: ports that can be opened later
)

// common are the ports that a wide range opens from the start. Each socket
// costs the launch some 10 microseconds.
var (
	common    = [...]uint16{22, 80, 443, 587, 3000, 5000, 5432, 6379, 8000, 8080, 8443, 9418}
	commonUDP = [...]uint16{123, 443}
)

// AnyIP plans the namespace of a run with this network. Every granted port is
// listened on, up to 128 of each protocol; of wider ranges the well-known ports
// are, and the rest is Later.
func AnyIP(n *profiles.Network) Namespace {
	ns := Namespace{Sockets: []Socket{
		{Use: UseNetlink, Family: unix.AF_NETLINK, Type: unix.SOCK_RAW | unix.SOCK_CLOEXEC, Protocol: unix.NETLINK_ROUTE},
	}}
	dgram, stream := unix.SOCK_DGRAM, unix.SOCK_STREAM
	ns.add(UseDNS, dgram, 53)
	ns.add(UseDNSTCP, stream, 53)
	if n.Mode != profiles.NetHosts {
		return ns
	}
	for _, d := range [...]struct {
		proto  profiles.Protocol
		use    Use
		kind   int
		common []uint16
	}{{profiles.TCP, UseGate, stream, common[:]}, {profiles.UDP, UseUDP, dgram, commonUDP[:]}} {
		ports, later := eager(n.Hosts, d.proto, d.common)
		for _, p := range ports {
			ns.add(d.use, d.kind, p)
		}
		for range spare(later) {
			ns.add(UseSpare, d.kind, 0)
		}
		ns.Later = append(ns.Later, later...)
	}
	return ns
}

// spare is how many sockets wait for ports of these ranges.
func spare(later []profiles.PortRange) int {
	n := 0
	for _, r := range later {
		n += int(r.Last) - int(r.First) + 1
	}
	return min(n, maxSpare)
}

// within says that a rule grants no more than this machine's loopback.
func within(h *profiles.HostRule) bool {
	if a, err := netip.ParseAddr(h.Host); err == nil {
		return a.Unmap().IsLoopback()
	}
	if p, err := netip.ParsePrefix(h.Host); err == nil {
		return p.Addr().IsLoopback() && (p.Addr().Is4() && p.Bits() >= 8 || p.IsSingleIP())
	}
	return local(h.Host)
}

// eager lists the ports to listen on from the start, and the ranges that are
// left. A port of TCP that is granted on loopback alone is left as well: until
// somebody serves there outside, the run may itself.
func eager(hosts []profiles.HostRule, proto profiles.Protocol, common []uint16) (ports []uint16, later []profiles.PortRange) {
	take := func(p uint16) {
		if p != 0 && p != 53 && !slices.Contains(ports, p) && len(ports) < maxEager {
			ports = append(ports, p)
		}
	}
	for pass := range 2 { // single ports come before ranges
		for i := range hosts {
			h := &hosts[i]
			if h.Protocols&proto == 0 {
				continue
			}
			lazy := proto == profiles.TCP && within(h)
			for _, r := range h.Ports {
				switch {
				case (pass == 0) != (r.First == r.Last):
				case lazy:
					if !slices.Contains(later, r) {
						later = append(later, r)
					}
				case len(ports)+int(r.Last)-int(r.First) < maxEager:
					for p := int(r.First); p <= int(r.Last); p++ {
						take(uint16(p))
					}
				default:
					for _, p := range common {
						if r.Contains(p) {
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
	kind |= unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	ns.Sockets = append(ns.Sockets,
		Socket{Use: use, Port: port, Family: unix.AF_INET, Type: kind},
		Socket{Use: use, Port: port, Family: unix.AF_INET6, Type: kind, Optional: true})
}

// linkUp is "ip link set lo up".
func linkUp() []byte {
	b := []byte{unix.AF_UNSPEC, 0, 0, 0}
	b = binary.NativeEndian.AppendUint32(b, loIndex)
	b = binary.NativeEndian.AppendUint32(b, unix.IFF_UP) // flags
	b = binary.NativeEndian.AppendUint32(b, unix.IFF_UP) // which of them to change
	return netlink(unix.RTM_NEWLINK, unix.NLM_F_REQUEST|unix.NLM_F_ACK, b)
}

// localRoute is "ip route add local default dev lo table local": every address
// of the family is ours.
func localRoute(family byte) []byte {
	scope := byte(unix.RT_SCOPE_UNIVERSE)
	if family == unix.AF_INET {
		scope = unix.RT_SCOPE_HOST
	}
	b := []byte{family, 0, 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_STATIC, scope, unix.RTN_LOCAL, 0, 0, 0, 0}
	b = binary.NativeEndian.AppendUint16(b, 8) // length of the attribute
	b = binary.NativeEndian.AppendUint16(b, unix.RTA_OIF)
	b = binary.NativeEndian.AppendUint32(b, loIndex)
	return netlink(unix.RTM_NEWROUTE, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL, b)
}

// newAddress is "ip address add PREFIX dev lo".
func newAddress(p netip.Prefix) []byte {
	family := byte(unix.AF_INET)
	if p.Addr().Is6() {
		family = unix.AF_INET6
	}
	b := []byte{family, byte(p.Bits()), unix.IFA_F_NODAD, unix.RT_SCOPE_UNIVERSE}
	b = binary.NativeEndian.AppendUint32(b, loIndex)
	b = binary.NativeEndian.AppendUint16(b, uint16(4+p.Addr().BitLen()/8)) // length of the attribute
	b = binary.NativeEndian.AppendUint16(b, unix.IFA_LOCAL)
	return netlink(unix.RTM_NEWADDR, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE, append(b, p.Addr().AsSlice()...))
}

// own4 and own6 are addresses of the run's loopback device beside 127.0.0.1 and ::1.
// Without one getaddrinfo(3) finds no name for programs that ask for one family and
// only for what is of use (AI_ADDRCONFIG), as GLib does. They are on no network: the
// dummy address (RFC 7600), and one of the block for what is discarded (RFC 6666).
var (
	own4 = netip.MustParsePrefix("192.0.0.8/32")
	own6 = netip.MustParsePrefix("100::8/128")
)

// hasIPv6 says whether this machine has addresses of IPv6 beside loopback: programs
// would ask for such names in vain.
func hasIPv6() bool {
	found, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(found, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.To4() == nil && !n.IP.IsLoopback()
	})
}

func netlink(kind, flags uint16, payload []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(payload)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, 1) // sequence number
	b = binary.NativeEndian.AppendUint32(b, 0) // to the kernel
	return append(b, payload...)
}

// configure makes every address of the netlink socket's namespace local. It
// refuses the namespace that we are in ourselves: there, it would take the
// machine off the net.
func configure(nl int) error {
	same, err := sameNamespace(nl)
	if err != nil {
		return fmt.Errorf("network namespace of the run: %w", err)
	}
	if same {
		return errors.New("network namespace of the run: it is our own")
	}
	if err := anyIP(nl); err != nil {
		return err
	}
	if err := request(nl, newAddress(own4)); err != nil {
		return fmt.Errorf("add an IPv4 address: %w", err)
	}
	if hasIPv6() {
		if err := request(nl, newAddress(own6)); err != nil && !noIPv6(err) {
			return fmt.Errorf("add an IPv6 address: %w", err)
		}
	}
	return nil
}

// noIPv6 says that the namespace has no IPv6.
func noIPv6(err error) bool {
	return err == unix.EOPNOTSUPP || err == unix.EAFNOSUPPORT || err == unix.EACCES
}

func anyIP(nl int) error {
	if err := request(nl, linkUp()); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	if err := request(nl, localRoute(unix.AF_INET)); err != nil {
		return fmt.Errorf("make IPv4 addresses local: %w", err)
	}
	// Without IPv6 there is nothing to make local, and nothing to reach.
	if err := request(nl, localRoute(unix.AF_INET6)); err != nil && !noIPv6(err) {
		return fmt.Errorf("make IPv6 addresses local: %w", err)
	}
	return nil
}

// sameNamespace says whether a socket belongs to the namespace of the calling
// thread.
func sameNamespace(fd int) (bool, error) {
	const siocGSKNS = 0x894c // since Linux 4.9
	ns, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), siocGSKNS, 0)
	if e != 0 {
		return false, e
	}
	defer unix.Close(int(ns))
	var its, ours unix.Stat_t
	if err := unix.Fstat(int(ns), &its); err != nil {
		return false, err
	}
	if err := unix.Stat("/proc/thread-self/ns/net", &ours); err != nil {
		return false, err
	}
	return its.Dev == ours.Dev && its.Ino == ours.Ino, nil
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

// bind gives a socket its port at every address, and makes it listen if it is
// a stream.
func (s *Socket) bind(fd int, port uint16) error {
	var addr unix.Sockaddr = &unix.SockaddrInet4{Port: int(port)}
	err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if s.Family == unix.AF_INET6 {
		addr = &unix.SockaddrInet6{Port: int(port)}
		err = errors.Join(err,
			unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1),
			// An answer has to come from the address that was asked, which is
			// local by route only.
			unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_FREEBIND, 1))
	}
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, addr); err != nil {
		return err
	}
	if s.Type&0xf == unix.SOCK_STREAM {
		return unix.Listen(fd, backlog)
	}
	return nil
}
