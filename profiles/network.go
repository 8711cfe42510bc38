package profiles

import (
	"net/netip"
	"slices"
	"strings"
	"time"
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
	Mode NetMode `json:"mode"`
	// Hosts counts in mode NetHosts only; empty means none.
	Hosts []HostRule `json:"hosts,omitempty"`
	// Listen names ports, on loopback unless the rule says Any, that others
	// may reach. What the run serves to its own processes needs no rule.
	Listen []ListenRule `json:"listen,omitempty"`
	Origin Origin       `json:"origin,omitzero"` // of the mode
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

// Contains says whether port is one of them.
func (r PortRange) Contains(port uint16) bool { return r.First <= port && port <= r.Last }

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
	// it names. "localhost" with Private is 127.0.0.1 and ::1, too, which
	// programs take for the same (RFC 6761).
	Host      string      `json:"host"`
	Ports     []PortRange `json:"ports"` // empty means none
	Protocols Protocol    `json:"protocols"`
	// ReadOnly allows GET, HEAD and OPTIONS only, where the method is visible.
	ReadOnly bool `json:"read_only,omitempty"`
	// Private lets a name resolve to a non-public address.
	Private bool `json:"private,omitempty"`
	// Except are addresses and prefixes that the rule does not reach, whatever
	// name stands for them.
	Except []string `json:"except,omitempty"`
	// MaxBytes and MaxConnections bound the use of this rule by the run; zero
	// is no bound. Where another rule covers all of this one with a larger
	// bound, Normalize drops this one: bounds do not add up.
	MaxBytes       int64 `json:"max_bytes,omitempty"`
	MaxConnections int64 `json:"max_connections,omitempty"`
	// MaxRate bounds the connections that begin within any stretch of Per;
	// both are zero for no bound.
	MaxRate int64         `json:"max_rate,omitempty"`
	Per     time.Duration `json:"per,omitempty"`
	Origin  Origin        `json:"origin,omitzero"`
}

// ListenRule grants listening.
type ListenRule struct {
	Ports  PortRange `json:"ports"`
	Any    bool      `json:"any,omitempty"` // on every address, not only loopback
	Origin Origin    `json:"origin,omitzero"`
}

// Reaches says whether the run may connect to host, a name or an address, at
// port with all of proto. It is the reference meaning of a Network. For a name
// the address that it resolves to is checked apart (see [Public] and
// [HostRule.Excepts]).
//
// Where several rules apply, the verdict's is the one that allows most (any
// method before reading only, non-public addresses before public ones, no bound
// before a bound), then the most specific. [Network.Rules] gives all of them.
func (p *Profile) Reaches(host string, port uint16, proto Protocol) Verdict {
	if p.Network.Mode == NetHost {
		return Verdict{Allowed: true, Host: &HostRule{Host: "*", Origin: p.Network.Origin}}
	}
	rules := p.Network.Rules(host, port, proto)
	var best *HostRule
	var reached Protocol
	for _, r := range rules {
		reached |= r.Protocols
		if best == nil || r.before(best) {
			best = r
		}
	}
	if best == nil || reached&proto != proto {
		return Verdict{}
	}
	return Verdict{Allowed: true, Host: best}
}

// Rules gives the rules that apply to a connection to host at port with any of
// proto, in mode NetHosts. What one of them allows is allowed.
func (n *Network) Rules(host string, port uint16, proto Protocol) []*HostRule {
	if n.Mode != NetHosts {
		return nil
	}
	var rules []*HostRule
	for i := range n.Hosts {
		if r := &n.Hosts[i]; r.Protocols&proto != 0 && r.HasPort(port) && r.Matches(host) {
			rules = append(rules, r)
		}
	}
	return rules
}

// before says whether h is the rule to name when b applies as well.
func (h *HostRule) before(b *HostRule) bool {
	switch {
	case h.ReadOnly != b.ReadOnly:
		return b.ReadOnly
	case h.Private != b.Private:
		return h.Private
	case (h.MaxBytes == 0) != (b.MaxBytes == 0):
		return h.MaxBytes == 0
	case (h.MaxConnections == 0) != (b.MaxConnections == 0):
		return h.MaxConnections == 0
	case (h.MaxRate == 0) != (b.MaxRate == 0):
		return h.MaxRate == 0
	case len(h.Host) != len(b.Host):
		return len(h.Host) > len(b.Host)
	}
	return compareHosts(h, b) < 0
}

// HasPort says whether the rule names port.
func (h *HostRule) HasPort(port uint16) bool {
	return slices.ContainsFunc(h.Ports, func(r PortRange) bool { return r.Contains(port) })
}

// Matches says whether the rule names host, which is a name or an address in
// any textual form that netip accepts. What is neither, such as "127.1" or a
// name with a NUL, which resolvers read in their own ways, is named by no rule.
func (h *HostRule) Matches(host string) bool {
	host = asciiLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		if a = a.Unmap(); h.Excepts(a) {
			return false
		}
		switch h.Host {
		case "*":
			return h.Private || Public(a)
		case "localhost":
			return h.Private && (a == loopback4 || a == loopback6)
		}
		if p, err := netip.ParsePrefix(h.Host); err == nil {
			return p.Contains(a)
		}
		r, err := netip.ParseAddr(h.Host)
		return err == nil && r.Unmap() == a.WithZone("")
	}
	if hostName(host) != nil {
		return false
	}
	if suffix, ok := strings.CutPrefix(h.Host, "*"); ok {
		return strings.HasSuffix(host, suffix) && len(host) > len(suffix)
	}
	return h.Host == host
}

// Excepts says whether the rule does not reach an address, which it may name.
func (h *HostRule) Excepts(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, e := range h.Except {
		if p, ok := HostPrefix(e); ok && (p.Contains(a) || p.Contains(Translated(a))) {
			return true
		}
	}
	return false
}

// translated begins the addresses of IPv6 by which a translator of the network
// reaches those of IPv4, 64:ff9b::/96 (RFC 6052): on machines without IPv4 name
// servers answer with them.
var translated = netip.PrefixFrom(netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b}), 96)

// Translated gives the address of IPv4 that is reached by one of IPv6 that stands
// for it; any other address is itself.
func Translated(a netip.Addr) netip.Addr {
	if !translated.Contains(a) {
		return a
	}
	b := a.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}

// Unresolved says which denied address a granted name may stand for where a proxy
// of the machine resolves names, in a line for [ClauseScope]; "" for none.
func (n *Network) Unresolved() string {
	for i := range n.Hosts {
		h := &n.Hosts[i]
		if _, byAddr := HostPrefix(h.Host); len(h.Except) > 0 && !byAddr && h.Host != "localhost" {
			return h.Except[0] + " is denied, and a proxy of this machine resolves " + h.Host + ", which is granted"
		}
	}
	return ""
}

// The addresses that localhost is.
var (
	loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	loopback6 = netip.IPv6Loopback()
)

func asciiLower(s string) string {
	for i := 0; i < len(s); i++ {
		if lower(s[i]) != s[i] {
			b := []byte(s)
			for i := range b {
				b[i] = lower(b[i])
			}
			return string(b)
		}
	}
	return s
}

// special4 lists what is not the public internet, from the IANA special-purpose
// address registries (RFC 6890 and its updates).
var special4 = [...]struct {
	addr [4]byte
	bits int
}{
	{[4]byte{0, 0, 0, 0}, 8},        // "this network"
	{[4]byte{10, 0, 0, 0}, 8},       // private
	{[4]byte{100, 64, 0, 0}, 10},    // carrier-grade NAT; some clouds' metadata
	{[4]byte{127, 0, 0, 0}, 8},      // loopback
	{[4]byte{168, 63, 129, 16}, 32}, // Azure's WireServer, its metadata beside link-local
	{[4]byte{169, 254, 0, 0}, 16},   // link-local; clouds' metadata service
	{[4]byte{172, 16, 0, 0}, 12},    // private
	{[4]byte{192, 0, 0, 0}, 24},     // protocol assignments; some clouds' metadata
	{[4]byte{192, 0, 2, 0}, 24},     // documentation
	{[4]byte{192, 88, 99, 0}, 24},   // 6to4 relays
	{[4]byte{192, 168, 0, 0}, 16},   // private
	{[4]byte{198, 18, 0, 0}, 15},    // benchmarking
	{[4]byte{198, 51, 100, 0}, 24},  // documentation
	{[4]byte{203, 0, 113, 0}, 24},   // documentation
	{[4]byte{224, 0, 0, 0}, 4},      // multicast
	{[4]byte{240, 0, 0, 0}, 4},      // reserved, broadcast
}

// special6 lists parts of the public IPv6 internet that are not public, or that carry an
// IPv4 address which would have to be checked as such.
var special6 = [...]struct {
	addr [4]byte
	bits int
}{
	{[4]byte{0x20, 0x01}, 23},             // protocol assignments, Teredo
	{[4]byte{0x20, 0x01, 0x0d, 0xb8}, 32}, // documentation
	{[4]byte{0x20, 0x02}, 16},             // 6to4
	{[4]byte{0x3f, 0xff}, 20},             // documentation
}

// global6 begins the only part of IPv6 that is assigned to the public internet,
// 2000::/3.
var global6 = [16]byte{0x20}

// notPublic gives the prefixes of an address family that are not public. For
// IPv6 everything outside 2000::/3 is not public either.
func notPublic(v4 bool) []netip.Prefix {
	prefixes := make([]netip.Prefix, 0, len(special4))
	if v4 {
		for _, s := range special4 {
			prefixes = append(prefixes, netip.PrefixFrom(netip.AddrFrom4(s.addr), s.bits))
		}
		return prefixes
	}
	for _, s := range special6 {
		prefixes = append(prefixes, netip.PrefixFrom(netip.AddrFrom16([16]byte{s.addr[0], s.addr[1], s.addr[2], s.addr[3]}), s.bits))
	}
	return prefixes
}

// Public says whether an address belongs to the public internet: not private,
// loopback, link-local, multicast, metadata, documentation, or an IPv6 form
// that carries an IPv4 address.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	if a.Is6() && !netip.PrefixFrom(netip.AddrFrom16(global6), 3).Contains(a) {
		return false
	}
	for _, p := range notPublic(a.Is4()) {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
