package linux

import (
	"errors"
	"io/fs"
	"math"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"skillrun/profiles"
)

// Facts is what Compile must know about this run and this machine's files.
type Facts struct {
	// FS is the machine's file system, rooted at "/".
	FS fs.FS
	// Mounts are those that give files a second name.
	Mounts []profiles.Mount
	// Own lists the run's own directories (HOME, TMPDIR): always granted.
	Own []string
	// Private maps directories that all users share (/tmp) to directories of
	// the run's own, which stand in for them.
	Private []Substitute
	// Dir is the working directory.
	Dir string
	// Masked is an empty file without permissions, to put over denied ones.
	Masked string
	// Closed is a directory of this user's that no run is granted, for the
	// self-test; "" if there is none.
	Closed string
	// Supervise says that the supervisor will mediate what Landlock cannot
	// say. It needs Features.Notify.
	Supervise bool
	// Namespaces says that the run gets its own namespaces. It needs
	// Features.Namespaces.
	Namespaces bool
	// CountsOutput says that what the run writes to its standard streams is
	// counted by the launcher, as far as that can be done.
	CountsOutput bool
	// Gate lists sockets for the gate of a run that may reach named hosts: they
	// are made in a network namespace of the run's own, and lead nowhere else.
	// It needs Namespaces and Features.NetNamespace.
	Gate []SocketCall
	// Observe has reading opens go through the supervisor too, so that what is
	// refused there can be shown. The others always do.
	Observe bool
	// Connected says that standard input is an internet socket, which carries what
	// was agreed on and nothing else.
	Connected bool
	// Proxied says that hosts which are named are reached by a proxy of this
	// machine's, which resolves them.
	Proxied bool
	// Firm says that the limit of memory is somebody's own or a strict run's, so
	// that the kernel bounds each process where no control group bounds the run.
	Firm bool
	// Foreign says that the workspace belongs to another user than the one
	// who runs, so that root without capabilities could not use it.
	Foreign bool
}

// Substitute says that the run sees To where others see From.
type Substitute struct{ From, To string }

// Landlock rights per access. A right that the kernel's ABI does not know is
// masked out by handled.
const (
	readFile    = ll.AccessFSReadFile
	readDir     = ll.AccessFSReadDir
	writeFile   = ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
	removeNames = ll.AccessFSRemoveFile | ll.AccessFSRemoveDir | ll.AccessFSRefer
	makeNames   = ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSMakeSym | ll.AccessFSMakeSock | ll.AccessFSMakeFifo
	// makeDevices is handled and never granted.
	makeDevices = ll.AccessFSMakeChar | ll.AccessFSMakeBlock
	execute     = ll.AccessFSExecute

	// mediated are the rights that only the supervisor exercises, where there
	// is one: the second layer handles them and grants none.
	mediated = ll.AccessFSWriteFile | ll.AccessFSTruncate | removeNames | makeNames | makeDevices
)

// handledFS gives the file rights that an ABI knows.
func handledFS(abi int) uint64 {
	h := uint64(1<<13 - 1)
	for i, min := range []int{2, 3, 5} { // refer, truncate, ioctl_dev
		if abi >= min {
			h |= 1 << (13 + i)
		}
	}
	return h
}

func rights(a profiles.Access, dir bool) uint64 {
	var r uint64
	if a&profiles.Read != 0 {
		r |= readFile | readDir
	}
	if a&profiles.Write != 0 {
		r |= writeFile
	}
	if a&profiles.Create != 0 {
		r |= makeNames | removeNames
	}
	if a&profiles.Delete != 0 {
		r |= removeNames
	}
	if a&profiles.Execute != 0 {
		r |= execute
	}
	if !dir {
		r &= readFile | writeFile | execute
	}
	return r
}

// Compile turns a profile into a plan for a kernel with these features. What it
// knows of files it looks up through facts.FS: equal arguments give equal plans.
//
// Compile never fails for what a kernel lacks: the receipt of the plan says
// how strongly each clause is held, and whoever runs the plan must look for
// gaps first.
func Compile(p *profiles.Profile, f Features, facts Facts) *Plan {
	c := compiler{p: p, f: f, facts: facts, granted: map[string]uint64{}, inner: map[string]uint64{}}
	c.listens = facts.Supervise && f.Notify && f.Seccomp
	const needed = NotifyNames | NotifyMetadata
	c.plan = &Plan{Nested: facts.Supervise && f.Seccomp && f.Landlock > 0 && !f.Notify && f.Outer&needed == needed}
	c.supervise = c.listens || c.plan.Nested
	if facts.Namespaces && f.Namespaces {
		c.plan.Namespaces = c.namespaces()
	}
	if c.plan.Namespaces != 0 {
		// What others are to reach cannot stand in a namespace of the run's own.
		if f.NetNamespace && p.Network.Mode == profiles.NetHosts && len(facts.Gate) > 0 && !(c.listens && len(p.Network.Listen) > 0) {
			c.plan.Namespaces |= NSNet
			c.plan.Sockets = facts.Gate
		}
	}
	c.leads = c.listens && c.plan.Namespaces&NSNet == 0 &&
		(p.Network.Mode == profiles.NetHosts || p.Network.Mode == profiles.NetNone && len(p.Network.Listen) > 0)
	c.findPoints()
	c.findLinks()
	c.empty()
	c.mask()
	c.leaveMasks()
	c.landlock()
	c.mounts()
	c.filter()
	c.capabilities()
	c.rlimits()
	c.selfTest()
	c.receipt()
	return c.plan
}

// A point is an existing path at which some access is refused inside a
// granted tree, or is granted again inside a refused one.
type point struct {
	path   string
	access profiles.Access
}

type compiler struct {
	p         *profiles.Profile
	f         Features
	facts     Facts
	plan      *Plan
	supervise bool // names and metadata go through a supervisor
	listens   bool // one of the run's own
	// leads says that the run's internet sockets are the supervisor's, which
	// leads them to the gate.
	leads  bool
	points []point             // sorted by path
	sieve  *profiles.Sieve     // of the denials, once they are asked for
	linked map[fileID][]linked // denied files that have other names
	// granted and inner collect the rules of the first and second layer.
	granted, inner map[string]uint64
	// opens says that opens must be decided by the supervisor, since a denied
	// file lies where the run may create.
	opens bool
	// beside says that layer 1 has directories for the sake of single names in
	// them, which the supervisor holds apart: to be written, read, deleted.
	beside profiles.Access
}

func (c *compiler) lstat(p string) (fs.FileInfo, bool) {
	info, err := fs.Lstat(c.facts.FS, profiles.FSName(p))
	return info, err == nil
}

// carvable are the denied accesses that Landlock can refuse by leaving them
// out. Control files in a writable tree are not among them: a tree in which
// new files may appear must grant writing as a whole.
func carvable(d *profiles.Denial) bool { return d.Class != profiles.Control }

// addPoint adds what is there. What a closed directory hides is, and the run may open
// the directory.
func (c *compiler) addPoint(p string, a profiles.Access) {
	_, err := fs.Lstat(c.facts.FS, profiles.FSName(p))
	if err == nil || errors.Is(err, fs.ErrPermission) && c.inGrant(p) {
		c.points = append(c.points, point{p, a})
	}
}

func (c *compiler) findPoints() {
	for i := range c.p.Denials {
		d := &c.p.Denials[i]
		if !carvable(d) {
			if d.Match != "" {
				c.noteNames(d, d.Path)
			} else {
				c.noteNamed(d)
			}
			continue
		}
		if d.Match == "" {
			c.addPoint(d.Path, d.Access)
			c.noteNamed(d)
		}
		for _, e := range d.Except {
			if strings.HasPrefix(e, "/") && d.Covers(path.Dir(e)) {
				c.addPoint(e, d.Access)
			}
		}
	}
	if c.p.Skill != "" {
		c.addPoint(c.p.Skill, profiles.Change)
	}
	for _, sift := range c.p.Sifts() {
		c.walk(sift.Root, sift)
	}
	slices.SortFunc(c.points, func(a, b point) int { return strings.Compare(a.path, b.path) })
}

// longest is the longest name of a directory whose files can all be named
// (PATH_MAX, NAME_MAX). Deeper ones can be made and entered, step by step.
const longest = 4096 - 1 - 256

// A SiftFS lists of a directory what a Sift leaves of it, so that it can tell later
// whether that is still the same, whatever else has come or gone.
type SiftFS interface {
	ReadSifted(name string, s *profiles.Sift) ([]fs.DirEntry, error)
}

// walk finds the names below root that a pattern covers, and what leads elsewhere
// from there. Only what a Sift passes may have an effect here.
func (c *compiler) walk(root string, denials *profiles.Sift) {
	var entries []fs.DirEntry
	var err error
	if sifts, ok := c.facts.FS.(SiftFS); ok {
		entries, err = sifts.ReadSifted(profiles.FSName(root), denials)
	} else {
		entries, err = fs.ReadDir(c.facts.FS, profiles.FSName(root))
	}
	if len(root) > longest {
		err = syscall.ENAMETOOLONG
	}
	if err != nil {
		if !c.sealed(root, err) {
			c.plan.Linked = append(c.plan.Linked, profiles.Denial{
				Path: root, Access: denials.Access(), Class: profiles.Sensitive,
				Origin: profiles.Origin{Source: OfClosed, Reason: "cannot be listed: what is in it may be secret"},
			})
		}
		return
	}
	for _, e := range entries {
		p := profiles.Below(root, e.Name())
		covering := denials.Covering(p)
		var a profiles.Access
		for _, d := range covering {
			a |= d.Access
		}
		if a != 0 {
			if info, ok := c.lstat(p); ok {
				for _, d := range covering {
					c.noteLinks(p, info, d, d.Path)
				}
			}
			if e.Type()&fs.ModeSymlink == 0 { // no rule is about a link
				c.points = append(c.points, point{p, a})
			}
		}
		for _, d := range denials.Through(&profiles.Host{OS: "linux", CaseSensitive: true, FS: c.facts.FS}, p, e.Type()) {
			d.Origin.Source, d.Origin.Reason = OfLinks, d.Origin.Reason+": "+strconv.Quote(strings.TrimPrefix(p, denials.Root+"/"))+" leads to it"
			c.plan.Linked = append(c.plan.Linked, d)
			c.noteNames(&d, denials.Root)
			if !profiles.Within(denials.Root, d.Path) {
				c.noteNamed(&d)
			}
		}
		if e.Type()&fs.ModeDevice != 0 {
			c.denyDevice(p)
		}
		// Beneath a covered directory there may be an exception.
		if e.IsDir() {
			c.walk(p, denials)
		}
	}
}

// everyPrograms are the numbers of devices that every program uses, as the kernel
// packs them: null, zero, full, random, urandom, tty; and what an overlay has for a
// name that was removed, which is no device.
var everyPrograms = []uint64{0x103, 0x105, 0x107, 0x108, 0x109, 0x500, 0}

// denyDevice denies a device that lies elsewhere than in /dev, as in the tree of another
// system: a disk has by any name all that is denied by its own.
func (c *compiler) denyDevice(p string) {
	info, ok := c.lstat(p)
	if !ok || profiles.Within("/dev", p) {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode()&fs.ModeCharDevice != 0 && slices.Contains(everyPrograms, uint64(st.Rdev)) {
		return
	}
	c.plan.Linked = append(c.plan.Linked, profiles.Denial{
		Path: p, Access: profiles.AllAccess, Class: profiles.Sensitive,
		Origin: profiles.Origin{Source: OfNodes, Reason: "a device: grant it by its name in /dev"},
	})
}

// sealed says of a directory which could not be listed that the run has nothing
// in it either. Somebody else's that nobody may search is such; where names can
// be reached although they are not shown, or the owner's run can open the
// directory first, it is not.
func (c *compiler) sealed(dir string, err error) bool {
	if errors.Is(err, fs.ErrNotExist) || !c.inGrant(dir) {
		return true
	}
	info, ok := c.lstat(dir)
	if !ok || !errors.Is(err, fs.ErrPermission) {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != c.f.UID && info.Mode()&0o011 == 0
}

// touching gives the denials that may have to do with p: whoever goes through all of
// them for each file takes the square of what an earlier run left.
func (c *compiler) touching(p string) []*profiles.Denial {
	if c.sieve == nil {
		c.sieve = profiles.NewSieve(c.p.Denials)
	}
	return c.sieve.Touching(p)
}

// denied gives the accesses of a that are refused at p itself.
func (c *compiler) denied(p string, a profiles.Access) profiles.Access {
	return denied(c.touching(p), c.p.Skill, p, a)
}

// denied is that by the denials that may have to do with p, and a skill.
func denied(touching []*profiles.Denial, skill, p string, a profiles.Access) profiles.Access {
	var out profiles.Access
	for _, d := range touching {
		if carvable(d) && d.Access&a&^out != 0 && d.Covers(p) {
			out |= d.Access & a
		}
	}
	if skill != "" && profiles.Within(skill, p) {
		out |= a & profiles.Change
	}
	return out
}

// below gives the accesses for which some point lies strictly beneath dir.
func (c *compiler) below(dir string, a profiles.Access) profiles.Access {
	prefix := dir + "/"
	if dir == "/" {
		prefix = "/"
	}
	var out profiles.Access
	i := sort.Search(len(c.points), func(i int) bool { return c.points[i].path >= prefix })
	for ; i < len(c.points) && strings.HasPrefix(c.points[i].path, prefix); i++ {
		out |= c.points[i].access & a
	}
	return out
}

// excepts says whether a denial leaves something beneath a directory alone.
func (c *compiler) excepts(dir string) bool {
	return slices.ContainsFunc(c.p.Denials, func(d profiles.Denial) bool {
		return slices.ContainsFunc(d.Except, func(name string) bool { return name != dir && profiles.Within(dir, name) })
	})
}

func (c *compiler) landlock() {
	if c.f.Landlock == 0 {
		return
	}
	for i := range c.p.Paths {
		if r := &c.p.Paths[i]; c.supervise {
			if info, ok := c.lstat(r.Path); !ok {
				c.grantName(r)
			} else if !info.IsDir() || profiles.Within(c.p.Workspace, path.Dir(r.Path)) {
				c.grantRemoval(r)
			}
		}
	}
	for i := range c.p.Paths {
		r := &c.p.Paths[i]
		info, ok := c.lstat(r.Path)
		if !ok || info.IsDir() && !r.Tree {
			continue // Validate refuses a rule for a directory alone, for what it can know
		}
		c.grant(r.Path, c.together(r), info.IsDir())
	}
	own := profiles.AllAccess
	if !c.p.Process.ExecuteOwn {
		own &^= profiles.Execute
	}
	for _, dir := range c.facts.Own {
		c.granted[dir] |= rights(own, true)
		c.inner[dir] |= rights(own, true)
	}
	handled := handledFS(c.f.Landlock)
	var scoped uint64
	if c.f.Landlock >= 6 {
		scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	var net, mediatedNet uint64
	if c.f.Landlock >= 4 {
		switch {
		case c.leads:
			mediatedNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
		case c.p.Network.Mode == profiles.NetNone:
			net = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
		}
	}
	first := Ruleset{HandledFS: handled, HandledNet: net, Rules: rules(c.granted, handled)}
	if !c.supervise {
		first.Scoped = scoped
		c.plan.Layers = []Ruleset{first}
		return
	}
	// The scopes belong to the second layer: the supervisor's performers are
	// under the first and must answer for the command.
	second := Ruleset{HandledFS: handled & mediated, HandledNet: mediatedNet, Scoped: scoped}
	if c.opens {
		second.HandledFS = handled & (mediated | readFile | readDir | execute)
		second.Rules = rules(c.inner, handled&(readFile|readDir|execute))
	}
	c.plan.Layers = []Ruleset{first, second}
}

// readsAsked says whether a supervisor can be asked about opens for reading: the
// outer run's, of a run inside, may not be.
func (c *compiler) readsAsked() bool { return !c.plan.Nested || c.f.Outer&NotifyOpens != 0 }

// grantName lets the run make what a rule grants and what is not there yet.
// Landlock has rules for files and none for names: the supervisor's performers
// get the directory, and the command, whose second layer grants no making and no
// writing, gets what the supervisor rules. To read what it makes there, it needs
// to have its opens ruled on too, unless it may read the directory.
func (c *compiler) grantName(r *profiles.PathRule) {
	dir := path.Dir(r.Path)
	info, ok := c.lstat(dir)
	a, above := r.Access, profiles.Access(0)
	for i := range c.p.Paths {
		o := &c.p.Paths[i]
		if o.Path == r.Path || o.Tree && profiles.Within(o.Path, r.Path) {
			a |= o.Access
		}
		if o.Tree && profiles.Within(o.Path, dir) {
			above |= o.Access
		}
	}
	a &^= profiles.Execute
	a &^= c.denied(r.Path, a)
	if !ok || !info.IsDir() || dir == "/" || a&profiles.Create == 0 {
		return
	}
	if above&profiles.Create != 0 {
		a &= profiles.Read // it has the rest already
	}
	a &^= above & profiles.Read
	if !c.readsAsked() {
		a &^= profiles.Read // it can make and write it, and not read it again
	}
	if a == 0 {
		return
	}
	c.opens = c.opens || a&profiles.Read != 0
	c.beside |= a
	c.granted[dir] |= rights(a, true)
}

// grantRemoval lets the run delete a file where it may change nothing else: that is a
// right of the directory, too, which the performers get. Directories stay, other than
// those of a workspace: who has what is in ~/Downloads deleted means to keep that.
func (c *compiler) grantRemoval(r *profiles.PathRule) {
	dir := path.Dir(r.Path)
	if dir == "/" || r.Access&^c.denied(r.Path, r.Access)&profiles.Delete == 0 {
		return
	}
	for i := range c.p.Paths {
		if o := &c.p.Paths[i]; o.Tree && profiles.Within(o.Path, dir) && o.Access&(profiles.Create|profiles.Delete) != 0 {
			return // they have it already
		}
	}
	c.beside |= profiles.Delete
	c.granted[dir] |= rights(profiles.Delete, true)
}

// together gives a rule's access, and where it lets the run create, what other
// rules grant there as well: what decides how a denied file is kept apart from
// new ones is whether the run may read and create in the same directory.
func (c *compiler) together(r *profiles.PathRule) profiles.Access {
	a := r.Access
	if a&profiles.Create == 0 {
		return a
	}
	for i := range c.p.Paths {
		if o := &c.p.Paths[i]; o.Path == r.Path || o.Tree && profiles.Within(o.Path, r.Path) {
			a |= o.Access
		}
	}
	return a
}

// procPath is where every process has a directory, those that are not there yet too.
const procPath = "/proc"

// grant gives access a to the tree (or file) at p, leaving out what is denied
// beneath it: siblings are granted, never the parent. In the second layer's
// view a directory in which the run may create, or processes appear, is cut the
// same way, and the first layer leaves those opens to the supervisor.
func (c *compiler) grant(p string, a profiles.Access, dir bool) {
	mixed, refused := profiles.Access(0), c.denied(p, a)
	switch {
	case dir && c.excepts(p):
		mixed = c.below(p, a)
	case dir:
		mixed = c.below(p, a&^refused)
	}
	a &^= refused
	whole := a &^ mixed
	if c.supervise && (a&profiles.Create != 0 || p == procPath) && mixed != 0 {
		c.opens = c.opens || mixed&^refused&profiles.Read != 0
		c.granted[p] |= rights(a, dir)
	}
	if whole != 0 {
		c.granted[p] |= rights(whole, dir)
		c.inner[p] |= rights(whole, dir)
	}
	if mixed == 0 {
		return
	}
	if mixed&^refused&profiles.Read != 0 {
		// Names stay visible: a workspace that cannot be listed is no use.
		// Landlock then shows the names beneath denied directories, too.
		c.granted[p] |= readDir
		c.inner[p] |= readDir
	}
	if p == procPath && c.supervise {
		return // siblings are of processes that are there now, outside
	}
	entries, err := fs.ReadDir(c.facts.FS, profiles.FSName(p))
	if err != nil {
		return
	}
	for _, e := range entries {
		child := path.Join(p, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			continue // a rule on a link would be a rule on its target
		}
		if c.denied(child, mixed) == mixed && !(e.IsDir() && c.below(child, mixed) != 0) {
			c.plan.Carved = append(c.plan.Carved, child)
			if c.opens || c.facts.Observe {
				c.plan.Denied = append(c.plan.Denied, child)
			}
			continue
		}
		c.grant(child, mixed, e.IsDir())
	}
}

// rules turns the collected grants into sorted Landlock rules.
func rules(m map[string]uint64, mask uint64) []LandRule {
	out := make([]LandRule, 0, len(m))
	for p, a := range m {
		if a &= mask; a != 0 {
			out = append(out, LandRule{Path: p, Access: a})
		}
	}
	slices.SortFunc(out, func(a, b LandRule) int { return strings.Compare(a.Path, b.Path) })
	// What a rule above grants already costs time and says nothing.
	kept := out[:0]
	for _, r := range out {
		covered := false
		for dir := path.Dir(r.Path); ; dir = path.Dir(dir) {
			if m[dir]&mask&r.Access == r.Access && dir != r.Path {
				covered = true
				break
			}
			if dir == "/" {
				break
			}
		}
		if !covered {
			kept = append(kept, r)
		}
	}
	return kept
}

// filter chooses the seccomp programs.
func (c *compiler) filter() {
	if !c.f.Seccomp {
		return
	}
	var f FilterFeatures
	if c.p.Network.Mode == profiles.NetNone && !c.tellsNetwork() && !c.leads {
		f |= NoInternet
	}
	if !c.p.Process.Create {
		f |= NoFork
	}
	switch {
	case c.listens:
		f |= NotifyNames | NotifyMetadata | NotifySockets
		switch {
		case c.opens:
			f |= NotifyOpens
		case c.facts.Observe, c.standsIn(), c.plan.Namespaces == 0 && len(c.plan.Empty) > 0:
			f |= NotifyOpens
			c.plan.PassReads, c.plan.WatchReads = true, c.facts.Observe
		}
		if c.f.Landlock < 6 && c.plan.Namespaces&NSPID == 0 { // in a PID namespace there is nobody else
			f |= NotifyKill
		}
		switch {
		case c.leads:
			f |= NotifyInternet
		case c.plan.Namespaces&NSNet != 0:
			f |= OwnNetwork
		}
	default:
		f |= NoSupervisor
	}
	c.plan.Filter = f
}

// standsIn says that the supervisor puts directories of the run's own in the place
// of shared ones, as mounts do elsewhere: what was made there is to be read there.
func (c *compiler) standsIn() bool {
	return slices.ContainsFunc(c.facts.Private, func(s Substitute) bool {
		info, ok := c.lstat(s.From)
		return ok && info.IsDir() && !c.plan.Private(s.From)
	})
}

// tellsNetwork says that the supervisor refuses internet sockets, so that it can
// tell of them, rather than the filter, which is silent.
func (c *compiler) tellsNetwork() bool {
	return c.listens && c.facts.Observe && !c.facts.Connected
}

// namespaces are all but the network's. In a user namespace the one capability
// that root needs for another owner's files would be worth nothing, since their
// owner is not mapped: there root makes the others as root, or none.
func (c *compiler) namespaces() Namespaces {
	const capSysAdmin = 1 << 21
	switch {
	case !c.facts.Foreign:
		return AllNamespaces
	case c.f.Capabilities&capSysAdmin != 0:
		return AllNamespaces &^ NSUser
	}
	return 0
}

// capDACOverride lets root without other capabilities use files of another
// owner; Landlock bounds which.
const capDACOverride = 1 << 1

func (c *compiler) capabilities() {
	if c.facts.Foreign && c.f.Landlock > 0 && c.f.Capabilities&capDACOverride != 0 {
		c.plan.KeepCapabilities = capDACOverride
	}
}

// Linux resource numbers, the same on every architecture that has filters.
const (
	rlimitCPU    = 0
	rlimitFsize  = 1
	rlimitData   = 2
	rlimitCore   = 4
	rlimitNproc  = 6
	rlimitNofile = 7
	rlimitNice   = 13
	rlimitRtprio = 14
)

// memorySlack is by how much a single process may reserve more than the run may
// use: stacks of threads and heaps are reserved long before they are used.
const memorySlack = 512 << 20

// boundsData says whether each process is bounded, where no cgroup holds the sum of
// memory: as the net below the launcher's looking at it, or because nobody looks. It
// is on data, never on address space: runtimes reserve far more than they use. Yet
// programs that gcc and clang check (-fsanitize=address, thread) reserve terabytes of
// data and do not start then, so a preset's limit, which is there for runaways, is
// looked at only.
func (c *compiler) boundsData() bool {
	return c.p.Limits.Memory > 0 && c.f.Cgroup == "" && (c.facts.Firm || !c.f.Children)
}

// rlimits bounds each process. The number of processes is the
// user's own count outside a user namespace, so it is set inside only, with room
// for the guardian, and one more, so that being there can be seen.
func (c *compiler) rlimits() {
	l := c.p.Limits
	add := func(resource int, value int64) {
		if value > 0 {
			c.plan.Rlimits = append(c.plan.Rlimits, Rlimit{resource, uint64(value)})
		}
	}
	if l.CPU > 0 {
		// A second later, so that the run is ended and its limit named before the
		// kernel kills one process without a word.
		add(rlimitCPU, int64((l.CPU+999999999)/1000000000)+1)
	}
	add(rlimitFsize, l.FileSize)
	if c.boundsData() {
		add(rlimitData, l.Memory+min(memorySlack, math.MaxInt64-l.Memory))
	}
	if c.countsProcesses() && l.Processes > 0 && c.f.Cgroup == "" {
		add(rlimitNproc, l.Processes+2)
	}
	add(rlimitNofile, l.OpenFiles)
	// A core file would hold the memory of whatever read a secret. For 0 the kernel
	// still starts the program that kernel.core_pattern names, as root, outside of the
	// run, which may keep it; for 1 it does not, and of a file that is no room for any.
	c.plan.Rlimits = append(c.plan.Rlimits, Rlimit{rlimitCore, 1})
	// Who may play music without gaps (limits.conf, rtkit) may keep everybody else from
	// the processors, those who look at the run's limits among them.
	c.plan.Rlimits = append(c.plan.Rlimits, Rlimit{rlimitNice, 0}, Rlimit{rlimitRtprio, 0})
}

// countsProcesses says whether the kernel counts the run's processes by itself:
// in a user namespace, and nobody counts root's.
func (c *compiler) countsProcesses() bool { return c.plan.Namespaces&NSUser != 0 && c.f.UID != 0 }
