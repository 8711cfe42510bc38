package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"skillrun/linux"
	"skillrun/profiles"
)

// A directory that is removed after the one above it was compared, and before it is
// itself, is not forgotten: it may be back, with a secret in it.
func TestSiftedGoneBetween(t *testing.T) {
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(ws, "d")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	p := &profiles.Profile{
		Workspace: ws, Paths: []profiles.PathRule{{Path: ws, Tree: true, Access: profiles.Read}},
		Denials: []profiles.Denial{{Path: ws, Match: ".env", Access: profiles.AllAccess, Class: profiles.Sensitive}},
	}
	files := newSnapshot()
	linux.Compile(p, linux.Features{Landlock: 4}, linux.Facts{FS: files})
	m := &memo{Key: [32]byte{1}, Profile: *p, Sifts: []string{ws}}
	state := t.TempDir()
	if err := m.remember(state, files.seen(time.Now().Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if m, _ := recallMemo(state, m.Key); m == nil {
		t.Fatal("control: it does not hold")
	}
	// As recallMemo does it, with the removal where it hurts.
	data, err := os.ReadFile(memoFile(state, m.Key))
	if err != nil {
		t.Fatal(err)
	}
	looks := newUnpacker(data[:len(data)-sumSize])
	text := looks.string()
	var changed []seen
	for u := *looks; u.data != ""; {
		var s seen
		if u.seen(&s); s.How != bySifted || s.Name != gone {
			continue
		}
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
		changed = append(changed, s)
	}
	r, ok := m.sifts(changed)
	if !ok || len(changed) != 1 || !r.other {
		t.Fatalf("%d changed, holds: %t", len(changed), ok)
	}
	m.amend(state, text, *looks, changed, r)
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(gone, ".env"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, _ := recallMemo(state, m.Key); m != nil {
		t.Error("the memo holds beside a secret that it knows nothing of")
	}
}

// Which file system a directory is on is asked of that directory, and not of what
// has its name by then.
func TestSettledOfAnother(t *testing.T) {
	proc, at := identify("/proc/1"), time.Now().Add(time.Hour)
	s := newSettling(at)
	if s.dir(t.TempDir()[1:], proc) || s.dir("proc/1", proc) {
		t.Error("a directory of /proc is taken for settled")
	}
	dir := t.TempDir()
	if s := newSettling(at); !s.dir(dir[1:], identify(dir)) {
		t.Error("control: a directory on a disk is not")
	}
}
