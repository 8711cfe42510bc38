package linux

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"skillrun/profiles"
)

// fileID is the identity of a file or directory while it exists.
type fileID struct{ dev, ino uint64 }

// dirID is the identity of a directory for as long as the run goes on: when it is
// gone its number is used again, and born tells. It is zero where the file system
// does not keep the time of birth.
type dirID struct {
	fileID
	born int64
}

// place is a name in a directory, resolved: the thing that decisions are about.
// Two places are the same if directory identity and name are, whatever path
// led there.
type place struct {
	dir  dirID
	path string // dir's path, a slash, name
	name string // "" if only the path is known
}

// ledger knows what the run made. Whatever it does not know was there at the
// start, so that no inventory is needed, and forgetting is safe: it can only
// turn something that the run made into something old, which is kept.
//
// It goes by (directory, name) and by directories made, never by the inode of
// a file: numbers are used again as soon as a file is gone. A directory that
// somebody outside removes takes its number to another, which has another time of
// birth. Where there is none the number must do: it cannot be that of a directory
// that was there at the start as long as that one exists, and when the run
// removes a directory its number leaves the ledger.
//
// Some file systems, of user programs mostly, tell of the same number for every
// file. There a name counts at its path only, and no directory counts as made.
//
// Calls are made on several threads and noted as they come to an end, which may
// be in another order: a number or a name may be noted as made again before the
// removal that made it free. So what is about to be removed is counted.
type ledger struct {
	mu       sync.Mutex
	dirs     tally[dirID]
	names    tally[entry]
	above    map[dirID]int    // of directories made, which one of a row it was; see madeAbove
	alike    map[uint64]bool  // devices on which directories have one number
	sockets  map[fileID]int64 // unix sockets made, with their time of birth
	abstract map[string]struct{}
	control  []string // control files that exceptions let the run make
	unlisted int      // beyond those
	moves    []move   // of directories
}

// entry is a name where it was made. A directory that was there at the start and
// has moved since, which takes the right to delete, has its names as old ones.
type entry struct {
	dir  dirID
	name string
	at   uint64 // what the directory's path comes to, 0 for a secret's name in one it made
}

var pathSeed = maphash.MakeSeed()

func entryOf(pl place) entry {
	return entry{pl.dir, pl.name, maphash.String(pathSeed, strings.TrimSuffix(pl.path, pl.name))}
}

// tally counts how often something was made and not removed, while removals of
// it are under way: it is there if that is more than never. Otherwise it is
// there once or not at all, since whatever is made was not there.
type tally[K comparable] struct{ count, leaving map[K]int }

func newTally[K comparable]() tally[K] { return tally[K]{map[K]int{}, map[K]int{}} }

func (t tally[K]) has(k K) bool { return t.count[k] > 0 }

func (t tally[K]) add(k K) {
	switch {
	case t.leaving[k] > 0:
		t.count[k]++
	case len(t.count) < ledgerMost:
		t.count[k] = 1
	}
}

func (t tally[K]) remove(k K) {
	if t.leaving[k] > 0 {
		t.count[k]--
	} else {
		delete(t.count, k)
	}
}

// leaves says that it may be removed soon, until a call of stays.
func (t tally[K]) leaves(k K) { t.leaving[k]++ }

func (t tally[K]) stays(k K) {
	if t.leaving[k]--; t.leaving[k] > 0 {
		return
	}
	delete(t.leaving, k)
	if t.count[k] > 0 {
		t.count[k] = 1
	} else {
		delete(t.count, k)
	}
}

// ledgerMost bounds each of the ledger's lists: a run that makes more names in
// old directories than this can no longer remove the later ones, and its
// supervisor stays small.
const ledgerMost = 1 << 20

func newLedger() *ledger {
	return &ledger{
		dirs: newTally[dirID](), names: newTally[entry](), above: map[dirID]int{}, alike: map[uint64]bool{}, sockets: map[fileID]int64{},
		abstract: map[string]struct{}{},
	}
}

// madeDir says whether the run made the directory.
func (l *ledger) madeDir(dir dirID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hasDir(dir)
}

// madeAbove counts the directories, from this one upwards without a gap, that the run
// had made when it made this one; 0 if it did not.
func (l *ledger) madeAbove(dir dirID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.countAbove(dir)
}

func (l *ledger) countAbove(dir dirID) int {
	if !l.hasDir(dir) {
		return 0
	}
	return l.above[dir]
}

func (l *ledger) hasDir(dir dirID) bool { return l.dirs.has(dir) && !l.alike[dir.dev] }

// made says whether the run made the name.
func (l *ledger) made(pl place) bool {
	if pl.name == "" {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hasDir(pl.dir) || l.names.has(entryOf(pl))
}

// madeSecret says whether it made what stands there by a secret's name, in a directory
// that it made: others may have put something there since.
func (l *ledger) madeSecret(pl place) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.names.has(entry{dir: pl.dir, name: pl.name})
}

// add records a name that the run made, and that it is a secret's; dir is its identity
// if it is a directory, else zero.
func (l *ledger) add(pl place, dir dirID, secret bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if dir != (dirID{}) && dir.fileID == pl.dir.fileID {
		l.alike[dir.dev] = true // unlike its holder, on any other
	}
	switch {
	case !l.hasDir(pl.dir):
		l.names.add(entryOf(pl))
	case secret:
		l.names.add(entry{dir: pl.dir, name: pl.name})
	}
	if dir != (dirID{}) {
		l.dirs.add(dir)
		n := l.countAbove(pl.dir) + 1
		if before, ok := l.above[dir]; ok {
			n = min(n, before) // two that had the number, noted in whatever order
		}
		if l.dirs.has(dir) {
			l.above[dir] = n
		}
	}
}

// leaves says that a name, and the directory that has it, may be removed soon;
// stays follows, whatever has come of it.
func (l *ledger) leaves(pl place, dir dirID) { l.each(pl, dir, l.names.leaves, l.dirs.leaves) }

func (l *ledger) stays(pl place, dir dirID) { l.each(pl, dir, l.names.stays, l.dirs.stays) }

func (l *ledger) each(pl place, dir dirID, name func(entry), number func(dirID)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if pl.name != "" {
		name(entryOf(pl))
		name(entry{dir: pl.dir, name: pl.name})
	}
	if dir != (dirID{}) {
		number(dir)
		if !l.dirs.has(dir) && l.dirs.leaving[dir] == 0 {
			delete(l.above, dir)
		}
	}
}

// remove forgets a name that is gone, and the directory that had it.
func (l *ledger) remove(pl place, dir dirID) { l.each(pl, dir, l.names.remove, l.dirs.remove) }

// madeSocket records a unix socket that the run made.
func (l *ledger) madeSocket(id dirID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sockets) < ledgerMost {
		l.sockets[id.fileID] = id.born
	}
}

// ownSocket says whether the run made this socket, which stands at pl. Without a
// time of birth a later file may have its number; then the name must be the
// run's, too.
func (l *ledger) ownSocket(id fileID, birth int64, pl place) bool {
	if birth == 0 && !l.made(pl) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, ok := l.sockets[id]
	return ok && b == birth
}

func (l *ledger) boundAbstract(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.abstract) < ledgerMost {
		l.abstract[name] = struct{}{}
	}
}

func (l *ledger) ownAbstract(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.abstract[name]
	return ok
}

// move is one of a directory with all that is beneath it.
type move struct{ from, to string }

// controlsMost bounds the list of control files, movesMost what is known of how
// they come to be elsewhere.
const (
	controlsMost = 200
	movesMost    = 1 << 14
)

// controlMade notes a control file that an exception lets the run make, if it is
// not in a directory that is noted.
func (l *ledger) controlMade(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case slices.ContainsFunc(l.control, func(c string) bool { return profiles.Within(c, path) }):
	case len(l.control) < controlsMost:
		l.control = append(l.control, path)
	default:
		// What git would start counts for more than settings of an editor.
		if i := slices.IndexFunc(l.control, func(c string) bool { return !ofRepository(c) }); i >= 0 && ofRepository(path) {
			l.control[i] = path
		}
		l.unlisted++
	}
}

func ofRepository(path string) bool { return strings.Contains(path+"/", "/.git/") }

// moving notes that a directory gets another name, if the kernel agrees.
func (l *ledger) moving(from, to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.moves) < movesMost {
		l.moves = append(l.moves, move{from, to})
	} else {
		l.unlisted++
	}
}

// namesMost bounds the names that controls gives, of which only some still stand: a
// run can have each control file under as many as there are moves.
const namesMost = 5 * controlsMost

// controls gives where control files were made and where they may have moved since,
// and how many more there may be. Of a file that is made while a directory above
// it moves either name may be noted, so it is followed through all of the moves.
func (l *ledger) controls() (list []string, more int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, more = slices.Clone(l.control), l.unlisted
	known := map[string]bool{}
	for _, c := range list {
		known[c] = true
	}
	for _, m := range l.moves {
		for _, name := range list {
			if !profiles.Within(m.from, name) {
				continue
			}
			to := m.to + name[len(m.from):]
			if known[to] {
				continue
			}
			if len(list) == namesMost {
				slices.Sort(list)
				return list, more + 1
			}
			list, known[to] = append(list, to), true
		}
	}
	slices.Sort(list)
	return list, more
}
