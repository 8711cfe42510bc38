package linux

import "golang.org/x/sys/unix"

// legacyCalls are the calls that newer architectures do without.
func legacyCalls() []call {
	return []call{
		{nr: unix.SYS_OPEN, name: "open", serve: serveOpen, dir: none, path: 0, flags: 1, mode: 2, dir2: none, path2: none},
		{nr: unix.SYS_CREAT, name: "creat", serve: serveOpen, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none, preset: unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC},
		{nr: unix.SYS_MKDIR, name: "mkdir", serve: serveMkdir, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_MKNOD, name: "mknod", serve: serveMknod, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_UNLINK, name: "unlink", serve: serveUnlink, dir: none, path: 0, flags: none, mode: none, dir2: none, path2: none},
		{nr: unix.SYS_RMDIR, name: "rmdir", serve: serveUnlink, dir: none, path: 0, flags: none, mode: none, dir2: none, path2: none, preset: unix.AT_REMOVEDIR},
		{nr: unix.SYS_RENAME, name: "rename", serve: serveRename, dir: none, path: 0, flags: none, mode: none, dir2: none, path2: 1},
		{nr: unix.SYS_LINK, name: "link", serve: serveLink, dir: none, path: 0, flags: none, mode: none, dir2: none, path2: 1},
		{nr: unix.SYS_SYMLINK, name: "symlink", serve: serveSymlink, dir: none, path: 1, flags: none, mode: none, dir2: none, path2: 0},
		{nr: unix.SYS_CHMOD, name: "chmod", serve: serveChmod, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_CHOWN, name: "chown", serve: serveChown, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_LCHOWN, name: "lchown", serve: serveChown, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none, preset: unix.AT_SYMLINK_NOFOLLOW},
		{nr: unix.SYS_UTIME, name: "utime", serve: serveUtime, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_UTIMES, name: "utimes", serve: serveUtimes, dir: none, path: 0, flags: none, mode: 1, dir2: none, path2: none},
		{nr: unix.SYS_FUTIMESAT, name: "futimesat", serve: serveUtimes, dir: 0, path: 1, flags: none, mode: 2, dir2: none, path2: none},
	}
}
