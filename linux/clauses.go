package linux

import (
	"slices"
	"strings"

	"skillrun/profiles"
)

// receipt says, clause by clause, what holds the profile here and how
// strongly. It is written from what the plan contains, so that it cannot
// promise what was not compiled.
func (c *compiler) receipt() {
	f, ns, sup, nested := c.f, c.plan.Namespaces != 0, c.supervise, c.plan.Nested
	add := func(name string, s profiles.Strength, mechanism, note string) {
		if s == profiles.None {
			mechanism = ""
		}
		c.plan.Receipt = append(c.plan.Receipt, profiles.Clause{
			Name: name, Must: profiles.Must(name), Strength: s, Mechanism: mechanism, Note: note,
		})
	}
	// either gives kernel strength where ok, else none with a note.
	either := func(name string, ok bool, mechanism, note string) {
		if ok {
			add(name, profiles.Kernel, mechanism, "")
		} else {
			add(name, profiles.None, "", note)
		}
	}
	const noLandlock = "this kernel has no usable Landlock (Linux 5.13, lsm=landlock)"
	const noSeccomp = "this kernel or container refuses seccomp filters"
	// Where there is Landlock a kernel knows listeners, and one is refused for
	// one reason alone: there is one.
	const elsewhere = "another run or tool listens to this run's calls: what it makes for it, this run's Landlock does not see"
	const besideNote = "a granted name is not there yet: the supervisor holds it apart from those beside it"
	land, served := f.Landlock > 0, f.Seccomp && !f.Notify && !nested
	// A supervisor that is not the run's own makes calls for it as well, and only
	// its word binds these by the run's Landlock rules.
	supervisor, decides, highest := "supervisor", "the supervisor", profiles.Kernel
	if nested {
		supervisor, highest = "the outer run's supervisor", profiles.Supervised
		decides = supervisor
	}

	switch {
	case !land:
		add(profiles.ClauseRead, profiles.None, "", noLandlock)
	case served:
		add(profiles.ClauseRead, profiles.None, "", elsewhere)
	case c.beside&profiles.Read != 0:
		add(profiles.ClauseRead, profiles.Supervised, "landlock, "+supervisor, besideNote)
	case nested:
		add(profiles.ClauseRead, profiles.Supervised, "landlock, "+supervisor, "")
	default:
		add(profiles.ClauseRead, profiles.Kernel, "landlock", "")
	}
	switch {
	case !land:
		add(profiles.ClauseWrite, profiles.None, "", noLandlock)
	case served:
		add(profiles.ClauseWrite, profiles.None, "", elsewhere)
	case c.beside != 0:
		add(profiles.ClauseWrite, profiles.Supervised, "landlock, "+supervisor, besideNote)
	case sup:
		add(profiles.ClauseWrite, highest, "landlock, "+supervisor, "")
	case f.Landlock < 3:
		add(profiles.ClauseWrite, profiles.Kernel, "landlock, seccomp", "truncate by path is refused everywhere (Landlock ABI below 3)")
	default:
		add(profiles.ClauseWrite, profiles.Kernel, "landlock", "")
	}
	switch {
	case !land:
		add(profiles.ClauseDeny, profiles.None, "", noLandlock)
	case served:
		add(profiles.ClauseDeny, profiles.None, "", elsewhere)
	case c.opens && !c.readsAsked():
		add(profiles.ClauseDeny, profiles.None, "", "denied files lie where files can be made, and the outer run's supervisor is not asked about reading there")
	case c.opens:
		add(profiles.ClauseDeny, profiles.Supervised, "carved; opens beside denied files decided by "+decides, "")
	case nested:
		add(profiles.ClauseDeny, profiles.Supervised, "landlock, carved; "+supervisor, "")
	case c.masked():
		add(profiles.ClauseDeny, profiles.Kernel, "mount masks; landlock, carved", "")
	default:
		add(profiles.ClauseDeny, profiles.Kernel, "landlock, carved", "")
	}
	either(profiles.ClauseExecute, land, "landlock", noLandlock)

	control := c.hasControl()
	switch {
	case !control:
		add(profiles.ClauseControl, profiles.Kernel, "nothing writable holds control files", "")
	case sup && land:
		add(profiles.ClauseControl, profiles.Supervised, supervisor+", second Landlock layer", "")
	default:
		add(profiles.ClauseControl, profiles.None, "", "control files in the workspace can be changed: Landlock knows no deny, and no supervisor can listen here")
	}
	switch {
	case sup:
		add(profiles.ClauseMetadata, profiles.Supervised, supervisor, "")
	default:
		add(profiles.ClauseMetadata, profiles.None, "", "modes, owners and times of the user's files can be changed: Landlock does not see it, and no supervisor can listen here")
	}

	switch {
	case c.leads:
		c.receiptLed(add)
	case c.p.Network.Mode == profiles.NetHost:
		add(profiles.ClauseNetwork, profiles.Kernel, "granted", "the host's network, unrestricted, as granted")
		add(profiles.ClauseListen, profiles.Kernel, "granted", "")
	case c.p.Network.Mode == profiles.NetHosts:
		if c.plan.Namespaces&NSNet == 0 {
			const note = "named hosts need a network namespace, or a supervisor that can listen here"
			add(profiles.ClauseNetwork, profiles.None, "", note)
			add(profiles.ClauseListen, profiles.None, "", note)
			break
		}
		add(profiles.ClauseNetwork, profiles.Kernel, "network namespace, gate", "")
		if len(c.p.Network.Listen) > 0 {
			add(profiles.ClauseListen, profiles.None, "", "ports of a network namespace are not opened to others")
		} else {
			add(profiles.ClauseListen, profiles.Kernel, "network namespace", "")
		}
	default:
		if c.tellsNetwork() {
			add(profiles.ClauseNetwork, profiles.Supervised, "supervisor; landlock for TCP", "refusals are being observed; otherwise the filter refuses by itself")
		} else {
			either(profiles.ClauseNetwork, f.Seccomp, "seccomp", noSeccomp)
		}
		if len(c.p.Network.Listen) > 0 {
			add(profiles.ClauseListen, profiles.None, "", "listening needs a supervisor that can listen here")
		} else {
			either(profiles.ClauseListen, f.Seccomp, "seccomp", noSeccomp)
		}
	}
	switch {
	case c.listens:
		add(profiles.ClauseUnix, profiles.Supervised, "supervisor", "")
	case len(c.p.Sockets) > 0:
		add(profiles.ClauseUnix, profiles.None, "", "granted sockets need the supervisor")
	default:
		either(profiles.ClauseUnix, f.Seccomp, "seccomp: no unix sockets but pairs", noSeccomp)
	}

	switch {
	case ns && land && f.Landlock < 6:
		add(profiles.ClauseProcesses, profiles.Kernel, "pid namespace", "")
	case ns && land:
		add(profiles.ClauseProcesses, profiles.Kernel, "pid namespace, landlock scopes", "")
	case f.Landlock >= 6:
		add(profiles.ClauseProcesses, profiles.Kernel, "landlock scopes", "")
	case c.listens && land:
		add(profiles.ClauseProcesses, profiles.Supervised, "landlock (ptrace), supervisor (signals)", "")
	default:
		add(profiles.ClauseProcesses, profiles.None, "", "signals to the user's other processes are not refused (Landlock ABI below 6, no supervisor)")
	}
	switch {
	case ns:
		add(profiles.ClauseSurvivors, profiles.Kernel, "pid namespace", "")
	case f.Children:
		add(profiles.ClauseSurvivors, profiles.Restored, "guardian", "")
	default:
		add(profiles.ClauseSurvivors, profiles.None, "", "this kernel does not list a process's children")
	}
	either(profiles.ClauseChildren, c.p.Process.Create || f.Seccomp, map[bool]string{true: "granted", false: "seccomp"}[c.p.Process.Create], noSeccomp)
	either(profiles.ClauseTerminal, f.Seccomp, "seccomp", noSeccomp)
	add(profiles.ClauseEnvironment, profiles.Kernel, "allow-list before exec", "")
	either(profiles.ClauseDescriptors, f.CloseRange, "close_range", "this kernel cannot close a range of descriptors (Linux 5.11)")
	if c.plan.KeepCapabilities == 0 {
		add(profiles.ClauseCapabilities, profiles.Kernel, "all dropped, no_new_privs", "")
	} else {
		add(profiles.ClauseCapabilities, profiles.Kernel, "all dropped but dac_override, which Landlock bounds; no_new_privs", "")
	}
	either(profiles.ClauseKernel, f.Seccomp, "seccomp allow-list", noSeccomp)

	// What follows runs without, and says so.
	switch {
	case !c.writesNames():
		add(profiles.ClauseKeep, highest, "landlock", "")
	case !c.keeps():
		add(profiles.ClauseKeep, profiles.Kernel, "deleting is granted", "")
	case sup:
		add(profiles.ClauseKeep, profiles.Supervised, supervisor, "")
	default:
		add(profiles.ClauseKeep, profiles.None, "", "files in writable trees can be deleted")
	}
	add(profiles.ClauseStat, profiles.None, "", "names, sizes and times of files can be seen, contents cannot")
	switch {
	case c.p.Process.Query:
		add(profiles.ClauseCmdline, profiles.Kernel, "granted", "")
	case ns:
		add(profiles.ClauseCmdline, profiles.Kernel, "pid namespace, own /proc", "")
	default:
		add(profiles.ClauseCmdline, profiles.None, "", "command lines of the user's other processes can be read")
	}
	add(profiles.ClauseLoad, profiles.None, "", "an allowed interpreter or loader can load code from readable and writable files")
	switch {
	case !c.hidesPatterns():
		add(profiles.ClauseLater, profiles.Kernel, "landlock", "")
	case c.opens && c.readsAsked():
		add(profiles.ClauseLater, profiles.Supervised, supervisor, "")
	default:
		add(profiles.ClauseLater, profiles.None, "", "a secret that somebody else puts into a readable directory during the run can be read")
	}
	either(profiles.ClauseShm, ns && c.plan.Private("/dev/shm"), "ipc namespace, private /dev/shm", "shared memory of the user's other programs can be seen where its mode allows")
	c.limits(add)
	if c.p.Network.Mode == profiles.NetHosts && (c.leads || c.plan.Namespaces&NSNet != 0) {
		add(profiles.ClauseFronting, profiles.None, "", "inside TLS a granted host can be asked for others that it serves")
		for i := range c.p.Network.Hosts {
			if c.p.Network.Hosts[i].ReadOnly {
				add(profiles.ClauseMethod, profiles.None, "", "under TLS a read-only host can be asked to change things")
				break
			}
		}
	}
	for _, d := range c.p.Demands {
		add(d.Name, profiles.None, "", d.Detail)
	}
}

// looking is how the launcher holds what nothing in the kernel sums up: it looks
// at the run's processes, first after 20 ms, then at most every 100 ms.
const looking = "launcher, looking at the run"

// limits reports on the limits. Time and what belongs to one process is always
// held; the rest depends on what counts it.
func (c *compiler) limits(add func(name string, s profiles.Strength, mechanism, note string)) {
	l, f := c.p.Limits, c.f
	const noChildren = "is not counted: this kernel does not list a process's children"
	switch {
	case l.Memory == 0:
		add(profiles.ClauseMemory, profiles.Kernel, "no limit asked for", "")
	case f.Cgroup != "":
		add(profiles.ClauseMemory, profiles.Kernel, "cgroup "+f.Cgroup, "")
	case f.Children:
		add(profiles.ClauseMemory, profiles.Restored, looking+"; rlimits", "the run is ended when it uses more, which may be for a moment; each process is bounded by the kernel")
	default:
		add(profiles.ClauseMemory, profiles.None, "", "memory "+noChildren+"; each process is bounded by the kernel")
	}

	strength, mechanism := profiles.Kernel, []string{"rlimits", "guardian (wall clock)"}
	var notes []string
	weaken := func(s profiles.Strength, how, note string) {
		strength = min(strength, s)
		if how != "" && !slices.Contains(mechanism, how) {
			mechanism = append(mechanism, how)
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	switch {
	case l.Processes == 0:
	case f.Cgroup != "":
		weaken(profiles.Kernel, "cgroup "+f.Cgroup, "")
	case c.countsProcesses():
	case f.Children:
		weaken(profiles.Restored, looking, "processes: more than the limit for a moment")
	default:
		weaken(profiles.None, "", "processes "+noChildren)
	}
	switch {
	case l.CPU == 0:
	case f.Cgroup != "" || f.Children:
		weaken(profiles.Restored, looking, "cpu: of the whole run, more than the limit for a moment")
	default:
		weaken(profiles.None, "", "cpu "+noChildren+"; each process is bounded by the kernel")
	}
	switch {
	case l.Output == 0:
	case c.facts.CountsOutput:
		weaken(profiles.Supervised, "launcher (output)", "")
	default:
		weaken(profiles.None, "", "output is not counted on a terminal or device: set a limit of its own to have it counted")
	}
	if strength == profiles.None {
		add(profiles.ClauseLimits, strength, "", strings.Join(notes, "; "))
		return
	}
	add(profiles.ClauseLimits, strength, strings.Join(mechanism, ", "), strings.Join(notes, "; "))
}

// receiptLed reports on the network of a run whose internet sockets are the
// supervisor's.
func (c *compiler) receiptLed(add func(name string, s profiles.Strength, mechanism, note string)) {
	mechanism := "supervisor, gate"
	if c.f.Landlock >= 4 {
		mechanism += "; second Landlock layer for TCP"
	}
	add(profiles.ClauseNetwork, profiles.Supervised, mechanism, "")
	for i := range c.p.Network.Listen {
		if c.p.Network.Listen[i].Any && c.f.Landlock < 4 {
			add(profiles.ClauseListen, profiles.None, "", "listening at other addresses than loopback needs Landlock ABI 4: nothing else keeps the run's sockets on this machine")
			return
		}
	}
	add(profiles.ClauseListen, profiles.Supervised, "supervisor", "what the run serves to itself stands at an address on loopback that other programs here are not told")
}

// keeps says whether there is a tree where the run may create and not delete.
func (c *compiler) keeps() bool {
	return slices.ContainsFunc(c.p.Paths, func(r profiles.PathRule) bool {
		return r.Access&profiles.Create != 0 && !slices.ContainsFunc(c.p.Paths, func(over profiles.PathRule) bool {
			return over.Access&profiles.Delete != 0 && (over.Path == r.Path && (over.Tree || !r.Tree) || over.Tree && inTree(over.Path, r.Path))
		})
	})
}

// hasControl says whether a denial of class Control lies in a tree that the
// profile lets the run write.
func (c *compiler) hasControl() bool {
	for i := range c.p.Denials {
		d := &c.p.Denials[i]
		if d.Class != profiles.Control {
			continue
		}
		for j := range c.p.Paths {
			r := &c.p.Paths[j]
			if r.Access&(profiles.Write|profiles.Create|profiles.Delete) != 0 && (inTree(r.Path, d.Path) || inTree(d.Path, r.Path)) {
				return true
			}
		}
	}
	return false
}

// hidesPatterns says whether names that do not exist yet are denied to readers.
func (c *compiler) hidesPatterns() bool {
	for i := range c.p.Denials {
		d := &c.p.Denials[i]
		if d.Match != "" && d.Access&profiles.Read != 0 && c.p.Allows(d.Path, profiles.Read).Allowed {
			return true
		}
	}
	return false
}

func (c *compiler) masked() bool {
	for _, m := range c.plan.Mounts {
		if m.Kind == MountMaskDir || m.Kind == MountMaskFile {
			return true
		}
	}
	return false
}

func (c *compiler) writesNames() bool {
	for i := range c.p.Paths {
		if c.p.Paths[i].Access&(profiles.Create|profiles.Delete) != 0 {
			return true
		}
	}
	return false
}

// inTree says whether p is root or lies beneath it.
func inTree(root, p string) bool {
	return root == "/" || p == root || len(p) > len(root) && p[:len(root)] == root && p[len(root)] == '/'
}
