package policy_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillrun/policy"
)

// law checks a law of random States with Requests that have something to do
// with them.
func law(t *testing.T, check func(t *rapid.T, draw *drawer, s policy.State, r policy.Request)) {
	rapid.Check(t, func(t *rapid.T) {
		draw := &drawer{rand.New(rand.NewPCG(4, rapid.Uint64().Draw(t, "seed")))}
		for range 40 {
			c := draw.oracleCase()
			if s, r := c.engine(t); policy.Lookup(r.Capability) != nil {
				check(t, draw, s, r)
			}
		}
	})
}

func (d *drawer) entries(t fataler, capability, source string, n int) []policy.Entry {
	var list []map[string]any
	for range n {
		list = append(list, d.entry(capability, source))
	}
	return parseEntries(t, list)
}

// Whatever narrows a session makes no answer laxer.
func TestNarrowingNeverWidens(t *testing.T) {
	law(t, func(t *rapid.T, draw *drawer, s policy.State, r policy.Request) {
		before := s.Decide(r)
		task := s
		if len(s.Task) == 0 {
			task.Task = draw.entries(t, r.Capability, "task-scope", 1+draw.IntN(3))
		}
		bound := s
		bound.Bounds = []policy.Bounded{{Name: "skill:bad", Partial: draw.often(30), Entries: draw.entries(t, r.Capability, "skill:bad", draw.IntN(4))}}
		floor := s
		floor.Declared = slices.Clip(s.Declared)
		for _, e := range draw.entries(t, r.Capability, policy.UserConfig+"-floor", 1) {
			e.Effect, e.Implied = policy.Deny, false
			floor.Declared = append(floor.Declared, e)
		}
		fewer := s
		fewer.Granted = nil
		stricter := s
		stricter.Undeclared = map[policy.Level]policy.Effect{}
		// An untrusted skill is a bound besides.
		distrusted := bound
		distrusted.Tiers = nil
		for _, e := range s.Declared {
			if !strings.HasPrefix(e.Source, "skill:") {
				continue
			}
			own := slices.DeleteFunc(slices.Clone(s.Declared), func(o policy.Entry) bool { return o.Source != e.Source })
			distrusted.Bounds = append(distrusted.Bounds, policy.Bounded{Name: e.Source, Entries: own})
		}
		for what, narrow := range map[string]*policy.State{"a task's scope": &task, "a bound": &bound, "a floor": &floor, "no grants": &fewer, "a denial by level": &stricter, "distrust": &distrusted} {
			if after := narrow.Decide(r); after.Effect > before.Effect {
				t.Fatalf("%s makes %v (%s) of %v (%s)", what, after.Effect, after.Reason, before.Effect, before.Reason)
			}
		}
	})
}

// What passes a bound is in it, or granted by name in the user's configuration.
func TestBoundsHold(t *testing.T) {
	passed := 0
	law(t, func(t *rapid.T, draw *drawer, s policy.State, r policy.Request) {
		s.Bounds = []policy.Bounded{{Name: "skill:bad", Entries: draw.entries(t, r.Capability, "skill:bad", 1+draw.IntN(4))}}
		a := s.Decide(r)
		if a.Effect == policy.Deny {
			return
		}
		alone := policy.State{Declared: s.Bounds[0].Entries, Tiers: s.Tiers}
		if alone.Decide(r).Effect != policy.Deny {
			passed++
			return
		}
		if a.Entry == nil || a.Entry.Source != policy.UserConfig {
			configured := policy.State{Granted: s.Granted, Undeclared: policy.AskUndeclared()}
			configured.Granted = slices.DeleteFunc(slices.Clone(s.Granted), func(e policy.Entry) bool { return e.Source != policy.UserConfig })
			if configured.Decide(r).Effect != policy.Allow {
				t.Fatalf("%v (%s) beyond the bound", a.Effect, a.Reason)
			}
		}
	})
	if passed == 0 {
		t.Error("nothing passed: the draw is too narrow")
	}
}

// A yes to an entry admits what that entry admits, where it admits it; a yes to
// what nobody declared admits what was asked about, and what is beneath.
func TestGrantsNeverWiden(t *testing.T) {
	lifted := 0
	law(t, func(t *rapid.T, draw *drawer, s policy.State, r policy.Request) {
		a := s.Decide(r)
		if a.Effect != policy.Confirm {
			return
		}
		g, ok := a.Grant(&r, r.Time)
		if !ok {
			return
		}
		g.Granted = r.Time
		granted := s
		granted.Granted = append(slices.Clip(s.Granted), g)
		for range 8 {
			other := draw.oracleCase()
			if draw.often(70) {
				other.Request["capability"] = r.Capability
			}
			_, r2 := other.engine(t)
			if draw.often(30) {
				r2.Paths, r2.Hosts, r2.Names = r.Paths, r.Hosts, r.Names
			}
			if granted.Decide(r2).Effect <= s.Decide(r2).Effect {
				continue
			}
			lifted++
			if r2.Capability != r.Capability {
				t.Fatalf("a yes to %s lifts %s", r.Capability, r2.Capability)
			}
			if named := len(r.Paths)+len(r.Hosts)+len(r.Names) > 0; a.Entry == nil && !named {
				if !policy.Lookup(r.Capability).Whole() {
					t.Fatalf("a yes to %s, of which nothing was named, lasts", r.Capability)
				}
				continue
			} else if a.Entry == nil {
				asked := [][]string{r.Paths, r.Hosts, r.Names}
				for i, list := range [][]string{r2.Paths, r2.Hosts, r2.Names} {
					for _, target := range list {
						if !slices.ContainsFunc(asked[i], func(a string) bool {
							return a == target || i == 0 && (a == "/" || strings.HasPrefix(target, a+"/")) || i == 1 && strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(target, "."))
						}) {
							t.Fatalf("a yes to %q lifts %q", asked[i], target)
						}
					}
				}
				continue
			}
			entry := *a.Entry
			entry.Effect, entry.Implied, entry.Source = policy.Allow, false, "session-default"
			alone := policy.State{Declared: []policy.Entry{entry}}
			if alone.Decide(r2).Effect != policy.Allow {
				t.Fatalf("a yes to %s lifts what the entry does not cover: %+v", a.Entry.Key(), r2)
			}
		}
	})
	if lifted == 0 {
		t.Error("no yes lifted anything: the draw is too narrow")
	}
}
