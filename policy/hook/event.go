package hook

import (
	"bytes"
	"errors"
	"fmt"
	pathpkg "path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"skillrun/policy"
	"skillrun/policy/jsontext"
)

// MaxEvent is the size in bytes above which an event is refused: 8 MiB.
const MaxEvent = 8 << 20

// Kind is what an agent tells of.
type Kind uint8

// The kinds; the zero kind is none that is known, and is refused.
const (
	Unknown      Kind = iota
	SessionStart      // a session begins or goes on
	BeforeTool        // a tool is about to be used
	Permission        // the agent is about to ask its user about a tool
	AfterTool         // a tool was used
)

// Event is one thing that an agent says.
type Event struct {
	Kind Kind
	// Session is the agent's name for its session: 1 to 128 letters, digits,
	// ".", "_" and "-".
	Session string
	// Cwd is the directory that the agent is in: absolute, and as given but for
	// "." and empty parts. The model may have chosen it.
	Cwd string
	// Mode is how the agent asks its user, in its own words; "" if it does not
	// say.
	Mode string
	// Call names the use of the tool, so that what came of it can be found
	// again: as Session, or "" where the agent gives none.
	Call string
	// Tool is the tool as the agent calls it, Row what is known of it.
	Tool string
	Row  Tool
	// Requests are what the use of the tool needs; none is the agent's own
	// affair. Paths are like Cwd, links not followed; Place, Time and
	// Uses are the caller's to fill in.
	Requests []policy.Request

	spelled int    // alternatives of its patterns, beyond one for each
	dir     string // where the call wants its command run; "" if it does not say
	wire    string // the event in the agent's words
	data    []byte
	home    string
	fixed   bool   // the input stays as it is, whatever is answered
	input   *value // an object, or the text of a patch; nil without a tool
	source  []byte // the text that the input lies in
	output  *value // what the tool gave
}

// Fixed says that no answer to the event puts another command in the place of its
// own.
func (e *Event) Fixed() bool { return e.fixed }

// Replace has the event ask for another command, which its own stands for.
func (e *Event) Replace(command string) { e.Requests[0].Command = command }

// Command is the shell command of a use of the shell, "" of anything else.
func (e *Event) Command() string {
	if e.Row.kind != shellCommand || len(e.Requests) == 0 {
		return ""
	}
	return e.Requests[0].Command
}

// Searches says that the tool shows what files beneath its paths hold.
func (e *Event) Searches() bool { return e.Row.kind == tree }

// Dir is the directory that the use of the tool begins in: what its call says,
// else the agent's.
func (e *Event) Dir() string {
	if e.dir != "" {
		return e.dir
	}
	return e.Cwd
}

// argument gives an argument of the tool, if it is a string.
func (e *Event) argument(name string) (string, bool) {
	if e.input == nil {
		return "", false
	}
	if v := e.input.Get(name); v != nil && v.Kind == '"' {
		return v.Text, true
	}
	return "", false
}

// Read reads an event. home is what "~" stands for. The event comes back with an
// error too, as far as it was understood, for [Agent.Refuse].
func (a *Agent) Read(data []byte, home string) (*Event, error) {
	e := &Event{data: data, home: home}
	fail := func(err error) (*Event, error) { return e, fmt.Errorf("event: %w", err) }
	if len(data) > MaxEvent {
		return fail(fmt.Errorf("larger than %d bytes", MaxEvent))
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return fail(errors.New("empty"))
	}
	v, err := jsontext.Read(data, jsontext.Options{Depth: maxDepth, Halves: true})
	if err != nil {
		return fail(err)
	}
	if v.Kind != '{' {
		return fail(errors.New("not an object"))
	}
	text := func(name string, to *string, needed bool) {
		switch m := v.Get(name); {
		case err != nil || name == "":
		case m == nil || m.Kind == 'n':
			if needed {
				err = fmt.Errorf("no %s", name)
			}
		case m.Kind != '"':
			err = fmt.Errorf("%s is not a string", name)
		default:
			*to = m.Text
		}
	}
	f := &a.fields
	text(f.event, &e.wire, true)
	about := ""
	for _, n := range a.events {
		if m := v.Get(n.mark); n.name == e.wire || e.wire == "" && n.mark != "" && m != nil && m.Kind != 'n' {
			e.wire, e.Kind, about = n.name, n.kind, n.tool
		}
	}
	// A program may write anything, and agents cut texts in the middle of a
	// character: what a tool gave is read all the same, to take secrets out of it.
	// What is decided about is to be the same to every reader.
	e.output = v.Get(f.output)
	for _, m := range v.Members {
		if m.Value.Halves && err == nil && (e.Kind != AfterTool || m.Name != f.output) {
			err = errHalf
		}
	}
	text(f.session, &e.Session, true)
	text(f.cwd, &e.Cwd, a.roots == "")
	place := f.cwd
	if roots := v.Get(a.roots); a.roots != "" && e.Cwd == "" && roots != nil && len(roots.Items) > 0 {
		e.Cwd, place = roots.Items[0].Text, "the first of "+a.roots
	}
	text(f.mode, &e.Mode, false)
	text(f.call, &e.Call, false)
	switch {
	case err != nil:
		return fail(err)
	case e.Kind == Unknown:
		return fail(fmt.Errorf("unknown event %q", policy.Escape(e.wire)))
	case !ValidID(e.Session):
		return fail(fmt.Errorf("%s is not 1 to 128 letters, digits, \".\", \"_\", \"-\"", f.session))
	case e.Cwd == "" && place == f.cwd && a.roots != "":
		return fail(fmt.Errorf("no %s, and %s names no directory: a project is to be open in the agent", f.cwd, a.roots))
	case !pathpkg.IsAbs(e.Cwd) || strings.IndexByte(e.Cwd, 0) >= 0 || len(e.Cwd) > policy.MaxPath:
		return fail(fmt.Errorf("%s is not an absolute path of at most %d bytes", place, policy.MaxPath))
	}
	if !ValidID(e.Call) {
		e.Call = ""
	}
	e.Cwd = tidy(e.Cwd)
	if e.Kind == SessionStart {
		return e, nil
	}
	if err := e.readTool(a, &v, about); err != nil {
		return fail(err)
	}
	return e, nil
}

// readTool reads the use of a tool out of the event v. about is the tool that the kind
// of event is always about, or the beginning of its name and "*"; "" if the event
// names it.
func (e *Event) readTool(a *Agent, v *value, about string) (err error) {
	f := &a.fields
	prefix, named := strings.CutSuffix(about, "*")
	if about == "" || named {
		name := v.Get(f.tool)
		if name == nil || name.Kind != '"' || name.Text == "" {
			return fmt.Errorf("no %s", f.tool)
		}
		e.Tool = name.Text
	}
	e.Tool = prefix + e.Tool
	e.Row = find(a.tools, e.Tool)
	e.input, e.source = v.Get(f.input), e.data
	if e.fixed = about != ""; e.fixed {
		e.input = v
	} else if a.packed && e.input != nil && e.input.Kind == '"' {
		packed, unread := parseJSON([]byte(e.input.Text), false)
		switch {
		case unread == nil && packed.Kind == '{':
			e.input, e.source = &packed, []byte(e.input.Text)
		case unread != nil && e.Row.kind != patch:
			return fmt.Errorf("%s, in its text: %w", f.input, unread)
		}
	}
	if e.input == nil || e.input.Kind != '{' && !(a.packed && e.input.Kind == '"' && e.Row.kind == patch) {
		return fmt.Errorf("%s is not an object", f.input)
	}
	for _, of := range [...]string{"mcp_context", "mcp_server"} {
		if m := v.Get(of); m != nil && m.Kind == '{' {
			// A server's tool, which may be called as one of the agent's own.
			e.Row = Tool{Name: e.Tool, Capability: "mcp.execute", kind: toolName}
		}
	}
	if e.Requests, err = e.requests(); err != nil {
		return fmt.Errorf("tool %s: %w", policy.Escape(e.Tool), err)
	}
	return nil
}

// ValidID says whether a text can name a session or a call: nothing in it means
// anything to a shell or a file system.
func ValidID(s string) bool {
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return 0 < len(s) && len(s) <= 128 && s[0] != '.' && s[0] != '-'
}

// requests says what the use of the tool needs.
func (e *Event) requests() ([]policy.Request, error) {
	t := &e.Row
	if t.Capability == "" {
		return nil, nil
	}
	if err := e.oneSpelling(); err != nil {
		return nil, err
	}
	r := policy.Request{Capability: t.Capability}
	switch t.kind {
	case nothing:
		return []policy.Request{r}, nil
	case toolName:
		r.Names = []string{e.Tool}
		return []policy.Request{r}, nil
	}
	if t.kind == pattern {
		found, err := e.spelledOut()
		r.Paths = found
		return []policy.Request{r}, err
	}
	values, err := e.values()
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case shellCommand:
		if len(values) != 1 || strings.IndexByte(values[0], 0) >= 0 {
			return nil, errors.New("the command is not one text without NUL")
		}
		r.Command = values[0]
		for _, member := range directories {
			if v, ok := e.argument(member); ok && v != "" {
				if e.dir, err = e.absolute(v); err != nil {
					return nil, err
				}
			}
		}
	case path, paths, tree:
		for _, v := range values {
			all, err := e.meant(v)
			if err != nil {
				return nil, err
			}
			r.Paths = append(r.Paths, all...)
		}
		if len(values) == 0 {
			r.Paths = []string{e.Cwd}
		}
	case patterns:
		for _, v := range values {
			found, err := e.matched(e.Cwd, v)
			if err != nil {
				return nil, err
			}
			r.Paths = append(r.Paths, found...)
		}
	case patch:
		return patched(e, values)
	case address:
		for _, v := range values {
			host, ports, fault := policy.ParseHost(v)
			if fault == "" && !strings.Contains(v, "://") {
				fault = "not a URL such as https://example.com"
			}
			if fault != "" {
				return nil, fmt.Errorf("address %q: %s", policy.Escape(v), fault)
			}
			if strings.Contains(host, ":") {
				host = "[" + host + "]"
			}
			if len(ports) == 1 {
				host = fmt.Sprintf("%s:%d", host, ports[0].First)
			}
			r.Hosts = append(r.Hosts, host)
		}
	case name:
		r.Names = values
		for i := range e.input.Members {
			if t.Capability == "context.load" && policy.StartedBy(e.input.Members[i].Value.Text) {
				return nil, errors.New("a word of its arguments begins with \"!\" or \"@\": some agents start or read by themselves what follows")
			}
		}
	}
	return []policy.Request{r}, nil
}

// directories are the members of a shell's call that say where its command runs, in the
// agents' schemas.
var directories = [...]string{"dir_path", "directory", "workdir", "working_directory", "cwd"}

// oneSpelling refuses a call with an argument in other letters (COMMAND): a host whose
// JSON does not tell them apart, as Go's and .NET's do not, takes it for the argument.
func (e *Event) oneSpelling() error {
	known := e.Row.arguments
	if e.Row.kind == shellCommand {
		known = append(slices.Clip(known), directories[:]...)
	}
	for i := range e.input.Members {
		name := e.input.Members[i].Name
		if is := func(a string) bool { return strings.EqualFold(a, name) }; slices.ContainsFunc(known, is) && !slices.Contains(known, name) {
			return fmt.Errorf("%s is an argument in other letters", policy.Escape(name))
		}
	}
	return nil
}

// values are the texts of the tool's arguments.
func (e *Event) values() ([]string, error) {
	if e.input.Kind == '"' {
		return []string{e.input.Text}, nil
	}
	lists := e.Row.kind == paths || e.Row.kind == patterns || e.Row.kind == tree
	values, err := e.texts(lists, e.Row.arguments...)
	if err == nil && len(values) == 0 && !e.Row.optional {
		err = fmt.Errorf("no %s", strings.Join(e.Row.arguments, " or "))
	}
	return values, err
}

// texts are those of some arguments, which may be lists of them.
func (e *Event) texts(lists bool, names ...string) (values []string, err error) {
	for _, name := range names {
		v := e.input.Get(name)
		switch {
		case v == nil || v.Kind == 'n' || v.Kind == '"' && v.Text == "" && e.Row.optional:
		case v.Kind == '"' && v.Text != "":
			values = append(values, v.Text)
		case v.Kind == '[' && lists:
			for _, item := range v.Items {
				if item.Kind != '"' || item.Text == "" {
					return nil, fmt.Errorf("%s is not a list of texts", name)
				}
				values = append(values, item.Text)
			}
		default:
			return nil, fmt.Errorf("%s is not a text", name)
		}
	}
	return values, nil
}

// meant are the paths that an agent may mean by one: some compose letters with their
// marks before they open it (Unicode's NFC), and to some, or some of their tools, "~" is a
// name.
func (e *Event) meant(p string) ([]string, error) {
	at, err := e.absolute(p)
	if err != nil {
		return nil, err
	}
	all := []string{at}
	if strings.HasPrefix(p, "~") {
		all = append(all, tidy(e.Cwd+"/"+p))
	}
	if composed := norm.NFC.String(p); composed != p {
		more, err := e.meant(composed)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// absolute is a path as the agent means it: "~" is the home directory, and what
// is relative starts at the current one. What some agents trim is refused.
func (e *Event) absolute(p string) (string, error) {
	switch {
	case strings.IndexByte(p, 0) >= 0:
		return "", errors.New("a path holds NUL")
	case len(p) > policy.MaxPath:
		return "", fmt.Errorf("a path of more than %d bytes", policy.MaxPath)
	case strings.TrimFunc(p, blank) != p:
		return "", errors.New("a path begins or ends with a space")
	case p == "~" || strings.HasPrefix(p, "~/"):
		if e.home == "" {
			return "", errors.New("a path in the home directory, and there is none")
		}
		p = e.home + p[1:]
	case strings.HasPrefix(p, "~"):
		return "", errors.New("a path in the home directory of a user")
	case !pathpkg.IsAbs(p):
		p = e.Cwd + "/" + p
	}
	return tidy(p), nil
}

// tidy takes out of an absolute path what means nothing. "x/.." stays, since x may
// be a link: who opens the file may have taken it out before or not.
func tidy(p string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(p, "/") {
		if part != "" && part != "." {
			b.WriteString("/" + part)
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// blank says whether JavaScript, in which agents are written, trims a letter; Go
// leaves the byte order mark.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// spelledOut are the paths of patterns, below the directories that the tool's other
// arguments name.
func (e *Event) spelledOut() (found []string, err error) {
	var bases, wild []string
	for _, name := range e.Row.arguments {
		to, lists := &bases, true
		if strings.HasSuffix(name, "pattern") {
			to, lists = &wild, false
		}
		texts, err := e.texts(lists, name)
		if err != nil {
			return nil, err
		}
		*to = append(*to, texts...)
	}
	if len(bases) == 0 {
		bases = []string{e.Cwd}
	}
	if len(wild) == 0 {
		wild = []string{""}
	}
	for _, base := range bases {
		dirs, err := e.meant(base)
		if err != nil {
			return nil, err
		}
		for _, w := range wild {
			for _, dir := range dirs {
				all, err := e.matched(dir, w)
				if err != nil {
					return nil, err
				}
				found = append(found, all...)
			}
		}
	}
	return found, nil
}

// matched are the paths that a pattern below dir names, or beneath which
// everything lies that it matches.
func (e *Event) matched(dir, wild string) ([]string, error) {
	if _, err := e.absolute(wild); err != nil {
		return nil, err
	}
	if strings.HasPrefix(wild, "~") {
		return nil, errors.New("a pattern that begins with ~")
	}
	all, err := alternatives(wild)
	if composed := norm.NFC.String(wild); err == nil && composed != wild {
		var more []string
		more, err = alternatives(composed)
		all = append(all, more...)
	}
	if e.spelled += len(all) - 1; e.spelled > maxAlternatives {
		return nil, errAlternatives
	}
	for i, w := range all {
		if !pathpkg.IsAbs(w) {
			w = dir + "/" + w
		}
		all[i] = literal(w)
	}
	slices.Sort(all)
	return slices.Compact(all), err
}

const maxAlternatives = 1000 // of the patterns of one call

var errAlternatives = errors.New("patterns with more than 1000 alternatives")

// alternatives are a pattern and what its braces stand for: {a,b} is spelled out
// before anything is matched, and can spell a root or "..".
func alternatives(pattern string) ([]string, error) {
	all := []string{pattern}
	for n := 0; n < len(all); n++ {
		p := all[n]
		for open := range len(p) {
			if p[open] != '{' {
				continue
			}
			depth, cuts, end := 0, []int{open}, -1
			for i := open; i < len(p) && end < 0; i++ {
				switch p[i] {
				case '{':
					depth++
				case ',':
					if depth == 1 {
						cuts = append(cuts, i)
					}
				case '}':
					if depth--; depth == 0 {
						end = i
					}
				}
			}
			if end < 0 || len(cuts) == 1 {
				continue
			}
			for i, cut := range cuts {
				to := end
				if i+1 < len(cuts) {
					to = cuts[i+1]
				}
				all = append(all, p[:open]+p[cut+1:to]+p[end+1:])
			}
			if len(all) > maxAlternatives {
				return nil, errAlternatives
			}
			break
		}
	}
	return all, nil
}

// literal is the directory beneath which everything lies that a pattern
// matches; of one without wildcards, what it names. What follows a wildcard can
// climb, so that as many ".." stand behind.
func literal(wild string) string {
	up := 0
	if i := strings.IndexAny(wild, `*?[{(\`); i >= 0 {
		up = strings.Count(wild[i:], "..")
		wild = wild[:strings.LastIndexByte(wild[:i], '/')+1]
	}
	return tidy(wild + strings.Repeat("/..", up))
}

// patchHeads are the lines of a patch that name a file.
var patchHeads = [...]struct {
	text   string
	remove bool
}{
	{"*** Add File:", false},
	{"*** Update File:", false},
	{"*** Move to:", false},
	{"*** Delete File:", true},
}

// patched reads the headers of a patch in the form of apply_patch.
func patched(e *Event, values []string) ([]policy.Request, error) {
	write := policy.Request{Capability: "filesystem.write"}
	remove := policy.Request{Capability: "filesystem.delete"}
	for _, text := range values {
		for line := range strings.Lines(text) {
			for _, h := range patchHeads {
				name, ok := strings.CutPrefix(strings.TrimFunc(line, blank), h.text)
				if !ok {
					continue
				}
				all, err := e.meant(strings.TrimSpace(name))
				if err != nil {
					return nil, err
				}
				if h.remove {
					remove.Paths = append(remove.Paths, all...)
				} else {
					write.Paths = append(write.Paths, all...)
				}
			}
		}
	}
	var all []policy.Request
	for _, r := range [...]policy.Request{write, remove} {
		if len(r.Paths) > 0 {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the patch names no file")
	}
	return all, nil
}
