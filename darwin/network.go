package darwin

import (
	"strconv"
	"strings"

	"skillrun/profiles"
)

// writeNetwork writes what the run may reach and serve, and its unix sockets.
func (c *compiler) writeNetwork() {
	n := &c.profile.Network
	c.w.text(networkText)
	switch n.Mode {
	case profiles.NetHosts:
		c.w.text(strings.ReplaceAll(proxyText, "PORT", strconv.Itoa(int(c.facts.ProxyPort))))
		c.w.text(tlsText)
	case profiles.NetHost:
		c.w.text(directText)
		c.w.text(tlsText)
	}
	var local, remote []cond
	for _, l := range n.Listen {
		host := "localhost"
		if l.Any {
			host = "*"
		}
		for _, port := range ports(l.Ports) {
			local = append(local, cond{text: `(local tcp "` + host + ":" + port + `")`, note: note(l.Origin)})
			remote = append(remote, cond{text: `(remote tcp "localhost:` + port + `")`, note: note(l.Origin)})
		}
	}
	if len(local) > 0 && n.Mode != profiles.NetHost {
		c.w.text(listenText)
		c.w.rule("serve these ports", "allow", []string{"network-inbound", "network-bind"}, local)
		c.w.rule("reach what the run itself serves", "allow", []string{"network-outbound"}, remote)
	}
	var own, others []cond
	for i := range c.own {
		own = append(own, cond{text: c.w.subpath(c.own[i].Path), note: note(c.own[i].Origin)})
	}
	for _, s := range c.profile.Sockets {
		if !strings.HasPrefix(s.Path, "@") { // macOS has no abstract names
			others = append(others, cond{text: c.w.literal(s.Path), note: note(s.Origin)})
		}
	}
	c.w.rule("unix sockets among the run's own processes", "allow", []string{"network-outbound", "network-inbound", "network-bind"}, own)
	c.w.rule("unix sockets of others", "allow", []string{"network-outbound"}, others)
}

// maxPorts is how many ports of one range are written one by one.
const maxPorts = 256

// ports writes a range for filters, which take one port or all; a range in
// between that is too long gives none, and the receipt says so.
func ports(r profiles.PortRange) []string {
	if r == profiles.AnyPort {
		return []string{"*"}
	}
	if r.First == 0 || int(r.Last)-int(r.First) >= maxPorts {
		return nil
	}
	var out []string
	for p := int(r.First); p <= int(r.Last); p++ {
		out = append(out, strconv.Itoa(p))
	}
	return out
}
