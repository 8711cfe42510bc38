package policy

import (
	"fmt"
	"strconv"
	"strings"

	"skillrun/profiles"
)

// ParseGrant reads the value of --grant: CAP, CAP:SCOPE, "unix:/path",
// "unix:@name", "listen:PORTS" or "listen:*:PORTS". CAP is a dotted name; wildcards are not grants by name. source
// is what messages and Origins call it, such as "--grant".
func ParseGrant(s, source string) (Entry, error) {
	name, scope, scoped := strings.Cut(s, ":")
	e := Entry{Capability: name, Effect: Allow, Source: "user-grant", Pos: Pos{File: source}}
	fail := func(what string) (Entry, error) {
		return Entry{}, fmt.Errorf("%s %q: %s", source, s, what)
	}
	if err := plain(s, e.Pos); err != nil {
		return fail("control character")
	}
	if scoped && scope == "" {
		return fail("nothing after the colon")
	}
	if scoped {
		e.Constraints.Scoped = true
		e.Constraints.Scope = []Text{{scope, e.Pos}}
	}
	if name == unixSocket {
		if !strings.HasPrefix(scope, "/") && (scope == "@" || !strings.HasPrefix(scope, "@")) && !strings.HasPrefix(scope, "~/") {
			return fail("unix: takes the path of a socket, or @NAME")
		}
		return e, nil
	}
	if name == listenPort {
		if _, fault := parseListen(scope); fault != "" {
			return fail(fault)
		}
		return e, nil
	}
	c := Lookup(name)
	switch {
	case c == nil && len(Expand(name)) > 0:
		return fail("grants are single capabilities, not patterns")
	case c == nil:
		err := unknownCapability(e.Pos, name).(*Error)
		return fail(err.What)
	case !scoped && (c.means == readSecrets || c.means == writeSecrets || c.means == deleteSecrets):
		return fail("names no secret, and gives none: " + name + ":~/FILE, or " + name + ":VARIABLE")
	case scoped && networked(c):
		if _, _, fault := ParseHost(scope); fault != "" {
			return fail(fault)
		}
	case scoped && c.means == passVariables && !variableName(strings.TrimSuffix(scope, "*")):
		return fail("not the name of a variable")
	}
	return e, nil
}

// parseListen reads PORT or FIRST-LAST, after "*:" for every address.
func parseListen(scope string) (rule profiles.ListenRule, fault string) {
	ports, any := strings.CutPrefix(scope, "*:")
	first, last, ranged := strings.Cut(ports, "-")
	if !ranged {
		last = first
	}
	a, err := strconv.ParseUint(first, 10, 16)
	b, err2 := strconv.ParseUint(last, 10, 16)
	if err != nil || err2 != nil || a == 0 || a > b {
		return rule, "listen: takes PORT or FIRST-LAST, and *: before it for other addresses than loopback"
	}
	return profiles.ListenRule{Ports: profiles.PortRange{First: uint16(a), Last: uint16(b)}, Any: any}, ""
}
