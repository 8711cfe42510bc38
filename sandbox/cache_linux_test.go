package sandbox

import (
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Caches that nobody has used for a month go, and those used longest ago where
// there are many; a run's do not.
func TestCachesUnused(t *testing.T) {
	root := filepath.Join(t.TempDir(), "caches")
	hex := func(name string) string { return fmt.Sprintf("%x", md5.Sum([]byte(name))) }
	take := func(name string) *os.File {
		t.Helper()
		dir, lock, _, err := cacheIn(root, hex(name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { lock.Close() })
		if err := os.WriteFile(filepath.Join(dir, ".cache", "x"), nil, 0o400); err != nil && !os.IsPermission(err) {
			t.Fatal(err)
		}
		return lock
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, hex(name), ".cache", "x"))
		return err == nil
	}
	past := time.Now().Add(-cachesUnused - time.Hour)
	age := func(names ...string) {
		for _, name := range names {
			if err := os.Chtimes(filepath.Join(root, hex(name)), past, past); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"unused", "again", "young"} {
		take(name).Close()
	}
	take("used")
	age("unused", "again", "used")
	// What a sweep did not get done is done; what is no cache is left.
	for _, other := range []string{".gone-1", "approvals", hex("file")[:31]} {
		dir := filepath.Join(root, other)
		if err := errors.Join(os.MkdirAll(dir+"/x", 0o700), os.Chtimes(dir, past, past)); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if _, err := os.Stat(dir + "/x"); (err == nil) == (other == ".gone-1") {
				t.Errorf("%s: %v", other, err)
			}
		}()
	}
	take("again").Close() // which is a use
	sweepCaches(root, time.Now())
	for name, want := range map[string]bool{"unused": false, "again": true, "young": true, "used": true} {
		if there(name) != want {
			t.Errorf("%s is there: %t", name, !want)
		}
	}
	old := time.Now().Add(-time.Hour)
	for i := range mostCaches {
		name := fmt.Sprint("more", i)
		take(name).Close()
		if err := os.Chtimes(filepath.Join(root, hex(name)), old, old.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	age("used")
	sweepCaches(root, time.Now())
	for name, want := range map[string]bool{"used": true, "again": true, "young": true, "more0": false, "more1": false, "more2": true, "more31": true} {
		if there(name) != want {
			t.Errorf("of many %s is there: %t", name, !want)
		}
	}
}

// A directory of caches that others have a say in is not used.
func TestCachesForeign(t *testing.T) {
	root := t.TempDir()
	spoils := map[string]func(caches, one string) error{
		"all open": func(caches, _ string) error { return os.Chmod(caches, 0o770) },
		"one open": func(_, one string) error { return os.Chmod(one, 0o707) },
		"all a link": func(caches, _ string) error {
			return errors.Join(os.Rename(caches, caches+"0"), os.Symlink(caches+"0", caches))
		},
		"above a link": func(caches, _ string) error {
			dir := filepath.Dir(caches)
			return errors.Join(os.Rename(dir, dir+"0"), os.Symlink(dir+"0", dir))
		},
		"one a link": func(caches, one string) error { return errors.Join(os.Rename(one, one+"0"), os.Symlink(one+"0", one)) },
		"one a file": func(_, one string) error { return errors.Join(os.RemoveAll(one), os.WriteFile(one, nil, 0o600)) },
	}
	if os.Geteuid() == 0 { // with a user's HOME
		spoils["home another's"] = func(caches, _ string) error { return os.Chown(filepath.Dir(filepath.Dir(caches)), 1000, -1) }
	}
	for name, spoil := range spoils {
		caches := filepath.Join(root, name, ".cache", "skillrun")
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		one, lock, _, err := cacheIn(caches, "one")
		if err != nil {
			t.Fatalf("control: %s: %v", name, err)
		}
		lock.Close()
		if err := spoil(caches, one); err != nil {
			t.Fatal(err)
		}
		if got, _, _, err := cacheIn(caches, "one"); err == nil {
			t.Errorf("%s: %s is taken", name, got)
		}
	}
}

// What a run has put in the place of a directory of its caches is nobody's: what it
// led to stays as it was.
func TestCachesReplaced(t *testing.T) {
	caches, outside := filepath.Join(t.TempDir(), ".cache", "skillrun"), t.TempDir()
	if err := os.Mkdir(filepath.Dir(filepath.Dir(caches)), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	for name, replace := range map[string]func(dir string) error{
		"control: nothing": func(string) error { return nil },
		"a link":           func(dir string) error { return errors.Join(os.Remove(dir), os.Symlink(outside, dir)) },
		"a file":           func(dir string) error { return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600)) },
		"a closed one":     func(dir string) error { return os.Chmod(dir, 0) },
	} {
		one, lock, _, err := cacheIn(caches, "one")
		if err != nil {
			t.Fatal(err)
		}
		lock.Close()
		dir := filepath.Join(one, cachesBeneath[0])
		if err := errors.Join(os.Chmod(outside, 0o500), replace(dir)); err != nil {
			t.Fatal(err)
		}
		if _, lock, _, err = cacheIn(caches, "one"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lock.Close()
		if info, err := os.Lstat(dir); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if info, err := os.Stat(outside); err != nil || info.Mode() != os.ModeDir|0o500 {
			t.Errorf("%s: the directory outside: %v, %v", name, info, err)
		}
	}
}

// Without a supervisor of its own a run has no caches that others have.
func TestCachesUnsupervised(t *testing.T) {
	home := t.TempDir()
	var told error
	spec := &Spec{Caches: filepath.Join(home, ".cache", "skillrun"), Cache: "one", Uncached: func(err error) { told = err }}
	for _, supervised := range []bool{true, false} {
		o := &own{dir: home}
		o.takeCache(spec, supervised)
		if (o.cache != "") != supervised || (told == nil) != supervised {
			t.Errorf("supervised %t: caches %q, %v", supervised, o.cache, told)
		}
		if o.cacheLock != nil {
			o.cacheLock.Close()
		}
	}
}
