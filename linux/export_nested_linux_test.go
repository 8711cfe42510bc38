package linux

// What nested_linux_test.go looks at.

type Mark = mark

type NestedRuns struct{ n nested }

// Unmarked is what a process outside every nested run has.
var Unmarked = mark{^uint64(0), ^uint64(0)}

// Add registers a run inside the one of that number, 0 for none.
func (r *NestedRuns) Add(outer uint64) (number uint64, ok bool) {
	in := &inner{interval: whole}
	next := r.n.parts
	if outer != 0 {
		in.outer = r.n.runs[outer-1]
		in.interval, next = in.outer.interval, in.outer.parts
	}
	if in.interval, ok = in.interval.part(next); !ok {
		return 0, false
	}
	in.mark = in.interval.mark()
	r.n.add(in)
	return in.number, true
}

// Find gives the run that a process with these limits is ruled on for; it is
// false where everything is refused.
func (r *NestedRuns) Find(m Mark) (number uint64, ok bool) {
	in, ok := r.n.find(m)
	if in == nil {
		return 0, ok
	}
	return in.number, ok
}

// Mark gives the limits of a run's command.
func (r *NestedRuns) Mark(number uint64) Mark {
	if number == 0 {
		return Unmarked
	}
	return r.n.runs[number-1].mark
}

// Around lists the runs that a run is in, with itself.
func (r *NestedRuns) Around(number uint64) (list []uint64) {
	for in := r.n.runs[number-1]; in != nil; in = in.outer {
		list = append(list, in.number)
	}
	return list
}

func (m Mark) Lower(rss, locks uint64) Mark { return mark{min(m.rss, rss), min(m.locks, locks)} }
func (m Mark) Values() (rss, locks uint64)  { return m.rss, m.locks }
