package linux_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/sandbox/sandboxtest"
)

const badVariable = "SKILLRUN_TEST_BAD"

// TestSupervisedBadInput gives the supervisor what no ordinary program does. It
// answers as the kernel does, and goes on.
func TestSupervisedBadInput(t *testing.T) {
	for _, what := range []string{"memory", "junk", "closed", "traced", "stopped", "storm"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newCell(t)
			c.features |= linux.NotifySockets
			c.env = []string{badVariable + "=" + what}
			self := []string{testBinary(t), "-test.run=^TestSupervisedBadCalls$"}
			// The control: the kernel alone gives the same answers.
			if r := c.bare(self...); r.code != 0 || !strings.Contains(r.out, "PASS") {
				t.Fatalf("bare: exit %d\n%s", r.code, r.out)
			}
			r := c.run(self...)
			if r.code != 0 || !strings.Contains(r.out, "PASS") {
				t.Errorf("exit %d\n%s%s", r.code, r.out, c.explain())
			}
		})
	}
}

// TestSupervisedPlainFileSystem works where the file system tells no times of
// birth, by which files, and sockets, are known elsewhere.
func TestSupervisedPlainFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("ramfs", dir, "ramfs", 0, ""); errors.Is(err, unix.EPERM) {
		sandboxtest.Skip(t, sandboxtest.Mounts, "only root mounts")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	c := newCellAt(t, dir)
	c.features |= linux.NotifySockets
	c.write("old", "old\n")
	const script = `
import os, socket
fd = os.open("f", os.O_CREAT | os.O_RDWR, 0o600)
os.fchmod(fd, 0o640); os.utime(fd, (5, 5)); os.link("f", "g"); os.rename("f", "h"); os.unlink("g")
assert os.stat("h").st_mode & 0o777 == 0o640 and os.fstat(fd).st_mtime == 5
with open("t", "w") as f: f.write("new")
os.rename("t", "old"); assert open("old").read() == "new"
os.mkdir("d"); os.rename("d", "e"); os.rmdir("e")
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(2)
socket.socket(socket.AF_UNIX).connect("s"); os.rename("s", "s2"); socket.socket(socket.AF_UNIX).connect("s2")
for name in "s2", "h": os.unlink(name)
`
	if r := c.bare("python3", "-c", script); r.code != 0 {
		t.Fatalf("control: exit %d\n%s", r.code, r.out)
	}
	c.write("old", "old\n")
	if r := c.run("python3", "-c", script+`
try: os.unlink("old"); print("removed")
except PermissionError: pass
`); r.code != 0 || r.out != "" {
		t.Errorf("exit %d\n%s%s", r.code, r.out, c.explain())
	}
}

// TestSupervisedBadCalls is the program inside. By itself it does nothing.
func TestSupervisedBadCalls(t *testing.T) {
	switch os.Getenv(badVariable) {
	case "memory":
		badMemory(t)
	case "junk":
		badJunk(t)
	case "closed":
		badClosed(t)
	case "traced":
		badTraced(t)
	case "stopped":
		badStopped(t)
	case "storm":
		badStorm(t)
	}
}

// badMemory passes paths that are not there, end where memory ends, or do not
// end.
func badMemory(t *testing.T) {
	page := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	must(t, err)
	must(t, unix.Mprotect(mem[2*page:], unix.PROT_NONE))
	for i := range mem[:2*page] {
		mem[i] = 'a'
	}
	at := func(i int) uintptr { return uintptr(unsafe.Pointer(&mem[i])) }
	mem[page-1] = 0 // "a..." at page-4, and nothing before it ends
	copy(mem[2*page-4:], "ok2\x00")
	long := append(bytes.Repeat([]byte("./"), unix.PathMax/2), 0)
	fits := append(bytes.Repeat([]byte("./"), unix.PathMax/2-2), "fit\x00"...)
	cwd := ^uintptr(99)
	ok := uintptr(unsafe.Pointer(&[]byte("ok\x00")[0]))
	for _, c := range []struct {
		path uintptr
		want unix.Errno
	}{
		{0, unix.EFAULT},
		{1, unix.EFAULT},
		{^uintptr(0), unix.EFAULT},
		{at(2 * page), unix.EFAULT},
		{uintptr(unsafe.Pointer(&long[0])), unix.ENAMETOOLONG},
	} {
		for _, call := range []struct {
			name string
			nr   uintptr
			args [4]uintptr
		}{
			{"openat", unix.SYS_OPENAT, [4]uintptr{cwd, c.path, unix.O_CREAT | unix.O_WRONLY, 0o600}},
			{"mkdirat", unix.SYS_MKDIRAT, [4]uintptr{cwd, c.path, 0o700}},
			{"mknodat", unix.SYS_MKNODAT, [4]uintptr{cwd, c.path, unix.S_IFREG | 0o600}},
			{"unlinkat", unix.SYS_UNLINKAT, [4]uintptr{cwd, c.path}},
			{"renameat2, from", unix.SYS_RENAMEAT2, [4]uintptr{cwd, c.path, cwd, ok}},
			{"symlinkat, target", unix.SYS_SYMLINKAT, [4]uintptr{c.path, cwd, ok}},
			{"symlinkat, name", unix.SYS_SYMLINKAT, [4]uintptr{ok, cwd, c.path}},
			{"linkat", unix.SYS_LINKAT, [4]uintptr{cwd, c.path, cwd, ok}},
			{"truncate", unix.SYS_TRUNCATE, [4]uintptr{c.path}},
			{"fchmodat", unix.SYS_FCHMODAT, [4]uintptr{cwd, c.path, 0o600}},
			{"fchownat", unix.SYS_FCHOWNAT, [4]uintptr{cwd, c.path, ^uintptr(0), ^uintptr(0)}},
			{"setxattr", unix.SYS_SETXATTR, [4]uintptr{c.path, ok, ok, 1}},
		} {
			if _, _, e := unix.Syscall6(call.nr, call.args[0], call.args[1], call.args[2], call.args[3], 0, 0); e != c.want {
				t.Errorf("%s(%#x): %v, want %v", call.name, c.path, e, c.want)
			}
		}
	}
	for _, c := range []struct{ path, name uintptr }{{at(2*page - 4), 0}, {at(page - 4), 0}, {uintptr(unsafe.Pointer(&fits[0])), 0}} {
		if _, _, e := unix.Syscall(unix.SYS_MKDIRAT, cwd, c.path, 0o700); e != 0 {
			t.Errorf("mkdirat of a path that just fits: %v", e)
		}
	}
	for _, name := range []string{"ok2", "aaa", "fit"} {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
	runtime.KeepAlive(long)
	runtime.KeepAlive(fits)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(t, err)
	defer unix.Close(fd)
	for _, size := range []uintptr{0, 1, 110, 111, 128, 129, 1 << 31, 1<<32 - 1} {
		if _, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), at(2*page), size); e == 0 {
			t.Errorf("connect to an address that is not there, size %d, succeeded", size)
		}
	}
}

// badJunk makes, moves and removes names of any bytes, up to the longest.
func badJunk(t *testing.T) {
	draw := rand.New(rand.NewSource(1))
	name := func(size int) string {
		b := make([]byte, size)
		for i := range b {
			if b[i] = byte(1 + draw.Intn(255)); b[i] == '/' {
				b[i] = '\n'
			}
		}
		return "\xff" + string(b)
	}
	for _, size := range []int{1, 2, 17, 100, 253, 254} {
		for range 5 {
			from, to, link := name(size), name(size), name(size)
			must(t, os.WriteFile(from, []byte(from), 0o600))
			must(t, os.Rename(from, to))
			must(t, os.Symlink(to, link))
			must(t, os.Chmod(link, 0o400))
			if b, err := os.ReadFile(link); err != nil || string(b) != from {
				t.Errorf("%q reads %q, %v", link, b, err)
			}
			must(t, os.Remove(link))
			must(t, os.Remove(to))
		}
	}
	if err := os.Mkdir(name(255), 0o700); !errors.Is(err, unix.ENAMETOOLONG) {
		t.Errorf("a name of 256 bytes: %v", err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// badClosed calls with a descriptor that another thread closes and opens.
func badClosed(t *testing.T) {
	const number = 900
	must(t, os.Mkdir("here", 0o700))
	here, err := unix.Open("here", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	var ended atomic.Bool
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		for !ended.Load() {
			unix.Dup3(here, number, unix.O_CLOEXEC)
			unix.Close(number)
		}
	}()
	for range 300 {
		fd, err := unix.Openat(number, "f", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		if err == nil {
			unix.Close(fd)
		}
		for _, err := range []error{err, unix.Mkdirat(number, "d", 0o700), unix.Renameat(number, "f", number, "g"), unix.Fchmod(number, 0o700),
			unix.Unlinkat(number, "g", 0), unix.Unlinkat(number, "d", unix.AT_REMOVEDIR)} {
			if err != nil && err != unix.EBADF && err != unix.ENOENT && err != unix.EEXIST {
				t.Error(err)
			}
		}
	}
	ended.Store(true)
	group.Wait()
	if err := os.RemoveAll("here"); err != nil {
		t.Error(err)
	}
}

// badTraced has a program traced through every one of its calls.
func badTraced(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("mkdir", "traced")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	must(t, cmd.Start())
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	for stops := 0; ; stops++ {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err == syscall.EINTR {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if status.Exited() || status.Signaled() {
			if stops < 10 || status.ExitStatus() != 0 {
				t.Errorf("status %v after %d stops", status, stops)
			}
			break
		}
		must(t, syscall.PtraceSyscall(pid, 0))
	}
	if err := os.Remove("traced"); err != nil {
		t.Error(err)
	}
}

// badStopped stops and continues a program in the middle of its calls.
func badStopped(t *testing.T) {
	cmd := exec.Command("sh", "-ec", "i=0; while [ $i -lt 50 ]; do : > f$i; ln f$i g$i; i=$((i+1)); done; rm f* g*")
	out := new(bytes.Buffer)
	cmd.Stderr = out
	must(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			return
		default:
			cmd.Process.Signal(syscall.SIGSTOP)
			cmd.Process.Signal(syscall.SIGCONT)
		}
	}
}

// badStorm calls from many threads at once, as fast as they can, and for as long
// as RACE_TIME says.
func badStorm(t *testing.T) {
	limit, _ := time.ParseDuration(os.Getenv("RACE_TIME"))
	start := time.Now()
	var calls atomic.Int64
	var group sync.WaitGroup
	for i := range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 100 || time.Since(start) < limit; j++ {
				name := fmt.Sprint("storm", i, "-", j)
				if err := os.Mkdir(name, 0o700); err != nil {
					t.Error(err)
				}
				if err := os.Remove(name); err != nil {
					t.Error(err)
				}
				calls.Add(3) // removal tries unlink first
			}
		}()
	}
	group.Wait()
	t.Logf("%.0f calls a second", float64(calls.Load())/time.Since(start).Seconds())
}
