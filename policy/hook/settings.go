package hook

import (
	"fmt"
	pathpkg "path"
	"slices"
	"strings"
)

// Settings say where an agent's hooks are registered, and as what.
type Settings struct {
	// Moved is a variable that names the place of the first directory of User and
	// Others; "" if the agent knows none.
	Moved string
	// User is a file relative to the home directory, Project one relative to the
	// top of a project. A project's is of this machine only where the agent has
	// such a file, since the path of the program is.
	User, Project string
	// Shared are files of a project that the agent reads besides, relative to
	// its top; what a hook of ours registers there would be others' too. Others are
	// more of the user's. "*" stands for any name.
	Shared, Others []string
	// Env are the files, relative to a directory of a project, in which the agent
	// finds variables for what it starts.
	Env []string
	// Notes is what else the user has to know or do; one line each.
	Notes   []string
	entries []entry
	// key is the member that holds the command. flat says that an event lists its
	// handlers themselves, and not groups of them.
	key  string
	flat bool
	// version is a member without which the agent takes no hooks from a file.
	version string
}

// entry is what is registered for one event.
type entry struct {
	event   string
	matcher string // "" for events that take none
	// before and after are members around the command, as text.
	before, after string
	// failure is the member that has the agent refuse when the hook gives no answer;
	// "" where it has none.
	failure string
}

const (
	onFailureBlock = `"onFailure": "block"`
	failClosed     = `"failClosed": true`
)

// The registrations. A hook ends well before the agent gives up on it.
var (
	claudeSettings = Settings{
		key: "command", Moved: "CLAUDE_CONFIG_DIR", User: ".claude/settings.json", Project: ".claude/settings.local.json", Shared: []string{".claude/settings.json"},
		Env: []string{".claude/settings.json", ".claude/settings.local.json"},
		Notes: []string{
			"hooks are read when a session starts: restart running ones",
			"in auto mode, in which sessions start, nobody is asked and what would be is denied: claude --permission-mode default",
		},
		entries: []entry{
			{"SessionStart", "", `"type": "command", `, `, "timeout": 10`, ""},
			// From 2.1.295 on; earlier versions do not look at it, and go on.
			{"PreToolUse", "*", `"type": "command", `, `, "timeout": 10`, onFailureBlock},
			{"PostToolUse", "*", `"type": "command", `, `, "timeout": 10`, ""},
			{"PostToolUseFailure", "*", `"type": "command", `, `, "timeout": 10`, ""},
		},
	}
	codexSettings = Settings{
		key: "command", Moved: "CODEX_HOME", User: ".codex/hooks.json", Project: ".codex/hooks.json",
		Env: []string{".codex/config.toml"},
		Notes: []string{
			"Codex asks before it runs hooks it has not seen: review them with /hooks",
			"older builds want codex_hooks = true under [features] in ~/.codex/config.toml",
		},
		entries: []entry{
			{"SessionStart", "", `"type": "command", `, `, "timeout": 10`, ""},
			{"PreToolUse", "^(Bash|apply_patch|mcp__.*)$", `"type": "command", `, `, "timeout": 10`, ""},
			{"PostToolUse", "^(Bash|apply_patch|mcp__.*)$", `"type": "command", `, `, "timeout": 10`, ""},
		},
	}
	geminiSettings = Settings{
		key: "command", User: ".gemini/settings.json", Project: ".gemini/settings.json",
		Env:   []string{".gemini/.env", ".env"},
		Notes: []string{"Gemini CLI asks again for trust in a project's hooks that changed"},
		entries: []entry{
			{"SessionStart", "", `"name": "skillrun", "type": "command", `, `, "timeout": 10000`, ""},
			{"BeforeTool", ".*", `"name": "skillrun", "type": "command", `, `, "timeout": 10000`, ""},
			{"AfterTool", ".*", `"name": "skillrun", "type": "command", `, `, "timeout": 10000`, ""},
		},
	}
	copilotSettings = Settings{
		key: "bash", flat: true, version: `"version": 1`,
		Moved: "COPILOT_HOME", User: ".copilot/hooks/skillrun.json", Project: ".github/hooks/skillrun.json",
		Shared: []string{".github/copilot/settings.json", ".github/copilot/settings.local.json", ".github/hooks/*.json"},
		Others: []string{".copilot/settings.json", ".copilot/hooks/*.json"},
		Notes: []string{
			"VS Code reads it too, and is refused all tools; so is who gets a project's file with the repository: keep it out of git",
			"the first command of a session is refused with the one to run instead, which shows whether this version lets hooks change commands (1.0.24 and later); if not, each is",
		},
		entries: []entry{
			{"sessionStart", "", `"type": "command", `, `, "timeoutSec": 10`, ""},
			{"preToolUse", "", `"type": "command", `, `, "timeoutSec": 10`, ""},
		},
	}
	cursorSettings = Settings{
		key: "command", flat: true, version: `"version": 1`,
		User: ".cursor/hooks.json", Project: ".cursor/hooks.json",
		Notes: []string{
			"the first command of a session is refused with the one to run instead, which shows whether this version lets hooks change commands; if not, each is",
			"it can read Claude Code's hooks too: do not let it where skillrun is among them",
		},
		entries: []entry{
			{"sessionStart", "", "", `, "timeout": 10`, ""},
			{"preToolUse", "", "", `, "timeout": 10`, failClosed},
			// It sees what is run in the end, whatever other hooks made of it.
			{"beforeShellExecution", "", "", `, "timeout": 10`, failClosed},
			{"beforeReadFile", "", "", `, "timeout": 10`, failClosed},
			{"beforeMCPExecution", "", "", `, "timeout": 10`, failClosed},
			{"postToolUse", "", "", `, "timeout": 10`, ""},
		},
	}
)

// otherwise is what becomes of an event when the program does not: it is read
// to its end, as agents want, and blocked. An agent that leaves it without an end
// is not waited for: in its own time for hooks it would go on. What the program
// itself blocked is blocked at once, for the same reason.
const otherwise = " || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }"

// earlier are those of earlier versions, which are ours to replace and remove.
var earlier = [...]string{" || { exec 3<&0; cat <&3 >/dev/null 2>&1 & sleep 1; exit 2; }", " || { cat >/dev/null; exit 2; }", " || exit 2"}

// Command is what the agent is told to run: a program that is missing or killed
// blocks, where exit codes other than 2 would let the tool run, and so would an
// event that the agent cannot write all of.
func (a *Agent) Command(program string) string {
	return Quote(program) + " hook " + a.Name + otherwise
}

// Program gives the program of a command that Command gave, here or in an earlier
// version, to the byte; "" of any other.
func (a *Agent) Program(command string) string {
	word, ok := strings.CutSuffix(command, " hook "+a.Name+otherwise)
	for _, e := range earlier {
		if !ok {
			word, ok = strings.CutSuffix(command, " hook "+a.Name+e)
		}
	}
	program := unquote(word)
	if !ok || !pathpkg.IsAbs(program) || Quote(program) != word {
		return ""
	}
	return program
}

// ours says whether a registered command is one that Command gave, for whatever
// program of our name.
func (a *Agent) ours(command string) bool {
	return strings.HasPrefix(pathpkg.Base(a.Program(command)), "skillrun")
}

// text is the entry as an element of the event's list.
func (s *Settings) text(n *entry, command string) string {
	matcher := ""
	if n.matcher != "" {
		matcher = `"matcher": ` + string(quoteJSON(nil, n.matcher)) + `, `
	}
	if strings.Contains(n.before, `"name"`) && n.matcher != "" {
		matcher += `"sequential": true, `
	}
	failure := ""
	if n.failure != "" {
		failure = ", " + n.failure
	}
	handler := n.before + string(quoteJSON(nil, s.key)) + ": " + string(quoteJSON(nil, command)) + n.after + failure + "}"
	if s.flat {
		return "{" + matcher + handler
	}
	return "{" + matcher + `"hooks": [{` + handler + "]}"
}

// failing says whether a handler has the agent do what the entry does when there is
// no answer.
func (n *entry) failing(handler *value) bool {
	said := ""
	if v := handler.Get("onFailure"); v != nil {
		said = `"onFailure": ` + string(quoteJSON(nil, v.Text))
	}
	if v := handler.Get("failClosed"); v != nil && v.Kind == 't' {
		said = failClosed
	}
	return said == n.failure
}

// command is what a handler runs; nil if it runs none.
func (s *Settings) command(handler *value) *value {
	for _, key := range [...]string{s.key, "command", "exec"} {
		if v := handler.Get(key); v != nil {
			return v
		}
	}
	return nil
}

// Registered is a command that settings register for the event before a tool.
type Registered struct {
	Command string
	Matcher string
	Ours    bool // what Command gives, or gave in an earlier version
	Earlier bool // not what it gives now, or by another hand what it might have been
}

// Before lists what settings register for the agent's event before a tool.
func (a *Agent) Before(data []byte) ([]Registered, error) {
	top, err := parseJSON(data, true)
	if err != nil {
		return nil, err
	}
	before := func(event string) bool {
		return slices.ContainsFunc(a.events, func(n eventName) bool { return n.kind == BeforeTool && strings.EqualFold(n.name, event) })
	}
	var found []Registered
	each(&top, func(event string, group, handler *value) {
		if c := a.Settings.command(handler); c != nil && before(event) {
			r := Registered{Command: c.Text, Ours: a.ours(c.Text)}
			word, _, ok := strings.Cut(c.Text, " hook "+a.Name)
			r.Earlier = ok && !strings.Contains(word, " ") && strings.HasPrefix(pathpkg.Base(word), "skillrun")
			if r.Ours {
				r.Earlier = a.Command(a.Program(c.Text)) != c.Text
				for i := range a.Settings.entries {
					n := &a.Settings.entries[i]
					r.Earlier = r.Earlier || n.event == event && !n.failing(handler)
				}
			}
			if m := group.Get("matcher"); m != nil {
				r.Matcher = m.Text
			}
			if !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
	})
	return found, nil
}

// Off says whether settings switch all hooks off.
func (a *Agent) Off(data []byte) bool {
	top, err := parseJSON(data, true)
	off := top.Get("disableAllHooks")
	return err == nil && off != nil && off.Kind == 't'
}

// Sandboxed says whether settings switch on a sandbox of the agent's own.
func (a *Agent) Sandboxed(data []byte) bool {
	top, err := parseJSON(data, true)
	on := top.Get("sandbox").Get("enabled")
	return err == nil && on != nil && on.Kind == 't'
}

// proxyVariables are those by which a run's gate finds a proxy (sandbox/egress).
var proxyVariables = [...]string{"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "http_proxy", "https_proxy", "no_proxy"}

// Proxies gives the variables that name proxies, of those that one of the files
// Env sets; all of them if it does not read, or for nil data. Of a file that is no JSON
// whatever stands in it counts, in a comment too.
func (a *Agent) Proxies(file string, data []byte) (names []string) {
	var env *value
	text := string(data)
	all := data == nil || strings.Contains(strings.ToLower(text), `\u`) // in TOML it can spell a name
	if strings.HasSuffix(file, ".json") {
		top, err := parseJSON(data, true)
		env, all, text = top.Get("env"), err != nil, ""
	}
	for _, name := range proxyVariables {
		if all || env.Get(name) != nil || strings.Contains(text, name) {
			names = append(names, name)
		}
	}
	return names
}

// each calls do for every handler that settings register.
func each(top *value, do func(event string, group, handler *value)) {
	hooks := top.Get("hooks")
	if hooks == nil {
		return
	}
	for i := range hooks.Members {
		for j := range hooks.Members[i].Value.Items {
			group := &hooks.Members[i].Value.Items[j]
			handlers := group.Get("hooks")
			if handlers == nil {
				do(hooks.Members[i].Name, group, group)
			}
			for k := 0; handlers != nil && k < len(handlers.Items); k++ {
				do(hooks.Members[i].Name, group, &handlers.Items[k])
			}
		}
	}
}

// Install gives settings in which the program is registered; nothing else in
// them changes. data is what the file holds, nil if there is none. Settings that
// have it already come back as they are.
func (a *Agent) Install(data []byte, program string) ([]byte, error) {
	command := a.Command(program)
	if !a.ours(command) {
		return nil, fmt.Errorf("the program %q could not be found in the settings again: its name does not begin with skillrun", program)
	}
	if data != nil {
		if have, err := a.installed(data, command); err != nil || have {
			return data, err
		}
		var err error
		if data, err = a.Remove(data); err != nil {
			return nil, err
		}
	}
	made := data == nil
	if made {
		data = []byte(a.Settings.empty())
	}
	if top, err := parseJSON(data, true); err == nil && a.Settings.version != "" && top.Get("version") == nil {
		return nil, fmt.Errorf("there is no %s, without which the agent takes no hooks from it: add it, if the file is one of hooks", a.Settings.version)
	}
	for i := len(a.Settings.entries) - 1; i >= 0; i-- {
		n := &a.Settings.entries[i]
		var err error
		if data, err = insert(data, [...]string{"hooks", n.event}, a.Settings.text(n, command), made); err != nil {
			return nil, err
		}
		made = false
	}
	return data, nil
}

// installed says whether all entries are there, as Install makes them, and no
// others of ours.
func (a *Agent) installed(data []byte, command string) (bool, error) {
	top, err := parseJSON(data, true)
	if err != nil {
		return false, err
	}
	right, ours := 0, 0
	each(&top, func(event string, group, handler *value) {
		c := a.Settings.command(handler)
		if c == nil || !a.ours(c.Text) {
			return
		}
		ours++
		for i := range a.Settings.entries {
			n := &a.Settings.entries[i]
			m := group.Get("matcher")
			if n.event == event && c.Text == command && n.failing(handler) && (n.matcher == "" && (m == nil || !a.Settings.flat) || m != nil && m.Text == n.matcher) {
				right++
			}
		}
	})
	return ours == right && right == len(a.Settings.entries), nil
}

// Remove gives settings without what Install put in; nil if Install made the
// file and nothing else is in it. Text that Install did not write stays as it
// is, byte by byte.
func (a *Agent) Remove(data []byte) ([]byte, error) {
	for {
		top, err := parseJSON(data, true)
		if err != nil {
			return nil, err
		}
		trail := a.trail(&top)
		if trail == nil {
			return data, nil
		}
		if data = cut(data, trail); data == nil || a.Settings.version != "" && string(data) == a.Settings.empty() {
			return nil, nil
		}
	}
}

// empty is a file without hooks.
func (s *Settings) empty() string {
	if s.version == "" {
		return "{\n}\n"
	}
	return "{\n  " + s.version + "\n}\n"
}

// step is one of the way to something of ours: a container, and the child that
// leads on. The child of the last one is what goes.
type step struct {
	container *value
	child     int
}

// trail finds the way to the first handler of ours; nil if there is none.
func (a *Agent) trail(top *value) []step {
	if top.Kind != '{' {
		return nil
	}
	for h := range top.Members {
		hooks := &top.Members[h].Value
		if top.Members[h].Name != "hooks" {
			continue
		}
		for e := range hooks.Members {
			groups := &hooks.Members[e].Value
			for g := range groups.Items {
				handlers := groups.Items[g].Get("hooks")
				if c := a.Settings.command(&groups.Items[g]); handlers == nil && c != nil && a.ours(c.Text) {
					return []step{{top, h}, {hooks, e}, {groups, g}}
				}
				for k := 0; handlers != nil && k < len(handlers.Items); k++ {
					if c := a.Settings.command(&handlers.Items[k]); c == nil || !a.ours(c.Text) {
						continue
					}
					way := []step{{top, h}, {hooks, e}, {groups, g}}
					if len(handlers.Items) > 1 {
						// Somebody put a handler beside ours.
						for m := range groups.Items[g].Members {
							if &groups.Items[g].Members[m].Value == handlers {
								way = append(way, step{&groups.Items[g], m})
							}
						}
						way = append(way, step{handlers, k})
					}
					return way
				}
			}
		}
	}
	return nil
}
