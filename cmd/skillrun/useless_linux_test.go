package main_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	main "skillrun/cmd/skillrun"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// No grant is told for what the user may not do outside of a run either; of root, which
// may, not that it may not. What no grant is told for anyway has no such remark.
func TestUseless(t *testing.T) {
	dir := t.TempDir()
	shut := filepath.Join(dir, "shut")
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "closed"), nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(shut, 0o555); err != nil {
		t.Fatal(err)
	}
	why := "this user may not, outside of a run either"
	if os.Geteuid() == 0 {
		why = "root may not without its capabilities, which the run has not"
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with this
		if os.Geteuid() == 0 {
			for at := dir; at != "/"; at = filepath.Dir(at) {
				if at == dir {
					os.Chown(at, 65534, 65534)
				} else if info, err := os.Stat(at); err == nil && filepath.Dir(at) != "/" && info.Mode().Perm()&1 == 0 {
					os.Chmod(at, info.Mode().Perm()|0o011) // of the test's own
				}
			}
			unix.SetfsuidRetUid(65534)
		}
		for _, c := range []struct {
			access profiles.Access
			path   string
			want   bool
		}{
			{profiles.Write, dir + "/file", true},
			{profiles.Read, dir + "/file", false},
			{profiles.Read, dir + "/closed", true},
			{profiles.Create, dir + "/new", false},
			{profiles.Delete, dir + "/file", false},
			{profiles.Create, shut + "/new", true},
			{profiles.Write | profiles.Create, shut + "/new", true},
			{profiles.Create, dir + "/none/new", false},
			{profiles.Execute, dir + "/file", false},
			{profiles.Read, "", false},
			{profiles.Write, "/proc/1/oom_score_adj", false},
		} {
			if got := main.Useless(sandbox.Refusal{Access: c.access, Path: c.path}); (got == why) != c.want || got != "" && got != why {
				t.Errorf("%s of %s: %q, want %q: %v", c.access.Word(), c.path, got, why, c.want)
			}
		}
	}()
	<-done
}
