package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	for _, name := range []string{"ws/svc/x", "ws/conf/dev", "ws/store/HEAD", "ws/store/objects/x", "ws/store/refs/x", "home/other/x"} {
		w.file(name, "")
	}
	for name, target := range map[string]string{"svc/.env": "../conf/dev", "svc/.envrc": "../conf/rc", "svc/a.env.txt": "../conf/plain"} {
		if err := os.Symlink(target, filepath.Join(w.dir, "ws", name)); err != nil {
			t.Fatal(err)
		}
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
		{"write", ".claude-plugin/plugin.json", policy.Confirm, "policy.expand"},
		// A name is protected whatever it leads to, a repository whatever leads there.
		{"read", "svc/.env", policy.Confirm, "secrets.read"},
		{"read", "svc/x", policy.Allow, "filesystem.read"},
		// So is what a name leads to, below the top too.
		{"read", "conf/dev", policy.Confirm, "secrets.read"},
		{"write", "conf/rc", policy.Confirm, "policy.expand"},
		{"read", "conf/rc", policy.Allow, "filesystem.read"},
		{"read", "conf/plain", policy.Allow, "filesystem.read"},
		{"write", "conf/plain", policy.Allow, "filesystem.write"},
		{"write", "sep/.git", policy.Confirm, "policy.expand"},
		{"write", "store/hooks/x", policy.Confirm, "policy.expand"},
		{"write", "store/config", policy.Confirm, "policy.expand"},
		{"write", "store/x", policy.Allow, "filesystem.write"},
		{"write", "~/other/.git/hooks/x", policy.Confirm, "policy.expand"},
		{"write", "~/other/.vscode/tasks.json", policy.Confirm, "policy.expand"},
		{"write", "~/other/x", policy.Allow, "filesystem.write"},
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

// TestProtectedInRuns: what a command is going to do to hooks and settings is asked,
// and a yes is to exactly those files.
func TestProtectedInRuns(t *testing.T) {
	w := newWorld(t, "power-user")
	host := &profiles.Host{OS: "linux", Home: w.set.Home, User: "u", CaseSensitive: true, Env: map[string]string{}, FS: os.DirFS("/")}
	w.set.Protected = func() *policy.Protected { return policy.NewProtected(host, w.set.Workspace, w.set.Dir) }
	w.file("ws/.git/config", "")
	w.file("ws/sub/f", "")
	s := w.start()
	writes := func(v session.Verdict, name string) bool {
		t.Helper()
		return w.confined(s, v).Allows(filepath.Join(w.dir, "ws", name), profiles.Write|profiles.Create).Allowed
	}
	v := w.want(s.Decide(ctx, bash("echo x >.vscode/tasks.json")), policy.Confirm, "settings of an editor")
	if v.Needs[len(v.Needs)-1].Capability != "policy.expand" {
		t.Errorf("%+v", v.Needs)
	}
	if !writes(v, ".vscode/tasks.json") {
		t.Error("the yes was in vain")
	}
	v = s.Decide(ctx, bash("echo x >.vscode/tasks.json"))
	if p := w.confined(s, v); p.Allows(filepath.Join(w.dir, "ws/.vscode/settings.json"), profiles.Write).Allowed || p.Allows(filepath.Join(w.dir, "ws/.git/hooks/x"), profiles.Create).Allowed {
		t.Error("the yes was to more than was asked about")
	}
	v = w.want(s.Decide(ctx, bash("cd sub && git remote add o u")), policy.Confirm, "git's configuration")
	if !writes(v, ".git/config") {
		t.Error("git cannot write its configuration")
	}
	w.want(s.Decide(ctx, bash("cat .vscode/tasks.json; ls .git/hooks")), policy.Allow, "reading")
	v = w.want(s.Decide(ctx, bash("echo x >.vscode/tasks.json")), policy.Confirm, "again")
	if err := s.Answer(v.Call, session.ThisSession); err != nil {
		t.Fatal(err)
	}
	v = w.want(s.Decide(ctx, bash("echo x >.vscode/tasks.json; kill $!")), policy.Allow, "what was answered")
	if !writes(v, ".vscode/tasks.json") {
		t.Error("the answer was in vain")
	}

	// An untrusted skill gets no hooks, whoever says what.
	dir := w.skill("project/x", `[{"capability":"filesystem.*","effect":"allow"},{"capability":"shell.execute","effect":"allow"}]`)
	w.load(s, dir)
	w.want(s.Decide(ctx, bash("echo x >.git/hooks/pre-commit")), policy.Deny, "a skill's hook")
	v = w.want(s.Decide(ctx, bash("sleep 1 & kill $!")), policy.Confirm, "what its manifest asks for")
	if slices.ContainsFunc(v.Needs, func(n session.Need) bool { return n.Capability == "process.kill" }) {
		t.Errorf("a skill is asked about its own process: %+v", v.Needs)
	}
}

// TestProtectedElsewhere: what a secret's name or git's configuration leads to is asked
// about as that is, by tools and in commands.
func TestProtectedElsewhere(t *testing.T) {
	w := newWorld(t, "power-user")
	host := &profiles.Host{OS: "linux", Home: w.set.Home, User: "u", CaseSensitive: true, Env: map[string]string{}, FS: os.DirFS("/")}
	w.set.Protected = func() *policy.Protected { return policy.NewProtected(host, w.set.Workspace, w.set.Dir) }
	w.file("ws/.git/config", "[core]\n\thooksPath = tools/hooks\n")
	w.file("ws/tools/hooks/pre-push", "")
	w.file("ws/conf/development", "TOKEN=1")
	w.file("ws/conf/free", "")
	if err := os.Symlink("conf/development", filepath.Join(w.dir, "ws/.env")); err != nil {
		t.Fatal(err)
	}
	s := w.start()
	for _, c := range []struct {
		verb, path string
		capability string
	}{
		{"read", "conf/development", "secrets.read"}, {"read", "conf/free", "filesystem.read"}, {"write", "tools/hooks/pre-push", "policy.expand"},
		{"write", "tools/hooks/new", "policy.expand"}, {"write", "tools/other", "filesystem.write"},
	} {
		if v := s.Decide(ctx, action("T", policy.Request{Capability: "filesystem." + c.verb, Paths: []string{c.path}})); len(v.Needs) == 0 || v.Needs[0].Capability != c.capability {
			t.Errorf("%s %s: %s, needs %+v, want %s", c.verb, c.path, v.Effect, v.Needs, c.capability)
		}
	}
	v := w.want(s.Decide(ctx, bash("echo x >tools/hooks/pre-push")), policy.Confirm, "a hook")
	if p := w.confined(s, v); !p.Allows(filepath.Join(w.dir, "ws/tools/hooks/pre-push"), profiles.Write).Allowed || p.Allows(filepath.Join(w.dir, "ws/tools/hooks/other"), profiles.Create).Allowed {
		t.Error("the yes was in vain, or to more")
	}
	w.want(s.Decide(ctx, bash("echo x >tools/other")), policy.Allow, "beside it")
}

// TestProtectedAmong: what control files lead to is asked about in other trees, too,
// whose files may be changed: as in the home's own settings that lie in a repository.
func TestProtectedAmong(t *testing.T) {
	for name, c := range map[string]struct{ grant, defaults string }{
		"a grant":          {grant: "filesystem.write:~/dot"},
		"one of a pattern": {grant: "filesystem.write:~/dot/*"},
		"one of deletion":  {grant: "filesystem.delete:~/dot"},
		"an entry":         {defaults: `[{"capability":"filesystem.*","effect":"allow","constraints":{"resource_scope":["~/dot","in.txt","led"]}}]`},
		"one for all":      {defaults: `[{"capability":"source_code.write","effect":"allow","constraints":{"workspace_only":false}}]`},
		"an answer":        {},
		"none":             {},
	} {
		w := newWorld(t, "power-user")
		host := &profiles.Host{OS: "linux", Home: w.set.Home, User: "u", CaseSensitive: true, Env: map[string]string{}, FS: os.DirFS("/")}
		w.set.Protected = func() *policy.Protected { return policy.NewProtected(host, w.set.Workspace, w.set.Dir) }
		for _, name := range []string{"home/dot/plain", "home/dot/agent.json", "home/dot/conf/rc", "home/dot/p/f", "home/.claude/x"} {
			w.file(name, "")
		}
		for name, target := range map[string]string{"home/.claude/settings.json": "../dot/agent.json", "home/dot/p/.envrc": "../conf/rc", "home/dot/p/.vscode": "../conf/editor", "home/dot/.envrc": w.set.Workspace + "/led"} {
			if err := os.Symlink(target, filepath.Join(w.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if c.defaults != "" {
			w.set.Defaults = entries(t, c.defaults)
		}
		if c.grant != "" {
			e, err := policy.ParseGrant(c.grant, "config")
			if err != nil {
				t.Fatal(err)
			}
			w.set.Grants = []policy.Entry{e}
		}
		s := w.start()
		capability := "filesystem.write"
		if name == "one for all" {
			capability = "source_code.write" // no entry on files is for all
		}
		ask := func(path string) session.Verdict {
			return s.Decide(ctx, action("T", policy.Request{Capability: capability, Paths: []string{path}}))
		}
		if name == "an answer" {
			v := ask("~/dot")
			if err := s.Answer(v.Call, session.ThisSession); err != nil {
				t.Fatal(err)
			}
		}
		want := "policy.expand"
		if name == "none" {
			want = capability // which is asked about as well
		}
		for path, want := range map[string]string{
			"~/dot/agent.json": want, "~/dot/conf/rc": want, "~/dot/conf/editor/tasks.json": want,
			"~/dot/plain": capability, "~/dot/conf/x": capability, "in.txt": capability, "led": want,
		} {
			v := ask(path)
			if len(v.Needs) == 0 || v.Needs[0].Capability != want {
				t.Errorf("%s: %s: %s, needs %+v, want %s", name, path, v.Effect, v.Needs, want)
			}
			free := want == capability && (path == "in.txt" || name != "none" && name != "one of deletion")
			if path == "led" {
				free = name == "none"
			}
			if got := v.Effect == policy.Allow; got != free && path != "~/dot/conf/x" {
				t.Errorf("%s: %s: %s: %s", name, path, v.Effect, v.Reason)
			}
		}
	}
}

// TestIdle: who forbids what a run may always do is heard.
func TestIdle(t *testing.T) {
	w := newWorld(t, "power-user")
	w.set.Defaults = entries(t, `[{"capability":"shell.execute","effect":"allow"},{"capability":"process.kill","effect":"deny"},{"capability":"env_var.read","effect":"confirm"}]`)
	s := w.start()
	w.want(s.Decide(ctx, bash("sleep 1 & kill $!")), policy.Deny, "signals")
	w.want(s.Decide(ctx, bash("env")), policy.Confirm, "the environment")

	// What nothing names is deleted by a skill's run only if the run made it.
	w = newWorld(t, "standard")
	s = w.start()
	w.load(s, w.skill("project/x", `[{"capability":"filesystem.read","constraints":{"workspace_only":true}},{"capability":"filesystem.write"},{"capability":"shell.execute"}]`))
	later := bash(`f=$(mktemp -p .); echo x >in.txt; rm "$f"`)
	v := w.want(s.Decide(ctx, later), policy.Confirm, "what its manifest asks for")
	if slices.ContainsFunc(v.Needs, func(n session.Need) bool { return strings.HasSuffix(n.Capability, ".delete") }) {
		t.Errorf("a skill is denied to delete its own: %+v", v.Needs)
	}
	if p := w.confined(s, v); p.Allows(w.dir+"/ws/in.txt", profiles.Delete).Allowed || !p.Allows(w.dir+"/ws/in.txt", profiles.Write).Allowed {
		t.Error("the run may delete what was there before, or not write")
	}
	w.want(s.Decide(ctx, bash("rm in.txt")), policy.Deny, "what was there before")
	later.Confined = false
	w.want(s.Decide(ctx, later), policy.Deny, "where nothing holds it")
	w.load(s, w.skill("project/y", `[{"capability":"filesystem.*"},{"capability":"shell.execute"},{"capability":"filesystem.delete","effect":"deny"}]`))
	later.Confined = true
	w.want(s.Decide(ctx, later), policy.Deny, "who says no")
}

// TestStanding: a directory that is there is made by nobody, and no yes opens it where
// the files in it that are written have names.
func TestStanding(t *testing.T) {
	w := newWorld(t, "standard")
	w.file("home/.state/other.json", "{}")
	s := w.start()
	for name, c := range map[string]struct {
		text string
		all  bool
	}{
		"a file by its name":   {"import pathlib\np = pathlib.Path.home() / '.state' / 'x.json'\np.parent.mkdir(exist_ok=True)\np.write_text('x')\n", false},
		"in javascript":        {"const fs = require('fs'), os = require('os'), path = require('path');\nconst d = path.join(os.homedir(), '.state');\nfs.mkdirSync(d, {recursive: true});\nfs.writeFileSync(path.join(d, 'x.json'), 'x');\n", false},
		"not there":            {"import pathlib\np = pathlib.Path.home() / '.state' / 'new' / 'x.json'\np.parent.mkdir(exist_ok=True)\np.write_text('x')\n", true},
		"decided at run time":  {"import pathlib, sys\nd = pathlib.Path.home() / '.state'\nd.mkdir(exist_ok=True)\n(d / 'x.json').write_text('x')\n(d / sys.argv[1]).write_text('x')\n", true},
		"nothing named":        {"import pathlib\n(pathlib.Path.home() / '.state').mkdir(exist_ok=True)\n", true},
		"saved by a rename":    {"import os, pathlib, tempfile\np = pathlib.Path.home() / '.state' / 'x.json'\np.parent.mkdir(exist_ok=True)\nfd, tmp = tempfile.mkstemp(dir=p.parent)\nos.write(fd, b'x')\nos.replace(tmp, p)\n", true},
		"something else in it": {"import pathlib, os\nd = pathlib.Path.home() / '.state'\nd.mkdir(exist_ok=True)\n(d / 'x.json').write_text('x')\nos.chmod(d, 0o700)\n", true},
	} {
		file, command := "ws/run.py", "python3 run.py a"
		if name == "in javascript" {
			file, command = "ws/run.js", "node run.js"
		}
		w.file(file, c.text)
		v := w.want(s.Decide(ctx, bash(command)), policy.Confirm, name)
		all, some := false, false
		for _, n := range v.Needs {
			at := strings.TrimPrefix(n.Target, w.set.Home+"/")
			all = all || n.Capability == "filesystem.write" && n.Exact && !strings.HasSuffix(at, ".json")
			some = some || n.Capability == "filesystem.write" && strings.HasSuffix(at, ".json")
		}
		if all != c.all || !some && name != "nothing named" {
			t.Errorf("%s: %+v", name, v.Needs)
		}
	}
}

// TestWhole: a yes to what is decided at run time is to all of its kind, for this
// call, and it says so.
func TestWhole(t *testing.T) {
	w := newWorld(t, "power-user")
	s := w.start()
	v := w.want(s.Decide(ctx, bash(`f=$(ls); rm "$f"; curl "$(cat in.txt)"`)), policy.Confirm, "what is decided later")
	if !strings.Contains(v.Reason, "a yes opens") || !slices.Equal(v.Choices, []session.Choice{session.Once}) {
		t.Errorf("%q, %v", v.Reason, v.Choices)
	}
	if v := s.Decide(ctx, bash(`git -C "$d" checkout x`)); !strings.Contains(v.Reason, "a yes opens the whole workspace") {
		t.Errorf("%q", v.Reason)
	}
	p := w.confined(s, v)
	if !p.Allows(w.dir+"/ws/in.txt", profiles.Delete).Allowed || p.Allows("/etc/passwd", profiles.Delete).Allowed || !p.Reaches("a.com", 443, profiles.TCP).Allowed {
		t.Error("the yes came to something else")
	}
	if p.Reaches("a.com", 22, profiles.TCP).Allowed || p.Reaches("10.0.0.1", 443, profiles.TCP).Allowed {
		t.Error("the yes came to more")
	}
	w.holds(s, "true", "read write")

	v = s.Decide(ctx, bash("curl http://a.com:8080/"))
	if p := w.confined(s, v); !strings.Contains(v.Reason, "a.com:8080") || !p.Reaches("a.com", 8080, profiles.TCP).Allowed || p.Reaches("a.com", 443, profiles.TCP).Allowed {
		t.Errorf("%q: a port that the address names", v.Reason)
	}
	v = s.Decide(ctx, bash("node server.js & curl http://localhost:8080/"))
	if p := w.confined(s, v); !strings.Contains(v.Reason, "lets it serve there") || len(p.Network.Listen) != 1 || p.Network.Listen[0].Ports != (profiles.PortRange{First: 8080, Last: 8080}) || p.Network.Listen[0].Any {
		t.Errorf("%q: %+v", v.Reason, p.Network.Listen)
	}
	v = s.Decide(ctx, bash("curl http://10.0.0.1:8080/"))
	if p := w.confined(s, v); len(p.Network.Listen) != 0 {
		t.Errorf("a port of another machine: %+v", p.Network.Listen)
	}
	v = s.Decide(ctx, bash("pip install requests"))
	if p := w.confined(s, v); !p.Reaches("pypi.org", 443, profiles.TCP).Allowed || p.Reaches("a.com", 443, profiles.TCP).Allowed {
		t.Error("a package by its name")
	}
}

// TestPattern: a yes to a pattern is to what it stands for when it is asked about, and
// one to a name in a directory to what is in that.
func TestPattern(t *testing.T) {
	w := newWorld(t, "power-user")
	for _, name := range []string{"ws/a.log", "ws/b.log", "ws/keep", "ws/app/[id].tsx", "ws/out/x", "ws/app/.hidden", "ws/.hid", "ws/.hlog", "elsewhere/victim", "elsewhere/y.log"} {
		w.file(name, "")
	}
	for i := range 70 {
		w.file(fmt.Sprintf("ws/many/%d.o", i), "")
	}
	for name, to := range map[string]string{"ws/l.lnk": "../elsewhere/victim", "ws/k.lnk": "keep", "ws/dir": "../elsewhere"} {
		if err := os.Symlink(to, filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := w.start()
	for _, c := range []struct{ command, says, open, shut string }{
		{"rm -f *.log", "a yes opens a.log, b.log", "a.log b.log", "keep app/[id].tsx out/x ../elsewhere/y.log"},
		{"rm 'app/[id].tsx'", "a yes opens app/[id].tsx", "app/[id].tsx", "keep a.log"},
		{`rm "out/$f"`, "a yes opens out", "out/x", "keep a.log"},
		{"rm many/*.o", "a yes opens many", "many/1.o", "keep out/x"},
		{`rm "$f"`, "a yes opens the whole workspace", "keep out/x", "../elsewhere/victim"},
		{"rm *.lnk *.log", "a yes opens", "", "../elsewhere/victim"},
		{"rm -r a*/* *g", "a yes opens", "app/[id].tsx a.log b.log", "app/.hidden .hlog keep"},
		{"rm -rf .[!.]*", "a yes opens .hid, .hlog", ".hid .hlog", "keep a.log"},
		{"rm -f [[:alpha:]].log", "a yes opens the whole workspace", "a.log", "../elsewhere/victim"},
		{"rm id_rsa", "no run deletes one that was there before", "", "keep"},
		{"rm dir/*.log", "a yes opens " + w.dir + "/elsewhere/y.log", "../elsewhere/y.log", "keep ../elsewhere/victim"},
	} {
		v := w.want(s.Decide(ctx, bash(c.command)), policy.Confirm, c.command)
		if !strings.Contains(v.Reason, c.says) {
			t.Errorf("%s: %q, want %q", c.command, v.Reason, c.says)
		}
		p := w.confined(s, v)
		for names, want := range map[string]bool{c.open: true, c.shut: false} {
			for _, name := range strings.Fields(names) {
				if got := p.Allows(filepath.Join(w.dir, "ws", name), profiles.Delete).Allowed; got != want {
					t.Errorf("%s: %s can be deleted: %v, want %v", c.command, name, got, want)
				}
			}
		}
	}
}

// TestYesLeadsNowhereElse: a yes is to the file that the user was asked about,
// whatever takes its name before the run begins.
func TestYesLeadsNowhereElse(t *testing.T) {
	for _, c := range []struct {
		command string
		access  profiles.Access
	}{
		{"rm -rf build", profiles.Delete},
		{"cat conf/.env", profiles.Read},
		{"cat ../outside/x", profiles.Read},
	} {
		for _, swapped := range []bool{false, true} {
			w := newWorld(t, "power-user")
			w.file("ws/build/x", "")
			w.file("ws/conf/.env", "")
			w.file("outside/x", "")
			w.file("victim/x", "")
			w.file("victim/.env", "")
			s := w.start()
			v := w.want(s.Decide(ctx, bash(c.command)), policy.Confirm, c.command)
			name := filepath.Join(w.set.Workspace, strings.Fields(c.command)[len(strings.Fields(c.command))-1])
			reached := name
			if swapped {
				top := name
				if filepath.Base(name) != "build" {
					top = filepath.Dir(name)
				}
				if err := errors.Join(os.RemoveAll(top), os.Symlink(filepath.Join(w.dir, "victim"), top)); err != nil {
					t.Fatal(err)
				}
				if reached = filepath.Join(w.dir, "victim", filepath.Base(name)); top == name {
					reached = filepath.Join(w.dir, "victim", "x")
				}
			}
			if got := w.confined(w.again(s), v).Allows(reached, c.access).Allowed; got == swapped {
				t.Errorf("%s, swapped %v: %s is reached: %v", c.command, swapped, reached, got)
			}
		}
	}
}
