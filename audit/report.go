package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// String is the record on one printable line, without details.
func (r *Record) String() string {
	if r.Damage != "" {
		return fmt.Sprintf("%s:%d: damaged: %s", r.File, r.Line, Escape(r.Damage))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s #%d ", r.Time.UTC().Format("2006-01-02 15:04:05Z"), r.Seq)
	switch {
	case r.Start != nil:
		s := r.Start
		b.WriteString("start " + Escape(s.Run))
		if s.Skill.Name != "" {
			b.WriteString(" " + s.Skill.label())
		}
		b.WriteString(": " + commandLine(s.Argv))
		if s.ArgvCut != nil {
			fmt.Fprintf(&b, " ... (%d words)", s.ArgvCut.Count)
		}
	case r.End != nil:
		e := r.End
		b.WriteString("end " + Escape(e.Run) + " " + e.outcome())
	case r.Decision != nil:
		d := r.Decision
		b.WriteString("decision " + Escape(d.Verdict) + ": " + Escape(d.Tool))
		for _, s := range []string{d.Capability, d.Reason} {
			if s != "" {
				b.WriteString(", " + Escape(s))
			}
		}
	case r.Grant != nil:
		g := r.Grant
		b.WriteString(Escape(g.Action) + " for " + Escape(g.For))
		if g.Skill.Name != "" {
			b.WriteString(" to " + g.Skill.label())
		}
		b.WriteString(":")
		for _, c := range g.Capabilities {
			b.WriteString(" " + c.label())
		}
		if g.By != "" {
			b.WriteString(" (by " + Escape(g.By) + ")")
		}
		if !g.Until.IsZero() {
			b.WriteString(" until " + g.Until.UTC().Format(time.RFC3339))
		}
	case r.Repair != nil:
		b.WriteString("log repaired: ")
		switch p := r.Repair; p.Found {
		case "torn":
			fmt.Fprintf(&b, "%d bytes that are no record were closed off", p.Bytes)
		case "cut":
			fmt.Fprintf(&b, "%d bytes are gone, up to record %d", p.Bytes, p.LastSeq)
		case "no-head":
			b.WriteString("the head file was gone or damaged")
		default:
			b.WriteString(Escape(p.Found))
		}
	}
	return b.String()
}

func (s *Skill) label() string {
	if s.Version == "" {
		return Escape(s.Name)
	}
	return Escape(s.Name) + "@" + Escape(s.Version)
}

func (c *Capability) label() string {
	if len(c.Scope) == 0 {
		return Escape(c.Name)
	}
	return Escape(c.Name) + ":" + Escape(strings.Join(c.Scope, ","))
}

func (r *End) outcome() string {
	var b strings.Builder
	b.WriteString(Escape(string(r.Status)))
	switch {
	case r.Signal != "":
		b.WriteString(", " + Escape(r.Signal))
	case r.Status != Success:
		fmt.Fprintf(&b, ", exit %d", r.Code)
	}
	if r.Reason != "" {
		b.WriteString(", " + Escape(r.Reason))
	}
	fmt.Fprintf(&b, ", %v", r.Wall.Round(time.Millisecond))
	n := r.MoreDenials
	for _, d := range r.Denials {
		n += max(1, d.Count)
	}
	if n > 0 {
		fmt.Fprintf(&b, ", %d refused", n)
	}
	return b.String()
}

// String is the row on one printable line, such as
// "api.example.com:443 at 192.0.2.7 granted, sent 517, received 3021, tls api.example.com".
func (c *Connection) String() string {
	host := c.Host
	if host == "" {
		host = c.Addr
	}
	var b strings.Builder
	switch {
	case host == "" && c.Port == 0:
		b.WriteString("others")
	case c.Door == "dns":
		b.WriteString("name " + Escape(host))
	case strings.Contains(host, ":"):
		fmt.Fprintf(&b, "[%s]:%d", Escape(host), c.Port)
	default:
		fmt.Fprintf(&b, "%s:%d", Escape(host), c.Port)
	}
	if c.Protocol != "" && c.Protocol != "tcp" {
		b.WriteString("/" + Escape(c.Protocol))
	}
	if c.Addr != "" && c.Addr != host {
		b.WriteString(" at " + Escape(c.Addr))
	}
	if c.Via != "" {
		b.WriteString(" by proxy " + Escape(c.Via))
	}
	b.WriteString(" " + Escape(c.Verdict))
	if c.Count > 1 {
		fmt.Fprintf(&b, " x%d", c.Count)
	}
	if c.Sent+c.Received > 0 {
		fmt.Fprintf(&b, ", sent %d, received %d", c.Sent, c.Received)
	}
	for _, s := range [...][2]string{{"tls", c.TLSName}, {"http", c.HTTPHost}} {
		if s[1] != "" {
			b.WriteString(", " + s[0] + " " + Escape(s[1]))
		}
	}
	if c.Rule != "" {
		b.WriteString(" (" + Escape(c.Rule) + ")")
	}
	return b.String()
}

// commandLine shows argv on one printable line. Words that a shell would take
// apart are quoted; it is for reading, not for running.
func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = Escape(a)
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`|&;<>()*?[]#~{}!") {
			words[i] = "'" + strings.ReplaceAll(words[i], "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Run is all that the log tells of one run.
type Run struct {
	Start, End *Record   // nil if it has none; a run without End was killed or goes on
	Decisions  []*Record // that led to it
	Grants     []*Record // given for it
}

// Explain gathers what the log in dir tells of a run. It fails if there is no
// record of it.
func Explain(dir, run string) (*Run, error) {
	var x Run
	outer := "" // the run that only says that it started it
	for r, err := range Records(dir) {
		if err != nil {
			return nil, err
		}
		if r.End != nil && r.Damage == "" && slices.ContainsFunc(r.End.Runs, func(in Inner) bool { return in.Run == run }) {
			outer = r.End.Run
		}
		if id, _ := r.IDs(); id != run || r.Damage != "" {
			continue
		}
		switch r.Kind {
		case KindStart:
			x.Start = r
		case KindEnd:
			x.End = r
		case KindDecision:
			x.Decisions = append(x.Decisions, r)
		case KindGrant:
			x.Grants = append(x.Grants, r)
		}
	}
	if x.Start == nil && x.End == nil && x.Decisions == nil && x.Grants == nil {
		if outer != "" {
			return nil, fmt.Errorf("run %q: the audit log has no record of it but that of the run that it was inside, %q", run, outer)
		}
		return nil, fmt.Errorf("run %q: the audit log has no record of it", run)
	}
	return &x, nil
}

// Lines tells the run to people, one printable line each.
func (x *Run) Lines() []string {
	var out []string
	say := func(name, value string) {
		if value != "" {
			out = append(out, fmt.Sprintf("%-12s %s", name, value))
		}
	}
	if x.Start != nil {
		s := x.Start.Start
		say("run", Escape(s.Run))
		say("started", x.Start.Time.UTC().Format(time.RFC3339))
		say("command", commandLine(s.Argv))
		say("directory", Escape(s.Dir))
		say("workspace", Escape(s.Workspace))
		if s.Skill.Name != "" {
			say("skill", s.Skill.label()+" "+Escape(s.Skill.Dir))
			say("tier", Escape(s.Skill.Tier))
		}
		say("session", Escape(s.Session))
		if s.Parent != "" {
			say("inside", fmt.Sprintf("%s (depth %d)", Escape(s.Parent), s.Depth))
		}
		tree, script, interpreter := s.Skill.Tree, s.Script.SHA256, s.Interpreter.SHA256
		if x.End != nil { // those that were computed meanwhile
			tree = later(tree, x.End.End.Tree)
			script = later(script, x.End.End.Script)
			interpreter = later(interpreter, x.End.End.Interpreter)
		}
		say("tree", tree.String())
		say("manifest", s.Skill.Manifest.String())
		say("interpreter", strings.TrimSpace(Escape(s.Interpreter.Path)+" "+interpreter.String()))
		say("script", strings.TrimSpace(Escape(s.Script.Path)+" "+script.String()))
		say("profile", s.Profile.String())
		for _, c := range s.Capabilities {
			say("capability", strings.TrimSpace(Escape(c.Effect)+" "+c.label())+" from "+Escape(c.Source))
		}
		for _, c := range s.Receipt {
			line := Escape(c.Name) + ": " + Escape(c.Strength)
			for _, more := range []string{c.Mechanism, c.Note} {
				if more != "" {
					line += ", " + Escape(more)
				}
			}
			say("held", line)
		}
		for _, g := range s.Gaps {
			say("gap", Escape(g))
		}
	}
	for _, r := range x.Decisions {
		say("decision", r.String())
	}
	for _, r := range x.Grants {
		say("grant", r.String())
	}
	if x.End == nil {
		say("ended", "no record of it: it goes on, or the launcher was killed")
		return out
	}
	e := x.End.End
	for _, d := range e.Denials {
		line := Escape(d.Access) + " " + Escape(d.Target)
		if d.Rule != "" {
			line += " (" + Escape(d.Rule) + ")"
		}
		if d.Count > 1 {
			line += " x" + strconv.Itoa(d.Count)
		}
		say("refused", line)
	}
	for _, path := range e.Controls {
		say("made", Escape(path)+", which other programs obey")
	}
	if e.MoreControls > 0 {
		say("made", strconv.Itoa(e.MoreControls)+" more that other programs obey, or as many moves of what holds them")
	}
	for _, r := range e.Runs {
		say("started run", fmt.Sprintf("%s (inside %s, depth %d)", Escape(r.Run), Escape(r.Parent), r.Depth))
	}
	if e.MoreRuns > 0 {
		say("started run", strconv.Itoa(e.MoreRuns)+" more")
	}
	for i := range e.Connections {
		say("connection", e.Connections[i].String())
	}
	for _, s := range []struct {
		name string
		s    Stream
	}{{"stdin", e.Stdin}, {"stdout", e.Stdout}, {"stderr", e.Stderr}} {
		if s.s != (Stream{}) {
			say(s.name, fmt.Sprintf("%d bytes, sha256 %s", s.s.Size, s.s.SHA256))
		}
		if s.s.Text != "" {
			say("", Escape(s.s.Text))
		}
	}
	say("ended", x.End.Time.UTC().Format(time.RFC3339)+" "+e.outcome())
	return out
}

func later(a, b Digest) Digest {
	if a == (Digest{}) {
		return b
	}
	return a
}

// Session sums up one agent session.
type Session struct {
	ID      string    `json:"session"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Runs    int       `json:"runs"`
	Failed  int       `json:"failed"`  // runs that ended otherwise than with success
	Refused int       `json:"refused"` // things refused to its runs
	Allowed int       `json:"allowed"` // decisions
	Asked   int       `json:"asked"`
	Denied  int       `json:"denied"`
	Grants  int       `json:"grants"`
	Skills  []string  `json:"skills,omitempty"` // names, sorted
}

// Sessions sums up the sessions of the log in dir, in the order of their first
// records. Records without a session are left out.
func Sessions(dir string) ([]*Session, error) {
	var list []*Session
	byID := map[string]*Session{}
	for r, err := range Records(dir) {
		if err != nil {
			return nil, err
		}
		_, id := r.IDs()
		if id == "" || r.Damage != "" {
			continue
		}
		s := byID[id]
		if s == nil {
			s = &Session{ID: id, First: r.Time}
			byID[id] = s
			list = append(list, s)
		}
		s.Last = r.Time
		if name := r.skill(); name != "" {
			if i, found := slices.BinarySearch(s.Skills, name); !found {
				s.Skills = slices.Insert(s.Skills, i, name)
			}
		}
		switch {
		case r.Start != nil:
			s.Runs++
		case r.Grant != nil:
			if r.Grant.Action == "grant" {
				s.Grants++
			}
		case r.End != nil:
			if r.End.Status != Success {
				s.Failed++
			}
			s.Refused += r.End.MoreDenials
			for _, d := range r.End.Denials {
				s.Refused += max(1, d.Count)
			}
		case r.Decision != nil:
			switch r.Decision.Verdict {
			case "allow":
				s.Allowed++
			case "ask":
				s.Asked++
			default:
				s.Denied++
			}
		}
	}
	return list, nil
}

// String is the session on one printable line.
func (s *Session) String() string {
	skills := Escape(strings.Join(s.Skills, ", "))
	if skills == "" {
		skills = "none"
	}
	return fmt.Sprintf("%s %s, %v: %d runs (%d failed, %d refusals), decisions %d allowed %d asked %d denied, %d grants, skills %s",
		s.First.UTC().Format("2006-01-02 15:04:05Z"), Escape(s.ID), s.Last.Sub(s.First).Round(time.Second),
		s.Runs, s.Failed, s.Refused, s.Allowed, s.Asked, s.Denied, s.Grants, skills)
}
