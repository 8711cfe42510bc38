package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// A device that lies in the workspace is opened by no run, also where it came after a
// launch that knows the workspace; but for those that every program uses.
func TestDeviceElsewhere(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const script = "cd rootfs; head -c 0 null && echo null; head -c 0 log && echo log; true >>null && echo to null; true >>log && echo to log; mv ../rootfs ../moved && echo gone"
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			dir := filepath.Join(a.work, "rootfs")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			run := func(script string) string {
				cmd := exec.Command(program(t), append(flags, "--grant", "filesystem.write:.", "--grant", "filesystem.delete:.", "--", "sh", "-c", script)...)
				cmd.Dir, cmd.Env = a.work, a.env
				out, _ := cmd.CombinedOutput()
				return string(out)
			}
			if out := run("mv rootfs moved && mv moved rootfs && echo gone"); !strings.Contains(out, "gone\n") {
				t.Fatalf("control: without devices: %s", out)
			}
			for name, minor := range map[string]uint32{"null": 3, "log": 11} { // /dev/kmsg
				err := unix.Mknod(filepath.Join(dir, name), unix.S_IFCHR|0o600, int(unix.Mkdev(1, minor)))
				if err != nil {
					sandboxtest.Skip(t, sandboxtest.Root, "no devices can be made: %v", err)
				}
			}
			if out, err := exec.Command("head", "-c", "0", filepath.Join(dir, "null"), filepath.Join(dir, "log")).CombinedOutput(); err != nil {
				sandboxtest.Skip(t, sandboxtest.Machine, "devices cannot be opened here: %v: %s", err, out)
			}
			out := run(script)
			if !strings.Contains(out, "null\n") || !strings.Contains(out, "to null\n") {
				t.Errorf("control: null: %s", out)
			}
			if strings.Contains(out, "log\n") || strings.Contains(out, "gone\n") || strings.Count(out, "Permission denied") < 3 {
				t.Errorf("a device was opened, or moved: %s", out)
			}
		})
	}
}
