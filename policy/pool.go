package policy

import (
	"slices"
	"strings"
)

// Pool gives what the manifests of one skill contribute to a session's declared
// pool, with source as their source. docs are as for [Input]: the strongest
// form counts, and of the others' entries only what agrees. A skill without a
// manifest contributes nothing. Network entries that name no host mean hosts,
// those of the skill's own approved files; without any they ask.
func Pool(docs []*Document, tier Tier, hosts []string, source string) []Entry {
	docs = slices.Clone(docs)
	sortDocuments(docs)
	if len(docs) == 0 {
		return nil
	}
	entries := docs[0].Entries
	if len(docs) > 1 || tier == Isolated {
		entries = expandAll(entries)
	}
	for _, d := range docs[1:] {
		entries = agree(entries, expandAll(d.Entries))
	}
	pool := make([]Entry, 0, len(entries))
	for _, e := range entries {
		e.Source, e.Granted = source, e.Granted.UTC()
		if tier == Isolated && e.Effect != Deny {
			if Lookup(e.Capability).isolated() {
				continue
			}
		}
		if cs := Expand(e.Capability); e.Effect != Deny && slices.ContainsFunc(cs, networked) {
			if len(cs) > 1 {
				for _, c := range cs {
					one := e
					one.Capability, one.Effect, one.Implied = c.Name, e.effective(c, false), false
					pool = append(pool, pinHosts(one, hosts))
				}
				continue
			}
			e = pinHosts(e, hosts)
		}
		pool = append(pool, e)
	}
	return pool
}

// pinHosts settles which hosts a network entry means.
func pinHosts(e Entry, hosts []string) Entry {
	c := Lookup(e.Capability)
	if !networked(c) {
		return e
	}
	s := Set{Hosts: hosts}
	if s.askHosts(&e) {
		e.Effect, e.Implied = min(e.effective(c, false), Confirm), false
	} else if !e.Constraints.Scoped {
		e.Constraints.Scoped = true
		for _, h := range slices.Sorted(slices.Values(hosts)) {
			e.Constraints.Scope = append(e.Constraints.Scope, Text{h, e.Pos})
		}
	}
	return e
}

// expandAll gives entries for single capabilities, each with its own effect.
func expandAll(entries []Entry) []Entry {
	var all []Entry
	for _, e := range entries {
		for _, c := range Expand(e.Capability) {
			one := e
			one.Capability, one.Effect, one.Implied = c.Name, e.effective(c, false), false
			all = append(all, one)
		}
	}
	return all
}

// agree gives the entries of a that b grants too, with the stricter effect and
// the constraints of whichever has some; where both have, and different ones,
// nothing. What either denies stays denied.
func agree(a, b []Entry) []Entry {
	var both []Entry
	var asked []string
	for _, e := range a {
		if e.Effect == Deny {
			both = append(both, e)
			continue
		}
		for _, o := range b {
			if o.Capability != e.Capability || o.Effect == Deny {
				continue
			}
			one := e
			// What either ranks above an entry of its own stays above it.
			one.Effect, one.Priority = min(e.Effect, o.Effect), min(e.Priority, o.Priority)
			switch {
			case e.Key() == o.Key(), !o.Constraints.narrows() && o.Expires.IsZero():
			case !e.Constraints.narrows() && e.Expires.IsZero():
				one.Constraints, one.Expires, one.Pos = o.Constraints, o.Expires, o.Pos
			default:
				if one.Effect == Confirm {
					asked = append(asked, e.Capability)
				}
				continue
			}
			both = append(both, one)
		}
	}
	for i := range both {
		if e := &both[i]; slices.Contains(asked, e.Capability) {
			e.Effect = min(e.Effect, Confirm) // which may be about what was to be asked
		}
	}
	for _, o := range b {
		if o.Effect == Deny {
			both = append(both, o)
		}
	}
	return both
}

// Loosens says whether of what entries denied or asked about something is let through
// by others, although these name no more: the denial or the question is gone, or
// another entry counts before it.
func Loosens(old, now []Entry) bool {
	old, now = expandAll(old), expandAll(now)
	for _, o := range old {
		kept, open := false, false
		for _, n := range now {
			if n.Capability != o.Capability {
				continue
			}
			kept = kept || n.Effect <= o.Effect && n.Priority >= o.Priority && n.Key() == o.Key()
			open = open || n.Effect > o.Effect
			if n.Effect > o.Effect && n.Priority > o.Priority && !slices.ContainsFunc(old, func(e Entry) bool {
				return e.Key() == n.Key() && e.Effect >= n.Effect && e.Priority > o.Priority
			}) {
				return true
			}
		}
		if open && !kept {
			return true
		}
	}
	return false
}

// Settled gives the entries for single capabilities, each with the effect that
// it has in the State: of an untrusted skill an allow asks. Those whose key is
// among the accepted are allowed.
func (s *State) Settled(entries []Entry, accepted []string) []Entry {
	var all []Entry
	for _, e := range entries {
		for _, c := range Expand(e.Capability) {
			one := e
			one.Capability, one.Effect, one.Implied = c.Name, e.effective(c, s.untrusted(e.Source)), false
			if one.Effect == Confirm && slices.Contains(accepted, one.Key()) {
				one.Effect = Allow
			}
			if s.untrusted(e.Source) {
				one.Priority = min(one.Priority, 0)
			}
			all = append(all, one)
		}
	}
	return all
}

// Within says whether every bound covers what a grant is for.
func (s *State) Within(g Entry, place Place) bool {
	c := Lookup(g.Capability)
	if c == nil {
		return false
	}
	r := Request{Capability: g.Capability, Place: place, Time: g.Granted}
	for _, t := range g.Constraints.Scope {
		switch {
		case networked(c):
			r.Hosts = append(r.Hosts, t.Value)
		case strings.HasPrefix(t.Value, "/"):
			r.Paths = append(r.Paths, t.Value)
		default:
			r.Names = append(r.Names, t.Value)
		}
	}
	_, ok := s.bound(c, &r)
	return ok
}
