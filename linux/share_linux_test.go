package linux

import (
	"testing"

	"golang.org/x/sys/unix"
)

// What a run does not get of a user's processes is enough for the threads that
// act for it, each with one that looks after it.
func TestShareOf(t *testing.T) {
	if s := shareOf(unix.Rlimit{Cur: unix.RLIM_INFINITY}, 8); s.limit != unix.RLIM_INFINITY || s.threads != performersMost || s.err != nil {
		t.Errorf("no limit: %+v", s)
	}
	refused := 0
	for limit := uint64(0); limit < 100000; limit += 1 + limit/50 {
		for _, processors := range []int{8, 128} {
			s := shareOf(unix.Rlimit{Cur: limit, Max: limit}, processors)
			if s.err != nil {
				refused++
				if limit > 64 && processors == 8 || limit > 200 {
					t.Errorf("%d: %v", limit, s.err)
				}
				continue
			}
			if kept := limit - s.limit; s.limit > limit || s.limit < processesLeast || s.threads < threadsLeast || s.threads > performersMost || kept < uint64(threadsOwn+processors)+2*uint64(s.threads) {
				t.Errorf("%d with %d processors: %+v", limit, processors, s)
			}
			if limit > 10000 && (s.threads != performersMost || s.limit < limit*8/10) {
				t.Errorf("%d: %+v", limit, s)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing is too low")
	}
}
