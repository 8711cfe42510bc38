package policy

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
)

// timeLayout is the iso_timestamp of the paper's figure 3.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// ParseDefaults reads a workspace's baseline policy, the paper's
// DefaultsDocument: {"description": ..., "session_defaults": {"permissions":
// [...]}}, or the same as TOML. Any fault is an [*Error].
func ParseDefaults(file string, data []byte) ([]Entry, error) {
	d, err := ParseManifest(file, data)
	if err != nil {
		return nil, err
	}
	if d.Skill != (Metadata{}) || len(d.Environment)+len(d.Toolchains) > 0 {
		return nil, errorAt(Pos{File: file}, "session defaults have a description and permissions, and nothing else")
	}
	for i := range d.Entries {
		d.Entries[i].Source = "session-default"
	}
	return d.Entries, nil
}

// ParseState reads a session state document. The key "skillrun" is for others
// and passed over; every other unknown key is an error.
func ParseState(file string, data []byte) (*State, error) {
	n, err := parseJSON(file, data)
	if err == nil {
		err = n.table("the session", "session_id", "workspace_root", "initialized_at", "declared_pool", "task_scope", "granted_set", "loaded_skills", "skillrun")
	}
	if err != nil {
		return nil, err
	}
	s := &State{}
	for i := range n.keys {
		switch v := &n.keys[i].node; n.keys[i].name {
		case "session_id":
			s.ID, err = v.str()
		case "workspace_root":
			s.Workspace, err = v.str()
		case "initialized_at":
			s.Initialized, err = v.time()
		case "declared_pool":
			s.Declared, err = decodeLive(v)
		case "task_scope":
			s.Task, err = decodeLive(v)
		case "granted_set":
			s.Granted, err = decodeLive(v)
		case "loaded_skills":
			s.Loaded, err = v.strings()
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case s.ID == "" || s.Initialized.IsZero():
		return nil, errorAt(n.pos, "the session has no session_id or no initialized_at")
	case s.Workspace != "" && (!path.IsAbs(s.Workspace) || path.Clean(s.Workspace) != s.Workspace):
		return nil, errorAt(n.pos, "workspace_root is not an absolute path")
	}
	return s, nil
}

// ParseEntries reads a JSON list of permission entries, as an external command
// gives them. Any fault is an [*Error].
func ParseEntries(file string, data []byte) ([]Entry, error) {
	n, err := parseJSON(file, data)
	if err != nil {
		return nil, err
	}
	return decodeLive(&n)
}

// decodeLive reads entries as sessions keep them: a manifest's, with two keys
// more. "allowed_commands" are the prefixes that a specifier such as
// Bash(git:*) names, "at" is the place in the manifest.
func decodeLive(n *node) ([]Entry, error) {
	if err := n.is(listNode, "the list of permissions"); err != nil {
		return nil, err
	}
	entries := make([]Entry, len(n.items))
	for i := range n.items {
		item := n.items[i]
		if err := item.is(mapNode, "a permission"); err != nil {
			return nil, err
		}
		var at string
		var commands []Text
		var err error
		var rest []field
		for _, f := range item.keys {
			switch f.name {
			case "at":
				at, err = f.node.str()
			case "allowed_commands":
				if commands, err = f.node.list(); err == nil && len(commands) == 0 {
					err = errorAt(f.pos, "allowed_commands is empty")
				}
			default:
				rest = append(rest, f)
			}
			if err != nil {
				return nil, err
			}
		}
		item.keys = rest
		e, err := decodeEntry(&item)
		if err != nil {
			return nil, err
		}
		if e.Constraints.AllowedCommands = commands; at != "" {
			e.Pos = parsePos(at)
		}
		entries[i] = e
	}
	return entries, nil
}

// parsePos reads "FILE:LINE:COLUMN", or a file alone.
func parsePos(s string) Pos {
	rest, column, ok := cutLast(s)
	if file, line, ok2 := cutLast(rest); ok && ok2 {
		return Pos{file, line, column}
	}
	return Pos{File: s}
}

func cutLast(s string) (before string, number int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, false
	}
	number, err := strconv.Atoi(s[i+1:])
	return s[:i], number, err == nil && number > 0
}

type (
	stateJSON struct {
		ID        string      `json:"session_id"`
		Workspace string      `json:"workspace_root,omitempty"`
		At        string      `json:"initialized_at"`
		Declared  []entryJSON `json:"declared_pool"`
		Task      []entryJSON `json:"task_scope"`
		Granted   []entryJSON `json:"granted_set"`
		Loaded    []string    `json:"loaded_skills"`
		Ours      any         `json:"skillrun,omitempty"`
	}
	entryJSON struct {
		Capability  string          `json:"capability"`
		Effect      string          `json:"effect,omitempty"`
		Priority    int             `json:"priority,omitempty"`
		Constraints constraintsJSON `json:"constraints,omitzero"`
		Message     string          `json:"fallback_msg,omitempty"`
		Source      string          `json:"source,omitempty"`
		Granted     string          `json:"granted_at,omitempty"`
		Expires     string          `json:"expires_at,omitempty"`
		Commands    []string        `json:"allowed_commands,omitempty"`
		At          string          `json:"at,omitempty"`
	}
	constraintsJSON struct {
		WorkspaceOnly *bool               `json:"workspace_only,omitempty"`
		Denied        []string            `json:"denied_command_patterns,omitempty"`
		Arguments     map[string][]string `json:"arguments,omitempty"`
		Scope         *[]string           `json:"resource_scope,omitempty"`
		Window        *windowJSON         `json:"time_window,omitempty"`
		Rate          *rateJSON           `json:"rate_limit,omitempty"`
	}
	windowJSON struct {
		Start string   `json:"start"`
		End   string   `json:"end"`
		Days  []string `json:"days,omitempty"`
		Zone  string   `json:"timezone,omitempty"`
	}
	rateJSON struct {
		Max         int64 `json:"max,omitempty"`
		PerSeconds  int64 `json:"per_seconds,omitempty"`
		Bytes       int64 `json:"max_bytes,omitempty"`
		Connections int64 `json:"max_connections,omitempty"`
	}
)

// JSON writes the state document in the paper's form; more, if not nil, goes
// under the key "skillrun". ParseState reads it back.
func (s *State) JSON(more any) ([]byte, error) {
	doc := stateJSON{
		ID: s.ID, Workspace: s.Workspace, At: s.Initialized.UTC().Format(timeLayout),
		Declared: entriesJSON(s.Declared), Task: entriesJSON(s.Task), Granted: entriesJSON(s.Granted), Loaded: append([]string{}, s.Loaded...), Ours: more,
	}
	b, err := json.Marshal(&doc)
	if err != nil {
		return nil, fmt.Errorf("session state: %w", err)
	}
	return append(b, '\n'), nil
}

// EntriesJSON writes entries in the paper's form, for external commands.
func EntriesJSON(entries []Entry) json.RawMessage {
	b, err := json.Marshal(entriesJSON(entries))
	if err != nil {
		return json.RawMessage("[]")
	}
	return b
}

func entriesJSON(entries []Entry) []entryJSON {
	list := make([]entryJSON, len(entries))
	for i := range entries {
		list[i] = entries[i].json()
	}
	return list
}

func (e *Entry) json() entryJSON {
	c := &e.Constraints
	j := entryJSON{Capability: e.Capability, Priority: e.Priority, Message: e.Message, Source: e.Source, Commands: values(c.AllowedCommands)}
	if !e.Implied {
		j.Effect = e.Effect.String()
	}
	if e.Pos != (Pos{}) {
		j.At = e.Pos.File
		if e.Pos.Line != 0 {
			j.At = fmt.Sprintf("%s:%d:%d", e.Pos.File, e.Pos.Line, e.Pos.Column)
		}
		if plain(j.At, Pos{}) != nil {
			j.At = Escape(j.At)
		}
	}
	if !e.Granted.IsZero() {
		j.Granted = e.Granted.UTC().Format(time.RFC3339Nano)
	}
	if !e.Expires.IsZero() {
		j.Expires = e.Expires.UTC().Format(time.RFC3339Nano)
	}
	if c.WorkspaceOnly != Unset {
		only := c.WorkspaceOnly == Yes
		j.Constraints.WorkspaceOnly = &only
	}
	for i := range c.DeniedCommands {
		j.Constraints.Denied = append(j.Constraints.Denied, c.DeniedCommands[i].Text)
	}
	for _, a := range c.Arguments {
		if j.Constraints.Arguments == nil {
			j.Constraints.Arguments = map[string][]string{}
		}
		j.Constraints.Arguments[a.Name] = append([]string{}, a.Values...)
	}
	if c.Scoped {
		scope := values(c.Scope)
		j.Constraints.Scope = &scope
	}
	if w := &c.Window; w.Pos != (Pos{}) {
		wj := &windowJSON{Start: clockText(w.From), End: clockText(w.To)}
		for _, d := range w.Days {
			wj.Days = append(wj.Days, weekdays[d])
		}
		if w.Zone != nil {
			wj.Zone = w.Zone.String()
		}
		j.Constraints.Window = wj
	}
	if r := &c.Rate; r.Pos != (Pos{}) {
		j.Constraints.Rate = &rateJSON{Max: r.Max, PerSeconds: int64(r.Per / time.Second), Bytes: r.MaxBytes, Connections: r.MaxConnections}
	}
	return j
}

func clockText(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", d/time.Hour, d%time.Hour/time.Minute)
}

// UniqueKeys reads JSON strictly: what is not UTF-8, has a key twice or is
// nested too deeply is an [*Error]. encoding/json would take the last of two
// keys, other readers the first.
func UniqueKeys(file string, data []byte) error {
	_, err := parseJSON(file, data)
	return err
}
