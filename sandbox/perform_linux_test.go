package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// step is one system call, or a few, of a random program.
type step struct {
	Op   string
	A, B string
	N    uint64
}

// The test binary, started with this variable, performs the steps that it
// holds. It minds no error and prints what it reads.
const programVar = "PROGRAM_STEPS"

var ops = []string{"read", "write", "append", "create", "temporary", "truncate", "unlink", "rmdir", "mkdir", "rename", "exchange", "link", "symlink",
	"chmod", "utimes", "setxattr", "mknod", "chdir", "copy", "path", "list", "bind", "again", "hold", "hold", "held", "held", "held", "pass", "beside", "raw",
	"connect", "connect", "internet", "signal", "execute", "execute", "child"}

func performSteps() {
	var steps []step
	if err := json.Unmarshal([]byte(os.Getenv(programVar)), &steps); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	runtime.LockOSThread()
	p := &performer{alone: true}
	held, _ := strconv.Atoi(os.Getenv(heldVar))
	for fd := range held {
		p.held = append(p.held, 3+fd)
	}
	p.all(steps)
	p.beside.Wait()
}

// A performer is one thread of a program: it has a working directory of its own,
// and descriptors that it got earlier and keeps.
type performer struct {
	held   []int
	beside sync.WaitGroup
	alone  bool // no other thread ever was
}

func (p *performer) all(steps []step) {
	for i, s := range steps {
		s.A, s.B = os.ExpandEnv(s.A), os.ExpandEnv(s.B)
		if s.Op == "child" {
			if p.child(steps[i+1:], s.N) {
				return
			}
			continue
		}
		if s.Op == "beside" {
			p.alone = false
			// The rest is done twice at the same time, from one directory on.
			p.beside.Go(func() {
				runtime.LockOSThread() // and not unlocked: the thread ends
				q := &performer{held: append([]int(nil), p.held...)}
				if unix.Unshare(unix.CLONE_FS) == nil {
					q.all(steps[i+1:])
				}
				q.beside.Wait()
			})
			continue
		}
		p.perform(s)
	}
}

// at is where a call's names begin: the working directory, or a descriptor
// that is held.
func (p *performer) at(n uint64) int {
	if len(p.held) == 0 || n>>40&3 != 0 {
		return unix.AT_FDCWD
	}
	return p.held[n>>42%uint64(len(p.held))]
}

func readOf(fd int) []byte {
	b := make([]byte, 1<<10)
	n, _ := unix.Read(fd, b)
	return b[:max(n, 0)]
}

func (p *performer) perform(s step) {
	from, to := p.at(s.N), p.at(s.N>>8)
	open := func(path string, flags int) int {
		how := unix.OpenHow{Flags: uint64(flags | unix.O_NONBLOCK | unix.O_NOCTTY), Resolve: s.N >> 51 & 0x1f}
		if flags&(unix.O_CREAT|unix.O_TMPFILE) != 0 {
			how.Mode = s.N & 0o777
		}
		var fd int
		var err error
		if s.N>>48&7 == 0 {
			fd, err = unix.Openat2(from, path, &how)
		} else {
			fd, err = unix.Openat(from, path, int(how.Flags), uint32(how.Mode))
		}
		if err != nil {
			return -1
		}
		return fd
	}
	write := func(fd int) { unix.Write(fd, []byte("written")); unix.Close(fd) }
	read := func(fd int) []byte { defer unix.Close(fd); return readOf(fd) }
	switch s.Op {
	case "read":
		fmt.Printf("%s\n", read(open(s.A, unix.O_RDONLY)))
	case "write":
		write(open(s.A, unix.O_RDWR))
	case "append":
		write(open(s.A, unix.O_WRONLY|unix.O_APPEND))
	case "create":
		write(open(s.A, unix.O_WRONLY|unix.O_CREAT|int(s.N)&(unix.O_TRUNC|unix.O_EXCL|unix.O_NOFOLLOW)))
	case "temporary":
		fd := open(s.A, unix.O_TMPFILE|unix.O_RDWR)
		unix.Linkat(unix.AT_FDCWD, proc(fd), to, s.B, unix.AT_SYMLINK_FOLLOW)
		write(fd)
	case "truncate":
		unix.Truncate(s.A, int64(s.N%5))
	case "unlink":
		unix.Unlinkat(from, s.A, 0)
	case "rmdir":
		unix.Unlinkat(from, s.A, unix.AT_REMOVEDIR)
	case "mkdir":
		unix.Mkdirat(from, s.A, 0o755)
	case "rename":
		unix.Renameat(from, s.A, to, s.B)
	case "exchange":
		unix.Renameat2(from, s.A, to, s.B, uint(s.N)&7)
	case "link":
		unix.Linkat(from, s.A, to, s.B, int(s.N)&unix.AT_SYMLINK_FOLLOW)
	case "symlink":
		unix.Symlinkat(s.A, to, s.B)
	case "chmod":
		unix.Fchmodat(from, s.A, uint32(s.N)&0o7777|0o700, 0)
	case "utimes":
		unix.UtimesNanoAt(from, s.A, []unix.Timespec{{Sec: 1}, {Sec: 2}}, int(s.N)&unix.AT_SYMLINK_NOFOLLOW)
	case "setxattr":
		unix.Setxattr(s.A, "user.random", []byte{byte(s.N)}, 0)
	case "mknod":
		unix.Mknodat(from, s.A, unix.S_IFIFO|0o600, 0)
	case "chdir":
		unix.Chdir(s.A)
	case "copy":
		data := read(open(s.A, unix.O_RDONLY))
		if fd, err := unix.Openat(to, s.B, unix.O_WRONLY|unix.O_CREAT|unix.O_NONBLOCK, 0o600); err == nil {
			unix.Write(fd, data)
			unix.Close(fd)
		}
	case "path":
		fd := open(s.A, unix.O_PATH)
		p.reopen(fd, s.N)
		unix.Close(fd)
	case "list":
		os.ReadDir(s.A)
	case "bind":
		if fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
			unix.Bind(fd, &unix.SockaddrUnix{Name: s.A})
			unix.Listen(fd, 1)
			unix.Close(fd)
		}
	case "again":
		// What a handle of a file leads to.
		if h, _, err := unix.NameToHandleAt(from, s.A, 0); err == nil {
			if fd, err := unix.OpenByHandleAt(unix.AT_FDCWD, h, unix.O_RDWR|unix.O_NONBLOCK); err == nil {
				fmt.Printf("%s\n", readOf(fd))
				write(fd)
			}
		}
	case "hold":
		flags := []int{unix.O_RDONLY, unix.O_RDONLY | unix.O_DIRECTORY, unix.O_PATH, unix.O_PATH | unix.O_DIRECTORY, unix.O_PATH | unix.O_NOFOLLOW, unix.O_RDWR, unix.O_WRONLY | unix.O_CREAT, unix.O_RDWR | unix.O_APPEND}
		if fd := open(s.A, flags[s.N>>20%uint64(len(flags))]); fd >= 0 && len(p.held) < 12 {
			p.held = append(p.held, fd)
		}
	case "held":
		if len(p.held) > 0 {
			p.use(p.held[s.N>>32%uint64(len(p.held))], s)
		}
	case "pass":
		// Through a socket, as one process gives another a descriptor.
		if pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
			if len(p.held) > 0 {
				unix.Sendmsg(pair[0], []byte{0}, unix.UnixRights(p.held[s.N%uint64(len(p.held))]), nil, 0)
				control := make([]byte, 64)
				if _, n, _, _, err := unix.Recvmsg(pair[1], make([]byte, 1), control, unix.MSG_DONTWAIT); err == nil {
					if list, err := unix.ParseSocketControlMessage(control[:n]); err == nil && len(list) > 0 {
						if fds, err := unix.ParseUnixRights(&list[0]); err == nil {
							p.held = append(p.held, fds...)
						}
					}
				}
			}
			unix.Close(pair[0])
			unix.Close(pair[1])
		}
	case "connect":
		p.connect(s)
	case "internet":
		internet(s.N)
	case "signal":
		disturb(s.N)
	case "execute":
		// Which file it is can be told for certain only where nobody moves it.
		if fd, err := unix.Openat(from, s.A, unix.O_PATH, 0); err == nil && p.alone {
			path, _ := os.Readlink(proc(fd))
			name := s.A
			if s.N&1 == 0 {
				name = proc(fd)
			}
			if pid, err := syscall.ForkExec(name, []string{name}, &syscall.ProcAttr{Env: environ(executedVar, path), Files: []uintptr{0, 1, 2}}); err == nil {
				syscall.Wait4(pid, nil, 0, nil)
			}
			unix.Close(fd)
		}
	case "raw":
		// Any call with names or nothing for arguments, but for those that end,
		// stop or replace this process, or would wait.
		nr := uintptr(s.N % 470)
		switch nr {
		case unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_RT_SIGRETURN, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_CLONE, unix.SYS_CLONE3,
			unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_PPOLL, unix.SYS_PSELECT6,
			unix.SYS_MUNMAP, unix.SYS_MMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_BRK, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_SECCOMP,
			unix.SYS_FUTEX, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_SIGALTSTACK, unix.SYS_SET_TID_ADDRESS, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
			unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_RSEQ, unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_READ, unix.SYS_EPOLL_PWAIT, unix.SYS_FLOCK:
			return
		}
		if legacyBlocks(nr) {
			return
		}
		a, _ := unix.BytePtrFromString(s.A)
		b, _ := unix.BytePtrFromString(s.B)
		rawNames(nr, a, b, s.N)
	}
}

func proc(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// reopen opens what a descriptor is of once more.
func (p *performer) reopen(fd int, n uint64) {
	flags := unix.O_RDONLY
	if n&1 == 0 {
		flags = unix.O_RDWR
	}
	again, err := unix.Open(proc(fd), flags|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	fmt.Printf("%s\n", readOf(again))
	if n&1 == 0 {
		unix.Write(again, []byte("written"))
	}
	unix.Close(again)
}

// noDump is the flag of a file that is harmless to have.
const noDump = 0x40

// use does one of what can be done with a descriptor that is held.
func (p *performer) use(fd int, s step) {
	other := p.held[s.N>>36%uint64(len(p.held))]
	switch s.N % 20 {
	case 0:
		fmt.Printf("%s\n", readOf(fd))
	case 1:
		unix.Write(fd, []byte("written"))
	case 2:
		unix.Ftruncate(fd, int64(s.N>>16%5))
	case 3:
		unix.Fchmod(fd, uint32(s.N>>16)&0o7777|0o700)
	case 4:
		unix.Fchown(fd, os.Getuid(), os.Getgid())
	case 5:
		unix.Futimes(fd, []unix.Timeval{{Sec: 1}, {Sec: 2}})
	case 6:
		unix.Fsetxattr(fd, "user.random", []byte{byte(s.N >> 16)}, 0)
	case 7:
		unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 4)
	case 8:
		if b, err := unix.Mmap(fd, 0, 7, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
			// A call meets the end of the file by an error, an access by a signal.
			var pipe [2]int
			if unix.Pipe(pipe[:]) == nil {
				unix.Write(pipe[1], []byte("written"))
				unix.Read(pipe[0], b)
				unix.Close(pipe[0])
				unix.Close(pipe[1])
			}
			unix.Munmap(b)
		}
	case 9:
		if b, err := unix.Mmap(fd, 0, 256, unix.PROT_READ, unix.MAP_PRIVATE); err == nil {
			unix.Write(1, b)
			unix.Munmap(b)
		}
	case 10:
		p.reopen(fd, s.N>>16)
	case 11:
		unix.Linkat(fd, "", unix.AT_FDCWD, s.A, unix.AT_EMPTY_PATH)
	case 12:
		unix.Linkat(unix.AT_FDCWD, proc(fd), unix.AT_FDCWD, s.A, unix.AT_SYMLINK_FOLLOW)
	case 13:
		unix.Fchdir(fd)
	case 14:
		unix.CopyFileRange(other, nil, fd, nil, 256, 0)
	case 15:
		unix.Sendfile(fd, other, nil, 256)
	case 16:
		unix.Fchmodat(fd, "", uint32(s.N>>16)&0o777|0o700, unix.AT_EMPTY_PATH)
	case 17:
		unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(s.N>>16)&noDump)
	case 18:
		unix.IoctlFileClone(fd, other)
	case 19:
		unix.UtimesNanoAt(fd, "", []unix.Timespec{{Sec: 1}, {Sec: 2}}, unix.AT_EMPTY_PATH)
	}
}

// rawNames makes a call with names where calls have them.
func rawNames(nr uintptr, a, b *byte, n uint64) {
	cwd := unix.AT_FDCWD
	at := uintptr(cwd)
	small := uintptr(n >> 32 & 7)
	switch n >> 60 & 3 {
	case 0:
		syscall.RawSyscall6(nr, uintptr(unsafe.Pointer(a)), uintptr(unsafe.Pointer(b)), small, small, 0, 0)
	case 1:
		syscall.RawSyscall6(nr, at, uintptr(unsafe.Pointer(a)), at, uintptr(unsafe.Pointer(b)), small, 0)
	case 2:
		syscall.RawSyscall6(nr, at, uintptr(unsafe.Pointer(a)), small, uintptr(unsafe.Pointer(b)), small, 0)
	default:
		syscall.RawSyscall6(nr, uintptr(unsafe.Pointer(a)), small, uintptr(unsafe.Pointer(b)), small, small, 0)
	}
}
