package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/audit"
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

// A run inside another knows of it, and the outer one's record tells of all the
// runs inside when theirs are gone.
func TestRunInRunRecord(t *testing.T) {
	eachOuter(t, func(o *outerRun, inside bool) {
		if !inside {
			return
		}
		t := o.t
		o.write("log.sh", `echo "log of $1"; cat ~/.local/state/skillrun/audit-*.jsonl`)
		logs := map[string]string{}
		out := o.bash(`./skillrun -- bash -c './skillrun -- bash -c true; bash log.sh middle'; ./skillrun -- true; bash log.sh outer`)
		for part := range strings.SplitSeq("\n"+out, "\nlog of ") {
			name, records, _ := strings.Cut(part, "\n")
			logs[name] = records
		}
		file, err := filepath.Glob(filepath.Join(filepath.Dir(o.dir), "state/skillrun/audit-*.jsonl"))
		if err != nil || len(file) != 1 {
			t.Fatal(file, err)
		}
		whole, err := os.ReadFile(file[0])
		if err != nil {
			t.Fatal(err)
		}
		logs["outermost"] = string(whole)
		starts := map[string][]audit.Start{}
		var end audit.End
		for name, text := range logs {
			for line := range strings.SplitSeq(text, "\n") {
				var s audit.Start
				switch {
				case strings.Contains(line, `"kind":"run.start"`):
					if err := json.Unmarshal([]byte(line), &s); err != nil {
						t.Fatal(err)
					}
					starts[name] = append(starts[name], s)
				case strings.Contains(line, `"kind":"run.end"`) && name == "outermost":
					if err := json.Unmarshal([]byte(line), &end); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if len(starts["outermost"]) != 1 || len(starts["outer"]) != 2 || len(starts["middle"]) != 1 {
			t.Fatalf("%d, %d and %d starts in %s", len(starts["outermost"]), len(starts["outer"]), len(starts["middle"]), out)
		}
		a, b, c, d := starts["outermost"][0], starts["outer"][0], starts["middle"][0], starts["outer"][1]
		for _, want := range []struct {
			audit.Start
			parent string
			depth  int
		}{{a, "", 0}, {b, a.Run, 1}, {c, b.Run, 2}, {d, a.Run, 1}} {
			if want.Parent != want.parent || want.Depth != want.depth {
				t.Errorf("%q is inside %q, depth %d, want %q, %d", want.Argv, want.Parent, want.Depth, want.parent, want.depth)
			}
		}
		if diff := cmp.Diff([]audit.Inner{{Run: b.Run, Parent: a.Run, Depth: 1}, {Run: c.Run, Parent: b.Run, Depth: 2}, {Run: d.Run, Parent: a.Run, Depth: 1}}, end.Runs); diff != "" {
			t.Error(diff)
		}
	})
}
