package linux_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// i386GetPID is "mov $20, %eax; int $0x80; ret": getpid by the 32-bit entry.
var i386GetPID = []byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3}

// jump makes a call of a foreign kind in the probe process, and says that it
// came back.
func jump(t *testing.T, kind string) {
	switch kind {
	case "int80":
		code, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		copy(code, i386GetPID)
		if err := unix.Mprotect(code, unix.PROT_READ|unix.PROT_EXEC); err != nil {
			t.Fatal(err)
		}
		// A function value points to a pointer to code.
		entry := unsafe.Pointer(unsafe.SliceData(code))
		closure := unsafe.Pointer(&entry)
		(*(*func())(unsafe.Pointer(&closure)))()
	case "x32":
		// Where the kernel has no x32, bare, this is ENOSYS.
		unix.RawSyscall(0x40000000+unix.SYS_GETPID, 0, 0, 0)
	}
	os.Stdout.WriteString("alive")
	os.Exit(0)
}

// TestKernelKillsForeignCalls makes calls by the i386 entry and with an x32
// number: the process dies by SIGSYS under the filter, and lives without.
func TestKernelKillsForeignCalls(t *testing.T) {
	for _, kind := range []string{"int80", "x32"} {
		out, err := send(t, order{Jump: kind, Bare: true})
		if err != nil || string(out) != "alive" {
			if kind == "int80" && os.Getenv("CI") != "true" && strings.Contains(err.Error(), "SIGSEGV") {
				t.Log("this kernel has no i386 entry")
				continue
			}
			t.Errorf("%s without a filter: %q, %v", kind, out, err)
		}
		_, err = send(t, order{Jump: kind})
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Errorf("%s under the filter: %v, want death by SIGSYS", kind, err)
			continue
		}
		if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != unix.SIGSYS {
			t.Errorf("%s under the filter: %v, want death by SIGSYS", kind, exit)
		}
	}
}
