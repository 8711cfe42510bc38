package darwin

import (
	"fmt"
	"strings"

	"skillrun/profiles"
)

const seatbelt = "seatbelt"

// receipt says for each clause how strongly it is held here. What a Profile
// does not ask for is held by having nothing to hold.
func (c *compiler) receipt() profiles.Receipt {
	p := c.profile
	var r profiles.Receipt
	add := func(name string, s profiles.Strength, mechanism, note string) {
		r = append(r, profiles.Clause{Name: name, Must: profiles.Must(name), Strength: s, Mechanism: mechanism, Note: note})
	}
	kernel := func(name, note string) { add(name, profiles.Kernel, seatbelt, note) }

	kernel(profiles.ClauseRead, "")
	kernel(profiles.ClauseWrite, "")
	named := func(name, note string) {
		if c.facts.Unsearched {
			add(name, profiles.None, "", fmt.Sprintf("links lead from denied names to what is not known: the trees have more than %d files to be looked through", MostSearched))
			return
		}
		kernel(name, note)
	}
	named(profiles.ClauseDeny, "by name: a hard link to a denied file that was there before reads it")
	kernel(profiles.ClauseExecute, "")
	named(profiles.ClauseControl, c.controlNote())
	kernel(profiles.ClauseMetadata, "inside writable trees access lists and set-uid are refused, group and world write bits are not")
	c.networkClauses(add)
	kernel(profiles.ClauseProcesses, "")
	add(profiles.ClauseSurvivors, profiles.Restored, "process group, descendants", "a descendant that detaches between two looks at the process table outlives the run, still confined")
	kernel(profiles.ClauseChildren, "")
	add(profiles.ClauseTerminal, profiles.Kernel, "seatbelt; the platform refuses TIOCSTI", "")
	add(profiles.ClauseEnvironment, profiles.Kernel, "allow-list", "")
	add(profiles.ClauseDescriptors, profiles.Kernel, "close-on-exec", "")
	kernel(profiles.ClauseCapabilities, "")
	kernel(profiles.ClauseKernel, "drivers, mounts, firmware and task ports are closed; system calls as such are not filtered")

	c.keepClause(add)
	switch {
	case !c.deniesReads():
		kernel(profiles.ClauseStat, "")
	case c.facts.HideNames:
		kernel(profiles.ClauseStat, "whether a denied name is there can be found out, its size and times cannot")
	default:
		add(profiles.ClauseStat, profiles.None, "", "a denied name itself can be listed and looked at, what lies beneath cannot")
	}
	kernel(profiles.ClauseCmdline, "")
	kernel(profiles.ClauseLoad, "")
	if c.movesLater() {
		add(profiles.ClauseLater, profiles.None, "", "a directory that a secret comes into during the run can be moved to where its name is not denied")
	} else {
		kernel(profiles.ClauseLater, "")
	}
	if p.Process.Create {
		add(profiles.ClauseShm, profiles.None, "", "POSIX names that begin with /mp-, /loky-, /psm_ or /__KMP_ are shared with the user's other programs; all others are refused")
	} else {
		kernel(profiles.ClauseShm, "")
	}
	if p.Limits.Memory > 0 {
		add(profiles.ClauseMemory, profiles.None, "", "macOS bounds no process's memory")
	} else {
		add(profiles.ClauseMemory, profiles.Kernel, "nothing to hold", "")
	}
	c.limitClause(add)
	c.tlsClauses(add)
	for _, d := range p.Demands {
		add(d.Name, profiles.None, "", d.Detail)
	}
	return r
}

type addClause func(name string, s profiles.Strength, mechanism, note string)

func (c *compiler) networkClauses(add addClause) {
	n := &c.profile.Network
	switch n.Mode {
	case profiles.NetNone:
		add(profiles.ClauseNetwork, profiles.Kernel, seatbelt, "")
	case profiles.NetHosts:
		add(profiles.ClauseNetwork, profiles.Supervised, "seatbelt, gate", fmt.Sprintf("the kernel lets the run reach port %d of this machine only; programs must use the proxy, UDP reaches nothing", c.facts.ProxyPort))
	case profiles.NetHost:
		add(profiles.ClauseNetwork, profiles.Kernel, "nothing to hold", "")
	}
	long := 0
	for _, l := range n.Listen {
		if ports(l.Ports) == nil {
			long++
		}
	}
	switch {
	case n.Mode == profiles.NetHost:
		add(profiles.ClauseListen, profiles.Kernel, "nothing to hold", "")
	case long > 0:
		add(profiles.ClauseListen, profiles.Kernel, seatbelt, fmt.Sprintf("ranges of more than %d ports cannot be written one by one and are refused: %d", maxPorts, long))
	default:
		add(profiles.ClauseListen, profiles.Kernel, seatbelt, "")
	}
	note := "own sockets only in the run's own HOME and temporary directory"
	for _, s := range c.profile.Sockets {
		if strings.HasPrefix(s.Path, "@") {
			note += "; abstract names do not exist here"
			break
		}
	}
	add(profiles.ClauseUnix, profiles.Kernel, seatbelt, note)
}

// controlNote says what of the control files Seatbelt cannot know.
func (c *compiler) controlNote() string {
	excepted, made := false, false
	for i := range c.denials {
		d := &c.denials[i]
		if d.Access&profiles.Write != 0 && d.Match != "" {
			excepted = excepted || len(d.Except) > 0 && d.Class == profiles.Control
			made = made || d.Class == profiles.Control && (d.UnlessWithin || d.UnlessMade && !c.byHolder(d))
		}
	}
	var notes []string
	if excepted {
		notes = append(notes, "a directory that is filled below an excepted one (node_modules) and moved out carries its files along")
	}
	if made {
		notes = append(notes, "who made a directory is not known: files that would be free in a project of the run's own are refused, too")
	}
	return strings.Join(notes, "; ")
}

func (c *compiler) keepClause(add addClause) {
	open := false
	for i := range c.grants {
		r := &c.grants[i]
		open = open || r.Access&profiles.Create != 0 && c.granted(r.Path)&profiles.Delete == 0
	}
	switch {
	case !open:
		add(profiles.ClauseKeep, profiles.Kernel, seatbelt, "")
	case c.facts.Contents == nil:
		add(profiles.ClauseKeep, profiles.None, "", "who made a file is not known, and what was there is not listed or too much: the run may delete where it may create")
	default:
		add(profiles.ClauseKeep, profiles.Kernel, "seatbelt, by name", "what appeared after the start is not protected")
	}
}

func (c *compiler) deniesReads() bool {
	for i := range c.denials {
		if c.denials[i].Access&profiles.Read != 0 {
			return true
		}
	}
	return false
}

// movesLater says whether a directory may be moved that no secret lay in at the
// start: one that comes there is denied by its place.
func (c *compiler) movesLater() bool {
	for i := range c.denials {
		d := &c.denials[i]
		if d.Match != "" && d.Access&profiles.Read != 0 && c.grantedBelow(d.Path)&(profiles.Create|profiles.Delete) != 0 && !c.spreads(d, d.Path) {
			return true
		}
	}
	return false
}

func (c *compiler) limitClause(add addClause) {
	l := &c.profile.Limits
	switch {
	case l.Processes > 0:
		add(profiles.ClauseLimits, profiles.None, "rlimits, launcher", "the number of processes counts those of the user, not those of the run")
	case l.Output > 0 && !c.facts.BoundOutput:
		add(profiles.ClauseLimits, profiles.None, "rlimits, launcher", "a preset's limit of output is not held, since pipes would stand in the place of a terminal")
	case l.Wall > 0 || l.Output > 0:
		add(profiles.ClauseLimits, profiles.Supervised, "rlimits, launcher", "")
	case l.CPU > 0 || l.FileSize > 0 || l.OpenFiles > 0:
		add(profiles.ClauseLimits, profiles.Kernel, "rlimits", "per process")
	default:
		add(profiles.ClauseLimits, profiles.Kernel, "nothing to hold", "")
	}
}

func (c *compiler) tlsClauses(add addClause) {
	n := &c.profile.Network
	readOnly := false
	for i := range n.Hosts {
		readOnly = readOnly || n.Hosts[i].ReadOnly
	}
	if n.Mode != profiles.NetHosts {
		add(profiles.ClauseFronting, profiles.Kernel, "nothing to hold", "")
		add(profiles.ClauseMethod, profiles.Kernel, "nothing to hold", "")
		return
	}
	if c.facts.Proxied {
		add(profiles.ClauseResolved, profiles.None, "", "a proxy of this machine resolves names: what address one stands for is not seen")
		if note := n.Unresolved(); note != "" {
			add(profiles.ClauseScope, profiles.None, "", note)
		}
	}
	add(profiles.ClauseChecked, profiles.None, "", "trustd, which checks certificates for programs, fetches what one names (issuers, those revoked) from wherever it says")
	add(profiles.ClauseFronting, profiles.None, "", "the gate sees the name that is asked for, not one inside TLS")
	if readOnly {
		add(profiles.ClauseMethod, profiles.None, "", "the gate sees methods in plain HTTP only")
	} else {
		add(profiles.ClauseMethod, profiles.Kernel, "nothing to hold", "")
	}
}
