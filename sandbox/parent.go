package sandbox

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ownParents is the directory of all runs of this user below a root, if nobody
// else has taken the name.
func ownParents(root string) string { return filepath.Join(root, parentName()) }

func parentName() string { return "skillrun-" + strconv.Itoa(os.Geteuid()) }

// elsewhere is the pattern of the names that are used where parentName is taken:
// with twelve random digits, so that nobody can be there first.
func elsewhere() string { return parentName() + "." + strings.Repeat("?", 2*idSize) }

func isElsewhere(name string) bool {
	id, ok := strings.CutPrefix(name, parentName()+".")
	return ok && len(id) == 2*idSize
}

// parentBelow finds or makes the directory of all runs of this user below a root,
// and removes what killed runs have left in it. In a directory that anyone may
// write somebody else may have been first, and in a user namespace its root is
// not the owner of what root made: then another name is taken, and found again.
func parentBelow(root string) (string, error) {
	dir := ownParents(root)
	made := os.Mkdir(dir, 0o700)
	if made != nil && !errors.Is(made, os.ErrExist) {
		return "", made
	}
	taken := isOwnParent(dir)
	if taken == nil {
		sweep(dir)
		if made == nil { // until now somebody may have had the name
			for _, left := range parentsElsewhere(root) {
				sweep(left)
			}
		}
		return dir, nil
	}
	if found := parentsElsewhere(root); len(found) > 0 {
		for _, dir := range found { // two that came here at once made two
			sweep(dir)
		}
		return found[0], nil
	}
	dir += "." + newID()
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		if err = isOwnParent(dir); err != nil {
			os.Remove(dir)
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w; %w", taken, err)
	}
	return dir, nil
}

// parentsElsewhere gives the directories of this user's runs below a root that
// have another name than [ownParents], sorted.
func parentsElsewhere(root string) []string {
	f, err := os.Open(root)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	var dirs []string
	for _, name := range names {
		if dir := filepath.Join(root, name); isElsewhere(name) && isOwnParent(dir) == nil {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

func isOwnParent(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.IsDir():
		return fmt.Errorf("%s: not a directory", dir)
	case int(st.Uid) != os.Geteuid():
		owner := "uid " + strconv.Itoa(int(st.Uid))
		if u, err := user.LookupId(owner[len("uid "):]); err == nil {
			owner = u.Username + " (" + owner + ")"
		}
		return fmt.Errorf("%s: belongs to %s", dir, owner)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s: open to others, mode %#o", dir, info.Mode().Perm())
	}
	return nil
}

// idSize is the number of random bytes in a name.
const idSize = 6

func newID() string {
	var id [idSize]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// outerTemp gives TMPDIR if it is that of a run, inside which this one then is:
// the last resort, where the shared directories are stood in for. Elsewhere a
// project could name the TMPDIR of a run that is to plant something there.
func outerTemp() []string {
	if dir := filepath.Clean(os.Getenv("TMPDIR")); isRunsTemp(dir) {
		return []string{dir}
	}
	return nil
}

// isRunsTemp says whether dir is by its name the TMPDIR of a run of this user,
// or of one inside such a run, and so on.
func isRunsTemp(dir string) bool {
	run := filepath.Dir(dir)
	parent := filepath.Dir(run)
	root := filepath.Dir(parent)
	return len(dir) > len(root) && dir == (&own{dir: run}).temp() &&
		(parent == ownParents(root) || isElsewhere(filepath.Base(parent))) &&
		(slices.Contains(tempRoots[:], root) || isRunsTemp(root)) && isOwnParent(parent) == nil
}

// mostSpares is how many directories of runs that are over wait to be others' at most:
// as many as runs usually go on at a time.
const mostSpares = 4

// sweep removes directories whose run is gone, and its control groups: their lock is free. The lock is
// held by launcher and guardian, so a run that still ends is left alone. Spare ones stay, but of many.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	spares := 0
	for _, e := range entries {
		if isSpare(e) {
			if spares++; spares <= mostSpares {
				continue
			}
		}
		o := own{dir: filepath.Join(parent, e.Name())}
		if o.lock, err = lockDirectory(o.dir); err != nil {
			continue
		}
		o.left = !o.removeCgroups() // the list of them is needed
		o.discard()
	}
}
