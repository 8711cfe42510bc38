package linux_test

import (
	"os"
	"testing"

	"skillrun/linux"
	"skillrun/profiles"
)

// rebinder gives one address to socket after socket, and counts for how many it is
// still in use when the one before is closed.
const rebinder = `
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); at = s.getsockname(); s.close()
held = 0
for i in range(5000):
    s = socket.socket()
    try: s.bind(at)
    except OSError: held += 1
    s.close()
print("held", held)
`

// Nothing holds a socket of the run's any more when its call is answered: a port is
// free once it is closed.
func TestSupervisedRebind(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		c.features |= linux.NotifySockets
		c.profile.Network = profiles.Network{Mode: profiles.NetHost}
		c.write(c.outside+"/script.py", rebinder)
		if r := c.bare("python3", c.outside+"/script.py"); r.code != 0 || r.out != "held 0\n" {
			t.Fatalf("control: exit %d: %s", r.code, r.out)
		}
		if r := c.run("python3", c.outside+"/script.py"); r.code != 0 || r.out != "held 0\n" {
			t.Errorf("exit %d: %s%s", r.code, r.out, c.explain())
		}
	})
}

// reconnector connects sockets that were connected, and to a server that is over.
const reconnector = `
import ctypes, errno, select, socket
connect = ctypes.CDLL(None, use_errno=True).connect
def server(): s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); return s
l = server(); at = l.getsockname()
gone = server(); shut = gone.getsockname(); gone.close()
for to in at, shut:
    s = socket.socket(); s.setblocking(False); first = s.connect_ex(to); select.select([], [s], [])
    print([errno.errorcode.get(e, e) for e in (first, s.connect_ex(to))], first != errno.EINPROGRESS or to == shut or errno.errorcode[s.connect_ex(to)])
s = socket.create_connection(at); print(errno.errorcode[s.connect_ex(at)])
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect("s"); print(errno.errorcode[c.connect_ex("s")])
a, b = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
for d in a, b: d.bind(("127.0.0.1", 0))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(a.getsockname()); s.send(b"a"); s.connect(b.getsockname()); s.send(b"b"); print(connect(s.fileno(), bytes(16), 16)); s.sendto(b"c", a.getsockname())
print(a.recv(9), a.recv(9), b.recv(9))
`

// A socket that is connected already is told what the kernel would tell it.
func TestSupervisedReconnect(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		c.features |= linux.NotifySockets
		c.profile.Network = profiles.Network{Mode: profiles.NetHost}
		c.write(c.outside+"/script.py", reconnector)
		bare := c.bare("python3", c.outside+"/script.py")
		if bare.code != 0 {
			t.Fatalf("control: exit %d: %s", bare.code, bare.out)
		}
		must(t, os.Remove(c.ws+"/s"))
		if r := c.run("python3", c.outside+"/script.py"); r.code != 0 || r.out != bare.out {
			t.Errorf("exit %d: %s, bare: %s%s", r.code, r.out, bare.out, c.explain())
		}
	})
}
