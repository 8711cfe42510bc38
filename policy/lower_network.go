package policy

import (
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// web are the ports of http and https.
var web = []profiles.PortRange{{First: 80, Last: 80}, {First: 443, Last: 443}}

// hosts grants the hosts of the entry's scope; without a scope those that the
// skill's own files name; without those any public address on the web's ports,
// which the user was asked about (see Set.settle).
func (r *right) hosts(p *profiles.Profile, ports []profiles.PortRange, protocols profiles.Protocol, readOnly bool) {
	scope := r.set.Reach(r.entry)
	if !r.entry.Constraints.Scoped {
		ports = web
		if r.user || r.refused {
			scope = []string{"*"} // the user does not speak of the files, and a refusal is of all there is
		}
	}
	first := len(p.Network.Hosts)
	for _, s := range scope {
		r.reach(p, s, ports, protocols, readOnly)
	}
	for i := first; i < len(p.Network.Hosts) && !r.entry.Constraints.Scoped; i++ {
		o := &p.Network.Hosts[i].Origin
		if o.Reason += ", the manifest says not which hosts: "; scope[0] == "*" {
			o.Reason += "any public one"
		} else {
			o.Reason += "one that the skill's files name"
		}
	}
}

// packages grants the registries of the entry's scope, or all, and where installers put
// programs.
func (r *right) packages(p *profiles.Profile) {
	groups := values(r.entry.Constraints.Scope)
	// Whoever says yes to the installation of "requests" means its registry,
	// which the name does not tell.
	named := func(name string) bool { _, ok := profiles.HostGroup(name); return !ok }
	if !r.entry.Constraints.Scoped || r.user && slices.ContainsFunc(groups, named) {
		groups = registries()
	}
	r.programs(p)
	for _, g := range groups {
		rules, _ := profiles.HostGroup(g)
		for _, rule := range rules {
			if !rule.ReadOnly && !r.user {
				continue // a host that takes uploads is no mere registry
			}
			rule.Origin = r.origin()
			p.Network.Mode = profiles.NetHosts
			p.Network.Hosts = append(p.Network.Hosts, rule)
		}
	}
}

// registries are the shipped groups of hosts that only give: code hosts take
// uploads too, and have to be named.
func registries() []string {
	return slices.DeleteFunc(profiles.HostGroups(), func(group string) bool {
		rules, _ := profiles.HostGroup(group)
		return slices.ContainsFunc(rules, func(r profiles.HostRule) bool { return !r.ReadOnly })
	})
}

// programs grants what installers of packages write where editors and agents look
// for programs: those of an environment in the workspace. The packages themselves,
// beside them, are no less obeyed.
func (r *right) programs(p *profiles.Profile) {
	if r.place.Workspace == "" {
		return
	}
	for _, name := range [...]string{"/.venv/bin", "/venv/bin"} {
		name = r.place.Workspace + name
		r.path(p, name, profiles.Write|profiles.Create)
		r.excepts = append(r.excepts, exception{name, profiles.Write | profiles.Create, true})
	}
}

// reach grants one host; ports are used where s names none. What is no host,
// such as the name of a service, reaches nothing.
func (r *right) reach(p *profiles.Profile, s string, ports []profiles.PortRange, protocols profiles.Protocol, readOnly bool) {
	host, named, fault := ParseHost(s)
	if fault != "" || host == "" {
		return
	}
	if named != nil {
		ports = named
	}
	rate := &r.entry.Constraints.Rate
	connections, most := rate.MaxConnections, rate.Max
	if rate.Per == 0 { // a run is not longer than its session
		connections, most = smaller(connections, most), 0
	}
	p.Network.Mode, p.Network.Origin = profiles.NetHosts, r.origin()
	p.Network.Hosts = append(p.Network.Hosts, profiles.HostRule{
		Host: host, Ports: ports, Protocols: protocols, ReadOnly: readOnly,
		// Only a name can be private without being an address of its own.
		Private:        !public(host) && strings.ContainsAny(host, "abcdefghijklmnopqrstuvwxyz") && !strings.Contains(host, ":"),
		MaxBytes:       rate.MaxBytes,
		MaxConnections: connections,
		MaxRate:        most,
		Per:            rate.Per,
		Origin:         r.origin(),
	})
}

// listen lets others reach the run at ports that the user named.
func (l *lowering) listen(p *profiles.Profile, e *Entry) {
	for _, t := range e.Constraints.Scope {
		if rule, fault := parseListen(t.Value); fault == "" {
			rule.Origin = profiles.Origin{Source: e.source(), Capability: listenPort, Reason: "granted by the user"}
			p.Network.Listen = append(p.Network.Listen, rule)
		}
	}
}

// hostRule is a rule for matching names only, and localhost's addresses.
func hostRule(host string) *profiles.HostRule {
	return &profiles.HostRule{Host: host, Private: !public(host)}
}

func absolute(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// remotes gives the hosts that the repository's configuration pushes to, each
// with its port: single public ones, since a run that made the repository, or who
// packed the project, wrote it.
func (r *right) remotes() []string {
	if len(r.repository()) == 0 {
		return nil
	}
	_, _, common := r.git()
	b, err := r.host.ReadSmall(common+"/config", 1<<20)
	if err != nil {
		return nil
	}
	var hosts []string
	err = profiles.GitConfig(b, func(name, value string) {
		key := gitKey(name)
		if key == name || key != "remote.url" && key != "remote.pushurl" { // of no remote
			return
		}
		h := remoteHost(value)
		if name, _, fault := ParseHost(h); fault == "" && name != "" && public(name) && !strings.ContainsAny(name, "*/") {
			hosts = append(hosts, h)
		}
	})
	if err != nil { // git reads none of it
		return nil
	}
	return hosts
}

// remoteHost gives host:port of a git URL (git-clone(1), GIT URLS); "" for
// local ones.
func remoteHost(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		// user@host:path
		host, _, ok := strings.Cut(url, ":")
		if !ok || strings.Contains(host, "/") {
			return ""
		}
		return host[strings.LastIndexByte(host, '@')+1:] + ":22"
	}
	port, known := map[string]string{"https": "443", "http": "80", "ssh": "22", "git+ssh": "22", "git": "9418"}[scheme]
	if !known {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host
	}
	return host + ":" + port
}
