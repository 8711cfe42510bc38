package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"skillrun/policy"
	"skillrun/sandbox/sandboxtest"
)

// JSON that a terminal may show has nothing in it that moves or hides what it shows,
// whatever files are called, and says the same.
func TestShownJSON(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const evil = "é\u0085\u009b31m\x7f\u200e\u200f\u061c\u202a\u202e\u2066\u2069\u2028\u2029\U000e0041字"
	a := newAgent(t)
	report := filepath.Join(a.outside, "report.json")
	run := func(stdin string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(program(t), args...)
		cmd.Dir, cmd.Env, cmd.Stdin = a.work, a.env, strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			if _, ok := err.(*exec.ExitError); !ok {
				t.Fatal(err)
			}
		}
		return out
	}
	check := func(what string, data []byte) {
		t.Helper()
		for _, r := range string(data) {
			if r != '\n' && r != '\\' && policy.Escape(string(r)) != string(r) {
				t.Errorf("%s: %U in %q", what, r, data)
				break
			}
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Errorf("%s: %v in %q", what, err, data)
		}
		again, err := json.Marshal(v)
		if plain, _ := json.Marshal(evil); err != nil || !strings.Contains(string(again), strings.Trim(string(plain), `"`)) || !strings.Contains(string(data), "字") {
			t.Errorf("%s does not say it: %v %q", what, err, data)
		}
	}
	a.write("work/.git/hooks/x", "")
	run("", "--report", report, "--", "sh", "-c", `: >".git/hooks/$0"`, evil)
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	check("the report", data)
	a.write("work/"+evil+"/x", "")
	check("the profile", run("", "profile", "--format", "json", "--workspace", evil))
	check("the plan", run("", "profile", "--plan", "--format", "json", "--workspace", evil))
	run(`{"event": "start", "session": "s"}`, "decide")
	var path strings.Builder
	for _, unit := range utf16.Encode([]rune(evil)) {
		fmt.Fprintf(&path, `\u%04x`, unit)
	}
	check("a decision", run(`{"event": "call", "session": "s", "tool": "x", "requests": [{"capability": "filesystem.read", "paths": ["`+path.String()+`"]}]}`, "decide"))
}
