package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/skill"
)

// choices are the answers that can be given to needs: more than once only where
// each need that asks can be told again.
func (s *Session) choices(needs []judged) []Choice {
	lasting, version, asks := true, true, false
	now := s.now()
	for i := range needs {
		n := &needs[i]
		if n.need.Effect != policy.Confirm {
			continue
		}
		asks = true
		if _, ok := n.answer.Grant(&n.request, now); !ok || n.single {
			lasting = false
		}
		e := n.answer.Entry
		version = version && e != nil && n.answer.Effect == policy.Confirm && strings.HasPrefix(e.Source, "skill:") && n.c.Level != policy.System && e.Capability == n.c.Name
	}
	switch {
	case !asks:
		return nil
	case !lasting:
		return []Choice{Once}
	case !version:
		return []Choice{Once, ThisTask, ThisSession}
	}
	return []Choice{Once, ThisTask, ThisSession, ThisVersion}
}

// callOf is what Answer and Run need to know of a call. Needs that ask for the
// same come to one; what no entry was about, to one grant for each capability.
func (s *Session) callOf(id string, v *Verdict, needs []judged, certain bool) (call, error) {
	c := call{ID: id, At: s.now(), Skills: v.Skills, Acts: certain}
	if v.Effect == policy.Confirm {
		c.Most = slices.Max(v.Choices)
	}
	var prompted []policy.Entry
	single := map[string]bool{} // what of it counts once only
	size := 0
	add := func(one asked) {
		same := func(o asked) bool {
			return o.Capability == one.Capability && o.Single == one.Single && o.Key == one.Key && bytes.Equal(o.Grant, one.Grant) && bytes.Equal(o.Run, one.Run)
		}
		if !slices.ContainsFunc(c.asked, same) {
			c.asked = append(c.asked, one)
			size += len(one.Grant) + len(one.Key)
		}
	}
	for i := range needs {
		n := &needs[i]
		if n.need.Effect != policy.Confirm {
			continue
		}
		one := asked{Capability: n.need.Capability, Single: n.single}
		answer, request := &n.answer, n.request
		if n.grants != "" {
			answer, request.Capability = &policy.Answer{}, n.grants
		}
		g, ok := answer.Grant(&request, c.At)
		if ok = ok && request.Capability != ""; ok && answer.Entry == nil {
			j := slices.IndexFunc(prompted, func(p policy.Entry) bool {
				return p.Capability == g.Capability && p.Constraints.Scoped == g.Constraints.Scoped
			})
			if j < 0 {
				prompted = append(prompted, g)
			} else {
				p := &prompted[j].Constraints
				p.Scope = append(p.Scope, g.Constraints.Scope...)
				p.WorkspaceOnly = max(p.WorkspaceOnly, g.Constraints.WorkspaceOnly)
			}
			single[g.Capability] = single[g.Capability] || n.single
			continue
		}
		if g, what := n.whole(); what != "" {
			g.Granted = c.At
			one.Run = policy.EntriesJSON([]policy.Entry{g})
		}
		if ok {
			one.Grant = policy.EntriesJSON([]policy.Entry{g})
		}
		if e := n.answer.Entry; e != nil {
			one.Key = e.Key()
			one.Skill = source(e.Source)
		}
		add(one)
	}
	for _, g := range prompted {
		add(asked{Capability: g.Capability, Single: single[g.Capability], Grant: policy.EntriesJSON([]policy.Entry{g})})
	}
	if size > maxAsked {
		return call{}, errors.New("it asks for more than can be remembered; in several calls it may pass")
	}
	return c, nil
}

// ask has the Asker answer a verdict of effect Confirm.
func (s *Session) ask(ctx context.Context, a *Action, v *Verdict, needs []judged) {
	p := Prompt{Session: s.state.ID, Tool: a.Tool, Skills: v.Skills, Input: a.command(), Reason: v.Reason, Notes: v.Notes, Choices: []string{No.String()}}
	if p.Input == "" {
		p.Input = a.Input
	}
	p.Input = clip(p.Input, 4000)
	for _, c := range v.Choices {
		p.Choices = append(p.Choices, c.String())
	}
	for i := range needs {
		if n := &needs[i]; n.need.Effect == policy.Confirm {
			p.Needs = append(p.Needs, PromptNeed{
				Capability: n.need.Capability, Level: n.need.Level.String(), Risk: n.c.Risk().String(),
				Target: policy.Escape(clip(n.need.Target, 200)), Source: n.need.Source, Reason: n.need.Reason,
			})
		}
	}
	slices.SortStableFunc(p.Needs, func(a, b PromptNeed) int { return danger(b) - danger(a) })
	choice, err := s.set.Asker.Ask(ctx, p)
	switch {
	case err != nil:
		v.Effect, v.Reason = policy.Deny, "nobody could be asked: "+policy.Escape(err.Error())
	case choice == No:
		v.Effect, v.Reason = policy.Deny, "the user said no: "+v.Reason
	case !slices.Contains(v.Choices, choice):
		v.Effect, v.Reason = policy.Deny, fmt.Sprintf("the answer %q was not offered", choice)
	default:
		c, err := s.callOf("", v, needs, false)
		if err == nil {
			err = s.grant(&c, choice, "asker")
		}
		if err != nil {
			v.Effect, v.Reason = policy.Deny, policy.Escape(err.Error())
			return
		}
		v.Effect, v.Reason, v.Source, v.Choices = policy.Allow, "allowed by the user ("+choice.String()+"): "+v.Reason, "user-grant", nil
	}
}

func danger(n PromptNeed) int {
	for l := policy.Unknown; l <= policy.Redact; l++ {
		if l.String() == n.Level {
			return int(l)
		}
	}
	return 0
}

// Answer takes what the user said to a verdict of effect Confirm, by the name of
// its call: a host that asks in its own way calls it where it learns the answer.
// It fails if the call is not known or was answered before, or the choice was not
// one of its.
func (s *Session) Answer(id string, choice Choice) error {
	i := slices.IndexFunc(s.more.Calls, func(c call) bool { return c.ID == id && id != "" })
	if i < 0 {
		return fmt.Errorf("session %q: no call %q waits for an answer", s.state.ID, clip(id, 64))
	}
	c := &s.more.Calls[i]
	if c.Most == No {
		return fmt.Errorf("session %q: call %q does not wait for an answer", s.state.ID, id)
	}
	if choice == No {
		s.forget(c)
		s.more.Calls = slices.Delete(s.more.Calls, i, i+1)
		if err := s.log.Append(&audit.Grant{Action: "deny", For: Once.String(), Session: s.state.ID, Run: id, By: "host"}); err != nil {
			return err
		}
		return s.save()
	}
	if choice > c.Most {
		return fmt.Errorf("session %q: the answer %q was not offered", s.state.ID, choice)
	}
	if err := s.recall(c); err != nil {
		return err
	}
	if err := s.grant(c, choice, "host"); err != nil {
		return err
	}
	c.Most = No
	return s.save()
}

// grant adds what a choice allows beyond the call itself.
func (s *Session) grant(c *call, choice Choice, by string) error {
	record := &audit.Grant{Action: "grant", For: choice.String(), Session: s.state.ID, Run: c.ID, By: by}
	var grants []policy.Entry
	for _, a := range c.asked {
		record.Capabilities = append(record.Capabilities, audit.Capability{Name: a.Capability, Effect: "allow", Source: a.Skill})
		if choice == Once {
			continue
		}
		one, err := decodeGrants(a.Grant)
		if err != nil {
			return err
		}
		if len(one) == 0 || a.Single {
			return fmt.Errorf("session %q: %s can be allowed once only", s.state.ID, a.Capability)
		}
		for i := range one {
			one[i].Granted = s.now()
		}
		grants = append(grants, one...)
	}
	switch choice {
	case Once:
	case ThisTask:
		task, err := decodeGrants(s.more.TaskGrants)
		if err != nil {
			return err
		}
		s.more.TaskGrants = policy.EntriesJSON(append(task, grants...))
	case ThisVersion:
		until, err := s.approve(c)
		if err != nil {
			return err
		}
		record.Until = until
		s.state.Granted = append(s.state.Granted, grants...)
	case ThisSession:
		s.state.Granted = append(s.state.Granted, grants...)
	default:
		return errors.New("that is no answer")
	}
	return s.log.Append(record)
}

// approve keeps a yes for the skill's version: in the approval record that
// `skillrun run` keeps, too. It gives when the first of them ends, zero for never.
func (s *Session) approve(c *call) (until time.Time, err error) {
	store, err := skill.OpenApprovals(s.approvals())
	if err != nil {
		return until, err
	}
	defer store.Close()
	for i := range s.more.Skills {
		k := &s.more.Skills[i]
		var keys []string
		for _, a := range c.asked {
			if a.Skill == k.Name && a.Key != "" {
				keys = append(keys, a.Key)
			}
		}
		if len(keys) == 0 {
			continue
		}
		ends, err := s.approveSkill(store, k, keys)
		if err != nil {
			return until, err
		}
		until = policy.Sooner(until, ends)
	}
	return until, nil
}

func (s *Session) approveSkill(store *skill.Approvals, k *loaded, keys []string) (until time.Time, err error) {
	now := s.set.Now()
	sk, err := skill.Open(k.Dir)
	if err != nil {
		return until, err
	}
	entries, err := skill.Tree(context.Background(), k.Dir, nil, now)
	if err != nil {
		return until, err
	}
	tree := skill.Digest(entries)
	if fmt.Sprintf("%x", tree) != k.Tree {
		return until, fmt.Errorf("skill %q changed since it was loaded: no answer for this version", k.Name)
	}
	a := skill.Approval{
		Skill: sk.Name, Release: sk.Version, Dir: skill.Path(k.Dir), Manifest: sk.Manifest,
		By: s.set.User, Made: now.UTC().Truncate(time.Second), Accepted: keys,
	}
	if until = policy.Until(now, s.set.Approvals...); !until.IsZero() {
		a.Until = until.UTC().Truncate(time.Second)
	}
	before, err := store.Find(k.Dir)
	if err != nil {
		return until, err
	}
	if before != nil && before.Holds(sk, tree, now) == nil {
		a.Accepted = append(slices.Clone(before.Accepted), keys...)
		a.Declined, a.Hosts, a.Grants, a.Allowed, a.Promoted = before.Declined, before.Hosts, before.Grants, before.Allowed, before.Promoted
		a.Until = policy.Sooner(a.Until, before.Until)
	}
	slices.Sort(a.Accepted)
	a.Accepted = slices.Compact(a.Accepted)
	var allowed []policy.Entry
	for _, e := range s.entriesOf(k) {
		if slices.Contains(keys, e.Key()) {
			e.Effect = policy.Allow
			allowed = append(allowed, e)
		}
	}
	a.Allowed = append(a.Allowed, skill.Permissions(allowed)...)
	return a.Until, store.Put(a, entries)
}
