package linux_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// linkRacer has a link to a file wait, while all threads that would make it wait at
// FIFOs, and puts a symbolic link in the file's place by then. How many there are it
// is told, and that nothing is to wait where nobody supervises; and for how many seconds
// they begin. Those that come later have all of the calls wait, and then nothing was tried.
const linkRacer = `
import os, signal, sys, threading, time
waiters, begin = int(sys.argv[1]), int(sys.argv[2])
signal.alarm(begin + 20)
os.mkdir("a"); os.mkfifo("fifo")
with open("a/f", "w") as f: f.write("mine")
with open("big", "w") as f:
    for _ in range(64 if waiters else 0): f.write("x" * (4 << 20))
threading.stack_size(1 << 16)
for _ in range(waiters):
    threading.Thread(target=os.open, args=("fifo", os.O_WRONLY), daemon=True).start()
children = []
for _ in range(16 if waiters else 0):
    pid = os.fork()
    if pid == 0:
        os.open("fifo", os.O_WRONLY)
        os._exit(0)
    children.append(pid)
time.sleep(begin)
said = []
def link():
    try:
        os.link("a/f", ".git/COMMIT_EDITMSG")
        said.append("linked")
    except OSError as e:
        said.append(e.strerror)
big = threading.Thread(target=os.unlink, args=("big",))
late = threading.Thread(target=link)
def swap():
    os.unlink("a/f")
    os.symlink("../.git/config", "a/f")
if waiters:
    big.start(); time.sleep(0.001); late.start(); big.join()
    waited = not said
    swap()
else:
    waited = True; swap(); late.start()
for pid in children: os.kill(pid, signal.SIGKILL)
late.join(10)
print("waited" if waited else "at once", said)
sys.stdout.flush()
os._exit(0)
`

// A link that waits is to the file that was ruled on, whatever has its name by then:
// git would write through a symbolic link in its repository.
func TestSupervisedRaceLink(t *testing.T) {
	waited := false
	for try := 0; try < 5 && !waited; try++ {
		c := newCell(t)
		c.write(".git/config", "old")
		r := c.run("python3", "-c", linkRacer, "505", strconv.Itoa(1<<try))
		if to, err := os.Readlink(c.ws + "/.git/COMMIT_EDITMSG"); err == nil {
			t.Fatalf("a symbolic link to %s was made in the repository:\n%s%s", to, r.out, c.explain())
		}
		waited = strings.HasPrefix(r.out, "waited")
	}
	if !waited {
		t.Error("control: no link waited: nothing was tried")
	}
	control := newCell(t)
	control.write(".git/config", "old")
	r := control.bare("python3", "-c", linkRacer, "0", "0")
	if _, err := os.Readlink(control.ws + "/.git/COMMIT_EDITMSG"); err != nil {
		t.Fatalf("control: no link was made: %v\n%s", err, r.out)
	}
}
