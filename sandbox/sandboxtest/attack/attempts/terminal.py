#: TIOCSTI tty needs=admin
t = os.open("/dev/tty", os.O_RDWR)
for c in MARK: fcntl.ioctl(t, 0x5412, c.encode())
#: TIOCSTI on standard input tty needs=admin
for c in MARK: fcntl.ioctl(0, 0x5412, c.encode())
#: TIOCSTI with high bits tty needs=admin
for c in MARK: LIBC.ioctl(0, ctypes.c_ulong(0x100005412), buffer(c.encode()))
#: TIOCSTI by a child tty needs=admin
def push():
    for c in MARK: fcntl.ioctl(0, 0x5412, c.encode())
child(push)
#: TIOCSTI after setsid and TIOCSCTTY tty needs=admin
def push():
    os.setsid(); fcntl.ioctl(0, 0x540E, 1)
    for c in MARK: fcntl.ioctl(0, 0x5412, c.encode())
child(push)
#: TIOCLINUX tty control=may
if LIBC.ioctl(0, ctypes.c_ulong(0x541c), buffer(b"\2" + bytes(20))) == 0: got("a paste")
#: TIOCCONS tty needs=admin
fcntl.ioctl(0, 0x541d); got("the console")
#: line discipline tty
fcntl.ioctl(0, 0x5423, struct.pack("i", 0)); got("TIOCSETD")
#: line discipline with high bits tty
if LIBC.ioctl(0, ctypes.c_ulong(0x700005423), buffer(struct.pack("i", 0))) == 0: got("TIOCSETD")
#: keyboard map tty control=may
if LIBC.ioctl(0, ctypes.c_ulong(0x4b49), buffer(bytes(600))) == 0: got("KDSKBSENT")
#: virtual terminals needs=root control=may
each(lambda f: (os.open(f, os.O_RDWR | os.O_NOCTTY), got(f)), ["/dev/tty0", "/dev/tty1", "/dev/vcs", "/dev/vcsa", "/dev/console", "/dev/ttyS0"])
#: another terminal, read
d = os.open(PTS, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK); ask("type"); select.select([d], [], [], 10); say(os.read(d, 100))
#: another terminal, read from its master
ask("type"); d = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK); fcntl.ioctl(d, 0x40045431, struct.pack("i", 0)); d = os.open(PTS, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK); say(os.read(d, 100))
#: another terminal
d = os.open(PTS, os.O_RDWR | os.O_NOCTTY); os.write(d, MARK.encode())
#: input devices control=may
each(lambda f: (os.open("/dev/" + f, os.O_RDWR), got(f)), ["uinput", "input/event0", "fb0", "kvm", "fuse", "vhost-vsock", "snapshot", "loop-control", "mapper/control"])
#: a terminal shut to others tty
fcntl.ioctl(0, 0x540c); got("TIOCEXCL")
#: a terminal shut to others, with high bits tty
if LIBC.ioctl(0, ctypes.c_ulong(0x50000540c), 0) == 0: got("TIOCEXCL")
#: its own terminal, as another's peer
d = os.open(PTS, os.O_PATH); d = LIBC.ioctl(os.open("/proc/self/fd/%d" % d, os.O_RDWR | os.O_NOCTTY), ctypes.c_ulong(0x5441), os.O_RDWR); got("another terminal")
#: another terminal, made its own
if os.fork() == 0: os.setsid(); d = os.open(PTS, os.O_RDWR); os.write(os.open("/dev/tty", os.O_RDWR), MARK.encode()); os._exit(0)
os.wait()
