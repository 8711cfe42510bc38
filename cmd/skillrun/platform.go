package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"skillrun/darwin"
	"skillrun/policy"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// platformFlags choose another machine than this one, for profile and explain.
func platformFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "platform", Usage: "answer for `SYSTEM`: linux or darwin; profile also for all"},
		&cli.StringFlag{Name: "for-host", Usage: "answer for the Mac described in `FILE` (JSON: os, version, home, user, workspace, tmp, case_sensitive, exists)"},
	}
}

// platforms gives what the flags ask for; none means this machine as it is.
func platforms(c *cli.Context) ([]string, error) {
	switch name := c.String("platform"); {
	case name == "" && c.IsSet("for-host"), name == "darwin":
		return []string{"darwin"}, nil
	case name == "":
		return nil, nil
	case name == "linux" && c.IsSet("for-host"):
		return nil, usage(errors.New("--for-host is for darwin; another Linux is --features FILE"))
	case name == "linux":
		return []string{"linux"}, nil
	case name == "all":
		return []string{"linux", "darwin"}, nil
	default:
		return nil, usage(fmt.Errorf("--platform %s: linux, darwin or all", quote(name)))
	}
}

// mac is a job on a Mac, this one or another.
type mac struct {
	job     *job // there
	facts   *darwin.Facts
	profile *profiles.Profile
	policy  *darwin.Policy
}

// defaultProxyPort stands for the port of a gate that does not run yet.
const defaultProxyPort = 3128

// onMac lowers the job's rights for a Mac and compiles them.
func (j *job) onMac(c *cli.Context) (*mac, error) {
	there := *j
	m := &mac{job: &there}
	file := c.String("for-host")
	if file != "" {
		data, err := readNamed(file)
		if err != nil {
			return nil, fmt.Errorf("host file: %w", err)
		}
		if m.facts, err = darwin.ParseFacts(data); err != nil {
			return nil, err
		}
	} else {
		var err error
		if m.facts, err = thisMac(j); err != nil {
			return nil, err
		}
	}
	if file != "" || j.host.OS != "darwin" {
		described := *m.facts
		if j.skill != nil {
			described.Exists = append(slices.Clone(described.Exists), j.skill.Dir+"/")
		}
		there.host, there.workspace, there.cwd = described.Host(), m.facts.Workspace, m.facts.Workspace
	}
	var err error
	if m.profile, err = there.profile(); err != nil {
		return nil, err
	}
	if file == "" {
		if j.host.OS == "darwin" { // of another machine nobody knows the user's number
			m.profile = sandbox.Guarded(m.profile, j.caches())
		}
		m.profile = lookAround(m.facts, m.profile)
	}
	if m.profile.Network.Mode == profiles.NetHosts && m.facts.ProxyPort == 0 {
		m.facts.ProxyPort = defaultProxyPort
	}
	m.facts.BoundOutput = m.facts.BoundOutput || j.ownOutput
	m.policy, err = darwin.Compile(m.profile, m.facts)
	return m, err
}

// platformProfile prints what each platform holds of a job.
func platformProfile(c *cli.Context, j *job, names []string) error {
	format := c.String("format")
	receipts := map[string]profiles.Receipt{}
	var m *mac
	for _, name := range names {
		if name == "darwin" {
			var err error
			if m, err = j.onMac(c); err != nil {
				return err
			}
			receipts[name] = m.policy.Receipt
			continue
		}
		p, err := j.profile()
		if err != nil {
			return err
		}
		if receipts[name], _, err = planReceipt(c, j, p); err != nil {
			return err
		}
	}
	switch format {
	case "text":
		printParity(os.Stdout, names, receipts, j.strict)
	case "json":
		if err := printJSON(platformDocument(names, receipts, m, j.strict)); err != nil {
			return err
		}
	case "sbpl", "params":
		if m == nil {
			return usage(fmt.Errorf("--format %s is for --platform darwin", format))
		}
		printPolicy(os.Stdout, m.policy, format)
	default:
		return usage(fmt.Errorf("--format %s: text, json, sbpl or params", quote(format)))
	}
	if !c.Bool("fail-on-gap") {
		return nil
	}
	var failed error
	for _, name := range names {
		for _, g := range receipts[name].Gaps(j.strict, j.allowGaps) {
			say("gap on %s: %s is %s (%s)", name, g.Name, g.Strength, g.Note)
			failed = exitError{exitRefused}
		}
	}
	return failed
}

// printPolicy prints the source alone, or the parameters as KEY=VALUE lines. A
// value that would not be one line, or not show as it is, is quoted as in Go.
func printPolicy(w io.Writer, p *darwin.Policy, format string) {
	if format == "sbpl" {
		io.WriteString(w, p.Source())
		return
	}
	for _, v := range p.Params() {
		value := v.Value
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || hides(r) }) {
			value = strconv.QuoteToASCII(value)
		}
		fmt.Fprintf(w, "%s=%s\n", v.Name, value)
	}
}

// printParity prints a line for each clause and platform. With strict, what
// should be held and is not counts as a gap, too.
func printParity(w io.Writer, names []string, receipts map[string]profiles.Receipt, strict bool) {
	for _, clause := range clauseNames(names, receipts) {
		for i, name := range names {
			c := clauseOf(receipts[name], clause)
			label, word, strength := clause, "should", c.Strength.String()
			if i > 0 {
				label = ""
			}
			if profiles.Must(clause) {
				word = "must"
			}
			held := c.Mechanism
			if c.Name == "" {
				strength, held = "-", "not reported"
			}
			if c.Note != "" {
				held = strings.TrimSpace(held + " (" + c.Note + ")")
			}
			if c.Name != "" && len((profiles.Receipt{c}).Gaps(strict, nil)) > 0 {
				held = "GAP: " + held
			}
			fmt.Fprintf(w, "%-14s %-6s %-7s %-10s %s\n", policy.Escape(label), word, name, strength, policy.Escape(held))
		}
	}
}

// clauseNames gives the clauses of all receipts in order.
func clauseNames(names []string, receipts map[string]profiles.Receipt) []string {
	var clauses []string
	for _, n := range names {
		for _, c := range receipts[n] {
			if !slices.Contains(clauses, c.Name) {
				clauses = append(clauses, c.Name)
			}
		}
	}
	return clauses
}

// platformJSON is what --format json prints for one platform.
type platformJSON struct {
	Source  string            `json:"source,omitempty"`
	Params  map[string]string `json:"params,omitempty"`
	Clauses profiles.Receipt  `json:"clauses"`
	Gaps    []profiles.Clause `json:"gaps"`
}

// platformDocument gives one platform's object, or an object of them.
func platformDocument(names []string, receipts map[string]profiles.Receipt, m *mac, strict bool) any {
	all := map[string]platformJSON{}
	for _, n := range names {
		d := platformJSON{Clauses: receipts[n], Gaps: receipts[n].Gaps(strict, nil)}
		if d.Gaps == nil {
			d.Gaps = []profiles.Clause{}
		}
		if n == "darwin" {
			d.Source, d.Params = m.policy.Source(), map[string]string{}
			for _, v := range m.policy.Params() {
				d.Params[v.Name] = v.Value
			}
		}
		all[n] = d
	}
	if len(names) == 1 {
		return all[names[0]]
	}
	return all
}
