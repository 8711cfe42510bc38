package linux

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// recent remembers for a moment where the files stand that the run has just
// made. What unpacks and copies sets mode, owner and times of each new file
// through its descriptor at once, and asking /proc for the path of one costs
// as much as all the rest of such a call.
//
// A file is known by inode number and time of birth, which no two have alike
// and nobody can set; where the file system knows no birth nothing is
// remembered. Whatever moves a name in the run empties the list; what moves it
// from outside goes unnoticed for recentFresh, in which the run still holds the
// file open.
type recent struct {
	mu    sync.Mutex
	files [16]recentFile
	next  int
}

type recentFile struct {
	id    fileID
	birth unix.StatxTimestamp
	place place
	until time.Time
}

const recentFresh = 5 * time.Millisecond

// bornAt asks for the time of birth of an open file.
func bornAt(fd int) (id fileID, birth unix.StatxTimestamp, ok bool) {
	var sx unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BTIME|unix.STATX_INO, &sx) != nil || sx.Mask&unix.STATX_BTIME == 0 {
		return id, birth, false
	}
	id, birth = identity(&sx)
	return id, birth, true
}

func identity(sx *unix.Statx_t) (fileID, unix.StatxTimestamp) {
	return fileID{unix.Mkdev(sx.Dev_major, sx.Dev_minor), sx.Ino}, sx.Btime
}

func (l *recent) add(fd int, pl place) {
	if id, birth, ok := bornAt(fd); ok {
		l.note(id, birth, pl)
	}
}

func (l *recent) note(id fileID, birth unix.StatxTimestamp, pl place) {
	l.mu.Lock()
	l.files[l.next] = recentFile{id, birth, pl, time.Now().Add(recentFresh)}
	l.next = (l.next + 1) % len(l.files)
	l.mu.Unlock()
}

// find gives the place of a file that has one name.
func (l *recent) find(id fileID, birth unix.StatxTimestamp) (place, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.files {
		if f := &l.files[i]; f.id == id && f.birth == birth && !time.Now().After(f.until) {
			return f.place, true
		}
	}
	return place{}, false
}

// clear forgets everything: a name of the run's moves.
func (l *recent) clear() {
	l.mu.Lock()
	l.files = [len(l.files)]recentFile{}
	l.mu.Unlock()
}
