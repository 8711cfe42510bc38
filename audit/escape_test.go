package audit_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"skillrun/audit"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                    "plain",
		"a b":                      "a b",
		`a\b`:                      `a\\b`,
		"a\nb\r\tc":                `a\nb\r\tc`,
		"\x1b[2J\x00\x7f":          `\x1b[2J\x00\x7f`,
		"\xff\xc3(":                `\xff\xc3(`,
		"grün 日本 é":                "grün 日本 é",
		"\u202egnp.exe":            `\u202egnp.exe`,
		"a\u200bb\u2060\ufeff":     `a\u200bb\u2060\ufeff`,
		"\u2028\u2029\u0085":       `\u2028\u2029\u0085`,
		"x\u00a0y\u3000z":          `x\u00a0y\u3000z`,
		"\U000e0041\ufe0f\u3164":   `\U000e0041\ufe0f\u3164`,
		"\u2800\u115f\u034f\u061c": `\u2800\u115f\u034f\u061c`,
		"\U00016fe4\U00013441\U00013442\U0001d159": `\U00016fe4\U00013441\U00013442\U0001d159`,
		"\xed\xb2\x80": `\xed\xb2\x80`,
	} {
		if got := audit.Escape(in); got != want {
			t.Errorf("Escape(%q) = %s, want %s", in, got, want)
		}
		if back, err := audit.Unescape(want); err != nil || back != in {
			t.Errorf("Unescape(%s) = %q, %v", want, back, err)
		}
	}
	for _, bad := range []string{`\`, `a\q`, `\x1`, `\xzz`, `\u12`, `\ud800`, `\Uffffffff`, `\U00110000`} {
		if got, err := audit.Unescape(bad); err == nil {
			t.Errorf("Unescape(%s) = %q, want an error", bad, got)
		}
	}
}

func TestEscapeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "unicode") {
			s = rapid.String().Draw(t, "text")
		}
		e := audit.Escape(s)
		if back, err := audit.Unescape(e); err != nil || back != s {
			t.Fatalf("%q -> %s -> %q, %v", s, e, back, err)
		}
		for _, r := range e {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r != ' ' && unicode.Is(unicode.Zs, r) {
				t.Fatalf("%U passes in %q", r, e)
			}
		}
	})
}

// No text of a record can make a second line, or hide one, in what is shown.
func TestShownTextForgesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		l := open(t, dir, audit.Options{})
		e := draw(rt)
		appendAll(t, l, e)
		for _, r := range records(t, dir) {
			lines := []string{r.String()}
			run, _ := r.IDs()
			if x, err := audit.Explain(dir, run); err == nil && run != "" {
				lines = append(lines, x.Lines()...)
			}
			for _, line := range append(lines, string(r.Raw)) {
				if strings.ContainsFunc(line, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) {
					rt.Fatalf("%q", line)
				}
			}
		}
	})
}
