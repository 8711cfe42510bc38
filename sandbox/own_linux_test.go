package sandbox

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Runs that start and end at once sweep each other's directories, and none may
// lose its own.
func TestOwnAmongOthers(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 50 {
				o, err := newOwnBelow(tempRoots[:])
				if err == nil {
					err = o.furnish()
				}
				if err == nil {
					_, err = os.Stat(o.masked())
				}
				if err != nil {
					t.Error(err)
					return
				}
				if err := o.remove(); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(o.dir); !os.IsNotExist(err) {
					t.Errorf("%s is left: %v", o.dir, err)
				}
			}
		}()
	}
	all.Wait()
}

// The TMPDIR of a run around this one is believed where runs have theirs, and nowhere
// that a project could have named.
func TestOuterTempElsewhere(t *testing.T) {
	within := func(root string) string {
		dir := filepath.Join(ownParents(root), "run", "tmp")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	run := ownIn(t, tempRoots[0])
	for dir, want := range map[string]bool{
		run.temp(): true, within(run.temp()): true, run.home(): false, run.temp() + "/x": false, within(t.TempDir()): false,
	} {
		t.Setenv("TMPDIR", dir)
		if got := len(outerTemp()) > 0; got != want {
			t.Errorf("%s is believed: %t", dir, got)
		}
	}
}
