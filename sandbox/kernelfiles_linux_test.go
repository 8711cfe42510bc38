package sandbox_test

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/sandboxtest"
)

// Who grants writing of all files grants no change to other processes, to the limits
// that hold the run, or to the kernel: that is granted by its own name.
func TestKernelFilesDenied(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	outside := exec.Command("sleep", "60")
	if err := outside.Start(); err != nil {
		t.Fatal(err)
	}
	defer outside.Wait()
	defer outside.Process.Kill()
	score := "/proc/" + strconv.Itoa(outside.Process.Pid) + "/oom_score_adj"
	files := []string{score, "/proc/sys/kernel/core_pattern", "/proc/irq/default_smp_affinity", "/sys/kernel/mm/transparent_hugepage/enabled"}
	files = slices.DeleteFunc(files, func(file string) bool { return unix.Access(file, unix.W_OK) != nil }) // an ordinary user's are few
	script := "for f in " + strings.Join(append(files, "/proc/self/oom_score_adj"), " ") + "; do (: >>$f) 2>/dev/null && echo $f; done; (echo 800 >" + score + ") 2>/dev/null; d=$(mktemp -d) && : >$d/file && rm -r $d && echo files"
	left := func() string {
		b, _ := os.ReadFile(score)
		os.WriteFile(score, []byte("700"), 0) // an ordinary user's gets no lower
		return strings.TrimSpace(string(b))
	}
	left()
	out, err := exec.Command("sh", "-c", script).Output()
	if is := left(); err != nil || is != "800" || len(strings.Fields(string(out))) != len(files)+2 {
		t.Fatalf("control: %s, %v: %s", is, err, out)
	}
	const change = profiles.Write | profiles.Create
	all := profiles.PathRule{Path: "/", Tree: true, Access: change}
	host := &profiles.Host{OS: "linux", Home: "/nonexistent", FS: os.DirFS("/"), Env: map[string]string{}}
	modes := []sandbox.Mode{sandbox.Off}
	if linux.ProbeDeep().Namespaces {
		modes = append(modes, sandbox.On)
	}
	for _, mode := range modes {
		for _, read := range []profiles.Access{0, profiles.Read} {
			all.Access = change | read
			p := &profiles.Profile{Paths: []profiles.PathRule{all}, Denials: profiles.SensitivePaths(host)}
			if out := says(t, p, mode, script); out != "files\n" {
				t.Errorf("%v, %s: %s", mode, all.Access, out)
			}
			if is := left(); is != "700" {
				t.Errorf("%v, %s: a process outside has %s", mode, all.Access, is)
			}
		}
	}
}
