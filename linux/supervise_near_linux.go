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
// What it may run on is set back to what it was. Lest that undo what another thread
// of the run sets meanwhile, no caller is kept any more from the first time on that
// one of them does.
type near struct {
	placed *uint32     // the Supervisor's
	caller uintptr     // a thread
	here   unix.CPUSet // the quick thread's processor
	all    unix.CPUSet // those of the caller
	size   uintptr     // of all
	busy   uint32      // whether the caller is kept
}

// keep is undone by release.
//
//go:nosplit
//go:norace
func (n *near) keep() {
	// In this order, and leavePlaces in the other: one of the two sees the other.
	storeRelease(&n.busy, 1)
	if loadAcquire(n.placed) == 0 {
		var e syscall.Errno
		n.size, e = sys(syscall.SYS_SCHED_GETAFFINITY, n.caller, unsafe.Sizeof(n.all), uintptr(unsafe.Pointer(&n.all)))
		if e == 0 {
			if _, e = sys(syscall.SYS_SCHED_SETAFFINITY, n.caller, unsafe.Sizeof(n.here), uintptr(unsafe.Pointer(&n.here))); e == 0 {
				return
			}
		}
	}
	storeRelease(&n.busy, 0)
}

//go:nosplit
//go:norace
func (n *near) release() {
	if n.busy != 0 {
		sys(syscall.SYS_SCHED_SETAFFINITY, n.caller, n.size, uintptr(unsafe.Pointer(&n.all)))
		storeRelease(&n.busy, 0)
	}
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
