package egress

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skillrun/profiles"
)

// Reason says in a word why a verdict is what it is. The words are stable:
// audit records carry them.
type Reason string

// The reasons. Granted is the only one of an allowed connection.
const (
	Granted       Reason = "granted"
	BadName       Reason = "bad-name"       // not a host name or address in plain form
	UnknownName   Reason = "unknown-name"   // no rule names it
	UnknownAddr   Reason = "unknown-addr"   // no rule names the address, nor was it given out for an allowed name
	WrongPort     Reason = "wrong-port"     // the host is allowed on other ports or by another protocol
	NotPublic     Reason = "not-public"     // an allowed name that resolves to a private or special address, or to this machine's network
	DeniedAddr    Reason = "denied-addr"    // an address that a rule excepts, asked for by a name or not
	Mismatch      Reason = "name-mismatch"  // the name in the bytes is not the one the address was given out for
	HiddenName    Reason = "hidden-name"    // an encrypted ClientHello without an allowed outer name
	Malformed     Reason = "malformed"      // TLS or HTTP that could be read in two ways
	ReadOnly      Reason = "read-only"      // a method other than GET, HEAD and OPTIONS
	OverBytes     Reason = "over-bytes"     // the rule's byte budget is used up
	OverCount     Reason = "over-count"     // the rule's connection budget is used up, or too many at once
	NotNow        Reason = "not-now"        // too many in the rule's time
	NoRoom        Reason = "no-room"        // granted, at one port more than can be opened in the run's namespace
	Unreachable   Reason = "unreachable"    // allowed, but the host does not answer or does not resolve
	NotRegistered Reason = "not-registered" // a connection to the gate that the supervisor knows nothing of
)

// Policy is the network part of a profile, made ready for decisions, with the
// budgets that the run has used. Its methods are safe for concurrent use. The
// zero Policy and one made of an empty host list allow nothing.
type Policy struct {
	rules []rule
	own   own
}

// rule is a HostRule with its address parsed and its use counted.
type rule struct {
	*profiles.HostRule
	own    *own
	byAddr bool         // Host is an address or a prefix
	prefix netip.Prefix // then this
	except []netip.Prefix
	conns  atomic.Int64
	bytes  atomic.Int64
	mu     sync.Mutex
	begun  []time.Time // connections within the last stretch of Per, with a MaxRate
}

// NewPolicy makes a Policy of a normalized network. It keeps pointers into
// n.Hosts, which must not change afterwards.
func NewPolicy(n *profiles.Network) *Policy {
	p := &Policy{}
	switch n.Mode {
	case profiles.NetHost:
		all := &profiles.HostRule{Host: "*", Ports: []profiles.PortRange{profiles.AnyPort}, Protocols: profiles.TCP | profiles.UDP, Private: true, Origin: n.Origin}
		p.rules = []rule{{HostRule: all, own: &p.own}}
	case profiles.NetHosts:
		p.rules = make([]rule, len(n.Hosts))
		for i := range n.Hosts {
			r := &p.rules[i]
			r.HostRule, r.own = &n.Hosts[i], &p.own
			r.prefix, r.byAddr = profiles.HostPrefix(r.Host)
			for _, e := range r.Except {
				if p, ok := profiles.HostPrefix(e); ok {
					r.except = append(r.except, p)
				}
			}
		}
	}
	return p
}

// names says whether the rule grants the name, whatever it resolves to.
func (r *rule) names(name string) bool { return !r.byAddr && r.Matches(name) }

// excepts says whether the rule does not reach the address after all.
func (r *rule) excepts(a netip.Addr) bool {
	return slices.ContainsFunc(r.except, func(p netip.Prefix) bool { return p.Contains(a) || p.Contains(profiles.Translated(a)) })
}

// address says whether the rule grants the address itself.
func (r *rule) address(a netip.Addr) bool {
	if r.byAddr {
		return r.prefix.Contains(a)
	}
	return r.Host == "*" && (r.Private || profiles.Public(a)) && r.within(a)
}

// nameAt says whether the rule grants the name while it stands for a.
func (r *rule) nameAt(name string, a netip.Addr) bool {
	return r.names(name) && r.within(a)
}

// within says whether the rule reaches the address by a name: what is private, or of
// this machine's own network, is not the internet's.
func (r *rule) within(a netip.Addr) bool {
	a = profiles.Translated(a)
	return r.Private || profiles.Public(a) && !r.own.has(a)
}

// own knows the addresses of this machine's interfaces, where services listen that
// are often meant for this machine alone, and those beside them, which firewalls
// keep from the internet as they do private ones.
type own struct {
	mu    sync.Mutex
	nets  []netip.Prefix
	until time.Time // asked for anew then
}

const ownFor = 5 * time.Second

func (o *own) has(a netip.Addr) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := time.Now(); now.After(o.until) {
		found, err := net.InterfaceAddrs()
		if err != nil {
			return true // any may be one
		}
		o.nets, o.until = nil, now.Add(ownFor)
		for _, f := range found {
			if n, ok := f.(*net.IPNet); ok {
				one, _ := netip.AddrFromSlice(n.IP)
				bits, _ := n.Mask.Size()
				o.nets = append(o.nets, beside(one.Unmap(), bits))
			}
		}
	}
	return slices.ContainsFunc(o.nets, func(p netip.Prefix) bool { return p.Contains(a) })
}

// beside gives the addresses on the network of an interface's. One of IPv6 that was
// handed out alone is of a network of /64 (RFC 4291), whatever its own length.
func beside(a netip.Addr, bits int) netip.Prefix {
	switch {
	case bits == 0: // of no network
		bits = a.BitLen()
	case a.Is6():
		bits = min(bits, 64)
	}
	p, _ := a.Prefix(bits)
	return p
}

func (r *rule) carries(port uint16, proto profiles.Protocol) bool {
	return proto != 0 && r.Protocols&proto == proto && r.HasPort(port)
}

// Name says whether any rule grants a canonical name, on whatever port: whether
// the resolver may ask for it at all.
func (p *Policy) Name(name string) bool {
	return p.ruleOf(name) != nil
}

// ruleOf gives the first rule that grants a name.
func (p *Policy) ruleOf(name string) *profiles.HostRule {
	for i := range p.rules {
		if p.rules[i].names(name) {
			return p.rules[i].HostRule
		}
	}
	return nil
}

// Answer says whether address a may be given out for an allowed name. This is
// what stops a name that resolves to a private address, or one of this
// machine's network (rebinding), unless a rule says Private or names the address itself, and one that
// resolves to a denied address.
func (p *Policy) Answer(name string, a netip.Addr) bool {
	for i := range p.rules {
		if r := &p.rules[i]; r.nameAt(name, a) && !r.excepts(a) || r.names(name) && p.address(a) {
			return true
		}
	}
	return false
}

func (p *Policy) address(a netip.Addr) bool {
	for i := range p.rules {
		if r := &p.rules[i]; r.address(a) && !r.excepts(a) {
			return true
		}
	}
	return false
}

// refusal says why an address for which there is no Answer is not given out.
func (p *Policy) refusal(name string, a netip.Addr) Reason {
	for i := range p.rules {
		if r := &p.rules[i]; r.names(name) && r.excepts(a) {
			return DeniedAddr
		}
	}
	return NotPublic
}

// Request is one connection that a run wants.
type Request struct {
	// Name is canonical; "" if the run went straight to the address.
	Name string
	// Addr is without zone and not IPv4-mapped; the zero Addr asks about the
	// name alone, before it is resolved.
	Addr     netip.Addr
	Port     uint16
	Protocol profiles.Protocol
}

// Decide gives the rule that grants a request, or the reason for which none
// does. It counts nothing. With several rules that grant it, the least
// restrictive one decides: any method before read-only; then no budget before a
// budget; then a rule by address, which needs no look at the bytes, before one by
// name; else the first.
func (p *Policy) Decide(q Request) (*profiles.HostRule, Reason) {
	r, why := p.decide(q)
	if r == nil && q.Name == "" && slices.Contains(loopback[:], q.Addr) {
		q.Name = localhost
		if byName, _ := p.decide(q); byName != nil {
			r, why = byName, Granted
		}
	}
	if r == nil {
		return nil, why
	}
	return r.HostRule, why
}

func (p *Policy) decide(q Request) (*rule, Reason) {
	var best *rule
	why := UnknownAddr
	if q.Name != "" {
		why = UnknownName
	}
	for i := range p.rules {
		r := &p.rules[i]
		byName := q.Name != "" && r.names(q.Name)
		byAddr := q.Addr.IsValid() && r.address(q.Addr)
		if !byName && !byAddr {
			continue
		}
		if !r.carries(q.Port, q.Protocol) {
			if why != NotPublic && why != DeniedAddr {
				why = WrongPort
			}
			continue
		}
		if q.Addr.IsValid() && r.excepts(q.Addr) {
			why = DeniedAddr
			continue
		}
		if !byAddr && q.Addr.IsValid() && !r.nameAt(q.Name, q.Addr) {
			why = NotPublic
			continue
		}
		if best == nil || r.rank(byAddr) < best.rank(q.Addr.IsValid() && best.address(q.Addr)) {
			best = r
		}
	}
	if best == nil {
		return nil, why
	}
	return best, Granted
}

// rank orders the rules that grant the same request; the lowest decides.
func (r *rule) rank(byAddr bool) int {
	n := 0
	if r.ReadOnly {
		n |= 4
	}
	if r.bounded() {
		n |= 2
	}
	if !byAddr {
		n |= 1
	}
	return n
}

func (r *rule) bounded() bool { return r.MaxBytes != 0 || r.MaxConnections != 0 || r.MaxRate != 0 }

// like says whether a connection by one rule may go on by the other: nothing of it
// was counted.
func (r *rule) like(o *rule) bool {
	return r.ReadOnly == o.ReadOnly && !r.bounded() && !o.bounded()
}

// admit counts a connection that begins now against the rule's budgets.
func (r *rule) admit(now time.Time) Reason {
	if r.MaxBytes > 0 && r.bytes.Load() >= r.MaxBytes {
		return OverBytes
	}
	if r.MaxRate > 0 && !r.inTime(now) {
		return NotNow
	}
	if n := r.conns.Add(1); r.MaxConnections > 0 && n > r.MaxConnections {
		r.conns.Add(-1)
		return OverCount
	}
	return Granted
}

// inTime counts a connection against the rate, unless that is used up.
func (r *rule) inTime(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.begun) > 0 && now.Sub(r.begun[0]) >= r.Per {
		r.begun = r.begun[1:]
	}
	if int64(len(r.begun)) >= r.MaxRate {
		return false
	}
	r.begun = append(r.begun, now)
	return true
}

// take counts n bytes and says how many of them the budget still allowed.
func (r *rule) take(n int) int {
	after := r.bytes.Add(int64(n))
	if r.MaxBytes <= 0 || after <= r.MaxBytes {
		return n
	}
	left := r.MaxBytes - (after - int64(n))
	return int(max(left, 0))
}

// carries says whether any rule grants a port.
func (p *Policy) carries(port uint16, proto profiles.Protocol) bool {
	for i := range p.rules {
		if p.rules[i].carries(port, proto) {
			return true
		}
	}
	return false
}
