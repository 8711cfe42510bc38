package linux

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"skillrun/profiles"
)

// A run inside a run cannot have a supervisor of its own: the kernel allows one
// listener in a chain of filters. It hands its narrower profile to the
// supervisor that is there, which from then on rules on its calls by both, and
// makes them under both runs' Landlock rules.
//
// Which run a process belongs to is told by two of its resource limits, the
// hard ones on RSS and LOCKS, which Linux has kept without use since 2.4. Every
// process inherits them by whatever kind of fork, keeps them over execve, and
// can lower and never raise them (that takes CAP_SYS_RESOURCE, which no run
// has): so nothing that a process does, with its parents, its numbers or itself,
// takes it out of a run.
//
// A run's marks stand for an interval of numbers: one limit for its end, the
// other, counted downwards, for its beginning. To lower a limit is to narrow the
// interval. A run inside has a part of the interval of the run around it, and
// runs side by side have parts without a number in common. A process belongs to
// all runs whose intervals enclose its own: whatever it lowers, to more of them
// and never to fewer.

// mark is what a process of a nested run has for limits. All marks are above
// 2^62, which limits nothing.
type mark struct{ rss, locks uint64 }

// within says whether a process with the limits m belongs to the run of which
// of is the mark.
func (m mark) within(of mark) bool { return m.rss <= of.rss && m.locks <= of.locks }

// interval is an interval of 2^bits numbers.
type interval struct {
	low  uint64
	bits uint
}

const (
	markBase = 1 << 62
	markBits = 60
	// slotBits for each level: 5 levels, and 4,094 runs one after another in
	// each run; an interval is not used twice.
	slotBits = 12
)

// whole is where nothing is marked.
var whole = interval{0, markBits}

func (s interval) mark() mark {
	return mark{rss: markBase + s.low + (1<<s.bits - 1), locks: markBase + (1<<markBits - 1) - s.low}
}

// part gives a part of an interval; it is false where there is none. The first
// and last parts are nobody's, so that it takes both limits to get into one: a
// program that lowers one, as "ulimit -m" does, gets into no run inside its own.
func (s interval) part(k uint64) (interval, bool) {
	if s.bits < slotBits || k >= 1<<slotBits-2 {
		return interval{}, false
	}
	bits := s.bits - slotBits
	return interval{s.low + (k+1)<<bits, bits}, true
}

// Names of attributes that no file system has, under which a run inside talks to
// the supervisor: fsetxattr(-1, name, value, size). Without a supervisor that
// is EBADF. No name at all (a null pointer) asks whether the caller belongs to
// the run whose number is size.
const (
	// nestedAsk gives what the supervisor is notified of, plus nestedYes.
	nestedAsk = "skillrun.ask"
	// nestedNarrow registers the run that value describes, a narrowing in JSON,
	// gives its number and writes over the beginning of value its mark, how many
	// runs it is in, and the name of the one around it.
	nestedNarrow = "skillrun.narrow"
	// nestedOver ends the run whose number is size.
	nestedOver = "skillrun.over"

	nestedYes  = 1 << 32
	nestedMost = 1 << 20 // bytes of a description
	// nestedAnswer is the size of what is written over its beginning.
	nestedAnswer = 24 + runName
)

// narrowing describes a run inside. Paths are bytes, which JSON has no text for.
type narrowing struct {
	// Run is its name, for the record.
	Run     string            `json:"run"`
	Profile *profiles.Profile `json:"profile"`
	Own     [][]byte          `json:"own"`
	Denied  [][]byte          `json:"denied"`
	// Redirects are pairs; see [Redirect].
	Redirects [][2][]byte `json:"redirects"`
	Umask     uint32      `json:"umask"`
	// Inputs are [Begun.Inputs], by device and inode number.
	Inputs [][2]uint64 `json:"inputs,omitempty"`
	// The first of its Landlock layers.
	HandledFS  uint64          `json:"handled_fs"`
	HandledNet uint64          `json:"handled_net"`
	Rules      []narrowingRule `json:"rules"`
}

type narrowingRule struct {
	Path   []byte `json:"path"`
	Access uint64 `json:"access"`
}

// runName is the length of a run's name: of letters and digits, whoever gives it.
const runName = 12

func isRunName(s string) bool {
	return len(s) == runName && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// narrow describes the run of a plan; see [RegisterNested].
func narrow(run string, plan *Plan, profile *profiles.Profile, own []string, instead []Substitute, umask uint32) *narrowing {
	first := &plan.Layers[0]
	n := &narrowing{Run: run, Profile: profile, Umask: umask, HandledFS: first.HandledFS, HandledNet: first.HandledNet}
	for _, dir := range own {
		n.Own = append(n.Own, []byte(dir))
	}
	for _, s := range instead {
		n.Redirects = append(n.Redirects, [2][]byte{[]byte(s.From), []byte(s.To)})
	}
	for _, path := range plan.Hidden() {
		n.Denied = append(n.Denied, []byte(path))
	}
	for _, r := range first.Rules {
		n.Rules = append(n.Rules, narrowingRule{[]byte(r.Path), r.Access})
	}
	return n
}

// readNarrowing reads what a launcher says of its run, which may be anyone's
// words: unknown keys, a profile that does not validate, names that are not
// absolute paths and anything after the end are errors.
func readNarrowing(text []byte) (*narrowing, error) {
	var n narrowing
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&n); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	if n.Profile == nil {
		return nil, errors.New("no profile")
	}
	// Its own decoder validates, too; a supervisor relies on it.
	if err := n.Profile.Validate(); err != nil {
		return nil, err
	}
	if !isRunName(n.Run) {
		return nil, fmt.Errorf("%q is no name of a run", n.Run)
	}
	if n.Umask > 0o777 {
		return nil, fmt.Errorf("umask %#o", n.Umask)
	}
	names := append(append([][]byte(nil), n.Own...), n.Denied...)
	for _, pair := range n.Redirects {
		names = append(names, pair[0], pair[1])
	}
	for _, r := range n.Rules {
		names = append(names, r.Path)
	}
	for _, name := range names {
		if s := string(name); !path.IsAbs(s) || path.Clean(s) != s || strings.IndexByte(s, 0) >= 0 {
			return nil, fmt.Errorf("%q is not a clean absolute path", s)
		}
	}
	return &n, nil
}
