package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
	"skillrun/policy/learn"
	"skillrun/policy/skill"
)

// proposed is the manifest that init writes.
const proposed = "skillrun.toml"

func initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "propose a manifest for a skill that has none, from what its files are seen to do",
		UsageText: "skillrun init DIR [-]",
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() == 0:
				return usage(errors.New("init: name one directory"))
			case c.NArg() > 2 || c.NArg() == 2 && c.Args().Get(1) != "-":
				return usage(fmt.Errorf("init: unexpected %s; \"-\" after the directory prints the manifest", quote(c.Args().Get(1))))
			}
			return propose(c.Args().First(), c.NArg() == 2)
		},
	}
}

// propose writes the manifest, or prints it. It replaces none.
func propose(dir string, printed bool) error {
	s, err := skill.Open(dir)
	if err != nil {
		return err
	}
	if name := declaredIn(s); name != "" && !printed {
		return withHint{fmt.Errorf("skill %s has a manifest: %s", quote(dir), name), "to compare it with what would be proposed: skillrun init " + typed(dir, "DIR") + " -"}
	}
	for _, f := range s.Misnamed {
		say("%s", f)
	}
	fail := func(err error) error { return fmt.Errorf("skill %s: %w", quote(dir), err) }
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	text, entries := learn.Manifest(root.FS())
	if printed {
		_, err := os.Stdout.Write(text)
		return err
	}
	// O_EXCL follows no link and takes no file that is there.
	f, err := root.OpenFile(proposed, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fail(err)
	}
	if _, err = f.Write(text); err == nil {
		err = f.Close()
	}
	if err != nil {
		return fail(err)
	}
	many := fmt.Sprintf("%d entries, each to be confirmed", entries)
	switch entries {
	case 0:
		many = "no entry"
	case 1:
		many = "one entry, to be confirmed"
	}
	say("%s: %s; read it, and decide what is left to you in its comments", quote(filepath.Join(dir, proposed)), many)
	hint("then: skillrun lint %s; skillrun explain --skill %s", typed(dir, "DIR"), typed(dir, "DIR"))
	return nil
}

// declaredIn names what a skill's rights are declared in, "" if nothing declares any. A
// header counts, too: a manifest beside it would narrow it, and be narrowed by it.
func declaredIn(s *skill.Skill) string {
	for _, f := range s.Files {
		if slices.Contains(policy.ManifestNames(), f.Name) && !policy.Unrelated(f) {
			return f.Name
		}
	}
	if s.Says.Document != nil {
		return "the header of " + filepath.Base(s.Says.Document.File)
	}
	return ""
}
