package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/sandbox/sandboxtest"
)

// ways are the flags by which runs differ here.
func ways() map[string][]string {
	all := map[string][]string{"without namespaces": {"--namespaces", "off"}}
	switch {
	case !linux.ProbeDeep().Namespaces:
	case sandboxtest.Emulated() == "user": // what such a user has without is tried as docker,user
		return map[string][]string{"with namespaces": nil}
	default:
		all["with namespaces"] = nil
		all["with namespaces, opens supervised"] = []string{"--denials"}
	}
	return all
}

// inside runs a script, which may write the workspace, and gives what it says.
func inside(t *testing.T, dir string, env, prefix, flags []string, script string) (string, string) {
	t.Helper()
	argv := append(append(append([]string{}, prefix...), program(t), "--grant", "filesystem.write:.", "--grant", "filesystem.delete:."), flags...)
	argv = append(argv, "--", "/bin/sh", "-c", script)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	return string(out), ending(err)
}

func wants(t *testing.T, out string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in:\n%s", w, out)
		}
	}
}

// Whatever lies in a workspace, a run starts, works, and reads no secret.
func TestOddFiles(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	fill := func(t *testing.T, dir string) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range []string{"sub", ".git", "d\xff"} {
			must(os.Mkdir(filepath.Join(dir, d), 0o755))
		}
		for name, text := range map[string]string{"new\nline": "fine", "x\n.pem": "secret", "\xff\xfe.key": "secret", "d\xff/.env": "secret"} {
			must(os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644))
		}
		for _, fifo := range []string{"fifo", ".env", "sub/server.key", ".git/config", "SKILL.md"} {
			must(unix.Mkfifo(filepath.Join(dir, fifo), 0o644))
		}
		for link, to := range map[string]string{"loop": "loop", "a": "b", "b": "a", "here": ".", "up": "..", "id_rsa": "nowhere", "c.pem": "x\n.pem", "d.pem": "c.pem"} {
			must(os.Symlink(to, filepath.Join(dir, link)))
		}
		for _, name := range []string{"sock", "sub/.env"} {
			// By a short name: the test's directory may be a long one.
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			must(err)
			at, err := os.Open(dir)
			must(err)
			must(unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", at.Fd(), name)}))
			must(unix.Close(fd))
			must(at.Close())
		}
		if os.Geteuid() == 0 {
			unix.Mknod(filepath.Join(dir, "null"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3)))
			unix.Mknod(filepath.Join(dir, "disk.key"), unix.S_IFBLK|0o600, int(unix.Mkdev(7, 99)))
		}
	}
	const script = `ls >/dev/null && ls /proc/self/fd >/dev/null && cat new*line && cat here/here/new*line
(echo through >fifo) & cat fifo; wait
cat ./*.key ./x*.pem d*/.env c.pem up/secret loop a
echo made >own && cat own && rm own && echo done`
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			dir, env := home(t)
			fill(t, dir)
			if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "secret"), []byte("secret\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			out, end := inside(t, dir, env, nil, flags, script)
			if end != "exit 0" || strings.Contains(out, "secret\n") {
				t.Errorf("%s: %s", end, out)
			}
			wants(t, out, "fine\nfine\n", "through\n", "made\n", "done\n") // refusals are told between
			// A policy that is not a file is not one that says nothing.
			if err := os.Mkdir(filepath.Join(dir, ".skillrun"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mkfifo(filepath.Join(dir, ".skillrun/policy.toml"), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program(t), append(flags, "--", "touch", "ran")...)
			cmd.Dir, cmd.Env = dir, env
			if lines := refused(t, cmd); len(lines) != 1 || !strings.Contains(lines[0], "not a regular file") {
				t.Errorf("said %q", lines)
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		dir, env := home(t)
		fill(t, dir)
		cmd := exec.Command("sh", "-c", "cat x*.pem d*/.env; timeout 5 cat '\xff\xfe.key'")
		cmd.Dir, cmd.Env = dir, env
		if out, _ := cmd.Output(); strings.Count(string(out), "secret\n") != 3 {
			t.Errorf("bare: %q", out)
		}
	})
}

// A workspace of many files costs no more than it must, and secrets are found
// wherever they lie.
func TestManyFiles(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	dirs := 20
	if os.Getenv("E2E") != "" {
		dirs = 1000
	}
	dir, env := home(t)
	for i := range dirs {
		sub := fmt.Sprintf("%s/d%d", dir, i)
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(fmt.Sprintf("%s/f%d", sub, j), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := fmt.Sprintf("%s/d%d", dir, dirs-1)
	for _, name := range []string{last + "/.env", dir + "/d3/x.key"} {
		if err := os.WriteFile(name, []byte("secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			out, end := inside(t, dir, env, nil, flags, `find . -type f | wc -l; cat d*/.env d3/x.key; echo new >d3/new && cat d3/new && rm d3/new && echo done`)
			if end != "exit 0" || strings.Contains(out, "secret\n") {
				t.Errorf("%s: %s", end, out)
			}
			wants(t, out, fmt.Sprintf("%d\n", 100*dirs+2), "new\n", "done\n")
		})
	}
}

// What a run needs of a machine may not be there: it goes on without, or says
// what is missing and starts nothing.
func TestMissingPlaces(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const script = `echo began; echo x >own && rm own && echo wrote; cat ../outside; echo ended`
	place := func(t *testing.T) (string, []string) {
		dir, env := home(t)
		if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "outside"), []byte("secret\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return dir, env
	}
	for _, c := range []struct{ name, mounts, want string }{
		{"no /proc", `mount -t tmpfs tmpfs /proc`, "refused proc.survive is none"},
		{"no /sys", `mount -t tmpfs tmpfs /sys`, "wrote"},
		{"no /dev/shm", `mount -t tmpfs tmpfs /dev`, "wrote"},
		{"read-only /dev/shm", `mount -t tmpfs -o ro tmpfs /dev/shm`, "wrote"},
		{"read-only workspace", `mount --bind . . && mount -o remount,ro,bind "$PWD" && cd "$PWD"`, "began"},
		{"workspace in memory", `mount -t tmpfs -o mode=755 tmpfs . && cd "$PWD"`, "wrote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if exec.Command("unshare", "-Urm", "true").Run() != nil {
				sandboxtest.Skip(t, sandboxtest.Namespaces, "no mounts of our own here")
			}
			dir, env := place(t)
			id := []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
			group := []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
			cmd := exec.Command("sh", "-ec", c.mounts+"\nexec \"$@\"", "sh", program(t), "--grant", "filesystem.write:.", "--grant", "filesystem.delete:.", "--", "/bin/sh", "-c", script)
			cmd.Dir, cmd.Env = dir, env
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER, UidMappings: id, GidMappings: group, AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN}}
			b, err := cmd.CombinedOutput()
			out := string(b)
			if why, ok := strings.CutPrefix(c.want, "refused "); ok {
				if ending(err) != "exit 125" || strings.Contains(out, "began") {
					t.Errorf("%v: %s", err, out)
				}
				wants(t, out, why)
				return
			}
			if strings.Contains(out, "secret\n") {
				t.Errorf("the canary was read: %s", out)
			}
			wants(t, out, c.want+"\n", "ended\n")
		})
	}
	for name, change := range map[string]string{"no HOME": "", "empty HOME": "HOME=", "a HOME that is not there": "HOME=/nonexistent", "a relative HOME": "HOME=here"} {
		t.Run(name, func(t *testing.T) {
			dir, env := place(t)
			for i := range env {
				if strings.HasPrefix(env[i], "HOME=") {
					env[i] = change
				}
			}
			out, end := inside(t, dir, env, nil, nil, script)
			if strings.Contains(out, "secret\n") || end != "exit 0" && end != "exit 125" || end == "exit 0" && !strings.Contains(out, "wrote\n") {
				t.Errorf("%s: %s", end, out)
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		dir, env := place(t)
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "secret\n") {
			t.Errorf("bare: %v: %s", err, out)
		}
	})
}

// Where /proc is covered in part, as in containers without root, no other can be
// mounted: runs go on without namespaces, and a later one that can have them does.
func TestNamespacesFail(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	if exec.Command("unshare", "-Urm", "true").Run() != nil {
		sandboxtest.Skip(t, sandboxtest.Namespaces, "no mounts of our own here")
	}
	dir, env := home(t)
	holds := func(mounts string) (by string) {
		cmd := exec.Command("unshare", "-Urm", "sh", "-ec", mounts+"\nexec \"$@\"", "sh", program(t), "--receipt", "--", "/bin/echo", "ran")
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		_, by, _ = strings.Cut(string(out), "proc.survive")
		by, _, _ = strings.Cut(by, "\n")
		if err != nil || !strings.Contains(string(out), "ran\n") || by == "" {
			t.Fatalf("%v: %s", err, out)
		}
		return by
	}
	for i, c := range []struct{ mounts, by string }{
		{"mount -t tmpfs tmpfs /proc/fs", "guardian"}, {"mount -t tmpfs tmpfs /proc/fs", "guardian"},
		{":", "pid namespace"}, {"mount -t tmpfs tmpfs /proc/fs", "guardian"},
	} {
		if by := holds(c.mounts); !strings.HasSuffix(by, c.by) {
			t.Errorf("run %d, %s: held by %s, want %s", i, c.mounts, by, c.by)
		}
	}
}

// What the supervisor keeps of a run does not use up a small table of
// descriptors: the run's own work goes on.
func TestFewDescriptors(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	for i := range 300 {
		if err := os.WriteFile(fmt.Sprintf("%s/f%d", dir, i), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const script = `
import glob, os
names = glob.glob("f*")
for name in names:
    with open("t", "w") as t: t.write("new")
    os.rename("t", name)
print(sum(open(name).read() == "new" for name in names))
`
	for way, flags := range ways() {
		argv := append([]string{"-c", `ulimit -n 256 && exec "$@"`, "sh", program(t), "--grant", "filesystem.write:."}, flags...)
		cmd := exec.Command("/bin/sh", append(argv, "--", "python3", "-c", script)...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "300\n" {
			t.Errorf("%s: %v: %.300s", way, err, out)
		}
	}
}

// around is Python that puts something around a program: as many Landlock
// domains as are asked for, or a filter that answers as a kernel without.
const around = `
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True); libc.prctl(38, 1, 0, 0, 0)
what, n = sys.argv[1], int(sys.argv[2])
if what == "domains":
    for _ in range(n):
        fd = libc.syscall(ctypes.c_long(444), struct.pack("Q", 1 << 12), ctypes.c_long(8), ctypes.c_long(0))
        assert fd >= 0 and libc.syscall(ctypes.c_long(446), ctypes.c_long(fd), ctypes.c_long(0)) == 0; os.close(fd)
else:
    code = b"".join(struct.pack("HBBI", *i) for i in ((0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x50000 | n), (6, 0, 0, 0x7fff0000)))
    program = ctypes.create_string_buffer(code, len(code))
    assert libc.prctl(22, 2, ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(program))), 0, 0) == 0
os.execv(sys.argv[3], sys.argv[3:])
`

// A kernel without Landlock, or with it switched off, runs nothing unless each
// gap is named.
func TestWithoutLandlock(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for _, e := range []syscall.Errno{unix.ENOSYS, unix.EOPNOTSUPP} {
		dir, env := home(t)
		prefix := []string{"/usr/bin/python3", "-c", around, "errno", fmt.Sprint(int(e))}
		out, end := inside(t, dir, env, prefix, nil, "echo began")
		if end != "exit 125" || strings.Contains(out, "began") {
			t.Errorf("%v: %s: %s", e, end, out)
		}
		wants(t, out, "fs.read is none", "fs.write is none", "--allow-gap fs.read")
		// All but one named is not enough; all of them are.
		var gaps []string
		_, hint, _ := strings.Cut(out, "without what is named: ")
		for _, word := range strings.Fields(hint) {
			if word != "--allow-gap" {
				gaps = append(gaps, "--allow-gap", word)
			}
		}
		if len(gaps) < 4 {
			t.Fatalf("%v: the hint names %q", e, gaps)
		}
		if out, end := inside(t, dir, env, prefix, gaps[2:], "echo began"); end != "exit 125" || strings.Contains(out, "began") {
			t.Errorf("%v, a gap not named: %s: %s", e, end, out)
		}
		if out, end := inside(t, dir, env, prefix, gaps, "echo began"); end != "exit 0" || !strings.Contains(out, "began") {
			t.Errorf("%v, all gaps named: %s: %s", e, end, out)
		}
	}
}

// The kernel has room for 16 Landlock domains around a process, of which a run
// takes two.
func TestDomainsAround(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for n, fits := range map[int]bool{0: true, 1: true, 14: true, 15: false, 16: false} {
		dir, env := home(t)
		if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "outside"), []byte("secret\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		out, end := inside(t, dir, env, []string{"/usr/bin/python3", "-c", around, "domains", fmt.Sprint(n)}, nil, "echo began; ! cat ../outside")
		if fits && (end != "exit 0" || !strings.Contains(out, "began\n")) || !fits && (end != "exit 125" || strings.Contains(out, "began\n")) || strings.Contains(out, "secret\n") {
			t.Errorf("%d: %s: %s", n, end, out)
		}
		if !fits {
			wants(t, out, "cannot restrict by Landlock: there are 16 domains around this process already")
		}
	}
}

// Inside another sandbox the run holds what it always does.
func TestInsideBwrap(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	prefix := []string{"bwrap", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--dev-bind", "/", "/", "--proc", "/proc"}
	if exec.Command(prefix[0], append(prefix[1:], "true")...).Run() != nil {
		sandboxtest.Skip(t, sandboxtest.Namespaces, "bwrap does not work here")
	}
	dir, env := home(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "outside"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	bwrap, _ := exec.LookPath("bwrap")
	out, end := inside(t, dir, env, append([]string{bwrap}, prefix[1:]...), nil, "echo began; echo x >own; cat own; ! cat ../outside")
	if end != "exit 0" || strings.Contains(out, "secret\n") {
		t.Errorf("%s: %s", end, out)
	}
	wants(t, out, "began\nx\n")
}

// A stream that is closed stays nobody's: nothing that skillrun opens gets its
// number.
func TestClosedStreams(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for _, closed := range []string{"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"} {
		t.Run(closed, func(t *testing.T) {
			dir, env := home(t)
			for _, confined := range []bool{false, true} {
				script := `exec 9>seen; for n in 0 1 2; do readlink /proc/$$/fd/$n >&9 || echo none >&9; done; echo said; echo said >&2; exit 7`
				argv := []string{"-c", `"$@" ` + closed, "sh"}
				if confined {
					argv = append(argv, program(t), "--grant", "filesystem.write:.", "--")
				}
				cmd := exec.Command("/bin/sh", append(argv, "/bin/bash", "-c", script)...)
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.CombinedOutput()
				if ending(err) != "exit 7" {
					t.Fatalf("%v: %s", err, out)
				}
				b, err := os.ReadFile(filepath.Join(dir, "seen"))
				if err != nil {
					t.Fatal(err)
				}
				lines := strings.Split(string(b), "\n")
				if len(lines) != 4 {
					t.Fatalf("seen: %q", b)
				}
				for n, sign := range []string{"<", ">&", "2>"} {
					is := strings.Contains(" "+closed, " "+sign)
					if confined && is && lines[n] != "/dev/null" && lines[n] != "none" {
						t.Errorf("closed stream %d is %s", n, lines[n])
					}
					if !confined && is && lines[n] != "none" {
						t.Errorf("control: closed stream %d is %s", n, lines[n])
					}
				}
			}
		})
	}
}
