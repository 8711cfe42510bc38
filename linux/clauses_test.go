package linux_test

import (
	"slices"
	"testing"
	"testing/fstest"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"skillrun/linux"
	"skillrun/profiles"
)

// compileFor compiles rules for a machine with Landlock and seccomp.
func compileFor(supervise bool, process profiles.Process, rules ...profiles.PathRule) *linux.Plan {
	p := &profiles.Profile{Workspace: "/w", Paths: rules, Process: process}
	f := linux.Features{Landlock: 7, Seccomp: true, Notify: supervise}
	return linux.Compile(p, f, linux.Facts{FS: fstest.MapFS{"w/x": {}, "data/x": {}, "own/x": {}}, Own: []string{"/own"}, Supervise: supervise})
}

// TestOwnDirectoriesExecute: programs start in the run's own directories where
// the profile says so, whatever it says about the workspace.
func TestOwnDirectoriesExecute(t *testing.T) {
	workspace := profiles.PathRule{Path: "/w", Tree: true, Access: profiles.Read}
	for _, own := range []bool{false, true} {
		for _, access := range []profiles.Access{profiles.Read, profiles.Read | profiles.Execute} {
			workspace.Access = access
			plan := compileFor(true, profiles.Process{ExecuteOwn: own}, workspace)
			found := false
			for _, r := range plan.Layers[0].Rules {
				if r.Path == "/own" {
					found = true
					if got := r.Access&ll.AccessFSExecute != 0; got != own {
						t.Errorf("profile says %t, workspace %s: executes in its own directories: %t", own, access, got)
					}
				}
			}
			if !found {
				t.Errorf("no rule for the run's own directories: %+v", plan.Layers[0].Rules)
			}
		}
	}
}

// TestKeepClause: what existed is not deleted, and where that is not held the
// receipt says so, whatever may be deleted elsewhere.
func TestKeepClause(t *testing.T) {
	const (
		write = profiles.Read | profiles.Write | profiles.Create
		all   = write | profiles.Delete
	)
	rule := func(path string, a profiles.Access) profiles.PathRule {
		return profiles.PathRule{Path: path, Tree: true, Access: a}
	}
	for _, c := range []struct {
		name            string
		rules           []profiles.PathRule
		without, within profiles.Strength // a supervisor
	}{
		{"reading", []profiles.PathRule{rule("/w", profiles.Read)}, profiles.Kernel, profiles.Kernel},
		{"writing", []profiles.PathRule{rule("/w", write)}, profiles.None, profiles.Supervised},
		{"deleting", []profiles.PathRule{rule("/w", all)}, profiles.Kernel, profiles.Kernel},
		{"deleting in another tree", []profiles.PathRule{rule("/w", all), rule("/data", write)}, profiles.None, profiles.Supervised},
		{"deleting above", []profiles.PathRule{rule("/", all), rule("/data", write)}, profiles.Kernel, profiles.Kernel},
	} {
		for _, supervise := range []bool{false, true} {
			want := c.without
			if supervise {
				want = c.within
			}
			receipt := compileFor(supervise, profiles.Process{}, c.rules...).Receipt
			i := slices.IndexFunc(receipt, func(clause profiles.Clause) bool { return clause.Name == profiles.ClauseKeep })
			if i < 0 || receipt[i].Strength != want {
				t.Errorf("%s, supervised %t: %+v, want %s", c.name, supervise, receipt, want)
			}
		}
	}
}

// TestForeignListener: where somebody else's supervisor makes the run's calls,
// no clause that Landlock holds elsewhere is said to be held; what is refused in
// the kernel, before anybody is asked, still is.
func TestForeignListener(t *testing.T) {
	want := map[string]profiles.Strength{
		profiles.ClauseRead: profiles.Kernel, profiles.ClauseWrite: profiles.Kernel, profiles.ClauseDeny: profiles.Kernel,
		profiles.ClauseExecute: profiles.Kernel, profiles.ClauseNetwork: profiles.Kernel, profiles.ClauseMetadata: profiles.Supervised,
	}
	for _, foreign := range []bool{false, true} {
		for _, c := range compileFor(!foreign, profiles.Process{}, profiles.PathRule{Path: "/w", Tree: true, Access: profiles.Read}).Receipt {
			if strength, ok := want[c.Name]; ok && c.Strength != strength {
				t.Errorf("foreign %t: %+v, want %s", foreign, c, strength)
			}
		}
		for _, name := range []string{profiles.ClauseRead, profiles.ClauseWrite, profiles.ClauseDeny, profiles.ClauseExecute, profiles.ClauseMetadata} {
			want[name] = profiles.None
		}
	}
}

// TestStandIns: where a directory of the run's own stands in for a shared one
// without a mount, opens to read are notified for it, and decided by the
// supervisor only where something else wants that.
func TestStandIns(t *testing.T) {
	tree := func(path string) profiles.PathRule {
		return profiles.PathRule{Path: path, Tree: true, Access: profiles.Read | profiles.Write | profiles.Create}
	}
	secret := profiles.Denial{Path: "/w", Match: ".env", Access: profiles.AllAccess, Class: profiles.Sensitive}
	for _, c := range []struct {
		name                  string
		unsupervised, spaces  bool
		observe, hidden, none bool
		workspace             string
		notified, passes      bool
		watches               bool
	}{
		{name: "without namespaces", workspace: "/w", notified: true, passes: true},
		{name: "with namespaces", workspace: "/w", spaces: true},
		{name: "with namespaces, the workspace in it", workspace: "/tmp/w", spaces: true, notified: true, passes: true},
		{name: "none there", workspace: "/w", none: true},
		{name: "no supervisor", workspace: "/w", unsupervised: true},
		{name: "a secret in the workspace", workspace: "/w", hidden: true, notified: true},
		{name: "observed", workspace: "/w", observe: true, spaces: true, notified: true, passes: true, watches: true},
		{name: "observed, without namespaces", workspace: "/w", observe: true, notified: true, passes: true, watches: true},
		{name: "observed, a secret in the workspace", workspace: "/w", observe: true, hidden: true, notified: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := fstest.MapFS{"w/x": {}, "w/.env": {}, "own/tmp/x": {}, "tmp/w/x": {}, "proc/sys/x": {}}
			if c.none {
				delete(files, "tmp/w/x")
			}
			p := &profiles.Profile{Workspace: c.workspace, Paths: []profiles.PathRule{tree(c.workspace)}}
			if c.hidden {
				p.Denials = []profiles.Denial{secret}
			}
			f := linux.Features{Landlock: 7, Seccomp: true, Notify: !c.unsupervised, Namespaces: c.spaces}
			plan := linux.Compile(p, f, linux.Facts{FS: files, Own: []string{"/own/tmp"}, Supervise: true, Namespaces: c.spaces, Observe: c.observe,
				Private: []linux.Substitute{{From: "/tmp", To: "/own/tmp"}}})
			if notified := plan.Filter&linux.NotifyOpens != 0; notified != c.notified || plan.PassReads != c.passes || plan.WatchReads != c.watches {
				t.Errorf("opens notified: %t, those to read passed: %t, watched: %t; want %t, %t, %t",
					notified, plan.PassReads, plan.WatchReads, c.notified, c.passes, c.watches)
			}
		})
	}
}

// TestNestedClauses: a run for which the outer one's supervisor answers says so,
// and what that one is not asked about is a gap; so is all of it where nobody
// answers.
func TestNestedClauses(t *testing.T) {
	p := &profiles.Profile{Workspace: "/w", Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write | profiles.Create}},
		Denials: []profiles.Denial{
			{Path: "/w", Match: ".env", Access: profiles.AllAccess, Class: profiles.Sensitive},
			{Path: "/w", Match: ".envrc", Access: profiles.Write | profiles.Create | profiles.Delete, Class: profiles.Control},
		}}
	const names = linux.NotifyNames | linux.NotifyMetadata
	clauses := []string{profiles.ClauseRead, profiles.ClauseWrite, profiles.ClauseDeny, profiles.ClauseControl, profiles.ClauseMetadata}
	secret := fstest.MapFS{"w/x": {}, "w/.env": {Data: []byte("SECRET"), Mode: 0o600}, "own/x": {}}
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		outer linux.FilterFeatures
		gaps  []string
	}{
		{"nobody answers", secret, 0, clauses},
		{"only names are asked about", secret, linux.NotifyNames, clauses},
		{"reads are not asked about", secret, names, []string{profiles.ClauseDeny}},
		{"reads are asked about", secret, names | linux.NotifyOpens, nil},
		{"nothing to be read", fstest.MapFS{"w/x": {}, "own/x": {}}, names, nil},
		{"masked by the outer run", fstest.MapFS{"w/x": {}, "w/.env": {}, "own/x": {}}, names, nil},
	} {
		f := linux.Features{Landlock: 7, Seccomp: true, Outer: c.outer}
		plan := linux.Compile(p, f, linux.Facts{FS: c.files, Own: []string{"/own"}, Supervise: true})
		if plan.Nested != (c.outer&names == names) || plan.Filter&linux.NotifyFeatures != 0 {
			t.Errorf("%s: nested %t, filter %b", c.name, plan.Nested, plan.Filter)
		}
		var gaps []string
		for _, line := range plan.Receipt {
			if !slices.Contains(clauses, line.Name) {
				continue
			}
			if line.Strength == profiles.None {
				gaps = append(gaps, line.Name)
			} else if line.Strength != profiles.Supervised {
				t.Errorf("%s: %s is %s", c.name, line.Name, line.Strength)
			}
		}
		if !slices.Equal(gaps, c.gaps) {
			t.Errorf("%s: gaps %v, want %v", c.name, gaps, c.gaps)
		}
		if plan.Nested && len(plan.Layers) != 2 {
			t.Errorf("%s: %d layers", c.name, len(plan.Layers))
		}
	}
}

// TestMemoryOfAProcess: each process is bounded where somebody sets a limit of memory
// and no cgroup holds it, or where nobody can look; not below a preset's limit,
// where programs that reserve terabytes (-fsanitize=address) are to start. The receipt
// says which.
func TestMemoryOfAProcess(t *testing.T) {
	const data = 2 // RLIMIT_DATA
	for _, c := range []struct {
		name          string
		memory        int64
		cgroup        string
		children      bool
		firm, bounded bool
		says          string
	}{
		{"no limit", 0, "", true, true, false, "no limit asked for"},
		{"a preset's, looked at", 1 << 30, "", true, false, false, "launcher, looking at the run"},
		{"somebody's, looked at", 1 << 30, "", true, true, true, "launcher, looking at the run; rlimits"},
		{"a preset's, unseen", 1 << 30, "", false, false, true, ""},
		{"somebody's, in a cgroup", 1 << 30, "v2", true, true, false, "cgroup v2"},
	} {
		p := &profiles.Profile{Workspace: "/w", Limits: profiles.Limits{Memory: c.memory}}
		plan := linux.Compile(p, linux.Features{Landlock: 7, Seccomp: true, Notify: true, Cgroup: c.cgroup, Children: c.children},
			linux.Facts{FS: fstest.MapFS{"w/x": {}}, Supervise: true, Firm: c.firm})
		if got := slices.ContainsFunc(plan.Rlimits, func(r linux.Rlimit) bool { return r.Resource == data }); got != c.bounded {
			t.Errorf("%s: each process is bounded: %t, want %t", c.name, got, c.bounded)
		}
		for _, clause := range plan.Receipt {
			if clause.Name == profiles.ClauseMemory && clause.Mechanism != c.says {
				t.Errorf("%s: the receipt says %q, want %q", c.name, clause.Mechanism, c.says)
			}
		}
	}
}

// TestNoPriorities: whoever may run ahead of all others lends that to no run, whatever
// the limits of its preset.
func TestNoPriorities(t *testing.T) {
	const nice, rtprio = 13, 14 // RLIMIT_NICE, RLIMIT_RTPRIO
	plan := linux.Compile(&profiles.Profile{Workspace: "/w"}, linux.Features{Landlock: 7, Seccomp: true}, linux.Facts{FS: fstest.MapFS{"w/x": {}}})
	for _, want := range []linux.Rlimit{{Resource: nice}, {Resource: rtprio}} {
		if !slices.Contains(plan.Rlimits, want) {
			t.Errorf("%v: not among %v", want, plan.Rlimits)
		}
	}
}

// TestUnresolved: what is denied to a name is not held where a proxy of the machine
// resolves it, and that is a gap.
func TestUnresolved(t *testing.T) {
	p := &profiles.Profile{Workspace: "/w", Network: profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "a.example", Except: []string{"9.9.9.9"}}}}}
	for _, proxied := range []bool{true, false} {
		plan := linux.Compile(p, linux.Features{Landlock: 7, Seccomp: true, Notify: true}, linux.Facts{FS: fstest.MapFS{"w/x": {}}, Supervise: true, Proxied: proxied})
		gap := slices.ContainsFunc(plan.Receipt.Gaps(false, nil), func(g profiles.Clause) bool { return g.Name == profiles.ClauseScope })
		if gap != proxied {
			t.Errorf("proxied %v: a gap %v", proxied, gap)
		}
	}
}
