package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrun/profiles"
)

// Effect is what an entry does with a request that it matches.
type Effect uint8

// The effects, strictest first; the zero effect denies.
const (
	Deny Effect = iota
	Confirm
	Allow
)

var effectWords = [...]string{"deny", "confirm", "allow"}

func (e Effect) String() string {
	if int(e) < len(effectWords) {
		return effectWords[e]
	}
	return "effect?"
}

// Level is the protection level of a capability: the default effect of an
// entry that states none.
type Level uint8

// The levels of the paper. The zero level is of names that the taxonomy does
// not know, and denies.
const (
	Unknown   Level = iota
	Normal          // allowed when declared
	Dangerous       // the user is asked
	System          // the user is asked, for a session at most
	Redact          // the user is asked; the value never reaches the agent
)

var levelWords = [...]string{"unknown", "normal", "dangerous", "system", "redact"}

func (l Level) String() string {
	if int(l) < len(levelWords) {
		return levelWords[l]
	}
	return "level?"
}

// Default is the effect of an entry that states none.
func (l Level) Default() Effect {
	switch l {
	case Normal:
		return Allow
	case Dangerous, System, Redact:
		return Confirm
	}
	return Deny
}

// Tier is how far a skill is trusted. It follows from where the skill lies and
// from the user's approvals; a manifest can only lower its own.
type Tier uint8

// The tiers, least trusted first; SkillGuard numbers them 4 to 1.
const (
	Isolated  Tier = iota // as Untrusted, and no network or secrets from its manifest
	Untrusted             // its "allow" asks; what it does not declare is denied
	Approved              // the user installed it
	BuiltIn               // shipped with the agent
)

var tierWords = [...]string{"isolated", "untrusted", "approved", "builtin"}

func (t Tier) String() string {
	if int(t) < len(tierWords) {
		return tierWords[t]
	}
	return "tier?"
}

// Pos is a place in a file. Line and Column count from 1, columns in bytes; a
// Pos without a line is the file, the flag or the shipped table as a whole.
type Pos struct {
	File         string
	Line, Column int
}

func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", Escape(p.File), p.Line, p.Column)
}

// Error is a fault in a file, at a place.
type Error struct {
	Pos  Pos
	What string
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.What }

func errorAt(pos Pos, format string, args ...any) error {
	return &Error{pos, fmt.Sprintf(format, args...)}
}

// Finding is something that people should know and that stops nothing.
type Finding struct {
	Pos  Pos
	What string
}

func (f Finding) String() string {
	if f.Pos == (Pos{}) {
		return f.What
	}
	return f.Pos.String() + ": " + f.What
}

// Document is one parsed manifest: what a skill says about itself and asks
// for, or what a configuration allows.
type Document struct {
	File    string // as given to the parser
	Form    Form
	Skill   Metadata
	Entries []Entry
	// Limits, Environment and Toolchains come from skillrun.toml only.
	// Toolchains names those of the user's home (rows of profiles' toolchains)
	// that the skill needs; nil is all, an empty list none.
	Limits      profiles.Limits
	Environment []Variable
	Toolchains  []Text
}

// Form is the kind of file a Document was read from, in order of precedence.
type Form uint8

// The forms.
const (
	JSON   Form = iota // skillguard-manifest.json, manifest.json, .skillguard.json
	TOML               // skillrun.toml
	Header             // the header of SKILL.md
)

func (f Form) String() string { return [...]string{"json", "toml", "header"}[f] }

// Metadata is what a skill says about itself.
type Metadata struct {
	Name, Version, Description string
	// Tier is the tier that the manifest claims; it counts only where it is
	// lower than the real one.
	Tier    Tier
	HasTier bool
	Pos     Pos
}

// Text is a string with its place.
type Text struct {
	Value string
	Pos   Pos
}

// Variable is an environment variable with a fixed value.
type Variable struct {
	Name, Value string
	Pos         Pos
}

// Entry is one permission entry: the unit of manifests, presets, ceilings and
// grants.
type Entry struct {
	// Capability is a dotted name, "group.*" or "*".
	Capability string
	Effect     Effect
	// Implied is set where the entry states no effect and has its level's.
	Implied bool
	// Priority settles conflicts inside one source: the highest wins, and the
	// strictest effect among equals.
	Priority    int
	Constraints Constraints
	// Message is shown when the user is asked or refused.
	Message string
	// Source says whose entry this is: "session-default", "skill:NAME",
	// "user-grant", "preset:NAME", "--grant".
	Source string
	// Granted is when the entry was given. From Expires on it is as if it were not
	// there; zero means never.
	Granted, Expires time.Time
	Pos              Pos
}

// Constraints narrow an entry. The zero value narrows nothing.
type Constraints struct {
	// WorkspaceOnly keeps file capabilities inside the workspace.
	WorkspaceOnly Choice
	// DeniedCommands are patterns that no command line may match.
	DeniedCommands []Pattern
	// AllowedCommands are prefixes of which a command line must have one; from
	// allowed-tools specifiers such as Bash(git:*). Empty means any.
	AllowedCommands []Text
	// Arguments are name, accepted values.
	Arguments []Argument
	// Scope names the resources: paths, hosts, variables.
	Scope []Text
	// Scoped tells an empty scope, which is nothing, from an absent one.
	Scoped bool
	Window Window
	Rate   Rate
}

// Choice is a truth value that may be absent.
type Choice uint8

// The choices.
const (
	Unset Choice = iota
	No
	Yes
)

// Pattern is a regular expression with its source text.
type Pattern struct {
	Text   string
	Regexp *regexp.Regexp
	Pos    Pos
}

// Argument is one key of the arguments constraint with the values it accepts.
type Argument struct {
	Name   string
	Values []string
	Pos    Pos
}

// Window is a time window: between two times of day, on some days.
type Window struct {
	// From and To are times since midnight, To not included. From after To is
	// over midnight; equal is never.
	From, To time.Duration
	Days     []time.Weekday // of the moment; none means all
	Zone     *time.Location // nil is UTC
	Pos      Pos            // zero if there is no window
}

// contains says whether t lies in the window.
func (w *Window) contains(t time.Time) bool {
	_, in := w.remaining(t)
	return in
}

// remaining gives how long a window that contains t is still open, up to the
// end of the day at least.
func (w *Window) remaining(t time.Time) (left time.Duration, in bool) {
	zone := w.Zone
	if zone == nil {
		zone = time.UTC
	}
	t = t.In(zone)
	at := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
		time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	if len(w.Days) > 0 && !slices.Contains(w.Days, t.Weekday()) {
		return 0, false
	}
	switch {
	case w.From <= at && at < w.To:
		return w.To - at, true
	case w.From > w.To && at < w.To:
		return w.To - at, true
	case w.From > w.To && at >= w.From:
		return 24*time.Hour - at, true
	}
	return 0, false
}

// Rate bounds how often, or how much.
type Rate struct {
	Max            int64         // uses
	Per            time.Duration // 0 is the session
	MaxBytes       int64         // network only: bytes in one run
	MaxConnections int64         // network only: connections in one run
	Pos            Pos           // zero if there is no bound
}

// argument gives the accepted values of one argument.
func (c *Constraints) argument(name string) []string {
	for _, a := range c.Arguments {
		if a.Name == name {
			return a.Values
		}
	}
	return nil
}

// variables are the names, or beginnings of names, that env_var.read is for: those of
// the scope and those of the arguments, of both what both have, and "*" without either.
func (c *Constraints) variables() (names []string) {
	scope, i := values(c.Scope), slices.IndexFunc(c.Arguments, func(a Argument) bool { return a.Name == "names" })
	switch {
	case i < 0 && !c.Scoped:
		return []string{"*"}
	case i < 0:
		return scope
	case !c.Scoped:
		return c.Arguments[i].Values
	}
	for _, of := range [...][2][]string{{scope, c.Arguments[i].Values}, {c.Arguments[i].Values, scope}} {
		for _, n := range of[0] {
			if covered(of[1], n) && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// Origin words for profiles.Origin: file and line are enough there.
func (e *Entry) source() string {
	switch {
	case e.Pos.Line != 0:
		return fmt.Sprintf("%s:%d", Escape(e.Pos.File), e.Pos.Line)
	case e.Pos.File != "":
		return Escape(e.Pos.File)
	}
	return e.Source
}

// Key identifies what an entry would allow, so that an approval given once
// covers the same right and no other. Place, priority and message do not count.
func (e *Entry) Key() string {
	var b strings.Builder
	b.WriteString(e.what())
	c := &e.Constraints
	if c.Window.Pos != (Pos{}) {
		fmt.Fprintf(&b, " window=%v-%v%v", c.Window.From, c.Window.To, c.Window.Days)
		if c.Window.Zone != nil {
			b.WriteString(c.Window.Zone.String())
		}
	}
	if c.Rate.Pos != (Pos{}) {
		fmt.Fprintf(&b, " rate=%d/%v,%d,%d", c.Rate.Max, c.Rate.Per, c.Rate.MaxBytes, c.Rate.MaxConnections)
	}
	if !e.Expires.IsZero() {
		b.WriteString(" until=" + e.Expires.UTC().Format(time.RFC3339Nano))
	}
	return b.String()
}

// what is the right without when and how often.
func (e *Entry) what() string {
	var b strings.Builder
	b.WriteString(e.Capability)
	c := &e.Constraints
	if c.WorkspaceOnly == Yes {
		b.WriteString(" workspace_only")
	} else if c.WorkspaceOnly == No {
		b.WriteString(" anywhere")
	}
	if c.Scoped {
		fmt.Fprintf(&b, " scope=%q", values(c.Scope))
	}
	for _, a := range c.Arguments {
		name := a.Name
		if name != "names" && name != "modes" { // any word, such as scope
			name = strconv.Quote(name)
		}
		fmt.Fprintf(&b, " %s=%q", name, a.Values)
	}
	if len(c.AllowedCommands) > 0 {
		fmt.Fprintf(&b, " commands=%q", values(c.AllowedCommands))
	}
	for _, p := range c.DeniedCommands {
		fmt.Fprintf(&b, " not=%q", p.Text)
	}
	return b.String()
}

// Brief is the right in one line for a person, in the manifest's words and with
// its terms.
func (e *Entry) Brief() string { return e.reached().what() + e.terms() }

// reached is the entry for a person to read: of a URL in its scope only scheme and
// host count, and who says yes to a path would give the whole host.
func (e *Entry) reached() *Entry {
	shown := *e
	if c := Lookup(e.Capability); c != nil && networked(c) {
		shown.Constraints.Scope = slices.Clone(e.Constraints.Scope)
		for i, s := range e.Constraints.Scope {
			shown.Constraints.Scope[i].Value = s.Value[:len(s.Value)-len(uncounted(s.Value))]
		}
	}
	return &shown
}

// uncounted is what follows the host in a URL; "" of anything else.
func uncounted(scope string) string {
	if _, rest, ok := strings.Cut(scope, "://"); ok {
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			return rest[i:]
		}
	}
	return ""
}

// terms are when and how often, for a person: ", 09:00-17:00 UTC on Mon Tue, at
// most 10 times in 1h".
func (e *Entry) terms() string {
	var b strings.Builder
	if w := &e.Constraints.Window; w.Pos != (Pos{}) {
		clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", d/time.Hour, d%time.Hour/time.Minute) }
		zone := "UTC"
		if w.Zone != nil {
			zone = w.Zone.String()
		}
		fmt.Fprintf(&b, ", %s-%s %s", clock(w.From), clock(w.To), zone)
		for i, d := range w.Days {
			b.WriteString([...]string{" on ", " "}[min(i, 1)] + d.String()[:3])
		}
	}
	if r := &e.Constraints.Rate; r.Pos != (Pos{}) {
		if r.Max > 0 {
			per := "a session"
			if r.Per > 0 {
				per = shortTime(r.Per)
			}
			fmt.Fprintf(&b, ", at most %d times in %s", r.Max, per)
		}
		if r.MaxConnections > 0 {
			fmt.Fprintf(&b, ", at most %d connections", r.MaxConnections)
		}
		if r.MaxBytes > 0 {
			fmt.Fprintf(&b, ", at most %d bytes", r.MaxBytes)
		}
	}
	if !e.Expires.IsZero() {
		b.WriteString(", until " + e.Expires.UTC().Format(time.RFC3339))
	}
	return b.String()
}

// shortTime is a duration without the zeros that Go ends it with: 1h, not 1h0m0s.
func shortTime(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func values(ts []Text) []string {
	vs := make([]string, len(ts))
	for i, t := range ts {
		vs[i] = t.Value
	}
	return vs
}
