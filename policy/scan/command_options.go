package scan

import (
	"slices"
	"strings"
)

// options are the parsed words of a command.
type options struct {
	operands []field
	flags    []string
	values   []optionValue
}

type optionValue struct {
	name, role string
	value      field
}

func (o *options) has(names ...string) bool {
	return slices.ContainsFunc(o.flags, func(f string) bool { return slices.Contains(names, f) })
}

// takes says whether an option with the role was given.
func (o *options) takes(role string) bool {
	return slices.ContainsFunc(o.values, func(v optionValue) bool { return v.role == role })
}

func (o *options) value(names ...string) (field, bool) {
	for i := len(o.values) - 1; i >= 0; i-- {
		if slices.Contains(names, o.values[i].name) {
			return o.values[i].value, true
		}
	}
	return field{}, false
}

// role finds the role of an option in a list of them. attached means that a
// value must be attached.
func role(opts, name string) (role string, takes, attached bool) {
	for opts != "" {
		var item string
		item, opts, _ = strings.Cut(opts, " ")
		if i := strings.LastIndexByte(item, ':'); i > 0 && item[:i] == name {
			return item[i+1:], true, false
		}
		if i := strings.IndexByte(item, '?'); i > 0 && item[:i] == name {
			if item[i+1:] == "" {
				return "-", true, true
			}
			return item[i+1:], true, true
		}
		if i := strings.IndexByte(item, '#'); i > 0 && item[:i] == name {
			return "#", true, true
		}
	}
	return "", false, false
}

// numeral is the length of the octal, decimal or "x" and hexadecimal number that
// a text starts with.
func numeral(t string) int {
	set := "0123456789"
	n := 0
	if strings.HasPrefix(t, "x") {
		set, n = "0123456789abcdefABCDEF", 1
	}
	for n < len(t) && strings.IndexByte(set, t[n]) >= 0 {
		n++
	}
	return n
}

// whole gives the option that a long one may be short for, as getopt_long takes
// it: the first in the list.
func whole(opts, name string) string {
	long := name
	for item := range strings.FieldsSeq(opts) {
		full := item[:max(0, strings.IndexAny(item, ":?"))]
		if full == name {
			return name
		}
		if long == name && len(name) > 2 && strings.HasPrefix(full, name) {
			long = full
		}
	}
	return long
}

// coded are roles of options that are read if they are cut short, whatever the program.
var coded = [...]string{"code", "fed", "gitset", "lang2", "rsh", "rules", "setting"}

// parseOptions reads options as getopt does. With stop > 0 options end after
// that many operands, where a command follows.
func parseOptions(opts string, args []field, stop int) options {
	var o options
	for i := 0; i < len(args); i++ {
		f := args[i]
		t := f.text
		if len(t) < 2 || t[0] != '-' || stop > 0 && len(o.operands) >= stop {
			if stop > 0 && len(o.operands) >= stop-1 {
				o.operands = append(o.operands, args[i:]...)
				return o
			}
			o.operands = append(o.operands, f)
			continue
		}
		if t == "--" && f.exact {
			o.operands = append(o.operands, args[i+1:]...)
			return o
		}
		next := func() (field, bool) {
			if i+1 < len(args) {
				i++
				return args[i], true
			}
			return field{}, false
		}
		name, value, hasValue := strings.Cut(t, "=")
		given := name
		if strings.HasPrefix(name, "--") {
			long := whole(opts, name)
			if r, _, _ := role(opts, long); hasValue || strings.HasPrefix(opts, "short ") || slices.Contains(coded[:], r) {
				name = long
			}
		}
		if given != name {
			o.flags = append(o.flags, given) // which may be one that is not in the list
		}
		if _, takes, _ := role(opts, name); !takes && len(name) > 3 && name[1] == '-' {
			if _, takes, _ = role(opts, name[1:]); takes { // as go and openssl take it: -exec, --exec
				name = name[1:]
			}
		}
		if r, takes, attached := role(opts, name); takes {
			o.flags = append(o.flags, name)
			v := f
			v.text = value
			ok := hasValue
			if second, two := strings.CutPrefix(r, "2"); two {
				next()
				r = second
			}
			if !hasValue && !attached {
				if v, ok = next(); ok && given != name && strings.HasPrefix(given, "--") && strings.HasPrefix(name, given) && !strings.HasPrefix(opts, "short all ") {
					i-- // or an operand
				}
			}
			if ok {
				o.values = append(o.values, optionValue{name, r, v})
			}
			if r == "module" { // what follows is the module's
				o.operands = append(o.operands, args[min(i+1, len(args)):]...)
				return o
			}
			continue
		}
		o.flags = append(o.flags, name)
		if strings.HasPrefix(t, "--") {
			if hasValue {
				v := f
				v.text = value
				o.values = append(o.values, optionValue{name, "-", v})
			}
			continue
		}
		for j := 1; j < len(t); j++ {
			letter := "-" + t[j:j+1]
			if j > 1 || len(t) > 2 {
				o.flags = append(o.flags, letter)
			}
			r, takes, attached := role(opts, letter)
			if !takes {
				continue
			}
			if r == "#" {
				if j += numeral(t[j+1:]); strings.HasPrefix(t[j+1:], ":") {
					break // ruby -W:CATEGORY
				}
				continue
			}
			v := f
			v.text = t[j+1:]
			ok := v.text != "" || attached || !f.exact
			if !ok {
				v, ok = next()
			}
			if ok && !(attached && v.text == "") {
				o.values = append(o.values, optionValue{letter, r, v})
			}
			if r == "module" {
				o.operands = append(o.operands, args[min(i+1, len(args)):]...)
				return o
			}
			break
		}
	}
	return o
}

func (o *options) counts(condition string) bool {
	for _, c := range strings.Fields(condition) {
		if c == "bare" && len(o.operands) == 0 {
			return true
		}
		if c == "many" && len(o.operands) > 1 {
			return true
		}
		if o.has(c) {
			return true
		}
	}
	return false
}
