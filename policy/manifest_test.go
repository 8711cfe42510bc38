package policy_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"skillrun/policy"
	"skillrun/profiles"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// machine is a small made-up computer.
func machine() *profiles.Host {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s), Mode: 0o644} }
	program := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s), Mode: 0o755} }
	return &profiles.Host{
		OS: "linux", Home: "/home/u", User: "u", UID: 1000, CaseSensitive: true,
		Env: map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/u"},
		FS: fstest.MapFS{
			"usr/bin/python3":           program("\x7fELF"),
			"usr/bin/env":               program("\x7fELF"),
			"usr/bin/bash":              program("\x7fELF"),
			"home/u/.ssh/id_rsa":        file("key"),
			"home/u/.ssh/known_hosts":   file("hosts"),
			"home/u/.bashrc":            file("rc"),
			"home/u/data/a.csv":         file("1,2"),
			"w/in.csv":                  file("1,2"),
			"w/run.py":                  program("#!/usr/bin/env python3\n"),
			"w/src/a.go":                file("package a"),
			"w/.git/config":             file("[remote \"origin\"]\n\turl = git@git.example.org:x/y.git\n"),
			"w/.git/hooks/pre-commit":   program("#!/bin/sh\n"),
			"w/.env":                    file("TOKEN=1"),
			"skills/pdf/SKILL.md":       file("---\nname: pdf\n---\n"),
			"skills/pdf/scripts/run.py": program("#!/usr/bin/env python3\n"),
		},
	}
}

func inputs(command ...string) policy.Inputs {
	in := policy.Inputs{Workspace: "/w", Skill: "/skills/pdf", Cwd: "/w", Now: noon}
	in.Program, in.Script = policy.Words(command)
	return in
}

func parse(t testing.TB, file, text string) *policy.Document {
	t.Helper()
	d, err := policy.ParseManifest(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func compose(t testing.TB, in policy.Input) *policy.Set {
	t.Helper()
	s, _, err := policy.Compose(in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func lower(t testing.TB, s *policy.Set, in policy.Inputs) *profiles.Profile {
	t.Helper()
	p, err := s.Profile(machine(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What a manifest says stands in quotes in a question, where it could pass for ours.
func TestQuestionsNeverSayMore(t *testing.T) {
	d := parse(t, "skillguard-manifest.json", `{
  "skill_metadata": {"name": "pdf"},
  "permissions": [
    {"capability": "filesystem.write", "effect": "confirm", "constraints": {"resource_scope": ["out", "~/x, asked for each time", "a\"b"], "arguments": {"how: once) (x": "y"}}, "fallback_msg": "the report\" (checked, harmless)"}
  ]
}`)
	questions := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved, Approve: policy.ApproveAsk}).Pending()
	if len(questions) != 1 {
		t.Fatalf("pending: %+v", questions)
	}
	const want = `create and change files: out, "~/x, asked for each time", "a'b" ("how: once) (x": y) - the skill says "the report' (checked, harmless)"`
	if got := questions[0].Text; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A skill that nobody trusts is asked about what is not the workspace's, by whatever
// capability, and the question says so.
func TestBeyondTheWorkspaceIsAsked(t *testing.T) {
	for _, c := range []struct{ entry, path, question string }{
		{`"source_code.read", "effect": "allow"`, "/w/in.csv", ""},
		{`"source_code.read", "effect": "allow", "constraints": {"workspace_only": false}`, "/home/u/data/a.csv", "read files anywhere, credentials excepted"},
		{`"source_code.read", "constraints": {"workspace_only": false, "resource_scope": ["~/data"]}`, "/home/u/data/a.csv", "read files: ~/data"},
		{`"source_code.*", "constraints": {"workspace_only": false, "resource_scope": ["~/data"]}`, "/home/u/data/a.csv", "read files: ~/data"},
		{`"shell_profile.read", "effect": "allow"`, "/home/u/.bashrc", "read your shell's start files"},
	} {
		d := parse(t, "m.json", `{"permissions": [{"capability": `+c.entry+`}]}`)
		in := policy.Input{Documents: []*policy.Document{d}, Tier: policy.Untrusted, Approve: policy.ApproveAsk}
		s := compose(t, in)
		in.Approve = policy.ApproveDeclared
		if !lower(t, compose(t, in), inputs("true")).Allows(c.path, profiles.Read).Allowed {
			t.Errorf("control: %s does not give %s", c.entry, c.path)
		}
		asked := slices.ContainsFunc(s.Pending(), func(q policy.Question) bool { return q.Text == c.question && q.Level == policy.Dangerous })
		if asked != (c.question != "") || lower(t, s, inputs("true")).Allows(c.path, profiles.Read).Allowed == asked {
			t.Errorf("%s: %+v", c.entry, s.Pending())
		}
	}
	for capability, want := range map[string]string{"source_code.write": "create and change files anywhere, credentials excepted", "source_code.delete": "delete and rename files anywhere, credentials excepted"} {
		d := parse(t, "m.json", `{"permissions": [{"capability": "`+capability+`", "constraints": {"workspace_only": false}}]}`)
		if q := compose(t, policy.Input{Documents: []*policy.Document{d}, Approve: policy.ApproveAsk}).Pending(); len(q) != 1 || q[0].Text != want {
			t.Errorf("%s: %+v, want %q", capability, q, want)
		}
	}
}

// Of variables that a scope and arguments name, those of both are passed, and the
// question has them.
func TestVariablesOfBoth(t *testing.T) {
	for constraints, want := range map[string][2]string{
		`{}`:                                 {"LANG TOOL TOOL_A", "read environment variables"},
		`{"resource_scope": ["TOOL*"]}`:      {"TOOL TOOL_A", "read environment variables: TOOL*"},
		`{"arguments": {"names": ["LANG"]}}`: {"LANG", "read environment variables: LANG"},
		`{"arguments": {"names": []}}`:       {"", "read environment variables: nothing in particular"},
		`{"resource_scope": ["LANG"], "arguments": {"names": ["TOOL"]}}`:           {"", "read environment variables: nothing in particular"},
		`{"resource_scope": [], "arguments": {"names": ["*"]}}`:                    {"", "read environment variables: nothing in particular"},
		`{"resource_scope": ["TOOL*"], "arguments": {"names": ["TOOL_A", "LA*"]}}`: {"TOOL_A", "read environment variables: TOOL_A"},
	} {
		d := parse(t, "m.json", `{"permissions": [{"capability": "env_var.read", "effect": "confirm", "constraints": `+constraints+`}]}`)
		s := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved, Approve: policy.ApproveAsk})
		q := s.Pending()
		if len(q) != 1 || q[0].Text != want[1] {
			t.Fatalf("%s: %+v, want %q", constraints, q, want[1])
		}
		p, none := lower(t, s.Accept(q[0].Key), inputs("true")), lower(t, s, inputs("true"))
		var passed []string
		for _, name := range []string{"LANG", "TOOL", "TOOL_A"} {
			with, _ := p.Env.Passes(name)
			if without, _ := none.Env.Passes(name); with && (!without || strings.Contains(want[0], name)) {
				passed = append(passed, name)
			}
		}
		if got := strings.Join(passed, " "); got != want[0] {
			t.Errorf("%s: passes %q, want %q", constraints, got, want[0])
		}
	}
}

// A floor holds whatever its constraints say that a run cannot tell apart: who wrote
// it takes it to hold.
func TestFloorsOfWholes(t *testing.T) {
	started := func(constraints, capability string) bool {
		h := machine()
		h.FS.(fstest.MapFS)["var/run/docker.sock"] = &fstest.MapFile{Mode: fs.ModeSocket}
		floor := parse(t, "floor.toml", "[[permissions]]\ncapability = \""+capability+"\"\neffect = \"deny\"\nconstraints = "+constraints+"\n")
		in := policy.Input{Documents: []*policy.Document{parse(t, "m.json", `{"permissions": []}`)}, Tier: policy.Approved, Floors: []*policy.Document{floor}}
		in.Grants = []policy.Entry{grant(t, "shell.execute"), grant(t, "container.run")}
		p, err := compose(t, in).Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		if capability == "container.*" {
			return len(p.Sockets) > 0
		}
		return p.Process.Create
	}
	for _, capability := range []string{"shell.execute", "container.*"} {
		for _, constraints := range []string{
			"{}", "{workspace_only = true}", `{denied_command_patterns = ["rm"]}`, `{resource_scope = ["curl"]}`, `{arguments = {x = "y"}}`,
			`{rate_limit = {max = 1, per = "day"}}`, `{time_window = {start = "00:00", end = "24:00"}}`,
		} {
			if started(constraints, capability) {
				t.Errorf("a floor of %s with %s denies nothing", capability, constraints)
			}
		}
		if !started(`{time_window = {start = "01:00", end = "02:00"}}`, capability) {
			t.Errorf("control: %s is denied outside of the window", capability)
		}
	}
}

// Whoever says yes to one entry says yes to no other, whatever their arguments are called.
func TestKeysDiffer(t *testing.T) {
	for _, arguments := range []string{`{"scope": ["out"]}`, `{"scope=[\"out\"] names": ["A"]}`} {
		scoped := `{"capability": "filesystem.read", "priority": 1, "constraints": {"resource_scope": ["out"]}}`
		if strings.Contains(arguments, "names") {
			scoped = strings.Replace(scoped, `["out"]}`, `["out"], "arguments": {"names": ["A"]}}`, 1)
		}
		d := parse(t, "skillguard-manifest.json", `{"permissions": [`+scoped+`, {"capability": "filesystem.read", "constraints": {"arguments": `+arguments+`}}]}`)
		s := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved, Approve: policy.ApproveAsk})
		for _, q := range s.Pending() {
			if len(q.Entry.Constraints.Scope) == 0 {
				continue
			}
			if p := lower(t, s.Accept(q.Key), inputs("true")); p.Allows("/home/u/data/a.csv", profiles.Read).Allowed || !p.Allows("/w/out/x", profiles.Read).Allowed {
				t.Errorf("%s: a yes to %q is one to all files", arguments, q.Text)
			}
		}
		if n := len(s.Pending()); n != 2 {
			t.Errorf("%s: %d questions", arguments, n)
		}
	}
}

// Nobody is asked for what was granted whole.
func TestGrantedIsNotAsked(t *testing.T) {
	for _, c := range []struct{ grant, asked string }{
		{"filesystem.write", "out web all"},
		{"filesystem.write:.", "out web all"},
		{"filesystem.write:elsewhere", "write out web all"},
		{"filesystem.write:out", "write web all"},
		{"filesystem.read", "write out web"},
		{"filesystem.read:.", "write out web all"},
		{"web.fetch:a.example", "write out web all"},
	} {
		grant, err := policy.ParseGrant(c.grant, "--grant")
		if err != nil {
			t.Fatal(err)
		}
		for word, entry := range map[string]string{
			"write": `"filesystem.write", "constraints": {"workspace_only": true}`,
			"out":   `"filesystem.write", "constraints": {"resource_scope": ["out"]}`,
			"all":   `"filesystem.read", "constraints": {}`, // of everything
			"web":   `"web.fetch", "constraints": {"resource_scope": ["a.example", "10.0.0.1"]}`,
		} {
			d := parse(t, "skillguard-manifest.json", `{"skill_metadata": {"name": "x"}, "permissions": [{"effect": "confirm", "capability": `+entry+`}]}`)
			set := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved, Approve: policy.ApproveAsk, Grants: []policy.Entry{grant}})
			if got := len(set.Pending()) > 0; got != strings.Contains(c.asked, word) {
				t.Errorf("--grant %s: %s asked: %v", c.grant, word, got)
			}
		}
	}
}

func TestManifestToProfile(t *testing.T) {
	d := parse(t, "skillguard-manifest.json", `{
  "skill_metadata": {"name": "pdf", "version": "1.0", "trust_tier": 2},
  "permissions": [
    {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}},
    {"capability": "filesystem.write", "effect": "allow", "constraints": {"resource_scope": ["out"]}},
    {"capability": "web.fetch", "effect": "allow", "constraints": {"resource_scope": ["https://api.example.com/v1"]}},
    {"capability": "env_var.read", "effect": "allow", "constraints": {"arguments": {"names": ["EDITOR"]}}},
    {"capability": "shell.execute", "effect": "confirm", "fallback_msg": "runs pdftk"}
  ]
}`)
	set := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved, Approve: policy.ApproveAsk})
	questions := set.Pending()
	if len(questions) != 1 || questions[0].Entry.Capability != "shell.execute" {
		t.Fatalf("pending: %+v", questions)
	}
	before := lower(t, set, inputs("python3", "run.py"))
	if before.Process.Create {
		t.Error("children are allowed before the question is answered")
	}
	p := lower(t, set.Accept(questions[0].Key), inputs("python3", "run.py"))
	if !p.Process.Create {
		t.Error("children are refused after yes")
	}
	for _, c := range []struct {
		path   string
		access profiles.Access
		want   bool
	}{
		{"/w/in.csv", profiles.Read, true},
		{"/w/in.csv", profiles.Write, false},
		{"/w/out/x.html", profiles.Write | profiles.Create, true},
		{"/w/out/x.html", profiles.Delete, false},
		{"/w/.env", profiles.Read, false},
		{"/home/u/.ssh/id_rsa", profiles.Read, false},
		{"/home/u/data/a.csv", profiles.Read, false},
		{"/usr/bin/python3", profiles.Execute, true},
		{"/skills/pdf/scripts/run.py", profiles.Read, true},
		{"/skills/pdf/scripts/run.py", profiles.Write, false},
	} {
		if got := p.Allows(c.path, c.access); got.Allowed != c.want {
			t.Errorf("Allows(%s, %s) = %v, want %v (%+v)", c.path, c.access, got.Allowed, c.want, got.Origin())
		}
	}
	if !p.Reaches("api.example.com", 443, profiles.TCP).Allowed || p.Reaches("example.com", 443, profiles.TCP).Allowed {
		t.Error("hosts:", p.Network)
	}
	if v := p.Allows("/w/in.csv", profiles.Read); v.Origin().Source != "skillguard-manifest.json:4" {
		t.Error("origin:", v.Origin())
	}
}

// Refusing a capability refuses what it is about, and not what it needs on the
// way: reading the history is another capability.
func TestDenyIsAboutItsOwn(t *testing.T) {
	d := parse(t, "skillguard-manifest.json", `{"permissions": [
  {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}},
  {"capability": "filesystem.write", "effect": "allow", "constraints": {"workspace_only": true}},
  {"capability": "commit.read", "effect": "allow"},
  {"capability": "commit.create", "effect": "deny"},
  {"capability": "commit.push", "effect": "deny"},
  {"capability": "source_code.execute", "effect": "deny"}
]}`)
	p := lower(t, compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved}), inputs("python3", "run.py"))
	for _, c := range []struct {
		path   string
		access profiles.Access
		want   bool
	}{
		{"/w/.git/HEAD", profiles.Read, true},
		{"/w/.git/HEAD", profiles.Write, false},
		{"/w/.git/index.lock", profiles.Create, false},
		{"/w/in.csv", profiles.Read, true},
		{"/w/in.csv", profiles.Write, true},
		{"/w/run.py", profiles.Execute, false},
	} {
		if got := p.Allows(c.path, c.access); got.Allowed != c.want {
			t.Errorf("Allows(%s, %s) = %v, want %v (%+v)", c.path, c.access, got.Allowed, c.want, got.Origin())
		}
	}
}
