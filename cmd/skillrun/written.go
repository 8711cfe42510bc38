package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
	"skillrun/policy"
	"skillrun/profiles"
)

// Lists in the state directory: paths, each ended by a zero byte. Of trees that runs
// could write, since links there may be theirs; of manifests that --manifest named,
// which no run changes from then on.
const (
	writtenFile   = "written"
	manifestsFile = "manifests"
	listsLock     = "lists" // a file, since a run may be able to open the directory
)

// listPatience is how long another process may change a list.
const listPatience = 5 * time.Second

// maxTrees is how many trees of one run are listed; more in the workspace are all of
// it. Who could list any number would have the oldest forgotten.
const maxTrees = 64

// maxListed is how many paths such a list has. Beyond them those that are gone are
// forgotten, and then the oldest.
const maxListed = 1024

// listed gives what such a list has now. What is made of it is no part of what a plan
// was made from: the key of that has it.
func listed(h *profiles.Host, list string) (paths []string) {
	now := *h
	now.FS = newSnapshot()
	for _, state := range states(h) {
		if data, err := now.ReadSmall(filepath.Join(state, list), profiles.MaxWrittenList); err == nil {
			paths = append(paths, profiles.SplitWritten(data)...)
		}
	}
	return paths
}

// noteWritten adds the trees in which a run with this profile can make links. It
// comes before the run. A tree that holds the home is none: who lets a run write
// there means to, and has links of his own there.
func noteWritten(h *profiles.Host, state string, p *profiles.Profile) error {
	var trees []string
	homeIn := func(tree string) bool { return enclosing(h, h.Home, tree) != "" || enclosing(h, h.Account, tree) != "" }
	for i := range p.Paths {
		r := &p.Paths[i]
		if r.Access&profiles.Create != 0 && !homeIn(r.Path) {
			trees = append(trees, r.Path)
		}
	}
	if ws := p.Workspace; ws != "" && len(trees) > maxTrees {
		trees = slices.DeleteFunc(trees, func(tree string) bool { return profiles.Within(ws, tree) })
		trees = append(trees, ws)
	}
	if len(trees) > maxTrees {
		return fmt.Errorf("files may be made in %d places, more than %d: grant the directory above them", len(trees), maxTrees)
	}
	for _, tree := range slices.Clip(trees) {
		trees = append(trees, slices.DeleteFunc(h.Aliases(tree), homeIn)...)
	}
	return note(state, writtenFile, trees)
}

// note adds paths to a list of the state directory.
func note(state, list string, paths []string) error {
	dir, err := private.OpenDir(state)
	if err != nil {
		return withHint{err, stateHint}
	}
	defer dir.Close()
	lock, _, err := private.OpenFile(dir, listsLock, unix.O_RDWR|unix.O_CREAT)
	if err != nil {
		return err
	}
	defer lock.Close()
	for end := time.Now().Add(listPatience); ; time.Sleep(time.Millisecond) {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(end) {
			return fmt.Errorf("%s: locked by another process: %w", quote(lock.Name()), err)
		}
	}
	data, err := private.ReadFile(dir, list, profiles.MaxWrittenList)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := profiles.SplitWritten(data)
	all := slices.Clip(known)
	for _, path := range paths {
		if !slices.Contains(all, path) && (list != writtenFile || !slices.ContainsFunc(all, func(tree string) bool { return profiles.Within(tree, path) })) {
			all = append(all, path)
		}
	}
	if len(all) == len(known) {
		return nil
	}
	had := len(all)
	if had > maxListed/2 {
		all = slices.DeleteFunc(all, func(path string) bool {
			_, err := os.Lstat(path)
			return errors.Is(err, fs.ErrNotExist) && !slices.Contains(paths, path)
		})
	}
	all = all[max(0, len(all)-maxListed):]
	if len(all) < had { // whoever comes by a plan that is kept is not noted again
		if err := os.RemoveAll(filepath.Join(state, "memo")); err != nil {
			return err
		}
	}
	return private.WriteFile(dir, list, []byte(strings.Join(all, "\x00")+"\x00"))
}

// notLed refuses a name of the command line that leads elsewhere by a link which a
// run may have made; tree is one more that runs could write.
func notLed(h *profiles.Host, tree, flag, name string) error {
	to := policy.Linked(h, tree, name)
	if to == "" {
		return nil
	}
	return withHint{fmt.Errorf("%s%s: a link that a run may have made leads to %s", flag, quote(name), quote(to)), "if that is meant, name it: " + quote(to)}
}
