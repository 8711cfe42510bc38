package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// planFor compiles a profile for this machine, or for the one whose features
// --features names.
func planFor(c *cli.Context, j *job, p *profiles.Profile) (*linux.Plan, error) {
	f, err := readFeatures(c, linux.ProbeDeep)
	if err != nil {
		return nil, err
	}
	if !j.firm() {
		f.Cgroup = ""
	}
	parents, err := j.parents(p)
	if err != nil {
		return nil, err
	}
	return sandbox.PlanFor(p, f, j.host, parents, j.caches(), j.firm()), nil
}

// planReceipt gives the receipt of a run, and the denials that its plan adds.
func planReceipt(c *cli.Context, j *job, p *profiles.Profile) (profiles.Receipt, []profiles.Denial, error) {
	plan, err := planFor(c, j, p)
	if err != nil {
		return nil, nil, err
	}
	return plan.Receipt, plan.Linked, nil
}

// printPlan prints the plan: its rules and receipt as text, all of it as JSON.
func printPlan(c *cli.Context, j *job, p *profiles.Profile) error {
	plan, err := planFor(c, j, p)
	if err != nil {
		return err
	}
	if c.String("format") == "json" {
		return printJSON(plan)
	}
	for i, l := range plan.Layers {
		fmt.Printf("landlock layer %d: handles %#x, scopes %#x\n", i+1, l.HandledFS, l.Scoped)
		for _, r := range l.Rules {
			fmt.Printf("  %#06x %q\n", r.Access, r.Path)
		}
	}
	fmt.Printf("seccomp features: %#x\n", plan.Filter)
	for _, m := range plan.Mounts {
		fmt.Printf("mount %s %q\n", m.Kind, m.Target)
	}
	for _, path := range plan.Carved {
		fmt.Printf("carved out %q\n", path)
	}
	printClauses(os.Stdout, plan.Receipt)
	return nil
}
