package main_test

import (
	"bytes"
	"strings"
	"testing"

	"skillrun/cmd/skillrun"
	"skillrun/policy/session"
)

// TestAskChoice: the terminal takes what was offered, by its word or its first
// letter, asks again for anything else, and shows nothing that acts on it.
func TestAskChoice(t *testing.T) {
	p := session.Prompt{
		Session: "s1", Tool: "Ba\x1b[2Jsh", Skills: []string{"pdf\u202e"}, Input: `sed 's/\./-/' x # ` + "\x1b]0;x\a", Reason: "why", Notes: []string{"no\rte", `escaped \x0d`},
		Needs:   []session.PromptNeed{{Capability: "web.fetch", Level: "normal", Target: "a.com\x1b[1A", Reason: "not \u200bdeclared"}},
		Choices: []string{"deny", "once", "task", "session"},
	}
	for in, want := range map[string]session.Choice{
		"once\n": session.Once, "o\n": session.Once, "S\n": session.ThisSession, " task \r\n": session.ThisTask, "d\n": session.No,
		"\nyes\nversion\nv\nonce or so\nt\n": session.ThisTask,
	} {
		var out bytes.Buffer
		if got, err := main.AskChoice(strings.NewReader(in), &out, &p); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", in, got, err, want)
		}
		if strings.ContainsAny(out.String(), "\x1b\a\r\u202e\u200b") {
			t.Errorf("the prompt is %q", out.String())
		}
		for _, line := range []string{`  > sed 's/\\./-/' x # \x1b]0;x\x07`, `  note       no\x0dte`, `  note       escaped \x0d`} {
			if !strings.Contains(out.String(), line+"\n") {
				t.Errorf("the prompt has no line %s:\n%s", line, out.String())
			}
		}
		if first, _, _ := strings.Cut(out.String(), "\n"); first != `skillrun: the agent, with pdf\u202e wants to use Ba\x1b[2Jsh:` {
			t.Errorf("the prompt begins with %q", first)
		}
	}
	for _, in := range []string{"", "onc", "yes\n"} {
		if got, err := main.AskChoice(strings.NewReader(in), &bytes.Buffer{}, &p); err == nil || got != session.No {
			t.Errorf("%q: %v %v, want an error", in, got, err)
		}
	}
}
