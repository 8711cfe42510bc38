package main_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/sandbox/sandboxtest"
)

// killedScript leaves the session, the terminal and the pipe in every way that
// daemons do, and tries for as long as it lives to change what lies outside.
const killedScript = `
setsid sh -c 'while :; do echo daemon >> "$1/canary"; mkdir d; rmdir d; done' NAME "$1" 2>/dev/null &
setsid sh -c 'exec </dev/null >/dev/null 2>&1; while :; do sleep 1; done' NAME &
(sh -c 'while :; do sleep 1; done' NAME & setsid sh -c 'while :; do sleep 1; done' NAME &)
echo up
while :; do echo command >> "$1/canary"; echo > f; mv f g; rm g; done 2>/dev/null`

// TestKilled kills launcher (of which the supervisor is a part), a guardian and
// the command with SIGKILL, in every order, at random moments: nothing survives
// and nothing outside has changed. KILLS says how often; make e2e asks for 200.
func TestKilled(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	kills := 24
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		kills = n
	}
	t.Run("bare", func(t *testing.T) {
		// The control: this script's daemons do survive it, and write outside.
		k := startKilled(t, "")
		defer k.end()
		syscall.Kill(k.cmd.Process.Pid, syscall.SIGKILL)
		k.cmd.Wait()
		if err := os.Truncate(filepath.Join(k.outside, "canary"), 0); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); k.outsideIs("") || len(k.alive()) == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nothing survived, or nobody wrote outside")
			}
		}
	})
	modes := []string{"off"}
	if linux.ProbeDeep().Namespaces {
		modes = append(modes, "on")
	}
	for _, namespaces := range modes {
		t.Run(namespaces, func(t *testing.T) {
			orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
			for i := range kills {
				killedOnce(t, namespaces, orders[i%len(orders)])
			}
		})
	}
}

func killedOnce(t *testing.T, namespaces string, order []int) {
	t.Helper()
	k := startKilled(t, namespaces)
	defer k.end()
	launcher := k.cmd.Process.Pid
	guardians := []int{onlyChild(launcher)}
	command := onlyChild(guardians[0])
	if namespaces == "off" {
		guardians = append(guardians, command)
		command = onlyChild(command)
	}
	if command == 0 {
		t.Fatalf("guardians %v, and no command", guardians)
	}
	guardian := guardians[rand.IntN(len(guardians))]
	random := func(most int) time.Duration { return time.Duration(rand.IntN(most)) * time.Microsecond }
	names := []string{"launcher", "guardian", "command"}
	told := ""
	time.Sleep(random(10000))
	for i, n := range order {
		if i > 0 {
			d := random(4000)
			time.Sleep(d)
			told += fmt.Sprintf(", %v later ", d)
		}
		told += names[n]
		syscall.Kill([]int{launcher, guardian, command}[n], syscall.SIGKILL)
	}
	k.cmd.Wait()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		alive := k.alive()
		if len(alive) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("killed %s: %q survived", told, alive)
		}
	}
	// Whoever else survived would hold the pipe.
	k.out.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.Copy(io.Discard, k.out); err != nil {
		t.Errorf("killed %s: somebody holds the pipe: %v", told, err)
	}
	if !k.outsideIs("canary\n") {
		t.Errorf("killed %s: something outside has changed", told)
	}
}

// TestKilledSlowly kills a launcher whose threads take their time to be gone: a
// tracer has to take notice of each. Its children are told before.
func TestKilledSlowly(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	k := startKilled(t, "off")
	defer k.end()
	runtime.LockOSThread() // which traces
	defer runtime.UnlockOSThread()
	launcher := k.cmd.Process.Pid
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", launcher))
	if err != nil {
		t.Fatal(err)
	}
	var traced []int
	defer func() {
		syscall.Kill(launcher, syscall.SIGKILL) // or nobody would end, where it was not killed yet
		for _, tid := range slices.Backward(traced) {
			unix.Wait4(tid, nil, unix.WALL, nil)
		}
	}()
	for _, entry := range threads {
		tid, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, 0, 0, 0); e == unix.ESRCH {
			continue // it has ended by itself
		} else if e != 0 {
			t.Fatalf("trace thread %d: %v", tid, e)
		}
		traced = append(traced, tid)
	}
	syscall.Kill(launcher, syscall.SIGKILL)
	for deadline := time.Now().Add(30 * time.Second); len(k.alive()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q survived", k.alive())
		}
	}
}

// killed is one start of the script.
type killed struct {
	t       *testing.T
	cmd     *exec.Cmd
	name    string // in the arguments of every process that can be named
	outside string
	out     *os.File
}

func startKilled(t *testing.T, namespaces string) *killed {
	t.Helper()
	k := &killed{t: t, name: fmt.Sprintf("killed-%d-%x", os.Getpid(), rand.Uint64())}
	dir, env := home(t)
	k.outside = filepath.Join(filepath.Dir(dir), "outside")
	if err := os.Mkdir(k.outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.outside, "canary"), []byte("canary\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	argv := []string{"sh", "-c", strings.ReplaceAll(killedScript, "NAME", k.name), k.name, k.outside}
	if namespaces != "" {
		argv = append([]string{program(t), "--namespaces", namespaces, "--grant", "filesystem.write:.", "--"}, argv...)
	}
	k.cmd = exec.Command(argv[0], argv[1:]...)
	k.cmd.Dir, k.cmd.Env = dir, env
	var w *os.File
	var err error
	if k.out, w, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	k.cmd.Stdout = w
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	up := make([]byte, 3)
	if _, err := io.ReadFull(k.out, up); err != nil {
		t.Fatal(err)
	}
	return k
}

// outsideIs says whether the directory outside holds the canary alone, and
// the canary text.
func (k *killed) outsideIs(text string) bool {
	b, err := os.ReadFile(filepath.Join(k.outside, "canary"))
	list, errList := os.ReadDir(k.outside)
	return err == nil && errList == nil && string(b) == text && len(list) == 1
}

// alive lists the processes, launcher and guardian included, that have the
// start's name among their arguments.
func (k *killed) alive() []string {
	var list []string
	entries, err := os.ReadDir("/proc")
	if err != nil {
		k.t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if pid, isPid := strconv.Atoi(e.Name()); isPid == nil && pid != os.Getpid() && err == nil && bytes.Contains(b, []byte(k.name)) {
			list = append(list, e.Name())
		}
	}
	return list
}

// end ends what survived. A process that is just executing a program has no
// arguments to find it by.
func (k *killed) end() {
	k.out.Close()
	for unseen := 0; unseen < 3; unseen++ {
		for _, p := range k.alive() {
			if pid, err := strconv.Atoi(p); err == nil {
				syscall.Kill(pid, syscall.SIGKILL)
				unseen = 0
			}
		}
		time.Sleep(time.Millisecond)
	}
	k.cmd.Wait()
}

// onlyChild gives the child of a process that has one, 0 if it has none.
func onlyChild(pid int) int {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0
	}
	for _, t := range tasks {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		if f := strings.Fields(string(b)); err == nil && len(f) > 0 {
			child, err := strconv.Atoi(f[0])
			if err == nil {
				return child
			}
		}
	}
	return 0
}

// TestDeepLeft has a run leave directories beneath each other, more than the
// launcher may have open files: the next launches would all try to remove them.
func TestDeepLeft(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	const script = `
import os
os.chdir(os.environ["TMPDIR"])
for i in range(600): os.mkdir("d"); os.chdir("d")
print(os.path.dirname(os.environ["HOME"]))`
	cmd := exec.Command("sh", "-c", `ulimit -n 256; exec "$@"`, "sh", program(t), "--", "python3", "-c", script)
	cmd.Dir, cmd.Env = a.work, a.env
	out, err := cmd.Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || !filepath.IsAbs(dir) {
		t.Fatalf("%v: %q", err, dir)
	}
	if _, err := os.Lstat(dir + "/tmp/d"); !os.IsNotExist(err) {
		t.Errorf("%s/tmp/d is left: %v", dir, err)
		exec.Command("rm", "-rf", dir).Run()
	}
}
