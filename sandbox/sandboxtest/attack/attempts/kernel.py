#: io_uring needs=nofilter
call("io_uring_setup", 4, buffer(bytes(120))); got("a ring")
#: io_uring, a register call needs=nofilter
reaches("io_uring_register", -1, 0, 0, 0)
#: bpf program needs=admin
reaches("bpf", 5, buffer(bytes(128)), 128)
#: bpf map needs=admin
call("bpf", 0, buffer(struct.pack("IIIII", 2, 4, 4, 1, 0) + bytes(100)), 120); got("a map")
#: perf needs=nofilter,root
reaches("perf_event_open", buffer(struct.pack("IIQ", 1, 112, 0) + bytes(96)), 0, -1, -1, 0)
#: userfaultfd needs=nofilter
call("userfaultfd", 1); got("userfaultfd")
#: fanotify needs=admin
call("fanotify_init", 0, 0); got("fanotify")
#: user namespace needs=namespaces
if child(lambda: call("unshare", 0x10000000)) == 0: got("a user namespace")
#: user namespace by clone needs=namespaces
pid = LIBC.syscall(ctypes.c_long(NR["clone"][0 if X86 else 1]), ctypes.c_long(0x10000000 | 17), 0, 0, 0, 0)
if pid == 0: os._exit(0)
if pid > 0: os.waitpid(pid, 0); got("a user namespace")
#: user namespace by clone3 needs=namespaces
pid = LIBC.syscall(ctypes.c_long(435), buffer(struct.pack("QQQQQQQQ", 0x10000000, 0, 0, 0, 17, 0, 0, 0)), ctypes.c_long(64))
if pid == 0: os._exit(0)
if pid > 0: os.waitpid(pid, 0); got("a user namespace")
#: mount namespace needs=admin,namespaces
if child(lambda: call("unshare", 0x20000)) == 0: got("a mount namespace")
#: network namespace needs=admin,namespaces
if child(lambda: call("unshare", 0x40000000)) == 0: got("a network namespace")
#: time namespace needs=admin,namespaces
if child(lambda: call("unshare", 0x80)) == 0: got("a time namespace")
#: cgroup namespace needs=admin,namespaces
if child(lambda: call("unshare", 0x2000000)) == 0: got("a cgroup namespace")
#: mount needs=namespaces
def mount(): userns(0x20000); os.mkdir("m"); call("mount", P("none"), P("m"), P("tmpfs"), 0, 0)
if child(mount) == 0: got("a mount")
#: new mount calls needs=namespaces
def mount(): userns(0x20000); call("fsopen", P("tmpfs"), 0)
if child(mount) == 0: got("a file system")
#: mount_setattr needs=admin
reaches("mount_setattr", -1, P(""), 0x1000, buffer(bytes(32)), 32)
#: umount needs=admin
reaches("umount2", P(W + "/none-" + MARK), 0)
#: pivot_root needs=admin
reaches("pivot_root", P(W + "/none-" + MARK), P(W + "/none-" + MARK))
#: chroot needs=root
if child(lambda: os.chroot(".")) == 0: got("chroot")
#: open_tree needs=admin
reaches("open_tree", AT, P(W), 1)
#: statmount control=may
reaches("statmount", 0, 0, 0, 0)
#: listmount control=may
reaches("listmount", 0, 0, 0, 0)
#: character device needs=root
os.mknod("zero", 0o600 | stat.S_IFCHR, os.makedev(1, 5)); got("a device")
#: character device by mknodat needs=root
call("mknodat", os.open(".", os.O_PATH), P("zero"), 0o600 | stat.S_IFCHR, os.makedev(1, 5)); got("a device")
#: character device, mode with high bits needs=root
call("mknodat", AT, P("zero"), 0x100000000 | 0o600 | stat.S_IFCHR, os.makedev(1, 5)); got("a device")
#: core pattern needs=root
os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY); got("core_pattern")
#: settings of the kernel needs=root
each(lambda f: (os.open("/proc/sys/" + f, os.O_WRONLY), got(f)), ["kernel/modprobe", "kernel/hostname", "vm/overcommit_memory", "net/ipv4/ip_forward", "fs/binfmt_misc/register", "kernel/sysrq", "kernel/randomize_va_space"])
#: the old hotplug helper needs=root
each(lambda f: (os.open(f, os.O_WRONLY), got(f)), ["/sys/kernel/uevent_helper", "/sys/power/state", "/proc/sysrq-trigger", "/sys/kernel/mm/transparent_hugepage/enabled"])
#: control groups control=may
for d, _, fs in os.walk("/sys/fs/cgroup"):
    each(lambda f: (os.open(os.path.join(d, f), os.O_WRONLY), got(f)), [f for f in fs if f in ("cgroup.procs", "release_agent", "tasks", "cgroup.kill")])
    break
#: a control group of its own needs=admin
for d in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"):
    try: os.mkdir(d + "/" + MARK); os.rmdir(d + "/" + MARK); got("a control group")
    except OSError: pass
#: tracing control=may
each(lambda f: (os.open(f, os.O_WRONLY), got(f)), ["/sys/kernel/tracing/trace_marker", "/sys/kernel/debug/tracing/trace_marker", "/sys/kernel/debug"])
#: host name needs=admin
name = os.uname().nodename.encode(); call("sethostname", buffer(name), len(name)); got("the host's name")
#: domain name needs=admin
reaches("setdomainname", 1, -1)
#: clock needs=admin
reaches("clock_settime", 99, 0)
#: clock, by settimeofday needs=admin
reaches("settimeofday", buffer(struct.pack("qq", -1, -1)), 0)
#: clock, its speed needs=admin
reaches("clock_adjtime", 99, buffer(bytes(208)))
#: modules control=may
reaches("init_module", 0, 0, P(""))
#: modules from a file control=may
reaches("finit_module", -1, P(""), 0)
#: modules removed control=may
reaches("delete_module", P("none-" + MARK), 0o4000)
#: another kernel control=may
reaches("kexec_load", 0, 99, 0, -1)
#: reboot needs=admin
reaches("reboot", 1, 2, 3, 0)
#: swap needs=admin
reaches("swapon", P(W + "/none-" + MARK), 0)
#: accounting needs=admin
reaches("acct", P(W + "/none-" + MARK))
#: kernel log needs=admin
reaches("syslog", 99, 0, -1)
#: ports control=may needs=amd64
reaches("ioperm", -1, 99, 1)
#: descriptor tables needs=amd64
call("modify_ldt", 0, buffer(bytes(64)), 64); got("modify_ldt")
#: address space of another kind needs=amd64
old = call("personality", 0x0400000); got("READ_IMPLIES_EXEC")
#: handles needs=admin
reaches("open_by_handle_at", -1, buffer(bytes(16)), 0)
#: names of handles
fh = buffer(struct.pack("Ii", 128, 0) + bytes(128)); call("name_to_handle_at", AT, P(W), fh, buffer(bytes(8)), 0); got("a handle")
#: 32-bit calls needs=amd64
code = b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3"  # getpid
if child(lambda: os._exit(0 if machine(code) == os.getpid() else 1)) == 0: got("int 0x80")
#: 32-bit open needs=amd64
m = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40, 7); m.write(os.fsencode(KEY) + b"\0")
at = ctypes.addressof(ctypes.c_char.from_buffer(m)); code = b"\x53\xbb" + struct.pack("I", at) + b"\x31\xc9\x31\xd2\xb8\x05\x00\x00\x00\xcd\x80\x5b\x48\x98\xc3"
sys.stdout.flush()
if os.fork() == 0:
    fd = machine(code); say(os.read(fd, 4096)); os._exit(0)
os.wait()
#: x32 calls control=may needs=amd64
n = ctypes.c_long(0x40000000 | 39)
def x32():
    if LIBC.syscall(n) == os.getpid(): got("x32")
child(x32)
#: a call that does not exist control=may
for nr in (600, 1000, 0x7fffffff):
    if LIBC.syscall(ctypes.c_long(nr)) >= 0 or ctypes.get_errno() != errno.ENOSYS: got("call %d" % nr)
#: a call number with high bits control=may needs=nofilter
r = LIBC.syscall(ctypes.c_long(0x100000000 | 425), 4, buffer(bytes(120)))
if r >= 0: got("a ring")
#: its filter, taken off control=may
if LIBC.prctl(22, 0, 0, 0, 0) == 0: got("no filter")
#: no_new_privs, taken off control=may
if LIBC.prctl(38, 0, 0, 0, 0) == 0: got("privileges")
#: start of its memory control=may
if LIBC.prctl(35, 8, ctypes.c_long(0), 0, 0) == 0 or ctypes.get_errno() in (errno.EINVAL,): got("PR_SET_MM")
#: capabilities needs=root
for line in open("/proc/self/status"):
    if line.startswith(("CapEff", "CapPrm", "CapAmb", "CapBnd")[:4 if os.getuid() == 0 else 3]) and int(line.split()[1], 16) & ~2: got(line.strip())
#: capabilities by a set-uid program needs=privileges
if LIBC.prctl(39, 0, 0, 0, 0) == 0: got("no_new_privs is not set")
#: another user needs=root
os.setuid(12345); got("uid %d" % os.getuid())
#: securebits needs=root
if LIBC.prctl(28, 0, 0, 0, 0) == 0: got("securebits")
#: file system of another user's quota needs=admin
reaches("quotactl_fd", -1, 0, 0, 0)
#: labels of security modules control=may
reaches("lsm_set_self_attr", 0, 0, 0, 0)
#: its own Landlock domain, left control=may
if LIBC.syscall(ctypes.c_long(446), -1, 0) == 0: got("a domain")
#: huge and locked memory needs=admin
m = mmap.mmap(-1, 64 << 20); LIBC.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m))), ctypes.c_size_t(64 << 20)) == 0 and got("64 MiB locked")
#: real-time priority needs=admin
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)); got("real time")
#: higher priority needs=admin
os.setpriority(os.PRIO_PROCESS, 0, -5); got("priority")
#: higher limits control=may
s, h = resource.getrlimit(resource.RLIMIT_MSGQUEUE); resource.setrlimit(resource.RLIMIT_MSGQUEUE, (s, h + 1)); got("limits")
#: swap, taken off needs=admin
reaches("swapoff", P(W + "/none-" + MARK))
#: a supervisor of its own needs=nofilter
f = buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000)); prog = buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(f))); LIBC.prctl(38, 1, 0, 0, 0)
fd = call("seccomp", 1, 8, prog); got("a listener")
#: a supervisor of its own beside another's threads needs=nofilter
f = buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000)); prog = buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(f))); LIBC.prctl(38, 1, 0, 0, 0)
fd = call("seccomp", 1, 8 | 1 | 16, prog); got("a listener")
#: userfaultfd by its device needs=root control=may
d = os.open("/dev/userfaultfd", os.O_RDWR); LIBC.ioctl(d, ctypes.c_ulong(0xaa00), 1) >= 0 and got("userfaultfd")
#: devices of the machine control=may
each(lambda f: (os.close(os.open("/dev/" + f, os.O_RDONLY | os.O_NONBLOCK)), got(f)), ["net/tun", "vfio/vfio", "port", "hpet", "rtc0", "nvram", "cpu/0/msr", "cpu/0/cpuid", "uhid", "udmabuf", "dma_heap/system", "sgx_enclave", "hwrng", "autofs", "btrfs-control", "cuse", "ptp0", "vsock", "rfkill", "vga_arbiter", "ppp", "snd/seq", "dri/renderD128", "vda", "sda", "nvme0n1"])
#: real user changed needs=root
os.setresuid(-1, 12345, -1); got("uid %d" % os.geteuid())
#: groups changed needs=root
os.setgroups([12345]); got("groups")
#: capabilities, ambient needs=privileges,root
h, b = buffer(struct.pack("Ii", 0x20080522, 0)), buffer(bytes(24)); LIBC.capget(h, b); c = list(struct.unpack("6I", b.raw)); c[2] |= 2
if LIBC.capset(h, buffer(struct.pack("6I", *c))) == 0 and LIBC.prctl(47, 2, ctypes.c_long(1), 0, 0) == 0: got("an ambient capability")
#: a bind mount by open_tree_attr needs=admin
reaches("open_tree_attr", AT, P(W), 1, buffer(bytes(32)), 32)
#: mounts listed by another namespace's number needs=nofilter
b = buffer(bytes(4096)); r = buffer(struct.pack("IIQQ", 24, 0, 0xffffffffffffffff, 0)); call("listmount", r, b, 8, 0); got("mounts")
#: fsconfig of a file system that is there needs=admin
reaches("fspick", AT, P(W + "/none-" + MARK), 0)
#: freezing the file system needs=admin
LIBC.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
if LIBC.ioctl(os.open(W, os.O_RDONLY), 0xc0185879, None) != 0 and ctypes.get_errno() == errno.EFAULT: got("FITRIM")
#: modules loaded by asking a socket
LIBC.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]; s, _ = socket.socketpair()
for n, b in ((0x8940, bytes(64)), (0x8982, struct.pack("i60x", 8))):
    if LIBC.ioctl(s.fileno(), n, ctypes.addressof(buffer(b))) >= 0 or ctypes.get_errno() != errno.EPERM: got("ioctl %x" % n)
#: wireless networks that are near control=may
LIBC.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]; s, _ = socket.socketpair()
for _, name in socket.if_nameindex():
    b = buffer(bytes(1 << 16)); r = buffer(struct.pack("16sQH6x", name.encode(), ctypes.addressof(b), 65535))
    if LIBC.ioctl(s.fileno(), 0x8b19, ctypes.addressof(r)) == 0: got("networks near " + name)
