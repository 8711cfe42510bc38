package profiles

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// Validate says what is wrong with the profile: a path that is not absolute and
// clean, an unknown enumeration value, a rule that grants or refuses nothing, a
// host in another form than HostRule gives, a limit under which nothing could
// start. A profile that does not validate must not be enforced.
func (p *Profile) Validate() error {
	for _, f := range [...]struct{ name, path string }{{"workspace", p.Workspace}, {"skill", p.Skill}, {"home", p.Home}} {
		if f.path != "" {
			if err := cleanPath(f.path); err != nil {
				return fmt.Errorf("%s %q: %w", f.name, f.path, err)
			}
		}
	}
	for i := range p.Paths {
		if err := p.Paths[i].validate(); err != nil {
			return fmt.Errorf("path rule %q: %w", p.Paths[i].Path, err)
		}
	}
	for i := range p.Denials {
		if err := p.Denials[i].validate(); err != nil {
			return fmt.Errorf("denial %q %q: %w", p.Denials[i].Path, p.Denials[i].Match, err)
		}
	}
	if err := p.Network.validate(); err != nil {
		return err
	}
	for _, s := range p.Sockets {
		err := cleanPath(s.Path)
		if name, ok := strings.CutPrefix(s.Path, "@"); ok && name != "" && !hasNUL(name) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("socket %q: %w", s.Path, err)
		}
	}
	if err := p.Env.validate(); err != nil {
		return err
	}
	for _, d := range p.Demands {
		kind, key, _ := strings.Cut(d.Name, ".")
		if kind != "constraint" && kind != "hook" || key == "" {
			return fmt.Errorf("demand %q: neither constraint.KEY nor hook.KEY", d.Name)
		}
	}
	for _, name := range p.Empty {
		if err := cleanPath(name); err != nil {
			return fmt.Errorf("empty file %q: %w", name, err)
		}
	}
	for _, s := range p.Redact {
		switch {
		case (s.Env == "") == (s.Path == ""):
			return errors.New("redaction: not exactly one of variable and file")
		case s.Env != "":
			if err := envName(s.Env); err != nil {
				return fmt.Errorf("redaction of variable %q: %w", s.Env, err)
			}
		default:
			if err := cleanPath(s.Path); err != nil {
				return fmt.Errorf("redaction of file %q: %w", s.Path, err)
			}
		}
	}
	return p.Limits.Validate()
}

// cleanPath says whether a path is absolute and in the form of path.Clean.
func cleanPath(name string) error {
	switch {
	case !strings.HasPrefix(name, "/"):
		return errors.New("not an absolute path")
	case hasNUL(name):
		return errors.New("a NUL byte in the path")
	case path.Clean(name) != name:
		return errors.New("not a clean path, which is " + quote(path.Clean(name)))
	}
	return nil
}

func hasNUL(s string) bool { return strings.IndexByte(s, 0) >= 0 }

func (a Access) validate() error {
	if a == 0 || a&^AllAccess != 0 {
		return fmt.Errorf("access %#x: none or unknown", uint8(a))
	}
	return nil
}

func (r *PathRule) validate() error {
	if err := cleanPath(r.Path); err != nil {
		return err
	}
	return r.Access.validate()
}

func (d *Denial) validate() error {
	if err := cleanPath(d.Path); err != nil {
		return err
	}
	if err := d.Access.validate(); err != nil {
		return err
	}
	if d.Class > Control {
		return fmt.Errorf("unknown class %d", d.Class)
	}
	if d.Match != "" {
		if err := pattern(d.Match); err != nil {
			return err
		}
	} else if d.UnlessMade || d.UnlessWithin {
		return errors.New("unless-made or unless-within without a match")
	}
	for _, e := range d.Except {
		if !strings.HasPrefix(e, "/") {
			if err := pattern(e); err != nil {
				return fmt.Errorf("exception %q: %w", e, err)
			}
			continue
		}
		if err := cleanPath(e); err != nil {
			return fmt.Errorf("exception %q: %w", e, err)
		}
		if rest, ok := Beneath(d.Path, e); !ok || rest == "" {
			return fmt.Errorf("exception %q: not beneath the denied path", e)
		}
	}
	return nil
}

// pattern checks the form of Match.
func pattern(match string) error {
	if hasNUL(match) {
		return errors.New("a NUL byte in the pattern")
	}
	for rest, more := match, true; more; {
		var c string
		c, rest, more = strings.Cut(rest, "/")
		switch {
		case c == "" || c == "." || c == "..":
			return fmt.Errorf("pattern component %q", c)
		case strings.Contains(c, "**"):
			return errors.New(`"**" in a pattern, which matches at any depth anyway`)
		case strings.Trim(c, "*") == "" && match == c:
			return errors.New("a pattern that matches every name")
		}
	}
	return nil
}

func (n *Network) validate() error {
	if n.Mode > NetHost {
		return fmt.Errorf("unknown network mode %d", n.Mode)
	}
	for i := range n.Hosts {
		if err := n.Hosts[i].validate(); err != nil {
			return fmt.Errorf("host %q: %w", n.Hosts[i].Host, err)
		}
	}
	for _, l := range n.Listen {
		if err := l.Ports.validate(); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
	}
	return nil
}

func (r PortRange) validate() error {
	if r.First == 0 || r.Last < r.First {
		return fmt.Errorf("ports %s: not a range within 1-65535", r)
	}
	return nil
}

func (h *HostRule) validate() error {
	if err := hostSyntax(h.Host); err != nil {
		return err
	}
	for _, e := range h.Except {
		err := hostSyntax(e)
		if _, ok := HostPrefix(e); err == nil && !ok {
			err = errors.New("no address or prefix")
		}
		if err != nil {
			return fmt.Errorf("exception %q: %w", e, err)
		}
	}
	if len(h.Ports) == 0 {
		return errors.New("no ports")
	}
	for _, r := range h.Ports {
		if err := r.validate(); err != nil {
			return err
		}
	}
	if h.Protocols == 0 || h.Protocols&^(TCP|UDP) != 0 {
		return fmt.Errorf("protocols %#x: none or unknown", uint8(h.Protocols))
	}
	if h.MaxBytes < 0 || h.MaxConnections < 0 {
		return errors.New("a negative bound")
	}
	if h.MaxRate < 0 || h.Per < 0 || (h.MaxRate == 0) != (h.Per == 0) {
		return errors.New("a rate that is not so many per time")
	}
	return nil
}

func (e *Env) validate() error {
	for _, list := range [...]struct {
		word  string
		rules []EnvRule
	}{{"passed", e.Pass}, {"denied", e.Deny}, {"allowed", e.Allow}} {
		for _, r := range list.rules {
			name := r.Name
			switch list.word {
			case "passed":
				name = strings.TrimSuffix(name, "*")
				if r.Name == "*" {
					continue
				}
			case "denied":
				name = strings.ReplaceAll(name, "*", "_")
			}
			if err := envName(name); err != nil {
				return fmt.Errorf("%s variable %q: %w", list.word, r.Name, err)
			}
		}
	}
	values := make(map[string]string, len(e.Set))
	for _, v := range e.Set {
		if err := envName(v.Name); err != nil {
			return fmt.Errorf("variable %q: %w", v.Name, err)
		}
		if hasNUL(v.Value) {
			return fmt.Errorf("variable %q: a NUL byte in the value", v.Name)
		}
		if other, ok := values[v.Name]; ok && other != v.Value {
			return fmt.Errorf("variable %q: two values", v.Name)
		}
		values[v.Name] = v.Value
	}
	return nil
}

func envName(name string) error {
	switch {
	case name == "":
		return errors.New("empty")
	case strings.ContainsAny(name, "=\x00"):
		return errors.New(`"=" or NUL in the name`)
	case strings.Contains(name, "*"):
		return errors.New(`"*" where none is allowed`)
	}
	return nil
}

// The smallest limits under which a program can start at all.
const (
	minMemory    = 1 << 20
	minOpenFiles = 8
	minTime      = time.Millisecond
)

// Validate refuses limits under which nothing could start; zero is none.
func (l *Limits) Validate() error {
	for _, c := range [...]struct {
		name       string
		value, min int64
	}{
		{"memory", l.Memory, minMemory},
		{"cpu", int64(l.CPU), int64(minTime)},
		{"wall", int64(l.Wall), int64(minTime)},
		{"processes", l.Processes, 1},
		{"open files", l.OpenFiles, minOpenFiles},
		{"file size", l.FileSize, 1},
		{"output", l.Output, 1},
	} {
		if c.value != 0 && c.value < c.min {
			return fmt.Errorf("limit of %s %d: less than %d", c.name, c.value, c.min)
		}
	}
	return nil
}
