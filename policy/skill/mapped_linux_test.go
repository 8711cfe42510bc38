package skill_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
	"skillrun/policy/skill"
	"skillrun/sandbox/sandboxtest"
)

// The digest of a skill is not kept while somebody has mapped a file of it: what is
// written there later changes no time.
func TestTreeCacheMapped(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"SKILL.md": header, "run.sh": "one"})
	f, err := os.OpenFile(dir+"/run.sh", os.O_RDWR, 0)
	check(t, err)
	text, err := unix.Mmap(int(f.Fd()), 0, 3, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	check(t, err)
	check(t, f.Close())
	copy(text, "two")
	f, err = os.Open(dir + "/run.sh")
	check(t, err)
	t.Log("mapped, and a lease:", private.Unwritten(int(f.Fd())))
	check(t, f.Close())
	var c memory
	later := time.Now().Add(time.Minute)
	digest := func() [32]byte {
		entries, err := skill.Tree(context.Background(), dir, &c, later)
		check(t, err)
		return skill.Digest(entries)
	}
	old := digest()
	copy(text, "six")
	check(t, unix.Munmap(text))
	if got, ok, err := skill.Cached(dir, &c, later); err != nil || ok && got == old {
		t.Fatal("the digest of an earlier text was kept:", err)
	}
	now := digest()
	if !shown(dir) {
		return
	}
	if got, ok, err := skill.Cached(dir, &c, later); err != nil || !ok || got != now || got == old {
		t.Error("the digest was not kept once nobody wrote:", ok, err)
	}
}

// Nor is it on an overlay, where no lease tells of a mapping. The controls are that
// one is granted while the file is mapped, and that the text changes so.
func TestTreeCacheMappedOverlay(t *testing.T) {
	const overlay = `mount -t tmpfs tmpfs $0 && cd $0 && mkdir lower upper work all && mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay all && cd all && TMPDIR=$PWD exec "$@"`
	in := func(argv ...string) (string, error) {
		out, err := exec.Command("unshare", append([]string{"-m", "sh", "-c", overlay, t.TempDir()}, argv...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := in("true"); err != nil {
		lack := sandboxtest.Mounts
		if os.Geteuid() == 0 {
			lack = sandboxtest.Namespaces
		}
		sandboxtest.Skip(t, lack, "no mounts: %v: %s", err, out)
	}
	if out, err := in(os.Args[0], "-test.run=^TestTreeCacheMapped$", "-test.v"); err != nil || !strings.Contains(out, "mapped, and a lease: true") {
		t.Errorf("%v: %s", err, out)
	}
}
