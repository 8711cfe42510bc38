package policy_test

import (
	"strconv"
	"strings"
	"testing"

	"skillrun/policy"
)

// TestPatterns: a denied pattern that cannot be honoured makes the manifest one
// that does not read; it is never passed over.
func TestPatterns(t *testing.T) {
	for pattern, fault := range map[string]string{
		`rm(?=\s)`: "lookahead of PCRE", `rm(?!x)`: "lookahead of PCRE", `(?<=a)rm`: "lookbehind of PCRE", `(?<!a)rm`: "lookbehind of PCRE",
		`(?>rm)`: "atomic group of PCRE", `(a(?R)?b)`: "recursion of PCRE", `(?(1)a|b)`: "condition of PCRE",
		`a*+b`: "possessive quantifier of PCRE", `a++b`: "possessive quantifier of PCRE", `a?+b`: "possessive quantifier of PCRE",
		`(a)\1`: "back reference of PCRE", `\d\9`: "back reference of PCRE",
		`(`: "missing closing )", `[a`: "missing closing ]", `\K`: "invalid escape sequence", `\Z`: "invalid escape sequence", `(?x)a`: "invalid or unsupported", `(?P=n)`: "invalid",
	} {
		_, err := policy.ParseManifest("m.json", []byte(`{"permissions":[{"capability":"shell.execute","effect":"allow","constraints":{"denied_command_patterns":[`+strconv.Quote(pattern)+`]}}]}`))
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want %q", pattern, err, fault)
		}
	}
	for pattern, commands := range map[string][2][]string{
		`\brm\b.*-rf?\b`:          {{"rm -rf /", "sudo rm -v -r x", "a\nrm -rf x"}, {"rmdir x", "rm x"}},
		`(?i)curl.*\|\s*(ba)?sh$`: {{"CURL a | sh", "curl a|bash\n"}, {"curl a | shfmt", "curl a\n| sh"}},
		`^git\s+push\b`:           {{"git push", "git  push -f"}, {"git pull", "x; git push"}},
		`\/etc\/\p{L}+`:           {{"cat /etc/passwd"}, {"cat /etc/1"}},
	} {
		d := parse(t, "m.json", `{"permissions":[{"capability":"shell.execute","effect":"allow","constraints":{"denied_command_patterns":[`+strconv.Quote(pattern)+`]}}]}`)
		s := policy.State{Declared: d.Entries}
		for i, want := range []policy.Effect{policy.Deny, policy.Allow} {
			for _, command := range commands[i] {
				if got := s.Decide(policy.Request{Capability: "shell.execute", Command: command, Time: noon}); got.Effect != want {
					t.Errorf("%s on %q: %v (%s), want %v", pattern, command, got.Effect, got.Reason, want)
				}
			}
		}
	}
}
