package profiles

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// Normalize brings the profile into a form in which rules are sorted, none
// occurs twice, and none is there that another makes superfluous. What the
// profile allows stays exactly the same. It does not change lists that the
// profile shares with others.
//
// A path rule keeps only the accesses that no rule on a directory above it
// grants already, and likewise a denial. Rules of different origin stay apart,
// so that the origin of each access is known.
func (p *Profile) Normalize() {
	p.Paths = normalPaths(p.Paths)
	p.Denials = normalDenials(p.Denials)
	p.Network.normalize()
	p.Sockets = sorted(p.Sockets, func(a, b *SocketRule) int { return cmp.Compare(a.Path, b.Path) }, func(s *SocketRule) *Origin { return &s.Origin })
	p.Env.normalize()
	p.Demands = sorted(p.Demands, compareDemands, func(d *Demand) *Origin { return &d.Origin })
	p.Empty = sorted(p.Empty, func(a, b *string) int { return cmp.Compare(*a, *b) }, func(*string) *Origin { return new(Origin) })
	p.Redact = sorted(p.Redact, compareSecrets, func(s *Secret) *Origin { return &s.Origin })
}

// sorted gives rules in order and without those that differ from the one before in
// their origin at most: rules themselves, if they are so already, as after a first
// time, or else a copy; nil for none.
func sorted[T any](rules []T, compare func(a, b *T) int, origin func(*T) *Origin) []T {
	if len(rules) == 0 {
		return nil
	}
	if ascending(rules, compare) {
		return slices.Clip(rules)
	}
	order := make([]*T, len(rules))
	for i := range rules {
		order[i] = &rules[i]
	}
	slices.SortFunc(order, func(a, b *T) int {
		if c := compare(a, b); c != 0 {
			return c
		}
		return compareOrigins(origin(a), origin(b))
	})
	s := make([]T, 0, len(rules))
	for i, r := range order {
		if i == 0 || compare(order[i-1], r) != 0 {
			s = append(s, *r)
		}
	}
	return s
}

// ascending says whether each rule is above the one before.
func ascending[T any](rules []T, compare func(a, b *T) int) bool {
	for i := 1; i < len(rules); i++ {
		if compare(&rules[i-1], &rules[i]) >= 0 {
			return false
		}
	}
	return true
}

// shared is a list that others read, until it is this one's own: what is normal, as
// nearly all is after a first time, is not copied.
type shared[T any] struct {
	list []T
	own  bool
}

// take makes the list this one's own.
func (s *shared[T]) take() {
	if !s.own {
		s.list, s.own = slices.Clone(s.list), true
	}
}

func (s *shared[T]) sort(compare func(a, b *T) int, origin func(*T) *Origin) {
	if ordered := sorted(s.list, compare, origin); len(ordered) > 0 && &ordered[0] != &s.list[0] {
		s.list, s.own = ordered, true
	}
}

// put has rule as the one after kept, the first of the list.
func (s *shared[T]) put(kept []T, rule T) []T {
	kept = s.list[:len(kept)+1]
	if s.own {
		kept[len(kept)-1] = rule
	}
	return kept
}

func normalPaths(rules []PathRule) []PathRule {
	compare := func(a, b *PathRule) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return cmp.Or(-compareBools(a.Tree, b.Tree), compareOrigins(&a.Origin, &b.Origin), cmp.Compare(a.Access, b.Access))
	}
	s := shared[PathRule]{list: rules}
	s.sort(compare, func(r *PathRule) *Origin { return &r.Origin })
	trees := make(map[string]Access, len(rules))
	for i := range s.list {
		if r := &s.list[i]; r.Tree {
			trees[r.Path] |= r.Access
		}
	}
	var kept []PathRule
	var path string
	var here Access // granted to the same path by a rule before, in order
	for i := range s.list {
		r := s.list[i]
		if r.Path != path {
			path, here = r.Path, 0
			for dir, ok := above(path); ok; dir, ok = above(dir) {
				here |= trees[dir]
			}
		}
		// Trees come first, so that what they grant counts for the file too.
		rest, last := r.Access&^here, len(kept)-1
		here |= rest
		again := last >= 0 && kept[last].Path == r.Path && kept[last].Tree == r.Tree && kept[last].Origin == r.Origin
		if rest == 0 || rest != r.Access || again {
			s.take()
			kept = s.list[:len(kept)]
		}
		switch r.Access = rest; {
		case rest == 0:
		case again:
			kept[last].Access |= rest
		default:
			kept = s.put(kept, r)
		}
	}
	return nilIfEmpty(slices.Clip(kept))
}

// above gives the directory that holds path; false for "/".
func above(path string) (string, bool) {
	switch i := strings.LastIndexByte(path, '/'); {
	case path == "/" || i < 0:
		return "", false
	case i == 0:
		return "/", true
	default:
		return path[:i], true
	}
}

func normalDenials(denials []Denial) []Denial {
	s := shared[Denial]{list: denials}
	for i := range s.list {
		d := &s.list[i]
		sorted := ascending(d.Except, func(a, b *string) int { return strings.Compare(*a, *b) })
		if d.Access&Delete != 0 && sorted && (d.Except == nil || len(d.Except) > 0) {
			continue
		}
		s.take()
		d = &s.list[i]
		d.Access |= Delete // which every denial refuses
		if !sorted {       // and the list may be shared
			d.Except = slices.Clone(d.Except)
			slices.Sort(d.Except)
			d.Except = slices.Compact(d.Except)
		}
		d.Except = nilIfEmpty(d.Except)
	}
	compare := func(a, b *Denial) int {
		if c := compareScopes(a, b); c != 0 {
			return c
		}
		return cmp.Or(compareOrigins(&a.Origin, &b.Origin), cmp.Compare(a.Access, b.Access))
	}
	s.sort(compare, func(d *Denial) *Origin { return &d.Origin })
	type key struct {
		path  string
		class Class
	}
	whole := make(map[key]Access, len(denials))
	for i := range s.list {
		if d := &s.list[i]; d.whole() {
			whole[key{d.Path, d.Class}] |= d.Access
		}
	}
	var kept []Denial
	var here Access
	for i := range s.list {
		d := s.list[i]
		if i == 0 || compareScopes(&s.list[i-1], &d) != 0 {
			here = 0
			if !d.whole() {
				here = whole[key{d.Path, d.Class}]
			}
			for dir, ok := above(d.Path); ok; dir, ok = above(dir) {
				here |= whole[key{dir, d.Class}]
			}
		}
		rest, last := d.Access&^here, len(kept)-1
		here |= rest
		again := last >= 0 && compareScopes(&kept[last], &d) == 0 && kept[last].Origin == d.Origin
		if rest != 0 {
			rest |= Delete
		}
		if rest != d.Access || again {
			s.take()
			kept = s.list[:len(kept)]
		}
		switch d.Access = rest; {
		case rest == 0:
		case again:
			kept[last].Access |= rest
		default:
			kept = s.put(kept, d)
		}
	}
	return nilIfEmpty(slices.Clip(kept))
}

// whole says whether the denial covers Path and all beneath it without
// condition.
func (d *Denial) whole() bool {
	return d.Match == "" && len(d.Except) == 0 && !d.UnlessMade && !d.UnlessWithin
}

// compareScopes orders denials by all but what they refuse and their origin.
func compareScopes(a, b *Denial) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	if c := strings.Compare(a.Match, b.Match); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Class, b.Class), compareBools(a.UnlessMade, b.UnlessMade), compareBools(a.UnlessWithin, b.UnlessWithin), slices.Compare(a.Except, b.Except))
}

// Equal says whether two denials are the same, their origins, too.
func (d Denial) Equal(e Denial) bool {
	return compareScopes(&d, &e) == 0 && d.Access == e.Access && d.Origin == e.Origin && d.AnyCase == e.AnyCase
}

// hostKey gives one spelling of a rule's host.
func hostKey(host string) string {
	if p, ok := HostPrefix(host); ok {
		return p.String()
	}
	return host
}

// wider gives the keys of all hosts that may cover one: of thousands each is not
// compared with each.
func wider(host string) []string {
	keys := []string{"*", host}
	if p, ok := HostPrefix(host); ok {
		for bits := range p.Bits() + 1 {
			keys = append(keys, netip.PrefixFrom(p.Addr(), bits).Masked().String())
		}
		return keys
	}
	for i := range host {
		if host[i] == '.' {
			keys = append(keys, "*"+host[i:])
		}
	}
	return keys
}

func (n *Network) normalize() {
	if n.Mode != NetHosts {
		n.Hosts = nil
	}
	hosts := slices.Clone(n.Hosts)
	for i := range hosts {
		hosts[i].Ports = normalPorts(hosts[i].Ports)
		hosts[i].Except = hosts[i].exceptions()
	}
	hosts = slices.DeleteFunc(hosts, func(h HostRule) bool { // of which nothing is left
		p, byAddr := HostPrefix(h.Host)
		return byAddr && coveredBy(h.Except, p)
	})
	hosts = sorted(hosts, compareHosts, func(h *HostRule) *Origin { return &h.Origin })
	at := map[string][]int{}
	for i := range hosts {
		key := hostKey(hosts[i].Host)
		at[key] = append(at[key], i)
	}
	n.Hosts = nil
	for i := range hosts {
		covers := func(j int) bool { return i != j && hosts[i].within(&hosts[j]) }
		if !slices.ContainsFunc(wider(hosts[i].Host), func(key string) bool { return slices.ContainsFunc(at[key], covers) }) {
			n.Hosts = append(n.Hosts, hosts[i])
		}
	}
	listen := sorted(n.Listen, compareListens, func(l *ListenRule) *Origin { return &l.Origin })
	n.Listen = nil
	for i, l := range listen {
		if !slices.ContainsFunc(listen, func(b ListenRule) bool { return compareListens(&listen[i], &b) != 0 && l.within(b) }) {
			n.Listen = append(n.Listen, l)
		}
	}
}

// normalPorts sorts ranges and joins those that touch.
func normalPorts(ports []PortRange) []PortRange {
	ports = slices.Clone(ports)
	slices.SortFunc(ports, func(a, b PortRange) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last)) })
	var joined []PortRange
	for _, r := range ports {
		if n := len(joined); n > 0 && int(r.First) <= int(joined[n-1].Last)+1 {
			joined[n-1].Last = max(joined[n-1].Last, r.Last)
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}

// exceptions gives those that take something from the rule, in order, without
// those that others cover.
func (h *HostRule) exceptions() []string {
	all := slices.Clone(h.Except)
	slices.SortFunc(all, func(a, b string) int { // the larger first
		p, _ := HostPrefix(a)
		q, _ := HostPrefix(b)
		return cmp.Or(cmp.Compare(p.Bits(), q.Bits()), cmp.Compare(a, b))
	})
	var kept []string
	for _, e := range all {
		p, ok := HostPrefix(e)
		if !ok || !coveredBy(kept, p) && h.mayReach(p) { // Validate refuses what is none
			kept = append(kept, e)
		}
	}
	slices.Sort(kept)
	return kept
}

// mayReach says whether the rule, but for its exceptions, reaches some address of a
// prefix, by a name perhaps.
func (h *HostRule) mayReach(p netip.Prefix) bool {
	by := p // by a translator
	if p.Addr().Is4() {
		a, four := translated.Addr().As16(), p.Addr().As4()
		copy(a[12:], four[:])
		by = netip.PrefixFrom(netip.AddrFrom16(a), translated.Bits()+p.Bits())
	}
	if own, ok := HostPrefix(h.Host); ok {
		return own.Overlaps(p) || own.Overlaps(by)
	}
	return h.Private || len(publicHosts(p)) > 0 || translated.Overlaps(p)
}

// coveredBy says whether one of hosts has all of a prefix.
func coveredBy(hosts []string, p netip.Prefix) bool {
	return slices.ContainsFunc(hosts, func(host string) bool {
		q, ok := HostPrefix(host)
		return ok && q.Bits() <= p.Bits() && q.Contains(p.Addr())
	})
}

// within says whether everything that h allows b allows too. Bounds of rules
// that cover the same do not add up.
func (h *HostRule) within(b *HostRule) bool {
	if b.MaxRate != 0 && (h.MaxRate == 0 || h.MaxRate > b.MaxRate || h.Per < b.Per) {
		return false
	}
	if smaller(h.MaxBytes, b.MaxBytes) != h.MaxBytes || smaller(h.MaxConnections, b.MaxConnections) != h.MaxConnections || b.ReadOnly && !h.ReadOnly || h.Private && !b.Private || h.Protocols&^b.Protocols != 0 {
		return false
	}
	for _, e := range b.Except {
		if p, ok := HostPrefix(e); ok && !coveredBy(h.Except, p) && h.mayReach(p) {
			return false
		}
	}
	if b.Host == "localhost" && h.Host != b.Host {
		return false // a rule by address lets through what one by name looks at
	}
	both := commonHosts(h, b)
	return len(both) == 1 && both[0] == h.Host && slices.Equal(commonPorts(h.Ports, b.Ports), h.Ports)
}

func (a ListenRule) within(b ListenRule) bool {
	return b.Ports.First <= a.Ports.First && a.Ports.Last <= b.Ports.Last && (b.Any || !a.Any)
}

func (e *Env) normalize() {
	pass := normalNames(e.Pass)
	within := func(r EnvRule) bool {
		return slices.ContainsFunc(pass, func(b EnvRule) bool {
			return b.Name != r.Name && strings.HasSuffix(b.Name, "*") && passes(b.Name, r.Name)
		})
	}
	if e.Pass = pass; slices.ContainsFunc(pass, within) {
		e.Pass = nil
		for _, r := range pass {
			if !within(r) {
				e.Pass = append(e.Pass, r)
			}
		}
	}
	e.Deny = normalNames(e.Deny)
	e.Allow = normalNames(e.Allow)
	e.Set = sorted(e.Set, compareVars, func(v *EnvVar) *Origin { return &v.Origin })
}

func normalNames(rules []EnvRule) []EnvRule {
	return sorted(rules, func(a, b *EnvRule) int { return cmp.Compare(a.Name, b.Name) }, func(r *EnvRule) *Origin { return &r.Origin })
}

func compareHosts(a, b *HostRule) int {
	ports := func(a, b PortRange) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last)) }
	return cmp.Or(cmp.Compare(a.Host, b.Host), slices.CompareFunc(a.Ports, b.Ports, ports), cmp.Compare(a.Protocols, b.Protocols),
		compareBools(a.ReadOnly, b.ReadOnly), compareBools(a.Private, b.Private),
		cmp.Compare(a.MaxBytes, b.MaxBytes), cmp.Compare(a.MaxConnections, b.MaxConnections),
		cmp.Compare(a.MaxRate, b.MaxRate), cmp.Compare(a.Per, b.Per), slices.Compare(a.Except, b.Except))
}

func compareListens(a, b *ListenRule) int {
	return cmp.Or(cmp.Compare(a.Ports.First, b.Ports.First), cmp.Compare(a.Ports.Last, b.Ports.Last), compareBools(a.Any, b.Any))
}

func compareVars(a, b *EnvVar) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
}

func compareDemands(a, b *Demand) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Detail, b.Detail))
}

func compareSecrets(a, b *Secret) int {
	return cmp.Or(cmp.Compare(a.Env, b.Env), cmp.Compare(a.Path, b.Path))
}

func compareOrigins(a, b *Origin) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Capability, b.Capability), cmp.Compare(a.Reason, b.Reason))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func nilIfEmpty[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}
