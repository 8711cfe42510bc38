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

	skillrun "skillrun/cmd/skillrun"
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

// What skillrun prints has nothing in it that moves or hides what a terminal shows,
// whatever files, skills, variables and tools are called, and names them.
func TestShownNames(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	const text = "\u0085\u009b31m\u200e\u202e\u2066\u2028\U000e0041字"
	for _, evil := range []string{"\n\t\r\x1b[31m\x7f\x9b31m" + text, text} {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		work := filepath.Join(root, "w"+evil)
		skills := filepath.Join(work, ".claude/skills")
		for name, data := range map[string]string{
			"home" + evil + "/x": "", "w" + evil + "/.git/hooks/x": "", "w" + evil + "/sub" + evil + "/.env": "x",
			"w" + evil + "/.claude/settings.local.json":               `{"` + text + `": "` + text + `"}`,
			"w" + evil + "/.claude/skills/plain" + evil + "/SKILL.md": "---\nname: n" + text + "\nversion: v" + text + "\n---\n",
			"w" + evil + "/.claude/skills/key/skillrun.toml":          `"` + strings.NewReplacer("\u0085", "", "\u009b", "").Replace(text) + `" = 1`,
		} {
			writeFile(t, filepath.Join(root, name), data)
		}
		command := func(args ...string) *exec.Cmd {
			cmd := exec.Command(program(t), args...)
			cmd.Dir = work
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root + "/home" + evil, "XDG_STATE_HOME=" + root + "/state" + evil, "LC_X=" + evil, "GORACE=" + os.Getenv("GORACE")}
			return cmd
		}
		check := func(args []string, out string) {
			t.Helper()
			shown := strings.NewReplacer("\n", "", `\`, "").Replace(out)
			if policy.Escape(shown) != shown || !strings.Contains(shown, "字") && !strings.Contains(shown, "u5b57") {
				t.Errorf("%q: %q", args, out)
			}
		}
		run := func(args ...string) string {
			t.Helper()
			out, err := command(args...).CombinedOutput()
			if _, ended := err.(*exec.ExitError); err != nil && !ended {
				t.Fatal(err)
			}
			check(args, string(out))
			return string(out)
		}
		skill := []string{"--skill", filepath.Join(skills, "plain"+evil)}
		with := func(args ...string) []string { return append(args, skill...) }
		quiet := []string{"--", "sh", "-c", `exec 2>/dev/null; : >".git/hooks/$0"; cat "sub$0/.env"`, evil}
		run(append(append(skill, "-v", "--denials", "--receipt", "--approve", "declared"), quiet...)...)
		for _, args := range [][]string{
			{"audit", "show"}, {"audit", "tail"}, {"skills"}, {"lint", filepath.Join(skills, "key")}, {"lint", evil}, {"init", evil},
			with("explain"), with("explain", "-v"), with("explain", "--path", "sub"+evil+"/.env"), with("explain", "--env", evil), with("explain", "--host", evil),
			with("profile"), with("profile", "--format", "json"), with("profile", "--plan"), with("profile", "--plan", "--format", "json"),
			with("profile", "--platform", "darwin", "--format", "json"), with("profile", "--platform", "darwin", "--format", "params"),
			with("explain", "--platform", "darwin"), {"profile", "--features", evil, "--plan"}, {"profile", "--format", evil},
			{evil}, {"--x" + evil}, {"--skill", evil, "--", "true"}, {"--workspace", evil, "--", "true"}, {"--manifest", evil, "--", "true"},
			{"--grant", evil, "--", "true"}, {"--preset", evil, "--", "true"}, {"--report", evil + "/x", "--", "true"}, {"--", evil},
			{"audit", "show", evil}, {"grants", "promote", evil}, {"hook", evil}, {"exec", "--session", evil, "--", "true"},
			{"install-hook", "--project", "--dry-run", "claude-code"},
		} {
			run(args...)
		}
		tty := newTerminal(t)
		asks := command(append(skill, quiet...)...)
		tty.start(asks)
		tty.wait("[n]o")
		tty.typed("n\n")
		asks.Wait()
		check(asks.Args, strings.NewReplacer("\r\n", "\n", skillrun.Plainly, "").Replace(tty.rest()))
		_, rest, _ := strings.Cut(run("audit", "tail"), " start ")
		id, _, _ := strings.Cut(rest, " ")
		run("audit", "show", id)
		run("audit", "explain", id)
	}
	// An agent has its command back to the byte.
	a := newAgent(t)
	event := func(what string) string {
		cmd := exec.Command(program(t), "hook", "claude-code")
		cmd.Dir, cmd.Env = a.work, a.env
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id": "s", "cwd": %q, %s}`, a.work, what))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	event(`"hook_event_name": "SessionStart", "source": "startup"`)
	out := event(`"hook_event_name": "PreToolUse", "tool_use_id": "t", "tool_name": "Bash", "tool_input": {"command": "echo ` + text + `"}`)
	var reply struct {
		HookSpecificOutput struct{ UpdatedInput struct{ Command string } }
	}
	shown := strings.NewReplacer("\n", "", `\`, "").Replace(out)
	if err := json.Unmarshal([]byte(out), &reply); err != nil || policy.Escape(shown) != shown || !strings.Contains(reply.HookSpecificOutput.UpdatedInput.Command, "echo "+text) {
		t.Errorf("%v: %q", err, out)
	}
}
