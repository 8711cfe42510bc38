package session

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
)

const (
	// sessionsKept is how long a session is kept after its last decision.
	// Agents resume sessions; Claude Code keeps its own for 30 days.
	sessionsKept = 90 * 24 * time.Hour
	// maxSwept bounds the files that one sweep removes; the next goes on.
	maxSwept = 1000
)

// sweep removes the files of sessions that nobody has used for long: those that
// are named as ours are, and of no session that a process has open. What cannot
// be removed stays.
func (s *Session) sweep() {
	names, err := s.dir.Readdirnames(-1)
	if err != nil {
		return
	}
	fd := int(s.dir.Fd())
	unused := func(name string) bool {
		var st unix.Stat_t
		return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG &&
			s.set.Now().Sub(time.Unix(int64(st.Mtim.Sec), int64(st.Mtim.Nsec))) > sessionsKept
	}
	of := map[string][]string{} // the files besides the lock, by session
	locks := map[string]bool{}
	for _, name := range names {
		id, lock := ownName(name)
		switch {
		case id == "" || id+".json" == s.file:
		case lock:
			locks[id] = unused(name)
		default:
			of[id] = append(of[id], name)
		}
	}
	swept := 0
	for id, old := range locks { // a lock is as old as its session
		if !old {
			continue
		}
		if swept >= maxSwept {
			return
		}
		lock, _, err := private.OpenFile(s.dir, id+".lock", unix.O_RDWR)
		if err != nil {
			continue
		}
		document := id + ".json"
		var st unix.Stat_t
		gone := unix.Fstatat(fd, document, &st, unix.AT_SYMLINK_NOFOLLOW) == unix.ENOENT
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && (gone || unused(document)) {
			for _, name := range of[id] {
				unix.Unlinkat(fd, name, 0)
			}
			unix.Unlinkat(fd, id+".lock", 0) // last: who waits for it sees that it is gone
			swept += len(of[id]) + 1
		}
		lock.Close()
	}
}

// ownName gives the session that a file is of, "" if it is none of ours:
// ID.json, ID.lock, ID.CALL.asked, and what a killed writer left of them,
// .NAME.RANDOM.
func ownName(name string) (id string, lock bool) {
	if rest, ok := strings.CutPrefix(name, "."); ok {
		if i := strings.LastIndexByte(rest, '.'); i > 0 {
			name = rest[:i]
		}
	}
	id, rest, _ := strings.Cut(name, ".")
	if len(id) != idLength || strings.Trim(id, "0123456789abcdef") != "" {
		return "", false
	}
	switch {
	case rest == "lock":
		return id, true
	case rest == "json", strings.HasSuffix(rest, askedSuffix):
		return id, false
	}
	return "", false
}
