package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"skillrun/profiles"
)

// MaxPath is the most bytes of a path that is looked at: Linux takes no longer one
// (PATH_MAX, without the zero byte), nor does any other system.
const MaxPath = 4095

// Request is one action that an agent wants to take, as a hook sees it.
type Request struct {
	Capability string // dotted name, without wildcards
	// Paths, Hosts and Names are what it is about: absolute clean resolved
	// paths; hosts, with ":PORT" where known; variables, tools. All of them
	// must be covered.
	Paths, Hosts, Names []string
	// Given are the paths before links were followed: no entry is held against
	// them, but a name that is protected is so whatever it leads to.
	Given     []string
	Command   string // the whole command line, for shell.execute
	Arguments map[string]string
	// Confined says that the action happens inside a run under the Profile of
	// the same policy: what the request does not name is held there.
	Confined bool
	Place    Place
	Time     time.Time
	// Uses counts earlier uses under an entry within a period ending now; 0
	// is the session. nil means none were.
	Uses func(e *Entry, period time.Duration) int64
}

// Answer is the decision on a Request. The zero Answer denies.
type Answer struct {
	Effect Effect
	Entry  *Entry // that decided; nil if none did
	Reason string // one line, escaped
	Source string // whose entry decided
}

// Decide answers one request. It depends on nothing but the Set and the
// request:
//
//  1. A floor, or the winning entry of any other source, that denies: Deny.
//  2. A grant of the user that covers it: Allow.
//  3. No entry of the skill, or none whose constraints match: Confirm; Deny
//     for untrusted skills and unknown capabilities.
//  4. Outside a ceiling: Deny.
//  5. Else the winning entry's effect, or a ceiling's if that is stricter.
//
// Inside a source the highest priority wins, and the strictest effect among
// equals. A Confirm that nobody can answer is for the caller to treat as Deny.
func (s *Set) Decide(r Request) Answer {
	c := Lookup(r.Capability)
	if c == nil {
		return Answer{Reason: "unknown capability " + Escape(r.Capability)}
	}
	for _, l := range s.layers() {
		if e, why := l.decide(c, &r); e != nil && e.Effect == Deny {
			return answer(Deny, e, why)
		}
		// A denied pattern decides, whichever entry would win.
		for i, es := 0, l.of(c.Name); i < len(es); i++ {
			if es[i].expired(r.Time) {
				continue
			}
			if p := deniedCommand(&es[i], r.Command); p != nil {
				return answer(Deny, &es[i], fmt.Sprintf("the command matches the denied pattern %q", p.Text))
			}
		}
	}
	if e, _ := s.grants.decide(c, &r); e != nil {
		return answer(Allow, e, "granted by the user")
	}
	e, why := s.pool.decide(c, &r)
	for i := range s.ceilings {
		l := &s.ceilings[i]
		if !l.bounds(c.Name) {
			continue
		}
		ce, cwhy := l.decide(c, &r)
		if ce == nil {
			return Answer{Reason: fmt.Sprintf("%s is outside of %s: %s", c.Name, Escape(l.name), cwhy), Source: l.name}
		}
		if e != nil && ce.Effect < e.Effect {
			e, why = ce, cwhy
		}
	}
	switch {
	case e != nil:
		return answer(e.Effect, e, why)
	case s.Tier <= Untrusted:
		return Answer{Reason: fmt.Sprintf("%s: %s, and the skill is %s", c.Name, why, s.Tier)}
	}
	return Answer{Effect: Confirm, Reason: c.Name + ": " + why}
}

func answer(effect Effect, e *Entry, why string) Answer {
	if e.Message != "" && effect != Allow {
		why += ": " + quoted(Row(Escape(e.Message)))
	}
	return Answer{Effect: effect, Entry: e, Reason: why, Source: e.Source}
}

// decide finds the entry of a layer that wins for a request; nil if none
// matches, with the reason.
func (l *layer) decide(c *Capability, r *Request) (*Entry, string) {
	entries := l.of(c.Name)
	if len(entries) == 0 {
		return nil, "not declared"
	}
	why := ""
	for i := range entries {
		e := &entries[i]
		mismatch := e.mismatch(c, r)
		if mismatch == "" {
			return e, fmt.Sprintf("%s: %s", e.Effect, e.source())
		}
		why = mismatch
	}
	return nil, why
}

// bounds says whether a layer limits a capability: a partial ceiling does so
// only where it allows part of it.
func (l *layer) bounds(capability string) bool {
	if !l.partial {
		return true
	}
	for _, e := range l.of(capability) {
		if e.Effect != Deny {
			return true
		}
	}
	return false
}

// mismatch says why the entry's constraints do not fit the request; "" if they
// do. What cannot be judged, such as a scope for a request that names nothing,
// fits a deny and nothing else; of several resources a deny fits any, the
// others must fit all.
func (e *Entry) mismatch(c *Capability, r *Request) string {
	cons := &e.Constraints
	deny := e.Effect == Deny
	if why := e.Lapsed(r.Time); why != "" {
		return why
	}
	outside, inside, named := "", false, len(r.Paths)+len(r.Hosts)+len(r.Names) > 0
	note := func(ok bool, what string) {
		if ok {
			inside = true
		} else if path, loop := strings.CutPrefix(what, "\x00"); outside == "" && loop { // as sessions call it
			outside = Escape(path) + " leads nowhere"
		} else if outside == "" {
			outside = Shown(what) + " is outside the declared scope"
		}
	}
	for _, p := range r.Paths {
		note(e.coversPath(c, p, &r.Place), p)
	}
	for _, h := range r.Hosts {
		note(e.coversHost(c, h), h)
	}
	for _, n := range r.Names {
		note(!cons.Scoped || covered(values(cons.Scope), n), n)
	}
	switch {
	case deny && named && !inside, !deny && outside != "":
		return outside
	case r.Confined && !named && deny && (cons.Scoped || e.inWorkspace(c)):
		return "the run is held to it"
	case !deny && !named && cons.Scoped && !r.Confined:
		return "the entry has a scope and the request names nothing"
	case !deny && len(r.Paths) == 0 && !r.Confined && e.inWorkspace(c) && (c.Group == "Storage" || c.Group == "Code Repository"):
		return "the entry is for the workspace and the request names no path"
	case !deny && c.Group == "Secrets" && !cons.Scoped:
		return "secrets need a scope that names them"
	case len(cons.AllowedCommands) > 0 && !allowedCommand(cons.AllowedCommands, r.Command):
		return "the command is not one of the declared ones"
	}
	for _, a := range cons.Arguments {
		ok := a.Name == "modes"
		if a.Name == "names" {
			ok = len(r.Names) > 0
			for _, n := range r.Names {
				ok = ok && covered(a.Values, n)
			}
		} else if v, there := r.Arguments[a.Name]; there {
			ok = slices.Contains(a.Values, v)
		}
		if !ok {
			return fmt.Sprintf("argument %q is not as declared", a.Name)
		}
	}
	if rate := &cons.Rate; rate.Max > 0 && r.Uses != nil && r.Uses(e, rate.Per) >= rate.Max {
		return fmt.Sprintf("the limit of %d uses is reached", rate.Max)
	}
	return ""
}

// expired says whether an entry is over: it is as if it were not there.
func (e *Entry) expired(t time.Time) bool { return !e.Expires.IsZero() && !t.Before(e.Expires) }

// Lapsed says why an entry does not apply at a time; "" if it does.
func (e *Entry) Lapsed(t time.Time) string {
	switch {
	case e.expired(t):
		return "the entry has expired"
	case e.Constraints.Window.Pos != (Pos{}) && !e.Constraints.Window.contains(t):
		return "outside the entry's time window"
	}
	return ""
}

// inWorkspace says whether the entry is bound to the workspace. A right to
// read or change source code is unless it says otherwise; a right to change
// or execute files is unless it says where, since "anywhere" would hold the
// system's own.
// A deny is bound only if it says so.
func (e *Entry) inWorkspace(c *Capability) bool {
	only := e.Constraints.WorkspaceOnly
	if e.Effect != Deny {
		switch c.means {
		case readSource, writeSource, deleteSource:
			return only != No
		case writeFiles, deleteFiles, executeSource:
			return only == Yes || !e.Constraints.Scoped
		}
	}
	return only == Yes
}

func (e *Entry) coversPath(c *Capability, name string, place *Place) bool {
	if !path.IsAbs(name) || path.Clean(name) != name {
		return e.Effect == Deny // it cannot be judged
	}
	if e.inWorkspace(c) {
		if !profiles.Within(place.Workspace, name) && !(c.means == executeSource && profiles.Within(place.Skill, name)) {
			return false
		}
	}
	if !e.Constraints.Scoped {
		return true
	}
	for _, t := range e.Constraints.Scope {
		if s, ok := place.path(t.Value); ok && s.covers(name) {
			return true
		}
	}
	return false
}

// coversHost says whether an entry is about a host, named with its port or without.
// One that names none is about the public ones, as in a run; but for a deny and the
// user's own grant of the network. A deny counts for all that it may be about.
func (e *Entry) coversHost(c *Capability, host string) bool {
	deny := e.Effect == Deny
	name, ports, fault := ParseHost(host)
	switch {
	case !e.Constraints.Scoped:
		return deny || !networked(c) || c.means == runClient && e.Source == UserConfig || fault == "" && public(name)
	case fault != "":
		return false
	}
	for _, t := range e.Constraints.Scope {
		rule, rulePorts, fault := ParseHost(t.Value)
		if fault != "" {
			continue
		}
		about := hostRule(rule).Matches(name)
		if deny {
			about, _ = hostRule(rule).Shares(hostRule(name))
		}
		switch {
		case !about:
		case rulePorts == nil, deny && len(ports) == 0:
			return true
		case len(ports) != 1 || len(rulePorts) != 1:
		case deny && rulePorts[0].First <= ports[0].Last && ports[0].First <= rulePorts[0].Last,
			rulePorts[0].First <= ports[0].First && ports[0].Last <= rulePorts[0].Last:
			return true
		}
	}
	return false
}

// covered says whether name is in patterns, of which each may end in "*".
func covered(patterns []string, name string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(name, prefix) || p == name {
			return true
		}
	}
	return false
}

// deniedCommand finds the denied pattern that a command matches. PCRE's "$"
// also matches before a newline at the end, hence the second try.
func deniedCommand(e *Entry, command string) *Pattern {
	for i := range e.Constraints.DeniedCommands {
		p := &e.Constraints.DeniedCommands[i]
		if command != "" && (p.Regexp.MatchString(command) || p.Regexp.MatchString(strings.TrimSuffix(command, "\n"))) {
			return p
		}
	}
	return nil
}

// allowedCommand says whether a command is one simple command that begins with
// one of the prefixes. Anything with shell syntax in it is not.
func allowedCommand(prefixes []Text, command string) bool {
	argv, ok := shellWords(command, shellSyntax)
	return ok && slices.ContainsFunc(prefixes, func(p Text) bool { return begins(argv, p.Value) })
}
