package policy_test

import (
	"slices"
	"strings"
	"testing"

	"skillrun/policy"
)

// TestStarted: what an agent starts by itself is found, however it is spelled.
func TestStarted(t *testing.T) {
	const head, end = "---\nname: x\ndescription: d\n", "---\nDo it.\n"
	for text, want := range map[string]string{
		head + end: "", // the control
		"Do it.\n": "",
		head + "---\nWrites hooks: yes, and `!` and `!x`, for an agent: say `a!` or 1 != 2.\n":        "",
		"---\nname: x\ndescription: Sets up hooks and an agent, \"as is\" & more\n" + end:             "",
		head + "metadata:\n  hooks: none\n  agent: me\n" + end:                                        "",
		head + "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{command: ./x.sh}]\n" + end: "hooks in its header",
		head + "\"hooks\": {Stop: [{hooks: [{type: command, command: id}]}]}\n" + end:                 "hooks in its header",
		head + "\"h\\u006foks\": {}\n" + end:                                                          "hooks in its header",
		head + "? hooks\n: {}\n" + end:                                                                "hooks in its header",
		"---\n{name: x, hooks: {}}\n" + end:                                                           "hooks in its header",
		"---\nname: x\ndescription:\"d\"\nhooks: {}\n" + end:                                          "hooks in its header",
		"---  \nname: x\nhooks: {}\n---\n":                                                            "hooks in its header",
		"\ufeff---\nname: x\nhooks: {}\n---\n":                                                        "hooks in its header",
		"---\nname: x\nhooks: {}\nb: --- \n":                                                          "hooks in its header",
		head + "context: fork\nagent: mine\n" + end:                                                   "a subagent in its header",
		head + end + "State: !`git status`\n":                                                         "the command \"git status\"",
		head + end + "$0!`id`":                                                                        "the command id",
		head + end + "Look at @$ARGUMENTS now":                                                        "reading files that arguments of the skill name",
		head + end + "Look at @${CLAUDE_SKILL_DIR}/a.md":                                              "",
		head + end + "```!\nid >x\n```\n":                                                             "the command \"id >x\"",
		head + end + "!`" + strings.Repeat("a", 200) + "`":                                            "the command " + strings.Repeat("a", 80),
		head + end + "!`a\x1b[2Jb`":                                                                   `the command a\x1b[2Jb`,
	} {
		if got := policy.Started([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string][]string{
		"To a@b.c, `@x`.":                         nil, // the control
		"See @a/b.md. And @\"c d\".":              {"a/b.md.", "a/b.md", "c d"},
		"@~/.env#L1-2\n@${CLAUDE_SKILL_DIR}/r.md": {"~/.env", "./r.md"},
	} {
		if got := policy.Mentioned([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"---\nname: x\ndescription: uses hooks\n---\n":                "", // the control
		"---\nname: y\nhooks: {}\n---\n":                              "",
		"---\nname: \"x\" # one\nhooks: {}\n---\n":                    "hooks in its header",
		"---\nname: X\nmcpServers:\n  - a:\n      command: id\n---\n": "mcpServers in its header",
		"---\nname:\"x\"\nhooks: {}\n---\n":                           "hooks in its header",
		"---\n\"n\\u0061me\": x\n---\n":                               "hooks in its header",
	} {
		if got := policy.SubagentStarts([]byte(text), "x"); got != want {
			t.Errorf("subagent %q: %q, want %q", text, got, want)
		}
	}
	for argument, want := range map[string]bool{"": false, "fix this!": false, "a != b": true, "ab!=c": false, "!`id`": true, "x !`id`": true, "!": true, "x\n```!": true, "a \"!\"": true, "a@b.c": false, "see @x": true, "@": true} {
		if got := policy.StartedBy(argument); got != want {
			t.Errorf("argument %q: %v", argument, got)
		}
	}
}
