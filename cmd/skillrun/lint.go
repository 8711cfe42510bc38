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
	"skillrun/policy/skill"
)

func lintCommand() *cli.Command {
	return &cli.Command{
		Name:      "lint",
		Usage:     "say what is wrong or unwise in a skill's manifests; exit 1 if it would not run",
		UsageText: "skillrun lint DIR",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage(errors.New("lint: name one directory"))
			}
			return lint(c.Args().First())
		},
	}
}

// lint prints a line for each finding, on stdout. Faults come first.
func lint(dir string) error {
	s, err := skill.Open(dir)
	if err != nil {
		return err
	}
	faults := 0
	for _, f := range s.Files {
		if _, _, err := policy.ParseFile(f); err != nil {
			faults++
		}
	}
	for i, f := range policy.Lint(filepath.Base(s.Dir), s.Files) {
		word := "note"
		if i < faults {
			word = "error"
		}
		if f.Pos.File != filepath.Base(s.Dir) || f.Pos.Line > 0 {
			f.Pos.File = filepath.Join(dir, f.Pos.File)
		}
		fmt.Fprintf(os.Stdout, "%s: %s: %s\n", audit.Escape(f.Pos.String()), word, audit.Escape(f.What))
	}
	for _, f := range s.Misnamed {
		fmt.Fprintf(os.Stdout, "%s: note: %s\n", audit.Escape(f.Pos.String()), audit.Escape(f.What))
	}
	for _, f := range unapprovable(s.Dir) {
		fmt.Fprintf(os.Stdout, "%s: note: %s: it is not approved for good\n", audit.Escape(filepath.Join(dir, f.Pos.File)), audit.Escape(f.What))
	}
	if faults > 0 {
		return exitError{1}
	}
	return nil
}

// unapprovable says what in a skill keeps it from being approved for good: links that
// lead out of it, and what has no digest.
func unapprovable(dir string) (found []policy.Finding) {
	strays, err := skill.Strays(dir)
	for _, s := range strays {
		found = append(found, policy.Finding{Pos: policy.Pos{File: s.Link}, What: "leads out of the skill, to " + s.To() + ", which can change without it"})
	}
	if err == nil {
		_, err = skill.Tree(context.Background(), dir, nil, time.Now())
	}
	if err != nil {
		found = append(found, policy.Finding{What: strings.TrimPrefix(err.Error(), fmt.Sprintf("skill %q: ", dir))})
	}
	return found
}
