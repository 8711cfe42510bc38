package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/skill"
)

func grantsCommand() *cli.Command {
	return &cli.Command{
		Name:  "grants",
		Usage: "list what was allowed for good, and take it back",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "every skill version that was approved, with what it may", Action: wordless(grantsList)},
			{Name: "revoke", Usage: "forget what was allowed to a skill", UsageText: "skillrun grants revoke DIR|ID", Action: grantsRevoke},
		},
		Action: func(c *cli.Context) error { return usage(errors.New("grants: list or revoke")) },
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
		fmt.Fprintf(os.Stdout, "%s  %s@%x  %s  (by %s on %s%s)\n", a.ID(), policy.Escape(a.Skill), a.Tree[:2],
			policy.Escape(string(a.Dir)), policy.Escape(a.By), a.Made.Format(time.RFC3339), until)
		for _, p := range a.Allowed {
			text := p.Capability
			if p.Terms != "" {
				text += " " + p.Terms
			}
			if len(p.Scope) > 0 {
				text += ": " + strings.Join(p.Scope, ", ")
			}
			fmt.Fprintf(os.Stdout, "          %s\n", policy.Escape(text))
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
	if strings.Contains(name, "/") || name == "." || name == ".." {
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
		return err
	}
	dir, err := j.stateDir()
	if err != nil {
		return err
	}
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = log.Append(grant)
	return err
}

func capabilitiesOf(a *skill.Approval) (list []audit.Capability) {
	for _, p := range a.Allowed {
		list = append(list, audit.Capability{Name: p.Capability, Scope: p.Scope})
	}
	return list
}
