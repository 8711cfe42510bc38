package policy

import (
	"fmt"

	"skillrun/profiles"
)

//go:generate go run -tags generate ./gen

// Preset is a named group of settings: how trusting, how strict, which limits.
// The shipped ones are data, see presets.toml.
type Preset struct {
	Name   string
	Reason string
	// RejectUntrusted refuses skills below tier Approved.
	RejectUntrusted bool
	// Strict makes a gap of every clause that the kernel does not hold.
	Strict bool
	// AllowGaps are the clauses that may be gaps all the same.
	AllowGaps []AllowedGap
	// Fresh gives each run empty caches, and keeps none for the next.
	Fresh bool
	// Approve is how confirm entries are answered unless a flag says.
	Approve Approve

	Scan             Scan
	Activation       Activation
	SelfChange       Change // a skill changed by the agent, clean by the scan
	CapabilityChange Change // a change of a skill's capabilities
	Guard            Guard
	SharedWrites     SharedWrites
	// Opaque is what happens to a command with parts that are decided at run
	// time, Unread to one with parts that were not read, such as programs that
	// the scanner does not know. Either is confined all the same.
	Opaque, Unread Effect

	Limits profiles.Limits
	// WritableFiles are variables that name a file which the run may write, if
	// they are set: GITHUB_OUTPUT.
	WritableFiles []string
	// ProtectedFiles are variables that name a file which the run may neither
	// read nor write.
	ProtectedFiles []string
	// HiddenVariables are never passed; a "*" may stand at an end.
	HiddenVariables []string
	// HideCheckoutCredentials keeps .git/config unreadable, where CI systems
	// put their tokens: the workspace's own unless nothing in it looks like one,
	// and that of every repository below, except what the run makes.
	HideCheckoutCredentials bool
}

// AllowedGap is a clause that a preset does without, and why.
type AllowedGap struct {
	Clause, Reason string
}

// GapNames are the names of the clauses that the preset does without.
func (p *Preset) GapNames() []string {
	names := make([]string, len(p.AllowGaps))
	for i, g := range p.AllowGaps {
		names[i] = g.Clause
	}
	return names
}

// The settings below are for installation and agents' sessions; zero is the
// strictest.
type (
	// Scan is what happens to the findings of a skill's scan.
	Scan uint8
	// Activation is what may load a skill.
	Activation uint8
	// Change is what happens to a change of a skill.
	Change uint8
	// Guard is when a call needs an answer although the policy allows it.
	Guard uint8
	// SharedWrites is what happens to writes to the shared directory.
	SharedWrites uint8
)

// The values.
const (
	ScanAsk  Scan = 0 // findings wait for the user, and so does a clean skill
	ScanAuto Scan = 1 // findings wait for the user
	ScanLog  Scan = 2 // findings are noted

	ActivationExplicit Activation = 0 // by the user's word
	ActivationKeyword  Activation = 1 // by words of the task
	ActivationAuto     Activation = 2 // by the agent's choice

	ChangeAsk  Change = 0 // waits for the user
	ChangeAuto Change = 1 // passes

	GuardTainted   Guard = 0 // every call of a tainted session
	GuardSensitive Guard = 1 // sensitive calls of a tainted session
	GuardOff       Guard = 2

	SharedQueue   SharedWrites = 0 // wait for the user
	SharedTainted SharedWrites = 1 // those of a tainted session wait
	SharedDirect  SharedWrites = 2
)

// words of the enumerations in presets.toml and config.toml, in their order.
var (
	approveWords    = []string{"none", "ask", "declared"}
	scanWords       = []string{"ask", "auto", "log"}
	activationWords = []string{"explicit", "keyword", "auto"}
	changeWords     = []string{"ask", "auto"}
	guardWords      = []string{"tainted", "sensitive", "off"}
	sharedWords     = []string{"queue", "tainted", "direct"}
	unreadWords     = []string{"deny", "ask", "confine"}
)

// Presets lists the shipped presets, strictest first.
func Presets() []Preset { return append([]Preset(nil), presets[:]...) }

// FindPreset finds a shipped preset by its name.
func FindPreset(name string) (*Preset, error) {
	for i := range presets {
		if presets[i].Name == name {
			p := presets[i]
			return &p, nil
		}
	}
	return nil, fmt.Errorf("preset %q: not paranoid, standard, power-user or ci", name)
}

// ParsePresets reads presets.toml. The shipped presets are generated from it;
// a run never calls this.
func ParsePresets(file string, data []byte) ([]Preset, error) {
	n, err := parseTOML(file, data)
	if err == nil {
		err = n.table("presets", "preset")
	}
	if err != nil {
		return nil, err
	}
	var all []Preset
	for i := range n.get("preset").items {
		p, err := decodePreset(&n.get("preset").items[i])
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func decodePreset(n *node) (p Preset, err error) {
	limits := node{pos: n.pos, kind: mapNode}
	for i := range n.keys {
		v := &n.keys[i].node
		switch name := n.keys[i].name; name {
		case "name":
			p.Name, err = v.str()
		case "reason":
			p.Reason, err = v.str()
		case "reject_untrusted":
			p.RejectUntrusted, err = v.bool(name)
		case "strict":
			p.Strict, err = v.bool(name)
		case "fresh":
			p.Fresh, err = v.bool(name)
		case "allow_gaps":
			p.AllowGaps, err = decodeGaps(v)
		case "hide_checkout_credentials":
			p.HideCheckoutCredentials, err = v.bool(name)
		case "approve":
			err = word(v, approveWords, &p.Approve)
		case "scan":
			err = word(v, scanWords, &p.Scan)
		case "activation":
			err = word(v, activationWords, &p.Activation)
		case "self_change":
			err = word(v, changeWords, &p.SelfChange)
		case "capability_change":
			err = word(v, changeWords, &p.CapabilityChange)
		case "guard":
			err = word(v, guardWords, &p.Guard)
		case "shared_writes":
			err = word(v, sharedWords, &p.SharedWrites)
		case "opaque":
			err = word(v, unreadWords, &p.Opaque)
		case "unread":
			err = word(v, unreadWords, &p.Unread)
		case "writable_files":
			p.WritableFiles, err = v.strings()
		case "protected_files":
			p.ProtectedFiles, err = v.strings()
		case "hidden_variables":
			p.HiddenVariables, err = v.strings()
		default:
			limits.keys = append(limits.keys, n.keys[i])
		}
		if err != nil {
			return p, err
		}
	}
	if p.Limits, err = decodeLimits(&limits); err == nil && (p.Name == "" || p.Reason == "") {
		err = errorAt(n.pos, "a preset has a name and a reason")
	}
	return p, err
}

// decodeGaps reads a list of clauses, each with the reason to do without it.
func decodeGaps(n *node) ([]AllowedGap, error) {
	if err := n.is(listNode, "allow_gaps"); err != nil {
		return nil, err
	}
	var gaps []AllowedGap
	for i := range n.items {
		item := &n.items[i]
		if err := item.table("an allowed gap", "clause", "reason"); err != nil {
			return nil, err
		}
		clause, reason := item.get("clause"), item.get("reason")
		if clause == nil || reason == nil {
			return nil, errorAt(item.pos, "an allowed gap has a clause and a reason")
		}
		var g AllowedGap
		var err error
		if g.Clause, err = clause.str(); err == nil {
			g.Reason, err = reason.str()
		}
		switch {
		case err != nil:
			return nil, err
		case CheckGap(g.Clause) != nil:
			return nil, errorAt(clause.pos, "%v", CheckGap(g.Clause))
		case profiles.Must(g.Clause):
			return nil, errorAt(clause.pos, "%q is a must: no preset does without it", g.Clause)
		}
		gaps = append(gaps, g)
	}
	return gaps, nil
}

// word reads one of several words as its index.
func word[T ~uint8](n *node, words []string, to *T) error {
	s, err := n.str()
	if err != nil {
		return err
	}
	for i, w := range words {
		if s == w {
			*to = T(i)
			return nil
		}
	}
	return errorAt(n.pos, "unknown value %q: not one of %q", s, words)
}

func (n *node) bool(what string) (bool, error) {
	return n.truth, n.is(boolNode, what)
}

func (n *node) strings() ([]string, error) {
	texts, err := n.list()
	return values(texts), err
}

// Bound is what a skill's calls are held to in an agent's session.
type Bound uint8

// The bounds; the zero bound is no loading at all.
const (
	BoundRejected Bound = iota // cannot be loaded
	BoundMinimal               // MinimalEntries, within the ceiling
	BoundManifest              // its manifest, within the ceiling
	BoundCeiling               // the ceiling alone
)

// Bound says what holds a skill of a tier in an agent's session: Armorclaw's
// tables (skills security, sections 4 to 6). Narrowing holds under every
// preset; a preset only says whether an untrusted skill may load at all. A run
// of a command is held to its manifest whatever the tier.
func (p *Preset) Bound(t Tier, hasManifest bool) Bound {
	switch {
	case t >= Approved:
		return BoundCeiling
	case p.RejectUntrusted:
		return BoundRejected
	case hasManifest:
		return BoundManifest
	}
	return BoundMinimal
}
