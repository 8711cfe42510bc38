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
func TestFullEnds(t *testing.T)          { own(t, "full-ends") }
func TestReadOnlyDirectory(t *testing.T) { own(t, "read-only") }

const noMounts = 77

// mounted is the child of own: it mounts a small file system and uses it.
func mounted(name string) int {
	top := os.Args[1]
	err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, "")
	if err == nil {
		err = unix.Mount("tmpfs", top, "tmpfs", 0, "size=2m,mode=700")
	}
	if err != nil {
		fmt.Println(err)
		return noMounts
	}
	switch name {
	case "full":
		err = fullDisk(filepath.Join(top, "audit"))
	case "full-ends":
		err = fullEnds(top)
	default:
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
	err = l.Append(sample(), &audit.End{Run: "k3f9a2m7qxtv"})
	return err
}

// fill writes to a file until nothing more can be written on the disk, not by anybody.
func fill(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err = f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if other := os.WriteFile(file+"2", []byte("x"), 0o600); !errors.Is(err, unix.ENOSPC) || !errors.Is(other, unix.ENOSPC) {
		return fmt.Errorf("a full disk takes more: %v, %v", err, other)
	}
	return nil
}

// fullEnds fills the disk when runs have begun, and records their ends. A file of the
// log is as long as it may be when the first of them is.
func fullEnds(top string) error {
	dir := filepath.Join(top, "audit")
	l, err := audit.Open(dir, audit.Options{FileSize: 4096})
	if err != nil {
		return err
	}
	defer l.Close()
	var ends []*audit.End
	for i := range 64 {
		s := sample()
		s.Run = fmt.Sprintf("run-%d", i)
		if err := l.Append(s); err != nil {
			return err
		}
		end := &audit.End{Run: s.Run, Status: audit.Denied, MoreRuns: 1}
		for k := range 256 {
			end.Denials = append(end.Denials, audit.Denial{Access: "read", Target: strings.Repeat("x", 4000)})
			end.Connections = append(end.Connections, audit.Connection{Host: strings.Repeat("y", 200), Port: k + 1, Verdict: fmt.Sprint("reason ", k%20), Count: 2, Sent: 10})
		}
		ends = append(ends, end)
	}
	files, err := filepath.Glob(filepath.Join(dir, "audit-*"))
	if err != nil || len(files) < 2 {
		return fmt.Errorf("%v, %v: want several files", files, err)
	}
	for i, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		// Room is kept in the last.
		if st := info.Sys().(*syscall.Stat_t); (st.Blocks*512 > info.Size()+256<<10) != (i == len(files)-1) {
			return fmt.Errorf("file %d of %d: %d bytes, %d on the disk", i, len(files), info.Size(), st.Blocks*512)
		}
	}
	if err := fill(filepath.Join(top, "ballast")); err != nil {
		return err
	}
	for i, end := range ends {
		for _, entry := range []audit.Entry{end, sample()} {
			if err := l.Append(entry); !audit.IsFull(err) {
				return fmt.Errorf("more than an end in brief: %v", err)
			}
		}
		if err := l.AppendBrief(end); err != nil {
			return fmt.Errorf("end %d: %w", i, err)
		}
	}
	r, err := audit.Verify(dir)
	if err != nil || !r.Whole() || r.Records != 2*64 || len(r.Torn) != 0 || r.Files != len(files) {
		return fmt.Errorf("%+v, %v", r, err)
	}
	var last *audit.End
	for r := range audit.Records(dir) {
		last = r.End
	}
	if last == nil || last.Run != "run-63" || last.Status != audit.Denied || last.MoreDenials != 256 || last.MoreRuns != 1 || len(last.Connections) != 20 || last.Connections[0] != (audit.Connection{Verdict: "reason 0", Count: 26, Sent: 130}) {
		return fmt.Errorf("%+v", last)
	}
	return nil
}

// fullDisk fills the disk with records, at last in the room that is kept for ends, so
// that a write is cut short, and expects each append to be wholly in or refused, and the log whole throughout.
func fullDisk(dir string) error {
	var in uint64
	var err error
	for range 1000 {
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
	l, err := audit.Open(dir, audit.Options{})
	if err != nil {
		return err
	}
	before := in
	for range 4096 {
		if err = l.AppendBrief(&audit.End{Run: "k3f9a2m7qxtv"}); err != nil {
			break
		}
		in++
	}
	l.Close()
	if !errors.Is(err, unix.ENOSPC) || in == before {
		return fmt.Errorf("after %d ends: %v, want a full disk", in-before, err)
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
	if err := unix.Mount("tmpfs", filepath.Dir(dir), "", unix.MS_REMOUNT, "size=8m"); err != nil {
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
