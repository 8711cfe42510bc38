//go:build linux

package attack

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Results reads what tests have written with -results.
func Results(r io.Reader) ([]Result, error) {
	var all []Result
	for in := json.NewDecoder(r); ; {
		var x Result
		switch err := in.Decode(&x); err {
		case nil:
			all = append(all, x)
		case io.EOF:
			return all, nil
		default:
			return nil, err
		}
	}
}

// Summary is one table of all results: a line for each confiner and group, a
// column for each environment.
func Summary(all []Result) string {
	var environments, lines []string
	type cell struct{ good, known, bad, moot int }
	cells := map[[2]string]*cell{}
	for _, r := range all {
		group := "jobs: " + r.Group
		if !r.Job {
			group = r.Group
		}
		line := fmt.Sprintf("%-21s %-18s", r.Confiner, group)
		if !slices.Contains(environments, r.Environment) {
			environments = append(environments, r.Environment)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		for _, l := range [...]string{line, fmt.Sprintf("%-21s %-18s", r.Confiner, map[bool]string{false: "all attempts", true: "all jobs"}[r.Job])} {
			c := cells[[2]string{l, r.Environment}]
			if c == nil {
				c = &cell{}
				cells[[2]string{l, r.Environment}] = c
			}
			switch r.Verdict {
			case Held, Works:
				c.good++
			case Limit:
				c.known++
			case Moot:
				c.moot++
			default:
				c.bad++
			}
			if !slices.Contains(lines, l) {
				lines = append(lines, l)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[:21], b[:21]) })
	var b strings.Builder
	b.WriteString("held or done / known limits / got through or failed (without a control here)\n\n")
	fmt.Fprintf(&b, "%-40s", "")
	for _, e := range environments {
		fmt.Fprintf(&b, "  %-17s", e)
	}
	b.WriteByte('\n')
	for _, l := range lines {
		b.WriteString(l)
		for _, e := range environments {
			text := "-"
			if c := cells[[2]string{l, e}]; c != nil {
				text = fmt.Sprintf("%d / %d / %d (%d)", c.good, c.known, c.bad, c.moot)
			}
			fmt.Fprintf(&b, "  %-17s", text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
