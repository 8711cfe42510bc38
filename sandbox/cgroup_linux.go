package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"skillrun/linux"
)

// cgroupPrefix begins the names of runs' control groups.
const cgroupPrefix = "skillrun-"

// cgroups is the file that lists a run's control groups, in its own directory:
// what a killed launcher left is removed by the next run, groups too.
func (o *own) cgroups() string { return filepath.Join(o.dir, "cgroups") }

// makeCgroup makes the run's control groups, of version 1 or 2, where the kernel is to
// hold its limits and can; nil is none.
func (o *own) makeCgroup(spec *Spec) (group *linux.Cgroup, version string) {
	l := &spec.Profile.Limits
	if !spec.Firm || l.Memory <= 0 && l.Processes <= 0 {
		return nil, ""
	}
	place, ok := linux.FindCgroup()
	if !ok {
		return nil, ""
	}
	name := cgroupPrefix + filepath.Base(o.dir)
	if os.WriteFile(o.cgroups(), []byte(strings.Join(place.Paths(name, l), "\n")), 0o600) != nil {
		return nil, ""
	}
	// Permissions do not tell whether one can be made: around us may be a run, or
	// another sandbox, whose rules forbid it.
	group, err := place.Make(name, l)
	if err != nil {
		return nil, ""
	}
	return group, place.Version
}

// removeCgroups removes what a run that is gone has left. Only empty
// directories of such a name can go. It is false where the last processes of
// the run are still on their way out.
func (o *own) removeCgroups() bool {
	b, err := os.ReadFile(o.cgroups())
	if err != nil {
		return true
	}
	gone := true
	for _, d := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(filepath.Base(d), cgroupPrefix) {
			gone = !errors.Is(linux.RemoveCgroups([]string{d}), unix.EBUSY) && gone
		}
	}
	return gone
}
