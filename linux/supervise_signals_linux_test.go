package linux_test

import (
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
