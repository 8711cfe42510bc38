package main_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"skillrun/cmd/skillrun"
	"skillrun/policy/session"
)

// TestAskChoice: the terminal takes what was offered, by its word or its first
// letter, asks again for anything else, and shows nothing that acts on it.
func TestAskChoice(t *testing.T) {
	p := session.Prompt{
		Session: "s1", Tool: "Ba\x1b[2Jsh", Skills: []string{"pdf\u202e", "csv wants to use Read: or"}, Input: `sed 's/\./-/' x #  ` + "\x1b]0;x\a", Reason: "why", Notes: []string{"no\rte", `escaped \x0d`},
		Needs:   []session.PromptNeed{{Capability: "web.fetch", Level: "normal", Target: "a .com\x1b[1A", Reason: "not \u200bdeclared"}},
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
		for _, line := range []string{`  > sed 's/\\./-/' x # \x20\x1b]0;x\x07`, `  note       no\x0dte`, `  note       escaped \x0d`, `  normal     web.fetch "a .com\x1b[1A" - not \u200bdeclared`} {
			if !strings.Contains(out.String(), line+"\n") {
				t.Errorf("the prompt has no line %s:\n%s", line, out.String())
			}
		}
		if first, _, _ := strings.Cut(out.String(), "\n"); first != `skillrun: the agent, with pdf\u202e, "csv wants to use Read: or" wants to use Ba\x1b[2Jsh:` {
			t.Errorf("the prompt begins with %q", first)
		}
	}
	for _, in := range []string{"", "onc", "yes\n"} {
		if got, err := main.AskChoice(strings.NewReader(in), &bytes.Buffer{}, &p); err == nil || got != session.No {
			t.Errorf("%q: %v %v, want an error", in, got, err)
		}
	}
}

// TestAskChoicePages: a long list, or a long line, stops at each screen, so that what
// stands in it is seen; a word for a later question is no answer there.
func TestAskChoicePages(t *testing.T) {
	const more = "[return] shows more of it [n]o: "
	needs := make([]session.PromptNeed, 50)
	for i := range needs {
		needs[i] = session.PromptNeed{Capability: "filesystem.read", Level: "dangerous", Target: fmt.Sprint("d", i)}
	}
	for name, p := range map[string]*session.Prompt{
		"many needs":     {Tool: "Bash", Needs: needs},
		"a long command": {Tool: "Bash", Input: strings.Repeat("x", 5000), Needs: needs[:1]},
		"wide letters":   {Tool: "Bash", Input: strings.Repeat("\u4e16", 2500), Needs: needs[:1]},
	} {
		p.Choices = []string{"deny", "once"}
		var out bytes.Buffer
		if got, err := main.AskChoice(strings.NewReader("\no\n\n\n\nonce\n"), &out, p); err != nil || got != session.Once {
			t.Errorf("%s: %v %v", name, got, err)
		}
		screens := strings.Split(out.String(), more)
		if len(screens) < 3 {
			t.Errorf("%s: all at once:\n%s", name, out.String())
		}
		for _, screen := range screens {
			rows := 0
			for line := range strings.Lines(screen) {
				columns := 0
				for _, r := range line {
					columns++
					if r > 0x7f {
						columns++
					}
				}
				rows += (columns + 78) / 80 // the end of the line is none
			}
			if rows > 21 { // with the question
				t.Errorf("%s: %d rows on a screen:\n%s", name, rows, screen)
			}
		}
		joined := strings.ReplaceAll(out.String(), more, "")
		if p.Input != "" && strings.Count(joined, p.Input[:3]) < len(p.Input)/3-len(screens) {
			t.Errorf("%s: some of it is not shown:\n%s", name, joined)
		}
		for _, n := range p.Needs {
			if !strings.Contains(joined, " "+n.Target+" ") {
				t.Errorf("%s: %s is not shown:\n%s", name, n.Target, joined)
			}
		}
		for _, no := range []string{"n\nonce\n", "\nno\nonce\n", "\n"} {
			if got, err := main.AskChoice(strings.NewReader(no), &bytes.Buffer{}, p); err == nil || got != session.No {
				t.Errorf("%s: %q: %v %v, want an error", name, no, got, err)
			}
		}
	}
}
