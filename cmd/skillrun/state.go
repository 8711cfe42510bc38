package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"skillrun/audit"
	"skillrun/profiles"
)

const stateHint = "the record is kept below XDG_STATE_HOME, else HOME: name a directory of this user's there, outside of work trees (root keeps it in its own home if others could lead it elsewhere)"

// stateDirs has what stateDir found, by what it goes by: a launch asks several times.
var stateDirs sync.Map

// stateDir is where audit log, digests and approvals live. It must not be where
// a run may write.
func stateDir(h *profiles.Host) (string, error) {
	type key struct {
		uid                  int
		state, home, account string
	}
	by := key{h.UID, h.Env["XDG_STATE_HOME"], h.Home, h.Account}
	if dir, ok := stateDirs.Load(by); ok {
		return dir.(string), nil
	}
	dir, err := findStateDir(h)
	if err == nil {
		stateDirs.Store(by, dir)
	}
	return dir, err
}

func findStateDir(h *profiles.Host) (string, error) {
	dir := h.Env["XDG_STATE_HOME"]
	if dir == "" || !filepath.IsAbs(dir) {
		dir = filepath.Join(h.Home, ".local", "state")
	}
	if h.UID == 0 && h.Account != "" && !onlyRoots(h, filepath.Clean(dir)) {
		dir = filepath.Join(h.Account, ".local", "state")
	}
	if dir == ".local/state" || !filepath.IsAbs(dir) {
		return "", errors.New("no state directory: HOME and XDG_STATE_HOME are not set")
	}
	dir = filepath.Join(dir, "skillrun")
	if tree := ofCaches(h, dir); tree != "" {
		return "", fmt.Errorf("state directory %s lies inside %s, which runs could change", quote(dir), quote(tree))
	}
	if tree := strangersTree(h, dir, filepath.Join(h.Account, ".local", "state", "skillrun")); tree != "" {
		return "", withHint{fmt.Errorf("state directory %s lies inside %s, and a project may have set the variable that leads there", quote(dir), quote(tree)), stateHint}
	}
	return dir, nil
}

// onlyRoots says whether nobody but root can lead a name elsewhere: all directories above
// it that are there are root's, and those above links on the way, or whose the top is:
// nobody's to the root of a user namespace.
func onlyRoots(h *profiles.Host, name string) bool {
	var top, st unix.Stat_t
	to, way, err := h.Held(name, profiles.Origin{})
	if err != nil || unix.Stat("/", &top) != nil {
		return false
	}
	for _, led := range append(way, profiles.Denial{Path: to}) {
		for at := led.Path; at != "/"; at = filepath.Dir(at) {
			if unix.Lstat(at, &st) == nil && st.Uid != 0 && st.Uid != top.Uid {
				return false
			}
		}
	}
	return true
}

// states are the state directory, and the account's own without variables, which a
// project can set: what is known there counts as well.
func states(h *profiles.Host) []string {
	dir, err := stateDir(h)
	if err != nil {
		return nil // then no run begins
	}
	usual := filepath.Join(h.Account, ".local", "state", "skillrun")
	if h.Account == "" || usual == dir {
		return []string{dir}
	}
	return []string{dir, usual}
}

// stateDir is the directory of the job's state. A run or its skill must not be
// able to change it.
func (j *job) stateDir() (string, error) {
	dir, err := stateDir(j.host)
	if err != nil {
		return "", err
	}
	trees := []string{j.workspace}
	if j.skill != nil {
		trees = append(trees, j.skill.Dir)
	}
	if tree := enclosing(j.host, dir, trees...); tree != "" {
		return "", fmt.Errorf("state directory %s lies inside %s, which the run or its skill could change", quote(dir), quote(tree))
	}
	return dir, nil
}

// makeState begins the record where there is none: what is not there yet when a run is
// planned is not hidden from it.
func (j *job) makeState(dir string) error {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		return withHint{err, stateHint}
	}
	j.host.FS = newSnapshot()
	return log.Close()
}
