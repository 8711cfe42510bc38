package policy_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"skillrun/policy"
	"skillrun/profiles"
)

// TestDecide is the order of Set.Decide, one row for each way to an answer.
func TestDecide(t *testing.T) {
	place := policy.Place{Workspace: "/w", Skill: "/skills/pdf", Home: "/home/u"}
	read := func(path string) policy.Request {
		return policy.Request{Capability: "filesystem.read", Paths: []string{path}, Place: place, Time: noon}
	}
	shell := func(command string) policy.Request {
		return policy.Request{Capability: "shell.execute", Command: command, Place: place, Time: noon}
	}
	web := func(host string) policy.Request {
		return policy.Request{Capability: "web.fetch", Hosts: []string{host}, Place: place, Time: noon}
	}
	for _, c := range []struct {
		name, entries string
		tier          policy.Tier
		request       policy.Request
		want          policy.Effect
		reason        string
	}{
		{"declared", `{"capability":"filesystem.read","effect":"allow"}`, policy.Approved, read("/x"), policy.Allow, "allow"},
		{"by group", `{"capability":"filesystem.*","effect":"allow"}`, policy.Approved, read("/x"), policy.Allow, "allow"},
		{"by star", `{"capability":"*","effect":"allow"}`, policy.Approved, read("/x"), policy.Allow, "allow"},
		{"the level where the effect is absent", `{"capability":"filesystem.read"}`, policy.Approved, read("/x"), policy.Confirm, "confirm"},
		{"a normal level", `{"capability":"web.fetch","constraints":{"resource_scope":["a.com"]}}`, policy.Approved, web("a.com"), policy.Allow, "allow"},
		{"undeclared asks", ``, policy.Approved, read("/x"), policy.Confirm, "not declared"},
		{"undeclared is denied to the untrusted", ``, policy.Untrusted, read("/x"), policy.Deny, "not declared"},
		{"allow of the untrusted asks", `{"capability":"filesystem.read","effect":"allow"}`, policy.Untrusted, read("/x"), policy.Confirm, ""},
		{"allow of the untrusted on a normal level", `{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["a.com"]}}`, policy.Untrusted, web("a.com"), policy.Allow, ""},
		{"the highest priority wins", `{"capability":"filesystem.read","effect":"deny"},{"capability":"filesystem.read","effect":"allow","priority":1}`, policy.Approved, read("/x"), policy.Allow, ""},
		{"deny wins a tie", `{"capability":"filesystem.read","effect":"allow"},{"capability":"*","effect":"deny"}`, policy.Approved, read("/x"), policy.Deny, "deny"},
		{"inside the scope", `{"capability":"filesystem.read","effect":"allow","constraints":{"resource_scope":["data","/x/*.csv"]}}`, policy.Approved, read("/x/a.csv"), policy.Allow, ""},
		{"a name like our words", `{"capability":"filesystem.read","effect":"allow","constraints":{"resource_scope":["data"]}}`, policy.Approved, read(`/w/x: "allowed",  as`), policy.Confirm, `"/w/x: \x22allowed\x22, \x20as" is outside the declared scope`},
		{"outside the scope", `{"capability":"filesystem.read","effect":"allow","constraints":{"resource_scope":["data"]}}`, policy.Approved, read("/w/datas"), policy.Confirm, "outside the declared scope"},
		{"an empty scope is nothing", `{"capability":"filesystem.read","effect":"allow","constraints":{"resource_scope":[]}}`, policy.Approved, read("/w/x"), policy.Confirm, "outside"},
		{"outside the workspace", `{"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}}`, policy.Approved, read("/x"), policy.Confirm, "outside"},
		{"a path that climbs", `{"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}}`, policy.Approved, read("/w/../x"), policy.Confirm, "outside"},
		{"subdomain", `{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["*.a.com"]}}`, policy.Approved, web("x.a.com"), policy.Allow, ""},
		{"not the domain itself", `{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["*.a.com"]}}`, policy.Approved, web("a.com"), policy.Confirm, "outside"},
		{"another port", `{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["a.com:443"]}}`, policy.Approved, web("a.com:80"), policy.Confirm, "outside"},
		{"localhost by its address", `{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["localhost:80"]}}`, policy.BuiltIn, web("127.0.0.1:80"), policy.Confirm, "confirm: m.json"},
		{"localhost by its other address", `{"capability":"web.fetch","effect":"deny","constraints":{"resource_scope":["localhost"]}}`, policy.Approved, web("[::1]:80"), policy.Deny, ""},
		{"loopback that is not localhost", `{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["localhost:80"]}}`, policy.BuiltIn, web("127.0.0.2:80"), policy.Confirm, "outside"},
		{"a deny of the port where none is named", `{"capability":"web.fetch","effect":"deny","constraints":{"resource_scope":["a.com:443"]}}`, policy.Approved, web("a.com"), policy.Deny, ""},
		{"a deny of another port", `{"capability":"web.fetch","effect":"deny","constraints":{"resource_scope":["a.com:443"]}}`, policy.Approved, web("a.com:80"), policy.Confirm, ""},
		{"a deny of addresses that localhost is", `{"capability":"web.fetch","effect":"deny","constraints":{"resource_scope":["127.0.0.0/8"]}}`, policy.Approved, web("localhost:80"), policy.Deny, ""},
		{"a deny of some of the hosts", `{"capability":"web.fetch","effect":"deny","constraints":{"resource_scope":["x.a.com"]}}`, policy.Approved, web("*.a.com"), policy.Deny, ""},
		{"an allow of some of the hosts", `{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["x.a.com"]}}`, policy.Approved, web("*.a.com"), policy.Confirm, "outside"},
		{"denied pattern", `{"capability":"shell.execute","effect":"allow","constraints":{"denied_command_patterns":["rm -rf"]}}`, policy.Approved, shell("x; rm -rf /"), policy.Deny, "denied pattern"},
		{"denied pattern before a newline", `{"capability":"shell.execute","effect":"allow","constraints":{"denied_command_patterns":["push$"]}}`, policy.Approved, shell("git push\n"), policy.Deny, "denied pattern"},
		{"denied pattern of a lower entry", `{"capability":"shell.execute","effect":"allow","priority":9},{"capability":"shell.execute","effect":"allow","constraints":{"denied_command_patterns":["rm"]}}`, policy.Approved, shell("rm x"), policy.Deny, "denied pattern"},
		{"expired", `{"capability":"filesystem.read","effect":"allow","expires_at":"2026-05-04T12:00:00Z"}`, policy.Approved, read("/x"), policy.Confirm, "expired"},
		{"not yet expired", `{"capability":"filesystem.read","effect":"allow","expires_at":"2026-05-04T12:00:01Z"}`, policy.Approved, read("/x"), policy.Allow, ""},
		{"in the window", `{"capability":"filesystem.read","effect":"allow","constraints":{"time_window":{"start":"12:00","end":"13:00","days":["mon"]}}}`, policy.Approved, read("/x"), policy.Allow, ""},
		{"out of the window", `{"capability":"filesystem.read","effect":"allow","constraints":{"time_window":{"start":"13:00","end":"12:00"}}}`, policy.Approved, read("/x"), policy.Confirm, "window"},
		{"another day", `{"capability":"filesystem.read","effect":"allow","constraints":{"time_window":{"days":["tue"]}}}`, policy.Approved, read("/x"), policy.Confirm, "window"},
		{"secrets without a scope", `{"capability":"secrets.read","effect":"allow"}`, policy.Approved, policy.Request{Capability: "secrets.read", Names: []string{"TOKEN"}, Time: noon}, policy.Confirm, "scope"},
		{"unknown capability", `{"capability":"*","effect":"allow"}`, policy.BuiltIn, policy.Request{Capability: "files.read", Time: noon}, policy.Deny, "unknown"},
		{"no network for the isolated", `{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["a.com"]}}`, policy.Isolated, web("a.com"), policy.Deny, "not declared"},
		{"secrets in the scope", `{"capability":"secrets.read","effect":"allow","constraints":{"resource_scope":["TOKEN"]}}`, policy.Approved, policy.Request{Capability: "secrets.read", Names: []string{"TOKEN"}, Time: noon}, policy.Allow, ""},
		{"no secrets for the isolated", `{"capability":"secrets.read","effect":"allow","constraints":{"resource_scope":["TOKEN"]}}`, policy.Isolated, policy.Request{Capability: "secrets.read", Names: []string{"TOKEN"}, Time: noon}, policy.Deny, "not declared"},
	} {
		d := parse(t, "m.json", `{"permissions":[`+c.entries+`]}`)
		s := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: c.tier})
		if got := s.Decide(c.request); got.Effect != c.want || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: %v (%s), want %v (%s)", c.name, got.Effect, got.Reason, c.want, c.reason)
		}
	}
}

// A skill that calls itself isolated reaches no host, by whatever capability that
// would be, in a run and in a session.
func TestIsolated(t *testing.T) {
	for _, c := range policy.Taxonomy() {
		d := parse(t, "m.json", `{"permissions": [{"capability": "`+c.Name+`", "effect": "allow"}]}`)
		reaches := func(tier policy.Tier) (run bool, pool int) {
			s := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: tier, Approve: policy.ApproveDeclared})
			return lower(t, s, inputs("true")).Network.Mode != profiles.NetNone, len(policy.Pool([]*policy.Document{d}, tier, nil, "skill:x"))
		}
		run, _ := reaches(policy.Untrusted)
		isolated, pool := reaches(policy.Isolated)
		if isolated || run && pool > 0 {
			t.Errorf("%s: a run reaches hosts: %v; entries in a session: %d", c.Name, isolated, pool)
		}
	}
}

// Of two manifests neither outranks what the other denies or asks about.
func TestPoolOfTwo(t *testing.T) {
	entry := func(effect, scope string, priority int) string {
		return fmt.Sprintf(`{"capability": "filesystem.read", "effect": %q, "priority": %d, "constraints": {"resource_scope": [%q]}}`, effect, priority, scope)
	}
	for _, c := range []struct{ first, second string }{
		{entry("allow", "/w", 9), entry("allow", "/w", 1) + "," + entry("deny", "src", 2)},
		{entry("allow", "/w", 0) + "," + entry("allow", "src", 9), entry("allow", "/w", 0) + "," + entry("confirm", "src/a.go", 1)},
	} {
		var docs []*policy.Document
		for _, entries := range []string{c.first, c.second} {
			docs = append(docs, parse(t, "m.json", `{"permissions": [`+entries+`]}`))
		}
		d := &policy.Document{Entries: policy.Pool(docs, policy.Approved, nil, "skill:x")}
		s := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved})
		r := policy.Request{Capability: "filesystem.read", Paths: []string{"/w/src/a.go"}, Place: policy.Place{Workspace: "/w"}, Time: noon}
		if a := s.Decide(r); a.Effect == policy.Allow {
			t.Errorf("%s and %s: %s", c.first, c.second, a.Reason)
		}
		if r.Paths[0] = "/w/x"; s.Decide(r).Effect == policy.Deny {
			t.Errorf("%s and %s: /w/x is denied", c.first, c.second)
		}
	}
}

// An entry that has expired denies nothing.
func TestExpiredDenial(t *testing.T) {
	for expires, want := range map[string]bool{"2026-05-04T11:00:00Z": true, "2026-05-04T13:00:00Z": false} {
		d := parse(t, "m.json", `{"permissions": [{"capability": "filesystem.read", "effect": "allow"}, {"capability": "filesystem.read", "effect": "deny", "priority": 1, "expires_at": "`+expires+`"}]}`)
		s := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved})
		if got := lower(t, s, inputs("true")).Allows("/home/u/data/a.csv", profiles.Read).Allowed; got != want || s.Denies("filesystem.read", noon) == want {
			t.Errorf("until %s: read %v", expires, got)
		}
	}
}

func TestRateLimit(t *testing.T) {
	d := parse(t, "m.json", `{"permissions":[{"capability":"tool.invoke","effect":"allow","constraints":{"rate_limit":{"max":2,"per":"hour"}}}]}`)
	s := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved})
	for uses, want := range []policy.Effect{policy.Allow, policy.Allow, policy.Confirm} {
		got := s.Decide(policy.Request{Capability: "tool.invoke", Time: noon, Uses: func(e *policy.Entry, period time.Duration) int64 {
			if period != time.Hour {
				t.Errorf("asked for the uses in %v", period)
			}
			return int64(uses)
		}})
		if got.Effect != want {
			t.Errorf("after %d uses: %v, want %v", uses, got.Effect, want)
		}
	}
}

// TestForms: the two file forms and the header give equal profiles for what
// all can say.
func TestForms(t *testing.T) {
	docs := []*policy.Document{
		parse(t, "skillguard-manifest.json", `{"skill_metadata":{"name":"x"},"permissions":[
			{"capability":"shell.execute","effect":"allow"},
			{"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}},
			{"capability":"filesystem.write","effect":"allow","constraints":{"workspace_only":true}},
			{"capability":"web.fetch","constraints":{"resource_scope":["a.com"]}}]}`),
		parse(t, "skillrun.toml", "skill_metadata.name = \"x\"\n[[permissions]]\ncapability = \"shell.execute\"\neffect = \"allow\"\n"+
			"[[permissions]]\ncapability = \"filesystem.read\"\neffect = \"allow\"\nconstraints.workspace_only = true\n"+
			"[[permissions]]\ncapability = \"filesystem.write\"\neffect = \"allow\"\nconstraints = { workspace_only = true }\n"+
			"[[permissions]]\ncapability = \"web.fetch\"\n[permissions.constraints]\nresource_scope = [\"a.com\"]\n"),
	}
	for _, header := range []string{
		"allowed-tools: Bash WebFetch(domain:a.com)", "allowed-tools: Bash, WebFetch(domain:a.com)",
		"allowed-tools:\n  - Bash\n  - WebFetch(domain:a.com)", "allowed-tools: [Bash, 'WebFetch(domain:a.com)']",
	} {
		s, findings := policy.ParseHeader("SKILL.md", []byte("---\nname: x\ndescription: does x\n"+header+"\n---\nbody\n"))
		if s.Document == nil {
			t.Fatal(findings)
		}
		docs = append(docs, s.Document)
	}
	var want []byte
	for i, d := range docs {
		p := lower(t, compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved}), inputs("python3", "run.py"))
		if i == 0 {
			want = p.Canonical()
			if !p.Process.Create || !p.Allows("/w/in.csv", profiles.Write).Allowed || !p.Reaches("a.com", 443, profiles.TCP).Allowed {
				t.Fatal("the form grants nothing")
			}
		} else if !bytes.Equal(p.Canonical(), want) {
			t.Errorf("form %d gives\n%s\nand the first\n%s", i, p.Canonical(), want)
		}
	}
	if _, findings, err := policy.Compose(policy.Input{Documents: docs[:2], Tier: policy.Approved}); err != nil || len(findings) > 0 {
		t.Error("equal manifests disagree:", findings, err)
	}
	other := parse(t, "skillrun.toml", "[[permissions]]\ncapability = \"filesystem.read\"\neffect = \"confirm\"\n")
	set, findings, err := policy.Compose(policy.Input{Documents: []*policy.Document{other, docs[0]}, Tier: policy.Approved})
	if err != nil || len(findings) != 4 {
		t.Error("findings:", findings, err)
	}
	if p := lower(t, set, inputs("true")); p.Process.Create || p.Allows("/w/in.csv", profiles.Read).Allowed {
		t.Error("the wider of two manifests counts")
	}
	// What one manifest asks about and the other allows is one finding in all; a header
	// says of no tool that nobody shall be asked.
	header, _ := policy.ParseHeader("SKILL.md", []byte("---\nname: x\ndescription: does x\nallowed-tools: Read, Write\n---\n"))
	allows := parse(t, "skillguard-manifest.json", `{"permissions": [{"capability": "filesystem.read", "effect": "allow"}, {"capability": "filesystem.write", "effect": "allow"}]}`)
	for _, tt := range []struct {
		effect string
		other  *policy.Document
		want   string
	}{
		{"confirm", header.Document, "[]"},
		{"deny", header.Document, "[SKILL.md:4:16: skillrun.toml is stricter about filesystem.read, filesystem.write, and counts]"},
		{"confirm", allows, "[skillguard-manifest.json:1:18: skillrun.toml is stricter about filesystem.read, filesystem.write, and counts]"},
	} {
		stricter := parse(t, "skillrun.toml", strings.ReplaceAll("permissions = [{capability = \"filesystem.read\", effect = \"EFFECT\"}, {capability = \"filesystem.write\", effect = \"EFFECT\"}]\n", "EFFECT", tt.effect))
		_, findings, err = policy.Compose(policy.Input{Documents: []*policy.Document{stricter, tt.other}, Tier: policy.Approved})
		if got := fmt.Sprint(findings); err != nil || got != tt.want {
			t.Errorf("%s beside %s: found %s, %v, want %s", tt.effect, tt.other.File, got, err, tt.want)
		}
	}
}

func TestSpecifiers(t *testing.T) {
	s, findings := policy.ParseHeader("SKILL.md", []byte("---\nname: x\nallowed-tools: Bash(git:*) Bash(jq *), Read(./data/**)\ncapabilities:\n  tools: [oauth_call:gmail, web_fetch]\n  domains: [a.com]\n---\n"))
	if s.Document == nil {
		t.Fatal(findings)
	}
	set := compose(t, policy.Input{Documents: []*policy.Document{s.Document}, Tier: policy.Approved})
	for command, want := range map[string]policy.Effect{"git status": policy.Allow, "jq . x": policy.Allow, "gitx": policy.Confirm, "git log; rm x": policy.Confirm, "rm x": policy.Confirm, "git $(rm x)": policy.Confirm} {
		if got := set.Decide(policy.Request{Capability: "shell.execute", Command: command, Time: noon}); got.Effect != want {
			t.Errorf("%q: %v (%s), want %v", command, got.Effect, got.Reason, want)
		}
	}
	p := lower(t, set, inputs("true"))
	if !p.Reaches("x.a.com", 443, profiles.TCP).Allowed || p.Reaches("b.com", 443, profiles.TCP).Allowed {
		t.Error("a domain covers its subdomains and nothing else")
	}
	if len(p.Demands) != 2 || profiles.Must(p.Demands[0].Name) {
		t.Errorf("specifiers are lines of the receipt, not gaps: %+v", p.Demands)
	}
}

// TestExceptions: the user's grants by name lift denials, a manifest's do not,
// and a deny in a manifest beats both.
func TestExceptions(t *testing.T) {
	const key, hosts = "/home/u/.ssh/id_rsa", "/home/u/.ssh/known_hosts"
	declared := parse(t, "m.json", `{"permissions":[{"capability":"filesystem.read","effect":"allow","constraints":{"resource_scope":["~/.ssh/known_hosts"]}}]}`)
	if p := lower(t, compose(t, policy.Input{Documents: []*policy.Document{declared}, Tier: policy.BuiltIn}), inputs("true")); p.Allows(hosts, profiles.Read).Allowed {
		t.Error("a manifest lifts a denial")
	}
	p := lower(t, compose(t, policy.Input{Tier: policy.Approved, Grants: []policy.Entry{grant(t, "filesystem.read:~/.ssh/known_hosts")}}), inputs("true"))
	if !p.Allows(hosts, profiles.Read).Allowed || p.Allows(hosts, profiles.Write).Allowed || p.Allows(key, profiles.Read).Allowed {
		t.Error("a grant by name lifts the denial for exactly that")
	}
	if p := lower(t, compose(t, policy.Input{Tier: policy.Approved, Grants: []policy.Entry{grant(t, "filesystem.read:~")}}), inputs("true")); p.Allows(key, profiles.Read).Allowed {
		t.Error("a grant of the home directory opens keys")
	}
	denied := parse(t, "m.json", `{"permissions":[{"capability":"filesystem.read","effect":"deny"}]}`)
	set, findings, err := policy.Compose(policy.Input{Documents: []*policy.Document{denied}, Tier: policy.Approved, Grants: []policy.Entry{grant(t, "filesystem.read:~/data")}})
	if err != nil || len(findings) != 1 {
		t.Fatal(findings, err)
	}
	if p := lower(t, set, inputs("true")); p.Allows("/home/u/data/a.csv", profiles.Read).Allowed {
		t.Error("a grant beats a deny")
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 日本": "plain é 日本", "a\x1b[2Jb": `a\x1b[2Jb`, "a\nskillrun: ok": `a\nskillrun: ok`, "\u202egpj": `\u202egpj`,
		"a\u200bb": `a\u200bb`, `c:\n`: `c:\\n`, "\xff": `\xff`, "\U000e0041": `\U000e0041`, "a\u00a0b": `a\u00a0b`,
		"a\u2800b": `a\u2800b`, "\U00016fe4\U00013441\U00013442\U0001d159": `\U00016fe4\U00013441\U00013442\U0001d159`, "\u3164\ufe0f\u180b\u17b4\u034f": `\u3164\ufe0f\u180b\u17b4\u034f`,
	} {
		if got := policy.Escape(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestToolchains: skillrun.toml narrows the user's toolchains and cannot add.
func TestToolchains(t *testing.T) {
	h := machine()
	h.FS.(fstest.MapFS)["home/u/.nvm/versions/node/v22/bin/node"] = &fstest.MapFile{Mode: 0o755}
	const node = "/home/u/.nvm/versions/node/v22/bin/node"
	for list, want := range map[string]bool{"": true, "toolchains = []\n": false, "toolchains = [\"pyenv\"]\n": false, "toolchains = [\"nvm\"]\n": true} {
		d := parse(t, "skillrun.toml", "permissions = []\n"+list)
		p, err := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved}).Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Allows(node, profiles.Execute).Allowed; got != want {
			t.Errorf("%q: node may start: %v, want %v", list, got, want)
		}
	}
}

// A ceiling that takes secrets.read away takes with it what that would lift.
func TestCeilingKeepsDenials(t *testing.T) {
	d := parse(t, "m.json", `{"permissions":[
		{"capability":"secrets.read","effect":"allow","constraints":{"resource_scope":["~/.ssh/known_hosts"]}},
		{"capability":"filesystem.read","effect":"allow"}]}`)
	const hosts = "/home/u/.ssh/known_hosts"
	open := policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved}
	if !lower(t, compose(t, open), inputs("true")).Allows(hosts, profiles.Read).Allowed {
		t.Fatal("secrets.read opens nothing")
	}
	open.Ceilings = []*policy.Document{parse(t, "c.json", `{"permissions":[{"capability":"filesystem.read","effect":"allow"}]}`)}
	if lower(t, compose(t, open), inputs("true")).Allows(hosts, profiles.Read).Allowed {
		t.Error("the denial stays lifted under a ceiling without secrets.read")
	}
}

// What a ceiling allows of a part without a question leaves the rest to be asked about.
func TestCeilingAsksAboutTheRest(t *testing.T) {
	const part = `{"capability":"filesystem.write","effect":"allow","priority":5,"constraints":{"resource_scope":["a"]}}`
	for _, c := range []struct {
		manifest, ceiling string
		asked             int
	}{
		{`{"capability":"filesystem.write","effect":"allow","constraints":{"workspace_only":true}}`, part, 1},
		{`{"capability":"filesystem.write","effect":"allow","constraints":{"resource_scope":["b"]}}`, part, 1},
		{part, part, 0},
		{`{"capability":"filesystem.write","effect":"allow","constraints":{"resource_scope":["b"]}}`, `{"capability":"filesystem.write","effect":"allow","priority":5}`, 0},
	} {
		in := policy.Input{Tier: policy.Approved,
			Documents:  []*policy.Document{parse(t, "m.json", `{"permissions":[`+c.manifest+`]}`)},
			Narrowings: []*policy.Document{parse(t, "c.json", `{"permissions":[`+c.ceiling+`,{"capability":"filesystem.write","effect":"confirm"}]}`)}}
		if got := len(compose(t, in).Pending()); got != c.asked {
			t.Errorf("%s under %s: %d questions, want %d", c.manifest, c.ceiling, got, c.asked)
		}
	}
}

// TestPublicHosts: an entry that names no host is about public ones, for tools as in a
// run; but for a deny, and for the user's grant of the whole network.
func TestPublicHosts(t *testing.T) {
	entry := func(capability string, effect policy.Effect, source string) policy.Entry {
		return policy.Entry{Capability: capability, Effect: effect, Source: source}
	}
	for host, public := range map[string]bool{
		"a.com": true, "a.com:443": true, "8.8.8.8": true, "[2606:4700::1]:443": true,
		"localhost:80": false, "127.0.0.1": false, "[::1]:80": false, "10.0.0.1:80": false, "169.254.169.254": false, "[::ffff:10.0.0.1]": false, "127.1": false, "http://me@a.com": false,
	} {
		for _, c := range []struct {
			entry policy.Entry
			want  bool
		}{
			{entry("web.fetch", policy.Allow, "session-default"), public},
			{entry("network.client", policy.Allow, "session-default"), public},
			{entry("web.fetch", policy.Allow, policy.UserConfig), public},
			{entry("network.client", policy.Allow, policy.UserConfig), true},
			{entry("web.fetch", policy.Deny, "session-default"), true},
		} {
			s := policy.State{Declared: []policy.Entry{c.entry}, Undeclared: policy.AskUndeclared()}
			if a := s.Decide(policy.Request{Capability: c.entry.Capability, Hosts: []string{host}, Time: noon}); (a.Entry != nil) != c.want {
				t.Errorf("%s, %s of %s: %+v", host, c.entry.Effect, c.entry.Source, a)
			}
		}
	}
}
