package sandbox_test

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
	"skillrun/sandbox"
)

// shell runs a line of shell with the outputs that it is given.
func shell(t *testing.T, dir, line string, limits profiles.Limits, stdout, stderr *os.File) sandbox.Result {
	t.Helper()
	host := &profiles.Host{OS: "linux", Home: "/nonexistent", FS: os.DirFS("/"), Env: map[string]string{}}
	p := &profiles.Profile{Workspace: dir, Limits: limits, Process: profiles.Process{Create: true}, Paths: profiles.BaseReads(host)}
	p.Normalize()
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	r, err := sandbox.Run(&sandbox.Spec{
		Profile: p, Path: sh, Argv: []string{"sh", "-c", line}, Dir: dir, Environ: os.Environ(),
		Stdout: stdout, Stderr: stderr, Namespaces: sandbox.Off, Files: os.DirFS("/"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Others may make the file that output goes to one at which nobody waits: the command
// itself, by a stdin that is the same.
func TestOutputUnwaited(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(pair[0]), "reader"), os.NewFile(uintptr(pair[1]), "writer")
	defer r.Close()
	const size = 4 << 20 // more than a socket takes
	dir := t.TempDir()
	read := make(chan int64)
	go func() {
		n, err := io.CopyN(io.Discard, r, 1)
		if err != nil {
			read <- n
			return
		}
		syscall.SetNonblock(pair[1], true)
		os.WriteFile(filepath.Join(dir, "go"), nil, 0o600)
		full := []unix.PollFd{{Fd: int32(pair[1]), Events: unix.POLLOUT}}
		for m, err := unix.Poll(full, 0); m != 0 && full[0].Revents == unix.POLLOUT || err != nil; m, err = unix.Poll(full, 0) {
			time.Sleep(time.Millisecond)
		}
		more, _ := io.Copy(io.Discard, r)
		read <- n + more
	}()
	res := shell(t, dir, "printf x; until test -e go; do :; done; head -c "+strconv.Itoa(size-1)+" /dev/zero", profiles.Limits{}, w, nil)
	w.Close()
	if n := <-read; n != size || res.Lost != nil || res.Status != 0 {
		t.Errorf("%d of %d bytes, %v, status %v", n, size, res.Lost, res.Status)
	}
}

// What goes to one pipe comes in the order in which it was written, limited or
// not.
func TestOutputOrder(t *testing.T) {
	for _, limit := range []int64{0, 1 << 20} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		text := make(chan string)
		go func() {
			b, _ := io.ReadAll(r)
			text <- string(b)
		}()
		shell(t, t.TempDir(), "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done", profiles.Limits{Output: limit}, w, w)
		w.Close()
		want := ""
		for i := 1; i < 10; i++ {
			n := strconv.Itoa(i)
			want += "o" + n + "\ne" + n + "\n"
		}
		if got := <-text; got != want {
			t.Errorf("limit %d: %q", limit, got)
		}
		r.Close()
	}
}

// A file that the output goes to stays that file, and may grow by the limit.
func TestOutputToFile(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(strings.Repeat("before\n", 1000)); err != nil {
		t.Fatal(err)
	}
	r := shell(t, t.TempDir(), "echo said; test -f /proc/self/fd/1 && exit 3", profiles.Limits{Output: 4096}, file, file)
	if r.Limit != "" || r.Status.ExitStatus() != 3 {
		t.Errorf("limit %q, status %#x", r.Limit, r.Status)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil || !strings.HasSuffix(string(b), "before\nsaid\n") {
		t.Errorf("%v: %q", err, b[max(0, len(b)-20):])
	}
	r = shell(t, t.TempDir(), "echo "+strings.Repeat("x", 5000)+"; exec sleep 20", profiles.Limits{Output: 4096}, file, file)
	if r.Limit != "output" || r.Status.Signal() != syscall.SIGKILL {
		t.Errorf("limit %q, status %#x", r.Limit, r.Status)
	}
}
