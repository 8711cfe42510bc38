package linux

import "golang.org/x/sys/unix"

// call is one row of the table of notified calls: which handler serves it and
// where its arguments stand. Positions are argument numbers; none marks an
// argument that the call does not have (a directory: the caller's own).
type call struct {
	nr     uintptr
	name   string
	serve  func(*request)
	dir    int8 // descriptor that a relative path starts from
	path   int8
	flags  int8
	mode   int8
	dir2   int8
	path2  int8
	preset uint64 // flags that the call implies
}

const none = -1

// calls gives the notified calls that all architectures have. Those that only
// amd64 has stand in legacyCalls.
func calls() []call {
	return append([]call{
		// Names.
		{nr: unix.SYS_OPENAT, name: "openat", serve: serveOpen, dir: 0, path: 1, flags: 2, mode: 3, dir2: none, path2: none},
		{nr: unix.SYS_MKDIRAT, name: "mkdirat", serve: serveMkdir, dir: 0, path: 1, flags: none, mode: 2, dir2: none, path2: none},
		{nr: unix.SYS_MKNODAT, name: "mknodat", serve: serveMknod, dir: 0, path: 1, flags: none, mode: 2, dir2: none, path2: none},
		{nr: unix.SYS_UNLINKAT, name: "unlinkat", serve: serveUnlink, dir: 0, path: 1, flags: 2, mode: none, dir2: none, path2: none},
		{nr: unix.SYS_RENAMEAT, name: "renameat", serve: serveRename, dir: 0, path: 1, flags: none, mode: none, dir2: 2, path2: 3},
		{nr: unix.SYS_RENAMEAT2, name: "renameat2", serve: serveRename, dir: 0, path: 1, flags: 4, mode: none, dir2: 2, path2: 3},
		{nr: unix.SYS_LINKAT, name: "linkat", serve: serveLink, dir: 0, path: 1, flags: 4, mode: none, dir2: 2, path2: 3},
		{nr: unix.SYS_SYMLINKAT, name: "symlinkat", serve: serveSymlink, dir: 1, path: 2, flags: none, mode: none, dir2: none, path2: 0},
		{nr: unix.SYS_TRUNCATE, name: "truncate", serve: serveTruncate, dir: none, path: 0, flags: none, mode: none, dir2: none, path2: none},
		{nr: unix.SYS_UMASK, name: "umask", serve: serveUmask, dir: none, path: none, flags: none, mode: 0, dir2: none, path2: none},

		// Metadata. mode is where the values start.
		{nr: unix.SYS_FCHMOD, name: "fchmod", serve: serveChmod, dir: 0, path: none, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_FCHMODAT, name: "fchmodat", serve: serveChmod, dir: 0, path: 1, flags: none, mode: 2, dir2: none, path2: none},
		{nr: unix.SYS_FCHMODAT2, name: "fchmodat2", serve: serveChmod, dir: 0, path: 1, flags: 3, mode: 2, dir2: none, path2: none},
		{nr: unix.SYS_FCHOWN, name: "fchown", serve: serveChown, dir: 0, path: none, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_FCHOWNAT, name: "fchownat", serve: serveChown, dir: 0, path: 1, flags: 4, mode: 2, dir2: none, path2: none},
		{nr: unix.SYS_UTIMENSAT, name: "utimensat", serve: serveTimes, dir: 0, path: 1, flags: 3, mode: 2, dir2: none, path2: none},
		{nr: unix.SYS_SETXATTR, name: "setxattr", serve: serveSetxattr, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_LSETXATTR, name: "lsetxattr", serve: serveSetxattr, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none, preset: unix.AT_SYMLINK_NOFOLLOW},
		{nr: unix.SYS_FSETXATTR, name: "fsetxattr", serve: serveSetxattr, dir: 0, path: none, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_REMOVEXATTR, name: "removexattr", serve: serveRemovexattr, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_LREMOVEXATTR, name: "lremovexattr", serve: serveRemovexattr, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none, preset: unix.AT_SYMLINK_NOFOLLOW},
		{nr: unix.SYS_FREMOVEXATTR, name: "fremovexattr", serve: serveRemovexattr, dir: 0, path: none, flags: none, mode: 1, dir2: none, path2: none},

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
		{nr: unix.SYS_SCHED_SETPARAM, name: "sched_setparam", serve: serveSchedule},
		{nr: unix.SYS_SCHED_SETSCHEDULER, name: "sched_setscheduler", serve: serveSchedule},
		{nr: unix.SYS_SCHED_SETATTR, name: "sched_setattr", serve: serveSchedule},
		{nr: unix.SYS_SCHED_SETAFFINITY, name: "sched_setaffinity", serve: serveSchedule},
		{nr: unix.SYS_SETPGID, name: "setpgid", serve: serveGroup},
		{nr: unix.SYS_SETPRIORITY, name: "setpriority", serve: serveSchedule, path: 1},
		{nr: unix.SYS_IOPRIO_SET, name: "ioprio_set", serve: serveSchedule, path: 1},
	}, legacyCalls()...)
}
