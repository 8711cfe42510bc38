package linux_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

// The mounts and groups of machines as they are found.
const (
	unifiedMounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
	hybridMounts  = "31 30 0:27 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n" +
		"32 30 0:28 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n" +
		"33 30 0:29 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n" +
		"34 30 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
	containerMounts = "40 30 0:27 /docker/c1 /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n"
)

func TestCgroupPlace(t *testing.T) {
	all := func(string) bool { return true }
	below := func(dir string) func(string) bool { return func(d string) bool { return strings.HasPrefix(d, dir) } }
	const user = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service"
	for _, tt := range []struct {
		name, mounts, groups string
		writable             func(string) bool
		files                map[string]string
		want                 string
	}{
		{"a terminal of a desktop", unifiedMounts, "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n", below(user),
			map[string]string{user + "/app.slice/cgroup.subtree_control": "memory pids"}, "v2 " + user + "/app.slice"},
		{"a login session", unifiedMounts, "0::/user.slice/user-1000.slice/session-3.scope\n", below(user),
			map[string]string{"/sys/fs/cgroup/user.slice/user-1000.slice/cgroup.subtree_control": "memory pids"}, ""},
		{"root's session", unifiedMounts, "0::/user.slice/user-0.slice/session-3.scope\n", all,
			map[string]string{"/sys/fs/cgroup/user.slice/user-0.slice/cgroup.subtree_control": "cpu memory pids"}, "v2 /sys/fs/cgroup/user.slice/user-0.slice"},
		{"no limit is left behind", unifiedMounts, "0::/system.slice/job.service\n", all,
			map[string]string{"/sys/fs/cgroup/system.slice/cgroup.subtree_control": "memory pids", "/sys/fs/cgroup/system.slice/job.service/memory.max": "1073741824"}, ""},
		{"nor a share of the processor", unifiedMounts, "0::/system.slice/job.service\n", all,
			map[string]string{"/sys/fs/cgroup/system.slice/cgroup.subtree_control": "memory pids", "/sys/fs/cgroup/system.slice/job.service/cpu.max": "50000 100000"}, ""},
		{"what is not limited says max", unifiedMounts, "0::/system.slice/job.service\n", all,
			map[string]string{"/sys/fs/cgroup/system.slice/cgroup.subtree_control": "memory pids", "/sys/fs/cgroup/system.slice/job.service/memory.max": "max", "/sys/fs/cgroup/system.slice/job.service/cpu.max": "max 100000"}, "v2 /sys/fs/cgroup/system.slice"},
		{"processes are not counted", unifiedMounts, "0::/a/b\n", all, map[string]string{"/sys/fs/cgroup/a/cgroup.subtree_control": "memory"}, ""},
		{"a container", unifiedMounts, "0::/\n", all, nil, ""},
		{"hybrid", hybridMounts, "4:memory:/vm\n3:pids:/\n2:cpu,cpuacct:/\n0::/\n", all, nil,
			"v1 /sys/fs/cgroup/memory/vm /sys/fs/cgroup/pids /sys/fs/cgroup/cpu,cpuacct"},
		{"hybrid, not ours", hybridMounts, "4:memory:/vm\n3:pids:/\n0::/\n", below("/none"), nil, ""},
		{"hybrid, half ours", hybridMounts, "4:memory:/vm\n3:pids:/\n0::/\n", below("/sys/fs/cgroup/pids"), nil, ""},
		{"mounted for another group", containerMounts, "4:memory:/docker/c2\n3:pids:/\n", all, nil, ""},
		{"nothing", "", "", all, nil, ""},
		{"junk", "a b c\n1 2 3 4 5 6 -\n", "x\n:::::\n", all, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			version, memory, pids, cpuacct, ok := linux.PlaceIn(tt.mounts, tt.groups, tt.writable, func(f string) string { return tt.files[f] })
			got := version + " " + memory
			if pids != memory {
				got += " " + pids
			}
			if cpuacct != memory && cpuacct != "" {
				got += " " + cpuacct
			}
			if !ok {
				got = ""
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A group counts what runs in it and goes when that is over. From inside, with
// namespaces too, it has the name that it has outside: runtimes look up their
// limits by it.
func TestCgroup(t *testing.T) {
	place, ok := linux.FindCgroup()
	if !ok {
		sandboxtest.Skip(t, sandboxtest.Cgroups, "no group can be made here")
	}
	name := "skillrun-test-" + strconv.Itoa(os.Getpid())
	g, err := place.Make(name, &profiles.Limits{Memory: 64 << 20, Processes: 10, CPU: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if met := g.Met(); met != "" {
		t.Errorf("nothing ran and the limit of %s was met", met)
	}
	dir := tempDir(t)
	f := linux.ProbeDeep()
	plan := linux.Compile(profileFor(t, dir), f, linux.Facts{FS: os.DirFS("/"), Namespaces: f.Namespaces})
	p, err := linux.Start(plan, &linux.Command{
		Path: "/bin/sh", Argv: []string{"sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; cat /proc/self/cgroup > groups; cat /proc/self/mountinfo > mounts"}, Dir: dir, Stdio: [3]int{-1, -1, -1}, Cgroup: g,
	})
	if err == nil {
		defer p.Close()
		if err = p.Begin(); err == nil {
			_, err = p.Wait()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(dir + "/groups"); !strings.Contains(string(b), "/"+name) {
		t.Errorf("the command was in %s", b)
	}
	inside, _ := os.ReadFile(dir + "/mounts")
	outside, _ := os.ReadFile("/proc/self/mountinfo")
	if d := cmp.Diff(groupRoots(string(outside)), groupRoots(string(inside))); d != "" {
		t.Errorf("which groups are mounted, outside and inside:\n%s", d)
	}
	if cpu, ok := g.CPU(); !ok || cpu <= 0 || cpu > time.Minute {
		t.Errorf("%v of processor time (%v)", cpu, ok)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	for _, d := range g.Dirs {
		if _, err := os.Lstat(d); err == nil {
			t.Errorf("%s is left", d)
		}
	}
}

// groupRoots is which control groups are mounted where, by mountinfo.
func groupRoots(mounts string) map[string]string {
	roots := map[string]string{}
	for line := range strings.Lines(mounts) {
		if f := strings.Fields(line); strings.Contains(line, " - cgroup") && len(f) > 4 {
			roots[f[4]] = f[3]
		}
	}
	return roots
}
