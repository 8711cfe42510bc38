package policy_test

import (
	"strings"
	"testing"

	"skillrun/policy"
)

func TestScriptOfCommand(t *testing.T) {
	for command, want := range map[string]string{
		"bash step.sh": "step.sh",
		"bash --noprofile --norc -eo pipefail step.sh": "step.sh",
		"bash -e -o pipefail +o posix step.sh x":       "step.sh",
		"sh -ex step.sh -c x":                          "step.sh",
		"bash --rcfile rc -O extglob step.sh":          "step.sh",
		"bash -c step.sh":                              "",
		"bash -ec step.sh":                             "",
		"bash -s step.sh":                              "",
		"bash -":                                       "",
		"bash -- step.sh":                              "",
		"bash":                                         "",
		"python3 a.py":                                 "a.py",
		"python3.12 -m x":                              "",
		"python3 -u a.py":                              "",
		"cat a.py":                                     "",
	} {
		if got := policy.ScriptOf(strings.Fields(command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
