package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/policy"
	"skillrun/policy/skill"
)

// machine makes a home and a project with skills in many places.
func machine(t *testing.T) (p skill.Places, top string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	md := header
	write(t, top, map[string]string{
		"home/.claude/skills/one/SKILL.md":                md,
		"home/.claude/skills/group/two/skill.md":          md,
		"home/.claude/skills/one/inner/SKILL.md":          md, // part of one
		"home/.claude/skills/linked":                      "-> ../../.agents/skills/three",
		"home/.claude/skills/work":                        "-> ../../../proj/skills/four",
		"home/.claude/skills/loop":                        "-> ../skills",
		"home/.claude/skills/dangling":                    "-> gone",
		"home/.claude/skills/notaskill/README":            "",
		"home/.agents/skills/three/SKILL.md":              md,
		"home/.config/opencode/skills/five/SKILL.md":      md,
		"proj/skills/four/SKILL.md":                       md, // in no root
		"proj/.claude/skills/six/SKILL.md":                md,
		"proj/.agents/skills/node_modules/x/SKILL.md":     md,
		"proj/packages/a/.claude/skills/seven\n/SKILL.md": md,
		"proj/packages/b/.claude/skills/eight/SKILL.md":   md,
		"other/.claude/skills/nine/SKILL.md":              md,
		"home/.gemini/skills/1/2/3/4/5/6/7/SKILL.md":      md, // too deep
		"home/.copilot/skills/1/2/3/4/5/6/SKILL.md":       md,
		"home/.cursor/skills/SKILL.md":                    md, // the root itself is none
		"home/elsewhere/SKILL.md":                         md,
	})
	return skill.Places{Home: top + "/home", Project: top + "/proj", Current: top + "/proj/packages/a"}, top
}

func TestDiscover(t *testing.T) {
	p, top := machine(t)
	found, complete := p.Discover()
	var got []string
	for _, f := range found {
		if !strings.HasPrefix(f.Dir, top) {
			continue // of the machine that the test runs on
		}
		got = append(got, fmt.Sprintf("%s %s %q %s", f.Scope, f.Agent, f.Name, fmt.Sprintf("%q", strings.TrimPrefix(f.Dir, top))))
	}
	want := []string{
		`project claude-code "seven\n" "/proj/packages/a/.claude/skills/seven\n"`,
		`project claude-code "six" "/proj/.claude/skills/six"`,
		`user any "three" "/home/.agents/skills/three"`,
		`user claude-code "two" "/home/.claude/skills/group/two"`,
		`user claude-code "one" "/home/.claude/skills/one"`,
		`project  "work" "/proj/skills/four"`,
		`user opencode "five" "/home/.config/opencode/skills/five"`,
		`user copilot "6" "/home/.copilot/skills/1/2/3/4/5/6"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if complete {
		t.Error("a skill seven directories deep is not found, yet the search says complete")
	}
}

func TestDiscoverBound(t *testing.T) {
	top := t.TempDir()
	for i := range 2100 {
		check(t, os.MkdirAll(fmt.Sprintf("%s/.claude/skills/d%04d", top, i), 0o755))
	}
	write(t, top, map[string]string{".claude/skills/a/SKILL.md": header, ".claude/skills/z/SKILL.md": header})
	found, complete := skill.Places{Home: top}.Discover()
	if complete || len(found) == 0 || found[0].Name != "a" {
		t.Errorf("%v %v", found, complete)
	}
}

func TestTrust(t *testing.T) {
	p, top := machine(t)
	record := &skill.Approval{Promoted: true, By: "u", Made: made}
	for _, tt := range []struct {
		dir      string
		approval *skill.Approval
		want     policy.Tier
	}{
		{"/home/.claude/skills/one", nil, policy.Approved},
		{"/home/.agents/skills/three", nil, policy.Approved},
		{"/home/elsewhere", nil, policy.Untrusted},
		{"/home/elsewhere", &skill.Approval{By: "u", Made: made}, policy.Untrusted}, // accepted entries do not promote
		{"/home/elsewhere", record, policy.Approved},
		{"/proj/.claude/skills/six", nil, policy.Untrusted},
		{"/proj/.claude/skills/six", record, policy.Approved},
		{"/proj/skills/four", nil, policy.Untrusted},
		{"/other/.claude/skills/nine", nil, policy.Untrusted},
	} {
		if got, why := p.Trust(top+tt.dir, tt.approval); got != tt.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", tt.dir, got, why, tt.want)
		}
	}
	// A home that is itself the project is the project's.
	inside := skill.Places{Home: top + "/home", Project: top}
	if got, _ := inside.Trust(top+"/home/.claude/skills/one", nil); got != policy.Untrusted {
		t.Errorf("within the project: %s", got)
	}
	// A settings directory that is a link to a repository is still the user's.
	check(t, os.Rename(top+"/home/.claude", top+"/dotfiles"))
	check(t, os.Symlink(top+"/dotfiles", top+"/home/.claude"))
	if got, why := p.Trust(top+"/dotfiles/skills/one", nil); got != policy.Approved {
		t.Errorf("through a link: %s, %s", got, why)
	}
	// Where others can write what it asks for, the place says nothing.
	check(t, os.Chmod(top+"/dotfiles/skills/one/SKILL.md", 0o646))
	if got, _ := p.Trust(top+"/dotfiles/skills/one", nil); got != policy.Untrusted {
		t.Errorf("others can write its header: %s", got)
	}
	check(t, os.Remove(top+"/dotfiles/skills/one/SKILL.md"))
	write(t, top+"/dotfiles/skills/one", map[string]string{"in/SKILL.md": header})
	check(t, os.Symlink("in/SKILL.md", top+"/dotfiles/skills/one/SKILL.md"))
	if got, why := p.Trust(top+"/dotfiles/skills/one", nil); got != policy.Approved {
		t.Errorf("control: %s, %s", got, why)
	}
	check(t, os.Chmod(top+"/dotfiles/skills/one/in", 0o757))
	if got, _ := p.Trust(top+"/dotfiles/skills/one", nil); got != policy.Untrusted {
		t.Errorf("others can put another header in its place: %s", got)
	}
	check(t, os.Chmod(top+"/dotfiles/skills/one/in", 0o755))
	// Nor where they can write all of it.
	check(t, os.Chmod(top+"/dotfiles/skills/one", 0o757))
	if got, _ := p.Trust(top+"/dotfiles/skills/one", nil); got != policy.Untrusted {
		t.Errorf("others can write: %s", got)
	}
	if os.Geteuid() == 0 {
		check(t, os.Chmod(top+"/dotfiles/skills/one", 0o755))
		check(t, os.Lchown(top+"/dotfiles/skills/one", 12345, 12345))
		if got, _ := p.Trust(top+"/dotfiles/skills/one", nil); got != policy.Untrusted {
			t.Errorf("foreign: %s", got)
		}
	}
}

// What lies within a skill is that skill's, whatever it says of itself.
func TestAround(t *testing.T) {
	p, top := machine(t)
	for path, want := range map[string]string{
		"/home/.claude/skills/one":                "",
		"/home/.claude/skills/one/run.py":         "/home/.claude/skills/one",
		"/home/.claude/skills/one/inner":          "/home/.claude/skills/one",
		"/home/.claude/skills/one/inner/run.py":   "/home/.claude/skills/one",
		"/home/.claude/skills/group/two/run.py":   "/home/.claude/skills/group/two",
		"/home/.claude/skills/notaskill/run.py":   "",
		"/home/.cursor/skills/run.py":             "",
		"/home/elsewhere/run.py":                  "",
		"/proj/.claude/skills/six/scripts/run.py": "/proj/.claude/skills/six",
	} {
		if got := strings.TrimPrefix(p.Around(top+path), top); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A row without a source is a guess that looks like knowledge.
func TestRoots(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range skill.Roots() {
		key := fmt.Sprint(r.Scope, r.Path)
		if r.Source == "" || r.Agent == "" || seen[key] || filepath.IsAbs(r.Path) != (r.Scope == skill.System) {
			t.Errorf("%+v", r)
		}
		seen[key] = true
	}
}
