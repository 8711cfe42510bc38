package audit_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/audit"
	"skillrun/sandbox/sandboxtest"
)

// own runs a role in a mount namespace of its own, with a user namespace where
// that takes one.
func own(t *testing.T, name string) {
	t.Helper()
	cmd := role(name, t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	cmd.Stderr = nil
	out, err := cmd.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err != nil && (!ok || exit.ExitCode() == noMounts) {
		sandboxtest.Skip(t, sandboxtest.Namespaces, "mount namespaces do not work here: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestFullDisk(t *testing.T)          { own(t, "full") }
func TestReadOnlyDirectory(t *testing.T) { own(t, "read-only") }

const noMounts = 77

// mounted is the child of own: it mounts a small file system and uses it.
func mounted(name string) int {
	top := os.Args[1]
	err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, "")
	if err == nil {
		err = unix.Mount("tmpfs", top, "tmpfs", 0, "size=128k,mode=700")
	}
	if err != nil {
		fmt.Println(err)
		return noMounts
	}
	if name == "full" {
		err = fullDisk(filepath.Join(top, "audit"), filepath.Join(top, "ballast"))
	} else {
		err = readOnly(top, filepath.Join(top, "audit"))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func try(dir string) error {
	l, err := audit.Open(dir, audit.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.Append(sample(), &audit.End{Run: "k3f9a2m7qxtv"})
	return err
}

// fullDisk fills the disk byte by byte, so that a write is cut short, and
// expects each append to be wholly in or refused, and the log whole throughout.
func fullDisk(dir, ballast string) error {
	var in uint64
	var err error
	for range 100 {
		if err = try(dir); err != nil {
			break
		}
		in += 2
	}
	if !errors.Is(err, unix.ENOSPC) || in == 0 {
		return fmt.Errorf("after %d records: %v, want a full disk", in, err)
	}
	whole := func(want uint64) error {
		r, err := audit.Verify(dir)
		if err != nil || !r.Whole() || r.Records != want || len(r.Torn) != 0 {
			return fmt.Errorf("want %d records: %+v, %v", want, r, err)
		}
		return nil
	}
	if err := whole(in); err != nil {
		return err
	}
	// Nothing can be begun on a full disk either.
	other := filepath.Join(filepath.Dir(dir), "other")
	if err := try(other); !errors.Is(err, unix.ENOSPC) {
		return fmt.Errorf("a new log on a full disk: %v", err)
	}
	os.RemoveAll(other)
	// With room again it goes on.
	if err := unix.Mount("tmpfs", filepath.Dir(dir), "", unix.MS_REMOUNT, "size=1m"); err != nil {
		return err
	}
	if err := try(dir); err != nil {
		return err
	}
	return whole(in + 2)
}

func readOnly(top, dir string) error {
	if err := try(dir); err != nil { // positive control
		return err
	}
	if err := unix.Mount("", top, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	for _, d := range []string{dir, filepath.Join(top, "new")} {
		if err := try(d); err == nil || !strings.Contains(err.Error(), "read-only file system") {
			return fmt.Errorf("%s: %v", d, err)
		}
	}
	// Reading does not need to write.
	if r, err := audit.Verify(dir); err != nil || !r.Whole() || r.Records != 2 {
		return fmt.Errorf("verify: %+v, %v", r, err)
	}
	return nil
}
