package linux

// Action is what a filter does with a call.
type Action uint8

// The actions. The zero one refuses.
const (
	// Errno makes the call fail with SyscallRule.Errno, without being made.
	Errno Action = iota
	// Allow lets the kernel make the call.
	Allow
	// Notify stops the caller until the supervisor has answered.
	Notify
	// Pretend makes the call succeed, with 0, without being made.
	Pretend
)

// SyscallRule is one row of the seccomp tables.
type SyscallRule struct {
	// For lists features; the row counts if the filter has one of them. Zero
	// is every filter.
	For FilterFeatures
	// Unless lists features with any of which the row does not count, because
	// another row covers it.
	Unless FilterFeatures
	Action Action
	Errno  uint16 // Linux's number, which amd64 and arm64 share
	// Calls are names of system calls, separated by spaces. One that an
	// architecture lacks is left out there.
	Calls string
	// When has to hold, all of it; empty means always.
	When []ArgCond
	// Reason says why, for people.
	Reason string
}

// Applies says whether the row counts in a filter with features f.
func (r *SyscallRule) Applies(f FilterFeatures) bool {
	return (r.For == 0 || r.For&f != 0) && r.Unless&f == 0
}

// Compare is how an [ArgCond] looks at its argument.
type Compare uint8

// The comparisons. An int argument's upper half is noise to the kernel, so
// masks reach no further than the kernel looks.
const (
	Equal   Compare = iota // argument & Mask == Value
	AnyBit                 // argument & Mask != 0; at most once in a row
	NotZero                // argument != 0, in all 64 bits
)

// ArgCond is a condition on argument Arg, 0 to 5.
type ArgCond struct {
	Arg         uint8
	Compare     Compare
	Mask, Value uint64
}

// Holds says whether the condition holds for args.
func (c *ArgCond) Holds(args [6]uint64) bool {
	a := args[c.Arg]
	switch c.Compare {
	case Equal:
		return a&c.Mask == c.Value
	case AnyBit:
		return a&c.Mask != 0
	}
	return a != 0
}

// NewCall is a call with its numbers; -1 where an architecture lacks it.
type NewCall struct {
	Name         string
	AMD64, ARM64 int
}

func masked(arg uint8, mask, value uint64) []ArgCond {
	return []ArgCond{{Arg: arg, Mask: mask, Value: value}}
}

// undumpable is prctl(PR_SET_DUMPABLE, 0).
func undumpable() []ArgCond { return append(masked(0, low32, 4), masked(1, all64, 0)...) }

// ownCore is prlimit64 of the caller's own RLIMIT_CORE.
func ownCore() []ArgCond { return append(masked(0, all64, 0), masked(1, low32, rlimitCore)...) }

func anyBit(arg uint8, mask uint64) []ArgCond {
	return []ArgCond{{Arg: arg, Compare: AnyBit, Mask: mask}}
}

func notZero(arg uint8) []ArgCond { return []ArgCond{{Arg: arg, Compare: NotZero}} }

func ioctl(number uint64) []ArgCond { return masked(1, low32, number) }

func family(f uint64) []ArgCond { return masked(0, low32, f) }

func socketOf(f, typ, protocol uint64) []ArgCond {
	return []ArgCond{{Arg: 0, Mask: low32, Value: f}, {Arg: 1, Mask: sockTypeMask, Value: typ}, {Arg: 2, Mask: low32, Value: protocol}}
}

func pairOf(typ uint64) []ArgCond {
	return []ArgCond{{Arg: 0, Mask: low32, Value: afUnix}, {Arg: 1, Mask: sockTypeMask, Value: typ}}
}

func rawSocketOf(f uint64) []ArgCond {
	return []ArgCond{{Arg: 0, Mask: low32, Value: f}, {Arg: 1, Mask: sockTypeMask, Value: sockRaw}}
}

// groupOption is setsockopt of an option that joins groups, or of the one four further
// that does so by source.
func groupOption(level, name uint64) []ArgCond {
	return append(masked(1, low32, level), masked(2, low32&^4, name&^4)...)
}

func socketOption(name uint64) []ArgCond {
	return []ArgCond{{Arg: 1, Mask: low32, Value: solSocket}, {Arg: 2, Mask: low32, Value: name}}
}

// Linux's numbers, the same on amd64 and arm64 (include/uapi). They stand here
// because the table builds on every system.
const (
	eperm, enomem, eacces, einval, enotty     = 1, 12, 13, 22, 25
	enosys                                    = 38
	eprotonosupport, eopnotsupp, eafnosupport = 93, 95, 97

	low32 = 0xffffffff
	all64 = 1<<64 - 1

	afUnix, afInet, afInet6, afNetlink, afPacket, afBluetooth, afAlg, afVsock = 1, 2, 10, 16, 17, 31, 38, 40

	// The kernel takes SOCK_TYPE_MASK, the low four bits; the others are
	// SOCK_NONBLOCK and SOCK_CLOEXEC or EINVAL.
	sockTypeMask                                  = 0xf
	sockStream, sockDgram, sockRaw, sockSeqpacket = 1, 2, 3, 5

	protoICMP, protoTCP, protoUDP, protoIPv6, protoICMPv6, protoMPTCP = 1, 6, 17, 41, 58, 262

	solSocket, soType, soReusePort, soBindToDevice, soProtocol, soDomain, soBindToIfindex = 1, 3, 15, 25, 38, 39, 62

	ipOptions, ipv6OldOptions, ipv6Routing = 4, 6, 57

	protoAudit = 9 // of netlink

	msgFastopen = 0x20000000

	cloneThread = 0x00010000
	// NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
	cloneNamespaces = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
	cloneNewTime    = 0x00000080 // unshare only; part of the exit signal in clone

	sIFMT, sIFREG, sIFIFO, sIFSOCK, sIFCHR, sIFBLK = 0o170000, 0o100000, 0o010000, 0o140000, 0o020000, 0o060000

	mfdHugetlb, mfdNoexecSeal, mfdExec = 4, 8, 16
	mapHugetlb, shmHugetlb             = 0x40000, 0o4000
	insertRange                        = 0x20 // FALLOC_FL_INSERT_RANGE

	oAccmode, oCreat, oTrunc, oAsync = 0o3, 0o100, 0o1000, 0o20000
)
