package policy

import "strings"

// meaning says how a capability lowers to a Profile; see (*right).lower.
type meaning uint8

const (
	hookOnly meaning = iota // decided at the agent's hook; Capability.Why says why
	readFiles
	writeFiles
	deleteFiles
	readSource
	writeSource
	deleteSource
	executeSource
	readCommits
	createCommits
	pushCommits
	fetchWeb
	postWeb
	callHosts
	runClient
	containerSocket
	displaySocket
	createProcesses
	queryProcesses
	cameraDevice
	microphoneDevice
	inputDevice
	readProfileFiles
	writeProfileFiles
	passVariables
	readJobs
	createJobs
	deleteJobs
	installPackages
	readSecrets
	writeSecrets
	deleteSecrets
)

// Capability is one row of the taxonomy.
type Capability struct {
	Name  string // dotted name, as in skillguard-manifest.json
	Label string // the paper's permission; "" for names seen only in the wild
	Group string
	Level Level
	About string // what it would allow, in one line, for prompts
	// Why says why the capability has no meaning to the operating system; ""
	// if it has one.
	Why   string
	means meaning
}

// Enforced says whether the capability changes the Profile of a run; otherwise
// Why says why not.
func (c *Capability) Enforced() bool { return c.means != hookOnly }

// Whole says whether the capability is one thing, with nothing in it that a
// grant could be held to: starting programs, a device, the agent's memory. Files,
// hosts, tools, secrets and commands have names.
func (c *Capability) Whole() bool {
	for _, prefix := range [...]string{"process.", "repl.", "camera.", "microphone.", "screen.", "input_devices.", "agent_memory."} {
		if strings.HasPrefix(c.Name, prefix) {
			return true
		}
	}
	return false
}

// The taxonomy: SkillGuard's 47 permissions (table 1 of the paper), the five
// names that manifests in the wild use beside them, and three from the paper's
// text. A name that is not here is an error in a manifest.
//
// To add one: add the row, give it a meaning in lower.go or a Why, run
// `go generate ./policy`.
var taxonomy = [...]Capability{
	{"filesystem.read", "READ_FILE", "Storage", Dangerous, "read files", "", readFiles},
	{"filesystem.write", "WRITE_FILE", "Storage", Dangerous, "create and change files", "", writeFiles},
	{"filesystem.delete", "DELETE_FILE", "Storage", Dangerous, "delete and rename files", "", deleteFiles},

	{"source_code.execute", "EXECUTE_SOURCE_CODE", "Code Repository", Dangerous, "run scripts and programs of the skill and the workspace", "", executeSource},
	{"source_code.read", "READ_SOURCE_CODE", "Code Repository", Normal, "read the workspace", "", readSource},
	{"source_code.write", "WRITE_SOURCE_CODE", "Code Repository", Dangerous, "create and change files in the workspace", "", writeSource},
	{"source_code.delete", "DELETE_SOURCE_CODE", "Code Repository", Dangerous, "delete and rename files in the workspace", "", deleteSource},
	{"commit.read", "READ_COMMIT", "Code Repository", Normal, "read the git history", "", readCommits},
	{"commit.create", "CREATE_COMMIT", "Code Repository", Dangerous, "make and rewrite commits", "", createCommits},
	{"commit.push", "PUSH_COMMIT", "Code Repository", System, "push to the repository's remotes", "", pushCommits},

	{"web.fetch", "FETCH_WEB", "Network", Normal, "read from the web", "", fetchWeb},
	{"web.post", "POST_WEB", "Network", Dangerous, "send to the web", "", postWeb},
	{"web.interact", "INTERACT_WEB", "Network", Dangerous, "drive web pages", "", postWeb},
	{"external_api.call", "CALL_EXTERNAL_API", "Network", System, "call online services", "", callHosts},

	{"container.query", "QUERY_CONTAINER", "Execution", Normal, "list containers (the runtime's socket is root on this machine)", "", containerSocket},
	{"container.run", "RUN_CONTAINER", "Execution", Dangerous, "run containers (the runtime's socket is root on this machine)", "", containerSocket},
	{"container.manage", "MANAGE_CONTAINER", "Execution", System, "manage containers (the runtime's socket is root on this machine)", "", containerSocket},
	{"process.query", "QUERY_PROCESS", "Execution", Normal, "see your other processes", "", queryProcesses},
	{"process.create", "CREATE_PROCESS", "Execution", Dangerous, "start other programs", "", createProcesses},
	{"process.kill", "KILL_PROCESS", "Execution", Dangerous, "end processes of the run", "a run may always signal its own processes, and never others", hookOnly},
	{"repl.create", "CREATE_REPL", "Execution", Dangerous, "start interpreters", "", createProcesses},
	{"repl.execute", "EXECUTE_REPL", "Execution", Dangerous, "run code in interpreters", "", createProcesses},
	{"repl.read", "READ_REPL", "Execution", Normal, "read an interpreter session", "a session belongs to the run that started it", hookOnly},
	{"repl.reset", "RESET_REPL", "Execution", Dangerous, "restart an interpreter session", "", createProcesses},
	{"repl.terminate", "TERMINATE_REPL", "Execution", Dangerous, "end an interpreter session", "a run may always end its own processes, and never others", hookOnly},

	{"camera.capture", "CAPTURE_CAMERA", "Hardware", System, "use the camera", "", cameraDevice},
	{"microphone.record", "RECORD_MICROPHONE", "Hardware", System, "use the microphone", "", microphoneDevice},
	{"screen.capture", "CAPTURE_SCREEN", "Hardware", Dangerous, "see the screen", "", displaySocket},
	{"screen.interact", "INTERACT_SCREEN", "Hardware", System, "see and drive the screen", "", displaySocket},
	{"input_devices.access", "ACCESS_INPUT_DEVICES", "Hardware", System, "read keyboard and mouse", "", inputDevice},

	{"shell_profile.read", "READ_SHELL_PROFILE", "System", Normal, "read your shell's start files", "", readProfileFiles},
	{"shell_profile.write", "WRITE_SHELL_PROFILE", "System", System, "change your shell's start files", "", writeProfileFiles},
	{"env_var.read", "READ_ENV_VAR", "System", Normal, "read environment variables", "", passVariables},
	{"env_var.write", "WRITE_ENV_VAR", "System", Dangerous, "set environment variables", "a process may always change its own environment, and never another's", hookOnly},
	{"scheduled_job.read", "READ_SCHEDULED_JOB", "System", Normal, "read your scheduled jobs", "", readJobs},
	{"scheduled_job.create", "CREATE_SCHEDULED_JOB", "System", Dangerous, "add scheduled jobs, which run unconfined", "", createJobs},
	{"scheduled_job.delete", "DELETE_SCHEDULED_JOB", "System", Dangerous, "delete scheduled jobs", "", deleteJobs},
	{"package.install", "INSTALL_PACKAGE", "System", System, "download from package registries", "", installPackages},

	{"secrets.read", "READ_SECRETS", "Secrets", Redact, "read secrets", "", readSecrets},
	{"secrets.write", "WRITE_SECRETS", "Secrets", Dangerous, "change secrets", "", writeSecrets},
	{"secrets.delete", "DELETE_SECRETS", "Secrets", Dangerous, "delete secrets", "", deleteSecrets},

	{"tool.invoke", "INVOKE_TOOL", "Agent Ecosystem", System, "use the agent's tools", "tools are calls of the agent, not of a process", hookOnly},
	{"subagent.delegate", "DELEGATE_SUBAGENT", "Agent Ecosystem", System, "delegate to other agents", "delegation happens inside the agent", hookOnly},
	{"context.load", "LOAD_CONTEXT", "Agent Ecosystem", Dangerous, "load text into the agent's context", "context belongs to the agent; a run always reads its own skill", hookOnly},
	{"policy.expand", "EXPAND_POLICY", "Agent Ecosystem", System, "widen the policy", "no run may change policy: its files are write-protected", hookOnly},
	{"policy.restrict", "RESTRICT_POLICY", "Agent Ecosystem", System, "narrow the policy", "no run may change policy: its files are write-protected", hookOnly},
	{"policy.install_hook", "INSTALL_HOOK", "Agent Ecosystem", System, "install hooks", "no run may change hooks: agent settings are write-protected", hookOnly},

	// Names seen in manifests in the wild.
	{"shell.execute", "", "Execution", Dangerous, "run shell commands and other programs", "", createProcesses},
	{"network.client", "", "Network", Dangerous, "connect to the network", "", runClient},
	{"mcp.execute", "", "Agent Ecosystem", System, "use MCP servers", "MCP calls are the agent's, not a process's", hookOnly},
	{"tool.read", "", "Agent Ecosystem", System, "see the agent's tools", "tools belong to the agent", hookOnly},
	{"tool.skill", "", "Agent Ecosystem", System, "load other skills", "skills are loaded by the agent", hookOnly},

	// Names in the paper's text only, without a level of their own.
	{"agent_memory.read", "", "Agent Ecosystem", System, "read the agent's memory", "memory belongs to the agent", hookOnly},
	{"agent_memory.write", "", "Agent Ecosystem", System, "write the agent's memory", "memory belongs to the agent", hookOnly},
	{"network_policy.modify", "", "Network", System, "change network policy", "no run may change policy", hookOnly},
}

// Taxonomy lists every capability there is, in the order of the paper.
func Taxonomy() []Capability { return append([]Capability(nil), taxonomy[:]...) }

// Lookup finds a capability by its dotted name; nil if there is none.
func Lookup(name string) *Capability {
	for i := range taxonomy {
		if taxonomy[i].Name == name {
			return &taxonomy[i]
		}
	}
	return nil
}

// Expand gives the capabilities that a pattern names: a dotted name, "group.*"
// or "*". None means that the pattern is unknown.
func Expand(pattern string) []*Capability {
	if c := Lookup(pattern); c != nil {
		return []*Capability{c}
	}
	prefix, ok := strings.CutSuffix(pattern, "*")
	if !ok || prefix != "" && !strings.HasSuffix(prefix, ".") {
		return nil
	}
	var all []*Capability
	for i := range taxonomy {
		if strings.HasPrefix(taxonomy[i].Name, prefix) {
			all = append(all, &taxonomy[i])
		}
	}
	return all
}

// Nearest suggests the known name closest to a misspelt one; "" if none is
// close.
func Nearest(name string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := edits(name, k, distance); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two short words, or limit if it is not
// below that.
func edits(a, b string, limit int) int {
	if len(a) > 40 || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := diagonal
			if a[i-1] != b[j-1] {
				d++
			}
			diagonal = row[j]
			row[j] = min(d, row[j]+1, row[j-1]+1)
		}
	}
	return min(row[len(b)], limit)
}
