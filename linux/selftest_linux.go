package linux

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errNotProven is what a step of the self-test fails with, beside the error
// that its call gave.
var errNotProven = errors.New("the self-test was not refused what it must be; the command was not started")

// openStatus opens the command's own status while it still may, for the end of
// the self-test. No step between the two saves a result.
func (b *scripter) openStatus() []step {
	if b.plan.SelfTest.Filters == 0 {
		return nil
	}
	return []step{stepFor(stageSelfFilters, syscall.SYS_OPENAT, atFDCWD, b.str("/proc/self/status"), syscall.O_RDONLY|syscall.O_CLOEXEC).with(save)}
}

// testFiles comes after Landlock and before the listener, which may have opens
// notified.
func (b *scripter) testFiles() ([]step, error) {
	dir := b.plan.SelfTest.Closed
	if dir == "" {
		return nil, nil
	}
	// By descriptor: the run may see something else under that name.
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	b.p.cleanup = append(b.p.cleanup, fd)
	return []step{stepFor(stageSelfFile, syscall.SYS_OPENAT, uintptr(fd), b.str("."), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC).wants(syscall.EACCES)}, nil
}

// testCalls comes last.
func (b *scripter) testCalls() ([]step, error) {
	t := &b.plan.SelfTest
	var s []step
	for _, c := range t.Sockets {
		s = append(s, stepFor(stageSelfSocket, syscall.SYS_SOCKET, uintptr(c.Family), noSocketType, 0).wants(syscall.Errno(c.Errno)))
	}
	if t.Signal != 0 {
		s = append(s, stepFor(stageSelfSignal, unix.SYS_PIDFD_SEND_SIGNAL, b.self, 0, 0, 0).wants(syscall.Errno(t.Signal)))
	}
	if t.Filters == 0 {
		return s, nil
	}
	above, groups, err := filtersAbove()
	if err != nil {
		return nil, err
	}
	// The line of groups stands before the one that is looked for.
	text := b.tape.room(4096 + 11*groups)
	count := stepFor(stageSelfFilters, syscall.SYS_PREAD64, 0, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), 0).with(useSaved | counted)
	count.text, count.filters = &text[0], uint16(above+t.Filters)
	return append(s, count), nil
}

// filtersAbove counts the filters that this process is under, which the command
// is under as well, and its groups.
func filtersAbove() (filters, groups int, err error) {
	list, err := unix.Getgroups()
	if err != nil {
		return 0, 0, err
	}
	groups = len(list)
	if mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err == nil && mode == 0 {
		return 0, groups, nil
	}
	text, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return 0, 0, err
	}
	_, rest, _ := strings.Cut(string(text), filtersLine)
	line, _, _ := strings.Cut(rest, "\n")
	filters, err = strconv.Atoi(line)
	return filters, groups, err
}

// filtersLine begins the line of /proc/PID/status that counts seccomp filters.
const filtersLine = "Seccomp_filters:\t"

// filtersIn gives the number in that line, 0 if it is not there.
//
//go:nosplit
//go:norace
func filtersIn(text *byte, length uintptr) uint16 {
	const n = uintptr(len(filtersLine))
	line := unsafe.StringData(filtersLine)
	for i := uintptr(0); i+n < length; i++ {
		j := uintptr(0)
		for j < n && byteAt(text, i+j) == byteAt(line, j) {
			j++
		}
		if j < n {
			continue
		}
		count := uint16(0)
		for i += n; i < length; i++ {
			c := byteAt(text, i)
			if c < '0' || c > '9' {
				break
			}
			count = count*10 + uint16(c-'0')
		}
		return count
	}
	return 0
}

//go:nosplit
//go:norace
func byteAt(p *byte, i uintptr) byte { return *(*byte)(unsafe.Add(unsafe.Pointer(p), i)) }

// ProveKills tries, in a process of its own, a call of a foreign architecture,
// which every filter answers with the end of the process. It is false where
// that process lived, and known only where such a call can be made: on amd64,
// by x32 numbers.
func ProveKills() (killed, known bool) {
	const x32 = 0x40000000
	if runtime.GOARCH != "amd64" {
		return false, false
	}
	filters, err := Filters(runtime.GOARCH, 0)
	if err != nil {
		return false, true
	}
	script := []step{
		stepFor(stagePrivilege, syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1),
		stepFor(stagePrivilege, syscall.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0), // no core
	}
	var keep []*unix.SockFprog
	for _, f := range filters {
		fprog := program(f)
		keep = append(keep, fprog)
		script = append(script, stepFor(stageSeccomp, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(fprog))))
	}
	script = append(script, stepFor(stageSeccomp, x32|syscall.SYS_GETPID).with(optional))
	status, err := tryStatus(script)
	runtime.KeepAlive(keep)
	return err == nil && status.Signaled() && status.Signal() == syscall.SIGSYS, true
}

// program is a filter as the kernel takes it.
func program(f Filter) *unix.SockFprog {
	return &unix.SockFprog{Len: f.Instructions(), Filter: (*unix.SockFilter)(unsafe.Pointer(unsafe.StringData(f.Program)))}
}
