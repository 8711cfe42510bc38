package main

import (
	"encoding/json"
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
			&cli.StringSliceFlag{Name: "require", Usage: "fail unless `CHECK` passes; see the first column"},
		},
		Action: func(c *cli.Context) error {
			checks, features := diagnose()
			if c.Bool("json") {
				b, err := json.MarshalIndent(features, "", "  ")
				if err != nil {
					return err
				}
				fmt.Fprintf(os.Stdout, "%s\n", b)
			}
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
				for _, l := range limitsHere(features) {
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
			if len(missing) > 0 {
				return fmt.Errorf("required here and missing: %s", strings.Join(missing, ", "))
			}
			return nil
		},
	}
}

// check is one line of the diagnosis.
type check struct {
	name string
	ok   bool
	what string // what it gives
	fix  string // what to do where it is missing
}
