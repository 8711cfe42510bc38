package linux

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// Runs inside this one, for which this supervisor answers; nested.go says how
// their processes are told. Whoever registers one can only take away: what is
// decided for it the run's own decider and those of all runs around it must
// allow, and the threads that perform for it are under all of their Landlock
// rulesets.
//
// What races there are for one run there are for one inside: an object is
// resolved and pinned once, for all who rule on it, and whatever the outer run's
// processes do to it meanwhile is to the inner one what any program outside does.

// inner is a run inside this one.
type inner struct {
	number   uint64
	name     string // as its launcher says
	outer    *inner // the run that it is in, nil for the supervisor's own
	interval interval
	mark     mark
	parts    uint64 // of span, given to runs inside
	launcher int    // pidfd
	size     int    // bytes of its description
	over     bool

	// Until it is over. Each of these lists is that of the run around it, with
	// what is its own at the end.
	deciders deciders
	files    []deniedFiles
	rulesets []int
	perform  *performers
	// redirects are its own alone.
	redirects []Redirect
}

// nested are the runs inside. Only the resolving thread uses it, but for what is
// said.
type nested struct {
	runs  []*inner // all that ever were, by number - 1
	marks map[mark]*inner
	live  []*inner
	parts uint64 // of whole
	// performing are the performers of live, which others than the resolving
	// thread look at, too: each value is a list of its own.
	performing atomic.Pointer[[]*performers]
}

const (
	nestedLive = 64      // at a time
	nestedEver = 1 << 14 // in the life of the run around them
	nestedHeld = 8 << 20 // bytes of what describes those that live
)

// markOf reads the limits of a thread's process.
func markOf(tid int) (m mark, ok bool) {
	var rss, locks unix.Rlimit
	if unix.Prlimit(tid, rlimitRSS, nil, &rss) != nil || unix.Prlimit(tid, rlimitLocks, nil, &locks) != nil {
		return m, false
	}
	return mark{rss.Max, locks.Max}, true
}

// find gives the innermost run that a process with these limits belongs to, nil
// if none but the supervisor's own. It is false where there is no such one: a
// process that has lowered its limits into runs that are not in each other.
func (n *nested) find(m mark) (*inner, bool) {
	if whole.mark().within(m) {
		return nil, true
	}
	if in := n.marks[m]; in != nil {
		return in, true // it encloses those inside it, and is beside all others
	}
	var innermost *inner
	count := 0
	for _, in := range n.runs {
		if m.within(in.mark) {
			count++
			if innermost == nil || in.mark.within(innermost.mark) {
				innermost = in
			}
		}
	}
	return innermost, count == innermost.depth()
}

// depth counts the runs that in is in, with itself.
func (in *inner) depth() (n int) {
	for ; in != nil; in = in.outer {
		n++
	}
	return n
}

// enter finds out which run the caller belongs to.
func (r *request) enter() bool {
	m, ok := markOf(r.tid)
	if !ok || !r.valid() { // or it was read of another with its number
		return false
	}
	if r.inner, ok = r.s.nested.find(m); !ok || r.inner != nil && r.inner.over {
		return false
	}
	if r.inner != nil {
		r.deciders, r.files, r.performers = r.inner.deciders, r.inner.files, r.inner.perform
	}
	return true
}

// collect notes what was performed.
func (s *Supervisor) collect() {
	s.perform.collect()
	if sets := s.nested.performing.Load(); sets != nil {
		for _, p := range *sets {
			p.collect()
		}
	}
}

// reaches says whether a process is one of the caller's run.
func (r *request) reaches(pid int) bool {
	if !r.s.belongs(pid) {
		return false
	}
	if r.inner == nil {
		return true
	}
	m, ok := markOf(pid)
	return ok && m.within(r.inner.mark)
}

// mayAddress says whether the caller may name an address of a family: a run
// inside makes no unix sockets, nor others without a network, but may have been
// started with some.
func (r *request) mayAddress(family uint16) bool {
	if r.inner == nil {
		return true
	}
	for _, d := range r.deciders[1:] {
		if family == unix.AF_UNIX || d.profile.Network.Mode != profiles.NetHost {
			return false
		}
	}
	return true
}

// serveNested serves what a run inside asks for.
func (r *request) serveNested() {
	number := r.args[3]
	switch r.text {
	case nestedAsk:
		if _, e := r.room(); e != 0 {
			r.fail(e)
			return
		}
		r.succeed(nestedYes | int64(r.s.config.Filter))
	case nestedNarrow:
		if e := r.narrow(); e != 0 {
			r.fail(e)
		}
	case nestedOver:
		n := &r.s.nested
		if number == 0 || number > uint64(len(n.runs)) || n.runs[number-1].outer != r.inner {
			r.fail(unix.EACCES)
			return
		}
		n.end(n.runs[number-1])
		r.succeed(0)
	default:
		r.fail(unix.EOPNOTSUPP)
	}
}

// proveNested succeeds for a process of the run of that number. It reads nothing
// of the caller's memory, which nobody may before it executes the command.
func (r *request) proveNested() {
	if r.inner == nil || r.inner.number != r.args[3] {
		r.fail(unix.EACCES)
		return
	}
	r.succeed(0)
}

// room gives the next part of the caller's interval, if there is one and the
// caller's limits leave room for its mark.
func (r *request) room() (interval, unix.Errno) {
	n := &r.s.nested
	of, next := whole, n.parts
	if r.inner != nil {
		of, next = r.inner.interval, r.inner.parts
	}
	m, ok := markOf(r.tid)
	part, left := of.part(next)
	switch {
	case !ok || !of.mark().within(m):
		return interval{}, unix.EOPNOTSUPP
	case !left || len(n.runs) >= nestedEver:
		return interval{}, unix.ENOSPC
	}
	if !n.fits(0) {
		return interval{}, unix.EAGAIN
	}
	return part, 0
}

// fits says whether there is room for a run with so long a description, beside
// those whose launchers live.
func (n *nested) fits(size int) bool {
	room := func() bool {
		held := size
		for _, in := range n.live {
			held += in.size
		}
		return len(n.live) < nestedLive && held <= nestedHeld
	}
	if room() {
		return true
	}
	n.sweep()
	return room()
}

// sweep ends runs whose launchers are gone.
func (n *nested) sweep() {
	for _, in := range slices.Clone(n.live) {
		p := []unix.PollFd{{Fd: int32(in.launcher), Events: unix.POLLIN}}
		if count, err := unix.Poll(p, 0); err == nil && count > 0 {
			n.end(in)
		}
	}
}

// end has every call of a run refused from then on, and of those inside it.
func (n *nested) end(in *inner) {
	for _, other := range slices.Clone(n.live) {
		if other.outer == in {
			n.end(other)
		}
	}
	if in.over {
		return
	}
	in.over = true
	n.live = slices.DeleteFunc(n.live, func(other *inner) bool { return other == in })
	n.perform()
	in.release()
	*in = inner{number: in.number, name: in.name, outer: in.outer, interval: in.interval, mark: in.mark, over: true}
}

// release lets go what a run holds. Its threads end when they have made the calls
// that they are at.
func (in *inner) release() {
	if in.perform != nil {
		in.perform.close()
	}
	if len(in.rulesets) > 0 {
		unix.Close(in.rulesets[len(in.rulesets)-1])
	}
	if in.launcher > 0 {
		unix.Close(in.launcher)
	}
}

func (n *nested) release() {
	for _, in := range n.live {
		in.release()
	}
	n.live = nil
}

// narrow registers a run inside the caller's.
func (r *request) narrow() unix.Errno {
	part, e := r.room()
	if e != 0 {
		return e
	}
	if size := r.args[3]; size < nestedAnswer || size > nestedMost {
		return unix.E2BIG
	}
	if !r.s.nested.fits(int(r.args[3])) {
		return unix.EAGAIN
	}
	text := make([]byte, r.args[3])
	if e := r.read(r.args[2], text); e != 0 {
		return e
	}
	about, err := readNarrowing(text)
	if err != nil {
		return unix.EINVAL
	}
	in := &inner{name: about.Run, outer: r.inner, interval: part, mark: part.mark(), launcher: -1, size: len(text)}
	if e := r.describe(in, about); e != 0 {
		in.release()
		return e
	}
	pid, ok := number(r.task.dir, "status", "\nTgid:\t")
	if !ok {
		in.release()
		return unix.ESRCH
	}
	if in.launcher, err = unix.PidfdOpen(int(pid), 0); err == nil {
		in.perform, err = newPerformers(r.s, in.rulesets...)
	}
	if err != nil || !r.valid() {
		in.release()
		return unix.EAGAIN
	}
	around := r.s.config.Run
	if r.inner != nil {
		around = r.inner.name
	}
	answer := make([]byte, nestedAnswer)
	binary.NativeEndian.PutUint64(answer, in.mark.rss)
	binary.NativeEndian.PutUint64(answer[8:], in.mark.locks)
	binary.NativeEndian.PutUint64(answer[16:], uint64(in.depth()))
	copy(answer[24:], around)
	if e := r.write(r.args[2], answer); e != 0 {
		in.release()
		return e
	}
	r.s.nested.add(in)
	if r.s.config.Nested != nil {
		r.s.config.Nested(Inner{in.name, around, in.depth()})
	}
	r.succeed(int64(in.number))
	return 0
}

func (n *nested) add(in *inner) {
	if n.marks == nil {
		n.marks = map[mark]*inner{}
	}
	if in.outer != nil {
		in.outer.parts++
	} else {
		n.parts++
	}
	n.runs = append(n.runs, in)
	in.number = uint64(len(n.runs))
	n.marks[in.mark] = in
	n.live = append(n.live, in)
	n.perform()
}

// perform has the performers of live known.
func (n *nested) perform() {
	var sets []*performers
	for _, in := range n.live {
		if in.perform != nil {
			sets = append(sets, in.perform)
		}
	}
	n.performing.Store(&sets)
}

// describe makes of what a launcher tells the decider and the ruleset of its
// run. Names are looked up as for the launcher, which is not bound by either.
func (r *request) describe(in *inner, about *narrowing) unix.Errno {
	var own []string
	for _, dir := range about.Own {
		is, e := r.directory(dir)
		if e != 0 {
			return e
		}
		own = append(own, is)
	}
	for _, pair := range about.Redirects {
		to, e := r.directory(pair[1])
		if e != 0 {
			return e
		}
		in.redirects = append(in.redirects, Redirect{string(pair[0]), to})
	}
	hidden := make([]string, len(about.Denied))
	for i, file := range about.Denied {
		hidden[i] = string(file)
	}
	slices.Sort(hidden)
	by := newDecider(about.Profile, own, "", hidden, about.Umask)
	files := deniedFiles{}
	for _, file := range hidden {
		var o object
		switch e := r.resolve(&o, unix.AT_FDCWD, file, keepLink); {
		case e == unix.ENOENT || e == unix.ENOTDIR || e == unix.EACCES: // as for the run itself
		case e != 0:
			return e
		case o.fd >= 0 && o.kind != directory:
			files.add(o.id(), by, file)
		}
		o.close()
	}
	for _, id := range about.Inputs {
		files[fileID{id[0], id[1]}] |= profiles.Write
	}
	around := r.s.perform.rulesets
	if r.inner != nil {
		around, in.files = r.inner.rulesets, r.inner.files
	}
	in.files = append(slices.Clip(in.files), files)
	in.deciders = append(slices.Clip(r.deciders), by)
	ruleset, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: about.HandledFS, HandledAccessNet: about.HandledNet}, 0)
	if err != nil {
		return errno(err)
	}
	in.rulesets = append(slices.Clip(around), ruleset)
	for _, rule := range about.Rules {
		if e := r.addRule(ruleset, &rule); e != 0 {
			return e
		}
	}
	return 0
}

// directory gives the path of a directory, as it is and not as the caller may
// have it.
func (r *request) directory(name []byte) (string, unix.Errno) {
	var o object
	e := r.resolve(&o, unix.AT_FDCWD, string(name), followLink)
	defer o.close()
	if e == 0 && o.kind != directory {
		e = unix.ENOTDIR
	}
	return o.place.path, e
}

// redirects are those of the caller's run, and of the runs around it.
func (r *request) redirects() []Redirect {
	if r.inner == nil {
		return r.s.config.Redirects
	}
	return append(slices.Clip(r.inner.redirects), r.s.config.Redirects...)
}

// redirected says where a path is served from for the caller, if not from where
// it is.
func (r *request) redirected(p string) (by Redirect, rest string, ok bool) {
	if r.inner != nil {
		if by, rest, ok = redirected(r.inner.redirects, r.deciders[len(r.deciders)-1], p); ok {
			return by, rest, ok
		}
	}
	return redirected(r.s.config.Redirects, r.s.decider, p)
}

// addRule grants what stands at a path. A link, which the launcher's own rules
// do not follow either, and what is gone grant nothing.
func (r *request) addRule(ruleset int, rule *narrowingRule) unix.Errno {
	var o object
	e := r.resolve(&o, unix.AT_FDCWD, string(rule.Path), keepLink)
	defer o.close()
	if e == unix.ENOENT || e == unix.ENOTDIR || e == 0 && (o.fd < 0 || o.kind == symlink) {
		return 0
	}
	if e != 0 {
		return e
	}
	return errno(ll.LandlockAddPathBeneathRule(ruleset, &ll.PathBeneathAttr{ParentFd: o.fd, AllowedAccess: rule.Access}, 0))
}
