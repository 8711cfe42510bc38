package main

import (
	"context"
	"fmt"
	"time"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/skill"
)

// loadedSkill is a skill with its manifests parsed and its trust settled.
type loadedSkill struct {
	*skill.Skill
	tier      policy.Tier
	why       string   // of the tier
	tree      [32]byte // digest of all its files; zero while nobody needed it
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
	l.findings = s.Findings
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
	return skill.Places{Home: home, Project: j.workspace, Current: j.cwd}
}

// digesting computes what was not cached while the command runs.
type digesting struct {
	done   chan struct{}
	cancel context.CancelFunc
	tree   audit.Digest
	path   map[string]audit.Digest
}

// digest starts computing the digest of a skill's tree and of files, those
// that the cache does not have.
func digest(cache *audit.Digests, tree string, files []string) *digesting {
	ctx, cancel := context.WithCancel(context.Background())
	d := &digesting{done: make(chan struct{}), cancel: cancel, path: map[string]audit.Digest{}}
	go func() {
		defer close(d.done)
		for _, f := range files {
			if sum, err := cache.File(ctx, f); err == nil {
				d.path[f] = sum
			}
		}
		if tree != "" {
			if entries, err := skill.Tree(ctx, tree, cache, time.Now()); err == nil {
				d.tree = audit.Digest(skill.Digest(entries))
			} else if ctx.Err() == nil {
				say("%s", fmt.Errorf("cannot digest the skill: %w", err))
			}
		}
	}()
	return d
}

// wait gives the work a moment to end after the command has. It is false where it
// does not end although it should: a file system does not answer.
func (d *digesting) wait() bool {
	for _, patience := range [...]time.Duration{10 * time.Second, time.Second} {
		select {
		case <-d.done:
			return true
		case <-time.After(patience):
			d.cancel()
		}
	}
	return false
}
