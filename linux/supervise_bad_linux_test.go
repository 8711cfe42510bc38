package linux_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/linux"
)

const badVariable = "SKILLRUN_TEST_BAD"

// TestSupervisedBadInput gives the supervisor what no ordinary program does. It
// answers as the kernel does, and goes on.
func TestSupervisedBadInput(t *testing.T) {
	for _, what := range []string{"memory", "traced", "stopped", "storm"} {
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
			if r := c.run(self...); r.code != 0 || !strings.Contains(r.out, "PASS") {
				t.Errorf("exit %d\n%s%s", r.code, r.out, c.explain())
			}
		})
	}
}

// TestSupervisedBadCalls is the program inside. By itself it does nothing.
func TestSupervisedBadCalls(t *testing.T) {
	switch os.Getenv(badVariable) {
	case "memory":
		badMemory(t)
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

// badStorm calls from many threads at once, as fast as they can.
func badStorm(t *testing.T) {
	var group sync.WaitGroup
	for i := range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := range 250 {
				name := fmt.Sprint("storm", i, "-", j)
				if err := os.Mkdir(name, 0o700); err != nil {
					t.Error(err)
				}
				if err := os.Remove(name); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
}
