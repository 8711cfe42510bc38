package main

import (
	"fmt"
	"os"

	"skillrun/audit/private"
	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// diagnose tries every mechanism in processes of its own.
func diagnose() ([]check, any) {
	f := linux.ProbeDeep()
	checks := []check{
		{"landlock", f.Landlock > 0, fmt.Sprintf("files and execution held by the kernel (ABI %d)", f.Landlock),
			"boot Linux 5.13 or later with lsm=landlock,... (in containers: a runtime from 2022 or later)"},
		{"landlock:3", f.Landlock >= 3, "truncation by path held by Landlock", "Linux 6.2; until then the supervisor holds it"},
		{"landlock:6", f.Landlock >= 6, "signals and abstract sockets scoped by Landlock", "Linux 6.12; until then the supervisor holds them"},
		{"seccomp", f.Seccomp, "system calls limited to a list", "a kernel with CONFIG_SECCOMP_FILTER, a container that allows seccomp(2)"},
		{"notify", f.Notify, "calls that Landlock cannot judge go to the supervisor",
			"Linux 5.0; only one tool in a chain can listen: run outside the other one, unless that is skillrun, which then rules for both"},
		{"namespaces", f.Namespaces, "masks, private /tmp and process list",
			"Ubuntu: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for this program; Docker: nothing to do, Landlock and the supervisor hold what matters"},
		{"net-namespace", f.NetNamespace, "a network of the run's own", "as for namespaces, and a container that allows pidfd_getfd(2), else the supervisor leads the run's connections"},
		{"children", f.Children, "no process of a run is lost without a pid namespace", "a kernel with CONFIG_PROC_CHILDREN and a mounted /proc"},
		{"pidfd", f.Pidfd, "processes held by descriptor", "Linux 5.3"},
		{"close-range", f.CloseRange, "inherited descriptors closed", "Linux 5.11"},
	}
	checks = append(checks, check{"cgroup", f.Cgroup != "", "limits of memory and processes held by the kernel",
		"a delegated control group, as of systemd-run --user --scope -p Delegate=yes; without one skillrun looks at the run from time to time"})
	if killed, known := linux.ProveKills(); known {
		checks = append(checks, check{"kills", killed, "calls of other architectures end their process", "as for seccomp"})
	}
	return checks, f
}

// limitsHere gives the clauses that nothing holds on this machine, for a run that
// may read and write a workspace with a secret in it.
func limitsHere(features any) []profiles.Clause {
	f, ok := features.(linux.Features)
	if !ok { // --agent looked at a hook
		return nil
	}
	dir, err := os.MkdirTemp("", "skillrun-doctor-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(dir)
	p := &profiles.Profile{
		Workspace: dir,
		Paths:     []profiles.PathRule{{Path: dir, Tree: true, Access: profiles.Read | profiles.Write | profiles.Create}},
		Denials:   []profiles.Denial{{Path: dir, Match: ".env", Access: profiles.AllAccess}},
		Process:   profiles.Process{Create: true},
	}
	var list []profiles.Clause
	// TMPDIR may be another user's, who can put a directory of theirs in its place.
	own, err := private.OpenDir(dir)
	if err != nil {
		return nil
	}
	defer own.Close()
	if private.Replace(own, ".env", nil) != nil {
		return nil
	}
	for _, c := range sandbox.PlanFor(p, f, &profiles.Host{FS: os.DirFS("/")}, nil, "", false).Receipt {
		if c.Strength == profiles.None {
			list = append(list, c)
		}
	}
	return list
}
