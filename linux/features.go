package linux

// Features is what a kernel, as seen from this process, can do. [Probe] fills
// it in by doing, never by reading version numbers: kernels claim what a
// security module or a container then refuses. Every degraded kernel is a
// value of this type and so a table test.
type Features struct {
	// Landlock is the usable Landlock ABI; 0 is none.
	Landlock int `json:"landlock"`
	// Seccomp says that filters can be installed.
	Seccomp bool `json:"seccomp"`
	// Notify says that a filter can have a listener (5.0; one in each chain
	// of filters, so false inside another supervisor).
	Notify bool `json:"notify"`
	// Outer is what the supervisor of a run around this process is notified of,
	// if it takes on the runs inside; 0 if there is none.
	Outer FilterFeatures `json:"outer,omitempty"`
	// Namespaces says that the run can have its own, with mounts in them.
	Namespaces bool `json:"namespaces"`
	// NetNamespace says that it can have its own network as well, and that a
	// supervisor can fetch the sockets that it makes there (pidfd_getfd, 5.6).
	NetNamespace bool `json:"net_namespace"`
	// Children says that the kernel lists a process's children, so that no
	// orphan of a run is missed (CONFIG_PROC_CHILDREN, and a /proc).
	Children bool `json:"children"`
	// Pidfd says that processes can be held by descriptor (5.3).
	Pidfd bool `json:"pidfd"`
	// CloseRange says that close_range(2) can mark descriptors (5.11).
	CloseRange bool `json:"close_range"`
	// UID is the effective user; Capabilities the effective set.
	UID          int    `json:"uid"`
	Capabilities uint64 `json:"capabilities"`
	// Cgroup says how the run's tree can be limited: "v2", "v1" or "".
	Cgroup string `json:"cgroup"`
}
