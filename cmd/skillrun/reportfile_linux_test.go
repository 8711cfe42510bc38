package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skillrun/sandbox/sandboxtest"
)

// A run that knows where its report goes has the launcher, which nothing
// confines, write over nothing outside, and wait for nobody.
func TestReportPlaced(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	outside := a.outside
	victim := filepath.Join(outside, "r.json")
	const kept = "somebody's file\n"
	for _, is := range []struct{ name, report, script, tells string }{
		{"link to a file", "r.json", "ln -s " + victim + " r.json", "r.json\" is a symbolic link that a run may have made"},
		{"link to nothing", "n.json", "ln -s " + outside + "/new n.json", "n.json\" is a symbolic link that a run may have made"},
		{"link to a directory", "way/r.json", "rmdir way && ln -s " + outside + " way", "way\" is a symbolic link that a run may have made"},
		{"FIFO", "fifo.json", "mkfifo fifo.json", "cannot write the report"},
		{"file", "f.json", "echo 1 >f.json", ""},
		{"link of the person's", filepath.Join(outside, "mine", "p.json"), "true", ""},
	} {
		t.Run(is.name, func(t *testing.T) {
			if err := os.WriteFile(victim, []byte(kept), 0o600); err != nil {
				t.Fatal(err)
			}
			os.Mkdir(filepath.Join(a.work, "way"), 0o755)
			os.Symlink(a.work, filepath.Join(outside, "mine"))
			cmd := exec.Command(program(t), "--grant", "filesystem.write:.", "--grant", "filesystem.delete:.", "--report", is.report, "--", "sh", "-c", is.script)
			cmd.Dir, cmd.Env = a.work, a.env
			ended := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
			out, err := cmd.CombinedOutput()
			if !ended.Stop() || err != nil {
				t.Errorf("%v: %s", err, out)
			}
			if !strings.Contains(string(out), is.tells) || is.tells == "" && strings.Contains(string(out), "report") {
				t.Errorf("no %q in %s", is.tells, out)
			}
			if b, err := os.ReadFile(victim); string(b) != kept {
				t.Errorf("the run had the launcher write outside: %v %s", err, b)
			}
			if _, err := os.Lstat(filepath.Join(outside, "new")); err == nil {
				t.Error("the run had the launcher make a file outside")
			}
			if is.tells != "" {
				return
			}
			if !filepath.IsAbs(is.report) {
				is.report = filepath.Join(a.work, is.report)
			}
			if b, err := os.ReadFile(is.report); err != nil || !strings.Contains(string(b), `"phase": "ran"`) {
				t.Errorf("no report: %v %s", err, b)
			}
		})
	}
}
