package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"skillrun/profiles"
)

// Skill is what SKILL.md says: about itself, for display, and about rights.
type Skill struct {
	Metadata
	// Document holds the rights that the header declares; nil if it declares
	// none, or in a way that two parsers might read differently.
	Document *Document
	// Fault is why nothing may be run on it: the header is longer than is read, and
	// what it says of rights, which may be fewer than without, is not known. nil if
	// it is not.
	Fault error
}

// rightsKeys are the keys of a header that give rights.
var rightsKeys = [...]string{"allowed-tools", "capabilities"}

// maxHeader is how much of SKILL.md is looked at, in bytes.
const maxHeader = 64 << 10

// ParseHeader reads the header of SKILL.md. A header that does not parse strictly
// gives no rights, and a finding says why. Keys that carry no rights may be anything.
func ParseHeader(file string, data []byte) (Skill, []Finding) {
	header, fault := cutHeader(data)
	skill := Skill{Metadata: display(file, header)}
	if fault == noEnd && len(data) > maxHeader {
		skill.Fault = errorAt(Pos{file, 1, 1}, "the header does not end within %d bytes", maxHeader)
		return skill, nil
	}
	slips := misspelt(file, header)
	none := func(pos Pos, what string) (Skill, []Finding) {
		return skill, append(slips, Finding{pos, what + ": the header gives no rights"})
	}
	if utf16(data) {
		return none(Pos{file, 1, 1}, inUTF16)
	}
	if !slices.ContainsFunc(rightsKeys[:], func(key string) bool { return bytes.Contains(header, []byte(key)) }) {
		return skill, slips
	}
	if fault != "" {
		return none(Pos{file, 1, 1}, fault)
	}
	if err := checkText(file, data[:bytes.Index(data, header)+len(header)]); err != nil {
		e := err.(*Error)
		return none(e.Pos, e.What)
	}
	n, err := parseYAML(file, header, 2, "allowed-tools", "capabilities", "trust")
	if err == nil {
		skill.Document, err = decodeHeader(&n, skill.Metadata)
	}
	if err != nil {
		e := err.(*Error)
		return none(e.Pos, e.What)
	}
	return skill, slips
}

// misspelt tells of keys that are nearly one that gives rights, which restrict nothing;
// of no more than there are, since runs tell of them, too.
func misspelt(file string, header []byte) (found []Finding) {
	line := 1
	for text := range strings.Lines(string(header)) {
		line++
		key, _, ok := strings.Cut(text, ":")
		if !ok || strings.TrimLeft(key, " \t#") != key || len(found) == len(rightsKeys) {
			continue // of a text, or of another key
		}
		key = strings.Trim(key, `"'`)
		if meant := Nearest(strings.ReplaceAll(strings.ToLower(key), "_", "-"), rightsKeys[:]); meant != "" && key != meant {
			found = append(found, Finding{Pos{file, line, 1}, fmt.Sprintf("key %q is not read, and restricts nothing (did you mean %q?)", key, meant)})
		}
	}
	return found
}

// cutHeader gives the text between the first line, "---", and the next line
// that is the same; fault says why others might cut elsewhere.
func cutHeader(data []byte) (header []byte, fault string) {
	cut := len(data) > maxHeader
	data = data[:min(len(data), maxHeader)]
	rest, bom := bytes.CutPrefix(data, []byte("\ufeff"))
	if bom {
		fault = byteOrderMark
	}
	first, rest, _ := bytes.Cut(rest, []byte("\n"))
	if string(bytes.TrimRight(first, "\r")) != "---" {
		return nil, "does not start with a line \"---\""
	}
	for i := 0; i < len(rest); {
		line, _, whole := bytes.Cut(rest[i:], []byte("\n"))
		if string(bytes.TrimRight(line, "\r")) == "---" && (whole || !cut) {
			header = rest[:i]
			if bytes.Contains(header, []byte("---")) {
				fault = "\"---\" inside the header"
			}
			return header, fault
		}
		i += len(line) + 1
	}
	return rest, noEnd
}

const noEnd = "the header has no end"

// display reads name, version and description leniently, line by line.
func display(file string, header []byte) Metadata {
	m := Metadata{Pos: Pos{File: file, Line: 1, Column: 1}}
	for line := range strings.Lines(string(header)) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch key {
		case "name":
			m.Name = value
		case "version":
			m.Version = value
		case "description":
			m.Description = value
		}
	}
	return m
}

// decodeHeader gives the rights that a parsed header declares.
func decodeHeader(n *node, m Metadata) (*Document, error) {
	if n.kind != mapNode {
		return nil, errorAt(n.pos, "the header is not a list of keys")
	}
	d := &Document{File: n.pos.File, Form: Header, Skill: m}
	tools, capabilities := n.get("allowed-tools"), n.get("capabilities")
	if trust := n.get("trust"); trust != nil {
		d.Skill.HasTier = true
		switch trust.text {
		case "builtin":
			d.Skill.Tier = BuiltIn
		case "approved":
			d.Skill.Tier = Approved
		case "untrusted":
			d.Skill.Tier = Untrusted
		default:
			return nil, errorAt(trust.pos, "trust is builtin, approved or untrusted")
		}
	}
	if tools != nil && tools.kind != nullNode {
		if err := decodeTools(d, tools); err != nil {
			return nil, err
		}
	}
	if capabilities != nil && capabilities.kind != nullNode {
		if err := decodeArmorclaw(d, capabilities); err != nil {
			return nil, err
		}
	}
	if d.Entries == nil && capabilities == nil {
		return nil, nil // an empty list restricts nothing, as in OpenSkills
	}
	for i := range d.Entries {
		d.Entries[i].Source = "skill:" + m.Name
	}
	return d, nil
}

// decodeTools reads allowed-tools: a list, or a string of names between spaces
// or commas.
func decodeTools(d *Document, n *node) error {
	var words []Text
	switch n.kind {
	case listNode:
		for i := range n.items {
			item := &n.items[i]
			if item.kind != stringNode {
				return errorAt(item.pos, "a tool is a name, not %s", item.kind)
			}
			words = append(words, Text{item.text, item.pos})
		}
	case stringNode:
		words = toolWords(n)
	default:
		return errorAt(n.pos, "allowed-tools must be a list or a string, not %s", n.kind)
	}
	for _, w := range words {
		if err := plain(w.Value, w.Pos); err != nil {
			return err
		}
		if err := addTool(d, w); err != nil {
			return err
		}
	}
	return nil
}

// toolWords cuts at spaces and commas outside of parentheses.
func toolWords(n *node) []Text {
	var words []Text
	depth, from := 0, 0
	cut := func(to int) {
		if from < to {
			words = append(words, Text{n.text[from:to], n.at(from)})
		}
		from = to + 1
	}
	for i := 0; i < len(n.text); i++ {
		switch c := n.text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case (c == ' ' || c == ',') && depth <= 0:
			cut(i)
		}
	}
	cut(len(n.text))
	return words
}

// toolRights is what agents' tools come to. What a skill without a header may
// do anyway is allowed without a question.
var toolRights = [...]struct {
	tool         string
	capabilities []string
}{
	{"Read", []string{"filesystem.read"}},
	{"Grep", []string{"filesystem.read"}},
	{"Glob", []string{"filesystem.read"}},
	{"LS", []string{"filesystem.read"}},
	{"NotebookRead", []string{"filesystem.read"}},
	{"Write", []string{"filesystem.read", "filesystem.write"}},
	{"Edit", []string{"filesystem.read", "filesystem.write"}},
	{"MultiEdit", []string{"filesystem.read", "filesystem.write"}},
	{"NotebookEdit", []string{"filesystem.read", "filesystem.write"}},
	{"Delete", []string{"filesystem.delete"}},
	{"Bash", []string{"shell.execute", "filesystem.read", "filesystem.write"}},
	{"Terminal", []string{"shell.execute", "filesystem.read", "filesystem.write"}},
	{"WebSearch", []string{"web.fetch"}},
	{"Fetch", []string{"web.fetch"}},
	{"WebFetch", []string{"web.fetch"}},
	{"Task", []string{"subagent.delegate"}},
	{"Agent", []string{"subagent.delegate"}},
	{"Skill", []string{"tool.skill"}},
}

// addTool adds the entries of one tool, such as "Bash(git:*)".
func addTool(d *Document, w Text) error {
	name, specifier, found := strings.Cut(w.Value, "(")
	if found {
		var ok bool
		if specifier, ok = strings.CutSuffix(specifier, ")"); !ok || specifier == "" {
			return errorAt(w.Pos, "%q: a specifier stands between parentheses", w.Value)
		}
	}
	var names []string
	for _, t := range toolRights {
		if t.tool == name {
			names = t.capabilities
		}
	}
	base := Entry{Effect: Allow, Pos: w.Pos}
	switch {
	case strings.HasPrefix(name, "mcp__"):
		names = []string{"mcp.execute"}
		base.Constraints.Scoped, base.Constraints.Scope = true, []Text{{name, w.Pos}}
	case names == nil:
		names = []string{"tool.invoke"}
		base.Constraints.Scoped, base.Constraints.Scope = true, []Text{{name, w.Pos}}
	}
	for i, capability := range names {
		e := base
		e.Capability = capability
		if i == 0 && found {
			if err := specify(&e, name, specifier); err != nil {
				return err
			}
		}
		if strings.HasPrefix(capability, "filesystem.") && !e.Constraints.Scoped {
			e.Constraints.WorkspaceOnly = Yes
		} else if capability != "shell.execute" && !strings.HasPrefix(capability, "filesystem.") {
			e.Implied, e.Effect = true, defaultEffect(capability)
		}
		d.add(e)
	}
	return nil
}

// specify applies a specifier to the first entry of a tool.
func specify(e *Entry, tool, specifier string) error {
	c := &e.Constraints
	switch e.Capability {
	case "shell.execute":
		prefix := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(specifier, "*"), ":"), " ")
		if strings.ContainsAny(prefix, "*") {
			return errorAt(e.Pos, "%s(%s): only a \"*\" at the end is understood", tool, specifier)
		}
		if _, ok := shellWords(prefix, ""); !ok {
			return errorAt(e.Pos, "%s(%s): a quote has no end", tool, specifier)
		}
		if prefix != "" {
			c.AllowedCommands = []Text{{prefix, e.Pos}}
		}
	case "web.fetch":
		host, ok := strings.CutPrefix(specifier, "domain:")
		if _, _, fault := ParseHost(host); !ok || fault != "" {
			return errorAt(e.Pos, "%s(%s): not domain:HOST", tool, specifier)
		}
		c.Scoped, c.Scope = true, []Text{{host, e.Pos}}
	case "filesystem.read", "filesystem.write", "filesystem.delete":
		c.Scoped, c.Scope = true, []Text{{specifier, e.Pos}}
	}
	return nil
}

// Locate puts the directories of the skill and of its plugin, "" for none, into declared
// commands, where their text has them by a variable: Bash(${CLAUDE_SKILL_DIR}/scripts/x.sh *).
// It is part of one word there, whatever its name.
func (d *Document) Locate(dir, plugin string) {
	for i := range d.Entries {
		commands := d.Entries[i].Constraints.AllowedCommands
		for k := range commands {
			if !strings.Contains(commands[k].Value, "$") {
				continue
			}
			words, _ := shellWords(commands[k].Value, "")
			for w := range words {
				for _, v := range [...][2]string{{"CLAUDE_SKILL_DIR", dir}, {"SKILL_DIR", dir}, {"CLAUDE_PLUGIN_ROOT", plugin}} {
					if name, at := v[0], v[1]; at != "" {
						words[w] = strings.NewReplacer("${"+name+"}/", at+"/", "$"+name+"/", at+"/").Replace(words[w])
					}
				}
				if strings.ContainsAny(words[w], " \t'\"\\") || words[w] == "" {
					words[w] = "'" + strings.ReplaceAll(words[w], "'", `'"'"'`) + "'"
				}
			}
			commands[k].Value = strings.Join(words, " ")
		}
	}
}

// add appends an entry, joining the commands of entries that differ in nothing
// else: Bash(git:*) Bash(jq:*) is one right with two commands.
func (d *Document) add(e Entry) {
	for i := range d.Entries {
		o := &d.Entries[i]
		if o.Capability != e.Capability || o.Constraints.Scoped != e.Constraints.Scoped {
			continue
		}
		switch {
		case e.Capability == "shell.execute":
			if o.Constraints.AllowedCommands != nil && e.Constraints.AllowedCommands != nil {
				o.Constraints.AllowedCommands = append(o.Constraints.AllowedCommands, e.Constraints.AllowedCommands...)
			} else {
				o.Constraints.AllowedCommands = nil
			}
			return
		case e.Constraints.Scoped:
			o.Constraints.Scope = append(o.Constraints.Scope, e.Constraints.Scope...)
			return
		default:
			return
		}
	}
	d.Entries = append(d.Entries, e)
}

// decodeArmorclaw reads {tools: [name[:scope]], domains: [...]}.
func decodeArmorclaw(d *Document, n *node) error {
	if err := n.table("capabilities", "tools", "domains"); err != nil {
		return err
	}
	var tools, domains []Text
	var err error
	if t := n.get("tools"); t != nil {
		if tools, err = t.list(); err != nil {
			return err
		}
	}
	if t := n.get("domains"); t != nil {
		if domains, err = t.list(); err != nil {
			return err
		}
	}
	for _, t := range tools {
		name, scope, scoped := strings.Cut(t.Value, ":")
		e := Entry{Capability: armorclawTool(name), Pos: t.Pos}
		switch {
		case e.Capability == "web.fetch" && !scoped:
			if len(domains) == 0 { // no domains is no web
				e.Constraints.Scoped = true
			} else {
				continue // below, with the domains
			}
		case e.Capability == "tool.invoke":
			scope, scoped = t.Value, true
		}
		if scoped {
			e.Constraints.Scoped = true
			e.Constraints.Scope = []Text{{scope, t.Pos}}
		}
		e.Implied, e.Effect = true, defaultEffect(e.Capability)
		d.add(e)
	}
	if len(domains) > 0 {
		e := Entry{Capability: "web.fetch", Implied: true, Effect: Allow, Pos: domains[0].Pos}
		e.Constraints.Scoped = true
		for _, t := range domains {
			if _, _, fault := ParseHost(t.Value); fault != "" {
				return errorAt(t.Pos, "domain %q: %s", t.Value, fault)
			}
			// A domain covers its subdomains.
			e.Constraints.Scope = append(e.Constraints.Scope, t)
			if sub := "*." + t.Value; profiles.CheckHost(sub) == nil {
				e.Constraints.Scope = append(e.Constraints.Scope, Text{sub, t.Pos})
			}
		}
		d.add(e)
	}
	return nil
}

// armorclawTools maps Armorclaw's tools to capabilities. Others are tools of
// the agent.
var armorclawTools = [...][2]string{
	{"web_fetch", "web.fetch"}, {"oauth_call", "external_api.call"},
	{"memory_read", "agent_memory.read"}, {"memory_query", "agent_memory.read"}, {"memory_write", "agent_memory.write"},
	{"filesystem_read", "filesystem.read"}, {"filesystem_write", "filesystem.write"}, {"filesystem_delete", "filesystem.delete"},
	{"shell_execute", "shell.execute"},
}

func armorclawTool(name string) string {
	for _, t := range armorclawTools {
		if t[0] == name {
			return t[1]
		}
	}
	return "tool.invoke"
}
