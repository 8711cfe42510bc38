package main_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"skillrun/sandbox/sandboxtest"
)

// Links of all kinds between the workspace and what is kept from run to run.
const cacheLinks = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
C, W = os.path.realpath(os.path.expanduser("~/.cache")), os.getcwd()
print(C)
def write(p):
    with open(p, "w") as f: f.write("x")
    return p
def attempt(f):
    try: f()
    except OSError: pass
def renamed(a, b, flags):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), flags) < 0: raise OSError(ctypes.get_errno(), "rename")
def linked(fd, p):
    if libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, p.encode(), 0x400) < 0: raise OSError(ctypes.get_errno(), "link")
def nameless(dir, first, second):
    fd = os.open(dir, os.O_TMPFILE | os.O_RDWR, 0o600)
    for p in first, second:
        attempt(lambda: linked(fd, p))

# There before, and made now, linked either way.
attempt(lambda: os.link(W + "/old", C + "/old"))
attempt(lambda: os.link(write(W + "/new"), C + "/new"))
attempt(lambda: os.link(write(C + "/made"), W + "/made"))
# One of two names moves.
for i, (a, b) in enumerate(((W, C), (C, W))):
    os.link(write(a + "/two%d" % i), a + "/three%d" % i)
    attempt(lambda: os.rename(a + "/three%d" % i, b + "/three%d" % i))
    os.link(write(a + "/four%d" % i), a + "/five%d" % i)
    write(b + "/other%d" % i)
    attempt(lambda: renamed(a + "/five%d" % i, b + "/other%d" % i, 2))
    # In a directory.
    os.mkdir(a + "/dir%d" % i)
    os.link(write(a + "/six%d" % i), a + "/dir%d/seven" % i)
    attempt(lambda: os.rename(a + "/dir%d" % i, b + "/dir%d" % i))
    # A file without a name gets two.
    attempt(lambda: nameless(a, a + "/eight%d" % i, b + "/nine%d" % i))
    attempt(lambda: nameless(a, b + "/ten%d" % i, a + "/eleven%d" % i))
    # By a descriptor, and from another directory.
    fd = os.open(write(a + "/twelve%d" % i), os.O_RDONLY)
    attempt(lambda: linked(fd, b + "/thirteen%d" % i))
    d = os.open(a, os.O_RDONLY)
    os.link(write(a + "/fourteen%d" % i), a + "/fifteen%d" % i)
    attempt(lambda: os.rename("fifteen%d" % i, b + "/fifteen%d" % i, src_dir_fd=d))
`

// What is kept of a run's caches has no file in it that has another name outside:
// by that the next run would have what meanwhile became a secret, or a git hook.
func TestCachesApart(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	attack := func(t *testing.T, kept bool, args ...string) (both int) {
		w, env := home(t)
		if err := os.WriteFile(filepath.Join(w, "old"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		caches := filepath.Join(filepath.Dir(w), "home", ".cache")
		if err := os.Mkdir(caches, 0o755); err != nil {
			t.Fatal(err)
		}
		args = append(args, "/usr/bin/python3", "-c", cacheLinks)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = w, env
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), ".cache/skillrun/") != kept {
			t.Fatalf("%v: %s", err, out)
		}
		in := inodes(t, caches)
		if len(in) < 5 {
			t.Fatalf("%d files in the cache", len(in))
		}
		for ino := range inodes(t, w) {
			if in[ino] {
				both++
			}
		}
		return both
	}
	if both := attack(t, false, "env"); both != 17 {
		t.Fatalf("control: of 17 files %d were linked", both)
	}
	for _, mode := range []string{"auto", "off"} {
		run := []string{program(t), "--namespaces", mode, "--"}
		if both := attack(t, true, run...); both > 0 {
			t.Errorf("namespaces %s: %d files have a name in the workspace and one in the cache", mode, both)
		}
	}
}

// inodes are those of the files below a directory.
func inodes(t *testing.T, dir string) map[uint64]bool {
	t.Helper()
	all := map[uint64]bool{}
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			all[info.Sys().(*syscall.Stat_t).Ino] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
