package policy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"skillrun/policy"
	"skillrun/profiles"
)

// everything is a machine on which every capability has something to act on.
func everything() *profiles.Host {
	h := machine()
	fs := h.FS.(fstest.MapFS)
	for _, name := range []string{"dev/video0", "dev/snd/pcm", "dev/input/event0", "var/run/docker.sock", "tmp/.X11-unix/X0", "var/spool/cron/crontabs/u"} {
		fs[name] = &fstest.MapFile{}
	}
	h.Env["DISPLAY"] = ":0"
	return h
}

// TestEveryCapability: each row of the taxonomy changes the profile of a run,
// or says why it has no meaning to the operating system, and not both.
func TestEveryCapability(t *testing.T) {
	labels, groups, seen := 0, map[string]bool{}, map[string]bool{}
	blank, err := compose(t, policy.Input{Documents: []*policy.Document{{}}, Tier: policy.Approved}).Profile(everything(), inputs("true"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range policy.Taxonomy() {
		if c.Label != "" {
			labels++
			groups[c.Group] = true
		}
		if seen[c.Name] || c.About == "" || c.Level == policy.Unknown {
			t.Errorf("%s: twice, or without description or level", c.Name)
		}
		seen[c.Name] = true
		if (c.Why == "") != c.Enforced() {
			t.Errorf("%s: lowers and has a reason not to, or neither", c.Name)
		}
		grant := c.Name
		if c.Group == "Secrets" {
			grant += ":~/.ssh/known_hosts"
		}
		g, err := policy.ParseGrant(grant, "--grant")
		if err != nil {
			t.Fatal(err)
		}
		p, err := compose(t, policy.Input{Documents: []*policy.Document{{}}, Tier: policy.Approved, Grants: []policy.Entry{g}}).Profile(everything(), inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		if changed := !bytes.Equal(p.Canonical(), blank.Canonical()); changed != c.Enforced() {
			t.Errorf("%s: changes the profile: %v; enforced: %v", c.Name, changed, c.Enforced())
		}
		fmt.Fprintf(&b, "%s %s\n", c.Name, c.Level)
		for _, line := range added(blank, p) {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
		if c.Why != "" {
			fmt.Fprintf(&b, "\tnone: %s\n", c.Why)
		}
	}
	if labels != 47 || len(groups) != 8 || len(seen) != 47+5+3 {
		t.Errorf("%d permissions of the paper in %d groups, %d names", labels, len(groups), len(seen))
	}
	const file = "testdata/meaning.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("what a grant of each capability adds (go test ./policy -update rewrites it): %s", diff)
	}
}

// added lists what q has and p does not, one rule a line.
func added(p, q *profiles.Profile) []string {
	list := func(p *profiles.Profile) []string {
		var l []string
		for _, r := range p.Paths {
			tree := ""
			if r.Tree {
				tree = "/**"
			}
			l = append(l, fmt.Sprintf("%s %s%s", r.Access, strings.TrimSuffix(r.Path, "/"), tree))
		}
		if p.Network.Mode != profiles.NetNone {
			l = append(l, "network "+p.Network.Mode.String())
		}
		for _, h := range p.Network.Hosts {
			l = append(l, fmt.Sprintf("host %s %v %s readonly=%v", h.Host, h.Ports, h.Protocols, h.ReadOnly))
		}
		for _, s := range p.Sockets {
			l = append(l, "socket "+s.Path)
		}
		for _, v := range p.Env.Pass {
			l = append(l, "pass "+v.Name)
		}
		for _, v := range p.Env.Allow {
			l = append(l, "pass although secret "+v.Name)
		}
		for _, r := range p.Redact {
			l = append(l, "redact "+r.Path+r.Env)
		}
		for _, f := range []struct {
			set  bool
			name string
		}{{p.Process.Create, "children"}, {p.Process.Query, "other processes visible"}, {p.Process.ExecuteOwn, "programs in HOME and TMPDIR"}, {p.Process.AnyMode, "any mode"}} {
			if f.set {
				l = append(l, f.name)
			}
		}
		return l
	}
	had := map[string]bool{}
	for _, line := range list(p) {
		had[line] = true
	}
	var lines []string
	for _, line := range list(q) {
		if !had[line] {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestShippedPresets(t *testing.T) {
	data, err := os.ReadFile("presets.toml")
	if err != nil {
		t.Fatal(err)
	}
	want, err := policy.ParsePresets("presets.toml", data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, policy.Presets()); diff != "" {
		t.Errorf("presets_gen.go differs from presets.toml (go generate ./policy): %s", diff)
	}
}

// TestArmorclawTables reproduces the tables of Armorclaw's skills security,
// sections 4 to 6, row by row. Its ci column is ours.
func TestArmorclawTables(t *testing.T) {
	const rejected, minimal, manifest, ceiling = policy.BoundRejected, policy.BoundMinimal, policy.BoundManifest, policy.BoundCeiling
	for _, row := range []struct {
		what     string
		tier     policy.Tier
		manifest bool
		want     [3]policy.Bound // paranoid, standard, power-user
	}{
		{"built-in, no manifest", policy.BuiltIn, false, [3]policy.Bound{ceiling, ceiling, ceiling}},
		{"built-in, manifest", policy.BuiltIn, true, [3]policy.Bound{ceiling, ceiling, ceiling}},
		{"approved, no manifest", policy.Approved, false, [3]policy.Bound{ceiling, ceiling, ceiling}},
		{"approved, manifest", policy.Approved, true, [3]policy.Bound{ceiling, ceiling, ceiling}},
		{"untrusted, no manifest", policy.Untrusted, false, [3]policy.Bound{rejected, minimal, minimal}},
		{"untrusted, manifest", policy.Untrusted, true, [3]policy.Bound{rejected, manifest, manifest}},
		{"isolated, no manifest", policy.Isolated, false, [3]policy.Bound{rejected, minimal, minimal}},
		{"isolated, manifest", policy.Isolated, true, [3]policy.Bound{rejected, manifest, manifest}},
	} {
		for i, name := range []string{"paranoid", "standard", "power-user"} {
			if got := preset(t, name).Bound(row.tier, row.manifest); got != row.want[i] {
				t.Errorf("%s under %s: %v, want %v", row.what, name, got, row.want[i])
			}
		}
	}
	type behaviour struct {
		Scan       policy.Scan
		Activation policy.Activation
		Self       policy.Change
		Capability policy.Change
		Guard      policy.Guard
		Shared     policy.SharedWrites
	}
	for name, want := range map[string]behaviour{
		"paranoid":   {policy.ScanAsk, policy.ActivationExplicit, policy.ChangeAsk, policy.ChangeAsk, policy.GuardTainted, policy.SharedQueue},
		"standard":   {policy.ScanAuto, policy.ActivationKeyword, policy.ChangeAuto, policy.ChangeAsk, policy.GuardSensitive, policy.SharedTainted},
		"power-user": {policy.ScanLog, policy.ActivationAuto, policy.ChangeAuto, policy.ChangeAsk, policy.GuardOff, policy.SharedDirect},
	} {
		p := preset(t, name)
		if got := (behaviour{p.Scan, p.Activation, p.SelfChange, p.CapabilityChange, p.Guard, p.SharedWrites}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	paranoid := preset(t, "paranoid")
	if _, _, err := policy.Compose(policy.Input{Tier: policy.Untrusted, Preset: paranoid}); err == nil || !strings.HasPrefix(err.Error(), "the skill is untrusted, ") {
		t.Errorf("paranoid composes an untrusted skill, or gives it no name: %v", err)
	}
	if _, _, err := policy.Compose(policy.Input{Tier: policy.Approved, Preset: paranoid}); err != nil {
		t.Error("paranoid refuses an approved skill:", err)
	}
	d := parse(t, "m.json", `{"skill_metadata": {"name": "x", "version": "1", "trust_tier": 3}, "permissions": []}`)
	for tier, want := range map[policy.Tier]string{policy.Approved: `the skill "x" calls itself untrusted, `, policy.Untrusted: `the skill "x" is untrusted, `} {
		_, _, err := policy.Compose(policy.Input{Documents: []*policy.Document{d}, Tier: tier, Preset: paranoid})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	d = parse(t, "m.json", `{"skill_metadata": {"name": "x", "version": "1", "trust_tier": 1}, "permissions": []}`)
	if s := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Untrusted}); s.Tier != policy.Untrusted {
		t.Errorf("a manifest makes its skill %v", s.Tier)
	}
}

func preset(t *testing.T, name string) *policy.Preset {
	t.Helper()
	p, err := policy.FindPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A job may check out several repositories, none of which is the workspace.
func TestCheckouts(t *testing.T) {
	const plain, token = "[core]\n\tbare = false\n", "[http]\n\textraheader = x\n"
	readable := map[string]bool{
		"/w/a/.git/config": true, "/w/b/.git/config": false, "/w/org/c/.git/config": true, "/w/org/d/.git/config": false,
		"/w/a/in/.git/config": false, "/w/org/deep/e/.git/config": false, "/w/.hidden/.git/config": false, "/w/node_modules/.git/config": false,
	}
	for _, top := range []bool{false, true} {
		h := machine()
		fs := h.FS.(fstest.MapFS)
		for file := range readable {
			fs[file[1:]] = &fstest.MapFile{Data: []byte(plain)}
		}
		fs["w/b/.git/config"], fs["w/org/d/.git/config"] = &fstest.MapFile{Data: []byte(token)}, &fstest.MapFile{Data: []byte(token)}
		for file := range fs {
			if !top && strings.HasPrefix(file, "w/.git/") {
				delete(fs, file)
			}
		}
		if top {
			fs["w/.git/config"] = &fstest.MapFile{Data: []byte(plain)}
		}
		set := compose(t, policy.Input{Tier: policy.Approved, Preset: preset(t, "ci")})
		p, err := set.Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		for file, want := range readable {
			want = want && !(top && strings.HasPrefix(file, "/w/org/")) // two levels down, in a repository
			if got := p.Allows(file, profiles.Read).Allowed; got != want {
				t.Errorf("%s, in a repository %v: readable %v, want %v", file, top, got, want)
			}
			if p.Allows(file, profiles.Write).Allowed {
				t.Errorf("%s can be written", file)
			}
		}
	}
}

func TestPresetCI(t *testing.T) {
	h := machine()
	fs := h.FS.(fstest.MapFS)
	for _, v := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH"} {
		fs["r/"+v] = &fstest.MapFile{}
		h.Env[v] = "/r/" + v
	}
	set := compose(t, policy.Input{Tier: policy.Approved, Preset: preset(t, "ci"), Grants: []policy.Entry{grant(t, "filesystem.write:/r"), grant(t, "env_var.read")}})
	p, err := set.Profile(h, inputs("true"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"GITHUB_OUTPUT": true, "GITHUB_STEP_SUMMARY": true, "GITHUB_ENV": false, "GITHUB_PATH": false} {
		if got := p.Allows("/r/"+name, profiles.Write).Allowed; got != want {
			t.Errorf("%s writable: %v, want %v", name, got, want)
		}
	}
	if !p.Allows("/w/in.csv", profiles.Read).Allowed {
		t.Error("the workspace is not readable")
	}
	// Most of what is in a git configuration opens nothing, and git needs it.
	const plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = %s\n"
	for config, want := range map[string]bool{
		fmt.Sprintf(plain, "https://example.org/x/y"):                  true,
		fmt.Sprintf(plain, "ssh://git@example.org/x/y"):                true,
		fmt.Sprintf(plain, "git@example.org:x/y.git"):                  true,
		fmt.Sprintf(plain, "https://x-access:abc@example.org/x"):       false,
		fmt.Sprintf(plain, "https://abc@example.org/x"):                false,
		fmt.Sprintf(plain, "ssh://git:abc@example.org/x"):              false,
		fmt.Sprintf(plain, "\"https://a.org/ https://b@example.org\""): false,
		"[http \"https://example.org/\"]\n\textraheader = basic x\n":   false,
		"[http]\n\tExtraHeader = x\n":                                  false,
		fmt.Sprintf(plain, "\"https://\"abc@example.org/x"):            false,
		fmt.Sprintf(plain, "https://abc\\\n@example.org/x"):            false,
		"[sendemail]\n\tsmtpPass = x\n":                                false,
		"[a]\n\tTOKEN = x\n":                                           false,
	} {
		fs["w/.git/config"] = &fstest.MapFile{Data: []byte(config)}
		p, err := set.Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Allows("/w/.git/config", profiles.Read).Allowed; got != want {
			t.Errorf("%q: readable %v, want %v", config, got, want)
		}
		if p.Allows("/w/.git/config", profiles.Write).Allowed || p.Allows("/w/sub/.git/config", profiles.Read).Allowed {
			t.Errorf("%q: writable, or another repository's is readable", config)
		}
	}
	for v, want := range map[string]bool{"ACTIONS_RUNTIME_TOKEN": false, "ACTIONS_ID_TOKEN_REQUEST_URL": false, "GITHUB_TOKEN": false, "GITHUB_SHA": true} {
		if got, _ := p.Env.Passes(v); got != want {
			t.Errorf("%s passes: %v, want %v", v, got, want)
		}
	}
}

func grant(t testing.TB, s string) policy.Entry {
	t.Helper()
	g, err := policy.ParseGrant(s, "--grant")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestSchemas holds the schemas against the parser: what the parser takes is
// valid, and what has the wrong shape is neither.
func TestSchemas(t *testing.T) {
	compile := func(form policy.Form) *jsonschema.Schema {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(policy.Schema(form)))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("s.json", doc); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile("s.json")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	schema := compile(policy.JSON)
	const valid = `{"$schema":"x","description":"d","skill_metadata":{"name":"n","version":"1","description":"a\nb","trust_tier":3},"permissions":[{"capability":"filesystem.read","effect":"deny","priority":3,"fallback_msg":"m","source":"s","granted_at":"2026-01-31T12:00:00Z","expires_at":"2026-01-31T12:00:00.123456Z","constraints":{"workspace_only":true,"denied_command_patterns":["a"],"arguments":{"names":["A"],"n":3,"b":[true]},"resource_scope":["x"],"time_window":{"start":"09:00","end":"24:00","days":["mon"],"timezone":"+02:00"},"rate_limit":{"max":1,"per":"day","max_bytes":"1 MiB","max_connections":3}}},{"capability":"web.*"},{"capability":"*"}]}`
	check := func(text string) (parser, byschema error) {
		_, parser = policy.ParseManifest("m.json", []byte(text))
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			return parser, err
		}
		return parser, schema.Validate(v)
	}
	if p, s := check(valid); p != nil || s != nil {
		t.Fatalf("the sample: %v; %v", p, s)
	}
	// Every value of the sample replaced by others, every key misspelt.
	var root any
	if err := json.Unmarshal([]byte(valid), &root); err != nil {
		t.Fatal(err)
	}
	agreed := 0
	try := func() {
		text, _ := json.Marshal(root)
		switch p, s := check(string(text)); {
		case p == nil && s != nil:
			t.Errorf("the parser takes what the schema refuses: %s: %v", text, s)
		case p != nil && s == nil:
			t.Errorf("the schema takes what the parser refuses: %v", p)
		default:
			agreed++
		}
	}
	var walk func(v any, set func(any))
	walk = func(v any, set func(any)) {
		for _, other := range []any{nil, true, 1, 0, -1, 1.5, "", "a\u0001b", []any{}, []any{1}, map[string]any{}, map[string]any{"zz": 1}} {
			set(other)
			try()
		}
		set(v)
		switch v := v.(type) {
		case map[string]any:
			for k, old := range v {
				walk(old, func(x any) { v[k] = x })
				v[k+"x"] = old
				try()
				delete(v, k+"x")
			}
		case []any:
			for i, old := range v {
				walk(old, func(x any) { v[i] = x })
			}
		}
	}
	walk(root, func(x any) { root = x })
	if agreed < 300 {
		t.Errorf("only %d variants agreed", agreed)
	}
	tomlForm := compile(policy.TOML)
	v, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"permissions":[],"limits":{"memory":"1GiB","wall":"90s"},"environment":{"A":"b"},"toolchains":["python"]}`))
	if err := tomlForm.Validate(v); err != nil {
		t.Error(err)
	}
	if schema.Validate(v) == nil {
		t.Error("the JSON form takes limits")
	}
}
