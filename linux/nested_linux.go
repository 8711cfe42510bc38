package linux

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// Resource numbers, the same on every architecture that has filters.
const (
	rlimitRSS   = 5
	rlimitLocks = 10
)

// Nested is a run that the supervisor of the run around it answers for.
type Nested struct {
	// Around is the name of the run around it, and Depth how many it is in, as
	// the supervisor says.
	Around string
	Depth  int
	number uint64
	mark   mark
}

// A NestedError says that the supervisor of the run around this one did not
// take it on, though it had said that it would.
type NestedError struct{ Err error }

func (e *NestedError) Error() string {
	return "cannot register with the outer run's supervisor: " + e.Err.Error()
}
func (e *NestedError) Unwrap() error { return e.Err }

// RegisterNested hands a run to the supervisor around it: its name (12 letters and
// digits), its profile, the directories that are its own, what they stand in for, the
// launcher's umask, and the descriptors that its command starts with. The plan must be
// one whose Nested is set. Command.Nested then has the command belong to it.
func RegisterNested(run string, plan *Plan, profile *profiles.Profile, own []string, instead []Substitute, umask uint32, stdio [3]int) (*Nested, error) {
	about := narrow(run, plan, profile, own, instead, umask)
	_, inputs, err := inherited(stdio)
	if err != nil {
		return nil, err
	}
	for _, id := range inputs {
		about.Inputs = append(about.Inputs, [2]uint64{id.dev, id.ino})
	}
	text, err := json.Marshal(about)
	if err != nil {
		return nil, &NestedError{err}
	}
	number, e := tellOuter(nestedNarrow, unsafe.Pointer(&text[0]), uint64(len(text)))
	if e != 0 || number == 0 {
		return nil, &NestedError{fmt.Errorf("a profile of %d bytes: %w", len(text), e)}
	}
	runtime.KeepAlive(text)
	n := &Nested{number: number, mark: mark{binary.NativeEndian.Uint64(text), binary.NativeEndian.Uint64(text[8:])}}
	n.Depth = int(binary.NativeEndian.Uint64(text[16:]))
	n.Around = strings.TrimRight(string(text[24:nestedAnswer]), "\x00")
	return n, nil
}

// Over tells the supervisor that the run has ended: whatever bears its mark is
// refused from then on.
func (n *Nested) Over() {
	if n != nil {
		tellOuter(nestedOver, nil, n.number)
	}
}

// steps have the command belong to the run, and prove that it does.
func (n *Nested) steps(b *scripter) []step {
	if n == nil {
		return nil
	}
	var s []step
	limit := func(resource uintptr, value uint64) {
		lim := put(b.tape, unix.Rlimit{Cur: value, Max: value})
		s = append(s, stepFor(stageNested, unix.SYS_PRLIMIT64, 0, resource, uintptr(unsafe.Pointer(lim))))
	}
	limit(rlimitRSS, n.mark.rss)
	limit(rlimitLocks, n.mark.locks)
	return append(s, stepFor(stageNested, unix.SYS_FSETXATTR, ^uintptr(0), 0, 0, uintptr(n.number)))
}

func tellOuter(name string, value unsafe.Pointer, size uint64) (uint64, syscall.Errno) {
	text := cstring(name)
	r, _, e := syscall.Syscall6(unix.SYS_FSETXATTR, ^uintptr(0), uintptr(unsafe.Pointer(text)), uintptr(value), uintptr(size), 0, 0)
	return uint64(r), e
}

// askOuter gives what the supervisor of a run around this process is notified
// of; 0 if there is none, or none that takes on another run.
func askOuter() FilterFeatures {
	r, e := tellOuter(nestedAsk, nil, 0)
	if e != 0 || r&nestedYes == 0 {
		return 0
	}
	return FilterFeatures(r) & NotifyFeatures
}
