package audit_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"skillrun/audit"
)

func digests(t testing.TB, dir string, now func() time.Time) *audit.Digests {
	t.Helper()
	d, err := audit.OpenDigests(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if now != nil {
		d.SetClock(now)
	}
	return d
}

func later() time.Time { return time.Now().Add(3 * time.Second) }

func TestDigests(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "f")
	check(t, os.WriteFile(path, []byte("one"), 0o600))
	young := digests(t, dir, nil)
	sum, err := young.File(context.Background(), path)
	if err != nil || sum != audit.Digest(sha256.Sum256([]byte("one"))) {
		t.Fatal(sum, err)
	}
	old := digests(t, dir, later)
	if _, ok := old.Cached(path); ok {
		t.Fatal("a file that was changed less than 2 s ago was cached")
	}
	if _, err = old.File(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	if got, ok := old.Cached(path); !ok || got != sum {
		t.Fatal("not cached")
	}
	if _, ok := young.Cached(path); ok {
		t.Fatal("believed although the file may still change within one tick")
	}

	// Where times of change say nothing, nothing is kept.
	if _, err := os.Stat("/proc/version"); err == nil {
		if _, err := old.File(context.Background(), "/proc/version"); err != nil {
			t.Error(err)
		}
		if _, ok := old.Cached("/proc/version"); ok {
			t.Error("what the kernel makes up was kept")
		}
	}

	// Any change of the file makes the entry useless, times set back or not.
	st, err := os.Stat(path)
	check(t, err)
	check(t, os.WriteFile(path, []byte("two"), 0o600))
	check(t, os.Chtimes(path, st.ModTime(), st.ModTime()))
	if got, err := old.File(context.Background(), path); err != nil || got != audit.Digest(sha256.Sum256([]byte("two"))) {
		t.Fatal(got, err)
	}
	// So does another file under its name.
	check(t, os.WriteFile(path+".new", []byte("six"), 0o600))
	check(t, os.Chtimes(path+".new", st.ModTime(), st.ModTime()))
	check(t, os.Rename(path+".new", path))
	if got, err := old.File(context.Background(), path); err != nil || got != audit.Digest(sha256.Sum256([]byte("six"))) {
		t.Fatal(got, err)
	}

	for _, bad := range []string{"/nonexistent", dir, "/dev/null"} {
		if _, err := old.File(context.Background(), bad); err == nil {
			t.Errorf("%s has a digest", bad)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	check(t, os.Chmod(path, 0o640)) // cold again
	if _, err := old.File(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Whatever becomes of the cache file, lookups give the right value or none.
func TestDigestsDamaged(t *testing.T) {
	dir := t.TempDir()
	d := digests(t, dir, nil)
	key, value := [32]byte{1, 2, 3}, [32]byte{9}
	cache := filepath.Join(dir, "digests")
	for i := range 80 {
		d.Store(key, value)
		if got, ok := d.Lookup(key); !ok || got != value {
			t.Fatal("not stored")
		}
		b, err := os.ReadFile(cache)
		check(t, err)
		b[len(b)-80+i] ^= 0x10
		check(t, os.WriteFile(cache, b, 0o600))
		if got, ok := d.Lookup(key); ok {
			t.Fatalf("byte %d damaged: gives %x", i, got)
		}
	}
	check(t, os.Truncate(cache, 10))
	if _, ok := d.Lookup(key); ok {
		t.Fatal("found in a cut file")
	}
	d.Store(key, value)
	// Two keys of one slot take it from each other, and never each other's value.
	other := key
	other[31] = 1
	d.Store(other, [32]byte{8})
	if _, ok := d.Lookup(key); ok {
		t.Fatal("gives the value of another key")
	}
	check(t, os.Chmod(cache, 0o622))
	if _, err := audit.OpenDigests(dir); err == nil {
		t.Fatal("a cache that others can write was taken")
	}
}

func BenchmarkDigestCached(b *testing.B) {
	d := digests(b, b.TempDir(), later)
	path := filepath.Join(b.TempDir(), "f")
	check(b, os.WriteFile(path, make([]byte, 8<<20), 0o600))
	if _, err := d.File(b.Context(), path); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := d.Cached(path); !ok {
			b.Fatal("cold")
		}
	}
}
