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

// makeCgroup makes the run's control groups.
func (o *own) makeCgroup(place linux.CgroupPlace, spec *Spec) (*linux.Cgroup, error) {
	name := cgroupPrefix + filepath.Base(o.dir)
	if err := os.WriteFile(o.cgroups(), []byte(strings.Join(place.Paths(name, &spec.Profile.Limits), "\n")), 0o600); err != nil {
		return nil, err
	}
	return place.Make(name, &spec.Profile.Limits)
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
