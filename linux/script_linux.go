package linux

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scripter writes the two scripts: what the guardian does around the run, and
// what the command does to itself.
type scripter struct {
	p      *Process
	plan   *Plan
	cmd    *Command
	layers []int
	tape   *tape
	self   uintptr // a descriptor to make placeholders from
}

func stepFor(what stage, nr uintptr, args ...uintptr) step {
	s := step{nr: nr, what: what}
	copy(s.a[:], args)
	return s
}

func (s step) with(flags uint8) step { s.flags |= flags; return s }

// wants makes a step one that must fail.
func (s step) wants(e syscall.Errno) step { s.want = e; return s }

func (b *scripter) str(s string) uintptr {
	p, err := b.tape.str(s)
	if err != nil {
		panic("linux: NUL in a name of the plan")
	}
	return uintptr(unsafe.Pointer(p))
}

// gate makes the sockets of the plan, each at a place that the launcher knows.
// An optional one that is not to be had leaves something else there, which
// whoever serves the sockets can tell.
func (b *scripter) gate() []step {
	var s []step
	for _, c := range b.plan.Sockets {
		place, err := b.place()
		if err != nil {
			// The script fails at a descriptor that cannot be.
			place = ^uintptr(0)
		}
		b.p.sockets = append(b.p.sockets, int(place))
		flags := uint8(0)
		if c.Optional {
			flags = optional
		}
		s = append(s,
			stepFor(stageNetwork, syscall.SYS_SOCKET, uintptr(c.Family), uintptr(c.Type), uintptr(c.Protocol)).with(save|flags),
			stepFor(stageNetwork, syscall.SYS_DUP3, 0, place, unix.O_CLOEXEC).with(useSaved|flags),
			stepFor(stageNetwork, syscall.SYS_CLOSE).with(useSaved|flags),
		)
	}
	return s
}

func (b *scripter) setupScript() []step {
	s := []step{stepFor(stageParent, syscall.SYS_PRCTL, unix.PR_SET_PDEATHSIG, sigKill)}
	if limit := processShare().limit; limit != unix.RLIM_INFINITY {
		// The guardian's, too: it makes the command, or is refused to.
		lim := put(b.tape, unix.Rlimit{Cur: limit, Max: limit})
		s = append(s, stepFor(stageLimit, unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NPROC, uintptr(unsafe.Pointer(lim))))
	}
	if b.plan.Namespaces&NSUser != 0 {
		s = append(s, b.mapIDs()...)
	}
	if b.plan.Namespaces&NSMount != 0 {
		s = append(s, b.mountSteps(b.plan.Mounts)...)
	}
	s = append(s, b.lateRules()...)
	s = append(s, b.gate()...)
	if b.plan.Filter&NotifyFeatures != 0 {
		s = append(s, stepFor(stageMount, syscall.SYS_OPENAT, atFDCWD, b.str("/"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC).with(publishRoot))
	}
	// Not before the id maps: an undumpable process may not write its own.
	// Inside another run not at all: its supervisor, which may be asked about
	// opens, reads their paths in this process's memory. Landlock, without which
	// it would not serve this run, keeps the command from that.
	if !b.plan.Nested {
		s = append(s, stepFor(stageParent, syscall.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0))
	}
	if b.plan.Namespaces&NSPID == 0 {
		s = append(s, stepFor(stageParent, syscall.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1))
	}
	return s
}

// enterScript is what confines the command, in an order that matters: limits
// and directory while nothing is forbidden yet, capabilities before
// no_new_privs, Landlock before seccomp, the listener last, so that no notified
// call precedes the supervisor, and descriptors after it, since the listener
// has to reach the launcher through the shared table first. The self-test and
// the limit of descriptors end it.
func (b *scripter) enterScript() ([]step, error) {
	s := []step{
		stepFor(stageParent, syscall.SYS_PRCTL, unix.PR_SET_PDEATHSIG, sigKill),
		stepFor(stageDir, syscall.SYS_CHDIR, b.str(b.cmd.Dir)),
		// EPERM in containers that refuse keyctl; the filter refuses it, too.
		stepFor(stageKeyring, unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING).with(optional),
	}
	if hasTerminal() && !onTerminal() {
		s = append(s, b.leaveTerminal()...)
	}
	if b.cmd.Nice != 0 {
		// Only who has a capability may take some back.
		now, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			return nil, fmt.Errorf("getpriority: %w", err)
		}
		if now = 20 - now; now < b.cmd.Nice { // as the system call says it
			s = append(s, stepFor(stageLimit, syscall.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, uintptr(b.cmd.Nice)))
		}
	}
	groups, err := b.joinCgroup()
	if err != nil {
		return nil, err
	}
	s = append(s, groups...)
	var last []step
	for _, l := range b.rlimits() {
		lim := put(b.tape, unix.Rlimit{Cur: l.Value, Max: l.Value})
		if l.Resource == unix.RLIMIT_NOFILE {
			*lim = openFiles(l.Value)
		}
		limit := stepFor(stageLimit, unix.SYS_PRLIMIT64, 0, uintptr(l.Resource), uintptr(unsafe.Pointer(lim)))
		switch l.Resource {
		case unix.RLIMIT_NOFILE:
			last = append(last, limit) // what follows still makes descriptors
		case unix.RLIMIT_CORE:
			s = append(s, limit.with(optional)) // the caller's is 0, and only root raises it
		default:
			s = append(s, limit)
		}
	}
	s = append(s, b.dropCapabilities()...)
	s = append(s, stepFor(stagePrivilege, syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1))
	s = append(s, b.openStatus()...)
	// From here on what is notified is ruled on for the run inside.
	s = append(s, b.cmd.Nested.steps(b)...)
	for _, fd := range b.layers {
		s = append(s, stepFor(stageLandlock, unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd)))
	}
	tests, err := b.testFiles()
	if err != nil {
		return nil, fmt.Errorf("prepare the self-test: %w", err)
	}
	s = append(s, tests...)
	filters, err := Filters(runtime.GOARCH, b.plan.Filter)
	if err != nil {
		return nil, err
	}
	for _, f := range filters {
		fprog := put(b.tape, *program(f))
		if f.Notify {
			s = append(s, b.listener(fprog)...)
			continue
		}
		s = append(s, stepFor(stageSeccomp, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(fprog))))
	}
	s = append(s, stepFor(stageDescriptor, unix.SYS_CLOSE_RANGE, 3, 1<<32-1, unix.CLOSE_RANGE_UNSHARE|unix.CLOSE_RANGE_CLOEXEC))
	for i, fd := range b.cmd.Stdio {
		switch {
		case fd < 0:
			s = append(s, stepFor(stageDescriptor, syscall.SYS_CLOSE, uintptr(i)).with(optional))
		case fd != i:
			s = append(s, stepFor(stageDescriptor, syscall.SYS_DUP3, uintptr(fd), uintptr(i), 0))
		}
	}
	if tests, err = b.testCalls(); err != nil {
		return nil, fmt.Errorf("prepare the self-test: %w", err)
	}
	return append(append(s, tests...), last...), nil
}

// leaveTerminal has the command, which stays in its session and group, be controlled
// by no terminal: reading /dev/tty is nobody's to rule on, and would be what is typed.
// That there is none left is tried.
func (b *scripter) leaveTerminal() []step {
	open := stepFor(stageTerminal, syscall.SYS_OPENAT, atFDCWD, b.str(ttyPath), unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC)
	return []step{
		open.with(save | optional),
		stepFor(stageTerminal, syscall.SYS_IOCTL, 0, unix.TIOCNOTTY).with(useSaved | optional),
		stepFor(stageTerminal, syscall.SYS_CLOSE).with(useSaved | optional),
		open.wants(unix.ENXIO),
	}
}

// rlimits are the plan's, none above what this process itself has: nobody may
// raise a limit without a capability of the host's.
func (b *scripter) rlimits() []Rlimit {
	out := slices.Clone(b.plan.Rlimits)
	if !slices.ContainsFunc(out, func(l Rlimit) bool { return l.Resource == unix.RLIMIT_NOFILE }) {
		out = append(out, Rlimit{unix.RLIMIT_NOFILE, 1 << 63})
	}
	for i := range out {
		var now unix.Rlimit
		if out[i].Resource == unix.RLIMIT_CORE {
			continue // of which 0 is not the least
		}
		if unix.Getrlimit(out[i].Resource, &now) == nil {
			out[i].Value = min(out[i].Value, now.Max, now.Cur)
		}
		if out[i].Resource == unix.RLIMIT_NPROC {
			out[i].Value = min(out[i].Value, processShare().limit)
		}
	}
	return out
}

// openFiles gives the limit of descriptors with the soft limit that the caller
// had: Go's runtime raises its own at start, which a raw execve would pass on,
// and says nowhere what it was. The parent's is most likely the same.
func openFiles(hard uint64) unix.Rlimit {
	var parent unix.Rlimit
	if unix.Prlimit(os.Getppid(), unix.RLIMIT_NOFILE, nil, &parent) != nil {
		parent.Cur = 1024 // the kernel's and systemd's default
	}
	return unix.Rlimit{Cur: min(parent.Cur, hard), Max: hard}
}

// listener installs the notifying filter. WAIT_KILLABLE_RECV (5.19) keeps a
// signal to the command from repeating a call that the supervisor is already
// performing; older kernels give EINVAL and do without.
func (b *scripter) listener(fprog *unix.SockFprog) []step {
	const waitKillable = 1 << 5
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	_, _, e := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags|waitKillable, 0)
	if b.p.interrupts = e != syscall.EFAULT; !b.p.interrupts {
		flags |= waitKillable // EFAULT: the flags were fine, the program's address was not
	}
	return []step{stepFor(stageSeccomp, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(fprog))).with(publish)}
}

// dropCapabilities empties every capability set. Without CAP_SETPCAP the
// bounding set cannot be changed, nor need it be: no_new_privs keeps execve
// from gaining any.
func (b *scripter) dropCapabilities() []step {
	keep := b.plan.KeepCapabilities
	var s []step
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if keep&(1<<c) == 0 {
			s = append(s, stepFor(stageCapability, syscall.SYS_PRCTL, unix.PR_CAPBSET_DROP, c).with(optional))
		}
	}
	s = append(s, stepFor(stageCapability, syscall.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL).with(optional))
	head := put(b.tape, unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3})
	data := put(b.tape, [2]unix.CapUserData{
		{Effective: uint32(keep), Permitted: uint32(keep), Inheritable: uint32(keep)},
		{Effective: uint32(keep >> 32), Permitted: uint32(keep >> 32), Inheritable: uint32(keep >> 32)},
	})
	return append(s, stepFor(stageCapability, unix.SYS_CAPSET, uintptr(unsafe.Pointer(head)), uintptr(unsafe.Pointer(&data[0]))))
}
