package session_test

import (
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/policy/session"
)

func post(host string) session.Action {
	return action("Post", policy.Request{Capability: "web.post", Hosts: []string{host}})
}

// open lets everything about the network pass, and reading one secret.
const open = `[{"capability":"web.*","effect":"allow"},{"capability":"network.client","effect":"allow"},{"capability":"filesystem.*","effect":"allow"},
	{"capability":"shell.execute","effect":"allow"},{"capability":"agent_memory.*","effect":"allow"},
	{"capability":"secrets.read","effect":"allow","constraints":{"resource_scope":["KEY","/etc/key","~/.aws/credentials"]}}]`

// TestGuard is the decision table: what is asked in a session with content from
// outside.
func TestGuard(t *testing.T) {
	const allow, confirm = policy.Allow, policy.Confirm
	for _, c := range []struct {
		preset                               string
		untrusted                            bool
		clean, reading, fetching, postingOut policy.Effect
	}{
		{"paranoid", false, allow, confirm, confirm, confirm},
		{"standard", false, allow, allow, allow, confirm},
		{"standard", true, allow, confirm, confirm, confirm},
		{"power-user", false, allow, allow, allow, allow},
		{"power-user", true, allow, allow, allow, allow},
		{"ci", false, allow, confirm, confirm, confirm},
	} {
		w := newWorld(t, c.preset)
		w.set.Defaults = entries(t, open)
		s := w.start()
		if c.untrusted {
			dir := w.skill("loose", `[{"capability":"web.fetch","effect":"allow","constraints":{"resource_scope":["a.com","b.com"]}},{"capability":"source_code.read","effect":"allow"}]`)
			w.load(s, dir)
		}
		in := action("Read", policy.Request{Capability: "source_code.read", Paths: []string{"in.txt"}})
		if !c.untrusted {
			in = read("in.txt")
		}
		w.want(s.Decide(ctx, in), c.clean, c.preset+": before")
		if _, tainted := s.Tainted(session.Outside); tainted {
			t.Errorf("%s: reading taints", c.preset)
		}
		w.want(s.Decide(ctx, fetch("a.com")), allow, c.preset+": the first contact")
		if why, tainted := s.Tainted(session.Outside); !tainted || why != "web.fetch a.com" {
			t.Errorf("%s: tainted %v by %q", c.preset, tainted, why)
		}
		s = w.again(s)
		v := w.want(s.Decide(ctx, in), c.reading, c.preset+": reading")
		if c.reading == confirm && (len(v.Choices) != 1 || v.Choices[0] != session.Once) {
			t.Errorf("%s: %v are offered: a yes must not end the guard", c.preset, v.Choices)
		}
		w.want(s.Decide(ctx, fetch("b.com")), c.fetching, c.preset+": fetching")
		if !c.untrusted {
			w.want(s.Decide(ctx, post("b.com")), c.postingOut, c.preset+": posting")
		}
	}
}

// Whatever the host says was from outside counts as that; a taint stays.
func TestMark(t *testing.T) {
	w := newWorld(t, "standard")
	w.set.Defaults = entries(t, open)
	s := w.start()
	w.want(s.Decide(ctx, post("a.com")), policy.Allow, "before")
	w = newWorld(t, "standard")
	w.set.Defaults = entries(t, open)
	s = w.start()
	if s.Mark("dirty", "x") == nil {
		t.Error("there is a taint of any name")
	}
	if err := s.Mark(session.Outside, "a page\x1b[2J"); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(session.Outside, "another"); err != nil {
		t.Fatal(err)
	}
	s = w.again(s)
	if why, _ := s.Tainted(session.Outside); why != `a page\x1b[2J` {
		t.Errorf("the reason is %q", why)
	}
	if err := s.Task(ctx, "the next"); err != nil {
		t.Fatal(err)
	}
	w.want(s.Decide(ctx, post("a.com")), policy.Confirm, "after")
}

// After secrets were read, what leaves the machine asks, until a yes that is
// younger, which is for what was asked.
func TestSensitive(t *testing.T) {
	key := action("Env", policy.Request{Capability: "secrets.read", Names: []string{"KEY"}})
	for what, a := range map[string]session.Action{
		"a variable": key,
		"a command":  bash("cat ~/.aws/credentials"),
	} {
		w := newWorld(t, "power-user")
		w.set.Defaults = entries(t, open)
		w.file("home/.aws/credentials", "x")
		s := w.start()
		w.want(s.Decide(ctx, fetch("a.com")), policy.Allow, "before")
		w.want(s.Decide(ctx, a), policy.Allow, what)
		if _, tainted := s.Tainted(session.Sensitive); !tainted {
			t.Fatalf("%s: not sensitive", what)
		}
		w.want(s.Decide(ctx, read("in.txt")), policy.Allow, what+": reading")
		for name, out := range map[string]session.Action{"fetch": fetch("a.com"), "post": post("a.com"), "command": bash("curl https://a.com/$(cat in.txt)")} {
			w.want(s.Decide(ctx, out), policy.Confirm, what+": "+name)
		}
		v := s.Decide(ctx, fetch("a.com"))
		if err := s.Answer(v.Call, session.ThisSession); err != nil {
			t.Fatal(err)
		}
		w.want(s.Decide(ctx, fetch("a.com")), policy.Allow, what+": answered")
		w.want(s.Decide(ctx, fetch("b.com")), policy.Confirm, what+": another host")
		// Whichever skill: even one that is trusted and declares it.
		w.load(s, w.skill("own/pdf", `[{"capability":"web.post","effect":"allow","constraints":{"resource_scope":["c.com"]}}]`))
		w.want(s.Decide(ctx, post("c.com")), policy.Confirm, what+": a skill's own host")
	}
	// A yes that is older than the secret does not count.
	w := newWorld(t, "power-user")
	s := w.start()
	v := s.Decide(ctx, fetch("a.com"))
	if err := s.Answer(v.Call, session.ThisSession); err != nil {
		t.Fatal(err)
	}
	w.want(s.Decide(ctx, fetch("a.com")), policy.Allow, "granted")
	w.at = w.at.Add(1e9)
	if err := s.Mark(session.Sensitive, "the host saw one"); err != nil {
		t.Fatal(err)
	}
	w.want(s.Decide(ctx, fetch("a.com")), policy.Confirm, "granted before the secret")
}

func TestSharedDirectory(t *testing.T) {
	for _, c := range []struct {
		preset         string
		clean, outside policy.Effect
	}{
		{"paranoid", policy.Confirm, policy.Confirm},
		{"standard", policy.Allow, policy.Confirm},
		{"power-user", policy.Allow, policy.Allow},
		{"ci", policy.Confirm, policy.Confirm},
	} {
		w := newWorld(t, c.preset)
		w.set.Defaults = entries(t, open)
		w.file("shared/x", "")
		w.set.Shared = []string{w.dir + "/shared"}
		write := action("Write", policy.Request{Capability: "filesystem.write", Paths: []string{w.dir + "/shared/x"}})
		write.Requests[0].Arguments = nil
		w.set.Defaults[2].Constraints.WorkspaceOnly = policy.No
		w.set.Defaults[2].Constraints.Scoped = true
		w.set.Defaults[2].Constraints.Scope = []policy.Text{{Value: "/"}}
		s := w.start()
		w.want(s.Decide(ctx, write), c.clean, c.preset+": clean")
		w.want(s.Decide(ctx, read(w.dir+"/shared/x")), policy.Allow, c.preset+": reading")
		if c.preset == "standard" || c.preset == "power-user" {
			if err := s.Mark(session.Outside, "x"); err != nil {
				t.Fatal(err)
			}
			w.want(s.Decide(ctx, write), c.outside, c.preset+": with content from outside")
			w.want(s.Decide(ctx, action("Write", policy.Request{Capability: "filesystem.write", Paths: []string{"in.txt"}})), policy.Allow, c.preset+": elsewhere")
		}
		s.Close()
	}
}

// What asks of a guarded call is said.
func TestGuardSays(t *testing.T) {
	w := newWorld(t, "standard")
	w.set.Defaults = entries(t, open)
	s := w.start()
	s.Mark(session.Outside, "x")
	if v := s.Decide(ctx, post("a.com")); !strings.Contains(v.Reason, "content from outside, or asked for it: web.post is asked") || v.Source != "guard" {
		t.Errorf("%q by %q", v.Reason, v.Source)
	}
}

// A question names what asks, once, and nothing that does not.
func TestGuardNamesTheNeed(t *testing.T) {
	w := newWorld(t, "standard")
	w.set.Defaults = entries(t, `[{"capability":"shell.execute","effect":"allow"},{"capability":"network.client","effect":"allow","constraints":{"resource_scope":["a.com"]}}]`)
	s := w.start()
	s.Mark(session.Outside, "x")
	for command, want := range map[string]string{
		"nc a.com 80":        "a.com:80: the session has content from outside, or asked for it: network.client is asked",
		"nc b.com 80":        "b.com:80: network.client: b.com:80 is outside the declared scope (connects to the host)",
		"npm install lodash": "lodash: package.install: not declared (changes the packages installed)",
	} {
		v := w.want(s.Decide(ctx, bash(command)), policy.Confirm, command)
		if v.Reason != want {
			t.Errorf("%s: %q", command, v.Reason)
		}
		if len(v.Choices) != 1 || v.Choices[0] != session.Once {
			t.Errorf("%s: %v are offered: a yes must not end the guard", command, v.Choices)
		}
	}
}
