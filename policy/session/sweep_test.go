package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skillrun/policy"
	"skillrun/policy/session"
)

// asking makes a session with one call that asks, and gives where its files are.
func (w *world) asking(id string) (path string) {
	w.t.Helper()
	before := w.sessions()
	s, err := session.Start(ctx, w.set, id)
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	w.want(s.Decide(ctx, fetch("example.com")), policy.Confirm, id)
	for name := range w.sessions() {
		if !before[name] {
			path = filepath.Join(w.set.Dir, "sessions", strings.SplitN(name, ".", 2)[0])
		}
	}
	return path
}

// age lets a file be as old.
func (w *world) age(path string, age time.Duration) {
	w.t.Helper()
	at := w.at.Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		w.t.Fatal(err)
	}
}

// sessions gives the names in the directory of sessions.
func (w *world) sessions() map[string]bool {
	w.t.Helper()
	list, err := os.ReadDir(filepath.Join(w.set.Dir, "sessions"))
	if err != nil {
		w.t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range list {
		names[e.Name()] = true
	}
	return names
}

// A session that begins removes those that nobody used for long, and nothing
// else.
func TestSweep(t *testing.T) {
	const day = 24 * time.Hour
	w := newWorld(t, "standard")
	w.start().Close()
	old, used, open, link := w.asking("old"), w.asking("used"), w.asking("open"), w.asking("link")
	for _, path := range []string{old, used, open, link} {
		w.age(path+".json", 100*day)
		w.age(path+".lock", 120*day)
	}
	w.age(used+".json", day)
	holder, err := session.Open(ctx, w.set, "open")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if err := os.Rename(link+".json", filepath.Join(w.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(w.dir, "elsewhere"), link+".json"); err != nil {
		t.Fatal(err)
	}
	others := []string{"notes.txt", "0123.json", ".hidden", "../audit.head"}
	for _, name := range others[:3] {
		w.file("state/sessions/"+name, "x")
		w.age(filepath.Join(w.set.Dir, "sessions", name), 400*day)
	}
	left := filepath.Join(filepath.Dir(old), "."+filepath.Base(old)+".json.0011223344556677")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(w.set.Dir, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	count := len(w.sessions())

	s, err := session.Start(ctx, w.set, "new")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	names := w.sessions()
	for name := range names {
		if strings.Contains(name, filepath.Base(old)) {
			t.Errorf("%s is there still", name)
		}
	}
	for _, path := range []string{used + ".json", used + ".lock", open + ".json", open + ".lock", link + ".json", link + ".lock", filepath.Join(w.dir, "elsewhere")} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	for _, name := range others {
		if _, err := os.Lstat(filepath.Join(w.set.Dir, "sessions", name)); err != nil {
			t.Error(err)
		}
	}
	// The document, what the call asks for, what a writer left, the lock; and
	// two files of the new session.
	if want := count - 4 + 2; len(names) != want {
		t.Errorf("%d files, want %d: %v", len(names), want, names)
	}
	if _, err := session.Open(ctx, w.set, "old"); err == nil {
		t.Error("the old session opens")
	}
}
