package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"skillrun/policy/skill"
	"skillrun/profiles"
)

// findWorkspace decides which directory the run works in.
func findWorkspace(h *profiles.Host, cwd, flag string) (string, error) {
	dir := flag
	if dir == "" {
		dir = gitTop(cwd)
	}
	dir = absolute(dir, cwd)
	resolved, err := h.Resolve(dir)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	here := ""
	if flag != "" { // where earlier runs were, as far as is known
		if here, err = h.Resolve(gitTop(cwd)); err != nil {
			return "", fmt.Errorf("workspace: %w", err)
		}
	}
	if err := notLed(h, here, "workspace ", dir); err != nil {
		return "", err
	}
	if flag == "" {
		// A run can make a repository: a workspace that was only found is no way
		// out of what narrowed that run.
		if above := policyAbove(resolved); above != "" {
			return "", withHint{fmt.Errorf("workspace %s lies inside %s, which has a policy of its own", quote(resolved), quote(above)), "start there, or name the one that is meant with --workspace DIR"}
		}
	}
	if info, err := os.Stat(resolved); err != nil || !info.IsDir() {
		return "", fmt.Errorf("workspace %s: not a directory", quote(resolved))
	}
	const help = "name one with --workspace DIR, or change to it"
	if resolved == "/" {
		return "", withHint{errors.New("the root directory cannot be the workspace: a run may write there"), help}
	}
	homes := []string{h.Account, h.Home} // a project can set HOME
	for _, home := range slices.Compact(homes) {
		if home == "" {
			continue
		}
		if r, err := h.Resolve(home); err == nil {
			home = r
		}
		holds := func(name string) bool { return name == resolved || strings.HasPrefix(name, resolved+"/") }
		names := append(h.Aliases(home), home)
		switch {
		case slices.Contains(names, resolved):
			return "", withHint{fmt.Errorf("the home directory %s cannot be the workspace: all of the user's files are in it", quote(resolved)), help}
		case slices.ContainsFunc(names, holds):
			return "", withHint{fmt.Errorf("%s cannot be the workspace: it holds the home directory", quote(resolved)), help}
		}
		for _, root := range skill.Roots() {
			r, err := h.ResolvePrefix(filepath.Join(home, root.Path))
			// Of an agent that is not there nothing but the directory is kept.
			if err != nil || root.Scope != skill.User || !h.Exists(filepath.Dir(filepath.Join(home, root.Path))) {
				continue
			}
			for _, at := range append(h.Aliases(r), r) {
				switch {
				case holds(at):
					return "", withHint{fmt.Errorf("%s cannot be the workspace: it holds the skills in %s", quote(resolved), quote(r)), help}
				case strings.HasPrefix(resolved, at+"/"): // a run could make it another, with any rights
					return "", withHint{fmt.Errorf("%s cannot be the workspace: it is one of the skills in %s", quote(resolved), quote(r)), help}
				}
			}
		}
	}
	return resolved, nil
}

// policyAbove gives the nearest directory above dir with a workspace policy, ""
// if there is none. Where anybody may write only the user's and root's is one.
func policyAbove(dir string) string {
	for dir != "/" {
		dir = filepath.Dir(dir)
		file := filepath.Join(dir, narrowingFile)
		var st unix.Stat_t
		if unix.Lstat(file, &st) != nil {
			continue
		}
		if info, err := os.Stat(dir); err == nil && (info.Mode()&0o002 == 0 || st.Uid == 0 || int(st.Uid) == os.Geteuid()) {
			return dir
		}
	}
	return ""
}

// gitTop gives the top of the git work tree around dir, or dir.
func gitTop(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}
