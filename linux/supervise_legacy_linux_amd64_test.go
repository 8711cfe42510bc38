package linux_test

import "testing"

// TestSupervisedOldTimes: the calls that amd64 alone has set times as the kernel
// does, whatever they count in.
func TestSupervisedOldTimes(t *testing.T) {
	const script = `
import ctypes, errno, os, struct
libc = ctypes.CDLL(None, use_errno=True)
open("f", "w").close()
def try_(*args):
    os.utime("f", (1, 1))
    e = ctypes.get_errno() if libc.syscall(*args) else 0
    st = os.stat("f")
    now = lambda ns: "now" if ns > 10**18 else ns
    print(errno.errorcode.get(e, e), now(st.st_atime_ns), now(st.st_mtime_ns))
micro = lambda *t: struct.pack("4q", *t)
for times in None, micro(5, 6, 7, 8), micro(5, 999999, 7, 0), micro(5, 1000000, 7, 0), micro(5, 0, 7, -1), micro(5, 1073741822, 7, 0):
    try_(235, b"f", times)
    try_(261, -100, b"f", times)
for times in None, struct.pack("2q", 5, 7):
    try_(132, b"f", times)
for times in None, micro(5, 6, 7, 8), micro(5, 1073741822, 7, 8), micro(5, 10**9, 7, 8):
    try_(280, -100, b"f", times, 0)
try_(235, b"f", 8)
`
	c := newCell(t)
	want := newCell(t).bare("python3", "-c", script)
	got := c.run("python3", "-c", script)
	if want.code != 0 || got.code != 0 || got.out != want.out {
		t.Errorf("outside %d\n%s\ninside %d\n%s%s", want.code, want.out, got.code, got.out, c.explain())
	}
}
