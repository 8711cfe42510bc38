package linux

import (
	"slices"

	"skillrun/profiles"
)

// Plan is what the kernel will be told: the result of Compile, plain data that
// can be printed, compared and applied.
type Plan struct {
	// Layers are the Landlock rulesets, applied in order; the command is
	// under all of them, the supervisor's performers under the first.
	Layers []Ruleset `json:"layers"`
	// Filter names the seccomp programs.
	Filter FilterFeatures `json:"filter"`
	// Nested says that the supervisor of the run around this one rules on what
	// Landlock cannot tell; see [RegisterNested].
	Nested bool `json:"nested,omitempty"`
	// Namespaces are created around the run; empty means none.
	Namespaces Namespaces `json:"namespaces,omitempty"`
	// Sockets are made in the run's network namespace before it starts, for
	// whoever serves it from outside; see [Process.Sockets].
	Sockets []SocketCall `json:"sockets,omitempty"`
	// Mounts are made in the run's mount namespace, in order.
	Mounts []Mount `json:"mounts,omitempty"`
	// KeepCapabilities is the mask of capabilities that stay; all others are
	// dropped, from the bounding set too.
	KeepCapabilities uint64 `json:"keep_capabilities,omitempty"`
	// Rlimits are set before exec.
	Rlimits []Rlimit `json:"rlimits,omitempty"`
	// Carved lists denied paths that exist and were cut out of a granted tree.
	Carved []string `json:"carved,omitempty"`
	// PassReads says that opens to read are notified for what stands in for a
	// shared directory, and to be told of: the layers hold all others by themselves.
	PassReads bool `json:"pass_reads,omitempty"`
	// WatchReads says that they are to be told of.
	WatchReads bool `json:"watch_reads,omitempty"`
	// Empty lists files that read as empty.
	Empty []string `json:"empty,omitempty"`
	// Denied lists the denied files whose opens the supervisor decides.
	Denied []string `json:"denied,omitempty"`
	// Linked denies other names of files that the profile denies by name, and
	// directories that may hold such files and cannot be listed.
	Linked []profiles.Denial `json:"linked,omitempty"`
	// SelfTest is what the command must be refused before it starts.
	SelfTest SelfTest `json:"self_test"`
	// Receipt says how strongly each clause of the profile is held.
	Receipt profiles.Receipt `json:"receipt"`
}

// Move gives the plan with another directory in the place of one, in every path.
func (p *Plan) Move(from, to string) *Plan {
	m := *p
	move := func(path string) string {
		if profiles.Within(from, path) {
			return to + path[len(from):]
		}
		return path
	}
	m.Layers = slices.Clone(p.Layers)
	for i := range m.Layers {
		rules := slices.Clone(m.Layers[i].Rules)
		for j := range rules {
			rules[j].Path = move(rules[j].Path)
		}
		m.Layers[i].Rules = rules
	}
	m.Mounts = slices.Clone(p.Mounts)
	for i := range m.Mounts {
		mount := &m.Mounts[i]
		mount.Target, mount.Source = move(mount.Target), move(mount.Source)
		mount.Keep = slices.Clone(mount.Keep)
		for j := range mount.Keep {
			mount.Keep[j] = move(mount.Keep[j])
		}
	}
	m.SelfTest.Closed = move(p.SelfTest.Closed)
	m.Carved, m.Denied = slices.Clone(p.Carved), slices.Clone(p.Denied)
	for _, list := range [...][]string{m.Carved, m.Denied} {
		for i := range list {
			list[i] = move(list[i])
		}
	}
	return &m
}

// Private says whether the run has a directory of its own in the place of dir.
func (p *Plan) Private(dir string) bool {
	return slices.ContainsFunc(p.Mounts, func(m Mount) bool { return m.Kind == MountPrivate && m.Target == dir })
}

// MountPoints are the directories that private ones keep.
func (p *Plan) MountPoints() []string {
	var dirs []string
	for i := range p.Mounts {
		dirs = append(dirs, p.Mounts[i].Keep...)
	}
	return dirs
}

// Masks says whether some files are covered by others.
func (p *Plan) Masks() bool {
	return slices.ContainsFunc(p.Mounts, func(m Mount) bool { return m.Kind == MountMaskFile })
}

// Scoped says whether Landlock keeps the run's signals to itself.
func (p *Plan) Scoped() bool {
	return slices.ContainsFunc(p.Layers, func(r Ruleset) bool { return r.Scoped != 0 })
}

// Hidden lists the denied names that exist and were taken out of what is granted,
// by cutting it or by masks, sorted.
func (p *Plan) Hidden() []string {
	hidden := slices.Clone(p.Carved)
	for i := range p.Mounts {
		if m := &p.Mounts[i]; m.Kind == MountMaskFile || m.Kind == MountMaskDir {
			hidden = append(hidden, m.Target)
		}
	}
	slices.Sort(hidden)
	return slices.Compact(hidden)
}

// Starts lists the files and directories in which programs may be started, nil if
// no cut keeps them from being so wherever the profile says: the kernel opens a
// program to read it, too.
func (p *Plan) Starts() []string {
	if len(p.Layers) < 2 || p.Layers[1].HandledFS&readFile == 0 {
		return nil
	}
	starts := []string{}
	for _, r := range p.Layers[1].Rules {
		if r.Access&readFile != 0 {
			starts = append(starts, r.Path)
		}
	}
	return starts
}

// Ruleset is one Landlock layer. The bit values are the kernel's.
type Ruleset struct {
	HandledFS  uint64     `json:"handled_fs"`
	HandledNet uint64     `json:"handled_net,omitempty"`
	Scoped     uint64     `json:"scoped,omitempty"`
	Rules      []LandRule `json:"rules"`
}

// LandRule allows accesses beneath a path (on the file itself if it is one).
type LandRule struct {
	Path   string `json:"path"`
	Access uint64 `json:"access"`
	// Late rules are for files that exist only inside the run's mount
	// namespace, such as its own /proc; they are added there.
	Late bool `json:"late,omitempty"`
}

// Rlimit is one resource limit, soft and hard alike.
type Rlimit struct {
	Resource int    `json:"resource"`
	Value    uint64 `json:"value"`
}

// Namespaces is a set of namespace kinds.
type Namespaces uint32

// The kinds; the values are the clone flags.
const (
	NSMount Namespaces = 0x00020000
	NSUTS   Namespaces = 0x04000000
	NSIPC   Namespaces = 0x08000000
	NSUser  Namespaces = 0x10000000
	NSPID   Namespaces = 0x20000000
	NSNet   Namespaces = 0x40000000
)

// AllNamespaces is every kind that a run gets. Net is dear and made on request
// only. Cgroup would hide the names of groups and nothing else, and runtimes such
// as node's and Java's would no longer find the limits of their own group.
const AllNamespaces = NSMount | NSUTS | NSIPC | NSUser | NSPID

// SocketCall is the arguments of one socket(2).
type SocketCall struct {
	Family   int  `json:"family"`
	Type     int  `json:"type"`
	Protocol int  `json:"protocol,omitempty"`
	Optional bool `json:"optional,omitempty"` // of IPv6, which a kernel may lack
}

// Mount is one step of building the run's view of the file system.
type Mount struct {
	Kind   MountKind `json:"kind"`
	Target string    `json:"target"`
	// Source is the directory to bind, where Kind wants one.
	Source string `json:"source,omitempty"`
	// Keep lists paths beneath Target that stay visible under their names.
	Keep []string `json:"keep,omitempty"`
}

// MountKind says what a Mount does.
type MountKind string

// The kinds.
const (
	MountPrivate  MountKind = "private"   // Source at Target, with some of what was there kept
	MountProc     MountKind = "proc"      // a fresh procfs for the pid namespace
	MountBind     MountKind = "bind"      // Source again at Target
	MountReadOnly MountKind = "read-only" // Target, a mount point by now, becomes read-only
	MountMaskDir  MountKind = "mask-dir"  // an empty, unreadable directory over Target
	MountMaskFile MountKind = "mask-file" // an empty, unreadable file over Target
)
