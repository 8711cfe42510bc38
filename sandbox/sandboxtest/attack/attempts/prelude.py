# What every attempt starts with. The suite writes the places above: HOME, the
# user's home; W, the workspace in it and current directory; O, a directory
# beside it that nobody granted; SKILL; TMP, a directory of another program in
# /tmp; SHM, a file of another program in /dev/shm; TCP, UDP, TCP6, SOCK, DGRAM,
# ABSTRACT, SEQ, where somebody listens; MARK, a word that is looked for outside;
# VICTIM, a process of the same user, started where the name is used; where
# BYSTANDER is, the terminal has another job in the background.
import array, ctypes, errno, fcntl, mmap, os, platform, resource, select, signal, socket, stat, struct, subprocess, sys, threading, time

X86 = platform.machine() == "x86_64"
KEY = HOME + "/.ssh/id_ed25519"
LIBC = ctypes.CDLL(None, use_errno=True)
AT = -100
NR = dict(
    open=(2, -1), stat=(4, -1), access=(21, -1), pipe=(22, -1), creat=(85, -1), chmod=(90, -1), utime=(132, -1), utimes=(235, -1), futimesat=(261, -1), mknod=(133, -1),
    fork=(57, -1), vfork=(58, -1), execve=(59, 221), kill=(62, 129), ptrace=(101, 117), syslog=(103, 116), setsid=(112, 157), personality=(135, 92), mlockall=(151, 230),
    modify_ldt=(154, -1), pivot_root=(155, 41), chroot=(161, 51), acct=(163, 89), settimeofday=(164, 170), mount=(165, 40), umount2=(166, 39), swapon=(167, 224), swapoff=(168, 225),
    reboot=(169, 142), sethostname=(170, 161), setdomainname=(171, 162), iopl=(172, -1), ioperm=(173, -1), init_module=(175, 105), delete_module=(176, 106), quotactl=(179, 60),
    tkill=(200, 130), setxattr=(188, 5), lsetxattr=(189, 6), fsetxattr=(190, 7), removexattr=(197, 14), lookup_dcookie=(212, 18), clock_settime=(227, 112), clock_adjtime=(305, 266), adjtimex=(159, 171),
    tgkill=(234, 131), mq_open=(240, 180), kexec_load=(246, 104), add_key=(248, 217), request_key=(249, 218), keyctl=(250, 219), ioprio_set=(251, 30), migrate_pages=(256, 238),
    mknodat=(259, 33), unlinkat=(263, 35), renameat2=(316, 276), linkat=(265, 37), fchmodat=(268, 53), unshare=(272, 97), splice=(275, 76), vmsplice=(278, 75), move_pages=(279, 239),
    utimensat=(280, 88), fallocate=(285, 47), rt_sigqueueinfo=(129, 138), rt_tgsigqueueinfo=(297, 240), perf_event_open=(298, 241), fanotify_init=(300, 262), prlimit64=(302, 261),
    name_to_handle_at=(303, 264), open_by_handle_at=(304, 265), setns=(308, 268), process_vm_readv=(310, 270), process_vm_writev=(311, 271), kcmp=(312, 272), finit_module=(313, 273),
    sched_setattr=(314, 274), seccomp=(317, 277), memfd_create=(319, 279), kexec_file_load=(320, 294), bpf=(321, 280), execveat=(322, 281), userfaultfd=(323, 282),
    pidfd_send_signal=(424, 424), io_uring_setup=(425, 425), io_uring_enter=(426, 426), io_uring_register=(427, 427), open_tree=(428, 428), move_mount=(429, 429), fsopen=(430, 430), fsconfig=(431, 431),
    fsmount=(432, 432), fspick=(433, 433), pidfd_open=(434, 434), clone3=(435, 435), close_range=(436, 436), openat2=(437, 437), pidfd_getfd=(438, 438), process_madvise=(440, 440),
    mount_setattr=(442, 442), quotactl_fd=(443, 443), process_mrelease=(448, 448), memfd_secret=(447, 447), fchmodat2=(452, 452), statmount=(457, 457), listmount=(458, 458),
    lsm_set_self_attr=(460, 460), setxattrat=(463, 463), removexattrat=(466, 466), open_tree_attr=(467, 467), file_setattr=(469, 469),
    socket=(41, 198), socketcall=(-1, -1), sendto=(44, 206), sendmsg=(46, 211), shmget=(29, 194), shmat=(30, 196), shmctl=(31, 195), msgget=(68, 186), msgrcv=(70, 188), msgctl=(71, 187), semget=(64, 190), semctl=(66, 191),
    get_robust_list=(274, 100), fchownat=(260, 54), clock_gettime=(228, 113), getpgid=(121, 155), sched_getattr=(315, 275), ioprio_get=(252, 31), setpgid=(109, 154), timer_create=(222, 107), prctl=(157, 167), openat=(257, 56), io_setup=(206, 0), io_submit=(209, 2), landlock_create_ruleset=(444, 444), landlock_restrict_self=(446, 446),
    clone=(56, 220), setpriority=(141, 140), sched_setaffinity=(203, 122), sched_setscheduler=(144, 119), truncate=(76, 45), mmap=(9, 222), ioctl=(16, 29), waitid=(247, 95),
)

def P(path):
    return ctypes.c_char_p(os.fsencode(path))

def call(name, *args):
    nr = NR[name][0 if X86 else 1]
    r = LIBC.syscall(ctypes.c_long(nr), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if r < 0:
        raise OSError(ctypes.get_errno(), name)
    return r

def say(*words):
    for w in words:
        sys.stdout.buffer.write(w if isinstance(w, bytes) else str(w).encode(errors="replace"))
        sys.stdout.buffer.write(b"\n")
    sys.stdout.flush()

# got says that something succeeded whose effect nobody sees from outside.
def got(what="it"):
    say("GOT " + what)

# reaches: the kernel looked at the arguments, which are wrong on purpose, so
# that nothing happens; who is refused does not get so far.
def reaches(name, *args):
    try:
        call(name, *args)
        got(name)
    except OSError as e:
        if e.errno not in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            got("%s: %s" % (name, errno.errorcode[e.errno]))

# ask has the suite do something outside, while this runs.
def ask(*words):
    say("ASK " + "\t".join(words))
    sys.stdin.readline()

def cat(path):
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    say(os.read(fd, 1 << 16))
    os.close(fd)

def put(path, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o644, **kw):
    fd = os.open(path, flags, mode, **kw)
    os.write(fd, MARK.encode() + b"\n")
    os.close(fd)

def run(*argv, **kw):
    say(subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kw).stdout)

def sh(script):
    run("/bin/sh", "-c", script)

# child does something in a process of its own and waits for it.
def child(do):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            do()
            os._exit(0)
        except BaseException as e:
            say(repr(e))
            os._exit(1)
    return os.waitpid(pid, 0)[1]

def newns(flags):
    call("unshare", flags)
    if flags & 0x20000:
        try:
            call("mount", 0, P("/"), 0, 0x44000, 0)
        except OSError:
            pass

# userns makes the caller root of a user namespace, if it has to.
def userns(flags):
    uid, gid = os.getuid(), os.getgid()
    if uid != 0:
        call("unshare", 0x10000000)
        for name, text in ("setgroups", "deny"), ("uid_map", "0 %d 1" % uid), ("gid_map", "0 %d 1" % gid):
            with open("/proc/self/" + name, "w") as f:
                f.write(text)
    newns(flags)

def tcp(address, data=None, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(5)
        s.connect(address)
        s.sendall((data or MARK).encode())

def unix(path, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind)
    s.settimeout(5)
    s.connect(path)
    s.send(MARK.encode())
    return s

def fds():
    return [int(n) for n in os.listdir("/proc/self/fd") if int(n) > 2]

def pids():
    return [int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) != os.getpid()]

# each does something with everything, and minds no refusal.
def each(do, things):
    for t in things:
        try:
            do(t)
        except OSError:
            pass

# machine runs machine code, amd64's, which ends with ret.
def machine(code):
    m = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
    m.write(code)
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    return ctypes.CFUNCTYPE(ctypes.c_long)(at)()

def buffer(data):
    return ctypes.create_string_buffer(bytes(data), len(data))

say("BEGUN") # or nothing was tried
