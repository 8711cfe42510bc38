package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/skill"
)

// loadedSkill is a skill with its manifests parsed and its trust settled.
type loadedSkill struct {
	*skill.Skill
	tier      policy.Tier
	why       string // of the tier
	documents []*policy.Document
	findings  []policy.Finding
}

func loadSkill(dir string) (*loadedSkill, error) {
	s, err := skill.Open(dir, policy.ManifestNames())
	if err != nil {
		return nil, err
	}
	l := &loadedSkill{Skill: s}
	for _, f := range s.Files {
		if isHeader(f.Name) {
			continue
		}
		d, err := policy.ParseManifest(filepath.Join(dir, f.Name), f.Data)
		if err != nil {
			return nil, err
		}
		l.documents = append(l.documents, d)
		if d.Skill.Name != "" {
			s.Name = d.Skill.Name
		}
		if d.Skill.Version != "" {
			s.Version = d.Skill.Version
		}
	}
	return l, nil
}

func isHeader(name string) bool { return name == "SKILL.md" || name == "skill.md" }

// trust settles the tier from where the skill lies, never from its words.
func (l *loadedSkill) trust(home, workspace, cwd string) {
	tier, why := skill.Places{Home: home, Project: workspace, Current: cwd}.Trust(l.Dir, nil)
	l.why = why
	l.tier = [...]policy.Tier{
		skill.Isolated: policy.Isolated, skill.Untrusted: policy.Untrusted,
		skill.Approved: policy.Approved, skill.BuiltIn: policy.BuiltIn,
	}[tier]
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

// wait gives the work a moment to end after the command has.
func (d *digesting) wait() {
	select {
	case <-d.done:
	case <-time.After(10 * time.Second):
		d.cancel()
		<-d.done
	}
}

func findPreset(name string) (*policy.Preset, error) {
	if name == "" || name == "standard" {
		return &policy.Preset{Name: "standard", Approve: policy.ApproveAsk}, nil
	}
	return nil, usage(fmt.Errorf("--preset %s: no such preset", quote(name)))
}
