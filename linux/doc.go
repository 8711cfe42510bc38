// Package linux holds a run to its Profile on Linux: with Landlock, seccomp,
// namespaces where the machine has them, and a supervisor for what none of
// these can say.
//
// It goes in three steps, of which only the last two talk to a kernel:
//
//   - [Compile] turns a Profile into a [Plan]. The kernel's abilities are an
//     argument ([Features]; [Probe] finds this kernel's), and so is the file system.
//     The Plan is plain data, and its Receipt says clause by clause how strongly the
//     Profile is held; it is for the caller to refuse gaps.
//   - [Start] makes a process under the Plan: namespaces, mounts, Landlock,
//     capabilities, limits, filter. That process tries what must be refused
//     ([SelfTest]) before it becomes the command. The guardian, a process of its
//     own, starts it, waits for it, and ends whatever it leaves behind.
//   - A [Supervisor] answers the calls that the filter notifies. It resolves what a
//     call is about, rules on it, and makes the call itself, on a thread under the
//     run's first Landlock layer. The second layer, which only the command is
//     under, lacks all that is supervised: a call that nobody ruled on is refused by
//     the kernel.
//
// To read the code, begin with compile.go and clauses.go, then launch_linux.go,
// fork_linux.go and guardian_linux.go, then supervise_calls_linux.go, the table of
// supervised calls, from which each handler can be found. seccomp_table.go has the
// system calls that a run may make, with a reason for each.
//
// Files that need a Linux kernel end in _linux.go; the others build and are
// tested everywhere.
package linux
