package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/policy/session"
	"skillrun/profiles"
)

// TestRefused: what a run was refused is asked about when its command comes again, or
// git replaces files there; a yes opens it, and a no is heard.
func TestRefused(t *testing.T) {
	w := newWorld(t, "power-user")
	host := &profiles.Host{OS: "linux", Home: w.set.Home, User: "u", CaseSensitive: true, Env: map[string]string{}, FS: os.DirFS("/")}
	w.set.Protected = func() *policy.Protected { return policy.NewProtected(host, w.set.Workspace, w.set.Dir) }
	s := w.start()
	ask := func(command string) session.Verdict {
		a := bash(command)
		a.Asks = true
		return s.Decide(ctx, a)
	}
	in := func(name string) string { return filepath.Join(w.dir, "ws", name) }
	may := func(v session.Verdict, name string, access profiles.Access) bool {
		t.Helper()
		return w.confined(s, v).Allows(in(name), access).Allowed
	}
	remember := func(command, capability, path string) (asks bool) {
		t.Helper()
		asks, err := s.Refused(command, []session.Want{{Capability: capability, Path: path, Lasts: path == in("dist")}})
		if err != nil {
			t.Fatal(err)
		}
		s = w.again(s)
		return asks
	}
	w.want(ask("./build"), policy.Allow, "the first time")
	for range 2 { // before it came again
		if !remember("./build", "filesystem.delete", in("target")) {
			t.Error("nobody is to be asked")
		}
	}

	// A host that cannot ask, or another command, is not asked.
	w.want(s.Decide(ctx, bash("./build")), policy.Allow, "nobody to ask")
	w.want(ask("./other"), policy.Allow, "another command")
	v := w.want(ask("./build"), policy.Confirm, "again")
	if !strings.Contains(v.Reason, in("target")+": filesystem.delete") || !strings.Contains(v.Reason, "its last run was refused that") {
		t.Error(v.Reason)
	}
	// No run: that was a no, and nobody is asked twice.
	v = w.want(ask("./build"), policy.Allow, "after a no")
	if may(v, "target/x", profiles.Delete) {
		t.Error("a no opens")
	}
	if remember("./build", "filesystem.delete", in("target")) {
		t.Error("to be asked after a no")
	}
	w.want(ask("./build"), policy.Allow, "refused once more after a no")

	// A yes to a build's output holds for the session.
	remember("./pack", "filesystem.delete", in("dist"))
	v = w.want(ask("./pack"), policy.Confirm, "a build's output")
	if !strings.Contains(v.Reason, "a yes holds for the session") || !may(v, "dist/x", profiles.Delete) {
		t.Error("the yes was in vain:", v.Reason)
	}
	v = w.want(ask("./pack"), policy.Allow, "the next build")
	if !may(v, "dist/x", profiles.Delete) || may(ask("./pack"), "src/x", profiles.Delete) {
		t.Error("the next build may not delete its output, or more")
	}

	// A control file is asked about where git replaces files, each time.
	remember("git merge x", "filesystem.write", in(".github/workflows"))
	w.want(ask("git log"), policy.Allow, "git that replaces nothing")
	for range 2 {
		v = w.want(ask("git checkout main"), policy.Confirm, "git that replaces files")
		if !strings.Contains(v.Reason, "policy.expand") || !strings.Contains(v.Reason, in(".github/workflows")) {
			t.Error(v.Reason)
		}
		p := w.confined(s, v)
		for path, want := range map[string]bool{".github/workflows/x": true, ".git/hooks/x": false, ".vscode/x": false} {
			if got := p.Allows(in(path), profiles.Write|profiles.Create|profiles.Delete).Allowed; got != want {
				t.Errorf("%s: %v, want %v", path, got, want)
			}
		}
		remember("git checkout main", "filesystem.write", in(".github/workflows"))
	}
	if v = ask("git pull"); !strings.Contains(v.Reason, ".github/workflows") {
		t.Error("git pull:", v.Reason)
	}

	// In a repository git replaces no files of the work tree.
	remember("git submodule update", "filesystem.write", in(".git/modules"))
	remember("git merge x", "filesystem.write", in("sub/.git"))
	if v = ask("git restore ."); strings.Contains(v.Reason, ".git/") || strings.Contains(v.Reason, "sub/.git") {
		t.Error("git restore:", v.Reason)
	}
	if v = ask("git submodule update"); !strings.Contains(v.Reason, ".git/modules") {
		t.Error("the same again:", v.Reason)
	}

	// Nothing outside the workspace is remembered, nor all of it.
	for _, path := range []string{w.dir, in(""), "/etc/passwd"} {
		if remember("./x", "filesystem.delete", path) {
			t.Errorf("%s is to be asked about", path)
		}
	}
	w.want(ask("./x"), policy.Allow, "outside")

	// What nobody may say yes to is not asked, and what runs goes on.
	w.set.Asker = session.DenyAll{}
	remember("./y", "filesystem.delete", in("out"))
	w.want(ask("./y"), policy.Allow, "nobody is to be asked")
}
