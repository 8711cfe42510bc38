package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/policy/session"
	"skillrun/profiles"
)

// confined is the profile of the command of a call that was not denied.
func (w *world) confined(s *session.Session, v session.Verdict) *profiles.Profile {
	w.t.Helper()
	run, err := s.Run(v.Call)
	if err != nil {
		w.t.Fatalf("%v (%s): %v", v.Effect, v.Reason, err)
	}
	h := &profiles.Host{OS: "linux", Home: w.set.Home, User: "u", CaseSensitive: true, Env: map[string]string{"PATH": os.Getenv("PATH")}, FS: os.DirFS("/")}
	p, err := run.Set.Profile(h, policy.Inputs{Workspace: run.Workspace, Skill: run.Skill, Cwd: run.Workspace, Program: "sh", Now: w.at})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// can lists what of a fixed set of things a profile allows, in their order.
func (w *world) can(p *profiles.Profile) string {
	var can []string
	for _, one := range []struct {
		name string
		ok   bool
	}{
		{"read", p.Allows(w.dir+"/ws/in.txt", profiles.Read).Allowed},
		{"write", p.Allows(w.dir+"/ws/in.txt", profiles.Write).Allowed},
		{"etc", p.Allows("/opt/x", profiles.Read).Allowed},
		{"a.com", p.Reaches("a.com", 443, profiles.TCP).Allowed},
		{"b.com", p.Reaches("b.com", 443, profiles.TCP).Allowed},
	} {
		if one.ok {
			can = append(can, one.name)
		}
	}
	return strings.Join(can, " ")
}

func (w *world) holds(s *session.Session, command, want string) {
	w.t.Helper()
	v := s.Decide(ctx, bash(command))
	if got := w.can(w.confined(s, v)); got != want {
		w.t.Errorf("%s: %q can %q, want %q", v.Reason, command, got, want)
	}
}

// TestRun is what the commands of a session may do, whatever they then do.
func TestRun(t *testing.T) {
	w := newWorld(t, "power-user")
	s := w.start()
	w.holds(s, "true", "read write")
	// A yes to this command holds for it, and for no other.
	w.holds(s, "curl https://a.com/", "read write a.com")
	w.holds(s, "true", "read write")
	w.holds(s, "cat /opt/x", "read write etc")
	v := s.Decide(ctx, bash("curl https://a.com/"))
	if err := s.Answer(v.Call, session.ThisTask); err != nil {
		t.Fatal(err)
	}
	w.holds(s, "true", "read write a.com")
	if err := s.Task(ctx, "the next"); err != nil {
		t.Fatal(err)
	}
	w.holds(s, "true", "read write")
	v = s.Decide(ctx, fetch("b.com"))
	if err := s.Answer(v.Call, session.ThisSession); err != nil {
		t.Fatal(err)
	}
	w.holds(s, "true", "read write b.com")
	s = w.again(s)
	w.holds(s, "true", "read write b.com")
	// What leaves the machine waits for a yes that is younger than the secret.
	w.at = w.at.Add(1e9)
	if err := s.Mark(session.Sensitive, "x"); err != nil {
		t.Fatal(err)
	}
	w.holds(s, "true", "read write")
	w.holds(s, "curl https://b.com/", "read write b.com")
	w.holds(s, "true", "read write")
}

func TestRunOnce(t *testing.T) {
	w := newWorld(t, "standard")
	s := w.start()
	v := s.Decide(ctx, bash("true"))
	w.confined(s, v)
	if _, err := s.Run(v.Call); err == nil {
		t.Error("a call has two runs")
	}
	for _, id := range []string{"", "nothing"} {
		if _, err := s.Run(id); err == nil {
			t.Errorf("call %q has a run", id)
		}
	}
	v = s.Decide(ctx, bash("true"))
	for range 64 {
		s.Decide(ctx, bash("true"))
	}
	if _, err := s.Run(v.Call); err == nil {
		t.Error("a call of long ago has a run")
	}
}

// TestRunOfSkills: a run has the rights of the skill that acts, within those of
// every untrusted one that is loaded.
func TestRunOfSkills(t *testing.T) {
	w := newWorld(t, "power-user")
	const run = `{"capability":"shell.execute","effect":"allow"},{"capability":"source_code.execute","effect":"allow"},{"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}}`
	good := w.skill("own/good", `[`+run+`,{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["a.com","b.com"]}}]`)
	w.file("home/.claude/skills/good/run.sh", "echo good\n")
	bad := w.skill("bad", `[`+run+`,{"capability":"filesystem.write","effect":"allow","constraints":{"workspace_only":true}},{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["b.com"]}}]`)
	w.file("bad/run.sh", "echo bad >out.txt\n")
	s := w.start()
	w.load(s, good)
	byGood, byBad := "bash "+filepath.Join(good, "run.sh"), "bash "+filepath.Join(bad, "run.sh")
	w.holds(s, "true", "read write a.com b.com") // of the pool
	w.holds(s, byGood, "read a.com b.com")       // of the skill
	w.load(s, bad)
	w.holds(s, byGood, "read b.com")
	w.holds(s, byBad, "read write b.com") // at the user's word: its "allow" asks
	// Files of both: what both have, also where one starts the other.
	w.holds(s, byGood+"; "+byBad, "read b.com")
	w.file("home/.claude/skills/good/both.sh", byBad+"\n")
	w.holds(s, "bash "+filepath.Join(good, "both.sh"), "read b.com")
	// Loaded skills can be read, by whichever command.
	p := w.confined(s, s.Decide(ctx, bash("true")))
	for dir, want := range map[string]bool{good: true, bad: true, w.dir + "/home": false} {
		if got := p.Allows(filepath.Join(dir, "SKILL.md"), profiles.Read).Allowed; got != want {
			t.Errorf("%s can be read: %v", dir, got)
		}
		if p.Allows(filepath.Join(dir, "SKILL.md"), profiles.Write).Allowed {
			t.Errorf("%s can be written", dir)
		}
	}
}

func TestRunInTaskScope(t *testing.T) {
	w := newWorld(t, "power-user")
	w.set.Defaults = entries(t, `[{"capability":"filesystem.*","effect":"allow","constraints":{"workspace_only":true}},{"capability":"shell.execute","effect":"allow"},
		{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["a.com","b.com"]}}]`)
	w.set.Scope = w.program("scope", `cat >/dev/null; echo '{"task_scope":[{"capability":"filesystem.read","effect":"allow"},{"capability":"shell.execute","effect":"allow"},
		{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["b.com","c.com"]}}]}'`)
	s := w.start()
	w.holds(s, "true", "read write a.com b.com")
	if err := s.Task(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	w.holds(s, "true", "read b.com")
}

// Bash(git:*) holds what is typed: the call, and the run that it is.
func TestSpecifier(t *testing.T) {
	for tier, place := range map[string]string{"untrusted": "loose", "approved": "own/git"} {
		w := newWorld(t, "power-user")
		dir := w.skill(place, "")
		w.file(strings.TrimPrefix(dir, w.dir+"/")+"/SKILL.md", "---\nname: git\ndescription: does things\nallowed-tools: Bash(git:*) Read\n---\n")
		w.set.Defaults = entries(t, `[{"capability":"context.load","effect":"allow"}]`)
		w.set.Undeclared = map[policy.Level]policy.Effect{}
		s := w.start()
		w.want(s.Decide(ctx, bash("git status")), policy.Deny, tier+": before it is loaded")
		w.load(s, dir)
		v := s.Decide(ctx, bash("git status"))
		if v.Effect == policy.Deny {
			t.Errorf("%s: git status: %s", tier, v.Reason)
			continue
		}
		w.confined(s, v)
		for _, n := range v.Needs {
			if n.Capability == "commit.read" {
				t.Errorf("%s: %+v: who may read the workspace may read its history", tier, n)
			}
		}
		for _, command := range []string{"rm x", "gitx", "git status; rm x", "git log | sh", "git $(rm x)", "X=1 rm x", "sh -c 'git status'", "env git status", "\\git status\nrm x"} {
			w.want(s.Decide(ctx, bash(command)), policy.Deny, tier+": "+command)
		}
	}
}

// TestStarted: who may run programs may run scripts that start some, as in a run,
// unless somebody says something on that or nothing confines them.
func TestStarted(t *testing.T) {
	const script = "import subprocess\nsubprocess.run(['git', 'log'])\n"
	begin := func(defaults string) (*world, *session.Session) {
		w := newWorld(t, "standard")
		w.set.Defaults = entries(t, `[`+defaults+`,{"capability":"source_code.execute","effect":"allow"},{"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}}]`)
		w.file("ws/log.py", script)
		return w, w.start()
	}
	w, s := begin(`{"capability":"shell.execute","effect":"allow"}`)
	w.want(s.Decide(ctx, bash("python3 log.py")), policy.Allow, "programs are allowed")
	loose := bash("python3 log.py")
	loose.Confined = false
	w.want(s.Decide(ctx, loose), policy.Confirm, "not confined")
	w.load(s, w.skill("silent", ""))
	w.want(s.Decide(ctx, bash("python3 "+w.file("silent/log.py", script))), policy.Allow, "an untrusted skill without a manifest")

	w, s = begin(`{"capability":"shell.execute","effect":"allow"},{"capability":"process.create","effect":"deny"}`)
	w.want(s.Decide(ctx, bash("python3 log.py")), policy.Deny, "somebody denies it")
	w.want(s.Decide(ctx, bash("cat log.py")), policy.Allow, "which is about what scripts start")
	w, s = begin(`{"capability":"shell.execute","effect":"confirm"}`)
	w.want(s.Decide(ctx, bash("python3 log.py")), policy.Confirm, "programs are asked")
}

// TestOwnScripts: who may run programs may give them scripts of its own and of the
// workspace, as in a run; not what it could not read, and not if nothing confines it.
func TestOwnScripts(t *testing.T) {
	w := newWorld(t, "standard")
	host := &profiles.Host{OS: "linux", Home: w.set.Home, User: "u", CaseSensitive: true, Env: map[string]string{}, FS: os.DirFS("/")}
	w.set.Protected = func() *policy.Protected { return policy.NewProtected(host, w.set.Workspace, w.set.Dir) }
	dir := w.skill("docx", "")
	w.file("docx/SKILL.md", "---\nname: docx\ndescription: does things\nallowed-tools: Bash(python3:*) Read\n---\n")
	w.file("docx/scripts/pack.py", "print(1)\n")
	w.file("ws/s.py", "print(1)\n")
	w.file("ws/.env", "print(1)\n")
	w.file("outside/s.py", "print(1)\n")
	s := w.start()
	w.load(s, dir)
	own := "python3 " + dir + "/scripts/pack.py"
	for _, command := range []string{own, "python3 s.py"} {
		w.want(s.Decide(ctx, bash(command)), policy.Confirm, command) // as the skill's right to programs is
	}
	loose := bash(own)
	loose.Confined = false
	w.want(s.Decide(ctx, loose), policy.Deny, "not confined")
	for _, command := range []string{"sh s.py", "./s.py", "python3 .env", "python3 ../outside/s.py", "python3 s.py; ls"} {
		w.want(s.Decide(ctx, bash(command)), policy.Deny, command)
	}
	w = newWorld(t, "standard")
	dir = w.skill("lists", `[{"capability":"shell.execute"},{"capability":"filesystem.read"}]`)
	w.file("lists/a.py", "print(1)\n")
	s = w.start()
	w.load(s, dir)
	if v := s.Decide(ctx, bash("python3 "+dir+"/a.py")); !slices.ContainsFunc(v.Needs, func(n session.Need) bool { return n.Capability == "source_code.execute" }) {
		t.Errorf("a manifest that lists capabilities, without scripts: %+v", v.Needs)
	}
	w = newWorld(t, "standard")
	dir = w.skill("reads", "")
	w.file("reads/SKILL.md", "---\nname: reads\ndescription: does things\nallowed-tools: Read\n---\n")
	w.file("reads/a.py", "print(1)\n")
	s = w.start()
	w.load(s, dir)
	w.want(s.Decide(ctx, bash("python3 "+dir+"/a.py")), policy.Deny, "no programs")
}

// Patterns and rates were held when the call was decided: they are no gaps of
// its run.
func TestRunHasNoGaps(t *testing.T) {
	w := newWorld(t, "paranoid")
	w.set.Defaults = entries(t, `[{"capability":"shell.execute","effect":"allow","constraints":{"denied_command_patterns":["push"],"rate_limit":{"max":9,"per":"hour"}}},{"capability":"filesystem.read","effect":"allow"}]`)
	s := w.start()
	v := s.Decide(ctx, bash("true"))
	for _, d := range w.confined(s, v).Demands {
		if profiles.Must(d.Name) {
			t.Errorf("%s is a gap", d.Name)
		}
	}
}
