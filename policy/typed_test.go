package policy_test

import (
	"strings"
	"testing"

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
		s.Document.Locate("/skills/s")
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
