package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skillrun/sandbox/sandboxtest"
)

// movedScript takes mounts away by removing what they are on, from outside of the
// view that has them, wherever that was moved to.
const movedScript = `
mounts() { echo "$1 $(grep -c '/home \|/shm \|\.env ' /proc/self/mountinfo)"; }
mounts before
run=$(basename $(dirname $HOME))
mv /tmp/skillrun-* /tmp/moved && rm -r /tmp/moved/$run/home; rmdir /tmp/moved/$run/shm
mv sub ../outside/sub; rm -f ../outside/sub/.env; echo new >../outside/new; mv -f ../outside/new ../outside/sub/.env
cat ../outside/sub/.env
mounts after`

// What covers something in a run's view stays there, and with it what is covered,
// under whatever name: no other view has anything mounted there.
func TestMountedStays(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for way, flags := range ways() {
		if strings.HasPrefix(way, "without") {
			continue
		}
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			a.write("work/sub/.env", "secret\n")
			argv := append([]string{"--grant", "filesystem.write:.", "--grant", "filesystem.delete:.",
				"--grant", "filesystem.read:" + a.outside, "--grant", "filesystem.write:" + a.outside, "--grant", "filesystem.delete:" + a.outside}, flags...)
			cmd := exec.Command(program(t), append(argv, "--", "sh", "-c", movedScript)...)
			cmd.Dir, cmd.Env = a.work, a.env
			b, _ := cmd.CombinedOutput()
			out := string(b)
			_, n, _ := strings.Cut(out, "before ")
			n, _, _ = strings.Cut(n, "\n")
			if n == "" || n == "0" || !strings.Contains(out, "after "+n+"\n") || strings.Contains(out, "secret") {
				t.Errorf("something came off:\n%s", out)
			}
			if a.read("work/sub/.env") != "secret\n" && a.read("outside/sub/.env") != "secret\n" {
				t.Errorf("what was covered is gone:\n%s", out)
			}
		})
	}
	a := newAgent(t)
	a.write("work/sub/.env", "secret\n")
	cmd := exec.Command("sh", "-c", "mv sub ../outside/sub; rm ../outside/sub/.env")
	cmd.Dir = a.work
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("control: %v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(a.outside, "sub/.env")); err == nil {
		t.Fatal("control: it is there")
	}
}
