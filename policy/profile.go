package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"skillrun/profiles"
)

// Inputs are the facts of one run that a Profile depends on.
type Inputs struct {
	// Workspace and Skill are directories, "" if there is none.
	Workspace, Skill string
	// Plugin is the directory of the agent's plugin that the skill is part of, by its
	// name alone: it opens nothing. "" if there is none.
	Plugin string
	// Cwd is where the command is started; relative words are relative to it.
	Cwd string
	// Program and Script are the words of the command that name them, "" for
	// none; see [Words]. What the user typed may always start: they are granted,
	// and their interpreters.
	Program, Script string
	// Now decides about expiry and time windows.
	Now time.Time
	// Mounts are directories that the user gives a role.
	Mounts []Mount
	// Settings are files and directories that decide about runs, wherever they
	// lie: none changes them.
	Settings []string
	// Approved are directories of skills that were approved, as they are, or that
	// the user installed.
	Approved []string
}

// Mount is a directory with a role, from --mount ROLE=DIR:ro|rw.
type Mount struct {
	Role  string
	Dir   string
	Write bool
}

// Profile lowers the Set to what one run may do on a machine. Entries that are
// not allowed contribute nothing, Confirm included: see [Set.Pending]. What a
// Profile cannot express becomes a Demand, which back ends report as a gap.
//
// It fails if a directory of in cannot be resolved or a mount is refused, and of
// what a manifest says on patterns alone, for which too many files would have to be
// looked at.
func (s *Set) Profile(h *profiles.Host, in Inputs) (*profiles.Profile, error) {
	l := &lowering{set: s, host: h, in: in, place: Place{Home: h.Home}}
	var err error
	for _, dir := range [...]struct {
		what, path string
		to         *string
	}{{"workspace", in.Workspace, &l.place.Workspace}, {"skill", in.Skill, &l.place.Skill}} {
		if dir.path == "" {
			continue
		}
		if *dir.to, err = h.Resolve(dir.path); err != nil {
			return nil, fmt.Errorf("%s: %w", dir.what, err)
		}
	}
	if resolved, err := h.Resolve(h.Home); err == nil {
		l.place.Home = resolved
	}
	p := &profiles.Profile{Workspace: l.place.Workspace, Skill: l.place.Skill, Home: h.Home, Limits: s.Limits}
	l.base(p)
	for i := range taxonomy {
		l.capability(p, &taxonomy[i])
	}
	if l.excess != nil {
		return nil, l.excess
	}
	for _, e := range s.grants.of(unixSocket) {
		if e.Lapsed(in.Now) == "" {
			l.socket(p, &e)
		}
	}
	for _, e := range s.grants.of(listenPort) {
		if e.Lapsed(in.Now) == "" {
			l.listen(p, &e)
		}
	}
	l.preset(p)
	p.OwnStores(h)
	l.environment(p)
	if err := l.mounts(p); err != nil {
		return nil, err
	}
	l.command(p)
	controls, included := gitControls(h, l.place.Workspace)
	p.Denials, p.Empty = append(p.Denials, controls...), included
	p.Denials = append(p.Denials, homeControls(h, writable(p))...)
	p.DenyAliases(h)
	// What is approved elsewhere, by any name, makes no run another: runs with the
	// same rights share caches.
	p.Denials = slices.DeleteFunc(p.Denials, func(d profiles.Denial) bool {
		return (d.Origin.Reason == ApprovedSkill || d.Origin.Reason == decisive) && !p.Changes(d.Path)
	})
	l.except(p)
	p.Normalize()
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return p, nil
}

// ApprovedSkill is why a run changes nothing in a skill that was approved.
const ApprovedSkill = "an approved skill, which only its user changes"

// decisive is why a run changes no file of [Inputs.Settings].
const decisive = "says what runs may do"

// lowering is the work of one Profile call.
type lowering struct {
	set   *Set
	host  *profiles.Host
	in    Inputs
	place Place
	// excepts are paths that were granted by name, which lift denials.
	excepts []exception

	looked, lookedRefused int   // at files, for patterns
	excess                error // of the first pattern that would have looked at too many
}

type exception struct {
	path    string
	access  profiles.Access
	control bool // also lifts the protection of control files
}

// base adds what every run has, whatever its manifest says.
func (l *lowering) base(p *profiles.Profile) {
	p.Paths = profiles.BaseReads(l.host)
	tools, vars := profiles.Toolchains(l.host, l.place.Workspace)
	for _, r := range tools {
		if l.uses(r.Origin) {
			p.Paths = append(p.Paths, r)
		}
	}
	for _, v := range vars {
		if l.uses(v.Origin) {
			p.Env.Set = append(p.Env.Set, v)
		}
	}
	p.Env.Pass, p.Env.Deny = profiles.EnvDefaults()
	p.Denials = profiles.SensitivePaths(l.host)
	kept := func(names []string, why string) {
		for _, name := range names {
			origin := profiles.Origin{Source: profiles.OfControlFiles, Reason: why}
			stay := func(file string, access profiles.Access) {
				p.Denials = append(p.Denials, profiles.Denial{Path: file, Access: access, Class: profiles.Control, Origin: origin})
			}
			stay(name, profiles.Change)
			real, way, err := l.host.Held(name, origin)
			if err == nil {
				stay(real, profiles.Change)
			}
			for _, step := range way { // who changed one would make another the file
				if path.Dir(step.Path) != "/" && !profiles.OfSystem(step.Path) {
					stay(step.Path, step.Access)
				}
			}
		}
	}
	kept(l.in.Settings, decisive)
	kept(l.in.Approved, ApprovedSkill)
	if l.place.Skill != "" {
		p.Paths = append(p.Paths, profiles.PathRule{Path: l.place.Skill, Tree: true, Access: profiles.Read,
			Origin: profiles.Origin{Source: "built-in:skill", Reason: "a skill reads its own files"}})
		p.Denials = append(p.Denials, profiles.WorkspaceSecrets(l.place.Skill)...)
	}
	if l.place.Workspace != "" {
		p.Denials = append(p.Denials, profiles.WorkspaceSecrets(l.place.Workspace)...)
		p.Denials = append(p.Denials, profiles.ControlFiles(l.place.Workspace)...)
		p.Denials = append(p.Denials, profiles.ControlledIn(l.place.Workspace)...)
	}
}

// uses says whether the run has a toolchain of the user's home: all, unless
// skillrun.toml lists those that it needs. A shipped rule's reason begins with
// the toolchain's name.
func (l *lowering) uses(o profiles.Origin) bool {
	name, _, named := strings.Cut(o.Reason, ": ")
	return l.set.chains == nil || !named || slices.ContainsFunc(l.set.chains, func(t Text) bool { return t.Value == name })
}

// capability adds what the entries for one capability come to: the skill's
// within each ceiling, then the user's grants, and everybody's denials.
func (l *lowering) capability(p *profiles.Profile, c *Capability) {
	if !c.Enforced() {
		return
	}
	before := l.excepts
	l.excepts = nil
	defer func() { l.excepts = append(before, l.excepts...) }()
	granted := l.fragment(c, l.set.grants.of(c.Name), true).rights
	var blocked []blockedHost
	var above [][]Entry // what stands above a denial of all there is: nothing else is granted
	for _, layer := range l.set.layers() {
		entries := layer.of(c.Name)
		if i := layer.outright(c.Name, l.in.Now); i >= 0 {
			above = append(above, entries[:i])
		}
		denied := l.fragment(c, entries, false)
		p.Denials = append(p.Denials, denied.rights.Denials...)
		p.Env.Deny = append(p.Env.Deny, denied.rights.Env.Deny...)
		blocked = append(blocked, denied.blocked...)
		for _, d := range denied.asked {
			if giveWay(&d, granted.Paths) {
				p.Denials = append(p.Denials, d)
			}
		}
	}
	rights := &profiles.Profile{}
	if own := l.set.pool.of(c.Name); len(own) > 0 {
		rights = l.within(c, l.fragment(c, own, false).rights)
	}
	merge(rights, granted)
	for _, entries := range above {
		rights = rights.Intersect(l.fragment(c, answered(entries), false).rights)
	}
	l.block(rights, c, blocked)
	rights.Denials = nil
	merge(p, rights)
	l.control(p, c, rights.Paths)
	l.keep(rights)
}

// control guards the control files of trees outside the workspace that may be
// written: who grants a directory of projects, or his home, means no hooks. Of
// what a toolchain unpacks, such as ~/go/pkg/mod, only the repositories count:
// packages carry .github and the like.
func (l *lowering) control(p *profiles.Profile, c *Capability, granted []profiles.PathRule) {
	if c.Group != "Storage" && !strings.HasPrefix(c.Name, "source_code.") {
		return
	}
	for _, r := range granted {
		if !r.Tree || r.Access&profiles.Change == 0 || profiles.Within(l.place.Workspace, r.Path) {
			continue
		}
		packages := slices.ContainsFunc(p.Paths, func(t profiles.PathRule) bool {
			return t.Origin.Source == "built-in:toolchains" && t.Tree && profiles.Within(t.Path, r.Path)
		})
		for _, d := range profiles.ControlFiles(r.Path) {
			if len(d.Except) == 0 || !packages {
				p.Denials = append(p.Denials, d)
			}
		}
	}
}

// keep leaves the exceptions that the rights of a capability bear out: what a
// ceiling took away lifts nothing.
func (l *lowering) keep(rights *profiles.Profile) {
	var kept []exception
	for _, x := range l.excepts {
		var access profiles.Access
		for _, r := range rights.Paths {
			if r.Path == x.path || r.Tree && profiles.Within(r.Path, x.path) {
				access |= r.Access
			}
		}
		if x.access &= access; x.access != 0 {
			kept = append(kept, x)
		}
	}
	l.excepts = kept
}

// within narrows rights to what every ceiling admits for the capability.
func (l *lowering) within(c *Capability, rights *profiles.Profile) *profiles.Profile {
	for i := range l.set.ceilings {
		ceiling := &l.set.ceilings[i]
		entries := ceiling.of(c.Name)
		switch {
		case !ceiling.bounds(c.Name):
		case len(entries) > 0:
			// Whether a ceiling asks was settled with the entry's own effect.
			rights = rights.Intersect(l.fragment(c, answered(entries), false).rights)
		default:
			return &profiles.Profile{}
		}
	}
	return rights
}

// answered gives entries as if all that ask had been answered with yes.
func answered(entries []Entry) []Entry {
	open := slices.Clone(entries)
	for i := range open {
		if open[i].Effect == Confirm {
			open[i].Effect = Allow
		}
	}
	return open
}

// fragment is what one source's entries for a capability come to.
type fragment struct {
	rights  *profiles.Profile
	blocked []blockedHost
	// asked are denials of entries that wait for an answer. Unlike others,
	// they give way to the user's grants.
	asked []profiles.Denial
}

// blockedHost is a host that is refused, but for hosts that a higher entry
// grants.
type blockedHost struct {
	profiles.HostRule
	except []string
	denied bool // and does not wait for an answer
}

func (b *blockedHost) byAddress() bool { _, ok := profiles.HostPrefix(b.Host); return ok }

func (l *lowering) fragment(c *Capability, entries []Entry, user bool) fragment {
	f := fragment{rights: l.blank()}
	covered := false // by a refused entry that is about all there is
	for i := range entries {
		e := &entries[i]
		if e.Lapsed(l.in.Now) != "" || covered && e.Effect != Deny {
			continue
		}
		r := right{lowering: l, capability: c, entry: e, user: user}
		if e.Effect == Allow {
			r.lower(f.rights)
			r.demands(f.rights)
			l.until(f.rights, e)
			continue
		}
		// An entry that is refused, or waits for an answer, outranks those
		// below it. Alone, an unanswered one grants nothing and denies nothing.
		if e.Effect == Deny || i+1 < len(entries) {
			r.refuse(&f)
		}
		covered = covered || !e.Constraints.narrows()
	}
	return f
}

// blank is a Profile that grants nothing and can be intersected with others of
// the same run.
func (l *lowering) blank() *profiles.Profile {
	return &profiles.Profile{Workspace: l.place.Workspace, Skill: l.place.Skill, Home: l.host.Home}
}

// refuse turns an entry into denials of all that it would have granted, higher
// entries' grants excepted.
func (r *right) refuse(f *fragment) {
	e := *r.entry
	e.Effect = Allow
	switch {
	case e.Constraints.Scoped:
		if e.Constraints.WorkspaceOnly == Unset {
			e.Constraints.WorkspaceOnly = No
		}
	default:
		e.Constraints.WorkspaceOnly = Yes // denying "/" would deny the system's libraries
	}
	scratch := r.blank()
	refused := *r
	refused.entry, refused.refused = &e, true
	refused.lower(scratch)
	var denials []profiles.Denial
	for _, rule := range scratch.Paths {
		rule.Access &^= r.incidental()
		d := profiles.Denial{Path: rule.Path, Access: rule.Access, Origin: rule.Origin}
		if giveWay(&d, f.rights.Paths) {
			denials = append(denials, d)
		}
	}
	if denials = append(denials, r.denyPatterns(&e)...); r.entry.Effect == Deny {
		f.rights.Denials = append(f.rights.Denials, denials...)
	} else {
		f.asked = append(f.asked, denials...)
	}
	var higher []string
	for _, rule := range f.rights.Network.Hosts {
		higher = append(higher, rule.Host)
	}
	for _, rule := range scratch.Network.Hosts {
		f.blocked = append(f.blocked, blockedHost{rule, higher, r.entry.Effect == Deny})
	}
	if r.entry.Effect == Deny {
		f.rights.Env.Deny = append(f.rights.Env.Deny, scratch.Env.Pass...)
		f.rights.Env.Deny = append(f.rights.Env.Deny, scratch.Env.Allow...)
	}
}

// giveWay makes a denial give way to grants that outrank it, and says whether
// anything of it is left.
func giveWay(d *profiles.Denial, granted []profiles.PathRule) bool {
	for _, g := range granted {
		switch {
		case g.Access&d.Access == 0:
		case profiles.Within(g.Path, d.Path) && (g.Tree || d.Match == "" && g.Path == d.Path):
			d.Access &^= g.Access
		case profiles.Within(d.Path, g.Path):
			d.Except = append(d.Except, g.Path)
		}
	}
	return d.Access != 0
}

// incidental is the access that a capability brings along and another one is
// about: refusing to make commits does not refuse to read them.
func (r *right) incidental() profiles.Access {
	switch r.capability.means {
	case createCommits, pushCommits, executeSource:
		return profiles.Read
	}
	return 0
}

// block takes denied hosts out of rights. Of a name that a pattern still covers it
// cannot, nor of the whole network: that is a demand nobody holds. Addresses are taken
// from each rule, whose names may stand for them. On which ports counts for nothing.
func (l *lowering) block(rights *profiles.Profile, c *Capability, blocked []blockedHost) {
	for _, b := range blocked {
		rights.Network.Hosts = slices.DeleteFunc(rights.Network.Hosts, func(h profiles.HostRule) bool {
			_, all := b.Shares(&h)
			return !slices.Contains(b.except, h.Host) && (b.Host == "*" || all || b.Matches(strings.TrimPrefix(h.Host, "*.")))
		})
		for i := range rights.Network.Hosts {
			if h := &rights.Network.Hosts[i]; b.byAddress() && !slices.Contains(b.except, h.Host) {
				h.Except = append(slices.Clip(h.Except), b.Host)
			}
		}
	}
	inside := func(b *blockedHost, what string) {
		rights.Demands = append(rights.Demands, profiles.Demand{
			Name: profiles.ClauseScope, Origin: b.Origin,
			Detail: fmt.Sprintf("%s: %s is denied inside %s, which is granted", c.Name, b.Host, what),
		})
	}
	for i := range blocked {
		b := &blocked[i]
		if rights.Network.Mode == profiles.NetHost && b.denied {
			inside(b, "the whole network")
		}
		for i := range rights.Network.Hosts {
			h := &rights.Network.Hosts[i]
			if some, _ := b.Shares(h); !b.byAddress() && !slices.Contains(b.except, h.Host) && (some || h.Host == "*") {
				inside(b, h.Host)
			}
		}
	}
}

// until bounds the run so that no right outlives its entry, where that is soon.
func (l *lowering) until(p *profiles.Profile, e *Entry) {
	var left time.Duration
	if e.Constraints.Window.Pos != (Pos{}) {
		left, _ = e.Constraints.Window.remaining(l.in.Now)
	}
	if !e.Expires.IsZero() {
		left = smaller(left, e.Expires.Sub(l.in.Now))
	}
	if left > 0 && left < 24*time.Hour {
		p.Limits.Wall = smaller(p.Limits.Wall, left)
	}
}

// merge adds the rights of b to a.
func merge(a, b *profiles.Profile) {
	a.Paths = append(a.Paths, b.Paths...)
	a.Denials = append(a.Denials, b.Denials...)
	a.Sockets = append(a.Sockets, b.Sockets...)
	a.Demands = append(a.Demands, b.Demands...)
	a.Empty = append(a.Empty, b.Empty...)
	a.Redact = append(a.Redact, b.Redact...)
	a.Env.Pass = append(a.Env.Pass, b.Env.Pass...)
	a.Env.Deny = append(a.Env.Deny, b.Env.Deny...)
	a.Env.Allow = append(a.Env.Allow, b.Env.Allow...)
	a.Env.Set = append(a.Env.Set, b.Env.Set...)
	if b.Network.Mode > a.Network.Mode {
		a.Network.Mode, a.Network.Origin = b.Network.Mode, b.Network.Origin
	}
	a.Network.Hosts = append(a.Network.Hosts, b.Network.Hosts...)
	a.Network.Listen = append(a.Network.Listen, b.Network.Listen...)
	if b.Process != (profiles.Process{}) {
		origin := a.Process.Origin
		if origin == (profiles.Origin{}) {
			origin = b.Process.Origin
		}
		a.Process = profiles.Process{
			Create: a.Process.Create || b.Process.Create, Query: a.Process.Query || b.Process.Query,
			AnyMode: a.Process.AnyMode || b.Process.AnyMode, ExecuteOwn: a.Process.ExecuteOwn || b.Process.ExecuteOwn,
			Origin: origin,
		}
	}
	a.Limits = tighten(a.Limits, b.Limits)
}

// replace gives who may write a control file by its name the right to delete it, as
// git and editors do to write one anew: what may be written can be emptied, too. The
// denials are those that have to do with what was granted.
func (l *lowering) replace(p *profiles.Profile, x *exception, touching []*profiles.Denial) {
	if !x.control || x.access&profiles.Write == 0 || l.set.Denies("filesystem.delete", l.in.Now) {
		return
	}
	guarded := slices.ContainsFunc(touching, func(d *profiles.Denial) bool {
		return d.Class == profiles.Control && d.Access&profiles.Write != 0 && d.Covers(x.path)
	})
	at := slices.IndexFunc(p.Paths, func(r profiles.PathRule) bool { return r.Path == x.path && r.Access&profiles.Write != 0 })
	if guarded && at >= 0 {
		rule := p.Paths[at]
		rule.Access = profiles.Delete
		p.Paths = append(p.Paths, rule)
		x.access |= profiles.Delete
	}
}

// except lifts denials from what was granted by name, for exactly the accesses
// that were.
func (l *lowering) except(p *profiles.Profile) {
	if len(l.excepts) == 0 {
		return
	}
	// A tree that may be written has hundreds of denials: they are not held against
	// every name that is granted.
	sieve, named := profiles.NewSieve(p.Denials), map[*profiles.Denial][]*exception{}
	for i := range l.excepts {
		x := &l.excepts[i]
		touching := sieve.Touching(x.path)
		l.replace(p, x, touching)
		for _, d := range touching {
			named[d] = append(named[d], x)
		}
	}
	var denials []profiles.Denial
	for i := range p.Denials {
		d := p.Denials[i]
		rest := d.Access
		for bit := profiles.Read; bit <= profiles.Execute; bit <<= 1 {
			part := d
			part.Access = bit
			lifted, all := false, false
			for _, x := range named[&p.Denials[i]] {
				if d.Access&x.access&bit == 0 || d.Class == profiles.Plain || d.Class == profiles.Control && !x.control || !d.Covers(x.path) {
					continue
				}
				lifted = true
				all = all || x.path == d.Path
				part.Except = append(slices.Clone(part.Except), x.path)
			}
			if lifted {
				rest &^= bit
			}
			if lifted && !all {
				denials = append(denials, part)
			}
		}
		if rest != 0 {
			d.Access = rest
			denials = append(denials, d)
		}
	}
	p.Denials = denials
}
