package linux_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

// outsideNet is what a run without a network namespace may reach, and what it
// may not.
type outsideNet struct {
	echo       net.Listener // behind the allowed destination
	other      net.Listener // of this machine, not granted
	datagrams  net.PacketConn
	got        atomic.Int64 // connections and datagrams at what is not granted
	led        atomic.Int64 // connections that the echo has seen
	registered atomic.Int64
}

const (
	allowedTCP = "192.0.2.7:7000"
	allowedUDP = "198.51.100.9:9999"
)

func newOutsideNet(t *testing.T, c *cell) *outsideNet {
	t.Helper()
	o := &outsideNet{}
	serve := func(ln net.Listener, f func(net.Conn)) net.Listener {
		t.Cleanup(func() { ln.Close() })
		go sandboxtest.Serve(ln, f)
		return ln
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	o.echo = serve(ln, func(c net.Conn) { o.led.Add(1); io.Copy(c, c) })
	// The run's own sockets get ports from 32768. What is not granted has
	// another one, or a socket of the run's could be heard in its place.
	for port := 10000 + rand.Intn(10000); o.datagrams == nil; port++ {
		at := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if ln, err = net.Listen("tcp4", at); err == nil {
			if o.datagrams, err = net.ListenPacket("udp4", at); err != nil {
				ln.Close()
			}
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			must(t, err)
		}
	}
	o.other = serve(ln, func(net.Conn) { o.got.Add(1) })
	t.Cleanup(func() { o.datagrams.Close() })
	go func() {
		for {
			if _, _, err := o.datagrams.ReadFrom(make([]byte, 10)); err != nil {
				return
			}
			o.got.Add(1)
		}
	}()
	door := netip.MustParseAddrPort(o.echo.Addr().String())
	c.features |= linux.NotifySockets | linux.NotifyInternet
	c.profile.Network = profiles.Network{Mode: profiles.NetHosts}
	config := c.config
	c.config = func(s *linux.Supervision) {
		if config != nil {
			config(s)
		}
		s.Egress = &linux.Egress{
			Connect: func(dst netip.AddrPort) (netip.AddrPort, func(netip.AddrPort), bool) {
				register := func(local netip.AddrPort) {
					if local.Addr().IsLoopback() && local.Port() != 0 {
						o.registered.Add(1)
					}
				}
				return door, register, dst.String() == allowedTCP || dst.String() == "[2001:db8::7]:7000"
			},
			Send: func(_ uint64, dst netip.AddrPort, data []byte, answer func([]byte)) bool {
				if dst.String() != allowedUDP && dst.Port() != 53 {
					return false
				}
				answer(bytes.ToUpper(data))
				return true
			},
		}
	}
	return o
}

// arguments for the scripts: ports of what is not granted.
func (o *outsideNet) arguments() []string {
	port := func(a net.Addr) string { _, p, _ := net.SplitHostPort(a.String()); return p }
	return []string{port(o.other.Addr()), port(o.datagrams.LocalAddr())}
}

// internetScript uses sockets as programs do. Every line that it prints is one
// thing that must work.
const internetScript = `
import asyncio, errno, os, select, signal, socket, struct, threading, time
S, D = socket.SOCK_STREAM, socket.SOCK_DGRAM
I4, I6 = socket.AF_INET, socket.AF_INET6
A, U = ("192.0.2.7", 7000), ("198.51.100.9", 9999)
six = socket.has_ipv6
try: socket.socket(I6, S).bind(("::1", 0))
except OSError: six = False

def echo(s):
    s.sendall(b"ping"); assert s.recv(4) == b"ping"
def stream(fam, addr):
    s = socket.socket(fam, S); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.connect(addr); assert s.getpeername()[:2] == addr[:2], s.getpeername()
    echo(s); s.shutdown(socket.SHUT_WR); assert s.recv(1) == b""; s.close()
stream(I4, A); print("stream")
if six: stream(I6, ("::ffff:192.0.2.7", 7000))
print("mapped")
s = socket.socket(I4, S); s.setblocking(False); e = select.epoll(); e.register(s, select.EPOLLOUT | select.EPOLLIN)
assert s.connect_ex(A) in (0, errno.EINPROGRESS); assert e.poll(60)
assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0 and s.connect_ex(A) in (0, errno.EISCONN) and s.connect_ex(A) == errno.EISCONN
s.setblocking(True); echo(s); print("epoll")
s = socket.socket(I4, S); s.bind(("0.0.0.0", 0)); assert s.getsockname()[0] == "0.0.0.0" and s.getsockname()[1]
s.connect(A); echo(s); print("bound client")
s.sendmsg([b"pi", b"ng"]); assert s.recvmsg(10)[0] == b"ping"; s.sendto(b"ping", ("203.0.113.1", 1)); assert s.recvfrom(9)[0] == b"ping"; print("messages")
a, b = socket.socketpair(); r, w = os.pipe(); socket.send_fds(a, [b"x"], [w]); assert len(socket.recv_fds(b, 9, 4)[1]) == 1; print("descriptors")

def own(fam, at, to):
    s = socket.socket(fam, S); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(at); s.listen(5)
    port = s.getsockname()[1]; assert port and s.getsockname()[0] == at[0] and at[1] in (0, port)
    c = socket.create_connection((to, port), timeout=60); n, _ = s.accept(); assert c.getpeername()[:2] == (to, port)
    n.sendall(b"own"); assert c.recv(9) == b"own"; c.close(); assert n.recv(1) == b""; n.close(); s.close()
    try: socket.create_connection((to, port), timeout=60)
    except ConnectionRefusedError: return port
    raise SystemExit("still open")
own(I4, ("127.0.0.1", 0), "127.0.0.1"); own(I4, ("0.0.0.0", 0), "127.0.0.1"); print("own")
if six: own(I6, ("::", 0), "127.0.0.1"); own(I6, ("::", 0), "::1"); own(I6, ("::1", 0), "::1")
print("own IPv6")
s = socket.socket(I4, S); s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]; s.close()
own(I4, ("127.0.0.1", port), "127.0.0.1"); own(I4, ("127.0.0.1", port), "127.0.0.1"); print("a port found, closed, used")
s = socket.socket(I4, S); s.listen(); assert s.getsockname()[1]; socket.create_connection(("127.0.0.1", s.getsockname()[1])).close(); print("listen without bind")
async def main():
    async def hello(r, w): w.write(await r.read(2)); await w.drain(); w.close()
    hosts = ["127.0.0.1", "::1"] if six else ["127.0.0.1"]
    server = await asyncio.start_server(hello, hosts[0], 0); port = server.sockets[0].getsockname()[1]
    more = [await asyncio.start_server(hello, h, port) for h in hosts[1:]]
    for h in hosts:
        r, w = await asyncio.open_connection(h, port); w.write(b"hi"); assert await r.read(9) == b"hi"; w.close()
asyncio.run(main()); print("asyncio")

# Datagrams.
u = socket.socket(I4, D); u.connect(U); u.send(b"ab"); assert u.recv(9) == b"AB" and u.getpeername() == U
u.sendmsg([b"c", b"d"]); d, _, f, at = u.recvmsg(9); assert (d, at) == (b"CD", U)
u.send(b"abcdef"); d, _, f, at = u.recvmsg(3); assert d == b"ABC" and f & socket.MSG_TRUNC
u.send(b"abc"); assert u.recvfrom(9, socket.MSG_PEEK) == (b"ABC", U) == u.recvfrom(9); print("connected datagrams")
v = socket.socket(I4, D); v.bind(("", 0)); v.sendto(b"x", U); v.sendto(b"y", ("192.0.2.53", 53)); v.sendto(b"z", U)
assert [v.recvfrom(9) for _ in range(3)] == [(b"X", U), (b"Y", ("192.0.2.53", 53)), (b"Z", U)]
v.sendto(b"x", U); v.sendto(b"y", ("192.0.2.53", 53)); assert v.recv(9) == b"X" and v.recvfrom(9) == (b"Y", ("192.0.2.53", 53)); print("datagrams from several")
assert v.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == D and v.getsockopt(socket.SOL_SOCKET, 39) == I4 and v.getsockopt(socket.SOL_SOCKET, 38) == 17
v.setsockopt(socket.IPPROTO_IP, 11, 1); v.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1); print("options")
try: v.getsockopt(socket.IPPROTO_UDP, 103)
except OSError as e: assert e.errno == errno.ENOPROTOOPT; print("no segmentation") # or quic-go sends by it
if six:
    x = socket.socket(I6, D); x.sendto(b"q", ("::ffff:198.51.100.9", 9999)); assert x.recvfrom(9)[1][:2] == ("::ffff:198.51.100.9", 9999)
print("mapped datagrams")
p, q = socket.socket(I4, D), socket.socket(I4, D); p.bind(("127.0.0.1", 0)); q.bind(("127.0.0.1", 0))
q.sendto(b"hello", p.getsockname()); assert p.recvfrom(9) == (b"hello", q.getsockname()); p.sendto(b"", q.getsockname())
p.sendto(b"back", q.getsockname()); assert q.recvfrom(9) == (b"back", p.getsockname())
port = p.getsockname()[1]; p.close(); p = socket.socket(I4, D); p.bind(("127.0.0.1", port)); print("own datagrams")
q.settimeout(0.05)
try: q.recvfrom(9)
except TimeoutError: print("timeout")
q.setblocking(False)
try: q.recvfrom(9)
except BlockingIOError: print("non-blocking")
q.setblocking(True)
class Alarm(Exception): pass
def alarm(*a): signal.setitimer(signal.ITIMER_REAL, 0); raise Alarm
try: signal.signal(signal.SIGALRM, alarm); signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02); q.recvfrom(9)
except Alarm: print("alarm")
t = threading.Thread(target=lambda: (time.sleep(0.02), p.sendto(b"late", q.getsockname()))); t.start(); assert q.recvfrom(9)[0] == b"late"; t.join(); print("blocking")
q.connect(U); q.connect(("192.0.2.53", 53)); q.send(b"d"); assert q.recvfrom(9) == (b"D", ("192.0.2.53", 53))
import ctypes
libc = ctypes.CDLL(None, use_errno=True); assert libc.connect(q.fileno(), struct.pack("H14x", 0), 16) == 0
try: q.getpeername()
except OSError as e: assert e.errno == errno.ENOTCONN
q.sendto(b"e", U); assert q.recvfrom(9) == (b"E", U); print("disconnected")

# Signals and threads that end.
signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-4)
n = 0 # a signal may interrupt a call before the supervisor has seen it; Python takes that for a connect under way
while n < 200:
    try: s = socket.create_connection(A); s.getpeername(); s.close(); n += 1
    except InterruptedError: pass
    except OSError as e: assert e.errno == errno.ENOTCONN
signal.setitimer(signal.ITIMER_REAL, 0); print("signals")
pid = os.fork()
if pid == 0:
    for _ in range(20): threading.Thread(target=socket.create_connection, args=(A,), daemon=True).start()
    os._exit(0)
os.waitpid(pid, 0); stream(I4, A); print("threads that end")
all = [socket.socket(I4, S) for _ in range(100)]
for s in all: s.connect(A)
for s in all: echo(s)
print("many")
`

func TestSupervisedInternet(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		o := newOutsideNet(t, c)
		c.write(c.outside+"/script.py", internetScript)
		r := c.run("python3", c.outside+"/script.py")
		if want := strings.Count(internetScript, "print("); r.code != 0 || strings.Count(r.out, "\n") != want {
			t.Errorf("exit %d, %d lines of %d:\n%s%s", r.code, strings.Count(r.out, "\n"), want, r.out, c.explain())
		}
		if n := o.registered.Load(); n < 300 || o.led.Load() > n {
			t.Errorf("%d connections led, %d of them registered", o.led.Load(), n)
		}
	})
}

// internetAttacks tries to get at a listener and a datagram socket of this
// machine, given by port, and at what no rule allows. Each prints a line.
const internetAttacks = `
import ctypes, errno, mmap, os, socket, struct, sys, threading, time
S, D, I4, I6 = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.AF_INET, socket.AF_INET6
tcp, udp, bare = int(sys.argv[1]), int(sys.argv[2]), len(sys.argv) > 3
libc = ctypes.CDLL(None, use_errno=True)
def say(name, f):
    try: f(); print(name, "yes")
    except (OSError, AssertionError) as e: print(name, "no", e)
def to(addr, fam=I4):
    s = socket.socket(fam, S); s.settimeout(60); s.connect(addr); s.close()
say("loopback", lambda: to(("127.0.0.1", tcp)))
say("any address", lambda: to(("0.0.0.0", tcp)))
say("other loopback", lambda: to(("127.0.0.1", tcp)))
say("mapped", lambda: to(("::ffff:127.0.0.1", tcp), I6))
def bound():
    s = socket.socket(I4, S); s.bind(("127.0.0.1", 0)); s.connect(("127.0.0.1", tcp))
say("bound", bound)
def again():
    s = socket.socket(I4, S)
    if not bare: s.connect(("192.0.2.7", 7000)); libc.connect(s.fileno(), struct.pack("H14x", 0), 16)
    s.connect(("127.0.0.1", tcp))
say("after another", again)
def accepted():
    l = socket.socket(I4, S); l.bind(("127.0.0.1", 0)); l.listen(); c = socket.create_connection(l.getsockname()); a, _ = l.accept()
    assert libc.connect(a.fileno(), struct.pack("H14x", 0), 16) == 0; a.connect(("127.0.0.1", tcp))
say("accepted", accepted)
def everywhere(): # AF_UNSPEC is AF_INET to bind(2)
    l = socket.socket(I4, S); l.bind(("127.0.0.1", 0)); l.listen(); c = socket.create_connection(l.getsockname()); a, _ = l.accept()
    assert libc.connect(a.fileno(), struct.pack("H14x", 0), 16) == 0; c.close()
    assert libc.bind(a.fileno(), struct.pack("H14x", 0), 16) == 0
say("accepted, bound to a port of every address", everywhere)
def fastopen():
    s = socket.socket(I4, S); s.sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", tcp))
say("fast open", fastopen)
def fastconnect():
    s = socket.socket(I4, S); s.setsockopt(socket.IPPROTO_TCP, 30, 1); s.connect(("127.0.0.1", tcp)); s.send(b"x")
say("fast open connect", fastconnect)
def child():
    s = socket.socket(I4, S); pid = os.fork()
    if pid == 0:
        try: s.connect(("127.0.0.1", tcp)); os._exit(0)
        except OSError: os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
say("child", child)
def passed():
    a, b = socket.socketpair(); s = socket.socket(I4, S); socket.send_fds(a, [b"x"], [s.fileno()]); s.close()
    socket.socket(fileno=socket.recv_fds(b, 9, 1)[1][0]).connect(("127.0.0.1", tcp))
say("passed", passed)
def at(port): return struct.pack("!HH4s8x", socket.htons(I4), port, bytes([127, 0, 0, 1]))
class msghdr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.c_void_p), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t), ("flags", ctypes.c_int)]
def datagram(send):
    def f():
        s = socket.socket(I4, D); assert send(s) > 0, ctypes.get_errno()
    return f
def sendmsg(s):
    data = ctypes.create_string_buffer(b"x"); iov = struct.pack("QQ", ctypes.addressof(data), 1); name = at(udp)
    iv, nm = ctypes.create_string_buffer(iov), ctypes.create_string_buffer(name)
    m = msghdr(ctypes.addressof(nm), 16, ctypes.addressof(iv), 1, None, 0, 0)
    return libc.sendmsg(s.fileno(), ctypes.byref(m), 0)
def group(fam, level, *options): # on lo; on another device the network is told of it
    for name, value in options: socket.socket(fam, S).setsockopt(level, name, value)
lo, source, four = struct.pack("=I4x", 1), bytes([6, 6, 6, 6]), bytes([232, 7, 7, 7])
say("group", lambda: group(I4, 0, (42, lo + struct.pack("=H2x4s120x", I4, four))))
say("group of a source", lambda: group(I4, 0, (39, four + bytes([127, 0, 0, 1]) + source)))
say("mapped group", lambda: group(I6, 41, (42, lo + struct.pack("=H6x16s104x", I6, socket.inet_pton(I6, "ff02::77")))))
say("datagram", datagram(lambda s: s.sendto(b"x", ("127.0.0.1", udp))))
say("datagram message", datagram(sendmsg))
def con(s): s.connect(("127.0.0.1", udp)); return s.send(b"x")
datagram(con)() # is lost: the caller is not told
def unspec(s):
    libc.connect(s.fileno(), struct.pack("H14x", 0), 16); return sendmsg(s)
say("datagram, disconnected", datagram(unspec))
def write(s): s.connect(("127.0.0.1", udp)); return os.write(s.fileno(), b"x")
datagram(write)()
def pair(s): # a datagram socket that never was one
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); os.dup2(s.fileno(), a.fileno()); return sendmsg(a)
say("datagram, another number", datagram(pair))

# A process that shares memory changes what a call points to while it is made;
# a thread changes what its descriptor is.
shared = mmap.mmap(-1, 4096); where = ctypes.addressof(ctypes.c_char.from_buffer(shared))
good = at(7000)[:4] + bytes([192, 0, 2, 7]) + bytes(8)
flip = os.fork()
if flip == 0:
    good0, bad0 = (at(tcp), at(tcp)) if bare else (good, at(tcp))
    try:
        while os.getppid() != 1:
            for _ in range(1000): shared[:16] = bad0; shared[:16] = good0
    finally: os._exit(0)
end = time.time() + 1; made = 0
while time.time() < end or made < 1000:
    made += 1
    s = socket.socket(I4, S); libc.connect(s.fileno(), ctypes.c_void_p(where), 16); s.close()
    d = socket.socket(I4, D); libc.sendto(d.fileno(), b"x", 1, 0, ctypes.c_void_p(where), 16); d.close()
import signal
os.kill(flip, signal.SIGKILL); os.waitpid(flip, 0)
a, b = socket.socketpair(); u = socket.socket(I4, D); t = socket.socket(I4, S); n = os.dup(a.fileno()); stop = False
def swap():
    while not stop:
        for s in (u, t, a): os.dup2(s.fileno(), n)
w = threading.Thread(target=swap); w.start()
nm = ctypes.create_string_buffer(at(udp)); data = ctypes.create_string_buffer(b"x"); iv = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(data), 1))
m = msghdr(ctypes.addressof(nm), 16, ctypes.addressof(iv), 1, None, 0, 0); end = time.time() + 1
while time.time() < end:
    libc.sendmsg(n, ctypes.byref(m), socket.MSG_DONTWAIT); libc.connect(n, at(tcp), 16)
stop = True; w.join()
print("raced")
`

func TestSupervisedInternetAttacks(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		o := newOutsideNet(t, c)
		c.write(c.outside+"/script.py", internetAttacks)
		argv := append([]string{"python3", c.outside + "/script.py"}, o.arguments()...)
		r := c.run(argv...)
		lines := strings.Split(strings.TrimSpace(r.out), "\n")
		for _, line := range lines[:len(lines)-1] {
			if !strings.Contains(line, " no ") {
				t.Errorf("got through: %s", line)
			}
		}
		if r.code != 0 || lines[len(lines)-1] != "raced" || len(lines) != 20 {
			t.Fatalf("%d lines, exit %d:\n%s", len(lines), r.code, r.out)
		}
		if n := o.got.Load(); n != 0 {
			t.Errorf("%d connections and datagrams got through", n)
		}
		r = c.bare(append(argv, "bare")...)
		for _, line := range strings.Split(strings.TrimSpace(r.out), "\n") {
			if !strings.HasSuffix(line, " yes") && line != "raced" && !strings.HasPrefix(line, "mapped no") {
				t.Errorf("control: %s", line)
			}
		}
		// What was sent may be read a little later.
		for deadline := time.Now().Add(30 * time.Second); o.got.Load() < 1000; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("control: %d connections and datagrams got through\n%s", o.got.Load(), r.out)
			}
		}
	})
}

// listenScript binds at ports of three kinds, given: granted at every address,
// granted on loopback, not granted. It prints the device of each socket.
const listenScript = `
import os, socket, sys
S, anywhere, here, own = socket.SOCK_STREAM, *map(int, sys.argv[1:4])
def device(s): return s.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0").decode() or "any"
all = []
for port in anywhere, here, own:
    s = socket.socket(); s.bind(("", port)); s.listen(); all.append(s); print(port, device(s), s.getsockname() == ("0.0.0.0", port))
for s in all[:2]:
    c, _ = s.accept(); c.sendall(b"served"); c.close()
s = socket.socket(); s.connect_ex(("127.0.0.1", 9)); print("refused", device(s))
s = socket.socket(); s.connect(("192.0.2.7", 7000)); print("granted", device(s), s.getpeername())
s = socket.socket(); s.listen(); print("listen", device(s))
s = socket.socket(); s.bind(("127.0.0.1", 0)); print("bind", device(s))
s = socket.create_connection(("127.0.0.1", here)); all[1].accept()[0].sendall(b"own"); print(s.recv(9), device(s))
other = "lo"
for other in sorted(os.listdir("/sys/class/net"), key="lo".__ne__): pass
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, other.encode())
print("elsewhere", s.connect_ex(("192.0.2.7", 7000)) if other != "lo" else 1)
`

// freePort gives a port that nobody has, and that the kernel does not give to
// whoever asks next.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.Intn(22000)
		if ln, err := net.Listen("tcp4", "0.0.0.0:"+strconv.Itoa(port)); err == nil {
			ln.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func TestSupervisedListen(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		newOutsideNet(t, c)
		var ports []string
		var numbers []uint16
		for len(numbers) < 3 {
			at := freePort(t)
			if slices.Contains(numbers, uint16(at)) {
				continue
			}
			ports, numbers = append(ports, strconv.Itoa(at)), append(numbers, uint16(at))
		}
		c.profile.Network.Listen = []profiles.ListenRule{
			{Ports: profiles.PortRange{First: numbers[0], Last: numbers[0]}, Any: true},
			{Ports: profiles.PortRange{First: numbers[1], Last: numbers[1]}},
		}
		c.write(c.outside+"/script.py", listenScript)
		done := make(chan result)
		go func() { done <- c.run(append([]string{"python3", c.outside + "/script.py"}, ports...)...) }()
		var r result
		over := false
		for _, port := range ports[:2] {
			for got := ""; got == "" && !over; {
				select {
				case r = <-done:
					over = true
				default:
				}
				if conn, err := net.Dial("tcp4", "127.0.0.1:"+port); err == nil {
					b, _ := io.ReadAll(conn)
					got = string(b)
					conn.Close()
				} else {
					time.Sleep(time.Millisecond)
				}
			}
		}
		if !over {
			r = <-done
		}
		want := ports[0] + " any True\n" + ports[1] + " lo True\n" + ports[2] + " lo True\n" +
			"refused lo\ngranted lo ('192.0.2.7', 7000)\nlisten lo\nbind lo\nb'own' lo\nelsewhere 1\n"
		if r.code != 0 || r.out != want {
			t.Errorf("exit %d:\n%s\nwant:\n%s", r.code, r.out, want)
		}
	})
}

// crowdScript reads datagrams without asking where they come from, and has more
// threads wait for one than the supervisor has.
const crowdScript = `
import os, socket, threading
D, I4 = socket.SOCK_DGRAM, socket.AF_INET
a, b, c = (socket.socket(I4, D) for _ in "abc")
for s in b, c: s.bind(("127.0.0.1", 0))
a.connect(b.getsockname()); b.setblocking(False)
for _ in range(500):
    for _ in range(100): a.send(b"x")
    try:
        while True: os.read(b.fileno(), 10)
    except BlockingIOError: pass
open("read", "w").close(); open("go").read()
b.setblocking(True)
got = b""
while got != b"y":
    a.send(b"y")
    got, who = b.recvfrom(10)
    assert who == a.getsockname(), who
threading.stack_size(1 << 18)
all = [threading.Thread(target=c.recvfrom, args=(10,)) for _ in range(600)]
for t in all: t.start()
open("waiting", "w").close(); open("go").read()
for t in all:
    a.sendto(b"x", c.getsockname())
    t.join(0.001)
while any(t.is_alive() for t in all): a.sendto(b"x", c.getsockname())
print("ok")
`

// What the supervisor keeps for datagrams does not grow with their number, nor
// its threads with those of the run.
func TestSupervisedInternetCrowd(t *testing.T) {
	c := newCell(t)
	newOutsideNet(t, c)
	must(t, unix.Mkfifo(filepath.Join(c.ws, "go"), 0o600))
	threads := func() int { all, _ := os.ReadDir("/proc/self/task"); return len(all) }
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // and what finalizers let go
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, few := heap(), threads()
	c.before = func(*linux.Supervisor, *exec.Cmd) {
		begun := func(what string) {
			until(t, what, func() bool { _, err := os.Stat(filepath.Join(c.ws, what)); return err == nil })
		}
		begun("read")
		if is := heap(); is > before+3<<19 { // 30 bytes for each
			t.Errorf("%d bytes are kept", is-before)
		}
		must(t, os.WriteFile(filepath.Join(c.ws, "go"), nil, 0))
		begun("waiting")
		if is := threads(); is > few+560 {
			t.Errorf("%d threads, %d before", is, few)
		}
		must(t, os.WriteFile(filepath.Join(c.ws, "go"), nil, 0))
	}
	if r := c.run("python3", "-c", crowdScript); r.code != 0 || r.out != "ok\n" {
		t.Errorf("exit %d\n%s", r.code, r.out)
	}
}

// A run that ends while its datagrams are being passed on does not hold its
// launcher for ever.
func TestSupervisedInternetEnds(t *testing.T) {
	if ok, err := linux.ForgetsWhileCarrying(10 * time.Second); !ok || err != nil {
		t.Errorf("a socket is not forgotten: %v", err)
	}
}

// A run that never stops to send by a datagram socket keeps no call waiting that
// comes after what was sent before it.
func TestSupervisedInternetEndless(t *testing.T) {
	if n, err := linux.PassedOnWhileSending(1000); n != 1 || err != nil {
		t.Errorf("%d datagrams were passed on before a call went on, of which one was sent before it: %v", n, err)
	}
}

// Data of callers that wait for their turn is bounded, since no limit of the run
// counts it.
func TestHold(t *testing.T) {
	if held, left := linux.Hold(100, make([]byte, 1<<20)); held != 64 || left != 0 {
		t.Errorf("%d of 100 MiB are held, and %d bytes in the end", held, left)
	}
	if held, left := linux.Hold(100, make([]byte, 1<<10)); held != 100 || left != 0 {
		t.Errorf("%d of 100 KiB are held, and %d bytes in the end", held, left)
	}
}
