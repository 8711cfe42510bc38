package linux

import "slices"

// CallRules is the list of system calls that a run may make at all; whatever it
// does not name answers ENOSYS, so that a program built for a newer kernel falls
// back as it would on an older one. A row with conditions applies only where
// they hold; a call that has such rows and meets none of them answers ENOSYS
// too.
//
// To extend: find the row whose reason fits, or add one with its own; add the
// number to [NewCalls] if the recorded libseccomp does not know the name; give a
// line in seccomp_test.go that says what is expected, without looking here; run
// "go generate ./linux/..." and commit what it writes. Before allowing a call
// ask: does it take a path, a process id or an address that Landlock does not
// check, does it hand over a descriptor, does it do another call's work? Each is
// a way around a filter, and belongs into [NotifyRules] or stays refused.
func CallRules() []SyscallRule {
	return []SyscallRule{
		{Action: Allow, Calls: "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek " +
			"close close_range dup dup2 dup3 pipe pipe2 fsync fdatasync sync syncfs sync_file_range ftruncate " +
			"fallocate fadvise64 readahead cachestat copy_file_range sendfile splice tee vmsplice flock fcntl ioctl",
			Reason: "work on descriptors that are already open; the opening was checked"},
		{Action: Allow, Calls: "open openat openat2 creat stat lstat fstat newfstatat statx access faccessat faccessat2 " +
			"readlink readlinkat getdents getdents64 getcwd chdir fchdir statfs fstatfs umask truncate",
			Reason: "files by name: Landlock decides about opening; stat is a should-line of the receipt"},
		{Action: Allow, Calls: "mkdir mkdirat rename renameat renameat2 link linkat symlink symlinkat unlink unlinkat rmdir",
			Reason: "names: Landlock decides, and the supervisor where it cannot tell"},
		{Action: Allow, Calls: "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat " +
			"setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat",
			Reason: "metadata, which Landlock does not see: the supervisor decides (NotifyMetadata)"},
		{Action: Allow, Calls: "getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr flistxattr listxattrat file_getattr",
			Reason: "reading metadata, like stat"},
		{Action: Allow, Calls: "mmap munmap mprotect pkey_mprotect pkey_alloc pkey_free mremap madvise mincore msync brk " +
			"mlock mlock2 munlock mlockall munlockall membarrier mseal map_shadow_stack " +
			"mbind set_mempolicy get_mempolicy set_mempolicy_home_node",
			Reason: "the caller's own memory, and on which NUMA node it lies"},
		{Action: Allow, Calls: "execve execveat exit exit_group wait4 waitid fork vfork getpid getppid gettid set_tid_address " +
			"setsid getsid setpgid getpgid getpgrp getrusage times sysinfo uname getcpu restart_syscall",
			Reason: "processes; what may be executed is Landlock's"},
		{Action: Allow, Calls: "arch_prctl prctl set_robust_list get_robust_list futex futex_waitv futex_wake futex_wait futex_requeue " +
			"rseq rseq_slice_yield uretprobe uprobe",
			Reason: "threads and their locks; uprobe and uretprobe are made by the kernel's own trampolines and fail elsewhere"},
		{Action: Allow, Calls: "getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid " +
			"setresuid setresgid setfsuid setfsgid setgroups capget capset",
			Reason: "identity: without capabilities these only give up or confirm what the process is (tar, git, apt call them)"},
		{Action: Allow, Calls: "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self",
			Reason: "a sandbox inside the sandbox can only take rights away; by Landlock none of those that the supervisor exercises for it"},
		{Action: Allow, Calls: "ptrace",
			Reason: "gdb, strace, rr, LeakSanitizer on the run's own processes: Landlock refuses any tracee outside the run's " +
				"domain (every ABI), and since kernel 4.8 a call that a tracer changed is filtered again"},
		{Action: Allow, Calls: "getrlimit setrlimit prlimit64 getpriority setpriority ioprio_get ioprio_set sched_yield " +
			"sched_getparam sched_setparam sched_getscheduler sched_setscheduler sched_getattr sched_setattr " +
			"sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_getaffinity sched_setaffinity",
			Reason: "limits and scheduling; libc names its own threads by id here, so the filter cannot tell them from the " +
				"user's other processes: the supervisor can"},
		{Action: Allow, Calls: "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal",
			Reason: "signals: Landlock scopes them from ABI 6, the supervisor below it (NotifyKill)"},
		{Action: Allow, Calls: "rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigsuspend rt_sigreturn sigaltstack " +
			"signalfd signalfd4 pause alarm getitimer setitimer",
			Reason: "receiving signals"},
		{Action: Allow, Calls: "nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time timer_create timer_settime " +
			"timer_gettime timer_getoverrun timer_delete timerfd_create timerfd_settime timerfd_gettime",
			Reason: "reading the time, timers"},
		{Action: Allow, Calls: "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 " +
			"eventfd eventfd2 inotify_init inotify_init1 inotify_add_watch inotify_rm_watch",
			Reason: "waiting; inotify tells names of files that stat would tell too"},
		{Action: Allow, Calls: "shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl",
			Reason: "SysV IPC (PostgreSQL, some test suites); private only with an IPC namespace, a should-line"},
		{Action: Allow, Calls: "getrandom", Reason: "randomness"},
		{Action: Allow, Calls: "connect bind listen accept accept4 getsockname getpeername getsockopt setsockopt shutdown " +
			"sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg",
			Reason: "work on sockets; which sockets there are is decided below"},

		// Sockets: what is listed and nothing else, compared as the kernel does,
		// on the low 32 bits, the type without SOCK_NONBLOCK and SOCK_CLOEXEC.
		{Action: Allow, Calls: "socket", When: socketOf(afUnix, sockStream, 0), Reason: "unix sockets"},
		{Action: Allow, Calls: "socket", When: socketOf(afUnix, sockDgram, 0), Reason: "unix sockets (syslog, asyncio)"},
		{Action: Allow, Calls: "socket", When: socketOf(afUnix, sockSeqpacket, 0), Reason: "unix sockets that keep message borders"},
		{Action: Allow, Calls: "socket", When: socketOf(afInet, sockStream, 0), Reason: "TCP"},
		{Action: Allow, Calls: "socket", When: socketOf(afInet, sockStream, protoTCP), Reason: "TCP"},
		{Action: Allow, Calls: "socket", When: socketOf(afInet, sockDgram, 0), Reason: "UDP"},
		{Action: Allow, Calls: "socket", When: socketOf(afInet, sockDgram, protoUDP), Reason: "UDP"},
		{Action: Allow, Calls: "socket", When: socketOf(afInet6, sockStream, 0), Reason: "TCP"},
		{Action: Allow, Calls: "socket", When: socketOf(afInet6, sockStream, protoTCP), Reason: "TCP"},
		{Action: Allow, Calls: "socket", When: socketOf(afInet6, sockDgram, 0), Reason: "UDP"},
		{Action: Allow, Calls: "socket", When: socketOf(afInet6, sockDgram, protoUDP), Reason: "UDP"},
		{Action: Allow, Calls: "socket", When: socketOf(afNetlink, sockRaw, 0),
			Reason: "NETLINK_ROUTE: getifaddrs and getaddrinfo (node's os.networkInterfaces, Go's net.Interfaces); changes need " +
				"CAP_NET_ADMIN; refused with the internet (NoInternet), since it tells addresses, routes and neighbours"},
		{Action: Allow, Calls: "socket", When: socketOf(afNetlink, sockDgram, 0), Reason: "NETLINK_ROUTE, the other spelling"},
		{Action: Errno, Errno: eprotonosupport, Calls: "socket", When: socketOf(afNetlink, sockRaw, protoAudit),
			Reason: "NETLINK_AUDIT: the error by which PAM and others see that there is no auditing"},
		{Action: Errno, Errno: eafnosupport, Calls: "socket", When: family(afPacket), Reason: "raw frames"},
		{Action: Errno, Errno: eafnosupport, Calls: "socket", When: family(afVsock), Reason: "the way to the host of a virtual machine"},
		{Action: Errno, Errno: eafnosupport, Calls: "socket", When: family(afAlg), Reason: "kernel crypto, a wide surface"},
		{Action: Errno, Errno: eafnosupport, Calls: "socket", When: family(afBluetooth), Reason: "devices nearby"},
		{Action: Errno, Errno: eprotonosupport, Calls: "socket", When: socketOf(afInet, sockStream, protoMPTCP),
			Reason: "Landlock's TCP rules do not see MPTCP; callers fall back to TCP"},
		{Action: Errno, Errno: eprotonosupport, Calls: "socket", When: socketOf(afInet6, sockStream, protoMPTCP),
			Reason: "Landlock's TCP rules do not see MPTCP; callers fall back to TCP"},
		{Action: Errno, Errno: eacces, Calls: "socket", When: socketOf(afInet, sockDgram, protoICMP), Reason: "ping sockets"},
		{Action: Errno, Errno: eacces, Calls: "socket", When: socketOf(afInet6, sockDgram, protoICMPv6), Reason: "ping sockets"},
		{Action: Errno, Errno: eperm, Calls: "socket", When: rawSocketOf(afInet), Reason: "raw packets"},
		{Action: Errno, Errno: eperm, Calls: "socket", When: rawSocketOf(afInet6), Reason: "raw packets"},
		{Action: Allow, Calls: "socketpair", When: family(afUnix), Reason: "pairs of streams reach nobody else, and those of datagrams are refused; node and Python live on them"},

		// Calls that are harmless or not by their arguments.
		{Action: Allow, Calls: "clone", When: masked(0, cloneNamespaces, 0), Reason: "threads and processes"},
		{Action: Errno, Errno: eperm, Calls: "clone", When: anyBit(0, cloneNamespaces),
			Reason: "a user namespace gives capabilities in it, and with them mounts and most kernel bugs"},
		{Action: Allow, Calls: "unshare", When: masked(0, cloneNamespaces|cloneNewTime, 0), Reason: "private descriptor table or cwd"},
		{Action: Errno, Errno: eperm, Calls: "unshare", When: anyBit(0, cloneNamespaces|cloneNewTime), Reason: "namespaces, as with clone"},
		{Action: Errno, Errno: enosys, Calls: "clone3",
			Reason: "its flags lie behind a pointer; libc falls back to clone on ENOSYS"},
		{Action: Allow, Calls: "mknod", When: masked(1, sIFMT, 0), Reason: "a regular file"},
		{Action: Allow, Calls: "mknod", When: masked(1, sIFMT, sIFREG), Reason: "a regular file"},
		{Action: Allow, Calls: "mknod", When: masked(1, sIFMT, sIFIFO), Reason: "a named pipe"},
		{Action: Allow, Calls: "mknod", When: masked(1, sIFMT, sIFSOCK), Reason: "a socket's name"},
		{Action: Errno, Errno: eperm, Calls: "mknod", When: masked(1, sIFMT, sIFCHR), Reason: "devices"},
		{Action: Errno, Errno: eperm, Calls: "mknod", When: masked(1, sIFMT, sIFBLK), Reason: "devices"},
		{Action: Allow, Calls: "mknodat", When: masked(2, sIFMT, 0), Reason: "a regular file"},
		{Action: Allow, Calls: "mknodat", When: masked(2, sIFMT, sIFREG), Reason: "a regular file"},
		{Action: Allow, Calls: "mknodat", When: masked(2, sIFMT, sIFIFO), Reason: "a named pipe"},
		{Action: Allow, Calls: "mknodat", When: masked(2, sIFMT, sIFSOCK), Reason: "a socket's name"},
		{Action: Errno, Errno: eperm, Calls: "mknodat", When: masked(2, sIFMT, sIFCHR), Reason: "devices"},
		{Action: Errno, Errno: eperm, Calls: "mknodat", When: masked(2, sIFMT, sIFBLK), Reason: "devices"},
		{Action: Allow, Calls: "memfd_create", When: masked(1, mfdExec, 0),
			Reason: "memory; what does not say that it never becomes a program goes to the supervisor, or is refused (NoSupervisor)"},
		{Action: Errno, Errno: eacces, Calls: "memfd_create", When: masked(1, mfdExec, mfdExec),
			Reason: "Landlock does not check the execution of anonymous files; vm.memfd_noexec=2 gives the same error"},
		{Action: Allow, Calls: "personality", When: masked(0, low32, 0), Reason: "the ordinary one"},
		{Action: Allow, Calls: "personality", When: masked(0, low32, 0x0008), Reason: "PER_LINUX32: uname says i686"},
		{Action: Allow, Calls: "personality", When: masked(0, low32, 0x20000), Reason: "UNAME26"},
		{Action: Allow, Calls: "personality", When: masked(0, low32, 0x20008), Reason: "UNAME26 with PER_LINUX32"},
		{Action: Allow, Calls: "personality", When: masked(0, low32, 0x40000), Reason: "ADDR_NO_RANDOMIZE: gdb, for the debugged program only"},
		{Action: Allow, Calls: "personality", When: masked(0, low32, 0xffffffff), Reason: "asks without changing"},
		{Action: Allow, Calls: "move_pages", When: masked(0, low32, 0), Reason: "libnuma about the caller itself"},
		{Action: Allow, Calls: "migrate_pages", When: masked(0, low32, 0), Reason: "libnuma about the caller itself"},

		// What no ordinary program needs, with the error that makes callers
		// fall back or say what is wrong.
		{Action: Errno, Errno: enosys, Calls: "io_uring_setup io_uring_enter io_uring_register",
			Reason: "does other calls' work past seccomp and the supervisor; ENOSYS, since libuv and others probe for it"},
		{Action: Errno, Errno: enosys, Calls: "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents",
			Reason: "one process takes all that the machine has for all users (fs.aio-max-nr), and others' databases do not start; ENOSYS, since MySQL, nginx and others do without"},
		{Action: Errno, Errno: enosys, Calls: "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr",
			Reason: "Landlock, which has no rule for them, lets nobody open a POSIX message queue, and yet one is made, and stays: 256 are all that the machine has for all users " +
				"(fs.mqueue.queues_max); it does not see those of others being taken away"},
		{Action: Errno, Errno: enosys, Calls: "statmount listmount listns lsm_get_self_attr lsm_list_modules process_mrelease memfd_secret",
			Reason: "new ways to ask what /proc tells, or to do without; callers fall back"},
		{Action: Errno, Errno: eperm, Calls: "mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount " +
			"fspick mount_setattr", Reason: "the tree that rules were resolved in stays as it is (CVE-2021-41133: the new mount calls too)"},
		{Action: Errno, Errno: eperm, Calls: "setns", Reason: "another namespace is outside"},
		{Action: Errno, Errno: eperm, Calls: "name_to_handle_at open_by_handle_at", Reason: "opens by inode, past every path"},
		{Action: Errno, Errno: eperm, Calls: "file_setattr", Reason: "immutable, append-only and project flags, which no mediation sees"},
		{Action: Errno, Errno: eperm, Calls: "lsm_set_self_attr", Reason: "changes what other security modules hold"},
		{Action: Errno, Errno: eperm, Calls: "process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd",
			Reason: "other processes' memory and descriptors; debuggers fall back to ptrace"},
		{Action: Errno, Errno: eperm, Calls: "bpf perf_event_open userfaultfd fanotify_init fanotify_mark lookup_dcookie",
			Reason: "kernel surface behind many exploits"},
		{Action: Errno, Errno: eperm, Calls: "add_key request_key keyctl",
			Reason: "keyrings are shared with the user's other programs (CVE-2024-42318: keyctl dropped Landlock)"},
		{Action: Errno, Errno: eperm, Calls: "init_module finit_module delete_module create_module kexec_load kexec_file_load reboot " +
			"swapon swapoff acct quotactl quotactl_fd nfsservctl vhangup iopl ioperm modify_ldt syslog sethostname setdomainname " +
			"settimeofday clock_settime adjtimex clock_adjtime",
			Reason: "the machine's, not a program's: modules, boot, swap, quota, ports, clock, log, name"},
	}
}

// ArgumentRules are refusals by argument, for calls that are otherwise allowed:
// [CallRules] lists what may be, this lists what may not. What it does not name
// is left to CallRules. Where both refuse, the error given here is seen.
func ArgumentRules() []SyscallRule {
	return []SyscallRule{
		// The kernel looks at the low 32 bits of an ioctl number, and so does
		// this (CVE-2019-10063).
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x5412),
			Reason: "TIOCSTI types into the user's terminal (CVE-2017-5226)"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x541c),
			Reason: "TIOCLINUX pastes into the user's console (CVE-2023-28100)"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x541d), Reason: "TIOCCONS redirects the console"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x5423), Reason: "TIOCSETD: line disciplines, old drivers full of bugs"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x540c),
			Reason: "TIOCEXCL: the terminal would stay shut to the user's other programs when the run is over"},
		{Action: Errno, Errno: enotty, Calls: "ioctl", When: masked(1, 0xffffff00, 0x4b00),
			Reason: "KD*: keyboard maps and strings of the console, another way to type for the user"},
		{Action: Errno, Errno: enotty, Calls: "ioctl", When: masked(1, 0xffffff00, 0x5600), Reason: "VT_*: virtual terminals"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40086602),
			Reason: "FS_IOC_SETFLAGS changes file flags through a descriptor open for reading"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40046602), Reason: "FS_IOC32_SETFLAGS, the same"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x401c5820), Reason: "FS_IOC_FSSETXATTR, the same"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40087602), Reason: "FS_IOC_SETVERSION, the same"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40806685), Reason: "FS_IOC_ENABLE_VERITY freezes a file through a reading descriptor"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x800c6613), Reason: "FS_IOC_SET_ENCRYPTION_POLICY, on a directory open for reading"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40086604), Reason: "EXT4_IOC_SETVERSION, the same"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x6609), Reason: "EXT4_IOC_MIGRATE rewrites a file's map through a reading descriptor"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x4008941a), Reason: "BTRFS_IOC_SUBVOL_SETFLAGS freezes a subvolume through a directory open for reading"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0xc0c89425),
			Reason: "BTRFS_IOC_SET_RECEIVED_SUBVOL says from where a subvolume came, through a directory open for reading: btrfs receive goes by it"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0xc0c09425), Reason: "the same, of 32-bit programs"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x8008f512), Reason: "F2FS_IOC_RELEASE_COMPRESS_BLOCKS freezes a file through a reading descriptor"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x8008f513), Reason: "F2FS_IOC_RESERVE_COMPRESS_BLOCKS, the way back"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x4004f50d), Reason: "F2FS_IOC_SET_PIN_FILE, through a reading descriptor: the file stays where it lies on the disk"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: masked(1, 0xfffffff8, 0xf500),
			Reason: "F2FS_IOC_START_ATOMIC_WRITE and its kin, before Linux 6.12 through a reading descriptor (CVE-2024-47740): what others write is taken back; SQLite goes on without"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0xf519), Reason: "F2FS_IOC_START_ATOMIC_REPLACE, the same: the file is empty"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40289702), Reason: "CEPH_IOC_SET_LAYOUT, where a file's contents lie, through a reading descriptor"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40289705), Reason: "CEPH_IOC_SET_LAYOUT_POLICY, of what is made in a directory"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40047211), Reason: "FAT_IOCTL_SET_ATTRIBUTES, file flags of FAT"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40088302), Reason: "ZFS_IOC_SETDOSFLAGS, those of ZFS: one makes a file unwritable"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40106614),
			Reason: "FS_IOC_GET_ENCRYPTION_PWSALT writes a salt into a file system that has none, through a reading descriptor"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0xc0506617),
			Reason: "FS_IOC_ADD_ENCRYPTION_KEY: keys of a whole file system, which the user's other programs use"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0xc0406618), Reason: "FS_IOC_REMOVE_ENCRYPTION_KEY locks the user's encrypted directories"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0xc0406619), Reason: "FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS, the same"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: masked(1, 0xffffff00, 0x50009400),
			Reason: "btrfs makes and removes subvolumes, which are names, past Landlock; clones (0x4...94..) stay"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40309410),
			Reason: "BTRFS_IOC_DEFRAG_RANGE writes a file anew through a reading descriptor, apart from its snapshots and clones: the disk fills"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40186f04), Reason: "OCFS2_IOC_REFLINK makes a name for a copy, past Landlock; FICLONE stays"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x4020bc10), Reason: "BCH_IOCTL_SUBVOLUME_CREATE, a name past Landlock"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x4020bc11), Reason: "BCH_IOCTL_SUBVOLUME_DESTROY, the same"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: masked(1, 0xfff0, 0x66f0),
			Reason: "Lustre makes directories, moves files and removes them by number (LL_IOC_LMV_SETSTRIPE, LL_IOC_MIGRATE, LL_IOC_RMFID), past Landlock"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40084301),
			Reason: "VIOC_SYSCALL, all of OpenAFS by a file in /proc that anybody may open: who may read a directory, by its name, and the user's tokens"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x40044301), Reason: "VIOC_SYSCALL32, the same"},

		// By size, since sounds (SNDCTL_DSP_*) have these numbers, too.
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: masked(1, 0x8010fff0, 0x105000),
			Reason: "IOCTL_PRIVCMD_*, calls of the hypervisor, root's, by a file that is opened to read (/proc/xen/privcmd)"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: masked(1, 0x8020fff0, 0x205000), Reason: "the same"},

		// Of these any socket will do, one of a pair as well.
		{Action: Errno, Errno: eopnotsupp, Calls: "ioctl", When: masked(1, 0xffffff00, 0x8b00),
			Reason: "SIOCGIW*: which wireless networks are near, and so where the machine is; the error where no interface is wireless"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: masked(1, 0xfffffffc, 0x8980), Reason: "SIOCGIFVLAN has the kernel load a module (8021q) for whoever asks"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: masked(1, 0xfffffffe, 0x8940), Reason: "SIOCGIFBR, the same (bridge)"},
		{Action: Errno, Errno: eperm, Calls: "ioctl", When: masked(1, 0xfffffffc, 0x89a0), Reason: "SIOCBRADDBR and its kin, the same"},

		{Action: Errno, Errno: eperm, Calls: "fcntl", When: append(masked(1, low32, 4), masked(2, oAsync, oAsync)...),
			Reason: "O_ASYNC on a terminal has the kernel send a signal of the caller's choice (F_SETSIG) to all of the group in its foreground"},
		{Action: Errno, Errno: eperm, Calls: "fcntl", When: masked(1, low32, 10),
			Reason: "F_SETSIG, of a descriptor that a program outside shares with the run and has signals by: SIGKILL for SIGIO"},
		{Action: Errno, Errno: einval, Calls: "fcntl", When: masked(1, low32, 1026),
			Reason: "F_NOTIFY signals all of a group that F_SETOWN has named, some of which Landlock does not look at (CVE-2026-72183, before Linux 6.12.101, 6.18.40 and 7.1.5); " +
				"EINVAL as in kernels that lack it"},
		{Action: Pretend, Calls: "ioctl", When: ioctl(0x5452), Reason: "FIOASYNC, the same; nginx would start no worker if it failed, and can do without"},
		{Action: Errno, Errno: eacces, Calls: "fcntl", When: masked(1, low32, 1024),
			Reason: "F_SETLEASE makes everybody who opens a file that can be read wait, 45 s each time; EACCES as for another user's file"},
		{Action: Errno, Errno: eacces, Calls: "fcntl", When: masked(1, low32, 1040), Reason: "F_SETDELEG (Linux 6.19), the same, and for who changes a directory"},
		{Action: Errno, Errno: eperm, Calls: "prctl", When: masked(0, low32, 35),
			Reason: "PR_SET_MM: a process that lies about its own program"},
		{Action: Errno, Errno: einval, Calls: "prctl", When: masked(0, low32, 78),
			Reason: "PR_FUTEX_HASH (Linux 6.17): a gigabyte of the kernel's memory for each process that asks, which nobody counts without a control group"},
		{Action: Errno, Errno: enomem, Calls: "mmap", When: masked(3, mapHugetlb, mapHugetlb),
			Reason: "MAP_HUGETLB: one process takes all pages that the machine keeps for all users' databases and virtual machines (vm.nr_hugepages), " +
				"and no limit of memory counts them; ENOMEM as where it keeps none"},
		{Action: Errno, Errno: enomem, Calls: "memfd_create", When: masked(1, mfdHugetlb|mfdExec, mfdHugetlb), Reason: "MFD_HUGETLB, the same"},
		{Action: Errno, Errno: enomem, Calls: "shmget", When: masked(2, shmHugetlb, shmHugetlb), Reason: "SHM_HUGETLB, the same, of root's and a group's"},
		{Action: Errno, Errno: eopnotsupp, Calls: "fallocate", When: masked(1, insertRange, insertRange),
			Reason: "FALLOC_FL_INSERT_RANGE: a file grows past RLIMIT_FSIZE, which the kernel forgets here; the error of most file systems, which lack it"},
		{Action: Errno, Errno: eperm, Calls: "prlimit64", When: notZero(0),
			Reason: "limits of the user's other processes; libc says 0 for its own"},
		{Action: Pretend, Calls: "setrlimit", When: masked(0, low32, rlimitCore),
			Reason: "a run has RLIMIT_CORE 1, for which alone the kernel starts no program outside that is given a crashed one's memory; it can be lowered to 0. " +
				"Who does wants no core, and there is none (ssh-agent, gpg-agent end where it fails)"},
		{Action: Pretend, Calls: "prlimit64", When: slices.Concat(ownCore(), notZero(2), masked(3, all64, 0)), Reason: "the same"},
		{Action: Errno, Errno: eperm, Calls: "prlimit64", When: slices.Concat(ownCore(), notZero(2), notZero(3)),
			Reason: "the same, and asks for the old one, too, which nobody would tell"},
		{Action: Errno, Errno: eperm, Calls: "setpriority", When: masked(0, low32, 2), Reason: "PRIO_USER: all the user's processes"},
		{Action: Errno, Errno: eperm, Calls: "setpriority", When: masked(0, low32, 1), Reason: "PRIO_PGRP: the other programs of a pipeline, too"},
		{Action: Errno, Errno: eperm, Calls: "ioprio_set", When: masked(0, low32, 2), Reason: "IOPRIO_WHO_PGRP, the same"},
		{Action: Errno, Errno: eperm, Calls: "ioprio_set", When: masked(0, low32, 3), Reason: "IOPRIO_WHO_USER: all the user's processes"},
		{Action: Errno, Errno: eopnotsupp, Calls: "sendto", When: masked(3, msgFastopen, msgFastopen),
			Reason: "MSG_FASTOPEN connects past Landlock's and the supervisor's connect; callers fall back"},
		{Action: Errno, Errno: eopnotsupp, Calls: "sendmsg", When: masked(2, msgFastopen, msgFastopen), Reason: "MSG_FASTOPEN"},
		{Action: Errno, Errno: eopnotsupp, Calls: "sendmmsg", When: masked(3, msgFastopen, msgFastopen), Reason: "MSG_FASTOPEN"},

		{Action: Errno, Errno: eperm, Calls: "setsockopt", When: socketOption(soBindToDevice),
			Reason: "SO_BINDTODEVICE, of a stream that the run is started with: what goes to a service of this machine leaves it by the device; EPERM as before Linux 5.7"},
		{Action: Errno, Errno: eperm, Calls: "setsockopt", When: socketOption(soBindToIfindex), Reason: "SO_BINDTOIFINDEX, the same"},
		{For: NoInternet, Action: Errno, Errno: eacces, Calls: "socket", When: family(afInet), Reason: "no network"},
		{For: NoInternet, Action: Errno, Errno: eacces, Calls: "socket", When: family(afInet6), Reason: "no network"},
		{For: NoInternet, Action: Errno, Errno: eafnosupport, Calls: "socket", When: family(afNetlink),
			Reason: "no network: nor what there would be"},
		{For: NoInternet, Action: Errno, Errno: eopnotsupp, Calls: "setsockopt", When: masked(1, low32, 0),
			Reason: "IPPROTO_IP, of a stream that the run is started with: the kernel tells the network which groups of multicast it joins; the error of all others that there are"},
		{For: NoInternet, Action: Errno, Errno: eopnotsupp, Calls: "setsockopt", When: masked(1, low32, protoIPv6), Reason: "IPPROTO_IPV6, the same"},
		{For: NoSupervisor, Action: Errno, Errno: eacces, Calls: "socket", When: family(afUnix),
			Reason: "no unix sockets of others; pairs of streams still work"},
		{For: NoSupervisor, Action: Errno, Errno: eacces, Calls: "socketpair",
			When: pairOf(sockDgram), Reason: "a datagram goes to whatever unix socket it is addressed to, of a pair, too"},
		{For: NoSupervisor, Action: Errno, Errno: eacces, Calls: "socketpair",
			When: pairOf(sockRaw), Reason: "the kernel makes a datagram socket of it"},
		{For: NoSupervisor, Action: Errno, Errno: eacces, Calls: "memfd_create", When: masked(1, mfdNoexecSeal|mfdHugetlb, 0),
			Reason: "memory that may become a program, and nobody to make it such that it does not"},
		{For: NoFork, Action: Errno, Errno: eperm, Calls: "fork vfork",
			Reason: "no new processes; not EAGAIN, which shells wait and retry on"},
		{For: NoFork, Action: Errno, Errno: eperm, Calls: "clone", When: masked(0, cloneThread, 0), Reason: "threads only"},
	}
}

// NotifyRules are the calls that stop until the supervisor has answered. They
// never lift a refusal of the other two: the kernel takes the strictest answer.
func NotifyRules() []SyscallRule {
	return []SyscallRule{
		{For: NotifyNames, Action: Notify, Calls: "mkdir mkdirat mknod mknodat link linkat symlink symlinkat rename renameat renameat2 " +
			"unlink unlinkat rmdir truncate", Reason: "names come and go; a truncation by path is a write"},
		{For: NotifyNames, Action: Pretend, Calls: "prctl", When: undumpable(),
			Reason: "PR_SET_DUMPABLE 0 (gpg-agent, ssh-agent): done, it would keep the supervisor from reading what its calls ask for; it is answered and not done"},
		{For: NotifyNames, Action: Notify, Calls: "memfd_create", When: masked(1, mfdNoexecSeal|mfdExec, 0),
			Reason: "made by the supervisor, with MFD_NOEXEC_SEAL, as vm.memfd_noexec=1 has it"},
		{For: NotifyNames, Action: Notify, Calls: "umask", Reason: "observed: the supervisor applies it to what it makes for the caller"},
		{For: NotifyNames, Action: Notify, Calls: "creat", Reason: "a creating open"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "open", When: masked(1, oAccmode, 1), Reason: "write only"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "open", When: masked(1, oAccmode, 2), Reason: "read and write, O_TMPFILE"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "open", When: masked(1, oAccmode, 3), Reason: "asks for both rights"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "open", When: masked(1, oCreat, oCreat), Reason: "may create, even to read"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "open", When: masked(1, oTrunc, oTrunc), Reason: "truncates, even to read"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "openat", When: masked(2, oAccmode, 1), Reason: "write only"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "openat", When: masked(2, oAccmode, 2), Reason: "read and write, O_TMPFILE"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "openat", When: masked(2, oAccmode, 3), Reason: "asks for both rights"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "openat", When: masked(2, oCreat, oCreat), Reason: "may create, even to read"},
		{For: NotifyNames, Unless: NotifyOpens, Action: Notify, Calls: "openat", When: masked(2, oTrunc, oTrunc), Reason: "truncates, even to read"},
		{For: NotifyNames | NotifyOpens, Action: Errno, Errno: enosys, Calls: "openat2",
			Reason: "its flags lie behind a pointer; callers fall back to openat"},
		{For: NotifyOpens, Action: Notify, Calls: "open openat creat", Reason: "every open: carved directories, denials seen, what stands in for /tmp"},
		{For: NotifyOpens, Action: Notify, Calls: "execve execveat", Reason: "observed: what may not be started is told; the caller goes on, and Landlock decides"},
		{For: NotifyMetadata, Action: Notify, Calls: "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat " +
			"utime utimes futimesat utimensat setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat",
			Reason: "mode, owner, times, attributes, of names and of descriptors open for reading"},
		{For: NotifyMetadata, Action: Notify, Calls: "sched_setparam sched_setscheduler sched_setattr sched_setaffinity", When: notZero(0),
			Reason: "priority and processors of other threads: the run's own only"},
		{For: NotifyMetadata, Action: Notify, Calls: "setpriority ioprio_set", When: notZero(1), Reason: "the same; who is asked for by user or group is refused"},
		{For: NotifyMetadata, Action: Notify, Calls: "setpgid", When: notZero(1),
			Reason: "the terminal stops a whole group for what one of it does: the run's own groups only"},
		{For: NotifyMetadata, Unless: NotifyKill, Action: Notify, Calls: "kill", When: masked(0, low32, 0),
			Reason: "the caller's own group: at a terminal it has processes from outside, in a PID namespace, too"},
		{For: NotifySockets, Action: Notify, Calls: "socket", When: family(afUnix), Reason: "made by the supervisor, which keeps a copy until connect"},
		{For: NotifySockets, Unless: OwnNetwork, Action: Notify, Calls: "socket", When: family(afInet), Reason: "made by the supervisor, bound to lo"},
		{For: NotifySockets, Unless: OwnNetwork, Action: Notify, Calls: "socket", When: family(afInet6), Reason: "made by the supervisor, bound to lo"},
		{For: OwnNetwork, Unless: NotifyInternet, Action: Errno, Errno: eopnotsupp, Calls: "setsockopt", When: groupOption(0, 35),
			Reason: "IP_ADD_MEMBERSHIP, IP_ADD_SOURCE_MEMBERSHIP: a stream that the run is started with is in the network outside, which the kernel tells of the groups that it joins; the error as with no network"},
		{For: OwnNetwork, Unless: NotifyInternet, Action: Errno, Errno: eopnotsupp, Calls: "setsockopt", When: groupOption(0, 42), Reason: "MCAST_JOIN_GROUP, MCAST_JOIN_SOURCE_GROUP, the same"},
		{For: OwnNetwork, Unless: NotifyInternet, Action: Errno, Errno: eopnotsupp, Calls: "setsockopt", When: groupOption(protoIPv6, 42), Reason: "the same"},
		{For: OwnNetwork, Unless: NotifyInternet, Action: Errno, Errno: eopnotsupp, Calls: "setsockopt", When: append(masked(1, low32, protoIPv6), masked(2, low32, 20)...), Reason: "IPV6_JOIN_GROUP, the same"},
		{For: NotifySockets, Unless: NotifyInternet, Action: Errno, Errno: eopnotsupp, Calls: "setsockopt", When: append(masked(1, low32, 0), masked(2, low32, ipOptions)...),
			Reason: "IP_OPTIONS: a way through other addresses, to the first of which all goes that a stream sends"},
		{For: NotifySockets, Unless: NotifyInternet, Action: Errno, Errno: eopnotsupp, Calls: "setsockopt", When: append(masked(1, low32, protoIPv6), masked(2, low32, ipv6Routing)...), Reason: "IPV6_RTHDR, the same"},
		{For: NotifySockets, Unless: NotifyInternet, Action: Errno, Errno: eopnotsupp, Calls: "setsockopt", When: append(masked(1, low32, protoIPv6), masked(2, low32, ipv6OldOptions)...), Reason: "IPV6_2292PKTOPTIONS, of which one is that"},
		{For: NotifySockets, Unless: OwnNetwork, Action: Notify, Calls: "socket", When: family(afNetlink), Reason: "a copy is needed to connect or bind it, where pidfd_getfd is refused"},
		{For: NotifySockets, Action: Notify, Calls: "bind", Reason: "an address or path behind a pointer"},
		{For: NotifySockets, Action: Notify, Calls: "getsockname", Reason: "a unix socket bound by the supervisor: it tells the path that was asked for"},
		{For: NotifySockets, Action: Errno, Errno: eacces, Calls: "socketpair",
			When: pairOf(sockDgram), Reason: "no unix datagram sockets: sendmsg would address them to anyone, and its address no filter sees"},
		{For: NotifySockets, Action: Errno, Errno: eacces, Calls: "socketpair",
			When: pairOf(sockRaw), Reason: "the kernel makes a datagram socket of it"},
		{For: NotifySockets, Action: Notify, Calls: "sendto", When: notZero(4), Reason: "with an address; plain sends pass at full speed"},
		{For: NotifySockets, Action: Notify, Calls: "connect", Reason: "an address or path behind a pointer"},
		{For: NotifyInternet, Action: Notify, Calls: "listen", Reason: "binds a socket that has no address yet"},
		{For: NotifyInternet, Action: Notify, Calls: "getpeername", Reason: "the gate is behind the connection; the caller is told where it went"},
		{For: NotifyInternet, Action: Notify, Calls: "sendmsg sendmmsg recvmsg recvmmsg", Reason: "addresses behind a pointer, to and from"},
		{For: NotifyInternet, Action: Notify, Calls: "recvfrom", When: notZero(4), Reason: "tells the sender's address; plain receives pass at full speed"},
		{For: NotifyInternet, Action: Notify, Calls: "setsockopt getsockopt", When: masked(1, low32, 0), Reason: "IPPROTO_IP: datagram sockets are the supervisor's"},
		{For: NotifyInternet, Action: Notify, Calls: "setsockopt getsockopt", When: masked(1, low32, protoUDP), Reason: "IPPROTO_UDP, the same"},
		{For: NotifyInternet, Action: Notify, Calls: "setsockopt getsockopt", When: masked(1, low32, protoIPv6), Reason: "IPPROTO_IPV6, the same"},
		{For: NotifyInternet, Action: Notify, Calls: "setsockopt", When: socketOption(soReusePort), Reason: "which only an internet socket has"},
		{For: NotifyInternet, Action: Notify, Calls: "getsockopt", When: socketOption(soType), Reason: "tells datagram sockets from what stands in for them"},
		{For: NotifyInternet, Action: Notify, Calls: "getsockopt", When: socketOption(soProtocol), Reason: "the same"},
		{For: NotifyInternet, Action: Notify, Calls: "getsockopt", When: socketOption(soDomain), Reason: "the same"},
		{For: NotifyKill, Action: Notify, Calls: "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal",
			Reason: "signals, where Landlock does not scope them"},
		{For: NotifyKill, Action: Errno, Errno: eperm, Calls: "fcntl", When: masked(1, low32, 8),
			Reason: "F_SETOWN: the kernel sends the signal, to any process of the user"},
		{For: NotifyKill, Action: Errno, Errno: eperm, Calls: "fcntl", When: masked(1, low32, 15), Reason: "F_SETOWN_EX, the same"},
		{For: NotifyKill, Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x8901), Reason: "FIOSETOWN, the same"},
		{For: NotifyKill, Action: Errno, Errno: eperm, Calls: "ioctl", When: ioctl(0x8902), Reason: "SIOCSPGRP, the same"},
	}
}

// NewCalls gives the numbers of calls that libseccomp 2.5.4 (Debian 12) does not
// know by name; from 424 on they are the same on every architecture. A number
// that libseccomp does know must agree with it.
func NewCalls() []NewCall {
	return []NewCall{
		{"uretprobe", 335, -1}, {"uprobe", 336, -1}, // x86 only
		{"cachestat", 451, 451}, {"fchmodat2", 452, 452}, {"map_shadow_stack", 453, 453},
		{"futex_wake", 454, 454}, {"futex_wait", 455, 455}, {"futex_requeue", 456, 456},
		{"statmount", 457, 457}, {"listmount", 458, 458},
		{"lsm_get_self_attr", 459, 459}, {"lsm_set_self_attr", 460, 460}, {"lsm_list_modules", 461, 461},
		{"mseal", 462, 462},
		{"setxattrat", 463, 463}, {"getxattrat", 464, 464}, {"listxattrat", 465, 465}, {"removexattrat", 466, 466},
		{"open_tree_attr", 467, 467}, {"file_getattr", 468, 468}, {"file_setattr", 469, 469},
		{"listns", 470, 470}, {"rseq_slice_yield", 471, 471},
	}
}
