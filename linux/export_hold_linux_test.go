package linux

import (
	"os"
	"unsafe"
)

// Hold has n requests hold data of this process, and gives how many could; then
// all are answered, and it gives what is held after that.
func Hold(n int, data []byte) (held int, left int64) {
	s := &Supervisor{}
	var all []*request
	for range n {
		r := &request{s: s, tid: os.Getpid()}
		if r.hold(uint64(uintptr(unsafe.Pointer(&data[0]))), uint64(len(data)), 1) == 0 {
			held++
		}
		all = append(all, r)
	}
	for _, r := range all {
		r.settle()
		r.settle()
	}
	return held, s.held.Load()
}
