package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
	"skillrun/profiles"
)

// Permission is one right that a user allowed, in the words of the manifest.
type Permission struct {
	Capability string   `json:"capability"`
	Scope      []string `json:"scope,omitempty"` // sorted; empty is the capability's own default
	Terms      string   `json:"terms,omitempty"` // the other constraints, as policy words them
}

// Approval is what a user allowed one version of one skill.
type Approval struct {
	Version  int      `json:"version"` // of the format: 1
	Skill    string   `json:"skill"`   // name, for display
	Release  string   `json:"release,omitempty"`
	Dir      Path     `json:"dir"` // resolved
	Tree     Sum      `json:"tree"`
	Manifest Sum      `json:"manifest"`
	Accepted []string `json:"accepted,omitempty"` // keys of the accepted entries, for policy
	// Allowed is the same for people and for comparing versions.
	Allowed []Permission `json:"allowed,omitempty"`
	// Hosts are those that the skill's files named when it was approved.
	Hosts []string `json:"hosts,omitempty"`
	// Grants are what the user allowed beyond the manifest, as --grant takes it.
	Grants []string `json:"grants,omitempty"`
	// Declined are the keys of entries that the user was asked about and did
	// not accept: they are not asked again for this version.
	Declined []string `json:"declined,omitempty"`
	// Promoted makes this version an approved skill wherever it lies.
	Promoted bool `json:"promoted,omitempty"`
	// Until is when it ends; zero is never.
	Until time.Time `json:"until,omitzero"`
	By    string    `json:"by"` // user name
	UID   int       `json:"uid"`
	Made  time.Time `json:"made"`
}

// Sum is a SHA-256, in JSON 64 hexadecimal digits.
type Sum [32]byte

// MarshalText writes 64 digits.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads 64 digits.
func (s *Sum) UnmarshalText(b []byte) error {
	if len(b) != 64 {
		return errors.New("a digest has 64 digits")
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// Path is a path of any bytes, in JSON as Go quotes it, without the quotes.
type Path string

// MarshalText quotes.
func (p Path) MarshalText() ([]byte, error) {
	q := strconv.Quote(string(p))
	return []byte(q[1 : len(q)-1]), nil
}

// UnmarshalText unquotes.
func (p *Path) UnmarshalText(b []byte) error {
	s, err := strconv.Unquote(`"` + string(b) + `"`)
	*p = Path(s)
	return err
}

// ErrOther is in the errors of Holds: the approval is sound, and not for this.
var ErrOther = errors.New("asks again")

// Past says whether the approval has ended. A clock that is set back undoes that
// as far as to a day before it was made; see [Approval.Holds].
func (a *Approval) Past(now time.Time) bool { return !a.Until.IsZero() && !now.Before(a.Until) }

// Holds says why the approval does not hold for a skill at a time; nil if it
// does.
func (a *Approval) Holds(s *Skill, tree [32]byte, now time.Time) error {
	switch {
	case string(a.Dir) != s.Dir:
		return fmt.Errorf("approval of %q is for %q: %w", s.Name, a.Dir, ErrOther)
	case a.Tree != tree || a.Manifest != s.Manifest:
		return fmt.Errorf("skill %q changed since it was approved: %w", s.Name, ErrOther)
	case a.Past(now):
		return fmt.Errorf("skill %q was approved until %s, which is past: %w", s.Name, a.Until.UTC().Format(time.RFC3339), ErrOther)
	case now.Before(a.Made.Add(-24 * time.Hour)):
		return fmt.Errorf("approval of %q is from the future (%s): %w", s.Name, a.Made.UTC().Format(time.RFC3339), ErrOther)
	}
	if err := whole(s.Dir); err != nil {
		return fmt.Errorf("approval of %q is not for all of it: %w: %w", s.Name, err, ErrOther)
	}
	return nil
}

// Approvals is the directory of approval records: one per skill directory,
// mode 0600, replaced whole, each with a digest of itself. The digest shows
// damage and careless edits; what keeps others out is the directory, which is
// the user's alone and never writable from inside a run.
type Approvals struct{ dir *os.File }

const (
	approvalSuffix = ".approval"
	treeSuffix     = ".tree"
	sealKey        = `,"sha256":"`
	maxApproval    = 4 << 20
	maxTreeFile    = 64 << 20
)

// OpenApprovals opens the directory, making it if it is not there. It refuses
// one that others could write; see [private.OpenDir].
func OpenApprovals(dir string) (*Approvals, error) {
	d, err := private.OpenDir(dir)
	if err != nil {
		return nil, fmt.Errorf("approvals: %w", err)
	}
	return &Approvals{d}, nil
}

// Close releases the descriptor.
func (p *Approvals) Close() error { return p.dir.Close() }

// base is the name of a skill's records without suffix. It fits any path.
func base(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:16])
}

// ID names an approval for the command line: 8 digits of its record's name.
func (a *Approval) ID() string { return base(string(a.Dir))[:8] }

// Find gives the approval of the skill in a resolved directory, nil if there is
// none. A record that is damaged, edited, or could have come from someone else
// is an error; run nothing on it. Whether it holds for this version is for
// [Approval.Holds].
func (p *Approvals) Find(dir string) (*Approval, error) {
	a, err := p.read(base(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && string(a.Dir) != dir {
		err = fmt.Errorf("approval record %s: is for %q, under the name of another", base(dir), a.Dir)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (p *Approvals) read(base string) (*Approval, error) {
	data, err := private.ReadFile(p.dir, base+approvalSuffix, maxApproval)
	if err != nil {
		return nil, fmt.Errorf("approval record: %w", err)
	}
	a, err := parseApproval(data)
	if err != nil {
		return nil, fmt.Errorf("approval record %q: %w", filepath.Join(p.dir.Name(), base+approvalSuffix), err)
	}
	return a, nil
}

// parseApproval reads {...,"sha256":"HEX"} and a newline, where HEX is the
// SHA-256 of the bytes before it.
func parseApproval(data []byte) (*Approval, error) {
	n := len(data) - len(sealKey) - 64 - len("\"}\n")
	if n < 0 {
		return nil, errors.New("is cut")
	}
	sum := sha256.Sum256(data[:n])
	if string(data[n:]) != seal(sum) {
		return nil, errors.New("was edited or cut: its digest does not fit; `skillrun grants revoke` removes it")
	}
	var a Approval
	// The bytes are those that Put wrote, or someone took the trouble to make
	// a digest: then it must still be sound.
	d := json.NewDecoder(strings.NewReader(string(data[:n]) + "}"))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return nil, fmt.Errorf("does not read: %w", err)
	}
	switch {
	case a.Version != 1:
		return nil, fmt.Errorf("has format version %d, this skillrun knows 1", a.Version)
	case a.UID != os.Geteuid():
		return nil, fmt.Errorf("is of uid %d, not of uid %d", a.UID, os.Geteuid())
	case !filepath.IsAbs(string(a.Dir)):
		return nil, errors.New("names no absolute directory")
	}
	return &a, nil
}

func seal(sum [32]byte) string { return sealKey + hex.EncodeToString(sum[:]) + "\"}\n" }

// Put stores an approval in the place of an older one for the same directory.
// Version, UID and Tree are filled in; entries are the tree that was approved,
// kept for showing what changed. It fails on a skill with [Strays].
func (p *Approvals) Put(a Approval, entries []Entry) error {
	a.Version, a.UID, a.Tree = 1, os.Geteuid(), Digest(entries)
	if !filepath.IsAbs(string(a.Dir)) {
		return fmt.Errorf("approval of %q: directory %q is not absolute", a.Skill, a.Dir)
	}
	if err := whole(string(a.Dir)); err != nil {
		return fmt.Errorf("approval of %q for good: %w: put a copy in the link's place", a.Skill, err)
	}
	a.Skill, a.Release = strings.ToValidUTF8(a.Skill, "\ufffd"), strings.ToValidUTF8(a.Release, "\ufffd")
	a.Allowed = slices.Clone(a.Allowed)
	for i := range a.Allowed {
		a.Allowed[i].Scope = slices.Sorted(slices.Values(a.Allowed[i].Scope))
		for _, s := range append(a.Allowed[i].Scope, a.Allowed[i].Capability, a.Allowed[i].Terms) {
			if !utf8.ValidString(s) {
				return fmt.Errorf("approval of %q: %q is not UTF-8", a.Skill, s)
			}
		}
	}
	data, err := json.Marshal(&a)
	if err != nil {
		return fmt.Errorf("approval of %q: %w", a.Skill, err)
	}
	data = data[:len(data)-1] // the brace; the seal has it
	data = append(data, seal(sha256.Sum256(data))...)
	var list []byte
	for _, e := range entries {
		list = fmt.Appendf(list, "%c %d %x %q\n", e.Kind, e.Size, e.SHA256, e.Path)
	}
	// The tree first: a record without its tree asks again without showing
	// files, a tree without its record is nothing.
	if err := private.WriteFile(p.dir, base(string(a.Dir))+treeSuffix, list); err != nil {
		return fmt.Errorf("approval of %q: %w", a.Skill, err)
	}
	if err := private.WriteFile(p.dir, base(string(a.Dir))+approvalSuffix, data); err != nil {
		return fmt.Errorf("approval of %q: %w", a.Skill, err)
	}
	return nil
}

// Files gives the tree that was approved. It fails if it is not that tree.
func (p *Approvals) Files(a *Approval) ([]Entry, error) {
	name := base(string(a.Dir)) + treeSuffix
	data, err := private.ReadFile(p.dir, name, maxTreeFile)
	if err != nil {
		return nil, fmt.Errorf("approved tree: %w", err)
	}
	var entries []Entry
	for line := range strings.Lines(string(data)) {
		var e Entry
		var kind rune
		var sum []byte
		if _, err := fmt.Sscanf(line, "%c %d %x %q\n", &kind, &e.Size, &sum, &e.Path); err != nil || len(sum) != 32 {
			return nil, fmt.Errorf("approved tree %q: was edited or cut", name)
		}
		e.Kind, e.SHA256 = Kind(kind), [32]byte(sum)
		entries = append(entries, e)
	}
	if Digest(entries) != a.Tree {
		return nil, fmt.Errorf("approved tree %q: is not the tree of its approval", name)
	}
	return entries, nil
}

// List gives all approvals, by name, and an error for each record that is not
// sound.
func (p *Approvals) List() (list []*Approval, faults []error) {
	if _, err := p.dir.Seek(0, 0); err != nil {
		return nil, []error{fmt.Errorf("approvals: %w", err)}
	}
	names, err := p.dir.Readdirnames(-1)
	if err != nil {
		return nil, []error{fmt.Errorf("approvals: %w", bare(err))}
	}
	slices.Sort(names)
	for _, name := range names {
		b, ok := strings.CutSuffix(name, approvalSuffix)
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		a, err := p.read(b)
		if err == nil && base(string(a.Dir)) != b {
			err = fmt.Errorf("approval record %s: is for %q, under the name of another", b, a.Dir)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(x, y *Approval) int {
		return strings.Compare(x.Skill+"\x00"+string(x.Dir), y.Skill+"\x00"+string(y.Dir))
	})
	return list, faults
}

// Approved gives the directories of the skills with a sound record in dir, as the
// host's FS has them: who looks there again later knows whether they are the same.
func Approved(h *profiles.Host, dir string) (skills []string) {
	entries, _ := fs.ReadDir(h.FS, strings.TrimPrefix(dir, "/"))
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), approvalSuffix) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if data, err := h.ReadSmall(filepath.Join(dir, e.Name()), maxApproval); err == nil {
			if a, err := parseApproval(data); err == nil {
				skills = append(skills, string(a.Dir))
			}
		}
	}
	return skills
}

// Revoke removes the record of a skill by its directory or by its ID, sound or
// not. It fails if there is none.
func (p *Approvals) Revoke(dirOrID string) error {
	b := base(dirOrID)
	if !filepath.IsAbs(dirOrID) {
		if _, err := p.dir.Seek(0, 0); err != nil {
			return fmt.Errorf("approvals: %w", err)
		}
		names, err := p.dir.Readdirnames(-1)
		if err != nil {
			return fmt.Errorf("approvals: %w", bare(err))
		}
		names = slices.DeleteFunc(names, func(n string) bool {
			return len(dirOrID) < 8 || !strings.HasPrefix(n, dirOrID) || !strings.HasSuffix(n, approvalSuffix)
		})
		if len(names) != 1 {
			return fmt.Errorf("approval %q: %d records have this beginning (at least 8 digits are needed)", dirOrID, len(names))
		}
		b = strings.TrimSuffix(names[0], approvalSuffix)
	}
	// The record first: from then on nothing is allowed.
	if err := unix.Unlinkat(int(p.dir.Fd()), b+approvalSuffix, 0); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("approval of %q: there is none", dirOrID)
		}
		return fmt.Errorf("approval of %q: %w", dirOrID, err)
	}
	if err := unix.Unlinkat(int(p.dir.Fd()), b+treeSuffix, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("approval of %q: %w", dirOrID, err)
	}
	return p.dir.Sync()
}
