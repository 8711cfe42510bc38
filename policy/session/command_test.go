package session_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/policy"
	"skillrun/policy/session"
)

// program writes a shell script that may run, and gives the command for it.
func (w *world) program(name, script string) *session.Command {
	w.t.Helper()
	path := w.file(name, "#!/bin/sh\n"+script)
	if err := os.Chmod(path, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return &session.Command{Argv: []string{path}, Deadline: time.Minute}
}

// heard gives what a program kept of its question.
func (w *world) heard(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.dir + "/" + name)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// TestProgramFaults: every fault of a program that is asked is a denial.
func TestProgramFaults(t *testing.T) {
	for name, script := range map[string]string{
		"says nothing":     "cat >/dev/null",
		"fails":            `cat >/dev/null; echo '{"choice":"once"}'; exit 1`,
		"unknown key":      `cat >/dev/null; echo '{"choice":"once","also":1}'`,
		"two values":       `cat >/dev/null; echo '{"choice":"once"}{"choice":"once"}'`,
		"no JSON":          `cat >/dev/null; echo once`,
		"no choice":        `cat >/dev/null; echo '{"choice":"forever"}'`,
		"empty choice":     `cat >/dev/null; echo '{}'`,
		"not offered":      `cat >/dev/null; echo '{"choice":"version"}'`,
		"too much":         `cat >/dev/null; head -c 2000000 /dev/zero | tr '\0' ' '; echo '{"choice":"once"}'`,
		"ends by a signal": `cat >/dev/null; echo '{"choice":"once"}'; kill -9 $$`,
		"says no":          `cat >/dev/null; echo '{"choice":"deny"}'`,
	} {
		w := newWorld(t, "standard")
		w.set.Asker = w.program("ask", script)
		w.want(w.start().Decide(ctx, fetch("a.com")), policy.Deny, name)
	}
	w := newWorld(t, "standard")
	for name, c := range map[string]*session.Command{
		"not there":    {Argv: []string{w.dir + "/nothing"}},
		"not absolute": {Argv: []string{"true"}},
		"no program":   {},
		"not to run":   {Argv: []string{w.file("plain", "#!/bin/sh\necho '{\"choice\":\"once\"}'\n")}},
	} {
		w.set.Asker = c
		s := w.start()
		w.want(s.Decide(ctx, fetch("a.com")), policy.Deny, name)
		s.Close()
	}
}

// A program that does not answer is ended, with what it started.
func TestProgramDeadline(t *testing.T) {
	w := newWorld(t, "standard")
	c := w.program("ask", `sleep 1000`)
	c.Deadline = 50 * time.Millisecond
	w.set.Asker = c
	v := w.want(w.start().Decide(ctx, fetch("a.com")), policy.Deny, "no answer")
	if !strings.Contains(v.Reason, "gave no answer within 50ms") {
		t.Error(v.Reason)
	}
	// Both hold the pipe open until they end.
	pipe := filepath.Join(w.dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	c = w.program("ask", `exec 3>"$(dirname "$0")/pipe"; sleep 1000 & echo up >&3; wait`)
	ended := make(chan error, 1)
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, err := c.Ask(within, session.Prompt{})
		ended <- err
	}()
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadFull(f, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(f); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("it answered")
	}
}

func TestProgramAnswers(t *testing.T) {
	w := newWorld(t, "power-user")
	w.set.Asker = w.program("ask", `cat >"$(dirname "$0")/heard"; echo '{"choice":"session"}'`)
	t.Setenv("SECRET_TOKEN", "hidden")
	s := w.start()
	w.want(s.Decide(ctx, bash("curl https://a.com/")), policy.Allow, "a program says yes")
	heard := w.heard("heard")
	for _, part := range []string{`"session":"s1"`, `"tool":"Bash"`, `"input":"curl https://a.com/"`, `"capability":"web.fetch","level":"normal","risk":"medium","target":"a.com"`, `"choices":["deny","once","task","session"]`} {
		if !strings.Contains(heard, part) {
			t.Errorf("the question has no %s: %s", part, heard)
		}
	}
	w.set.Asker = session.DenyAll{}
	s = w.again(s)
	w.want(s.Decide(ctx, fetch("a.com")), policy.Allow, "its yes was for the session")
	// It has its own environment.
	w.set.Asker = w.program("env", `cat >/dev/null; env >"$(dirname "$0")/heard"; echo '{"choice":"once"}'`)
	s = w.again(s)
	w.want(s.Decide(ctx, fetch("b.com")), policy.Allow, "once")
	if strings.Contains(w.heard("heard"), "hidden") {
		t.Error("the program has the agent's environment")
	}
}

// An external guard answers instead of the user where the table wants a call
// looked at; it cannot allow what the policy does not.
func TestGuardCommand(t *testing.T) {
	for answer, want := range map[string][3]policy.Effect{
		`{"decision":"allow","reason":"looks fine"}`: {policy.Allow, policy.Confirm, policy.Deny},
		`{"decision":"confirm"}`:                     {policy.Confirm, policy.Confirm, policy.Deny},
		`{"decision":"deny","reason":"odd\u001b"}`:   {policy.Deny, policy.Deny, policy.Deny},
		`{"decision":"yes"}`:                         {policy.Deny, policy.Deny, policy.Deny},
		``:                                           {policy.Deny, policy.Deny, policy.Deny},
	} {
		w := newWorld(t, "paranoid")
		w.set.Guard = w.program("guard", `cat >"$(dirname "$0")/heard"; echo '`+answer+`'`)
		w.set.Defaults = entries(t, `[{"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}},
			{"capability":"shell.execute","effect":"allow","constraints":{"denied_command_patterns":["push"]}}]`)
		s := w.start()
		w.want(s.Decide(ctx, read("in.txt")), policy.Allow, "a clean session has no guard")
		if err := s.Mark(session.Outside, "x"); err != nil {
			t.Fatal(err)
		}
		w.want(s.Decide(ctx, read("in.txt")), want[0], answer+": what is allowed")
		w.want(s.Decide(ctx, read("/etc/hostname")), want[1], answer+": what asks")
		w.want(s.Decide(ctx, bash("git push")), want[2], answer+": what is denied")
		if heard := w.heard("heard"); !strings.Contains(heard, `"tool":"Bash","input":"git push","why":"the session has content from outside`) || !strings.Contains(heard, `{"capability":"shell.execute","exact":true,"decision":"deny"}`) {
			t.Errorf("the question is %s", heard)
		}
	}
}

// TestTaskScope: a task's scope narrows and never adds.
func TestTaskScope(t *testing.T) {
	w := newWorld(t, "power-user")
	w.set.Defaults = entries(t, `[{"capability":"filesystem.read","effect":"allow"},{"capability":"web.fetch","effect":"allow"},
		{"capability":"web.post","effect":"confirm"},{"capability":"commit.read","effect":"deny"}]`)
	w.set.Scope = w.program("scope", `cat >"$(dirname "$0")/heard"; echo '{"task_scope":[
		{"capability":"filesystem.read","effect":"allow","constraints":{"resource_scope":["/etc"]}},
		{"capability":"web.post","effect":"allow"},
		{"capability":"commit.read","effect":"allow"},
		{"capability":"external_api.call","effect":"allow"},
		{"capability":"secrets.read","effect":"deny"}]}'`)
	s := w.start()
	w.want(s.Decide(ctx, fetch("a.com")), policy.Allow, "before the task")
	if err := s.Task(ctx, "fix the bug\x1b[2J"); err != nil {
		t.Fatal(err)
	}
	s = w.again(s)
	state, err := s.State()
	if err != nil || strings.Contains(string(state), "external_api.call") {
		t.Errorf("what it adds is kept: %s %v", state, err)
	}
	w.want(s.Decide(ctx, read("/etc/hostname")), policy.Allow, "what the scope names")
	w.want(s.Decide(ctx, read("in.txt")), policy.Confirm, "what it leaves out of an entry")
	w.want(s.Decide(ctx, fetch("a.com")), policy.Confirm, "what it leaves out")
	w.want(s.Decide(ctx, post("a.com")), policy.Confirm, "what it would widen")
	w.want(s.Decide(ctx, action("T", policy.Request{Capability: "commit.read", Paths: []string{"in.txt"}})), policy.Deny, "what the pool denies")
	w.want(s.Decide(ctx, action("T", policy.Request{Capability: "external_api.call", Hosts: []string{"a.com"}})), policy.Confirm, "what it adds")
	heard := w.heard("heard")
	if !strings.HasPrefix(heard, `{"session_id":"s1","task":"fix the bug\u001b[2J","declared_pool":[{"capability":"filesystem.read","effect":"allow"`) {
		t.Errorf("the question is %s", heard)
	}
	v := s.Decide(ctx, fetch("a.com"))
	if err := s.Answer(v.Call, session.ThisTask); err != nil {
		t.Fatal(err)
	}
	w.want(s.Decide(ctx, fetch("a.com")), policy.Allow, "the user may widen it again")
	if err := s.Task(ctx, "another"); err != nil {
		t.Fatal(err)
	}
	w.want(s.Decide(ctx, fetch("a.com")), policy.Confirm, "in the next task")
}

func TestTaskScopeFails(t *testing.T) {
	for _, script := range []string{`exit 1`, `echo '{"task_scope":[]}'`, `echo '{"task_scope":[{"capability":"nothing"}]}'`, `echo '{}'`, `echo '{"task_scope":[{"capability":"external_api.call","effect":"allow"}]}'`} {
		for keep, want := range map[bool]policy.Effect{false: policy.Deny, true: policy.Allow} {
			w := newWorld(t, "standard")
			w.set.Scope, w.set.ScopeMayFail = w.program("scope", "cat >/dev/null; "+script), keep
			s := w.start()
			if err := s.Task(ctx, "x"); err != nil {
				t.Fatal(err)
			}
			s = w.again(s)
			v := w.want(s.Decide(ctx, read("in.txt")), want, fmt.Sprint(script, ", keep ", keep))
			if !keep && !strings.Contains(v.Reason, "the task has no scope") {
				t.Error(v.Reason)
			}
			w.set.Scope = w.program("scope", `cat >/dev/null; echo '{"task_scope":[{"capability":"filesystem.read","effect":"allow"}]}'`)
			s = w.again(s)
			if err := s.Task(ctx, "y"); err != nil {
				t.Fatal(err)
			}
			w.want(s.Decide(ctx, read("in.txt")), policy.Allow, "the next task")
			s.Close()
		}
	}
}
