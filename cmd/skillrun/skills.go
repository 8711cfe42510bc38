package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
	"skillrun/policy/skill"
)

func skillsCommand() *cli.Command {
	return &cli.Command{
		Name:      "skills",
		Usage:     "list the skills that agents find here: name, trust, approval, place",
		UsageText: "skillrun skills [--workspace DIR]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "workspace", Usage: "directory `DIR` of the project (default: top of the git work tree, else the current directory)"},
		},
		Action: wordless(func(c *cli.Context) error {
			return listSkills(c.String("workspace"))
		}),
	}
}

func listSkills(workspace string) error {
	j := &job{host: thisHost()}
	var err error
	if j.cwd, err = os.Getwd(); err != nil {
		return fmt.Errorf("current directory: %w", err)
	}
	// What is no workspace, such as the home directory, has no project's skills.
	if j.workspace, err = findWorkspace(j.host, j.cwd, workspace); err != nil {
		if workspace != "" {
			return err
		}
		j.workspace = ""
	}
	store, err := openApprovals(j, false)
	if err != nil {
		return err
	}
	if store != nil {
		defer store.Close()
	}
	places := j.places()
	if enclosing(j.host, j.cwd, j.workspace) == "" {
		places.Current = ""
	}
	found, complete := places.Discover()
	if home, err := j.host.Resolve(j.host.Home); err == nil && home != places.Home {
		there := places
		there.Home = home // where agents look that are started as we are
		more, all := there.Discover()
		complete = complete && all
		for _, f := range more {
			if !slices.ContainsFunc(found, func(g skill.Found) bool { return g.Dir == f.Dir }) {
				f.Scope = places.Locate(f.Dir).Scope
				found = append(found, f)
			}
		}
		say("HOME is %s, and the account's home is %s: only what lies there was installed by the user, since a project can set HOME", quote(home), quote(places.Home))
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tTIER\tAPPROVED\tAGENT\tSCOPE\tPLACE")
	for _, f := range found {
		tier, approved := skillStatus(places, store, f)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", named(policy.Escape(f.Name)), tier, approved, f.Agent, f.Scope, named(policy.Escape(f.Given)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if !complete {
		say("there is more in these places than was searched")
	}
	return nil
}

// skillStatus gives a skill's tier, and whether this version of it was
// approved.
func skillStatus(places skill.Places, store *skill.Approvals, f skill.Found) (policy.Tier, string) {
	tier, _ := places.Trust(f.Dir, nil)
	if store == nil {
		return tier, "no"
	}
	record, err := store.Find(f.Dir)
	switch {
	case err != nil:
		return tier, "damaged"
	case record == nil:
		return tier, "no"
	}
	s, err := skill.Open(f.Dir)
	if err != nil {
		return tier, "unreadable"
	}
	entries, err := skill.Tree(context.Background(), f.Dir, nil, time.Now())
	now := time.Now()
	switch {
	case err != nil:
		return tier, "unreadable"
	case record.Past(now):
		return tier, "past"
	case errors.Is(record.Holds(s, skill.Digest(entries), now), skill.ErrOther):
		return tier, "changed"
	}
	tier, _ = places.Trust(f.Dir, record)
	return tier, "yes"
}
