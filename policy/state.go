package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is the live policy of one agent session: the session state document of
// the SkillGuard paper (figure 3), as far as it decides. The zero State denies
// everything.
type State struct {
	ID        string
	Workspace string // workspace_root
	// Initialized is when the session began. A grant of a system capability
	// counts only if it was given since, or stands in the user's configuration.
	Initialized time.Time
	// Declared is the pool: the session's defaults, then what the loaded skills
	// declare, then what the user's configuration denies.
	Declared []Entry
	// Task narrows the pool for the task at hand; empty narrows nothing.
	Task []Entry
	// Granted are the user's grants: persistent ones (source "user-config") and
	// answers to prompts.
	Granted []Entry
	Loaded  []string // names of the loaded skills

	// Tiers are those of the skills by name. A name that is not there is that
	// of an isolated skill.
	Tiers map[string]Tier
	// Undeclared is what happens to what nobody declared, by level.
	Undeclared map[Level]Effect
	// Bounds are ceilings, one for each untrusted skill that is active: what
	// one does not cover is denied.
	Bounds []Bounded
}

// Bounded is one ceiling of a State.
type Bounded struct {
	Name    string // "skill:NAME", or the file of a configured ceiling
	Partial bool   // says nothing about capabilities that it does not name
	Entries []Entry
}

// UserConfig is the source of grants that stand in the user's configuration:
// they were given by name, and pass every ceiling.
const UserConfig = "user-config"

// AskUndeclared asks about whatever was not declared, whatever its level: the
// rule of the paper's section 4.2.
func AskUndeclared() map[Level]Effect {
	return map[Level]Effect{Normal: Confirm, Dangerous: Confirm, System: Confirm, Redact: Confirm}
}

// Decide answers one request. It depends on nothing but the State and the
// request; docs/sessions.md has the same order in words:
//
//  1. Unknown capabilities are denied.
//  2. A denied command pattern of any entry in force that matches denies.
//  3. Inside one source the highest priority wins, and the strictest effect
//     among equals. Between sources a deny wins; then the highest priority,
//     where that of an untrusted skill counts as 0 at most; then the strictest.
//  4. Nothing declared, or no entry whose constraints fit: the level decides.
//  5. The task's scope can only make the answer stricter.
//  6. A deny that stands in an entry is final. What the user's configuration
//     grants by name is allowed.
//  7. Every bound must cover the request, and can only make the answer stricter.
//  8. A grant turns a confirm, and a deny by level, into allow.
func (s *State) Decide(r Request) Answer {
	c := Lookup(r.Capability)
	if c == nil {
		return Answer{Reason: "unknown capability " + Escape(r.Capability)}
	}
	a := s.pick(s.Declared, c, &r)
	if len(s.Task) > 0 {
		t := s.pick(s.Task, c, &r)
		if t.Effect < a.Effect || t.Effect == a.Effect && a.Entry == nil {
			t.Reason = "scope of the task: " + t.Reason
			a = t
		}
	}
	if a.Effect == Deny && a.Entry != nil {
		return a
	}
	if len(s.Bounds) > 0 {
		if a.Effect != Allow {
			if g := s.granted(c, &r, true); g != nil {
				return answer(Allow, g, "granted in the user's configuration")
			}
		}
		b, ok := s.bound(c, &r)
		if !ok {
			return b
		}
		if b.Entry != nil && b.Effect < a.Effect {
			a = b
		}
	}
	if a.Effect == Allow {
		return a
	}
	if g := s.granted(c, &r, false); g != nil {
		return answer(Allow, g, "granted by the user")
	}
	return a
}

// pick gives what entries say, or else the level.
func (s *State) pick(entries []Entry, c *Capability, r *Request) Answer {
	best, why := s.choose(entries, c, r)
	if best == nil {
		return Answer{Effect: s.Undeclared[c.Level], Reason: c.Name + ": " + why}
	}
	return answer(best.effect, best.entry, best.why)
}

// bound asks every bound; not ok is its refusal. The Answer is the strictest.
func (s *State) bound(c *Capability, r *Request) (strictest Answer, ok bool) {
	strictest.Effect = Allow
	for i := range s.Bounds {
		b := &s.Bounds[i]
		if b.Partial && !slices.ContainsFunc(b.Entries, func(e Entry) bool { return e.Effect != Deny && names(e.Capability, c.Name) }) {
			continue
		}
		best, why := s.choose(b.Entries, c, r)
		switch {
		case best == nil:
			if g := s.granted(c, r, true); g != nil {
				continue
			}
			return Answer{Reason: fmt.Sprintf("%s is outside of %s: %s", c.Name, Escape(b.Name), why), Source: b.Name}, false
		case best.effect == Deny:
			return answer(Deny, best.entry, best.why), false
		case best.effect < strictest.Effect:
			strictest = answer(best.effect, best.entry, best.why)
		}
	}
	return strictest, true
}

// candidate is an entry that fits a request, with its effective effect.
type candidate struct {
	entry    *Entry
	effect   Effect
	priority int
	why      string
	final    bool // a denied pattern
	place    int  // among the entries
}

// beats orders candidates of one source, or winners of several.
func (a *candidate) beats(b *candidate, sources bool) bool {
	switch {
	case a.final != b.final:
		return a.final
	case sources && (a.effect == Deny) != (b.effect == Deny):
		return a.effect == Deny
	case a.priority != b.priority:
		return a.priority > b.priority
	case a.effect != b.effect:
		return a.effect < b.effect
	}
	return a.place < b.place
}

// choose finds the entry that decides, nil if none fits, with the reason.
func (s *State) choose(entries []Entry, c *Capability, r *Request) (*candidate, string) {
	why := "not declared"
	var winners []candidate // one for each source, in order of appearance
	for i := range entries {
		e := &entries[i]
		if !names(e.Capability, c.Name) || e.expired(r.Time) {
			continue
		}
		untrusted := s.untrusted(e.Source)
		one := candidate{entry: e, effect: e.effective(c, untrusted), priority: e.Priority, place: i}
		if p := deniedCommand(e, r.Command); p != nil {
			one.effect, one.final = Deny, true
			one.why = fmt.Sprintf("the command matches the denied pattern %q", p.Text)
		} else {
			judged := *e
			judged.Effect = one.effect
			if mismatch := judged.mismatch(c, r); mismatch != "" {
				why = mismatch
				continue
			}
			one.why = fmt.Sprintf("%s: %s", one.effect, e.source())
			if one.effect != e.Effect && !e.Implied {
				one.why += ", whose skill is not trusted to answer for the user"
			}
		}
		j := slices.IndexFunc(winners, func(w candidate) bool { return w.entry.Source == e.Source })
		if j < 0 {
			winners = append(winners, one)
		} else if one.beats(&winners[j], false) {
			winners[j] = one
		}
	}
	if len(winners) == 0 {
		return nil, why
	}
	for i := range winners {
		if s.untrusted(winners[i].entry.Source) {
			winners[i].priority = min(winners[i].priority, 0)
		}
	}
	best := &winners[0]
	for i := range winners[1:] {
		if w := &winners[i+1]; w.beats(best, true) {
			best = w
		}
	}
	return best, ""
}

// untrusted says whether a source is a manifest that cannot answer for the user.
func (s *State) untrusted(source string) bool {
	name, ok := strings.CutPrefix(source, "skill:")
	return ok && s.Tiers[name] <= Untrusted
}

// level is how far an entry is to be asked about: as its capability, but where it lifts
// a denial that everybody has, or is for source code outside of the workspace, which is
// any file.
func (e *Entry) level(c *Capability) Level {
	switch {
	case c.Level != Normal:
	case c.means == readProfileFiles, c.means == readJobs, c.means == readSource && e.Constraints.WorkspaceOnly == No:
		return Dangerous
	}
	return c.Level
}

// effective is the effect of an entry on one capability: its own, or the
// level's; the "allow" of an untrusted manifest asks, but for what is normal.
func (e *Entry) effective(c *Capability, untrusted bool) Effect {
	effect := e.Effect
	if e.Implied {
		effect = e.level(c).Default()
	}
	if untrusted && e.level(c) != Normal {
		effect = min(effect, Confirm)
	}
	return effect
}

// granted finds a grant that covers a request.
func (s *State) granted(c *Capability, r *Request, configured bool) *Entry {
	for i := range s.Granted {
		g := &s.Granted[i]
		switch {
		case !names(g.Capability, c.Name) || g.Effect != Allow && !g.Implied:
		case configured && g.Source != UserConfig:
		case c.Level == System && g.Source != UserConfig && g.Granted.Before(s.Initialized):
		case deniedCommand(g, r.Command) != nil:
		default:
			judged := *g
			judged.Effect = Allow
			if judged.mismatch(c, r) == "" {
				return g
			}
		}
	}
	return nil
}

// Grantor finds an answer of the user, given at since or later, that covers a
// request; nil if there is none.
func (s *State) Grantor(r Request, since time.Time) *Entry {
	c := Lookup(r.Capability)
	if c == nil {
		return nil
	}
	t := State{Initialized: s.Initialized}
	for _, g := range s.Granted {
		if g.Source != UserConfig && !g.Granted.Before(since) {
			t.Granted = append(t.Granted, g)
		}
	}
	return t.granted(c, &r, false)
}

// Names says whether the entry is about a capability, by its dotted name.
func (e *Entry) Names(capability string) bool { return names(e.Capability, capability) }

// names says whether a pattern names a capability.
func names(pattern, capability string) bool {
	if pattern == capability || pattern == "*" {
		return true
	}
	group, ok := strings.CutSuffix(pattern, "*")
	return ok && strings.HasSuffix(group, ".") && strings.HasPrefix(capability, group)
}

// Grant is what an answer to the prompt for a request adds to the granted set,
// given the answer that was asked about: the capability that was asked for
// under the constraints of the entry that asked; where no entry did, for
// exactly the resources of the request, of a directory what is beneath it, and
// for all of a capability that is a whole if the request names none. Not ok means
// that the request names nothing that a grant could be held to: it can be allowed
// once only.
//
// The grant admits nothing that the entry would not have admitted.
func (a *Answer) Grant(r *Request, now time.Time) (g Entry, ok bool) {
	g = Entry{Capability: r.Capability, Effect: Allow, Source: "user-grant", Granted: now.UTC()}
	if a.Entry != nil {
		g.Constraints, g.Expires, g.Message, g.Pos = a.Entry.Constraints, a.Entry.Expires, a.Entry.Message, a.Entry.Pos
		return g, true
	}
	g.Pos = Pos{File: "prompt"}
	if c := Lookup(r.Capability); c != nil && c.Whole() && len(r.Paths)+len(r.Hosts)+len(r.Names) == 0 {
		return g, true
	}
	g.Constraints.Scoped = true
	if len(r.Paths) > 0 {
		g.Constraints.WorkspaceOnly = No
	}
	for _, resources := range [...][]string{r.Paths, r.Hosts, r.Names} {
		for _, name := range resources {
			if strings.ContainsAny(name, "*?") || name == "" || plain(name, g.Pos) != nil {
				return Entry{}, false
			}
			g.Constraints.Scope = append(g.Constraints.Scope, Text{name, g.Pos})
		}
	}
	return g, len(g.Constraints.Scope) > 0
}

// answered says that an entry is a user's yes to a call, as Grant gives it: its
// paths were followed through all links before the user was asked.
func (e *Entry) answered() bool { return e.Pos.File == "prompt" && !e.Granted.IsZero() }

// Decided gives the Set for a command that was decided about, in all that it
// needs, before it is started: constraints on single uses (patterns, arguments,
// rates) were held then.
func (s *Set) Decided() *Set {
	t := *s
	t.decided = true
	return &t
}
