package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"skillrun/linux"
	"skillrun/policy/session"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// unchanged is a control file that the run wanted to change: programs go on without,
// and git, for one, then takes what is there for a change of the user's.
type unchanged struct {
	path    string
	root    string // what a grant of it names, "" if there is none
	grant   string // that would have let it, "" if that is not for a line to say
	lasting string // why no grant of it would
}

// unchangedBy gives what a refusal left as it was, if that is a control file.
// What belongs to a project and comes with it, such as workflows, has its grant told
// to a person, with all that is in its directory; the rest is granted by who knows
// what hooks and agents' settings are: any script can provoke the line.
func unchangedBy(d *sandbox.Refusal) (unchanged, bool) {
	den := d.Verdict.Denial
	if den == nil || den.Class != profiles.Control || !slices.Contains([]string{profiles.OfControlFiles, linux.OfLinks, linux.OfNames}, den.Origin.Source) || d.Inner || d.Socket || d.Access&profiles.Change == 0 {
		return unchanged{}, false
	}
	u := unchanged{path: d.Path, lasting: lasting(den)}
	if u.lasting == "" && leads(d) {
		u.lasting = ofLeading
	}
	if den.Covers(d.Path) && u.lasting == "" {
		u.root = d.Path
	}
	if den.UnlessWithin && u.root != "" {
		for at := u.root; at != den.Path && at != "/"; at = filepath.Dir(at) {
			if den.Covers(at) {
				u.root = at
			}
		}
		u.grant = (&sandbox.Refusal{Path: u.root, Access: profiles.Write}).Grant()
	}
	return u, true
}

// wants are what of the refusals an agent's user can be asked about, if the command
// comes again: control files that it wanted to change, and old ones to delete.
func (r *recorder) wants() (list []session.Want) {
	add := func(capability, path string, lasts bool) {
		w := session.Want{Capability: capability, Path: path, Lasts: lasts}
		if path != "" && !strings.ContainsAny(path, "*?") && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	for _, u := range r.unchanged {
		add("filesystem.write", u.root, false)
	}
	dirs, rest := outputs(r.job, r.lifting, r.profile.Workspace)
	for _, dir := range dirs {
		add("filesystem.delete", dir, true)
	}
	dir, n := deletions(rest, r.profile.Workspace)
	for i := range rest {
		switch d := &rest[i].refusal; {
		case d.Access&profiles.Delete == 0 || ofLink(d):
		case n > 0 && dir != r.profile.Workspace:
			add("filesystem.delete", dir, false)
		default:
			add("filesystem.delete", d.Path, false)
		}
	}
	return list
}

// unchangedMost bounds how many are listed.
const unchangedMost = 64

// tellUnchanged says what was left as it was, where the command's own words or its
// exit code need not, and what would let a run change it.
func (r *recorder) tellUnchanged(code int) {
	if len(r.unchanged) == 0 {
		return
	}
	if code == 0 {
		var names []string
		for _, u := range r.unchanged[:min(len(r.unchanged), shownDenials)] {
			names = append(names, named(u.path))
		}
		if n := len(r.unchanged) - len(names); n > 0 {
			names[len(names)-1] += fmt.Sprintf(" and %d more", n)
		}
		git := "" // of what lies in a repository it keeps no versions
		if slices.ContainsFunc(r.unchanged, func(u unchanged) bool { return !strings.Contains(u.path+"/", "/.git/") }) {
			git = "; where git was to write it, it takes what is there now for a change of yours: see git status before you commit"
		}
		say("not changed, although the command succeeded: %s, which other programs obey%s", strings.Join(names, ", "), git)
	}
	if r.tells || code != 0 && !r.show {
		return
	}
	var flags []string
	for _, u := range r.unchanged {
		if g := grantFlag(u.grant); g != "" && !slices.Contains(flags, g) {
			flags = append(flags, g)
		}
	}
	able := slices.IndexFunc(r.unchanged, func(u unchanged) bool { return u.lasting == "" })
	switch {
	case able < 0 && r.show: // its line said so
	case able < 0:
		hint("%s: %s", typed(r.unchanged[0].path, "FILE"), r.unchanged[0].lasting)
	case len(flags) == 0 || !r.person:
		hint("that needs the user: skillrun explain --access w --path %s says what would allow it", typed(r.unchanged[able].path, "FILE"))
	default:
		hint("%s lets a run replace it, with whatever it brings; git restore then brings back what was left out", strings.Join(flags, " "))
	}
}
