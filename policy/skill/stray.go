package skill

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"skillrun/policy"
	"skillrun/profiles"
)

// Stray is a link of a skill that leads out of it. What is there changes while the
// skill, and its digest, stay as they are.
type Stray struct {
	Link string   // relative
	Via  []string // the places outside that it leads through, absolute; the last is where it ends
}

// To is where the link ends.
func (s *Stray) To() string { return s.Via[len(s.Via)-1] }

// Strays gives the links of the skill in dir, which must be resolved, that lead out
// of it, save to the system's own trees and to toolchains at their usual places
// beneath the account's home: an interpreter's environment in a skill has links to
// those.
func Strays(dir string) (strays []Stray, err error) {
	h := &profiles.Host{OS: runtime.GOOS, CaseSensitive: runtime.GOOS != "darwin", FS: os.DirFS("/")}
	chains := sync.OnceValue(func() []profiles.PathRule {
		u, err := user.LookupId(strconv.Itoa(os.Geteuid())) // not HOME, which a project can set
		if err != nil {
			return nil
		}
		there := *h
		there.Home = u.HomeDir
		tools, _ := profiles.Toolchains(&there, "")
		return tools
	})
	settled := func(path string) bool {
		return profiles.Within(dir, path) || profiles.OfSystem(path) ||
			slices.ContainsFunc(chains(), func(r profiles.PathRule) bool { return r.Tree && profiles.Within(r.Path, path) })
	}
	left := MaxEntries
	var search func(at string, depth int) error
	search = func(at string, depth int) error {
		entries, err := os.ReadDir(at)
		if err != nil {
			return err
		}
		if left -= len(entries); left < 0 || depth > MaxDepth {
			return fmt.Errorf("more than %d files, or %d directories deep", MaxEntries, MaxDepth)
		}
		for _, e := range entries {
			path := filepath.Join(at, e.Name())
			if e.IsDir() {
				if err := search(path, depth+1); err != nil {
					return err
				}
			}
			if e.Type()&fs.ModeSymlink == 0 {
				continue
			}
			s := Stray{Link: path[len(dir)+1:]}
			to, err := h.ResolvePrefix(path)
			if err != nil {
				continue // a loop leads nowhere
			}
			for _, via := range append(h.Links(path), to) {
				if !settled(via) {
					s.Via = append(s.Via, via)
				}
			}
			if len(s.Via) > 0 {
				strays = append(strays, s)
			}
		}
		return nil
	}
	if err := search(dir, 1); err != nil {
		return nil, fmt.Errorf("skill %q: %w", dir, bare(err))
	}
	return strays, nil
}

// whole fails on a skill with strays: its digest is not one of all that it is.
func whole(dir string) error {
	strays, err := Strays(dir)
	if err == nil && len(strays) > 0 {
		err = fmt.Errorf("its %s leads out of it, to %s, which can change without it", policy.Escape(strays[0].Link), policy.Escape(strays[0].To()))
	}
	return err
}
