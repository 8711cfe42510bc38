package main_test

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// A granted socket is reached where it is, in a /tmp that is otherwise the run's own,
// too: ssh-agent's and that of an X server. The one beside it is not.
func TestSocketsInTmp(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	place, err := os.MkdirTemp("/tmp", "sr")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(place)
	for _, name := range []string{"granted", "beside"} {
		ln, err := net.Listen("unix", place+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		go sandboxtest.Serve(ln, func(c net.Conn) { c.Write([]byte(name)) })
	}
	const script = `
import errno, socket, sys
for name in "granted", "beside":
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(sys.argv[1] + "/" + name)
        print(s.recv(9).decode())
    except OSError as e:
        print(errno.errorcode[e.errno])
`
	connect := func(t *testing.T, command ...string) string {
		dir, env := home(t)
		cmd := exec.Command(command[0], append(command[1:], "python3", "-c", script, place)...)
		cmd.Dir, cmd.Env, cmd.Stderr = dir, env, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Error(err)
		}
		return string(out)
	}
	if said := connect(t, "env"); said != "granted\nbeside\n" {
		t.Fatalf("control: %q", said)
	}
	for _, namespaces := range []string{"auto", "off"} {
		t.Run(namespaces, func(t *testing.T) {
			said := connect(t, program(t), "--namespaces", namespaces, "--grant", "unix:"+place+"/granted", "--")
			if said != "granted\nENOENT\n" {
				t.Errorf("the run said %q", said)
			}
		})
	}
}

// A socket of others keeps the name that it has: a run that binds one of another name,
// while a second moves theirs there, would take it for its own. What it has made itself
// it may move, by mknod(2), too.
func TestSocketsOfOthersStay(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	const script = `
import ctypes, os, socket, stat
s = socket.socket(socket.AF_UNIX)
s.bind("bound"); s.listen(1)
os.rename("bound", "mine"); os.link("mine", "linked")
socket.socket(socket.AF_UNIX).connect("linked")
os.mknod("node", stat.S_IFSOCK | 0o600)
os.rename("node", "other"); os.link("other", "third")
def moved(call):
    try: call()
    except OSError: return
    print("moved", end=" ")
def exchange(one, other):
    if ctypes.CDLL(None).renameat2(-100, one, -100, other, 2): raise OSError
exchange(b"mine", b"other"); exchange(b"mine", b"other")
moved(lambda: os.link("theirs", "new"))
moved(lambda: exchange(b"theirs", b"mine"))
moved(lambda: exchange(b"theirs", b"mine"))
moved(lambda: os.rename("theirs", "mine"))
print("ran")
`
	try := func(t *testing.T, command ...string) string {
		a := newAgent(t)
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := unix.Bind(fd, &unix.SockaddrUnix{Name: a.work + "/theirs"}); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(command[0], append(command[1:], "python3", "-c", script)...)
		cmd.Dir, cmd.Env, cmd.Stderr = a.work, a.env, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Error(err)
		}
		return string(out)
	}
	if said := try(t, "env"); said != "moved moved moved moved ran\n" {
		t.Fatalf("control: %q", said)
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			argv := append([]string{program(t), "--grant", "filesystem.write:.", "--grant", "filesystem.delete:."}, flags...)
			if said := try(t, append(argv, "--")...); said != "ran\n" {
				t.Errorf("the run said %q", said)
			}
		})
	}
}

// A socket of others is not taken for one just bound, by whomever it is moved there
// meanwhile: programs outside may move it.
func TestSocketMovedWhileBound(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	const script = `
import itertools, os, socket, time
end = time.time() + 1
def reached(name):
    try: socket.socket(socket.AF_UNIX).connect(name)
    except OSError: return False
    return True
for i in itertools.count():
    socket.socket(socket.AF_UNIX).bind("x%d" % i)
    if any(reached("x%d" % i) for _ in range(9)): print("reached")
    elif time.time() < end: continue
    break
print("ran")
`
	try := func(command ...string) (said string, moves int) {
		a := newAgent(t)
		ln, err := net.Listen("unix", a.work+"/theirs")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		go sandboxtest.Serve(ln, func(net.Conn) {})
		time.Sleep(2100 * time.Millisecond) // it is not from just now
		cmd := exec.Command(command[0], append(command[1:], "python3", "-c", script)...)
		cmd.Dir, cmd.Env, cmd.Stderr = a.work, a.env, os.Stderr
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			said = string(out)
		}()
		name := func(i int) string { return a.work + "/x" + strconv.Itoa(i) }
		for i := 0; ; {
			select {
			case <-ended:
				return said, moves
			default:
			}
			if _, err := os.Lstat(name(i + 1)); err == nil && moves%2 == 0 {
				i++
			}
			if unix.Renameat2(unix.AT_FDCWD, a.work+"/theirs", unix.AT_FDCWD, name(i), unix.RENAME_EXCHANGE) == nil {
				moves++ // there, and back
			}
		}
	}
	if said, moves := try("env"); said != "reached\nran\n" {
		t.Fatalf("control: %q, %d moves", said, moves)
	}
	said, moves := try(program(t), "--grant", "filesystem.write:.", "--grant", "filesystem.delete:.", "--")
	if said != "ran\n" || moves < 10 {
		t.Errorf("the run said %q, %d moves", said, moves)
	}
}
