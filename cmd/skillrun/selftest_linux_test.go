package main_test

import (
	"log"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() { programs["blind"] = blind }

// A kernel that says yes and does nothing is noticed: Landlock or the filters
// are answered with success and not installed, and nothing is run.
func TestBlind(t *testing.T) {
	for _, tt := range []struct{ call, want string }{
		{"landlock_restrict_self", "cannot prove that files are closed: "},
		{"seccomp", "cannot prove that sockets are refused: "},
	} {
		for _, namespaces := range []string{"auto", "off"} {
			t.Run(tt.call+", namespaces "+namespaces, func(t *testing.T) {
				dir, env := home(t)
				cmd := exec.Command("blind", tt.call, program(t), "--namespaces", namespaces, "--", "touch", "ran")
				cmd.Dir, cmd.Env = dir, env
				if lines := refused(t, cmd); len(lines) != 1 || !strings.Contains(lines[0], tt.want) {
					t.Errorf("said %q, want %s", lines, tt.want)
				}
			})
		}
	}
	t.Run("control", func(t *testing.T) {
		dir, env := home(t)
		cmd := exec.Command("blind", "none", program(t), "--", "touch", "ran")
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if _, err := os.Stat(dir + "/ran"); err != nil {
			t.Error(err)
		}
	})
}

// blind installs a filter that answers the call which its first argument names
// with 0 without making it, and becomes the command that follows.
func blind() {
	call := map[string]uint32{"landlock_restrict_self": unix.SYS_LANDLOCK_RESTRICT_SELF, "seccomp": unix.SYS_SECCOMP, "none": 1 << 20}[os.Args[1]]
	const load, jeq, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	code := []unix.SockFilter{
		{Code: load, K: 0},
		{Code: jeq, Jf: 3, K: call},
		{Code: load, K: 16 + 8}, // flags: a listener is installed all the same
		{Code: jeq, Jf: 1, K: 0},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	}
	filtered(code)
}

// filtered becomes the command that follows its name and one argument, under a filter.
func filtered(code []unix.SockFilter) {
	runtime.LockOSThread() // no_new_privs is a thread's, and the filter wants it
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		log.Fatal(err)
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); e != 0 {
		log.Fatal(e)
	}
	log.Fatal(syscall.Exec(os.Args[2], os.Args[2:], os.Environ()))
}
