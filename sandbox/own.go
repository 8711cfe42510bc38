package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"skillrun/profiles"
)

// own is a run's own directory, with its HOME and TMPDIR in it. At the end what the
// run made there is removed; what a killed run left is removed by the next one.
type own struct {
	dir  string
	laid bool // what furnish makes is there
	over bool // nothing of the run is left that could still write in it
	lock *os.File
	seen *os.File // the lock of the name that dir has inside
	left bool     // for the next run to remove

	cache     string // what it has for caches besides, "" for none; not removed
	cacheLock *os.File
}

// A Room is a run's own directory on its way: making one takes as long as
// finding out what the run may do, so that both are done at a time.
type Room struct {
	own  *own
	err  error
	made chan struct{}
	gone sync.Once
}

// MakeRoom begins to make the own directory of a run.
func MakeRoom() *Room { return makeRoom(append(tempRoots[:], outerTemp()...)) }

func makeRoom(roots []string) *Room {
	r := &Room{made: make(chan struct{})}
	go func() {
		defer close(r.made)
		if r.own, r.err = newOwnBelow(roots); r.err == nil {
			r.err = r.own.furnish()
		}
	}()
	return r
}

// wait gives the directory when it is there.
func (r *Room) wait() (*own, error) {
	<-r.made
	return r.own, r.err
}

// Remove takes the directory away, with all that the run left in it. A second
// call waits for the end of the first.
func (r *Room) Remove() {
	r.gone.Do(func() {
		if <-r.made; r.own != nil {
			r.own.remove()
		}
	})
}

func (o *own) home() string { return filepath.Join(o.dir, "home") }
func (o *own) temp() string { return filepath.Join(o.dir, "tmp") }

// shared are the directories that all users share, with what stands in for them
// in a run.
func (o *own) shared() [3][2]string {
	return [3][2]string{{"/tmp", o.temp()}, {"/var/tmp", filepath.Join(o.dir, "var")}, {"/dev/shm", filepath.Join(o.dir, "shm")}}
}

// seenIn is where the run itself sees its own directory, in one of those that it has
// in the place of a shared one; "" if it is not there.
func (o *own) seenIn(shared [2]string) string {
	if rest, ok := strings.CutPrefix(o.dir, shared[0]+"/"); ok {
		return filepath.Join(shared[1], rest)
	}
	return ""
}

// directories are those of it that the run may write.
func (o *own) directories() []string {
	return []string{o.home(), o.temp(), filepath.Join(o.dir, "var"), filepath.Join(o.dir, "shm")}
}

// masked is an empty file that nobody may read, to mount over denied ones.
func (o *own) masked() string { return filepath.Join(o.dir, "masked") }

// OfRuns is the source of what keeps runs from each other's directories.
const OfRuns = "built-in:runs"

// tempRoots are tried in order. The environment is not asked: a project can
// set TMPDIR.
var tempRoots = [...]string{"/tmp", "/var/tmp", "/dev/shm"}

// newOwnBelow makes a run's own directory below a directory of the user's in one of
// the roots, short enough for unix socket names in it. What is to be in it
// [own.furnish] makes.
func newOwnBelow(roots []string) (*own, error) {
	var errs []string
	for _, root := range roots {
		root, err := filepath.EvalSymlinks(root) // macOS asks about /private/tmp
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		parent, err := parentBelow(root)
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		// Another run's sweep may take a directory before it is locked, and where many
		// begin at once, several in turn.
		for try := 0; ; try++ {
			o, err := newOwnIn(parent)
			if err == nil {
				return o, nil
			}
			if try == 100 || !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.EWOULDBLOCK) {
				errs = append(errs, err.Error())
				break
			}
		}
	}
	return nil, errors.New("make the run's own directory: " + strings.Join(errs, "; "))
}

// Shared are the directories that hold those of all of this user's runs.
func Shared() (dirs []string) {
	for _, root := range tempRoots {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			dirs = append(dirs, ownParents(real))
		}
	}
	return dirs
}

// IsCache says whether a name is one of [Spec.Cache].
func IsCache(name string) bool {
	return len(name) == 32 && strings.Trim(name, "0123456789abcdef") == ""
}

// standIn is the name of a run's own directory where no run is meant.
const standIn = "RUN"

func standsIn() *own { return &own{dir: filepath.Join(ownParents(tempRoots[0]), standIn)} }

// Guarded gives the profile as a run is held to it, for explaining: where it
// could write in the directories of other runs, or in the caches that are kept
// for them, their denial is added.
func Guarded(p *profiles.Profile, caches string) *profiles.Profile {
	return standsIn().guarded(p, caches)
}

// guarded gives the profile of a run that could write in the directory of all of
// this user's runs, since all of /tmp was granted, with a denial of all there but
// its own, in whichever place: it could put links in the place of the directories
// that the next launcher is about to make and to grant. The same goes for caches,
// the directory of those that are kept, "" for none: what a run puts there the
// runs with other rights would use.
func (o *own) guarded(p *profiles.Profile, caches string) *profiles.Profile {
	for _, dir := range Shared() {
		p = guardedAt(p, dir, o.dir, o.directories(), profiles.Denial{Path: dir}, profiles.Denial{Path: filepath.Dir(dir), Match: elsewhere()})
	}
	if caches != "" {
		p = guardedAt(p, caches, o.cache, []string{o.cache}, profiles.Denial{Path: caches})
	}
	return p
}

// guardedAt adds denials if the profile could write somewhere in dir, but of except where
// they cover the run's own directory.
func guardedAt(p *profiles.Profile, dir, own string, except []string, denials ...profiles.Denial) *profiles.Profile {
	any := func(a profiles.Access) bool {
		// Of most nothing is granted, and the many denials need no look.
		granted := profiles.Profile{Paths: p.Paths}
		run := filepath.Join(dir, "run")
		return granted.Allows(run, a).Allowed && p.Allows(run, a).Allowed
	}
	if !any(profiles.Write) && !any(profiles.Create) && !any(profiles.Delete) &&
		!slices.ContainsFunc(p.Paths, func(r profiles.PathRule) bool {
			return r.Access&profiles.Change != 0 && strings.HasPrefix(r.Path, dir+"/")
		}) {
		return p
	}
	q := *p
	q.Denials = slices.Clone(p.Denials)
	for _, d := range denials {
		if own != "" && d.Covers(own) {
			d.Except = except
		}
		d.Access, d.Class = profiles.Change, profiles.Control
		d.Origin = profiles.Origin{Source: OfRuns, Reason: "what runs have for themselves"}
		q.Denials = append(q.Denials, d)
	}
	return &q
}

func newOwnIn(parent string) (*own, error) {
	if o := spareIn(parent); o != nil {
		return o, nil
	}
	o := &own{dir: filepath.Join(parent, newID())}
	if err := os.Mkdir(o.dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if o.lock, err = lockDirectory(o.dir); err == nil {
		err = o.isThere()
	}
	if err == nil {
		// Fails if a sweep took the directory before it was locked.
		err = os.Mkdir(o.home(), 0o700)
	}
	if err != nil {
		o.discard()
		return nil, err
	}
	return o, nil
}

// isThere says whether the directory that was made and opened is where its name
// is. Inside a run that has another in the place of what all users share it may
// not be: what makes and opens is led there, and what looks is not.
func (o *own) isThere() error {
	opened, err := o.lock.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(o.dir)
	if err != nil {
		return err
	}
	if !os.SameFile(named, opened) {
		return fmt.Errorf("%s: stands for another directory here", o.dir)
	}
	return nil
}

// furnish makes the rest of a run's own directories and files.
func (o *own) furnish() error {
	if o.laid {
		return nil
	}
	for _, s := range o.shared() {
		if err := os.Mkdir(s[1], 0o700); err != nil {
			return err
		}
	}
	return os.WriteFile(o.masked(), nil, 0)
}

// displays makes the directory in which X servers listen, in a /tmp of the run's own:
// one that does not run as root makes none.
func (o *own) displays() error {
	err := os.Mkdir(o.xServers(), 0o700)
	if errors.Is(err, os.ErrExist) {
		return nil // of an earlier run, or a first try of this one
	}
	if err != nil {
		return err
	}
	return os.Chmod(o.xServers(), 0o777|os.ModeSticky)
}

func (o *own) xServers() string { return filepath.Join(o.temp(), ".X11-unix") }

// lockDirectory opens a directory and locks it, or fails if another has.
func lockDirectory(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// remove takes away what the run left, and all if no other may have the rest.
func (o *own) remove() error {
	if o.over && !o.left && o.keep() == nil {
		o.left = true
	}
	return o.discard()
}

// discard takes everything away.
func (o *own) discard() error {
	var err error
	if !o.left {
		err = removeTree(o.dir)
	}
	for _, f := range [...]*os.File{o.seen, o.cacheLock, o.lock} {
		if f != nil {
			f.Close()
		}
	}
	return err
}
