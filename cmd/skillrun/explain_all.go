package main

import (
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"skillrun/policy"
	"skillrun/profiles"
)

// all prints the effective policy: what is alike in every run is counted,
// unless the user wants it all.
func (x *explanation) all() {
	j, p := x.job, x.profile
	fmt.Fprintf(x, "workspace: %s\n", policy.Escape(p.Workspace))
	if j.skill != nil {
		fmt.Fprintf(x, "skill:     %s (%s: %s) in %s\n", policy.Escape(strings.TrimSpace(named(j.skill.Name)+" "+named(j.skill.Version))), j.skill.tier, j.skill.why, policy.Escape(p.Skill))
	}
	fmt.Fprintf(x, "preset:    %s\n", j.preset.Name)
	if x.cache == "" || j.host.OS != "linux" {
		fmt.Fprintf(x, "caches:    its own, empty at the start\n")
	} else {
		fmt.Fprintf(x, "caches:    those of runs with the same rights, in %s\n", policy.Escape(filepath.Join(j.caches(), x.cache)))
	}
	fmt.Fprintln(x, "\nrights:")
	for _, e := range append(j.set.Entries(), j.set.Grants()...) {
		fmt.Fprintf(x, "  %-8s %-24s %s\n", e.Effect, e.Capability, policy.Escape(e.Pos.String()))
	}
	for _, f := range j.findings {
		fmt.Fprintf(x, "  %-8s %s\n", "note", policy.Escape(f.String()))
	}
	x.files()
	x.never()
	x.network()
	fmt.Fprintln(x, "\nheld here by:")
	printClauses(x, x.receipt)
	if gaps := x.receipt.Gaps(j.strict, j.allowGaps); len(gaps) > 0 {
		fmt.Fprintln(x, "\ngaps: a run is refused unless --allow-gap names each of")
		for _, g := range gaps {
			fmt.Fprintf(x, "  %s\n", g.Name)
		}
	}
}

func (x *explanation) files() {
	var alike counts
	fmt.Fprintln(x, "\nfiles:")
	list := func(rule *profiles.PathRule, access profiles.Access, when string) {
		if !x.job.verbose && rule.Origin.Source == "built-in:base" {
			alike.add(rule.Origin.Source)
			return
		}
		tail := ""
		if rule.Tree {
			tail = "/**"
		}
		fmt.Fprintf(x, "  %-5s %s  (%s%s)\n", access, policy.Escape(strings.TrimSuffix(rule.Path, "/")+tail), when, originText(rule.Origin))
	}
	has := map[profiles.PathRule]profiles.Access{} // by path and tree alone
	for i := range x.profile.Paths {
		rule := &x.profile.Paths[i]
		has[profiles.PathRule{Path: rule.Path, Tree: rule.Tree}] |= rule.Access
		list(rule, rule.Access, "")
	}
	for i := range x.confirmed.Paths {
		rule := &x.confirmed.Paths[i]
		if more := rule.Access &^ has[profiles.PathRule{Path: rule.Path, Tree: rule.Tree}]; more != 0 {
			list(rule, more, "once confirmed; ")
		}
	}
	alike.print(x)
}

func (x *explanation) never() {
	var alike counts
	fmt.Fprintln(x, "\nnever, unless you grant it by name:")
	for _, d := range x.profile.Denials {
		switch d.Origin.Source {
		case "built-in:sensitive-paths", "built-in:workspace-secrets", "built-in:control-files":
			if !x.job.verbose {
				alike.add(d.Origin.Source)
				continue
			}
		}
		name := d.Path
		if d.Match != "" {
			name += "/**/" + d.Match
		}
		tail := lasting(&d)
		if tail != "" {
			tail = "; " + tail
		}
		fmt.Fprintf(x, "  %-5s %s  (%s%s)\n", d.Access, policy.Escape(name), originText(d.Origin), tail)
	}
	alike.print(x)
}

func (x *explanation) network() {
	p := x.profile
	mode := p.Network.Mode.String()
	if x.confirmed.Network.Mode != p.Network.Mode {
		mode += ", and " + x.confirmed.Network.Mode.String() + " once confirmed"
	}
	fmt.Fprintf(x, "\nnetwork: %s\n", mode)
	hosts := map[string]bool{}
	for _, h := range p.Network.Hosts {
		line := policy.Escape(h.Host) + hostTerms(&h)
		hosts[line] = true
		fmt.Fprintf(x, "  %s  (%s)\n", line, originText(h.Origin))
	}
	for _, h := range x.confirmed.Network.Hosts {
		if line := policy.Escape(h.Host) + hostTerms(&h); !hosts[line] {
			fmt.Fprintf(x, "  %s  (once confirmed; %s)\n", line, originText(h.Origin))
		}
	}
	fmt.Fprintf(x, "  localhost: %s\n", localhost(&p.Network))
	for _, s := range p.Sockets {
		fmt.Fprintf(x, "  socket %s  (%s)\n", policy.Escape(s.Path), originText(s.Origin))
	}
}

// localhost says what of this machine's own servers a run reaches, and which of its own.
func localhost(n *profiles.Network) string {
	if n.Mode == profiles.NetHost {
		return "all that this machine serves, and what the run serves is this machine's"
	}
	if n.Mode == profiles.NetNone && len(n.Listen) == 0 {
		return "none, nor the run's own servers, for which --grant network.client:localhost:1 is enough"
	}
	var others, ports []string
	for i := range n.Hosts {
		h := &n.Hosts[i]
		prefix, err := netip.ParsePrefix(h.Host)
		if isLoopback(h.Host) || err == nil && (prefix.Contains(netip.AddrFrom4([4]byte{127, 0, 0, 1})) || prefix.Contains(netip.IPv6Loopback())) {
			others = append(others, policy.Escape(h.Host)+hostTerms(h))
		}
	}
	for _, l := range n.Listen {
		if ports = append(ports, strconv.Itoa(int(l.Ports.First))); l.Ports.First != l.Ports.Last {
			ports[len(ports)-1] += "-" + strconv.Itoa(int(l.Ports.Last))
		}
		if l.Any {
			ports[len(ports)-1] += " on every address"
		}
	}
	line := "the run's own servers, and no other of this machine's"
	if len(others) > 0 {
		line = "the run's own servers, and of this machine's " + strings.Join(others, ", ")
	}
	if len(ports) > 0 {
		line += "; other programs reach what it serves at " + strings.Join(ports, ", ")
	}
	return line
}

// counts are how many rules are from each source, in the order of their first.
type counts []struct {
	source string
	n      int
}

func (c *counts) add(source string) {
	for i := range *c {
		if (*c)[i].source == source {
			(*c)[i].n++
			return
		}
	}
	*c = append(*c, struct {
		source string
		n      int
	}{source, 1})
}

func (c counts) print(w io.Writer) {
	for _, one := range c {
		fmt.Fprintf(w, "  %d of %s; -v lists them\n", one.n, one.source)
	}
}

// hostTerms says on which ports a host is reached, and within which bounds:
// ":80,443 tcp, reading only".
func hostTerms(h *profiles.HostRule) string {
	var b strings.Builder
	for i, r := range h.Ports {
		b.WriteString([...]string{":", ","}[min(i, 1)])
		switch {
		case r == profiles.AnyPort:
			b.WriteString("*")
		case r.First == r.Last:
			fmt.Fprintf(&b, "%d", r.First)
		default:
			fmt.Fprintf(&b, "%d-%d", r.First, r.Last)
		}
	}
	b.WriteString(" " + h.Protocols.String())
	if h.ReadOnly {
		b.WriteString(", reading only")
	}
	if h.MaxBytes != 0 {
		fmt.Fprintf(&b, ", at most %d bytes", h.MaxBytes)
	}
	if h.MaxConnections != 0 {
		fmt.Fprintf(&b, ", at most %d connections", h.MaxConnections)
	}
	if h.MaxRate != 0 {
		fmt.Fprintf(&b, ", at most %d connections per %v", h.MaxRate, h.Per)
	}
	if len(h.Except) > 0 {
		b.WriteString(", not " + policy.Escape(strings.Join(h.Except, ", ")))
	}
	return b.String()
}

func printClauses(w io.Writer, r profiles.Receipt) {
	for _, c := range r {
		fmt.Fprintf(w, "  %s\n", policy.Escape(clauseLine(c)))
	}
}

// clauseLine is one clause of a receipt with what holds it.
func clauseLine(c profiles.Clause) string {
	word, held := "should", c.Mechanism
	if c.Must {
		word = "must"
	}
	if c.Note != "" {
		held = strings.TrimSpace(held + " (" + c.Note + ")")
	}
	return fmt.Sprintf("%-16s %-6s %-10s %s", c.Name, word, c.Strength, held)
}
