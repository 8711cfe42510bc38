//go:build linux

// Emulate runs a command as another environment would: "emulate docker CMD"
// answers system calls as Docker's default seccomp profile does, keeps the 14
// capabilities of a container's root and makes control groups read-only;
// "emulate nons CMD" only refuses namespaces, as a hardened host does; "emulate
// user CMD" becomes uid and gid 1000. Several names are joined by commas.
//
//	go test -exec 'emulate docker,user' ./...
//
// A test binary that the new user cannot read is copied first, below EMULATE_TMP
// if that is set; what is made there stays.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Docker's default profile (moby/profiles, 2026-06) refuses to a container
// without added capabilities and this project could notice.
var dockerRefuses = []uintptr{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_TREE,
	unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_PIDFD_GETFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE,
	unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_QUOTACTL, unix.SYS_ACCT, unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
}

var namespaceRefuses = []uintptr{unix.SYS_UNSHARE, unix.SYS_SETNS}

// dockerCapabilities is what a container's root keeps.
const dockerCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FSETID |
	1<<unix.CAP_FOWNER | 1<<unix.CAP_MKNOD | 1<<unix.CAP_NET_RAW | 1<<unix.CAP_SETGID |
	1<<unix.CAP_SETUID | 1<<unix.CAP_SETFCAP | 1<<unix.CAP_SETPCAP | 1<<unix.CAP_NET_BIND_SERVICE |
	1<<unix.CAP_SYS_CHROOT | 1<<unix.CAP_KILL | 1<<unix.CAP_AUDIT_WRITE

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "emulate:", err)
		os.Exit(125)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: emulate docker|nons|user[,...] CMD [ARG]")
	}
	path, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	os.Setenv("EMULATED_ENVIRONMENT", args[0])
	has := func(name string) bool { return strings.Contains(","+args[0]+",", ","+name+",") }
	if has("user") {
		if path, err = readable(path); err != nil {
			return err
		}
		// A home, since the real one is another user's.
		home, err := os.MkdirTemp(os.Getenv("EMULATE_TMP"), "emulate-home-")
		if err != nil {
			return err
		}
		if err := os.Chown(home, 1000, 1000); err != nil {
			return err
		}
		for k, v := range map[string]string{"HOME": home, "USER": "user", "LOGNAME": "user", "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "GOCACHE": home + "/gocache"} {
			os.Setenv(k, v)
		}
	}
	if has("docker") {
		if err := hideCgroups(); err != nil {
			return err
		}
		if err := limitCapabilities(dockerCapabilities); err != nil {
			return err
		}
	}
	if has("user") {
		if err := become(1000); err != nil {
			return err
		}
	}
	if has("docker") || has("nons") {
		list := namespaceRefuses
		if has("docker") {
			list = dockerRefuses
		}
		if err := install(filter(list)); err != nil {
			return err
		}
	}
	return unix.Exec(path, append([]string{path}, args[2:]...), os.Environ())
}

// hideCgroups makes the control groups read-only, as they are in a container.
func hideCgroups() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if _, err := os.Stat("/sys/fs/cgroup"); err != nil {
		return nil
	}
	return unix.MountSetattr(unix.AT_FDCWD, "/sys/fs/cgroup", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// readable copies a program to where every user can run it.
func readable(path string) (string, error) {
	dir, err := os.MkdirTemp(os.Getenv("EMULATE_TMP"), "emulate-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.OpenFile(filepath.Join(dir, filepath.Base(path)), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(out, in); err != nil {
		return "", err
	}
	return out.Name(), out.Close()
}

func become(id int) error {
	if err := syscall.Setgroups([]int{id}); err != nil {
		return err
	}
	if err := syscall.Setresgid(id, id, id); err != nil {
		return err
	}
	return syscall.Setresuid(id, id, id)
}

func limitCapabilities(keep uint64) error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if keep&(1<<c) == 0 {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
				return fmt.Errorf("drop capability %d: %w", c, err)
			}
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{
		{Effective: uint32(keep), Permitted: uint32(keep)},
		{Effective: uint32(keep >> 32), Permitted: uint32(keep >> 32)},
	}
	return unix.Capset(&head, &data[0])
}

// filter refuses the listed calls with EPERM and clone with namespace flags;
// clone3 gives ENOSYS, as its flags cannot be seen.
func filter(refuse []uintptr) []unix.SockFilter {
	const load, jeq, jset, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	const eperm, enosys = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	code := []unix.SockFilter{{Code: load, K: 0}}
	for _, nr := range refuse {
		code = append(code, unix.SockFilter{Code: jeq, Jf: 1, K: uint32(nr)}, unix.SockFilter{Code: ret, K: eperm})
	}
	code = append(code, unix.SockFilter{Code: jeq, Jf: 1, K: unix.SYS_CLONE3}, unix.SockFilter{Code: ret, K: enosys})
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	return append(code,
		unix.SockFilter{Code: jeq, Jf: 3, K: unix.SYS_CLONE},
		unix.SockFilter{Code: load, K: 16},
		unix.SockFilter{Code: jset, Jf: 1, K: namespaces},
		unix.SockFilter{Code: ret, K: eperm},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
}

func install(code []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		return e
	}
	return nil
}
