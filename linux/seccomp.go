package linux

import (
	_ "embed" // the programs
	"fmt"
)

//go:generate go run -tags libseccomp ./gen

// FilterFeatures says what a seccomp filter refuses or notifies beyond the base,
// which every filter has. The features are independent of one another.
type FilterFeatures uint16

// The features.
const (
	// NoInternet refuses socket(AF_INET), socket(AF_INET6) and
	// socket(AF_NETLINK).
	NoInternet FilterFeatures = 1 << iota
	// NoSupervisor refuses what nobody would rule on: socket(AF_UNIX) and pairs of
	// datagram sockets, where those of streams work, and memory that could be executed.
	NoSupervisor
	// NoFork refuses new processes; threads and exec work.
	NoFork
	// NotifyNames notifies calls that make, remove or move names, opens that
	// may create, write or truncate, and memory that could be executed; openat2
	// answers ENOSYS.
	NotifyNames
	// NotifyMetadata notifies calls that change mode, owner, times or extended
	// attributes.
	NotifyMetadata
	// NotifySockets notifies socket (unix, IPv4, IPv6, netlink), connect, bind,
	// getsockname and sendto with an address, and refuses pairs of unix datagram sockets.
	NotifySockets
	// NotifyOpens notifies every open and every start of a program; openat2
	// answers ENOSYS.
	NotifyOpens
	// NotifyKill notifies calls that send signals, and refuses to redirect
	// SIGIO (F_SETOWN and its kin), which sends them too.
	NotifyKill
	// OwnNetwork lets pass, against NotifySockets, what makes internet and
	// netlink sockets: in a network namespace of the run's own nothing is
	// decided there.
	OwnNetwork
	// NotifyInternet notifies, beside what NotifySockets does, the calls in
	// which an internet socket meets an address: listen, getpeername, sendmsg,
	// sendmmsg, recvmsg, recvmmsg, recvfrom with an address, and options of
	// datagram sockets, for a run whose internet sockets the supervisor makes.
	NotifyInternet

	// ArgumentFeatures are held by refusals, NotifyFeatures by a supervisor.
	ArgumentFeatures = NoInternet | NoSupervisor | NoFork
	NotifyFeatures   = NotifyNames | NotifyMetadata | NotifySockets | NotifyOpens | NotifyKill | OwnNetwork | NotifyInternet
	AllFeatures      = ArgumentFeatures | NotifyFeatures
)

// Filter is one seccomp program.
type Filter struct {
	// Program is an array of struct sock_filter, 8 bytes each, as the kernel
	// takes it on the little-endian machines that there are programs for. It
	// needs no work before it is installed, and no alignment.
	Program string
	// Notify says that the program notifies, so that it has to be installed
	// with SECCOMP_FILTER_FLAG_NEW_LISTENER.
	Notify bool
}

// Instructions is the length for struct sock_fprog.
func (f Filter) Instructions() uint16 { return uint16(len(f.Program) / 8) }

// Filters gives the programs that hold the features on an architecture, a
// GOARCH, in the order in which to install them; the notifying one is last. A
// call meets all of them and gets the strictest answer, of several errors that
// of the program installed last. Each kills the process for a call of another
// architecture or of x32.
//
// It fails for an architecture that has no programs and for unknown features.
func Filters(arch string, f FilterFeatures) ([]Filter, error) {
	var blob string
	var index *programs
	switch arch {
	case "amd64":
		blob, index = amd64Blob, &amd64Programs
	case "arm64":
		blob, index = arm64Blob, &arm64Programs
	default:
		return nil, fmt.Errorf("seccomp filter for %q: only amd64 and arm64 have one", arch)
	}
	if f&^AllFeatures != 0 {
		return nil, fmt.Errorf("seccomp filter: unknown features %#x", uint16(f&^AllFeatures))
	}
	filters := []Filter{
		{Program: index.calls.in(blob)},
		{Program: index.arguments[f&ArgumentFeatures].in(blob)},
	}
	if f&NotifyFeatures != 0 {
		filters = append(filters, Filter{Program: index.notify[f/NotifyNames].in(blob), Notify: true})
	}
	return filters, nil
}

// The programs of one architecture, one after the other, each once.
var (
	//go:embed filters/amd64.bpf
	amd64Blob string
	//go:embed filters/arm64.bpf
	arm64Blob string
)

// programs says where in a blob the program for some features is.
type programs struct {
	calls     span
	arguments [8]span   // by the features below NotifyNames
	notify    [128]span // by the features from NotifyNames on; the first is empty
}

// span is a range of bytes.
type span struct{ first, end uint32 }

func (s span) in(blob string) string { return blob[s.first:s.end] }
