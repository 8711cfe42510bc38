package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"skillrun/audit"
	"skillrun/audit/private"
	"skillrun/policy"
)

// Bounds of a session's document. Beyond them the session is refused.
const (
	maxDocument = 1 << 20 // bytes: policy.ParseState's own bound
	maxID       = 256     // bytes
	maxCalls    = 64      // kept for Run and Answer, the newest
	maxAsked    = 1 << 16 // bytes of what one call asks for
	maxUses     = 4096    // times kept for one capability
	minUses     = 128     // times kept, whatever the limit
	maxSkills   = 64
)

// lockPatience is how long a session that another process has open is waited
// for, if the caller's context does not say. Each decision holds it for some
// milliseconds.
const lockPatience = 5 * time.Second

// Session is one session, open and locked.
type Session struct {
	set             Settings
	state           policy.State // the document; what is not stored is filled in by live
	more            extension
	dir             *os.File
	lock            *os.File
	log             *audit.Log
	file            string            // of the document
	seen            *links            // of one action
	files, controls *policy.Protected // for what is in no run, and in one
}

// extension is what the document holds besides the paper's, under "skillrun".
type extension struct {
	Version int             `json:"version"` // of the format: 1
	Preset  string          `json:"preset"`  // for people; the settings decide
	Skills  []loaded        `json:"skills,omitempty"`
	Taint   map[Taint]mark  `json:"taint,omitempty"`
	Uses    map[string]uses `json:"uses,omitempty"` // by capability, the oldest first
	Calls   []call          `json:"calls,omitempty"`
	TaskIs  string          `json:"task,omitempty"`        // the task's first words
	TaskAt  time.Time       `json:"task_at,omitzero"`      // when it began
	NoTask  string          `json:"task_failed,omitempty"` // why nothing of this task is allowed
	Refused []refused       `json:"refused,omitempty"`     // to runs, and not asked about
	// TaskGrants are answers that end with the task: a list of entries.
	TaskGrants json.RawMessage `json:"task_grants,omitempty"`
}

type uses []time.Time

// mark is when and by what a session was tainted.
type mark struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}

// loaded is a skill of the session.
type loaded struct {
	Name     string      `json:"name"` // unique in the session
	Dir      string      `json:"dir"`  // resolved
	Version  string      `json:"version,omitempty"`
	Tree     string      `json:"tree"`
	Manifest string      `json:"manifest"`
	Tier     policy.Tier `json:"tier"`
	Why      string      `json:"why"`
	Declared bool        `json:"declared"` // has a manifest
	// Pending says that nobody has said yes to loading it yet: it narrows, and
	// what it declares does not count.
	Pending bool `json:"pending,omitempty"`
	// Starts says that somebody said yes to what the agent starts of it by itself.
	Starts bool      `json:"starts,omitempty"`
	At     time.Time `json:"at"`
}

// call is an action that was not denied. What it asks for is in a file of its
// own (asked.go).
type call struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Skills []string  `json:"skills,omitempty"`
	Acts   bool      `json:"acts,omitempty"` // Skills were found by what the command runs
	Asks   bool      `json:"asks,omitempty"` // there is such a file
	Most   Choice    `json:"most,omitempty"` // the most lasting answer that can be given
	Done   bool      `json:"done,omitempty"` // Run has given it out
	asked  []asked
}

// Start opens the session with an ID, and makes it if there is none: its pool
// is seeded with the defaults. A session that exists stays as it is, but for
// what has lapsed. The error says why not; nothing may be allowed then.
func Start(ctx context.Context, set Settings, id string) (*Session, error) {
	s, err := lock(ctx, set, id, true)
	if err != nil {
		return nil, err
	}
	err = s.load(id)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.seed(id); err == nil {
			if err = s.save(); err == nil {
				s.sweep()
			}
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Open opens a session that Start has made. Without one the error is
// fs.ErrNotExist.
func Open(ctx context.Context, set Settings, id string) (*Session, error) {
	s, err := lock(ctx, set, id, false)
	if err != nil {
		return nil, err
	}
	if err := s.load(id); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// WorkspaceOf gives the workspace of a session without opening it: the settings
// of the later events depend on it. Without the session the error is
// fs.ErrNotExist.
func WorkspaceOf(dir, id string) (string, error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("session %q: %w", clip(id, 64), err) }
	if err := checkID(id); err != nil {
		return fail(err)
	}
	path := filepath.Join(dir, "sessions")
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return fail(fs.ErrNotExist)
	}
	d, err := private.OpenDir(path)
	if err != nil {
		return fail(err)
	}
	defer d.Close()
	data, err := private.ReadFile(d, base(id)+".json", maxDocument)
	if err != nil {
		return fail(err)
	}
	var doc struct {
		ID        string `json:"session_id"`
		Workspace string `json:"workspace_root"`
	}
	// Open reads all of it, under the lock.
	if err := json.Unmarshal(data, &doc); err != nil {
		return fail(fmt.Errorf("is damaged: %w", err))
	}
	if doc.ID != id {
		return fail(fmt.Errorf("is damaged: is that of %q", clip(doc.ID, 64)))
	}
	return doc.Workspace, nil
}

const idLength = 32

// base is the name of a session's files without suffix. It fits any ID.
func base(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:idLength/2])
}

// lock takes the session for this process. The lock is the kernel's and ends
// with the process that has it, however that ends.
func lock(ctx context.Context, set Settings, id string, create bool) (*Session, error) {
	if set.Now == nil {
		set.Now = time.Now
	}
	fail := func(err error) (*Session, error) {
		return nil, fmt.Errorf("session %q: %w", clip(id, 64), err)
	}
	if err := checkID(id); err != nil {
		return fail(err)
	}
	if set.Preset == nil || !filepath.IsAbs(set.Dir) {
		return fail(errors.New("the settings have no preset or no state directory"))
	}
	path := filepath.Join(set.Dir, "sessions")
	if _, err := os.Lstat(path); !create && errors.Is(err, fs.ErrNotExist) {
		return fail(fs.ErrNotExist)
	}
	dir, err := private.OpenDir(path)
	if err != nil {
		return fail(err)
	}
	s := &Session{set: set, dir: dir, file: base(id) + ".json"}
	flags := unix.O_RDWR
	if create {
		flags |= unix.O_CREAT
	}
	if err = s.take(ctx, base(id)+".lock", flags); err == nil {
		s.log, err = audit.Open(set.Dir, audit.Options{Now: set.Now})
	}
	if err != nil {
		s.Close()
		return fail(err)
	}
	return s, nil
}

// take takes the lock. One that was swept meanwhile holds nothing.
func (s *Session) take(ctx context.Context, name string, flags int) error {
	for {
		f, _, err := private.OpenFile(s.dir, name, flags)
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err = wait(ctx, f); err == nil {
			err = unix.Fstat(int(f.Fd()), &st)
		}
		if err == nil && st.Nlink > 0 {
			s.lock = f
			return nil
		}
		f.Close()
		if err != nil {
			return err
		}
	}
}

// wait takes the lock, or gives up when ctx is done or the patience at an end.
func wait(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New("another process has it open and does not finish")
		case <-time.After(pause):
		}
	}
}

func checkID(id string) error {
	switch {
	case id == "":
		return errors.New("has no ID")
	case len(id) > maxID:
		return fmt.Errorf("an ID of %d bytes, more than %d", len(id), maxID)
	case !utf8.ValidString(id) || policy.Escape(id) != id:
		return errors.New("the ID has characters that cannot be printed")
	}
	return nil
}

// Close gives the session up. What was not saved is lost.
func (s *Session) Close() error {
	if s.log != nil {
		s.log.Close()
	}
	if s.lock != nil {
		s.lock.Close() // and with it the lock: nobody else has this descriptor
	}
	return s.dir.Close()
}

// load reads the document.
func (s *Session) load(id string) error {
	data, err := private.ReadFile(s.dir, s.file, maxDocument)
	if err != nil {
		return fmt.Errorf("session %q: %w", id, err)
	}
	state, err := policy.ParseState("session", data)
	if err != nil {
		return fmt.Errorf("session %q is damaged: %w", id, err)
	}
	var doc struct {
		Ours *json.RawMessage `json:"skillrun"`
	}
	if err = json.Unmarshal(data, &doc); err == nil && doc.Ours == nil {
		err = errors.New("was not made by skillrun")
	}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(*doc.Ours))
		d.DisallowUnknownFields()
		err = d.Decode(&s.more)
	}
	switch {
	case err != nil:
	case state.ID != id:
		err = fmt.Errorf("is that of %q", state.ID)
	case s.more.Version != 1:
		err = fmt.Errorf("has format version %d, this skillrun knows 1", s.more.Version)
	}
	for _, k := range s.more.Skills {
		if err == nil && (k.Tier > policy.BuiltIn || !filepath.IsAbs(k.Dir)) {
			err = fmt.Errorf("skill %q is not sound", k.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("session %q is damaged: %w", id, err)
	}
	s.state = *state
	return nil
}

// seed makes the document of a new session.
func (s *Session) seed(id string) error {
	defaults := s.set.Defaults
	if defaults == nil {
		defaults = policy.DefaultEntries()
	}
	s.state = policy.State{ID: id, Workspace: s.set.Workspace, Initialized: s.now(), Declared: defaults}
	s.more = extension{Version: 1, Preset: s.set.Preset.Name}
	if s.set.Workspace != "" && !filepath.IsAbs(s.set.Workspace) {
		return fmt.Errorf("session %q: workspace %q is not absolute", id, s.set.Workspace)
	}
	if w := s.set.Workspace; strings.ContainsFunc(w, func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }) {
		return fmt.Errorf("session %q: the name of the workspace %q has a character that no document of a session holds: start in a directory of another name", id, w)
	}
	return nil
}

// save replaces the document. It is not forced to the disk: a session does not
// outlive the power.
func (s *Session) save() error {
	old := s.more.Calls[:max(0, len(s.more.Calls)-maxCalls)]
	s.more.Calls = last(s.more.Calls, maxCalls) // answers to the others come too late
	data, err := s.state.JSON(&s.more)
	if err == nil && len(data) > maxDocument {
		err = fmt.Errorf("its document has %d bytes, more than %d", len(data), maxDocument)
	}
	if err == nil {
		err = private.Replace(s.dir, s.file, data)
	}
	if err != nil {
		return fmt.Errorf("session %q: cannot save: %w", s.state.ID, err)
	}
	for i := range old {
		s.forget(&old[i])
	}
	return nil
}

// now is the time as documents keep it.
func (s *Session) now() time.Time { return s.set.Now().UTC().Truncate(time.Microsecond) }

func last[T any](list []T, n int) []T {
	if len(list) > n {
		return list[len(list)-n:]
	}
	return list
}

// clip shortens a text for messages. Its end stays: it says which host or file it is.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n/2] + "..." + s[len(s)-n/2:]
}

// State gives the session state document, as it is kept.
func (s *Session) State() ([]byte, error) { return s.state.JSON(&s.more) }
