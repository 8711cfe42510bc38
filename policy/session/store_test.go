package session_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"skillrun/policy"
	"skillrun/policy/session"
)

// document gives the file of the only session.
func (w *world) document() string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.set.Dir, "sessions", "*.json"))
	if err != nil || len(files) != 1 {
		w.t.Fatal(files, err)
	}
	return files[0]
}

// A session lasts, however much its calls ask for.
func TestManyCalls(t *testing.T) {
	w := newWorld(t, "standard")
	s := w.start()
	touch := func(files int) session.Action {
		r := policy.Request{Capability: "filesystem.write"}
		for i := range files {
			r.Paths = append(r.Paths, fmt.Sprint("/opt/a-file-with-a-name-of-some-length/", i))
		}
		return session.Action{Tool: "write", Requests: []policy.Request{r}}
	}
	for i := range 8 {
		w.want(s.Decide(ctx, touch(1000)), policy.Confirm, fmt.Sprint("long call ", i))
	}
	if info, err := os.Stat(w.document()); err != nil || info.Size() > 512<<10 {
		t.Errorf("the document has %d bytes, %v", info.Size(), err)
	}
	v := w.want(s.Decide(ctx, touch(2000)), policy.Deny, "more than can be remembered")
	if !strings.Contains(v.Reason, "more than can be remembered") {
		t.Error(v.Reason)
	}
	w.want(s.Decide(ctx, read("in.txt")), policy.Allow, "the next one")
}

// A workspace whose name no document can hold is refused when the session begins, and
// not as a damaged session at its first call.
func TestWorkspaceName(t *testing.T) {
	for name, want := range map[string]bool{"plain": true, "gr\u00fcn \u00e9": true, "c1\u0085": false, "del\x7f": false, "line\n": false, "\xff": false, "\ufffd": false} {
		w := newWorld(t, "standard")
		w.set.Workspace = filepath.Join(w.dir, name)
		if err := os.MkdirAll(w.set.Workspace, 0o700); err != nil {
			t.Fatal(err)
		}
		s, err := session.Start(ctx, w.set, "s1")
		if want && err != nil || !want && (err == nil || !strings.Contains(err.Error(), "start in a directory of another name")) {
			t.Errorf("%q: %v", name, err)
		}
		if err != nil {
			continue
		}
		s.Close()
		if s, err = session.Start(ctx, w.set, "s1"); err != nil {
			t.Errorf("%q, again: %v", name, err)
			continue
		}
		s.Close()
	}
}

// TestSkillsKept: a document is damaged that lists a skill of a tier that there is
// not, which would count as trusted, or in no absolute directory.
func TestSkillsKept(t *testing.T) {
	for skill, sound := range map[string]bool{`"dir":"/x","tier":3`: true, `"dir":"/x","tier":4`: false, `"dir":"x","tier":3`: false} {
		w := newWorld(t, "standard")
		w.start().Close()
		if err := rewrite(w.document(), `"version":1`, `"version":1,"skills":[{"name":"x",`+skill+`}]`); err != nil {
			t.Fatal(err)
		}
		s, err := session.Open(ctx, w.set, "s1")
		if err == nil {
			s.Close()
		}
		if (err == nil) != sound {
			t.Errorf("%s: %v", skill, err)
		}
	}
}

// Whatever is wrong with a document is a denial, never a fresh session.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"empty":   func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"cut off": func(p string) error { return os.Truncate(p, 100) },
		"unknown key": func(p string) error {
			return rewrite(p, `{"session_id"`, `{"sessions":1,"session_id"`)
		},
		"a key twice": func(p string) error {
			return rewrite(p, `{"session_id"`, `{"session_id":"s1","session_id"`)
		},
		"another's":     func(p string) error { return rewrite(p, `"session_id":"s1"`, `"session_id":"s2"`) },
		"not ours":      func(p string) error { return rewrite(p, `"skillrun":`, `"skillrum":`) },
		"newer":         func(p string) error { return rewrite(p, `"version":1`, `"version":2`) },
		"not UTF-8":     func(p string) error { return rewrite(p, `"s1"`, "\"s1\xff\"") },
		"others write":  func(p string) error { return os.Chmod(p, 0o666) },
		"a link":        func(p string) error { return moved(p, os.Symlink) },
		"a second name": func(p string) error { return os.Link(p, p+".other") },
		"a directory": func(p string) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Mkdir(p, 0o700)
		},
		"too long": func(p string) error {
			return rewrite(p, `{"session_id"`, strings.Repeat(" ", 1<<20)+`{"session_id"`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "standard")
			w.start().Close()
			if s, err := session.Open(ctx, w.set, "s1"); err != nil {
				t.Fatal("the sound one:", err)
			} else {
				s.Close()
			}
			if err := damage(w.document()); err != nil {
				t.Fatal(err)
			}
			if s, err := session.Open(ctx, w.set, "s1"); err == nil {
				s.Close()
				t.Error("opened")
			}
			if s, err := session.Start(ctx, w.set, "s1"); err == nil {
				s.Close()
				t.Error("started anew")
			}
		})
	}
}

func rewrite(path, old, new string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := strings.Replace(string(b), old, new, 1)
	if text == string(b) {
		return fmt.Errorf("%q is not in the document", old)
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func moved(path string, link func(old, new string) error) error {
	if err := os.Rename(path, path+".moved"); err != nil {
		return err
	}
	return link(path+".moved", path)
}

// IDs come from agents.
func TestIDs(t *testing.T) {
	w := newWorld(t, "standard")
	for _, id := range []string{"", "a\nb", "\x1b[2J", "\u202egpj", strings.Repeat("a", 257), "\xff", "a\x00b"} {
		if s, err := session.Start(ctx, w.set, id); err == nil {
			s.Close()
			t.Errorf("%q is an ID", id)
		}
	}
	for _, id := range []string{"../../x", "/etc/passwd", ".", strings.Repeat("a", 256), "日本"} {
		s, err := session.Start(ctx, w.set, id)
		if err != nil {
			t.Error(err)
			continue
		}
		s.Close()
	}
	entries, err := os.ReadDir(filepath.Join(w.set.Dir, "sessions"))
	if err != nil || len(entries) != 10 {
		t.Errorf("%d files for 5 sessions, %v", len(entries), err)
	}
}

// Every use counts and every answer is kept, however many processes there are.
func TestConcurrent(t *testing.T) {
	w := newWorld(t, "standard")
	w.set.Defaults = entries(t, `[{"capability":"web.fetch","effect":"allow","constraints":{"rate_limit":{"max":10,"per":"session"}}}]`)
	w.start().Close()
	var wg sync.WaitGroup
	verdicts := make(chan policy.Effect, 30)
	for range 3 {
		wg.Go(func() {
			for range 10 {
				s, err := session.Open(ctx, w.set, "s1")
				if err != nil {
					t.Error(err)
					return
				}
				verdicts <- s.Decide(ctx, fetch("a.com")).Effect
				s.Close()
			}
		})
	}
	wg.Wait()
	close(verdicts)
	count := map[policy.Effect]int{}
	for v := range verdicts {
		count[v]++
	}
	if count[policy.Allow] != 10 || count[policy.Confirm] != 20 {
		t.Errorf("of 30 calls %v, want 10 allowed", count)
	}
}

// A lock ends with its process, and one that is held is not waited for without
// end.
func TestLock(t *testing.T) {
	w := newWorld(t, "standard")
	w.start().Close()
	flock, err := exec.LookPath("flock")
	if err != nil {
		t.Fatal(err) // util-linux
	}
	lock := strings.TrimSuffix(w.document(), ".json") + ".lock"
	cmd := exec.Command(flock, lock, "sh", "-c", "echo held; cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if s, err := session.Open(canceled(), w.set, "s1"); err == nil {
		s.Close()
		t.Error("opened while another process has it")
	}
	in.Close()
	cmd.Process.Kill()
	cmd.Wait()
	// What "cat" inherited of the lock ends with its standard input.
	s, err := session.Open(ctx, w.set, "s1")
	if err != nil {
		t.Fatal("the process with the lock is gone:", err)
	}
	s.Close()
}

func canceled() context.Context {
	c, cancel := context.WithCancel(ctx)
	cancel()
	return c
}
