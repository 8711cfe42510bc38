package main

import (
	"fmt"
	"slices"

	"skillrun/policy"
	"skillrun/policy/skill"
)

// loadedSkill is a skill with its manifests parsed and its trust settled.
type loadedSkill struct {
	*skill.Skill
	tier      policy.Tier
	placed    policy.Tier // what the tier is by its place alone
	why       string      // of the tier
	tree      [32]byte    // digest of all its files; zero while nobody needed it
	documents []*policy.Document
	findings  []policy.Finding
}

func loadSkill(dir string) (*loadedSkill, error) {
	s, err := skill.Open(dir)
	if err != nil {
		return nil, err
	}
	l := &loadedSkill{Skill: s}
	l.documents, err = s.Documents()
	l.findings = slices.Concat(s.Findings, s.Misnamed)
	if d := s.Says.Document; d != nil {
		if found := policy.MisnamedTools(d); len(found) > 1 {
			found[0].What += fmt.Sprintf("; skillrun lint tells of %d more", len(found)-1)
			l.findings = append(l.findings, found[0])
		} else {
			l.findings = append(l.findings, found...)
		}
	}
	if len(l.documents) > 0 {
		// The strongest manifest says what the skill is called.
		if m := l.documents[0].Skill; m.Name != "" {
			l.Name = m.Name
			if m.Version != "" {
				l.Version = m.Version
			}
		}
	}
	return l, err
}

// places are the directories that say how far a skill is trusted. The home
// directory is the account's: a project can set HOME.
func (j *job) places() skill.Places {
	home := j.host.Home
	if j.host.Account != "" {
		home = j.host.Account
	}
	if resolved, err := j.host.Resolve(home); err == nil {
		home = resolved
	}
	return skill.Places{Home: home, Project: j.workspace, Current: j.cwd, Written: j.host.Written}
}
