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
	// KeepsDirectory says that a command starts where the last one ended.
	KeepsDirectory bool
	// Explains says that there is an event after a tool in which the model can
	// be told what was refused to it.
	Explains bool
	// ReadsSuccess says that after a tool the agent reads an answer only with exit
	// code 0: with 2 it takes stderr, and the tool's own result.
	ReadsSuccess bool
	// ProjectVariable is the variable in which the agent hands hooks the
	// project's directory, "" if it has none.
	ProjectVariable string
	// Settings is where hooks are registered; nil if the host is told by hand.
	Settings *Settings
}

// fields are the names of an event's members.
type fields struct{ event, session, cwd, mode, call, tool, input, output string }

type eventName struct {
	name string
	kind Kind
}

// snake are the members as Claude Code names them, and others after it.
var snake = fields{"hook_event_name", "session_id", "cwd", "permission_mode", "tool_use_id", "tool_name", "tool_input", "tool_response"}

// The agents. Sources: Claude Code's CHANGELOG up to 2.1.295 and its hook
// documentation; codex-rs/hooks (output_parser.rs, pre_tool_use.rs,
// post_tool_use.rs); Gemini CLI docs/hooks/reference.md.
var agents = [...]Agent{
	{
		Name: "claude-code", fields: snake, tools: claudeTools[:], forms: claude{},
		events: []eventName{
			{"SessionStart", SessionStart}, {"PreToolUse", BeforeTool}, {"PermissionRequest", Permission},
			{"PostToolUse", AfterTool}, {"PostToolUseFailure", AfterTool},
		},
		KeepsDirectory: true, Explains: true, ReadsSuccess: true, ProjectVariable: "CLAUDE_PROJECT_DIR", Settings: &claudeSettings,
	},
	{
		Name: "codex", fields: snake, tools: codexTools[:], forms: codex{},
		events: []eventName{
			{"SessionStart", SessionStart}, {"PreToolUse", BeforeTool}, {"PermissionRequest", Permission}, {"PostToolUse", AfterTool},
		},
		Explains: true, Settings: &codexSettings,
	},
	{
		Name: "gemini", fields: snake, tools: geminiTools[:], forms: gemini{},
		events:          []eventName{{"SessionStart", SessionStart}, {"BeforeTool", BeforeTool}, {"AfterTool", AfterTool}},
		ProjectVariable: "GEMINI_PROJECT_DIR", Settings: &geminiSettings,
	},
	{
		Name: "generic", tools: genericTools[:], forms: generic{},
		fields: fields{"event", "session", "cwd", "mode", "call", "tool", "input", "output"},
		events: []eventName{
			{"session_start", SessionStart}, {"before_tool", BeforeTool}, {"after_tool", AfterTool},
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
