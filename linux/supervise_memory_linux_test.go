package linux_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// memoryScript makes files of memory with several flags and tries to start each as
// a program, before and after it is made executable; then what is not to be had.
const memoryScript = `
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
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
    print(flags, os.readlink("/proc/self/fd/%d" % d), start(d), word(lambda: os.fchmod(d, 0o755)), start(d))
print("kept over exec:", [os.get_inheritable(libc.memfd_create(b"x", flags)) for flags in (0, 1)])
print(*[word(lambda: os.memfd_create(*a)) for a in (("n" * 249, 0), ("n" * 250, 0), ("x", 0x400))])
print(libc.memfd_create(None, 0), errno.errorcode[ctypes.get_errno()])
`

const memoryRuns = `0 /memfd:née (deleted) ran ok ran
1 /memfd:née (deleted) ran ok ran
2 /memfd:née (deleted) ran ok ran
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
	want := strings.ReplaceAll(memoryRuns, "ran ok ran", "EACCES EPERM EACCES")
	if r := c.run("python3", "-c", memoryScript); r.out != want {
		t.Errorf("exit %d: %s%s", r.code, r.out, c.explain())
	}
}
