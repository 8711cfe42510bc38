#: tcp
tcp(TCP)
#: tcp over IPv6
tcp(TCP6, family=socket.AF_INET6)
#: tcp to an IPv4 address in IPv6
tcp(("::ffff:127.0.0.1", TCP[1]), family=socket.AF_INET6)
#: tcp to 0.0.0.0
tcp(("0.0.0.0", TCP[1]))
#: tcp without blocking
s = socket.socket(); s.setblocking(False); s.connect_ex(TCP); select.select([], [s], [], 5); s.send(MARK.encode())
#: tcp, connected twice
s = socket.socket(); s.connect_ex(("127.0.0.1", 1)); s.connect(TCP); s.send(MARK.encode())
#: tcp by a thread
t = threading.Thread(target=tcp, args=(TCP,)); t.start(); t.join()
#: tcp by a child
run("/bin/bash", "-c", "printf %%s %s > /dev/tcp/127.0.0.1/%d" % (MARK, TCP[1]))
#: tcp from a child of a child
child(lambda: child(lambda: tcp(TCP)))
#: fast open
s = socket.socket(); s.sendto(MARK.encode(), socket.MSG_FASTOPEN, TCP); s.close()
#: fast open by sendmsg
s = socket.socket(); s.sendmsg([MARK.encode()], [], socket.MSG_FASTOPEN, TCP); s.close()
#: fast open by option
s = socket.socket(); s.setsockopt(socket.IPPROTO_TCP, 30, 1); s.connect(TCP); s.send(MARK.encode())
#: MPTCP
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect(TCP); s.send(MARK.encode())
#: MPTCP over IPv6
s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 262); s.connect(TCP6); s.send(MARK.encode())
#: socket type with high bits
fd = call("socket", 2, 0x100000001, 0); s = socket.socket(fileno=fd); s.connect(TCP); s.send(MARK.encode())
#: udp
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(MARK.encode(), UDP)
#: udp, connected
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(UDP); s.send(MARK.encode())
#: udp by sendmsg
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([MARK.encode()], [], 0, UDP)
#: udp over IPv6
socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(MARK.encode(), ("::ffff:127.0.0.1", UDP[1]))
#: udp to a name, as DNS
q = struct.pack(">HHHHHH", 1, 0x100, 1, 0, 0, 0) + bytes([len(MARK)]) + MARK.encode() + b"\0\0\1\0\1"
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(q, UDP)
#: udp by sendmmsg
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a = buffer(struct.pack("<H", 2) + struct.pack(">H", UDP[1]) + bytes([127, 0, 0, 1]) + bytes(8)); d = buffer(MARK.encode())
iov = buffer(struct.pack("QQ", ctypes.addressof(d), len(d))); h = buffer(struct.pack("QIxxxxQQQQIxxxx", ctypes.addressof(a), 16, ctypes.addressof(iov), 1, 0, 0, 0) + bytes(8))
if LIBC.sendmmsg(s.fileno(), h, 1, 0) != 1: raise OSError(ctypes.get_errno(), "sendmmsg")
#: udp-lite
socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136); got("a UDP-Lite socket")
#: tcp by its number
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 6); s.connect(TCP); s.send(MARK.encode())
#: SCTP control=may
socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132); got("an SCTP socket")
#: listen
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); got("a listener")
#: listen without bind
s = socket.socket(); s.listen(); got("a listener")
#: udp, bound
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); got("a port")
#: raw packets needs=root
socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP); got("a raw socket")
#: raw packets, any needs=root
socket.socket(socket.AF_INET, socket.SOCK_RAW, 255); got("a raw socket")
#: raw frames needs=root
socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); got("a packet socket")
#: raw frames by the old type needs=root
socket.socket(socket.AF_INET, 10, socket.htons(3)); got("a packet socket")
#: ping control=may
socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP); got("a ping socket")
#: netlink, routes
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); s.bind((0, 0)); got("routes and addresses")
#: netlink, audit
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9); got("audit")
#: netlink, sockets of others
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4); got("socket diagnosis")
#: netlink, device events
s = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15); s.bind((0, 1)); got("device events")
#: netlink, generic
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16); got("generic netlink")
#: kernel crypto control=may
s = socket.socket(38, socket.SOCK_SEQPACKET); s.bind(("hash", "sha256")); got("AF_ALG")
#: virtual machine's host control=may
socket.socket(40, socket.SOCK_STREAM); got("AF_VSOCK")
#: bluetooth, can, tipc, rds, xdp control=may
for family in (31, 29, 30, 21, 44, 39, 36, 9, 5, 4, 37, 28, 43):
    for kind in (1, 2, 3, 5):
        try: socket.socket(family, kind); got("family %d" % family)
        except OSError: pass
#: unix socket
unix(SOCK)
#: unix socket, relative
os.chdir(O); unix("sock")
#: unix socket by symlink
os.symlink(SOCK, "s"); unix("s")
#: unix socket by hard link
os.link(SOCK, "s"); unix("s")
#: unix socket renamed here
os.rename(SOCK, "s"); unix("s")
#: unix socket by descriptor
d = os.open(SOCK, os.O_PATH); unix("/proc/self/fd/%d" % d)
#: unix socket by /proc/self/root
unix("/proc/self/root" + SOCK)
#: unix socket by another process's directory
unix("/proc/%d/cwd/sock" % VICTIM)
#: unix socket, abstract
unix("\0" + ABSTRACT)
#: unix socket, packets
unix(SEQ, socket.SOCK_SEQPACKET)
#: unix datagram
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(MARK.encode(), DGRAM)
#: unix datagram, connected
unix(DGRAM, socket.SOCK_DGRAM)
#: unix datagram from a pair
socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(MARK.encode(), DGRAM)
#: unix datagram by sendmsg
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([MARK.encode()], [], 0, DGRAM)
#: unix raw socket
socket.socket(socket.AF_UNIX, socket.SOCK_RAW).sendto(MARK.encode(), DGRAM)
#: unix socket whose address changes while it is judged control=may
a = buffer(struct.pack("H", 1) + os.fsencode(SOCK) + b"\0"); own = W + "/own"; l = socket.socket(socket.AF_UNIX); l.bind(own); l.listen(4096); stop = []
good = struct.pack("H", 1) + os.fsencode(own) + b"\0"; bad = bytes(a)
def flip():
    while not stop:
        ctypes.memmove(a, good, min(len(good), len(bad))); ctypes.memmove(a, bad, len(bad))
t = threading.Thread(target=flip, daemon=True); t.start()
for _ in range(500):
    s = socket.socket(socket.AF_UNIX)
    if LIBC.connect(s.fileno(), a, len(bad)) == 0: s.send(MARK.encode())
    s.close()
stop.append(1); t.join()
#: io_uring socket needs=nofilter
p = buffer(bytes(120)); call("io_uring_setup", 4, p); got("a ring")
#: names of hosts
socket.getaddrinfo("localhost", 80); s = socket.create_connection(("localhost", TCP[1]), 5); s.send(MARK.encode())
#: abstract unix socket, to which somebody outside connects
s = socket.socket(socket.AF_UNIX); s.bind("\0squat-" + MARK); s.listen(); ask("dial", "squat-" + MARK); s.settimeout(3); s.accept(); got("a connection from outside")
#: unix socket of the workspace, named as another's
os.symlink(SOCK, "own"); s = socket.socket(socket.AF_UNIX); s.bind("real"); s.listen(); os.rename("real", "moved"); os.link("own", "copy"); unix("copy")
#: a connected socket, connected again
a, b = socket.socketpair(); LIBC.connect(a.fileno(), buffer(struct.pack("H", 0) + bytes(14)), 16); s = socket.socket(socket.AF_UNIX); s.bind("me"); s.connect(SOCK); s.send(MARK.encode())
#: unix socket by a path without its end
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM); a = struct.pack("H", 1) + os.fsencode(SOCK)
if LIBC.connect(s.fileno(), buffer(a), len(a)) == 0: s.send(MARK.encode())
#: unix socket through a descriptor that another thread swaps control=may
mine, theirs = os.open("olddir", os.O_PATH), os.open(O, os.O_PATH); d, stop = os.dup(mine), []
l = socket.socket(socket.AF_UNIX); l.bind("olddir/sock"); l.listen(4096)
def flip():
    while not stop: os.dup2(theirs, d); os.dup2(mine, d)
t = threading.Thread(target=flip, daemon=True); t.start()
for _ in range(1000):
    try: unix("/proc/self/fd/%d/sock" % d)
    except OSError: pass
stop.append(1); t.join()
#: tcp through an address that changes while it is judged control=may
a = buffer(struct.pack("<H", 2) + struct.pack(">H", TCP[1]) + bytes([127, 0, 0, 1]) + bytes(8)); good, bad = struct.pack("<H", 0) + bytes(14), bytes(a)
end = time.time() + 2; stop = lambda: time.time() > end
def flip():
    while not stop(): ctypes.memmove(a, good, 16); ctypes.memmove(a, bad, 16)
t = threading.Thread(target=flip, daemon=True); t.start()
for _ in range(300):
    s = socket.socket()
    if LIBC.connect(s.fileno(), a, 16) == 0:
        try: s.send(MARK.encode())
        except OSError: pass
