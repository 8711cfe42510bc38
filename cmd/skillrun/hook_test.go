package main_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"skillrun/audit"
	"skillrun/cmd/skillrun"
	"skillrun/policy/skill"
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

// What the model is told of refusals has no more secrets in it than the result.
func TestHookExplainsWithoutSecrets(t *testing.T) {
	const secret = "canary \x01 12345"
	t.Setenv("TOKEN", secret)
	d := audit.Denial{Access: "write", Target: "/etc/" + secret, Rule: "deny /etc/" + secret}
	if told := main.Told("", d); !strings.Contains(told, "canary") {
		t.Fatalf("the control: %s", told)
	}
	if told := main.Told("TOKEN", d); strings.Contains(told, "canary") || !strings.Contains(told, "write /etc/") {
		t.Errorf("%s", told)
	}
}

// A name stands for a skill that the user installed only where it can be no other: not
// behind a directory's name, nor where the project has more than is looked through.
func TestSkillNamed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := skill.Places{Home: dir + "/home", Project: dir + "/work"}
	for _, at := range []string{"/home/.claude/skills/pdf", "/work/.claude/skills/ev", "/work/sub/.claude/skills/pdf"} {
		writeFile(t, dir+at+"/SKILL.md", "---\nname: "+filepath.Base(at)+"\ndescription: d\n---\n")
	}
	want := func(name, at string) {
		t.Helper()
		if at != "" {
			at = dir + at
		}
		if got := main.SkillNamed(p, name); got != at {
			t.Errorf("%s: %q, want %q", name, got, at)
		}
	}
	want("pdf", "/home/.claude/skills/pdf")
	want("ev", "/work/.claude/skills/ev")
	want("p:ev", "/work/.claude/skills/ev")
	want("sub:pdf", "")
	want("p:pdf", "")
	for i := range 2100 {
		if err := os.MkdirAll(fmt.Sprintf("%s/work/.gemini/skills/d%04d", dir, i), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	want("pdf", "")
	want("ev", "/work/.claude/skills/ev")
}
