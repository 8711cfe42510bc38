package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/hook"
)

// All messages go to stderr, one line each, and name us: stdout is the
// command's. Text that we did not write is escaped, so that it cannot forge a
// line or move the cursor.

var messages io.Writer = log{os.Stderr}

// log is the file that messages go to. A run has the same one open, and may have had it
// take only what fills whole blocks (O_DIRECT), which no message does, or go on where
// no file may be that large.
type log struct{ *os.File }

func (l log) Write(b []byte) (int, error) {
	n, err := l.File.Write(b)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EFBIG) {
		unix.FcntlInt(l.Fd(), unix.F_SETFL, unix.O_APPEND)
		return l.File.Write(b)
	}
	return n, err
}

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

// shownJSON is JSON that a terminal may show, with \u escapes for what does not show
// and for what moves what does (C1 controls, bidi): it can only be in strings.
// encoding/json writes most of it as it is.
func shownJSON(b []byte) []byte {
	if !bytes.ContainsFunc(b, hides) {
		return b
	}
	shown := make([]byte, 0, len(b)+len(b)/8)
	for _, r := range string(b) {
		switch {
		case !hides(r):
			shown = utf8.AppendRune(shown, r)
		case r < 0x10000:
			shown = fmt.Appendf(shown, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			shown = fmt.Appendf(shown, `\u%04x\u%04x`, high, low)
		}
	}
	return shown
}

func hides(r rune) bool { return r >= 0x7f && policy.Escape(string(r)) != string(r) }

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
