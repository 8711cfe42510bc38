package main_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"skillrun/cmd/skillrun"
)

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("read") }

// An event that is too large is read all the same: an agent that cannot write
// it uses the tool.
func TestHookReadsAll(t *testing.T) {
	const size = 9 << 20
	in := strings.NewReader(strings.Repeat(" ", size))
	if r := main.Serve(in, time.Hour); r.Code != 2 || in.Len() != 0 {
		t.Errorf("exit code %d, %d bytes left: %s", r.Code, in.Len(), r.Stderr)
	}
}

// Whatever becomes of a hook in the middle of its work, the agent is told no.
func TestHookThatFails(t *testing.T) {
	never, unwritten := io.Pipe()
	defer unwritten.Close()
	for what, c := range map[string]struct {
		in       io.Reader
		deadline time.Duration
		why      string
	}{
		"no event within the time": {never, time.Millisecond, "no decision within 1ms"},
		"a panic":                  {panics{}, time.Hour, "internal error: read"},
		"an error":                 {iotest.ErrReader(errors.New("gone")), time.Hour, "gone"},
		"half an event":            {io.MultiReader(strings.NewReader("{"), iotest.ErrReader(io.ErrUnexpectedEOF)), time.Hour, "unexpected EOF"},
	} {
		r := main.Serve(c.in, c.deadline)
		if r.Code != 2 || !strings.Contains(string(r.Stderr), c.why) || !strings.Contains(string(r.Stdout), `"permissionDecision":"deny"`) {
			t.Errorf("%s: exit code %d, %s%s", what, r.Code, r.Stderr, r.Stdout)
		}
	}
}
