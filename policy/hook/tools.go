package hook

import "strings"

// object says what the named arguments of a tool hold.
type object uint8

const (
	nothing      object = iota // nothing that a decision is about
	shellCommand               // a shell command
	path                       // a file or directory
	paths                      // a list of them, or one
	tree                       // a file or directory, or a list of them; what files beneath it hold is shown
	pattern                    // a path with wildcards, in arguments so called; what it matches counts as beneath its literal beginning
	patterns                   // a list of them, or one
	patch                      // a patch whose headers name the files
	address                    // a URL
	name                       // a name: of a skill, an agent
	toolName                   // none: the tool's own name is what is decided about
)

// Tool is one tool of an agent: which capability its use needs, and where its
// call says on what.
type Tool struct {
	// Name is the tool's; with "*" at its end, of all that begin so.
	Name string
	// Capability is a name of the taxonomy; "" is the agent's own affair, with
	// nothing to decide.
	Capability string
	kind       object
	// arguments are the members that may hold the object. All that are there
	// count; without any, a path is the current directory if optional is set,
	// and the call is refused otherwise.
	arguments []string
	optional  bool
}

// The tools of the agents. A tool that is not here needs tool.invoke for its
// name, so that a new one is asked about and not passed over.
//
// To add one: add the row; the member names are those of the agent's own schema
// for the tool.
var claudeTools = [...]Tool{
	{"Bash", "shell.execute", shellCommand, []string{"command"}, false},
	{"Monitor", "shell.execute", shellCommand, []string{"command"}, false}, // in the background, and tells what it prints
	{"Read", "filesystem.read", path, []string{"file_path"}, false},
	{"NotebookRead", "filesystem.read", path, []string{"notebook_path"}, false},
	{"LS", "filesystem.read", path, []string{"path"}, true},
	{"Grep", "filesystem.read", tree, []string{"path"}, true},
	{"Glob", "filesystem.read", pattern, []string{"path", "pattern"}, true},
	{"Write", "filesystem.write", path, []string{"file_path"}, false},
	{"Edit", "filesystem.write", path, []string{"file_path"}, false},
	{"MultiEdit", "filesystem.write", path, []string{"file_path"}, false},
	{"NotebookEdit", "filesystem.write", path, []string{"notebook_path"}, false},
	{"WebFetch", "web.fetch", address, []string{"url"}, false},
	{"Skill", "context.load", name, []string{"skill", "command"}, false},
	{"Task", "subagent.delegate", name, []string{"subagent_type"}, true},
	{"Agent", "subagent.delegate", name, []string{"subagent_type"}, true},
	{"mcp__*", "mcp.execute", toolName, nil, false},
	{"ReadMcpResourceTool", "mcp.execute", toolName, nil, false},
	{"ListMcpResourcesTool", "mcp.execute", toolName, nil, false},
	// Searching goes to the agent's own provider, and names no host.
	{"WebSearch", "tool.invoke", toolName, nil, false},

	// What happens inside the agent: lists, plans, questions to the user, and
	// what a command that was let run before has printed.
	{"TodoWrite", "", nothing, nil, false},
	{"TodoRead", "", nothing, nil, false},
	{"TaskCreate", "", nothing, nil, false},
	{"TaskUpdate", "", nothing, nil, false},
	{"TaskList", "", nothing, nil, false},
	{"TaskGet", "", nothing, nil, false},
	{"TaskOutput", "", nothing, nil, false},
	{"TaskStop", "", nothing, nil, false},
	{"BashOutput", "", nothing, nil, false},
	{"KillShell", "", nothing, nil, false},
	{"KillBash", "", nothing, nil, false},
	{"AskUserQuestion", "", nothing, nil, false},
	{"EnterPlanMode", "", nothing, nil, false},
	{"ExitPlanMode", "", nothing, nil, false},
	{"ToolSearch", "", nothing, nil, false},
	{"StructuredOutput", "", nothing, nil, false}, // the answer, where a schema for it is given
	{"ScheduleWakeup", "", nothing, nil, false},
	{"CronList", "", nothing, nil, false},
	{"CronDelete", "", nothing, nil, false},
}

var codexTools = [...]Tool{
	{"Bash", "shell.execute", shellCommand, []string{"command"}, false},
	{"apply_patch", "filesystem.write", patch, []string{"command", "input", "patch"}, false},
	{"view_image", "filesystem.read", path, []string{"path"}, false},
	{"mcp__*", "mcp.execute", toolName, nil, false},
	{"update_plan", "", nothing, nil, false},
}

var geminiTools = [...]Tool{
	{"run_shell_command", "shell.execute", shellCommand, []string{"command"}, false},
	{"read_file", "filesystem.read", path, []string{"file_path", "absolute_path", "path"}, false},
	{"read_many_files", "filesystem.read", patterns, []string{"include", "paths"}, false},
	{"list_directory", "filesystem.read", path, []string{"dir_path", "path"}, true},
	{"glob", "filesystem.read", pattern, []string{"dir_path", "path", "pattern"}, true},
	{"grep_search", "filesystem.read", tree, []string{"dir_path", "path"}, true},
	{"search_file_content", "filesystem.read", tree, []string{"dir_path", "path"}, true},
	{"write_file", "filesystem.write", path, []string{"file_path", "path"}, false},
	{"replace", "filesystem.write", path, []string{"file_path", "path"}, false},
	{"activate_skill", "context.load", name, []string{"name"}, false},
	{"save_memory", "agent_memory.write", nothing, nil, false},
	{"mcp_*", "mcp.execute", toolName, nil, false}, // mcp_SERVER_TOOL
	// The addresses that it fetches stand in a prompt to a model.
	{"web_fetch", "tool.invoke", toolName, nil, false},
	{"google_web_search", "tool.invoke", toolName, nil, false},
	{"write_todos", "", nothing, nil, false},
	{"update_topic", "", nothing, nil, false},
	{"ask_user", "", nothing, nil, false},
	{"enter_plan_mode", "", nothing, nil, false},
	{"exit_plan_mode", "", nothing, nil, false},
	{"get_internal_docs", "", nothing, nil, false},
	{"tracker_create_task", "", nothing, nil, false},
	{"tracker_update_task", "", nothing, nil, false},
	{"tracker_get_task", "", nothing, nil, false},
	{"tracker_list_tasks", "", nothing, nil, false},
	{"tracker_add_dependency", "", nothing, nil, false},
	{"tracker_visualize", "", nothing, nil, false},
}

// There is no row for write_bash, which types into a shell that may be the agent's
// own, nor for sql, which opens any file.
var copilotTools = [...]Tool{
	{"bash", "shell.execute", shellCommand, []string{"command"}, false},
	{"view", "filesystem.read", path, []string{"path"}, false},
	{"show_file", "filesystem.read", path, []string{"path"}, false},
	{"grep", "filesystem.read", tree, []string{"path", "paths"}, true},
	{"rg", "filesystem.read", tree, []string{"path", "paths"}, true},
	{"glob", "filesystem.read", pattern, []string{"path", "paths", "pattern"}, true},
	{"create", "filesystem.write", path, []string{"path"}, false},
	{"edit", "filesystem.write", path, []string{"path"}, false},
	{"str_replace", "filesystem.write", path, []string{"path"}, false},
	{"insert", "filesystem.write", path, []string{"path"}, false},
	{"str_replace_editor", "filesystem.write", path, []string{"path"}, false},
	{"apply_patch", "filesystem.write", patch, []string{"input", "patch"}, false},
	{"web_fetch", "web.fetch", address, []string{"url"}, false},
	{"skill", "context.load", name, []string{"skill"}, false},
	{"task", "subagent.delegate", name, []string{"agent_type"}, true},
	{"store_memory", "agent_memory.write", nothing, nil, false},
	{"read_bash", "", nothing, nil, false},
	{"stop_bash", "", nothing, nil, false},
	{"list_bash", "", nothing, nil, false},
	{"list_agents", "", nothing, nil, false},
	{"read_agent", "", nothing, nil, false},
	{"report_intent", "", nothing, nil, false},
	{"think", "", nothing, nil, false},
	{"update_todo", "", nothing, nil, false},
	{"ask_user", "", nothing, nil, false},
	{"exit_plan_mode", "", nothing, nil, false},
	{"task_complete", "", nothing, nil, false},
	{"fetch_copilot_cli_documentation", "", nothing, nil, false},
	{"tool_search_tool_regex", "", nothing, nil, false},
}

// The names that a hook gets are not those of the model's tools: others saw "Write"
// for what replaces a text, too.
var cursorTools = [...]Tool{
	{"Shell", "shell.execute", shellCommand, []string{"command"}, false},
	{"Read", "filesystem.read", path, []string{"file_path", "path"}, false},
	{"Grep", "filesystem.read", tree, []string{"file_path", "path"}, true},
	{"Glob", "filesystem.read", pattern, []string{"target_directory", "path", "pattern", "glob_pattern"}, true},
	{"Write", "filesystem.write", path, []string{"file_path", "path"}, false},
	{"Edit", "filesystem.write", path, []string{"file_path", "path"}, false},
	{"StrReplace", "filesystem.write", path, []string{"file_path", "path"}, false},
	{"Delete", "filesystem.delete", path, []string{"file_path", "path"}, false},
	{"WebFetch", "web.fetch", address, []string{"url"}, false},
	{"Task", "subagent.delegate", name, []string{"subagent_type"}, true},
	{"MCP:*", "mcp.execute", toolName, nil, false},
	{"TodoWrite", "", nothing, nil, false},
	{"ReadLints", "", nothing, nil, false},
	{"AskQuestion", "", nothing, nil, false},
}

// genericTools are what a host without an adapter of its own says.
var genericTools = [...]Tool{
	{"shell", "shell.execute", shellCommand, []string{"command"}, false},
	{"read", "filesystem.read", paths, []string{"path"}, false},
	{"write", "filesystem.write", paths, []string{"path"}, false},
	{"delete", "filesystem.delete", paths, []string{"path"}, false},
	{"fetch", "web.fetch", address, []string{"url"}, false},
	{"skill", "context.load", name, []string{"name"}, false},
	{"mcp", "mcp.execute", name, []string{"name"}, false},
}

// find finds the row of a tool; a tool without one needs tool.invoke.
func find(tools []Tool, called string) Tool {
	for _, t := range tools {
		if prefix, ok := strings.CutSuffix(t.Name, "*"); t.Name == called || ok && strings.HasPrefix(called, prefix) {
			return t
		}
	}
	return Tool{Name: called, Capability: "tool.invoke", kind: toolName}
}
