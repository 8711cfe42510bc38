package linux

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// near keeps a caller on a quick thread's processor while it takes a descriptor.
// That the kernel has the caller itself do. Unlike one that gets its answer, such a
// caller is woken on a processor that has nothing to do, if there is one, and from
// there comes back for the answer: to wake a processor that sleeps takes a virtual
// machine longer than all the rest of the call. So for that moment it may run on one
// processor only. It does not see it, since it waits.
//
// What it may run on is set back, but where it has changed meanwhile. Lest that undo
// what another thread of the run sets all the same, no caller is kept any more from
// the first time on that one of them does. Nor is one that has a place of its own,
// nor any where a signal makes a caller go on: its handler would fork children that
// stay there for good.
type near struct {
	placed *uint32     // the Supervisor's
	caller uintptr     // a thread
	here   unix.CPUSet // the quick thread's processor
	all    unix.CPUSet // those of the run
	back   unix.CPUSet // what gives them back
	now    unix.CPUSet // those of the caller
	busy   uint32      // whether the caller is kept
}

// learn is for a thread that nobody has placed yet. What may run wherever its cpuset
// lets it must do so when that grows, too: it is given back every processor.
func (n *near) learn() {
	var every, whole unix.CPUSet
	for i := range every {
		every[i] = ^every[i]
	}
	if unix.SchedGetaffinity(0, &n.all) == nil && unix.SchedSetaffinity(0, &every) == nil && unix.SchedGetaffinity(0, &whole) == nil {
		if n.back = every; whole != n.all {
			n.back = n.all
			unix.SchedSetaffinity(0, &n.all)
		}
	}
}

// keep is undone by release.
//
//go:nosplit
//go:norace
func (n *near) keep() {
	// In this order, and leavePlaces in the other: one of the two sees the other.
	storeRelease(&n.busy, 1)
	if loadAcquire(n.placed) == 0 && !same(&n.all, &n.here) && n.isOn(&n.all) && n.put(&n.here) {
		return
	}
	storeRelease(&n.busy, 0)
}

// release is told how the descriptor was taken. ESRCH: the caller died, and another of
// its process, which executes a program, may have its number.
//
//go:nosplit
//go:norace
func (n *near) release(taken syscall.Errno) {
	if n.busy == 0 {
		return
	}
	if taken != syscall.ESRCH && n.isOn(&n.here) {
		n.put(&n.back)
	}
	storeRelease(&n.busy, 0)
}

//go:nosplit
//go:norace
func (n *near) isOn(set *unix.CPUSet) bool {
	_, e := sys(syscall.SYS_SCHED_GETAFFINITY, n.caller, unsafe.Sizeof(n.now), uintptr(unsafe.Pointer(&n.now)))
	return e == 0 && same(&n.now, set)
}

// same is a comparison that the race detector does not look at.
//
//go:nosplit
//go:norace
func same(a, b *unix.CPUSet) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

//go:nosplit
//go:norace
func (n *near) put(set *unix.CPUSet) bool {
	_, e := sys(syscall.SYS_SCHED_SETAFFINITY, n.caller, unsafe.Sizeof(*set), uintptr(unsafe.Pointer(set)))
	return e == 0
}

// leavePlaces ends that: the run places its threads itself. It returns when no
// caller is kept, or after a while: one that is stopped keeps its own.
func (s *Supervisor) leavePlaces() {
	if atomic.SwapUint32(&s.placed, 1) != 0 {
		return
	}
	sets := []*performers{s.perform}
	if inner := s.nested.performing.Load(); inner != nil {
		sets = append(sets, *inner...)
	}
	for _, p := range sets {
		p.collecting.Lock()
		for _, q := range p.quick {
			for range 100 {
				if atomic.LoadUint32(&q.near.busy) == 0 {
					break
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
		p.collecting.Unlock()
	}
}
