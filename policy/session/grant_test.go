package session_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/session"
	"skillrun/policy/skill"
)

// skill makes a skill with a manifest, "" for none, and gives its directory:
// "own/x" is among the user's, "project/x" the project's, else it lies loose.
func (w *world) skill(name, manifest string) string {
	w.t.Helper()
	dir := name
	if rest, ok := strings.CutPrefix(name, "own/"); ok {
		dir = "home/.claude/skills/" + rest
	} else if rest, ok := strings.CutPrefix(name, "project/"); ok {
		dir = "ws/.claude/skills/" + rest
	}
	w.file(dir+"/SKILL.md", "---\nname: "+filepath.Base(name)+"\ndescription: does things\n---\nUse it.\n")
	if manifest != "" {
		w.file(dir+"/skillguard-manifest.json", `{"permissions":`+manifest+`}`)
	}
	return filepath.Join(w.dir, dir)
}

func (w *world) load(s *session.Session, dir string) {
	w.t.Helper()
	w.want(s.Load(ctx, dir, session.ByUser), policy.Allow, "loading "+filepath.Base(dir))
}

// again opens the session as another process would.
func (w *world) again(s *session.Session) *session.Session {
	w.t.Helper()
	s.Close()
	s, err := session.Open(ctx, w.set, "s1")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

func TestChoices(t *testing.T) {
	for _, c := range []struct {
		choice                  session.Choice
		again, nextTask, others policy.Effect
	}{
		{session.Once, policy.Confirm, policy.Confirm, policy.Confirm},
		{session.ThisTask, policy.Allow, policy.Confirm, policy.Confirm},
		{session.ThisSession, policy.Allow, policy.Allow, policy.Confirm},
	} {
		t.Run(c.choice.String(), func(t *testing.T) {
			w := newWorld(t, "power-user") // nothing is asked for being from outside
			s := w.start()
			v := w.want(s.Decide(ctx, fetch("a.com")), policy.Confirm, "nobody declared it")
			if want := []session.Choice{session.Once, session.ThisTask, session.ThisSession}; !slices.Equal(v.Choices, want) {
				t.Fatalf("%v are offered, want %v", v.Choices, want)
			}
			if err := s.Answer(v.Call, session.ThisVersion); err == nil {
				t.Error("an answer that was not offered is taken")
			}
			if err := s.Answer(v.Call, c.choice); err != nil {
				t.Fatal(err)
			}
			if err := s.Answer(v.Call, session.ThisSession); err == nil {
				t.Error("a call is answered twice")
			}
			s = w.again(s)
			w.want(s.Decide(ctx, fetch("a.com")), c.again, "the same")
			w.want(s.Decide(ctx, fetch("x.a.com")), policy.Confirm, "another host")
			w.want(s.Decide(ctx, action("Post", policy.Request{Capability: "web.post", Hosts: []string{"a.com"}})), policy.Confirm, "another capability")
			if err := s.Task(ctx, "the next"); err != nil {
				t.Fatal(err)
			}
			w.want(s.Decide(ctx, fetch("a.com")), c.nextTask, "in the next task")
			other, err := session.Start(ctx, w.set, "s2")
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			w.want(other.Decide(ctx, fetch("a.com")), c.others, "in another session")
		})
	}
}

// TestChoicesWithoutTarget: what names nothing can last where the capability is
// one thing, and nowhere else.
func TestChoicesWithoutTarget(t *testing.T) {
	for capability, lasts := range map[string]bool{
		"process.create": true, "repl.execute": true, "screen.capture": true, "camera.capture": true, "agent_memory.write": true,
		"filesystem.write": false, "web.post": false, "external_api.call": false, "tool.invoke": false, "mcp.execute": false,
		"secrets.read": false, "commit.push": false, "package.install": false, "policy.expand": false, "container.run": false, "env_var.read": false,
	} {
		w := newWorld(t, "power-user")
		w.set.Defaults = []policy.Entry{}
		s := w.start()
		use := action("Tool", policy.Request{Capability: capability})
		v := w.want(s.Decide(ctx, use), policy.Confirm, capability)
		if got := slices.Contains(v.Choices, session.ThisSession); got != lasts {
			t.Errorf("%s: %v are offered", capability, v.Choices)
		}
		err := s.Answer(v.Call, session.ThisSession)
		if (err == nil) != lasts {
			t.Errorf("%s: a yes for the session: %v", capability, err)
		}
		effect := policy.Confirm
		if lasts {
			effect = policy.Allow
		}
		w.want(s.Decide(ctx, use), effect, capability+" again")
	}
}

func TestNo(t *testing.T) {
	w := newWorld(t, "standard")
	s := w.start()
	v := s.Decide(ctx, fetch("a.com"))
	if err := s.Answer(v.Call, session.No); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(v.Call); err == nil {
		t.Error("a call that the user refused has a run")
	}
	if s.Answer(v.Call, session.Once) == nil || s.Answer("", session.Once) == nil || s.Answer("nothing", session.No) == nil {
		t.Error("there is an answer to what was not asked")
	}
	w.want(s.Decide(ctx, fetch("a.com")), policy.Confirm, "the next time")
}

// An answer for the skill's version is kept as long as the skill stays as it is,
// and holds the entry's constraints.
func TestThisVersion(t *testing.T) {
	w := newWorld(t, "power-user")
	dir := w.skill("own/pdf", `[{"capability":"web.post","effect":"confirm","constraints":{"resource_scope":["a.com","b.com"]}},
		{"capability":"external_api.call","effect":"confirm","constraints":{"resource_scope":["a.com"]}}]`)
	post := func(host string) session.Action {
		return action("Post", policy.Request{Capability: "web.post", Hosts: []string{host}})
	}
	s := w.start()
	w.load(s, dir)
	if v := w.want(s.Decide(ctx, action("Call", policy.Request{Capability: "external_api.call", Hosts: []string{"a.com"}})), policy.Confirm, "a system capability"); slices.Contains(v.Choices, session.ThisVersion) {
		t.Error("a system capability is offered for longer than the session")
	}
	v := w.want(s.Decide(ctx, post("a.com")), policy.Confirm, "the skill asks")
	if !slices.Contains(v.Choices, session.ThisVersion) {
		t.Fatal(v.Choices)
	}
	if err := s.Answer(v.Call, session.ThisVersion); err != nil {
		t.Fatal(err)
	}
	later := func(name string, want policy.Effect) {
		t.Helper()
		s, err := session.Start(ctx, w.set, name)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w.want(s.Decide(ctx, post("a.com")), policy.Confirm, "without the skill")
		w.load(s, dir)
		w.want(s.Decide(ctx, post("a.com")), want, name)
		w.want(s.Decide(ctx, post("b.com")), want, name+", all that the entry names")
		w.want(s.Decide(ctx, post("c.com")), policy.Confirm, name+", and no more")
	}
	later("the same version", policy.Allow)
	w.file("home/.claude/skills/pdf/more.md", "x")
	later("another version", policy.Confirm)
}

// A promoted skill is an approved one, and stays it when a yes is added; another
// version is not.
func TestPromoted(t *testing.T) {
	w := newWorld(t, "paranoid")
	dir := w.skill("project/pdf", `[{"capability":"web.post","effect":"confirm","constraints":{"resource_scope":["a.com"]}}]`)
	load := func(name string) (session.Verdict, *session.Session) {
		t.Helper()
		s, err := session.Start(ctx, w.set, name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s.Load(ctx, dir, session.ByUser), s
	}
	v, _ := load("before")
	w.want(v, policy.Deny, "an untrusted skill")
	sk, err := skill.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := skill.Tree(ctx, dir, nil, w.at)
	if err != nil {
		t.Fatal(err)
	}
	store, err := skill.OpenApprovals(filepath.Join(w.set.Dir, "approvals"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Put(skill.Approval{Skill: "pdf", Dir: skill.Path(sk.Dir), Manifest: sk.Manifest, Promoted: true, By: "u", Made: w.at}, entries); err != nil {
		t.Fatal(err)
	}
	v, s := load("promoted")
	w.want(v, policy.Allow, "the promoted skill")
	v = w.want(s.Decide(ctx, action("Post", policy.Request{Capability: "web.post", Hosts: []string{"a.com"}})), policy.Confirm, "what it asks for")
	if err := s.Answer(v.Call, session.ThisVersion); err != nil {
		t.Fatal(err)
	}
	v, _ = load("with a yes")
	w.want(v, policy.Allow, "the promoted skill with a yes")
	w.file("ws/.claude/skills/pdf/more.md", "x")
	v, _ = load("changed")
	w.want(v, policy.Deny, "another version")
}

// By the configuration an answer for the skill's version ends, and a second one
// does not keep the first alive.
func TestThisVersionEnds(t *testing.T) {
	w := newWorld(t, "power-user")
	dir := w.skill("own/pdf", `[{"capability":"web.post","effect":"confirm","constraints":{"resource_scope":["a.com"]}},
		{"capability":"web.fetch","effect":"confirm","constraints":{"resource_scope":["a.com"]}}]`)
	for _, text := range []string{"30d", "365d"} {
		term, err := policy.ParseTerm(text)
		if err != nil {
			t.Fatal(err)
		}
		w.set.Approvals = append(w.set.Approvals, term)
	}
	to := func(capability string) session.Action {
		return action("To", policy.Request{Capability: capability, Hosts: []string{"a.com"}})
	}
	begin := w.at
	// in gives a session with the skill, after so many days.
	in := func(days int) *session.Session {
		t.Helper()
		w.at = begin.Add(time.Duration(days) * 24 * time.Hour)
		s, err := session.Start(ctx, w.set, fmt.Sprintf("day-%d", days))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		v := w.want(s.Load(ctx, dir, session.ByUser), policy.Allow, "loading")
		if strings.Contains(v.Reason, "which is past") != (days >= 30) {
			t.Errorf("day %d: %s", days, v.Reason)
		}
		return s
	}
	keep := func(s *session.Session, capability string) {
		t.Helper()
		v := w.want(s.Decide(ctx, to(capability)), policy.Confirm, capability)
		if err := s.Answer(v.Call, session.ThisVersion); err != nil {
			t.Fatal(err)
		}
	}
	keep(in(0), "web.post")
	s := in(20)
	w.want(s.Decide(ctx, to("web.post")), policy.Allow, "before the end")
	keep(s, "web.fetch")
	s = in(29)
	w.want(s.Decide(ctx, to("web.fetch")), policy.Allow, "the second answer")
	s = in(30)
	w.want(s.Decide(ctx, to("web.post")), policy.Confirm, "the first at its end")
	w.want(s.Decide(ctx, to("web.fetch")), policy.Confirm, "the second with it")
	ends := 0
	for r, err := range audit.Records(w.set.Dir) {
		if err != nil {
			t.Fatal(err)
		}
		if g := r.Grant; g != nil && g.For == "version" && g.Until.Equal(begin.Add(30*24*time.Hour).Truncate(time.Second)) {
			ends++
		}
	}
	if ends != 2 {
		t.Errorf("%d records tell the end, want 2", ends)
	}
}

// An entry's expiry, window, rate and patterns go with the yes to it.
func TestGrantKeepsConstraints(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	w := newWorld(t, "power-user")
	w.at = at
	w.set.Defaults = entries(t, `[
		{"capability":"web.fetch","effect":"confirm","expires_at":"2026-03-04T12:10:00Z"},
		{"capability":"web.post","effect":"confirm","constraints":{"time_window":{"start":"12:00","end":"12:10"}}},
		{"capability":"external_api.call","effect":"confirm","constraints":{"rate_limit":{"max":3,"per":"hour"}}},
		{"capability":"tool.invoke","effect":"confirm","constraints":{"arguments":{"format":["csv"]}}},
		{"capability":"shell.execute","effect":"confirm","constraints":{"denied_command_patterns":["push"]}},
		{"capability":"commit.read","effect":"allow"},
		{"capability":"process.query","effect":"allow","constraints":{"rate_limit":{"max":2,"per":"hour"}}}]`)
	s := w.start()
	call := func(r policy.Request) session.Verdict { return s.Decide(ctx, action("T", r)) }
	host := func(capability string) policy.Request {
		return policy.Request{Capability: capability, Hosts: []string{"a.com"}}
	}
	invoke := func(format string) policy.Request {
		return policy.Request{Capability: "tool.invoke", Arguments: map[string]string{"format": format}}
	}
	for _, r := range []policy.Request{host("web.fetch"), host("web.post"), host("external_api.call"), invoke("csv"), {Capability: "shell.execute", Command: "git log"}} {
		v := w.want(call(r), policy.Confirm, r.Capability)
		if err := s.Answer(v.Call, session.ThisSession); err != nil {
			t.Fatal(err)
		}
		w.want(call(r), policy.Allow, r.Capability+", granted")
	}
	w.want(call(host("external_api.call")), policy.Allow, "the third use")
	w.want(call(host("external_api.call")), policy.Confirm, "over the rate")
	w.want(call(invoke("xml")), policy.Confirm, "another argument")
	many := action("T", policy.Request{Capability: "process.query"})
	many.Requests = append(many.Requests, many.Requests[0], many.Requests[0])
	w.want(s.Decide(ctx, many), policy.Allow, "a call is one use")
	w.want(s.Decide(ctx, many), policy.Allow, "the second")
	w.want(s.Decide(ctx, many), policy.Confirm, "the third")
	w.want(call(policy.Request{Capability: "shell.execute", Command: "git push"}), policy.Deny, "a denied pattern")
	w.at = at.Add(10 * time.Minute)
	w.want(call(host("web.fetch")), policy.Confirm, "expired")
	w.want(call(host("web.post")), policy.Confirm, "out of the window")
	w.at = at.Add(2 * time.Hour)
	w.want(call(host("external_api.call")), policy.Allow, "the rate's hour is over")
}

// What the configuration grants holds in every session, for one skill where it
// says so.
func TestPersistentGrants(t *testing.T) {
	w := newWorld(t, "power-user")
	dir := w.skill("own/pdf", "")
	grant := func(text string) policy.Entry {
		e, err := policy.ParseGrant(text, "config")
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	w.set.Grants = []policy.Entry{grant("web.fetch:a.com"), grant("external_api.call:a.com")}
	w.set.SkillGrants = func(of string, tier policy.Tier) []policy.Entry {
		if of == dir && tier == policy.Approved {
			return []policy.Entry{grant("web.fetch:b.com")}
		}
		return nil
	}
	s := w.start()
	w.want(s.Decide(ctx, fetch("a.com")), policy.Allow, "granted")
	w.want(s.Decide(ctx, action("Call", policy.Request{Capability: "external_api.call", Hosts: []string{"a.com"}})), policy.Allow, "a system capability, by name")
	w.want(s.Decide(ctx, fetch("b.com")), policy.Confirm, "granted to a skill that is not loaded")
	w.load(s, dir)
	w.want(s.Decide(ctx, fetch("b.com")), policy.Allow, "granted to the skill")
	// Configuration is no part of the document: it counts as it is now.
	w.set.Grants, w.set.SkillGrants = nil, nil
	s = w.again(s)
	w.want(s.Decide(ctx, fetch("a.com")), policy.Confirm, "taken back")
}

// asker answers as it is told, and keeps what it was asked.
type asker struct {
	choice session.Choice
	err    error
	asked  []session.Prompt
}

func (a *asker) Ask(_ context.Context, p session.Prompt) (session.Choice, error) {
	a.asked = append(a.asked, p)
	return a.choice, a.err
}

func TestAsker(t *testing.T) {
	for _, c := range []struct {
		name   string
		asker  session.Asker
		effect policy.Effect
		reason string
	}{
		{"yes", &asker{choice: session.Once}, policy.Allow, "allowed by the user (once)"},
		{"no", &asker{}, policy.Deny, "the user said no"},
		{"nobody", session.DenyAll{}, policy.Deny, "the user said no"},
		{"no answer", &asker{choice: session.Once, err: errors.New("gone")}, policy.Deny, "nobody could be asked: gone"},
		{"not offered", &asker{choice: session.ThisVersion}, policy.Deny, "was not offered"},
		{"no choice", &asker{choice: 99}, policy.Deny, "was not offered"},
	} {
		w := newWorld(t, "standard")
		w.set.Asker = c.asker
		s := w.start()
		if v := w.want(s.Decide(ctx, fetch("a.com")), c.effect, c.name); !strings.Contains(v.Reason, c.reason) || (v.Call == "") != (c.effect == policy.Deny) {
			t.Errorf("%s: %s, call %q", c.name, v.Reason, v.Call)
		}
		s.Close()
	}
	a := &asker{choice: session.ThisSession}
	w := newWorld(t, "standard")
	w.set.Asker = a
	s := w.start()
	w.want(s.Decide(ctx, read("in.txt")), policy.Allow, "what is allowed")
	if len(a.asked) != 0 {
		t.Fatal("asked about what is allowed")
	}
	w.want(s.Decide(ctx, bash("curl https://a.com/\x1b[2J\u202e -o \u200bx # \a")), policy.Allow, "a command")
	w.want(s.Decide(ctx, fetch("a.com")), policy.Allow, "what the yes was about")
	if len(a.asked) != 1 || len(a.asked[0].Needs) == 0 {
		t.Fatalf("asked %+v", a.asked)
	}
	p := a.asked[0]
	for _, text := range []string{p.Reason, p.Needs[0].Target, p.Needs[0].Reason} {
		if strings.ContainsAny(text, "\x1b\a\u202e\u200b") {
			t.Errorf("a prompt has %q", text)
		}
	}
	if want := "curl https://a.com/\x1b[2J\u202e -o \u200bx # \a"; p.Input != want {
		t.Errorf("the prompt has %q, want %q", p.Input, want)
	}
	if p.Choices[0] != "deny" || p.Session != "s1" || p.Tool != "Bash" {
		t.Errorf("%+v", p)
	}
}

// Risky calls are asked although they are allowed.
func TestRisky(t *testing.T) {
	write := func(r policy.Request) session.Action { return action("Write", r) }
	in := policy.Request{Capability: "filesystem.write", Paths: []string{"in.txt"}}
	for risk, want := range map[policy.Risk][3]policy.Effect{
		policy.RiskNone:   {policy.Allow, policy.Allow, policy.Allow},
		policy.RiskHigh:   {policy.Allow, policy.Allow, policy.Confirm},
		policy.RiskMedium: {policy.Allow, policy.Confirm, policy.Confirm},
		policy.RiskLow:    {policy.Confirm, policy.Confirm, policy.Confirm},
	} {
		w := newWorld(t, "standard")
		w.set.Risky = risk
		s := w.start()
		w.want(s.Decide(ctx, read("in.txt")), want[0], risk.String()+": reading")
		w.want(s.Decide(ctx, write(in)), want[1], risk.String()+": writing")
		v := w.want(s.Decide(ctx, bash("echo x")), want[2], risk.String()+": executing")
		if want[2] == policy.Confirm {
			if err := s.Answer(v.Call, session.ThisSession); err != nil {
				t.Fatal(err)
			}
			w.want(s.Decide(ctx, bash("echo x")), policy.Allow, risk.String()+": answered")
		}
		w.want(s.Decide(ctx, read("/etc/hostname")), policy.Confirm, risk.String()+": what asks anyway")
		s.Close()
	}
}
