package linux

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Calls are looked at one after another, and made beside each other. What a call is
// about is pinned meanwhile, but for a name that is moved: no call of the kernel's
// moves what a descriptor refers to. So that the file which was ruled on does not
// become a directory with control files in it, or one that was there before, calls
// that change names take turns with those that move some in the same directory, where
// the kernel has them wait for each other, too. And when a run is over, they are:
// another may have its directories.

// turns are calls under way.
type turns struct {
	mu   sync.Mutex
	list []turn
}

type turn struct {
	request *request
	moves   bool
	dir     fileID // an overlay's directory may get another time of birth
}

// turnPatience is how long a call waits for its turn. Only a file system that does
// not answer, or threads that all wait for something else, take as long.
const turnPatience = time.Second

// some says whether calls are under way. Only the resolving thread adds to them.
func (t *turns) some() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list) > 0
}

func (t *turns) take(r *request, moves bool, dirs []dirID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.list, func(o turn) bool {
		return (moves || o.moves) && slices.ContainsFunc(dirs, func(d dirID) bool { return d.fileID == o.dir })
	}) {
		return false
	}
	for _, dir := range dirs {
		t.list = append(t.list, turn{r, moves, dir.fileID})
	}
	return true
}

func (t *turns) leave(r *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = slices.DeleteFunc(t.list, func(o turn) bool { return o.request == r })
}

// turn waits until the call may be made, and is false if it ended the request: it
// changes names in dirs, and moves them or not. From then on others wait, until it is
// settled.
func (r *request) turn(moves bool, dirs ...dirID) bool {
	r.turns = true
	ok := patiently(func() bool {
		ok := r.s.turns.take(r, moves, dirs)
		if !ok {
			r.s.collect()
		}
		return ok
	})
	if !ok {
		r.fail(unix.EBUSY)
	}
	return ok
}

// settled waits until no call that changes names is under way, and is false if that
// takes too long.
func (p *performers) settled() bool {
	t := &p.s.turns
	return patiently(func() bool {
		p.collect()
		t.mu.Lock()
		defer t.mu.Unlock()
		return !slices.ContainsFunc(t.list, func(o turn) bool { return o.request.performers == p })
	})
}

// patiently waits for what most often is so at once, or when a thread that shares
// this one's processor has had its turn; it is false if it is not in time.
func patiently(done func() bool) bool {
	var end time.Time
	for try := 0; !done(); try++ {
		switch {
		case try == 0:
			end = time.Now().Add(turnPatience)
		case time.Now().After(end):
			return false
		}
		if try < 64 {
			unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		} else {
			time.Sleep(100 * time.Microsecond)
		}
	}
	return true
}
