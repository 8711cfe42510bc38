package main_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// useInherited is what a program does to get elsewhere with the socket that is
// its standard input: it undoes what it is connected to, connects it anew, and
// sends to addresses.
const useInherited = `
import ctypes, socket, sys
s = socket.socket(fileno=0)
def tries(f, *a):
    try: f(*a)
    except (OSError, TypeError): pass
ctypes.CDLL(None).connect(0, bytes(16), 16)
for to in ("127.0.0.1", int(sys.argv[1])), ("127.0.0.1", int(sys.argv[2])), sys.argv[3]:
    tries(s.sendmsg, [b"sendmsg"], [], 0, to)
    tries(s.sendto, b"sendto", to)
    tries(s.connect, to)
    tries(s.send, b"connected")
tries(s.bind, ("127.0.0.1", 0))
tries(s.listen)
if s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN): print("listens")
print("tried")
`

// TestInherited gives runs sockets as standard input that were made outside.
// Bare, each leads to somewhere else than it was made for.
func TestInherited(t *testing.T) {
	t.Parallel()
	if !inOwnInternet(t) {
		return
	}
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	sites := newSites(t, clientManifest, map[string]string{"use.py": useInherited})
	path := filepath.Join(filepath.Dir(sites[0].dir), "outside.sock")
	local, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	// came gives what came since the last call: all before an end of our own.
	came := func() (all []string) {
		send := func(network, addr string) {
			c, err := net.Dial(network, addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			io.WriteString(c, "end")
		}
		buf := make([]byte, 100)
		for network, pc := range map[string]net.PacketConn{"udp": udp, "unixgram": local} {
			send(network, pc.LocalAddr().String())
			pc.SetReadDeadline(time.Now().Add(10 * time.Second))
			for {
				n, _, err := pc.ReadFrom(buf)
				if err != nil {
					t.Fatal(err)
				}
				if string(buf[:n]) == "end" {
					break
				}
				all = append(all, network+" "+string(buf[:n]))
			}
		}
		send("tcp", tcp.Addr().String())
		for {
			c, err := tcp.Accept()
			if err != nil {
				t.Fatal(err)
			}
			c.SetDeadline(time.Now().Add(10 * time.Second))
			b, _ := io.ReadAll(c)
			c.Close()
			if string(b) == "end" {
				return all
			}
			all = append(all, "tcp "+string(b))
		}
	}
	socket := func(family, kind int) *os.File {
		fd, err := syscall.Socket(family, kind|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return os.NewFile(uintptr(fd), "socket")
	}
	// connected gives both ends of a connection.
	connected := func() (net.Conn, *os.File) {
		peer, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Close()
		c, err := net.Dial("tcp4", peer.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		f, err := c.(*net.TCPConn).File()
		if err != nil {
			t.Fatal(err)
		}
		other, err := peer.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { other.Close() })
		other.SetDeadline(time.Now().Add(time.Minute))
		return other, f
	}
	start := func(words []string, dir string, in *os.File) string {
		defer in.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir, cmd.Stdin = dir, in
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "../home"), "XDG_STATE_HOME=" + filepath.Join(dir, "../state"), "TMPDIR=" + filepath.Join(dir, "../tmp"), "LC_ALL=C"}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	_, port, _ := net.SplitHostPort(udp.LocalAddr().String())
	_, tcpPort, _ := net.SplitHostPort(tcp.Addr().String())
	probe := []string{"python3", "use.py", port, tcpPort, path}
	for _, c := range []struct {
		name string
		make func() *os.File
		want string // of what comes, bare
		says string // of a run
	}{
		{"udp", func() *os.File { return socket(syscall.AF_INET, syscall.SOCK_DGRAM) }, "udp sendmsg", "standard input is a datagram or raw socket"},
		{"unix datagrams", func() *os.File { return socket(syscall.AF_UNIX, syscall.SOCK_DGRAM) }, "unixgram sendmsg", "standard input is a datagram or raw socket"},
		{"tcp", func() *os.File { return socket(syscall.AF_INET, syscall.SOCK_STREAM) }, "tcp connected", "standard input is a socket without a connection"},
		{"connected tcp", func() *os.File { _, f := connected(); return f }, "tcp connected", "tried"},
	} {
		came()
		if out, got := start(probe, filepath.Join(sites[0].dir, "work"), c.make()), came(); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, c.want) }) {
			t.Errorf("%s: bare, %q does not come: %q, %s", c.name, c.want, got, out)
		}
		for _, s := range sites {
			out := start(append(slices.Clip(s.words), probe...), filepath.Join(s.dir, "work"), c.make())
			if got := came(); len(got) > 0 || !strings.Contains(out, c.says) || strings.Contains(out, "listens") {
				t.Errorf("%s: %s: %q came: %s", s.name, c.name, got, out)
			}
		}
	}
	// A connection is there to be read from and written to.
	for _, s := range sites {
		other, f := connected()
		io.WriteString(other, "question\n")
		out := start(append(slices.Clip(s.words), "sh", "-c", "read line; echo answer to $line >&0"), filepath.Join(s.dir, "work"), f)
		if got, _ := io.ReadAll(other); string(got) != "answer to question\n" {
			t.Errorf("%s: over its connection came %q: %s", s.name, got, out)
		}
	}
}

// TestInheritedTemp gives runs, as standard input, what lies in everybody's /tmp,
// in whose place they may have one of their own: that it has the path of something
// of theirs makes it nothing of theirs.
func TestInheritedTemp(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	for way, flags := range ways() {
		for _, is := range []struct{ name, script string }{
			{"descriptor", `python3 -c 'import os; os.utime(0, (5, 5)); os.fchmod(0, 0o700)'`},
			{"path to it", `chmod 700 /dev/stdin`},
		} {
			t.Run(way+"/"+is.name, func(t *testing.T) {
				dir, err := os.MkdirTemp("/tmp", "inherited")
				if err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(dir)
				changed := func(prefix ...string) (bool, string) {
					file := filepath.Join(dir, "file")
					os.Remove(file)
					if err := os.WriteFile(file, nil, 0o600); err != nil {
						t.Fatal(err)
					}
					before, _ := os.Stat(file)
					stdin, err := os.Open(file)
					if err != nil {
						t.Fatal(err)
					}
					defer stdin.Close()
					argv := append(prefix, "/bin/sh", "-c", is.script)
					cmd := exec.Command(argv[0], argv[1:]...)
					cmd.Dir, cmd.Env, cmd.Stdin = a.work, a.env, stdin
					out, _ := cmd.CombinedOutput()
					after, err := os.Stat(file)
					return err != nil || before.Mode() != after.Mode() || before.ModTime() != after.ModTime(), string(out)
				}
				if is, out := changed(); !is {
					t.Fatalf("control: nothing changes: %s", out)
				}
				if is, out := changed(append(append([]string{program(t)}, flags...), "--")...); is {
					t.Errorf("it was changed: %s", out)
				}
			})
		}
	}
}

// TestInheritedAgain gives runs files that lie where they may do nothing as standard
// streams. By the names that /dev has for them they are opened again, in the direction
// that they are open in, and no other.
func TestInheritedAgain(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	a := newAgent(t)
	dir, err := os.MkdirTemp("/tmp", "inherited")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	in, log := filepath.Join(dir, "in"), filepath.Join(dir, "log")
	// after gives what the two hold when a script is over, and what it said.
	after := func(gone bool, prefix []string, script string) (string, string) {
		var files [2]*os.File
		for i, path := range [...]string{in, log} {
			os.Remove(path) // whose mode may be another by now
			err := os.WriteFile(path, []byte(filepath.Base(path)+"\n"), 0o600)
			if err == nil {
				files[i], err = os.OpenFile(path, [...]int{os.O_RDONLY, os.O_WRONLY | os.O_APPEND}[i], 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer files[i].Close()
		}
		left := func() (all string) {
			for _, f := range files {
				b, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
				if err != nil {
					t.Fatal(err)
				}
				all += string(b)
			}
			return all
		}
		if gone { // as zsh has it of what stands after <<
			os.Remove(in)
			os.Remove(log)
		}
		var said bytes.Buffer
		argv := append(slices.Clip(prefix), "/bin/sh", "-c", script, "sh", log)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.work, a.env, files[0], files[1], &said
		cmd.Run()
		return left(), said.String()
	}
	const use = `cat /dev/stdin; echo one >/dev/stdout; echo two >>/proc/self/fd/1`
	other := map[string]struct{ script, left, said string }{
		"writes what it reads":      {`echo more >/dev/stdin`, "more\nlog\n", ""},
		"reads what it writes":      {`read x </dev/stdout; echo $x again >&2`, "in\nlog\n", "log again\n"},
		"both":                      {`: 1<>/dev/stdout && echo again >&2`, "in\nlog\n", "again\n"},
		"writes by the file's name": {`echo more >"$1"`, "in\nmore\n", ""},
		"changes the mode":          {`chmod 500 /dev/stdin && echo again >&2`, "in\nlog\n", "again\n"},
	}
	for name, o := range other {
		if left, said := after(false, nil, o.script); left != o.left || said != o.said {
			t.Fatalf("control: %s: %q is left, said %q", name, left, said)
		}
	}
	again := func(way string, flags ...string) {
		run := append(append([]string{program(t)}, flags...), "--")
		for _, gone := range []bool{false, true} {
			if left, said := after(gone, run, use); left != "in\nlog\nin\none\ntwo\n" || said != "" {
				t.Errorf("%s, gone %t: %q is left, said %q", way, gone, left, said)
			}
		}
		for name, o := range other {
			if left, said := after(false, run, o.script); left != "in\nlog\n" || strings.Contains(said, "log again") || strings.HasPrefix(said, "again") {
				t.Errorf("%s: %s: %q is left, said %q", way, name, left, said)
			}
		}
	}
	for way, flags := range ways() {
		again(way, flags...)
	}
	again("without namespaces, reads looked at", "--namespaces", "off", "--denials")
	if err := os.WriteFile(filepath.Join(a.work, ".env"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again("without namespaces, beside a secret", "--namespaces", "off")

	// Where a pipe of the run's own stands between, to count what is written, the file is
	// no stream of the run's.
	const past = `exec 5<"$1"; { echo more >/proc/self/fd/5; } 2>/dev/null && echo again >&2`
	for _, limit := range [][]string{nil, {"--output-limit", "1M"}} {
		run := append([]string{program(t), "--grant", "filesystem.read:" + log}, append(limit, "--")...)
		if left, said := after(false, run, past); strings.Contains(left, "more") != (limit == nil) || strings.Contains(said, "again") != (limit == nil) {
			t.Errorf("%q: %q is left, said %q", limit, left, said)
		}
	}
}

// TestInheritedOdd starts runs with what lets them read what others write, or do what
// no call of theirs is looked at for.
func TestInheritedOdd(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	event, err := unix.Eventfd(1, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	counter := os.NewFile(uintptr(event), "eventfd")
	defer counter.Close()
	for _, c := range []struct {
		stdin        *os.File
		script, bare string
		says         string
	}{
		{w, "head -c 6 /dev/stdin", "SECRET", "the end of a pipe that is written to"},
		{counter, "head -c 8 | tr '\\0' 0; echo", "\x010000000\n", "no file, device, pipe or socket (anon_inode:[eventfd])"},
	} {
		start := func(prefix ...string) string {
			io.WriteString(w, "SECRET")
			argv := append(prefix, "/bin/sh", "-c", c.script)
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir, cmd.Env, cmd.Stdin = a.work, a.env, c.stdin
			out, _ := cmd.CombinedOutput()
			return string(out)
		}
		for way, flags := range ways() {
			if out := start(append(append([]string{program(t)}, flags...), "--")...); !strings.Contains(out, c.says) || strings.Contains(out, c.bare) {
				t.Errorf("%s: %q, want %q", way, out, c.says)
			}
		}
		if out := start(); out != c.bare {
			t.Errorf("control: %q, want %q", out, c.bare)
		}
	}
}

// obey is what a program does to have whoever reads its standard input next do
// something for it.
var obey = map[string]string{
	"written":   `echo obey >/proc/self/fd/0`,
	"updated":   `echo obey 1<>/dev/stdin`,
	"truncated": `python3 -c 'import os; os.truncate("/proc/self/fd/0", 4)'`,
}

// TestInheritedInput gives runs as standard input what somebody outside reads after
// them, such as the shell that takes its commands from there.
func TestInheritedInput(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	a := newAgent(t)
	// left gives what there is to be read when a command is over.
	left := func(memory bool, argv ...string) (string, string) {
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if memory {
			in.Close()
			w.Close()
			fd, err := unix.MemfdCreate("input", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
			if err != nil {
				t.Fatal(err)
			}
			w = os.NewFile(uintptr(fd), "input")
			if in, err = os.Open(fmt.Sprintf("/proc/self/fd/%d", fd)); err != nil {
				t.Fatal(err)
			}
		}
		defer in.Close()
		io.WriteString(w, "next\n")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin = a.work, a.env, in
		out, _ := cmd.CombinedOutput()
		w.Close()
		rest, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		return string(rest), string(out)
	}
	for _, memory := range []bool{false, true} {
		for name, script := range obey {
			if name == "truncated" && !memory {
				continue
			}
			if rest, out := left(memory, "/bin/sh", "-c", script); rest == "next\n" {
				t.Fatalf("control: %s, memory %t: nothing else is there: %s", name, memory, out)
			}
			for way, flags := range ways() {
				run := append(append([]string{program(t)}, flags...), "--", "/bin/sh", "-c")
				if rest, out := left(memory, append(run, script)...); rest != "next\n" {
					t.Errorf("%s: %s, memory %t: %q is there: %s", way, name, memory, rest, out)
				}
				// It is there to be read, by a path, too; and pipes of the run's own are
				// opened either way.
				if rest, out := left(memory, append(run, `read x </dev/stdin; true | echo $x >/proc/self/fd/1; true | : <>/proc/self/fd/0`)...); !memory && rest != "" || out != "next\n" {
					t.Errorf("%s: memory %t: %q is left, said %q", way, memory, rest, out)
				}
			}
		}
	}
}

// TestNestedInput has a shell of the outer run's read commands after a run inside.
func TestNestedInput(t *testing.T) {
	eachOuter(t, func(o *outerRun, inside bool) {
		script := func(by string) string {
			return asHeld + "export -f held; printf '%s\\n' '" + by + ` sh -c "echo echo obeyed >/proc/self/fd/0" 2>/dev/null' 'echo end' | bash`
		}
		if got := o.bash(script("env")); got != "end\nobeyed\n" {
			t.Fatalf("control: %q", got)
		}
		if got := o.bash(script("held sub")); got != "end\n" {
			t.Errorf("inside another %t: %q", inside, got)
		}
	})
}

// TestInheritedOutput gives runs a pipe as standard output in which another program has
// written.
func TestInheritedOutput(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	took := func(argv ...string) string {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		io.WriteString(w, "canary\n")
		argv = append(argv, "python3", "-c", `import os; os.write(2, os.read(os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK), 99))`)
		cmd := exec.Command(argv[0], argv[1:]...)
		var stderr bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.work, a.env, w, &stderr
		cmd.Run()
		return stderr.String()
	}
	if out := took(); out != "canary\n" {
		t.Fatalf("control: %q", out)
	}
	for way, flags := range ways() {
		for _, preset := range []string{"standard", "power-user"} {
			out := took(append(append([]string{program(t), "--preset", preset}, flags...), "--")...)
			if strings.Contains(out, "canary") || !strings.Contains(out, "unavailable") {
				t.Errorf("%s: %s: %s", way, preset, out)
			}
		}
	}
}

// TestAppendedAgain holds a run to a log that it shares with what comes after it: a
// program that has it append no more would have that written over what is there.
func TestAppendedAgain(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const script = `
import fcntl, os
for fd in 1, 2: fcntl.fcntl(fd, fcntl.F_SETFL, 0); os.lseek(fd, 0, 0)`
	after := func(prefix ...string) string {
		dir, env := home(t)
		cmd := exec.Command("/bin/sh", append([]string{"-c", `exec >>log 2>&1; echo before; "$@" || exit; echo after`, "sh"}, append(prefix, "python3", "-c", script)...)...)
		cmd.Dir, cmd.Env = dir, env
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := after(); got != "after\n\n" {
		t.Errorf("control: %q", got)
	}
	for way, flags := range ways() {
		if got := after(append(append([]string{program(t)}, flags...), "--")...); got != "before\nafter\n" {
			t.Errorf("%s: %q", way, got)
		}
	}
}

// TestMessagesInLog has a run make the file of its messages one that takes none of
// them, before something is refused.
func TestMessagesInLog(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	const denied = `
try: os.write(2, b"x"); print("taken")
except OSError: print("not taken")
try: open("/proc/1/canary", "w")
except OSError: pass`
	for name, script := range map[string]string{
		"whole blocks": `
import fcntl, os
fcntl.fcntl(2, fcntl.F_SETFL, os.O_DIRECT)`,
		"beyond all files": `
import fcntl, os
fcntl.fcntl(2, fcntl.F_SETFL, 0)
at = 0
for bit in reversed(range(63)):
    try: at = os.lseek(2, at | 1 << bit, 0)
    except OSError: pass
os.lseek(2, at, 0)`,
	} {
		t.Run(name, func(t *testing.T) {
			after := func(prefix ...string) (said, log string) {
				dir, env := home(t)
				cmd := exec.Command("/bin/sh", append([]string{"-c", `exec "$@" 2>>log`, "sh"}, append(prefix, "python3", "-c", script+denied)...)...)
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.Output()
				b, rerr := os.ReadFile(filepath.Join(dir, "log"))
				if err != nil || rerr != nil {
					t.Fatal(err, rerr)
				}
				return string(out), string(b)
			}
			if said, log := after(); said != "not taken\n" || log != "" {
				sandboxtest.Skip(t, sandboxtest.Machine, "files that take all that is written")
			}
			for way, flags := range ways() {
				said, log := after(append(append([]string{program(t), "--denials"}, flags...), "--")...)
				if said != "not taken\n" || !strings.Contains(log, "/proc/1/canary") {
					t.Errorf("%s: %q, %q", way, said, log)
				}
			}
		})
	}
}

// TestWaitsAgain holds a run to a pipe and a socket that its caller reads on from: a
// program that has nobody wait there would end a script's "while read".
func TestWaitsAgain(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	after := func(make func() ([2]int, error), prefix ...string) bool {
		ends, err := make()
		if err != nil {
			t.Fatal(err)
		}
		stdin := os.NewFile(uintptr(ends[0]), "stdin")
		defer stdin.Close()
		defer unix.Close(ends[1])
		argv := append(prefix, "python3", "-c", "import os; os.set_blocking(0, False)")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = home(t)
		cmd.Stdin = stdin
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		flags, err := unix.FcntlInt(uintptr(ends[0]), unix.F_GETFL, 0)
		return err == nil && flags&unix.O_NONBLOCK == 0
	}
	for name, make := range map[string]func() ([2]int, error){
		"pipe": func() (ends [2]int, err error) { return ends, unix.Pipe2(ends[:], unix.O_CLOEXEC) },
		"socket": func() ([2]int, error) {
			return unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		},
	} {
		if after(make) {
			t.Errorf("control: %s: waits", name)
		}
		for way, flags := range ways() {
			if !after(make, append(append([]string{program(t)}, flags...), "--")...) {
				t.Errorf("%s, %s: waits for nobody", name, way)
			}
		}
	}
}

// TestInheritedConnection gives runs a connection as standard input, which is in the
// network outside, whatever the run may reach: no packet goes another way by it.
func TestInheritedConnection(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const script = `
import socket, struct
ways = ((1, 25, b"lo\0"), (0, 42, struct.pack("I4xHH4s120x", 1, 2, 0, bytes((239, 1, 2, 3)))))
s = socket.socket(fileno=0)
if s.family == socket.AF_INET6:
    ways = ((1, 25, b"lo\0"), (41, 57, bytes((0, 4, 4, 1, 1, 0, 0, 0)) + 2 * socket.inet_pton(s.family, "::1")))
s.detach()
for level, name, value in ways:
    s = socket.socket(fileno=0)
    try: s.setsockopt(level, name, value); print("done")
    except OSError: print("refused")
    s.detach()
`
	try := func(t *testing.T, addr string, argv ...string) string {
		t.Helper()
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		stdin, err := conn.(*net.TCPConn).File()
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		argv = append(argv, "python3", "-c", script)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = home(t)
		cmd.Stdin = stdin
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", argv, err)
		}
		return string(out)
	}
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(at, func(t *testing.T) {
			listener, err := net.Listen("tcp", at)
			if err != nil && at == "[::1]:0" {
				sandboxtest.Skip(t, sandboxtest.Machine, "no IPv6: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			addr := listener.Addr().String()
			if got := try(t, addr, "env"); strings.Contains(got, "refused") {
				t.Fatalf("control: %s: %q", addr, got)
			}
			for way, flags := range ways() {
				for _, more := range [][]string{nil, {"--grant", "network.client:example.com"}} {
					if got := try(t, addr, append(append(append([]string{program(t)}, flags...), more...), "--")...); got != "refused\nrefused\n" {
						t.Errorf("%s, %s %q: %q", addr, way, more, got)
					}
				}
			}
		})
	}
}

// TestInheritedDirectory gives runs the workspace as standard input, through which
// a secret in it is found in another view than theirs.
func TestInheritedDirectory(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	a.write("work/.env", "canary\n")
	through := func(argv ...string) string {
		stdin, err := os.Open(a.work)
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		argv = append(argv, "/bin/sh", "-c", "cat /proc/self/fd/0/.env")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin = a.work, a.env, stdin
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := through("/usr/bin/env"); out != "canary\n" {
		t.Fatalf("control: %s", out)
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			out := through(append(append([]string{program(t)}, flags...), "--")...)
			if strings.Contains(out, "canary") || !strings.Contains(out, "standard input is a directory") {
				t.Error(out)
			}
		})
	}
}

// TestInheritedPassed hands runs a directory outside, over the socket that is their
// standard input. What a path of it leads to in everybody's /tmp is nothing of theirs.
func TestInheritedPassed(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	scripts := []string{
		`os.chmod(path, 0o700, dir_fd=fd)`,
		`os.chmod("/proc/self/fd/%d" % os.open(path, os.O_PATH, dir_fd=fd), 0o700)`,
		`os.chmod(os.path.dirname(path) + "/.", 0o700, dir_fd=fd)`,
		`os.fchdir(fd); os.utime(path, (5, 5))`,
		`os.fchdir(fd); os.chdir(os.path.dirname(path)); os.chmod("file", 0o700)`,
	}
	// Each is tried by a process of its own, on a file of its own.
	const tries = `
import os, socket, sys
s = socket.socket(fileno=0)
fd = socket.recv_fds(s, 1, 1)[1][0]
for i, script in enumerate(sys.argv[2:]):
    path = "../" * 20 + sys.argv[1] + "/%d/file" % i
    if os.fork() == 0: exec(script); os._exit(0)
    os.wait()
print("all were tried")
`
	// unchanged gives the scripts by which nothing changed.
	unchanged := func(prefix ...string) (list []string, out string) {
		dir, err := os.MkdirTemp("/tmp", "inherited")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		look := func(i int) string {
			d := filepath.Join(dir, strconv.Itoa(i))
			parent, err1 := os.Stat(d)
			file, err2 := os.Stat(d + "/file")
			if err := cmp.Or(err1, err2); err != nil {
				return err.Error()
			}
			return fmt.Sprint(parent.Mode(), file.Mode(), file.ModTime())
		}
		var before []string
		for i := range scripts {
			d := filepath.Join(dir, strconv.Itoa(i))
			if err := os.Mkdir(d, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(d+"/file", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			before = append(before, look(i))
		}
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(pair[1])
		stdin := os.NewFile(uintptr(pair[0]), "stdin")
		defer stdin.Close()
		outside, err := os.Open(a.root)
		if err != nil {
			t.Fatal(err)
		}
		defer outside.Close()
		if err := syscall.Sendmsg(pair[1], []byte("x"), syscall.UnixRights(int(outside.Fd())), nil, 0); err != nil {
			t.Fatal(err)
		}
		argv := append(append(prefix, "python3", "-c", tries, dir), scripts...)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin = a.work, a.env, stdin
		b, _ := cmd.CombinedOutput()
		for i, script := range scripts {
			if look(i) == before[i] {
				list = append(list, script)
			}
		}
		return list, string(b)
	}
	if same, out := unchanged(); len(same) > 0 {
		t.Fatalf("control: nothing changes by %q: %s", same, out)
	}
	for way, flags := range ways() {
		same, out := unchanged(append(append([]string{program(t)}, flags...), "--")...)
		if len(same) < len(scripts) || !strings.Contains(out, "all were tried") {
			t.Errorf("%s: only by %q was nothing changed: %s", way, same, out)
		}
	}
}

// startMemory writes a program into the output, which it then starts by a path.
const startMemory = `cat /bin/true >&1; exec 3</proc/self/fd/1 >&2; chmod +x /proc/self/fd/3; /proc/self/fd/3`

// TestInheritedMemory gives runs a file of memory as standard output, which its maker
// may start as a program.
func TestInheritedMemory(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	a := newAgent(t)
	starts := func(argv ...string) (bool, string) {
		fd, err := unix.MemfdCreate("output", unix.MFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		memory := os.NewFile(uintptr(fd), "output")
		defer memory.Close()
		var said strings.Builder
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.work, a.env, memory, &said
		err = cmd.Run()
		if info, err := memory.Stat(); err != nil || info.Size() == 0 {
			t.Fatalf("nothing was written: %v, %s", err, &said)
		}
		return err == nil, said.String()
	}
	if ok, said := starts("/bin/sh", "-c", startMemory); !ok {
		t.Fatalf("control: it does not start: %s", said)
	}
	for way, flags := range ways() {
		run := append(append([]string{program(t)}, flags...), "--", "/bin/sh", "-c", startMemory)
		if ok, said := starts(run...); ok || !strings.Contains(said, "Permission denied") {
			t.Errorf("%s: started %t, said %q", way, ok, said)
		}
	}
}
