package sandbox_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"skillrun/profiles"
	"skillrun/sandbox"
)

// A run that was granted all of a shared directory changes nothing in the
// directories that runs have there, whichever of them it has its own in, and
// everything beside them; the profile remains one that may be enforced.
func TestGuarded(t *testing.T) {
	const change = profiles.Write | profiles.Create | profiles.Delete
	for _, name := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		root, err := filepath.EvalSymlinks(name)
		if err != nil {
			continue // macOS has no /dev/shm
		}
		p := &profiles.Profile{Paths: []profiles.PathRule{{Path: root, Tree: true, Access: change | profiles.Read}}}
		q := sandbox.Guarded(p, "")
		if err := q.Validate(); err != nil {
			t.Errorf("%s: %v", root, err)
		}
		runs := root + "/skillrun-" + strconv.Itoa(os.Geteuid())
		for path, want := range map[string]bool{runs: false, runs + "/run": false, runs + "/run/home/x": false, runs + "0/run": true, root + "/x": true,
			runs + ".0123456789ab": false, runs + ".0123456789ab/run/home/x": false, runs + ".tar.gz": true} {
			for _, access := range []profiles.Access{profiles.Write, profiles.Create, profiles.Delete} {
				if got := q.Allows(path, access).Allowed; got != want || !p.Allows(path, access).Allowed {
					t.Errorf("%v %s is allowed: %t", access, path, got)
				}
			}
			if !q.Allows(path, profiles.Read).Allowed {
				t.Errorf("%s cannot be read", path)
			}
		}
	}
}

// Nor in the caches that are kept for runs, where it was granted what they are in.
func TestGuardedCaches(t *testing.T) {
	const change = profiles.Write | profiles.Create | profiles.Delete
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	caches := filepath.Join(home, ".cache/skillrun")
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: home, Tree: true, Access: change | profiles.Read}}}
	named := &profiles.Profile{Paths: []profiles.PathRule{{Path: caches + "/other", Tree: true, Access: change}}}
	if sandbox.Guarded(named, caches).Allows(caches+"/other/x", profiles.Create).Allowed {
		t.Error("a cache that is granted by its name is another run's all the same")
	}
	q := sandbox.Guarded(p, caches)
	if err := q.Validate(); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]bool{caches: false, caches + "/run/x": false, caches + "0": true, home + "/.cache/x": true} {
		for _, access := range []profiles.Access{profiles.Write, profiles.Create, profiles.Delete} {
			if got := q.Allows(path, access).Allowed; got != want || !p.Allows(path, access).Allowed {
				t.Errorf("%v %s is allowed: %t", access, path, got)
			}
		}
	}
}
