// Package profiles holds the Profile: what one run may do, in plain data that
// no operating system and no manifest format shows through.
//
// A Profile is the narrow waist of skillrun. Package policy produces one from
// manifests and grants; the back ends (linux, darwin) compile it. What a
// Profile means is defined by code in this package, [Profile.Allows] and
// [Profile.Reaches], and every back end is held to that by property tests.
//
// Rules are a set: their order has no meaning, and a [Denial] always beats a
// grant. The zero Profile allows nothing.
package profiles

import (
	"cmp"
	"time"
)

// Profile says what one run may do. Build it, call [Profile.Normalize], check
// it with [Profile.Validate]; after that treat it as immutable.
//
// All paths are absolute, clean and free of symbolic links: whoever builds the
// Profile resolves them (a rule on a link would be a rule on its target in
// Landlock and on nothing at all in Seatbelt). The run's own private HOME and
// temporary directory are not in the Profile, since they differ from run to
// run: back ends always grant them.
type Profile struct {
	// Workspace is the directory the run works in; "" if there is none.
	Workspace string `json:"workspace,omitempty"`
	// Skill is the resolved directory of the skill; "" if there is none.
	// It is never writable from inside, whatever the rules say.
	Skill string `json:"skill,omitempty"`
	// Home is the user's real home directory. It gives no right: for messages,
	// and for what the run finds at the same place beneath its own.
	Home string `json:"home,omitempty"`

	Paths   []PathRule `json:"paths,omitempty"`
	Denials []Denial   `json:"denials,omitempty"`
	Network Network    `json:"network,omitzero"`
	// Sockets are the unix sockets outside the run that it may talk to.
	Sockets []SocketRule `json:"sockets,omitempty"`
	Env     Env          `json:"env,omitzero"`
	Process Process      `json:"process,omitzero"`
	Limits  Limits       `json:"limits,omitzero"`
	// Demands are constraints of a manifest that no Profile field expresses.
	// A back end reports each as a clause of strength None, unless it can
	// hold it.
	Demands []Demand `json:"demands,omitempty"`
	// Empty are files that read as empty where the run may not read them, since
	// a refusal would end the program: what git's configuration includes. They
	// give no right, and only Linux has them so.
	Empty []string `json:"empty,omitempty"`
	// Redact names what must never appear in captured output.
	Redact []Secret `json:"redact,omitempty"`
}

// Origin says where a rule comes from: which source (a file, a flag, built-in
// data), which capability, and why. It never takes part in a decision, in the
// canonical bytes or in the hash.
type Origin struct {
	// Source is a file with a line ("skillguard-manifest.json:12"), a flag
	// ("--grant"), an answer ("prompt"), or shipped data
	// ("built-in:sensitive-paths").
	Source string `json:"source"`
	// Capability is the dotted name, such as "filesystem.read"; "" for data.
	Capability string `json:"capability,omitempty"`
	// Reason is one line for people.
	Reason string `json:"reason,omitempty"`
}

// Process says what the run may do with processes. Threads are always allowed,
// and the command that the user typed may always start.
type Process struct {
	// Create allows child processes (fork and exec).
	Create bool `json:"create,omitempty"`
	// Query allows seeing the user's other processes.
	Query bool `json:"query,omitempty"`
	// AnyMode allows modes that open files to others, set-uid and set-gid, on
	// what the profile may write.
	AnyMode bool `json:"any_mode,omitempty"`
	// ExecuteOwn allows starting programs that lie in the run's own HOME and
	// temporary directory, which the run can write.
	ExecuteOwn bool   `json:"execute_own,omitempty"`
	Origin     Origin `json:"origin,omitzero"`
}

// SocketRule allows connecting and sending to one unix socket: a path, or an
// abstract name written "@name".
type SocketRule struct {
	Path   string `json:"path"`
	Origin Origin `json:"origin,omitzero"`
}

// Env says which variables of the caller's environment the run receives. What
// is not named is not passed.
type Env struct {
	// Pass lists names; a name may end in "*".
	Pass []EnvRule `json:"pass,omitempty"`
	// Deny lists names that are never passed, whatever Pass says. A "*" stands
	// for any text, and ASCII case does not count.
	Deny []EnvRule `json:"deny,omitempty"`
	// Allow lists exact names that are passed although Deny covers them: the
	// user, or an accepted secrets.read, named them.
	Allow []EnvRule `json:"allow,omitempty"`
	// Set gives fixed values. Set beats Pass, Deny beats neither: the values
	// are ours.
	Set []EnvVar `json:"set,omitempty"`
}

// EnvRule names a variable, or several with a "*".
type EnvRule struct {
	Name   string `json:"name"`
	Origin Origin `json:"origin,omitzero"`
}

// EnvVar is a variable with its value.
type EnvVar struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin Origin `json:"origin,omitzero"`
}

// Demand is a manifest constraint that the neutral form has no field for, such
// as a rate limit on file reads. Name is "constraint.KEY",
// a must; or "hook.KEY" where it speaks of the agent's tool, whose hook holds
// it, and the run itself is none the worse: a line of the receipt.
type Demand struct {
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"`
	Origin Origin `json:"origin,omitzero"`
}

// Secret is a value to be replaced in captured output: the value of a variable
// (Env) or the content of a file (Path).
type Secret struct {
	Env    string `json:"env,omitempty"`
	Path   string `json:"path,omitempty"`
	Origin Origin `json:"origin,omitzero"`
}

// Limits bound what the run may use. Zero means no limit of ours.
type Limits struct {
	Memory    int64         `json:"memory,omitempty"`     // bytes of resident memory of the whole tree
	CPU       time.Duration `json:"cpu,omitempty"`        // processor time of the whole tree
	Wall      time.Duration `json:"wall,omitempty"`       // time from start to end
	Processes int64         `json:"processes,omitempty"`  // processes and threads alive at once
	OpenFiles int64         `json:"open_files,omitempty"` // descriptors per process
	FileSize  int64         `json:"file_size,omitempty"`  // bytes in one file
	Output    int64         `json:"output,omitempty"`     // bytes on stdout and stderr together
}

// Else gives l, and where it sets no limit that of m.
func (l Limits) Else(m Limits) Limits {
	return Limits{
		Memory:    cmp.Or(l.Memory, m.Memory),
		CPU:       cmp.Or(l.CPU, m.CPU),
		Wall:      cmp.Or(l.Wall, m.Wall),
		Processes: cmp.Or(l.Processes, m.Processes),
		OpenFiles: cmp.Or(l.OpenFiles, m.OpenFiles),
		FileSize:  cmp.Or(l.FileSize, m.FileSize),
		Output:    cmp.Or(l.Output, m.Output),
	}
}
