// Package audit keeps the record of what skillrun ran, decided and was granted:
// JSON Lines in files of mode 0600, each line chained to the one before by
// SHA-256. docs/audit.md is the format for third parties.
//
// The chain shows damage: an altered, removed, moved or repeated line, a cut
// end. It is not a signature. Who can write the whole directory can write a
// new chain, so keep the hash of a [Report] elsewhere where that
// matters; nothing inside a run can write here.
package audit

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Kind names what a record tells.
type Kind string

// The kinds.
const (
	KindStart    Kind = "run.start"
	KindEnd      Kind = "run.end"
	KindDecision Kind = "decision"
	KindGrant    Kind = "grant"
	KindRepair   Kind = "log.repair"
)

// Entry is what [Log.Append] takes: *Start, *End, *Decision or *Grant.
type Entry interface {
	kind() Kind
	encode(*encoder)
}

// Digest is a SHA-256; zero means absent.
type Digest [32]byte

// String gives lower-case hexadecimal, "" for the zero Digest.
func (d Digest) String() string {
	if d == (Digest{}) {
		return ""
	}
	return hex.EncodeToString(d[:])
}

// MarshalText writes what String gives.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Digest) UnmarshalText(b []byte) error {
	*d = Digest{}
	if len(b) == 0 {
		return nil
	}
	if len(b) != 2*len(d) {
		return fmt.Errorf("digest of %d digits, want %d", len(b), 2*len(d))
	}
	_, err := hex.Decode(d[:], b)
	return err
}

// NewID gives a name for a run or session: 12 random letters and digits (60
// bits) without those that look alike.
func NewID() string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	var b [12]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return string(b[:])
}

// Status is how a run ended.
type Status string

// The status classes.
const (
	Success Status = "success" // exit code 0
	Failed  Status = "failed"  // another exit code, or a signal
	Timeout Status = "timeout" // stopped for time or another limit
	Denied  Status = "denied"  // failed, and something was refused to it
	Refused Status = "refused" // nothing was started
)

// File is a file that took part in a run.
type File struct {
	Path   string `json:"path"`
	SHA256 Digest `json:"sha256,omitzero"` // absent while it is computed; then in End
}

// Skill is the skill that acts.
type Skill struct {
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
	Dir      string `json:"dir,omitempty"`  // resolved
	Tier     string `json:"tier,omitempty"` // "builtin", "approved", "untrusted", "isolated"
	Tree     Digest `json:"tree,omitzero"`  // of all its files; absent while it is computed
	Manifest Digest `json:"manifest,omitzero"`
}

// Capability is one right of a run and where it came from.
type Capability struct {
	Name   string   `json:"name"`
	Scope  []string `json:"scope,omitempty"`
	Effect string   `json:"effect,omitempty"` // "allow", "confirm", "deny"
	Source string   `json:"source,omitempty"` // "skillguard-manifest.json:12", "--grant", "prompt"
}

// Clause is one line of the receipt: what the back end held, and how.
type Clause struct {
	Name      string `json:"clause"`
	Must      bool   `json:"must,omitempty"`
	Strength  string `json:"strength"` // "kernel", "supervised", "restored", "none"
	Mechanism string `json:"mechanism,omitempty"`
	Note      string `json:"note,omitempty"`
}

// Start is written before anything of a run is started.
type Start struct {
	Run          string       `json:"run"`
	Parent       string       `json:"parent,omitempty"` // the run that this run was started in
	Depth        int          `json:"depth,omitempty"`  // how many runs it is in
	Session      string       `json:"session,omitempty"`
	Skill        Skill        `json:"skill,omitzero"`
	Argv         []string     `json:"argv"`
	ArgvCut      *Cut         `json:"argv_cut,omitempty"` // set by Append when argv is longer than MaxText
	Dir          string       `json:"dir,omitempty"`      // working directory
	Workspace    string       `json:"workspace,omitempty"`
	Preset       string       `json:"preset,omitempty"`
	Interpreter  File         `json:"interpreter,omitzero"`
	Script       File         `json:"script,omitzero"`
	Profile      Digest       `json:"profile,omitzero"` // of the profile's canonical bytes
	Capabilities []Capability `json:"capabilities,omitempty"`
	Receipt      []Clause     `json:"receipt,omitempty"`
	Gaps         []string     `json:"gaps,omitempty"` // clauses not held, allowed by the user
	Launcher     string       `json:"launcher,omitempty"`
	PID          int          `json:"pid,omitempty"` // of the launcher
	UID          int          `json:"uid"`
}

// Cut tells of a list that was too long to keep whole.
type Cut struct {
	Count  int    `json:"count"`  // elements in all
	Bytes  int64  `json:"bytes"`  // in all, one for each element's end included
	SHA256 Digest `json:"sha256"` // over all elements, each ended by a zero byte
}

// Stream is what went through a standard stream.
type Stream struct {
	Size   int64  `json:"size"` // bytes
	SHA256 Digest `json:"sha256,omitzero"`
	Text   string `json:"text,omitempty"` // the beginning, with --capture=full; secrets replaced
	Cut    bool   `json:"cut,omitempty"`  // Text is not all
}

// Denial is something that was refused to a run.
type Denial struct {
	Access string `json:"access"` // "read", "write", "connect", ...
	Target string `json:"target"` // a path, or host:port
	Rule   string `json:"rule,omitempty"`
	Class  string `json:"class,omitempty"` // "plain", "sensitive", "control"
	Count  int    `json:"count,omitempty"` // when more than once
}

// Connection tells of the connections of a run that were alike, of its flows of
// datagrams, or of its questions for a name that was refused. What the run said
// (Host, TLSName, HTTPHost) is as it said it.
type Connection struct {
	Host     string `json:"host,omitempty"`      // name that the run asked for; absent if it went to an address
	Addr     string `json:"addr,omitempty"`      // address that it went to, or would have
	Via      string `json:"via,omitempty"`       // proxy of this machine that it went through, "HOST:PORT"
	Port     int    `json:"port,omitempty"`      // 0: for those that were too many to list
	Protocol string `json:"protocol,omitempty"`  // "tcp", "udp"
	Door     string `json:"door,omitempty"`      // where it knocked: "gate", "proxy", "socks", "udp", "dns"
	TLSName  string `json:"tls_name,omitempty"`  // server name of the ClientHello
	HTTPHost string `json:"http_host,omitempty"` // Host of the last request
	Verdict  string `json:"verdict"`             // "granted", or why not
	Rule     string `json:"rule,omitempty"`      // host of the rule that decided, and where it is from
	Count    int    `json:"count,omitempty"`     // when more than one
	Sent     int64  `json:"sent,omitempty"`      // payload bytes of the run
	Received int64  `json:"received,omitempty"`
}

// Inner is a run inside another. Where it kept its own record, if anywhere, was its
// launcher's to say, as was its name.
type Inner struct {
	Run    string `json:"run"`
	Parent string `json:"parent"` // the run that it was started in
	Depth  int    `json:"depth"`  // how many runs it is in
}

// End is written when nothing of a run is left, or when a run was refused.
type End struct {
	Run          string        `json:"run"`
	Session      string        `json:"session,omitempty"`
	Status       Status        `json:"status"`
	Code         int           `json:"code"`             // exit code; 0 with Signal
	Signal       string        `json:"signal,omitempty"` // "SIGKILL"
	Reason       string        `json:"reason,omitempty"` // why refused, or which limit
	Wall         time.Duration `json:"wall_us"`          // microseconds in the file
	User         time.Duration `json:"user_us,omitempty"`
	System       time.Duration `json:"system_us,omitempty"`
	Memory       int64         `json:"memory,omitempty"` // peak, bytes
	Denials      []Denial      `json:"denials,omitempty"`
	MoreDenials  int           `json:"more_denials,omitempty"` // not listed
	Connections  []Connection  `json:"connections,omitempty"`
	Controls     []string      `json:"controls_made,omitempty"`      // see docs/audit.md
	MoreControls int           `json:"more_controls_made,omitempty"` // not listed
	Runs         []Inner       `json:"runs,omitempty"`               // started inside this one
	MoreRuns     int           `json:"more_runs,omitempty"`          // not listed
	Stdin        Stream        `json:"stdin,omitzero"`
	Stdout       Stream        `json:"stdout,omitzero"`
	Stderr       Stream        `json:"stderr,omitzero"`
	Tree         Digest        `json:"tree,omitzero"` // those that Start did not have yet
	Interpreter  Digest        `json:"interpreter_sha256,omitzero"`
	Script       Digest        `json:"script_sha256,omitzero"`
}

// brief is the end without what may be long.
func (r *End) brief() *End {
	b := *r
	b.MoreDenials += len(r.Denials)
	b.MoreControls += len(r.Controls)
	b.MoreRuns += len(r.Runs)
	b.Denials, b.Connections, b.Controls, b.Runs = nil, nil, nil, nil
	for _, c := range r.Connections {
		i := slices.IndexFunc(b.Connections, func(sum Connection) bool { return sum.Verdict == c.Verdict })
		if i < 0 {
			i = len(b.Connections)
			b.Connections = append(b.Connections, Connection{Verdict: c.Verdict})
		}
		sum := &b.Connections[i]
		sum.Count += max(c.Count, 1)
		sum.Sent += c.Sent
		sum.Received += c.Received
	}
	for _, s := range [...]*Stream{&b.Stdin, &b.Stdout, &b.Stderr} {
		s.Text, s.Cut = "", s.Cut || s.Text != ""
	}
	return &b
}

// Need is one capability that a tool call was found to need, with the verdict.
type Need struct {
	Capability string `json:"capability"`
	Target     string `json:"target,omitempty"`
	Exact      bool   `json:"exact,omitempty"` // the target is known, not guessed
	Verdict    string `json:"verdict"`
	Reason     string `json:"reason,omitempty"`
	Source     string `json:"source,omitempty"`
}

// Decision is one mediated tool call of an agent.
type Decision struct {
	Session    string        `json:"session"`
	Run        string        `json:"run,omitempty"` // the run that it led to, if known
	Event      string        `json:"event"`         // "PreToolUse", "SkillLoad"
	Tool       string        `json:"tool,omitempty"`
	Skill      string        `json:"skill,omitempty"`
	Capability string        `json:"capability,omitempty"`
	Verdict    string        `json:"verdict"` // "allow", "ask", "deny"
	Reason     string        `json:"reason,omitempty"`
	Source     string        `json:"source,omitempty"`  // the policy entry that decided
	Input      string        `json:"input,omitempty"`   // the tool's input as received
	Scanned    bool          `json:"scanned,omitempty"` // needs were inferred
	Needs      []Need        `json:"needs,omitempty"`
	Took       time.Duration `json:"took_us,omitempty"` // microseconds in the file
}

// Grant is a consent given, refused or taken back.
type Grant struct {
	Action       string       `json:"action"` // "grant", "deny", "revoke", "promote", "narrow"
	For          string       `json:"for"`    // "once", "task", "session", "version"
	Session      string       `json:"session,omitempty"`
	Run          string       `json:"run,omitempty"`
	Skill        Skill        `json:"skill,omitzero"`
	Capabilities []Capability `json:"capabilities,omitempty"`
	By           string       `json:"by,omitempty"`    // "terminal", "--approve", "host", ...
	Until        time.Time    `json:"until,omitzero"`  // zero: no end
	Reason       string       `json:"reason,omitzero"` // what was shown, or why revoked
}

// Repair is written by Append itself, before anything else, when the log is not
// as the last writer left it.
type Repair struct {
	// Found is "torn" (bytes that are no record follow the last one, as a
	// killed writer leaves them), "cut" (records that were there are gone) or
	// "no-head" (the head file is gone or unreadable).
	Found string `json:"found"`
	// Bytes and SHA256 are those of the torn end, from the end of the last
	// good record, without the newline that closes it off. With "cut", Bytes
	// is how many are missing.
	Bytes  int64  `json:"bytes,omitempty"`
	SHA256 Digest `json:"sha256,omitzero"`
	// LastSeq is the last record that the head knew, with "cut".
	LastSeq uint64 `json:"last_seq,omitempty"`
}

// Record is one record as read back. Exactly one of the pointers is set, by
// Kind, unless Damage is.
type Record struct {
	Seq      uint64
	Time     time.Time
	Kind     Kind
	Hash     Digest
	Prev     Digest
	Start    *Start
	End      *End
	Decision *Decision
	Grant    *Grant
	Repair   *Repair

	File   string // base name
	Line   int    // in File, from 1
	Raw    []byte // the line without its newline
	Damage string // why the line is no record; "" for a good one
}

// IDs gives the run and the session that the record tells of; "" for none.
func (r *Record) IDs() (run, session string) {
	switch {
	case r.Start != nil:
		return r.Start.Run, r.Start.Session
	case r.End != nil:
		return r.End.Run, r.End.Session
	case r.Decision != nil:
		return r.Decision.Run, r.Decision.Session
	case r.Grant != nil:
		return r.Grant.Run, r.Grant.Session
	}
	return "", ""
}
