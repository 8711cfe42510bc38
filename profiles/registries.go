package profiles

import (
	"slices"
	"strings"
)

// HostGroup gives the rules of a shipped group of hosts, such as "npm", "pypi"
// or "debian": TCP on the ports of its rows. It is false for an unknown name.
func HostGroup(name string) ([]HostRule, bool) {
	var rules []HostRule
	for _, row := range hostRows {
		if row.Group != name {
			continue
		}
		rule := HostRule{
			Host: row.Host, Protocols: TCP, ReadOnly: row.ReadOnly,
			Origin: Origin{Source: "built-in:hosts/" + name, Reason: row.Reason},
		}
		for _, port := range row.Ports {
			rule.Ports = append(rule.Ports, PortRange{uint16(port), uint16(port)})
		}
		rules = append(rules, rule)
	}
	return rules, rules != nil
}

// HostGroups names the shipped groups in the order of the data, the package
// registries of every ecosystem first.
func HostGroups() []string {
	var names []string
	for _, row := range hostRows {
		if len(names) == 0 || names[len(names)-1] != row.Group {
			names = append(names, row.Group)
		}
	}
	return names
}

// Registry names the group of package registries that has a host at a TCP port, at
// any for 0; "" if none does, as of a host that takes uploads.
func Registry(host string, port uint16) string {
	for _, row := range hostRows {
		if row.ReadOnly && strings.EqualFold(row.Host, host) && (port == 0 || slices.Contains(row.Ports, int64(port))) {
			return row.Group
		}
	}
	return ""
}
