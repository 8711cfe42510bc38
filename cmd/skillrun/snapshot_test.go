package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A snapshot answers as the file system itself does, whether it looks at a
// name or knows it from a listing.
func TestSnapshot(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/b/file", "dir/x"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a/b", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	names := []string{"", "a", "a/b", "a/b/file", "a/b/file/under", "dir", "link", "link/file", "loop"}
	for i := range 2 * listAfter {
		names = append(names, fmt.Sprintf("absent%d", i), fmt.Sprintf("a/b/absent%d", i), fmt.Sprintf("none/absent%d", i), fmt.Sprintf("a/absent%d/x/y", i))
	}
	names = append(names, names...) // a second time, from memory
	s := newSnapshot()
	real := os.DirFS("/").(fs.ReadLinkFS)
	for _, name := range names {
		name := filepath.Join(root, name)[1:]
		got, err := s.Lstat(name)
		want, werr := real.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) != errors.Is(werr, fs.ErrNotExist), (err == nil) != (werr == nil):
			t.Errorf("Lstat %s: %v, want %v", name, err, werr)
		case err == nil && (got.Mode() != want.Mode() || got.Name() != want.Name()):
			t.Errorf("Lstat %s: %v %s, want %v %s", name, got.Mode(), got.Name(), want.Mode(), want.Name())
		}
		got, err = s.Stat(name)
		want, werr = fs.Stat(real, name)
		if (err == nil) != (werr == nil) || err == nil && got.Mode() != want.Mode() {
			t.Errorf("Stat %s: %v, want %v", name, err, werr)
		}
	}
	if link, err := s.ReadLink(filepath.Join(root, "link")[1:]); link != "a/b" || err != nil {
		t.Errorf("ReadLink: %q, %v", link, err)
	}
	// Twice: what was listed is remembered.
	for range 2 {
		entries, err := fs.ReadDir(s, root[1:])
		if err != nil || len(entries) != 3 {
			t.Errorf("ReadDir: %v, %v", entries, err)
		}
	}
}

// What is beneath a name that is not there is not looked at, and not again in a later
// launch: the name is.
func TestSnapshotBeneathNothing(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	s := newSnapshot()
	at := func(name string) string { return filepath.Join(root, name)[1:] }
	for _, name := range []string{"none", "none/x/y", "none/z", "link", "link/x"} {
		_, err := s.Lstat(at(name))
		if want := name != "link"; errors.Is(err, fs.ErrNotExist) != want {
			t.Errorf("Lstat %s: %v", name, err)
		}
	}
	for name, want := range map[string]bool{"none": true, "none/x/y": false, "none/z": false, "link": true, "link/x": true} {
		if _, looked := s.files[at(name)]; looked != want {
			t.Errorf("%s: looked at: %v, want %v", name, looked, want)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lstat(at("none/z")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a snapshot shows two moments")
	}
}

// The root itself is in no listing of the root.
func TestSnapshotOfRoot(t *testing.T) {
	s := newSnapshot()
	for i := range 2 * listAfter {
		s.Lstat(fmt.Sprintf("absent-name%d", i))
		if info, err := fs.Stat(s, "."); err != nil || !info.IsDir() {
			t.Fatalf("after %d absent names: %v, %v", i+1, info, err)
		}
	}
}
