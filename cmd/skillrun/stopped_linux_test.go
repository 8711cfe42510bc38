package main_test

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"

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
