package policy

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"skillrun/profiles"
)

// Place is where a run happens; scopes are read relative to it. The paths are
// absolute, clean and resolved; "" means there is none.
type Place struct {
	Workspace string // relative scopes lie beneath it
	Skill     string
	Home      string // what "~" stands for
}

// pathScope is a resource_scope item of a file capability: root and everything
// beneath, or what matches glob beneath root.
type pathScope struct {
	root string
	glob string // components with "*", "?" and "**"; "" is everything
}

// path reads one scope item: absolute, beneath "~", or relative to the
// workspace, where "." is all of it. It fails on what names no path here.
func (p *Place) path(s string) (pathScope, bool) {
	switch {
	case strings.Contains(s, "://"):
		return pathScope{}, false
	case s == "~" || strings.HasPrefix(s, "~/"):
		if p.Home == "" {
			return pathScope{}, false
		}
		s = p.Home + s[1:]
	case strings.HasPrefix(s, "~"):
		return pathScope{}, false
	case !strings.HasPrefix(s, "/"):
		if p.Workspace == "" {
			return pathScope{}, false
		}
		s = p.Workspace + "/" + s
	}
	s = path.Clean(s)
	for strings.HasSuffix(s, "/**") || strings.HasSuffix(s, "/*") {
		s = s[:strings.LastIndexByte(s, '/')]
	}
	if s == "" {
		s = "/"
	}
	meta := strings.IndexAny(s, "*?")
	if meta < 0 {
		return pathScope{root: s}, true
	}
	cut := strings.LastIndexByte(s[:meta], '/')
	return pathScope{root: path.Clean("/" + s[:cut]), glob: s[cut+1:]}, true
}

// covers says whether name, absolute and clean, lies in the scope.
func (s *pathScope) covers(name string) bool {
	rest, ok := profiles.Beneath(s.root, name)
	if !ok || s.glob == "" {
		return ok
	}
	return rest != "" && matchPath(strings.Split(s.glob, "/"), strings.Split(rest, "/"))
}

// matchPath matches components against a pattern; what lies beneath a match
// matches too.
func matchPath(pattern, name []string) bool {
	last, at := -1, 0 // the "**" that was met last, and the component that it ends before
	for i, j := 0, 0; i < len(pattern); {
		switch {
		case pattern[i] == "**":
			last, at = i, j
			i++
		case j < len(name) && matchName(pattern[i], name[j]):
			i, j = i+1, j+1
		case last >= 0 && at < len(name):
			at++
			i, j = last+1, at
		default:
			return false
		}
	}
	return true
}

// matchName matches one component.
func matchName(pattern, name string) bool {
	if strings.ContainsAny(pattern, `\[`) { // they stand for themselves
		pattern = strings.NewReplacer(`\`, `\\`, `[`, `\[`).Replace(pattern)
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// ParseHost reads a host as manifests and flags write it: a name, "*.name",
// "*", an address or prefix, each with ":PORT" or ":FIRST-LAST" after it, or a
// URL, of which scheme and host count. ports is nil where none is named. fault
// says what is wrong, "" if nothing.
func ParseHost(s string) (host string, ports []profiles.PortRange, fault string) {
	text := s
	if scheme, _, ok := strings.Cut(s, "://"); ok {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.User != nil {
			return "", nil, "not a URL with a host"
		}
		text = u.Host
		if u.Port() == "" {
			switch strings.ToLower(scheme) {
			case "http", "ws":
				ports = []profiles.PortRange{{First: 80, Last: 80}}
			case "https", "wss":
				ports = []profiles.PortRange{{First: 443, Last: 443}}
			case "ssh", "git+ssh":
				ports = []profiles.PortRange{{First: 22, Last: 22}}
			case "git":
				ports = []profiles.PortRange{{First: 9418, Last: 9418}}
			default:
				return "", nil, "unknown scheme " + strconv.Quote(scheme)
			}
		}
	}
	host = text
	// A port follows the last colon, unless the whole is an IPv6 address.
	if strings.HasPrefix(text, "[") {
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return "", nil, "an opening bracket without its end"
		}
		host, text = text[1:end], text[end+1:]
		if text != "" {
			if text[0] != ':' {
				return "", nil, "text after the bracket"
			}
			if ports, fault = parsePorts(text[1:]); fault != "" {
				return "", nil, fault
			}
		}
		if a, err := netip.ParseAddr(host); err != nil || !a.Is6() {
			return "", nil, "not an IPv6 address in brackets"
		}
	} else if i := strings.LastIndexByte(text, ':'); i >= 0 && strings.Count(text, ":") == 1 {
		host = text[:i]
		if ports, fault = parsePorts(text[i+1:]); fault != "" {
			return "", nil, fault
		}
	}
	if p, err := netip.ParsePrefix(host); err == nil {
		if p.IsSingleIP() {
			return p.Addr().Unmap().String(), ports, ""
		}
		if host = p.Masked().String(); profiles.CheckHost(host) != nil {
			return "", nil, "not a prefix like 192.0.2.0/24"
		}
		return host, ports, ""
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", nil, "an address with a zone"
		}
		return a.Unmap().String(), ports, ""
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if err := profiles.CheckHost(host); err != nil {
		return "", nil, err.Error()
	}
	return host, ports, ""
}

func parsePorts(s string) ([]profiles.PortRange, string) {
	if s == "*" {
		return []profiles.PortRange{profiles.AnyPort}, ""
	}
	first, last, ranged := strings.Cut(s, "-")
	if !ranged {
		last = first
	}
	a, err1 := strconv.ParseUint(first, 10, 16)
	b, err2 := strconv.ParseUint(last, 10, 16)
	if err1 != nil || err2 != nil || a == 0 || b < a {
		return nil, "not a port between 1 and 65535"
	}
	return []profiles.PortRange{{First: uint16(a), Last: uint16(b)}}, ""
}

// Linked gives where a name leads that passes through a link which a run may have
// made: one in the workspace, or in a tree that earlier runs could write; "" for any
// other name. Who gave the name has not named that.
func Linked(h *profiles.Host, workspace, name string) string {
	to, err := h.ResolvePrefix(name)
	if err != nil {
		return ""
	}
	var links []string
	for _, link := range h.Links(name) {
		for _, at := range append(h.Aliases(link), link) {
			switch own := slices.ContainsFunc(h.WrittenOfSystem, func(tree string) bool { return profiles.Within(tree, at) }); {
			case own || profiles.Within(workspace, at):
				return to
			case path.Dir(at) != "/" && !profiles.OfSystem(at):
				links = append(links, at)
			}
		}
	}
	if len(links) == 0 {
		return ""
	}
	trees, err := h.Written()
	if err != nil {
		return to // nobody knows whose they are
	}
	for _, tree := range trees {
		if slices.ContainsFunc(links, func(link string) bool { return profiles.Within(tree, link) }) {
			return to
		}
	}
	return ""
}

// LedOut is Linked for a name of what is granted: a link that stays in the workspace
// takes nothing from where it is not.
func LedOut(h *profiles.Host, workspace, name string) string {
	to := Linked(h, workspace, name)
	if profiles.Within(workspace, to) {
		return ""
	}
	return to
}

// public says whether a host in canonical form can only mean the public
// internet: a name other than localhost, or public addresses.
func public(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return profiles.Public(a)
	}
	if p, err := netip.ParsePrefix(host); err == nil {
		// Special blocks are at least as long as /3 in IPv6 and /4 in IPv4, so
		// that a short prefix may hold one between two public ends.
		return p.Bits() >= 24 && profiles.Public(p.Addr())
	}
	return host != "localhost" && !strings.HasSuffix(host, ".localhost")
}
