package linux

import "golang.org/x/sys/unix"

// legacyCalls are the calls that newer architectures do without.
func legacyCalls() []call {
	return []call{
		{nr: unix.SYS_OPEN, name: "open", serve: serveOpen, path: arg1, flags: arg2, mode: arg3},
		{nr: unix.SYS_CREAT, name: "creat", serve: serveOpen, path: arg1, mode: arg2, preset: unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC},
		{nr: unix.SYS_MKDIR, name: "mkdir", serve: serveMkdir, path: arg1, mode: arg2},
		{nr: unix.SYS_MKNOD, name: "mknod", serve: serveMknod, path: arg1, mode: arg2},
		{nr: unix.SYS_UNLINK, name: "unlink", serve: serveUnlink, path: arg1},
		{nr: unix.SYS_RMDIR, name: "rmdir", serve: serveUnlink, path: arg1, preset: unix.AT_REMOVEDIR},
		{nr: unix.SYS_RENAME, name: "rename", serve: serveRename, path: arg1, path2: arg2},
		{nr: unix.SYS_LINK, name: "link", serve: serveLink, path: arg1, path2: arg2},
		{nr: unix.SYS_SYMLINK, name: "symlink", serve: serveSymlink, path: arg2, path2: arg1},
		{nr: unix.SYS_CHMOD, name: "chmod", serve: serveChmod, path: arg1, mode: arg2},
		{nr: unix.SYS_CHOWN, name: "chown", serve: serveChown, path: arg1, mode: arg2},
		{nr: unix.SYS_LCHOWN, name: "lchown", serve: serveChown, path: arg1, mode: arg2, preset: unix.AT_SYMLINK_NOFOLLOW},
		{nr: unix.SYS_UTIME, name: "utime", serve: serveUtime, path: arg1, mode: arg2},
		{nr: unix.SYS_UTIMES, name: "utimes", serve: serveUtimes, path: arg1, mode: arg2},
		{nr: unix.SYS_FUTIMESAT, name: "futimesat", serve: serveUtimes, dir: arg1, path: arg2, mode: arg3},
	}
}
