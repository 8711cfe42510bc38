package audit_test

import (
	"context"
	"crypto/sha256"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/audit"
)

// Who has mapped a file changes it without changing its times: no digest of it is
// kept meanwhile.
func TestDigestsMapped(t *testing.T) {
	path := t.TempDir() + "/f"
	check(t, os.WriteFile(path, []byte("one"), 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	text, err := unix.Mmap(int(f.Fd()), 0, 3, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	check(t, err)
	check(t, f.Close())
	copy(text, "two") // now its times are those of the last change that shows

	d := digests(t, t.TempDir(), later)
	_, err = d.File(context.Background(), path)
	check(t, err)
	before, err := os.Stat(path)
	check(t, err)
	copy(text, "six")
	after, err := os.Stat(path)
	check(t, err)
	if !before.ModTime().Equal(after.ModTime()) {
		t.Log("control: here a change by mapping shows")
	}
	check(t, unix.Munmap(text))
	want := audit.Digest(sha256.Sum256([]byte("six")))
	for range 2 {
		if got, err := d.File(context.Background(), path); err != nil || got != want {
			t.Fatal(got, err)
		}
	}
	if _, ok := d.Cached(path); !ok {
		t.Error("not kept once nobody writes it")
	}
}
