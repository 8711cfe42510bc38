package linux_test

import (
	"errors"
	"io"
	"math/rand"
	"net"
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

func TestSupervisedShell(t *testing.T) {
	c := newCell(t)
	c.write("old.txt", "old\n")
	r := c.run("sh", "-ec", `
		echo new > new.txt; cat new.txt; mkdir -p a/b; echo x > a/b/c; mv a/b/c a/d; ln -s a/d l; cat l; rm -r a l
		echo more >> old.txt; echo whole > tmp; mv tmp old.txt; cat old.txt
		umask 077; : > private; chmod 600 private; touch private
		! rm old.txt`)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
	}
	if fi, err := os.Stat(c.ws + "/private"); err != nil || fi.Mode() != 0o600 {
		t.Errorf("private: %v %v", fi, err)
	}
	t.Log(r.out, c.explain())
}

// socketScript connects in every way that a path or name can be spelled.
const socketScript = `
import os, socket, sys, multiprocessing, asyncio, threading
where = sys.argv[1]
outside = where + "/out.sock"
def say(name, f):
    try:
        f(); print(name, "yes")
    except OSError as e:
        print(name, "no", e.errno)
def connect(path, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind); s.settimeout(60); s.connect(path); s.close()
say("outside", lambda: connect(outside))
os.symlink(outside, "link"); say("symlink", lambda: connect("link"))
say("relative", lambda: connect("../outside/out.sock"))
say("dot-dot", lambda: connect(os.getcwd() + "/x/../../outside/out.sock") if os.path.isdir("x") or not os.mkdir("x") else 0)
say("proc-cwd", lambda: connect("/proc/self/cwd/../outside/out.sock"))
say("abstract", lambda: connect("\0skillrun-test-" + str(os.getppid()) if False else sys.argv[2].replace("@", "\0")))
d = os.open(where, os.O_RDONLY)
say("proc-fd", lambda: connect("/proc/self/fd/%d/out.sock" % d))
say("seqpacket", lambda: connect(outside, socket.SOCK_SEQPACKET))
say("hard link", lambda: (os.link(outside, "hard"), connect("hard")))
say("own hard link in tmp", lambda: (os.link(outside, os.environ["TMPDIR"] + "/h"), connect(os.environ["TMPDIR"] + "/h")))
def dgram(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b"x", path)
say("dgram", lambda: dgram(where + "/out.dgram"))
say("dgram pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", where + "/out.dgram"))
say("bind outside", lambda: socket.socket(socket.AF_UNIX).bind(where + "/new.sock"))
say("bind control", lambda: socket.socket(socket.AF_UNIX).bind(".envrc"))
`

// TestSupervisedPathDescriptor: one for O_PATH does for fchmodat2(2), unlike for fchmod(2).
func TestSupervisedPathDescriptor(t *testing.T) {
	const script = `
import ctypes, os
open("f", "w").close()
print(ctypes.CDLL(None).syscall(452, os.open("f", os.O_PATH), b"", 0o640, 0x1000), oct(os.stat("f").st_mode))
`
	c := newCell(t)
	if r := c.run("python3", "-c", script); r.out != "0 0o100640\n" {
		t.Errorf("%s%s", r.out, c.explain())
	}
}

// TestSupervisedSockets tries sockets of others; the same script succeeds
// unsupervised.
func TestSupervisedSockets(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		c.features |= linux.NotifySockets
		serve(t, c.outside+"/out.sock", "unix")
		serve(t, c.outside+"/out.dgram", "unixgram")
		name := "@skillrun-test-" + filepath.Base(filepath.Dir(c.ws))
		serve(t, name, "unix")
		c.write(c.outside+"/script.py", socketScript)
		argv := []string{"python3", c.outside + "/script.py", c.outside, name}
		r := c.run(argv...)
		for _, line := range strings.Split(strings.TrimSpace(r.out), "\n") {
			if !strings.Contains(line, " no ") {
				t.Errorf("got through: %s", line)
			}
		}
		if n := strings.Count(r.out, "\n"); n != 14 || r.code != 0 {
			t.Fatalf("%d lines, exit %d:\n%s", n, r.code, r.out)
		}
		os.Remove(c.ws + "/link")
		r = c.bare(argv...)
		for _, line := range strings.Split(strings.TrimSpace(r.out), "\n") {
			if !strings.HasSuffix(line, " yes") && !strings.HasPrefix(line, "seqpacket") {
				t.Errorf("control: %s", line)
			}
		}
	})
}

// givenNameScript connects to an abstract name that the kernel gave it, and that another
// program has by then.
const givenNameScript = `
import os, socket
s = socket.socket(socket.AF_UNIX); s.bind(""); name = s.getsockname(); s.close()
os.write(0, name); os.read(0, 1)
s = socket.socket(socket.AF_UNIX); s.connect(name); s.close()
`

// TestGivenNamesOfSockets: who had an abstract name has none once the socket is closed.
func TestGivenNamesOfSockets(t *testing.T) {
	for _, control := range []bool{false, true} {
		c := newCell(t)
		c.features |= linux.NotifySockets
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		must(t, err)
		theirs, ours := os.NewFile(uintptr(pair[0]), "theirs"), os.NewFile(uintptr(pair[1]), "ours")
		c.stdin = theirs
		listening := make(chan error, 1)
		go func() {
			name := make([]byte, 64)
			n, err := ours.Read(name)
			if err == nil && n > 1 {
				var l net.Listener
				for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // the supervisor has it for a moment
					l, err = net.Listen("unix", "@"+string(name[1:n]))
					if !errors.Is(err, unix.EADDRINUSE) || time.Now().After(end) {
						break
					}
				}
				if err == nil {
					defer l.Close()
				}
			}
			listening <- err
			ours.Write([]byte{1})
			ours.Read(name) // until it has ended
		}()
		run := c.run
		if control {
			run = c.bare
		}
		r := run("python3", c.write(c.outside+"/script.py", givenNameScript))
		theirs.Close()
		must(t, <-listening)
		if got := r.code == 0; got != control || !control && !strings.Contains(r.out, "PermissionError") {
			t.Errorf("control %t: exit %d\n%s%s", control, r.code, r.out, c.explain())
		}
		ours.Close()
	}
}

const ownSocketScript = `
import os, socket, threading, multiprocessing, asyncio, subprocess, tempfile
def pair(path, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind); s.bind(path); s.listen(1)
    c = socket.socket(socket.AF_UNIX, kind); c.connect(path)
    a, _ = s.accept(); c.sendall(b"hello"); assert a.recv(5) == b"hello"
    c.close(); assert a.recv(5) == b""; a.close(); s.close()
pair("own.sock"); pair("./sub/../own2.sock" if not os.mkdir("sub") else ""); pair(os.environ["TMPDIR"] + "/t.sock")
try: pair("\0" + "own-abstract-%d" % os.getpid()); assert False
except PermissionError: pass
s = socket.socket(socket.AF_UNIX); s.bind(""); s.getsockname(); s.close()
pair("seq.sock", socket.SOCK_SEQPACKET)
# An X server that has a path only, and a client that tries its abstract name first.
x = os.getcwd() + "/X99"; s = socket.socket(socket.AF_UNIX); s.bind(x); s.listen(1); c = socket.socket(socket.AF_UNIX)
try: c.connect("\0" + x); assert False
except ConnectionRefusedError: pass
c.connect(x); s.accept()[0].close(); s.close(); open("X98", "w").close()
for other in x + "0", os.getcwd() + "/X98", os.getcwd(), "X99":
    try: socket.socket(socket.AF_UNIX).connect("\0" + other); assert False
    except PermissionError: pass
os.umask(0o077); pair("private.sock"); assert os.stat("private.sock").st_mode & 0o777 == 0o700
os.unlink("own.sock")
a, b = socket.socketpair(); a.sendmsg([b"x"]); assert b.recv(1) == b"x"
s = socket.socket(socket.AF_UNIX); s.setblocking(False)
try: s.connect("nowhere")
except FileNotFoundError: pass
def work(q): q.put(os.getpid())
if __name__ == "__main__":
    q = multiprocessing.Queue(); p = multiprocessing.Process(target=work, args=(q,)); p.start(); q.get(); p.join()
    with multiprocessing.Manager() as m:
        d = m.dict(); d["x"] = 1; assert d["x"] == 1
    async def main():
        async def hello(r, w): w.write(await r.read(5)); await w.drain(); w.close()
        server = await asyncio.start_unix_server(hello, "aio.sock")
        r, w = await asyncio.open_unix_connection("aio.sock")
        w.write(b"12345"); assert await r.read(5) == b"12345"; w.close(); server.close()
    asyncio.run(main())
    subprocess.run(["node", "-e", """
const net=require('net'),cp=require('child_process');
const s=net.createServer(c=>c.end('hi')).listen('node.sock',()=>net.connect('node.sock').on('data',d=>{console.log(''+d);s.close();
const k=cp.spawn(process.execPath,['-e','process.on(\\'message\\',m=>{process.send(m+1);process.disconnect()})'],{stdio:['inherit','inherit','inherit','ipc']});k.on('message',m=>console.log(m));k.send(1)}))
"""], check=True)
    print("fine")
`

func TestSupervisedOwnSockets(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		c.features |= linux.NotifySockets
		c.write(c.outside+"/script.py", ownSocketScript)
		r := c.run("python3", c.outside+"/script.py")
		if r.code != 0 || !strings.Contains(r.out, "hi\n2\nfine\n") {
			t.Errorf("exit %d\n%s%s", r.code, r.out, c.explain())
		}
	})
}

// both runs a test with pidfd_getfd, and as where it is refused.
func both(t *testing.T, f func(*testing.T, *cell)) {
	t.Run("getfd", func(t *testing.T) { f(t, newCell(t)) })
	t.Run("copies", func(t *testing.T) {
		c := newCell(t)
		c.config = func(s *linux.Supervision) { s.KeepSockets = true }
		f(t, c)
	})
}

func serve(t *testing.T, name, network string) {
	t.Helper()
	if network == "unixgram" {
		l, err := net.ListenUnixgram(network, &net.UnixAddr{Name: name, Net: network})
		must(t, err)
		t.Cleanup(func() { l.Close() })
		return
	}
	l, err := net.Listen(network, name)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go sandboxtest.Serve(l, func(net.Conn) {})
}

// TestSupervisedAsUser repeats the tests that matter as an ordinary user.
func TestSupervisedAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // it is one
	}
	dir, err := os.MkdirTemp("/var/tmp", "sr")
	must(t, err)
	defer os.RemoveAll(dir)
	const user = 65534
	must(t, os.Chmod(dir, 0o755))
	must(t, os.Mkdir(dir+"/tmp", 0o700))
	must(t, os.Chown(dir+"/tmp", user, user))
	binary, err := os.ReadFile(testBinary(t))
	must(t, err)
	must(t, os.WriteFile(dir+"/linux.test", binary, 0o755))
	cmd := exec.Command(dir+"/linux.test", "-test.timeout=20m", "-test.run=^TestSupervised(Shell|Sockets|OwnSockets|Attacks|Ends)$")
	cmd.Dir = dir + "/tmp"
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir + "/tmp", "TMPDIR=" + dir + "/tmp", "CI=" + os.Getenv("CI"), "EMULATED_ENVIRONMENT=" + sandboxtest.Emulated()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSupervisedEnds: without its supervisor a run's calls fail, they do not
// pass.
func TestSupervisedEnds(t *testing.T) {
	c := newCell(t)
	r, w := io.Pipe()
	c.stdin = r
	c.before = func(s *linux.Supervisor, _ *exec.Cmd) {
		s.Close()
		io.WriteString(w, "go\n")
		w.Close()
	}
	res := c.run("sh", "-c", "read x; mkdir made || echo refused; echo > file || echo refused")
	if strings.Count(res.out, "refused\n") != 2 {
		t.Errorf("%s", res.out)
	}
	for _, n := range []string{"made", "file"} {
		if _, err := os.Lstat(c.ws + "/" + n); err == nil {
			t.Errorf("%s was made", n)
		}
	}
}

// TestSupervisedKilled kills children in the middle of their calls: the
// supervisor goes on, and keeps no descriptor.
func TestSupervisedKilled(t *testing.T) {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(list)
	}
	one := func(i int) {
		c := newCell(t)
		c.before = func(_ *linux.Supervisor, cmd *exec.Cmd) {
			time.Sleep(time.Duration(rand.Intn(30)) * time.Millisecond) // a random moment
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		c.run("sh", "-c", "(while :; do mkdir a; rmdir a; done) & while :; do echo > b; mv b c; rm c; done")
	}
	one(0)
	before := count()
	for i := 0; i < 20; i++ {
		one(i)
	}
	// A thread that ends closes what was written down for it when it has its turn.
	after := count()
	for end := time.Now().Add(time.Minute); after > before+2 && time.Now().Before(end); after = count() {
		time.Sleep(time.Millisecond)
	}
	if after > before+2 {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}
