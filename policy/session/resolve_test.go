package session_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/policy/session"
)

// A path that no system takes is decided about by nobody.
func TestLongPathRefused(t *testing.T) {
	w := newWorld(t, "standard")
	s := w.start()
	read := func(path string) session.Verdict {
		return s.Decide(context.Background(), session.Action{Event: "PreToolUse", Tool: "Read", Requests: []policy.Request{{Capability: "filesystem.read", Paths: []string{path}}}})
	}
	long := w.set.Workspace + "/" + strings.Repeat("a/", policy.MaxPath)
	w.want(read(long[:policy.MaxPath]), policy.Allow, "the longest path, the control")
	if v := w.want(read(long[:policy.MaxPath+1]), policy.Deny, "a longer one"); v.Reason != "a path of more than 4095 bytes" {
		t.Error(v.Reason)
	}
}

// Of more paths than are judged in time none is.
func TestManyPathsRefused(t *testing.T) {
	w := newWorld(t, "standard")
	s := w.start()
	read := func(requests, paths int) session.Verdict {
		a := session.Action{Event: "PreToolUse", Tool: "Read"}
		for i := range requests {
			a.Requests = append(a.Requests, policy.Request{Capability: "filesystem.read"})
			for j := range paths {
				a.Requests[i].Paths = append(a.Requests[i].Paths, fmt.Sprint(i, "/", j))
			}
		}
		return s.Decide(context.Background(), a)
	}
	w.want(read(1, 4096), policy.Allow, "as many as are judged, the control")
	w.want(read(64, 64), policy.Allow, "as many in several requests, the control")
	for _, v := range []session.Verdict{read(1, 4097), read(4097, 1)} {
		if v.Effect != policy.Deny || v.Reason != "more than 4096 paths; in several calls it may pass" {
			t.Errorf("more: %v: %s", v.Effect, v.Reason)
		}
	}
}

// What a decision remembers of the paths that an event names is bounded, however
// deep they are and whether they exist or not.
func TestPathMemory(t *testing.T) {
	w := newWorld(t, "standard")
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var deep, wide []string
	for i := range 10 {
		deep = append(deep, fmt.Sprintf("%s/%d%s", w.set.Workspace, i, strings.Repeat("/a", (policy.MaxPath-len(w.set.Workspace)-2)/2)))
	}
	dir := w.set.Workspace + strings.Repeat("/"+strings.Repeat("d", 255), (policy.MaxPath-len(w.set.Workspace)-10)/256)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		wide = append(wide, fmt.Sprintf("%s/%d", dir, i))
	}
	for what, paths := range map[string][]string{"deep ones": deep, "many of a directory": wide} {
		s := w.start()
		before := heap()
		w.want(s.Decide(context.Background(), session.Action{Event: "PreToolUse", Tool: "Read", Requests: []policy.Request{{Capability: "filesystem.read", Paths: paths}}}), policy.Allow, what)
		if more := heap() - before; more > 4<<20 {
			t.Errorf("%s: %d bytes are kept", what, more)
		}
		s.Close()
		runtime.KeepAlive(paths)
	}
	s := w.start()
	before := heap()
	v := s.Decide(context.Background(), session.Action{Event: "PreToolUse", Tool: "Bash", Confined: true, Requests: []policy.Request{{Capability: "shell.execute", Command: "cat " + strings.Repeat("a/", 5000) + "b"}}})
	if more := heap() - before; more > 4<<20 || v.Effect == policy.Allow {
		t.Errorf("a command: %d bytes are kept, %v %s", more, v.Effect, v.Reason)
	}
}

// A link of a process leads to where this one's does, and not the agent's: by none is
// anything allowed. Of a run's command the kernel finds it.
func TestLinksOfProcesses(t *testing.T) {
	w := newWorld(t, "standard")
	t.Chdir(w.set.Workspace)
	s := w.start()
	ctx := context.Background()
	w.want(s.Decide(ctx, read("in.txt")), policy.Allow, "by its name, the control")
	for _, path := range []string{"/proc/self/cwd/in.txt", "/proc/thread-self/cwd/in.txt", "/proc/self/root" + w.set.Workspace + "/in.txt", fmt.Sprintf("/proc/%d/cwd/in.txt", os.Getppid())} {
		w.want(s.Decide(ctx, read(path)), policy.Confirm, path)
	}
	w.want(s.Decide(ctx, bash("cat /proc/self/cwd/in.txt")), policy.Allow, "in a run")
}
