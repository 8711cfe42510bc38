package policy

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

var manifestNames = [...]string{"skillguard-manifest.json", "manifest.json", ".skillguard.json", "skillrun.toml"}

// ManifestNames lists the files of a skill directory that may hold its
// manifest, strongest first. The header of SKILL.md (or skill.md) comes after
// them; see [ParseHeader].
func ManifestNames() []string { return append([]string(nil), manifestNames[:]...) }

// Misnamed gives the name that a file would have to have to be read as a manifest or
// SKILL.md, where its own is nearly one: skillrun.tml, skillguard_manifest.yaml. "" for a
// name that is right, or another's; many a program has a manifest.json.
func Misnamed(name string) string {
	lower := strings.ToLower(name)
	ext := path.Ext(lower)
	meant := "skillguard-manifest.json"
	switch {
	case slices.Contains(manifestNames[:], name) || name == "SKILL.md" || name == "skill.md":
		return ""
	case lower == "skill.md":
		return "SKILL.md"
	case slices.Contains([]string{".toml", ".tml", ".tom"}, ext):
		meant = "skillrun.toml"
	case !slices.Contains([]string{".json", ".jsn", ".json5", ".jsonc", ".yaml", ".yml"}, ext):
		return ""
	}
	stem := strings.NewReplacer("_", "-", " ", "-").Replace(strings.TrimSuffix(lower, ext))
	switch Nearest(stem, []string{"skillguard-manifest", ".skillguard", "skillrun"}) {
	case "":
		return ""
	case ".skillguard":
		return ".skillguard.json"
	}
	return meant
}

// ParseManifest reads a manifest in the form that the name of its file says:
// TOML for .toml, JSON otherwise. file is used in messages and Origins. Any
// fault is an [*Error] with its place.
func ParseManifest(file string, data []byte) (*Document, error) {
	if path.Ext(file) == ".toml" {
		n, err := parseTOML(file, data)
		if err != nil {
			return nil, err
		}
		return decodeDocument(&n, TOML)
	}
	n, err := parseJSON(file, data)
	if err != nil {
		return nil, err
	}
	return decodeDocument(&n, JSON)
}

// decodeDocument gives a parsed manifest its meaning, in all forms the same.
func decodeDocument(n *node, form Form) (*Document, error) {
	d := &Document{File: n.pos.File, Form: form}
	known := []string{"$schema", "skill_metadata", "permissions", "description", "session_defaults"}
	if form == TOML {
		known = append(known, "limits", "environment", "toolchains")
	}
	if err := n.table("the manifest", known...); err != nil {
		return nil, err
	}
	if count := n.nodes(); count > maxNodes {
		return nil, errorAt(n.pos, "the manifest holds %d values, more than %d", count, maxNodes)
	}
	for i := range n.keys {
		var err error
		switch v := &n.keys[i].node; n.keys[i].name {
		case "$schema", "description":
			_, err = v.prose()
		case "skill_metadata":
			d.Skill, err = decodeMetadata(v)
		case "permissions":
			d.Entries, err = decodeEntries(v)
		case "session_defaults":
			if err = v.table("session_defaults", "permissions"); err == nil {
				if p := v.get("permissions"); p != nil {
					d.Entries, err = decodeEntries(p)
				}
			}
		case "limits":
			d.Limits, err = decodeLimits(v)
		case "environment":
			d.Environment, err = decodeEnvironment(v)
		case "toolchains":
			d.Toolchains, err = v.list()
		}
		if form == TOML {
			err = sunken(err, n, known)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case n.get("permissions") != nil && n.get("session_defaults") != nil:
		return nil, errorAt(n.get("session_defaults").pos, "a manifest has permissions or session_defaults, not both")
	case n.get("permissions") == nil && n.get("session_defaults") == nil:
		return nil, errorAt(n.pos, "the manifest has no permissions (an empty list grants nothing)")
	}
	source := "session-default"
	if n.get("permissions") != nil && d.Skill.Name != "" {
		source = "skill:" + d.Skill.Name
	}
	for i := range d.Entries {
		if d.Entries[i].Source == "" {
			d.Entries[i].Source = source
		}
	}
	return d, nil
}

func decodeMetadata(n *node) (m Metadata, err error) {
	m.Pos = n.pos
	if err = n.table("skill_metadata", "name", "version", "description", "trust_tier"); err != nil {
		return m, err
	}
	for i := range n.keys {
		switch v := &n.keys[i].node; n.keys[i].name {
		case "name":
			m.Name, err = v.str()
		case "version":
			m.Version, err = v.str()
		case "description":
			m.Description, err = v.prose()
		case "trust_tier":
			if v.kind != intNode || v.number < 1 || v.number > 4 {
				return m, errorAt(v.pos, "trust_tier is 1, 2, 3 or 4")
			}
			m.Tier, m.HasTier = BuiltIn-Tier(v.number-1), true
		}
		if err != nil {
			return m, err
		}
	}
	if m.Name == "" {
		return m, errorAt(n.pos, "skill_metadata has no name")
	}
	return m, nil
}

func decodeEntries(n *node) ([]Entry, error) {
	if err := n.is(listNode, "permissions"); err != nil {
		return nil, err
	}
	entries := make([]Entry, len(n.items))
	for i := range n.items {
		var err error
		e := &entries[i]
		if *e, err = decodeEntry(&n.items[i]); err != nil {
			return nil, err
		}
		for i := range e.Constraints.Scope {
			t := &e.Constraints.Scope[i]
			t.Value = inHome(t.Value)
			if e.Effect != Deny || unnamed(e.Capability, t.Value) == "" {
				continue
			}
			if wider := hostIn(t.Value); slices.ContainsFunc(Expand(e.Capability), networked) && unnamed(e.Capability, wider) == "" {
				t.Value = wider
				continue
			}
			return nil, errorAt(t.Pos, "%q is to be denied, and names nothing: %s", t.Value, unnamed(e.Capability, t.Value))
		}
	}
	return entries, nil
}

// aPermission is what an entry is called in errors.
const aPermission = "a permission"

var constraintKeys = [...]string{"workspace_only", "denied_command_patterns", "arguments", "resource_scope", "time_window", "rate_limit"}

func decodeEntry(n *node) (e Entry, err error) {
	e.Pos = n.pos
	if err = n.table(aPermission, "capability", "effect", "priority", "constraints", "fallback_msg", "source", "granted_at", "expires_at"); err != nil {
		return e, err
	}
	if n.get("capability") == nil {
		return e, errorAt(n.pos, "a permission has no capability")
	}
	effect := false
	for i := range n.keys {
		switch v := &n.keys[i].node; n.keys[i].name {
		case "capability":
			if e.Capability, err = v.str(); err == nil && len(Expand(e.Capability)) == 0 {
				err = unknownCapability(v.pos, e.Capability)
			}
		case "effect":
			effect = true
			e.Effect, err = decodeEffect(v)
		case "priority":
			if err = v.is(intNode, "priority"); err == nil {
				e.Priority = int(v.number)
				if v.number != int64(int32(v.number)) {
					err = errorAt(v.pos, "priority %d is out of range", v.number)
				}
			}
		case "constraints":
			e.Constraints, err = decodeConstraints(v)
		case "fallback_msg":
			e.Message, err = v.prose()
		case "source":
			e.Source, err = v.str()
		case "granted_at":
			e.Granted, err = v.time()
		case "expires_at":
			e.Expires, err = v.time()
		}
		if err != nil {
			return e, err
		}
	}
	if !effect {
		e.Implied, e.Effect = true, defaultEffect(e.Capability)
	}
	return e, nil
}

// inHome writes a path beneath the home as scopes do, where an item has it as shells
// do.
func inHome(item string) string {
	for _, home := range []string{"$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(item, home); ok && (rest == "" || rest[0] == '/') {
			return "~" + rest
		}
	}
	return item
}

// hostIn gives the host of an item that names one and more, such as a path or a user,
// which no denial is held to: all of the host is denied.
func hostIn(item string) string {
	if _, rest, ok := strings.Cut(item, "://"); ok {
		item = rest
	}
	host, path, _ := strings.Cut(item, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if _, err := netip.ParseAddr(host); err == nil && path != "" && strings.Trim(path, "0123456789") == "" {
		return item // a prefix
	}
	return host
}

// unnamed says why an item of a scope names nothing to any capability of a pattern,
// "" if it may. Who denies by such an item would take it to hold.
func unnamed(pattern, item string) (fault string) {
	for _, c := range Expand(pattern) {
		switch {
		case c.means == fetchWeb || c.means == postWeb || c.means == runClient:
			_, _, fault = ParseHost(item)
		case c.Group == "Storage" || strings.HasPrefix(c.Name, "source_code."):
			if fault = ""; strings.Contains(item, "://") || strings.HasPrefix(item, "~") && item != "~" && !strings.HasPrefix(item, "~/") {
				fault = "not a path that is absolute, in ~ or in the workspace"
			}
		case c.means == passVariables:
			if fault = ""; item != "*" && !variableName(strings.TrimSuffix(item, "*")) {
				fault = "not the name of a variable"
			}
		default:
			return ""
		}
		if fault == "" {
			return ""
		}
	}
	return fault
}

// defaultEffect is the strictest default among the capabilities of a pattern.
func defaultEffect(pattern string) Effect {
	effect := Allow
	for _, c := range Expand(pattern) {
		effect = min(effect, c.Level.Default())
	}
	return effect
}

func unknownCapability(pos Pos, name string) error {
	names := make([]string, len(taxonomy))
	for i := range taxonomy {
		if names[i] = taxonomy[i].Name; name != "" && strings.EqualFold(name, taxonomy[i].Label) {
			return errorAt(pos, "unknown capability %q (did you mean %q?)", name, names[i])
		}
	}
	if s := Nearest(name, names); s != "" {
		return errorAt(pos, "unknown capability %q (did you mean %q?)", name, s)
	}
	if near := related(name, names); near != nil {
		return errorAt(pos, "unknown capability %q: not one of %s", name, strings.Join(near, ", "))
	}
	return errorAt(pos, "unknown capability %q", name)
}

// related gives the names whose group begins as name does, "network.client" for
// "net", or else those of the same action, all that end in ".fetch" for "fetch".
func related(name string, known []string) []string {
	group, _, _ := strings.Cut(name, ".")
	action := name[strings.LastIndexByte(name, '.')+1:]
	var near, alike []string
	for _, k := range known {
		if group != "" && strings.HasPrefix(k, group) {
			near = append(near, k)
		}
		if action != "" && strings.HasSuffix(k, "."+action) {
			alike = append(alike, k)
		}
	}
	if near == nil {
		return alike
	}
	return near
}

func decodeEffect(n *node) (Effect, error) {
	s, err := n.str()
	if err != nil {
		return Deny, err
	}
	for i, w := range effectWords {
		if s == w {
			return Effect(i), nil
		}
	}
	return Deny, errorAt(n.pos, "unknown effect %q: not allow, confirm or deny", s)
}

func decodeConstraints(n *node) (c Constraints, err error) {
	if err = n.table("constraints", constraintKeys[:]...); err != nil {
		return c, err
	}
	for i := range n.keys {
		switch v := &n.keys[i].node; n.keys[i].name {
		case "workspace_only":
			if err = v.is(boolNode, "workspace_only"); err == nil {
				c.WorkspaceOnly = No
				if v.truth {
					c.WorkspaceOnly = Yes
				}
			}
		case "denied_command_patterns":
			c.DeniedCommands, err = decodePatterns(v)
		case "arguments":
			c.Arguments, err = decodeArguments(v)
		case "resource_scope":
			c.Scoped = true
			c.Scope, err = v.list()
		case "time_window":
			c.Window, err = decodeWindow(v)
		case "rate_limit":
			c.Rate, err = decodeRate(v)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

func decodePatterns(n *node) ([]Pattern, error) {
	texts, err := n.list()
	if err != nil {
		return nil, err
	}
	patterns := make([]Pattern, len(texts))
	for i, t := range texts {
		re, err := regexp.Compile(t.Value)
		if err != nil {
			return nil, errorAt(t.Pos, "pattern %q: %s", t.Value, patternFault(t.Value, err))
		}
		patterns[i] = Pattern{t.Value, re, t.Pos}
	}
	return patterns, nil
}

// pcreOnly lists what manifests use from PCRE that a pattern without
// backtracking cannot express.
var pcreOnly = [...]struct{ mark, name string }{
	{"(?=", "lookahead"}, {"(?!", "lookahead"}, {"(?<=", "lookbehind"}, {"(?<!", "lookbehind"},
	{"(?>", "an atomic group"}, {"(?R)", "recursion"}, {"(?(", "a condition"},
	{"*+", "a possessive quantifier"}, {"++", "a possessive quantifier"}, {"?+", "a possessive quantifier"},
}

func patternFault(pattern string, err error) string {
	for _, p := range pcreOnly {
		if strings.Contains(pattern, p.mark) {
			return p.name + " of PCRE cannot be honoured"
		}
	}
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] == '\\' {
			if i++; '1' <= pattern[i] && pattern[i] <= '9' {
				return "a back reference of PCRE cannot be honoured"
			}
		}
	}
	return Escape(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
}

func decodeArguments(n *node) ([]Argument, error) {
	if err := n.is(mapNode, "arguments"); err != nil {
		return nil, err
	}
	var args []Argument
	for i := range n.keys {
		v := &n.keys[i].node
		a := Argument{Name: n.keys[i].name, Pos: n.keys[i].pos}
		if err := plain(a.Name, a.Pos); err != nil {
			return nil, err
		}
		items := []node{*v}
		if v.kind == listNode {
			items = v.items
		}
		for _, item := range items {
			switch item.kind {
			case stringNode:
				if err := plain(item.text, item.pos); err != nil {
					return nil, err
				}
				a.Values = append(a.Values, item.text)
			case intNode, floatNode:
				a.Values = append(a.Values, item.text)
			case boolNode:
				a.Values = append(a.Values, strconv.FormatBool(item.truth))
			default:
				return nil, errorAt(item.pos, "argument %q: %s where a string, number, truth value or list of them should be", a.Name, item.kind)
			}
		}
		args = append(args, a)
	}
	return args, nil
}

var weekdays = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func decodeWindow(n *node) (w Window, err error) {
	w.Pos, w.To = n.pos, 24*time.Hour
	if err = n.table("time_window", "start", "end", "days", "timezone"); err != nil {
		return w, err
	}
	if n.get("start") == nil != (n.get("end") == nil) {
		return w, errorAt(n.pos, "time_window has only one of start and end")
	}
	for i := range n.keys {
		switch v := &n.keys[i].node; n.keys[i].name {
		case "start":
			w.From, err = v.clock()
		case "end":
			w.To, err = v.clock()
		case "days":
			var days []Text
			if days, err = v.list(); err != nil {
				return w, err
			}
			if len(days) == 0 {
				return w, errorAt(v.pos, "days is empty: the entry would never apply")
			}
			for _, d := range days {
				day := -1
				for j, name := range weekdays {
					if strings.EqualFold(d.Value, name) {
						day = j
					}
				}
				if day < 0 {
					return w, errorAt(d.Pos, "unknown day %q: not mon, tue, wed, thu, fri, sat or sun", d.Value)
				}
				w.Days = append(w.Days, time.Weekday(day))
			}
		case "timezone":
			w.Zone, err = v.zone()
		}
		if err != nil {
			return w, err
		}
	}
	return w, nil
}

func decodeRate(n *node) (r Rate, err error) {
	r.Pos = n.pos
	if err = n.table("rate_limit", "max", "per", "per_seconds", "max_bytes", "max_connections"); err != nil {
		return r, err
	}
	period := n.get("per") != nil || n.get("per_seconds") != nil
	switch {
	case period && n.get("max") == nil || len(n.keys) == 0:
		return r, errorAt(n.pos, "rate_limit has no max")
	case n.get("per") != nil && n.get("per_seconds") != nil:
		return r, errorAt(n.pos, "rate_limit has both per and per_seconds")
	}
	for i := range n.keys {
		switch v := &n.keys[i].node; n.keys[i].name {
		case "max":
			r.Max, err = v.positive("max")
		case "max_bytes":
			r.MaxBytes, err = v.size("max_bytes")
		case "max_connections":
			r.MaxConnections, err = v.positive("max_connections")
		case "per_seconds":
			var seconds int64
			if seconds, err = v.positive("per_seconds"); seconds > 1<<31 {
				err = errorAt(v.pos, "per_seconds %d is out of range", seconds)
			}
			r.Per = time.Duration(seconds) * time.Second
		case "per":
			var s string
			if s, err = v.str(); err != nil {
				return r, err
			}
			switch s {
			case "second":
				r.Per = time.Second
			case "minute":
				r.Per = time.Minute
			case "hour":
				r.Per = time.Hour
			case "day":
				r.Per = 24 * time.Hour
			case "session":
			default:
				return r, errorAt(v.pos, "unknown period %q: not second, minute, hour, day or session", s)
			}
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// table says that n is a table with no keys but the known ones.
func (n *node) table(what string, known ...string) error {
	if err := n.is(mapNode, what); err != nil {
		return err
	}
next:
	for i := range n.keys {
		for _, k := range known {
			if n.keys[i].name == k {
				continue next
			}
		}
		return n.keys[i].unknown(what, known)
	}
	return nil
}

// unknown is the error of a key that a table does not have: with the one that was
// meant, which may be one of constraints, or with those that it has.
func (f *field) unknown(what string, known []string) error {
	meant := Nearest(f.name, known)
	for _, k := range constraintKeys {
		if what == aPermission && (k == f.name || len(f.name) > 3 && strings.Contains(k, f.name)) {
			meant = "constraints." + k
		}
	}
	if meant != "" {
		return errorAt(f.pos, "unknown key %q in %s (did you mean %q?)", f.name, what, meant)
	}
	return errorAt(f.pos, "unknown key %q in %s: not one of %s", f.name, what, strings.Join(known, ", "))
}

// sunken adds to an error about a key of a TOML table that it is a key of the
// file: who writes one below a [table] means the file's, and TOML the table's.
func sunken(err error, file *node, known []string) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	for i := range file.keys {
		for _, k := range file.keys[i].node.keys {
			if k.pos == e.Pos && slices.Contains(known, k.name) {
				what, _, _ := strings.Cut(e.What, ": not one of ")
				return errorAt(e.Pos, "%s; as a key of the file it stands above the first [table]", what)
			}
		}
	}
	return err
}

func (n *node) is(k kind, what string) error {
	if n.kind != k {
		return errorAt(n.pos, "%s must be %s, not %s", what, k, n.kind)
	}
	return nil
}

// str is a string of one line, not empty.
func (n *node) str() (string, error) {
	if err := n.is(stringNode, "this"); err != nil {
		return "", err
	}
	if n.text == "" {
		return "", errorAt(n.pos, "empty string")
	}
	return n.text, plain(n.text, n.pos)
}

// prose is a string that may have several lines, or be empty.
func (n *node) prose() (string, error) {
	if err := n.is(stringNode, "this"); err != nil {
		return "", err
	}
	return n.text, plain(strings.NewReplacer("\n", "", "\t", "").Replace(n.text), n.pos)
}

// plain refuses control characters, which reach strings through escapes.
func plain(s string, pos Pos) error {
	for _, r := range s {
		if r < 0x20 || 0x7f <= r && r < 0xa0 || r == utf8.RuneError {
			return errorAt(pos, "control character %#02x in a string", r)
		}
	}
	return nil
}

func (n *node) list() ([]Text, error) {
	if err := n.is(listNode, "this"); err != nil {
		return nil, err
	}
	texts := make([]Text, len(n.items))
	for i := range n.items {
		s, err := n.items[i].str()
		if err != nil {
			return nil, err
		}
		texts[i] = Text{s, n.items[i].pos}
	}
	return texts, nil
}

func (n *node) positive(what string) (int64, error) {
	if err := n.is(intNode, what); err != nil {
		return 0, err
	}
	if n.number <= 0 {
		return 0, errorAt(n.pos, "%s is %d: not positive", what, n.number)
	}
	return n.number, nil
}

func (n *node) time() (time.Time, error) {
	s, err := n.str()
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, errorAt(n.pos, "%q is not a time like 2026-01-31T12:00:00Z", s)
	}
	return t.UTC(), nil
}

// clock is a time of day: "09:30", or "24:00" for its end.
func (n *node) clock() (time.Duration, error) {
	s, err := n.str()
	if err != nil {
		return 0, err
	}
	if s == "24:00" {
		return 24 * time.Hour, nil
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, errorAt(n.pos, "%q is not a time of day like 09:30", s)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// zone is "UTC" or an offset: named zones differ with each machine's data.
func (n *node) zone() (*time.Location, error) {
	s, err := n.str()
	if err != nil || s == "UTC" {
		return time.UTC, err
	}
	t, err := time.Parse("-07:00", s)
	if err != nil {
		return nil, errorAt(n.pos, `timezone %q is neither "UTC" nor an offset like "+02:00"`, s)
	}
	_, offset := t.Zone()
	return time.FixedZone(s, offset), nil
}
