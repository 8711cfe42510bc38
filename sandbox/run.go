// Package sandbox runs a command under a Profile: it picks the back end of this
// operating system, refuses what cannot be enforced, cleans the environment,
// supervises, times out, and leaves nothing behind.
package sandbox

import (
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// Mode says whether a mechanism is used.
type Mode uint8

// The modes.
const (
	// Auto uses it where it works.
	Auto Mode = iota
	// Off never uses it.
	Off
	// On fails where it does not work.
	On
)

// Spec is one run.
type Spec struct {
	// Run is the run's name, 12 letters and digits.
	Run     string
	Profile *profiles.Profile
	// Compiled is what an earlier run compiled of the same profile, with all
	// that was seen of Files unchanged; nil or zero if there is none. It is not
	// used where anything else has changed.
	Compiled *Compiled
	// Room is where the run's own directory is; nil makes one.
	Room *Room
	// Path is the executable, Argv its arguments with the program's name
	// first.
	Path string
	Argv []string
	// Dir is the working directory.
	Dir string
	// Caches is the directory of the caches that are kept from run to run, "" for
	// none; no run changes another's there. Cache names the run's own in it, by 32
	// hexadecimal digits: runs of
	// the same name must have the same rights, since each uses what another has left.
	// "" is for caches that end with the run. (On macOS all do.)
	Caches, Cache string
	// Uncached is told why the kept caches could not be had, if it is not nil.
	Uncached func(error)
	// Environ is the caller's environment, of which the profile passes some.
	Environ []string
	// Parents are the proxies by which this machine reaches what the profile
	// names; nil is none.
	Parents *egress.Parents
	// Files is the machine's file system, rooted at "/", for finding what is
	// denied; it may be a snapshot.
	Files fs.FS
	// Mounts are those of the machine that give files a second name.
	Mounts []profiles.Mount
	// Stdin, Stdout and Stderr are the command's; nil leaves one closed.
	Stdin, Stdout, Stderr *os.File
	// Tee gets a copy of what goes through stdin, stdout and stderr. A stream
	// with one is a pipe to the command; nil leaves it the caller's file.
	Tee [3]io.Writer
	// BoundOutput makes pipes of stdout and stderr even where they are
	// terminals, so that the profile's limit of output holds there too.
	BoundOutput bool
	// Firm has the kernel hold the limits of memory and processes, where this
	// process can make control groups, which takes some of a millisecond.
	// Otherwise the run is looked at from time to time.
	Firm bool
	// Nice is the least nice value of the run's processes on Linux; 0 leaves
	// the caller's.
	Nice int
	// Namespaces says whether the run gets its own.
	Namespaces Mode
	// Observe reports file opens and connects that were refused.
	Observe bool
	// Strict makes a gap of every clause below kernel strength.
	Strict bool
	// AllowGaps names the clauses that may be gaps.
	AllowGaps []string
	// Starting is called, if it is not nil, when it is known what a command will
	// run under, and again if namespaces that were to be made could not be. It
	// must not wait.
	Starting func(Started)
	// Started is called when everything is ready and before the command runs.
	// If it fails, the command does not run.
	Started func() error
	// Ended is called when every process of the run has ended, before its own
	// directories are removed; home is what it had as HOME.
	Ended func(home string)
	// Refused is called for each refusal seen, from any goroutine. It must not block.
	Refused func(Refusal)
	// Connected is called for each connection of the run that is over, refused
	// ones too, from any goroutine; refused ones also go to Refused.
	Connected func(egress.Verdict)
	// Nested is called for each run that is started inside this one, from any
	// goroutine. It must not block.
	Nested func(Inner)
	// Signals gives signals to forward to the command, as [CatchSignals] does, and
	// is called, if it is not nil, when there is about to be one, and again for a
	// second try: until then they do what they do to any program.
	Signals func() (<-chan os.Signal, error)
}

// Started is what is known before a command runs.
type Started struct {
	Receipt profiles.Receipt
	Home    string
	Temp    string
	// Around is the name of the run that this one is inside, and Depth how many it
	// is in, as their supervisor says; zero outside any.
	Around string
	Depth  int
}

// Inner is a run inside another: the name that its launcher gives it, the run that
// it was started in, and how many it is in. Only the name is the launcher's word.
type Inner struct {
	Run, Around string
	Depth       int
}

// Refusal is something that the run tried and did not get.
type Refusal struct {
	// Access and Path for files; Path alone, "host:port" or a socket's name,
	// for connections.
	Access profiles.Access
	Path   string
	Host   string
	Port   uint16
	Socket bool
	// Why says in words why a host was refused, or what no rule allows.
	Why string
	// Grantable says that a grant of the host would lift its refusal.
	Grantable bool
	// Private is the address and port that a granted name stands for, where that is
	// a private one, which is granted by itself; "" for every other refusal.
	Private string
	// Verdict names the rule that refused, if one did.
	Verdict profiles.Verdict
	// Made says of a program that this run made it, so that a grant of its path
	// would not be of what the next run makes there; Within in which directory that
	// was there before, "" for the run's own.
	Made   bool
	Within string
	// Link says of what was to be deleted that it is a symbolic link.
	Link bool
	// Inner says that the rule is of a run inside this one.
	Inner bool
	// What is the system call, for the record.
	What string
	PID  int
	// Passed waits, a second at most, until what the command had written to stderr
	// before is where it goes; nil where the call was not held up.
	Passed func()
}

// Result is how a run ended.
type Result struct {
	Status   syscall.WaitStatus
	TimedOut bool
	// Limit names the limit that ended the run: "memory", "cpu", "processes",
	// "file size", "output"; "" if none did. The wall clock is TimedOut.
	Limit string
	// Killed counts processes that were still alive when the command ended.
	Killed       int
	User, System time.Duration
	MaxResident  int64 // bytes
	// Moved is a shared directory such as /tmp in which the run made something and
	// for which, without mounts of its own, a directory of its own stood in: it
	// can open that there again, and not see it. "" if there is none.
	Moved string
	// Unstarted is a program that the run could not start, since it came
	// beside a hidden name, Beside; "" if there is none.
	Unstarted, Beside string
	// ControlsMade are control files that the run was allowed to make, since it
	// made what they control or a package manager does, directories for what is in
	// them, by each name that they may have had; MoreControls may not be listed.
	ControlsMade []string
	MoreControls int
	// Lost is why output of the command, which had been taken, could not be written,
	// such as a full disk; nil if all was, or who read it has left.
	Lost    error
	Receipt profiles.Receipt
	// Compiled is for later runs, if this one had to compile; nil otherwise.
	Compiled *Compiled
}

// A GapError says that a profile cannot be enforced here.
type GapError struct{ Gaps []profiles.Clause }

func (e *GapError) Error() string {
	var b strings.Builder
	b.WriteString("cannot enforce the profile here:")
	for i, g := range e.Gaps {
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, " %s is %s", g.Name, g.Strength)
		if g.Note != "" {
			b.WriteString(" (" + g.Note + ")")
		}
	}
	return b.String()
}

// Hint names the flags that accept the gaps.
func (e *GapError) Hint() string {
	var b strings.Builder
	b.WriteString("to run all the same, without what is named:")
	for _, g := range e.Gaps {
		b.WriteString(" --allow-gap " + g.Name)
	}
	return b.String()
}

// SocketIPv6 is the What of a refused socket of IPv6, which many programs make only
// to find out whether there is any.
const SocketIPv6 = "use of IPv6"

// HardLink is what a file with a second name was to be.
const HardLink = "hard link to"

// Word is what was tried: "read", "connect".
func (r *Refusal) Word() string {
	switch {
	case r.Socket && r.What == "bind":
		return "bind"
	case r.Socket || r.Host != "":
		return "connect"
	case r.Access != 0:
		return r.Access.Word()
	case r.What == "socket":
		return "use of the network"
	}
	return r.What
}

// Target is what it was tried on.
func (r *Refusal) Target() string {
	if r.Host != "" {
		host := r.Host
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		if r.Port == 0 {
			return host // a name that was not resolved
		}
		return host + ":" + strconv.Itoa(int(r.Port))
	}
	return r.Path
}

// Grant is the --grant that would allow it and no more, "" if there is none; of a
// program that the run made itself, as little more as it can. The command chooses
// what it is refused: a path with a "*" in it, or "*.com" as the name of a host,
// would be a pattern in a grant; the number of a process is another's in the next
// run. Nobody is told to grant the whole machine.
func (r *Refusal) Grant() string {
	switch {
	case r.Inner:
		return ""
	case r.Private != "":
		return "network.client:" + r.Private
	case r.What == "socket", r.What == SocketIPv6:
		return "network.client:HOST:PORT"
	case r.Host != "" && (!r.Grantable || !isHost(r.Host)), strings.ContainsAny(r.Path, "*?"), r.Path == "/", ofProcess(r.Path):
		return ""
	case r.Host != "":
		return "network.client:" + r.Target()
	case r.Socket:
		return "unix:" + r.Path
	case r.Access&profiles.Delete != 0:
		return "filesystem.delete:" + r.Path
	case r.Access&(profiles.Write|profiles.Create) != 0:
		return "filesystem.write:" + r.Path
	case r.Access&profiles.Execute != 0 && r.Made && r.Within == "":
		return "source_code.execute"
	case r.Access&profiles.Execute != 0 && r.Made:
		return "source_code.execute:" + r.Within
	case r.Access&profiles.Execute != 0:
		return "source_code.execute:" + r.Path
	case r.Access&profiles.Read != 0:
		return "filesystem.read:" + r.Path
	}
	return ""
}

// ofProcess says whether path is below a process's directory in /proc.
func ofProcess(path string) bool {
	rest, ok := strings.CutPrefix(path, "/proc/")
	return ok && rest != "" && '0' <= rest[0] && rest[0] <= '9'
}

// isHost says whether s is an address or a plain name.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.')
	})
}
