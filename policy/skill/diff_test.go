package skill_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillrun/policy/skill"
)

func TestCompare(t *testing.T) {
	file := func(path string, sum byte) skill.Entry {
		return skill.Entry{Path: path, Kind: skill.Plain, SHA256: [32]byte{sum}}
	}
	d := skill.Compare(
		[]skill.Permission{{Capability: "commit.read"}, {Capability: "filesystem.read", Scope: []string{"/a"}}, {Capability: "filesystem.write", Terms: "workspace_only"}, {Capability: "web.fetch", Scope: []string{"a.example", "b.example"}}},
		[]skill.Permission{{Capability: "filesystem.read", Scope: nil}, {Capability: "filesystem.write", Scope: []string{"/w"}}, {Capability: "web.fetch", Scope: []string{"c.example"}}, {Capability: "web.fetch", Scope: []string{"a.example"}}, {Capability: "web.post", Scope: []string{"x\n+ root", "y, z"}}},
		[]skill.Entry{file("same", 1), file("edited", 1), file("gone", 1), file("dir", 1)},
		[]skill.Entry{file("same", 1), file("edited", 2), file("new\x1b[2J", 1), file("new2", 1), file("new3", 1), {Path: "dir", Kind: skill.Dir}, {Path: "dir2", Kind: skill.Dir}})
	want := `+ web.post: "x\n+ root", "y, z"
+ filesystem.read without a scope
+ web.fetch: c.example
- commit.read
- filesystem.write without a scope
- web.fetch: b.example
~ filesystem.write without terms
  new new\x1b[2J
  new new2
  and 1 more new files
  changed edited
  gone dir
  gone gone`
	if diff := cmp.Diff(want, strings.Join(d.Lines(2), "\n")); diff != "" {
		t.Error(diff)
	}
	if !d.Escalates() {
		t.Error(d)
	}
}

// A scope with a comma in it is one, and blanks fill no row.
func TestPermissionString(t *testing.T) {
	p := skill.Permission{Capability: "filesystem.write", Terms: "workspace_only", Scope: []string{"out", "a, ~/b", "c   d\x1b"}}
	const want = `filesystem.write workspace_only: out, "a, ~/b", "c \x20 d\x1b"`
	if got := p.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Two entries of one capability that swap their terms are other rights.
func TestCompareSwappedTerms(t *testing.T) {
	of := func(a, b string) []skill.Permission {
		return []skill.Permission{{Capability: "web.post", Scope: []string{"a.example"}, Terms: a}, {Capability: "web.post", Scope: []string{"b.example"}, Terms: b}}
	}
	d := skill.Compare(of("1 use", ""), of("", "1 use"), nil, nil)
	want := "~ web.post: a.example without terms\n~ web.post: b.example 1 use"
	if got := strings.Join(d.Lines(1), "\n"); got != want || !d.Escalates() {
		t.Errorf("%s, escalates %t", got, d.Escalates())
	}
}

// Nothing changed gives nothing; what is added escalates, what is only removed
// does not.
func TestCompareLaws(t *testing.T) {
	permission := rapid.Custom(func(t *rapid.T) skill.Permission {
		return skill.Permission{
			Capability: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "capability"),
			Scope:      rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 3).Draw(t, "scope"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(permission, 0, 5).Draw(t, "list")
		if d := skill.Compare(list, list, nil, nil); len(d.Lines(1)) > 0 {
			t.Fatalf("%+v", d)
		}
		more := append(list[:len(list):len(list)], skill.Permission{Capability: "new"})
		if d := skill.Compare(list, more, nil, nil); !d.Escalates() {
			t.Fatalf("%+v", d)
		}
		if d := skill.Compare(more, list, nil, nil); d.Escalates() || len(d.Lines(1)) == 0 {
			t.Fatalf("%+v", d)
		}
	})
}
