package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/scan"
	"skillrun/policy/skill"
)

func grantsCommand() *cli.Command {
	return &cli.Command{
		Name:  "grants",
		Usage: "list what was allowed for good, and take it back",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "every skill version that was approved, with what it may", Action: wordless(grantsList)},
			{Name: "promote", Usage: "trust this version of a skill as one that you installed", UsageText: "skillrun grants promote [--until WHEN] DIR", Flags: []cli.Flag{
				&cli.StringFlag{Name: "until", Usage: "let it end `WHEN`: 12h, 30d, or the last day, as 2026-12-31"},
			}, Action: grantsPromote},
			{Name: "revoke", Usage: "forget what was allowed to a skill", UsageText: "skillrun grants revoke DIR|ID", Action: grantsRevoke},
		},
		Action: func(c *cli.Context) error { return usage(errors.New("grants: list, promote or revoke")) },
	}
}

func grantsList(c *cli.Context) error {
	store, err := openApprovals(&job{host: thisHost()}, false)
	if err != nil || store == nil {
		return err
	}
	defer store.Close()
	list, faults := store.List()
	for _, a := range list {
		until := ""
		if !a.Until.IsZero() {
			until = ", until " + a.Until.Format(time.RFC3339)
		}
		if a.Past(time.Now()) {
			until += ", which is past"
		}
		fmt.Fprintf(os.Stdout, "%s  %s@%x  %s  (by %s on %s%s)\n", a.ID(), policy.Shown(a.Skill), a.Tree[:2],
			policy.Shown(string(a.Dir)), policy.Shown(a.By), a.Made.Format(time.RFC3339), until)
		if a.Promoted {
			fmt.Fprintln(os.Stdout, "          promoted: trusted as an approved skill")
		}
		for _, p := range a.Allowed {
			fmt.Fprintf(os.Stdout, "          %s\n", p)
		}
	}
	for _, err := range faults {
		say("%s", err)
	}
	if len(faults) > 0 {
		return exitError{1}
	}
	return nil
}

// grantsPromote makes one version of a skill an approved one. What the user allowed
// it stays.
func grantsPromote(c *cli.Context) error {
	if c.NArg() != 1 {
		return usage(errors.New("grants promote: name a skill's directory"))
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	j := &job{host: thisHost(), cwd: cwd}
	if j.workspace, err = findWorkspace(j.host, cwd, ""); err != nil {
		// What the home lies in is no workspace, and no project either.
		if top := gitTop(cwd); enclosing(j.host, j.host.Home, top) == "" && enclosing(j.host, j.host.Account, top) == "" {
			return err
		}
		j.workspace = ""
	}
	if j.skill, err = loadSkill(c.Args().First()); err != nil {
		return err
	}
	config, err := loadConfiguration(j.host, j.workspace, j.skill.Dir)
	if err != nil {
		return err
	}
	if j.terms = config.approvals(); c.IsSet("until") {
		t, err := policy.ParseTerm(c.String("until"))
		if err != nil {
			return usage(fmt.Errorf("--until: %w", err))
		}
		if now := time.Now(); !policy.Until(now, t).After(now) {
			return usage(fmt.Errorf("--until: %s is past", quote(c.String("until"))))
		}
		j.terms = append(j.terms, t)
	}
	if err := j.recall(); err != nil {
		return err
	}
	if j.skill.tier >= policy.Approved {
		return fmt.Errorf("skill %s is %s as it is (%s)", quote(j.skill.Name), j.skill.tier, j.skill.why)
	}
	entries, err := skill.Tree(context.Background(), j.skill.Dir, nil, time.Now())
	if err != nil {
		return err
	}
	for _, f := range j.skill.Files {
		if strings.EqualFold(f.Name, "SKILL.md") {
			for _, found := range scan.Injections(f.Name, string(f.Data)) {
				say("%s", found)
			}
		}
	}
	a, err := j.promotion(entries)
	if err != nil {
		return err
	}
	store, err := openApprovals(j, true)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Put(a, entries); err != nil {
		return err
	}
	if err := j.unchanging(); err != nil {
		printError(fmt.Errorf("approved, and not started yet: %w", err))
	}
	return j.note(&audit.Grant{Action: "promote", For: "version", By: "grants promote", Until: a.Until, Skill: audit.Skill{
		Name: a.Skill, Version: a.Release, Dir: j.skill.Dir, Tier: policy.Approved.String(), Tree: audit.Digest(skill.Digest(entries)), Manifest: audit.Digest(a.Manifest),
	}})
}

// promotion is the record that makes the version with these entries an approved
// one. What an earlier record allows is for the version that it was held against.
func (j *job) promotion(entries []skill.Entry) (skill.Approval, error) {
	a := skill.Approval{Skill: j.skill.Name, Release: j.skill.Version, Dir: skill.Path(j.skill.Dir), Manifest: j.skill.Manifest}
	now := time.Now()
	a.Until = j.until(now, nil)
	if m := j.memory; m.holds() {
		if skill.Digest(entries) != j.skill.tree {
			return a, fmt.Errorf("skill %q changed meanwhile", j.skill.Name)
		}
		a = *m.record
		a.Until = policy.Sooner(a.Until, j.until(now, nil))
	}
	a.Promoted, a.By, a.Made = true, j.host.User, now.UTC().Truncate(time.Second)
	return a, nil
}

// note writes a record of consent.
func (j *job) note(grant *audit.Grant) error {
	dir, err := j.stateDir()
	if err != nil {
		return err
	}
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		return err
	}
	defer log.Close()
	return log.Append(grant)
}

func grantsRevoke(c *cli.Context) error {
	if c.NArg() != 1 {
		return usage(errors.New("grants revoke: name a skill's directory, or an ID of grants list"))
	}
	j := &job{host: thisHost()}
	store, err := openApprovals(j, false)
	if err != nil {
		return err
	}
	if store == nil {
		return errors.New("nothing was ever approved")
	}
	defer store.Close()
	name := c.Args().First()
	if !isApproval(name) {
		if name, err = filepath.Abs(name); err != nil {
			return err
		}
		// A skill that is gone has a record all the same.
		if resolved, err := j.host.ResolvePrefix(name); err == nil {
			name = resolved
		}
	}
	grant := &audit.Grant{Action: "revoke", For: "version", By: "grants revoke"}
	list, _ := store.List()
	for _, a := range list {
		if string(a.Dir) == name || strings.HasPrefix(a.ID(), name) {
			grant.Skill = audit.Skill{Name: a.Skill, Version: a.Release, Dir: string(a.Dir), Tree: audit.Digest(a.Tree), Manifest: audit.Digest(a.Manifest)}
			grant.Capabilities = capabilitiesOf(a)
		}
	}
	if err := store.Revoke(name); err != nil {
		return withHint{err, "skillrun grants list shows the directories and IDs that there are"}
	}
	return j.note(grant)
}

// isApproval says whether an approval is named, rather than its directory.
func isApproval(name string) bool {
	return len(name) >= 8 && len(name) <= 32 && strings.Trim(name, "0123456789abcdef") == ""
}

func capabilitiesOf(a *skill.Approval) (list []audit.Capability) {
	for _, p := range a.Allowed {
		list = append(list, audit.Capability{Name: p.Capability, Scope: p.Scope})
	}
	return list
}
