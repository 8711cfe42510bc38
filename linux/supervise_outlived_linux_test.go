package linux_test

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// outliving asks a server of its own for connections that the kernel has no answer to
// while the server is there: one finds no room, one is sent for with its first bytes.
// Then it prints who answers each.
const outliving = `
import select, socket, sys
port = int(sys.argv[1])
def client(*options):
    s = socket.socket(); s.setblocking(False)
    try:
        for o in options: s.setsockopt(socket.IPPROTO_TCP, o, 1)
    except OSError: pass # net.ipv4.tcp_fastopen is 0: it waits as well
    s.connect_ex(("127.0.0.1", port)); return s
l = socket.socket(); l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); l.bind(("127.0.0.1", port)); l.listen(0)
fills = client(); select.select([], [fills], [])
waits = client()
TCP_FASTOPEN_CONNECT, TCP_FASTOPEN_NO_COOKIE = 30, 34
late = client(TCP_FASTOPEN_NO_COOKIE, TCP_FASTOPEN_CONNECT)
l.close(); open("closed", "w").close(); open("go").read()
for s in late, waits:
    s.settimeout(3)
    try: s.sendall(b"x"); print(s.recv(9).decode())
    except OSError as e: print("nobody")
`

// A connect to a service of the run's own reaches no other that listens at its port
// when it is gone.
func TestSupervisedInternetOutlived(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		newOutsideNet(t, c)
		c.write(c.outside+"/script.py", outliving)
		try := func(label string, run func(...string) result) result {
			for _, name := range []string{"closed", "go"} {
				os.Remove(c.ws + "/" + name)
			}
			must(t, unix.Mkfifo(c.ws+"/go", 0o600))
			port := freePort(t)
			done := make(chan result, 1)
			go func() { done <- run("python3", c.outside+"/script.py", strconv.Itoa(port)) }()
			for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				if _, err := os.Stat(c.ws + "/closed"); err == nil {
					break
				}
				if time.Now().After(end) {
					r := <-done
					t.Fatalf("%sexit %d: %s", label, r.code, r.out)
				}
			}
			ln, err := net.Listen("tcp4", "0.0.0.0:"+strconv.Itoa(port))
			must(t, err)
			defer ln.Close()
			go func() {
				for {
					conn, err := ln.Accept()
					if err != nil {
						return
					}
					conn.Write([]byte("other"))
					conn.Close()
				}
			}()
			must(t, os.WriteFile(c.ws+"/go", nil, 0))
			return <-done
		}
		if r := try("control: ", c.bare); !strings.Contains(r.out, "other") { // one may have asked again too early
			t.Errorf("control: exit %d: %s", r.code, r.out)
		}
		if r := try("", c.run); r.code != 0 || r.out != "nobody\nnobody\n" {
			t.Errorf("exit %d: %s%s", r.code, r.out, c.explain())
		}
	})
}
