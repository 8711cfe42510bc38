package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/scan"
)

// judged is a need with what was decided and what is needed to ask about it.
type judged struct {
	need    Need
	c       *policy.Capability
	request policy.Request
	answer  policy.Answer
	single  bool // a yes counts for this call only
	secret  bool // it gives a secret away
	// grants is what a run gets for a yes, where that is called otherwise than
	// what was asked for.
	grants string
	// refused is what was remembered, where that is what this is about.
	refused *refused
}

// look is what was found out about an action besides its needs.
type look struct {
	scanned bool // its command was read
	certain bool // the acting skills follow from the files that it runs
}

// Decide decides one call of a tool. Whatever fails on the way is a denial with
// the reason.
func (s *Session) Decide(ctx context.Context, a Action) Verdict {
	begin := time.Now()
	v, needs, look, err := s.decide(ctx, &a)
	if err != nil {
		v = Verdict{Reason: policy.Escape(err.Error()), Skills: v.Skills, Notes: v.Notes}
	}
	id := audit.NewID()
	if v.Effect == policy.Confirm {
		for i := range needs {
			if w := needs[i].refused; w != nil {
				w.Call = id
			}
		}
		if s.set.Asker != nil {
			s.ask(ctx, &a, &v, needs)
		}
	}
	if v.Effect != policy.Deny {
		c, err := s.callOf(id, &v, needs, look.certain)
		if err == nil {
			err = s.keep(&c)
		}
		if err != nil {
			v = Verdict{Reason: err.Error(), Skills: v.Skills, Notes: v.Notes, Needs: v.Needs}
		} else {
			v.Call = id
			s.more.Calls = append(s.more.Calls, c)
		}
	}
	record := &audit.Decision{
		Session: s.state.ID, Run: v.Call, Event: a.Event, Tool: a.Tool, Skill: strings.Join(v.Skills, ", "), Capability: a.capability(),
		Verdict: word(v.Effect), Reason: v.Reason, Source: v.Source, Input: cmp.Or(a.Input, a.command()), Scanned: look.scanned, Took: time.Since(begin),
	}
	for _, n := range v.Needs {
		record.Needs = append(record.Needs, audit.Need{Capability: n.Capability, Target: n.Target, Exact: n.Exact, Verdict: word(n.Effect), Reason: n.Reason, Source: n.Source})
	}
	if err := s.log.Append(record); err != nil {
		return Verdict{Reason: "cannot record the decision: " + policy.Escape(err.Error())}
	}
	if err := s.save(); err != nil {
		return Verdict{Reason: policy.Escape(err.Error())}
	}
	return v
}

// word is an effect as the audit log and hosts call it.
func word(e policy.Effect) string {
	switch e {
	case policy.Allow:
		return "allow"
	case policy.Confirm:
		return "ask"
	}
	return "deny"
}

// mostPaths is how many paths of one call are judged, each within a millisecond: an
// agent waits for it.
const mostPaths = 4096

// decide is the work of Decide: it reads the command of the action, finds the skills
// that act, loads those that nobody loaded yet, judges every need by the policy now in
// force, and sums the judgements up. Where nothing is denied it counts the use and
// remembers what the session has seen.
func (s *Session) decide(ctx context.Context, a *Action) (v Verdict, needs []judged, look look, err error) {
	s.seen = &links{run: a.Confined, texts: map[string]string{}}
	if s.more.NoTask != "" {
		return v, nil, look, fmt.Errorf("the task has no scope: %s", s.more.NoTask)
	}
	if err := a.check(); err != nil {
		return v, nil, look, err
	}
	dir, err := s.dirOf(a.Dir)
	if err != nil {
		return v, nil, look, err
	}
	var read scan.Result
	if a.command() != "" {
		look.scanned = true
		read = s.scan(a, dir)
	}
	files := append(read.Files, s.executed(&read, dir)...)
	// A script of a skill that nobody loaded loads it, and so does reading its
	// text: that is how agents without a tool for it load skills.
	found, err := s.implied(ctx, append(s.texts(a, &read, dir), files...), dir)
	if err != nil {
		return v, nil, look, err
	}
	acting, certain := s.acting(a, dir, files)
	v.Skills, look.certain = acting, certain
	st, err := s.live(acting)
	if err != nil {
		return v, nil, look, err
	}
	now := s.now()
	for _, r := range a.Requests {
		target := strings.Join(slices.Concat(r.Paths, r.Hosts, r.Names), ", ")
		needs = append(needs, s.judge(st, s.requestOf(a, r, dir, now), target, true, ""))
	}
	needs = append(needs, found...)
	own, err := s.needsOf(a, st, &read, dir, now)
	if err != nil {
		return v, nil, look, err
	}
	needs = append(needs, own...)
	if _, no := s.set.Asker.(DenyAll); a.Confined && (a.Asks || s.set.Asker != nil) && !no {
		needs = append(needs, s.again(a, st, &read, dir, mostStands-asking(needs)-1)...)
	}
	needs = append(needs, s.unread(a, &read, &v)...)
	if n := &needs[0].need; a.Starts != "" && n.Effect != policy.Deny {
		n.Effect, n.Reason, needs[0].single = policy.Confirm, starts(a.Starts), true
	}
	if err := s.guard(ctx, a, needs); err != nil {
		return v, nil, look, err
	}
	v.sum(needs)
	v.Choices = s.choices(needs)
	if v.Effect == policy.Deny {
		return v, needs, look, nil
	}
	counted := map[string]bool{} // a call is one use, whatever it needs the capability for
	for i := range needs {
		if name := needs[i].c.Name; !counted[name] {
			counted[name] = true
			s.used(st, name, now)
		}
		s.touch(&needs[i])
	}
	return v, needs, look, nil
}

// starts says in a question what the agent starts by itself.
func starts(what string) string {
	return "the agent itself starts " + what + ", outside of skillrun and with all of the user's rights"
}

// check finds what no call has that is to be decided.
func (a *Action) check() error {
	if len(a.Requests) == 0 {
		return errors.New("the call has no request")
	}
	if strings.ContainsRune(a.command(), 0) {
		return errors.New("the command has a zero byte in it")
	}
	paths := 0
	for i := range a.Requests {
		if slices.ContainsFunc(a.Requests[i].Paths, func(p string) bool { return len(p) > policy.MaxPath }) {
			return fmt.Errorf("a path of more than %d bytes", policy.MaxPath)
		}
		if paths += len(a.Requests[i].Paths); paths > mostPaths {
			return fmt.Errorf("more than %d paths; in several calls it may pass", mostPaths)
		}
	}
	return nil
}

// shownTargets is how many of the files that a pattern stands for a reason names.
const shownTargets = 5

// sum gives the verdict on all needs: the strictest. Of several that are as
// strict the reason is that of the gravest, and names the others, every
// one of them, the graver first: a yes is to all of them.
func (v *Verdict) sum(needs []judged) {
	v.Effect = policy.Allow
	worst := 0
	for i := range needs {
		n, w := &needs[i].need, &needs[worst].need
		v.Needs = append(v.Needs, *n)
		if n.Effect < w.Effect || n.Effect == w.Effect && n.Effect != policy.Allow && n.Level > w.Level {
			worst = i
		}
	}
	if len(needs) == 0 {
		v.Effect, v.Reason = policy.Deny, "nothing to decide"
		return
	}
	n := &needs[worst].need
	v.Effect, v.Reason, v.Source = n.Effect, n.Reason, n.Source
	if n.Target != "" && n.Effect != policy.Allow {
		v.Reason = shown(n.Target) + ": " + v.Reason
	}
	if n.Effect != policy.Confirm {
		return
	}
	var others []*Need
	for i := range v.Needs {
		o := &v.Needs[i]
		same := func(k *Need) bool { return k.Capability == o.Capability && k.Target == o.Target }
		if o.Effect == n.Effect && !same(n) && !slices.ContainsFunc(others, same) {
			others = append(others, o)
		}
	}
	if len(others) >= mostStands {
		v.Effect, v.Reason = policy.Deny, fmt.Sprintf("it asks for more than %d things, which no question shows; in several calls it may pass", mostStands)
		return
	}
	slices.SortStableFunc(others, func(a, b *Need) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(a.Capability, b.Capability))
	})
	for i := 0; i < len(others); {
		capability, first := others[i].Capability, i
		for i < len(others) && others[i].Capability == capability {
			i++
		}
		if first == 0 {
			v.Reason += "; also "
		} else {
			v.Reason += ", "
		}
		v.Reason += capability + targets(others[first:i])
	}
}

// shown is a target as a question names it.
func shown(target string) string { return policy.Shown(clip(target, 200)) }

// asking is how many needs ask.
func asking(needs []judged) (n int) {
	for i := range needs {
		if needs[i].need.Effect == policy.Confirm {
			n++
		}
	}
	return n
}

// targets names those of needs of one capability, a space before each, with what a yes
// opens besides.
func targets(needs []*Need) string {
	var list []string
	for _, n := range needs {
		var words string
		if n.Target != "" {
			words = " " + shown(n.Target)
		}
		if n.more != "" {
			words += " (" + n.more + ")"
		}
		if words != "" {
			list = append(list, words)
		}
	}
	return strings.Join(list, ",")
}

// capability and command are the first that a call has.
func (a *Action) capability() string {
	if len(a.Requests) == 0 {
		return ""
	}
	return a.Requests[0].Capability
}

func (a *Action) command() string {
	for i := range a.Requests {
		if a.Requests[i].Command != "" {
			return a.Requests[i].Command
		}
	}
	return ""
}
