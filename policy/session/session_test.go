package session_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/session"
	"skillrun/policy/skill"
)

// world is a home with a workspace, skills and state.
type world struct {
	t   testing.TB
	dir string
	set session.Settings
	at  time.Time
}

func newWorld(t testing.TB, preset string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, at: time.Now()}
	p, err := policy.FindPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	w.file("ws/in.txt", "x\n")
	w.file("home/keep", "")
	w.set = session.Settings{
		Dir: filepath.Join(dir, "state"), Workspace: filepath.Join(dir, "ws"), Home: home, User: "u", Preset: p,
		Places: skill.Places{Home: home, Project: filepath.Join(dir, "ws"), Current: filepath.Join(dir, "ws")},
		Now:    func() time.Time { return w.at },
	}
	return w
}

func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// start gives the session, open until the test ends or it is closed.
func (w *world) start() *session.Session {
	w.t.Helper()
	s, err := session.Start(context.Background(), w.set, "s1")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

func (w *world) want(v session.Verdict, effect policy.Effect, what string) session.Verdict {
	w.t.Helper()
	if v.Effect != effect {
		w.t.Errorf("%s: %v (%s), want %v\n%+v", what, v.Effect, v.Reason, effect, v.Needs)
	}
	if v.Reason == "" {
		w.t.Errorf("%s: no reason", what)
	}
	return v
}

func action(tool string, r policy.Request) session.Action {
	return session.Action{Event: "PreToolUse", Tool: tool, Requests: []policy.Request{r}, Confined: r.Command != ""}
}

func bash(command string) session.Action {
	return action("Bash", policy.Request{Capability: "shell.execute", Command: command})
}

func read(path string) session.Action {
	return action("Read", policy.Request{Capability: "filesystem.read", Paths: []string{path}})
}

func fetch(host string) session.Action {
	return action("WebFetch", policy.Request{Capability: "web.fetch", Hosts: []string{host}})
}

var ctx = context.Background()

func TestSession(t *testing.T) {
	w := newWorld(t, "standard")
	s := w.start()
	w.want(s.Decide(ctx, read("in.txt")), policy.Allow, "the workspace")
	w.want(s.Decide(ctx, read("/etc/hostname")), policy.Confirm, "outside of it")
	v := w.want(s.Decide(ctx, bash("cat in.txt | wc -l > out.txt")), policy.Allow, "a command in the workspace")
	run, err := s.Run(v.Call)
	if err != nil || run.Set == nil || run.Workspace != w.set.Workspace {
		t.Fatal(run, err)
	}
	if _, err := s.Run(v.Call); err == nil {
		t.Error("one call has two runs")
	}
	v = w.want(s.Decide(ctx, fetch("example.com")), policy.Confirm, "the network")
	if err := s.Answer(v.Call, session.ThisSession); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s, err = session.Open(ctx, w.set, "s1")
	if err != nil {
		t.Fatal(err)
	}
	w.want(s.Decide(ctx, fetch("example.com")), policy.Allow, "granted for the session")
	w.want(s.Decide(ctx, fetch("other.example.com")), policy.Confirm, "another host")
	s.Close()
	decisions := 0
	for r, err := range audit.Records(w.set.Dir) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Decision != nil {
			decisions++
		}
	}
	if decisions != 6 {
		t.Errorf("%d decisions are recorded, want 6", decisions)
	}
}

// entries reads a JSON list of entries of the session's own.
func entries(t testing.TB, text string) []policy.Entry {
	t.Helper()
	list, err := policy.ParseEntries("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].Source = "session-default"
	}
	return list
}
