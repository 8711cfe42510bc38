#: chmod
os.chmod(O + "/file", 0o600)
#: chmod of a directory
os.chmod(O + "/dir", 0o777)
#: fchmod of a reading descriptor
os.fchmod(os.open(O + "/file", os.O_RDONLY), 0o600)
#: fchmodat
call("fchmodat", os.open(O, os.O_PATH), P("file"), 0o600)
#: fchmodat2 of a descriptor
call("fchmodat2", os.open(O + "/file", os.O_PATH), P(""), 0o600, 0x1000)
#: the old chmod needs=amd64
call("chmod", P(O + "/file"), 0o600)
#: chmod by symlink
os.chmod("out", 0o600)
#: chmod by /proc/self/fd
d = os.open(O + "/file", os.O_PATH); os.chmod("/proc/self/fd/%d" % d, 0o600)
#: chmod of the key
os.chmod(KEY, 0o644)
#: chmod of the home
os.chmod(HOME, 0o777)
#: chmod by a hard link made now
os.link(O + "/file", "h"); os.chmod("h", 0o600)
#: chmod of a control file
os.chmod(".git/hooks/pre-commit", 0o700)
#: chmod of a control file's directory
os.chmod(".git/hooks", 0o777)
#: chmod of a secret
os.chmod(".env", 0o666)
#: chmod by a child
run("chmod", "600", O + "/file")
#: chown needs=root
os.chown(O + "/file", 12345, 12345)
#: fchown needs=root
os.fchown(os.open(O + "/file", os.O_RDONLY), 12345, 12345)
#: lchown needs=root
os.lchown(O + "/link", 12345, 12345)
#: chown to itself, which clears set-uid bits
os.chown(O + "/setuid", os.getuid(), os.getgid())
#: utime
os.utime(O + "/file", (1, 1))
#: utime of a descriptor
os.utime(os.open(O + "/file", os.O_RDONLY), (1, 1))
#: utime of a symlink
os.utime(O + "/link", (1, 1), follow_symlinks=False)
#: utimensat of an empty name
call("utimensat", os.open(O + "/file", os.O_PATH), P(""), buffer(struct.pack("qqqq", 1, 0, 1, 0)), 0x1000)
#: the old utime needs=amd64
call("utime", P(O + "/file"), buffer(struct.pack("qq", 1, 1)))
#: the old utimes needs=amd64
call("utimes", P(O + "/file"), buffer(struct.pack("qqqq", 1, 0, 1, 0)))
#: the old futimesat needs=amd64
call("futimesat", os.open(O, os.O_PATH), P("file"), buffer(struct.pack("qqqq", 1, 0, 1, 0)))
#: utime of the home
os.utime(HOME, (1, 1))
#: setxattr
os.setxattr(O + "/file", "user.evil", b"1")
#: fsetxattr
os.setxattr(os.open(O + "/file", os.O_RDONLY), "user.evil", b"1")
#: lsetxattr
os.setxattr(O + "/file", "user.evil", b"1", follow_symlinks=False)
#: setxattrat
args = buffer(struct.pack("QII", ctypes.addressof(value := buffer(b"1")), 1, 0)); call("setxattrat", AT, P(O + "/file"), 0, P("user.evil"), args, 16)
#: removexattr
os.removexattr(O + "/file", "user.canary")
#: removexattrat
call("removexattrat", AT, P(O + "/file"), 0, P("user.canary"))
#: access list
os.setxattr(O + "/file", "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", t, p, 0xffffffff) for t, p in ((1, 6), (4, 6), (0x20, 6))))
#: file flags by a reading descriptor
fcntl.ioctl(os.open(O + "/file", os.O_RDONLY), 0x40086602, struct.pack("l", 0x80))
#: file flags with high bits
n = LIBC.ioctl(os.open(O + "/file", os.O_RDONLY), ctypes.c_ulong(0x140086602), buffer(struct.pack("l", 0x80)))
#: file flags by FSSETXATTR
fcntl.ioctl(os.open(O + "/file", os.O_RDONLY), 0x401c5820, struct.pack("IIIII8x", 0x40, 0, 0, 0, 0))
#: file flags by file_setattr
call("file_setattr", AT, P(O + "/file"), buffer(struct.pack("QIIII", 0x40, 0, 0, 0, 0)), 24, 0)
#: set-uid program
put("s", mode=0o755); os.chmod("s", 0o4755)
#: set-gid program
put("s", mode=0o755); os.chmod("s", 0o2755)
#: set-uid at creation
os.umask(0); os.close(os.open("s", os.O_CREAT | os.O_WRONLY, 0o6777))
#: set-uid by mknod
os.umask(0); os.mknod("s", 0o4777 | stat.S_IFREG)
#: set-uid by tar
sh("mkdir x; cp /bin/true x/s; chmod 755 x/s; tar --mode=4755 -cf t.tar x/s; tar -xpf t.tar")
#: a file that all may write
put("s"); os.chmod("s", 0o666)
#: a directory that all may write
os.umask(0); os.mkdir("s", 0o777)
#: file capabilities needs=root
put("s", mode=0o755); os.setxattr("s", "security.capability", struct.pack("<IIIII", 0x02000001, 0xffffffff, 0, 0xffffffff, 0))
#: atime of a file outside, by O_NOATIME off
os.utime(O + "/dir/inner", ns=(1, os.stat(O + "/dir/inner").st_mtime_ns + 1))
#: lock on a file outside
fcntl.flock(os.open(O + "/file", os.O_RDONLY), fcntl.LOCK_EX); got("a lock")
#: lease on a file outside
fcntl.fcntl(os.open(O + "/file", os.O_RDONLY), 1024, 0); got("a lease")
#: quota needs=admin
reaches("quotactl", 0x80000700, P("/dev/none-" + MARK), 0, 0)
#: chmod by a descriptor that another thread swaps control=may
put("mine"); mine, theirs = os.open("mine", os.O_RDONLY), os.open(O + "/file", os.O_PATH); d, stop = os.dup(mine), []
def flip():
    while not stop: os.dup2(theirs, d); os.dup2(mine, d)
t = threading.Thread(target=flip, daemon=True); t.start()
for _ in range(1500):
    LIBC.syscall(ctypes.c_long(NR["fchmodat2"][0]), ctypes.c_long(d), P(""), ctypes.c_long(0o600), ctypes.c_long(0x1000))
stop.append(1); t.join()
#: mode of the skill by a reading descriptor
os.fchmod(os.open(SKILL + "/SKILL.md", os.O_RDONLY), 0o600)
#: times of the skill by a reading descriptor
os.utime(os.open(SKILL + "/SKILL.md", os.O_RDONLY), (1, 1))
#: times of the skill by a null path
call("utimensat", os.open(SKILL + "/SKILL.md", os.O_RDONLY), 0, buffer(struct.pack("qqqq", 1, 0, 1, 0)), 0)
#: attribute of the skill by a reading descriptor
os.setxattr(os.open(SKILL + "/SKILL.md", os.O_RDONLY), "user.evil", b"1")
#: attribute of the skill's directory
os.setxattr(SKILL, "user.evil", b"1")
#: access list of the skill, for what is made there
os.setxattr(SKILL, "system.posix_acl_default", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", t, p, 0xffffffff) for t, p in ((1, 7), (4, 7), (0x20, 7))))
#: trusted attribute needs=admin
put("s"); os.setxattr("s", "trusted.evil", b"1"); got("a trusted attribute")
#: security label needs=admin
os.setxattr(SKILL + "/SKILL.md", "security.evil", b"1")
#: file flags of the skill by a reading descriptor
fcntl.ioctl(os.open(SKILL + "/SKILL.md", os.O_RDONLY), 0x40086602, struct.pack("l", 0x80))
#: file flags of the skill by file_setattr
call("file_setattr", os.open(SKILL + "/SKILL.md", os.O_RDONLY), P(""), buffer(struct.pack("QIIII", 0x40, 0, 0, 0, 0)), 24, 0x1000)
#: owner of the skill by a descriptor needs=root
call("fchownat", os.open(SKILL, os.O_PATH), P(""), 12345, 12345, 0x1000)
#: version of the skill's files
LIBC.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]; d = os.open(SKILL + "/SKILL.md", os.O_RDONLY)
for n in (0x40086604, 0x40087602, 0x6609, 0x40047211, 0x4008941a, 0x40088302, 0xc0c89425, 0x8008f512, 0x4004f50d, 0x40186f04, 0x4020bc10, 0x4020bc11, 0x40309410, 0x40106614, 0xf501, 0xf519, 0x40289702, 0xc03066f0):
    if LIBC.ioctl(d, n, ctypes.addressof(buffer(bytes(8)))) == 0 or ctypes.get_errno() != errno.EPERM: got("ioctl %x" % n)
#: keys of a file system
LIBC.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]; d = os.open(SKILL, os.O_RDONLY); b = buffer(b"\xff" * 128)
for n in (0xc0506617, 0xc0406618, 0xc0406619):
    if LIBC.ioctl(d, n, ctypes.addressof(b)) == 0 or ctypes.get_errno() != errno.EPERM: got("ioctl %x" % n)
#: lease on a file of the skill, whose openers then wait
fcntl.fcntl(os.open(SKILL + "/SKILL.md", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK); got("a lease")
#: chmod through /proc/self/root
os.chmod("/proc/self/root" + O + "/file", 0o600)
#: chmod of a name that a thread swaps for a link control=may
put("n"); os.symlink(O + "/file", "l"); stop = []
def flip():
    while not stop:
        try: call("renameat2", AT, P("n"), AT, P("l"), 2)
        except OSError: pass
t = threading.Thread(target=flip, daemon=True); t.start()
for _ in range(1500):
    try: os.chmod("n", 0o600)
    except OSError: pass
stop.append(1); t.join()
