package main_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"skillrun/sandbox/sandboxtest"
)

// stoppedScript makes, writes, moves, reads and removes files, and says so only
// if all is what it has to be.
const stoppedScript = `
import os, socket
for i in range(60):
    fd = os.open("new", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    assert fd > 2, fd
    assert os.fstat(fd).st_ino == os.stat("new").st_ino
    os.write(fd, b"%d" % i); os.fchmod(fd, 0o640); os.close(fd)
    os.rename("new", "old"); os.mkdir("d"); os.symlink("../old", "d/link")
    with open("d/link", "r+") as f: assert f.read() == str(i)
    assert os.stat("old").st_mode & 0o777 == 0o640
    os.unlink("d/link"); os.rmdir("d"); os.unlink("old")
    socket.socket(socket.AF_UNIX).close()
print("whole")`

// TestStoppedLauncher stops and continues skillrun, of which the supervisor is
// a part, in the middle of the calls that it makes for the command: they wait,
// and none comes out wrong.
func TestStoppedLauncher(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	launch := func() (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(program(t), "--grant", "filesystem.write:.", "--grant", "filesystem.delete:.", "--", "python3", "-c", stoppedScript)
		cmd.Dir, cmd.Env = dir, env
		out := new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, out
	}
	// The control: nobody stops it.
	cmd, out := launch()
	if err := cmd.Wait(); err != nil || out.String() != "whole\n" {
		t.Fatalf("left alone: %v: %s", err, out)
	}
	cmd, out = launch()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for stops := 0; ; stops++ {
		select {
		case err := <-done:
			if err != nil || out.String() != "whole\n" {
				t.Errorf("%v: %s", err, out)
			}
			t.Logf("stopped %d times", stops)
			return
		default:
			cmd.Process.Signal(syscall.SIGSTOP)
			cmd.Process.Signal(syscall.SIGCONT)
		}
	}
}

// TestStoppedAlone sends what stops jobs, and what continues them, to skillrun
// and to no other process. It comes to what it comes to without skillrun.
func TestStoppedAlone(t *testing.T) {
	t.Parallel()
	sandboxtest.CatchIgnored()
	marker := fmt.Sprintf("alone-%016x", rand.Uint64())
	for _, c := range []struct {
		name, script string
		stops        bool
		signal       syscall.Signal
		want         string
	}{
		{"stops", "", true, syscall.SIGTSTP, "ready continued exit 7"},
		{"caught", "signal.signal(signal.SIGTSTP, lambda *_: os.write(1, b'caught\\n'))", false, syscall.SIGTSTP, "ready caught exit 7"},
		{"interrupt", "signal.signal(signal.SIGINT, lambda *_: os.write(1, b'caught\\n'))", false, syscall.SIGINT, "ready caught exit 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := `import os, signal, time
signal.signal(signal.SIGCONT, lambda *_: os.write(1, b"continued\n"))
signal.signal(signal.SIGUSR1, lambda *_: os._exit(7))
` + c.script + `
os.write(1, b"ready\n")
while True: time.sleep(0.05)`
			eachWay(t, []string{"python3", "-c", script, marker}, func(t *testing.T, cmd *exec.Cmd) string {
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell with job control does
				out := started(t, cmd)
				end := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
				defer end.Stop()
				lines := bufio.NewScanner(out)
				said := func() string { lines.Scan(); return lines.Text() + " " }
				got := said()
				cmd.Process.Signal(c.signal)
				if c.stops {
					var status syscall.WaitStatus
					if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
						t.Fatalf("%v: not stopped: %v, %v", cmd.Args, status, err)
					}
					for _, line := range withArgument(t, marker) {
						pid, argv, _ := strings.Cut(line, " ")
						if b, err := os.ReadFile("/proc/" + pid + "/status"); strings.HasPrefix(argv, "python3 ") && (err != nil || !bytes.Contains(b, []byte("\nState:\tT "))) {
							t.Errorf("%v: the command is not stopped: %v", cmd.Args, err)
						}
					}
					cmd.Process.Signal(syscall.SIGCONT)
				}
				got += said()
				cmd.Process.Signal(syscall.SIGUSR1)
				if got += ending(cmd.Wait()); got != c.want {
					t.Errorf("%v: %s, want %s", cmd.Args, got, c.want)
				}
				return got
			})
		})
	}
}

// TestStoppedEnds: where a run has stopped skillrun by stopping its command, and nobody
// continues it, the end of its time does.
func TestStoppedEnds(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	for way, flags := range ways() {
		cmd := exec.Command(program(t), append(append([]string{"--timeout", "1s"}, flags...), "--", "sh", "-c", "kill -STOP $$")...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, env, &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("control: %s: not stopped: %v, %v", way, status, err)
		}
		end := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		if got := ending(cmd.Wait()); got != "exit 124" {
			t.Errorf("%s: %s, want exit 124", way, got)
		}
		end.Stop()
	}
}

// TestInterruptedEarly ends skillrun while it prepares a run, which waits for a
// list that another process changes: there is no command yet whose signals these
// would be.
func TestInterruptedEarly(t *testing.T) {
	sandboxtest.CatchIgnored()
	sandboxtest.Require(t, "landlock", "seccomp")
	for _, c := range []struct {
		want string
		end  func(tty *terminal, cmd *exec.Cmd)
	}{
		{"exit 0", func(*terminal, *exec.Cmd) {}}, // left alone it goes on
		{"signal 2, core false", func(tty *terminal, cmd *exec.Cmd) {
			tty.typed("\x03")
			tty.wait("^C")
		}},
		{"signal 15, core false", func(tty *terminal, cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGTERM) }},
	} {
		dir, env := home(t)
		state, lists := locked(t, dir)
		cmd := exec.Command(program(t), "--", "echo", "ran")
		cmd.Dir, cmd.Env = dir, env
		tty := newTerminal(t)
		tty.start(cmd)
		for begun := time.Now(); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(state, "audit.head")); err == nil {
				break // what comes next waits
			}
			if time.Since(begun) > time.Minute {
				t.Fatal("no audit log")
			}
		}
		c.end(tty, cmd)
		lists.Close()
		end := ending(cmd.Wait())
		logs, _ := filepath.Glob(filepath.Join(state, "audit-*"))
		if ran := strings.Contains(tty.rest(), "ran"); end != c.want || ran != (end == "exit 0") || (len(logs) > 0) != ran {
			t.Errorf("%s, want %s: %q, logs %q", end, c.want, tty.rest(), logs)
		}
	}
}

// locked gives the state directory beside dir, with its lists locked: no run is
// prepared to the end before they are closed.
func locked(t *testing.T, dir string) (state string, lists *os.File) {
	t.Helper()
	state = filepath.Join(filepath.Dir(dir), "state", "skillrun")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	lists, err := os.OpenFile(filepath.Join(state, "lists"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lists.Close() })
	if err := syscall.Flock(int(lists.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return state, lists
}

// A run with a limit of time ends when it is up, be it that it could not begin, whoever
// reads that it did.
func TestTimeUpUnread(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	for _, c := range []struct {
		locked  bool
		command []string
		want    string
	}{
		{true, []string{"touch", "ran"}, "exit 124"},
		{false, []string{"sleep", "600"}, "exit 124"},
		{false, []string{"sh", "-c", "cat ../none 2>/dev/null; exit 3"}, "exit 3"},
	} {
		for limit := time.Second; ; limit *= 2 {
			dir, env := home(t)
			if c.locked {
				locked(t, dir)
			}
			ctx, cancel := context.WithTimeout(context.Background(), limit+30*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, program(t), append([]string{"--timeout=" + limit.String(), "--"}, c.command...)...)
			cmd.Dir, cmd.Env = dir, env
			_, cmd.Stderr = fullPipe(t)
			end := ending(cmd.Run())
			if end == "exit 124" && end != c.want && limit < 30*time.Second {
				continue // the time was up before the command had come to its own end
			}
			if end != c.want {
				t.Errorf("%q: %s", c.command, end)
			}
			break
		}
	}
}
