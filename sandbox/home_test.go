package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/profiles"
)

// What is granted in the user's home directory is found in the run's, and
// nothing is made in what it leads to.
func TestLinkHome(t *testing.T) {
	user, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, dir := range []string{"proj/out", "proj-2", ".claude/skills/pdf", ".local/lib"} {
		if err := os.MkdirAll(filepath.Join(user, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &profiles.Profile{Home: user}
	for _, name := range []string{".claude/skills/pdf", ".gitconfig", ".local/lib", "new.txt", "none/new", "proj", "proj-2", "proj/out", "proj/out/new"} {
		r := profiles.PathRule{Path: user + "/" + name, Access: profiles.Read, Origin: profiles.Origin{Source: "--grant"}}
		if name == ".local/lib" {
			r.Origin.Source = "built-in:toolchains"
		}
		p.Paths = append(p.Paths, r)
	}
	p.Paths = append(p.Paths, profiles.PathRule{Path: "/usr", Access: profiles.Read}, profiles.PathRule{Path: user, Access: profiles.Read}, profiles.PathRule{Path: user + "er/x", Access: profiles.Read})
	before := names(t, user)
	if err := linkHome(home, p); err != nil {
		t.Fatal(err)
	}
	want := []string{".claude", ".claude/skills", ".claude/skills/pdf -> " + user + "/.claude/skills/pdf", ".gitconfig",
		"new.txt -> " + user + "/new.txt", "proj -> " + user + "/proj", "proj-2 -> " + user + "/proj-2"}
	if diff := cmp.Diff(want, names(t, home)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, names(t, user)); diff != "" {
		t.Error(diff)
	}
	if err := linkHome(t.TempDir(), &profiles.Profile{Home: user + "/none", Paths: p.Paths}); err != nil {
		t.Error(err)
	}
}

// names lists what is below dir, with what links lead to.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name := path[len(dir)+1:]
		if to, err := os.Readlink(path); err == nil {
			name += " -> " + to
		}
		list = append(list, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
