//go:build linux

package attack

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Verdict is what one try shows.
type Verdict string

// The verdicts.
const (
	Held    Verdict = "held"    // the bare run got something, the confined one nothing
	Limit   Verdict = "limit"   // it got through, and the receipt says so
	Through Verdict = "through" // it got through
	Moot    Verdict = "moot"    // the bare run gets nothing here, and is not expected to
	Blunt   Verdict = "blunt"   // the bare run should have got something: the attempt shows nothing
	Broken  Verdict = "broken"  // it could not be tried, or a job failed
	Works   Verdict = "works"   // a job did what it does bare
)

// Result is an attempt or a job under one confiner in one environment.
type Result struct {
	Environment, Confiner string
	Group, Name           string
	Job                   bool   `json:",omitempty"`
	Limit                 string `json:",omitempty"`
	Verdict               Verdict
	// What is what got through, or what went wrong.
	What string `json:",omitempty"`
}

// Run makes an attempt bare and under each confiner. admitted says whether the
// receipt here admits that a clause is not held; it is asked for skillrun alone.
func (e Environment) Run(p *Program, root string, admitted func(clause string) bool, confiners ...Confiner) []Result {
	blank := Result{Environment: e.Name, Group: p.Group, Name: p.Name}
	bare, err := Try(p, Bare, root)
	// On a machine that is busy it may not be in time: it has to get there once.
	for again := 0; again < 2 && err == nil && len(bare.Findings) == 0 && p.Control == "" && e.Has(p.Needs); again++ {
		bare, err = Try(p, Bare, root)
	}
	var list []Result
	for _, c := range confiners {
		r := blank
		r.Confiner = c.Name
		var o Outcome
		if err == nil {
			o, err = Try(p, c, root)
		}
		switch {
		case err != nil:
			r.Verdict, r.What = Broken, err.Error()
		case p.Control == "no" && len(bare.Findings)+len(o.Findings) > 0:
			r.Verdict, r.What = Blunt, fmt.Sprintf("%q %q", bare.Findings, o.Findings)
		case len(o.Findings) > 0 && p.Limit != "" && admitted(p.Limit):
			r.Verdict, r.Limit, r.What = Limit, p.Limit, fmt.Sprintf("%.200q", o.Findings)
		case len(o.Findings) > 0:
			r.Verdict, r.What = Through, fmt.Sprintf("%.400q\n%.600s", o.Findings, o.Output)
		case len(bare.Findings) > 0 || p.Control == "no":
			r.Verdict = Held
		case p.Control == "may" || !e.Has(p.Needs):
			r.Verdict = Moot
		default:
			r.Verdict, r.What = Blunt, fmt.Sprintf("the bare run got nothing:\n%.800s", bare.Output)
		}
		list = append(list, r)
	}
	return list
}

// Work does a job bare and under each confiner: it has to end well, and to print
// what it prints bare.
func (e Environment) Work(p *Program, root string, confiners ...Confiner) []Result {
	bare, err := Do(p, Bare, root)
	var list []Result
	for _, c := range confiners {
		r := Result{Environment: e.Name, Confiner: c.Name, Group: p.Group, Name: p.Name, Job: true}
		var o Outcome
		if err == nil {
			o, err = Do(p, c, root)
		}
		switch {
		case !e.Has(p.Needs):
			r.Verdict = Moot
		case err != nil:
			r.Verdict, r.What = Broken, err.Error()
		case bare.Exit != 0:
			r.Verdict, r.What = Blunt, fmt.Sprintf("the bare run ended with %d:\n%.800s", bare.Exit, bare.Output)
		case o.Exit != 0 || !bytes.Equal(o.Output, bare.Output):
			r.Verdict, r.What = Broken, fmt.Sprintf("exit %d:\n%.1200s\nbare:\n%.1200s", o.Exit, o.Output, bare.Output)
		default:
			r.Verdict = Works
		}
		list = append(list, r)
	}
	return list
}

// Receipt asks a skillrun program how strongly each clause is held here, under
// the suite's manifest.
func Receipt(c Confiner, root string) (map[string]string, error) {
	s, err := newScene(root, &Program{})
	if err != nil {
		return nil, err
	}
	defer s.close()
	args := append(c.Args(s.home, s.ws, s.skill, []string{"--receipt"}), "/bin/true")
	cmd := exec.Command(c.Path, args...)
	cmd.Dir = s.ws
	cmd.Env = []string{"HOME=" + s.home, "PATH=/usr/bin:/bin", "XDG_STATE_HOME=" + s.state}
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("ask for a receipt: %w: %s", err, out.Bytes())
	}
	held := map[string]string{}
	for line := range strings.Lines(out.String()) {
		if f := strings.Fields(line); len(f) >= 5 && f[1] == "receipt:" {
			held[f[2]] = f[4]
		} else if len(f) == 4 && f[1] == "receipt:" {
			held[f[2]] = f[3]
		}
	}
	if len(held) < 20 {
		return nil, fmt.Errorf("the receipt has %d clauses:\n%s", len(held), out.Bytes())
	}
	return held, nil
}

// Doctor asks a skillrun program what it does not hold here.
func Doctor(c Confiner) ([]string, error) {
	out, err := exec.Command(c.Path, "doctor").Output()
	if err != nil {
		return nil, fmt.Errorf("ask the doctor: %w", err)
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "limit" {
			list = append(list, f[1])
		}
	}
	slices.Sort(list)
	return list, nil
}

// Documented reads docs/limits.md: the clauses that are not held with
// namespaces, and without.
func Documented(file string, namespaces bool) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		column := cells[4]
		if namespaces {
			column = cells[3]
		}
		switch word := strings.TrimSpace(column); word {
		case "**not held**":
			list = append(list, strings.Trim(strings.TrimSpace(cells[1]), "`"))
		case "held", "held if a secret was there":
		default:
			return nil, fmt.Errorf("%s: %q is neither held nor **not held**", file, word)
		}
	}
	slices.Sort(list)
	return list, nil
}
