package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"skillrun/policy"
	"skillrun/policy/session"
	"skillrun/profiles"
)

// TestProtected: an agent's own tools act outside of every run, so that what no
// run can open is asked for by a capability of its own.
func TestProtected(t *testing.T) {
	w := newWorld(t, "power-user")
	host := &profiles.Host{OS: "linux", Home: w.set.Home, User: "u", CaseSensitive: true, Env: map[string]string{}, FS: os.DirFS("/")}
	w.set.Protected = func() *policy.Protected { return policy.NewProtected(host, w.set.Workspace, w.set.Dir) }
	w.set.Defaults = entries(t, `[{"capability":"filesystem.*","effect":"allow","constraints":{"resource_scope":["/"]}},{"capability":"web.fetch","effect":"allow"},
		{"capability":"filesystem.read","effect":"deny","priority":1,"constraints":{"resource_scope":["~/.netrc"]}}]`)
	w.file("ws/.env", "KEY=x")
	w.file("ws/.git/hooks/pre-commit.sample", "")
	w.file("home/.aws/credentials", "x")
	dir := w.skill("own/pdf", "")
	if err := os.Symlink(".env", filepath.Join(w.dir, "ws", "innocent")); err != nil {
		t.Fatal(err)
	}
	do := func(verb, path string) session.Action {
		return action("T", policy.Request{Capability: "filesystem." + verb, Paths: []string{path}})
	}
	s := w.start()
	w.load(s, dir)
	for _, c := range []struct {
		verb, path string
		want       policy.Effect
		capability string
	}{
		{"read", "in.txt", policy.Allow, "filesystem.read"},
		{"write", "in.txt", policy.Allow, "filesystem.write"},
		{"read", ".env.example", policy.Allow, "filesystem.read"},
		{"read", ".git/hooks/pre-commit", policy.Allow, "filesystem.read"},
		{"read", filepath.Join(dir, "SKILL.md"), policy.Allow, "filesystem.read"},
		{"read", ".env", policy.Confirm, "secrets.read"},
		{"read", "./sub/../.env", policy.Confirm, "secrets.read"},
		{"read", "innocent", policy.Confirm, "secrets.read"},
		{"read", "~/.aws/credentials", policy.Confirm, "secrets.read"},
		{"read", "~/.ssh/id_ed25519", policy.Confirm, "secrets.read"},
		{"read", "~/.netrc", policy.Deny, "filesystem.read"},
		{"write", "~/.ssh/authorized_keys", policy.Confirm, "secrets.write"},
		{"delete", "~/.ssh", policy.Confirm, "secrets.delete"},
		{"write", ".git/hooks/pre-commit", policy.Confirm, "policy.expand"},
		{"write", ".claude/settings.json", policy.Confirm, "policy.expand"},
		{"write", filepath.Join(dir, "SKILL.md"), policy.Confirm, "policy.expand"},
		{"delete", filepath.Join(dir, "SKILL.md"), policy.Confirm, "policy.expand"},
		{"write", filepath.Join(w.set.Dir, "sessions", "x.json"), policy.Confirm, "policy.expand"},
	} {
		v := w.want(s.Decide(ctx, do(c.verb, c.path)), c.want, c.verb+" "+c.path)
		if got := v.Needs[0].Capability; got != c.capability {
			t.Errorf("%s %s needs %s, want %s", c.verb, c.path, got, c.capability)
		}
	}
	v := s.Decide(ctx, do("read", ".env"))
	if !slices.Contains(v.Choices, session.ThisSession) {
		t.Fatal(v.Choices)
	}
	if err := s.Answer(v.Call, session.ThisSession); err != nil {
		t.Fatal(err)
	}
	w.want(s.Decide(ctx, do("read", ".env")), policy.Allow, "answered")
	w.want(s.Decide(ctx, do("write", ".env")), policy.Confirm, "writing it")
	// Who was to see it or not, the session has asked for a secret.
	w.want(s.Decide(ctx, fetch("a.com")), policy.Confirm, "egress")

	// A grant by name opens a file, a wider one does not; either taints.
	for grant, want := range map[string]policy.Effect{"filesystem.read:~/.aws/credentials": policy.Allow, "secrets.read:~/.aws/credentials": policy.Allow, "filesystem.read:~/.aws": policy.Confirm, "filesystem.read": policy.Confirm} {
		e, err := policy.ParseGrant(grant, "config")
		if err != nil {
			t.Fatal(err)
		}
		w.set.Grants = []policy.Entry{e}
		s, err := session.Start(ctx, w.set, grant)
		if err != nil {
			t.Fatal(err)
		}
		w.want(s.Decide(ctx, do("read", "~/.aws/credentials")), want, grant)
		if _, tainted := s.Tainted(session.Sensitive); !tainted {
			t.Errorf("%s: the session is not sensitive", grant)
		}
		s.Close()
	}
}
