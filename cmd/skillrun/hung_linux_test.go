package main_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// hung is a file system, of one empty directory, that answers until it stops.
type hung struct {
	fd int
	mu sync.Mutex
	on bool
	// What is asked about the name keep is answered when it is another.
	keep  string
	taken [][]byte
}

// mountHung mounts one for the calling thread and what it starts.
func mountHung(t *testing.T, dir string) *hung {
	t.Helper()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		sandboxtest.Skip(t, sandboxtest.Mounts, "no file systems of user programs: %v", err)
	}
	runtime.LockOSThread() // which ends with the test
	err = unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("hung", dir, "fuse", 0, "fd="+strconv.Itoa(fd)+",rootmode=40000,user_id=0,group_id=0")
	}
	if err != nil {
		unix.Close(fd)
		sandboxtest.Skip(t, sandboxtest.Namespaces, "no mounts of our own here: %v", err)
	}
	h := &hung{fd: fd, on: true}
	done := make(chan struct{})
	end, stop := context.WithCancel(context.Background())
	go func() {
		defer close(done)
		for end.Err() == nil {
			unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10)
			h.serve()
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
		unix.Close(fd) // whoever still waits gets an error
		unix.Unmount(dir, unix.MNT_DETACH)
	})
	return h
}

// answers says whether requests are read. One that was not can be given up by who
// made it.
func (h *hung) answers(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on = on
}

// takes has requests to look up a name read and not answered, which nobody can
// give up; "" answers those that there are.
func (h *hung) takes(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep = name
	for _, request := range h.taken {
		h.answer(request)
	}
	h.taken = nil
}

// serve answers a request, as include/uapi/linux/fuse.h has it.
func (h *hung) serve() {
	h.mu.Lock()
	defer h.mu.Unlock()
	buf := make([]byte, 1<<17)
	if !h.on {
		time.Sleep(10 * time.Millisecond)
		return
	}
	n, err := unix.Read(h.fd, buf)
	switch {
	case err != nil || n < 40:
	case h.keep != "" && strings.HasPrefix(string(buf[40:n]), h.keep+"\x00"):
		h.taken = append(h.taken, buf[:n])
	default:
		h.answer(buf[:n])
	}
}

func (h *hung) answer(buf []byte) {
	ne := binary.NativeEndian
	var body []byte
	errno := unix.Errno(0)
	switch ne.Uint32(buf[4:]) { // the operation
	case 2, 36, 42: // FORGET, INTERRUPT, BATCH_FORGET
		return
	case 1: // LOOKUP
		errno = unix.ENOENT
	case 3: // GETATTR
		body = make([]byte, 16+88)
		ne.PutUint64(body[16:], 1)
		ne.PutUint32(body[16+60:], unix.S_IFDIR|0o777)
		ne.PutUint32(body[16+64:], 2)
	case 26: // INIT
		body = make([]byte, 64)
		ne.PutUint32(body, 7)
		ne.PutUint32(body[4:], 31)
		ne.PutUint32(body[20:], 4096)
	case 27: // OPENDIR
		body = make([]byte, 16)
	case 17: // STATFS
		body = make([]byte, 80)
	case 18, 28, 29, 34: // RELEASE, READDIR, RELEASEDIR, ACCESS
	default:
		errno = unix.ENOSYS
	}
	head := make([]byte, 16)
	ne.PutUint32(head, uint32(len(head)+len(body)))
	ne.PutUint32(head[4:], uint32(-int32(errno)))
	copy(head[8:], buf[8:16])
	unix.Write(h.fd, append(head, body...))
}

// A file system that does not answer holds up a run with a limit of time no
// longer than that, and its end is on record.
func TestHungEnds(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp", "root")
	dir, env := home(t)
	if err := os.Mkdir(filepath.Join(dir, "m"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := mountHung(t, filepath.Join(dir, "m"))
	// run gives the output, with the file system silent once began is in it.
	run := func(argv ...string) (string, string) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, env
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		cmd.Stdout, cmd.Stderr = w, w
		err = cmd.Start()
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(r)
		first, _ := out.ReadString('\n')
		if first == "began\n" {
			h.answers(false)
			io.WriteString(in, "go\n")
		}
		err = cmd.Wait()
		h.answers(true)
		rest, _ := io.ReadAll(out)
		return first + string(rest), ending(err)
	}
	const script = "echo began; read go; echo x >m/f; cat m/g"
	if out, end := run("timeout", "-s", "KILL", "2", "sh", "-c", script); out != "began\n" || !strings.HasPrefix(end, "signal 9") {
		t.Fatalf("control: %s: %s", end, out)
	}
	ended := 0
	for way, flags := range ways() { // on this thread
		limited := func(limit time.Duration, script string) (string, string) {
			argv := append([]string{program(t), "--grant", "filesystem.write:.", "--timeout", limit.String()}, flags...)
			return run(append(argv, "--", "sh", "-c", script)...)
		}
		for limit := time.Second; ; limit *= 2 {
			out, end := limited(limit, script)
			if strings.Contains(out, "everything was ended") {
				ended++
			}
			if !strings.HasPrefix(out, "began\n") && limit < 30*time.Second {
				continue // it was over before the command had begun
			}
			if want := "skillrun: timed out after " + limit.String() + ": everything was ended\n"; end != "exit 124" || !strings.HasPrefix(out, "began\n") || !strings.Contains(out, want) {
				t.Errorf("%s: during the run: %s: %s", way, end, out)
			}
			break
		}
		h.answers(false)
		if out, end := limited(time.Second, "touch ran"); end != "exit 124" || out != "skillrun: timed out after 1s: the command was not started\n" {
			t.Errorf("%s: before the run: %s: %s", way, end, out)
		}
	}
	log, err := exec.Command("sh", "-c", "cat "+filepath.Dir(dir)+"/state/skillrun/audit-*").Output()
	if n := strings.Count(string(log), `"status":"timeout"`); err != nil || n != ended {
		t.Errorf("%d ends on record: %v: %.2000s", n, err, log)
	}
}

// A process that waits where the kernel ends nobody keeps none of those that it
// has started from their end.
func TestHungEndsOthers(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp", "root")
	dir, env := home(t)
	if err := os.Mkdir(filepath.Join(dir, "m"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := mountHung(t, filepath.Join(dir, "m"))
	const script = `
import os, sys, time
def ticks():
    while True: open("ticks", "a").write("x"); time.sleep(0.01)
if os.fork() == 0:
    if os.fork() == 0: ticks()
    print("began", flush=True)
    open("m/f")
time.sleep(1000)`
	// grows says whether the file does, within a time.
	grows := func(within time.Duration) bool {
		size := func() int64 {
			info, err := os.Stat(filepath.Join(dir, "ticks"))
			if err != nil {
				return 0
			}
			return info.Size()
		}
		before := size()
		for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if size() > before {
				return true
			}
		}
		return false
	}
	start := func(argv ...string) *exec.Cmd {
		h.takes("f")
		cmd := exec.Command(argv[0], append(argv[1:], "python3", "-c", script)...)
		cmd.Dir, cmd.Env = dir, env
		out := started(t, cmd)
		bufio.NewReader(out).ReadString('\n')
		return cmd
	}
	for _, namespaces := range []string{"off", "auto"} {
		for limit := 3 * time.Second; ; limit *= 2 {
			cmd := start(program(t), "--grant", "filesystem.write:.", "--timeout", limit.String(), "--namespaces", namespaces, "--")
			goesOn := grows(limit)
			if goesOn {
				time.Sleep(limit)
				for deadline := time.Now().Add(20 * time.Second); grows(300 * time.Millisecond); {
					if time.Now().After(deadline) {
						t.Errorf("namespaces %s: a process goes on after the limit of time", namespaces)
						break
					}
				}
			}
			h.takes("")
			if end := ending(cmd.Wait()); end != "exit 124" {
				t.Error(end)
			}
			if goesOn {
				break
			}
			if limit > 30*time.Second {
				t.Fatal("control: nothing goes on")
			}
			// It was over before all had begun.
		}
	}
}
