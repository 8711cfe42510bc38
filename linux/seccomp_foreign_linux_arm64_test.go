package linux_test

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// jump has nothing to do: calls of 32-bit arm need a 32-bit program.
func jump(t *testing.T, kind string) { t.Fatalf("no %s on arm64", kind) }

// arm32 is a program of 32-bit arm that writes "alive": the header of an ELF
// file, that of its segment, and the code.
var arm32 = []uint32{
	0x464c457f, 0x00010101, 0, 0, 0x00280002, 1, 0x10054, 52, 0, 0x05000000, 0x00200034, 1, 0,
	1, 0, 0x10000, 0x10000, 0x7c, 0x7c, 5, 0x1000,
	0xe3a07004, // mov r7, #4 (write)
	0xe3a00001, // mov r0, #1
	0xe28f1010, // adr r1, alive
	0xe3a02005, // mov r2, #5
	0xef000000, // svc #0
	0xe3a07001, // mov r7, #1 (exit)
	0xe3a00000, // mov r0, #0
	0xef000000, // svc #0
	0x76696c61, // alive
	0x00000065,
}

// TestKernelKillsForeignCalls starts a program of 32-bit arm: it dies by SIGSYS
// under the filter, and lives without.
func TestKernelKillsForeignCalls(t *testing.T) {
	text, err := binary.Append(nil, binary.LittleEndian, arm32)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "arm32")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program).Output()
	if errors.Is(err, unix.ENOEXEC) {
		t.Log("this machine has no 32-bit entry")
		return
	}
	if err != nil || string(out) != "alive" {
		t.Errorf("without a filter: %q, %v", out, err)
	}
	_, err = send(t, order{Exec: []string{program}})
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("under the filter: %v, want death by SIGSYS", err)
	}
	if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != unix.SIGSYS {
		t.Errorf("under the filter: %v, want death by SIGSYS", exit)
	}
}
