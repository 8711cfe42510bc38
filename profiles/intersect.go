package profiles

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Intersect gives the profile that allows what both p and q allow: for every
// request, Allows and Reaches of the result are the conjunction of theirs, and
// a variable passes if it passes both. It is normal, and changes neither.
//
//   - Denials, redactions and demands of both count.
//   - Of limits the smaller counts, no limit being the largest.
//   - Sockets and variables with a fixed value are kept if both have them.
//   - A rule of the result has the origin of the narrower of the two rules that
//     it comes from.
//   - If both have a skill and not the same one, both are unwritable: one is
//     the Skill, the other is denied.
//   - Workspace and Home are no rights; they are p's, or q's where p has none.
//
// But for Workspace and Home it is commutative, associative and idempotent, by
// the canonical bytes of normal profiles.
func (p *Profile) Intersect(q *Profile) *Profile {
	r := &Profile{
		Workspace: first(p.Workspace, q.Workspace),
		Home:      first(p.Home, q.Home),
		Network:   p.Network.intersect(&q.Network),
		Env:       p.Env.intersect(&q.Env),
		Process: Process{
			Create:     p.Process.Create && q.Process.Create,
			Query:      p.Process.Query && q.Process.Query,
			AnyMode:    p.Process.AnyMode && q.Process.AnyMode,
			ExecuteOwn: p.Process.ExecuteOwn && q.Process.ExecuteOwn,
			Origin:     p.Process.Origin,
		},
		Limits: Limits{
			Memory:    smaller(p.Limits.Memory, q.Limits.Memory),
			CPU:       time.Duration(smaller(int64(p.Limits.CPU), int64(q.Limits.CPU))),
			Wall:      time.Duration(smaller(int64(p.Limits.Wall), int64(q.Limits.Wall))),
			Processes: smaller(p.Limits.Processes, q.Limits.Processes),
			OpenFiles: smaller(p.Limits.OpenFiles, q.Limits.OpenFiles),
			FileSize:  smaller(p.Limits.FileSize, q.Limits.FileSize),
			Output:    smaller(p.Limits.Output, q.Limits.Output),
		},
		Denials: slices.Concat(p.Denials, q.Denials),
		Demands: slices.Concat(p.Demands, q.Demands),
		Empty:   slices.Concat(p.Empty, q.Empty),
		Redact:  slices.Concat(p.Redact, q.Redact),
	}
	for i := range p.Paths {
		for j := range q.Paths {
			if rule, ok := p.Paths[i].intersect(&q.Paths[j]); ok {
				r.Paths = append(r.Paths, rule)
			}
		}
	}
	for _, s := range p.Sockets {
		if slices.ContainsFunc(q.Sockets, func(t SocketRule) bool { return s.Path == t.Path }) {
			r.Sockets = append(r.Sockets, s)
		}
	}
	r.Skill = first(p.Skill, q.Skill)
	if q.Skill != "" && q.Skill != r.Skill {
		other := max(p.Skill, q.Skill)
		r.Skill = min(p.Skill, q.Skill)
		r.Denials = append(r.Denials, Denial{
			Path: other, Access: Change, Class: Control,
			Origin: Origin{Source: "built-in:skill", Reason: "a skill is not changed from inside"},
		})
	}
	r.Normalize()
	return r
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// smaller gives the smaller limit, zero being none.
func smaller(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func (r *PathRule) intersect(b *PathRule) (PathRule, bool) {
	access := r.Access & b.Access
	if access == 0 {
		return PathRule{}, false
	}
	if !b.covers(r.Path) {
		r, b = b, r
	}
	if !b.covers(r.Path) {
		return PathRule{}, false
	}
	return PathRule{Path: r.Path, Tree: r.Tree && b.Tree, Access: access, Origin: r.Origin}, true
}

func (n *Network) intersect(m *Network) Network {
	r := Network{Mode: min(n.Mode, m.Mode), Origin: n.Origin}
	if m.Mode < n.Mode {
		r.Origin = m.Origin
	}
	switch {
	case r.Mode != NetHosts:
	case n.Mode == NetHost:
		r.Hosts = m.Hosts
	case m.Mode == NetHost:
		r.Hosts = n.Hosts
	default:
		for i := range n.Hosts {
			for j := range m.Hosts {
				r.Hosts = append(r.Hosts, n.Hosts[i].intersect(&m.Hosts[j])...)
			}
		}
	}
	for _, a := range n.Listen {
		for _, b := range m.Listen {
			ports := PortRange{max(a.Ports.First, b.Ports.First), min(a.Ports.Last, b.Ports.Last)}
			if ports.First <= ports.Last {
				r.Listen = append(r.Listen, ListenRule{Ports: ports, Any: a.Any && b.Any, Origin: a.Origin})
			}
		}
	}
	return r
}

func (h *HostRule) intersect(b *HostRule) []HostRule {
	ports, protocols := commonPorts(h.Ports, b.Ports), h.Protocols&b.Protocols
	if len(ports) == 0 || protocols == 0 {
		return nil
	}
	var rules []HostRule
	for _, host := range commonHosts(h, b) {
		origin := h.Origin
		if host == b.Host {
			origin = b.Origin
		}
		rules = append(rules, HostRule{
			Host: host, Ports: ports, Protocols: protocols,
			ReadOnly: h.ReadOnly || b.ReadOnly, Private: h.Private && b.Private,
			Except:   slices.Concat(h.Except, b.Except),
			MaxBytes: smaller(h.MaxBytes, b.MaxBytes), MaxConnections: smaller(h.MaxConnections, b.MaxConnections),
			// Fewer of one in the longer of both is within either.
			MaxRate: smaller(h.MaxRate, b.MaxRate), Per: max(h.Per, b.Per),
			Origin: origin,
		})
	}
	return rules
}

func (e *Env) intersect(f *Env) Env {
	r := Env{Deny: slices.Concat(e.Deny, f.Deny)}
	for _, a := range e.Pass {
		for _, b := range f.Pass {
			switch {
			case passes(b.Name, a.Name):
				r.Pass = append(r.Pass, a)
			case passes(a.Name, b.Name):
				r.Pass = append(r.Pass, b)
			}
		}
	}
	for _, a := range e.Allow {
		if ok, _ := f.Passes(a.Name); ok {
			r.Allow = append(r.Allow, a)
		}
	}
	for _, b := range f.Allow {
		if ok, _ := e.Passes(b.Name); ok {
			r.Allow = append(r.Allow, b)
		}
	}
	for _, v := range e.Set {
		if slices.ContainsFunc(f.Set, func(w EnvVar) bool { return compareVars(&v, &w) == 0 }) {
			r.Set = append(r.Set, v)
		}
	}
	return r
}

// commonHosts gives rules' hosts that together name exactly what both h and k
// name.
func commonHosts(h, k *HostRule) []string {
	a, b := h.Host, k.Host
	if a == b {
		return []string{a}
	}
	pa, isA := HostPrefix(a)
	pb, isB := HostPrefix(b)
	switch {
	case isA && isB:
		if pa.Bits() < pb.Bits() {
			pa, pb = pb, pa
		}
		if pb.Contains(pa.Addr()) {
			return []string{prefixHost(pa)}
		}
		return nil
	case isA && b == "*" && k.Private:
		return []string{a}
	case isB && a == "*" && h.Private:
		return []string{b}
	case isA && b == "*":
		return publicHosts(pa)
	case isB && a == "*":
		return publicHosts(pb)
	case isA && b == "localhost" && k.Private:
		return loopbackHosts(pa)
	case isB && a == "localhost" && h.Private:
		return loopbackHosts(pb)
	case isA || isB:
		return nil
	case underWildcard(a, b):
		return []string{a}
	case underWildcard(b, a):
		return []string{b}
	}
	return nil
}

// Shares says whether some hosts that k names are named by h as well, and whether all
// are.
func (h *HostRule) Shares(k *HostRule) (some, all bool) {
	both := commonHosts(h, k)
	return len(both) > 0, len(both) == 1 && both[0] == k.Host
}

// underWildcard says whether all names that a names lie beneath the wildcard b.
func underWildcard(a, b string) bool {
	suffix, ok := strings.CutPrefix(b, "*")
	return ok && strings.HasSuffix(a, suffix) && len(strings.TrimPrefix(a, "*")) > len(suffix)
}

// HostPrefix gives the addresses that an address or prefix names, false for a name.
func HostPrefix(host string) (netip.Prefix, bool) {
	// Names are told quickly: there may be thousands.
	if strings.IndexByte(host, ':') < 0 && strings.Trim(host, "0123456789./") != "" {
		return netip.Prefix{}, false
	}
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap().WithZone("")
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(host)
	return p.Masked(), err == nil
}

func prefixHost(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

// loopbackHosts gives the addresses of localhost that lie within p.
func loopbackHosts(p netip.Prefix) []string {
	for _, a := range [...]netip.Addr{loopback4, loopback6} {
		if p.Contains(a) {
			return []string{a.String()}
		}
	}
	return nil
}

// publicHosts gives the largest prefixes within p all of whose addresses are
// public.
func publicHosts(p netip.Prefix) []string {
	split := false
	for _, s := range notPublic(p.Addr().Is4()) {
		if s.Overlaps(p) {
			if s.Bits() <= p.Bits() {
				return nil
			}
			split = true
		}
	}
	if global := netip.PrefixFrom(netip.AddrFrom16(global6), 3); p.Addr().Is6() {
		if !global.Overlaps(p) {
			return nil
		}
		split = split || p.Bits() < 3
	}
	if !split {
		return []string{prefixHost(p)}
	}
	low := netip.PrefixFrom(p.Addr(), p.Bits()+1)
	bytes := p.Addr().AsSlice()
	bytes[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
	addr, _ := netip.AddrFromSlice(bytes)
	return append(publicHosts(low), publicHosts(netip.PrefixFrom(addr, p.Bits()+1))...)
}

// commonPorts gives the ports that are in both lists, normal.
func commonPorts(a, b []PortRange) []PortRange {
	var both []PortRange
	for _, x := range a {
		for _, y := range b {
			if r := (PortRange{max(x.First, y.First), min(x.Last, y.Last)}); r.First <= r.Last {
				both = append(both, r)
			}
		}
	}
	return normalPorts(both)
}
