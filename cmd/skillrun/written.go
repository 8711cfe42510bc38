package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
	"skillrun/policy"
	"skillrun/profiles"
)

// maxWritten is how many trees are kept. Beyond them those that are gone are
// forgotten, and then the oldest.
const maxWritten = 1024

// noteWritten adds the trees in which a run with this profile can make links to
// those of the state directory. It comes before the run.
func noteWritten(h *profiles.Host, state string, p *profiles.Profile) error {
	dir, err := private.OpenDir(state)
	if err != nil {
		return withHint{err, stateHint}
	}
	defer dir.Close()
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("%s: %w", quote(state), err)
	}
	data, err := private.ReadFile(dir, filepath.Base(h.WrittenList), profiles.MaxWrittenList)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	trees := profiles.SplitWritten(data)
	known := len(trees)
	for i := range p.Paths {
		if r := &p.Paths[i]; r.Access&profiles.Create != 0 && !slices.Contains(trees, r.Path) {
			trees = append(trees, r.Path)
		}
	}
	if len(trees) == known {
		return nil
	}
	if len(trees) > maxWritten/2 {
		trees = slices.DeleteFunc(trees, func(tree string) bool {
			_, err := os.Lstat(tree)
			return errors.Is(err, fs.ErrNotExist)
		})
	}
	if over := len(trees) - maxWritten; over > 0 {
		trees = trees[over:]
		os.RemoveAll(filepath.Join(state, "memo")) // whoever comes by a plan that is kept is not noted again
	}
	return private.WriteFile(dir, filepath.Base(h.WrittenList), []byte(strings.Join(trees, "\x00")+"\x00"))
}

// notLed refuses a name of the command line that leads elsewhere by a link which a
// run may have made; tree is one more that runs could write.
func notLed(h *profiles.Host, tree, flag, name string) error {
	to := policy.LedOut(h, tree, name)
	if to == "" {
		return nil
	}
	return withHint{fmt.Errorf("%s%s: a link that a run may have made leads to %s", flag, quote(name), quote(to)), "if that is meant, name it: " + quote(to)}
}
