package linux

import (
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// share is what a run may have of the processes that its user may have. The
// kernel counts a user's threads together, those of this process with those of
// the run, and Go's runtime cannot go on without a thread that it needs: what
// the run may not have is left to this process.
type share struct {
	limit   uint64      // RLIMIT_NPROC of the run, RLIM_INFINITY for none
	threads int32       // that act for the run, at most
	whole   unix.Rlimit // of this process
	err     error
}

const (
	// threadsOwn is how many threads this process has besides those that act for
	// a run and those that run Go code at a time.
	threadsOwn = 24
	// threadsLeast is how few may act for it.
	threadsLeast = 2 * quickMost
	// processesLeast is how few leave a run something beside the threads that this
	// process has in any case.
	processesLeast = 16
)

// shareOf divides a user's limit of processes. Each thread that acts for the run
// may wait, and be looked after by another.
func shareOf(whole unix.Rlimit, processors int) share {
	limit := whole.Cur
	if limit == unix.RLIM_INFINITY {
		return share{limit: limit, threads: performersMost}
	}
	own := uint64(threadsOwn + processors)
	kept := max(own+2*threadsLeast, min(own+2*performersMost, limit/4))
	if limit < kept+processesLeast {
		return share{err: fmt.Errorf("this user may have %d processes and threads (RLIMIT_NPROC), and it takes %d", limit, kept+processesLeast)}
	}
	return share{limit: limit - kept, threads: int32(kept-own) / 2, whole: whole}
}

// processShare is that of the limit with which this process started.
var processShare = sync.OnceValue(func() share {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err != nil {
		return share{err: fmt.Errorf("look at the limit of processes: %w", err)}
	}
	return shareOf(now, max(runtime.GOMAXPROCS(0), 8)) // as many as a gate wants
})

// within calls f while this process has the run's limit itself, which becomes
// that of a user namespace made in f: beyond it nobody in there makes processes,
// whatever their own limit.
func (s share) within(f func()) error {
	if s.limit == unix.RLIM_INFINITY {
		f()
		return nil
	}
	if err := unix.Prlimit(0, unix.RLIMIT_NPROC, &unix.Rlimit{Cur: s.limit, Max: s.whole.Max}, nil); err != nil {
		return err
	}
	f()
	unix.Prlimit(0, unix.RLIMIT_NPROC, &s.whole, nil) // is refused to nobody
	return nil
}
