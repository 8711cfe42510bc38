package policy_test

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skillrun/policy"
	"skillrun/profiles"
)

var (
	drawnCapabilities = []string{"filesystem.read", "filesystem.write", "filesystem.*", "source_code.read", "source_code.*", "commit.create", "web.fetch", "web.*", "network.client", "env_var.read", "secrets.read", "shell.execute", "*"}
	drawnScopes       = []string{"/w", "src", "out", "src/*.go", "/home/u/data", "~/.ssh/known_hosts", "in.csv", "a.com", "*.a.com", "b.org:443", "*", "EDITOR", "/"}
)

func drawEntry(t *rapid.T, effects ...policy.Effect) policy.Entry {
	e := policy.Entry{
		Capability: rapid.SampledFrom(drawnCapabilities).Draw(t, "capability"),
		Effect:     rapid.SampledFrom(effects).Draw(t, "effect"),
		Priority:   rapid.IntRange(0, 2).Draw(t, "priority"),
		Pos:        policy.Pos{File: "drawn", Line: rapid.IntRange(1, 99).Draw(t, "line"), Column: 1},
	}
	e.Constraints.WorkspaceOnly = policy.Choice(rapid.IntRange(0, 2).Draw(t, "workspace_only"))
	if rapid.Bool().Draw(t, "scoped") {
		e.Constraints.Scoped = true
		for _, s := range rapid.SliceOfN(rapid.SampledFrom(drawnScopes), 0, 3).Draw(t, "scope") {
			e.Constraints.Scope = append(e.Constraints.Scope, policy.Text{Value: s})
		}
	}
	return e
}

func drawDocument(t *rapid.T, effects ...policy.Effect) *policy.Document {
	d := &policy.Document{File: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "file")}
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		d.Entries = append(d.Entries, drawEntry(t, effects...))
	}
	return d
}

var anyEffect = []policy.Effect{policy.Deny, policy.Confirm, policy.Allow}

func drawInput(t *rapid.T) policy.Input {
	in := policy.Input{
		Documents: []*policy.Document{drawDocument(t, anyEffect...)},
		Tier:      policy.Tier(rapid.IntRange(0, 3).Draw(t, "tier")),
		Approve:   rapid.SampledFrom([]policy.Approve{policy.ApproveNone, policy.ApproveDeclared}).Draw(t, "approve"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "ceilings") {
		in.Ceilings = append(in.Ceilings, drawDocument(t, anyEffect...))
	}
	return in
}

var (
	drawnPaths = []string{"/w/in.csv", "/w/src/a.go", "/w/out/x", "/w/.env", "/w/.git/hooks/x", "/home/u/data/a.csv", "/home/u/.ssh/id_rsa", "/home/u/.ssh/known_hosts", "/etc/x", "/skills/pdf/SKILL.md"}
	drawnHosts = []string{"a.com", "x.a.com", "b.org", "192.0.2.1", "8.8.8.8", "127.0.0.1", "localhost"}
)

// admits lists what a profile allows of the drawn requests.
func admits(p *profiles.Profile) map[string]bool {
	m := map[string]bool{"create": p.Process.Create, "query": p.Process.Query, "modes": p.Process.AnyMode, "own": p.Process.ExecuteOwn}
	for _, path := range drawnPaths {
		for a := profiles.Read; a <= profiles.Execute; a <<= 1 {
			m[path+" "+a.String()] = p.Allows(path, a).Allowed
		}
	}
	for _, host := range drawnHosts {
		m[host+" 443"] = p.Reaches(host, 443, profiles.TCP).Allowed
		m[host+" 25"] = p.Reaches(host, 25, profiles.TCP).Allowed
	}
	for _, v := range []string{"EDITOR", "AWS_SECRET_ACCESS_KEY", "FOO"} {
		m["$"+v], _ = p.Env.Passes(v)
	}
	return m
}

// wider gives a request that b allows and a does not; "" if there is none.
func wider(a, b *profiles.Profile) string {
	before := admits(a)
	for request, ok := range admits(b) {
		if ok && !before[request] {
			return request
		}
	}
	return ""
}

func profileOf(t *rapid.T, in policy.Input) *profiles.Profile {
	s, _, err := policy.Compose(in)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Profile(machine(), inputs("true"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCeilingsNeverWiden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		base := profileOf(t, in)
		extra := drawDocument(t, anyEffect...)
		more := in
		more.Ceilings = append(append([]*policy.Document(nil), in.Ceilings...), extra)
		if r := wider(base, profileOf(t, more)); r != "" {
			t.Fatalf("a ceiling widens: %s", r)
		}
		more = in
		more.Narrowings = []*policy.Document{extra}
		if r := wider(base, profileOf(t, more)); r != "" {
			t.Fatalf("a workspace file widens: %s", r)
		}
		more = in
		more.Documents = append([]*policy.Document(nil), in.Documents...)
		extra.Form = policy.Header
		more.Documents = append(more.Documents, extra)
		if r := wider(base, profileOf(t, more)); r != "" {
			t.Fatalf("a second manifest widens: %s", r)
		}
	})
}

// What a run may do under a ceiling, the ceiling itself would allow.
func TestCeilingsBind(t *testing.T) {
	blank := func(d *policy.Document, t *rapid.T) *profiles.Profile {
		return profileOf(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.BuiltIn, Approve: policy.ApproveDeclared})
	}
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		ceiling := drawDocument(t, anyEffect...)
		base := admits(blank(&policy.Document{}, t)) // what every run may do
		bound := admits(blank(ceiling, t))
		in.Ceilings = append(in.Ceilings, ceiling)
		for request, ok := range admits(profileOf(t, in)) {
			if ok && !bound[request] && !base[request] {
				t.Fatalf("outside of the ceiling: %s", request)
			}
		}
	})
}

func TestFloorsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		in.Grants = append(in.Grants, drawEntry(t, policy.Allow))
		base := profileOf(t, in)
		floor := &policy.Document{File: "floor", Entries: []policy.Entry{drawEntry(t, policy.Deny)}}
		in.Floors = []*policy.Document{floor}
		p := profileOf(t, in)
		if r := wider(base, p); r != "" {
			t.Fatalf("a floor widens: %s", r)
		}
		s, _, _ := policy.Compose(in)
		for _, path := range drawnPaths {
			r := policy.Request{Capability: "filesystem.read", Paths: []string{path}, Place: policy.Place{Workspace: "/w", Home: "/home/u"}, Time: noon}
			bare, _, _ := policy.Compose(policy.Input{Documents: []*policy.Document{floor}, Tier: policy.BuiltIn})
			if bare.Decide(r).Entry != nil && bare.Decide(r).Effect == policy.Deny && s.Decide(r).Effect != policy.Deny {
				t.Fatalf("%s is decided over a floor", path)
			}
		}
	})
}

// What an entry denies no run does, whatever other entries its source has.
func TestDenialsHold(t *testing.T) {
	place := policy.Place{Workspace: "/w", Skill: "/skills/pdf", Home: "/home/u"}
	for _, c := range []struct {
		capability string
		access     profiles.Access // 0 for the network's
	}{
		{"filesystem.read", profiles.Read}, {"filesystem.write", profiles.Write}, {"filesystem.write", profiles.Create}, {"filesystem.delete", profiles.Delete},
		{"source_code.write", profiles.Write}, {"source_code.execute", profiles.Execute}, {"web.post", 0}, {"network.client", 0}, {"external_api.call", 0},
	} {
		t.Run(c.capability+" "+c.access.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				document := func(effects ...policy.Effect) []*policy.Document {
					d := drawDocument(t, effects...)
					for i := range d.Entries {
						d.Entries[i].Capability = c.capability // of another it would be about that
					}
					return []*policy.Document{d}
				}
				in := policy.Input{Documents: document(anyEffect...), Ceilings: document(anyEffect...), Floors: document(policy.Deny), Grants: document(policy.Allow)[0].Entries, Tier: policy.Approved, Approve: policy.ApproveDeclared}
				if rapid.Bool().Draw(t, "no ceiling") {
					in.Ceilings = nil
				}
				s, _, err := policy.Compose(in)
				if err != nil {
					t.Fatal(err)
				}
				p, err := s.Profile(machine(), inputs("true"))
				if err != nil {
					t.Fatal(err)
				}
				denied := func(r policy.Request) bool {
					r.Capability, r.Place, r.Time = c.capability, place, noon
					a := s.Decide(r)
					return a.Entry != nil && a.Effect == policy.Deny
				}
				for _, path := range drawnPaths {
					if c.access != 0 && denied(policy.Request{Paths: []string{path}}) && p.Allows(path, c.access).Allowed && path != "/skills/pdf/SKILL.md" {
						t.Fatalf("%s %s is denied, and allowed by %+v", c.access, path, p.Allows(path, c.access).Rule)
					}
				}
				for _, host := range drawnHosts {
					v := p.Reaches(host, 443, profiles.TCP)
					gap := slices.ContainsFunc(p.Demands, func(d profiles.Demand) bool { return d.Name == profiles.ClauseScope })
					public := v.Host != nil && v.Host.Host == "*" && !v.Host.Private && host == "localhost" // its addresses are not
					if c.access == 0 && denied(policy.Request{Hosts: []string{host + ":443"}}) && v.Allowed && !gap && !public {
						t.Fatalf("%s is denied, and reached by %+v", host, v.Host)
					}
				}
			})
		})
	}
}

// What two manifests of a skill come to in a session, each of them alone allows.
func TestManifestsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := []*policy.Document{drawDocument(t, anyEffect...), drawDocument(t, anyEffect...)}
		docs[1].Form = policy.Header
		for _, d := range docs {
			for i := range d.Entries {
				e := &d.Entries[i]
				e.Capability, e.Constraints.WorkspaceOnly = "filesystem.read", policy.Unset
				if e.Constraints.Scoped {
					e.Constraints.Scope = []policy.Text{{Value: rapid.SampledFrom([]string{"/w", "src"}).Draw(t, "one")}}
				}
			}
		}
		allows := func(path string, docs ...*policy.Document) bool {
			d := &policy.Document{Entries: policy.Pool(docs, policy.Approved, nil, "skill:x")}
			s, _, err := policy.Compose(policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved})
			if err != nil {
				t.Fatal(err)
			}
			return s.Decide(policy.Request{Capability: "filesystem.read", Paths: []string{path}, Place: policy.Place{Workspace: "/w", Home: "/home/u"}, Time: noon}).Effect == policy.Allow
		}
		for _, path := range drawnPaths {
			if allows(path, docs...) && !(allows(path, docs[0]) && allows(path, docs[1])) {
				t.Fatalf("%s is allowed by both together:\n%+v\n%+v", path, docs[0].Entries, docs[1].Entries)
			}
		}
	})
}

func TestCompositionIsOrderFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		in.Narrowings = []*policy.Document{drawDocument(t, anyEffect...)}
		for range rapid.IntRange(0, 3).Draw(t, "grants") {
			in.Grants = append(in.Grants, drawEntry(t, policy.Allow))
		}
		a := profileOf(t, in)
		shuffle := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		entries := append([]policy.Entry(nil), in.Documents[0].Entries...)
		shuffle.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		in.Documents = []*policy.Document{{File: in.Documents[0].File, Entries: entries}}
		in.Ceilings = append([]*policy.Document(nil), in.Ceilings...)
		shuffle.Shuffle(len(in.Ceilings), func(i, j int) { in.Ceilings[i], in.Ceilings[j] = in.Ceilings[j], in.Ceilings[i] })
		shuffle.Shuffle(len(in.Grants), func(i, j int) { in.Grants[i], in.Grants[j] = in.Grants[j], in.Grants[i] })
		if b := profileOf(t, in); !bytes.Equal(a.Canonical(), b.Canonical()) {
			t.Fatalf("the order of sources matters:\n%s\n%s", a.Canonical(), b.Canonical())
		}
	})
}

// An answer never admits more than the entry that asked.
func TestUnansweredGrantsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		in.Approve = policy.ApproveAsk
		s, _, err := policy.Compose(in)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, q := range s.Pending() {
			keys = append(keys, q.Key)
		}
		before, _ := s.Profile(machine(), inputs("true"))
		after, _ := s.Accept(keys...).Profile(machine(), inputs("true"))
		if r := wider(after, before); r != "" {
			t.Fatalf("more is allowed before the answer: %s", r)
		}
		if len(s.Accept(keys...).Pending()) != 0 {
			t.Fatal("questions remain after all are answered")
		}
		in.Approve = policy.ApproveDeclared
		if declared := profileOf(t, in); !bytes.Equal(declared.Canonical(), after.Canonical()) {
			t.Fatal("all answers yes differs from --approve declared")
		}
	})
}
