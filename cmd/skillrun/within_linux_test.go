package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A run that starts another belongs to the skills of both, and has what both
// have. Nothing in a run reaches its session, so that an inner one that names it
// is refused.
func TestRunInRun(t *testing.T) {
	a := newAgent(t)
	skill := func(name, writes string, scripts map[string]string) {
		dir := "work/.claude/skills/" + name + "/"
		a.write(dir+"SKILL.md", "---\nname: "+name+"\ndescription: x\n---\n")
		a.write(dir+"skillguard-manifest.json", `{"permissions": [
  {"capability": "filesystem.write", "effect": "confirm", "constraints": {"resource_scope": ["`+filepath.Join(a.work, writes)+`"]}},
  {"capability": "policy.expand", "effect": "confirm"},
  {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}},
  {"capability": "source_code.execute", "effect": "allow"},
  {"capability": "shell.execute", "effect": "allow"}
]}`)
		for file, text := range scripts {
			a.write(dir+file, text)
		}
	}
	const write = `{ echo x >"$1"; } 2>/dev/null && echo "$1 is written" || echo "$1 is not"` + "\n"
	skill("narrow", "sub/**", map[string]string{"own.sh": write})
	const inner = "bash .claude/skills/narrow/own.sh inner"
	skill("wide", "**", map[string]string{
		"own.sh":   write,
		"exec.sh":  `PATH=$PWD:$PATH; skillrun exec --session s-1 -- ` + inner + `; echo "inner $?"` + "\n" + write,
		"plain.sh": `PATH=$PWD:$PATH; skillrun -- ` + inner + `; echo "inner $?"` + "\n" + write,
	})
	data, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.work, "skillrun"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	a.yes = true
	a.start()
	// The control: alone, it writes.
	a.want(a.bash("bash .claude/skills/wide/own.sh alone"), 0, "alone is written\n")
	for script, inner := range map[string][]string{"exec.sh": {"inner 125\n", "there is no such session"}, "plain.sh": {"inner is not\n", "inner 0\n"}} {
		u := a.bash("bash .claude/skills/wide/" + script + " outer")
		for _, want := range append(inner, "outer is not\n") {
			if !strings.Contains(u.out, want) {
				t.Errorf("%s: no %q in %+v", script, want, u)
			}
		}
		if a.read("work/inner") != "-" || a.read("work/outer") != "-" {
			t.Errorf("%s: written after all: %+v", script, u)
		}
		a.want(a.bash("bash .claude/skills/wide/"+script+" sub/outer 2>/dev/null | tail -n 1"), 0, "sub/outer is written\n")
	}
	// The record says whose it was.
	logs, err := filepath.Glob(filepath.Join(a.root, "state/skillrun/audit-*.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	log, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), `"skill":"wide, narrow","capability":"shell.execute"`); n != 4 {
		t.Errorf("%d decisions belong to both skills, want 4", n)
	}
}

// A run inside, starting, takes no other's directories for ones that were left,
// and nothing in a run takes its own away.
func TestRunInRunLeavesHome(t *testing.T) {
	a := newAgent(t)
	data, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.work, "skillrun"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t), "--", "bash", "-c", `echo "outer home" >~/outer; echo "outer temp" >"$TMPDIR/outer"
for i in 1 2 3; do ./skillrun -- true; echo "inner $?"; done
cat ~/outer "$TMPDIR/outer"
mounts() { echo "$1 $(grep -c "$HOME\|$TMPDIR" /proc/self/mountinfo) mounts"; }
mounts before
rm -r ~; mv "$TMPDIR" ~ 2>/dev/null; [ -d "$TMPDIR" ] || mkdir "$TMPDIR"
mkdir -p ~/again && echo x >"$TMPDIR/again" && echo both are there
mounts after`)
	cmd.Dir, cmd.Env = a.work, a.env
	out, err := cmd.CombinedOutput()
	_, mounts, _ := strings.Cut(string(out), "before ")
	mounts, _, _ = strings.Cut(mounts, "\n")
	for _, want := range []string{"outer home\nouter temp\n", "both are there\n", "after " + mounts + "\n"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, no %q in %s", err, want, out)
		}
	}
}
