package policy

import (
	"math"
	"strconv"
	"time"

	"skillrun/profiles"
)

// units of sizes; those with "i" and without are the same, as in ulimit.
var units = [...]struct {
	name  string
	shift uint
}{
	{"B", 0}, {"K", 10}, {"KB", 10}, {"KiB", 10}, {"M", 20}, {"MB", 20}, {"MiB", 20},
	{"G", 30}, {"GB", 30}, {"GiB", 30}, {"T", 40}, {"TB", 40}, {"TiB", 40},
}

func decodeLimits(n *node) (l profiles.Limits, err error) {
	if err = n.table("limits", "memory", "cpu", "wall", "processes", "open_files", "file_size", "output"); err != nil {
		return l, err
	}
	for i := range n.keys {
		switch v, name := &n.keys[i].node, n.keys[i].name; name {
		case "memory":
			l.Memory, err = v.size(name)
		case "file_size":
			l.FileSize, err = v.size(name)
		case "output":
			l.Output, err = v.size(name)
		case "processes":
			l.Processes, err = v.positive(name)
		case "open_files":
			l.OpenFiles, err = v.positive(name)
		case "cpu":
			l.CPU, err = v.duration(name)
		case "wall":
			l.Wall, err = v.duration(name)
		}
		if err != nil {
			return l, err
		}
		if err = l.Validate(); err != nil {
			return l, errorAt(n.keys[i].node.pos, "%v", err)
		}
	}
	return l, nil
}

// size is a number of bytes: 4096, or "64 MiB".
func (n *node) size(what string) (int64, error) {
	if n.kind == intNode {
		return n.positive(what)
	}
	s, err := n.str()
	if err != nil {
		return 0, errorAt(n.pos, "%s is a size, not %s", what, n.kind)
	}
	size, fault := ParseSize(s)
	if fault != "" {
		return 0, errorAt(n.pos, "%s: %s", what, fault)
	}
	return size, nil
}

// ParseSize reads a size in bytes: "4096", "64M", "2 GiB". fault says what is
// wrong with it, "" if nothing.
func ParseSize(s string) (size int64, fault string) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	number, unit := s[:i], s[i:]
	if len(unit) > 1 && unit[0] == ' ' {
		unit = unit[1:]
	}
	if number == "" {
		return 0, "\"" + Escape(s) + "\" is not a size like 64MiB"
	}
	shift, found := uint(0), unit == ""
	for _, u := range units {
		if u.name == unit {
			shift, found = u.shift, true
		}
	}
	if !found {
		return 0, "unknown unit \"" + Escape(unit) + "\" (known: B, KiB, MiB, GiB, TiB)"
	}
	v, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err != nil || v > math.MaxInt64>>shift:
		return 0, "\"" + Escape(s) + "\" is out of range"
	case v == 0:
		return 0, "0 is not a limit"
	}
	return v << shift, ""
}

func (n *node) duration(what string) (time.Duration, error) {
	s, err := n.str()
	if err != nil {
		return 0, errorAt(n.pos, "%s is a time like \"90s\", not %s", what, n.kind)
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, errorAt(n.pos, "%s: %q is not a time like 90s, 10m or 1h30m", what, s)
	case d <= 0:
		return 0, errorAt(n.pos, "%s: %q is not positive", what, s)
	}
	return d, nil
}

// tighten takes the smaller of each limit, zero being none.
func tighten(a, b profiles.Limits) profiles.Limits {
	return profiles.Limits{
		Memory:    smaller(a.Memory, b.Memory),
		CPU:       smaller(a.CPU, b.CPU),
		Wall:      smaller(a.Wall, b.Wall),
		Processes: smaller(a.Processes, b.Processes),
		OpenFiles: smaller(a.OpenFiles, b.OpenFiles),
		FileSize:  smaller(a.FileSize, b.FileSize),
		Output:    smaller(a.Output, b.Output),
	}
}

func smaller[T int64 | time.Duration](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func decodeEnvironment(n *node) ([]Variable, error) {
	if err := n.is(mapNode, "environment"); err != nil {
		return nil, err
	}
	var vars []Variable
	for i := range n.keys {
		f := &n.keys[i]
		if !variableName(f.name) {
			return nil, errorAt(f.pos, "%q is not the name of a variable", f.name)
		}
		value, err := f.node.prose()
		if err != nil {
			return nil, err
		}
		vars = append(vars, Variable{f.name, value, f.pos})
	}
	return vars, nil
}

// variableName says whether s can name an environment variable.
func variableName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || i > 0 && '0' <= c && c <= '9') {
			return false
		}
	}
	return s != ""
}
