package hook

// Agent is an agent whose hooks are known: how it says what happens, what it
// takes for an answer, and where it is told to ask.
type Agent struct {
	// Name is what the command line calls it.
	Name   string
	fields fields
	events []eventName
	tools  []Tool
	forms  forms
	// packed says that a tool's input may be a string that holds the object.
	packed bool
	// roots is a member that lists the directories of the project, of which the
	// first is the current one where the event gives none.
	roots string
	// KeepsDirectory says that a command starts where the last one ended.
	KeepsDirectory bool
	// Explains says that there is an event after a tool in which the model can
	// be told what was refused to it.
	Explains bool
	// ReadsSuccess says that after a tool the agent reads an answer only with exit
	// code 0: with 2 it takes stderr, and the tool's own result.
	ReadsSuccess bool
	// SaysWhy says the same of a refusal before a tool: with another exit code the
	// agent refuses as well, and does not tell the model why.
	SaysWhy bool
	// Unproven says that versions of the agent run a command as it was although the
	// answer gives another in its place. A command is given in its place in a
	// session in which that was seen to run; before that, the command is refused and
	// the other one named, for the model to ask for it.
	Unproven bool
	// ProjectVariable is the variable in which the agent hands hooks the
	// project's directory, "" if it has none.
	ProjectVariable string
	// Settings is where hooks are registered; nil if the host is told by hand.
	Settings *Settings
}

// fields are the names of an event's members; "" is a member that the agent does
// not send.
type fields struct{ event, session, cwd, mode, call, tool, input, output string }

type eventName struct {
	name string
	kind Kind
	// mark is a member that the event has, where no member names it.
	mark string
	// tool is what the event is about, where that is one tool, whose arguments are
	// the event's own members and stay as they are; with "*" at its end, before
	// the name that the event gives.
	tool string
}

// snake are the members as Claude Code names them, and others after it.
var snake = fields{"hook_event_name", "session_id", "cwd", "permission_mode", "tool_use_id", "tool_name", "tool_input", "tool_response"}

// The agents. Sources: Claude Code's CHANGELOG up to 2.1.295 and its hook
// documentation; codex-rs/hooks (output_parser.rs, pre_tool_use.rs,
// post_tool_use.rs); Gemini CLI docs/hooks/reference.md; github/docs
// content/copilot/reference/hooks-reference.md, and for arguments of Copilot's tools
// microsoft/vscode-copilot-chat copilotCLITools.ts; cursor.com/docs/hooks, and what
// others saw Cursor 3.9 and 3.11 send.
var agents = [...]Agent{
	{
		Name: "claude-code", fields: snake, tools: claudeTools[:], forms: claude{},
		events: []eventName{
			{"SessionStart", SessionStart, "", ""}, {"PreToolUse", BeforeTool, "", ""}, {"PermissionRequest", Permission, "", ""},
			{"PostToolUse", AfterTool, "", ""}, {"PostToolUseFailure", AfterTool, "", ""},
		},
		KeepsDirectory: true, Explains: true, ReadsSuccess: true, ProjectVariable: "CLAUDE_PROJECT_DIR", Settings: &claudeSettings,
	},
	{
		Name: "codex", fields: snake, tools: codexTools[:], forms: codex{},
		events: []eventName{
			{"SessionStart", SessionStart, "", ""}, {"PreToolUse", BeforeTool, "", ""}, {"PermissionRequest", Permission, "", ""}, {"PostToolUse", AfterTool, "", ""},
		},
		Explains: true, Settings: &codexSettings,
	},
	{
		Name: "gemini", fields: snake, tools: geminiTools[:], forms: gemini{},
		events:          []eventName{{"SessionStart", SessionStart, "", ""}, {"BeforeTool", BeforeTool, "", ""}, {"AfterTool", AfterTool, "", ""}},
		ProjectVariable: "GEMINI_PROJECT_DIR", Settings: &geminiSettings,
	},
	{
		Name: "copilot", tools: copilotTools[:], forms: copilot{},
		fields: fields{session: "sessionId", cwd: "cwd", tool: "toolName", input: "toolArgs"},
		events: []eventName{{"preToolUse", BeforeTool, "toolName", ""}, {"sessionStart", SessionStart, "source", ""}},
		packed: true, SaysWhy: true, Unproven: true, ProjectVariable: "COPILOT_PROJECT_DIR", Settings: &copilotSettings,
	},
	{
		Name: "cursor", tools: cursorTools[:], forms: cursor{},
		fields: fields{"hook_event_name", "conversation_id", "cwd", "", "tool_use_id", "tool_name", "tool_input", "tool_output"},
		events: []eventName{
			{"sessionStart", SessionStart, "", ""}, {"preToolUse", BeforeTool, "", ""},
			{"beforeShellExecution", BeforeTool, "", "Shell"}, {"beforeReadFile", BeforeTool, "", "Read"}, {"beforeMCPExecution", BeforeTool, "", "MCP:*"},
			{"postToolUse", AfterTool, "", ""},
		},
		roots: "workspace_roots", Explains: true, ReadsSuccess: true, SaysWhy: true, Unproven: true, ProjectVariable: "CURSOR_PROJECT_DIR", Settings: &cursorSettings,
	},
	{
		Name: "generic", tools: genericTools[:], forms: generic{},
		fields: fields{"event", "session", "cwd", "mode", "call", "tool", "input", "output"},
		events: []eventName{
			{"session_start", SessionStart, "", ""}, {"before_tool", BeforeTool, "", ""}, {"after_tool", AfterTool, "", ""},
		},
		Explains: true,
	},
}

// Find finds an agent by its name; nil if it is not known.
func Find(name string) *Agent {
	for i := range agents {
		if agents[i].Name == name {
			return &agents[i]
		}
	}
	return nil
}

// Names lists the agents.
func Names() []string {
	names := make([]string, len(agents))
	for i := range agents {
		names[i] = agents[i].Name
	}
	return names
}
