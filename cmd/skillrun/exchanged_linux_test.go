package main_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"skillrun/sandbox/sandboxtest"
)

// A run makes a directory again and again, and changes what it finds there, while
// another exchanges that with one of the user's.
const (
	makes = `
import os, sys, time
end = time.time() + 2
while time.time() < end:
    try: os.rmdir("x")
    except OSError: pass
    try:
        os.mkdir("x")
        d = os.open("x", os.O_PATH)
    except OSError: continue
    try:
        os.stat("f", dir_fd=d)
        os.mkdir(".vscode", dir_fd=d)
        os.close(os.open(".vscode/tasks.json", os.O_WRONLY | os.O_CREAT, dir_fd=d))
        print("changed")
        break
    except OSError: pass
    os.close(d)
print("ran")
`
	exchanges = `
import ctypes, os, time
end, n = time.time() + 2, 0
while time.time() < end:
    if ctypes.CDLL(None).renameat2(-100, b"D", -100, b"x", 2) == 0: n += 1
print("exchanged" if n > 9 else n)
`
)

// A directory of the user's does not become a run's that has just made one of its name,
// as another run moves it there: control files in it stay closed.
func TestExchangedWhileMade(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	try := func(t *testing.T, command ...string) string {
		a := newAgent(t)
		a.write("work/D/f", "")
		time.Sleep(2100 * time.Millisecond) // it is not from just now
		var out [2]strings.Builder
		var cmds [2]*exec.Cmd
		for i, script := range [...]string{makes, exchanges} {
			cmds[i] = exec.Command(command[0], append(command[1:], "python3", "-c", script)...)
			cmds[i].Dir, cmds[i].Env, cmds[i].Stdout, cmds[i].Stderr = a.work, a.env, &out[i], os.Stderr
			if err := cmds[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		for _, cmd := range cmds {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		return out[0].String() + out[1].String()
	}
	if said := try(t, "env"); !strings.HasPrefix(said, "changed\n") {
		t.Fatalf("control: %q", said)
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			argv := append([]string{program(t), "--grant", "filesystem.write:.", "--grant", "filesystem.delete:."}, flags...)
			if said := try(t, append(argv, "--")...); said != "ran\nexchanged\n" {
				t.Errorf("the runs said %q", said)
			}
		})
	}
}
