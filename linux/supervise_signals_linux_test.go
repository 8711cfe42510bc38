package linux_test

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"skillrun/linux"
)

// signalScript signals a process that is given, in each way that there is, and
// a child of its own.
const signalScript = `
import ctypes, os, signal, subprocess, sys
pid = int(sys.argv[1]); libc = ctypes.CDLL(None, use_errno=True)
def say(name, f):
    try: f(); print(name, "yes")
    except OSError as e: print(name, "no")
def call(f, *args):
    if f(*args) < 0: raise OSError(ctypes.get_errno(), "call")
say("kill", lambda: os.kill(pid, 0))
say("kill group", lambda: os.killpg(pid, 0))
say("tgkill", lambda: call(libc.tgkill, pid, pid, 0))
say("sigqueue", lambda: call(libc.sigqueue, pid, 0, ctypes.c_void_p(0)))
say("pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 0))
own = subprocess.Popen(["sleep", "600"], start_new_session=True)
say("own", lambda: os.kill(own.pid, 0)); say("own group", lambda: os.killpg(own.pid, signal.SIGTERM)); print(own.wait())
`

// TestSupervisedSignals: where Landlock does not scope signals, the supervisor
// lets them reach the run's own processes alone.
func TestSupervisedSignals(t *testing.T) {
	c := newCell(t)
	c.features |= linux.NotifyKill
	c.write(c.outside+"/script.py", signalScript)
	other := exec.Command("sleep", "600")
	other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	must(t, other.Start())
	defer other.Wait()
	defer other.Process.Kill()
	argv := []string{"python3", c.outside + "/script.py", strconv.Itoa(other.Process.Pid)}
	const own = "own yes\nown group yes\n-15\n"
	if r := c.run(argv...); r.code != 0 || r.out != "kill no\nkill group no\ntgkill no\nsigqueue no\npidfd no\n"+own {
		t.Errorf("exit %d\n%s%s", r.code, r.out, c.explain())
	}
	if r := c.bare(argv...); r.code != 0 || r.out != "kill yes\nkill group yes\ntgkill yes\nsigqueue yes\npidfd yes\n"+own {
		t.Errorf("control: exit %d\n%s", r.code, r.out)
	}
}

// groupScript signals the process group that it is in, when it is told to.
const groupScript = `
import os, signal
child, heard = os.fork(), []
if child == 0: signal.pause()
signal.signal(signal.SIGUSR1, lambda *a: heard.append(1))
input(); os.kill(0, signal.SIGUSR1)
print(len(heard), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`

// TestSignalsToOwnGroup: at a terminal a run is in its caller's process group, with
// processes from outside, and a PID namespace does not keep kill(0) from those.
func TestSignalsToOwnGroup(t *testing.T) {
	c := newCell(t)
	c.write(c.outside+"/script.py", groupScript)
	stdin, tell, err := os.Pipe()
	must(t, err)
	defer stdin.Close()
	defer tell.Close()
	c.stdin = stdin
	var other *exec.Cmd
	begin := func(group int) {
		other = exec.Command("sleep", "600")
		other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
		must(t, other.Start())
		_, err := tell.WriteString("go\n")
		must(t, err)
	}
	c.before = func(_ *linux.Supervisor, cmd *exec.Cmd) { begin(cmd.Process.Pid) }
	argv := []string{"python3", c.outside + "/script.py"}
	const own = "1 -10\n"
	ended := func() syscall.Signal {
		syscall.Kill(other.Process.Pid, syscall.SIGKILL)
		other.Wait()
		return other.ProcessState.Sys().(syscall.WaitStatus).Signal()
	}
	for _, features := range []linux.FilterFeatures{c.features, c.features | linux.NotifyKill} {
		c.features = features
		if r := c.run(argv...); r.code != 0 || r.out != own {
			t.Errorf("exit %d\n%s%s", r.code, r.out, c.explain())
		}
		if got := ended(); got != syscall.SIGKILL {
			t.Errorf("features %#x: a process outside got %v", features, got)
		}
	}
	// Where Landlock scopes signals the caller goes on. Here it does not.
	c.features, c.config = linux.NotifyMetadata, func(s *linux.Supervision) { s.Scoped = true }
	if r := c.run(argv...); r.code != 0 || r.out != own {
		t.Errorf("control: exit %d\n%s", r.code, r.out)
	}
	if got := ended(); got != syscall.SIGUSR1 {
		t.Errorf("control: the process outside got %v", got)
	}
}

// selfScript sends itself signals, for which it has a handler.
const selfScript = `
import ctypes, os, signal, threading
heard = []
signal.signal(signal.SIGUSR1, lambda *a: heard.append(1))
pid, libc = os.getpid(), ctypes.CDLL(None, use_errno=True)
def call(f, *args):
    if f(*args) < 0: raise OSError(ctypes.get_errno(), "call")
for _ in range(50):
    os.kill(pid, signal.SIGUSR1)
    signal.raise_signal(signal.SIGUSR1)
    call(libc.syscall, ctypes.c_long(200 if os.uname().machine == "x86_64" else 130), pid, signal.SIGUSR1) # tkill
    call(libc.sigqueue, pid, signal.SIGUSR1, ctypes.c_void_p(0))
    os.kill(0, signal.SIGUSR1)
    while len(heard) % 5: pass
print(len(heard))
`

// A process hears each of its own signals once, and its call does not fail.
func TestSignalsToItself(t *testing.T) {
	c := newCell(t)
	c.features |= linux.NotifyKill
	c.write(c.outside+"/script.py", selfScript)
	for _, c.hasty = range []bool{false, true} {
		if r := c.run("python3", c.outside+"/script.py"); r.code != 0 || r.out != "250\n" {
			t.Errorf("interrupted %t: exit %d\n%s%s", c.hasty, r.code, r.out, c.explain())
		}
	}
}
