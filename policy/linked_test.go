package policy_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"skillrun/policy"
	"skillrun/profiles"
)

// Whose a link is decides where it lies: in the workspace, in a tree that earlier
// runs could write, by whatever name of that, and wherever it leads.
func TestLinked(t *testing.T) {
	h := machine()
	files := h.FS.(fstest.MapFS)
	for name, to := range map[string]string{
		"w/l": "/home/u/data", "w/in": "src", "old/l": "/home/u/data", "old/two": "/old/l", "home/u/own": "data", "home/u/chain": "/old/l",
		"usr/bin/alt": "../lib/alt", "usr/src/app/l": "/home/u/data", "etc/app/l": "/home/u/data", "lib": "usr/lib", "mnt/l": "/home/u/data",
	} {
		files[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
	}
	files["usr/lib/alt"] = &fstest.MapFile{}
	files["state/written"] = &fstest.MapFile{Data: []byte("/old\x00/usr/src/app\x00/etc/app\x00/disk\x00")}
	h.WrittenLists, h.WrittenOfSystem = []string{"/none/written", "/state/written"}, []string{"/etc/app"}
	h.Mounts = []profiles.Mount{{Point: "/disk", Root: "/", Device: "8:1"}, {Point: "/mnt", Root: "/", Device: "8:1"}}
	for name, want := range map[string][2]string{ // linked, and led out
		"/w/l": {"/home/u/data", "/home/u/data"}, "/w/l/a.csv": {"/home/u/data/a.csv", "/home/u/data/a.csv"}, "/w/in": {"/w/src", ""}, "/w/src": {},
		"/old/l": {"/home/u/data", "/home/u/data"}, "/old/two": {"/home/u/data", "/home/u/data"}, "/old/none": {},
		"/home/u/own": {}, "/home/u/chain": {"/home/u/data", "/home/u/data"}, "/w/../old/l": {"/home/u/data", "/home/u/data"}, "/w/in/../../old/l": {"/home/u/data", "/home/u/data"},
		"/usr/bin/alt": {}, "/lib/alt": {}, "/usr/src/app/l": {"/home/u/data", "/home/u/data"}, "/etc/app/l": {"/home/u/data", "/home/u/data"},
		"/mnt/l": {"/home/u/data", "/home/u/data"},
	} {
		if got := [2]string{policy.Linked(h, "/w", name), policy.LedOut(h, "/w", name)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// A list that cannot be read may name any tree.
	h.WrittenLists = []string{"/home/u/data"}
	if policy.Linked(h, "/w", "/home/u/own") == "" {
		t.Error("without a list links are believed")
	}
}

// Who says yes to a scope has seen its name, and not where a link leads that a run may
// have made.
func TestScopesAreNotLed(t *testing.T) {
	h := machine()
	files := h.FS.(fstest.MapFS)
	for name, to := range map[string]string{"w/out": "/home/u/data", "w/sub/a.csv": "/home/u/data/a.csv", "w/in": "src", "old/l": "/home/u/data", "home/u/mine": "data"} {
		files[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
	}
	files["state/written"] = &fstest.MapFile{Data: []byte("/old\x00")}
	h.WrittenLists = []string{"/state/written"}
	for scope, want := range map[string]bool{
		"out": false, "/w/out": false, "/w/out/*": false, "/w/out/a.csv": false, "/*/sub/a.csv": false, "/old/l": false,
		"/home/u/data": true, "~/mine": true,
	} {
		for _, c := range []struct {
			capability string
			access     profiles.Access
		}{{"filesystem.read", profiles.Read}, {"filesystem.write", profiles.Write}, {"filesystem.delete", profiles.Delete}, {"source_code.execute", profiles.Execute}} {
			d := parse(t, "m.json", `{"permissions":[{"capability":"`+c.capability+`","effect":"allow","constraints":{"resource_scope":["`+scope+`"]}}]}`)
			p, err := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved}).Profile(h, inputs("true"))
			if err != nil {
				t.Fatal(err)
			}
			switch got := p.Allows("/home/u/data/a.csv", c.access).Allowed; {
			case want && !got:
				t.Errorf("control: %s of %s gives nothing", c.capability, scope)
			case got != want:
				t.Errorf("%s of %s is led out", c.capability, scope)
			}
		}
	}
	d := parse(t, "m.json", `{"permissions":[{"capability":"filesystem.read","effect":"allow","constraints":{"resource_scope":["/w/in"]}}]}`)
	if p, err := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved}).Profile(h, inputs("true")); err != nil || !p.Allows("/w/src/a.go", profiles.Read).Allowed {
		t.Errorf("a link that stays in the workspace: %v", err)
	}
}

// Who changed what is on the way to what decides about runs would make another the
// file: a link, a directory that ".." is of, what ends the way.
func TestKeptLinks(t *testing.T) {
	h := machine()
	files := h.FS.(fstest.MapFS)
	for name, to := range map[string]string{"home/u/.claude/skills": "/w/mid", "w/mid": "/home/u/code", "state/conf": "/w/x/../conf", "state/lists": "/w/file/lists", "state/log": "/w/nope/../log"} {
		files[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
	}
	for _, name := range []string{"w/x/old", "w/conf/config.toml", "w/file", "w/other/old"} {
		files[name] = &fstest.MapFile{}
	}
	in := inputs("true")
	in.Approved = []string{"/home/u/.claude/skills"}
	in.Settings = []string{"/state/conf", "/state/lists", "/state/log"}
	p, err := compose(t, policy.Input{Tier: policy.Approved, Grants: []policy.Entry{grant(t, "filesystem.write:."), grant(t, "filesystem.delete:.")}}).Profile(h, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		access profiles.Access
		want   bool
	}{
		{"/w/mid", profiles.Delete, false}, {"/w/other", profiles.Delete, true}, {"/w/x", profiles.Delete, false}, {"/w/x/old", profiles.Write, true}, {"/w/conf/config.toml", profiles.Write, false},
		{"/w/file", profiles.Delete, false}, {"/w/nope", profiles.Create, false}, {"/w/log", profiles.Create, false}, {"/w/new", profiles.Create, true},
	} {
		if got := p.Allows(c.path, c.access).Allowed; got != c.want {
			t.Errorf("%s of %s: %v", c.access.Word(), c.path, got)
		}
	}
}
