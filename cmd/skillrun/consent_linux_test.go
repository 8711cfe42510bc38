package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	skillrun "skillrun/cmd/skillrun"
	"skillrun/policy/skill"
	"skillrun/sandbox/sandboxtest"
)

// person is somebody at a terminal, with a home, a project and a skill.
type person struct {
	t                        *testing.T
	dir, home, work, skillAt string
}

const askingManifest = `{"skill_metadata": {"name": "asker", "version": "1.0"}, "permissions": [
  {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}},
  {"capability": "shell.execute", "effect": "allow"},
  {"capability": "filesystem.write", "effect": "confirm", "constraints": {"workspace_only": true}}]}`

func newPerson(t *testing.T) *person {
	t.Helper()
	// Not below /tmp: a run has a /tmp of its own.
	account, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(account.HomeDir, ".skillrun-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	u := &person{t, dir, filepath.Join(dir, "home"), filepath.Join(dir, "work"), filepath.Join(dir, "asker")}
	u.write("work/in.csv", "one,two\n")
	u.write("home/data/a.csv", "three,four\n")
	u.write("home/.ssh/id", "key\n")
	u.write("asker/SKILL.md", "---\nname: asker\ndescription: asks\n---\n")
	u.write("asker/skillguard-manifest.json", askingManifest)
	return u
}

func (u *person) write(name, text string) {
	u.t.Helper()
	writeFile(u.t, filepath.Join(u.dir, name), text)
}

func (u *person) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program(u.t), args...)
	cmd.Dir = u.work
	cmd.Env = append(os.Environ(), "HOME="+u.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME="+filepath.Join(u.dir, "state"))
	return cmd
}

// at runs a command on a terminal: steps are what is shown and what is typed
// then, by turns. It gives the exit code and all that was shown.
func (u *person) at(args []string, steps ...string) (int, string) {
	u.t.Helper()
	tty := newTerminal(u.t)
	cmd := u.command(args...)
	tty.start(cmd)
	for i, s := range steps {
		if i%2 == 0 {
			tty.wait(s)
		} else {
			tty.typed(s)
		}
	}
	shown := tty.rest()
	cmd.Wait()
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(shown, "\r\n", "\n")
}

func (u *person) touch(file string) []string {
	return []string{"--skill", u.skillAt, "--", "touch", file}
}

func (u *person) made(file string) bool {
	_, err := os.Stat(filepath.Join(u.work, file))
	return err == nil
}

const askedOf = "allow? [o]nce [a]lways for this version [c]hoose [n]o: "

func TestConsent(t *testing.T) {
	sandboxtest.CatchIgnored()
	u := newPerson(t)
	if code, shown := u.at(u.touch("f"), askedOf, "n\n"); code != 125 || u.made("f") || !strings.Contains(shown, "declined: nothing was run") {
		t.Errorf("no: exit %d: %s", code, shown)
	}
	if code, shown := u.at(u.touch("f"), askedOf, "\x04"); code != 125 || u.made("f") || !strings.Contains(shown, "\nskillrun: declined: nothing was run") {
		t.Errorf("the end of the input: exit %d: %q", code, shown)
	}
	for _, key := range []string{"\x03", "\x1c"} {
		code, shown := u.at(u.touch("f"), askedOf, key)
		if code != -1 || u.made("f") || strings.Contains(shown, "goroutine") || strings.Contains(shown, "PC=") {
			t.Errorf("the signal of %q: exit %d: %s", key, code, shown)
		}
	}
	if said := jsonOf(u.records()); !strings.Contains(said, `"action":"deny"`) || !strings.Contains(said, `"filesystem.write"`) || !strings.Contains(said, `"status":"refused"`) {
		t.Errorf("no leaves no record: %s", said)
	}
	if code, shown := u.at(u.touch("f"), "create and change files", "", askedOf, "what\n", askedOf, "o\n"); code != 0 || !u.made("f") {
		t.Errorf("once: exit %d: %s", code, shown)
	}
	if code, shown := u.at(u.touch("e"), askedOf, "yes\n"); code != 0 || !u.made("e") {
		t.Errorf("yes: exit %d: %s", code, shown)
	}
	if code, shown := u.at(u.touch("g"), askedOf, "c\n", "which, by number", "\n", "[n]o: ", "n\n"); code == 0 || u.made("g") {
		t.Errorf("none chosen: exit %d: %s", code, shown)
	}
	// Once was once; always is for this version.
	if code, shown := u.at(u.touch("g"), askedOf, "a\n"); code != 0 || !u.made("g") {
		t.Errorf("always: exit %d: %s", code, shown)
	}
	if code, shown := u.at(u.touch("h")); code != 0 || !u.made("h") || strings.Contains(shown, "allow?") {
		t.Errorf("after always: exit %d: %s", code, shown)
	}
	if out, err := u.command(u.touch("i")...).CombinedOutput(); err != nil || !u.made("i") {
		t.Errorf("after always, no terminal: %v: %s", err, out)
	}
	// Who wants none of it now gets none, and keeps what was allowed.
	none := append([]string{"--approve", "none"}, u.touch("k")...)
	if out, err := u.command(none...).CombinedOutput(); err == nil || u.made("k") {
		t.Errorf("after always, none: %v: %s", err, out)
	}
	if out, err := u.command(u.touch("k")...).CombinedOutput(); err != nil || !u.made("k") {
		t.Errorf("after none: %v: %s", err, out)
	}
	out, err := u.command("grants", "list").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "asker@") || !strings.Contains(string(out), " filesystem.write workspace_only\n") {
		t.Errorf("grants list: %v: %s", err, out)
	}

	// A changed skill asks again and shows what changed.
	u.write("asker/scripts/new.sh", "echo\n")
	u.write("asker/skillguard-manifest.json", strings.Replace(askingManifest, `"permissions": [`, `"permissions": [
  {"capability": "web.fetch", "effect": "confirm", "constraints": {"resource_scope": ["api.example.com"]}},`, 1))
	code, shown := u.at(u.touch("j"), askedOf, "n\n")
	for _, want := range []string{"changed since it was approved", "+ web.fetch: api.example.com", "new scripts/new.sh", "changed skillguard-manifest.json"} {
		if !strings.Contains(shown, want) {
			t.Errorf("a changed skill does not show %q: %s", want, shown)
		}
	}
	if code != 125 || u.made("j") {
		t.Errorf("changed and declined: exit %d", code)
	}
	if out, err := u.command(u.touch("j")...).CombinedOutput(); err == nil || !strings.Contains(string(out), "--approve declared") || u.made("j") {
		t.Errorf("changed, no terminal: %v: %s", err, out)
	}
	if out, err := u.command("grants", "revoke", u.skillAt).CombinedOutput(); err != nil {
		t.Errorf("revoke: %v: %s", err, out)
	}
	if out, err := u.command("grants", "list").CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("after revoke: %v: %s", err, out)
	}
	if out, err := u.command("audit", "verify").CombinedOutput(); err != nil {
		t.Errorf("audit: %v: %s", err, out)
	}
}

// A manifest's long list stops at each screen: nothing is said yes to that was not
// to be seen.
func TestConsentPages(t *testing.T) {
	u := newPerson(t)
	var list strings.Builder
	for i := range 40 {
		fmt.Fprintf(&list, `{"capability": "filesystem.read", "effect": "confirm", "constraints": {"resource_scope": ["d%d"]}},`, i)
	}
	u.write("asker/skillguard-manifest.json", strings.Replace(askingManifest, `"permissions": [`, `"permissions": [`+list.String(), 1))
	const more = "[return] shows more of it [n]o: "
	if code, shown := u.at(u.touch("f"), more, "o\n", more, "\n", askedOf, "n\n"); code != 125 || u.made("f") || strings.Count(shown, "read files: d") != 40 {
		t.Errorf("no: exit %d: %s", code, shown)
	}
	if code, shown := u.at(u.touch("f"), more, "\n", more, "no\n", "declined: nothing was run"); code != 125 || u.made("f") {
		t.Errorf("no, halfway: exit %d: %s", code, shown)
	}
	if code, shown := u.at(u.touch("f"), more, "\n", more, "\n", askedOf, "o\n"); code != 0 || !u.made("f") {
		t.Errorf("yes: exit %d: %s", code, shown)
	}

	// A small terminal shows less at once, and one that says it is large no more.
	for _, size := range [][2]uint16{{10, 40}, {200, 200}} {
		rows, columns := min(int(size[0])-4, 20), min(int(size[1]), 80)
		tty := newTerminal(t)
		tty.resize(size[0], size[1])
		cmd := u.command(u.touch("f")...)
		tty.start(cmd)
		for range 44 / rows {
			tty.wait(more)
			tty.typed("\n")
		}
		tty.wait(askedOf)
		tty.typed("n\n")
		shown := tty.rest()
		cmd.Wait()
		for _, part := range strings.Split(strings.ReplaceAll(shown, skillrun.Plainly, ""), more) {
			used := -1 // that of the question
			for line := range strings.Lines(strings.TrimLeft(part, "\r\n")) {
				used += (len(strings.TrimRight(line, "\r\n")) + columns - 1) / columns
			}
			if part, _, last := strings.Cut(part, "allow?"); used > rows && !last {
				t.Errorf("%d rows at once on a terminal of %d: %q", used, size[0], part)
			}
		}
	}

	// What a failed run was refused is its own choice: a long name carries nothing away.
	long := []string{u.home, "data"}
	for range 8 {
		long = append(long, strings.Repeat("x", 200))
	}
	far, near := filepath.Join(long...), filepath.Join(u.home, "data", "a.csv")
	if err := os.MkdirAll(far, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(far, "f"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	u.write("asker/skillguard-manifest.json", askingManifest)
	read := []string{"--skill", u.skillAt, "--", "cat", near, filepath.Join(far, "f")}
	if code, shown := u.at(read, askedOf, "o\n", more, "\n", "2 refused. [r]etry with these once ", "r\n"); code != 0 || !strings.Contains(shown, "three,four") {
		t.Errorf("retry: exit %d: %s", code, shown)
	}
	if code, shown := u.at(read, askedOf, "o\n", more, "n\n"); code == 0 || strings.Contains(shown, "three,four") {
		t.Errorf("no retry: exit %d: %s", code, shown)
	}
}

// What a skill says in the question about it stays in its own row, and in quotes.
func TestConsentWordsStay(t *testing.T) {
	u := newPerson(t)
	blanks := strings.Repeat(" ", 90)
	u.write("asker/skillguard-manifest.json", `{"skill_metadata": {"name": "pdf (in the user's own skills) asks for:"}, "permissions": [{"capability": "filesystem.read", "effect": "confirm",
  "constraints": {"resource_scope": ["a`+blanks+`2. normal     list files", "\u2800\u2800"]}, "fallback_msg": "no harm`+blanks+`allow? [n]o"}]}`)
	if out, err := u.command("explain", "--skill", u.skillAt).CombinedOutput(); err != nil || !strings.Contains(string(out), `skill:     "pdf (in the user's own skills) asks for:" (untrusted`) {
		t.Errorf("explain: %v: %s", err, out)
	}
	code, shown := u.at(u.touch("f"), askedOf, "n\n")
	if code != 125 || strings.Contains(shown, blanks) || strings.Contains(shown, "\u2800") {
		t.Errorf("exit %d: %s", code, shown)
	}
	for _, want := range []string{`skillrun: "pdf (in the user's own skills) asks for:" (`, `read files: "a \x20 \x20`, `\u2800\u2800`, `the skill says "no harm \x20 `} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %s in %s", want, shown)
		}
	}
}

// An answer for good ends when the user or the configuration says so: the skill is
// asked about again, and the question tells why.
func TestConsentEnds(t *testing.T) {
	u := newPerson(t)
	const typo = `"30x" is not a time like 12h or 30d, nor a day like 2026-12-31`
	if code, shown := u.at(u.touch("f"), askedOf, "a 30x\n", typo, "", askedOf, "a 2020-01-01\n", `"2020-01-01" is past`, "", askedOf, "c\n",
		"which, by number", "1 7d\n", askedOf, "c\n", "which, by number", "a 0d 1\n", "is not a time", "", askedOf, "a 30d 45d\n"); code != 0 || !u.made("f") {
		t.Fatalf("always, for a time: exit %d: %s", code, shown)
	}
	store := func() *skill.Approvals {
		t.Helper()
		s, err := skill.OpenApprovals(filepath.Join(u.dir, "state", "skillrun", "approvals"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}()
	record := func() *skill.Approval {
		t.Helper()
		a, err := store.Find(u.skillAt)
		if err != nil || a == nil {
			t.Fatal(a, err)
		}
		return a
	}
	days := func() float64 { a := record(); return a.Until.Sub(a.Made).Hours() / 24 }
	if d := days(); d != 30 {
		t.Errorf("kept for %v days, want 30", d)
	}
	a := record()
	if said := jsonOf(u.records()); !strings.Contains(said, `"until":"`+a.Until.Format("2006-01-02T15:04:05.000000Z")+`"`) {
		t.Errorf("the record does not tell the end: %s", said)
	}
	list := func(want string) {
		t.Helper()
		out, err := u.command("grants", "list").CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("grants list: %v, no %q in %s", err, want, out)
		}
	}
	list(", until " + a.Until.Format(time.RFC3339) + ")\n")
	if out, err := u.command(u.touch("g")...).CombinedOutput(); err != nil || !u.made("g") {
		t.Errorf("before the end: %v: %s", err, out)
	}
	// It is past.
	end := func() {
		t.Helper()
		a := record()
		files, err := store.Files(a)
		if err != nil {
			t.Fatal(err)
		}
		a.Made, a.Until = a.Made.AddDate(0, -3, 0), a.Made.Add(-time.Minute)
		if err := store.Put(*a, files); err != nil {
			t.Fatal(err)
		}
	}
	end()
	past := "was approved until " + record().Until.Format(time.RFC3339) + ", which is past"
	if out, err := u.command(u.touch("h")...).CombinedOutput(); exitCodeOf(err) != 125 || u.made("h") || !strings.Contains(string(out), past) {
		t.Errorf("past, no terminal: %v: %s", err, out)
	}
	list(", which is past)\n")
	// The configuration has an end for every answer; a longer one is cut, and the
	// answer before it, past, adds nothing.
	u.write("home/.config/skillrun/config.toml", `approvals = "7d"`+"\n")
	if code, shown := u.at(u.touch("h"), past, "", "[a]lways for this version until 20", "", "[n]o: ", "a 30d\n"); code != 0 || !u.made("h") {
		t.Errorf("asked again: exit %d: %s", code, shown)
	}
	if d := days(); d != 7 {
		t.Errorf("kept for %v days, want 7", d)
	}
	// What is added later does not keep it alive.
	read := []string{"--skill", u.skillAt, "--", "cat", filepath.Join(u.home, "data", "a.csv")}
	a = record()
	a.Until = a.Made.Add(time.Hour)
	files, err := store.Files(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Put(*a, files); err != nil {
		t.Fatal(err)
	}
	if code, shown := u.at(read, "[a]lways for asker@", "", " until 20", "", "[n]o: ", "a 2d\n"); code != 0 || !strings.Contains(shown, "three,four") {
		t.Errorf("retry: exit %d: %s", code, shown)
	}
	if b := record(); !b.Until.Equal(a.Until) || len(b.Grants) != 1 {
		t.Errorf("kept until %v with %v, want %v", b.Until, b.Grants, a.Until)
	}
	u.write("home/.config/skillrun/config.toml", `approvals = "soon"`+"\n")
	if out, err := u.command(u.touch("i")...).CombinedOutput(); exitCodeOf(err) != 125 || u.made("i") || !strings.Contains(string(out), `config.toml:1:13: approvals: "soon" is not a time like 12h or 30d`) {
		t.Errorf("bad configuration: %v: %s", err, out)
	}
}

// An answer that lasts is about what the user was shown, not about what lies there
// when the answer comes. TestConsent is the control.
func TestKeepWhatWasShown(t *testing.T) {
	u := newPerson(t)
	for i := range 2 { // the second time there is a record, which does not hold
		tty := newTerminal(t)
		cmd := u.command(u.touch("f")...)
		tty.start(cmd)
		tty.wait(askedOf)
		u.write("asker/scripts/run.sh", strings.Repeat("echo\n", i+1))
		tty.typed("a\n")
		shown := tty.rest()
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 125 || u.made("f") || !strings.Contains(shown, "changed while you were asked about it") {
			t.Errorf("exit %d: %s", code, shown)
		}
		if out, err := u.command(u.touch("f")...).CombinedOutput(); err == nil || u.made("f") {
			t.Errorf("kept all the same: %s", out)
		}
		if code, shown := u.at(u.touch("g"), askedOf, "a\n"); code != 0 || !u.made("g") {
			t.Errorf("asked again: exit %d: %s", code, shown)
		}
		u.write("asker/scripts/other.sh", "echo\n")
	}
}

// A record that is not as it was written, or of another skill, is no consent,
// and nothing runs on it.
func TestApprovalDamaged(t *testing.T) {
	u := newPerson(t)
	if code, shown := u.at(u.touch("f"), askedOf, "a\n"); code != 0 {
		t.Fatalf("always: exit %d: %s", code, shown)
	}
	records, err := filepath.Glob(filepath.Join(u.dir, "state", "skillrun", "approvals", "*.approval"))
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	sound, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func() error{
		"edited": func() error {
			return os.WriteFile(records[0], []byte(strings.Replace(string(sound), "1.0", "1.1", 1)), 0o600)
		},
		"cut":      func() error { return os.WriteFile(records[0], sound[:len(sound)/2], 0o600) },
		"writable": func() error { return os.Chmod(records[0], 0o666) },
		"linked": func() error {
			u.write("elsewhere", string(sound))
			os.Remove(records[0])
			return os.Symlink(filepath.Join(u.dir, "elsewhere"), records[0])
		},
		"directory writable": func() error { return os.Chmod(filepath.Dir(records[0]), 0o777) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		out, err := u.command(append([]string{"--approve", "declared"}, u.touch("g")...)...).CombinedOutput()
		if code := exitCodeOf(err); code != 125 || u.made("g") || !strings.Contains(string(out), "pproval") {
			t.Errorf("%s: exit %d: %s", name, code, out)
		}
		os.Remove(records[0])
		os.Chmod(filepath.Dir(records[0]), 0o700)
		if err := os.WriteFile(records[0], sound, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The control: with the record as it was, the command runs.
	if out, err := u.command(u.touch("g")...).CombinedOutput(); err != nil || !u.made("g") {
		t.Errorf("sound: %v: %s", err, out)
	}
}

func exitCodeOf(err error) int {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode()
	}
	return 0
}

// --approve declared is written down.
func TestApproveDeclaredRecorded(t *testing.T) {
	u := newPerson(t)
	if out, err := u.command(append([]string{"--approve", "declared"}, u.touch("f")...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found := false
	for _, r := range u.records() {
		if r["kind"] == "grant" && r["by"] == "--approve" && r["for"] == "once" && strings.Contains(jsonOf(r), "filesystem.write") && strings.Contains(jsonOf(r), `"asker"`) {
			found = true
		}
	}
	if !found {
		t.Errorf("no grant record: %v", u.records())
	}
}

// records reads the audit log.
func (u *person) records() (records []map[string]any) {
	files, _ := filepath.Glob(filepath.Join(u.dir, "state", "skillrun", "*.jsonl"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			u.t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var r map[string]any
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				u.t.Fatalf("%v in %s", err, line)
			}
			records = append(records, r)
		}
	}
	return records
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// After a failed run the user may allow what was refused; never credentials.
func TestRetry(t *testing.T) {
	u := newPerson(t)
	read := []string{"--skill", u.skillAt, "--approve", "ask", "--", "cat", filepath.Join(u.home, "data", "a.csv")}
	u.write("asker/skillguard-manifest.json", strings.Replace(askingManifest, "confirm", "allow", 1))
	const refused = "1 refused: read ~/data/a.csv. [r]etry with these once [a]lways for asker@"
	if code, shown := u.at(read, askedOf, "a\n", refused, "", "[n]o: ", "n\n"); code == 0 || strings.Contains(shown, "three,four") {
		t.Errorf("no: exit %d: %s", code, shown)
	}
	if code, shown := u.at(read, refused, "", "[n]o: ", "r\n"); code != 0 || !strings.Contains(shown, "three,four") {
		t.Errorf("once: exit %d: %s", code, shown)
	}
	if code, shown := u.at(read, refused, "", "[n]o: ", "y\n"); code != 0 || !strings.Contains(shown, "three,four") {
		t.Errorf("yes: exit %d: %s", code, shown)
	}
	if code, shown := u.at(read, refused, "", "[n]o: ", "a\n"); code != 0 || !strings.Contains(shown, "three,four") {
		t.Errorf("always: exit %d: %s", code, shown)
	}
	if code, shown := u.at(read); code != 0 || !strings.Contains(shown, "three,four") || strings.Contains(shown, "refused") {
		t.Errorf("after always: exit %d: %s", code, shown)
	}
	secret := append(read[:len(read)-1:len(read)-1], filepath.Join(u.home, ".ssh", "id"))
	if code, shown := u.at(secret); code == 0 || strings.Contains(shown, "etry") || strings.Contains(shown, "key\n") {
		t.Errorf("secret: exit %d: %s", code, shown)
	}
	// Nor a socket that gives away more than its name says, which the line tells.
	connect := func(name string) []string {
		return []string{"--", "python3", "-c", `import socket; socket.socket(socket.AF_UNIX).connect("\0` + name + `")`}
	}
	if code, shown := u.at(connect("/tmp/.X11-unix/X0")); code == 0 || strings.Contains(shown, "etry") || !strings.Contains(shown, "the X11 display shows every window") {
		t.Errorf("display: exit %d: %s", code, shown)
	}
	if code, shown := u.at(connect("other"), "1 refused: connect @other. [r]etry", "", "[n]o: ", "n\n"); code == 0 {
		t.Errorf("socket: exit %d: %s", code, shown)
	}
	// Who removes a tree is refused each of its files, and means the tree; files here
	// and there are what they are.
	for i := range 12 {
		u.write(fmt.Sprintf("work/tree/sub%d/file", i), "")
	}
	u.write("work/tree.txt", "")
	tree := filepath.Join(u.work, "tree")
	removed := []string{"1 refused: delete " + tree + " and all that is in it. [r]etry", "", "[n]o: ", "r\n"}
	remove := []string{"--approve", "ask", "--", "sh", "-c", "rm -r tree/*"}
	if code, shown := u.at(remove, append([]string{"denied 7 more", "", "12 deletions in " + tree + " were refused", ""}, removed...)...); code != 0 || u.made("tree/sub0") {
		t.Errorf("a tree: exit %d: %s", code, shown)
	}
	// The lines of one that the command names say so themselves.
	for i := range 12 {
		u.write(fmt.Sprintf("work/tree/sub%d/file", i), "")
	}
	remove = []string{"--approve", "ask", "--", "rm", "-rf", "tree"}
	if code, shown := u.at(remove, append([]string{"filesystem.delete:" + tree + "\r\n", "", "denied 7 more", ""}, removed...)...); code != 0 || u.made("tree") || strings.Contains(shown, "deletions in") {
		t.Errorf("a tree that is named: exit %d: %s", code, shown)
	}
	u.write("work/app/dist/assets/file", "")
	if code, shown := u.at([]string{"--approve", "ask", "--", "rm", "app/dist/assets/file"}, "denied delete "+filepath.Join(u.work, "app/dist/assets/file"), "", "1 refused: delete "+filepath.Join(u.work, "app/dist")+" and all that is in it. [r]etry", "", "[n]o: ", "r\n"); code != 0 || u.made("app/dist/assets/file") {
		t.Errorf("a build's output: exit %d: %s", code, shown)
	}
	for _, name := range []string{"a", "b", "c", "tree/d"} {
		u.write("work/"+name, "")
	}
	if code, shown := u.at([]string{"--approve", "ask", "--", "rm", "a", "b", "c", "tree/d"}, "4 refused: delete "+filepath.Join(u.work, "a")+", delete ", "", "[n]o: ", "r\n"); code != 0 || u.made("a") || u.made("tree/d") || !u.made("tree.txt") {
		t.Errorf("here and there: exit %d: %s", code, shown)
	}
	// What no line can show for a name is shown here, and is not all of its directory.
	u.write(`work/tree/c\d`, "")
	if code, shown := u.at([]string{"--approve", "ask", "--", "rm", `tree/c\d`}, "1 refused: delete "+u.work+`/tree/c\\d. [r]etry`, "", "[n]o: ", "r\n"); code != 0 || u.made(`tree/c\d`) {
		t.Errorf("a name with a backslash: exit %d: %s", code, shown)
	}
	// A grant of a link's deletion is one of what it leads to as well: that is said, and
	// outside of the workspace not offered.
	u.write("work/links/file", "")
	for _, dir := range []string{u.home, filepath.Join(u.work, "links")} {
		if err := os.Symlink("file", filepath.Join(dir, "latest")); err != nil {
			t.Fatal(err)
		}
	}
	unlink := func(dir string) []string {
		return []string{"--approve", "ask", "--", "rm", filepath.Join(dir, "latest")}
	}
	if code, shown := u.at(unlink(u.home)); code == 0 || strings.Contains(shown, "etry") {
		t.Errorf("a link at home: exit %d: %s", code, shown)
	}
	links := filepath.Join(u.work, "links")
	if code, shown := u.at(unlink(links), "1 refused: delete "+links+"/latest (filesystem.delete:"+links+"/latest: deletes what it leads to, too). [r]etry", "", "[n]o: ", "r\n"); code != 0 || !u.made("links/file") {
		t.Errorf("a link: exit %d: %s", code, shown)
	}
	// A program that the run makes is lifted by more than its path, as is said.
	made := []string{"--skill", u.skillAt, "--approve", "ask", "--grant", "filesystem.write:" + u.work, "--", "sh", "-c", "cp /bin/true made; cp /bin/true too; ./made; ./too"}
	all := "(source_code.execute:" + u.work + ": reads and starts whatever is there, and what it makes in TMPDIR)"
	if code, shown := u.at(made, "made "+all+", execute "+filepath.Join(u.work, "too")+". [r]etry", "", "[n]o: ", "r\n"); code != 0 {
		t.Errorf("made: exit %d: %s", code, shown)
	}
}

// seen is what a person sees of what was written to a terminal: nothing that is
// concealed, drawn as lines, of the ground's color, or taken for the rest of a sequence.
func seen(written string) string {
	var b strings.Builder
	hidden, lines := false, false
	colors := map[string]string{}
	for i := 0; i < len(written); i++ {
		rest := written[i:]
		switch sequence := control.FindString(rest); {
		case strings.HasPrefix(rest, "\x1b]"), strings.HasPrefix(rest, "\x1bP"):
			end := ended.FindStringIndex(rest)
			if end == nil {
				return b.String()
			}
			i += end[1] - 1
			switch what, color, _ := strings.Cut(rest[2:end[0]], ";"); what {
			case "10", "11":
				colors[what] = color
			case "110", "111":
				delete(colors, what[1:])
			}
		case sequence != "":
			i += len(sequence) - 1
			switch sequence {
			case "\x1b[8m":
				hidden = true
			case "\x1b[0m":
				hidden = false
			case "\x1b(0", "\x1b(B":
				lines = sequence == "\x1b(0"
			}
		case !hidden && !lines && (colors["10"] == "" || colors["10"] != colors["11"]):
			b.WriteByte(written[i])
		}
	}
	return b.String()
}

var ended = regexp.MustCompile("\x18|\a|\x1b\\\\")

var control = regexp.MustCompile(`^\x1b(\[[0-9;?!]*[a-zA-Z]|\(.|[78\\])`)

// Whatever a run has left the terminal as, the question after it is seen: nobody says
// yes to it who answers the run.
func TestQuestionHolds(t *testing.T) {
	u := newPerson(t)
	for _, hide := range []string{"\x1b[8m", "\x1b]2;", "\x1bPq", "\x1b(0", "\x1b]10;#000\a\x1b]11;#000\a"} {
		script := `cat "$1"; printf 'Press r and return to try again: %s' "$2"; printf 'behind it'; exit 1`
		code, shown := u.at([]string{"--approve", "ask", "--", "sh", "-c", script, "sh", filepath.Join(u.home, "data", "a.csv"), hide}, "[n]o: ", "n\n")
		if got := seen(shown); code != 1 || strings.Contains(got, "behind it") || !strings.Contains(shown, "behind it") {
			t.Errorf("control: after %q: exit %d: %q", hide, code, got)
		} else if !strings.Contains(got, "1 refused: read ~/data/a.csv. [r]etry with these once [n]o: ") {
			t.Errorf("after %q a person sees %q", hide, got)
		}
	}
}

// Nor does a run keep anybody from an answer, by how it has set the terminal, where that
// is not put back after it, since a pipe leads to others.
func TestAnswerHolds(t *testing.T) {
	u := newPerson(t)
	const raw = `
import sys, termios
tty = open("/dev/tty", "rb", 0)
mode = termios.tcgetattr(tty)
mode[0] &= ~termios.ICRNL
mode[3] &= ~(termios.ISIG | termios.ECHO)
mode[6][termios.VINTR] = b"\x05"
termios.tcsetattr(tty, termios.TCSANOW, mode)
open(sys.argv[1])`
	for typed, want := range map[string]int{"n\r": 1, "\x03": 130} {
		tty := newTerminal(t)
		look, err := unix.Open(tty.slave.Name(), unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		ask := u.command("--approve", "ask", "--", "python3", "-c", raw, filepath.Join(u.home, "data", "a.csv"))
		cmd := exec.Command("bash", append([]string{"-c", `trap : INT; "$@" | cat; exit ${PIPESTATUS[0]}`, "bash"}, ask.Args...)...)
		cmd.Dir, cmd.Env = ask.Dir, ask.Env
		tty.start(cmd)
		tty.wait("1 refused: read ~/data/a.csv. [r]etry")
		tty.wait("[n]o: ")
		tty.typed(typed)
		late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != want {
			t.Errorf("%q: %v, want exit %d", typed, err, want)
		}
		if now, err := unix.IoctlGetTermios(look, unix.TCGETS); err != nil || typed == "n\r" && now.Iflag&unix.ICRNL != 0 {
			t.Errorf("%q: the terminal is not as it was before the question, %v", typed, err)
		}
		unix.Close(look)
	}
}

// What would lift the denial of a control file is told to nobody, but for those that
// come with a project: a script can provoke the line, and whoever follows it gives the
// machine away.
func TestControlNeedsUser(t *testing.T) {
	u := newPerson(t)
	u.write("work/.git/hooks/keep", "")
	hook := filepath.Join(u.work, ".git", "hooks", "pre-commit")
	control := []string{"--denials", "--grant", "filesystem.write:" + u.work, "--", "sh", "-c", "echo x >" + hook}
	out, err := u.command(control...).CombinedOutput()
	code, shown := u.at(control)
	for _, said := range []string{string(out), shown} {
		if !strings.Contains(said, hook) || !strings.Contains(said, "this needs the user") || strings.Contains(said, "--grant") {
			t.Errorf("control file: %s", said)
		}
	}
	if exitCodeOf(err) == 0 || code == 0 {
		t.Errorf("control file written: %v, %d", err, code)
	}
	// What belongs to a project and comes with it is told to a person, once, at the end.
	u.write("work/.vscode/a.json", "")
	project := []string{"--denials", "--", "sh", "-c", "echo x >.vscode/a.json; mkdir .idea; true"}
	vscode, idea := filepath.Join(u.work, ".vscode"), filepath.Join(u.work, ".idea")
	out, _ = u.command(project...).CombinedOutput()
	_, shown = u.at(project)
	if strings.Contains(string(out), "--grant") || !strings.Contains(string(out), "not changed, although the command succeeded: "+vscode+"/a.json, "+idea+",") {
		t.Errorf("control files of a project: %s", out)
	}
	if strings.Count(shown, "--grant") != 2 || !strings.Contains(shown, "hint: --grant filesystem.write:"+vscode+" --grant filesystem.write:"+idea+" lets") {
		t.Errorf("control files of a project, at a terminal: %s", shown)
	}
	// The control: what is no control file comes with its grant.
	out, _ = u.command("--denials", "--", "cat", filepath.Join(u.home, "data", "a.csv")).CombinedOutput()
	if !strings.Contains(string(out), "--grant filesystem.read:") {
		t.Errorf("plain file: %s", out)
	}
}

// Of a secret the grant is told where a person reads it, and nowhere else.
func TestExplainSecret(t *testing.T) {
	u := newPerson(t)
	u.write("work/.env", "")
	ask := []string{"explain", "--path", ".env", "--access", "r"}
	allow := "  allow:  --grant filesystem.read:" + filepath.Join(u.work, ".env") + "\n"
	out, err := u.command(ask...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "denied: read ") || strings.Contains(string(out), "--grant") {
		t.Errorf("to a pipe: %v: %s", err, out)
	}
	if code, shown := u.at(ask); code != 0 || !strings.Contains(shown, allow) {
		t.Errorf("on a terminal: exit %d: %s, want %s", code, shown, allow)
	}
}

// HOME comes from whoever started skillrun: that another home is named there
// opens nothing of the account's.
func TestAccountHome(t *testing.T) {
	u := newPerson(t)
	account, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil || account.HomeDir == "/" {
		sandboxtest.Skip(t, sandboxtest.Account, "no home in the user database")
	}
	for path, want := range map[string]string{account.HomeDir + "/.ssh/none": "denied", account.HomeDir + "/none": "allowed", u.home + "/.ssh/id": "denied"} {
		out, err := u.command("explain", "--grant", "filesystem.read:"+account.HomeDir, "--grant", "filesystem.read:"+u.home, "--path", path).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), want+": read ") {
			t.Errorf("%s: %v: %s; want %s", path, err, out, want)
		}
	}
}

// A manifest that asks for the network and names no hosts gets those that the
// skill's files name, once somebody has seen them; with none, the question says
// that it is any public host. What was approved is pinned.
func TestConsentHosts(t *testing.T) {
	u := newPerson(t)
	u.write("asker/skillguard-manifest.json", `{"skill_metadata": {"name": "asker", "version": "1.0"}, "permissions": [
  {"capability": "web.fetch", "effect": "allow"}, {"capability": "shell.execute", "effect": "confirm"}]}`)
	run := []string{"--allow-gap", "net", "--allow-gap", "net.listen", "--skill", u.skillAt, "--", "true"}
	explain := func(flags ...string) string {
		out, err := u.command(append(append([]string{"explain"}, flags...), "--skill", u.skillAt)...).CombinedOutput()
		if err != nil {
			t.Errorf("explain: %v: %s", err, out)
		}
		return string(out)
	}
	if code, shown := u.at(run, "any public host, on ports 80 and 443", "", askedOf, "n\n"); code != 125 {
		t.Errorf("no hosts: exit %d: %s", code, shown)
	}
	if got := explain("--approve", "declared"); !strings.Contains(got, "  *:80,443 tcp, reading only  (") || !strings.Contains(got, "any public one") {
		t.Errorf("no hosts: %s", got)
	}
	const much = "more text than is read for the hosts that it names: none was found, so that any public host is meant"
	if got := explain(); strings.Contains(got, much) {
		t.Errorf("all was read: %s", got)
	}
	for i := range 5 { // more code than is read
		u.write("asker/scripts/long"+strconv.Itoa(i)+".py", strings.Repeat("#\n", 1<<19))
	}
	if got := explain(); !strings.Contains(got, much) {
		t.Errorf("not all was read: %s", got)
	}
	if err := os.RemoveAll(filepath.Join(u.skillAt, "scripts")); err != nil {
		t.Fatal(err)
	}
	u.write("asker/scripts/get.py", "import urllib.request\nurllib.request.urlopen('https://api.example.com/v1')\nurllib.request.urlopen('http://10.0.0.5/')\n")
	if out, err := u.command(run...).CombinedOutput(); err == nil || !strings.Contains(string(out), "web.fetch") {
		t.Errorf("no terminal: %v: %s", err, out)
	}
	if got := explain(); !strings.Contains(got, "\nnetwork: none, and hosts once confirmed\n  api.example.com:80,443 tcp, reading only  (once confirmed; ") {
		t.Errorf("nobody has answered: %s", got)
	}
	if code, shown := u.at(run, "api.example.com, which its files name", "", askedOf, "a\n"); code != 0 || strings.Contains(shown, "10.0.0.5") {
		t.Errorf("hosts of the files: exit %d: %s", code, shown)
	}
	if got := explain(); !strings.Contains(got, "api.example.com:80,443 tcp, reading only") || !strings.Contains(got, "one that the skill's files name") || strings.Contains(got, "  *") {
		t.Errorf("approved: %s", got)
	}
	for host, word := range map[string]string{"api.example.com:443": "allowed", "www.example.com:443": "denied", "10.0.0.5:80": "denied"} {
		if got := explain("--host", host); !strings.HasPrefix(got, word+": ") {
			t.Errorf("%s: %s", host, got)
		}
	}
	if out, err := u.command("grants", "list").CombinedOutput(); err != nil || !strings.Contains(string(out), "web.fetch: api.example.com\n") {
		t.Errorf("grants list: %v: %s", err, out)
	}
	if code, shown := u.at(run); code != 0 || strings.Contains(shown, "allow?") {
		t.Errorf("approved: exit %d: %s", code, shown)
	}
	// However many there are, each is shown before anybody says yes to it.
	var many, names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("h%02d.example", i))
		many = append(many, "https://"+names[i]+"/")
	}
	u.write("asker/SKILL.md", "---\nname: asker\ndescription: asks\n---\nSee "+strings.Join(many, " and ")+".\n")
	if code, shown := u.at(run, askedOf, "n\n"); code != 125 || !strings.Contains(shown, "read from the web: api.example.com, "+strings.Join(names, ", ")+", which its files name") {
		t.Errorf("many hosts: exit %d: %s", code, shown)
	}
	// Another host in the files is another version, and the question shows it.
	u.write("asker/SKILL.md", "---\nname: asker\ndescription: asks\n---\nSee https://other.example/.\n")
	if code, shown := u.at(run, "+ web.fetch: other.example", "", "api.example.com, other.example, which its files name", "", askedOf, "n\n"); code != 125 {
		t.Errorf("changed: exit %d: %s", code, shown)
	}
}
