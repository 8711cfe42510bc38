package linux_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// memoryScript makes files of memory with several flags and tries to start each as
// a program, before and after it is made executable by its mode and by an ACL, which
// no seal keeps from it; then what is not to be had.
const memoryScript = `
import ctypes, errno, os, struct
libc = ctypes.CDLL(None, use_errno=True)
acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, 7, 0xffffffff) for tag in (1, 4, 32))
def word(do):
    try: do()
    except OSError as e: return errno.errorcode[e.errno]
    return "ok"
def start(d):
    pid = os.fork()
    if pid == 0: os._exit(77 if word(lambda: os.execv("/proc/self/fd/%d" % d, ["true"])) == "EACCES" else 1)
    return {0: "ran", 77: "EACCES"}[os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]
for flags in (0, os.MFD_CLOEXEC, os.MFD_ALLOW_SEALING):
    d = os.memfd_create("née", flags); os.write(d, open("/bin/true", "rb").read())
    p = "/proc/self/fd/%d" % d
    print(flags, os.readlink(p), start(d), word(lambda: os.fchmod(d, 0o755)), start(d),
          *[word(lambda: os.setxattr(f, "system.posix_acl_access", acl)) for f in (d, p)], start(d))
print("kept over exec:", [os.get_inheritable(libc.memfd_create(b"x", flags)) for flags in (0, 1)])
print(*[word(lambda: os.memfd_create(*a)) for a in (("n" * 249, 0), ("n" * 250, 0), ("x", 0x400))])
print(libc.memfd_create(None, 0), errno.errorcode[ctypes.get_errno()])
`

const memoryRuns = `0 /memfd:née (deleted) ran ok ran ok ok ran
1 /memfd:née (deleted) ran ok ran ok ok ran
2 /memfd:née (deleted) ran ok ran ok ok ran
kept over exec: [True, False]
ok EINVAL EINVAL
-1 EFAULT
`

// Memory is to be had by every program, and never becomes one.
func TestSupervisedMemoryNeverRuns(t *testing.T) {
	fd, err := unix.MemfdCreate("", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if err != nil {
		sandboxtest.Skip(t, sandboxtest.Machine, "before Linux 6.3 all memory can be executed")
	}
	unix.Close(fd)
	c := newCell(t)
	if r := c.bare("python3", "-c", memoryScript); r.out != memoryRuns {
		t.Fatalf("control: exit %d: %s", r.code, r.out)
	}
	want := strings.ReplaceAll(memoryRuns, "ran ok ran ok ok ran", "EACCES EPERM EACCES ENOTSUP ENOTSUP EACCES")
	if r := c.run("python3", "-c", memoryScript); r.out != want {
		t.Errorf("exit %d: %s%s", r.code, r.out, c.explain())
	}
}

// hugeScript makes memory of huge pages, whose mode no seal holds, executable, and says
// how far it gets with starting it: it is empty, since there may be no such pages.
const hugeScript = `
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
d = libc.memfd_create(b"x", 4 | 8)
try:
    os.chmod("/proc/self/fd/%d" % d, 0o755)
except OSError: pass
try: os.execv("/proc/self/fd/%d" % d, ["x"])
except OSError as e: print(errno.errorcode[e.errno])
`

func TestSupervisedHugeMemoryNeverRuns(t *testing.T) {
	c := newCell(t)
	fd, err := unix.MemfdCreate("x", unix.MFD_HUGETLB|unix.MFD_NOEXEC_SEAL)
	if err != nil {
		sandboxtest.Skip(t, sandboxtest.Machine, "no memory of huge pages that cannot be executed: %v", err)
	}
	unix.Close(fd)
	if r := c.bare("python3", "-c", hugeScript); r.out != "ENOEXEC\n" {
		t.Fatalf("control: %s", r.out)
	}
	if r := c.run("python3", "-c", hugeScript); r.out != "EACCES\n" {
		t.Errorf("exit %d: %s%s", r.code, r.out, c.explain())
	}
}
