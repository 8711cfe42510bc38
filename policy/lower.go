package policy

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// right is one entry about to be lowered.
type right struct {
	*lowering
	capability *Capability
	entry      *Entry
	user       bool // the user granted it by name
	refused    bool // for finding out what a refusal is about
}

func (r *right) origin() profiles.Origin {
	return profiles.Origin{Source: r.entry.source(), Capability: r.capability.Name, Reason: r.capability.About}
}

// lower adds what the entry allows to p. This is the meaning of every
// capability to the operating system.
func (r *right) lower(p *profiles.Profile) {
	const change = profiles.Write | profiles.Create
	switch r.capability.means {
	case readFiles, readSource:
		r.files(p, profiles.Read)
	case writeFiles, writeSource:
		r.files(p, change)
		if slices.Contains(r.entry.Constraints.argument("modes"), "any") {
			p.Process.AnyMode, p.Process.Origin = true, r.origin()
		}
	case deleteFiles, deleteSource:
		r.files(p, profiles.Delete)
	case executeSource:
		if r.entry.Constraints.Scoped {
			r.files(p, profiles.Read|profiles.Execute)
		} else {
			for _, dir := range [...]string{r.place.Workspace, r.place.Skill} {
				if dir != "" {
					r.path(p, dir, profiles.Read|profiles.Execute)
				}
			}
		}
		p.Process.Create, p.Process.ExecuteOwn, p.Process.Origin = true, true, r.origin()
	case createProcesses:
		p.Process.Create, p.Process.Origin = true, r.origin()
	case queryProcesses:
		p.Process.Query, p.Process.Origin = true, r.origin()

	case readCommits:
		for _, dir := range r.repository() {
			r.path(p, dir, profiles.Read)
		}
	case createCommits:
		// Git replaces the index and refs by renaming over them and packs
		// what is loose, so this needs the right to delete.
		for _, dir := range r.repository() {
			r.path(p, dir, profiles.Read|change|profiles.Delete)
		}
	case pushCommits:
		for _, dir := range r.repository() {
			r.path(p, dir, profiles.Read)
		}
		for _, remote := range r.remotes() {
			r.reach(p, remote, nil, profiles.TCP, false)
		}

	case fetchWeb:
		r.hosts(p, web, profiles.TCP, true)
	case postWeb, callHosts:
		r.hosts(p, web, profiles.TCP, false)
	case runClient:
		if r.user && !r.entry.Constraints.Scoped {
			p.Network.Mode, p.Network.Origin = profiles.NetHost, r.origin()
			return
		}
		ports := []profiles.PortRange{profiles.AnyPort}
		if !r.entry.Constraints.Scoped {
			ports = web
		}
		r.hosts(p, ports, profiles.TCP|profiles.UDP, false)
	case installPackages:
		r.packages(p)

	case passVariables:
		r.variables(p)
	case readSecrets:
		r.secrets(p, profiles.Read)
	case writeSecrets:
		r.secrets(p, change)
	case deleteSecrets:
		r.secrets(p, profiles.Delete)

	case readProfileFiles:
		r.named(p, shellProfiles, profiles.Read)
	case writeProfileFiles:
		r.named(p, shellProfiles, profiles.Read|change)
	case readJobs:
		r.named(p, r.jobs(), profiles.Read)
	case createJobs:
		r.named(p, r.jobs(), profiles.Read|change)
	case deleteJobs:
		r.named(p, r.jobs(), profiles.Read|profiles.Delete)

	case cameraDevice:
		r.devices(p, "video", "media")
	case microphoneDevice:
		r.devices(p, "snd")
	case inputDevice:
		r.devices(p, "input")
	case containerSocket:
		// The socket is root on this machine: a manifest cannot have it.
		if r.user {
			r.sockets(p, r.runtimes())
		}
	case displaySocket:
		// A display shows every window and takes every key.
		if r.user {
			r.display(p)
		}
	}
}

// demands reports the constraints that are about single uses, which no kernel
// sees. Where every use was decided before the command was started, it is for
// that command that they hold, and a line of the receipt says so.
func (r *right) demands(p *profiles.Profile) {
	c := &r.entry.Constraints
	demand := func(name, format string, args ...any) {
		p.Demands = append(p.Demands, profiles.Demand{Name: name, Detail: r.capability.Name + ": " + fmt.Sprintf(format, args...), Origin: r.origin()})
	}
	kind := "constraint."
	if r.set.decided {
		kind = "hook."
	}
	for _, d := range c.DeniedCommands {
		demand(kind+"denied_command_patterns", "commands of child processes are not matched against %q", d.Text)
	}
	// A specifier such as Bash(git:*) speaks of the command that is typed,
	// which is held to it; for the kernel it is a line of the receipt.
	for _, a := range c.AllowedCommands {
		demand("hook.allowed_commands", "%q is for the command that is typed: what it starts is not held to it", a.Value)
	}
	for _, a := range c.Arguments {
		if a.Name != "names" && a.Name != "modes" {
			demand(kind+"arguments", "argument %q is not visible to the kernel", a.Name)
		}
	}
	switch {
	case c.Rate.Max == 0:
	case networked(r.capability):
		demand("hook.rate_limit", "connections to each host are counted within one run")
	default:
		demand(kind+"rate_limit", "at most %d uses", c.Rate.Max)
	}
	if (c.Rate.MaxBytes > 0 || c.Rate.MaxConnections > 0) && !networked(r.capability) {
		demand("constraint.rate_limit", "bytes and connections are counted on the network only")
	}
}

// files grants access in the entry's scope.
func (r *right) files(p *profiles.Profile, access profiles.Access) {
	inside := r.entry.inWorkspace(r.capability) && !r.user
	if !r.entry.Constraints.Scoped {
		switch {
		case r.entry.inWorkspace(r.capability):
			if r.place.Workspace != "" {
				r.path(p, r.place.Workspace, access)
			}
		default:
			r.path(p, "/", access)
		}
		return
	}
	for _, t := range r.entry.Constraints.Scope {
		if r.user && access == profiles.Delete {
			r.link(p, t.Value)
		}
		for _, name := range r.expand(t.Value) {
			relative := !strings.HasPrefix(t.Value, "/") && !strings.HasPrefix(t.Value, "~")
			// A link in the workspace does not carry a relative scope out, but
			// what is refused is refused wherever it lies.
			if !r.refused && (inside || relative && !r.user) && !profiles.Within(r.place.Workspace, name) && !(r.capability.means == executeSource && profiles.Within(r.place.Skill, name)) {
				continue
			}
			r.path(p, name, access)
			// What is denied was not named by who named a link, which may be a run's.
			if s, _ := r.place.path(t.Value); r.user && Linked(r.host, r.place.Workspace, s.root) == "" {
				r.excepts = append(r.excepts, exception{name, access, true})
			}
		}
	}
}

// link grants deletion of a symbolic link that is named, beside that of what it leads
// to: that is what deleting its name does.
func (r *right) link(p *profiles.Profile, scope string) {
	s, ok := r.place.path(scope)
	above, last := path.Split(s.root)
	if !ok || s.glob != "" || LedOut(r.host, r.place.Workspace, path.Clean(above)) != "" {
		return
	}
	dir, err := r.host.Resolve(path.Clean(above))
	if err != nil {
		return
	}
	name := path.Join(dir, last)
	if to, err := r.host.ResolvePrefix(name); err != nil || to != name {
		p.Paths = append(p.Paths, profiles.PathRule{Path: name, Access: profiles.Delete, Origin: r.origin()})
	}
}

// path grants access to a resolved path, to all beneath if it is a directory
// or not there yet.
func (r *right) path(p *profiles.Profile, name string, access profiles.Access) {
	info, err := fs.Stat(r.host.FS, profiles.FSName(name))
	p.Paths = append(p.Paths, profiles.PathRule{Path: name, Tree: err != nil || info.IsDir(), Access: access, Origin: r.origin()})
}

// expand resolves one scope item. Patterns give what matches them now: a name
// that does not exist yet is not granted.
func (r *right) expand(scope string) []string {
	s, ok := r.place.path(scope)
	if !ok {
		return nil
	}
	root, err := r.host.ResolvePrefix(s.root)
	if err != nil && !r.refused {
		return nil
	}
	led := LedOut
	if r.user { // and lifts denials
		led = Linked
	}
	if r.entry.answered() && root != s.root {
		return nil // it leads elsewhere since the user was asked
	}
	if !r.refused && LedOut(r.host, r.place.Workspace, s.root) != "" {
		return nil // who said yes to the name has not seen where it leads
	}
	if err != nil {
		root = s.root // cannot be looked at now, and maybe later
	}
	if s.glob == "" {
		return []string{root}
	}
	pattern := strings.Split(s.glob, "/")
	deep := slices.Index(pattern, "**")
	var found []string
	var walk func(dir string, above []string)
	walk = func(dir string, above []string) {
		if !r.looks(scope) {
			return
		}
		entries, _ := fs.ReadDir(r.host.FS, profiles.FSName(dir))
		for _, e := range entries {
			if !r.looks(scope) {
				return
			}
			name := path.Join(dir, e.Name())
			below := append(above[:len(above):len(above)], e.Name())
			n := len(below)
			if matchPath(pattern, below) {
				if resolved, err := r.host.Resolve(name); err == nil && profiles.Within(root, resolved) && (r.refused || led(r.host, r.place.Workspace, name) == "") {
					found = append(found, resolved)
				}
			} else if e.IsDir() && (deep >= 0 && n > deep || n < len(pattern) && matchPath(pattern[n-1:n], below[n-1:])) {
				walk(name, below)
			}
		}
	}
	walk(root, nil)
	return found
}

// maxLooks is how many files and directories all patterns of a run may look at, and
// again all those of what is refused: a launch waits for it.
const maxLooks = 100_000

// looks says whether there may be one look more for a pattern. Where there may not,
// there is no Profile, unless it holds the pattern itself, as a denial.
func (r *right) looks(pattern string) bool {
	looked := &r.looked
	if r.refused {
		looked = &r.lookedRefused
	}
	if *looked++; *looked <= maxLooks {
		return true
	}
	if r.excess == nil && !(r.refused && r.denies() != 0) {
		r.excess = errorAt(r.entry.Pos, "%s: more than %d files would be looked at for patterns: name directories, or fewer patterns", Escape(pattern), maxLooks)
	}
	return false
}

// denies is the access that denials by pattern take away.
func (r *right) denies() profiles.Access {
	return map[meaning]profiles.Access{
		readFiles: profiles.Read, readSource: profiles.Read,
		writeFiles: profiles.Write | profiles.Create, writeSource: profiles.Write | profiles.Create,
		deleteFiles: profiles.Delete, deleteSource: profiles.Delete,
		executeSource: profiles.Execute,
	}[r.capability.means]
}

// denyPatterns turns a refused entry's patterns into denials by pattern, which
// also cover what appears later. They may cover more than the pattern says:
// the same name deeper down.
func (r *right) denyPatterns(e *Entry) []profiles.Denial {
	access := r.denies()
	if access == 0 {
		return nil
	}
	var denials []profiles.Denial
	for _, t := range e.Constraints.Scope {
		s, ok := r.place.path(t.Value)
		if !ok || s.glob == "" {
			continue
		}
		root, err := r.host.ResolvePrefix(s.root)
		if err != nil {
			root = s.root
		}
		match := s.glob
		if i := strings.LastIndex(match, "**/"); i >= 0 {
			match = match[i+len("**/"):]
		}
		denials = append(denials, profiles.Denial{Path: root, Match: match, Access: access, Origin: r.origin()})
	}
	return denials
}
