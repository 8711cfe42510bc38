package policy

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// shellProfiles are the start files of shells, all on the list of sensitive
// paths.
var shellProfiles = []string{
	"~/.profile", "~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout",
	"~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.zlogin", "~/.config/fish",
}

// jobs are the places of a user's scheduled jobs.
func (r *right) jobs() []string {
	if r.host.OS == "darwin" {
		return []string{"~/Library/LaunchAgents"}
	}
	return []string{"/var/spool/cron/crontabs/" + r.host.User, "~/.config/systemd/user"}
}

// named grants access to shipped paths, as far as they exist, and lifts the
// denials that guard them.
func (r *right) named(p *profiles.Profile, names []string, access profiles.Access) {
	for _, n := range names {
		for _, name := range r.expand(n) {
			if r.host.Exists(name) {
				r.path(p, name, access)
				r.excepts = append(r.excepts, exception{name, access, true})
			}
		}
	}
}

// variables passes the variables that the entry names; without names, all that
// hold no secret. A secret needs the user's grant or secrets.read.
func (r *right) variables(p *profiles.Profile) {
	for _, n := range r.entry.Constraints.variables() {
		if !variableName(strings.TrimSuffix(n, "*")) && n != "*" {
			continue
		}
		rule := profiles.EnvRule{Name: n, Origin: r.origin()}
		if r.user && !strings.HasSuffix(n, "*") {
			p.Env.Allow = append(p.Env.Allow, rule)
		}
		p.Env.Pass = append(p.Env.Pass, rule)
	}
}

// secrets grants exactly the files and variables of the scope, and nothing
// without one. What is read is kept out of captured output.
func (r *right) secrets(p *profiles.Profile, access profiles.Access) {
	for _, t := range r.entry.Constraints.Scope {
		if variableName(t.Value) && !r.host.Exists(absolute(r.place.Workspace, t.Value)) {
			if access == profiles.Read {
				rule := profiles.EnvRule{Name: t.Value, Origin: r.origin()}
				p.Env.Pass = append(p.Env.Pass, rule)
				p.Env.Allow = append(p.Env.Allow, rule)
				p.Redact = append(p.Redact, profiles.Secret{Env: t.Value, Origin: r.origin()})
			}
			continue
		}
		if s, _ := r.place.path(t.Value); Linked(r.host, r.place.Workspace, s.root) != "" {
			continue // the name is not that of a secret
		}
		for _, name := range r.expand(t.Value) {
			r.path(p, name, access)
			r.excepts = append(r.excepts, exception{name, access, false})
			if access == profiles.Read {
				p.Redact = append(p.Redact, profiles.Secret{Path: name, Origin: r.origin()})
			}
		}
	}
}

// devices grants the nodes in /dev that begin with a prefix.
func (r *right) devices(p *profiles.Profile, prefixes ...string) {
	entries, _ := fs.ReadDir(r.host.FS, "dev")
	for _, e := range entries {
		for _, prefix := range prefixes {
			if strings.HasPrefix(e.Name(), prefix) {
				r.path(p, "/dev/"+e.Name(), profiles.Read|profiles.Write)
				r.excepts = append(r.excepts, exception{"/dev/" + e.Name(), profiles.Read | profiles.Write, false})
			}
		}
	}
}

// runtimes are the sockets of container runtimes.
func (r *right) runtimes() []string {
	sockets := []string{"/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "~/.docker/run/docker.sock"}
	if dir := r.host.Env["XDG_RUNTIME_DIR"]; path.IsAbs(dir) {
		sockets = append(sockets, dir+"/docker.sock", dir+"/podman/podman.sock")
	}
	return sockets
}

func (r *right) sockets(p *profiles.Profile, names []string) {
	for _, n := range names {
		for _, name := range r.expand(n) {
			if r.host.Exists(name) {
				reach(p, name, r.origin())
			}
		}
	}
}

// reach grants a unix socket; by a path, which has to be seen for it, in a /tmp that is
// otherwise the run's own as well.
func reach(p *profiles.Profile, name string, origin profiles.Origin) {
	p.Sockets = append(p.Sockets, profiles.SocketRule{Path: name, Origin: origin})
	if !strings.HasPrefix(name, "@") {
		p.Paths = append(p.Paths, profiles.PathRule{Path: name, Access: profiles.Read, Origin: origin})
	}
}

// display grants the sockets of the user's display, and what clients need to
// find and open it.
func (r *right) display(p *profiles.Profile) {
	env := r.host.Env
	if _, screen, ok := strings.Cut(env["DISPLAY"], ":"); ok {
		number, _, _ := strings.Cut(screen, ".")
		if number != "" && strings.Trim(number, "0123456789") == "" {
			r.sockets(p, []string{"/tmp/.X11-unix/X" + number})
			reach(p, "@/tmp/.X11-unix/X"+number, r.origin())
		}
	}
	if name, dir := env["WAYLAND_DISPLAY"], env["XDG_RUNTIME_DIR"]; name != "" && !strings.Contains(name, "/") && path.IsAbs(dir) {
		r.sockets(p, []string{dir + "/" + name})
	}
	if file, err := r.host.Resolve(env["XAUTHORITY"]); err == nil {
		r.path(p, file, profiles.Read)
		r.excepts = append(r.excepts, exception{file, profiles.Read, false})
	}
	for _, n := range [...]string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"} {
		p.Env.Pass = append(p.Env.Pass, profiles.EnvRule{Name: n, Origin: r.origin()})
		p.Env.Allow = append(p.Env.Allow, profiles.EnvRule{Name: n, Origin: r.origin()})
	}
}

// socket grants one unix socket that the user named.
func (l *lowering) socket(p *profiles.Profile, e *Entry) {
	for _, t := range e.Constraints.Scope {
		name := t.Value
		if !strings.HasPrefix(name, "@") {
			s, ok := l.place.path(name)
			if !ok {
				continue
			}
			resolved, err := l.host.ResolvePrefix(s.root)
			if err != nil || LedOut(l.host, l.place.Workspace, s.root) != "" {
				continue
			}
			name = resolved
		}
		reach(p, name, profiles.Origin{Source: e.source(), Capability: unixSocket, Reason: "granted by the user"})
	}
}

// preset adds what the preset says about files and variables.
func (l *lowering) preset(p *profiles.Profile) {
	preset := l.set.preset
	if preset == nil {
		return
	}
	origin := profiles.Origin{Source: "preset:" + preset.Name, Reason: preset.Reason}
	for _, v := range preset.WritableFiles {
		if file, err := l.host.Resolve(l.host.Env[v]); err == nil && LedOut(l.host, l.place.Workspace, l.host.Env[v]) == "" {
			p.Paths = append(p.Paths, profiles.PathRule{Path: file, Access: profiles.Read | profiles.Write, Origin: origin})
			p.Env.Pass = append(p.Env.Pass, profiles.EnvRule{Name: v, Origin: origin})
		}
	}
	for _, v := range preset.ProtectedFiles {
		if file, err := l.host.Resolve(l.host.Env[v]); err == nil {
			p.Denials = append(p.Denials, profiles.Denial{Path: file, Access: profiles.AllAccess, Class: profiles.Control,
				Origin: profiles.Origin{Source: origin.Source, Reason: v + ", which later steps obey"}})
		}
	}
	for _, v := range preset.HiddenVariables {
		p.Env.Deny = append(p.Env.Deny, profiles.EnvRule{Name: v, Origin: origin})
	}
	if preset.HideCheckoutCredentials && l.place.Workspace != "" {
		d := profiles.Denial{Path: l.place.Workspace, Match: ".git/config", Access: profiles.Read, UnlessMade: true, Class: profiles.Sensitive,
			Origin: profiles.Origin{Source: origin.Source, Reason: "something in it may be a credential: check out with persist-credentials: false"}}
		// Without it no git command works, so it is closed for a reason only.
		for _, dir := range l.checkouts() {
			if file := path.Join(dir, ".git/config"); l.host.WithoutCredentials(file) {
				d.Except = append(d.Except, file)
			}
		}
		p.Denials = append(p.Denials, d)
		// That of a work tree lies elsewhere.
		if _, _, common := l.git(); common != "" && common != l.place.Workspace+"/.git" && !l.host.WithoutCredentials(common+"/config") {
			p.Denials = append(p.Denials, profiles.Denial{Path: common + "/config", Access: profiles.Read, Class: profiles.Sensitive, Origin: d.Origin})
		}
	}
}

// mostCheckouts is how many directories are looked at for repositories.
const mostCheckouts = 256

// checkouts are the directories in which jobs check out repositories: the workspace,
// those in it, and in a workspace that is no repository those in these ("owner/name").
func (l *lowering) checkouts() []string {
	repository := func(dir string) bool { return l.host.Exists(dir + "/.git") }
	dirs := []string{l.place.Workspace}
	in := func(dir string) {
		entries, _ := fs.ReadDir(l.host.FS, profiles.FSName(dir))
		for _, e := range entries {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules" && len(dirs) < mostCheckouts {
				dirs = append(dirs, profiles.Below(dir, e.Name()))
			}
		}
	}
	if in(l.place.Workspace); !repository(l.place.Workspace) {
		for _, dir := range dirs[1:] {
			if !repository(dir) {
				in(dir)
			}
		}
	}
	return dirs
}

// environment adds the fixed values of skillrun.toml, except of variables that
// the deny list names or that skillrun sets itself.
func (l *lowering) environment(p *profiles.Profile) {
	add := func(v profiles.EnvVar) {
		if !slices.ContainsFunc(p.Env.Set, func(s profiles.EnvVar) bool { return s.Name == v.Name }) {
			p.Env.Set = append(p.Env.Set, v)
		}
	}
	for _, v := range l.set.vars {
		denied := slices.ContainsFunc(p.Env.Deny, func(r profiles.EnvRule) bool {
			return matchPath([]string{strings.ToUpper(r.Name)}, []string{strings.ToUpper(v.Name)})
		})
		if !denied {
			add(profiles.EnvVar{Name: v.Name, Value: v.Value,
				Origin: profiles.Origin{Source: fmt.Sprintf("%s:%d", Escape(v.Pos.File), v.Pos.Line), Reason: "set by the manifest"}})
		}
	}
	for _, v := range profiles.EnvKept(l.host, p.Env.Deny) {
		add(v)
	}
	set := func(name, value, reason string) {
		add(profiles.EnvVar{Name: name, Value: value, Origin: profiles.Origin{Source: "built-in:base", Reason: reason}})
	}
	if l.place.Skill != "" {
		set("SKILL_DIR", l.place.Skill, "by this name the text of skills has its own directory")
		set("CLAUDE_SKILL_DIR", l.place.Skill, "by this name the text of skills has its own directory")
	}
	if l.in.Plugin != "" {
		set("CLAUDE_PLUGIN_ROOT", l.in.Plugin, "by this name the text of a plugin's skills has its directory")
	}
	// What a program does by the way, and cannot here, it need not try, and nobody
	// need be told that it was refused.
	if !p.Reaches("registry.npmjs.org", 443, profiles.TCP).Allowed {
		set("npm_config_update_notifier", "false", "npm asks nobody for a newer npm")
	}
	if p.Network.Mode == profiles.NetNone {
		set("npm_config_fetch_retries", "0", "npm fails at once, not after 70 s, where there is no network")
	}
	if !p.Reaches("pypi.org", 443, profiles.TCP).Allowed {
		set("PIP_DISABLE_PIP_VERSION_CHECK", "1", "pip asks nobody for a newer pip")
	}
	dir := l.place.Workspace + "/.git"
	written := func(r profiles.PathRule) bool {
		return r.Access&profiles.Create != 0 && (r.Path == dir || r.Tree && profiles.Within(r.Path, dir))
	}
	if l.place.Workspace != "" && !slices.ContainsFunc(p.Paths, written) && l.host.Exists(dir) {
		set("GIT_OPTIONAL_LOCKS", "0", "git does not write the index where it only looks")
	}
}

// mounts grants the directories that the user gave a role.
func (l *lowering) mounts(p *profiles.Profile) error {
	for _, m := range l.in.Mounts {
		dir, err := l.host.Resolve(absolute(l.in.Cwd, m.Dir))
		if err != nil {
			return fmt.Errorf("mount %s: %w", m.Role, err)
		}
		if Linked(l.host, l.place.Workspace, absolute(l.in.Cwd, m.Dir)) != "" {
			return fmt.Errorf("mount %s: a link that a run may have made leads to %s: mount that by its name", m.Role, Escape(dir))
		}
		info, err := fs.Stat(l.host.FS, profiles.FSName(dir))
		switch {
		case err != nil || !info.IsDir():
			return fmt.Errorf("mount %s: %s is not a directory", m.Role, Escape(dir))
		case dir == "/" || slices.ContainsFunc(append(l.host.Aliases(l.place.Home), l.place.Home), func(home string) bool { return profiles.Within(dir, home) }):
			return fmt.Errorf("mount %s: %s holds the home directory", m.Role, Escape(dir))
		}
		for i := range p.Denials {
			d := &p.Denials[i]
			decides := m.Write && d.Class == profiles.Control && d.Match == "" // such as installed skills
			if (d.Class == profiles.Sensitive || decides) && d.Covers(dir) {
				return fmt.Errorf("mount %s: %s is protected (%s)", m.Role, Escape(dir), d.Origin.Reason)
			}
		}
		access := profiles.Read
		if m.Write {
			access |= profiles.Change
			p.Denials = append(p.Denials, profiles.ControlFiles(dir)...)
		}
		p.Denials = append(p.Denials, profiles.WorkspaceSecrets(dir)...)
		p.Paths = append(p.Paths, profiles.PathRule{Path: dir, Tree: true, Access: access,
			Origin: profiles.Origin{Source: "--mount", Reason: "the " + m.Role + " directory"}})
	}
	return nil
}
