package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"
)

func profileCommand(in *invocation) *cli.Command {
	return &cli.Command{
		Name:      "profile",
		Usage:     "print the compiled profile, or the plan for this or another machine",
		UsageText: "skillrun profile --skill DIR [--plan] [--features FILE] [--format text|json] [-- COMMAND]",
		Flags: append(policyFlags(),
			&cli.BoolFlag{Name: "plan", Usage: "print what the kernel will be told instead"},
			&cli.StringFlag{Name: "features", Usage: "compile for the machine whose features are in `FILE` (see doctor --json)"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "`text` or json"},
		),
		Action: func(c *cli.Context) error {
			j, err := newJob(c, in.command)
			if err != nil {
				return err
			}
			p, err := j.profile()
			if err != nil {
				return err
			}
			format := c.String("format")
			switch {
			case format != "text" && format != "json":
				return usage(fmt.Errorf("--format %s: not text or json", quote(format)))
			case c.Bool("plan"):
				return printPlan(c, p)
			case format == "json":
				return printJSON(p)
			}
			_, err = os.Stdout.Write(p.Canonical())
			return err
		},
	}
}

func printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(b, '\n'))
	return err
}
