#: kill
os.kill(VICTIM, signal.SIGKILL)
#: stop
os.kill(VICTIM, signal.SIGSTOP)
#: tkill
call("tkill", VICTIM, signal.SIGKILL)
#: tgkill
call("tgkill", VICTIM, VICTIM, signal.SIGKILL)
#: queued signal
call("rt_sigqueueinfo", VICTIM, signal.SIGTERM, buffer(struct.pack("iii", signal.SIGTERM, 0, -1) + bytes(116)))
#: queued signal to a thread
call("rt_tgsigqueueinfo", VICTIM, VICTIM, signal.SIGTERM, buffer(struct.pack("iii", signal.SIGTERM, 0, -1) + bytes(116)))
#: signal by pidfd
call("pidfd_send_signal", call("pidfd_open", VICTIM, 0), signal.SIGKILL, 0, 0)
#: signal by a /proc descriptor
call("pidfd_send_signal", os.open("/proc/%d" % VICTIM, os.O_RDONLY), signal.SIGKILL, 0, 0)
#: signal to its group
os.kill(-VICTIM, signal.SIGKILL)
#: signal by F_SETOWN
r, w = socket.socketpair(); fcntl.fcntl(r, fcntl.F_SETOWN, VICTIM); fcntl.fcntl(r, 10, signal.SIGTERM); fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC); w.send(b"x"); time.sleep(.05)
#: signal by FIOSETOWN
r, w = socket.socketpair(); fcntl.ioctl(r, 0x8901, struct.pack("i", VICTIM)); fcntl.fcntl(r, 10, signal.SIGTERM); fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC); w.send(b"x"); time.sleep(.05)
#: signal by F_NOTIFY
d = os.open(W, os.O_RDONLY); fcntl.fcntl(d, fcntl.F_SETOWN, VICTIM); fcntl.fcntl(d, 10, signal.SIGTERM); fcntl.fcntl(d, 1026, 4); put(W + "/noticed"); time.sleep(.05)
#: which signal a descriptor shared with the caller sends
fcntl.fcntl(0, 10, signal.SIGKILL); got("to choose it")
#: signal to the parent
os.kill(os.getppid(), 0)
# The first process of a namespace has of those in it only signals that it catches.
if os.getppid() != 1 or "SigCgt:\t0000000000000000\n" not in open("/proc/1/status").read(): got("a way to signal its parent")
#: ptrace, attached
call("ptrace", 16, VICTIM, 0, 0); got("attached")
#: ptrace, seized
call("ptrace", 0x4206, VICTIM, 0, 0); got("seized")
#: memory by /proc
d = os.open("/proc/%d/mem" % VICTIM, os.O_RDONLY); say(os.pread(d, 64, VICTIM_AT))
#: memory by /proc, written
d = os.open("/proc/%d/mem" % VICTIM, os.O_RDWR); os.pwrite(d, MARK.encode(), VICTIM_AT)
#: memory by process_vm_readv
b = buffer(bytes(64)); call("process_vm_readv", VICTIM, buffer(struct.pack("QQ", ctypes.addressof(b), 64)), 1, buffer(struct.pack("QQ", VICTIM_AT, 64)), 1, 0); say(b.raw)
#: memory by process_vm_writev
b = buffer(MARK.encode()); call("process_vm_writev", VICTIM, buffer(struct.pack("QQ", ctypes.addressof(b), len(b))), 1, buffer(struct.pack("QQ", VICTIM_AT, len(b))), 1, 0)
#: memory map
cat("/proc/%d/maps" % VICTIM); got("the memory map")
#: kernel stack, calls and counters of another process needs=root
cat("/proc/%d/syscall" % VICTIM); got("its system call")
#: comparing descriptors needs=nofilter
call("kcmp", os.getpid(), VICTIM, 0, 0, 0); got("a comparison")
#: priority
os.setpriority(os.PRIO_PROCESS, VICTIM, 19)
#: priority of its group
os.setpriority(os.PRIO_PGRP, VICTIM, 19)
#: affinity needs=processors
os.sched_setaffinity(VICTIM, {min(os.sched_getaffinity(0))})
#: scheduler
os.sched_setscheduler(VICTIM, os.SCHED_IDLE, os.sched_param(0))
#: scheduler attributes
call("sched_setattr", VICTIM, buffer(struct.pack("IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0)), 0)
#: priority of input and output
call("ioprio_set", 1, VICTIM, 3 << 13)
#: limits
resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (16, 16))
#: limits, read
resource.prlimit(VICTIM, resource.RLIMIT_NOFILE); got("its limits")
#: choice by the memory killer
with open("/proc/%d/oom_score_adj" % VICTIM, "w") as f: f.write("1000")
#: memory advice needs=nofilter,root
call("process_madvise", call("pidfd_open", VICTIM, 0), buffer(struct.pack("QQ", VICTIM_AT & ~4095, 4096)), 1, 20, 0); got("advice")
#: pages moved
call("migrate_pages", VICTIM, 8, buffer(bytes(8)), buffer(b"\1" + bytes(7))); got("pages")
#: coredump filter of another process
with open("/proc/%d/coredump_filter" % VICTIM, "w") as f: f.write("0x7f")
#: slack of its timers needs=admin
with open("/proc/%d/timerslack_ns" % VICTIM, "w") as f: f.write("60000")
#: command line limit=proc.cmdline
cat("/proc/%d/cmdline" % VICTIM)
#: command lines of all victim limit=proc.cmdline
each(lambda p: cat("/proc/%d/cmdline" % p), pids())
#: list of processes limit=proc.cmdline
say(os.path.exists("/proc/%d/stat" % VICTIM)); cat("/proc/%d/comm" % VICTIM); got("a process outside")
#: waiting for another process limit=proc.cmdline
f = call("pidfd_open", VICTIM, 0); got("a descriptor of a process outside")
#: its namespaces
d = os.open("/proc/%d/ns/mnt" % VICTIM, os.O_RDONLY); got("a namespace")
#: its namespaces, entered needs=admin,namespaces
d = os.open("/proc/%d/ns/uts" % VICTIM, os.O_RDONLY); call("setns", d, 0); got("a namespace")
#: SysV shared memory limit=ipc.shm
m = call("shmget", SYSV, 0, 0); LIBC.shmat.restype = ctypes.c_void_p; say(ctypes.string_at(LIBC.shmat(m, 0, 0o10000), 64))
#: SysV messages limit=ipc.shm
m = call("msgget", SYSV, 0); b = buffer(bytes(108)); call("msgrcv", m, b, 100, 0, 0o4000); say(b.raw)
#: SysV semaphores limit=ipc.shm
m = call("semget", SYSV, 1, 0); call("semctl", m, 0, 16, 7)
#: POSIX shared memory limit=ipc.shm
cat(SHM)
#: POSIX messages limit=ipc.shm
d = call("mq_open", P("canary-" + ABSTRACT), os.O_RDONLY | os.O_NONBLOCK, 0, 0); got("a message queue")
#: daemon
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for d in range(3): os.close(d)
        os.execv("/bin/sleep", ["sleep", "600"])
    os._exit(0)
os.wait()
#: daemon that ignores signals
if os.fork() == 0:
    os.setsid()
    for s in (1, 2, 3, 13, 15): signal.signal(s, signal.SIG_IGN)
    for d in range(3): os.close(d)
    if os.fork() == 0: time.sleep(600)
    os._exit(0)
os.wait()
#: daemon that keeps forking
if os.fork() == 0:
    os.setsid()
    for d in range(3): os.close(d)
    end = time.time() + 2
    while time.time() < end:
        if os.fork(): os._exit(0)
        os.setsid(); time.sleep(.001)
    time.sleep(600)
#: daemon by clone_parent
if LIBC.syscall(ctypes.c_long(NR["clone"][0 if X86 else 1]), ctypes.c_long(0x8000 | 17), 0, 0, 0, 0) == 0:
    for d in range(3): os.close(d)
    os.setsid(); time.sleep(600)
#: daemon, stopped
if os.fork() == 0:
    os.setsid()
    for d in range(3): os.close(d)
    os.kill(os.getpid(), signal.SIGSTOP); time.sleep(600)
#: crash of the launcher's supervisor by odd arguments
for name in ("mkdirat", "linkat", "renameat2", "unlinkat", "fchmodat", "utimensat", "setxattr", "truncate", "mknodat"):
    if name in NR:
        for a in (0, 1, -1, 0x7fffffffffff, 0xffffffffff600000): LIBC.syscall(ctypes.c_long(NR[name][0 if X86 else 1]), ctypes.c_long(AT), ctypes.c_long(a), ctypes.c_long(a), ctypes.c_long(a), ctypes.c_long(a))
put(O + "/new"); put(".mcp.json")
#: its list of locks
a, b = ctypes.c_void_p(), ctypes.c_size_t(); call("get_robust_list", VICTIM, ctypes.byref(a), ctypes.byref(b)); got("its list of locks")
#: joining its group
os.setpgid(0, VICTIM); got("its process group")
#: joining its group, then a signal to it
os.setpgid(0, VICTIM); os.kill(0, signal.SIGUSR1)
#: a child moved into its group
r, w = os.pipe(); pid = os.fork()
if pid == 0: os.read(r, 1); os._exit(0)
try: os.setpgid(pid, VICTIM); got("its process group")
finally: os.write(w, b"x")
#: the terminal's signal to another job tty
BYSTANDER, others = True, []
def look(p):
    f = open("/proc/%d/stat" % p).read().rsplit(")", 1)[1].split()
    if int(f[3]) == os.getsid(0) and int(f[2]) not in (os.getpgrp(), os.getsid(0)): others.append(int(f[2]))
each(look, pids())
os.setpgid(0, others[0]); signal.signal(signal.SIGTTIN, signal.SIG_IGN)
pid = os.fork()
if pid == 0: signal.signal(signal.SIGTTIN, signal.SIG_DFL); os.read(0, 1)
os.waitpid(pid, os.WUNTRACED); time.sleep(.3)
#: signal by F_SETOWN_EX
r, w = socket.socketpair(); fcntl.fcntl(r, 15, struct.pack("ii", 1, VICTIM)); fcntl.fcntl(r, 10, signal.SIGTERM); fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC); w.send(b"x"); time.sleep(.05)
#: signal by F_SETOWN to its group
r, w = socket.socketpair(); fcntl.fcntl(r, fcntl.F_SETOWN, -VICTIM); fcntl.fcntl(r, 10, signal.SIGTERM); fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC); w.send(b"x"); time.sleep(.05)
#: signal by SIOCSPGRP
r, w = socket.socketpair(); fcntl.ioctl(r, 0x8902, struct.pack("i", VICTIM)); fcntl.fcntl(r, 10, signal.SIGTERM); fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC); w.send(b"x"); time.sleep(.05)
#: signal by F_NOTIFY of a directory
d = os.open(".", os.O_RDONLY); fcntl.fcntl(d, fcntl.F_SETOWN, VICTIM); fcntl.fcntl(d, 10, signal.SIGTERM); fcntl.fcntl(d, 1026, 4); put("n"); time.sleep(.05)
#: signal by a lease
put("n"); d = os.open("n", os.O_RDONLY); fcntl.fcntl(d, 1024, 0); fcntl.fcntl(d, fcntl.F_SETOWN, VICTIM); fcntl.fcntl(d, 10, signal.SIGTERM)
if os.fork() == 0: os.open("n", os.O_WRONLY | os.O_NONBLOCK); os._exit(0)
os.wait()
#: signal by pidfd to its group
call("pidfd_send_signal", call("pidfd_open", VICTIM, 0), signal.SIGKILL, 0, 4)
#: signal by pidfd, its thread
call("pidfd_send_signal", call("pidfd_open", VICTIM, 0o200), signal.SIGKILL, 0, 1)
#: signal of a timer to its thread control=may
t = ctypes.c_int(); call("timer_create", 1, buffer(struct.pack("QiiI", 0, signal.SIGTERM, 4, VICTIM) + bytes(44)), ctypes.byref(t)); got("a timer")
#: core scheduling with it control=may
if LIBC.prctl(62, ctypes.c_long(2), VICTIM, 1, 0) == 0: got("a cookie")
#: its namespaces, by ioctl of a pidfd
f = call("pidfd_open", VICTIM, 0)
for n in range(1, 11):
    d = LIBC.ioctl(f, ctypes.c_ulong(0xff00 | n), 0)
    if d >= 0: got("namespace %d" % n)
#: ended memory of it
reaches("process_mrelease", call("pidfd_open", VICTIM, 0), 0)
#: processor time of it limit=proc.cmdline
call("clock_gettime", (~VICTIM << 3) | 2, buffer(bytes(16))); got("its processor time")
#: its session and group limit=proc.cmdline
os.getsid(VICTIM); os.getpgid(VICTIM); got("a process outside")
#: its scheduling, read limit=proc.cmdline
os.sched_getaffinity(VICTIM); os.getpriority(os.PRIO_PROCESS, VICTIM); call("ioprio_get", 1, VICTIM); got("a process outside")
#: priority of input and output of its group
call("ioprio_set", 2, VICTIM, 3 << 13)
#: its parent, seized
call("ptrace", 0x4206, os.getppid(), 0, 0); got("its parent")
#: its parent's memory
each(lambda p: (os.open("/proc/%d/mem" % p, os.O_RDWR), got("the memory of %d" % p)), [os.getppid(), 1])
#: its parent's limits
resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (16, 16)); got("its parent's limits")
#: its parent's descriptors
each(lambda p: each(lambda n: (os.open("/proc/%d/fd/%s" % (p, n), os.O_RDONLY | os.O_NONBLOCK), got("a descriptor")), os.listdir("/proc/%d/fd" % p)), [os.getppid(), 1])
