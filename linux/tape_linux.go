package linux

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tape is what guardian and command read after the fork: their scripts, and all
// that these point to. It is no memory of Go's, whose heap stays behind (fork in
// launch_linux.go): to copy that and then, on either side, each page that is
// written took a twelfth of a launch, and the guardian would hold the launcher's
// secrets for as long as the run lasts. So it may point to itself and to what is in
// the program, and to nothing in the heap.
type tape struct {
	pieces [][]byte
	free   []byte
	err    error // of the first piece that could not be had
}

const tapePiece = 64 << 10

// room gives n bytes, zero, on a boundary of eight.
func (t *tape) room(n int) []byte {
	n = max(n+7, 8) &^ 7
	if n > len(t.free) {
		piece, err := unix.Mmap(-1, 0, max(n, tapePiece), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			t.err = fmt.Errorf("map memory for a run's scripts: %w", err)
			return make([]byte, n) // nothing is forked that would read it
		}
		t.pieces, t.free = append(t.pieces, piece), piece
	}
	b := t.free[:n:n]
	t.free = t.free[n:]
	return b
}

// put copies a value that has no pointers but to the tape or the program.
func put[T any](t *tape, v T) *T {
	p := (*T)(unsafe.Pointer(unsafe.SliceData(t.room(int(unsafe.Sizeof(v))))))
	*p = v
	return p
}

// putAll copies several, one after the other.
func putAll[T any](t *tape, list []T) *T {
	var v T
	p := (*T)(unsafe.Pointer(unsafe.SliceData(t.room(len(list) * int(unsafe.Sizeof(v))))))
	copy(unsafe.Slice(p, len(list)), list)
	return p
}

// str copies a string, as C has them.
func (t *tape) str(s string) (*byte, error) {
	for i := range len(s) {
		if s[i] == 0 {
			return nil, syscall.EINVAL
		}
	}
	b := t.room(len(s) + 1)
	copy(b, s)
	return unsafe.SliceData(b), nil
}

// strs copies strings as execve(2) wants them.
func (t *tape) strs(list []string) (**byte, error) {
	p := make([]*byte, len(list)+1)
	for i, s := range list {
		var err error
		if p[i], err = t.str(s); err != nil {
			return nil, err
		}
	}
	return putAll(t, p), nil
}

// bring has the tape and the board be there after a fork.
//
//go:nosplit
//go:norace
func (t *tape) bring(b *board) {
	sys(syscall.SYS_MADVISE, uintptr(unsafe.Pointer(b)), unsafe.Sizeof(*b), unix.MADV_DOFORK)
	for i := range t.pieces {
		sys(syscall.SYS_MADVISE, uintptr(unsafe.Pointer(unsafe.SliceData(t.pieces[i]))), uintptr(len(t.pieces[i])), unix.MADV_DOFORK)
	}
}

// release gives the memory back, when nobody reads it any more.
func (t *tape) release() {
	for _, piece := range t.pieces {
		unix.Munmap(piece)
	}
	*t = tape{}
}
