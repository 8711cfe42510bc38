package skill_test

import (
	"os"
	"path/filepath"
	"testing"

	"skillrun/policy/skill"
)

// The plugin is the nearest directory that says so, if nobody else could have; who
// could, hides what lies further up.
func TestPluginNeverOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(top string) error
		want string
	}{
		{"control: a plugin", func(string) error { return nil }, "a"},
		{"the nearest", func(top string) error { return mark(top + "/a/skills") }, "a/skills"},
		{"the skill itself", func(top string) error { return mark(top + "/a/skills/s") }, "a/skills/s"},
		{"none", func(top string) error { return os.Remove(top + "/a/.claude-plugin/plugin.json") }, ""},
		{"whose file others can write", func(top string) error { return os.Chmod(top+"/a/.claude-plugin/plugin.json", 0o646) }, ""},
		{"where others can make the file", func(top string) error { return os.Chmod(top+"/a/.claude-plugin", 0o757) }, ""},
		{"which others can write", func(top string) error { return os.Chmod(top+"/a", 0o1777) }, ""},
		{"others' that is nearer", func(top string) error {
			if err := mark(top + "/a/skills"); err != nil {
				return err
			}
			return os.Chmod(top+"/a/skills", 0o777)
		}, ""},
		{"a link", func(top string) error {
			if err := os.Rename(top+"/a/.claude-plugin", top+"/other"); err != nil {
				return err
			}
			return os.Symlink("../other", top+"/a/.claude-plugin")
		}, ""},
		{"a link to a file", func(top string) error {
			if err := os.Rename(top+"/a/.claude-plugin/plugin.json", top+"/other"); err != nil {
				return err
			}
			return os.Symlink("../../other", top+"/a/.claude-plugin/plugin.json")
		}, ""},
		{"a directory", func(top string) error {
			return os.MkdirAll(top+"/a/skills/.claude-plugin/plugin.json", 0o755)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(top+"/a/skills/s", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(top+"/a/skills/s/SKILL.md", []byte("---\nname: s\nallowed-tools: Bash(${CLAUDE_PLUGIN_ROOT}/run.sh:*)\n---\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := mark(top + "/a"); err != nil {
				t.Fatal(err)
			}
			if err := c.do(top); err != nil {
				t.Fatal(err)
			}
			if os.Geteuid() == 0 && c.want == "a" { // control: root may name what is another's, and does not
				defer func() {
					os.Chown(top+"/a/.claude-plugin/plugin.json", 65534, 65534)
					if s, err := skill.Open(top + "/a/skills/s"); err != nil || s.Plugin != "" {
						t.Errorf("another's: %q, %v", s.Plugin, err)
					}
				}()
			}
			s, err := skill.Open(top + "/a/skills/s")
			if err != nil {
				t.Fatal(err)
			}
			want, declared := "", "${CLAUDE_PLUGIN_ROOT}/run.sh"
			if c.want != "" {
				want = filepath.Join(top, c.want)
				declared = want + "/run.sh"
			}
			if s.Plugin != want {
				t.Errorf("%q, want %q", s.Plugin, want)
			}
			if got := s.Says.Document.Entries[0].Constraints.AllowedCommands[0].Value; got != declared {
				t.Errorf("declared %q, want %q", got, declared)
			}
		})
	}
}

// mark makes a directory a plugin.
func mark(dir string) error {
	if err := os.MkdirAll(dir+"/.claude-plugin", 0o755); err != nil {
		return err
	}
	return os.WriteFile(dir+"/.claude-plugin/plugin.json", []byte(`{"name": "p"}`), 0o644)
}
