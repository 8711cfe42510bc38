package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/sandbox/sandboxtest"
)

const hostile = "../../examples/skills/hostile"

// hostileRun is one run of the hostile skill: what it got, what it printed,
// and what skillrun said of it.
type hostileRun struct {
	got     map[string]string
	printed string
	said    string
	denials []denial
}

type denial struct{ Access, Target, Rule, Class string }

// attack runs the hostile skill against canaries of its own. Where expect is
// not empty, their evidence is waited for.
func attack(t *testing.T, expect []string, confined, silent bool) hostileRun {
	t.Helper()
	c, err := sandboxtest.Plant(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	skill, err := filepath.Abs(hostile)
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(c.Home, "report.json")
	argv := []string{"python3", filepath.Join(skill, "scripts", "check.py")}
	if confined {
		argv = append([]string{program(t), "--skill", skill, "--approve", "declared", "--denials", "--report", report, "--"}, argv...)
	}
	argv = append(argv, c.Args()...)
	if silent {
		argv = append(argv, "--silent")
	}
	cmd := c.Command(argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s%s", err, stdout.Bytes(), stderr.Bytes())
	}
	r := hostileRun{printed: stdout.String(), said: strings.ReplaceAll(stderr.String(), c.Home, "~")}
	if r.got, err = c.Judge(stdout.Bytes(), expect); err != nil {
		t.Fatal(err)
	}
	if confined {
		data, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		var read struct{ Denials []denial }
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(data), c.Home, "~")), &read); err != nil {
			t.Fatal(err)
		}
		r.denials = read.Denials
	}
	return r
}

// Nothing that the hostile skill tries under its own manifest, all of it
// accepted, gets it anything; without skillrun everything does.
func TestHostile(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	attempts, err := sandboxtest.Attempts(hostile)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, name := range attempts {
		kind, _, _ := strings.Cut(name, ".")
		kinds[kind]++
	}
	for _, kind := range []string{"key", "cloud", "environment", "descriptor", "hook", "agent", "tcp", "udp", "dns", "unix", "process", "daemon"} {
		if kinds[kind] < 2 {
			t.Errorf("%d attempts on %s, want at least 2", kinds[kind], kind)
		}
	}
	control := attack(t, attempts, false, false)
	loud := attack(t, nil, true, false)
	silent := attack(t, nil, true, true)
	for _, name := range attempts {
		t.Run(name, func(t *testing.T) {
			if control.got[name] == "" {
				t.Error("got nothing unconfined: this attempt shows nothing")
			}
			if !strings.Contains(loud.printed, "\n"+name+" ") && !strings.HasPrefix(loud.printed, name+" ") {
				t.Error("was not made under skillrun")
			}
			for _, r := range []hostileRun{loud, silent} {
				if r.got[name] != "" {
					t.Error("under skillrun:", r.got[name])
				}
			}
		})
	}
	for _, r := range []hostileRun{loud, silent} {
		if r.got["?"] != "" {
			t.Error("under skillrun:", r.got["?"])
		}
	}
	if silent.printed != "" {
		t.Errorf("the silent variant printed %q", silent.printed)
	}
	// What is said about refusals is skillrun's own: the skill has no part in it.
	if len(loud.denials) == 0 {
		t.Error("no denials were seen")
	}
	if d := cmp.Diff(loud.denials, silent.denials); d != "" {
		t.Errorf("the silent variant was refused something else (-loud +silent):\n%s", d)
	}
	lines := func(said string) (denied []string) {
		for line := range strings.Lines(said) {
			if strings.HasPrefix(line, "skillrun: denied ") && !strings.Contains(line, "all of them: skillrun audit show") {
				denied = append(denied, line)
			}
		}
		return denied
	}
	if d := cmp.Diff(lines(loud.said), lines(silent.said)); d != "" || len(lines(loud.said)) == 0 {
		t.Errorf("other lines for the silent variant (-loud +silent):\n%s\n%s", d, loud.said)
	}
	if strings.Contains(loud.said, "--grant filesystem.read:~/.ssh") {
		t.Error("the way to a key is told where no person reads")
	}
}

// The same as an ordinary user, when the tests run as root.
func TestHostileAsUser(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	if os.Geteuid() != 0 {
		return // TestHostile was that
	}
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Copies that the user can read, in the same places to each other.
	for _, cp := range [][]string{
		{"mkdir", "-p", dir + "/cmd/skillrun", dir + "/examples/skills", dir + "/tmp"},
		{"cp", "-R", hostile, dir + "/examples/skills/"},
		{"cp", self, dir + "/test"},
		{"chmod", "-R", "a+rX", dir},
		{"chown", "1000:1000", dir + "/tmp"},
	} {
		if out, err := exec.Command(cp[0], cp[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", cp, err, out)
		}
	}
	cmd := exec.Command(dir+"/test", "-test.run=^TestHostile$", "-test.v")
	cmd.Dir = dir + "/cmd/skillrun"
	cmd.Env = append(os.Environ(), "HOME="+dir+"/tmp", "TMPDIR="+dir+"/tmp", "USER=user", "PATH=/usr/local/bin:/usr/bin:/bin")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestHostile/")) {
		t.Fatalf("as uid 1000: %v\n%s", err, out)
	}
}
