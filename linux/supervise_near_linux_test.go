package linux_test

import "testing"

// opening forks a process that opens files, until it is killed or has opened
// enough of them: then it ends.
const opening = `
import os
everywhere = os.sched_getaffinity(0)
opener = os.fork()
if not opener:
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
// descriptors: one processor at moments, and everything in the end.
func TestSupervisedNear(t *testing.T) {
	c := newCell(t)
	r := c.run("python3", "-c", opening+`
kept = 0
while opens_now():
    assert now == everywhere or len(now) == 1, now
    kept += now != everywhere
assert kept or len(everywhere) == 1, "it was never kept"
for n in range(100):
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT))
    assert os.sched_getaffinity(0) == everywhere
`)
	if r.code != 0 {
		t.Errorf("exit %d\n%s%s", r.code, r.out, c.explain())
	}
}

// TestSupervisedNearPlaced sets for such a thread what it may run on: that stays,
// and nobody is kept from then on.
func TestSupervisedNearPlaced(t *testing.T) {
	for range 6 { // only the first time in a run counts, and it may meet none that is kept
		c := newCell(t)
		r := c.run("python3", "-c", opening+`
want = {max(everywhere)}
while opens_now() and now == everywhere != want: pass
os.sched_setaffinity(opener, want)
while opens_now():
    assert now == want, now
`)
		if r.code != 0 {
			t.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
		}
	}
}
