package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"skillrun/audit"
	"skillrun/policy"
)

// Run is what the command of a call may do, and on whose account.
type Run struct {
	Set *policy.Set
	// Skill is the directory of the skill that acts, "" if that is not certain.
	Skill string
	// Workspace is the session's.
	Workspace string
}

// Run gives the policy of the command that a call was about. Each call gives it
// once.
//
// The rights are those of the acting skills, where the command runs files of
// theirs (of several, what all have), else the session's pool; within the
// manifest of every untrusted skill that is loaded, every ceiling, and the scope
// of the task; what asks is there as far as the user said yes, before or to this
// call.
func (s *Session) Run(id string) (*Run, error) {
	i := slices.IndexFunc(s.more.Calls, func(c call) bool { return c.ID == id && id != "" })
	switch {
	case i < 0:
		return nil, fmt.Errorf("session %q: no call %q was allowed", s.state.ID, clip(id, 64))
	case s.more.Calls[i].Done:
		return nil, fmt.Errorf("session %q: call %q has had its run", s.state.ID, id)
	}
	c := &s.more.Calls[i]
	for j := range s.more.Skills {
		// The host has had its yes, or there was no question.
		if k := &s.more.Skills[j]; k.Pending && c.Acts && slices.Contains(c.Skills, k.Name) {
			k.Pending = false
			s.state.Loaded = append(s.state.Loaded, k.Name)
		}
	}
	if err := s.recall(c); err != nil {
		return nil, err
	}
	run, err := s.compose(c)
	if err != nil {
		return nil, err
	}
	c.Done = true
	if err := s.accept(id); err != nil {
		return nil, err
	}
	return run, s.save()
}

// compose makes the Set of a call.
func (s *Session) compose(c *call) (*Run, error) {
	st, err := s.live(c.Skills)
	if err != nil {
		return nil, err
	}
	run := &Run{Workspace: s.state.Workspace}
	accepted, grants, err := s.accepted(st, c)
	if err != nil {
		return nil, err
	}
	for i := range s.more.Skills {
		if k := &s.more.Skills[i]; !k.Pending && !strings.ContainsAny(k.Dir, "*?[{") {
			own, err := policy.ParseGrant("filesystem.read:"+k.Dir, "loaded skill")
			if err != nil {
				return nil, err
			}
			grants = append(grants, own)
		}
	}
	in := policy.Input{Tier: policy.Approved, Preset: s.set.Preset, Limits: s.set.Limits, Accepted: accepted, Grants: grants, Narrowings: s.set.Narrowings, Ceilings: slices.Clip(s.set.Ceilings), Floors: slices.Clip(s.set.Floors)}
	document := func(name string, entries []policy.Entry) *policy.Document {
		return &policy.Document{File: name, Entries: s.careful(st.Settled(entries, accepted), accepted)}
	}
	var acting []*loaded
	for i := range s.more.Skills {
		k := &s.more.Skills[i]
		if c.Acts && slices.Contains(c.Skills, k.Name) {
			acting = append(acting, k)
		}
	}
	if len(acting) > 0 {
		if len(c.Skills) == 1 {
			run.Skill = acting[0].Dir
		}
		in.Documents = []*policy.Document{document("skill:"+acting[0].Name, s.entriesOf(acting[0]))}
		own := "skill:" + acting[0].Name
		others := slices.DeleteFunc(slices.Clone(st.Declared), func(e policy.Entry) bool { return e.Source == own })
		in.Floors = append(in.Floors, denials(others, nil))
		acting = acting[1:]
	} else {
		pool := document("session", st.Declared)
		in.Floors = append(in.Floors, denials(pool.Entries, pool.Entries))
		in.Documents = []*policy.Document{pool}
	}
	for _, k := range acting {
		in.Ceilings = append(in.Ceilings, document("skill:"+k.Name, s.entriesOf(k)))
	}
	for i := range s.more.Skills {
		if k := &s.more.Skills[i]; k.Tier <= policy.Untrusted {
			in.Ceilings = append(in.Ceilings, document("skill:"+k.Name+" (untrusted)", s.entriesOf(k)))
		}
	}
	if len(st.Task) > 0 {
		in.Ceilings = append(in.Ceilings, document("scope of the task", st.Task))
	}
	set, _, err := policy.Compose(in)
	if err != nil {
		return nil, err
	}
	run.Set = set.Decided()
	return run, nil
}

// accepted are the keys of the entries that the user said yes to, and the grants
// that go beyond entries.
func (s *Session) accepted(st *policy.State, c *call) (keys []string, grants []policy.Entry, err error) {
	secret, tainted := s.more.Taint[Sensitive]
	add := func(g policy.Entry, now bool) {
		capability := policy.Lookup(g.Capability)
		switch {
		case capability == nil || g.Effect != policy.Allow && !g.Implied:
			return
		case !now && g.Source != policy.UserConfig && capability.Level == policy.System && g.Granted.Before(s.state.Initialized):
			return
		case !now && tainted && egress(capability) && (g.Source == policy.UserConfig || g.Granted.Before(secret.At)):
			return
		}
		g.Effect, g.Implied = policy.Allow, false
		if g.Source == policy.UserConfig || g.Pos.File == "prompt" && (now || st.Within(g, s.place(nil))) {
			grants = append(grants, g)
			if own := serves(&g); own != nil && g.Source != policy.UserConfig {
				grants = append(grants, *own)
			}
		} else {
			keys = append(keys, g.Key())
		}
	}
	for _, g := range st.Granted {
		add(g, false)
	}
	for _, a := range c.asked {
		for _, text := range [...]json.RawMessage{a.Grant, a.Run} {
			one, err := decodeGrants(text)
			if err != nil {
				return nil, nil, err
			}
			for _, g := range one {
				add(g, true)
			}
		}
		if a.Key != "" {
			keys = append(keys, a.Key)
		}
	}
	return keys, grants, nil
}

// serves gives the right to listen where a yes is to a port of this machine, nil
// where it is not: the command that was asked about may well start the server that
// it then calls.
func serves(g *policy.Entry) *policy.Entry {
	if c := policy.Lookup(g.Capability); c == nil || c.Group != "Network" {
		return nil
	}
	for _, t := range g.Constraints.Scope {
		if port := ownPort(t.Value); port != "" {
			if e, err := policy.ParseGrant("listen:"+port, g.Pos.File); err == nil {
				return &e
			}
		}
	}
	return nil
}

// ownPort gives the port of an address on loopback, "" if it is no such address or
// names none.
func ownPort(address string) string {
	host, ports, fault := policy.ParseHost(address)
	if fault != "" || len(ports) != 1 || ports[0].First != ports[0].Last {
		return ""
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return ""
	}
	return strconv.Itoa(int(ports[0].First))
}

// careful has egress of a session that has read secrets ask, whatever entries
// say.
func (s *Session) careful(entries []policy.Entry, accepted []string) []policy.Entry {
	if _, tainted := s.more.Taint[Sensitive]; tainted {
		for i := range entries {
			e := &entries[i]
			if egress(policy.Lookup(e.Capability)) && e.Effect == policy.Allow && !slices.Contains(accepted, e.Key()) {
				e.Effect = policy.Confirm
			}
		}
	}
	return entries
}

// denials are the entries that deny, as a floor: between sources a deny wins,
// whatever the priorities. Not those where all that could outrank the deny in
// the pool is of the same source: there the priorities count.
func denials(entries, pool []policy.Entry) *policy.Document {
	d := &policy.Document{File: "session", Form: policy.TOML}
	for _, e := range entries {
		other := func(o policy.Entry) bool {
			return o.Effect != policy.Deny && o.Source != e.Source && (o.Names(e.Capability) || e.Names(o.Capability))
		}
		if e.Effect == policy.Deny && !e.Implied && (pool == nil || slices.ContainsFunc(pool, other)) {
			d.Entries = append(d.Entries, e)
		}
	}
	return d
}

// Task begins a new task: answers for the last one end, and the declared pool
// is narrowed by the command of the settings, if there is one. The command gets
// {"session_id", "task", "declared_pool"} and answers {"task_scope": [entries]}.
// What it adds to the pool is dropped. A task without a scope, where one was to
// be had, allows nothing, unless the settings say that the pool stays.
func (s *Session) Task(ctx context.Context, task string) error {
	s.more.TaskIs, s.more.TaskAt = policy.Escape(clip(task, 200)), s.now()
	s.more.TaskGrants, s.more.NoTask, s.state.Task = nil, "", nil
	if s.set.Scope != nil {
		scope, err := s.scope(ctx, task)
		if err == nil && len(scope) == 0 {
			err = errors.New("it is empty")
		}
		switch {
		case err == nil:
			s.state.Task = scope
		case !s.set.ScopeMayFail:
			s.more.NoTask = policy.Escape(err.Error())
		}
	}
	record := &audit.Grant{Action: "narrow", For: "task", Session: s.state.ID, By: "task", Reason: s.more.TaskIs}
	if s.more.NoTask != "" {
		record.Reason = "nothing is allowed: " + s.more.NoTask
	}
	for _, e := range s.state.Task {
		record.Capabilities = append(record.Capabilities, audit.Capability{Name: e.Capability, Effect: e.Effect.String(), Source: e.Source})
	}
	if err := s.log.Append(record); err != nil {
		return err
	}
	return s.save()
}

func (s *Session) scope(ctx context.Context, task string) ([]policy.Entry, error) {
	question := struct {
		ID   string          `json:"session_id"`
		Task string          `json:"task"`
		Pool json.RawMessage `json:"declared_pool"`
	}{s.state.ID, task, policy.EntriesJSON(s.state.Declared)}
	var answer struct {
		Scope json.RawMessage `json:"task_scope"`
	}
	if err := s.set.Scope.run(ctx, question, &answer); err != nil {
		return nil, err
	}
	entries, err := policy.ParseEntries("task_scope", answer.Scope)
	if err != nil {
		return nil, err
	}
	kept := entries[:0]
	for _, e := range entries {
		e.Source = "task-scope"
		if s.declares(e.Capability) || e.Effect == policy.Deny {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// declares says whether the pool has anything of a pattern.
func (s *Session) declares(pattern string) bool {
	for _, c := range policy.Expand(pattern) {
		for i := range s.state.Declared {
			if e := &s.state.Declared[i]; e.Effect != policy.Deny && e.Names(c.Name) {
				return true
			}
		}
	}
	return false
}

// source is the name of a skill in a source, "" if it is none.
func source(of string) string {
	name, ok := strings.CutPrefix(of, "skill:")
	if !ok {
		return ""
	}
	return name
}
