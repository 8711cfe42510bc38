package linux_test

import (
	"testing"

	"skillrun/linux"
	"skillrun/profiles"
)

// zerocopyScript sends a datagram from memory that the kernel is to read when it
// sends, and then one that it copies.
const zerocopyScript = `
import errno, socket
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); to.bind(("127.0.0.1", 0)); to.settimeout(60)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 60, 1) # SO_ZEROCOPY
def send(flags):
    try: s.sendto(b"x" * 20000, flags, to.getsockname())
    except OSError as e: return errno.errorcode[e.errno]
    return len(to.recv(65536))
print(send(0x4000000), send(0))
`

// The launcher's memory is not what the kernel sends from when it has time.
func TestSupervisedZerocopy(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		c.features |= linux.NotifySockets
		c.profile.Network = profiles.Network{Mode: profiles.NetHost}
		if r := c.bare("python3", "-c", zerocopyScript); r.out != "20000 20000\n" {
			t.Fatalf("control: exit %d: %s", r.code, r.out)
		}
		if r := c.run("python3", "-c", zerocopyScript); r.out != "ENOBUFS 20000\n" {
			t.Errorf("exit %d: %s%s", r.code, r.out, c.explain())
		}
	})
}
