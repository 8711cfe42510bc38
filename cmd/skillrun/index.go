package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
	"skillrun/policy"
	"skillrun/profiles"
)

// mostIndex is how much is read of all indexes together; that of half a million files is
// a fifth of it.
const mostIndex = 256 << 20

// gitDirectories gives the git directories of the workspace's repository and of the
// work trees of it, and that which these share; none without one.
func (r *recorder) gitDirectories(host *profiles.Host) (dirs []string, common string) {
	if r.job.workspace == "" {
		return nil, ""
	}
	dir, common := host.GitDirectories(r.job.workspace + "/.git")
	if dir == "" {
		return nil, ""
	}
	dirs = []string{dir}
	trees, _ := os.ReadDir(common + "/worktrees")
	for _, tree := range trees {
		dirs = append(dirs, filepath.Join(common, "worktrees", tree.Name()))
	}
	return dirs, common
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
	dirs, common := r.gitDirectories(&host)
	left := int64(mostIndex)
	for _, dir := range dirs {
		r.refuseSequences(&host, dir)
		entries, _ := os.ReadDir(dir)
		moved := changedSince(dir, r.begin) // some file systems do not note that of the file
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			if (e.Name() == "index" || strings.HasPrefix(e.Name(), "sharedindex.")) && (moved || changedSince(file, r.begin)) && r.mayWrite(file) {
				refuseIndex(file, hasSHA256(&host, common), &left)
			}
		}
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

// refuseIndex takes an index away if git would follow it; what is left of mostIndex bounds
// what is read.
func refuseIndex(file string, sha256 bool, left *int64) {
	dir := placeOf(file)
	if dir == nil {
		return
	}
	defer dir.Close()
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return // no more does git
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return // nor this
	}
	name, stray := "what cannot be read", true
	if *left -= info.Size(); *left >= 0 {
		b := make([]byte, info.Size())
		if _, err := io.ReadFull(f, b); err == nil {
			name, stray = policy.StrayInIndex(b, sha256)
		}
	}
	if !stray {
		return
	}
	refused, err := takeAway(dir, file)
	if err != nil {
		say("%s has %s, which git would write: remove it before you call git", named(file), named(name))
		return
	}
	say("%s had %s, which git would have written: it is %s now, and git reset makes another", named(file), named(name), named(refused))
}

// placeOf opens the directory of a file, which then stays the same whatever another run
// puts in its place; it is nil where a link led there, since what a link of the run's
// leads to may be another repository's.
func placeOf(file string) *os.Root {
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil
	}
	is, err := dir.Stat(".")
	at, fault := filepath.EvalSymlinks(dir.Name())
	there, gone := os.Lstat(dir.Name())
	if err != nil || fault != nil || gone != nil || at != dir.Name() || !os.SameFile(is, there) {
		dir.Close()
		return nil
	}
	return dir
}

// takeAway gives a file of dir a name that git does not know.
func takeAway(dir *os.Root, file string) (refused string, err error) {
	refused = file + ".refused"
	return refused, dir.Rename(filepath.Base(file), filepath.Base(refused))
}
