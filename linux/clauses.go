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
	c.receiptFiles()
	c.receiptNetwork()
	c.receiptProcess()
	c.receiptShould()
	c.receiptLimits()
	if c.p.Network.Mode == profiles.NetHosts && (c.leads || c.plan.Namespaces&NSNet != 0) {
		c.add(profiles.ClauseFronting, profiles.None, "", "inside TLS a granted host can be asked for others that it serves")
		if slices.ContainsFunc(c.p.Network.Hosts, func(h profiles.HostRule) bool { return h.ReadOnly }) {
			c.add(profiles.ClauseMethod, profiles.None, "", "under TLS a read-only host can be asked to change things")
		}
		if c.facts.Proxied {
			c.add(profiles.ClauseResolved, profiles.None, "", "a proxy of this machine resolves names: what address one stands for is not seen")
			if note := c.p.Network.Unresolved(); note != "" {
				c.add(profiles.ClauseScope, profiles.None, "", note)
			}
		}
	}
	for _, d := range c.p.Demands {
		c.add(d.Name, profiles.None, "", d.Detail)
	}
}

// add adds a clause to the receipt.
func (c *compiler) add(name string, s profiles.Strength, mechanism, note string) {
	if s == profiles.None {
		mechanism = ""
	}
	c.plan.Receipt = append(c.plan.Receipt, profiles.Clause{
		Name: name, Must: profiles.Must(name), Strength: s, Mechanism: mechanism, Note: note,
	})
}

// either adds a clause that the kernel holds if ok, and nothing holds if not,
// for the reason in note.
func (c *compiler) either(name string, ok bool, mechanism, note string) {
	if ok {
		c.add(name, profiles.Kernel, mechanism, "")
	} else {
		c.add(name, profiles.None, "", note)
	}
}

// Why nothing holds a clause.
const (
	noLandlock = "this kernel has no usable Landlock (Linux 5.13, lsm=landlock)"
	noSeccomp  = "this kernel or container refuses seccomp filters"
)

// performer says who makes calls for the run and what that leaves of the strength
// of Landlock's rules: one that is not the run's own makes calls for it as well,
// and only its word binds these by the run's rules.
func (c *compiler) performer() (who string, highest profiles.Strength) {
	if c.plan.Nested {
		return "the outer run's supervisor", profiles.Supervised
	}
	return "supervisor", profiles.Kernel
}

// besideNote is that of what Landlock cannot grant by itself: a name that is to be made,
// or to go.
const besideNote = "a name is granted alone: the supervisor holds it apart from those beside it"

func (c *compiler) receiptFiles() {
	f, sup, nested, land := c.f, c.supervise, c.plan.Nested, c.f.Landlock > 0
	supervisor, highest := c.performer()
	unheld := ""
	switch {
	case !land:
		unheld = noLandlock
	case f.Seccomp && !f.Notify && !nested:
		// Where there is Landlock a kernel knows listeners, and one is refused for
		// one reason alone: there is one.
		unheld = "another run or tool listens to this run's calls: what it makes for it, this run's Landlock does not see"
	}
	switch {
	case unheld != "":
		c.add(profiles.ClauseRead, profiles.None, "", unheld)
	case c.beside&profiles.Read != 0:
		c.add(profiles.ClauseRead, profiles.Supervised, "landlock, "+supervisor, besideNote)
	case nested:
		c.add(profiles.ClauseRead, profiles.Supervised, "landlock, "+supervisor, "")
	default:
		c.add(profiles.ClauseRead, profiles.Kernel, "landlock", "")
	}
	switch {
	case unheld != "":
		c.add(profiles.ClauseWrite, profiles.None, "", unheld)
	case c.beside != 0:
		c.add(profiles.ClauseWrite, profiles.Supervised, "landlock, "+supervisor, besideNote)
	case sup:
		c.add(profiles.ClauseWrite, highest, "landlock, "+supervisor, "")
	case f.Landlock < 3:
		c.add(profiles.ClauseWrite, profiles.Kernel, "landlock, seccomp", "truncate by path is refused everywhere (Landlock ABI below 3)")
	default:
		c.add(profiles.ClauseWrite, profiles.Kernel, "landlock", "")
	}
	switch {
	case unheld != "":
		c.add(profiles.ClauseDeny, profiles.None, "", unheld)
	case c.opens && !c.readsAsked():
		c.add(profiles.ClauseDeny, profiles.None, "", "denied files lie where files can be made, and the outer run's supervisor is not asked about reading there")
	case c.opens:
		c.add(profiles.ClauseDeny, profiles.Supervised, "carved; opens beside denied files: "+supervisor, "")
	case nested:
		c.add(profiles.ClauseDeny, profiles.Supervised, "landlock, carved; "+supervisor, "")
	case c.masked():
		c.add(profiles.ClauseDeny, profiles.Kernel, "mount masks; landlock, carved", "")
	default:
		c.add(profiles.ClauseDeny, profiles.Kernel, "landlock, carved", "")
	}
	switch {
	case !land:
		c.add(profiles.ClauseExecute, profiles.None, "", noLandlock)
	case sup:
		c.add(profiles.ClauseExecute, highest, "landlock, "+supervisor, "")
	default:
		c.add(profiles.ClauseExecute, profiles.None, "", "files of memory can be made executable, past their seal: Landlock does not see it, and no supervisor can listen here")
	}

	switch {
	case !c.hasControl():
		c.add(profiles.ClauseControl, profiles.Kernel, "nothing writable holds control files", "")
	case sup && land:
		c.add(profiles.ClauseControl, profiles.Supervised, supervisor+", second Landlock layer", "")
	default:
		c.add(profiles.ClauseControl, profiles.None, "", "control files in the workspace can be changed: Landlock knows no deny, and no supervisor can listen here")
	}
	if sup {
		c.add(profiles.ClauseMetadata, profiles.Supervised, supervisor, "")
	} else {
		c.add(profiles.ClauseMetadata, profiles.None, "", "modes, owners and times of the user's files can be changed: Landlock does not see it, and no supervisor can listen here")
	}
}

func (c *compiler) receiptNetwork() {
	f := c.f
	switch {
	case c.leads:
		c.receiptLed()
	case c.p.Network.Mode == profiles.NetHost:
		c.add(profiles.ClauseNetwork, profiles.Kernel, "granted", "the host's network, unrestricted, as granted")
		c.add(profiles.ClauseListen, profiles.Kernel, "granted", "")
	case c.p.Network.Mode == profiles.NetHosts:
		if c.plan.Namespaces&NSNet == 0 {
			const note = "named hosts need a network namespace, or a supervisor that can listen here"
			c.add(profiles.ClauseNetwork, profiles.None, "", note)
			c.add(profiles.ClauseListen, profiles.None, "", note)
			break
		}
		c.add(profiles.ClauseNetwork, profiles.Kernel, "network namespace, gate", "")
		if len(c.p.Network.Listen) > 0 {
			c.add(profiles.ClauseListen, profiles.None, "", "ports of a network namespace are not opened to others")
		} else {
			c.add(profiles.ClauseListen, profiles.Kernel, "network namespace", "")
		}
	default:
		if c.tellsNetwork() {
			c.add(profiles.ClauseNetwork, profiles.Supervised, "supervisor; landlock for TCP", "refusals are being observed; otherwise the filter refuses by itself")
		} else {
			c.either(profiles.ClauseNetwork, f.Seccomp, "seccomp", noSeccomp)
		}
		if len(c.p.Network.Listen) > 0 {
			c.add(profiles.ClauseListen, profiles.None, "", "listening needs a supervisor that can listen here")
		} else {
			c.either(profiles.ClauseListen, f.Seccomp, "seccomp", noSeccomp)
		}
	}
	switch {
	case c.listens:
		c.add(profiles.ClauseUnix, profiles.Supervised, "supervisor", "")
	case len(c.p.Sockets) > 0:
		c.add(profiles.ClauseUnix, profiles.None, "", "granted sockets need the supervisor")
	default:
		c.either(profiles.ClauseUnix, f.Seccomp, "seccomp: no unix sockets but pairs of streams", noSeccomp)
	}
}

func (c *compiler) receiptProcess() {
	f, ns, land := c.f, c.plan.Namespaces != 0, c.f.Landlock > 0
	switch {
	case ns && land && f.Landlock < 6 && c.listens:
		c.add(profiles.ClauseProcesses, profiles.Supervised, "pid namespace, supervisor (signals to its own group)", "")
	case ns && land && f.Landlock >= 6:
		c.add(profiles.ClauseProcesses, profiles.Kernel, "pid namespace, landlock scopes", "")
	case f.Landlock >= 6:
		c.add(profiles.ClauseProcesses, profiles.Kernel, "landlock scopes", "")
	case c.listens && land:
		c.add(profiles.ClauseProcesses, profiles.Supervised, "landlock (ptrace), supervisor (signals)", "")
	default:
		c.add(profiles.ClauseProcesses, profiles.None, "", "signals to the user's other processes are not refused (Landlock ABI below 6, no supervisor)")
	}
	switch {
	case ns:
		c.add(profiles.ClauseSurvivors, profiles.Kernel, "pid namespace", "")
	case f.Children:
		c.add(profiles.ClauseSurvivors, profiles.Restored, "guardian", "")
	default:
		c.add(profiles.ClauseSurvivors, profiles.None, "", "this kernel does not list a process's children")
	}
	if c.p.Process.Create {
		c.add(profiles.ClauseChildren, profiles.Kernel, "granted", "")
	} else {
		c.either(profiles.ClauseChildren, f.Seccomp, "seccomp", noSeccomp)
	}
	c.either(profiles.ClauseTerminal, f.Seccomp, "seccomp", noSeccomp)
	c.add(profiles.ClauseEnvironment, profiles.Kernel, "allow-list before exec", "")
	c.either(profiles.ClauseDescriptors, f.CloseRange, "close_range", "this kernel cannot close a range of descriptors (Linux 5.11)")
	if c.plan.KeepCapabilities == 0 {
		c.add(profiles.ClauseCapabilities, profiles.Kernel, "all dropped, no_new_privs", "")
	} else {
		c.add(profiles.ClauseCapabilities, profiles.Kernel, "all dropped but dac_override, which Landlock bounds; no_new_privs", "")
	}
	c.either(profiles.ClauseKernel, f.Seccomp, "seccomp allow-list", noSeccomp)
}

// receiptShould has what a run does without, and says so.
func (c *compiler) receiptShould() {
	ns := c.plan.Namespaces != 0
	supervisor, highest := c.performer()
	switch {
	case !c.writesNames():
		c.add(profiles.ClauseKeep, highest, "landlock", "")
	case c.beside&profiles.Delete != 0 && !c.keeps():
		c.add(profiles.ClauseKeep, profiles.Supervised, supervisor, besideNote)
	case !c.keeps():
		c.add(profiles.ClauseKeep, profiles.Kernel, "deleting is granted", "")
	case c.supervise:
		c.add(profiles.ClauseKeep, profiles.Supervised, supervisor, "")
	default:
		c.add(profiles.ClauseKeep, profiles.None, "", "files in writable trees can be deleted")
	}
	c.add(profiles.ClauseStat, profiles.None, "", "names, sizes and times of files can be seen, contents cannot")
	switch {
	case c.p.Process.Query:
		c.add(profiles.ClauseCmdline, profiles.Kernel, "granted", "")
	case ns:
		c.add(profiles.ClauseCmdline, profiles.Kernel, "pid namespace, own /proc", "")
	default:
		c.add(profiles.ClauseCmdline, profiles.None, "", "command lines of the user's other processes can be read")
	}
	c.add(profiles.ClauseLoad, profiles.None, "", "an allowed interpreter or loader can load code from readable and writable files")
	switch {
	case !c.hidesPatterns():
		c.add(profiles.ClauseLater, profiles.Kernel, "landlock", "")
	case c.opens && c.readsAsked():
		c.add(profiles.ClauseLater, profiles.Supervised, supervisor, "")
	default:
		c.add(profiles.ClauseLater, profiles.None, "", "a secret that somebody else puts into a readable directory during the run can be read")
	}
	c.either(profiles.ClauseShm, ns && c.plan.Private("/dev/shm"), "ipc namespace, private /dev/shm", "shared memory of the user's other programs can be seen where its mode allows")
}

// looking is how the launcher holds what nothing in the kernel sums up: it looks
// at the run's processes, first after 20 ms, then at most every 100 ms.
const looking = "launcher, looking at the run"

// receiptLimits reports on the limits. Time and what belongs to one process is
// always held; the rest depends on what counts it.
func (c *compiler) receiptLimits() {
	l, f := c.p.Limits, c.f
	const noChildren = "is not counted: this kernel does not list a process's children"
	switch {
	case l.Memory == 0:
		c.add(profiles.ClauseMemory, profiles.Kernel, "no limit asked for", "")
	case f.Cgroup != "":
		c.add(profiles.ClauseMemory, profiles.Kernel, "cgroup "+f.Cgroup, "")
	case f.Children && c.boundsData():
		c.add(profiles.ClauseMemory, profiles.Restored, looking+"; rlimits", "the run is ended when it uses more, which may be for a moment; each process is bounded by the kernel")
	case f.Children:
		c.add(profiles.ClauseMemory, profiles.Restored, looking, "the run is ended when it uses more, which may be for a moment")
	default:
		c.add(profiles.ClauseMemory, profiles.None, "", "memory "+noChildren+"; each process is bounded by the kernel")
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
		c.add(profiles.ClauseLimits, strength, "", strings.Join(notes, "; "))
		return
	}
	c.add(profiles.ClauseLimits, strength, strings.Join(mechanism, ", "), strings.Join(notes, "; "))
}

// receiptLed reports on the network of a run whose internet sockets are the
// supervisor's.
func (c *compiler) receiptLed() {
	mechanism := "supervisor, gate"
	if c.f.Landlock >= 4 {
		mechanism += "; second Landlock layer for TCP"
	}
	c.add(profiles.ClauseNetwork, profiles.Supervised, mechanism, "")
	for i := range c.p.Network.Listen {
		if c.p.Network.Listen[i].Any && c.f.Landlock < 4 {
			c.add(profiles.ClauseListen, profiles.None, "", "listening at other addresses than loopback needs Landlock ABI 4: nothing else keeps the run's sockets on this machine")
			return
		}
	}
	c.add(profiles.ClauseListen, profiles.Supervised, "supervisor", "what the run serves to itself stands at an address on loopback that other programs here are not told")
}

// keeps says whether there is a tree where the run may create and not delete.
func (c *compiler) keeps() bool {
	return slices.ContainsFunc(c.p.Paths, func(r profiles.PathRule) bool {
		return r.Access&profiles.Create != 0 && !slices.ContainsFunc(c.p.Paths, func(over profiles.PathRule) bool {
			return over.Access&profiles.Delete != 0 && (over.Path == r.Path && (over.Tree || !r.Tree) || over.Tree && profiles.Within(over.Path, r.Path))
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
			if r.Access&profiles.Change != 0 && (profiles.Within(r.Path, d.Path) || profiles.Within(d.Path, r.Path)) {
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
