package skill_test

import (
	"context"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/policy/skill"
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
	if got, ok, err := skill.Cached(dir, &c, later); err != nil || !ok || got != now || got == old {
		t.Error("the digest was not kept once nobody wrote:", ok, err)
	}
}
