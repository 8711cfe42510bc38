package linux_test

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/linux"
)

// opening forks a process that opens files, until it is killed or has opened
// enough of them: then it ends.
const opening = `
import os
everywhere = os.sched_getaffinity(0)
def opens(place):
    global opener
    opener = os.fork()
    if opener: return
    os.sched_setaffinity(0, place)
    for n in range(1500):
        os.close(os.open("file%d" % (n % 50), os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    os._exit(0)
def opens_now():
    # What it may run on goes to now, unless it has ended.
    global now
    now = os.sched_getaffinity(opener)
    return os.waitpid(opener, os.WNOHANG)[0] == 0
`

// TestSupervisedNear looks at what a thread may run on while it is handed
// descriptors: one processor at moments, and everything in the end. Where signals
// interrupt who waits, it is everything at all times.
func TestSupervisedNear(t *testing.T) {
	c := newCell(t)
	for _, c.hasty = range []bool{false, true} {
		r := c.run("python3", "-c", opening+fmt.Sprintf("hasty = %d", map[bool]int{true: 1}[c.hasty])+`
opens(everywhere)
kept = 0
while opens_now():
    assert now == everywhere or len(now) == 1, now
    kept += now != everywhere
if hasty: assert not kept, "it was kept %d times" % kept
else: assert kept or len(everywhere) == 1, "it was never kept"
for n in range(100):
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT))
    assert os.sched_getaffinity(0) == everywhere
`)
		if r.code != 0 {
			t.Errorf("interrupted %t: exit %d\n%s%s", c.hasty, r.code, r.out, c.explain())
		}
	}
}

// TestSupervisedNearPlaced sets for such a thread what it may run on: that stays,
// and nobody is kept from then on.
func TestSupervisedNearPlaced(t *testing.T) {
	for range 6 { // only the first time in a run counts, and it may meet none that is kept
		c := newCell(t)
		r := c.run("python3", "-c", opening+`
def place(cpus):
    try: os.sched_setaffinity(opener, cpus)
    except ProcessLookupError: os._exit(0) # it is over
opens(everywhere)
want = {max(everywhere)}
while opens_now() and now == everywhere != want: pass
place(want)
for n in range(500):
    if not opens_now(): os._exit(0)
    assert now == want, now
place(everywhere)
while opens_now():
    assert now == everywhere, now
`)
		if r.code != 0 {
			t.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
		}
	}
}

// TestSupervisedNearOwnPlace: one that has set that itself is not kept.
func TestSupervisedNearOwnPlace(t *testing.T) {
	c := newCell(t)
	r := c.run("python3", "-c", opening+`
want = {max(everywhere)}
opens(want)
while opens_now() and now != want: pass
while opens_now():
    assert now == want, now
`)
	if r.code != 0 {
		t.Errorf("exit %d\n%s%s", r.code, r.out, c.explain())
	}
}

// TestNear has a thread kept that is placed from outside meanwhile, or whose number
// is another's in the end: either stays where it was put.
func TestNear(t *testing.T) {
	end := make(chan bool)
	defer close(end)
	number := make(chan int)
	go func() {
		runtime.LockOSThread() // it ends with it
		number <- unix.Gettid()
		<-end
	}()
	tid := <-number
	is := func() (set unix.CPUSet) {
		must(t, unix.SchedGetaffinity(tid, &set))
		return set
	}
	everywhere := is()
	var cpus []int
	var only [2]unix.CPUSet
	for cpu := range 1024 {
		if everywhere.IsSet(cpu) && len(cpus) < 2 {
			only[len(cpus)].Set(cpu)
			cpus = append(cpus, cpu)
		}
	}
	several := len(cpus) > 1 // else there is nothing to keep it from
	for _, c := range []struct {
		name            string
		taken           syscall.Errno
		meanwhile, then unix.CPUSet
	}{
		{"it is set back", 0, only[0], everywhere},
		{"it takes none", syscall.EMFILE, only[0], everywhere},
		{"it had died before", syscall.ENOENT, only[0], everywhere},
		{"it is placed", 0, only[1], only[1]},
		{"it has died", syscall.ESRCH, only[0], only[0]},
	} {
		must(t, unix.SchedSetaffinity(tid, &everywhere))
		kept := linux.KeepNear(tid, cpus[0], func() {
			if several {
				if is() != only[0] {
					t.Errorf("%s: it is not kept on processor %d", c.name, cpus[0])
				}
				must(t, unix.SchedSetaffinity(tid, &c.meanwhile))
			}
		}, c.taken)
		if kept != several {
			t.Errorf("%s: kept: %t", c.name, kept)
		}
		if several && is() != c.then {
			t.Errorf("%s: it is on %d processors", c.name, new(is()).Count())
		}
	}
}

// TestNearBack: what runs wherever it may gets every processor there is, so that its
// cpuset can grow; what was placed at the start gets that.
func TestNearBack(t *testing.T) {
	back := make(chan unix.CPUSet)
	ask := func(place unix.CPUSet) unix.CPUSet {
		go func() {
			runtime.LockOSThread() // it ends with it
			unix.SchedSetaffinity(0, &place)
			back <- linux.NearBack()
		}()
		return <-back
	}
	var every, whole, one unix.CPUSet
	for i := range every {
		every[i] = ^every[i]
	}
	if got := ask(every); got != every {
		t.Errorf("of a thread that nobody has placed: %d processors", got.Count())
	}
	must(t, unix.SchedGetaffinity(0, &whole))
	for cpu := range 1024 {
		if whole.IsSet(cpu) && one.Count() == 0 {
			one.Set(cpu)
		}
	}
	if got := ask(one); got != one && whole != one {
		t.Errorf("of one that has one processor: %d", got.Count())
	}
}
