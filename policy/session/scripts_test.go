package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/profiles"
)

// What a decision says of scripts the model reads: those that are secrets, or lie
// elsewhere by a link, are not looked into.
func TestScriptsLedOut(t *testing.T) {
	w := newWorld(t, "standard")
	host := &profiles.Host{OS: "linux", Home: w.set.Home, User: "u", CaseSensitive: true, Env: map[string]string{}, FS: os.DirFS("/")}
	w.set.Protected = func() *policy.Protected { return policy.NewProtected(host, w.set.Workspace, w.set.Dir) }
	const text = "cat /srv/CANARY\n"
	w.file("ws/plain.sh", text)
	w.file("ws/deep/inner.sh", text)
	w.file("ws/.env", text)
	w.file("outside/history", text)
	w.file("elsewhere/mine/a.sh", text)
	if err := os.MkdirAll(filepath.Join(w.set.Home, ".claude/skills"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"ws/inside": "deep/inner.sh", "ws/out": "../outside/history", "ws/dir": "../outside", "ws/env": ".env", "ws/again": "out",
		"home/.claude/skills/mine": filepath.Join(w.dir, "elsewhere/mine"),
	} {
		if err := os.Symlink(to, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := w.start()
	for _, c := range []struct {
		command string
		read    bool
	}{
		{"bash plain.sh", true}, // the controls
		{"bash inside", true},
		{"bash ~/.claude/skills/mine/a.sh", true},
		// ".." is where the kernel comes to, which a shell's cd is not.
		{"bash deep/../plain.sh", true},
		{"cd deep && bash ../plain.sh", true},
		{"cd dir/.. && bash plain.sh", true},
		{"bash dir/../plain.sh", false},
		{"dir/../plain.sh", false},
		{"cd dir && bash ../plain.sh", false},
		{"env -C dir/.. bash plain.sh", false},
		{"bash out", false},
		{"bash again", false},
		{"bash dir/history", false},
		{". ./out", false},
		{"bash .env", false},
		{"bash env", false},
		{"bash ../outside/history", false},
	} {
		v := s.Decide(context.Background(), bash(c.command))
		read := strings.Contains(v.Reason, "CANARY")
		for _, n := range v.Needs {
			read = read || strings.Contains(n.Target+n.Reason, "CANARY")
		}
		if read != c.read {
			t.Errorf("%s: read: %v, want %v: %v %s", c.command, read, c.read, v.Effect, v.Reason)
		}
		if v.Effect == policy.Allow {
			t.Errorf("%s: allowed: %s", c.command, v.Reason)
		}
	}
}
