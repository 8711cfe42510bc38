package linux_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"skillrun/linux"
)

// TestMarks: a process that can only lower its limits stays under every profile
// that it is under, whatever runs there are, and has those of no other run by
// itself; a run's own command is under its run's and those around it, exactly.
//
// Not of rapid, which would have this binary start half as long again: each of the
// tests that supervise starts it.
func TestMarks(t *testing.T) {
	seed := rand.Uint64()
	draw := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		var runs linux.NestedRuns
		count := uint64(0)
		any := func() uint64 { return draw.Uint64N(count + 1) }
		for range 1 + draw.IntN(20) {
			outer := any()
			if n, ok := runs.Add(outer); ok {
				count = n
				above, below := runs.Mark(outer), runs.Mark(n)
				rss, locks := below.Values()
				if above.Lower(rss, locks) != below || above == below {
					t.Fatalf("seed %d: the command of run %d cannot lower its limits %v to %v", seed, n, above, below)
				}
				if rss < 1<<62 || locks < 1<<62 {
					t.Fatalf("seed %d: limits that limit: %v", seed, below)
				}
			}
		}
		for n := uint64(0); n <= count; n++ {
			if got, ok := runs.Find(runs.Mark(n)); !ok || got != n {
				t.Fatalf("seed %d: the command of run %d is taken for one of run %d", seed, n, got)
			}
		}
		m := runs.Mark(any())
		for range 5 {
			before, ok := runs.Find(m)
			if !ok {
				break
			}
			// What others have is what a process would lower its own to.
			rss, _ := runs.Mark(any()).Values()
			_, locks := runs.Mark(any()).Values()
			m = m.Lower(rss-draw.Uint64N(3), locks-draw.Uint64N(3))
			after, ok := runs.Find(m)
			if !ok {
				break // nothing is allowed any more
			}
			if before != 0 && (after == 0 || !slices.Contains(runs.Around(after), before)) {
				t.Fatalf("seed %d: from run %d into run %d", seed, before, after)
			}
		}
	}
}

// TestMarksOfOne: a program that lowers one of the limits, for its own reasons,
// stays in its run, unless others are beside that: then it may be of one of them,
// and is refused everything.
func TestMarksOfOne(t *testing.T) {
	var runs linux.NestedRuns
	a, _ := runs.Add(0)
	runs.Add(a)
	for _, of := range []uint64{0, a} {
		for _, m := range []linux.Mark{runs.Mark(of).Lower(1<<20, ^uint64(0)), runs.Mark(of).Lower(^uint64(0), 1<<20)} {
			if n, ok := runs.Find(m); !ok || n != of {
				t.Errorf("%v: from run %d into run %d, %t", m, of, n, ok)
			}
		}
	}
	b, _ := runs.Add(0)
	for _, m := range []linux.Mark{runs.Mark(a).Lower(^uint64(0), 1<<20), runs.Mark(b).Lower(1<<20, ^uint64(0))} {
		if n, ok := runs.Find(m); ok {
			t.Errorf("%v: into run %d", m, n)
		}
	}
}

// TestMarksEnd: runs in runs, and one after another, are at some time too many.
func TestMarksEnd(t *testing.T) {
	var runs linux.NestedRuns
	depth, at := 0, uint64(0)
	for {
		n, ok := runs.Add(at)
		if !ok {
			break
		}
		at = n
		depth++
	}
	count := 0
	for ; count < 1<<13; count++ {
		if _, ok := runs.Add(1); !ok {
			break
		}
	}
	if depth != 5 || count != 4093 {
		t.Errorf("%d deep, %d beside", depth, count)
	}
}
