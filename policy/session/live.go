package session

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"skillrun/policy"
	"skillrun/profiles"
)

// live is the policy in force now: the document with what the settings add.
// acting are the skills whose own grants of the configuration count.
func (s *Session) live(acting []string) (*policy.State, error) {
	st := s.state
	st.Declared = nil
	for _, e := range s.state.Declared {
		if !s.waits(e.Source) {
			st.Declared = append(st.Declared, e)
		}
	}
	for _, d := range s.set.Floors {
		for _, e := range d.Entries {
			e.Source = policy.UserConfig
			st.Declared = append(st.Declared, e)
		}
	}
	st.Tiers = make(map[string]policy.Tier, len(s.more.Skills))
	for _, k := range s.more.Skills {
		st.Tiers[k.Name] = k.Tier
	}
	if st.Undeclared = s.set.Undeclared; st.Undeclared == nil {
		st.Undeclared = policy.AskUndeclared()
	}
	configured := slices.Clip(s.set.Grants)
	for _, k := range s.more.Skills {
		if s.set.SkillGrants != nil && slices.Contains(acting, k.Name) {
			configured = append(configured, s.set.SkillGrants(k.Dir, k.Tier)...)
		}
	}
	st.Granted = make([]policy.Entry, 0, len(configured)+len(s.state.Granted))
	for _, g := range configured {
		g.Source = policy.UserConfig
		st.Granted = append(st.Granted, g)
	}
	st.Granted = append(st.Granted, s.state.Granted...)
	task, err := decodeGrants(s.more.TaskGrants)
	if err != nil {
		return nil, err
	}
	st.Granted = append(st.Granted, task...)
	for i := range s.more.Skills {
		if k := &s.more.Skills[i]; k.Tier <= policy.Untrusted {
			st.Bounds = append(st.Bounds, policy.Bounded{Name: "skill:" + k.Name, Entries: s.entriesOf(k)})
		}
	}
	for _, d := range s.set.Ceilings {
		st.Bounds = append(st.Bounds, policy.Bounded{Name: d.File, Entries: d.Entries})
	}
	for _, d := range s.set.Narrowings {
		st.Bounds = append(st.Bounds, policy.Bounded{Name: d.File, Partial: true, Entries: d.Entries})
	}
	return &st, nil
}

// waits says whether a source is a skill that nobody has said yes to.
func (s *Session) waits(source string) bool {
	return slices.ContainsFunc(s.more.Skills, func(k loaded) bool { return k.Pending && source == "skill:"+k.Name })
}

// entriesOf gives what a loaded skill declares, or what stands for it.
func (s *Session) entriesOf(k *loaded) []policy.Entry {
	if !k.Declared {
		if k.Tier <= policy.Untrusted {
			return policy.MinimalEntries()
		}
		return policy.DefaultEntries()
	}
	var own []policy.Entry
	for _, e := range s.state.Declared {
		if e.Source == "skill:"+k.Name {
			own = append(own, e)
		}
	}
	return own
}

func decodeGrants(data json.RawMessage) ([]policy.Entry, error) {
	if len(data) == 0 {
		return nil, nil
	}
	grants, err := policy.ParseEntries("session", data)
	if err != nil {
		return nil, fmt.Errorf("session is damaged: %w", err)
	}
	return grants, nil
}

// place is where requests about a path are read: a skill's own directory counts
// as its skill.
func (s *Session) place(paths []string) policy.Place {
	p := policy.Place{Workspace: s.state.Workspace, Home: s.set.Home}
	for _, k := range s.more.Skills {
		if len(paths) > 0 && profiles.Within(k.Dir, paths[0]) {
			p.Skill = k.Dir
		}
	}
	return p
}

// skillAt gives the loaded skill that a resolved path lies in, nil if none.
func (s *Session) skillAt(path string) *loaded {
	for i := range s.more.Skills {
		if profiles.Within(s.more.Skills[i].Dir, path) {
			return &s.more.Skills[i]
		}
	}
	return nil
}

// uses counts the uses of a capability that a rate limit is about.
func (s *Session) uses(capability string, now time.Time) func(*policy.Entry, time.Duration) int64 {
	return func(_ *policy.Entry, period time.Duration) (n int64) {
		for _, t := range s.more.Uses[capability] {
			if !t.After(now) && (period == 0 || t.After(now.Add(-period))) {
				n++
			}
		}
		if n == maxUses {
			return math.MaxInt64 // more than are kept
		}
		return n
	}
}

// used notes one use of a capability, if anything in force counts them: as many
// as the largest limit counts.
func (s *Session) used(st *policy.State, capability string, now time.Time) {
	var most int64
	count := func(entries []policy.Entry) {
		for i := range entries {
			if e := &entries[i]; e.Names(capability) {
				most = max(most, e.Constraints.Rate.Max)
			}
		}
	}
	count(st.Declared)
	count(st.Task)
	count(st.Granted)
	for i := range st.Bounds {
		count(st.Bounds[i].Entries)
	}
	if most == 0 {
		return
	}
	if s.more.Uses == nil {
		s.more.Uses = map[string]uses{}
	}
	// Some more are kept, for the limits of skills to come.
	s.more.Uses[capability] = last(append(s.more.Uses[capability], now), int(min(max(most, minUses), maxUses)))
}
