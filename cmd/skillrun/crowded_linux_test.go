package main_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"skillrun/sandbox/sandboxtest"
)

// crowding uses up the processes that its user may have, and then has some of
// its own wait in opens, each of which takes threads of whoever makes it for them.
const crowding = `
import os, time
os.mkfifo("fifo")
go, begin = os.pipe()
def waits():
    os.read(go, 1)
    os.open("fifo", os.O_WRONLY)
made = []
for i in range(400):
    try:
        pid = os.fork()
        if pid == 0: waits() if i < 40 else time.sleep(60)
        made.append(pid)
    except BlockingIOError:
        print("no more", len(made), flush=True)
        break
os.write(begin, b"x" * 40)
time.sleep(2)
for pid in made: os.kill(pid, 9)
for pid in made: os.waitpid(pid, 0) # or they still count
print("done")
`

// TestProcessesUsedUp has a run use up what its user may have of processes: the
// launcher has what it needs of them, tells how the run ended, and keeps record.
func TestProcessesUsedUp(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp", "root")
	uid := 61000 + rand.IntN(4000) // nobody's, so that nobody else's processes count
	t.Cleanup(func() { os.RemoveAll("/tmp/skillrun-" + strconv.Itoa(uid)) })
	dir, env := home(t)
	root := filepath.Dir(dir)
	for _, line := range [][]string{
		{"cp", program(t), root + "/skillrun"},
		{"chown", "-R", strconv.Itoa(uid), filepath.Dir(root)},
	} {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", line, err, out)
		}
	}
	run := func(limit int, argv ...string) (string, string) {
		os.Remove(filepath.Join(dir, "fifo"))
		cmd := exec.Command("prlimit", append([]string{"--nproc=" + strconv.Itoa(limit), "--"}, argv...)...)
		cmd.Dir, cmd.Env = dir, env
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		out, err := cmd.CombinedOutput()
		return string(out), ending(err)
	}
	if out, end := run(200, "python3", "-c", crowding); !strings.Contains(out, "no more 1") || !strings.Contains(out, "done\n") {
		t.Fatalf("control: %s: %s", end, out)
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			argv := append(append([]string{root + "/skillrun", "--grant", "filesystem.write:."}, flags...), "--")
			out, end := run(200, append(argv, "python3", "-c", crowding)...)
			if end != "exit 0" || !strings.Contains(out, "no more ") || !strings.Contains(out, "done\n") {
				t.Errorf("%s: %s", end, out)
			}
			if out, end := run(200, root+"/skillrun", "audit", "verify"); end != "exit 0" {
				t.Errorf("%s: %s", end, out)
			}
			log, err := exec.Command("sh", "-c", "cat "+root+"/state/skillrun/audit-*").Output()
			if n := bytes.Count(log, []byte(`"kind":"run.start"`)); err != nil || n == 0 || n != bytes.Count(log, []byte(`"status":"success"`)) {
				t.Errorf("%v: %d starts, and not as many ends", err, n)
			}
			// Few are too few, and that is said.
			out, end = run(30, append(argv, "touch", "ran")...)
			if lines := messages(t, out); end != "exit 125" || len(lines) != 1 || !strings.Contains(lines[0], "this user may have 30 processes and threads (RLIMIT_NPROC)") {
				t.Errorf("%s: %s", end, out)
			}
		})
	}
}

// A run's HOME may be full of names, and the skill of text: a launcher does not read
// all of the one for each of the others.
func TestCrowdedHomeBounds(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	skill := filepath.Join(filepath.Dir(dir), "skill")
	if err := os.Mkdir(skill, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(skill, strconv.Itoa(i)+".md"), bytes.Repeat([]byte("a"), 1<<18), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	const names = `cd; mkdir .claude; for i in $(seq 2000); do echo x >.$i; echo x >.claude/$i; done`
	cmd := exec.CommandContext(ctx, program(t), "--skill", skill, "--approve", "none", "--", "bash", "-c", names)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
