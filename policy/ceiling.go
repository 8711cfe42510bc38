package policy

import (
	"path"
	"slices"
)

// ParseCeiling reads capabilities.yaml or capabilities.toml, Armorclaw's
// ceiling of an agent: tools by name, each with allow: always, when_configured,
// scoped, ask_user or never. A name is one of Armorclaw's tools, a dotted
// capability or a pattern of those. configured are the names that the user's
// configuration takes up; when_configured allows those only. What the file does
// not list is outside the ceiling.
func ParseCeiling(file string, data []byte, configured []string) (*Document, error) {
	var n node
	var err error
	if path.Ext(file) == ".toml" {
		n, err = parseTOML(file, data)
	} else if err = checkText(file, data); err == nil {
		n, err = parseYAML(file, data, 1)
	}
	if err == nil {
		err = n.table("the ceiling", "tools", "limits")
	}
	if err != nil {
		return nil, err
	}
	d := &Document{File: file, Form: TOML}
	if l := n.get("limits"); l != nil {
		if d.Limits, err = decodeLimits(l); err != nil {
			return nil, err
		}
	}
	tools := n.get("tools")
	if tools == nil {
		return nil, errorAt(n.pos, "the ceiling has no tools")
	}
	if err := tools.is(mapNode, "tools"); err != nil {
		return nil, err
	}
	for i := range tools.keys {
		f := &tools.keys[i]
		entries, err := decodeTool(f.name, f.pos, &f.node, slices.Contains(configured, f.name))
		if err != nil {
			return nil, err
		}
		d.Entries = append(d.Entries, entries...)
	}
	return d, nil
}

func decodeTool(name string, pos Pos, n *node, configured bool) ([]Entry, error) {
	if err := n.table("a tool", "allow", "scopes"); err != nil {
		return nil, err
	}
	allow, scopes := n.get("allow"), n.get("scopes")
	if allow == nil {
		return nil, errorAt(n.pos, "tool %q does not say what to allow", name)
	}
	word, err := allow.str()
	if err != nil {
		return nil, err
	}
	if (word == "scoped") != (scopes != nil) {
		return nil, errorAt(n.pos, "tool %q: scopes go with allow: scoped", name)
	}
	e := Entry{Capability: name, Source: "ceiling", Pos: pos}
	if len(Expand(name)) == 0 {
		if e.Capability = armorclawTool(name); e.Capability == "tool.invoke" {
			e.Constraints.Scoped = true
			e.Constraints.Scope = []Text{{name, pos}}
		}
	}
	switch word {
	case "always":
		e.Effect = Allow
	case "when_configured":
		if !configured {
			return nil, nil
		}
		e.Effect = Allow
	case "ask_user":
		e.Effect = Confirm
	case "never":
	case "scoped":
		return decodeScopes(e, scopes)
	default:
		return nil, errorAt(allow.pos, "unknown value %q: not always, when_configured, scoped, ask_user or never", word)
	}
	return []Entry{e}, nil
}

func decodeScopes(e Entry, n *node) ([]Entry, error) {
	if err := n.is(mapNode, "scopes"); err != nil {
		return nil, err
	}
	var entries []Entry
	for i := range n.keys {
		f := &n.keys[i]
		one := e
		one.Pos = f.pos
		one.Constraints.Scoped = true
		one.Constraints.Scope = []Text{{f.name, f.pos}}
		switch word, err := f.node.str(); {
		case err != nil:
			return nil, err
		case word == "allow":
			one.Effect = Allow
		case word == "ask_user":
			one.Effect = Confirm
		default:
			return nil, errorAt(f.node.pos, "unknown value %q: not allow or ask_user", word)
		}
		entries = append(entries, one)
	}
	return entries, nil
}
