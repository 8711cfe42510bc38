package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrun/profiles"
)

// Approve says how the confirm entries of a run are answered.
type Approve uint8

// The ways.
const (
	ApproveNone     Approve = iota // none is accepted and nobody is asked
	ApproveAsk                     // the user is asked; see Set.Pending and Set.Accept
	ApproveDeclared                // what the manifest declares is accepted for this run
)

// ParseApprove reads the value of --approve.
func ParseApprove(s string) (Approve, error) {
	for i, w := range approveWords {
		if s == w {
			return Approve(i), nil
		}
	}
	return ApproveNone, fmt.Errorf("--approve %q: not ask, declared or none", s)
}

// Input is everything that has a say in what a skill may do.
type Input struct {
	// Documents are the skill's own manifests. With several, the strongest
	// form counts and the others narrow it.
	Documents []*Document
	Tier      Tier
	// Preset may be nil: nothing is rejected, there are no default limits.
	Preset *Preset
	// Ceilings bound what a manifest can get: of the agent, of the
	// organisation. What a ceiling does not list is outside.
	Ceilings []*Document
	// Narrowings bound what they name and leave alone what they do not:
	// workspace files.
	Narrowings []*Document
	// Floors hold deny entries that nothing lifts, from the user's and the
	// system's configuration. Other effects in them are an error.
	Floors []*Document
	// Grants are the user's own, from flags, configuration and answers. They
	// go beyond manifest and ceilings, and never beyond a deny.
	Grants  []Entry
	Approve Approve
	// Accepted are the keys that approval records hold for this version.
	Accepted []string
	// Hosts are the hosts that the skill's own files name, when the skill was
	// approved if it was: what network entries without a scope mean. See
	// [Set.NeedsHosts].
	Hosts []string
	// Limits are the user's own: where set they stand for the preset's. Those
	// of manifests, ceilings and floors can only be stricter.
	Limits profiles.Limits
}

// unixSocket is the capability of grants such as unix:/run/x.sock. No manifest
// can name it.
const unixSocket = "unix"

// listenPort is the capability of grants such as listen:8080. No manifest can
// name it.
const listenPort = "listen"

// DefaultEntries are the rights of a skill without a manifest: to read and write
// the workspace and run programs, without network and secrets. What was in the
// workspace before is not deleted.
func DefaultEntries() []Entry {
	entries := make([]Entry, 0, 8)
	for _, c := range [...]string{"filesystem.read", "filesystem.write", "source_code.execute", "shell.execute", "commit.read", "commit.create"} {
		entries = append(entries, defaultEntry(c, Allow))
	}
	return entries
}

// MinimalEntries are the rights of an untrusted skill without a manifest
// (Armorclaw's minimal set): the agent's memory, running programs, and reading
// the workspace. Changing the workspace asks.
func MinimalEntries() []Entry {
	return []Entry{
		defaultEntry("agent_memory.read", Allow),
		defaultEntry("agent_memory.write", Allow),
		defaultEntry("filesystem.read", Allow),
		defaultEntry("filesystem.write", Confirm),
		defaultEntry("source_code.execute", Allow),
		defaultEntry("shell.execute", Allow),
	}
}

func defaultEntry(capability string, effect Effect) Entry {
	e := Entry{Capability: capability, Effect: effect, Source: "session-default", Pos: Pos{File: "built-in:defaults"}}
	if strings.HasPrefix(capability, "filesystem.") {
		e.Constraints.WorkspaceOnly = Yes
	}
	return e
}

// ErrUntrusted is why a preset refuses a skill by its tier.
var ErrUntrusted = errors.New("takes approved skills only")

// Compose brings everything together:
//
//	effective = (manifest ∩ ceilings ∩ narrowings) + grants, less floors and denies
//
// The order inside the slices of in does not matter. Findings are for people;
// an error means that nothing may run.
func Compose(in Input) (*Set, []Finding, error) {
	s := &Set{Tier: in.Tier, Hosts: slices.Sorted(slices.Values(in.Hosts)), preset: in.Preset}
	s.Hosts = slices.Compact(s.Hosts)
	var findings []Finding

	docs := slices.Clone(in.Documents)
	sortDocuments(docs)
	var pool []Entry
	switch {
	case len(docs) > 0:
		s.Declared = true
		pool = docs[0].Entries
		s.Skill, s.vars, s.chains = docs[0].Skill, docs[0].Environment, docs[0].Toolchains
		for _, d := range docs {
			if d.Skill.HasTier {
				s.Tier = min(s.Tier, d.Skill.Tier)
			}
		}
	case in.Tier <= Untrusted:
		pool = MinimalEntries()
	default:
		pool = DefaultEntries()
	}
	if in.Preset != nil && in.Preset.RejectUntrusted && s.Tier <= Untrusted {
		is := "is"
		if in.Tier > s.Tier {
			is = "calls itself" // its manifest does
		}
		skill := "the skill"
		if s.Skill.Name != "" {
			skill += fmt.Sprintf(" %q", s.Skill.Name)
		}
		return nil, nil, fmt.Errorf("%s %s %s, and preset %s %w", skill, is, s.Tier, in.Preset.Name, ErrUntrusted)
	}
	s.pool = newLayer("manifest", false, pool)
	for i := 1; i < len(docs); i++ {
		l := newLayer(docs[i].File, false, docs[i].Entries)
		findings = append(findings, disagreements(&s.pool, &l, docs[0], docs[i], in.Grants)...)
		s.ceilings = append(s.ceilings, l)
	}
	for _, d := range in.Ceilings {
		s.ceilings = append(s.ceilings, newLayer(d.File, false, d.Entries))
	}
	for _, d := range in.Narrowings {
		s.ceilings = append(s.ceilings, newLayer(d.File, true, d.Entries))
	}
	slices.SortFunc(s.ceilings, func(a, b layer) int {
		return strings.Compare(a.name, b.name)
	})
	var floors []Entry
	for _, d := range in.Floors {
		if err := onlyDeny(d.Entries); err != nil {
			return nil, nil, err
		}
		floors = append(floors, d.Entries...)
	}
	s.floors = newLayer("floors", true, floors)
	s.grants = newLayer("grants", true, in.Grants)
	for i := range s.grants.entries {
		e := &s.grants.entries[i]
		if e.Effect != Allow {
			return nil, nil, errorAt(e.Pos, "a grant can only allow")
		}
		if d := s.deniedOutright(e.Capability, time.Time{}); d != nil && d.Constraints.Window.Pos == (Pos{}) {
			findings = append(findings, Finding{d.Pos, fmt.Sprintf("denies %s, so that the grant of it has no effect", e.Capability)})
		}
	}
	s.settle(in.Approve, in.Accepted)
	s.limit(&in, docs)
	return s, findings, nil
}

func precedence(file string) int {
	base := file[strings.LastIndexByte(file, '/')+1:]
	for i, n := range manifestNames {
		if n == base {
			return i
		}
	}
	return len(manifestNames)
}

// disagreements reports capabilities that only one of two manifests of a skill
// names, each, and those that the other one is stricter about, together. A header
// names tools and states no effect: who asks about one of them does not disagree.
// What the user grants is none.
func disagreements(a, b *layer, da, db *Document, grants []Entry) []Finding {
	var found []Finding
	one := func(l, other *layer, own, d *Document) {
		var stricter []string
		var at Pos
		last := ""
		for i := range l.entries {
			e := &l.entries[i]
			if e.Capability == last || e.Effect == Deny {
				continue
			}
			last = e.Capability
			switch o := other.of(e.Capability); {
			case slices.ContainsFunc(grants, func(g Entry) bool { return g.Capability == e.Capability && !g.Constraints.Scoped }):
			case len(o) == 0:
				found = append(found, Finding{e.Pos, fmt.Sprintf("%s is not in %s: it is not granted", e.Capability, Escape(d.File))})
			case o[0].Effect == Confirm && own.Form == Header:
			case o[0].Effect < e.Effect:
				if stricter = append(stricter, e.Capability); len(stricter) == 1 {
					at = e.Pos
				}
			}
		}
		if len(stricter) > 0 {
			found = append(found, Finding{at, fmt.Sprintf("%s is stricter about %s, and counts", Escape(d.File), strings.Join(stricter, ", "))})
		}
	}
	one(a, b, da, db)
	one(b, a, db, da)
	return found
}

// settle gives every pool entry its final effect.
func (s *Set) settle(approve Approve, accepted []string) {
	if s.Tier == Isolated {
		s.pool.entries = slices.DeleteFunc(s.pool.entries, func(e Entry) bool {
			return e.Effect != Deny && Lookup(e.Capability).isolated()
		})
	}
	for i := range s.pool.entries {
		e := &s.pool.entries[i]
		c := Lookup(e.Capability)
		if e.Effect == Deny {
			continue
		}
		// An untrusted manifest cannot answer for the user.
		if s.Tier <= Untrusted && e.level(c) != Normal && s.Declared {
			e.Effect = min(e.Effect, Confirm)
		}
		// Hosts that nobody named, and addresses that are not public, are the
		// user's to allow.
		if networked(c) && s.askHosts(e) {
			e.Effect = min(e.Effect, Confirm)
		}
		for j := range s.ceilings {
			if s.ceilings[j].asks(e) {
				e.Effect = min(e.Effect, Confirm)
			}
		}
		if e.Effect != Confirm {
			continue
		}
		switch {
		case slices.Contains(accepted, e.Key()):
			e.Effect, e.Source = Allow, "approval"
		case approve == ApproveDeclared:
			e.Effect, e.Source = Allow, "--approve declared"
		}
	}
	s.pool.sort()
}

// asks says whether a layer wants something of what e is about confirmed. What it allows
// of a part leaves the rest to the entries below, unless e is about that part alone.
func (l *layer) asks(e *Entry) bool {
	for _, o := range l.of(e.Capability) {
		if o.Effect == Confirm {
			return true
		}
		if !o.Constraints.narrows() && o.Expires.IsZero() || o.Effect == Allow && o.Key() == e.Key() {
			return false
		}
	}
	return false
}

func (s *Set) askHosts(e *Entry) bool {
	if !e.Constraints.Scoped {
		return true // what the files name, nobody has looked at yet either
	}
	for _, t := range e.Constraints.Scope {
		if host, _, fault := ParseHost(t.Value); fault == "" && (host == "*" || !public(host)) {
			return true
		}
	}
	return false
}

// Accept gives the Set in which the questions with these keys are answered
// with yes; s itself stays as it is.
func (s *Set) Accept(keys ...string) *Set {
	t := *s
	t.pool.entries = slices.Clone(s.pool.entries)
	for i := range t.pool.entries {
		e := &t.pool.entries[i]
		if e.Effect == Confirm && slices.Contains(keys, e.Key()) {
			e.Effect, e.Source = Allow, "prompt"
		}
	}
	t.pool.sort()
	return &t
}

// limit takes the user's limits or else the preset's, and the strictest of all
// other sources.
func (s *Set) limit(in *Input, docs []*Document) {
	if in.Preset != nil {
		s.Limits = in.Preset.Limits
	}
	s.Limits = in.Limits.Else(s.Limits)
	for _, d := range slices.Concat(docs, in.Ceilings, in.Narrowings, in.Floors) {
		s.Limits = tighten(s.Limits, d.Limits)
	}
}

// deniedOutright finds an entry that denies all of a capability at a time: a deny
// without a scope above which its source grants nothing.
func (s *Set) deniedOutright(capability string, now time.Time) *Entry {
	for _, l := range s.layers() {
		es := l.of(capability)
		if i := l.outright(capability, now); i >= 0 && !slices.ContainsFunc(es[:i], func(e Entry) bool { return e.Effect != Deny }) {
			return &es[i]
		}
	}
	return nil
}

// outright gives the place of the entry of a layer that denies all of a capability but
// for what the entries above it say, -1 if there is none.
func (l *layer) outright(capability string, now time.Time) int {
	return slices.IndexFunc(l.of(capability), func(e Entry) bool {
		return e.Effect == Deny && e.Lapsed(now) == "" && !e.leaves(Lookup(capability))
	})
}

// leaves says whether a denial that is in force leaves some of its capability. What has
// no names, such as starting programs, it denies whole, whatever it says of commands
// and uses, which a run cannot tell apart: who wrote it takes it to hold.
func (e *Entry) leaves(c *Capability) bool {
	switch c.means {
	case createProcesses, queryProcesses, containerSocket, displaySocket:
		return e.Constraints.Scoped && len(e.Constraints.Scope) == 0
	}
	return e.Constraints.WorkspaceOnly == Yes || e.Constraints.Scoped || len(e.Constraints.Arguments) > 0
}

// Denies says whether all of a capability is denied at a time, whatever the user grants.
func (s *Set) Denies(capability string, now time.Time) bool {
	return s.deniedOutright(capability, now) != nil
}

// layers lists all sources that can deny.
func (s *Set) layers() []*layer {
	ls := []*layer{&s.floors, &s.pool}
	for i := range s.ceilings {
		ls = append(ls, &s.ceilings[i])
	}
	return ls
}

// narrows says whether the constraints restrict what an entry is about.
func (c *Constraints) narrows() bool {
	return c.WorkspaceOnly == Yes || c.Scoped || len(c.Arguments) > 0 || len(c.DeniedCommands) > 0 ||
		len(c.AllowedCommands) > 0 || c.Window.Pos != (Pos{}) || c.Rate.Pos != (Pos{})
}
