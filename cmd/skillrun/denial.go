package main

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrun/audit"
	"skillrun/linux"
	"skillrun/policy"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// shownDenials is how many denials are printed before a count stands for the
// rest; keptDenials how many are recorded. A call waits for its line to be
// written, shownWait at most.
const (
	shownDenials = 5
	shownWait    = time.Second
	keptDenials  = 256
	keptInner    = 256 // runs inside, recorded
)

func denialOf(d sandbox.Refusal) audit.Denial {
	a := audit.Denial{Access: d.Word(), Target: d.Target(), Rule: d.Verdict.Origin().Reason}
	if a.Rule == "" {
		a.Rule = d.Why
	}
	if d.Verdict.Denial != nil {
		a.Class = d.Verdict.Denial.Class.String()
	}
	return a
}

// denialLine is one line for a person: what, why, and what would allow it.
// What would lift a denial of the sensitive class is told to a person at a
// terminal only, what would lift one of a control file to nobody: any script
// can provoke it, and the line would be a ready command to give it the machine.
func denialLine(j *job, p *profiles.Profile, d sandbox.Refusal) string {
	return strings.TrimSpace(d.Word()+" "+named(d.Target())) + " (" + denialReason(j, p, &d) + ")" + denialRemedy(j, p, &d)
}

func denialReason(j *job, p *profiles.Profile, d *sandbox.Refusal) string {
	den := d.Verdict.Denial
	switch {
	case d.Inner:
		return d.Why
	case den == nil && changesSkill(p, d):
		return ofSkill
	case leads(d) && filepath.Base(d.Path) == ".git":
		return "leads to what git obeys: git worktree remove, and what else moves a repository, belongs outside of runs"
	case leads(d) && emptied(p, d.Path):
		return ofEmptied
	case den != nil && den.Origin.Reason != "":
		return den.Origin.Reason
	case socketWarning(j.host, d) != "":
		return socketWarning(j.host, d)
	case ahead(p, d):
		return "no server of the run listens there"
	case d.Grantable && isLoopback(d.Host):
		return "no server of the run listens there so far, and none outside is granted"
	case d.Why != "":
		return d.Why
	case d.Path != "" && !d.Socket && !strings.HasPrefix(d.Path+"/", j.workspace+"/"):
		return "outside the workspace"
	}
	return "not granted"
}

// denialRemedy is what would allow what was refused, or why nothing does.
func denialRemedy(j *job, p *profiles.Profile, d *sandbox.Refusal) string {
	den := d.Verdict.Denial
	if d.Inner || den == nil && changesSkill(p, d) {
		return ""
	}
	if den != nil && leads(d) && emptied(p, d.Path) {
		return ""
	}
	if den != nil {
		needs, why := den.Class == profiles.Control || den.Class == profiles.Sensitive && !isTerminal(os.Stderr), lasting(den)
		if why == "" && leads(d) {
			why = ofLeading
		}
		switch {
		case needs && why != "":
			return " - this needs the user: " + why
		case needs:
			return " - this needs the user"
		case why != "":
			return " - " + why
		}
	}
	if ahead(p, d) {
		return ""
	}
	if why := useless(d); why != "" {
		return " - " + why
	}
	if m := mountFlag(j, d); m != "" {
		return " - to allow: " + m + " in place of :ro"
	}
	workspace := ""
	if p != nil {
		workspace = p.Workspace
	}
	grant := grantOf(j, d, workspace)
	if held := heldBy(j, grant, d); held != "" {
		return " - a grant would have no effect: " + held
	}
	remedy := ""
	if g := grantFlag(grant); g != "" {
		remedy = " - to allow: " + g
		if to, err := j.host.Resolve(d.Path); ofLink(d) && err == nil && grant == d.Grant() && policy.LedOut(j.host, workspace, d.Path) == "" {
			remedy += " (the link, and " + named(to) + " to which it leads)"
		}
	}
	if d.What == "socket" || d.What == sandbox.SocketIPv6 {
		remedy += " (localhost:1 for servers that only the run itself uses), or listen:PORT for one that others reach"
	}
	return remedy
}

// ofEmptied is why a directory stays that was granted for deletion.
const ofEmptied = "what is in it may be deleted, and it stays itself: control files are known by their place in it"

// emptied says that this is so of a directory.
func emptied(p *profiles.Profile, dir string) bool {
	return p != nil && p.Allows(profiles.Below(dir, "x"), profiles.Delete).Allowed &&
		slices.ContainsFunc(p.Denials, func(d profiles.Denial) bool { return d.Path == dir && d.Match != "" && d.Class == profiles.Control })
}

// ofLeading is why no grant lifts that a name on the way to control files goes away: it
// is refused for whatever may be there.
const ofLeading = "no grant of this name lifts it"

// leads says of a refused deletion that not the name is a control file's, but such a
// file is, or could be, beneath it.
func leads(d *sandbox.Refusal) bool {
	den := d.Verdict.Denial
	return den != nil && den.Class == profiles.Control && d.Access&profiles.Delete != 0 && !den.Covers(d.Path)
}

// lasting says why no grant of what is refused lifts a denial, "" if one does.
func lasting(d *profiles.Denial) string {
	switch d.Origin.Source {
	case sandbox.OfRuns:
		return "no grant lifts it"
	case linux.OfLinks:
		return "no grant lifts it while the link is there"
	case linux.OfNames, linux.OfNodes:
		return "no grant of this name lifts it"
	case linux.OfClosed:
		return "no grant lifts it while the directory cannot be listed"
	}
	return ""
}

// heldBy says which entry of a manifest or a configuration denies what was refused,
// a variable where d says nothing, so that the grant does not lift it; "" if none does.
func heldBy(j *job, grant string, d *sandbox.Refusal) string {
	capability, name, _ := strings.Cut(grant, ":")
	r := policy.Request{Capability: capability, Confined: true, Place: policy.Place{Workspace: j.workspace, Home: j.host.Home}, Time: time.Now()}
	if den := d.Verdict.Denial; den != nil && den.Class == profiles.Plain {
		r.Capability = den.Origin.Capability
	}
	if j.skill != nil {
		r.Place.Skill = j.skill.Dir
	}
	switch {
	case d.Path != "":
		r.Paths = []string{d.Path}
	case d.Host != "":
		r.Hosts = []string{d.Target()}
	case d.What == "":
		r.Names = []string{name}
	}
	a := j.set.Decide(r)
	if a.Entry == nil || a.Entry.Effect != policy.Deny {
		return ""
	}
	return a.Entry.Pos.String() + " denies " + r.Capability
}

// grantFlag is a grant as it is typed to a shell, since people paste it and a
// command chooses the names that it is refused. It is "" for what would not show
// as it is typed.
func grantFlag(grant string) string {
	if word := typed(grant, ""); word != "" {
		return "--grant " + word
	}
	return ""
}

// ownPort says whether this is a port of this machine at which the run was
// granted to listen: who connects to it wants the run's own server, and no grant
// of a host brings that up.
func ownPort(n *profiles.Network, host string, port uint16) bool {
	return isLoopback(host) && slices.ContainsFunc(n.Listen, func(l profiles.ListenRule) bool { return l.Ports.Contains(port) })
}

// ahead says that a client of the run's own server found none: it waits for one that
// starts, as a rule, and no right is wanting.
func ahead(p *profiles.Profile, d *sandbox.Refusal) bool {
	return p != nil && d.Grantable && ownPort(&p.Network, d.Host, d.Port)
}

// isLoopback says whether a host is this machine, by the name or address of its own.
func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// spare says that a program does as well without what it was refused: Python
// keeps compiled code beside each module, if it may, every Java program says what
// of it a core file is to hold, Haskell's (pandoc) name their threads, fontconfig
// keeps what it read of the fonts, LibreOffice asks what kind of disk it is on and
// notes what its extensions are, redis asks how fast the clock is, cargo locks a cache that it only reads and notes when it used it, pip asks
// whether there is IPv6 and looks in /etc for what system it is on, ps looks at all processes, Java asks the
// first of these too, df opens what is mounted, pyenv looks for hooks, X servers listen at a path and by an
// abstract name, git clone would link what it then copies. Such refusals are recorded, and nobody is
// bothered with them.
func spare(d audit.Denial) bool {
	const compiled = "__pycache__"
	dir, name := filepath.Split(d.Target)
	switch dir = filepath.Clean(dir); {
	case strings.HasPrefix(dir, "/proc/") && d.Access != "read" && (name == "coredump_filter" || name == "comm" && strings.Contains(dir, "/task/")):
		return true
	case d.Class != "":
		return false
	case d.Access == "read" && filepath.Base(dir) == "pyenv.d":
		return true
	case d.Access == "bind":
		return strings.HasPrefix(d.Target, "@/tmp/.X11-unix/")
	case lookedFor(d):
		return true // told of a run that failed, if nothing else was refused
	case d.Access == sandbox.HardLink && gitObject(dir, name):
		return true // it is copied then
	case strings.HasPrefix(dir, "/sys/devices/"):
		return (name == "rotational" || name == "current_clocksource") && d.Access == "read"
	case d.Target == "/var/cache/fontconfig", dir == "/var/cache/fontconfig", d.Target == "/var/spool/libreoffice/uno_packages/cache/stamp.sys":
		return d.Access == "write" || d.Access == "create"
	}
	return filepath.Base(dir) == ".cargo" && cargoNotes(d) || d.Access == "create" && (name == compiled || filepath.Base(dir) == compiled)
}

// lookedFor says of what is spared that a command may have been about nothing else,
// as ls /etc is: others go on without it, whatever they then fail for.
func lookedFor(d audit.Denial) bool {
	return d.Access == sandbox.SocketIPv6 || (d.Target == "/" || d.Target == "/etc") && d.Access == "read" || d.Rule == linux.OwnProcess
}

// cargoNotes says whether a file is one that cargo locks, or in which it notes what
// it used.
func cargoNotes(d audit.Denial) bool {
	return d.Class == "" && d.Access != "delete" && d.Access != "execute" &&
		slices.Contains([]string{".package-cache", ".package-cache-mutate", ".global-cache"}, filepath.Base(d.Target))
}

// gitObject says whether a file is one of those in a repository that are never
// written once they are there: git clone of a directory would link them.
func gitObject(dir, name string) bool {
	up, last := filepath.Split(dir)
	if filepath.Base(up) != "objects" {
		return false
	}
	hex := func(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
	return len(last) == 2 && hex(last) && len(name) >= 38 && hex(name) || last == "pack" && strings.HasPrefix(name, "pack-")
}

// spare says so of a run's programs, too: a search of PATH goes on to the next of
// the name; and of cargo's place by the variable that names it.
func (r *recorder) spare(d audit.Denial) bool {
	if home := r.job.host.Env["CARGO_HOME"]; home != "" && filepath.Dir(d.Target) == filepath.Clean(home) && cargoNotes(d) {
		return true
	}
	return spare(d) || d.Access == "execute" && d.Class == "" && passedOver(r.profile, r.job.host.Env["PATH"], d.Target)
}

// passedOver says whether a search of path comes upon a program of file's name that
// may be started after file.
func passedOver(p *profiles.Profile, path, file string) bool {
	met := false
	for _, dir := range filepath.SplitList(path) {
		at, err := filepath.EvalSymlinks(filepath.Join(dir, filepath.Base(file)))
		switch {
		case err != nil || !filepath.IsAbs(at):
		case at == file:
			met = true
		case met:
			if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && p.Allows(at, profiles.Execute).Allowed {
				return true
			}
		}
	}
	return false
}

// alike says whether one line tells of both: the same of two processes, as where
// a browser would set something for each of its own.
func alike(a, b audit.Denial) bool {
	file := processFile(a.Target)
	return file != "" && file == processFile(b.Target) && a.Access == b.Access
}

// processFile gives what is named of a process in /proc, or "".
func processFile(path string) string {
	process, file, _ := strings.Cut(strings.TrimPrefix(path, "/proc/"), "/")
	if _, err := strconv.ParseUint(process, 10, 32); err != nil || !strings.HasPrefix(path, "/proc/") {
		return ""
	}
	return file
}
