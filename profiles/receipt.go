package profiles

import (
	"fmt"
	"strings"
)

// Strength is how well a back end holds a clause of a Profile.
type Strength uint8

// The strengths, weakest first.
const (
	// None: not held here.
	None Strength = iota
	// Restored: damage is possible and undone or ended afterwards.
	Restored
	// Supervised: held by skillrun's supervisor, with the kernel as a net.
	Supervised
	// Kernel: held by the kernel, whatever becomes of skillrun.
	Kernel
)

var strengthWords = [...]string{"none", "restored", "supervised", "kernel"}

func (s Strength) String() string {
	if int(s) < len(strengthWords) {
		return strengthWords[s]
	}
	return "strength?"
}

// MarshalText writes the word.
func (s Strength) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
func (s *Strength) UnmarshalText(b []byte) error {
	for i, w := range strengthWords {
		if w == string(b) {
			*s = Strength(i)
			return nil
		}
	}
	return fmt.Errorf("strength %q: not one of %s", b, strings.Join(strengthWords[:], ", "))
}

// The clauses that every Profile has. Back ends report on each of them, in
// this order, with demands of the manifest ("constraint.KEY") after them.
const (
	ClauseRead         = "fs.read"      // reads outside the grants
	ClauseWrite        = "fs.write"     // writes, creations outside the grants
	ClauseDeny         = "fs.deny"      // contents of denied paths inside granted trees
	ClauseExecute      = "fs.execute"   // programs outside the grants
	ClauseControl      = "fs.control"   // control files inside writable trees
	ClauseMetadata     = "fs.metadata"  // mode, owner, times, xattrs outside writable trees
	ClauseNetwork      = "net"          // hosts, or none
	ClauseListen       = "net.listen"   // ports open to others
	ClauseUnix         = "net.unix"     // unix sockets of others
	ClauseProcesses    = "proc.others"  // signals, ptrace, memory of other processes
	ClauseSurvivors    = "proc.survive" // nothing outlives the run
	ClauseChildren     = "proc.create"  // no child processes unless granted
	ClauseTerminal     = "terminal"     // no input pushed into the terminal
	ClauseEnvironment  = "env"
	ClauseDescriptors  = "descriptors"
	ClauseCapabilities = "capabilities"
	ClauseKernel       = "kernel"       // system calls that ordinary programs never make
	ClauseKeep         = "fs.keep"      // what was there at start is not deleted without the right
	ClauseStat         = "fs.stat"      // names and stat of denied files
	ClauseCmdline      = "proc.cmdline" // command lines of other processes
	ClauseLoad         = "fs.load"      // loading, as opposed to executing, of writable code
	ClauseLater        = "fs.later"     // secrets that others put into readable trees during the run
	ClauseShm          = "ipc.shm"      // private /dev/shm, SysV and POSIX ipc
	ClauseMemory       = "limit.memory" // memory of the whole tree
	ClauseLimits       = "limit.others" // the other limits
	ClauseFronting     = "net.fronting" // another host name inside TLS
	ClauseMethod       = "net.method"   // read-only methods inside TLS
	ClauseResolved     = "net.resolved" // no private address behind a name, where a proxy resolves it
	ClauseChecked      = "net.checked"  // no host that a certificate names, where a service of the system checks it

	// ClauseScope is a demand, of hosts that are denied among others that are granted.
	ClauseScope = "constraint.resource_scope"
)

// mustClauses are the clauses without which a run is refused; the others are
// lines of the receipt. Demands of a manifest are musts.
var mustClauses = [...]string{
	ClauseRead, ClauseWrite, ClauseDeny, ClauseExecute, ClauseControl, ClauseMetadata,
	ClauseNetwork, ClauseListen, ClauseUnix, ClauseProcesses, ClauseSurvivors, ClauseChildren,
	ClauseTerminal, ClauseEnvironment, ClauseDescriptors, ClauseCapabilities, ClauseKernel,
}

var shouldClauses = [...]string{
	ClauseKeep, ClauseStat, ClauseCmdline, ClauseLoad, ClauseLater, ClauseShm,
	ClauseMemory, ClauseLimits, ClauseFronting, ClauseMethod, ClauseResolved, ClauseChecked,
}

// Clauses gives the names of the clauses that a Profile has whatever is in it,
// in the order of a receipt.
func Clauses() []string {
	return append(mustClauses[:len(mustClauses):len(mustClauses)], shouldClauses[:]...)
}

// Must says whether a clause is a must.
func Must(name string) bool {
	for _, m := range mustClauses {
		if m == name {
			return true
		}
	}
	return strings.HasPrefix(name, "constraint.")
}

// Clause is one line of a receipt: what is held, by what, how strongly.
type Clause struct {
	Name      string   `json:"clause"`
	Must      bool     `json:"must"`
	Strength  Strength `json:"strength"`
	Mechanism string   `json:"mechanism"` // such as "landlock, carved"; "" with None
	// Note says what is not held, or what it would take, in one line.
	Note string `json:"note,omitempty"`
}

// Receipt is a back end's report on every clause of a Profile.
type Receipt []Clause

// Gaps gives the clauses for which a run must be refused: a must at strength
// None and, when strict, a should below Kernel; less those named in allowed.
func (r Receipt) Gaps(strict bool, allowed []string) []Clause {
	var gaps []Clause
next:
	for _, c := range r {
		gap := c.Must && c.Strength == None || strict && !c.Must && c.Strength < Kernel
		if !gap {
			continue
		}
		for _, a := range allowed {
			if a == c.Name {
				continue next
			}
		}
		gaps = append(gaps, c)
	}
	return gaps
}
