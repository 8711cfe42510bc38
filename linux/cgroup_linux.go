package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// CgroupPlace says where a run's control groups can be made. A place never
// leaves a limit behind that this process is under: version 1 goes beneath our
// own groups, version 2, which allows no groups beside processes, beneath an
// ancestor, if nothing on the way limits anything.
type CgroupPlace struct {
	// Version is "v2" or "v1", that of the group that counts memory.
	Version string
	memory  string // directories in which groups are made
	pids    string // the same as memory in version 2
	cpuacct string // likewise; "" if nothing counts processor time
}

// FindCgroup looks for a place whose groups can hold memory and processes, by
// permissions: [CgroupPlace.Make] may fail all the same. It costs some tens of
// microseconds.
func FindCgroup() (CgroupPlace, bool) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return CgroupPlace{}, false
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return CgroupPlace{}, false
	}
	p, ok := placeIn(string(mounts), string(groups), func(parent string) bool {
		return unix.Access(parent, unix.W_OK) == nil && unix.Access(parent+"/cgroup.procs", unix.W_OK) == nil
	}, func(file string) string {
		b, _ := os.ReadFile(file)
		return strings.TrimSpace(string(b))
	})
	return p, ok
}

// placeIn reads mountinfo and /proc/self/cgroup.
func placeIn(mounts, groups string, writable func(string) bool, read func(string) string) (p CgroupPlace, ok bool) {
	own := map[string]string{} // controller, "" for version 2: path of our group
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		for _, c := range strings.Split(f[1], ",") {
			own[c] = f[2]
		}
	}
	dirs := map[string]string{} // likewise: directory of our group
	tops := map[string]string{}
	for m := range mountLines(mounts) {
		root, at := m.Root, m.Point
		var controllers []string
		switch m.fsType {
		case "cgroup2":
			controllers = []string{""}
		case "cgroup":
			controllers = strings.Split(m.options, ",")
		}
		for _, c := range controllers {
			path, known := own[c]
			if known && profiles.Within(root, path) {
				dirs[c], tops[c] = filepath.Join(at, strings.TrimPrefix(path, root)), at
			}
		}
	}
	if dir, ok := dirs[""]; ok {
		for ; profiles.Within(tops[""], dir); dir = filepath.Dir(dir) {
			has := strings.Fields(read(dir + "/cgroup.subtree_control"))
			if slices.Contains(has, "memory") && slices.Contains(has, "pids") && writable(dir) {
				return CgroupPlace{Version: "v2", memory: dir, pids: dir, cpuacct: dir}, true
			}
			if limited(dir, read) {
				break
			}
		}
	}
	usable := func(c string) string {
		if d, ok := dirs[c]; ok && writable(d) {
			return d
		}
		return ""
	}
	p = CgroupPlace{Version: "v1", memory: usable("memory"), pids: usable("pids"), cpuacct: usable("cpuacct")}
	if p.memory == "" || p.pids == "" {
		return CgroupPlace{}, false
	}
	return p, true
}

// limited says whether a group of version 2 has a limit that its processes
// would lose by leaving it.
func limited(dir string, read func(string) string) bool {
	for _, file := range [...]string{"memory.max", "memory.high", "memory.swap.max", "pids.max", "cpu.max", "cpuset.cpus", "io.max"} {
		switch v := read(dir + "/" + file); {
		case v == "" || v == "max" || file == "cpu.max" && strings.HasPrefix(v, "max "):
		default:
			return true
		}
	}
	return false
}

// Cgroup is a run's control groups. Its zero value is none.
type Cgroup struct {
	place CgroupPlace
	// Dirs are the directories of the groups, each once.
	Dirs []string
	name string
}

// Paths are the directories that Make will make.
func (p CgroupPlace) Paths(name string, l *profiles.Limits) []string {
	var dirs []string
	for i, d := range [...]string{p.memory, p.pids, p.cpuacct} {
		if d != "" && (i < 2 || l.CPU > 0) && !slices.Contains(dirs, filepath.Join(d, name)) {
			dirs = append(dirs, filepath.Join(d, name))
		}
	}
	return dirs
}

// Make makes groups of this name with the limits of memory and processes, for
// [Command.Cgroup]. The run's processes are counted, its guardian is not.
func (p CgroupPlace) Make(name string, l *profiles.Limits) (*Cgroup, error) {
	g := &Cgroup{place: p, name: name}
	for _, d := range p.Paths(name, l) {
		if err := os.Mkdir(d, 0o755); err != nil {
			g.Remove()
			return nil, fmt.Errorf("make a control group: %w", err)
		}
		g.Dirs = append(g.Dirs, d)
	}
	memory, pids := filepath.Join(p.memory, name), filepath.Join(p.pids, name)
	limit, swap := "memory.max", "memory.swap.max"
	swapped := int64(0)
	if p.Version == "v1" {
		limit, swap, swapped = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", l.Memory
	}
	set := func(dir, file string, n int64) error {
		return os.WriteFile(filepath.Join(dir, file), strconv.AppendInt(nil, n, 10), 0)
	}
	var err error
	if l.Memory > 0 {
		if err = set(memory, limit, l.Memory); err == nil {
			// Not there where swap is not accounted for.
			set(memory, swap, swapped)
		}
	}
	if l.Processes > 0 && err == nil {
		err = set(pids, "pids.max", l.Processes)
	}
	if err != nil {
		g.Remove()
		return nil, fmt.Errorf("limit a control group: %w", err)
	}
	return g, nil
}

// works says whether groups can be made there, of which permissions do not tell:
// the rules of a sandbox around this process may forbid it.
func (p CgroupPlace) works() bool {
	g, err := p.Make("skillrun-probe-"+strconv.Itoa(os.Getpid()), &profiles.Limits{})
	return err == nil && g.Remove() == nil
}

// Remove removes the groups of a run that has ended.
func (g *Cgroup) Remove() error { return RemoveCgroups(g.Dirs) }

// RemoveCgroups removes groups by their directories. The kernel may still be
// taking the last process out of one.
func RemoveCgroups(dirs []string) error {
	var errs []error
	for _, d := range dirs {
		err := unix.Rmdir(d)
		for try := 0; err == unix.EBUSY && try < 200; try++ {
			time.Sleep(time.Millisecond)
			err = unix.Rmdir(d)
		}
		if err != nil && err != unix.ENOENT {
			errs = append(errs, fmt.Errorf("remove control group %s: %w", d, err))
		}
	}
	return errors.Join(errs...)
}

// Met gives the limit that the kernel has refused something for: "memory",
// "processes", or "".
func (g *Cgroup) Met() string {
	memory, pids := filepath.Join(g.place.memory, g.name), filepath.Join(g.place.pids, g.name)
	events := memory + "/memory.events"
	if g.place.Version == "v1" {
		events = memory + "/memory.oom_control"
	}
	switch {
	case counter(events, "oom_kill") > 0:
		return "memory"
	case counter(pids+"/pids.events", "max") > 0:
		return "processes"
	}
	return ""
}

// CPU is the processor time of all that ever ran in the group; it is false
// where nothing counts it.
func (g *Cgroup) CPU() (time.Duration, bool) {
	switch {
	case g.place.cpuacct == "":
		return 0, false
	case g.place.Version == "v1":
		b, err := os.ReadFile(filepath.Join(g.place.cpuacct, g.name, "cpuacct.usage"))
		n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		return time.Duration(n), err == nil
	}
	n := counter(filepath.Join(g.place.cpuacct, g.name, "cpu.stat"), "usage_usec")
	return time.Duration(n) * time.Microsecond, n >= 0
}

// counter reads "NAME NUMBER" from a file of such lines; -1 if it is not there.
func counter(file, name string) int64 {
	b, err := os.ReadFile(file)
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && key == name {
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// joinCgroup has the command enter its groups. The files are opened here: the
// kernel asks whether who opened them may move a process.
func (b *scripter) joinCgroup() ([]step, error) {
	if b.cmd.Cgroup == nil {
		return nil, nil
	}
	var s []step
	self := b.str("0")
	for _, d := range b.cmd.Cgroup.Dirs {
		fd, err := unix.Open(d+"/cgroup.procs", unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open control group %s: %w", d, err)
		}
		b.p.cleanup = append(b.p.cleanup, fd)
		s = append(s, stepFor(stageCgroup, unix.SYS_WRITE, uintptr(fd), self, 1))
	}
	return s, nil
}
