package main_test

import (
	"bufio"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"skillrun/sandbox/sandboxtest"
)

// orphaning is Python that leaves a stopped process in the group it was started in,
// whose parent in another group ends: where nobody else is left who could continue
// that group, the kernel sends all of it SIGHUP.
const orphaning = `
import os, signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
parent = os.fork()
if parent == 0:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        os.closerange(0, 3)
        while True:
            signal.pause()
    os.setpgid(0, 0)
    os.kill(child, signal.SIGSTOP)
    while open(f"/proc/{child}/stat").read().rpartition(")")[2].split()[0] != "T":
        time.sleep(.001)
    os._exit(0)
os.waitpid(parent, 0)
`

// What an agent or a CI job starts without a terminal is in its own process group.
func TestHangupReachesNobody(t *testing.T) {
	sandboxtest.CatchIgnored()
	dir, env := home(t)
	for _, launch := range [][]string{nil, {program(t), "--"}, {program(t), "--namespaces", "off", "--"}} {
		// What the shell forked hangs up only once it is the other program.
		const caller = `trap 'echo the caller' HUP; sleep 60 & until grep -q sleep /proc/$!/comm; do :; done; "$@"; kill $!; wait $!; [ $? = 143 ] || echo its child`
		cmd := exec.Command("sh", append([]string{"-c", caller, "sh"}, append(launch, "python3", "-c", orphaning)...)...)
		cmd.Dir, cmd.Env = dir, env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := cmd.CombinedOutput()
		// Control: without skillrun both are reached.
		for _, who := range []string{"the caller", "its child"} {
			if strings.Contains(string(out), who) != (launch == nil) {
				t.Errorf("by %q: %s: %v: %s", launch, who, err, out)
			}
		}
	}
}

// What is sent to that group, as agents do that have waited enough, reaches what
// the command waits for.
func TestEndReachesAll(t *testing.T) {
	dir, env := home(t)
	for _, launch := range [][]string{nil, {program(t), "--"}, {program(t), "--namespaces", "off", "--"}} {
		argv := append(launch, "sh", "-c", "trap 'exit 7' TERM; sh -c 'trap - TERM; echo up; exec sleep 600'; exit 8")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out := started(t, cmd)
		late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Errorf("by %q: %v", launch, err)
		}
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		if got := ending(cmd.Wait()); got != "exit 7" {
			t.Errorf("by %q: %s, want exit 7", launch, got)
		}
		late.Stop()
	}
}
