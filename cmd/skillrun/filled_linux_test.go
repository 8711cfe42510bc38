package main_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// The end of a run that has filled the disk on which the record lies is on record:
// whole once its own directories are gone, in brief where what it wrote stays.
func TestFilledDisk(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	if exec.Command("unshare", "-Urm", "true").Run() != nil {
		sandboxtest.Skip(t, sandboxtest.Namespaces, "no mounts of our own here")
	}
	const prepare = `mount -t tmpfs -o size=64m tmpfs /mnt
cd /mnt
mkdir -m 755 home w
mkdir -m 1777 tmp
x=$(printf %200s | tr ' ' x)
deep=home
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do deep=$deep/$x; done
mkdir -p $deep
for i in $(seq 200); do echo secret >$deep/$i; done
cp "$1" skillrun
$3 mount --bind tmp /tmp
cd w
export HOME=/mnt/home XDG_STATE_HOME=/mnt/state
/mnt/skillrun --session $(printf %4096s | tr " " s) --denials --grant filesystem.write:. -- sh -c "for i in \$(seq 200); do cat /mnt/$deep/\$i 2>/dev/null; done; $2" 2>&1 || true
cat /mnt/state/skillrun/audit-*`
	for _, c := range []struct{ name, script, elsewhere, want string }{
		{"left alone", "echo x >$TMPDIR/x; exit 3", "", `"code":3,`},
		// Its removal takes a while.
		{"its own", "cat /dev/zero >$TMPDIR/x; cd $TMPDIR; seq 20000 | xargs touch; exit 3", "", `"code":3,`},
		{"the workspace", "cat /dev/zero >x; exit 3", ":", `"more_denials":200,`},
	} {
		cmd := exec.Command("sh", "-ec", prepare, "sh", program(t), c.script, c.elsewhere)
		_, cmd.Env = home(t)
		id := []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		group := []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER, UidMappings: id, GidMappings: group, AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN}}
		out, err := cmd.CombinedOutput()
		_, end, ended := strings.Cut(string(out), `"kind":"run.end",`)
		if full := strings.Contains(string(out), "No space left on device"); err != nil || full != (c.name != "left alone") || strings.Count(string(out), `"kind":"run.start"`) != 1 ||
			!ended || !strings.Contains(end, c.want) || strings.Contains(end, `"denials":[`) != (c.name != "the workspace") {
			t.Errorf("%s: %v: %.200s ... %s", c.name, err, out, end)
		}
	}
}
