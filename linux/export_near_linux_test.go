package linux

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// KeepNear keeps a thread on a processor during meanwhile, at the end of which its
// descriptor is taken, and says whether it was kept.
func KeepNear(tid, cpu int, meanwhile func(), taken syscall.Errno) bool {
	n := near{placed: new(uint32), caller: uintptr(tid)}
	n.here.Set(cpu)
	n.learn()
	n.keep()
	kept := n.busy != 0
	meanwhile()
	n.release(taken)
	return kept
}

// NearBack gives what a thread of the run is given back, as the calling one learns.
func NearBack() unix.CPUSet {
	var n near
	n.learn()
	return n.back
}
