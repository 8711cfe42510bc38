package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where somebody else has the name for the directory of a user's runs, they go to
// another one, all to the same, where what a killed run left is found; once the
// name is free it is used again, and what is left in the other is still found.
func TestNameTaken(t *testing.T) {
	takes := map[string]func(dir string) error{
		"not a directory":          func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"open to others":           func(dir string) error { os.Mkdir(dir, 0o700); return os.Chmod(dir, 0o755) },
		"not a directory, a link ": func(dir string) error { return os.Symlink(t.TempDir(), dir) },
	}
	if os.Geteuid() == 0 { // only root gives a directory to others
		takes["belongs to uid 4242"] = func(dir string) error { os.Mkdir(dir, 0o700); return os.Chown(dir, 4242, -1) }
	}
	for name, take := range takes {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			taken := ownParents(root)
			if err := take(taken); err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(name, ", ")
			if err := isOwnParent(taken); err == nil || !strings.Contains(err.Error(), taken+": "+name) {
				t.Errorf("%v", err)
			}
			first := ownIn(t, root)
			parent := filepath.Dir(first.dir)
			if filepath.Dir(parent) != root || parent == taken || !isElsewhere(filepath.Base(parent)) || isOwnParent(parent) != nil {
				t.Fatalf("own directory %s", first.dir)
			}
			left := filepath.Join(parent, "left")
			if err := os.MkdirAll(filepath.Join(left, "home"), 0o700); err != nil {
				t.Fatal(err)
			}
			second := ownIn(t, root)
			if filepath.Dir(second.dir) != parent {
				t.Errorf("%s beside %s", second.dir, first.dir)
			}
			if _, err := os.Stat(left); !os.IsNotExist(err) {
				t.Errorf("what was left is there: %v", err)
			}
			if _, err := os.Stat(first.home()); err != nil {
				t.Errorf("of the run that goes on: %v", err)
			}
			if err := first.remove(); err != nil {
				t.Error(err)
			}
			if err := os.RemoveAll(taken); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(left, "home"), 0o700); err != nil {
				t.Fatal(err)
			}
			if third := ownIn(t, root); filepath.Dir(third.dir) != taken {
				t.Errorf("own directory %s", third.dir)
			}
			if _, err := os.Stat(left); !os.IsNotExist(err) {
				t.Errorf("what was left elsewhere is there: %v", err)
			}
		})
	}
}

func ownIn(t *testing.T, root string) *own {
	o, err := newOwnBelow([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.remove() })
	return o
}
