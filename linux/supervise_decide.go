package linux

import (
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"sync"

	"skillrun/profiles"
)

// Errors of the kernel that rulings give; the same numbers on every Linux.
const (
	errPerm   = 1
	errAccess = 13
	errXdev   = 18
	errNotSup = 95
)

// ruling is the answer to one request: go ahead, or an error for the caller
// and the verdict that explains it.
type ruling struct {
	errno   uint16
	path    string
	access  profiles.Access
	verdict profiles.Verdict
	why     string // where no rule of the profile says it
	inner   bool   // of a run inside this one
	made    bool   // the run made what stands there
	within  string // in which directory that was there before; "" for the run's own
	unsaid  bool   // the caller has another way, and hears there what is denied
}

func (r ruling) ok() bool { return r.errno == 0 }

// OwnProcess is why a run reads nothing of the launcher in /proc: whoever lists all
// processes (ps, pgrep) comes upon it, and goes on.
const OwnProcess = "skillrun's own process, which shows a run nothing"

// OfOpener is why a run with namespaces of its own reads nothing in /proc of what the
// kernel tells by those of the process that opens.
const OfOpener = "skillrun would open it, and be told of what is outside"

// decider turns a Profile and what the run has done so far into rulings. It
// makes no system calls.
type decider struct {
	profile *profiles.Profile
	grants  profiles.Profile // without the denials, which judge looks at itself
	asking  sync.Mutex       // guards sieve
	sieve   *profiles.Sieve
	own     []string // directories that are the run's alone
	apart   string   // one of them that outlives it, "" for none
	hidden  []string // denied names that were there at the start; see [Plan.Hidden]
	ledger  *ledger
	umask   uint32          // the launcher's; modes that it would strip are unsafe
	repos   map[string]bool // repositories by other names than ".git", folded
}

func newDecider(p *profiles.Profile, own []string, apart string, hidden []string, umask uint32) *decider {
	folded := *p
	folded.Denials = profiles.AnyCase(p.Denials)
	d := &decider{profile: &folded, grants: *p, own: own, apart: apart, hidden: hidden, ledger: newLedger(), umask: umask}
	d.grants.Denials = nil
	d.sieve = profiles.NewSieve(folded.Denials)
	d.repos = repositories(p.Denials)
	return d
}

// repositories gives the directories that something called ".git" leads to: what git
// obeys in them is denied by name.
func repositories(denials []profiles.Denial) map[string]bool {
	hooks, repos := map[string]bool{}, map[string]bool{}
	of := func(name string, found func(dir string)) {
		for i := range denials {
			d := &denials[i]
			if dir, ok := strings.CutSuffix(d.Path, name); ok && dir != "" && d.Class == profiles.Control && d.Match == "" {
				found(dir)
			}
		}
	}
	of("/hooks", func(dir string) { hooks[dir] = true })
	of("/config", func(dir string) {
		if hooks[dir] {
			repos[profiles.Folded(dir)] = true
		}
	})
	return repos
}

// ours says whether path lies in one of the run's own directories.
func (d *decider) ours(path string) bool {
	for _, o := range d.own {
		if profiles.Within(o, path) && len(path) > len(o) {
			return true
		}
	}
	return false
}

// onTheWay says whether path leads to a directory of the run's own or to what it
// is granted: "mkdir -p" names such a directory to find that it is there.
func (d *decider) onTheWay(path string) bool {
	return slices.ContainsFunc(d.own, func(o string) bool { return profiles.Within(path, o) }) ||
		slices.ContainsFunc(d.grants.Paths, func(r profiles.PathRule) bool { return profiles.Within(path, r.Path) })
}

// made says whether the run made what stands at pl.
func (d *decider) made(pl place) bool { return d.ours(pl.path) || d.ledger.made(pl) }

// judge is Profile.Allows with what only a supervisor knows: which directories
// the run made, so that a denial which ends there (UnlessMade, UnlessWithin) does.
func (d *decider) judge(pl place, access profiles.Access) profiles.Verdict {
	if den := d.denial(pl, access); den != nil {
		return profiles.Verdict{Denial: den}
	}
	if den, _ := d.becoming(pl, access); den != nil {
		return profiles.Verdict{Denial: den}
	}
	// The directories themselves stay, and can be listed.
	if d.ours(pl.path) || access == profiles.Read && slices.Contains(d.own, pl.path) {
		return profiles.Verdict{Allowed: true}
	}
	return d.grants.Allows(pl.path, access)
}

// denial gives the first denial that refuses access to pl.
func (d *decider) denial(pl place, access profiles.Access) *profiles.Denial {
	d.asking.Lock()
	defer d.asking.Unlock()
	for _, den := range d.sieve.Touching(pl.path) {
		if den.Access&access == 0 && access&profiles.Delete == 0 {
			continue
		}
		if !den.Covers(pl.path) && (access&profiles.Delete == 0 || !den.Leads(pl.path)) {
			continue
		}
		// What lies beneath a covered name cannot have been made by the run
		// unless its holder was: creating there and moving a directory there
		// are refused. So the directory at hand tells.
		if den.UnlessMade && d.ledger.madeDir(pl.dir) {
			continue
		}
		// A directory with a name on the way to one that is covered is not moved
		// there (arrive), so that those above were made where they are. A secret
		// others may have put there.
		if den.UnlessWithin && den.Covers(pl.path) && d.ledger.madeAbove(pl.dir) >= den.Holders(pl.path) &&
			(den.Class != profiles.Sensitive || access == profiles.Create || d.ledger.madeSecret(pl)) {
			continue
		}
		return den
	}
	return nil
}

// denied gives the accesses that are refused at path itself.
func (d *decider) denied(path string) profiles.Access {
	d.asking.Lock()
	defer d.asking.Unlock()
	return denied(d.sieve.Touching(path), d.profile.Skill, path, profiles.AllAccess)
}

// becoming gives the denial of what pl is about to be: who changes a control file as
// git does makes "config.lock" and renames it, and what has that open by then, or
// another name of it, has the control file. The run does not even make one: who wants to
// change the file then takes it away, and makes another that would count as the run's.
func (d *decider) becoming(pl place, access profiles.Access) (den *profiles.Denial, of string) {
	i := strings.LastIndexByte(pl.name, '.')
	if i <= 0 || profiles.Folded(pl.name[i:]) != ".lock" || access&profiles.Change == 0 || d.ours(pl.path) {
		return nil, ""
	}
	pl.path = pl.path[:len(pl.path)-len(pl.name[i:])]
	pl.name = pl.name[:i]
	if den := d.denial(pl, access); den != nil && den.Class == profiles.Control {
		return den, pl.path
	}
	return nil, ""
}

// secret says whether a secret's name counts for nothing at pl, since the run made the
// directory.
func (d *decider) secret(pl place) bool {
	if d.ledger.madeAbove(pl.dir) == 0 {
		return false
	}
	d.asking.Lock()
	defer d.asking.Unlock()
	return slices.ContainsFunc(d.sieve.Touching(pl.path), func(den *profiles.Denial) bool {
		return den.Class == profiles.Sensitive && den.UnlessWithin && den.Covers(pl.path)
	})
}

func (d *decider) rule(pl place, access profiles.Access) ruling {
	v := d.judge(pl, access)
	if v.Allowed {
		return ruling{}
	}
	path := pl.path
	if den, of := d.becoming(pl, access); den != nil && den == v.Denial {
		path = of
	}
	return ruling{errno: errAccess, path: path, access: access, verdict: v}
}

// pointer rules on a file or link by the name of a directory that leads to
// control files, or to one denied path: git follows both, a link and the text of
// a file ".git", to a repository that has its hooks and config where no denial
// looks for them, and who reads ~/.config/x follows a link ~/.config to what the
// run put there. In a directory of the run's own (git worktree add) ".git" is the
// run's, too, and noted.
func (d *decider) pointer(pl place, k kind) ruling {
	git := profiles.Folded(pl.name) == ".git"
	if k == directory || k != symlink && !git || d.ours(pl.path) {
		return ruling{}
	}
	den := d.leading(pl)
	if den == nil {
		return ruling{}
	}
	if git && d.ledger.madeDir(pl.dir) {
		d.ledger.controlMade(pl.path)
		return ruling{}
	}
	return ruling{errno: errAccess, path: pl.path, access: profiles.Write, verdict: profiles.Verdict{Denial: den}}
}

// leading gives the first denial of control files, or of one path, to which pl leads.
func (d *decider) leading(pl place) *profiles.Denial {
	d.asking.Lock()
	defer d.asking.Unlock()
	for _, den := range d.sieve.Touching(pl.path) {
		named := den.Match == "" && den.Access&(profiles.Write|profiles.Create) != 0
		if (named || den.Class == profiles.Control) && den.Leads(pl.path) {
			return den
		}
	}
	return nil
}

// steady rules on a file that gets the name of a directory on the way to what is
// denied. It is moved by its name, and another run could have put a directory in its
// place by then; but not in what is this run's alone. EXDEV makes mv copy.
func (d *decider) steady(from place, k kind, to place) ruling {
	if k == directory || d.ours(from.path) || from.path == to.path {
		return ruling{}
	}
	if den := d.leading(to); den != nil {
		return ruling{errno: errXdev, path: to.path, access: profiles.Create, verdict: profiles.Verdict{Denial: den}, unsaid: true}
	}
	return ruling{}
}

// create rules on a new name. A control file that an exception lets pass is
// noted, since the person should know of it.
func (d *decider) create(pl place, k kind) ruling {
	r := d.rule(pl, profiles.Create)
	if r.ok() {
		r = d.pointer(pl, k)
	}
	if r.ok() {
		r = d.withinGit(pl, k)
	}
	if r.ok() {
		d.noteControl(pl)
	}
	return r
}

// WritesThrough is why no link is made in a repository.
const WritesThrough = "git writes messages and logs to where a link in its repository leads"

// withinGit rules on a link in a repository that was there before. A message that the
// run has ready goes to the configuration, by a link that is COMMIT_EDITMSG, when
// somebody commits.
func (d *decider) withinGit(pl place, k kind) ruling {
	if k == symlink && d.oldGit(pl) {
		return ruling{errno: errAccess, path: pl.path, why: WritesThrough}
	}
	return ruling{}
}

// oldGit says whether pl lies beneath a ".git", or what one leads to, that the run did
// not make.
func (d *decider) oldGit(pl place) bool {
	_, beneath := d.repository(pl.path)
	return !d.ours(pl.path) && d.ledger.madeAbove(pl.dir) < strings.Count(beneath, "/")
}

// staysWithin says whether a directory that moves stays in its repository, and gets no
// higher there: the ledger counts those made above it where it was made.
func (d *decider) staysWithin(from, to string) bool {
	of, old := d.repository(from)
	repo, beneath := d.repository(to)
	return old != "" && of == repo && strings.Count(old, "/") <= strings.Count(beneath, "/")
}

// repository gives the outermost one that path lies beneath, folded, and the rest of
// the path, with its slash.
func (d *decider) repository(path string) (repo, beneath string) {
	const dot = "/.git"
	path = profiles.Folded(path)
	if i := strings.Index(path, dot+"/"); i >= 0 {
		beneath = path[i+len(dot):]
	}
	for i := range path[:len(path)-len(beneath)] {
		if path[i] == '/' && d.repos[path[:i]] {
			beneath = path[i:]
			break
		}
	}
	return path[:len(path)-len(beneath)], beneath
}

func (d *decider) noteControl(pl place) {
	if d.ours(pl.path) {
		return
	}
	d.asking.Lock()
	defer d.asking.Unlock()
	for _, den := range d.sieve.Touching(pl.path) {
		if den.Class == profiles.Control && den.Match != "" && (den.UnlessMade || den.UnlessWithin || len(den.Except) > 0) && den.Names(pl.path) {
			d.ledger.controlMade(pl.path)
		}
	}
}

// edit rules on a change to what exists: contents, metadata. What the run
// made it may change where it may create.
func (d *decider) edit(pl place, access profiles.Access) ruling {
	r := d.rule(pl, access)
	if !r.ok() && r.verdict.Denial == nil && d.made(pl) {
		if own := d.rule(pl, access&^profiles.Write|profiles.Create); own.ok() {
			return own
		}
	}
	return r
}

// write rules on opening what exists. A directory is only read.
func (d *decider) write(pl place, access profiles.Access) ruling {
	if access&profiles.Write != 0 {
		if r := d.pointer(pl, regular); !r.ok() {
			return r
		}
	}
	return d.edit(pl, access)
}

// start rules on starting a program, which in directories of the run's own takes a
// right of its own.
func (d *decider) start(pl place) ruling {
	r := d.rule(pl, profiles.Execute)
	if r.ok() && d.ours(pl.path) && !d.profile.Process.ExecuteOwn {
		if v := d.grants.Allows(pl.path, profiles.Execute); !v.Allowed {
			r = ruling{errno: errAccess, path: pl.path, access: profiles.Execute, verdict: v, why: "what can be written there cannot be started"}
		}
	}
	if r.made = d.made(pl); r.made {
		r.within = d.within(pl)
	}
	return r
}

// within gives the directory in which the run made what stands at pl and which the
// next run finds; "" for what lies in the run's own.
func (d *decider) within(pl place) string {
	if d.ours(pl.path) {
		return ""
	}
	if rule := d.grants.Allows(pl.path, profiles.Create).Rule; rule != nil && d.ledger.madeDir(pl.dir) {
		return rule.Path
	}
	return path.Dir(pl.path)
}

// remove rules on taking a name away.
func (d *decider) remove(pl place) ruling {
	if d.made(pl) {
		return d.rule(pl, profiles.Create)
	}
	return d.rule(pl, profiles.Delete)
}

// kind is as much of a file's type as rulings need.
type kind uint8

const (
	absent kind = iota
	regular
	directory
	symlink
	special // FIFO, socket, device
)

// rename rules on moving from to to. With exchange both stand and change
// places.
func (d *decider) rename(from place, fromKind kind, to place, toKind kind, exchange bool) ruling {
	r := d.move(from, fromKind, to, toKind, exchange)
	if r.ok() {
		r = d.steady(from, fromKind, to)
	}
	if r.ok() && exchange {
		r = d.steady(to, toKind, from)
	}
	return r
}

func (d *decider) move(from place, fromKind kind, to place, toKind kind, exchange bool) ruling {
	if r := d.across(from, to); !r.ok() {
		return r
	}
	if r := d.remove(from); !r.ok() {
		return r
	}
	if r := d.withinGit(to, fromKind); !r.ok() {
		return r
	}
	switch {
	case toKind == absent:
		if r := d.create(to, fromKind); !r.ok() {
			return r
		}
	case exchange:
		if r := d.remove(to); !r.ok() {
			return r
		}
		// Both places receive something.
		if r := d.arrive(to, toKind, from); !r.ok() {
			return r
		}
		if r := d.create(from, toKind); !r.ok() {
			return r
		}
		if r := d.create(to, fromKind); !r.ok() {
			return r
		}
	case d.made(to):
		if r := d.create(to, fromKind); !r.ok() {
			return r
		}
	case toKind == regular || toKind == symlink:
		// Atomic save: an edit of what was there, which is kept until exit.
		if r := d.rule(to, profiles.Write); !r.ok() {
			return r
		}
		if toKind == symlink {
			fromKind = symlink // a link on the way to what is denied stays one, and leads where it did
		}
		if r := d.pointer(to, fromKind); !r.ok() {
			return r
		}
	default:
		if r := d.rule(to, profiles.Delete|profiles.Create); !r.ok() {
			return r
		}
	}
	return d.arrive(from, fromKind, to)
}

// arrive rules on what comes with a thing that moves, or is linked, from one
// place to another.
func (d *decider) arrive(from place, k kind, to place) ruling {
	if k == directory {
		// Links would come along. EXDEV makes mv copy.
		if d.oldGit(to) && !d.staysWithin(from.path, to.path) {
			return ruling{errno: errXdev, path: to.path, access: profiles.Create, why: WritesThrough, unsaid: true}
		}
		// What is denied beneath it would be gone from where it was.
		for i, _ := slices.BinarySearch(d.hidden, from.path+"/"); i < len(d.hidden) && profiles.Within(from.path, d.hidden[i]); i++ {
			if den := d.denial(place{path: d.hidden[i]}, profiles.Delete); den != nil {
				return ruling{errno: errAccess, path: d.hidden[i], access: profiles.Delete, verdict: profiles.Verdict{Denial: den}}
			}
		}
		for i := range d.profile.Denials {
			den := &d.profile.Denials[i]
			// One that leaves the tree in which a denial finds names brings along
			// what it found there, which then has none to guard it.
			if den.Match != "" && carvable(den) && profiles.Within(den.Path, from.path) && !profiles.Within(den.Path, to.path) {
				return ruling{errno: errXdev, path: to.path, access: profiles.Create, verdict: profiles.Verdict{Denial: den}}
			}
			if den.Access&(profiles.Write|profiles.Create) == 0 {
				continue
			}
			// A directory that gets a name on the way to a control file may
			// bring one along: mkdir x; touch x/hooks; mv x .git.
			if den.Leads(to.path) {
				return ruling{errno: errAccess, path: to.path, access: profiles.Create, verdict: profiles.Verdict{Denial: den}}
			}
			// One from elsewhere, such as TMPDIR, brings along names that were
			// nothing there. EXDEV makes mv copy, name by name.
			if den.Match != "" && profiles.Within(den.Path, to.path) && !profiles.Within(den.Path, from.path) {
				return ruling{errno: errXdev, path: to.path, access: profiles.Create, verdict: profiles.Verdict{Denial: den}, unsaid: true}
			}
			// One that leaves an exception brings along what only the exception
			// allowed.
			if den.Spares(from.path) && !den.Spares(to.path) || holdsException(den, from.path) {
				return ruling{errno: errXdev, path: to.path, access: profiles.Create, verdict: profiles.Verdict{Denial: den}}
			}
		}
	}
	return d.gain(from, to)
}

func holdsException(den *profiles.Denial, path string) bool {
	for _, e := range den.Except {
		if strings.HasPrefix(e, "/") && profiles.Within(path, e) {
			return true
		}
	}
	return false
}

// gain refuses a move or link by which more could be done to a file than
// before, as Landlock does between trees; it also covers what Landlock does
// not see, a denied name beside an allowed one. A grant of the file would not
// do: Landlock wants the rights on the directory that it is in. EXDEV makes mv
// copy, and hear what is refused to that.
func (d *decider) gain(from, to place) ruling {
	if from.path == to.path {
		return ruling{}
	}
	for _, a := range [...]profiles.Access{profiles.Read, profiles.Write, profiles.Execute} {
		v := d.judge(from, a)
		if !v.Allowed && d.judge(to, a).Allowed {
			if v.Denial != nil {
				return ruling{errno: errAccess, path: from.path, access: a, verdict: v}
			}
			return ruling{errno: errXdev, path: from.path, access: a, verdict: v, unsaid: true}
		}
	}
	return ruling{}
}

// Gains is why a file gets no second name.
const Gains = "by the second name more could be done to it; a copy may be made of what may be read"

// across rules on what would leave or enter the directory that outlives the run,
// as on another file system: no file has a name there and one elsewhere. When it
// is next used, what the name elsewhere stands for may be denied. What wants to
// move copies.
func (d *decider) across(from, to place) ruling {
	if profiles.Within(d.apart, from.path) != profiles.Within(d.apart, to.path) {
		return ruling{errno: errXdev, path: to.path, access: profiles.Create, unsaid: true}
	}
	return ruling{}
}

// link rules on a second name for a file.
func (d *decider) link(from place, k kind, to place) ruling {
	if r := d.across(from, to); !r.ok() {
		return r
	}
	// Whatever a denial guards must not get a name that it does not guard.
	for _, a := range [...]profiles.Access{profiles.Read, profiles.Write, profiles.Execute} {
		if v := d.judge(from, a); v.Denial != nil {
			return ruling{errno: errAccess, path: from.path, access: a, verdict: v}
		}
	}
	if r := d.pointer(from, regular); !r.ok() {
		return r
	}
	if r := d.create(to, k); !r.ok() {
		return r
	}
	// The new name is one that the run made, by which it may change the file.
	r := d.edit(from, profiles.Write)
	if r.ok() {
		r = d.gain(from, to)
	}
	if !r.ok() && r.verdict.Denial == nil {
		return ruling{errno: errXdev, path: from.path, why: Gains}
	}
	return r
}

// OpensToOthers is why a mode or an ACL is refused.
const OpensToOthers = `it opens the file to others; "modes": "any" of filesystem.write allows that`

// Mode bits that open a file to others or lend it to them.
const (
	modeSetID  = 0o6000
	modeOthers = 0o022
)

// Closes is why a mode is refused that keeps a directory from being listed.
const Closes = "the next launch could not look for secrets in it, and links to them"

// modeList lets a directory's owner look at all that is in it.
const modeList = 0o500

// mode rules on a change of the mode of what is of kind k, which then is narrowed by
// [decider.narrowMode]. A directory lends nothing to who starts a program.
func (d *decider) mode(pl place, k kind, mode uint32) ruling {
	if r := d.edit(pl, profiles.Write); !r.ok() {
		return r
	}
	if k == directory && mode&modeList != modeList && !d.made(pl) {
		return ruling{errno: errPerm, path: pl.path, why: Closes}
	}
	if !d.profile.Process.AnyMode && mode&modeSetID != 0 && k != directory {
		return ruling{errno: errPerm, path: pl.path, why: OpensToOthers}
	}
	return ruling{}
}

// group rules on a change of owner and group of what has mode; foreign says that the
// group becomes one that the run's files do not have. Many a umask leaves the group its
// right to write, since it is one that the user has alone.
func (d *decider) group(pl place, mode uint32, foreign bool) ruling {
	const write = modeOthers & 0o070
	r := d.edit(pl, profiles.Write)
	if r.ok() && foreign && !d.profile.Process.AnyMode && (mode|^d.umask)&write != 0 {
		return ruling{errno: errPerm, path: pl.path, why: OpensToOthers}
	}
	return r
}

// narrowMode is what a change of mode comes to: less what opens the file to
// others, as if it were made anew. Whoever unpacks, copies or binds asks for what
// the original has, and gives up when that is refused. Bits that the launcher's
// umask leaves alone are as safe as every file that the user makes.
func (d *decider) narrowMode(mode uint32) uint32 {
	if !d.profile.Process.AnyMode {
		mode &^= modeSetID | modeOthers&d.umask
	}
	return mode
}

// attribute rules on an extended attribute; set says that it is given a value.
func (d *decider) attribute(pl place, k kind, name string, value []byte, set bool) ruling {
	if r := d.edit(pl, profiles.Write); !r.ok() {
		return r
	}
	// An ACL opens and closes a file as a mode does, and one of three entries is a mode.
	// Of a longer one the owner's entry counts here.
	if mode, ok := plainACL(value); set && name == accessACL && (ok || d.profile.Process.AnyMode) {
		return d.mode(pl, k, mode)
	}
	// Without its ACL a file gives its group what the mask let through. AFS has ACLs by
	// names of its own.
	if !set && name != accessACL || d.profile.Process.AnyMode || !strings.HasPrefix(name, "system.") && !strings.HasPrefix(name, "afs.") {
		return ruling{}
	}
	// EOPNOTSUPP is what a file system without ACLs says, and what programs
	// are ready for.
	return ruling{errno: errNotSup, path: pl.path, why: OpensToOthers}
}

// accessACL is the attribute that is a file's own ACL.
const accessACL = "system.posix_acl_access"

// plainACL gives the mode that an ACL of owner, group and others alone stands for,
// and of any other, which ok denies, its owner's part
// (include/uapi/linux/posix_acl_xattr.h).
func plainACL(acl []byte) (mode uint32, ok bool) {
	const version, entry = 2, 8
	if len(acl) < 4+3*entry || binary.LittleEndian.Uint32(acl) != version {
		return 0, false
	}
	for i, tag := range [...]uint16{0x01, 0x04, 0x20} {
		e := acl[4+i*entry:]
		perm := binary.LittleEndian.Uint16(e[2:])
		if binary.LittleEndian.Uint16(e) != tag || perm > 7 {
			return mode & 0o700, false
		}
		mode |= uint32(perm) << (6 - 3*i)
	}
	return mode, len(acl) == 4+3*entry
}

// narrowACL takes from an ACL that plainACL knows what [decider.narrowMode] takes
// from its mode: cp keeps modes so.
func (d *decider) narrowACL(acl []byte) {
	mode, ok := plainACL(acl)
	if !ok {
		return
	}
	mode = d.narrowMode(mode)
	for i := range 3 {
		binary.LittleEndian.PutUint16(acl[4+i*8+2:], uint16(mode>>(6-3*i)&7))
	}
}

// socket rules on connecting or sending to a unix socket; name is a path or,
// for an abstract one, "@name".
func (d *decider) socket(name string, own bool) ruling {
	if own {
		return ruling{}
	}
	for i := range d.profile.Sockets {
		if d.profile.Sockets[i].Path == name {
			return ruling{}
		}
	}
	return ruling{errno: errAccess, path: name, access: profiles.Write}
}
