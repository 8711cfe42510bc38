#: nothing control=no
pass
#: open
cat(KEY)
#: open to read and write
os.set_inheritable(fd := os.open(KEY, os.O_RDWR), True); say(os.read(fd, 4096))
#: what a secret's name leads to
cat("conf/local")
#: what a secret's name leads to, by that
cat("sub/.env.local")
#: what a secret's name leads to, renamed
os.rename("conf/local", "mine"); cat("mine")
#: what a secret's name leads to, linked
os.link("conf/local", "mine"); cat("mine")
#: dot-dot
cat("../.ssh/id_ed25519")
#: dot-dot through a directory of its own
os.mkdir("d"); cat("d/../../.ssh/id_ed25519")
#: many slashes and dots
cat("/" + "/./".join(KEY.split("/")))
#: chdir
os.chdir(HOME + "/.ssh"); cat("id_ed25519")
#: directory descriptor
say(os.read(os.open("id_ed25519", os.O_RDONLY, dir_fd=os.open(HOME + "/.ssh", os.O_PATH)), 4096))
#: O_PATH, then opened again
d = os.open(KEY, os.O_PATH); cat("/proc/self/fd/%d" % d)
#: /dev/fd
d = os.open(HOME, os.O_PATH); cat("/dev/fd/%d/.ssh/id_ed25519" % d)
#: symlink
os.symlink(KEY, "l"); cat("l")
#: chain of symlinks
os.symlink(HOME, "a"); os.symlink("a/.ssh", "b"); os.symlink("b/id_ed25519", "c"); cat("c")
#: a secret beside, by a symlink in /tmp and O_PATH
t = "/tmp/l-" + MARK; os.symlink(W + "/.env", t); d = os.open(t, os.O_PATH)
try: say(os.read(d, 4096))
except OSError: cat("/proc/self/fd/%d" % d)
finally: os.unlink(t)
#: symlink that was there
cat("out")
#: symlink in TMPDIR
t = os.environ.get("TMPDIR", W) + "/l"; os.symlink(KEY, t); cat(t)
#: hard link
os.link(KEY, "h"); cat("h")
#: hard link in TMPDIR
t = os.environ.get("TMPDIR", HOME) + "/h-" + MARK; os.link(KEY, t); cat(t)
#: hard link of a descriptor
d = os.open(KEY, os.O_PATH); call("linkat", AT, P("/proc/self/fd/%d" % d), AT, P("h"), 0x400); cat("h")
#: hard link of an empty name
d = os.open(KEY, os.O_PATH); call("linkat", d, P(""), AT, P("h"), 0x1000); cat("h")
#: rename into the workspace
os.rename(KEY, "mine"); cat("mine")
#: rename its directory into the workspace
os.rename(HOME + "/.ssh", "mine"); cat("mine/id_ed25519")
#: exchange with a file of its own
put("mine"); call("renameat2", AT, P("mine"), AT, P(KEY), 2); cat("mine")
#: /proc/self/root
cat("/proc/self/root" + KEY)
#: /proc/thread-self/root
cat("/proc/thread-self/root" + KEY)
#: /proc/PID/cwd
cat("/proc/%d/cwd/../.ssh/id_ed25519" % os.getpid())
#: /proc/1/root
each(lambda p: cat("/proc/%d/root%s" % (p, KEY)), [1, os.getppid()])
#: openat2 in a root of its own
d = os.open(HOME, os.O_PATH); say(os.read(call("openat2", d, P("/.ssh/id_ed25519"), buffer(struct.pack("QQQ", 0, 0, 0x10)), 24), 4096))
#: open by the old call needs=amd64
say(os.read(call("open", P(KEY), 0), 4096))
#: by a child
run("/bin/cat", KEY)
#: by tar
run("tar", "-C", HOME, "-cf", "-", ".ssh")
#: by a shell's redirection
sh("read x < '%s'; cat < '%s'" % (KEY, KEY))
#: as a script of sh
run("/bin/sh", "-v", KEY)
#: mapped into memory
with open(KEY, "rb") as f: say(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:])
#: copied by the kernel
i, o = os.open(KEY, os.O_RDONLY), os.open("copy", os.O_CREAT | os.O_RDWR, 0o600); os.sendfile(o, i, 0, 4096); cat("copy")
#: cp --reflink
run("cp", "--reflink=auto", KEY, "copy"); cat("copy")
#: by handle needs=admin
fh = buffer(struct.pack("Ii", 128, 0) + bytes(128)); mid = buffer(bytes(8))
call("name_to_handle_at", AT, P(KEY), fh, mid, 0); say(os.read(call("open_by_handle_at", os.open("/", os.O_RDONLY), fh, 0), 4096))
#: chroot needs=root
os.chroot(HOME); cat("/.ssh/id_ed25519")
#: bind mount needs=namespaces
userns(0x20000); os.mkdir("m"); call("mount", P(HOME), P("m"), 0, 0x1000, 0); cat("m/.ssh/id_ed25519")
#: bind mount by the new calls needs=namespaces
userns(0x20000); os.mkdir("m"); fd = call("open_tree", AT, P(HOME), 1); call("move_mount", fd, P(""), AT, P("m"), 4); cat("m/.ssh/id_ed25519")
#: overlay of the home needs=namespaces
userns(0x20000); os.mkdir("m"); os.mkdir("u")
call("mount", P("overlay"), P("m"), P("overlay"), 0, P("lowerdir=%s:%s" % (HOME + "/.ssh", W + "/u"))); cat("m/id_ed25519")
#: overlay by fsopen needs=namespaces
userns(0x20000); os.mkdir("u")
fs = call("fsopen", P("overlay"), 0); call("fsconfig", fs, 1, P("lowerdir"), P("%s:%s" % (HOME + "/.ssh", W + "/u")), 0); call("fsconfig", fs, 6, 0, 0, 0)
m = call("fsmount", fs, 0, 0); say(os.read(os.open("id_ed25519", os.O_RDONLY, dir_fd=m), 4096))
#: pivot_root needs=namespaces
userns(0x20000); os.mkdir("m"); call("mount", P(HOME), P("m"), 0, 0x5000, 0); os.chdir("m"); os.mkdir("old-" + MARK); call("pivot_root", P("."), P("old-" + MARK)); cat("/.ssh/id_ed25519")
#: io_uring needs=nofilter
p = buffer(bytes(120)); ring = call("io_uring_setup", 4, p)
sq = struct.unpack_from("10I", p, 40); cq = struct.unpack_from("10I", p, 80)
rings = mmap.mmap(ring, max(sq[6] + 16, cq[5] + 256), mmap.MAP_SHARED, 3, offset=0); sqes = mmap.mmap(ring, 256, mmap.MAP_SHARED, 3, offset=0x10000000)
name, data = P(KEY), buffer(bytes(4096))
def submit(op, fd, addr, length):
    tail = struct.unpack_from("I", rings, sq[1])[0]; index = tail & struct.unpack_from("I", rings, sq[2])[0]
    struct.pack_into("BBHiQQII", sqes, index * 64, op, 0, 0, fd, 0, addr, length, 0)
    struct.pack_into("I", rings, sq[6] + 4 * index, index); struct.pack_into("I", rings, sq[1], tail + 1)
    call("io_uring_enter", ring, 1, 1, 1, 0, 0)
    head = struct.unpack_from("I", rings, cq[0])[0]; r = struct.unpack_from("Qi", rings, cq[5] + 16 * (head & struct.unpack_from("I", rings, cq[2])[0]))[1]
    struct.pack_into("I", rings, cq[0], head + 1); return r
fd = submit(18, AT, ctypes.cast(name, ctypes.c_void_p).value, 0); submit(22, fd, ctypes.addressof(data), 4096); say(data.raw)
#: another process's directory
cat("/proc/%d/cwd/dir/inner" % VICTIM)
#: another process's root
cat("/proc/%d/root%s" % (VICTIM, KEY))
#: another process's file
cat("/proc/%d/fd/0" % VICTIM)
#: another process's mapped file needs=admin
each(lambda n: cat("/proc/%d/map_files/%s" % (VICTIM, n)), [n for n in os.listdir("/proc/%d/map_files" % VICTIM) if "secret" in os.readlink("/proc/%d/map_files/%s" % (VICTIM, n))])
#: another process's task
cat("/proc/%d/task/%d/cwd/dir/inner" % (VICTIM, VICTIM))
#: a descriptor sent by another process
s = unix(SOCK); s.send(b"send the file\n"); d = array.array("i", [0]); data, anc, _, _ = s.recvmsg(64, 64)
say(os.read(struct.unpack("i", anc[0][2][:4])[0], 4096))
#: secret of the workspace
cat(".env")
#: secret of the workspace, absolute
cat(W + "/.env")
#: secret of the workspace, key file
cat("server.key")
#: secret of the workspace, below
cat("sub/.env")
#: secret of the workspace, by hard link
os.link(".env", "h"); cat("h")
#: secret of the workspace, by symlink
os.symlink(".env", "l"); cat("l")
#: secret of the workspace, renamed
os.rename(".env", "e"); cat("e")
#: secret of the workspace, its directory renamed
os.rename("sub", "s2"); cat("s2/.env")
#: secret of the workspace, a hard link made before
cat("hard")
#: secret of the workspace, copied by git
sh("git hash-object -w --no-filters .env | xargs git cat-file -p")
#: secret of the workspace, opened to write and read
fd = os.open(".env", os.O_RDWR); say(os.read(fd, 4096))
#: secret of the workspace, /proc/self/cwd
cat("/proc/self/cwd/.env")
#: secret of the workspace, exchanged
put("mine"); call("renameat2", AT, P("mine"), AT, P(".env"), 2); cat("mine")
#: secret of the workspace, appended by the kernel
sh("cat .env >> copy; cat copy")
#: secret that appears later limit=fs.later
ask("plant", W + "/.env.local"); cat(".env.local")
#: secret that appears later in a new directory limit=fs.later
os.mkdir("fresh"); ask("plant", W + "/fresh/id_rsa"); cat("fresh/id_rsa")
#: secret store that appears later
ask("plant", HOME + "/.netrc"); cat(HOME + "/.netrc")
#: file that appears later outside
ask("plant", O + "/later"); cat(O + "/later")
#: a symlink's target swapped while it is opened
ask("swap", W + "/swap", KEY)
tries, met, end = 0, 0, time.time() + 20
while (tries < 2000 or met < 200) and time.time() < end:
    try:
        tries += 1; met += os.readlink("swap") == KEY
        d = os.open("swap", os.O_RDONLY); data = os.read(d, 100); os.close(d)
        if data != b"old\n": say(data); break
    except OSError: pass
ask("calm")
#: file of another program in /tmp
cat(TMP + "/file")
#: list of another program's files in /tmp
if "file" in os.listdir(TMP): got("a listing")
#: raw disk control=may
name = "/dev/" + open("/proc/partitions").read().split("\n")[2].split()[3]; os.open(name, os.O_RDONLY); got("opened " + name)
#: device node of its own disk control=may
os.mknod("disk", 0o600 | stat.S_IFBLK, os.stat(W).st_dev); os.open("disk", os.O_RDONLY); got("a node of the disk")
#: kernel memory control=may
each(lambda f: (os.open(f, os.O_RDONLY), got(f)), ["/proc/kcore", "/dev/mem", "/dev/kmem"])
#: kernel log needs=admin
os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK); got("the kernel's log")
#: password hashes needs=root
os.open("/etc/shadow", os.O_RDONLY); got("opened /etc/shadow")
#: list of the home
say(*os.listdir(HOME + "/.ssh")); got("a listing")
#: names of denied files limit=fs.stat
os.stat(KEY); got("size and times of a denied file")
#: names of denied files, access limit=fs.stat
if os.access(KEY, os.F_OK): got("that a denied file is there")
#: names of files outside limit=fs.stat
os.lstat(O + "/file"); got("size and times of a file outside")
#: target of a link outside limit=fs.stat
say(os.readlink(O + "/link")); got("where a link outside leads")
#: attributes of a file outside limit=fs.stat
os.getxattr(O + "/file", "user.canary"); got("an attribute")
#: changes outside, watched limit=fs.stat
n = LIBC.inotify_init1(os.O_NONBLOCK); w = LIBC.inotify_add_watch(n, P(O), 0x100); ask("plant", O + "/noticed")
if select.select([n], [], [], 5)[0]: got("a notice of a new file outside")
#: changes outside, by fanotify needs=admin
call("fanotify_init", 0, 0); got("fanotify")
#: the run's own record
each(cat, [os.path.join(d, f) for d, _, fs in os.walk(STATE) for f in fs])
#: the configuration
cat(HOME + "/.config/skillrun/config.toml")
#: openat2 beneath a directory
d = os.open(HOME, os.O_PATH); say(os.read(call("openat2", d, P(".ssh/id_ed25519"), buffer(struct.pack("QQQ", 0, 0, 0x08)), 24), 4096))
#: openat2 without magic links or other mounts
say(os.read(call("openat2", AT, P(KEY), buffer(struct.pack("QQQ", 0, 0, 0x03)), 24), 4096))
#: openat2 by a longer structure
say(os.read(call("openat2", AT, P(KEY), buffer(struct.pack("QQQ", 0, 0, 0) + bytes(40)), 64), 4096))
#: secret of the workspace, openat2
say(os.read(call("openat2", AT, P(".env"), buffer(struct.pack("QQQ", 0, 0, 0x04)), 24), 4096))
#: opened as if to create
say(os.read(os.open(KEY, os.O_RDONLY | os.O_CREAT), 4096))
#: secret of the workspace, opened as if to create
say(os.read(os.open(".env", os.O_RDONLY | os.O_CREAT), 4096))
#: secret of the workspace, through a descriptor that another thread swaps control=may
mine, theirs = os.open("olddir", os.O_PATH), os.open("sub", os.O_PATH); d, stop = os.dup(mine), []; put("olddir/.env.x")
def flip():
    while not stop: os.dup2(theirs, d); os.dup2(mine, d)
t = threading.Thread(target=flip, daemon=True); t.start()
for _ in range(3000):
    try: cat("/proc/self/fd/%d/.env" % d); break
    except OSError: pass
stop.append(1); t.join()
#: secret of the workspace, from a directory that another thread leaves control=may
stop = []
def flip():
    while not stop: os.chdir(W + "/sub"); os.chdir(W + "/olddir")
t = threading.Thread(target=flip, daemon=True); t.start()
for _ in range(3000):
    try: cat(".env"); break
    except OSError: pass
stop.append(1); t.join()
#: by a tracer that changes the call needs=amd64
name = P(KEY); at = ctypes.cast(name, ctypes.c_void_p).value; sys.stdout.flush(); pid = os.fork()
if pid == 0:
    call("ptrace", 0, 0, 0, 0); os.kill(os.getpid(), signal.SIGSTOP); fd = LIBC.syscall(ctypes.c_long(102)); say(os.read(fd, 4096)); os._exit(0)
os.waitpid(pid, 0); regs = buffer(bytes(216)); LIBC.ptrace.argtypes = [ctypes.c_long] * 4; done = 0; LIBC.ptrace(0x4200, pid, 0, 1)
while True:
    LIBC.ptrace(24, pid, 0, 0)
    if not os.WIFSTOPPED(os.waitpid(pid, 0)[1]): break
    LIBC.ptrace(12, pid, 0, ctypes.addressof(regs)); r = list(struct.unpack("27Q", regs.raw))
    if r[15] == 102 and r[10] == 0xffffffffffffffda and not done:
        done, r[15], r[14], r[13] = 1, 2, at, 0; ctypes.memmove(regs, struct.pack("27Q", *r), 216); LIBC.ptrace(13, pid, 0, ctypes.addressof(regs))
#: by a tracer that changes the call, arm64's needs=arm64
name = P(KEY); at = ctypes.cast(name, ctypes.c_void_p).value; sys.stdout.flush(); pid = os.fork()
if pid == 0:
    call("ptrace", 0, 0, 0, 0); os.kill(os.getpid(), signal.SIGSTOP); fd = LIBC.syscall(ctypes.c_long(174)); say(os.read(fd, 4096)); os._exit(0)
os.waitpid(pid, 0); regs, nr = buffer(bytes(272)), buffer(struct.pack("i", 56)); LIBC.ptrace.argtypes = [ctypes.c_long] * 4; done = 0; LIBC.ptrace(0x4200, pid, 0, 1)
v, w = [buffer(struct.pack("QQ", ctypes.addressof(b), len(b))) for b in (regs, nr)]
while True:
    LIBC.ptrace(24, pid, 0, 0)
    if not os.WIFSTOPPED(os.waitpid(pid, 0)[1]): break
    LIBC.ptrace(0x4204, pid, 1, ctypes.addressof(v)); r = list(struct.unpack("34Q", regs.raw))
    if r[8] == 174 and r[7] == 0 and not done:
        done, r[0], r[1], r[2] = 1, 2**64 + AT, at, 0; ctypes.memmove(regs, struct.pack("34Q", *r), 272)
        LIBC.ptrace(0x4205, pid, 1, ctypes.addressof(v)); LIBC.ptrace(0x4205, pid, 0x404, ctypes.addressof(w))
#: by an address with a tag needs=arm64
call("prctl", 55, 1, 0, 0, 0); name = P(KEY); at = ctypes.cast(name, ctypes.c_void_p).value | 0x5a << 56
say(os.read(call("openat", AT, ctypes.c_void_p(at), 0, 0), 4096))
#: by a thread with a table of descriptors of its own needs=namespaces
def other():
    call("unshare", 0x400); d = os.open(HOME + "/.ssh", os.O_PATH); say(os.read(os.open("id_ed25519", os.O_RDONLY, dir_fd=d), 4096))
t = threading.Thread(target=other); t.start(); t.join()
#: asynchronously
d = os.open(KEY, os.O_RDONLY); b = buffer(bytes(4096)); ctx = ctypes.c_ulong(0); call("io_setup", 4, ctypes.byref(ctx))
cb = buffer(struct.pack("QIIHhIQQqQII", 0, 0, 0, 0, 0, d, ctypes.addressof(b), 4096, 0, 0, 0, 0)); call("io_submit", ctx.value, 1, (ctypes.c_void_p * 1)(ctypes.addressof(cb)))
time.sleep(.05); say(b.raw)
#: through a pipe, by splice and tee
i = os.open(KEY, os.O_RDONLY); r, w = os.pipe(); r2, w2 = os.pipe(); call("splice", i, 0, w, 0, 4096, 0); LIBC.tee(r, w2, 4096, 0); say(os.read(r2, 4096))
