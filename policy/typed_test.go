package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"skillrun/policy"
)

// A specifier is held to the typed command word by word. It may name the skill's
// directory by its variable, and end in a directory for what is in it.
func TestTypedCommand(t *testing.T) {
	for _, c := range []struct {
		specifier, command string
		want               bool
	}{
		{"git:*", "git log", true},
		{"git:*", "gitk", false},
		{"git:*", "./git log", false},
		{"git log:*", "git push", false},
		{"python:*", "python3 a.py", true},
		{"python3:*", "python a.py", true},
		{"python:*", "python3.12 a.py", true},
		{"python3.12:*", "python3 a.py", true},
		{"python3.12:*", "python3.11 a.py", false},
		{"python:*", "python2 a.py", false},
		{"python2:*", "python a.py", false},
		{"python:*", "python3.sh a.py", false},
		{"python:*", "./python3 a.py", false},
		{"python:*", "bin/python3 a.py", false},
		{"python bin/python:*", "python3 bin/python3", false},
		{"env python:*", "env python3", false},
		{"python3 scripts/*", "python scripts/a.py b", true},
		{"pip install:*", "pip3 install x", true},
		{"pip3 install:*", "pip download x", false},
		{"node:*", "nodejs a.js", true},
		{"nodejs:*", "node.1 a.js", false},
		{"scripts/x.sh:*", "scripts/x.sh a", true},
		{"scripts/x.sh:*", "./scripts/x.sh a", true},
		{"./scripts/x.sh", "scripts/x.sh", true},
		{"./x.sh", "x.sh", false},
		{"python3 scripts/*", "python3 scripts/a.py b", true},
		{"python3 scripts/*", "python3 scripts/", false},
		{"python3 scripts/*", "python3 scripts/../../a.py", false},
		{"python3 scripts/*", "python3 scripts/.?/a.py", false},
		{"${CLAUDE_SKILL_DIR}/scripts/x.sh *", "/skills/s/scripts/x.sh a", true},
		{"${CLAUDE_SKILL_DIR}/scripts/x.sh *", "/skills/other/scripts/x.sh a", false},
		{"bash $SKILL_DIR/scripts/*", "bash /skills/s/scripts/sub/x.sh", true},
		{"bash $SKILL_DIR/scripts/*", "bash /skills/s/scripts/../../x.sh", false},
		{"bash ${OTHER}/x.sh", "bash /skills/s/x.sh", false},
	} {
		s, findings := policy.ParseHeader("SKILL.md", []byte("---\nname: s\nallowed-tools: Bash("+c.specifier+")\n---\n"))
		if s.Document == nil {
			t.Fatal(findings)
		}
		s.Document.Locate("/skills/s", "")
		set := compose(t, policy.Input{Documents: []*policy.Document{s.Document}, Tier: policy.Approved})
		why, grant := set.Typed(strings.Fields(c.command), noon)
		if got := why == ""; got != c.want || !got && grant != "shell.execute" {
			t.Errorf("Bash(%s): %s: %q, %q", c.specifier, c.command, why, grant)
		}
		r := policy.Request{Capability: "shell.execute", Command: c.command, Confined: true, Time: noon}
		if got := set.Decide(r).Effect == policy.Allow; got != c.want {
			t.Errorf("Bash(%s): %s is decided %v", c.specifier, c.command, got)
		}
	}
}

// A shell's quotes are no part of a word, in what is declared and in what an agent
// types; nothing that a shell reads in another way is a declared command.
func TestQuotedCommand(t *testing.T) {
	const dir = "/my skills/it's"
	for _, c := range []struct {
		specifier, command string
		want               bool
	}{
		{`"/my skills/it's/x.sh":*`, `"/my skills/it's/x.sh" a`, true},
		{`"/my skills/it's/x.sh":*`, `/my skills/it's/x.sh a`, false},
		{`"/my skills/it's/x.sh":*`, `/my\ skills/it\'s/x.sh`, true},
		{`"/my skills/it's/x.sh":*`, `'/my skills/it'"'s/x.sh" a`, true},
		{`/my\ skills/it\'s/x.sh:*`, `"/my skills/it's/x.sh"`, true},
		{`python "${CLAUDE_SKILL_DIR}/a b.py"`, `python3 "/my skills/it's/a b.py"`, true},
		{`python "${CLAUDE_SKILL_DIR}/a b.py"`, `python3 "/my skills/it's/a" b.py`, false},
		{`python "${CLAUDE_SKILL_DIR}/a b.py"`, `python3 "${CLAUDE_SKILL_DIR}/a b.py"`, false},
		{`python ${CLAUDE_SKILL_DIR}/scripts/*`, `python "/my skills/it's/scripts/a b.py" c`, true},
		{`python ${CLAUDE_SKILL_DIR}/scripts/*`, `python "/my skills/it's/scripts/../a.py"`, false},
		{`python ${CLAUDE_SKILL_DIR}/scripts/*`, `python /my`, false},
		{"git:*", `git commit -m "a; b && c (d)"`, true},
		{"git:*", `git commit -m 'a $(b) \'`, true},
		{"git:*", "git commit -m 'a\n\nb'", true},
		{"git:*", `"git" log`, true},
		{"git:*", `g''it log`, true},
		{"git:*", "git log # it is long", true},
		{"git:*", `git log a#b`, true},
		{"git:*", `'git log'`, false},
		{"git:*", `git "log`, false},
		{"git:*", `git log 'it's' ; rm x'`, true}, // one word
		{"git:*", `git log "$(rm x)"`, false},
		{"git:*", "git log \"`rm x`\"", false},
		{"git:*", `git log "\"; rm x; echo \""`, false},
		{"git:*", `git log $'\'; rm x #'`, false},
		{"git:*", `git log '\'; rm x'`, false},
		{"git:*", `git log \'; rm x #'`, false},
		{"git:*", "git log # '\nrm x #'", false},
		{"git:*", "git log 'a'\nrm x", false},
		{"git:*", "git log \\\nx", false},
		{"git:*", "git\rlog", false},
		{"git:*", "git\u00a0log", false},
		{"git:*", `git log \`, false},
		{"git:*", `git log 中 \;rm x`, true},
		{"git:*", `git log 中\;rm x`, false},
		{"git:*", ``, false},
		{"~/x.sh", `~/x.sh`, true},
		{"~/x.sh", `"~/x.sh"`, false},
		{"~/x.sh", `""~/x.sh`, false},
		{"~/x.sh", `~'/x.sh'`, false},
		{"~/x.sh", `\~/x.sh`, false},
		{"scripts/*", `"scripts/*"`, false},
		{`scripts/x.sh ""`, `scripts/x.sh ''`, true},
		{`scripts/x.sh ""`, `scripts/x.sh`, false},
	} {
		s, findings := policy.ParseHeader("SKILL.md", fmt.Appendf(nil, "---\nname: s\nallowed-tools:\n- '%s'\n---\n", strings.ReplaceAll("Bash("+c.specifier+")", "'", "''")))
		if s.Document == nil {
			t.Fatal(c.specifier, findings)
		}
		s.Document.Locate(dir, "")
		set := compose(t, policy.Input{Documents: []*policy.Document{s.Document}, Tier: policy.Approved})
		r := policy.Request{Capability: "shell.execute", Command: c.command, Confined: true, Time: noon}
		if got := set.Decide(r).Effect == policy.Allow; got != c.want {
			t.Errorf("Bash(%s): %q is decided %v", c.specifier, c.command, got)
		}
	}
	s, findings := policy.ParseHeader("SKILL.md", []byte("---\nname: s\nallowed-tools: Bash(echo \"a:*)\n---\n"))
	if s.Document != nil || len(findings) != 1 || !strings.Contains(findings[0].What, "a quote has no end") {
		t.Errorf("a quote without its end: %v, %v", s.Document, findings)
	}
}

// What is taken for one command of plain words is that to a shell, with the same words.
func FuzzShellWords(f *testing.F) {
	for _, s := range []string{`a "b c" 'd'\ e # f`, `a""b '' "x'y"`, `a\"b ~/c "~/d"`, "a 'b\nc' $'d'", "! a\v b", "a=b c", "if\ta"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words, ok := policy.ShellWords(text)
		if !ok || len(words) == 0 || strings.ContainsAny(text, "\x00\r") || !utf8.ValidString(text) || strings.ContainsAny(words[0], "=!") {
			return
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(": "+text), "")
		if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 {
			t.Fatalf("%q: %q are no command: %v", text, words, err)
		}
		call := file.Stmts[0].Cmd.(*syntax.CallExpr)
		got, err := expand.Fields(&expand.Config{Env: expand.ListEnviron("HOME=~")}, call.Args[1:]...)
		if err != nil || len(call.Assigns) > 0 || !slices.Equal(got, words) {
			t.Fatalf("%q: %q, to a shell %q %v", text, words, got, err)
		}
	})
}
