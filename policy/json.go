package policy

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"skillrun/policy/jsontext"
)

// parseJSON reads one JSON value with the place of every part. It accepts what
// [jsontext.Read] does, without control characters.
func parseJSON(file string, data []byte) (node, error) {
	if err := checkText(file, data); err != nil {
		return node{}, err
	}
	p := text{file: file, data: data, line: 1}
	v, err := jsontext.Read(data, jsontext.Options{Depth: maxDepth})
	if err == nil {
		return p.node(&v)
	}
	var fault *jsontext.Error
	if !errors.As(err, &fault) {
		return node{}, err
	}
	at := p.to(fault.At)
	switch {
	case fault.Want == "":
		return node{}, errorAt(at, "%s", fault.What)
	case p.ahead("//") || p.ahead("/*") || p.ahead("#"): // by habit
		return node{}, p.fail("a comment, which JSON does not have; skillrun.toml may have some")
	}
	return node{}, p.unexpected(fault.Want)
}

// node gives a value, which is not before where p is.
func (p *text) node(v *jsontext.Value) (n node, err error) {
	n = node{pos: p.to(v.Start), text: v.Text}
	switch v.Kind {
	case '{':
		n.kind, n.keys = mapNode, slices.Grow(n.keys, len(v.Members))
		for i := range v.Members {
			f := field{name: v.Members[i].Name, pos: p.to(v.Members[i].Start)}
			if i == maxKeys {
				return n, errorAt(f.pos, "more than %d keys in a table", maxKeys)
			}
			if f.node, err = p.node(&v.Members[i].Value); err != nil {
				return n, err
			}
			n.keys = append(n.keys, f)
		}
	case '[':
		n.kind, n.items = listNode, slices.Grow(n.items, len(v.Items))
		for i := range v.Items {
			item, err := p.node(&v.Items[i])
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
	case '"':
		n.kind = stringNode
	case '0':
		n.kind, n.text = intNode, string(p.data[v.Start:v.End])
		if strings.ContainsAny(n.text, ".eE") {
			n.kind = floatNode
		} else if n.number, err = strconv.ParseInt(n.text, 10, 64); err != nil {
			return n, errorAt(n.pos, "number %s is out of range", n.text)
		}
	case 't', 'f':
		n.kind, n.truth = boolNode, v.Kind == 't'
	}
	return n, nil
}

// to goes on to the byte i and gives its place.
func (p *text) to(i int) Pos {
	for p.i < i {
		if p.data[p.i] == '\n' {
			p.newline()
		} else {
			p.i++
		}
	}
	return p.pos()
}
