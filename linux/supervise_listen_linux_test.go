package linux_test

import (
	"fmt"
	"os"
	"testing"
)

// listenRacer listens with a number that is a unix socket's at one moment and an
// internet socket's at the next, and counts where the internet sockets listen
// then: the kernel's table tells, and not the socket, which is told what the run
// asked for. It ends when enough have listened, or after a minute.
const listenRacer = `
import ctypes, os, socket, sys, threading, time
sys.setswitchinterval(1e-5)
listen = ctypes.CDLL(None).listen
def serving(s):
    return s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
def everywhere(s):
    ino = str(os.fstat(s.fileno()).st_ino)
    for line in open("/proc/net/tcp"):
        f = line.split()
        if f[9:10] == [ino] and f[1].startswith("00000000:") and f[3] == "0A": return True
    return False
local = socket.socket(socket.AF_UNIX); local.bind("s")
count = {True: 0, False: 0}
end = time.monotonic() + 60
while sum(count.values()) < int(sys.argv[1]) and time.monotonic() < end:
    s = socket.socket(); number = os.dup(local.fileno()); over = False; flips = threading.Event()
    def flip():
        while not over:
            os.dup2(s.fileno(), number, False); os.dup2(local.fileno(), number, False); flips.set()
    t = threading.Thread(target=flip); t.start(); flips.wait()
    for i in range(50):
        listen(number, 1)
        if serving(s): count[everywhere(s)] += 1; break
    over = True; t.join(); os.close(number); s.close()
if not serving(local): local.listen(1)
c = socket.socket(socket.AF_UNIX); c.connect("s"); local.accept()[0].sendall(b"local"); print(c.recv(9).decode())
print("everywhere", count[True], "privately", count[False])
`

// However the numbers of sockets change during listen(2), none comes to listen
// where others reach it.
func TestSupervisedListenRace(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		newOutsideNet(t, c)
		c.write(c.outside+"/script.py", listenRacer)
		const enough = 6
		bare := c.bare("python3", c.outside+"/script.py", fmt.Sprint(enough))
		if want := fmt.Sprintf("local\neverywhere %d privately 0\n", enough); bare.code != 0 || bare.out != want {
			t.Fatalf("control: exit %d: %s", bare.code, bare.out)
		}
		must(t, os.Remove(c.ws+"/s"))
		r := c.run("python3", c.outside+"/script.py", fmt.Sprint(enough))
		if want := fmt.Sprintf("local\neverywhere 0 privately %d\n", enough); r.code != 0 || r.out != want {
			t.Errorf("exit %d: %s%s", r.code, r.out, c.explain())
		}
	})
}
