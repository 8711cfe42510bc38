package linux

import "golang.org/x/sys/unix"

// call is one row of the table of notified calls: which handler serves it and
// where its arguments stand.
type call struct {
	nr     uintptr
	name   string
	serve  func(*request)
	dir    argument // descriptor that a relative path starts from; without one, the caller's directory
	path   argument
	flags  argument
	mode   argument
	dir2   argument
	path2  argument
	preset uint64 // flags that the call implies
}

// argument is the place of an argument among a call's; zero is one that the call
// does not have.
type argument uint8

const (
	arg1 argument = 1 + iota
	arg2
	arg3
	arg4
	arg5
)

// calls gives the notified calls. Those that only amd64 has stand in legacyCalls.
func calls() []call {
	return append([]call{
		// Names.
		{nr: unix.SYS_OPENAT, name: "openat", serve: serveOpen, dir: arg1, path: arg2, flags: arg3, mode: arg4},
		{nr: unix.SYS_MKDIRAT, name: "mkdirat", serve: serveMkdir, dir: arg1, path: arg2, mode: arg3},
		{nr: unix.SYS_MKNODAT, name: "mknodat", serve: serveMknod, dir: arg1, path: arg2, mode: arg3},
		{nr: unix.SYS_UNLINKAT, name: "unlinkat", serve: serveUnlink, dir: arg1, path: arg2, flags: arg3},
		{nr: unix.SYS_RENAMEAT, name: "renameat", serve: serveRename, dir: arg1, path: arg2, dir2: arg3, path2: arg4},
		{nr: unix.SYS_RENAMEAT2, name: "renameat2", serve: serveRename, dir: arg1, path: arg2, flags: arg5, dir2: arg3, path2: arg4},
		{nr: unix.SYS_LINKAT, name: "linkat", serve: serveLink, dir: arg1, path: arg2, flags: arg5, dir2: arg3, path2: arg4},
		{nr: unix.SYS_SYMLINKAT, name: "symlinkat", serve: serveSymlink, dir: arg2, path: arg3, path2: arg1},
		{nr: unix.SYS_TRUNCATE, name: "truncate", serve: serveTruncate, path: arg1},
		{nr: unix.SYS_UMASK, name: "umask", serve: serveUmask, mode: arg1},

		{nr: unix.SYS_MEMFD_CREATE, name: "memfd_create", serve: serveMemory, path: arg1, flags: arg2},

		// Programs.
		{nr: unix.SYS_EXECVE, name: "execve", serve: serveStart, path: arg1},
		{nr: unix.SYS_EXECVEAT, name: "execveat", serve: serveStart, dir: arg1, path: arg2, flags: arg5},

		// Metadata. mode is where the values start.
		{nr: unix.SYS_FCHMOD, name: "fchmod", serve: serveChmod, dir: arg1, mode: arg2},
		{nr: unix.SYS_FCHMODAT, name: "fchmodat", serve: serveChmod, dir: arg1, path: arg2, mode: arg3},
		{nr: unix.SYS_FCHMODAT2, name: "fchmodat2", serve: serveChmod, dir: arg1, path: arg2, flags: arg4, mode: arg3},
		{nr: unix.SYS_FCHOWN, name: "fchown", serve: serveChown, dir: arg1, mode: arg2},
		{nr: unix.SYS_FCHOWNAT, name: "fchownat", serve: serveChown, dir: arg1, path: arg2, flags: arg5, mode: arg3},
		{nr: unix.SYS_UTIMENSAT, name: "utimensat", serve: serveTimes, dir: arg1, path: arg2, flags: arg4, mode: arg3},
		{nr: unix.SYS_SETXATTR, name: "setxattr", serve: serveSetxattr, path: arg1, mode: arg2},
		{nr: unix.SYS_LSETXATTR, name: "lsetxattr", serve: serveSetxattr, path: arg1, mode: arg2, preset: unix.AT_SYMLINK_NOFOLLOW},
		{nr: unix.SYS_FSETXATTR, name: "fsetxattr", serve: serveSetxattr, dir: arg1, mode: arg2},
		{nr: unix.SYS_REMOVEXATTR, name: "removexattr", serve: serveRemovexattr, path: arg1, mode: arg2},
		{nr: unix.SYS_LREMOVEXATTR, name: "lremovexattr", serve: serveRemovexattr, path: arg1, mode: arg2, preset: unix.AT_SYMLINK_NOFOLLOW},
		{nr: unix.SYS_FREMOVEXATTR, name: "fremovexattr", serve: serveRemovexattr, dir: arg1, mode: arg2},

		// Sockets and signals have fixed arguments.
		{nr: unix.SYS_SOCKET, name: "socket", serve: serveSocket},
		{nr: unix.SYS_CONNECT, name: "connect", serve: serveConnect},
		{nr: unix.SYS_BIND, name: "bind", serve: serveBind},
		{nr: unix.SYS_GETSOCKNAME, name: "getsockname", serve: serveGetsockname},
		{nr: unix.SYS_SENDTO, name: "sendto", serve: serveSendto},
		{nr: unix.SYS_LISTEN, name: "listen", serve: serveListen},
		{nr: unix.SYS_GETPEERNAME, name: "getpeername", serve: serveGetpeername},
		{nr: unix.SYS_SENDMSG, name: "sendmsg", serve: serveSendmsg},
		{nr: unix.SYS_SENDMMSG, name: "sendmmsg", serve: serveSendmmsg},
		{nr: unix.SYS_RECVFROM, name: "recvfrom", serve: serveRecvfrom},
		{nr: unix.SYS_RECVMSG, name: "recvmsg", serve: serveRecvmsg},
		{nr: unix.SYS_RECVMMSG, name: "recvmmsg", serve: serveRecvmmsg},
		{nr: unix.SYS_SETSOCKOPT, name: "setsockopt", serve: serveSetsockopt},
		{nr: unix.SYS_GETSOCKOPT, name: "getsockopt", serve: serveGetsockopt},
		{nr: unix.SYS_KILL, name: "kill", serve: serveKill},
		{nr: unix.SYS_TKILL, name: "tkill", serve: serveTkill},
		{nr: unix.SYS_TGKILL, name: "tgkill", serve: serveTgkill},
		{nr: unix.SYS_RT_SIGQUEUEINFO, name: "rt_sigqueueinfo", serve: serveSigqueue},
		{nr: unix.SYS_RT_TGSIGQUEUEINFO, name: "rt_tgsigqueueinfo", serve: serveTgsigqueue},
		{nr: unix.SYS_PIDFD_SEND_SIGNAL, name: "pidfd_send_signal", serve: servePidfdSignal},
		{nr: unix.SYS_SCHED_SETPARAM, name: "sched_setparam", serve: serveSchedule, path: arg1},
		{nr: unix.SYS_SCHED_SETSCHEDULER, name: "sched_setscheduler", serve: serveSchedule, path: arg1},
		{nr: unix.SYS_SCHED_SETATTR, name: "sched_setattr", serve: serveSchedule, path: arg1},
		{nr: unix.SYS_SCHED_SETAFFINITY, name: "sched_setaffinity", serve: serveSchedule, path: arg1},
		{nr: unix.SYS_SETPGID, name: "setpgid", serve: serveGroup},
		{nr: unix.SYS_SETPRIORITY, name: "setpriority", serve: serveSchedule, path: arg2},
		{nr: unix.SYS_IOPRIO_SET, name: "ioprio_set", serve: serveSchedule, path: arg2},
	}, legacyCalls()...)
}
