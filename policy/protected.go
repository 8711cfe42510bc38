package policy

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// Protected are the files that no right on files in general is about: stores of
// secrets, and what says what programs do later, such as git's hooks, settings
// of agents and policy. A run cannot open them at all unless they are granted by
// name; what acts outside of a run, such as an agent's own tools, is asked for a
// capability of their own.
type Protected struct {
	host    *profiles.Host
	profile profiles.Profile
	itself  bool // a directory is not protected for what lies in it
	// unread are those directories of the workspace, and elsewhere those of other trees,
	// that were not searched yet.
	workspace         string
	unread, elsewhere []searchable
	trees             []string // others
}

// searchable is a directory, with what it is searched by.
type searchable struct {
	dir  string
	sift *profiles.Sift
}

// NewProtected gives the shipped ones for a machine and a workspace, and besides
// those beneath trees, which may be read but not changed.
func NewProtected(h *profiles.Host, workspace string, trees ...string) *Protected {
	p := &Protected{host: h, workspace: workspace}
	for _, tree := range trees {
		if tree != "" {
			p.profile.Denials = append(p.profile.Denials, profiles.Denial{
				Path: tree, Access: profiles.Change, Class: profiles.Control,
				Origin: profiles.Origin{Reason: "skillrun's own files"},
			})
		}
	}
	p.profile.Denials = append(p.profile.Denials, profiles.SensitivePaths(h)...)
	if workspace != "" {
		p.profile.Denials = append(p.profile.Denials, profiles.WorkspaceSecrets(workspace)...)
		p.profile.Denials = append(p.profile.Denials, profiles.ControlFiles(workspace)...)
		p.profile.Denials = append(p.profile.Denials, profiles.ControlFiles("/")...) // an agent's tools act anywhere
		for _, s := range p.profile.Sifts() {
			if s.Root == workspace {
				p.unread = []searchable{{workspace, s}}
			}
		}
		controls, _ := gitControls(h, workspace)
		p.profile.Denials = append(p.profile.Denials, controls...)
		p.profile.Denials = append(p.profile.Denials, homeControls(h, []string{workspace})...)
	}
	p.profile.Paths = []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.AllAccess}}
	p.profile.DenyAliases(h)
	p.search(&p.unread, 1)
	return p
}

// Among protects besides what names in other trees lead to, in which files may be
// changed, and what the home's control files lead to there.
func (p *Protected) Among(trees []string) {
	trees = slices.DeleteFunc(slices.Clone(trees), func(tree string) bool {
		return profiles.Within(p.workspace, tree) || slices.ContainsFunc(p.trees, func(t string) bool { return profiles.Within(t, tree) })
	})
	if p.workspace == "" || len(trees) == 0 {
		return
	}
	p.trees = append(p.trees, trees...)
	found := profiles.Profile{Paths: p.profile.Paths, Denials: homeControls(p.host, trees)}
	found.DenyAliases(p.host)
	p.profile.Denials = append(p.profile.Denials, found.Denials...)
	for _, tree := range trees {
		of := profiles.Profile{Paths: p.profile.Paths, Denials: profiles.ControlFiles(tree)}
		for _, s := range of.Sifts() {
			p.elsewhere = append(p.elsewhere, searchable{tree, s})
		}
	}
}

// InRuns are those that a run's command is asked about: the control files of a
// workspace, and no directory that they lie in. The rest is asked about in its own
// name, or not to be had.
func (p *Protected) InRuns(workspace string) *Protected {
	q := &Protected{itself: true}
	for _, d := range p.profile.Denials {
		if d.Class == profiles.Control && d.Origin.Source == profiles.OfControlFiles && profiles.Within(workspace, d.Path) {
			q.profile.Denials = append(q.profile.Denials, d)
		}
	}
	return q
}

// mostSearched is how many directories of a workspace are searched, and how many of
// other trees together: an agent waits for it, about a tenth of a second for 10,000.
const mostSearched = 16384

// search protects what names in up to n directories lead to, those near the top
// first.
func (p *Protected) search(unread *[]searchable, n int) {
	found := profiles.Profile{Paths: p.profile.Paths}
	for ; n > 0 && len(*unread) > 0; n-- {
		in := (*unread)[0]
		*unread = (*unread)[1:]
		entries, _ := fs.ReadDir(p.host.FS, profiles.FSName(in.dir)) // what cannot be listed leads nowhere
		for _, e := range entries {
			at := profiles.Below(in.dir, e.Name())
			found.Denials = append(found.Denials, in.sift.Through(p.host, at, e.Type())...)
			if e.IsDir() {
				*unread = append(*unread, searchable{at, in.sift})
			}
		}
	}
	found.DenyAliases(p.host)
	p.profile.Denials = append(p.profile.Denials, found.Denials...)
}

// Needs names the capability that an action on a resolved path needs instead of
// the one that it is called by, and why: of secrets.*, or policy.expand. It is
// "" where the path is not protected, or the capability not about files.
func (p *Protected) Needs(capability, file string) (instead, why string) {
	group, verb, _ := strings.Cut(capability, ".")
	if group != "filesystem" && group != "source_code" {
		return "", ""
	}
	var access profiles.Access
	switch verb {
	case "read":
		access = profiles.Read
	case "write":
		access = profiles.Write | profiles.Create
	case "delete":
		access = profiles.Delete
	default:
		return "", ""
	}
	if p.itself {
		for i := range p.profile.Denials {
			if d := &p.profile.Denials[i]; d.Access&access != 0 && d.Covers(file) {
				return "policy.expand", d.Origin.Reason
			}
		}
		return "", ""
	}
	v := p.profile.Allows(file, access)
	if v.Denial == nil && len(p.unread) > 0 && (access&profiles.Read == 0 || profiles.Within(p.workspace, file) || len(p.host.Mounts) > 0) {
		// To be read, it is of what lies beneath the workspace only that names there make secrets.
		p.search(&p.unread, mostSearched)
		p.unread = nil
		v = p.profile.Allows(file, access)
	}
	if v.Denial == nil && len(p.elsewhere) > 0 && access&profiles.Read == 0 {
		p.search(&p.elsewhere, mostSearched)
		p.elsewhere = nil
		v = p.profile.Allows(file, access)
	}
	if v.Denial == nil && access&profiles.Read == 0 {
		if path.Base(file) == ".git" {
			return "policy.expand", "names the repository that git obeys"
		}
		if as := p.inRepository(file); as != "" {
			v = p.profile.Allows(as, access)
		}
	}
	switch {
	case v.Denial == nil:
		return "", ""
	case v.Denial.Class == profiles.Sensitive:
		return "secrets." + verb, v.Denial.Origin.Reason
	}
	return "policy.expand", v.Denial.Origin.Reason
}

// inRepository gives what a path would be called if the git directory that it is in
// were a ".git", "" if it is in none. A file or link of that name may lead there from
// anywhere.
func (p *Protected) inRepository(name string) string {
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		if path.Base(dir) != ".git" && p.host.Exists(dir+"/HEAD") && p.host.Exists(dir+"/objects") && p.host.Exists(dir+"/refs") {
			return path.Dir(dir) + "/.git" + strings.TrimPrefix(name, dir)
		}
	}
	return ""
}
