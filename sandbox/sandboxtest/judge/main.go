//go:build linux

// Judge runs the hostile example skill twice against canaries that it makes in
// a temporary directory, unconfined and then by the given command, and prints
// how often each kind of attempt got something.
//
//	judge -skill examples/skills/hostile -- skillrun --skill examples/skills/hostile --approve declared --
//
// It fails if an attempt gets nothing unconfined, since then it shows nothing,
// or gets something confined. -gap names clauses that the command was told to
// go without.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"skillrun/sandbox/sandboxtest"
)

func main() {
	skill := flag.String("skill", "", "`directory` of the hostile skill")
	verbose := flag.Bool("v", false, "a line per attempt")
	gap := flag.String("gap", "", "`clauses` that nothing holds, by commas")
	flag.Parse()
	if err := run(*skill, strings.Split(*gap, ","), *verbose, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func run(skill string, gaps []string, verbose bool, confine []string) error {
	if skill == "" || len(confine) == 0 {
		return errors.New("usage: judge -skill DIR [-v] [-gap CLAUSE,CLAUSE] -- COMMAND [ARG]")
	}
	skill, err := filepath.Abs(skill)
	if err != nil {
		return err
	}
	attempts, err := sandboxtest.Attempts(skill)
	if err != nil {
		return err
	}
	free, err := once(skill, nil, attempts)
	if err != nil {
		return fmt.Errorf("unconfined: %w", err)
	}
	confined, err := once(skill, confine, nil)
	if err != nil {
		return fmt.Errorf("confined: %w", err)
	}
	type row struct{ tried, free, confined, known int }
	rows := map[string]*row{}
	var kinds []string
	var wrong []string
	for _, name := range attempts {
		kind, _, _ := strings.Cut(name, ".")
		r := rows[kind]
		if r == nil {
			r = new(row)
			rows[kind] = r
			kinds = append(kinds, kind)
		}
		r.tried++
		if free[name] != "" {
			r.free++
		} else {
			wrong = append(wrong, name+" got nothing unconfined")
		}
		switch {
		case confined[name] == "":
		case slices.Contains(gaps, sandboxtest.Clause(name)):
			r.known++
		default:
			r.confined++
			wrong = append(wrong, name+" "+confined[name])
		}
		if verbose {
			fmt.Printf("%-20s %-55s %s\n", name, or(free[name]), or(confined[name]))
		}
	}
	if confined["?"] != "" {
		wrong = append(wrong, confined["?"])
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "attempts on\ttried\tgot, unconfined\tgot, under skillrun\t")
	for _, k := range kinds {
		note := ""
		if r := rows[k]; r.known > 0 {
			note = fmt.Sprintf("%d by a gap that was allowed", r.known)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", k, rows[k].tried, rows[k].free, rows[k].confined, note)
	}
	w.Flush()
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

func or(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// once runs the script against canaries of its own.
func once(skill string, confine, expect []string) (map[string]string, error) {
	dir, err := os.MkdirTemp("", "judge-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c, err := sandboxtest.Plant(dir)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	argv := append(slices.Clone(confine), "python3", filepath.Join(skill, "scripts", "check.py"))
	cmd := c.Command(argv[0], append(argv[1:], c.Args()...)...)
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return c.Judge(stdout.Bytes(), expect)
}
