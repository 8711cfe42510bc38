package main_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	skillrun "skillrun/cmd/skillrun"
	"skillrun/policy"
	"skillrun/policy/skill"
	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

const readToken = `{"permissions": [
  {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": false, "resource_scope": ["TOKEN"]}},
  {"capability": "source_code.execute", "effect": "allow"}, {"capability": "source_code.read", "effect": "allow"}, {"capability": "process.create", "effect": "allow"}]}`

// in runs the program in a directory, without a terminal.
func (a *agent) in(dir string, words ...string) (out string, code int) {
	a.t.Helper()
	cmd := exec.Command(program(a.t), words...)
	cmd.Dir = filepath.Join(a.root, dir)
	cmd.Env = append(a.env, "PWD="+cmd.Dir) // as a shell has it, links and all
	b, _ := cmd.CombinedOutput()
	return string(b), cmd.ProcessState.ExitCode()
}

// A link that an earlier run made, in whatever tree, chooses nothing for a later
// launch: neither a directory, nor whose rights it has.
func TestLinksOfEarlierRuns(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for way, flags := range ways() {
		if slices.Contains(flags, "--denials") {
			continue // of what a launcher looks at
		}
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			a.write("secret/s", "canary\n")
			a.write("c/.git/x", "")
			a.write("out/x", "")
			a.write("power/SKILL.md", "---\nname: power\ndescription: x\n---\n")
			a.write("power/skillguard-manifest.json", strings.ReplaceAll(readToken, "TOKEN", a.root+"/secret/s"))
			if out, code := a.in("c", "grants", "promote", "../power"); code != 0 {
				t.Fatal(out)
			}
			run := func(dir string, words ...string) (string, int) {
				return a.in(dir, append(slices.Clip(flags), words...)...)
			}
			if out, code := run("work", "--mount", "out=../out:rw", "--", "sh", "-ec", "ln -s ../secret data; ln -s ../power sk; ln -s ../secret ../out/data"); code != 0 {
				t.Fatal(out)
			}
			show := "cat " + a.root + "/secret/s"
			for name, try := range map[string]struct {
				in, real string // the directory it is started in
				words    []string
			}{
				"a mount":           {"c", "c", []string{"--mount", "m=LINK", "--", "sh", "-c", show}},
				"a grant":           {"c", "c", []string{"--grant", "filesystem.read:LINK", "--", "sh", "-c", show}},
				"the workspace":     {"c", "c", []string{"--workspace", "LINK", "--", "sh", "-c", show}},
				"a directory there": {"out/data", "secret", []string{"--", "sh", "-c", show}},
			} {
				words := func(to string) []string {
					return strings.Split(strings.ReplaceAll(strings.Join(try.words, "\x00"), "LINK", to), "\x00")
				}
				if out, code := run(try.real, words(a.root+"/secret")...); code != 0 || !strings.Contains(out, "canary") {
					t.Fatalf("%s, control: %d %s", name, code, out)
				}
				for _, link := range []string{"../work/data", "../out/data"} {
					if out, code := run(try.in, words(link)...); code != 125 || strings.Contains(out, "canary") || !strings.Contains(out, "that a run may have made") {
						t.Errorf("%s by %s: %d %s", name, link, code, out)
					}
				}
			}
			a.write("kept", "kept\n")
			if out, code := run("work", "--", "ln", "-s", "../kept", "report.json"); code != 0 {
				t.Fatal(out)
			}
			if out, code := run("c", "--report", "../work/report.json", "--", "true"); code != 125 || a.read("kept") != "kept\n" {
				t.Errorf("a report: %d %s", code, out)
			}
			if out, code := run("c", "--report", "../work/new.json", "--", "true"); code != 0 || a.read("work/new.json") == "-" {
				t.Errorf("a report, control: %d %s", code, out)
			}
			if out, code := run("c", "--skill", "../power", "--", "sh", "-c", show); code != 0 || !strings.Contains(out, "canary") {
				t.Fatalf("a skill, control: %d %s", code, out)
			}
			if out, code := run("c", "--skill", "../work/sk", "--", "sh", "-c", show); code != 125 || !strings.Contains(out, "that a run may have made") {
				t.Errorf("a skill: %d %s", code, out)
			}
			// A link that stays in the workspace takes a grant as far as what it leads to
			// may be had anyway, and lifts nothing that is denied by name.
			a.write("work/.env", "canary\n")
			a.write("work/.git/hooks/x", "")
			if out, code := run("work", "--", "sh", "-ec", "mkdir real; echo 1 >real/f; ln -s real near; ln -s .env plain; ln -s .git/hooks hk; mkdir m; ln -s ../.env m/x.csv; ln -s .git dot"); code != 0 {
				t.Fatal(out)
			}
			if out, code := run("work", "--grant", "filesystem.delete:near", "--", "rm", "near/f"); code != 0 {
				t.Errorf("a link that stays: %d %s", code, out)
			}
			for _, grant := range []string{"filesystem.read:plain", "secrets.read:plain", "filesystem.read:m/*.csv", "filesystem.read:m/x.csv"} {
				if out, _ := run("work", "--grant", grant, "--", "cat", ".env"); strings.Contains(out, "canary") {
					t.Errorf("%s: %s", grant, out)
				}
			}
			if out, _ := run("work", "--grant", "filesystem.read:.env", "--", "cat", ".env"); !strings.Contains(out, "canary") {
				t.Errorf("control: %s", out)
			}
			for _, words := range [][]string{{"--grant", "filesystem.write:hk"}, {"--mount", "m=dot:rw"}, {"--workspace", "dot"}} {
				out, _ := run("work", append(words, "--", "sh", "-c", "echo evil >$0/.git/hooks/post-commit", a.work)...)
				if a.read("work/.git/hooks/post-commit") != "-" {
					t.Errorf("%q: %s", words, out)
				}
			}
			if out, _ := run("work", "--grant", "filesystem.write:.git/hooks/post-commit", "--", "sh", "-c", "echo it >.git/hooks/post-commit"); a.read("work/.git/hooks/post-commit") != "it\n" {
				t.Errorf("control: %s", out)
			}
		})
	}
}

// An approved skill is not changed by runs, since what was looked at is not what
// starts then; one that nobody approved is a directory like others.
func TestApprovedSkillStays(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const change = `echo evil >sk/run.sh; echo evil >sk/new; mv sk moved; rm -f sk/run.sh; ln -sf x sk/l; cat sk/run.sh`
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			for _, approved := range []bool{false, true, false} {
				os.RemoveAll(a.work + "/sk")
				os.RemoveAll(a.work + "/moved")
				a.write("work/sk/SKILL.md", "---\nname: sk\ndescription: x\n---\n")
				a.write("work/sk/run.sh", "good\n")
				if approved {
					if out, code := a.in("work", "grants", "promote", "sk"); code != 0 {
						t.Fatal(out)
					}
				} else {
					a.in("work", "grants", "revoke", "./sk")
				}
				out, _ := a.in("work", append(append([]string{"--grant", "filesystem.delete:."}, flags...), "--", "sh", "-c", change)...)
				changed := a.read("work/sk/run.sh") != "good\n" || a.read("work/sk/new") != "-" || a.read("work/moved/SKILL.md") != "-"
				if changed == approved {
					t.Errorf("approved %v: changed %v: %s", approved, changed, out)
				}
			}
		})
	}
}

// Nor is it changed by names that a run gave its files before, in this tree or in
// another, and no more is a manifest that was named; which runs do as long as nobody
// has said a word.
func TestLinksFromBefore(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const text = `{"permissions": [{"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}}]}`
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			for _, named := range []bool{false, true} {
				a := newAgent(t)
				a.write("work/sk/SKILL.md", "---\nname: sk\ndescription: x\n---\n")
				a.write("work/sk/lib/f", "good\n")
				a.write("work/perms.json", text)
				run := func(script string) string {
					out, _ := a.in("work", append(slices.Clip(flags), "--mount", "m="+a.outside+":rw", "--", "sh", "-c", script, a.outside)...)
					return out
				}
				out := run("mkdir d; ln sk/lib/f $0/skill; ln perms.json d/deep")
				if named {
					for _, words := range [][]string{{"grants", "promote", "sk"}, {"--manifest", "perms.json", "--", "true"}} {
						if out, code := a.in("work", words...); code != 0 {
							t.Fatal(out)
						}
					}
				}
				out += run("for f in $0/skill d/deep; do echo evil >$f; done; echo new >new")
				for _, file := range []string{"work/sk/lib/f", "work/perms.json"} {
					if a.read("work/new") != "new\n" || (a.read(file) == "evil\n") == named {
						t.Errorf("named %v: %s: %q: %s", named, file, a.read(file), out)
					}
				}
			}
		})
	}
}

// A variable that a project sets leads to no configuration, and to no approvals,
// that a run has written, and does not drop what the account's own file denies.
func TestVariablesOfEarlierRuns(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const makes = `for d in x/other node_modules/other; do mkdir -p $d/approvals; echo 'grants = ["filesystem.read:'$0'"]' >$d/config.toml; mv $d ${d%/*}/skillrun; done; mkdir -p y/skillrun; cp x/other/config.toml y/skillrun`
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			a.write("secret/s", "canary\n")
			a.write("c/.git/x", "")
			run := func(dir, variable string, words ...string) (string, int) {
				b := *a
				if variable != "" {
					b.env = append(slices.Clip(a.env), variable)
				}
				return b.in(dir, append(append(slices.Clip(flags), "--"), words...)...)
			}
			run("work", "", "sh", "-c", makes, a.root+"/secret")
			for _, dir := range []string{"x", "y", "node_modules"} {
				if a.read("work/"+dir+"/skillrun/config.toml") != "-" {
					t.Errorf("%s: was made", dir)
				}
			}
			// Nor does it change those of launches that have the variable.
			state := []string{"written", "live", "manifests", "digests", "audit.head", "audit-000000000001.jsonl", "approvals/x", "sessions/x", "memo/x"}
			for _, name := range append(state, "other") {
				a.write("work/st/skillrun/"+name, "good")
			}
			run("work", "", "sh", "-c", "cd st/skillrun; for f in * */*; do echo evil >$f; done")
			for _, name := range state {
				if got := a.read("work/st/skillrun/" + name); got != "good" {
					t.Errorf("%s: %q", name, got)
				}
			}
			if a.read("work/st/skillrun/other") != "evil\n" {
				t.Error("control: nothing there is written")
			}
			// The control: what the user wrote.
			a.write("mine/skillrun/config.toml", `grants = ["filesystem.read:`+a.root+`/secret"]`)
			if out, code := run("c", "XDG_CONFIG_HOME="+filepath.Join(a.root, "mine"), "cat", a.root+"/secret/s"); code != 0 || !strings.Contains(out, "canary") {
				t.Errorf("control: %d %s", code, out)
			}
		})
	}
}

func TestFloorsOfTheAccount(t *testing.T) {
	a := newAgent(t)
	a.write("home/.config/skillrun/config.toml", "[[permissions]]\ncapability = \"web.fetch\"\neffect = \"deny\"\n")
	a.write("other/skillrun/config.toml", "[[permissions]]\ncapability = \"web.post\"\neffect = \"deny\"\n")
	for config, want := range map[string][]string{"": {"web.fetch"}, a.root + "/none": {"web.fetch"}, a.root + "/other": {"web.post", "web.fetch"}} {
		h := &profiles.Host{OS: "linux", UID: os.Geteuid(), Home: a.root + "/home", Account: a.root + "/home", CaseSensitive: true, FS: os.DirFS("/"), Env: map[string]string{"XDG_CONFIG_HOME": config}}
		if got, err := skillrun.Floors(h); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q %v", config, got, err)
		}
	}
	// What another file does not say the account's does, but for what lets runs do more.
	a.write("home/.config/skillrun/config.toml", "preset = \"paranoid\"\napprovals = \"7d\"\ngrants = [\"filesystem.read:~/x\"]\nallow_gaps = [\"limit.memory\"]\n[limits]\nprocesses = 5\n[session]\nask = \"deny\"\n")
	a.write("other/skillrun/config.toml", "preset = \"ci\"\n[session]\nask = \"host\"\n")
	for config, want := range map[string]string{"": "paranoid true 1 2", a.root + "/none": "paranoid true 1 0", a.root + "/other": "ci false 1 0"} {
		h := &profiles.Host{OS: "linux", UID: os.Geteuid(), Home: a.root + "/home", Account: a.root + "/home", CaseSensitive: true, FS: os.DirFS("/"), Env: map[string]string{"XDG_CONFIG_HOME": config}}
		preset, denies, ends, grants, err := skillrun.Settings(h)
		if got := fmt.Sprint(preset, " ", denies, ends, grants); err != nil || got != want {
			t.Errorf("%q: %q %v, want %q", config, got, err, want)
		}
	}
	// A ceiling that it names is no less wanted than where it is read first.
	a.write("home/.config/skillrun/config.toml", "ceilings = [\"none.yaml\", \"closed.yaml\"]\n")
	a.write("home/.config/skillrun/closed.yaml", "tools: {}\n")
	a.write("home/.config/skillrun/none.yaml", "tools: {}\n")
	h := &profiles.Host{OS: "linux", UID: os.Geteuid(), Home: a.root + "/home", Account: a.root + "/home", CaseSensitive: true, FS: os.DirFS("/"), Env: map[string]string{"XDG_CONFIG_HOME": a.root + "/none"}}
	if _, err := skillrun.Floors(h); err != nil {
		t.Errorf("control: %v", err)
	}
	if err := os.Chmod(a.root+"/home/.config/skillrun/closed.yaml", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := skillrun.Floors(h); err == nil && os.Geteuid() != 0 { // whom no mode keeps out
		t.Error("a ceiling that cannot be read is passed over")
	}
}

// What the configuration grants an installed skill by its name is not for one of the
// same name that came within another.
func TestGrantsOfTheSameName(t *testing.T) {
	a := newAgent(t)
	a.write("home/.config/skillrun/config.toml", "[skills.pdf]\ngrants = [\"filesystem.read:~/x\"]\n[skills.\""+a.root+"/home/.claude/skills/other/doc\"]\ngrants = [\"filesystem.read:~/x\"]\n")
	h := &profiles.Host{OS: "linux", UID: os.Geteuid(), Home: a.root + "/home", Account: a.root + "/home", CaseSensitive: true, FS: os.DirFS("/")}
	places := skill.Places{Home: h.Home}
	want := map[string]int{"pdf": 1, "group/pdf": 1, "other": 0, "other/pdf": 0, "other/doc": 1}
	for dir := range want {
		a.write("home/.claude/skills/"+dir+"/SKILL.md", "")
	}
	for dir, n := range want {
		if got, err := skillrun.SkillGrants(h, places, a.root+"/home/.claude/skills/"+dir); err != nil || got != n {
			t.Errorf("%s: %d grants, %v; want %d", dir, got, err, n)
		}
	}
}

// Root writes no record into another user's home, who could put links in its way.
// Controls: another user does into the same, root into its own, and where it says.
func TestStateIsNotInForeignHome(t *testing.T) {
	home := t.TempDir()
	if os.Geteuid() == 0 {
		if err := os.Chown(home, 1, -1); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		uid               int
		home, state, want string
	}{
		{0, home, "", "/root/.local/state/skillrun"},
		{0, home, "/srv/state", "/srv/state/skillrun"},
		{0, "/root", home + "/state", "/root/.local/state/skillrun"},
		{0, "/", "", "/.local/state/skillrun"},
		{0, "/none", "", "/none/.local/state/skillrun"},
		{1, home, "", home + "/.local/state/skillrun"},
	} {
		h := &profiles.Host{OS: "linux", UID: c.uid, Home: c.home, Account: "/root", CaseSensitive: true, FS: os.DirFS("/"), Env: map[string]string{"XDG_STATE_HOME": c.state}}
		if got, err := skillrun.StateDir(h); err != nil || got != c.want {
			t.Errorf("uid %d, HOME=%s: %s, %v; want %s", c.uid, c.home, got, err, c.want)
		}
	}
}

// A variable opens no configuration that came with a repository or a package, wherever
// the run is. Controls: the user's own directory, and the usual one in a home that is a
// work tree and has it by a link.
func TestConfigurationIsNoStrangers(t *testing.T) {
	a := newAgent(t)
	for _, dir := range []string{"home/go/pkg/mod/m@v1", "home/go/pkg/mod/cache/download", "home/.local/lib/python3.12/site-packages/p", "outer/a", "mine", "home/dotfiles"} {
		a.write(dir+"/skillrun/config.toml", `grants = ["filesystem.read:/x"]`)
	}
	a.write("outer/.git/HEAD", "")
	a.write("home/.git/HEAD", "")
	if err := os.Symlink("dotfiles", a.root+"/home/.config"); err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]bool{
		"mine": true, "home/dotfiles": true, "": true,
		"outer/a": false, "home/go/pkg/mod/m@v1": false, "home/.local/lib/python3.12/site-packages/p": false,
	} {
		h := &profiles.Host{OS: "linux", UID: os.Geteuid(), Home: a.root + "/home", Account: a.root + "/home", CaseSensitive: true, FS: os.DirFS("/"), Env: map[string]string{}}
		if config != "" {
			h.Env["XDG_CONFIG_HOME"] = filepath.Join(a.root, config)
		}
		if _, _, _, grants, err := skillrun.Settings(h); (err == nil && grants > 0) != want {
			t.Errorf("XDG_CONFIG_HOME=%s: %d grants, %v", config, grants, err)
		}
	}
}

// The list is made again when somebody has removed it, also by a launch whose plan
// is an earlier one's.
func TestWrittenListRemoved(t *testing.T) {
	l := newLaunches(t)
	list := l.root() + "/state/skillrun/written"
	for range 3 {
		l.sh("true")
	}
	for _, plan := range []string{"kept", "gone"} {
		if plan == "gone" {
			os.RemoveAll(filepath.Dir(list) + "/memo")
		}
		if err := os.Remove(list); err != nil {
			t.Fatal(err)
		}
		l.sh("true")
		if b, err := os.ReadFile(list); err != nil || !strings.Contains(string(b), l.dir+"\x00") {
			t.Errorf("plan %s: %q %v", plan, b, err)
		}
	}
}

// A manifest that --manifest named once says what later launches may do: no run
// changes it, with that flag or without. The control is a file beside it.
func TestManifestStays(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			const text = `{"permissions": [{"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}}]}`
			a.write("work/perms.json", text)
			a.write("work/other.json", text)
			if out, code := a.in("work", append(slices.Clip(flags), "--manifest", "perms.json", "--", "true")...); code != 0 {
				t.Fatal(out)
			}
			out, _ := a.in("work", append(slices.Clip(flags), "--", "sh", "-c", "for f in perms other; do echo {} >$f.json; echo {} >new; mv new $f.json; done")...)
			if a.read("work/perms.json") != text || a.read("work/other.json") == text {
				t.Errorf("%s", out)
			}
			a.write("work/other.json", text)
			if out, code := a.in("work", append(slices.Clip(flags), "--", "ln", "-s", "other.json", "led.json")...); code != 0 {
				t.Fatal(out)
			}
			if out, code := a.in("work", append(slices.Clip(flags), "--manifest", "led.json", "--", "true")...); code != 125 || !strings.Contains(out, "that a run may have made") {
				t.Errorf("a manifest by a link: %d %s", code, out)
			}
		})
	}
}

// A run that began before a skill was approved could still put another program in
// its place once its digest was taken: the skill is started when that run has ended,
// however it ended. Runs that begin later may not, and those that never could do not
// count.
func TestRunBegunBeforeApproval(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			a.write("other/x", "")
			a.write("work/sk/SKILL.md", "---\nname: sk\ndescription: x\n---\n")
			a.write("work/sk/run.sh", "echo good\n")
			start := func(dir string) (wait func(how os.Signal)) {
				cmd := exec.Command(program(t), append(slices.Clip(flags), "--", "sh", "-c", "echo begun; exec sleep 60")...)
				cmd.Dir, cmd.Env = filepath.Join(a.root, dir), a.env
				out := started(t, cmd)
				if _, err := out.Read(make([]byte, 6)); err != nil {
					t.Fatal(err)
				}
				end := func(how os.Signal) { cmd.Process.Signal(how); cmd.Wait() }
				t.Cleanup(func() { end(os.Kill) })
				return end
			}
			skill := func() (string, int) {
				return a.in("work", append(slices.Clip(flags), "--skill", "sk", "--approve", "none", "--", "sh", a.work+"/sk/run.sh")...)
			}
			start("other")
			before := start("work")
			if out, code := skill(); code != 0 || !strings.Contains(out, "good") {
				t.Fatalf("control, nobody's word: %d %s", code, out)
			}
			if out, code := a.in("work", "grants", "promote", "sk"); code != 0 || !strings.Contains(out, "not started yet") {
				t.Fatalf("promote: %d %s", code, out)
			}
			if out, code := skill(); code != 125 || !strings.Contains(out, "may still change it") || strings.Contains(out, "good") {
				t.Errorf("while the run goes on: %d %s", code, out)
			}
			before(os.Kill)
			start("work")
			for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // what that run was ends after its launcher
				out, code := skill()
				if code == 0 && strings.Contains(out, "good") {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("after it, beside one that began later: %d %s", code, out)
				}
			}
		})
	}
}

// A run that begins after a skill was approved does not know of a name that one from
// before gives a file of it later: nor is the skill started while that goes on.
func TestLinkedSinceRunBegan(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for linked, want := range map[bool]int{false: 0, true: 125} {
		a := newAgent(t)
		a.write("work/sk/SKILL.md", "---\nname: sk\ndescription: x\n---\n")
		a.write("work/sk/run.sh", "echo good\n")
		start := func(script string) *exec.Cmd {
			cmd := exec.Command(program(t), "--", "sh", "-c", "echo begun; "+script)
			cmd.Dir, cmd.Env = a.work, a.env
			out := started(t, cmd)
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			if _, err := out.Read(make([]byte, 6)); err != nil {
				t.Fatal(err)
			}
			return cmd
		}
		link := "ln sk/run.sh other"
		if !linked {
			link = "cp sk/run.sh other"
		}
		before := start("until [ -e go ]; do sleep 0.01; done; " + link)
		if out, code := a.in("work", "grants", "promote", "sk"); code != 0 {
			t.Fatal(out)
		}
		after := start("until [ -e other ]; do sleep 0.01; done; echo echo evil >other; exec sleep 60")
		a.write("work/go", "")
		if err := before.Wait(); err != nil || a.read("work/other") == "-" {
			t.Fatal("control: ", err)
		}
		out, code := a.in("work", "--skill", "sk", "--approve", "none", "--", "sh", a.work+"/sk/run.sh")
		if code != want || strings.Contains(out, "may still change it") != linked {
			t.Errorf("linked %v: %d %s", linked, code, out)
		}
		after.Process.Kill()
	}
}

// A run whose plan was made before a skill was approved, and which is not yet in the
// register when that is looked at, does not start.
func TestApprovedWhileRunBegins(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for approved, want := range map[bool]int{false: 0, true: 125} {
		a := newAgent(t)
		a.write("work/sk/SKILL.md", "---\nname: sk\ndescription: x\n---\n")
		a.write("other/x", "")
		if out, code := a.in("other", "--", "true"); code != 0 {
			t.Fatal(out)
		}
		lists := a.root + "/state/skillrun/lists"
		lock, err := os.OpenFile(lists, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program(t), "--", "sh", "-c", "echo begun")
		cmd.Dir, cmd.Env = a.work, a.env
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waits := func() bool { // for the lists, with its plan made
			fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", cmd.Process.Pid))
			return slices.ContainsFunc(fds, func(fd string) bool { to, _ := os.Readlink(fd); return to == lists })
		}
		for end := time.Now().Add(time.Minute); !waits() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		if approved {
			if out, code := a.in("work", "grants", "promote", "sk"); code != 0 {
				t.Fatal(out)
			}
		}
		unix.Flock(int(lock.Fd()), unix.LOCK_UN)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != want || strings.Contains(out.String(), "begun") == approved {
			t.Errorf("approved %v: %d %s", approved, code, out.String())
		}
	}
}

// A page of the register that has no room for all of a run's trees stands for all.
func TestLivesPage(t *testing.T) {
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Write}, {Path: "/r", Tree: true, Access: profiles.Read}},
		Denials: []profiles.Denial{{Path: "/w/kept", Origin: profiles.Origin{Reason: policy.ApprovedSkill}}, {Path: "/w/.git", Origin: profiles.Origin{Reason: "git"}}}}
	dir, begun, last := t.TempDir(), time.Now(), time.Time{}
	linked := func(since time.Time) (bool, error) { return !since.After(last), nil }
	changes := func(skill string) bool {
		t.Helper()
		f, err := skillrun.Registered(dir, p, begun)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		pid, err := skillrun.Changer(dir, linked, skill)
		if err != nil || pid != 0 && pid != os.Getpid() {
			t.Fatal(pid, err)
		}
		return pid != 0
	}
	for skill, want := range map[string]bool{"/w": true, "/w/a": true, "/": true, "/wa": false, "/r/a": false, "/w/kept": false, "/w/kept/a": false, "/w/keptb": true, "/w/.git/a": true} {
		if got := changes(skill); got != want {
			t.Errorf("%s: %v", skill, got)
		}
	}
	if last = begun; !changes("/w/kept/a") || changes("/r/a") {
		t.Error("what has had other names since does not count, or what is elsewhere does")
	}
	last = time.Time{}
	p.Paths = append(p.Paths, profiles.PathRule{Path: "/" + strings.Repeat("x", 5000), Access: profiles.Create})
	if !changes("/r/a") || !changes("/w/kept") {
		t.Error("more trees than fit: not all")
	}
	if pid, err := skillrun.Changer(dir, linked, "/w"); pid != 0 || err != nil {
		t.Error("after the run:", pid, err)
	}
}

// One run with a thousand trees does not have those of others forgotten.
func TestWrittenListIsNotFlushed(t *testing.T) {
	state := t.TempDir()
	h := &profiles.Host{Home: "/home/u", FS: os.DirFS("/")}
	trees := func(workspace, under string, n int) *profiles.Profile {
		p := &profiles.Profile{Workspace: workspace}
		for i := range n {
			p.Paths = append(p.Paths, profiles.PathRule{Path: fmt.Sprintf("%s/%d", under, i), Tree: true, Access: profiles.Create})
		}
		return p
	}
	listed := func() []string {
		data, err := os.ReadFile(state + "/written")
		if err != nil {
			t.Fatal(err)
		}
		return profiles.SplitWritten(data)
	}
	if err := skillrun.NoteWritten(h, state, trees("/w", "/planted", 1)); err != nil {
		t.Fatal(err)
	}
	if err := skillrun.NoteWritten(h, state, trees("/e", "/e/d", 1100)); err != nil {
		t.Fatal(err)
	}
	if got := listed(); !slices.Equal(got, []string{"/planted/0", "/e"}) {
		t.Errorf("listed: %q", got)
	}
	if err := skillrun.NoteWritten(h, state, trees("/e", "/elsewhere", 1100)); err == nil {
		t.Error("a thousand trees outside of the workspace are no error")
	}
	if err := skillrun.NoteWritten(h, state, trees("/e", "/e/new", 3)); err != nil || len(listed()) != 2 {
		t.Errorf("trees in one that is listed: %v, %q", err, listed())
	}
	h.Mounts = []profiles.Mount{{Point: "/", Root: "/", Device: "0:1"}, {Point: "/again", Root: "/twice", Device: "0:1"}}
	if err := skillrun.NoteWritten(h, state, trees("/twice", "/twice/d", 1)); err != nil || !slices.Contains(listed(), "/again/d/0") {
		t.Errorf("the other name of a tree: %v, %q", err, listed())
	}
}

// A lock on the state directory, which a run may be able to open, stops no launch.
func TestLockedStateDirectory(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	if out, code := a.in("work", "--", "true"); code != 0 {
		t.Fatal(out)
	}
	dir, err := os.Open(a.root + "/state/skillrun")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	a.write("new/x", "")
	if out, code := a.in("new", "--timeout", "1m", "--", "true"); code != 0 {
		t.Errorf("%d %s", code, out)
	}
}

// What a user is told to type is one word for a shell, whatever a run or a project
// called it.
func TestTyped(t *testing.T) {
	for name, want := range map[string]string{"/w/a": "/w/a", "/w/a$(touch${IFS}x)": "'/w/a$(touch${IFS}x)'", "/w/a b": "'/w/a b'", "/w/\x1b[2J": "FILE", "": "FILE"} {
		if got := skillrun.Typed(name, "FILE"); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	a.write("sk$(touch x)/SKILL.md", "---\nname: sk\ndescription: x\n---\n")
	out, code := a.in("work", "--preset", "paranoid", "--skill", "../sk$(touch x)", "--", "true")
	if want := "skillrun grants promote '" + a.root + "/sk$(touch x)'"; code != 125 || !strings.Contains(out, want) {
		t.Errorf("a skill's directory, want %s: %d %s", want, code, out)
	}
	a.write("work/.vscode/a", "")
	out, _ = a.in("work", "--", "sh", "-c", `( echo >'.vscode/$(touch x)' ) 2>/dev/null; true`)
	if want := "explain --access w --path '" + a.work + "/.vscode/$(touch x)' says"; !strings.Contains(out, want) {
		t.Errorf("a refused file, want %s: %s", want, out)
	}
}

// A repository is told of however much else was made before it.
func TestRepositoryAmongManyControls(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			for _, others := range []string{"3", "250"} {
				out, code := a.in("work", append(slices.Clip(flags), "--", "sh", "-ec", `
					mkdir -p $(seq -f t`+others+`/%.0f/.vscode `+others+`); for d in t`+others+`/*/.vscode; do echo >$d/settings.json; done
					mkdir -p sub`+others+`; cd sub`+others+`; git init -q; git config core.fsmonitor 'touch x'`)...)
				if code != 0 || !strings.Contains(out, "sub"+others+"/.git, in which the run made something, has what git starts") {
					t.Errorf("beside %s others: %d %s", others, code, out)
				}
			}
		})
	}
}

// The end of a run is on record before it is told: what stderr leads to may take
// nothing, as a terminal that the run has stopped. Nor does a run wait for its
// refusals to be shown, or its limit of time.
func TestEndRecordedBeforeTold(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	const many = "for i in 1 2 3 4 5 6 7 8; do cat ../outside/x$i; done 2>/dev/null; echo tried; exit 3"
	for _, c := range []struct {
		flags, script string
		want          int
	}{
		{"", many, 3},
		{"--denials", many, 3},
		{"--denials --namespaces=off", many, 3},
		{"--denials --timeout=LIMIT", "cat ../outside/x1 2>/dev/null; echo tried; exec sleep 600", 124},
		{"--timeout=LIMIT", "echo x >&2; echo tried; exit 3", 124}, // nobody has it when the time is up
		{"--denials --timeout=LIMIT", "echo x >&2; cat ../outside/x1 2>/dev/null; echo tried; exit 3", 124},
	} {
		for limit := time.Second; ; limit *= 2 {
			flags := strings.ReplaceAll(c.flags, "LIMIT", limit.String())
			if endsUntold(t, c.want, append(strings.Fields(flags), "--", "sh", "-c", c.script)...) {
				break
			}
			if flags == c.flags || limit > 30*time.Second {
				t.Fatalf("%q: the command came to nothing", flags)
			}
		}
	}
}

// fullPipe is a pipe that takes nothing more.
func fullPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	full := int(w.Fd()) // which is blocking from then on
	if err := unix.SetNonblock(full, true); err != nil {
		t.Fatal(err)
	}
	for one := make([]byte, 4096); err == nil; {
		_, err = unix.Write(full, one)
	}
	unix.SetNonblock(full, false)
	return r, w
}

// endsUntold runs skillrun with a stderr that takes nothing before an end is on record,
// and says whether the command came to what it tries before its time was up.
func endsUntold(t *testing.T, want int, args ...string) bool {
	t.Helper()
	a := newAgent(t)
	for i := range 9 {
		a.write(fmt.Sprint("outside/x", i), "x\n")
	}
	r, w := fullPipe(t)
	cmd := exec.Command(program(t), args...)
	cmd.Dir, cmd.Env, cmd.Stderr = a.work, a.env, w
	var said strings.Builder
	cmd.Stdout = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	recorded := func() bool {
		logs, _ := filepath.Glob(a.root + "/state/skillrun/audit-*")
		return slices.ContainsFunc(logs, func(log string) bool {
			b, _ := os.ReadFile(log)
			return strings.Contains(string(b), `"kind":"run.end"`)
		})
	}
	for end, over := time.Now().Add(time.Minute), false; !recorded(); {
		if over && said.Len() == 0 {
			return false // it was not started
		}
		if over || time.Now().After(end) {
			t.Errorf("%q: no end on record while stderr takes nothing", args)
			break
		}
		select {
		case <-ended:
			over = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	text, _ := io.ReadAll(r)
	if <-ended; cmd.ProcessState.ExitCode() != want {
		t.Errorf("%q: status %d", args, cmd.ProcessState.ExitCode())
	}
	if said.String() != "tried\n" {
		return false
	}
	lines := strings.Split(strings.TrimPrefix(strings.TrimLeft(string(text), "\x00"), "x\n"), "\n")
	if args[0] == "--denials" && (!strings.HasPrefix(lines[0], "skillrun: denied read "+a.root+"/outside/x1 ") || want == 3 && !strings.HasPrefix(lines[5], "skillrun: denied 3 more")) {
		t.Errorf("%q: %q", args, lines)
	}
	return true
}
