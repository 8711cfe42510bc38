package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// runaways each use up one thing, much more of it than their limit, and stop by
// themselves after a while, with "through" if nothing has stopped them.
var runaways = []struct {
	name    string
	limits  profiles.Limits
	script  string
	limit   string // the limit that is to be named, "" where the process is stopped by an error
	stopped string // what the process then says
}{
	{"memory", profiles.Limits{Memory: 96 << 20}, `
import time
hold = []
for i in range(48): hold.append(bytearray(b"x") * (4 << 20)); time.sleep(0.002)
time.sleep(last)
print("through")`, "memory", ""},
	{"memory of several", profiles.Limits{Memory: 96 << 20}, `
import os, time
for i in range(4):
    if os.fork() == 0:
        hold = bytearray(b"x") * (40 << 20); time.sleep(last); os._exit(0)
time.sleep(last)
print("through")`, "memory", ""},
	{"memory of several without their first threads", profiles.Limits{Memory: 96 << 20}, `
import ctypes, os, platform, threading, time
def hold():
    time.sleep(1); hold = bytearray(b"x") * (40 << 20); time.sleep(last); os._exit(0)
for i in range(4):
    if os.fork() == 0:
        threading.Thread(target=hold).start()
        ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)
time.sleep(last)
print("through")`, "memory", ""},
	{"memory of tables", profiles.Limits{Memory: 96 << 20}, `
import mmap, time
# A page of each two megabytes: 4 KiB of tables for it, and nothing resident.
m = mmap.mmap(-1, 30000 << 21, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
if hasattr(mmap, "MADV_NOHUGEPAGE"): m.madvise(mmap.MADV_NOHUGEPAGE)
for i in range(30000): m[i << 21]
time.sleep(last)
print("through")`, "memory", ""},
	{"cpu", profiles.Limits{CPU: 300 * time.Millisecond}, `
import time
end = time.time() + last
while time.time() < end: pass
print("through")`, "cpu", ""},
	// A process's own limit is in whole seconds, and met at the same moment.
	{"cpu, a whole second", profiles.Limits{CPU: time.Second}, `
import time
end = time.time() + last
while time.time() < end: pass
print("through")`, "cpu", ""},
	{"cpu of several", profiles.Limits{CPU: 400 * time.Millisecond}, `
import os, time
end = time.time() + last
while time.time() < end:
    pid = os.fork()
    if pid == 0:
        stop = time.process_time() + 0.03
        while time.process_time() < stop: pass
        os._exit(0)
    os.waitpid(pid, 0)
print("through")`, "cpu", ""},
	{"time of who holds the command", profiles.Limits{CPU: time.Second}, `
import ctypes, os, time
call, command = ctypes.CDLL(None), os.getpid()
call.prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0) # for Yama
def burn():
    if call.ptrace(0x4206, command, 0, ctypes.c_long(0x40)) != 0: # PTRACE_O_TRACEEXIT
        os._exit(1)
    end = time.time() + last
    while time.time() < end:
        pid = os.fork()
        if pid == 0:
            stop = time.process_time() + 0.03
            while time.process_time() < stop: pass
            os._exit(0)
        os.waitpid(pid, 0)
    print("through", flush=True)
    os._exit(0)
if os.fork() == 0: burn()
os.wait()`, "cpu", ""},
	{"processes", profiles.Limits{Processes: 40}, `
import os, time
for i in range(120):
    try:
        if os.fork() == 0: time.sleep(last); os._exit(0)
    except BlockingIOError: time.sleep(last / 100)
time.sleep(last)
print("through")`, "processes", ""},
	{"threads", profiles.Limits{Processes: 40}, `
import threading, time
for i in range(120):
    try: threading.Thread(target=time.sleep, args=(last,), daemon=True).start()
    except RuntimeError: time.sleep(last / 100)
time.sleep(last)
print("through")`, "processes", ""},
	{"files", profiles.Limits{OpenFiles: 64}, `
import sys
hold = []
try:
    for i in range(1000): hold.append(open("/dev/null"))
except OSError as e: sys.exit("stopped after " + str(len(hold) > 40) + " " + str(len(hold) < 64))
print("through")`, "", "stopped after True True"},
	{"file size", profiles.Limits{FileSize: 1 << 20}, `
import signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
with open("large", "wb", buffering=0) as f:
    for i in range(64): f.write(b"x" * (1 << 20))
print("through")`, "file size", ""},
	{"output", profiles.Limits{Output: 64 << 10}, `
import sys
for i in range(1000): sys.stdout.write("x" * 10000)
sys.stderr.write("through")`, "output", ""},
	{"time", profiles.Limits{Wall: 200 * time.Millisecond}, `
import time
time.sleep(last)
print("through")`, "time", ""},
}

// last is how long a runaway goes on in seconds, and how long without limits.
const last, lastFree = "last = 20\n", "last = 0.1\n"

// Each runaway is stopped, and the limit is named, or the receipt said before
// it started that the limit does not hold: with namespaces and without, in
// control groups and looked at.
func TestRunaways(t *testing.T) {
	features := linux.ProbeDeep()
	modes := map[string]sandbox.Mode{"without namespaces": sandbox.Off}
	if features.Namespaces {
		modes["namespaces"] = sandbox.On
	}
	groups := map[string]bool{"looked at": false}
	if features.Cgroup != "" {
		groups["cgroup "+features.Cgroup] = true
	}
	for mode, namespaces := range modes {
		for group, firm := range groups {
			if firm && mode != "without namespaces" {
				continue // a group does not know of them
			}
			t.Run(mode+", "+group, func(t *testing.T) {
				for _, r := range runaways {
					t.Run(strings.ReplaceAll(r.name, " ", "-"), func(t *testing.T) {
						t.Parallel()
						run(t, last+r.script, r.limits, namespaces, firm, r.limit, r.stopped)
					})
				}
			})
		}
	}
	t.Run("control", func(t *testing.T) {
		for _, r := range runaways {
			t.Run(strings.ReplaceAll(r.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				run(t, lastFree+r.script, profiles.Limits{}, sandbox.Off, false, "", "through")
			})
		}
	})
}

func run(t *testing.T, script string, limits profiles.Limits, namespaces sandbox.Mode, firm bool, limit, stopped string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	host := &profiles.Host{OS: "linux", Home: "/nonexistent", FS: os.DirFS("/"), Env: map[string]string{}}
	p := &profiles.Profile{Workspace: dir, Limits: limits, Process: profiles.Process{Create: true}, Paths: profiles.BaseReads(host)}
	p.Paths = append(p.Paths, profiles.PathRule{Path: dir, Tree: true, Access: profiles.Read | profiles.Write | profiles.Create})
	p.Normalize()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	printed := make(chan string)
	go func() {
		var text []byte
		buf := make([]byte, 64<<10)
		for {
			n, err := r.Read(buf)
			text = append(text, buf[:n]...)
			if err != nil {
				printed <- string(text)
				return
			}
		}
	}()
	held := true
	python, err := filepath.EvalSymlinks("/usr/bin/python3")
	if err != nil {
		t.Fatal(err)
	}
	result, err := sandbox.Run(&sandbox.Spec{
		Profile: p, Path: python, Argv: []string{"python3", "-c", script}, Dir: dir, Environ: os.Environ(),
		Stdout: w, Stderr: w, Namespaces: namespaces, Firm: firm, Files: os.DirFS("/"),
		Starting: func(s sandbox.Started) {
			for _, c := range s.Receipt {
				if strings.HasPrefix(c.Name, "limit.") && c.Strength == profiles.None {
					t.Logf("not held here: %s: %s", c.Name, c.Note)
					held = false
				}
				if firm && c.Name == profiles.ClauseMemory && c.Strength != profiles.Kernel {
					t.Errorf("%s is %s in a control group", c.Name, c.Strength)
				}
			}
		},
	})
	w.Close()
	text := <-printed
	if err != nil {
		t.Fatal(err)
	}
	if !held {
		return
	}
	got := result.Limit
	if result.TimedOut {
		got = "time"
	}
	free := limits == profiles.Limits{}
	if got != limit || strings.Contains(text, "through") != free || !strings.Contains(text, stopped) || (result.Status == 0) != free {
		t.Errorf("stopped by %q, status %#x, printed %.200q; want limit %q %s", got, result.Status, text, limit, stopped)
	}
	if most := limits.Output; most > 0 && len(text) > int(most) {
		t.Errorf("%d bytes of output passed", len(text))
	}
}
