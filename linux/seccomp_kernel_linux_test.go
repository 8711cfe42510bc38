package linux_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/sandbox/sandboxtest"
)

// install puts the filters onto the calling thread, which must be locked and
// never be unlocked. A notifying one gets no listener unless listen is set, so
// that what it notifies answers ENOSYS. It gives the listener, or -1.
func install(filters []linux.Filter, listen bool) (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	listener := -1
	for _, f := range filters {
		var flags uintptr
		if f.Notify && listen {
			flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
		}
		n, err := load(f, flags)
		if err != 0 {
			return -1, err
		}
		if flags != 0 {
			listener = int(n)
		}
	}
	return listener, nil
}

func load(f linux.Filter, flags uintptr) (uintptr, syscall.Errno) {
	prog := unix.SockFprog{
		Len:    f.Instructions(),
		Filter: (*unix.SockFilter)(unsafe.Pointer(unsafe.StringData(f.Program))),
	}
	n, _, err := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	return n, err
}

// probe is one call that does no harm where nothing refuses it: its arguments
// are wrong in a way that the kernel finds later than seccomp does.
type probe struct {
	name   string
	number uintptr
	args   [6]uintptr
	want   syscall.Errno // under the filter
	// privileged calls answer EPERM to who has no capabilities, filter or not.
	privileged bool
}

const (
	bad  = ^uintptr(0) // no descriptor, no pointer, all flags
	here = uintptr(unix.AT_FDCWD & 0xffffffff)
	page = 1 // never mapped
	up   = uintptr(1) << 32
)

var probes = []probe{
	{"clone3", unix.SYS_CLONE3, [6]uintptr{}, unix.ENOSYS, false},
	{"clone NEWUSER", unix.SYS_CLONE, [6]uintptr{unix.CLONE_NEWUSER | unix.CLONE_FS}, unix.EPERM, false},
	{"clone NEWNS", unix.SYS_CLONE, [6]uintptr{unix.CLONE_NEWNS | unix.CLONE_FS}, unix.EPERM, false},
	{"unshare NEWUSER", unix.SYS_UNSHARE, [6]uintptr{unix.CLONE_NEWUSER}, unix.EPERM, false}, // EINVAL with threads
	{"setns", unix.SYS_SETNS, [6]uintptr{bad}, unix.EPERM, false},
	{"mount", unix.SYS_MOUNT, [6]uintptr{0, page}, unix.EPERM, false},
	{"umount2", unix.SYS_UMOUNT2, [6]uintptr{page, bad}, unix.EPERM, false},
	{"pivot_root", unix.SYS_PIVOT_ROOT, [6]uintptr{page, page}, unix.EPERM, true},
	{"chroot", unix.SYS_CHROOT, [6]uintptr{page}, unix.EPERM, false},
	{"open_tree", unix.SYS_OPEN_TREE, [6]uintptr{bad, page}, unix.EPERM, false},
	{"move_mount", unix.SYS_MOVE_MOUNT, [6]uintptr{bad, page, bad, page, bad}, unix.EPERM, true},
	{"fsopen", unix.SYS_FSOPEN, [6]uintptr{page, bad}, unix.EPERM, true},
	{"fsconfig", unix.SYS_FSCONFIG, [6]uintptr{bad, 99}, unix.EPERM, false},
	{"fsmount", unix.SYS_FSMOUNT, [6]uintptr{bad, bad}, unix.EPERM, true},
	{"fspick", unix.SYS_FSPICK, [6]uintptr{bad, page, bad}, unix.EPERM, true},
	{"mount_setattr", unix.SYS_MOUNT_SETATTR, [6]uintptr{bad, page, bad}, unix.EPERM, false},
	{"io_uring_setup", unix.SYS_IO_URING_SETUP, [6]uintptr{0, page}, unix.ENOSYS, false},
	{"io_setup", unix.SYS_IO_SETUP, [6]uintptr{0, page}, unix.ENOSYS, false},
	{"io_uring_enter", unix.SYS_IO_URING_ENTER, [6]uintptr{bad}, unix.ENOSYS, false},
	{"io_uring_register", unix.SYS_IO_URING_REGISTER, [6]uintptr{bad}, unix.ENOSYS, false},
	{"userfaultfd", unix.SYS_USERFAULTFD, [6]uintptr{bad}, unix.EPERM, false},
	{"bpf", unix.SYS_BPF, [6]uintptr{99, page, 8}, unix.EPERM, true},
	{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, [6]uintptr{page, 0, 0, bad, bad}, unix.EPERM, false},
	{"add_key", unix.SYS_ADD_KEY, [6]uintptr{page}, unix.EPERM, false},
	{"request_key", unix.SYS_REQUEST_KEY, [6]uintptr{page}, unix.EPERM, false},
	{"keyctl", unix.SYS_KEYCTL, [6]uintptr{0xffff}, unix.EPERM, false},
	{"kexec_load", unix.SYS_KEXEC_LOAD, [6]uintptr{0, 0, 0, bad}, unix.EPERM, true},
	{"finit_module", unix.SYS_FINIT_MODULE, [6]uintptr{bad, 0, bad}, unix.EPERM, true},
	{"swapon", unix.SYS_SWAPON, [6]uintptr{page, bad}, unix.EPERM, true},
	{"reboot", unix.SYS_REBOOT, [6]uintptr{}, unix.EPERM, true}, // without its magic numbers
	{"acct", unix.SYS_ACCT, [6]uintptr{page}, unix.EPERM, true},
	{"quotactl_fd", unix.SYS_QUOTACTL_FD, [6]uintptr{bad}, unix.EPERM, false},
	{"fcntl F_SETFL O_ASYNC", unix.SYS_FCNTL, [6]uintptr{bad, unix.F_SETFL, unix.O_ASYNC}, unix.EPERM, false},
	{"fcntl F_SETSIG", unix.SYS_FCNTL, [6]uintptr{bad, unix.F_SETSIG, 9}, unix.EPERM, false},
	{"fcntl F_NOTIFY", unix.SYS_FCNTL, [6]uintptr{bad, unix.F_NOTIFY}, unix.EINVAL, false},
	{"fallocate INSERT_RANGE", unix.SYS_FALLOCATE, [6]uintptr{bad, unix.FALLOC_FL_INSERT_RANGE}, unix.EOPNOTSUPP, false},
	{"fcntl F_SETLEASE", unix.SYS_FCNTL, [6]uintptr{bad, unix.F_SETLEASE}, unix.EACCES, false},
	{"settimeofday", unix.SYS_SETTIMEOFDAY, [6]uintptr{page}, unix.EPERM, false},
	{"clock_settime", unix.SYS_CLOCK_SETTIME, [6]uintptr{9999, page}, unix.EPERM, false},
	{"adjtimex", unix.SYS_ADJTIMEX, [6]uintptr{page}, unix.EPERM, false},
	{"sethostname", unix.SYS_SETHOSTNAME, [6]uintptr{page, 1000}, unix.EPERM, true}, // too long
	{"syslog", unix.SYS_SYSLOG, [6]uintptr{99}, unix.EPERM, true},
	{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, [6]uintptr{bad, page}, unix.EPERM, true},
	{"name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, [6]uintptr{bad, page, page, page, bad}, unix.EPERM, false},
	{"mknodat char", unix.SYS_MKNODAT, [6]uintptr{here, page, unix.S_IFCHR}, unix.EPERM, false},
	{"mknodat block, high bits", unix.SYS_MKNODAT, [6]uintptr{here, page, up | unix.S_IFBLK}, unix.EPERM, false},
	{"process_vm_readv", unix.SYS_PROCESS_VM_READV, [6]uintptr{1, 0, 0, 0, 0, bad}, unix.EPERM, false},
	{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, [6]uintptr{1, 0, 0, 0, 0, bad}, unix.EPERM, false},
	{"pidfd_getfd", unix.SYS_PIDFD_GETFD, [6]uintptr{bad, 0, bad}, unix.EPERM, false},
	{"prlimit64 by id", unix.SYS_PRLIMIT64, [6]uintptr{uintptr(os.Getpid()), 9999}, unix.EPERM, false},
	{"setpriority of a user", unix.SYS_SETPRIORITY, [6]uintptr{2, 0x7ffffff0, 5}, unix.EPERM, false},
	{"fanotify_init", unix.SYS_FANOTIFY_INIT, [6]uintptr{bad, bad}, unix.EPERM, true},
	{"memfd_create", unix.SYS_MEMFD_CREATE, [6]uintptr{page, unix.MFD_EXEC}, unix.EACCES, false},
	{"mmap MAP_HUGETLB", unix.SYS_MMAP, [6]uintptr{0, 0, 0, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_HUGETLB, bad}, unix.ENOMEM, false},
	{"memfd_create MFD_HUGETLB", unix.SYS_MEMFD_CREATE, [6]uintptr{page, unix.MFD_HUGETLB}, unix.ENOMEM, false},
	{"shmget SHM_HUGETLB", unix.SYS_SHMGET, [6]uintptr{0, 0, 0o5600}, unix.ENOMEM, false}, // too small
	{"mq_open", unix.SYS_MQ_OPEN, [6]uintptr{page, unix.O_CREAT | unix.O_RDWR}, unix.ENOSYS, false},
	{"mq_unlink", unix.SYS_MQ_UNLINK, [6]uintptr{page}, unix.ENOSYS, false},
	{"setsockopt SO_BINDTODEVICE", unix.SYS_SETSOCKOPT, [6]uintptr{bad, unix.SOL_SOCKET, unix.SO_BINDTODEVICE}, unix.EPERM, false},
	{"personality", unix.SYS_PERSONALITY, [6]uintptr{0x0400000}, unix.ENOSYS, false},
	{"file_setattr", unix.SYS_FILE_SETATTR, [6]uintptr{bad, page}, unix.EPERM, false},
	{"ioctl TIOCSTI", unix.SYS_IOCTL, [6]uintptr{bad, unix.TIOCSTI}, unix.EPERM, false},
	{"ioctl TIOCSTI, high bits", unix.SYS_IOCTL, [6]uintptr{bad, up | unix.TIOCSTI}, unix.EPERM, false},
	{"ioctl TIOCLINUX", unix.SYS_IOCTL, [6]uintptr{bad, unix.TIOCLINUX}, unix.EPERM, false},
	{"ioctl TIOCSETD", unix.SYS_IOCTL, [6]uintptr{bad, unix.TIOCSETD}, unix.EPERM, false},
	{"ioctl KDSKBSENT", unix.SYS_IOCTL, [6]uintptr{bad, 0x4b49}, unix.ENOTTY, false},
	{"ioctl FS_IOC_SETFLAGS", unix.SYS_IOCTL, [6]uintptr{bad, unix.FS_IOC_SETFLAGS}, unix.EPERM, false},
	{"ioctl FS_IOC_GET_ENCRYPTION_PWSALT", unix.SYS_IOCTL, [6]uintptr{bad, unix.FS_IOC_GET_ENCRYPTION_PWSALT}, unix.EPERM, false},
	{"ioctl SIOCGIFVLAN", unix.SYS_IOCTL, [6]uintptr{bad, unix.SIOCGIFVLAN}, unix.EPERM, false},
	{"socket packet", unix.SYS_SOCKET, [6]uintptr{unix.AF_PACKET, unix.SOCK_RAW}, unix.EAFNOSUPPORT, false},
	{"socket raw", unix.SYS_SOCKET, [6]uintptr{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_TCP}, unix.EPERM, true},
	{"socket netlink USERSOCK", unix.SYS_SOCKET, [6]uintptr{unix.AF_NETLINK, unix.SOCK_RAW, 2}, unix.ENOSYS, false},
	{"sendto FASTOPEN", unix.SYS_SENDTO, [6]uintptr{bad, page, 1, unix.MSG_FASTOPEN}, unix.EOPNOTSUPP, false},
	{"sendmsg FASTOPEN", unix.SYS_SENDMSG, [6]uintptr{bad, page, unix.MSG_FASTOPEN}, unix.EOPNOTSUPP, false},
	{"sendmmsg FASTOPEN", unix.SYS_SENDMMSG, [6]uintptr{bad, page, 1, unix.MSG_FASTOPEN}, unix.EOPNOTSUPP, false},
	{"unknown", 9999, [6]uintptr{}, unix.ENOSYS, false},
}

// featureProbes need the feature. A notified call answers ENOSYS where nobody
// listens.
var featureProbes = []struct {
	features linux.FilterFeatures
	probe
}{
	{linux.NoInternet, probe{"socket IPv4", unix.SYS_SOCKET, [6]uintptr{unix.AF_INET, unix.SOCK_DGRAM}, unix.EACCES, false}},
	{linux.NoInternet, probe{"setsockopt IP", unix.SYS_SETSOCKOPT, [6]uintptr{bad, unix.IPPROTO_IP, unix.MCAST_JOIN_GROUP}, unix.EOPNOTSUPP, false}},
	{linux.NoInternet, probe{"setsockopt IPv6", unix.SYS_SETSOCKOPT, [6]uintptr{bad, unix.IPPROTO_IPV6, unix.MCAST_JOIN_GROUP}, unix.EOPNOTSUPP, false}},
	{linux.NoInternet, probe{"socket netlink", unix.SYS_SOCKET, [6]uintptr{unix.AF_NETLINK, unix.SOCK_RAW}, unix.EAFNOSUPPORT, false}},
	{linux.NoSupervisor, probe{"socket unix", unix.SYS_SOCKET, [6]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}, unix.EACCES, false}},
	{linux.NoSupervisor, probe{"socketpair datagram", unix.SYS_SOCKETPAIR, [6]uintptr{unix.AF_UNIX, unix.SOCK_DGRAM, 0, page}, unix.EACCES, false}},
	{linux.NoSupervisor, probe{"memfd_create", unix.SYS_MEMFD_CREATE, [6]uintptr{page}, unix.EACCES, false}},
	{linux.NotifyNames, probe{"memfd_create", unix.SYS_MEMFD_CREATE, [6]uintptr{page}, unix.ENOSYS, false}},
	{linux.NoFork, probe{"clone", unix.SYS_CLONE, [6]uintptr{unix.CLONE_SIGHAND}, unix.EPERM, false}}, // EINVAL without CLONE_VM
	{linux.NotifyNames, probe{"mkdirat", unix.SYS_MKDIRAT, [6]uintptr{here, page}, unix.ENOSYS, false}},
	{linux.NotifyNames, probe{"openat to create", unix.SYS_OPENAT, [6]uintptr{here, page, unix.O_CREAT}, unix.ENOSYS, false}},
	{linux.NotifyNames, probe{"openat to write, high bits", unix.SYS_OPENAT, [6]uintptr{here, page, up | unix.O_WRONLY}, unix.ENOSYS, false}},
	{linux.NotifyNames, probe{"openat2", unix.SYS_OPENAT2, [6]uintptr{here, page, page, 24}, unix.ENOSYS, false}},
	{linux.NotifyMetadata, probe{"fchmodat", unix.SYS_FCHMODAT, [6]uintptr{here, page}, unix.ENOSYS, false}},
	{linux.NotifyMetadata, probe{"fsetxattr", unix.SYS_FSETXATTR, [6]uintptr{bad}, unix.ENOSYS, false}},
	{linux.NotifySockets, probe{"connect", unix.SYS_CONNECT, [6]uintptr{bad}, unix.ENOSYS, false}},
	{linux.NotifySockets, probe{"sendto", unix.SYS_SENDTO, [6]uintptr{bad, page, 1, 0, page, 16}, unix.ENOSYS, false}},
	{linux.NotifyOpens, probe{"openat to read", unix.SYS_OPENAT, [6]uintptr{here, page}, unix.ENOSYS, false}},
	{linux.NotifyKill, probe{"kill", unix.SYS_KILL, [6]uintptr{0x7ffffff0, 0}, unix.ENOSYS, false}},
	{linux.NotifyKill, probe{"fcntl F_SETOWN", unix.SYS_FCNTL, [6]uintptr{bad, unix.F_SETOWN, 1}, unix.EPERM, false}},
	{linux.OwnNetwork, probe{"setsockopt MCAST_JOIN_GROUP", unix.SYS_SETSOCKOPT, [6]uintptr{bad, unix.IPPROTO_IP, unix.MCAST_JOIN_GROUP}, unix.EOPNOTSUPP, false}},
	{linux.NotifySockets | linux.OwnNetwork, probe{"connect", unix.SYS_CONNECT, [6]uintptr{bad}, unix.ENOSYS, false}},
}

func (p *probe) try() syscall.Errno {
	a := p.args
	_, _, err := unix.RawSyscall6(p.number, a[0], a[1], a[2], a[3], a[4], a[5])
	return err
}

// probeVariable tells a copy of the test binary what to do, as JSON of order.
const probeVariable = "SKILLRUN_TEST_SECCOMP"

type order struct {
	Features linux.FilterFeatures
	Bare     bool     // without filters: the positive control
	Calls    []int    // in probes, or featureProbes from 1000 on
	Jump     string   // "int80" or "x32"
	Exec     []string // absolute path and arguments
}

// TestSeccompProbe is the probe process; run by itself it has nothing to do.
func TestSeccompProbe(t *testing.T) {
	text, ok := os.LookupEnv(probeVariable)
	if !ok {
		return
	}
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	os.Unsetenv(probeVariable)
	runtime.LockOSThread()
	if !o.Bare {
		filters, err := linux.Filters(runtime.GOARCH, o.Features)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := install(filters, false); err != nil {
			t.Fatal(err)
		}
	}
	if o.Exec != nil {
		t.Fatal(syscall.Exec(o.Exec[0], o.Exec, os.Environ()))
	}
	if o.Jump != "" {
		jump(t, o.Jump)
	}
	results := make([]int, len(o.Calls))
	for i, c := range o.Calls {
		if c >= 1000 {
			results[i] = int(featureProbes[c-1000].try())
		} else {
			results[i] = int(probes[c].try())
		}
	}
	out, err := json.Marshal(results)
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.Write(out)
	os.Exit(0) // before the testing package speaks
}

// send runs a probe process and gives its output.
func send(t *testing.T, o order) ([]byte, error) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestSeccompProbe$")
	cmd.Env = append(os.Environ(), probeVariable+"="+string(text))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = errors.Join(err, errors.New(stderr.String()+string(out)))
	}
	return out, err
}

// answers runs calls in a probe process.
func answers(t *testing.T, o order) []syscall.Errno {
	t.Helper()
	out, err := send(t, o)
	if err != nil {
		t.Fatalf("probe process: %v", err)
	}
	var list []syscall.Errno
	if err := json.Unmarshal(out, &list); err != nil || len(list) != len(o.Calls) {
		t.Fatalf("probe process: %v: %q", err, out)
	}
	return list
}

// privileged says whether this process has CAP_SYS_ADMIN.
func privileged(t *testing.T) bool {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(status), "\nCapEff:\t")
	if !ok {
		t.Fatal("no CapEff in /proc/self/status")
	}
	line, _, _ := strings.Cut(rest, "\n")
	caps, err := strconv.ParseUint(line, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return caps&(1<<unix.CAP_SYS_ADMIN) != 0
}

// TestKernelRefuses makes each hostile call under the filter and, as the
// control, without it: another answer must come.
func TestKernelRefuses(t *testing.T) {
	var all []int
	for i := range probes {
		all = append(all, i)
	}
	under := answers(t, order{Calls: all})
	bare := answers(t, order{Calls: all, Bare: true})
	root := privileged(t)
	for i, p := range probes {
		if under[i] != p.want {
			t.Errorf("%s: %v, want %v", p.name, under[i], p.want)
		}
		if bare[i] == p.want && p.name != "unknown" && (root || !p.privileged) {
			t.Errorf("%s: %v without a filter too: the probe shows nothing", p.name, bare[i])
		}
	}
}

func TestKernelHoldsFeatures(t *testing.T) {
	for i, p := range featureProbes {
		calls := []int{1000 + i}
		if got := answers(t, order{Calls: calls, Features: p.features}); got[0] != p.want {
			t.Errorf("features %#x: %s: %v, want %v", uint16(p.features), p.name, got[0], p.want)
		}
		if got := answers(t, order{Calls: calls}); got[0] == p.want && p.number != unix.SYS_OPENAT2 {
			t.Errorf("features %#x: %s: %v without the feature too", uint16(p.features), p.name, got[0])
		}
	}
}

// TestKernelListens installs a notifying filter with a listener behind the
// others, as a launcher does.
func TestKernelListens(t *testing.T) {
	filters, err := linux.Filters(runtime.GOARCH, linux.AllFeatures)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		listener int
		err      error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		listener, err := install(filters, true)
		done <- result{listener, err}
	}()
	r := <-done
	if r.err != nil || r.listener < 0 {
		t.Fatalf("install: listener %d, %v", r.listener, r.err)
	}
	unix.Close(r.listener)
}

// TestOrdinaryProgramsRun starts what skills are made of under the filters.
func TestOrdinaryProgramsRun(t *testing.T) {
	sealed := linux.NoInternet | linux.NoSupervisor
	for _, row := range []struct {
		features linux.FilterFeatures
		command  []string
		want     string
	}{
		{sealed, []string{"sh", "-c", "echo a | tr a b; (exit 3); echo $?"}, "b\n3\n"},
		{sealed, []string{"bash", "-c", "cat <(echo x) | wc -l; ulimit -n >/dev/null && echo ok"}, "1\nok\n"},
		{sealed, []string{"python3", "-c", "import subprocess,threading,tempfile,asyncio,multiprocessing as m\n" +
			"t=threading.Thread(target=print,args=('thread',),kwargs={'flush':True});t.start();t.join()\n" +
			"print(subprocess.run(['echo','child'],capture_output=True,text=True).stdout,end='')\n" +
			"async def f():\n p=await asyncio.create_subprocess_exec('echo','async',stdout=-1)\n print((await p.communicate())[0].decode(),end='')\n" +
			"asyncio.run(f())\n" +
			"q=m.get_context('fork').SimpleQueue();p=m.get_context('fork').Process(target=q.put,args=('queue',));p.start();print(q.get());p.join()\n"},
			"thread\nchild\nasync\nqueue\n"},
		{0, []string{"python3", "-c", "import socket\n" +
			"s=socket.create_server(('127.0.0.1',0));c=socket.create_connection(s.getsockname());a,_=s.accept();a.sendall(b'x');print(c.recv(1))\n" +
			"print(bool(socket.if_nameindex()))\n"}, "b'x'\nTrue\n"},
		{sealed, []string{"node", "-e", "const c=require('child_process');console.log(c.execFileSync('echo',['child']).toString().trim());" +
			"const {Worker}=require('worker_threads');new Worker('require(\"worker_threads\").parentPort.postMessage(1)',{eval:true}).on('message',m=>console.log(m))"},
			"child\n1\n"},
		{0, []string{"node", "-e", "console.log(Object.keys(require('os').networkInterfaces()).length>0)"}, "true\n"},
		{sealed, []string{"git", "version", "--build-options"}, ""},
		{sealed, []string{"perl", "-e", "print `echo perl`"}, "perl\n"},
		{linux.NoFork, []string{"perl", "-e", "print defined(fork) ? 'forked' : $!{EPERM} ? 'refused' : $!"}, "refused"},
		{linux.NoFork, []string{"node", "-e", "const {Worker}=require('worker_threads');" +
			"new Worker('require(\"worker_threads\").parentPort.postMessage(1)',{eval:true}).on('message',m=>console.log(m));" +
			"console.log(require('child_process').spawnSync('/bin/true').error.code)"}, "EPERM\n1\n"},
	} {
		t.Run(row.command[0], func(t *testing.T) {
			path := sandboxtest.Program(t, row.command[0])
			out, err := send(t, order{Features: row.features, Exec: append([]string{path}, row.command[1:]...)})
			if err != nil {
				t.Fatal(err)
			}
			if row.want != "" && string(out) != row.want {
				t.Errorf("output %q, want %q", out, row.want)
			}
		})
	}
}
