package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// terminal is a pseudo terminal and all that was printed on it.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File

	mu     sync.Mutex
	more   *sync.Cond
	out    bytes.Buffer
	closed bool
	seen   int // how much of out was waited for
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	tty := &terminal{t: t, master: master, slave: slave}
	tty.more = sync.NewCond(&tty.mu)
	tty.resize(24, 80)
	t.Cleanup(func() { master.Close(); slave.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			tty.mu.Lock()
			tty.out.Write(buf[:n])
			tty.closed = err != nil
			tty.more.Broadcast()
			tty.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return tty
}

func (tty *terminal) resize(rows, columns uint16) {
	if err := unix.IoctlSetWinsize(int(tty.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		tty.t.Fatal(err)
	}
}

// start runs a command as the leader of a session on the terminal.
func (tty *terminal) start(cmd *exec.Cmd) {
	tty.t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty.slave, tty.slave, tty.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		tty.t.Fatal(err)
	}
	tty.slave.Close() // the end of the last process is the end of the terminal
	tty.t.Cleanup(func() { cmd.Process.Kill() })
}

// wait returns when text was printed after what was waited for before.
func (tty *terminal) wait(text string) {
	tty.t.Helper()
	timer := time.AfterFunc(time.Minute, func() {
		tty.mu.Lock()
		tty.closed = true
		tty.more.Broadcast()
		tty.mu.Unlock()
	})
	defer timer.Stop()
	tty.mu.Lock()
	defer tty.mu.Unlock()
	for {
		if i := bytes.Index(tty.out.Bytes()[tty.seen:], []byte(text)); i >= 0 {
			tty.seen += i + len(text)
			return
		}
		if tty.closed {
			tty.t.Fatalf("%q was not printed: %q", text, tty.out.String())
		}
		tty.more.Wait()
	}
}

func (tty *terminal) typed(text string) {
	tty.t.Helper()
	if _, err := tty.master.WriteString(text); err != nil {
		tty.t.Fatal(err)
	}
}

// rest waits for the end and gives everything that was printed.
func (tty *terminal) rest() string {
	tty.mu.Lock()
	defer tty.mu.Unlock()
	for !tty.closed {
		tty.more.Wait()
	}
	return tty.out.String()
}

// ending is how a command ended, as its parent sees it.
func ending(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "exit 0"
	case !errors.As(err, &exit):
		return err.Error()
	}
	status := exit.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return fmt.Sprintf("signal %d, core %v", status.Signal(), status.CoreDump())
	}
	return fmt.Sprintf("exit %d", status.ExitStatus())
}

// started starts a command and gives its output.
func started(t *testing.T, cmd *exec.Cmd) io.ReadCloser {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// home gives a directory to work in with an environment of its own, outside
// the state that skillrun keeps.
func home(t *testing.T) (dir string, env []string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"home", "w"} {
		if err := os.Mkdir(filepath.Join(root, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "w"), []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root + "/home", "XDG_STATE_HOME=" + root + "/state", "USER=user", "TERM=dumb", "LANG=C",
		"GORACE=" + os.Getenv("GORACE"), // how long a program under the race detector takes to end
	}
}

// eachWay runs f with a command as it is, and under skillrun in every way that
// this machine has, and wants the same each time.
func eachWay(t *testing.T, command []string, f func(t *testing.T, cmd *exec.Cmd) string) {
	t.Helper()
	sandboxtest.Require(t, "landlock", "seccomp")
	run := func(prefix ...string) string {
		argv := append(prefix, command...)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = home(t)
		return f(t, cmd)
	}
	bare := run()
	for _, namespaces := range []string{"auto", "off"} {
		if got := run(program(t), "--namespaces", namespaces, "--"); got != bare {
			t.Errorf("with namespaces %s: %q, bare: %q", namespaces, got, bare)
		}
	}
}

func TestTerminal(t *testing.T) {
	sandboxtest.CatchIgnored()
	const idle = "while :; do sleep 0.05; done"
	for _, c := range []struct {
		name, script string
		act          func(tty *terminal, cmd *exec.Cmd)
		want         string // of the ending
	}{
		{"plain", `printf 'in: '; read x; echo "got $x"; exit 5`, func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("in: ")
			tty.typed("a b\n")
		}, "exit 5"},
		{"ctrl-c", "echo ready; exec sleep 60", func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("ready\r\n")
			tty.typed("\x03")
		}, "signal 2, core false"},
		{"ctrl-c caught", "trap 'echo caught; exit 3' INT; echo ready; " + idle, func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("ready\r\n")
			tty.typed("\x03")
		}, "exit 3"},
		{"ctrl-c once", "n=0; trap 'n=$((n+1)); echo int $n' INT; trap 'echo total $n; exit 6' TERM; echo ready; " + idle, func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("ready\r\n")
			tty.typed("\x03")
			tty.wait("int 1")
			cmd.Process.Signal(syscall.SIGTERM)
		}, "exit 6"},
		{"ctrl-backslash", "echo ready; exec sleep 60", func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("ready\r\n")
			tty.typed("\x1c")
		}, "signal 3, core false"},
		{"end of input", "cat; echo $?", func(tty *terminal, cmd *exec.Cmd) {
			tty.typed("line\n\x04")
		}, "exit 0"},
		{"window size", "stty size; trap 'stty size; exit 0' WINCH; echo ready; " + idle, func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("ready\r\n")
			tty.resize(33, 101)
		}, "exit 0"},
		{"modes", "stty -echo; echo ready; read x; stty echo; echo got $x; stty -a | grep -c -w echo", func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("ready\r\n")
			tty.typed("secret\n")
		}, "exit 0"},
		{"term", "trap 'echo term; exit 4' TERM; echo ready; " + idle, func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("ready\r\n")
			cmd.Process.Signal(syscall.SIGTERM)
		}, "exit 4"},
		{"term, default", "echo ready; exec sleep 60", func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("ready\r\n")
			cmd.Process.Signal(syscall.SIGTERM)
		}, "signal 15, core false"},
		{"hangup of the launcher", "trap 'echo hup; exit 9' HUP; echo ready; " + idle, func(tty *terminal, cmd *exec.Cmd) {
			tty.wait("ready\r\n")
			cmd.Process.Signal(syscall.SIGHUP)
		}, "exit 9"},
		{"names", "tty | sed 's/[0-9]*$//'; test -t 0 && test -t 1 && test -t 2 && echo terminal", func(*terminal, *exec.Cmd) {}, "exit 0"},
		{"dev tty", "echo to the terminal >/dev/tty", func(*terminal, *exec.Cmd) {}, "exit 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachWay(t, []string{"sh", "-c", c.script}, func(t *testing.T, cmd *exec.Cmd) string {
				tty := newTerminal(t)
				tty.start(cmd)
				c.act(tty, cmd)
				end := ending(cmd.Wait())
				if end != c.want {
					t.Errorf("%v: %s, want %s (%q)", cmd.Args, end, c.want, tty.rest())
				}
				// A key that ends the command may discard its own echo, which is on its way.
				return end + "\n" + strings.NewReplacer(cmd.Dir, "DIR", "^C", "", `^\`, "").Replace(tty.rest())
			})
		})
	}
}

// A shell with job control stops and continues what skillrun runs.
func TestJobControl(t *testing.T) {
	sandboxtest.CatchIgnored()
	sandboxtest.Require(t, "landlock", "seccomp")
	session := func(launch string) string {
		t.Logf("launched by %q", launch)
		dir, env := home(t)
		for name, text := range map[string]string{
			"run": "#!/bin/sh\nexec " + launch + "python3 \"$@\"\n",
			// No call that waits for ever: a stop may come just before it, and its
			// handler, which Python runs between calls, would come after it.
			"job": "import signal, sys, time\nsignal.signal(signal.SIGCONT, lambda *_: sys.exit('continued'))\nprint('ready', flush=True)\nwhile True: time.sleep(0.05)\n",
			// One stops not at all, one in its own time, as an editor does.
			"deaf": "import signal, time\nsignal.signal(signal.SIGTSTP, signal.SIG_IGN)\nprint('ready', flush=True)\nprint('read', input(), flush=True)\n",
			"slow": "import os, select, signal\ndef stop(*_):\n    os.write(1, b'tidied\\n')\n    os.kill(os.getpid(), signal.SIGSTOP)\n    os.write(1, b'back\\n')\nsignal.signal(signal.SIGTSTP, stop)\nos.write(1, b'ready\\n')\nwhile not select.select([0], [], [], 0.05)[0]: pass\nos.write(1, b'read ' + os.read(0, 9))\n",
			"idle": "import time\nprint('ready', flush=True)\ntime.sleep(60)\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("bash", "--norc", "--noprofile", "--noediting", "-i")
		cmd.Dir, cmd.Env = dir, append(env, "PS1=prompt> ")
		tty := newTerminal(t)
		tty.start(cmd)
		for _, step := range [][2]string{
			{"prompt> ", "./run job\n"},
			{"ready\r\n", "\x1a"},
			{"Stopped", ""},
			{"prompt> ", "fg\n"},
			{"continued", ""},
			{"prompt> ", "echo status=$?\n"},
			{"status=1", ""},
			{"prompt> ", "./run deaf\n"},
			{"ready\r\n", "\x1a"},
			{"^Z", "one\n"},
			{"read one", ""},
			{"prompt> ", "./run slow\n"},
			{"ready\r\n", "\x1a"},
			{"tidied", ""},
			{"Stopped", ""},
			{"prompt> ", "fg\n"},
			{"back\r\n", "two\n"},
			{"read two", ""},
			{"prompt> ", "./run idle\n"},
			{"ready\r\n", "\x1a"},
			{"Stopped", ""},
			{"prompt> ", "bg\n"},
			{"prompt> ", "kill %1; wait %1; echo status=$?\n"},
			{"status=143", ""},
			{"prompt> ", "exit\n"},
		} {
			tty.wait(step[0])
			if step[1] != "" {
				tty.typed(step[1])
			}
		}
		cmd.Wait()
		return tty.rest()
	}
	bare := session("")
	for _, namespaces := range []string{"auto", "off"} {
		if got := session(program(t) + " --namespaces " + namespaces + " -- "); got != bare {
			t.Errorf("with namespaces %s:\n%q\nbare:\n%q", namespaces, got, bare)
		}
	}
}

// How a command ends is how skillrun ends, without a terminal, too.
func TestEnding(t *testing.T) {
	sandboxtest.CatchIgnored()
	for _, c := range []struct{ name, script, want string }{
		{"exit", "echo out; echo err >&2; exit 42", "exit 42"},
		{"hup", "kill -HUP $$", "signal 1, core false"},
		{"term", "kill -TERM $$", "signal 15, core false"},
		{"kill", "kill -KILL $$", "signal 9, core false"},
		{"segv", "ulimit -c 0; kill -SEGV $$", "signal 11, core false"},
		{"abrt", "ulimit -c 0; kill -ABRT $$", "signal 6, core false"},
		{"usr1", "kill -USR1 $$", "signal 10, core false"},
		{"stdin closed", "exec <&-; read x; echo $?", "exit 0"},
		{"grandchild", "sh -c 'kill -TERM $$'; echo $?", "exit 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachWay(t, []string{"sh", "-c", c.script}, func(t *testing.T, cmd *exec.Cmd) string {
				var out, errs bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errs
				end := ending(cmd.Run())
				if end != c.want {
					t.Errorf("%v: %s, want %s", cmd.Args, end, c.want)
				}
				said := ""
				for line := range strings.Lines(errs.String()) {
					if !strings.HasPrefix(line, "skillrun: hint: ") {
						said += line
					}
				}
				return end + "\n" + out.String() + said
			})
		})
	}
	t.Run("pipe", func(t *testing.T) {
		eachWay(t, []string{"yes"}, func(t *testing.T, cmd *exec.Cmd) string {
			out := started(t, cmd)
			first := make([]byte, 2)
			out.Read(first)
			out.Close()
			return string(first) + ending(cmd.Wait())
		})
	})
	t.Run("stdin closed by the caller", func(t *testing.T) {
		eachWay(t, []string{"sh", "-c", "read x; echo $?"}, func(t *testing.T, cmd *exec.Cmd) string {
			shell := exec.Command("sh", append([]string{"-c", `exec "$@" 2>&1 <&-`, "sh"}, cmd.Args...)...)
			shell.Dir, shell.Env = cmd.Dir, cmd.Env
			out, err := shell.Output()
			return string(out) + ending(err)
		})
	})
}

// Arguments and environment arrive byte for byte.
func TestArguments(t *testing.T) {
	words := []string{"", " ", "a b", "--", "--skill", "-v", "\xff\xfe", "'\"\\$`", "*", "\x01\t\n", "é", strings.Repeat("long", 20000)}
	eachWay(t, append([]string{"sh", "-c", `printf '%s\0' "$@"`, "sh"}, words...), func(t *testing.T, cmd *exec.Cmd) string {
		out, err := cmd.Output()
		if want := strings.Join(words, "\x00") + "\x00"; string(out) != want {
			t.Errorf("got %.200q, want %.200q", out, want)
		}
		return ending(err)
	})
	t.Run("environment", func(t *testing.T) {
		eachWay(t, []string{"sh", "-c", "env | grep -c '^LC_V[0-9]*=value [0-9]*$'"}, func(t *testing.T, cmd *exec.Cmd) string {
			for i := range 1000 {
				cmd.Env = append(cmd.Env, fmt.Sprintf("LC_V%d=value %d", i, i))
			}
			out, err := cmd.Output()
			if string(out) != "1000\n" {
				t.Errorf("%v: %s of 1000 variables", cmd.Args, out)
			}
			return ending(err)
		})
	})
}

// As the first process of a container, where no signal can end us: the code is
// then the one that shells use.
func TestFirstProcess(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "namespaces")
	for _, c := range []struct{ script, want string }{
		{"exit 3", "exit 3"},
		{"kill -TERM $$", "exit 143"},
		{"kill -KILL $$", "exit 137"},
		{"(sleep 60 &) ; exit 4", "exit 4"},
	} {
		dir, env := home(t)
		cmd := exec.Command("sh", "-c", `mount -t proc proc /proc && exec "$@"`, "sh", program(t), "--", "sh", "-c", c.script)
		cmd.Dir, cmd.Env = dir, env
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER}
		id := func(n int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: n, HostID: n, Size: 1}}
		}
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = id(os.Getuid()), id(os.Getgid())
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
		out, err := cmd.CombinedOutput()
		if got := ending(err); got != c.want {
			t.Errorf("%s: %s, want %s: %s", c.script, got, c.want, out)
		}
	}
}

// What is ignored when skillrun starts, as under nohup, the command ignores.
func TestIgnoredSignals(t *testing.T) {
	dir, env := home(t)
	command := []string{"sh", "-c", "kill -HUP $$; kill -INT $$; kill -TSTP $$; echo alive"}
	for _, launch := range [][]string{nil, {program(t), "--"}, {program(t), "--namespaces", "off", "--"}} {
		cmd := exec.Command("sh", append([]string{"-c", `trap '' HUP INT TSTP; exec "$@"`, "sh"}, append(launch, command...)...)...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "alive\n" {
			t.Errorf("by %q: %v: %s", launch, err, out)
		}
	}
}

// otherTerminals is Python that has a terminal of one instance of devpts and sees
// another one, in which its number is that of somebody else's.
const otherTerminals = `
import ctypes, fcntl, os, pty, struct, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
pid, screen = pty.fork()
if pid == 0:
    number = int(os.ttyname(0).rpartition("/")[2])
    assert libc.mount(b"none", b"/", None, 0x44000, None) == 0
    assert libc.mount(b"devpts", b"/dev/pts", b"devpts", 0, b"newinstance,ptmxmode=0666,mode=0620") == 0, ctypes.get_errno()
    held = []
    while not os.path.exists(f"/dev/pts/{number}"):
        held.append(os.open("/dev/pts/ptmx", os.O_RDWR | os.O_NOCTTY))
        fcntl.ioctl(held[-1], 0x40045431, struct.pack("i", 0))
    os.write(held[-1], b"secret\n")
    probe = f"""
import os
for name in "/dev/pts/{number}", "/dev/tty":
    try:
        fd = os.open(name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        os.write(fd, b"typed")
        print(name, os.read(fd, 100), flush=True)
    except OSError as e: print(name, e, flush=True)
"""
    subprocess.run(sys.argv[1:] + ["/usr/bin/python3", "-c", probe], stdin=subprocess.DEVNULL)
    os.set_blocking(held[-1], False)
    print("screen:", os.read(held[-1], 1000), flush=True)
    os._exit(0)
while True:
    try: text = os.read(screen, 1000)
    except OSError: break
    if not text: break
    sys.stdout.buffer.write(text)
os.waitpid(pid, 0)
`

// A terminal is the run's for what it is, and not for its number.
func TestTerminalOfAnother(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	if exec.Command("unshare", "-Urm", "mount", "-t", "devpts", "-o", "newinstance", "devpts", "/dev/pts").Run() != nil {
		sandboxtest.Skip(t, sandboxtest.Namespaces, "no mounts of our own here")
	}
	run := func(argv ...string) string {
		dir, env := home(t)
		cmd := exec.Command("unshare", append([]string{"-Urm", "python3", "-c", otherTerminals}, argv...)...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "screen:") {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if out := run(); !strings.Contains(out, "typed") || strings.Count(out, "secret") < 2 {
		t.Errorf("bare: %s", out)
	}
	for _, namespaces := range []string{"on", "off"} {
		if out := run(program(t), "--namespaces", namespaces, "--"); strings.Contains(out, "typed") || strings.Count(out, "secret") > 1 {
			t.Errorf("namespaces %s: %s", namespaces, out)
		}
	}
}

// A run has the terminal that its caller's streams are one of, and else none.
func TestWithoutTerminal(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const script = `
import os, sys
for name, how in ("/dev/tty", os.O_RDWR), ("/dev/tty", os.O_RDONLY), (sys.argv[1], os.O_RDWR):
    try:
        os.open(name, how | os.O_NOCTTY)
        print("opened")
    except OSError as e: print(e.strerror)`
	const all = "opened opened opened exit 0"
	opened := func(streams string, argv ...string) string {
		tty := newTerminal(t)
		argv = append(argv, "python3", "-c", script, tty.slave.Name())
		cmd := exec.Command("sh", append([]string{"-c", `"$@" ` + streams + ` | cat >said; cat said`, "sh"}, argv...)...)
		cmd.Dir, cmd.Env = home(t)
		tty.start(cmd)
		end := ending(cmd.Wait())
		return strings.ReplaceAll(tty.rest(), "\r\n", " ") + end
	}
	const none = "</dev/null 2>/dev/null"
	if got := opened(none, "env"); got != all {
		t.Errorf("control: %q", got)
	}
	for _, namespaces := range []string{"auto", "off"} {
		run := []string{program(t), "--namespaces", namespaces, "--"}
		for _, streams := range []string{"2>/dev/null", "</dev/null"} {
			if got := opened(streams, run...); !strings.HasSuffix(got, all) {
				t.Errorf("control: namespaces %s, %s: %q", namespaces, streams, got)
			}
		}
		if got := opened(none, run...); got != "No such device or address No such device or address Permission denied exit 0" {
			t.Errorf("namespaces %s: %q", namespaces, got)
		}
	}
}

// A terminal that is no pseudoterminal, as of a console or a serial line, is the run's
// like any other.
func TestConsoleOpens(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	const script = `
import os, sys
for name in "/dev/tty", "/dev/stdin", "/dev/tty62":
    for how in os.O_RDWR, os.O_WRONLY, os.O_RDONLY:
        try:
            fd = os.open(name, how | os.O_NOCTTY)
            print("terminal" if os.isatty(fd) else "other")
            os.close(fd)
        except OSError as e: print(e.strerror)`
	opened := func(argv ...string) string {
		// The end of a session is the end of what it has open.
		console, err := os.OpenFile("/dev/tty63", os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			sandboxtest.Skip(t, sandboxtest.Root, "only root opens a virtual terminal: %v", err)
		}
		defer console.Close()
		argv = append(argv, "python3", "-c", script)
		var out bytes.Buffer
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = home(t)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = console, &out, &out
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		end := ending(cmd.Run())
		return strings.ReplaceAll(out.String(), "\n", " ") + end
	}
	if _, err := os.Stat("/dev/tty63"); err != nil {
		sandboxtest.Skip(t, sandboxtest.Machine, "no virtual terminals: %v", err)
	}
	own, other := strings.Repeat("terminal ", 6), strings.Repeat("terminal ", 3)
	if got := opened("env"); got != own+other+"exit 0" {
		t.Errorf("control: %q", got)
	}
	for _, namespaces := range []string{"auto", "off"} {
		if got := opened(program(t), "--namespaces", namespaces, "--"); got != own+strings.Repeat("Permission denied ", 3)+"exit 0" {
			t.Errorf("namespaces %s: %q", namespaces, got)
		}
	}
}

// What a run does to the terminal is over with it: that output is stopped, and how
// the terminal is set, unless others may have set it.
func TestKeepsTerminal(t *testing.T) {
	sandboxtest.CatchIgnored()
	sandboxtest.Require(t, "landlock", "seccomp")
	const script = `
import os, signal, termios
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
tty = os.open("/dev/tty", os.O_RDWR)
mode = termios.tcgetattr(tty)
mode[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
mode[6][termios.VINTR] = b"\x05"
termios.tcsetattr(tty, termios.TCSANOW, mode)
termios.tcflow(tty, termios.TCOOFF)
for fd in 0, 1, 2: os.set_blocking(fd, False)
`
	const taken = script + `
os.setpgid(0, 0)
os.tcsetpgrp(tty, os.getpgrp())`
	// after runs a line of sh, and says whether output is stopped, settings are others,
	// reading waits for nobody and the shell is not in the foreground then, while the
	// session goes on.
	after := func(line, script string, prefix ...string) (stopped, set, hasty, away bool) {
		t.Helper()
		tty := newTerminal(t)
		look, err := unix.Open(tty.slave.Name(), unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(look)
		before, err := unix.IoctlGetTermios(look, unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		done, ends, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer done.Close()
		cmd := exec.Command("sh", append([]string{"-c", line + "\necho over $? $(sed -n s/^flags://p /proc/$$/fdinfo/0) >&3; exec 3>&-; exec sleep 600", "sh"}, append(prefix, "python3", "-c", script)...)...)
		cmd.Dir, cmd.Env = home(t)
		cmd.ExtraFiles = []*os.File{ends}
		tty.start(cmd)
		ends.Close()
		said, err := io.ReadAll(done)
		var code, flags int
		if _, serr := fmt.Sscanf(string(said), "over %d %o\n", &code, &flags); err != nil || serr != nil || code != 0 {
			t.Fatalf("%q: %q, %v", line, said, err)
		}
		now, err := unix.IoctlGetTermios(look, unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		group, err := unix.IoctlGetInt(int(tty.master.Fd()), unix.TIOCGPGRP)
		if err != nil {
			t.Fatal(err)
		}
		_, err = unix.Write(look, []byte("x"))
		if err != nil && err != unix.EAGAIN {
			t.Fatal(err)
		}
		return err != nil, *now != *before, flags&unix.O_NONBLOCK != 0, group != cmd.Process.Pid
	}
	for _, c := range []struct {
		line, script string
		set          bool
	}{
		{`"$@"`, script, false},
		{`"$@"`, taken, false},
		{`"$@" 2>/dev/null`, script, false},
		{`"$@" | cat`, script, true},
		{`"$@" | cat`, taken, true},
		{`true | "$@"`, script, true},
		{`set -m; "$@" & wait $!`, script, true}, // in the background
	} {
		if stopped, set, hasty, away := after(c.line, c.script); !stopped || !set || !hasty || away != (c.script == taken) {
			t.Errorf("control: %q: stopped %v, set %v, hasty %v, away %v", c.line, stopped, set, hasty, away)
		}
		for _, namespaces := range []string{"auto", "off"} {
			if stopped, set, hasty, away := after(c.line, c.script, program(t), "--namespaces", namespaces, "--"); stopped || set != c.set || hasty != c.set || away {
				t.Errorf("namespaces %s: %q: stopped %v, set %v, hasty %v, away %v", namespaces, c.line, stopped, set, hasty, away)
			}
		}
	}
}

// TestOtherTerminalsDenied has a run that may read every file read what is typed into
// a terminal of another program's.
func TestOtherTerminalsDenied(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	a := newAgent(t)
	read := func(argv ...string) string {
		tty := newTerminal(t)
		io.WriteString(tty.master, "typed\n")
		cmd := exec.Command(argv[0], append(argv[1:], "/bin/sh", "-c", `head -n1 <"$0"; head -c1 /dev/zero | wc -c`, tty.slave.Name())...)
		cmd.Dir, cmd.Env = a.work, a.env
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := read("env"); out != "typed\n1\n" {
		t.Fatalf("control: %q", out)
	}
	for way, flags := range ways() {
		out := read(append(append([]string{program(t)}, flags...), "--grant", "filesystem.read", "--")...)
		if strings.Contains(out, "typed") || !strings.Contains(out, "1\n") {
			t.Errorf("%s: %q", way, out)
		}
	}
}
