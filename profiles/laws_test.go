package profiles_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillrun/profiles"
)

// Random profiles draw from few names, so that rules meet often.
var (
	anyDir  = rapid.SampledFrom([]string{"/", "/w", "/w/a", "/w/a/b", "/w/.git", "/w/.git/hooks", "/wx", "/s", "/w/s", "/w/a/node_modules"})
	anyFile = rapid.SampledFrom([]string{"/w/a/b/c", "/w/.env", "/w/a/.env", "/w/.git/hooks/pre-commit", "/w/.git/config", "/w/.GIT/Hooks/x", "/w/a/node_modules/.env", "/s/SKILL.md", "/w/s/x", "/wx/y", "/w\xff/z"})
	anyPath = rapid.OneOf(anyDir, anyFile)
	access  = rapid.Custom(func(t *rapid.T) profiles.Access {
		return profiles.Access(rapid.Uint8Range(1, uint8(profiles.AllAccess)).Draw(t, "access"))
	})
	anyHost = rapid.SampledFrom([]string{"*", "example.com", "*.example.com", "a.example.com", "*.a.example.com", "b.a.example.com", "8.8.8.8", "8.8.0.0/16", "10.0.0.0/8", "10.1.2.3", "0.0.0.0/0", "0.0.0.0/4", "2000::/3", "::/0", "2001:db8::1", "2606:4700::/32", "64:ff9b::/96", "localhost", "127.0.0.0/8", "127.0.0.1", "::1"})
	target  = rapid.SampledFrom([]string{"example.com", "a.example.com", "A.Example.COM.", "b.a.example.com", "xexample.com", "8.8.8.8", "::ffff:8.8.8.8", "8.8.4.4", "9.9.9.9", "10.1.2.3", "127.0.0.1", "2001:db8::1", "2606:4700::1", "64:ff9b::808:808", "64:ff9b::a01:203", "::1", "localhost", "127.1", "a\x00.example.com"})
	anyName = rapid.SampledFrom([]string{"A", "AB", "ABC", "A_TOKEN", "LD_PRELOAD", "B"})
	origin  = rapid.Custom(func(t *rapid.T) profiles.Origin {
		return profiles.Origin{Source: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "source")}
	})
)

var ports = rapid.Custom(func(t *rapid.T) profiles.PortRange {
	first := rapid.SampledFrom([]uint16{1, 79, 80, 81, 443, 65535}).Draw(t, "first")
	return profiles.PortRange{First: first, Last: max(first, rapid.SampledFrom([]uint16{1, 80, 90, 443, 65535}).Draw(t, "last"))}
})

var anyProfile = rapid.Custom(func(t *rapid.T) *profiles.Profile {
	p := &profiles.Profile{
		Skill: rapid.SampledFrom([]string{"", "", "/s", "/w/s"}).Draw(t, "skill"),
		Paths: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) profiles.PathRule {
			return profiles.PathRule{Path: anyPath.Draw(t, "path"), Tree: rapid.Bool().Draw(t, "tree"), Access: access.Draw(t, "access"), Origin: origin.Draw(t, "origin")}
		}), 0, 6).Draw(t, "paths"),
		Denials: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) profiles.Denial {
			d := profiles.Denial{
				Path: anyDir.Draw(t, "path"), Match: rapid.SampledFrom([]string{"", "", ".env", ".git/hooks", ".g*/config", "c?", "*.d"}).Draw(t, "match"),
				Access: access.Draw(t, "access"), Class: rapid.SampledFrom([]profiles.Class{profiles.Plain, profiles.Control}).Draw(t, "class"), Origin: origin.Draw(t, "origin"),
			}
			d.UnlessMade = d.Match != "" && rapid.Bool().Draw(t, "unless made")
			if rapid.Bool().Draw(t, "excepted") {
				d.Except = append(d.Except, rapid.SampledFrom([]string{"node_modules", "pre-commit", strings.TrimSuffix(d.Path, "/") + "/a"}).Draw(t, "except"))
			}
			return d
		}), 0, 4).Draw(t, "denials"),
		Network: profiles.Network{
			Mode: rapid.SampledFrom([]profiles.NetMode{profiles.NetNone, profiles.NetHosts, profiles.NetHosts, profiles.NetHosts, profiles.NetHost}).Draw(t, "mode"),
			Hosts: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) profiles.HostRule {
				rate := rapid.SampledFrom([]profiles.HostRule{{}, {}, {MaxRate: 3, Per: time.Minute}, {MaxRate: 9, Per: time.Hour}}).Draw(t, "rate")
				return profiles.HostRule{
					Host: anyHost.Draw(t, "host"), Ports: rapid.SliceOfN(ports, 1, 3).Draw(t, "ports"), Protocols: profiles.Protocol(rapid.Uint8Range(1, 3).Draw(t, "protocols")),
					ReadOnly: rapid.Bool().Draw(t, "read only"), Private: rapid.Bool().Draw(t, "private"),
					Except:   rapid.SliceOfN(rapid.SampledFrom([]string{"8.8.8.8", "8.8.8.0/24", "10.0.0.0/8", "10.1.2.3", "0.0.0.0/1", "128.0.0.0/1", "127.0.0.0/8", "::/0", "2606:4700::1"}), 0, 2).Draw(t, "except"),
					MaxBytes: rapid.SampledFrom([]int64{0, 0, 5, 9}).Draw(t, "bytes"),
					MaxRate:  rate.MaxRate, Per: rate.Per, Origin: origin.Draw(t, "origin"),
				}
			}), 0, 4).Draw(t, "hosts"),
			Listen: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) profiles.ListenRule {
				return profiles.ListenRule{Ports: ports.Draw(t, "ports"), Any: rapid.Bool().Draw(t, "any")}
			}), 0, 2).Draw(t, "listen"),
		},
		Sockets: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) profiles.SocketRule {
			return profiles.SocketRule{Path: rapid.SampledFrom([]string{"/run/a", "@b"}).Draw(t, "socket")}
		}), 0, 2).Draw(t, "sockets"),
		Env: profiles.Env{
			Pass:  envRules("", "*").Draw(t, "pass"),
			Deny:  envRules("", "*").Draw(t, "deny"),
			Allow: envRules("").Draw(t, "allow"),
		},
		Process: profiles.Process{Create: rapid.Bool().Draw(t, "create"), ExecuteOwn: rapid.Bool().Draw(t, "own")},
		Limits:  profiles.Limits{Memory: rapid.SampledFrom([]int64{0, 1 << 20, 1 << 30}).Draw(t, "memory"), CPU: rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "cpu")},
		Demands: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) profiles.Demand {
			return profiles.Demand{Name: "constraint.x", Detail: rapid.SampledFrom([]string{"1", "2", "a\nb"}).Draw(t, "detail")}
		}), 0, 2).Draw(t, "demands"),
		Empty: rapid.SliceOfN(anyPath, 0, 2).Draw(t, "empty"),
		Redact: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) profiles.Secret {
			return profiles.Secret{Env: anyName.Draw(t, "secret")}
		}), 0, 2).Draw(t, "redact"),
	}
	if rapid.Bool().Draw(t, "set") {
		p.Env.Set = []profiles.EnvVar{{Name: "HOME", Value: rapid.SampledFrom([]string{"/a", "/b\\\xfe"}).Draw(t, "value")}}
	}
	return p
})

func envRules(ends ...string) *rapid.Generator[[]profiles.EnvRule] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) profiles.EnvRule {
		return profiles.EnvRule{Name: anyName.Draw(t, "name") + rapid.SampledFrom(ends).Draw(t, "end"), Origin: origin.Draw(t, "origin")}
	}), 0, 3)
}

// request is one question to a profile.
type request struct {
	path   string
	access profiles.Access
	host   string
	port   uint16
	proto  profiles.Protocol
	name   string
}

var anyRequest = rapid.Custom(func(t *rapid.T) request {
	return request{
		anyPath.Draw(t, "path"), access.Draw(t, "access"), target.Draw(t, "target"),
		rapid.SampledFrom([]uint16{1, 79, 80, 85, 443, 65535}).Draw(t, "port"), profiles.Protocol(rapid.Uint8Range(1, 3).Draw(t, "proto")), anyName.Draw(t, "name"),
	}
})

// answers gives what p says to r: path, host, variable.
func (r request) answers(p *profiles.Profile) [3]bool {
	pass, _ := p.Env.Passes(r.name)
	return [3]bool{p.Allows(r.path, r.access).Allowed, p.Reaches(r.host, r.port, r.proto).Allowed, pass}
}

func TestNormalizeKeepsTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile.Draw(t, "profile")
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(p)
		n := *p
		n.Normalize()
		if after, _ := json.Marshal(p); string(before) != string(after) {
			t.Fatal("Normalize changed lists of the profile that it was copied from")
		}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			r := anyRequest.Draw(t, "request")
			if a, b := r.answers(p), r.answers(&n); a != b {
				t.Fatalf("%+v: %v before, %v after", r, a, b)
			}
		}
		again := n
		again.Normalize()
		if diff := cmp.Diff(n, again); diff != "" {
			t.Fatalf("normalizing twice differs: %s", diff)
		}
		if string(n.Canonical()) != string(p.Canonical()) || n.Hash() != p.Hash() {
			t.Fatal("canonical bytes change with Normalize")
		}
	})
}

// A rule that grants nothing goes, and no other in its place.
func TestNormalizeDropsEmptyRules(t *testing.T) {
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/a"}, {Path: "/b", Access: profiles.Read}}}
	p.Normalize()
	if want := []profiles.PathRule{{Path: "/b", Access: profiles.Read}}; !slices.Equal(p.Paths, want) {
		t.Errorf("%v, want %v", p.Paths, want)
	}
}

func TestIntersectIsTheConjunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := anyProfile.Draw(t, "p"), anyProfile.Draw(t, "q")
		both := p.Intersect(q)
		if err := both.Validate(); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			r := anyRequest.Draw(t, "request")
			a, b, c := r.answers(p), r.answers(q), r.answers(both)
			for i := range c {
				if c[i] != (a[i] && b[i]) {
					t.Fatalf("%+v: %v and %v give %v\n%s", r, a, b, c, both.Canonical())
				}
			}
		}
		for _, l := range [][3]int64{{p.Limits.Memory, q.Limits.Memory, both.Limits.Memory}, {int64(p.Limits.CPU), int64(q.Limits.CPU), int64(both.Limits.CPU)}} {
			for _, of := range l[:2] {
				if of != 0 && (l[2] == 0 || l[2] > of) {
					t.Fatalf("limits %v: the last is more than one before", l)
				}
			}
		}
		if both.Process.Create != (p.Process.Create && q.Process.Create) || both.Process.ExecuteOwn != (p.Process.ExecuteOwn && q.Process.ExecuteOwn) {
			t.Fatal("process rights are not the conjunction")
		}
	})
}

func TestIntersectIsALattice(t *testing.T) {
	text := func(p *profiles.Profile) string { return string(p.Canonical()) }
	rapid.Check(t, func(t *rapid.T) {
		p, q, r := anyProfile.Draw(t, "p"), anyProfile.Draw(t, "q"), anyProfile.Draw(t, "r")
		if diff := cmp.Diff(text(p.Intersect(q)), text(q.Intersect(p))); diff != "" {
			t.Fatalf("not commutative: %s", diff)
		}
		if diff := cmp.Diff(text(p.Intersect(q).Intersect(r)), text(p.Intersect(q.Intersect(r)))); diff != "" {
			t.Fatalf("not associative: %s", diff)
		}
		if diff := cmp.Diff(text(p), text(p.Intersect(p))); diff != "" {
			t.Fatalf("not idempotent: %s", diff)
		}
	})
}

func TestOrderHasNoMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile.Draw(t, "profile")
		q := *p
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffle(rnd, &q.Paths)
		shuffle(rnd, &q.Denials)
		shuffle(rnd, &q.Network.Hosts)
		shuffle(rnd, &q.Network.Listen)
		shuffle(rnd, &q.Env.Pass)
		shuffle(rnd, &q.Env.Deny)
		for range 10 {
			r := anyRequest.Draw(t, "request")
			if a, b := r.answers(p), r.answers(&q); a != b {
				t.Fatalf("%+v: %v, shuffled %v", r, a, b)
			}
		}
		if string(p.Canonical()) != string(q.Canonical()) {
			t.Fatal("canonical bytes depend on order")
		}
		n, m := *p, q
		n.Normalize()
		m.Normalize()
		if diff := cmp.Diff(n, m); diff != "" {
			t.Fatalf("normal forms depend on order: %s", diff)
		}
	})
}

func shuffle[T any](rnd *rand.Rand, list *[]T) {
	s := append([]T(nil), *list...)
	rnd.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	*list = s
}

func TestDenyWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile.Draw(t, "profile")
		path, a := anyPath.Draw(t, "path"), access.Draw(t, "access")
		p.Denials = append(p.Denials, profiles.Denial{Path: path, Access: a})
		p.Paths = append(p.Paths, profiles.PathRule{Path: path, Tree: true, Access: profiles.AllAccess})
		if v := p.Allows(path, a); v.Allowed {
			t.Fatalf("%s %v is allowed by %+v", path, a, v.Rule)
		}
		if v := p.Allows(path, profiles.Delete); v.Allowed {
			t.Fatalf("%s may be renamed away", path)
		}
	})
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile.Draw(t, "profile")
		p.Normalize()
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var q profiles.Profile
		if err := json.Unmarshal(text, &q); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(*p, q); diff != "" {
			t.Fatalf("%s\n%s", diff, text)
		}
	})
}
