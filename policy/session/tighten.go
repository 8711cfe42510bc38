package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrun/policy"
	"skillrun/profiles"
)

// tighten applies what can only make an answer stricter: what the session has
// been touched by, shared directories, risk. A yes of the user that came after
// the reason to ask answers it.
func (s *Session) tighten(st *policy.State, j *judged) {
	ask := func(since time.Time, why string, exact bool) {
		if j.need.Effect != policy.Allow {
			return
		}
		if g := st.Grantor(j.request, since); g == nil {
			j.need.Effect, j.need.Reason = policy.Confirm, why
			if exact {
				j.answer.Entry = nil // a yes is for what was asked, not for all that the entry allows
			}
		}
	}
	if m, ok := s.more.Taint[Sensitive]; ok && egress(j.c) {
		ask(m.At, "the session has read secrets, or asked for them ("+m.Why+"): what leaves the machine is asked", true)
	}
	if why := s.sharedWrite(j); why != "" {
		ask(s.state.Initialized, why, false)
	}
	if s.set.Risky > policy.RiskNone && j.c.Risk() >= s.set.Risky {
		ask(s.state.Initialized, fmt.Sprintf("%s is of %s risk, which is asked", j.c.Name, j.c.Risk()), false)
	}
}

// egress says whether a capability sends something off the machine.
func egress(c *policy.Capability) bool {
	switch c.Name {
	case "network_policy.modify":
		return false
	case "commit.push", "package.install", "mcp.execute", "tool.invoke", "subagent.delegate":
		return true
	}
	return c.Group == "Network"
}

// sharedWrite says why a write to a shared directory waits for the user.
func (s *Session) sharedWrite(j *judged) string {
	if !strings.HasSuffix(j.c.Name, ".write") && !strings.HasSuffix(j.c.Name, ".delete") {
		return ""
	}
	_, outside := s.more.Taint[Outside]
	for _, p := range j.request.Paths {
		for _, dir := range s.set.Shared {
			switch {
			case !profiles.Within(dir, p):
			case s.set.Preset.SharedWrites == policy.SharedQueue:
				return "writes to the shared directory are asked"
			case s.set.Preset.SharedWrites == policy.SharedTainted && outside:
				return "the session has content from outside, or asked for it, and this writes to the shared directory"
			}
		}
	}
	return ""
}

// touch taints the session by what it is about to do.
func (s *Session) touch(j *judged) {
	switch {
	case j.c.Name == "secrets.read", j.secret:
		s.taint(Sensitive, "secrets.read "+clip(j.need.Target, 80))
	case egress(j.c) && j.c.Name != "commit.push" && j.c.Name != "subagent.delegate":
		s.taint(Outside, j.c.Name+" "+clip(j.need.Target, 80))
	}
}

func (s *Session) taint(t Taint, why string) {
	if _, ok := s.more.Taint[t]; ok {
		return
	}
	if s.more.Taint == nil {
		s.more.Taint = map[Taint]mark{}
	}
	s.more.Taint[t] = mark{s.now(), policy.Escape(strings.TrimSpace(why))}
}

// Mark notes that the session was touched: by content from outside, or by
// secrets. Decide does so by itself for what it lets pass.
func (s *Session) Mark(t Taint, why string) error {
	if t != Outside && t != Sensitive {
		return fmt.Errorf("session %q: unknown taint %q", s.state.ID, string(t))
	}
	s.taint(t, clip(why, 200))
	return s.save()
}

// guarded is Armorclaw's decision table (skills security, section 14) under the
// preset's column: which calls must be looked at, and for which of their needs, one
// that asks by itself if there is one.
func (s *Session) guarded(needs []judged) (why string, n *judged) {
	if _, outside := s.more.Taint[Outside]; !outside || s.set.Preset.Guard == policy.GuardOff || len(needs) == 0 {
		return "", nil
	}
	n = &needs[0]
	if i := slices.IndexFunc(needs, func(n judged) bool { return n.need.Effect == policy.Confirm }); i >= 0 {
		n = &needs[i]
	}
	untrusted := false
	for _, k := range s.more.Skills {
		untrusted = untrusted || k.Tier <= policy.Untrusted
	}
	switch {
	case untrusted:
		return "the session has content from outside, or asked for it, and an untrusted skill: every call is asked", n
	case s.set.Preset.Guard == policy.GuardTainted:
		return "the session has content from outside, or asked for it: every call is asked", n
	}
	for i := range needs {
		if n := &needs[i]; n.c != nil && sensitive(n.c) {
			return "the session has content from outside, or asked for it: " + n.c.Name + " is asked", n
		}
	}
	return "", nil
}

// sensitive names the capabilities that act where it cannot be taken back:
// Armorclaw's writes by OAuth and to shared memory.
func sensitive(c *policy.Capability) bool {
	switch c.Name {
	case "web.post", "web.interact", "network.client", "agent_memory.write", "shell_profile.write", "scheduled_job.create":
		return true
	case "agent_memory.read", "tool.read":
		return false
	}
	return c.Level == policy.System || c.Level == policy.Redact
}

// guard has the calls looked at that the table names: by the external guard, or
// else by the user.
func (s *Session) guard(ctx context.Context, a *Action, needs []judged) error {
	why, n := s.guarded(needs)
	if why == "" {
		return nil
	}
	effect := policy.Confirm
	if s.set.Guard != nil {
		question := struct {
			Session string     `json:"session"`
			Tool    string     `json:"tool"`
			Input   string     `json:"input"`
			Why     string     `json:"why"`
			Needs   []needJSON `json:"needs"`
		}{s.state.ID, a.Tool, a.Input, why, needsJSON(needs)}
		if question.Input == "" {
			question.Input = a.command()
		}
		var reason string
		var err error
		if effect, reason, err = s.set.Guard.guard(ctx, question); err != nil {
			return err
		}
		if reason != "" {
			why = "guard: " + policy.Escape(clip(reason, 200))
		}
	}
	if effect < n.need.Effect {
		n.need.Effect, n.need.Reason, n.need.Source = effect, why, "guard"
	}
	if effect == policy.Confirm {
		n.single = true
	}
	return nil
}

type needJSON struct {
	Capability string `json:"capability"`
	Target     string `json:"target,omitempty"`
	Exact      bool   `json:"exact,omitempty"`
	Decision   string `json:"decision"`
}

func needsJSON(needs []judged) []needJSON {
	list := make([]needJSON, len(needs))
	for i := range needs {
		n := &needs[i].need
		list[i] = needJSON{n.Capability, n.Target, n.Exact, n.Effect.String()}
	}
	return list
}
