package linux

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a caller is told of an internet socket: addresses and options of the one
// that it asked for, not of what stands in for it.

// serveGetpeername tells where the caller wanted to go, not where it was led.
func serveGetpeername(r *request) {
	k := r.internet()
	if k == nil {
		r.resume()
		return
	}
	switch peer := r.s.inet.peer(k); {
	case peer.IsValid():
		r.tell(inetRaw(peer, k.six), r.args[1], r.args[2])
	case k.end != nil:
		r.fail(unix.ENOTCONN)
	default:
		r.resume()
	}
}

// name serves getsockname(2).
func (n *inet) name(r *request, k *inetSocket) {
	n.mu.Lock()
	asked := k.asked
	n.mu.Unlock()
	switch {
	case asked.IsValid():
		r.tell(inetRaw(asked, k.six), r.args[1], r.args[2])
	case k.end != nil:
		r.tell(inetRaw(netip.AddrPortFrom(netip.IPv6Unspecified(), 0), k.six), r.args[1], r.args[2])
	default:
		r.resume()
	}
}

// serveSetsockopt serves options that only internet sockets have, for what
// stands in for one. Others set them themselves: nothing is decided by them.
func serveSetsockopt(r *request) {
	if r.setsHops() {
		r.succeed(0) // of any socket, and has no effect: they are the Supervisor's
		return
	}
	if r.setsGroup() {
		r.fail(unix.ENODEV) // of any socket: the kernel tells the network of the groups of streams, too, and from whom they want to hear
		return
	}
	if r.setsWay() {
		r.fail(unix.EOPNOTSUPP) // of any socket: a stream that the run is started with is in the network outside
		return
	}
	k := r.internet()
	if k != nil && k.end == nil && r.only6() {
		n := r.s.inet
		n.mu.Lock()
		if k.state == inetFresh && !k.asked.IsValid() {
			k.only6 = false // from now on it is the kernel's to say
		}
		n.mu.Unlock()
	}
	if k == nil || k.end == nil {
		r.resume()
		return
	}
	switch level, name := int(int32(r.args[1])), int(int32(r.args[2])); {
	case level == unix.IPPROTO_UDP:
		r.fail(unix.ENOPROTOOPT) // segmentation and the like: callers do without
	case level == unix.IPPROTO_IPV6 && name == unix.IPV6_V6ONLY:
		var on [4]byte
		if e := r.read(r.args[3], on[:]); e != 0 || r.args[4] < 4 {
			r.fail(unix.EINVAL)
			return
		}
		r.s.inet.mu.Lock()
		k.only6 = on != [4]byte{}
		r.s.inet.mu.Unlock()
		r.succeed(0)
	default:
		r.succeed(0)
	}
}

// setsHops says that a call is about how far packets go, or come from.
func (r *request) setsHops() bool {
	switch name := int(int32(r.args[2])); int(int32(r.args[1])) {
	case unix.IPPROTO_IP:
		return name == unix.IP_TTL || name == unix.IP_MINTTL
	case unix.IPPROTO_IPV6:
		return name == unix.IPV6_UNICAST_HOPS || name == unix.IPV6_MINHOPCOUNT
	}
	return false
}

// setsGroup says that a call is about groups of multicast.
func (r *request) setsGroup() bool {
	switch name := int(int32(r.args[2])); int(int32(r.args[1])) {
	case unix.IPPROTO_IP:
		return name == unix.IP_MULTICAST_IF || name >= unix.IP_ADD_MEMBERSHIP && name <= unix.MCAST_MSFILTER
	case unix.IPPROTO_IPV6:
		return name == unix.IPV6_JOIN_GROUP || name == unix.IPV6_LEAVE_GROUP || name >= unix.MCAST_JOIN_GROUP && name <= unix.MCAST_MSFILTER
	}
	return false
}

// setsWay says that a call is about the addresses through which packets go.
func (r *request) setsWay() bool {
	switch name := int(int32(r.args[2])); int(int32(r.args[1])) {
	case unix.IPPROTO_IP:
		return name == ipOptions
	case unix.IPPROTO_IPV6:
		return name == ipv6Routing || name == ipv6OldOptions
	}
	return false
}

// only6 says that a call is about IPV6_V6ONLY.
func (r *request) only6() bool {
	return int(int32(r.args[1])) == unix.IPPROTO_IPV6 && int(int32(r.args[2])) == unix.IPV6_V6ONLY
}

// serveGetsockopt tells the options of the socket that the caller takes it
// for.
func serveGetsockopt(r *request) {
	k := r.internet()
	only6 := false
	if k != nil {
		r.s.inet.mu.Lock()
		only6 = k.only6
		r.s.inet.mu.Unlock()
	}
	if k == nil || k.end == nil && !(only6 && r.only6()) {
		r.resume()
		return
	}
	value := int32(0)
	switch level, name := int(int32(r.args[1])), int(int32(r.args[2])); {
	case level == unix.IPPROTO_UDP:
		r.fail(unix.ENOPROTOOPT) // or those who ask whether there is segmentation (quic-go) go on to send by it
		return
	case level == unix.SOL_SOCKET && name == unix.SO_TYPE:
		value = unix.SOCK_DGRAM
	case level == unix.SOL_SOCKET && name == unix.SO_PROTOCOL:
		value = unix.IPPROTO_UDP
	case level == unix.SOL_SOCKET && name == unix.SO_DOMAIN && k.six:
		value = unix.AF_INET6
	case level == unix.SOL_SOCKET && name == unix.SO_DOMAIN:
		value = unix.AF_INET
	case level == unix.IPPROTO_IPV6 && name == unix.IPV6_V6ONLY && only6:
		value = 1
	}
	r.tell(unsafe.Slice((*byte)(unsafe.Pointer(&value)), 4), r.args[3], r.args[4])
}
