package linux_test

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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

// i386 is a program of the 32-bit x86 that does nothing: the header of an ELF
// file, that of its segment, and the code.
var i386 = []uint32{
	0x464c457f, 0x00010101, 0, 0, 0x00030002, 1, 0x10054, 52, 0, 0, 0x00200034, 1, 0,
	1, 0, 0x10000, 0x10000, 0x60, 0x60, 5, 0x1000,
	0x000001b8, 0xcddb3100, 0x00000080, // mov $1, %eax (exit); xor %ebx, %ebx; int $0x80
}

// TestKernelKillsForeignCalls makes calls by the i386 entry and with an x32
// number: the process dies by SIGSYS under the filter, and lives without. Some
// kernels have no i386 entry (built without one, ia32_emulation=0, under a
// hypervisor that has none): such a kernel runs no program of i386 either, and
// the instruction is a fault, with the filter and without.
func TestKernelKillsForeignCalls(t *testing.T) {
	text, err := binary.Append(nil, binary.LittleEndian, i386)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "i386")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	err = exec.Command(program).Run()
	noI386 := errors.Is(err, unix.ENOEXEC)
	if err != nil && !noI386 {
		t.Fatalf("control: a program of i386: %v", err)
	}
	for _, kind := range []string{"int80", "x32"} {
		alive, want := "alive", unix.SIGSYS
		if kind == "int80" && noI386 {
			t.Log("this kernel has no i386 entry")
			alive, want = "", unix.SIGSEGV
		}
		if out, err := send(t, order{Jump: kind, Bare: true}); string(out) != alive || alive == "" && !died(err, want) {
			t.Errorf("%s without a filter: %q, %v", kind, out, err)
		}
		if _, err := send(t, order{Jump: kind}); !died(err, want) {
			t.Errorf("%s under the filter: %v, want death by %v", kind, err, want)
		}
	}
}

// died reports whether a program ended by sig. Go's runtime tells of a fault and
// exits.
func died(err error, sig syscall.Signal) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status := exit.Sys().(syscall.WaitStatus)
	return status.Signaled() && status.Signal() == sig ||
		sig == unix.SIGSEGV && strings.Contains(err.Error(), "SIGSEGV")
}
