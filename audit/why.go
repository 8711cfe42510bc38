package audit

import (
	"fmt"
	"strings"
)

// Why tells people how the run came to be allowed, or not: each decision that
// led to it with the needs that were judged and whose entries decided, the
// answers that were given, and what its rights came from. One printable line
// each.
func (x *Run) Why() []string {
	var out []string
	add := func(depth int, format string, args ...any) {
		out = append(out, strings.Repeat("  ", depth)+fmt.Sprintf(format, args...))
	}
	for _, r := range x.Decisions {
		d := r.Decision
		line := Escape(d.Verdict) + ": " + Escape(d.Tool)
		if d.Session != "" {
			line += " in session " + Escape(d.Session)
		}
		if d.Skill != "" {
			line += ", for " + Escape(d.Skill)
		}
		add(0, "%s #%d %s", r.Time.UTC().Format("2006-01-02 15:04:05Z"), r.Seq, line)
		if d.Input != "" {
			add(1, "input   %s", Escape(d.Input))
		}
		add(1, "because %s%s", Escape(d.Reason), from(d.Source))
		if d.Scanned {
			add(1, "the command was read for what it needs")
		}
		for _, n := range d.Needs {
			what := Escape(n.Capability)
			if n.Target != "" {
				what += " " + Escape(n.Target)
				if !n.Exact {
					what += " (as far as can be read)"
				}
			}
			add(1, "%-7s %s: %s%s", Escape(n.Verdict), what, Escape(n.Reason), from(n.Source))
		}
	}
	for _, r := range x.Grants {
		add(0, "%s", r.String())
	}
	if x.Start == nil {
		add(0, "no run was started")
		return out
	}
	s := x.Start.Start
	add(0, "%s #%d run %s: %s", x.Start.Time.UTC().Format("2006-01-02 15:04:05Z"), x.Start.Seq, Escape(s.Run), commandLine(s.Argv))
	if len(x.Decisions) == 0 {
		add(1, "nobody decided about it beforehand: the user typed it, or a program of theirs did")
	}
	for _, c := range s.Capabilities {
		add(1, "%-7s %s%s", Escape(c.Effect), c.label(), from(c.Source))
	}
	for _, g := range s.Gaps {
		add(1, "not held: %s", Escape(g))
	}
	if x.End != nil {
		for _, d := range x.End.End.Denials {
			line := Escape(d.Access) + " " + Escape(d.Target)
			if d.Rule != "" {
				line += " (" + Escape(d.Rule) + ")"
			}
			add(1, "refused %s", line)
		}
		add(1, "ended   %s", x.End.End.outcome())
	}
	return out
}

func from(source string) string {
	if source == "" {
		return ""
	}
	return ", from " + Escape(source)
}
