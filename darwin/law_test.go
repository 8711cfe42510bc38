package darwin_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"skillrun/darwin"
	"skillrun/darwin/sbpl"
	"skillrun/profiles"
)

// The law: what a policy decides is what Profile.Allows says, by our evaluator
// and by sbpl-eval. Where Seatbelt cannot tell cases apart the policy is
// stricter; meaning lists each such place, and nothing else may differ.

const (
	lawProfiles = 50
	lawRequests = 100
)

func TestPolicyMeansProfile(t *testing.T) {
	t.Parallel()
	tool := ""
	t.Run("tool", func(t *testing.T) { tool = evaluator(t) })
	pairs, allowed := 0, 0
	for seed := range uint64(lawProfiles) {
		r := rand.New(rand.NewPCG(seed, 8))
		m := drawCase(r)
		p, err := darwin.Compile(m.profile, m.facts)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		release := releases[seed%uint64(len(releases))]
		own := parse(t, p, release)
		var queries, want []string
		for range lawRequests {
			query, expected := m.request(r)
			verdict := "deny"
			if expected {
				verdict = "allow"
				allowed++
			}
			if got := answer(t, own, query); got != verdict {
				t.Errorf("seed %d: %s: policy says %s, profile says %s", seed, query, got, verdict)
			}
			queries, want = append(queries, query.String()), append(want, verdict)
			pairs++
		}
		if t.Failed() {
			t.Fatalf("profile: %+v\nfacts: %+v\n%s\n%v", m.profile, m.facts, p.Source(), p.Params())
		}
		if tool == "" {
			continue
		}
		t.Run(fmt.Sprintf("sbpl-eval/%d", seed), func(t *testing.T) {
			t.Parallel()
			for i, got := range askTool(t, tool, p, release, queries) {
				if got != want[i] {
					t.Errorf("%s: sbpl-eval says %s, profile says %s", queries[i], got, want[i])
				}
			}
		})
	}
	if allowed < pairs/10 || allowed > pairs*9/10 {
		t.Errorf("%d of %d requests are allowed: the law says little", allowed, pairs)
	}
	t.Logf("%d pairs, %d allowed", pairs, allowed)
}

func answer(t *testing.T, p *sbpl.Policy, q sbpl.Query) string {
	a, err := sbpl.Evaluate(p, q)
	switch {
	case err != nil:
		t.Fatalf("%s: %v", q, err)
	case a.Ambiguous:
		return "ambiguous"
	case a.Allowed:
		return "allow"
	}
	return "deny"
}

// lawCase is a profile on a machine.
type lawCase struct {
	profile *profiles.Profile
	facts   *darwin.Facts
	rules   []profiles.PathRule // with the run's own
	denials []profiles.Denial   // with the skill
	copies  []profiles.Denial   // where the policy repeats patterns, in other trees
}

var (
	plainNames   = []string{"a", "b", "c", "it's", `q"\`, "x+y (1)"}
	specialNames = []string{".env", ".ENV", "k.pem", "K.Pem", ".git", "hooks", "tool", "Tool", "node_modules"}
	patterns     = []string{".env", "*.pem", "tool/hooks", "a/b", "?b", "too*/b/c", ".git/hooks", ".git/a/b"}
	lawExcept    = []string{"node_modules", "k.pem", "b/c", "hooks"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func drawPath(r *rand.Rand, names []string) string {
	p := pick(r, []string{"/w", "/w", "/w/a", "/s", "/o", "/t/run"})
	for range r.IntN(4) {
		p = path.Join(p, pick(r, names))
	}
	return p
}

func drawCase(r *rand.Rand) *lawCase {
	p := &profiles.Profile{Workspace: "/w", Skill: pick(r, []string{"", "/s", "/w/c"})}
	for range 1 + r.IntN(5) {
		at := drawPath(r, plainNames)
		if r.IntN(3) == 0 {
			at = pick(r, []string{"/w", "/o"})
		}
		p.Paths = append(p.Paths, profiles.PathRule{Path: at, Tree: r.IntN(4) > 0 || at == "/w" || at == "/o", Access: profiles.Access(1 + r.IntN(31))})
	}
	if r.IntN(4) == 0 {
		p.Paths = append(p.Paths, profiles.PathRule{Path: "/", Tree: true, Access: profiles.Read})
	}
	for range r.IntN(5) {
		d := profiles.Denial{Path: drawPath(r, plainNames), Access: profiles.Access(r.IntN(32)), Class: profiles.Class(r.IntN(3))}
		if r.IntN(2) == 0 {
			d.Path, d.Match = pick(r, []string{"/w", "/w/a", "/o"}), pick(r, patterns)
			d.UnlessMade = strings.HasPrefix(d.Match, ".git/") && r.IntN(2) == 0
		}
		if r.IntN(3) == 0 && !d.UnlessMade {
			d.Except = append(d.Except, pick(r, lawExcept))
		}
		if r.IntN(4) == 0 && !d.UnlessMade {
			d.Except = append(d.Except, path.Join(d.Path, "a"))
		}
		p.Denials = append(p.Denials, d)
	}
	p.Process.ExecuteOwn = r.IntN(2) == 0
	p.Network.Mode = profiles.NetMode(r.IntN(3))
	f := &darwin.Facts{OS: "darwin", Version: "15", Home: "/h", Tmp: "/t/run", PrivateHome: "/t/run/home", CaseSensitive: r.IntN(2) == 0, ProxyPort: 3128}
	if r.IntN(4) > 0 {
		f.Exists, f.Contents = []string{"/o"}, []string{}
		for range r.IntN(6) {
			f.Exists = append(f.Exists, drawPath(r, append(specialNames, plainNames...)))
		}
		for range r.IntN(6) {
			f.Contents = append(f.Contents, drawPath(r, plainNames))
		}
	}
	m := &lawCase{profile: p, facts: f}
	m.complete()
	return m
}

// complete adds what a policy holds beyond its profile's rules.
func (m *lawCase) complete() {
	own := profiles.Read | profiles.Write | profiles.Create | profiles.Delete
	if m.profile.Process.ExecuteOwn {
		own |= profiles.Execute
	}
	m.rules = append(slices.Clone(m.profile.Paths), profiles.PathRule{Path: "/t/run", Tree: true, Access: own}, profiles.PathRule{Path: "/t/run/home", Tree: true, Access: own})
	var roots []string
	for _, r := range m.rules {
		if r.Tree && r.Access&profiles.Create != 0 {
			roots = append(roots, r.Path)
		}
	}
	for _, d := range m.profile.Denials {
		m.denials = append(m.denials, d)
		reaches := func(access profiles.Access) bool {
			return slices.ContainsFunc(m.rules, func(r profiles.PathRule) bool {
				return r.Access&access != 0 && (under(d.Path, r.Path) || r.Tree && under(r.Path, d.Path))
			})
		}
		written := !d.UnlessMade && d.Class != profiles.Sensitive && d.Access&(profiles.Write|profiles.Create) != 0 && reaches(profiles.Create)
		unlisted := m.facts.Exists == nil && reaches(profiles.Create|profiles.Delete)
		if d.Match == "" || !written && !unlisted {
			continue
		}
		for _, root := range roots {
			if !under(d.Path, root) {
				copied := d
				copied.Path = root
				m.copies = append(m.copies, copied)
			}
		}
	}
	if m.profile.Skill != "" {
		m.denials = append(m.denials, profiles.Denial{Path: m.profile.Skill, Access: profiles.Write | profiles.Create | profiles.Delete})
	}
}

func under(root, p string) bool {
	return root == "/" || p == root || strings.HasPrefix(p, root+"/")
}

func (m *lawCase) absent(p string) bool {
	for _, e := range append([]string{"/h", "/w", "/t/run/home", m.profile.Skill}, m.facts.Exists...) {
		if e != "" && under(p, e) {
			return false
		}
	}
	return true
}

func (m *lawCase) granted(p string) (a profiles.Access) {
	for _, r := range m.rules {
		if r.Path == p || r.Tree && under(r.Path, p) {
			a |= r.Access
		}
	}
	return a
}

// request draws a request and says whether it is to be allowed.
func (m *lawCase) request(r *rand.Rand) (sbpl.Query, bool) {
	if r.IntN(12) == 0 {
		q := sbpl.Query{Operation: "network-outbound", Object: pick(r, []string{"tcp:192.0.2.7:443", "tcp:localhost:3128", "tcp:localhost:8080", "udp:localhost:3128", "tcp:127.0.0.1:3128"})}
		gate := q.Object == "tcp:localhost:3128" || q.Object == "tcp:127.0.0.1:3128"
		return q, m.profile.Network.Mode == profiles.NetHost || m.profile.Network.Mode == profiles.NetHosts && gate
	}
	at := drawPath(r, append(slices.Clone(plainNames), specialNames...))
	if r.IntN(3) == 0 {
		at = pick(r, append(append([]string{"/w", "/w/a/b", "/o", "/t/run"}, m.facts.Exists...), m.facts.Contents...))
	}
	ops := []string{"file-read-data", "file-write-data", "file-write-create", "file-write-unlink", "process-exec*"}
	i := r.IntN(len(ops))
	return sbpl.Query{Operation: ops[i], Object: at}, m.allows(at, profiles.Access(1)<<i)
}

// allows is Profile.Allows with the places where a policy is stricter.
func (m *lawCase) allows(at string, access profiles.Access) bool {
	p := &profiles.Profile{Skill: m.profile.Skill, Paths: slices.Clone(m.rules)}
	for _, d := range m.about(at) {
		if d.UnlessMade && m.facts.Exists != nil {
			if m.heldByRepository(&d, at, access) {
				return false
			}
			continue // free in repositories that the run makes
		}
		p.Denials = append(p.Denials, d)
	}
	if access == profiles.Delete && !slices.Contains(m.facts.Exists, at) && !slices.Contains(m.facts.Contents, at) {
		// What the run made it may remove: nobody says this was there.
		for i := range p.Paths {
			if p.Paths[i].Access&profiles.Create != 0 {
				p.Paths[i].Access |= profiles.Delete
			}
		}
	}
	if !p.Allows(at, access).Allowed {
		return false
	}
	for i := range p.Denials {
		if d := &p.Denials[i]; access&(d.Access|profiles.Delete) != 0 && between(d, at) {
			return false
		}
	}
	switch access {
	case profiles.Delete:
		return !m.pinned(at)
	case profiles.Create:
		return !m.root(at, true) && !m.leadsCreate(at)
	}
	return true
}

// about gives the denials with the copies whose tree at lies in.
func (m *lawCase) about(at string) []profiles.Denial {
	all := slices.Clone(m.denials)
	for _, d := range m.copies {
		if under(d.Path, at) && at != d.Path {
			all = append(all, d)
		}
	}
	return all
}

// between: a name that has exceptions both above and beneath it is covered.
func between(d *profiles.Denial, at string) bool {
	var patterns []string
	for _, e := range d.Except {
		if !strings.HasPrefix(e, "/") {
			patterns = append(patterns, e)
		} else if under(e, at) {
			return false
		}
	}
	if d.Match == "" || len(patterns) == 0 || !under(d.Path, at) {
		return false
	}
	const end = "/\x01"
	for n := at; n != d.Path && n != "/"; n = path.Dir(n) {
		covered := profiles.Denial{Path: d.Path, Match: d.Match + end}
		if !covered.Covers(n + end) {
			continue
		}
		for _, e := range patterns {
			if (&profiles.Denial{Path: n, Match: e}).Covers(at) {
				return true
			}
			if _, tail, ok := strings.Cut(e, "/"); ok && under(n+"/"+tail, at) {
				return true
			}
		}
	}
	return false
}

// heldByRepository is UnlessMade: it counts in what was there at the start.
func (m *lawCase) heldByRepository(d *profiles.Denial, at string, access profiles.Access) bool {
	comps := strings.Split(strings.ToLower(d.Match), "/")
	for _, e := range m.facts.Exists {
		if !under(d.Path, e) || e == d.Path || strings.ToLower(path.Base(e)) != comps[0] {
			continue
		}
		if access == profiles.Delete && under(at, e) {
			return true
		}
		if !under(e, at) || at == e {
			continue
		}
		rel := strings.Split(strings.ToLower(at[len(e)+1:]), "/")
		if len(rel) >= len(comps)-1 && slices.Equal(rel[:len(comps)-1], comps[1:]) {
			if access&(d.Access|profiles.Delete) != 0 {
				return true
			}
		} else if len(rel) < len(comps)-1 && slices.Equal(rel, comps[1:1+len(rel)]) {
			if access == profiles.Delete || access == profiles.Create && d.Access&profiles.Create != 0 {
				return true
			}
		}
	}
	// The root of the pattern, and what leads to it, stay.
	return access == profiles.Delete && under(at, d.Path)
}

// root: the roots of granted trees stay, and are not replaced.
func (m *lawCase) root(at string, create bool) bool {
	for _, r := range m.rules {
		if r.Tree && r.Path == at && r.Access&(profiles.Create|profiles.Delete) != 0 {
			return !create || m.facts.Exists == nil || !m.absent(at)
		}
	}
	return false
}

// pinned: also the directories above what exists of what a pattern covers,
// and above the run's own.
func (m *lawCase) pinned(at string) bool {
	if m.root(at, false) || under(at, "/t/run/home") {
		return true
	}
	for _, d := range m.denials {
		for _, e := range m.facts.Exists {
			if d.Match != "" && d.Covers(e) && at != e && under(at, e) && under(d.Path, at) && at != d.Path {
				return true
			}
		}
	}
	return false
}

// leadsCreate: a directory that would lead to a name that may not be created
// is not made, since it could have been filled elsewhere.
func (m *lawCase) leadsCreate(at string) bool {
	for _, d := range m.about(at) {
		if d.Access&profiles.Create == 0 || d.UnlessMade || !d.Leads(at) {
			continue
		}
		if d.Match != "" && under(d.Path, at) && at != d.Path {
			return true
		}
		if d.Match == "" && m.absent(at) && m.granted(at)&profiles.Create != 0 {
			return true
		}
	}
	return false
}

func (m *lawCase) String() string { return fmt.Sprintf("%+v %+v", m.profile, m.facts) }
