package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "try what this machine can enforce, and say how to mend what is missing",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print the features as JSON, as --features reads them"},
			&cli.StringFlag{Name: "agent", Usage: "try the hook of `AGENT` instead: send what it would send, run what comes back"},
			&cli.StringSliceFlag{Name: "require", Usage: "fail unless `CHECK`, a name of the first column, passes"},
		},
		Action: wordless(func(c *cli.Context) error {
			var checks []check
			var features any
			if name := c.String("agent"); name != "" {
				agent, err := agentNamed([]string{name})
				if err == nil {
					checks, err = diagnoseAgent(agent)
				}
				if err != nil {
					return err
				}
			} else {
				checks, features = diagnose()
			}
			if c.Bool("json") {
				if err := printJSON(features); err != nil {
					return err
				}
			}
			// Before anything is written: a reader that leaves, such as head, ends
			// this process, and a directory of its own would stay behind.
			limits := limitsHere(features)
			failed := map[string]bool{}
			for _, k := range checks {
				failed[k.name] = !k.ok
				if c.Bool("json") {
					continue
				}
				word := "ok"
				if !k.ok {
					word = "missing"
				}
				fmt.Fprintf(os.Stdout, "%-14s %-8s %s\n", k.name, word, k.what)
				if !k.ok && k.fix != "" {
					fmt.Fprintf(os.Stdout, "%-14s %-8s fix: %s\n", "", "", k.fix)
				}
			}
			if !c.Bool("json") {
				for _, l := range limits {
					fmt.Fprintf(os.Stdout, "%-14s %-8s %s\n", "limit", l.Name, l.Note)
				}
			}
			var missing []string
			for _, name := range c.StringSlice("require") {
				bad, known := failed[name]
				if !known {
					return usage(fmt.Errorf("--require %s: no such check", quote(name)))
				}
				if bad {
					missing = append(missing, name)
				}
			}
			if c.String("agent") != "" {
				missing = wrong(checks)
			}
			if len(missing) > 0 {
				return fmt.Errorf("required here and missing: %s", strings.Join(missing, ", "))
			}
			return nil
		}),
	}
}

// wrong are the names of the checks that fail.
func wrong(checks []check) (names []string) {
	for _, k := range checks {
		if !k.ok {
			names = append(names, k.name)
		}
	}
	return names
}

// check is one line of the diagnosis.
type check struct {
	name string
	ok   bool
	what string // what it gives
	fix  string // what to do where it is missing
}
