package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
	"skillrun/policy"
	"skillrun/policy/skill"
	"skillrun/profiles"
)

// The register of the runs that are going on lies in the state directory. Each run
// has a page of its file, and for as long as it lasts a lock on the page's first
// byte, which the kernel takes back however it ends. In the page are the process, the
// trees where the run may change files, and those of the approved skills in them that
// it may not: a run that began before a skill was approved could still change it, after
// its digest was taken. Last is since when it looks at files; programs of before have 0
// there, and read no further than the paths.
const (
	liveFile = "live"
	livePage = 4096
	maxLive  = 4096 // runs at a time
)

// Where in a page the paths begin and the time is.
const (
	pagePaths = 8
	pageTime  = livePage - 8
)

// registered adds a run with this profile, of files as they were from begun on, to the
// register, until what it gives is closed.
func registered(state string, p *profiles.Profile, begun time.Time) (*os.File, error) {
	dir, err := private.OpenDir(state)
	if err != nil {
		return nil, withHint{err, stateHint}
	}
	defer dir.Close()
	f, _, err := private.OpenFile(dir, liveFile, unix.O_RDWR|unix.O_CREAT)
	if err != nil {
		return nil, err
	}
	for page := range int64(maxLive) {
		err = unix.FcntlFlock(f.Fd(), setLock, &unix.Flock_t{Type: unix.F_WRLCK, Start: page * livePage, Len: 1})
		if err == nil {
			if _, err = f.WriteAt(livesPage(p, begun), page*livePage); err == nil {
				return f, nil
			}
		}
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
			break
		}
	}
	f.Close()
	return nil, fmt.Errorf("%s: no place for another run: %w", quote(f.Name()), err)
}

// livesPage is the page of a run: the process, how many trees, the paths, each ended by
// a zero byte, and when it began. More than fit are all.
func livesPage(p *profiles.Profile, begun time.Time) []byte {
	var trees, kept []string
	for i := range p.Paths {
		if r := &p.Paths[i]; r.Access&profiles.Change != 0 {
			trees = append(trees, r.Path)
		}
	}
	for i := range p.Denials {
		if d := &p.Denials[i]; d.Origin.Reason == policy.ApprovedSkill {
			kept = append(kept, d.Path)
		}
	}
	text := strings.Join(slices.Concat(trees, kept), "\x00") + "\x00"
	if len(text) > pageTime-pagePaths {
		trees, text = []string{"/"}, "/\x00"
	}
	page := make([]byte, livePage)
	binary.LittleEndian.PutUint32(page, uint32(os.Getpid()))
	binary.LittleEndian.PutUint32(page[4:], uint32(len(trees)))
	copy(page[pagePaths:], text)
	binary.LittleEndian.PutUint64(page[pageTime:], uint64(begun.UnixNano()))
	return page
}

// changer gives the process of a run that is going on and may change the skill with
// these names, 0 for none: one that does not keep off, or does by these alone, where
// linked says that its files may have got others since that began. A run that has its
// lock and no page yet looks for new approvals after it has one.
func changer(state string, linked func(since time.Time) (bool, error), names ...string) (pid int, err error) {
	f, err := os.Open(filepath.Join(state, liveFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	page := make([]byte, livePage)
	for at := int64(0); at < info.Size(); at += livePage {
		lock := unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: 1}
		if err := unix.FcntlFlock(f.Fd(), getLock, &lock); err != nil {
			return 0, fmt.Errorf("%s: %w", quote(f.Name()), err)
		}
		if lock.Type == unix.F_UNLCK {
			continue
		}
		if _, err := f.ReadAt(page, at); err != nil {
			return 0, fmt.Errorf("%s: %w", quote(f.Name()), err)
		}
		paths := strings.Split(string(page[pagePaths:pageTime]), "\x00")
		trees := min(int(binary.LittleEndian.Uint32(page[4:])), len(paths))
		for _, dir := range names {
			over := func(tree string) bool { return profiles.Within(tree, dir) || profiles.Within(dir, tree) }
			if !slices.ContainsFunc(paths[:trees], over) {
				continue
			}
			may := !slices.ContainsFunc(paths[trees:], func(kept string) bool { return profiles.Within(kept, dir) })
			if !may {
				if may, err = linked(time.Unix(0, int64(binary.LittleEndian.Uint64(page[pageTime:])))); err != nil {
					return 0, err
				}
			}
			if may {
				return int(binary.LittleEndian.Uint32(page)), nil
			}
		}
	}
	return 0, nil
}

// unchanging fails if a run that is going on may change the skill. The record has
// been found then, so that runs which begin from now on may not, and the digest has
// not been taken.
func (j *job) unchanging() error {
	// By all of its names: a run has its trees by those that it was given.
	p := profiles.Profile{Paths: []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.Change}}, Denials: []profiles.Denial{{Path: j.skill.Dir}}}
	p.DenyAliases(j.host)
	var names []string
	for _, d := range p.Denials {
		names = append(names, d.Path)
	}
	linked := sync.OnceValues(func() (time.Time, error) { return skill.Linked(j.skill.Dir) })
	since := func(begun time.Time) (bool, error) {
		last, err := linked()
		return !last.Before(begun), err
	}
	for _, state := range states(j.host) {
		pid, err := changer(state, since, names...)
		if err != nil {
			return err
		}
		if pid != 0 {
			return withHint{fmt.Errorf("skill %s: a run that began before it was approved, or before its files got other names, may still change it", quote(j.skill.Name)), fmt.Sprintf("wait for process %d to end, or end it", pid)}
		}
	}
	return nil
}

// approvalsAsOf tells whether an approval has come or gone: by the times of the
// directories of records.
func approvalsAsOf(h *profiles.Host) (times []time.Time) {
	for _, state := range states(h) {
		var at time.Time
		if info, err := os.Lstat(filepath.Join(state, "approvals")); err == nil {
			at = info.ModTime()
		}
		times = append(times, at)
	}
	return times
}
