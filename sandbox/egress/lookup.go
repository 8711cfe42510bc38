package egress

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"skillrun/profiles"
)

const (
	minTTL    = 5   // seconds; less would make every connection a question
	maxTTL    = 300 // seconds; more would outlive a change of the host
	hostsTTL  = 60  // seconds, of what the hosts file says
	maxCached = 2048
	lookupFor = 12 * time.Second // all servers and attempts together
	// lookupAside is how long the name servers are asked about a name that a
	// proxy resolves; where that is so they often do not answer at all.
	lookupAside = 500 * time.Millisecond
)

// cache keeps answers, good and bad, for their time to live.
type cache struct {
	mu sync.Mutex
	m  map[cacheKey]cached
}

type cacheKey struct {
	name string
	t    dnsmessage.Type
}

type cached struct {
	ans     answer
	why     Reason
	private netip.Addr // for which it is NotPublic: a private one, or this machine's
	until   time.Time
}

func (c *cache) get(k cacheKey, now time.Time) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.m[k]
	return v, ok && now.Before(v.until)
}

func (c *cache) put(k cacheKey, v cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxCached {
		c.m = map[cacheKey]cached{}
	}
	c.m[k] = v
}

// errNoData is no error to a client: the name exists, without such records.
var errNoData = errors.New("no such records")

// lookup resolves a canonical name for the run: allowed names only, allowed
// addresses only. What it gives is remembered as given out.
func (g *Gate) lookup(ctx context.Context, name string, t dnsmessage.Type) (answer, Reason, error) {
	if !g.policy.Name(name) {
		return answer{}, UnknownName, errNoName
	}
	now := g.cfg.Now()
	key := cacheKey{name, t}
	v, ok := g.cache.get(key, now)
	var err error
	if !ok {
		v, err = g.fetch(ctx, name, t)
		if err != nil && !errors.Is(err, errNoName) {
			return answer{}, Unreachable, err
		}
		v.ans.ttl = min(max(v.ans.ttl, minTTL), maxTTL)
		v.until = now.Add(time.Duration(v.ans.ttl) * time.Second)
		g.cache.put(key, v)
	}
	v.ans.ttl = uint32(max(v.until.Sub(now)/time.Second, 1))
	switch {
	case v.why != Granted:
		return answer{}, v.why, errNoName
	case v.ans.size() == 0:
		return v.ans, Granted, errNoData
	}
	for _, a := range v.ans.addrs {
		g.handed.add(name, a, now)
	}
	return v.ans, Granted, nil
}

// fetch gives an address that stands for a name that a proxy resolves, and looks
// others up.
func (g *Gate) fetch(ctx context.Context, name string, t dnsmessage.Type) (cached, error) {
	if _, ok := g.cfg.System.Hosts[name]; !ok && !local(name) {
		if a, ok := g.cfg.Parents.stand(name); ok {
			v := cached{why: Granted, ans: answer{ttl: hostsTTL}}
			if t != dnsmessage.TypeA {
				return v, nil
			}
			v.ans.addrs = []netip.Addr{a}
			ctx, cancel := context.WithTimeout(ctx, lookupAside)
			defer cancel()
			for _, t := range [...]dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
				if known, err := g.resolve(ctx, name, t); err == nil && (known.why == NotPublic || known.why == DeniedAddr) {
					return known, nil
				}
			}
			return v, nil
		}
	}
	return g.resolve(ctx, name, t)
}

// resolve asks the hosts file, then the name servers, and drops what the policy
// does not let a name stand for.
func (g *Gate) resolve(ctx context.Context, name string, t dnsmessage.Type) (cached, error) {
	v := cached{why: Granted}
	if addrs, ok := g.cfg.System.Hosts[name]; ok {
		v.ans = answer{addrs: addrs, ttl: hostsTTL}
	} else if local(name) {
		v.ans = answer{addrs: loopback[:], ttl: hostsTTL}
	} else {
		ctx, cancel := context.WithTimeout(ctx, lookupFor)
		defer cancel()
		for _, full := range g.cfg.System.candidates(name) {
			var err error
			if v.ans, err = g.client.resolve(ctx, full, t); err == nil {
				v.why = Granted
				break
			}
			v.why = Unreachable
			if !errors.Is(err, errNoName) {
				return v, err
			}
		}
	}
	var keep []netip.Addr
	for _, a := range v.ans.addrs {
		a = a.Unmap()
		if a.Is4() != (t == dnsmessage.TypeA) || a.Is6() != (t == dnsmessage.TypeAAAA) {
			continue // of the other family; also an IPv4 address dressed as AAAA
		}
		if g.policy.Answer(name, a) {
			keep = append(keep, a)
		} else if len(keep) == 0 {
			v.why = g.policy.refusal(name, a)
			if v.why == NotPublic && !v.private.IsValid() && (a.IsPrivate() || profiles.Public(a)) {
				v.private = a
			}
		}
	}
	if v.ans.addrs = keep; len(keep) > 0 {
		v.why = Granted
	}
	v.ans.svcb = g.services(v.ans.svcb)
	v.ans.srv = slices.DeleteFunc(v.ans.srv, func(r dnsmessage.SRVResource) bool { return !g.leads(r.Target) })
	if v.ans.size() == 0 {
		v.ans.ttl = minTTL
	}
	return v, nil
}

// leads says whether a record may lead to a name.
func (g *Gate) leads(target dnsmessage.Name) bool {
	name, err := canonical(target.String())
	return err == nil && g.policy.Name(name)
}

// services keeps of HTTPS and SVCB records what cannot lead elsewhere: no
// encrypted ClientHello, no address hints (they would be addresses that were
// not checked), no target that is not an allowed name, and no record that says
// it makes no sense without a parameter dropped here.
func (g *Gate) services(in []dnsmessage.SVCBResource) []dnsmessage.SVCBResource {
	var out []dnsmessage.SVCBResource
next:
	for _, r := range in {
		if r.Target.String() != "." && !g.leads(r.Target) {
			continue
		}
		var keep []dnsmessage.SVCParam
		var mandatory []byte
		for _, p := range r.Params {
			switch p.Key {
			case dnsmessage.SVCParamMandatory:
				mandatory = p.Value
				keep = append(keep, p)
			case dnsmessage.SVCParamALPN, dnsmessage.SVCParamNoDefaultALPN, dnsmessage.SVCParamPort:
				keep = append(keep, p)
			}
		}
		if len(mandatory)%2 != 0 {
			continue
		}
		for i := 0; i+1 < len(mandatory); i += 2 {
			switch dnsmessage.SVCParamKey(uint16(mandatory[i])<<8 | uint16(mandatory[i+1])) {
			case dnsmessage.SVCParamALPN, dnsmessage.SVCParamNoDefaultALPN, dnsmessage.SVCParamPort:
			default:
				continue next
			}
		}
		r.Params = keep
		out = append(out, r)
	}
	return out
}

// Lookup gives the addresses that an allowed name may be reached at, both
// families, IPv6 first where there are both, and counts them as given out. It
// is what the proxy form uses.
func (g *Gate) Lookup(ctx context.Context, name string) ([]netip.Addr, Reason) {
	type result struct {
		addrs []netip.Addr
		why   Reason
	}
	six := make(chan result, 1)
	go func() {
		ans, why, _ := g.lookup(ctx, name, dnsmessage.TypeAAAA)
		six <- result{ans.addrs, why}
	}()
	ans, why, _ := g.lookup(ctx, name, dnsmessage.TypeA)
	r := <-six
	addrs := append(r.addrs[:len(r.addrs):len(r.addrs)], ans.addrs...)
	switch {
	case len(addrs) > 0:
		return addrs, Granted
	case why == DeniedAddr || r.why == DeniedAddr:
		return nil, DeniedAddr
	case why == NotPublic || r.why == NotPublic:
		return nil, NotPublic
	case why == UnknownName:
		return nil, why
	}
	return nil, Unreachable
}

// tell reports a name that was not resolved, once; one that is granted with the
// private address that it stands for, and the port that it is granted at.
func (g *Gate) tell(name string, why Reason) {
	g.mu.Lock()
	_, again := g.told[name]
	if again = again || len(g.told) >= 1000; !again {
		g.told[name] = struct{}{}
	}
	g.mu.Unlock()
	if again {
		return
	}
	v := Verdict{Start: g.cfg.Now(), Door: DoorDNS, Name: name, Port: 53, Reason: why}
	if why == NotPublic {
		for _, t := range [...]dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
			if known, ok := g.cache.get(cacheKey{name, t}, v.Start); ok && known.private.IsValid() {
				v.Addr, v.Rule = known.private, g.policy.ruleOf(name)
				break
			}
		}
	}
	g.cfg.Report(v)
}

// localhost stands for the addresses of loopback, and they for it.
const localhost = "localhost"

var loopback = [...]netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}

// local says whether a name stands for the run's own machine by definition
// (RFC 6761): never asked upstream.
func local(name string) bool {
	return name == localhost || strings.HasSuffix(name, ".localhost")
}
