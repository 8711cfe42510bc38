package linux_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/sandbox/sandboxtest"
)

// until waits for a condition that comes true by itself.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// openers counts the threads of a process that wait in openat(2) to write.
func openers(pid int) (n int) {
	list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, name := range list {
		b, _ := os.ReadFile(name)
		var nr, dir, path, flags uint64
		if _, err := fmt.Sscanf(string(b), "%v %v %v %v", &nr, &dir, &path, &flags); err == nil && nr == unix.SYS_OPENAT && flags&unix.O_ACCMODE == unix.O_WRONLY {
			n++
		}
	}
	return n
}

// readEnd waits at a FIFO for a writer, and tells what that wrote.
func readEnd(path string) <-chan string {
	all := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(path)
		all <- fmt.Sprintf("%s %v", b, err)
	}()
	return all
}

func readable(t *testing.T) {
	t.Helper()
	if _, err := os.ReadFile("/proc/thread-self/syscall"); errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		sandboxtest.Skip(t, sandboxtest.Machine, "this machine does not show what threads wait for: %v", err)
	}
}

// TestSupervisedFIFOKilled kills who waits at a FIFO for a reader: no reader
// then meets a writer that is nobody.
func TestSupervisedFIFOKilled(t *testing.T) {
	readable(t)
	c := newCell(t)
	fifo := filepath.Join(c.ws, "fifo")
	must(t, unix.Mkfifo(fifo, 0o600))
	self := os.Getpid()
	for i := range 3 { // and the thread waits again
		c.before = func(_ *linux.Supervisor, cmd *exec.Cmd) {
			until(t, "the supervisor waits for a reader", func() bool { return openers(self) == 1 })
			cmd.Process.Kill()
			until(t, "it waits no longer", func() bool { return openers(self) == 0 })
			got := readEnd(fifo)
			must(t, os.WriteFile(fifo, []byte("data"), 0))
			if s := <-got; s != "data <nil>" {
				t.Errorf("%d: a reader got %q", i, s)
			}
		}
		if r := c.run("python3", "-c", `import os; os.open("fifo", os.O_WRONLY)`); r.code != -1 {
			t.Errorf("exit %d\n%s", r.code, r.out)
		}
	}
}

// TestSupervisedFIFOEnd ends the supervisor while somebody waits.
func TestSupervisedFIFOEnd(t *testing.T) {
	readable(t)
	c := newCell(t)
	must(t, unix.Mkfifo(filepath.Join(c.ws, "fifo"), 0o600))
	self := os.Getpid()
	c.before = func(sup *linux.Supervisor, cmd *exec.Cmd) {
		until(t, "the supervisor waits for a reader", func() bool { return openers(self) == 1 })
		must(t, sup.Close())
		cmd.Process.Kill()
		until(t, "it waits no longer", func() bool { return openers(self) == 0 })
	}
	if r := c.run("python3", "-c", `import os; os.open("fifo", os.O_WRONLY)`); r.code == 0 {
		t.Errorf("exit %d\n%s", r.code, r.out)
	}
}

// TestSupervisedFIFOSignals sends signals to who waits at a FIFO. What comes of
// it is what comes of it without a supervisor.
func TestSupervisedFIFOSignals(t *testing.T) {
	for _, test := range []struct {
		name, script, want string
		act                func(t *testing.T, pid int, fifo string)
	}{
		{"caught", `
import os, signal
def rung(*_): raise TimeoutError("rung")
signal.signal(signal.SIGUSR1, rung)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2]); os.kill(os.getpid(), signal.SIGUSR2) # waits, and does not interrupt
try: os.open("fifo", os.O_WRONLY)
except TimeoutError as e: print(e)
os.kill(os.getpid(), signal.SIGKILL)`, "rung\nsignal: killed", func(_ *testing.T, pid int, _ string) {
			syscall.Kill(pid, syscall.SIGUSR1)
		}},
		{"a thread's, caught by the process", `
import os, signal, threading
def rung(*_): raise TimeoutError("rung")
signal.signal(signal.SIGUSR1, rung)
wait = threading.Event()
def other():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); wait.wait()
threading.Thread(target=other, daemon=True).start()
try: os.open("fifo", os.O_WRONLY)
except TimeoutError as e: print(e)
wait.set()`, "rung\n", func(_ *testing.T, pid int, _ string) {
			syscall.Kill(pid, syscall.SIGUSR1)
		}},
		{"stopped and continued", `
import os
fd = os.open("fifo", os.O_WRONLY); os.write(fd, b"data"); print("wrote")`, "wrote\n", func(t *testing.T, pid int, fifo string) {
			syscall.Kill(pid, syscall.SIGSTOP)
			until(t, "the waiting process is stopped", func() bool { return state(pid) == "T" })
			syscall.Kill(pid, syscall.SIGCONT)
			if s := <-readEnd(fifo); s != "data <nil>" {
				t.Errorf("a reader got %q", s)
			}
		}},
		{"ends", `
import os
os.open("fifo", os.O_WRONLY)`, "signal: terminated", func(_ *testing.T, pid int, _ string) {
			syscall.Kill(pid, syscall.SIGTERM)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			readable(t)
			c := newCell(t)
			fifo := filepath.Join(c.ws, "fifo")
			must(t, unix.Mkfifo(fifo, 0o600))
			argv := []string{"python3", "-c", test.script}
			bare := exec.Command(argv[0], argv[1:]...)
			bare.Dir = c.ws
			var out strings.Builder
			bare.Stdout, bare.Stderr = &out, &out
			must(t, bare.Start())
			until(t, "it waits for a reader", func() bool { return openers(bare.Process.Pid) == 1 })
			test.act(t, bare.Process.Pid, fifo)
			if err := bare.Wait(); err != nil {
				fmt.Fprint(&out, err)
			}
			if out.String() != test.want {
				t.Fatalf("bare: %q, want %q", out.String(), test.want)
			}
			c.before = func(_ *linux.Supervisor, cmd *exec.Cmd) {
				until(t, "the supervisor waits for a reader", func() bool { return openers(os.Getpid()) == 1 })
				test.act(t, cmd.Process.Pid, fifo)
			}
			r := c.run(argv...)
			if r.code == -1 {
				r.out += map[bool]string{true: "signal: killed", false: "signal: terminated"}[strings.Contains(test.want, "killed")]
			}
			if r.out != test.want {
				t.Errorf("%q, want %q", r.out, test.want)
			}
			until(t, "nobody waits", func() bool { return openers(os.Getpid()) == 0 })
		})
	}
}

// state is a process's, as ps(1) has it.
func state(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(b), ") ")
	s, _, _ := strings.Cut(rest, " ")
	return s
}

// TestSupervisedFIFOFlags opens FIFOs in every way.
func TestSupervisedFIFOFlags(t *testing.T) {
	c := newCell(t)
	must(t, unix.Mkfifo(filepath.Join(c.ws, "fifo"), 0o600))
	script := `
import errno, fcntl, os
def flags(fd): return "%o" % (fcntl.fcntl(fd, fcntl.F_GETFL) & 0o4007777), fcntl.fcntl(fd, fcntl.F_GETFD)
def attempt(f):
    try: fd = os.open("fifo", f)
    except OSError as e: print("%o" % f, errno.errorcode[e.errno]); return
    print("%o" % f, *flags(fd)); os.close(fd)
N, A, C, D, T, X = os.O_NONBLOCK, os.O_APPEND, os.O_CREAT, os.O_DIRECT, os.O_TRUNC, os.O_CREAT | os.O_EXCL
for f in N, N | A, N | C, N | D, X: attempt(os.O_WRONLY | f)
for f in 0, N, A | D, C | T: attempt(os.O_RDWR | f)
r = os.open("fifo", os.O_RDONLY | N)
for f in 0, N, A, C, D, T, A | C | D | T: attempt(os.O_WRONLY | f)
w = os.open("fifo", os.O_WRONLY); os.write(w, b"data")
for f in 0, N, C: attempt(os.O_RDONLY | f)
print(os.read(r, 9))
`
	bare := c.bare("python3", "-c", script)
	if bare.code != 0 || strings.Count(bare.out, "\n") != 20 {
		t.Fatalf("bare: exit %d\n%s", bare.code, bare.out)
	}
	if r := c.run("python3", "-c", script); r != bare {
		t.Errorf("exit %d\n%sbare:\n%s%s", r.code, r.out, bare.out, c.explain())
	}
	// Two that wait for each other, both supervised.
	if r := c.run("sh", "-c", `for i in 1 2 3 4 5 6 7 8; do (echo through $i >fifo) & cat fifo; wait; done`); r.code != 0 ||
		strings.Count(r.out, "through") != 8 {
		t.Errorf("exit %d\n%s", r.code, r.out)
	}
}

// A caller may die between the look at its descriptor and that at its signals.
func TestSignalsOfTheGone(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	must(t, cmd.Start())
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	must(t, err)
	defer status.Close()
	if !linux.ReadsSignals(int(status.Fd())) {
		t.Error("control: one that lives is not read")
	}
	cmd.Process.Kill()
	cmd.Wait()
	if linux.ReadsSignals(int(status.Fd())) {
		t.Error("one that is gone is read")
	}
}
