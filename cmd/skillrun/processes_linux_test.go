package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// processScript reads what /proc tells of processes: of its own all, however many
// there were before, and of who is outside nothing.
const processScript = `
own=0; for f in maps environ auxv smaps status cmdline stat; do cat /proc/self/$f >/dev/null && own=$((own+1)); done
cat /proc/thread-self/maps >/dev/null && own=$((own+1))
others=0; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sh -c 'read x </proc/self/stat && cat /proc/$$/maps >/dev/null' && others=$((others+1)); done
sleep 60 & cat /proc/$!/maps /proc/$!/environ >/dev/null && others=$((others+1)); kill $!
outside=0; for p in $PPID $1; do for f in environ maps mem; do head -c 1 /proc/$p/$f >/dev/null 2>&1 && outside=$((outside+1)); done; done
echo own $own others $others outside $outside`

// Whether opens are supervised or not, and whatever numbers the launcher's threads
// have, a run reads of its own processes what it would read bare.
func TestProcesses(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	a := newAgent(t)
	told := func(t *testing.T, attr *syscall.SysProcAttr, argv ...string) string {
		t.Helper()
		// An outside process that the run cannot but know.
		outside := exec.Command("sleep", "60")
		outside.Env = []string{"SECRET=1"}
		if err := outside.Start(); err != nil {
			t.Fatal(err)
		}
		defer outside.Wait()
		defer outside.Process.Kill()
		cmd := exec.Command(argv[0], append(argv[1:], "sh", "-c", processScript, "sh", strconv.Itoa(outside.Process.Pid))...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = a.work, a.env, attr
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := told(t, nil, "/usr/bin/env"); !strings.Contains(out, "own 8 others 13 outside ") || strings.Contains(out, "outside 0\n") {
		t.Fatalf("control: %s", out)
	}
	all := ways()
	all["without namespaces, opens supervised"] = []string{"--namespaces", "off", "--denials"}
	for way, flags := range all {
		t.Run(way, func(t *testing.T) {
			argv := append(append([]string{program(t)}, flags...), "--")
			if out := told(t, nil, argv...); !strings.Contains(out, "own 8 others 13 outside 0\n") {
				t.Error(out)
			}
			if strings.HasPrefix(way, "without") {
				return
			}
			// In a container the numbers of the launcher's threads are small,
			// as those of the run's processes are.
			attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
			if os.Getuid() != 0 {
				attr.Cloneflags |= syscall.CLONE_NEWUSER
				attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
				attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
				attr.AmbientCaps = []uintptr{21} // CAP_SYS_ADMIN, to mount
			}
			argv = append([]string{"sh", "-c", `mount -t proc proc /proc && exec "$@"`, "sh"}, argv...)
			if out := told(t, attr, argv...); !strings.Contains(out, "own 8 others 13 outside 0\n") {
				t.Errorf("in a container: %s", out)
			}
		})
	}
}

// What a manifest denies in /proc is denied in a /proc of the run's own, too, and of
// processes that begin later all the rest is there.
func TestDeniedInProc(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	const script = `for f in /proc/version /proc/self/root/proc/version /proc/driver/../version; do cat $f >/dev/null 2>&1 && echo shown; done
ls /proc/fs >/dev/null && sh -c 'read x </proc/self/stat && cat /proc/$$/maps >/dev/null' && cat /proc/uptime >/dev/null && echo the rest`
	manifest := filepath.Join(filepath.Dir(dir), "skillrun.toml")
	for _, denies := range [][]string{nil, {"read"}, {"read", "write"}} {
		text, want := "[skill_metadata]\nname = \"s\"\n[[permissions]]\ncapability = \"process.create\"\neffect = \"allow\"\n", "the rest\n"
		if denies == nil {
			want = "shown\nshown\nshown\nthe rest\n"
		}
		for _, verb := range denies {
			text += "[[permissions]]\ncapability = \"filesystem." + verb + "\"\neffect = \"deny\"\nconstraints = {resource_scope = [\"/proc/version\"]}\n"
		}
		if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for way, flags := range ways() {
			out, end := inside(t, dir, env, nil, append(flags, "--manifest", manifest, "--approve", "declared"), script)
			out = regexp.MustCompile(`(?m)^skillrun: .*\n`).ReplaceAllString(out, "")
			if out == want && end == "exit 0" {
				continue
			}
			if denies == nil {
				t.Fatalf("control: %s: %s: %s", way, end, out)
			}
			t.Errorf("%s, %v denied: %s: %s", way, denies, end, out)
		}
	}
}

// What a run looks at of the launcher it is told of as such: no grant shows that.
func TestLauncherHidden(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	const script = `p=$PPID; while test "$p" -gt 1; do read a b c p e </proc/$p/stat || exit 1; done`
	if out, end := inside(t, dir, env, nil, []string{"--namespaces", "off", "--denials"}, script); end != "exit 1" ||
		!regexp.MustCompile(`(?m)denied read /proc/\d+/stat \(skillrun's own process, which shows a run nothing\)$`).MatchString(out) {
		t.Errorf("%s: %s", end, out)
	}
	// Who lists all processes comes upon it, and goes on: no word of that.
	if out, end := inside(t, dir, env, nil, []string{"--namespaces", "off", "--denials"}, "cat /proc/[0-9]*/stat >/dev/null 2>&1; true"); end != "exit 0" || strings.Contains(out, "denied") {
		t.Errorf("%s: %s", end, out)
	}
}

// What a run makes of System V shared memory goes with its namespaces, and without
// stays, as docs/limits.md has it.
func TestSharedMemoryAfter(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	const key, size = 0x5eed0000, 1 << 16
	for way, flags := range ways() {
		mine := key + os.Getpid()
		script := `python3 -c 'import ctypes; c = ctypes.CDLL(None); assert c.shmget(` + strconv.Itoa(mine) + `, ` + strconv.Itoa(size) + `, 0o1600) >= 0'`
		if out, end := inside(t, dir, env, nil, flags, script); end != "exit 0" {
			t.Errorf("%s: %s: %s", way, end, out)
		}
		id, err := unix.SysvShmGet(mine, size, 0)
		if stays := way == "without namespaces"; (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", way, err, stays)
		}
		if err == nil {
			unix.SysvShmCtl(id, unix.IPC_RMID, nil)
		}
	}
}

// What there is of System V's outside, and who has keys there, shows in no /proc of a run
// with namespaces, whoever opens it for the run. The control is a run without.
func TestSharedMemoryDenied(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	mine, size := 0x5eee0000+os.Getpid(), 1<<16
	id, err := unix.SysvShmGet(mine, size, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	supervised := filepath.Join(filepath.Dir(dir), "skillrun.toml") // of which each open is asked about
	text := "[skill_metadata]\nname = \"s\"\n[[permissions]]\ncapability = \"process.create\"\neffect = \"allow\"\n" +
		"[[permissions]]\ncapability = \"filesystem.read\"\neffect = \"deny\"\nconstraints = {resource_scope = [\"/proc/version\"]}\n"
	if err := os.WriteFile(supervised, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const script = "cat /proc/sysvipc/shm /proc/self/root/proc/sysvipc/shm; ipcs -m; echo users:; cat /proc/key-users; true"
	users := regexp.MustCompile(`(?s)users:.*\d+/\d+ \d+/\d+`) // as such a file has them, if the kernel does
	_, err = os.Stat("/proc/key-users")
	keys := err == nil
	for _, more := range [][]string{nil, {"--manifest", supervised, "--approve", "declared"}} {
		for way, flags := range ways() {
			out, end := inside(t, dir, env, nil, append(flags, more...), script)
			shown := strings.Contains(out, strconv.Itoa(mine)) || strings.Contains(out, strconv.FormatInt(int64(mine), 16))
			switch {
			case keys && len(more) > 0 && users.MatchString(out) != (way == "without namespaces"):
				t.Errorf("%s: of whose keys there are: %s", way, out)
			case end != "exit 0" || !strings.Contains(out, "Shared Memory Segments"):
				t.Errorf("%s: %s: %s", way, end, out)
			case way == "without namespaces" && !shown:
				t.Fatalf("control: %s: %s", way, out)
			case way != "without namespaces" && shown:
				t.Errorf("%s: %s", way, out)
			}
		}
	}
}
