package policy

import (
	"cmp"
	"slices"
	"strings"

	"skillrun/profiles"
)

// Set is what one skill may do, composed from all that have a say: entries of
// single capabilities, each with its final effect. It does not change.
type Set struct {
	Skill Metadata
	Tier  Tier
	// Declared says whether the entries come from a manifest of the skill
	// rather than from the defaults.
	Declared bool
	// Hosts are the hosts that the skill's own files name; network entries of
	// its manifest without a scope mean them.
	Hosts  []string
	Limits profiles.Limits

	pool     layer
	ceilings []layer
	floors   layer
	grants   layer
	preset   *Preset
	decided  bool // see Decided
	vars     []Variable
	chains   []Text
}

// layer is one source's entries, for single capabilities, the deciding one of
// each capability first.
type layer struct {
	name string
	// partial ceilings say nothing about capabilities that they do not name.
	partial bool
	entries []Entry
}

// newLayer expands patterns and sorts. The order is total, so that it does not
// depend on the order of the sources.
func newLayer(name string, partial bool, entries []Entry) layer {
	l := layer{name: name, partial: partial}
	for _, e := range entries {
		if e.Capability == unixSocket || e.Capability == listenPort {
			l.entries = append(l.entries, e)
			continue
		}
		for _, c := range Expand(e.Capability) {
			one := e
			one.Capability = c.Name
			if e.Implied {
				one.Effect = one.level(c).Default()
			}
			l.entries = append(l.entries, one)
		}
	}
	l.sort()
	return l
}

func (l *layer) sort() {
	slices.SortStableFunc(l.entries, func(a, b Entry) int {
		return cmp.Or(
			strings.Compare(a.Capability, b.Capability),
			cmp.Compare(b.Priority, a.Priority),
			cmp.Compare(a.Effect, b.Effect),
			strings.Compare(a.Key(), b.Key()),
			strings.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
		)
	})
}

// of gives the layer's entries for one capability, the deciding one first.
func (l *layer) of(capability string) []Entry {
	i, _ := slices.BinarySearchFunc(l.entries, capability, func(e Entry, c string) int { return strings.Compare(e.Capability, c) })
	j := i
	for j < len(l.entries) && l.entries[j].Capability == capability {
		j++
	}
	return l.entries[i:j]
}

// Entries gives the composed entries of the skill, for single capabilities in
// the order of their names, with their final effects.
func (s *Set) Entries() []Entry { return slices.Clone(s.pool.entries) }

// Timed says whether the time of day has a say in what the Set comes to.
func (s *Set) Timed() bool {
	for _, l := range append([]layer{s.pool, s.floors, s.grants}, s.ceilings...) {
		for i := range l.entries {
			if e := &l.entries[i]; !e.Expires.IsZero() || e.Constraints.Window.Pos != (Pos{}) {
				return true
			}
		}
	}
	return false
}

// Grants gives what the user granted by name.
func (s *Set) Grants() []Entry { return slices.Clone(s.grants.entries) }

// Question is one confirm entry that nobody has answered yet.
type Question struct {
	// Key identifies the right for approval records.
	Key   string
	Entry Entry
	Level Level
	// Text says what a yes would allow, in one escaped line.
	Text string
}

// Pending gives the entries that the user has to be asked about, the most
// dangerous first. Entries that only matter to an agent's hook are left out:
// a run has no use for them; and those that a grant gives whole.
func (s *Set) Pending() []Question {
	var qs []Question
	for i := range s.pool.entries {
		e := &s.pool.entries[i]
		c := Lookup(e.Capability)
		if e.Effect != Confirm || !c.Enforced() || s.granted(e) {
			continue
		}
		qs = append(qs, Question{e.Key(), *e, e.level(c), s.describe(c, e)})
	}
	slices.SortStableFunc(qs, func(a, b Question) int {
		return cmp.Or(cmp.Compare(danger(b.Level), danger(a.Level)), strings.Compare(a.Key, b.Key))
	})
	return slices.CompactFunc(qs, func(a, b Question) bool { return a.Key == b.Key })
}

// granted says whether a grant gives all that an entry asks for, as far as both say
// it in the same words.
func (s *Set) granted(e *Entry) bool {
	return slices.ContainsFunc(s.grants.of(e.Capability), func(g Entry) bool {
		given, asked := &g.Constraints, &e.Constraints
		wide := *given
		wide.Scope, wide.Scoped = nil, false
		switch {
		case g.Effect != Allow || !g.Expires.IsZero() || wide.narrows() || len(asked.Arguments) > 0:
			return false
		case !asked.Scoped:
			return !given.Scoped || asked.WorkspaceOnly == Yes && slices.ContainsFunc(given.Scope, func(t Text) bool { return t.Value == "." })
		}
		return given.Scoped && !slices.ContainsFunc(asked.Scope, func(t Text) bool {
			return !slices.ContainsFunc(given.Scope, func(o Text) bool { return o.Value == t.Value })
		})
	})
}

// danger orders levels for prompts: secrets first.
func danger(l Level) int {
	switch l {
	case Redact:
		return 4
	case System:
		return 3
	case Dangerous:
		return 2
	}
	return 1
}

// describe says what an entry allows: "read files in data, ~/x".
func (s *Set) describe(c *Capability, e *Entry) string {
	var b strings.Builder
	cons, anywhere := &e.Constraints, !e.inWorkspace(c)
	if name, ok := strings.CutPrefix(c.Name, "source_code."); ok && anywhere {
		c = cmp.Or(Lookup("filesystem."+name), c) // it is that
	}
	b.WriteString(c.About)
	scope, scoped := values(e.reached().Constraints.Scope), cons.Scoped
	if c.means == passVariables {
		scope = cons.variables()
		scoped = !slices.Contains(scope, "*")
	}
	switch {
	case scoped && len(scope) == 0:
		b.WriteString(": nothing in particular")
	case scoped:
		b.WriteString(": " + listed(scope, " ,\""))
	case len(cons.AllowedCommands) > 0:
		b.WriteString(": " + listed(values(cons.AllowedCommands), ",()\"") + " (what that starts is not held to it)")
	case networked(c) && len(s.Hosts) > 0:
		b.WriteString(": " + strings.Join(s.Hosts, ", ") + ", which its files name")
	case networked(c):
		b.WriteString(": any public host, on ports 80 and 443")
	case c.Group == "Storage" && anywhere:
		b.WriteString(" anywhere, credentials excepted")
	}
	if cons.WorkspaceOnly == Yes && c.Group == "Storage" {
		b.WriteString(" in the workspace")
	}
	for _, a := range cons.Arguments {
		if a.Name != "names" {
			b.WriteString(" (" + listed([]string{a.Name}, " ,:()\"") + ": " + listed(a.Values, " ,()\"") + ")")
		}
	}
	b.WriteString(e.terms())
	text := Row(Escape(b.String()))
	if e.Message != "" {
		text += " - the skill says " + quoted(Row(Escape(e.Message)))
	}
	return text
}

// listed gives a manifest's words as a list, those in quotes that have letters in them
// by which they could pass for more words, or for ours.
func listed(words []string, letters string) string {
	shown := slices.Clone(words)
	for i, w := range shown {
		if strings.ContainsAny(w, letters) {
			shown[i] = quoted(w)
		}
	}
	return strings.Join(shown, ", ")
}

// quoted is a text in quotes that only ours ends.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `'`) + `"` }

// NeedsHosts says whether the skill's manifest asks for the network without
// saying which hosts, so that the hosts that its files name have to be known.
func (s *Set) NeedsHosts() bool {
	return slices.ContainsFunc(s.pool.entries, func(e Entry) bool {
		return e.Effect != Deny && !e.Constraints.Scoped && networked(Lookup(e.Capability))
	})
}

// Reach gives the hosts that a network entry of the skill's comes to: those of
// its scope, else those that the skill's files name, else "*" for any public
// one. For other entries it gives their scope.
func (s *Set) Reach(e *Entry) []string {
	switch c := Lookup(e.Capability); {
	case e.Constraints.Scoped || c == nil || !networked(c):
		return values(e.Constraints.Scope)
	case len(s.Hosts) > 0:
		return s.Hosts
	}
	return []string{"*"}
}

// networked says whether a capability reaches hosts of its scope.
func networked(c *Capability) bool {
	switch c.means {
	case fetchWeb, postWeb, callHosts, runClient:
		return true
	}
	return false
}

// isolated says whether an isolated skill has no such right: it reaches hosts, or secrets.
func (c *Capability) isolated() bool {
	return c.Group == "Network" || c.Group == "Secrets" || c.means == installPackages || c.means == pushCommits
}
