// Package profiles holds the Profile: what one run may do, in plain data that
// no operating system and no manifest format shows through.
//
// A Profile is the narrow waist of skillrun. Package policy produces one from
// manifests and grants; the back ends (linux, darwin, wasm) compile it. What a
// Profile means is defined by code in this package, [Profile.Allows] and
// [Profile.Reaches], and every back end is held to that by property tests.
//
// Rules are a set: their order has no meaning, and a [Denial] always beats a
// grant. The zero Profile allows nothing.
package profiles

import "time"

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
	Workspace string
	// Skill is the resolved directory of the skill; "" if there is none.
	// It is never writable from inside, whatever the rules say.
	Skill string
	// Home is the user's real home directory, for messages and display only.
	Home string

	Paths   []PathRule
	Denials []Denial
	Network Network
	// Sockets are the unix sockets outside the run that it may talk to.
	Sockets []SocketRule
	Env     Env
	Process Process
	Limits  Limits
	// Demands are constraints of a manifest that no Profile field expresses.
	// A back end reports each as a clause of strength None, unless it can
	// hold it.
	Demands []Demand
	// Redact names what must never appear in captured output.
	Redact []Secret
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
	Create bool
	// Query allows seeing the user's other processes.
	Query bool
	// AnyMode allows modes that open files to others, set-uid and set-gid, on
	// what the profile may write.
	AnyMode bool
	// ExecuteOwn allows starting programs that lie in the run's own HOME and
	// temporary directory, which the run can write.
	ExecuteOwn bool
	Origin     Origin
}

// SocketRule allows connecting and sending to one unix socket: a path, or an
// abstract name written "@name".
type SocketRule struct {
	Path   string
	Origin Origin
}

// Env says which variables of the caller's environment the run receives. What
// is not named is not passed.
type Env struct {
	// Pass lists names; a name may end in "*".
	Pass []EnvRule
	// Deny lists names that are never passed, whatever Pass says. A "*" stands
	// for any text, and ASCII case does not count.
	Deny []EnvRule
	// Allow lists exact names that are passed although Deny covers them: the
	// user, or an accepted secrets.read, named them.
	Allow []EnvRule
	// Set gives fixed values. Set beats Pass, Deny beats neither: the values
	// are ours.
	Set []EnvVar
}

// EnvRule names a variable, or several with a "*".
type EnvRule struct {
	Name string
	// Except lists names that the rule leaves alone, in Deny only: a secret
	// that the user granted by name.
	Except []string
	Origin Origin
}

// EnvVar is a variable with its value.
type EnvVar struct {
	Name, Value string
	Origin      Origin
}

// Demand is a manifest constraint that the neutral form has no field for, such
// as a rate limit on file reads. Name is "constraint.KEY".
type Demand struct {
	Name   string
	Detail string
	Origin Origin
}

// Secret is a value to be replaced in captured output: the value of a variable
// (Env) or the content of a file (Path).
type Secret struct {
	Env, Path string
	Origin    Origin
}

// Limits bound what the run may use. Zero means no limit of ours.
type Limits struct {
	Memory    int64         // bytes of resident memory of the whole tree
	CPU       time.Duration // processor time, per process where no cgroup holds the tree
	Wall      time.Duration // time from start to end
	Processes int64         // processes and threads alive at once
	OpenFiles int64         // descriptors per process
	FileSize  int64         // bytes in one file
	Output    int64         // bytes on stdout and stderr together
}
