package egress

import (
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// System is what the machine knows about resolving names: resolv.conf and the
// hosts file. Name services beyond these (mDNS, directory servers) are not
// asked.
type System struct {
	Servers  []netip.AddrPort // at most three are asked, in this order
	Search   []string         // domains tried behind a name with fewer dots than Dots
	Dots     int              // 1 if it is less
	Timeout  time.Duration    // of one question to one server
	Attempts int              // rounds over the servers
	Hosts    map[string][]netip.Addr
}

// readSystem reads the host's /etc/resolv.conf and /etc/hosts. A file that is
// absent counts as empty; without any server, the local one is asked, as
// resolv.conf(5) says.
func readSystem() (*System, error) {
	conf, err := os.ReadFile("/etc/resolv.conf")
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	hosts, err := os.ReadFile("/etc/hosts")
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	s := ParseResolvConf(string(conf))
	s.Hosts = ParseHosts(string(hosts))
	return s, nil
}

// ParseResolvConf reads the text of a resolv.conf(5). Lines that it does not
// understand are passed over, as every resolver does.
func ParseResolvConf(text string) *System {
	s := &System{Timeout: 3 * time.Second, Attempts: 2}
	for line := range strings.Lines(text) {
		if i := strings.IndexAny(line, "#;"); i >= 0 {
			line = line[:i]
		}
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "nameserver":
			if a, err := netip.ParseAddr(f[1]); err == nil && len(s.Servers) < 3 {
				s.Servers = append(s.Servers, netip.AddrPortFrom(a, 53))
			}
		case "domain", "search":
			s.Search = nil
			for _, d := range f[1:] {
				if d, err := canonical(d); err == nil && len(s.Search) < 6 {
					s.Search = append(s.Search, d)
				}
			}
		case "options":
			for _, o := range f[1:] {
				k, v, _ := strings.Cut(o, ":")
				n, err := strconv.Atoi(v)
				switch {
				case err != nil || n < 1:
				case k == "timeout":
					s.Timeout = time.Duration(min(n, 5)) * time.Second
				case k == "ndots":
					s.Dots = min(n, 15)
				case k == "attempts":
					s.Attempts = min(n, 3)
				}
			}
		}
	}
	if len(s.Servers) == 0 {
		s.Servers = []netip.AddrPort{netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 53)}
	}
	return s
}

// ParseHosts reads the text of a hosts(5) file.
func ParseHosts(text string) map[string][]netip.Addr {
	m := map[string][]netip.Addr{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		a, err := netip.ParseAddr(f[0])
		if err != nil || a.Zone() != "" {
			continue
		}
		for _, n := range f[1:] {
			if n, err := canonical(n); err == nil && len(m[n]) < maxAnswers {
				m[n] = append(m[n], a.Unmap())
			}
		}
	}
	return m
}

// candidates gives the full names to ask for, in order. What has a dot comes first as
// it is, whatever the number of dots: it is what was granted, and often full.
func (s *System) candidates(name string) []string {
	dots := strings.Count(name, ".")
	if dots >= max(s.Dots, 1) {
		return []string{name}
	}
	var names []string
	for _, d := range s.Search {
		names = append(names, name+"."+d)
	}
	if dots > 0 {
		return append([]string{name}, names...)
	}
	return append(names, name)
}

// unsearched gives the name that a program asked for before its own resolver
// appended a search domain.
func (s *System) unsearched(name string) (string, bool) {
	for _, d := range s.Search {
		if n, ok := strings.CutSuffix(name, "."+d); ok {
			return n, true
		}
	}
	return "", false
}
