package main

import (
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

	"golang.org/x/sys/unix"

	"skillrun/audit"
	"skillrun/audit/private"
)

// calls is the directory where the processes that see one use of a tool leave
// each other word: the hook before it, the run of its command, the hook after.
type calls struct{ dir *os.File }

// A call is one use of a tool that was let pass.
type call struct {
	// Run is the session's name for it.
	Run string `json:"run"`
	// Command is the SHA-256 of the shell command that was decided about, in
	// hexadecimal; "" of another tool.
	Command string `json:"command,omitempty"`
	// Dir is the directory that it was decided for.
	Dir string `json:"dir,omitempty"`
	// Asked says that the agent asks its user first. That the tool was used at
	// all is the yes.
	Asked bool `json:"asked,omitempty"`
	// Asks says that the agent can ask its user.
	Asks bool `json:"asks,omitempty"`
	// Skill is the directory of the skill that is loaded, "" if none is.
	Skill string `json:"skill,omitempty"`
	// Place says that the next command starts where this one ends.
	Place bool `json:"place,omitempty"`
	// Unset are variables of the environment that the project set for what the agent
	// starts, and that are not the user's word therefore.
	Unset []string `json:"unset,omitempty"`
	// Withhold says that the result is a secret.
	Withhold bool `json:"withhold,omitempty"`
	// Proves says that the command runs only if the agent gives it the place of its
	// own: nobody else was told the call's name.
	Proves bool `json:"proves,omitempty"`
}

// A result is what came of the run of a command.
type result struct {
	Run     string         `json:"run"` // of the audit log
	Denials []audit.Denial `json:"denials,omitempty"`
	More    int            `json:"more,omitempty"`
	// Asks says that the user is asked if the command comes again.
	Asks bool `json:"asks,omitempty"`
	// Variables and Files hold the secrets that the run was given.
	Variables []string `json:"variables,omitempty"`
	Files     []string `json:"files,omitempty"`
}

// The files of a call.
const (
	callFile   = ".call"
	resultFile = ".result"
	placeFile  = ".directory"
	// provenFile is the session's: its agent gives commands the place of its own.
	provenFile = ".proven"
)

const (
	maxCall = 1 << 20
	// callsKept is how long a call may take; what is older was never asked
	// about again.
	callsKept = 48 * time.Hour
)

func openCalls(state string) (*calls, error) {
	dir, err := private.OpenDir(filepath.Join(state, "calls"))
	if err != nil {
		return nil, err
	}
	return &calls{dir}, nil
}

func (s *calls) close() { s.dir.Close() }

// name is the name of a call's file. It fits any IDs.
func (s *calls) name(session, id, file string) string {
	sum := sha256.Sum256([]byte(session + "\x00" + id))
	return hex.EncodeToString(sum[:12]) + file
}

// path is where the run leaves the directory that it ended in.
func (s *calls) path(session, id string) string {
	return filepath.Join(s.dir.Name(), s.name(session, id, placeFile))
}

func (s *calls) put(session, id, file string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return private.Replace(s.dir, s.name(session, id, file), b)
}

// get reads what was put; false if there is nothing.
func (s *calls) get(session, id, file string, v any) (bool, error) {
	b, err := private.ReadFile(s.dir, s.name(session, id, file), maxCall)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return false, fmt.Errorf("call: %w", err)
	}
	return true, nil
}

// take reads what was put and removes it: who takes it has it alone.
func (s *calls) take(session, id, file string, v any) (bool, error) {
	found, err := s.get(session, id, file, v)
	if !found || err != nil {
		return found, err
	}
	switch err := unix.Unlinkat(int(s.dir.Fd()), s.name(session, id, file), 0); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // another process was first
	case err != nil:
		return false, fmt.Errorf("call: %w", err)
	}
	return true, nil
}

// drop removes all of a call.
func (s *calls) drop(session, id string) {
	for _, file := range [...]string{callFile, resultFile, placeFile, provenFile} {
		unix.Unlinkat(int(s.dir.Fd()), s.name(session, id, file), 0)
	}
}

// sweep removes what nobody asked about.
func (s *calls) sweep(now time.Time) {
	names, err := s.dir.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(int(s.dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && now.Sub(time.Unix(int64(st.Mtim.Sec), int64(st.Mtim.Nsec))) > callsKept {
			unix.Unlinkat(int(s.dir.Fd()), name, 0)
		}
	}
}

func commandDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// explanation tells the model what was refused to a run, "" if nothing was.
// What would lift a denial is for the user to know. Names of files may have
// secrets in them, which redact takes out, if there is any.
func (o *result) explanation(redact func(string) string) string {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	if len(o.Denials) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("skillrun refused this command:")
	for i, d := range o.Denials {
		if i == shownDenials {
			break
		}
		b.WriteString(" " + audit.Escape(strings.TrimSpace(d.Access+" "+named(redact(d.Target)))))
		if d.Rule != "" {
			b.WriteString(" (" + audit.Escape(redact(d.Rule)) + ")")
		}
		b.WriteString(";")
	}
	if n := len(o.Denials) + o.More - shownDenials; n > 0 {
		fmt.Fprintf(&b, " and %d more;", n)
	}
	b.WriteString(" the rest of it ran. This is policy and no fault of the command: do not look for a way around it. If the task needs what was refused, ")
	if o.Asks {
		b.WriteString("run the same command again: the user is then asked about the files.")
	} else {
		b.WriteString("ask the user, who can allow it.")
	}
	return b.String()
}

// redaction replaces the secrets that a run was given; nil if it was given none.
// One that cannot be read any more withholds everything.
func (o *result) redaction() func(string) string {
	var values []string
	for _, name := range o.Variables {
		if v := os.Getenv(name); v != "" {
			values = append(values, v)
		}
	}
	for _, file := range o.Files {
		b, err := readSecret(file)
		if err != nil {
			return withhold
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); line != "" {
				values = append(values, line)
			}
			if _, value, ok := strings.Cut(line, "="); ok {
				values = append(values, strings.Trim(strings.TrimSpace(value), `"'`))
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	r, _ := audit.NewRedactor(values)
	return r.Text
}

func withhold(string) string { return "[a secret, withheld by skillrun]" }
