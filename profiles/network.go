package profiles

import (
	"net/netip"
	"strings"
)

// NetMode is how much network there is at all.
type NetMode uint8

// The modes; the zero mode is none.
const (
	// NetNone: no internet sockets.
	NetNone NetMode = iota
	// NetHosts: the named hosts and nothing else.
	NetHosts
	// NetHost: the host's own network, unrestricted. Only a user can grant it.
	NetHost
)

func (m NetMode) String() string {
	switch m {
	case NetNone:
		return "none"
	case NetHosts:
		return "hosts"
	case NetHost:
		return "host"
	}
	return "network?"
}

// Network says what the run may reach and where it may listen.
type Network struct {
	Mode NetMode
	// Hosts counts in mode NetHosts only; empty means none.
	Hosts []HostRule
	// Listen names ports, on loopback unless the rule says Any, that others
	// may reach. What the run serves to its own processes needs no rule.
	Listen []ListenRule
	Origin Origin // of the mode
}

// Protocol is a set of transports.
type Protocol uint8

// The transports.
const (
	TCP Protocol = 1 << iota
	UDP
)

func (p Protocol) String() string {
	switch p {
	case TCP:
		return "tcp"
	case UDP:
		return "udp"
	case TCP | UDP:
		return "tcp+udp"
	}
	return "-"
}

// PortRange is First to Last, both included.
type PortRange struct{ First, Last uint16 }

// AnyPort is every port.
var AnyPort = PortRange{1, 65535}

func (r PortRange) contains(port uint16) bool { return r.First <= port && port <= r.Last }

// HostRule grants connections to hosts.
type HostRule struct {
	// Host is, in lower case and without a trailing dot, one of
	//   - a name: "api.example.com"
	//   - the names beneath one: "*.example.com" (not example.com itself)
	//   - an address: "192.0.2.7", "2001:db8::1"
	//   - a prefix: "192.0.2.0/24"
	//   - "*": any name, and any public address
	// A name never reaches a private, loopback, link-local, multicast or
	// metadata address unless Private is set; an address or prefix names what
	// it names.
	Host      string
	Ports     []PortRange // empty means none
	Protocols Protocol
	// ReadOnly allows GET, HEAD and OPTIONS only, where the method is visible.
	ReadOnly bool
	// Private lets a name resolve to a non-public address.
	Private bool
	// MaxBytes and MaxConnections bound the use of this rule by the run; zero
	// is no bound.
	MaxBytes       int64
	MaxConnections int64
	Origin         Origin
}

// ListenRule grants listening.
type ListenRule struct {
	Ports  PortRange
	Any    bool // on every address, not only loopback
	Origin Origin
}

// Reaches says whether the run may connect to host, a name or an address, at
// port with one of the protocols. For a name the address that it resolves to
// is checked apart (see [Public]).
func (p *Profile) Reaches(host string, port uint16, proto Protocol) Verdict {
	switch p.Network.Mode {
	case NetHost:
		return Verdict{Allowed: true, Host: &HostRule{Host: "*", Origin: p.Network.Origin}}
	case NetHosts:
	default:
		return Verdict{}
	}
	for i := range p.Network.Hosts {
		h := &p.Network.Hosts[i]
		if h.Protocols&proto == proto && proto != 0 && h.hasPort(port) && h.Matches(host) {
			return Verdict{Allowed: true, Host: h}
		}
	}
	return Verdict{}
}

func (h *HostRule) hasPort(port uint16) bool {
	for _, r := range h.Ports {
		if r.contains(port) {
			return true
		}
	}
	return false
}

// Matches says whether the rule names host, which is a name or an address in
// any textual form that netip accepts.
func (h *HostRule) Matches(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" {
		return false
	}
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		if h.Host == "*" {
			return Public(a)
		}
		if p, err := netip.ParsePrefix(h.Host); err == nil {
			return p.Contains(a)
		}
		r, err := netip.ParseAddr(h.Host)
		return err == nil && r.Unmap() == a.WithZone("")
	}
	if h.Host == "*" {
		return true
	}
	if suffix, ok := strings.CutPrefix(h.Host, "*"); ok {
		return len(host) > len(suffix) && strings.HasSuffix(host, suffix)
	}
	return h.Host == host
}

// special lists what is not the public internet, from the IANA special-purpose
// address registries (RFC 6890 and its updates).
var special = []netip.Prefix{
	prefix4(0, 0, 0, 0, 8),       // "this network"
	prefix4(10, 0, 0, 0, 8),      // private
	prefix4(100, 64, 0, 0, 10),   // carrier-grade NAT; some clouds' metadata
	prefix4(127, 0, 0, 0, 8),     // loopback
	prefix4(169, 254, 0, 0, 16),  // link-local; clouds' metadata service
	prefix4(172, 16, 0, 0, 12),   // private
	prefix4(192, 0, 0, 0, 24),    // protocol assignments; some clouds' metadata
	prefix4(192, 0, 2, 0, 24),    // documentation
	prefix4(192, 88, 99, 0, 24),  // 6to4 relays
	prefix4(192, 168, 0, 0, 16),  // private
	prefix4(198, 18, 0, 0, 15),   // benchmarking
	prefix4(198, 51, 100, 0, 24), // documentation
	prefix4(203, 0, 113, 0, 24),  // documentation
	prefix4(224, 0, 0, 0, 4),     // multicast
	prefix4(240, 0, 0, 0, 4),     // reserved, broadcast
}

// global6 is the only part of IPv6 that is assigned to the public internet.
var global6 = netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3)

// special6 lists parts of global6 that are not public, or that carry an IPv4
// address which would have to be checked as such.
var special6 = []netip.Prefix{
	prefix6(0x2001, 0, 23),     // protocol assignments, Teredo
	prefix6(0x2001, 0xdb8, 32), // documentation
	prefix6(0x2002, 0, 16),     // 6to4
	prefix6(0x3fff, 0, 20),     // documentation
}

func prefix4(a, b, c, d byte, bits int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b, c, d}), bits)
}

func prefix6(a, b uint16, bits int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{byte(a >> 8), byte(a), byte(b >> 8), byte(b)}), bits)
}

// Public says whether an address belongs to the public internet: not private,
// loopback, link-local, multicast, metadata, documentation, or an IPv6 form
// that carries an IPv4 address.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if a.Zone() != "" {
		return false
	}
	if a.Is4() {
		for _, p := range special {
			if p.Contains(a) {
				return false
			}
		}
		return a.IsValid()
	}
	if !global6.Contains(a) {
		return false
	}
	for _, p := range special6 {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
