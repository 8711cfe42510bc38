package policy

import "strconv"

// ParseAny exposes the readers for comparison with the usual libraries: form is
// "json", "toml", "yaml" or "header".
func ParseAny(form string, data []byte) (any, error) {
	var n node
	var err error
	switch form {
	case "json":
		n, err = parseJSON("f", data)
	case "toml":
		n, err = parseTOML("f", data)
	default:
		if err = checkText("f", data); err == nil {
			if form == "yaml" {
				n, err = parseYAML("f", data, 1)
			} else {
				n, err = parseYAML("f", data, 1, "allowed-tools", "capabilities", "trust")
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return n.any(), nil
}

func (n *node) any() any {
	switch n.kind {
	case boolNode:
		return n.truth
	case intNode:
		return n.number
	case floatNode:
		f, err := strconv.ParseFloat(n.text, 64)
		if err != nil {
			return err.Error()
		}
		return f
	case stringNode:
		return n.text
	case listNode:
		list := []any{}
		for i := range n.items {
			list = append(list, n.items[i].any())
		}
		return list
	case mapNode:
		m := map[string]any{}
		for i := range n.keys {
			m[n.keys[i].name] = n.keys[i].node.any()
		}
		return m
	}
	return nil
}

// ScriptOf is the script that a command names.
func ScriptOf(command []string) string { return scriptOf(command) }

// ShellWords are the words of a typed command.
func ShellWords(text string) (words []string, ok bool) { return shellWords(text, shellSyntax) }
