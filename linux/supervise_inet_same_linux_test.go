package linux_test

import (
	"strings"
	"testing"
)

// sameScript prints what a program sees of its internet sockets among its own
// processes. It is to see the same inside as bare.
const sameScript = `
import array, asyncio, ctypes, errno, os, resource, select, signal, socket, struct, sys, threading
S, D, I4, I6 = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.AF_INET, socket.AF_INET6
libc = ctypes.CDLL(None, use_errno=True)
name = lambda e: errno.errorcode.get(e, e)
def told(f, *a):
    try: return f(*a)
    except OSError as e: return name(e.errno)
def call(f, *a):
    n = f(*a)
    return n if n >= 0 else name(ctypes.get_errno())
fams = [I4]
try: socket.socket(I6, S).bind(("::1", 0)); fams.append(I6)
except OSError: pass
home = {I4: "127.0.0.1", I6: "::1"}
def sockaddr(fam, port): return struct.pack("=H", fam) + struct.pack("!H", port) + (bytes([127, 0, 0, 1]) + bytes(8) if fam == I4 else bytes(4) + bytes(15) + b"\x01" + bytes(4))
closed = socket.socket(I4, S); closed.bind(("127.0.0.1", 0)); shut = closed.getsockname()[1]

# A refused connect, by every way of waiting for it.
for fam, to in (I4, "127.0.0.1"), (I4, "0.0.0.0"), (I6, "::ffff:127.0.0.1"):
    if fam not in fams: continue
    for blocking in True, False:
        s = socket.socket(fam, S); s.setblocking(blocking); e = select.epoll(); e.register(s, select.EPOLLIN | select.EPOLLOUT)
        first = s.connect_ex((to, shut))
        print("refused", to, blocking, name(first), [m for _, m in e.poll(60)], name(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)), name(s.connect_ex((to, shut))))
async def refused(): await asyncio.open_connection("127.0.0.1", shut)
print("asyncio", told(asyncio.run, refused()))

def server(fam=I4, backlog=50):
    s = socket.socket(fam, S); s.bind((home[fam], 0)); s.listen(backlog); return s
l = server(); at = l.getsockname()
s = socket.socket(I4, S); s.connect_ex((at[0], shut)); print("after a refusal", s.connect_ex(at), name(s.connect_ex(at)), l.accept()[0].send(b"x"), s.recv(9))
s = socket.socket(I4, S); s.setblocking(False); s.connect_ex(at); select.select([], [s], []); print("established", [name(s.connect_ex(at)) for _ in range(3)]); l.accept()
s = socket.socket(I4, S); s.connect(at); l.accept(); print("states", told(s.listen), told(s.bind, ("127.0.0.1", 0)), told(l.listen), told(l.connect, at), told(l.bind, ("127.0.0.1", 0)))
print("in use", told(socket.socket(I4, S).bind, at), told(socket.socket(I4, D).bind, at))
s = socket.socket(I4, S); print("bad", call(libc.connect, s.fileno(), sockaddr(I4, 9), 7), call(libc.connect, s.fileno(), None, 16), call(libc.connect, 999, sockaddr(I4, 9), 16),
    call(libc.connect, 0, sockaddr(I4, 9), 16), call(libc.connect, s.fileno(), sockaddr(I6, 9), 28), call(libc.connect, s.fileno(), sockaddr(I4, 9), 500), call(libc.bind, s.fileno(), sockaddr(I4, 0), 3),
    call(libc.getpeername, s.fileno(), None, None), call(libc.listen, 999, 1), call(libc.socket, I4, 77, 0), call(libc.socket, I4, S, socket.IPPROTO_UDP))
for fam in fams:
    for t in S, D:
        s = socket.socket(fam, t); print("told", [s.getsockopt(socket.SOL_SOCKET, o) for o in (socket.SO_TYPE, 39, 38, socket.SO_ACCEPTCONN, socket.SO_ERROR, socket.SO_REUSEADDR)], s.getsockname()[:2], told(s.getpeername))
if I6 in fams:
    only = lambda s: s.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
    def limit(s, on): return told(s.setsockopt, socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, on)
    l6 = server(I6)
    for way in (lambda s: s.bind(("::1", 0))), (lambda s: s.bind(("::", 0))), (lambda s: s.listen()), (lambda s: s.connect(l6.getsockname())):
        for on in True, False:
            s = socket.socket(I6, S); seen = [only(s), limit(s, not on), only(s), limit(s, on), only(s)]; way(s); print("only IPv6", on, seen, only(s), limit(s, not on), only(s))
size = ctypes.c_uint(4); short = ctypes.create_string_buffer(b"\xff" * 16); print("short", libc.getsockname(l.fileno(), short, ctypes.byref(size)), size.value, short.raw[:2], short.raw[4:16] == b"\xff" * 12)

# Sockets that several descriptors and processes have.
def served(s, l): n, _ = l.accept(); n.sendall(b"hello"); n.close(); return s.recv(9), s.recv(9)
for fam in fams:
    l = server(fam); at = l.getsockname()
    s = socket.socket(fam, S); d = s.dup(); s.close(); d.connect(at); print("duplicate", served(d, l), d.getpeername()[:2] == at[:2])
    s = socket.socket(fam, S); pid = os.fork()
    if pid == 0: os._exit(s.connect_ex(at))
    print("child", os.waitpid(pid, 0)[1], served(s, l))
    a, b = socket.socketpair(); s = socket.socket(fam, S); pid = os.fork()
    if pid == 0:
        s.close(); t = socket.socket(fileno=socket.recv_fds(a, 9, 1)[1][0]); t.connect(at); socket.send_fds(a, [b"x"], [t.fileno()]); os._exit(0)
    socket.send_fds(b, [b"x"], [s.fileno()]); s.close(); t = socket.socket(fileno=socket.recv_fds(b, 9, 1)[1][0]); os.waitpid(pid, 0)
    print("passed", served(t, l), t.getpeername()[:2] == at[:2])
    pid = os.fork()
    if pid == 0:
        l.accept()[0].sendall(b"of the child"); os._exit(0)
    s = socket.create_connection(at[:2]); print("server in a child", s.recv(99)); os.waitpid(pid, 0)
    s = socket.create_connection(at[:2]); n, _ = l.accept(); n.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); n.close(); print("reset", told(s.recv, 9))
    s = socket.create_connection(at[:2]); n, _ = l.accept(); s.shutdown(socket.SHUT_WR); print("half", n.recv(9), n.send(b"still"), s.recv(9)); n.close(); print("over", s.recv(9))

# Datagrams by every call.
class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.c_void_p), ("iovlen", ctypes.c_size_t),
        ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t), ("flags", ctypes.c_long), ("size", ctypes.c_long)]
keep = []
def messages(parts, to=None):
    out = (Message * len(parts))()
    for m, p in zip(out, parts):
        b = [ctypes.create_string_buffer(x, len(x)) for x in p]; v = ctypes.create_string_buffer(b"".join(struct.pack("QQ", ctypes.addressof(x), len(x)) for x in b))
        where = ctypes.create_string_buffer(to or bytes(28), 28 if to is None else len(to)); keep.append((b, v, where)); m.buffers, m.where = b, where
        m.name, m.namelen, m.iov, m.iovlen = ctypes.addressof(where), len(where), ctypes.addressof(v), len(b)
    return out
for fam in fams:
    p, q = socket.socket(fam, D), socket.socket(fam, D); p.bind((home[fam], 0)); q.bind((home[fam], 0)); to = sockaddr(fam, q.getsockname()[1]); mine = p.getsockname()
    print("sendmmsg", libc.sendmmsg(p.fileno(), messages([[b"one"], [b"t", b"wo"], [b"three"]], to), 3, 0))
    got = messages([[bytes(2), bytes(9)], [bytes(2)]]); n = 0
    while n < 2:
        one = ctypes.cast(ctypes.byref(got, n * ctypes.sizeof(Message)), ctypes.POINTER(Message)); n += libc.recvmmsg(q.fileno(), one, 2 - n, 0, None)
    print("recvmmsg", [(m.size, m.flags, m.namelen, m.controllen) for m in got], [b.raw for b in keep[-2][0]], [b.raw for b in keep[-1][0]], keep[-1][2].raw[:28] == sockaddr(fam, mine[1])[:28] + bytes(28 - len(to)))
    print("recvmsg", q.recvmsg(3)[::2], call(libc.sendmsg, p.fileno(), messages([[b"x"]], to), 0), q.recvfrom(9)[1] == mine)
    p.connect(q.getsockname()); print("connected", p.send(b"a"), p.sendmsg([b"b", b"c"]), os.write(p.fileno(), b"d"), [q.recvfrom(9)[0], q.recv(9), os.read(q.fileno(), 9)], p.getpeername() == q.getsockname())
    q.sendto(b"back", mine); r = socket.socket(fam, D); r.sendto(b"stranger", mine); print("from its peer", p.recv(9), told(p.recv, 9, socket.MSG_DONTWAIT))
    p.sendto(b"peek", q.getsockname()); print("flags", q.recvfrom(2, socket.MSG_PEEK)[0], q.recv_into(bytearray(2), 2, socket.MSG_TRUNC | socket.MSG_PEEK), q.recvfrom_into(bytearray(2), 2, socket.MSG_TRUNC)[0], told(q.recvfrom, 9, socket.MSG_DONTWAIT))
    print("bad", told(r.sendto, b"x", (home[fam], 0)), call(libc.sendto, r.fileno(), b"x", 1, 0, to, 3), call(libc.sendto, r.fileno(), None, 1, 0, to, len(to)), told(r.sendto, bytes(70000), mine), told(r.listen))
    d = q.dup(); q.close(); p.send(b"dup"); print("duplicate", d.recvfrom(9)[0]); pid = os.fork()
    if pid == 0: os._exit(d.recvfrom(9)[0] != b"child")
    p.send(b"child"); print("child", os.waitpid(pid, 0)[1])

# A handler that has calls restarted; threads that end meanwhile; many at once.
l = server(backlog=1000); at = l.getsockname(); over = False
def accept():
    while True:
        n, _ = l.accept()
        if over: return
        n.close()
w = threading.Thread(target=accept); w.start()
hits = 0
def hit(*a): global hits; hits += 1
signal.signal(signal.SIGALRM, hit); signal.siginterrupt(signal.SIGALRM, False)
pid = os.fork()
if pid == 0:
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    for _ in range(300): s = socket.socket(I4, S); s.connect(at); s.getpeername(); s.close()
    signal.setitimer(signal.ITIMER_REAL, 0); os._exit(0 if hits else 3)
print("300 under SIGALRM", os.waitpid(pid, 0)[1])
def storm(depth):
    pids = []
    for _ in range(2 if depth else 0):
        pids.append(os.fork())
        if pids[-1] == 0: storm(depth - 1); os._exit(0)
    for _ in range(5):
        t = threading.Thread(target=lambda: socket.socket(I4, S).connect(at), daemon=True); t.start()
    s = socket.socket(I4, S); s.connect(at); s.recv(1)
    for p in pids: assert os.waitpid(p, 0)[1] == 0
pid = os.fork()
if pid == 0: storm(4); os._exit(0)
print("fork storm", os.waitpid(pid, 0)[1])
over = True; socket.create_connection(at).close(); w.join()
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE); many = min(1000, hard // 2 - 50); resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * many + 50), hard))
l = server(backlog=128); all = [socket.socket(I4, S) for _ in range(many)]; ends = []
for s in all: s.connect(l.getsockname()); n, _ = l.accept(); ends.append(n)
for i, n in enumerate(ends): n.send(b"%d" % i)
print("parallel", all == [s for i, s in enumerate(all) if s.recv(9) == b"%d" % i])
`

func TestSupervisedInternetSame(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		newOutsideNet(t, c)
		c.write(c.outside+"/script.py", sameScript)
		bare, inside := c.bare("python3", c.outside+"/script.py"), c.run("python3", c.outside+"/script.py")
		if bare.code != 0 || inside.code != 0 {
			t.Errorf("bare %d, inside %d", bare.code, inside.code)
		}
		want, got := strings.Split(bare.out, "\n"), strings.Split(inside.out, "\n")
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				t.Errorf("bare:\n%s\ninside:\n%s", strings.Join(want[min(i, len(want)):], "\n"), strings.Join(got[min(i, len(got)):], "\n"))
				break
			}
		}
	})
}
