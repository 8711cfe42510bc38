package audit_test

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillrun/audit"
)

func TestRedactor(t *testing.T) {
	r, short := audit.NewRedactor([]string{"hunter22", "hunter2222", "abc", "", " s3cret-token\n", "-----BEGIN KEY-----\nMIIEvQIBADANBg\nxyz\n-----END KEY-----"})
	if short != 2 {
		t.Errorf("%d values are too short, want 2", short)
	}
	for in, want := range map[string]string{
		"":                             "",
		"nothing here, abc":            "nothing here, abc",
		"a=hunter22":                   "a=[redacted]",
		"a=hunter2222!":                "a=[redacted]!",
		"s3cret-tokens3cret-token":     "[redacted][redacted]",
		"body: MIIEvQIBADANBg and xyz": "body: [redacted] and xyz",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// No string of a record holds a secret, nor, at the cut end of a captured
// stream, the beginning of one.
func TestRecordsHoldNoSecret(t *testing.T) {
	const secret = "abab\xffcabab"
	red, _ := audit.NewRedactor([]string{secret})
	rapid.Check(t, func(rt *rapid.T) {
		around := rapid.StringMatching(`[abc\\"]{0,6}`)
		before := around.Draw(rt, "before")
		s := before + secret + around.Draw(rt, "after")
		capture := audit.NewCapture(rapid.IntRange(1, 2*len(secret)).Draw(rt, "keep"))
		capture.Write([]byte(s))
		dir := t.TempDir()
		l := open(t, dir, audit.Options{Secrets: red})
		appendAll(t, l,
			&audit.Start{Run: "r", Argv: []string{"curl", s}, Dir: s, Workspace: s, Gaps: []string{s}, Skill: audit.Skill{Name: s}, Capabilities: []audit.Capability{{Name: s, Scope: []string{s}}}},
			&audit.End{Run: "r", Denials: []audit.Denial{{Target: s}}, Reason: s, Stdout: capture.Stream()},
			&audit.Decision{Session: s, Input: s, Needs: []audit.Need{{Target: s}}},
			&audit.Grant{Reason: s})
		b, err := os.ReadFile(dir + "/audit-000000000001.jsonl")
		check(t, err)
		if strings.Contains(string(b), `\\xff`) {
			rt.Fatalf("%q in\n%s", s, b)
		}
		all := records(t, dir)
		text := all[1].End.Stdout.Text
		if !strings.Contains(text, audit.Redacted) && len(text) > len(before) {
			rt.Fatalf("%q of %q shows a beginning of the secret", text, s)
		}
	})
}

func TestCapture(t *testing.T) {
	c := audit.NewCapture(4)
	for range 3 {
		if n, err := c.Write([]byte("abc")); n != 3 || err != nil {
			t.Fatal(n, err)
		}
	}
	s := c.Stream()
	if s.Size != 9 || s.Text != "abca" || !s.Cut || s.SHA256.String() != "76b99ab4be8521d78b19bcff7d1078aabeb477bd134f404094c92cd39f051c3e" {
		t.Errorf("%+v", s)
	}
	if s := audit.NewCapture(0).Stream(); s.Cut || s.Text != "" {
		t.Errorf("%+v", s)
	}
}
