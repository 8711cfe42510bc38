package sbpl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Policy is a policy that was read, ready to be asked.
type Policy struct {
	ops      map[string]*operation
	rules    []rule
	comments map[int]string
	lines    []string
}

type rule struct {
	line    int
	allow   bool
	ops     []string
	filters []filter // any of them
}

// Parse reads a policy for a release of macOS (13, 14, 15, 26) with the values
// of its parameters. It fails where the real compiler would (an unknown
// operation, a filter that an operation does not take, a missing parameter, a
// host other than * and localhost) and on everything outside the subset.
func Parse(source string, params map[string]string, release int) (*Policy, error) {
	forms, comments, err := read(source)
	if err != nil {
		return nil, err
	}
	p := &parser{params: params, withheld: map[string]int{}, policy: &Policy{
		ops: make(map[string]*operation, len(operations)+len(aliases)), comments: comments, lines: strings.Split(source, "\n"),
	}}
	for i := range operations {
		o := &operations[i]
		if o.since > release {
			p.withheld[o.name] = o.since
			continue
		}
		p.policy.ops[o.name] = o
	}
	for _, a := range aliases {
		p.policy.ops[a[0]] = p.policy.ops[a[1]]
	}
	if len(forms) == 0 || !forms[0].is("version") || len(forms[0].list) != 2 || forms[0].list[1].text != "1" {
		return nil, fmt.Errorf("line 1: a policy starts with (version 1)")
	}
	for i := range forms[1:] {
		if err := p.form(&forms[1+i]); err != nil {
			return nil, err
		}
	}
	return p.policy, nil
}

type parser struct {
	params   map[string]string
	policy   *Policy
	withheld map[string]int // operations that came after this release
}

func failAt(d *datum, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", d.line, fmt.Sprintf(format, args...))
}

// form reads one top-level form: a rule, or a rule for operations that not
// every release has.
func (p *parser) form(d *datum) error {
	switch {
	case d.is("allow"), d.is("deny"):
		return p.rule(d)
	case d.is("if"):
		if len(d.list) != 3 || !d.list[1].is("defined?") || len(d.list[1].list) != 2 || !d.list[1].list[1].quoted {
			return failAt(d, "if is for (defined? 'operation) only")
		}
		name := d.list[1].list[1].text
		_, known := p.policy.ops[name]
		if _, later := p.withheld[name]; !known && !later {
			return failAt(d, "unknown operation %q", name)
		}
		then := &d.list[2]
		if !then.is("allow") && !then.is("deny") {
			return failAt(d, "if is for a rule only")
		}
		if !known {
			return nil
		}
		return p.rule(then)
	}
	return failAt(d, "form is outside the subset")
}

func (p *parser) rule(d *datum) error {
	r := rule{line: d.line, allow: d.list[0].text == "allow"}
	for i := range d.list[1:] {
		x := &d.list[1+i]
		switch {
		case x.kind == aWord && !x.quoted:
			o, ok := p.policy.ops[x.text]
			if !ok {
				if since, later := p.withheld[x.text]; later {
					return failAt(x, "operation %s exists from macOS %d on", x.text, since)
				}
				return failAt(x, "unknown operation %q", x.text)
			}
			r.ops = append(r.ops, o.name)
		case x.is("with"):
			if len(x.list) != 3 || x.list[1].text != "message" || x.list[2].kind != aString {
				return failAt(x, "modifier is outside the subset")
			}
		case x.kind == aList:
			f, err := p.filter(x, r.ops)
			if err != nil {
				return err
			}
			r.filters = append(r.filters, f)
		default:
			return failAt(x, "neither an operation nor a filter")
		}
	}
	if len(r.ops) == 0 {
		return failAt(d, "rule names no operation")
	}
	number(r.filters)
	p.policy.rules = append(p.policy.rules, r)
	return nil
}

// number tells the filters of each line apart, so that each finds its comment.
func number(filters []filter) {
	for i := 0; i < len(filters); {
		j := i
		for j < len(filters) && filters[j].line == filters[i].line {
			j++
		}
		for k := i; k < j; k++ {
			filters[k].index, filters[k].count = k-i, j-i
		}
		i = j
	}
}

func (p *parser) filter(d *datum, ops []string) (filter, error) {
	f := filter{line: d.line}
	if len(d.list) < 2 {
		return f, failAt(d, "filter without an argument")
	}
	name, category := d.list[0].text, ""
	known := false
	for _, x := range filters {
		if d.is(x.name) {
			f.kind, f.key, category, known = x.kind, x.key, x.category, true
		}
	}
	if !known {
		return f, failAt(d, "filter %q is outside the subset", name)
	}
	for _, op := range ops {
		if category != "" && category != "*" && !strings.Contains(","+p.policy.ops[op].filters+",", ","+category+",") {
			return f, failAt(d, "filter %s does not apply to %s", name, op)
		}
	}
	args := d.list[1:]
	if f.kind <= not {
		if f.kind == not && len(args) != 1 {
			return f, failAt(d, "require-not takes one filter")
		}
		for i := range args {
			if args[i].kind != aList {
				return f, failAt(&args[i], "%s takes filters", name)
			}
			part, err := p.filter(&args[i], ops)
			if err != nil {
				return f, err
			}
			f.parts = append(f.parts, part)
		}
		number(f.parts)
		return f, nil
	}
	for i := range args {
		a, err := p.argument(&f, &args[i], i)
		if err != nil {
			return f, err
		}
		f.args = append(f.args, a)
	}
	return f, p.check(d, &f)
}

// argument gives the value of one argument of a filter.
func (p *parser) argument(f *filter, d *datum, index int) (string, error) {
	if f.kind == constant || f.kind == network && index == 0 {
		if d.kind != aWord || d.quoted {
			return "", failAt(d, "a constant is missing")
		}
		return d.text, nil
	}
	switch {
	case d.kind == aString:
		return d.text, nil
	case d.is("param") && len(d.list) == 2 && d.list[1].kind == aString:
		v, ok := p.params[d.list[1].text]
		if !ok {
			return "", failAt(d, "parameter %s has no value", d.list[1].text)
		}
		return v, nil
	}
	return "", failAt(d, "neither a string nor a parameter")
}

// check holds the arguments of a filter against what the filter takes.
func (p *parser) check(d *datum, f *filter) error {
	switch f.kind {
	case constant:
		for _, a := range f.args {
			if !strings.Contains(constants, " "+a+" ") {
				return failAt(d, "constant %q is outside the subset", a)
			}
		}
	case regex:
		for _, a := range f.args {
			re, err := regexp.Compile(a)
			if err != nil {
				return failAt(d, "regex: %v", err)
			}
			f.re = append(f.re, re)
		}
	case literal, subpath, prefix:
		for _, a := range f.args {
			if f.key == "path" && !strings.HasPrefix(a, "/") {
				return failAt(d, "path %q is not absolute: the rule would never match", a)
			}
		}
	case network:
		return p.checkAddress(d, f)
	}
	return nil
}

func (p *parser) checkAddress(d *datum, f *filter) error {
	if len(f.args) != 2 || f.args[0] != "ip" && f.args[0] != "tcp" && f.args[0] != "udp" {
		return failAt(d, "want a protocol and an address")
	}
	host, port, ok := strings.Cut(f.args[1], ":")
	if !ok || host != "*" && host != "localhost" {
		return failAt(d, "host must be * or localhost in %q", f.args[1])
	}
	if n, err := strconv.Atoi(port); port != "*" && (err != nil || n < 1 || n > 65535) {
		return failAt(d, "bad port in %q", f.args[1])
	}
	return nil
}
