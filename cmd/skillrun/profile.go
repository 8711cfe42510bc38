package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"
)

func profileCommand(in *invocation) *cli.Command {
	return &cli.Command{
		Name:      "profile",
		Usage:     "print the compiled profile, or the plan for this or another machine",
		UsageText: "skillrun profile --skill DIR [--plan] [--features FILE] [--namespaces HOW] [--platform linux|darwin|all] [--for-host FILE] [--format text|json|sbpl|params] [-- COMMAND]",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "plan", Usage: "print what the kernel will be told instead"},
			&cli.StringFlag{Name: "features", Usage: "compile for the machine whose features are in `FILE` (see doctor --json)"},
			namespacesFlag(),
			&cli.StringFlag{Name: "format", Value: "text", Usage: "print as `FORM`: text or json; for darwin also sbpl (the policy's source) or params (KEY=VALUE)"},
			&cli.BoolFlag{Name: "fail-on-gap", Usage: "exit 125 if a platform cannot hold what must be held"},
		}, append(platformFlags(), policyFlags()...)...),
		Action: wordless(func(c *cli.Context) error {
			j, err := newJob(c, in.command, answers{})
			if err != nil {
				return err
			}
			names, err := platforms(c)
			if err != nil {
				return err
			}
			if len(names) == 0 && c.Bool("fail-on-gap") {
				names = []string{runtime.GOOS}
			}
			if len(names) > 0 {
				return platformProfile(c, j, names)
			}
			if c.IsSet("features") && !c.Bool("plan") {
				return usage(errors.New("--features is for --plan: the profile is the same on every machine"))
			}
			if c.IsSet("namespaces") && !c.Bool("plan") {
				return usage(errors.New("--namespaces is for --plan: the profile is the same with and without"))
			}
			p, err := j.profile()
			if err != nil {
				return err
			}
			format := c.String("format")
			switch {
			case format == "sbpl" || format == "params":
				return usage(fmt.Errorf("--format %s is for --platform darwin", format))
			case format != "text" && format != "json":
				return usage(fmt.Errorf("--format %s: text, json, sbpl or params", quote(format)))
			case c.Bool("plan"):
				return printPlan(c, j, p)
			case format == "json":
				return printJSON(p)
			}
			_, err = os.Stdout.Write(p.Canonical())
			return err
		}),
	}
}

func printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(shownJSON(b), '\n'))
	return err
}
