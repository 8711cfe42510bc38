package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit"
	"skillrun/audit/private"
	"skillrun/policy"
	"skillrun/profiles"
)

// mostIndex is how much is read of all indexes and sequences together; the index of half
// a million files is a fifth of it.
const mostIndex = 256 << 20

// mostTrees is how many work trees of a repository are looked at: what looks like one a
// run can make in any number.
const mostTrees = 1000

// gitDirectories gives the git directories of the workspace's repository and of the
// work trees of it, after those that are known, and that which they share; none without
// one. There may be more than are looked at.
func (r *recorder) gitDirectories(host *profiles.Host, known []string) (dirs []string, common string, more bool) {
	if r.job.workspace == "" {
		return nil, "", false
	}
	dir, common := host.GitDirectories(r.job.workspace + "/.git")
	if dir == "" {
		return nil, "", false
	}
	all := []string{dir}
	if trees, err := openWithoutLinks(common + "/worktrees"); err == nil {
		for _, name := range listIn(trees) {
			all = append(all, filepath.Join(common, "worktrees", name))
		}
		unix.Close(trees)
	}
	dirs = slices.Clip(known)
	for _, at := range all {
		if slices.Contains(known, at) {
			continue
		}
		if len(dirs) > mostTrees {
			return dirs, common, true
		}
		dirs = append(dirs, at)
	}
	return dirs, common, false
}

// mayWrite says whether the run could have written a file.
func (r *recorder) mayWrite(file string) bool {
	return r.profile.Allows(file, profiles.Write).Allowed || r.profile.Allows(file, profiles.Create).Allowed
}

// refuseIndexes takes away an index of the workspace's repository, or of a work tree of
// it, which has changed since the run began and by which git would write beneath a
// ".git" or outside: commands such as "git restore ." do, whoever wrote it. What else is
// in a repository git looks at itself, but for what sequences are left to do.
func (r *recorder) refuseIndexes() {
	host := *r.job.host
	host.FS = newSnapshot()
	dirs, common, more := r.gitDirectories(&host, r.gitDirs)
	if more {
		say("%s has more work trees than %d, and the rest was not looked at: remove what is none before you call git", named(common+"/worktrees"), mostTrees)
	}
	left := int64(mostIndex)
	for _, at := range dirs {
		r.refuseSequences(at, &left)
		dir, err := openWithoutLinks(at)
		if err != nil {
			continue // no more does git
		}
		moved := changedSince(at, r.begin) // some file systems do not note that of the file
		for _, name := range listIn(dir) {
			file, folded := filepath.Join(at, name), profiles.Folded(name)
			id, shared := strings.CutPrefix(folded, "sharedindex.")
			shared = shared && !strings.Contains(id, ".") // as what was taken away before has
			if (folded == "index" || shared) && (moved || changedSince(file, r.begin)) && r.mayWrite(file) {
				r.refuseIndex(dir, file, hasSHA256(&host, common), &left)
			}
		}
		unix.Close(dir)
	}
	if n := r.renamed - shownDenials; n > 0 {
		say("%d more of what git would have obeyed there were renamed so", n)
	}
	if n := r.remains - shownDenials; n > 0 {
		say("%d more of what git obeys are there: look for them before you call git", n)
	}
}

// tellRenamed and tellRemains say of one file of a repository what became of it. A run
// can make any number of them.
func (r *recorder) tellRenamed(format string, args ...any) {
	if r.renamed++; r.renamed <= shownDenials {
		say(format, args...)
	}
}

func (r *recorder) tellRemains(format string, args ...any) {
	if r.remains++; r.remains <= shownDenials {
		say(format, args...)
	}
}

// changedSince says whether a file has changed since a time, as far as can be told: of
// two seconds before, too, since the clocks of file systems tick; and of any time where
// that is not this machine's clock (NFS, FUSE).
func changedSince(file string, t time.Time) bool {
	var st unix.Stat_t
	return unix.Stat(file, &st) != nil || !private.OrdinaryAt(file) || time.Unix(st.Ctim.Unix()).After(t.Add(-2*time.Second))
}

// hasSHA256 says whether a repository names objects by SHA-256.
func hasSHA256(h *profiles.Host, common string) (is bool) {
	if b, err := h.ReadSmall(common+"/config", 1<<20); err == nil {
		profiles.GitConfig(b, func(name, value string) {
			if name == "extensions.objectformat" {
				is = strings.EqualFold(value, "sha256")
			}
		})
	}
	return is
}

// refuseIndex takes away an index of a directory if git would follow it; what is left of
// mostIndex bounds what is read.
func (r *recorder) refuseIndex(dir int, file string, sha256 bool, left *int64) {
	name, stray := "what cannot be read", true
	if b, err := readIn(dir, file, *left, 0); err == nil {
		*left -= int64(len(b))
		name, stray = policy.StrayInIndex(b, sha256)
	} else if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if !stray {
		return
	}
	refused, err := takeAway(dir, file)
	if err != nil {
		r.tellRemains("%s has %s, which git would write: remove it before you call git", named(file), named(name))
		return
	}
	r.tellRenamed("%s had %s, which git would have written: it is %s now, and git reset makes another", named(file), named(name), named(refused))
}

// What follows is all that is done to files of a repository after a run, which wrote them
// as it liked: in a directory to which no link leads, since what one leads to may be
// another repository's, and which stays the same whatever another run puts in its place.

// readIn reads a file of a directory, of up to most bytes. In a repository a link is the
// user's, unless the run made that, too: what is no file is not even opened, since a
// device may act on that, and who waits at a pipe goes on.
func readIn(dir int, file string, most int64, flags int) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, filepath.Base(file), &st, 0); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, fs.ErrInvalid
	}
	fd, err := unix.Openat(dir, filepath.Base(file), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), file)
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, fs.ErrInvalid
	}
	b := make([]byte, info.Size())
	_, err = io.ReadFull(f, b)
	return b, err
}

// listIn gives the names in a directory.
func listIn(dir int) []string {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	slices.Sort(names)
	return names
}

// takeAway gives a file of a directory, where the run could write, a name that git does
// not know and the run did not: it may have put something there, as another name of the
// file, by which a renaming that changes nothing succeeds. And it may have made the
// directory so that nothing is renamed there.
func takeAway(dir int, file string) (refused string, err error) {
	refused = file + ".refused-" + audit.NewID()
	rename := func() error { return unix.Renameat(dir, filepath.Base(file), dir, filepath.Base(refused)) }
	if err = rename(); err == unix.EACCES && unix.Fchmodat(dir, ".", 0o700, 0) == nil {
		err = rename()
	}
	return refused, err
}
