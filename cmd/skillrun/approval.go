package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/skill"
)

// memory is what the user said before about the skill of a job.
type memory struct {
	record *skill.Approval
	stale  error // why the record does not hold; nil if it does
}

func (m *memory) holds() bool { return m != nil && m.stale == nil }

// recall settles the skill's tier, from where it lies and from the approval
// record, if there is one. A record that is damaged or somebody else's is an
// error.
func (j *job) recall() error {
	j.skill.placed, j.skill.why = j.places().Trust(j.skill.Dir, nil)
	j.skill.tier = j.skill.placed
	if scope := j.places().Locate(j.skill.Dir).Scope; scope >= skill.User && j.skill.placed <= policy.Untrusted {
		j.findings = append(j.findings, policy.Finding{What: "the skill is not trusted: " + j.skill.why})
	}
	store, err := openApprovals(j, false)
	if err != nil {
		return err
	}
	if store != nil {
		defer store.Close()
		record, err := store.Find(j.skill.Dir)
		if err != nil {
			return err
		}
		if record != nil {
			j.unsettled = j.unchanging()
			if err := j.skill.measure(j); err != nil {
				return err
			}
			j.memory = &memory{record, record.Holds(j.skill.Skill, j.skill.tree, time.Now())}
			if j.memory.holds() {
				j.skill.tier, j.skill.why = j.places().Trust(j.skill.Dir, record)
			}
		}
	}
	return nil
}

// measure computes the digest of the skill's tree.
func (l *loadedSkill) measure(j *job) error {
	dir, err := j.stateDir()
	if err != nil {
		return err
	}
	cache, err := audit.OpenDigests(dir)
	if err != nil {
		return err
	}
	defer cache.Close()
	sum, ok, err := skill.Cached(l.Dir, cache, time.Now())
	if err == nil && !ok {
		var entries []skill.Entry
		entries, err = skill.Tree(context.Background(), l.Dir, cache, time.Now())
		sum = skill.Digest(entries)
	}
	l.tree = sum
	return err
}

// openApprovals opens the directory of approval records; nil if it is not there
// and is not to be made.
func openApprovals(j *job, create bool) (*skill.Approvals, error) {
	dir, err := j.stateDir()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "approvals")
	if _, err := os.Lstat(dir); !create && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return skill.OpenApprovals(dir)
}

// keep stores what the user allowed this version of the skill: the answers to
// the manifest's questions, and grants beyond it. What a record that holds says
// stays, its end too, if that is sooner than the terms'. It is the version that was
// measured before the user was asked, or none.
func (j *job) keep(accepted, declined, grants []string, terms ...policy.Term) error {
	entries, err := skill.Tree(context.Background(), j.skill.Dir, nil, time.Now())
	if err != nil {
		return err
	}
	if skill.Digest(entries) != j.skill.tree {
		return fmt.Errorf("skill %q changed while you were asked about it", j.skill.Name)
	}
	now := time.Now()
	a := skill.Approval{
		Skill: j.skill.Name, Release: j.skill.Version, Dir: skill.Path(j.skill.Dir), Manifest: j.skill.Manifest,
		By: j.host.User, Made: now.UTC().Truncate(time.Second), Until: j.until(now, terms),
		Accepted: accepted, Declined: declined, Grants: grants, Hosts: j.set.Hosts,
	}
	if m := j.memory; m.holds() {
		a.Accepted = append(append([]string(nil), m.record.Accepted...), accepted...)
		a.Declined = append(append([]string(nil), m.record.Declined...), declined...)
		a.Grants = append(append([]string(nil), m.record.Grants...), grants...)
		a.Promoted = m.record.Promoted
		a.Until = policy.Sooner(a.Until, m.record.Until)
	}
	j.ends = a.Until
	var allowed []policy.Entry
	for _, e := range j.set.Entries() {
		if e.Effect == policy.Allow && (e.Source != "prompt" || slices.Contains(a.Accepted, e.Key())) {
			allowed = append(allowed, j.named(e))
		}
	}
	for _, g := range a.Grants {
		e, err := policy.ParseGrant(g, "approval")
		if err != nil {
			return err
		}
		allowed = append(allowed, e)
	}
	a.Allowed = skill.Permissions(allowed)
	store, err := openApprovals(j, true)
	if err != nil {
		return err
	}
	defer store.Close()
	return store.Put(a, entries)
}

// until is the end of an answer for good that is given now.
func (j *job) until(now time.Time, terms []policy.Term) time.Time {
	end := policy.Until(now, append(slices.Clip(j.terms), terms...)...)
	if !end.IsZero() {
		end = end.UTC().Truncate(time.Second)
	}
	return end
}

// changes tells what changed since the user approved another version, in
// printable lines.
func (j *job) changes() []string {
	m := j.memory
	if m == nil || m.stale == nil {
		return nil
	}
	lines := []string{policy.Row(policy.Escape(m.stale.Error()))}
	store, err := openApprovals(j, false)
	if err != nil || store == nil {
		return lines
	}
	defer store.Close()
	before, err := store.Files(m.record)
	if err != nil {
		return append(lines, err.Error())
	}
	now, err := skill.Tree(context.Background(), j.skill.Dir, nil, time.Now())
	if err != nil {
		return append(lines, err.Error())
	}
	var wanted []policy.Entry
	for _, e := range j.set.Entries() {
		if e.Effect != policy.Deny {
			wanted = append(wanted, j.named(e))
		}
	}
	diff := skill.Compare(m.record.Allowed, skill.Permissions(wanted), before, now)
	return append(lines, diff.Lines(5)...)
}

// consented notes an answer for the record.
func (j *job) consented(by, lasting string, entries []policy.Entry) {
	if len(entries) == 0 {
		return
	}
	g := &audit.Grant{Action: "grant", For: lasting, By: by}
	if lasting == "version" {
		g.Until = j.ends
	}
	for _, e := range entries {
		e = j.named(e)
		g.Capabilities = append(g.Capabilities, capabilityOf(&e))
	}
	j.consents = append(j.consents, g)
}

// named gives a network entry of the manifest that says not which hosts with
// those that it comes to; other entries as they are.
func (j *job) named(e policy.Entry) policy.Entry {
	if e.Constraints.Scoped || len(j.set.Hosts) == 0 {
		return e
	}
	for _, host := range j.set.Reach(&e) {
		e.Constraints.Scope = append(e.Constraints.Scope, policy.Text{Value: host})
	}
	return e
}

// versioned is what an approval is about: "csv-report@3f2a".
func (l *loadedSkill) versioned() string { return fmt.Sprintf("%s@%x", named(l.Name), l.tree[:2]) }

func capabilityOf(e *policy.Entry) audit.Capability {
	c := audit.Capability{Name: e.Capability, Effect: e.Effect.String(), Source: e.Pos.String()}
	if e.Source == "prompt" || e.Source == "approval" || e.Source == "--approve declared" {
		c.Source += " (" + e.Source + ")"
	}
	for _, s := range e.Constraints.Scope {
		c.Scope = append(c.Scope, s.Value)
	}
	return c
}
