package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/hook"
)

// All messages go to stderr, one line each, and name us: stdout is the
// command's. Text that we did not write is escaped, so that it cannot forge a
// line or move the cursor.

var messages io.Writer = os.Stderr

func say(format string, args ...any) {
	fmt.Fprintf(messages, "skillrun: %s\n", audit.Escape(fmt.Sprintf(format, args...)))
}

func hint(format string, args ...any) { say("hint: "+format, args...) }

func quote(s string) string { return strconv.Quote(s) }

// named is a name that the command chose, in quotes where it could be taken for
// the words around it: "/x - to allow: --grant filesystem.read:/" is a file.
func named(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == '"' || unicode.IsSpace(r) }) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `\x22`) + `"`
}

// typed is a name as a word of a command line that the user may paste into a
// shell, what where it cannot be printed.
func typed(name, what string) string {
	word := hook.Quote(name)
	if name == "" || policy.Escape(word) != word {
		return what
	}
	return word
}

// A hinted error knows what would help.
type hinted interface{ Hint() string }

func printError(err error) {
	say("%s", err)
	var h hinted
	if errors.As(err, &h) && h.Hint() != "" {
		hint("%s", h.Hint())
	}
	var u usageError
	if errors.As(err, &u) {
		return // the hint is how it is used
	}
	// What fails for want of descriptors fails in many ways.
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil && files.Cur < filesNeeded {
		hint("this process may have %d files open, and a run can need %d: raise the limit (ulimit -n)", files.Cur, filesNeeded)
	}
}

// filesNeeded is how many open files are enough for the launcher of any run.
const filesNeeded = 64

// withHint adds what would help to an error.
type withHint struct {
	error
	hint string
}

func (e withHint) Hint() string  { return e.hint }
func (e withHint) Unwrap() error { return e.error }
