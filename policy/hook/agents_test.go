package hook_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"skillrun/policy"
	"skillrun/policy/hook"
)

var update = flag.Bool("update", false, "write the golden files")

const home = "/home/u"

// answer is a decision as the fixtures write it.
type answer struct {
	Effect, Reason, Command, Context, Secret string
}

func (a answer) neutral() hook.Answer {
	n := hook.Answer{Reason: a.Reason, Command: a.Command, Context: a.Context}
	switch a.Effect {
	case "allow":
		n.Effect = policy.Allow
	case "confirm":
		n.Effect = policy.Confirm
	}
	if a.Secret != "" {
		n.Redact = func(s string) string { return strings.ReplaceAll(s, a.Secret, "[redacted]") }
	}
	return n
}

// Each fixture is an event as the agent sends it, a decision, and what becomes
// of both.
func TestFixtures(t *testing.T) {
	for _, name := range hook.Names() {
		t.Run(name, func(t *testing.T) {
			agent := hook.Find(name)
			file := filepath.Join("testdata", "agents", name+".txtar")
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out txtar.Archive
			out.Comment = archive.Comment
			var event []byte
			for _, f := range archive.Files {
				stem, part, _ := strings.Cut(f.Name, ".")
				switch part {
				case "event":
					event = f.Data
					out.Files = append(out.Files, f)
				case "answer":
					var a answer
					if err := json.Unmarshal(f.Data, &a); err != nil {
						t.Fatalf("%s: %v", f.Name, err)
					}
					e, err := agent.Read([]byte(strings.TrimSuffix(string(event), "\n")), home)
					reply := agent.Refuse(e, "cannot read the event")
					if err == nil {
						reply = agent.Reply(e, a.neutral())
					}
					out.Files = append(out.Files, f,
						txtar.File{Name: stem + ".neutral", Data: []byte(neutral(e, err))},
						txtar.File{Name: stem + ".reply", Data: []byte(written(reply))})
				}
			}
			if got, want := string(txtar.Format(&out)), string(txtar.Format(archive)); got != want {
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				t.Errorf("%s (go test ./policy/hook -update):\n%s", file, cmp.Diff(want, got))
			}
		})
	}
}

func neutral(e *hook.Event, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "kind %d session %s cwd %s mode %q call %q tool %q\n", e.Kind, e.Session, e.Cwd, e.Mode, e.Call, e.Tool)
	for _, r := range e.Requests {
		fmt.Fprintf(&b, "%s paths %q hosts %q names %q command %q\n", r.Capability, r.Paths, r.Hosts, r.Names, r.Command)
	}
	return b.String()
}

func written(r hook.Reply) string {
	return fmt.Sprintf("exit %d\nstderr %sstdout %s", r.Code, line(r.Stderr), line(r.Stdout))
}

func line(b []byte) string {
	if len(b) == 0 {
		return "-\n"
	}
	return string(b)
}

// What an agent gets to read is never an event for another decision: whatever
// is wrong with it, the agent's own rules make a refusal of the reply.
func TestBadEvents(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, agent := range hook.Names() {
		good := goodEvent(agent)
		a := hook.Find(agent)
		if _, err := a.Read([]byte(good), home); err != nil {
			t.Fatalf("%s: the control: %v", agent, err)
		}
		command, field := `"command":"ls"`, func(what string) string { return member(agent, what) }
		for what, event := range map[string]string{
			"empty":              "",
			"space":              " \n",
			"truncated":          good[:len(good)/2],
			"without its end":    good[:len(good)-1],
			"two":                good + good,
			"a list":             "[" + good + "]",
			"10 MB":              strings.Replace(good, command, `"command":"`+strings.Repeat("a", 10<<20)+`"`, 1),
			"not UTF-8":          strings.Replace(good, "ls", "l\xff", 1),
			"a lone surrogate":   strings.Replace(good, "ls", `l\ud800`, 1),
			"NUL":                strings.Replace(good, "ls", `l\u0000s`, 1),
			"duplicate command":  strings.Replace(good, command, command+`,"command":"id"`, 1),
			"escaped duplicate":  strings.Replace(good, command, command+`,"comm\u0061nd":"id"`, 1),
			"duplicate tool":     strings.Replace(good, "{", `{`+field("tool")+`:"Read",`, 1),
			"command a number":   strings.Replace(good, command, `"command":12`, 1),
			"command a list":     strings.Replace(good, command, `"command":["ls"]`, 1),
			"no command":         strings.Replace(good, command, `"x":1`, 1),
			"empty command":      strings.Replace(good, command, `"command":""`, 1),
			"no session":         strings.Replace(good, `"s-1"`, `null`, 1),
			"session a number":   strings.Replace(good, `"s-1"`, `1`, 1),
			"session a path":     strings.Replace(good, `"s-1"`, `"../s-1"`, 1),
			"session a command":  strings.Replace(good, `"s-1"`, `"$(id)"`, 1),
			"session too long":   strings.Replace(good, `"s-1"`, `"`+strings.Repeat("a", 129)+`"`, 1),
			"no cwd":             strings.Replace(good, `"/work"`, `null`, 1),
			"cwd relative":       strings.Replace(good, `"/work"`, `"work"`, 1),
			"cwd with NUL":       strings.Replace(good, `"/work"`, `"/wo\u0000rk"`, 1),
			"unknown event":      strings.Replace(good, field("event")+`:"`, field("event")+`:"X`, 1),
			"event a number":     strings.Replace(good, field("event")+`:"`, field("event")+`:1,"x":"`, 1),
			"no event":           strings.Replace(good, field("event"), `"x"`, 1),
			"no tool":            strings.Replace(good, field("tool"), `"x"`, 1),
			"input a text":       strings.Replace(good, `{"command":"ls"}`, `"ls"`, 1),
			"nested too deep":    strings.Replace(good, `"ls"`, `"ls","x":`+deep, 1),
			"a comment":          strings.Replace(good, "{", "{/* */", 1),
			"a number like 0123": strings.Replace(good, `"ls"`, `"ls","x":0123`, 1),
		} {
			if agent == "copilot" && (what == "unknown event" || what == "event a number") {
				continue // its events have no names
			}
			t.Run(agent+"/"+what, func(t *testing.T) {
				e, err := a.Read([]byte(event), home)
				if err == nil {
					t.Fatal("was read")
				}
				if out := runs(t, agent, a.Refuse(e, err.Error())); out.runs {
					t.Errorf("the agent would run it: %+v", out)
				}
			})
		}
	}
}

// The name of a call becomes a word of a shell command: what could be more than
// a word is none.
func TestCallNames(t *testing.T) {
	for name, want := range map[string]string{"c1": "c1", "toolu_01-a.b": "toolu_01-a.b", "": "", "$(id)": "", "a b": "", "a;id": "", "../c1": "", "-c1": "", ".": "", `a\nb`: "", strings.Repeat("a", 129): ""} {
		e, err := hook.Find("claude-code").Read([]byte(strings.Replace(goodEvent("claude-code"), `"c1"`, `"`+name+`"`, 1)), home)
		if err != nil || e.Call != want {
			t.Errorf("%q: %q, %v", name, e.Call, err)
		}
	}
}

// member is the name of an agent's member, quoted.
func member(agent, what string) string {
	switch {
	case agent == "generic":
		return `"` + what + `"`
	case agent == "copilot":
		return `"toolName"` // tells both
	}
	return map[string]string{"event": `"hook_event_name"`, "tool": `"tool_name"`}[what]
}

// goodEvent is the agent about to run "ls".
func goodEvent(agent string) string {
	switch agent {
	case "generic":
		return `{"event":"before_tool","session":"s-1","cwd":"/work","tool":"shell","input":{"command":"ls"}}`
	case "gemini":
		return `{"hook_event_name":"BeforeTool","session_id":"s-1","cwd":"/work","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`
	case "copilot":
		return `{"sessionId":"s-1","timestamp":1704614400000,"cwd":"/work","toolName":"bash","toolArgs":{"command":"ls"}}`
	case "cursor":
		return `{"conversation_id":"s-1","hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"ls"},"tool_use_id":"c1","cwd":"/work"}`
	}
	return `{"hook_event_name":"PreToolUse","session_id":"s-1","cwd":"/work","tool_name":"Bash","tool_use_id":"c1","tool_input":{"command":"ls"}}`
}

// outcome is what an agent does with a reply.
type outcome struct {
	runs, asks bool
	command    string // "" is the model's own
}

// runs is what is documented of each agent's reading of a reply before a tool.
// It is written from the agents' documentation and knows nothing of the
// adapters; what it does not know runs, as in the agents.
func runs(t *testing.T, agent string, r hook.Reply) outcome {
	t.Helper()
	if r.Code != 0 {
		if agent == "copilot" {
			return outcome{} // any but 0
		}
		// Codex wants a reason on stderr. Codes other than 2 let it run.
		return outcome{runs: r.Code != 2 || agent == "codex" && len(strings.TrimSpace(string(r.Stderr))) == 0}
	}
	if len(strings.TrimSpace(string(r.Stdout))) == 0 {
		return outcome{runs: agent != "cursor"} // which fails closed
	}
	var reply struct {
		Decision, Reason string
		Input            *struct{ Command string }
		// Copilot, Cursor
		PermissionDecision, PermissionDecisionReason, Permission string

		ModifiedArgs *struct{ Command string } `json:"modifiedArgs"`
		UpdatedInput *struct{ Command string } `json:"updated_input"`
		Specific     *struct {
			HookEventName, PermissionDecision, PermissionDecisionReason string

			UpdatedInput *struct{ Command string } `json:"updatedInput"`
			ToolInput    *struct{ Command string } `json:"tool_input"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(r.Stdout, &reply); err != nil {
		return outcome{runs: true}
	}
	s := reply.Specific
	switch agent {
	case "generic":
		out := outcome{runs: reply.Decision == "allow", asks: reply.Decision == "ask"}
		if reply.Input != nil {
			out.command = reply.Input.Command
		}
		return out
	case "copilot":
		if reply.PermissionDecision == "deny" && reply.PermissionDecisionReason != "" {
			return outcome{}
		}
		if reply.ModifiedArgs != nil {
			return outcome{runs: true, command: reply.ModifiedArgs.Command}
		}
		return outcome{runs: true}
	case "cursor":
		if reply.Permission == "deny" {
			return outcome{}
		}
		if reply.UpdatedInput != nil {
			return outcome{runs: true, command: reply.UpdatedInput.Command}
		}
		return outcome{runs: true}
	case "gemini":
		if reply.Decision == "deny" || reply.Decision == "block" {
			return outcome{}
		}
		if s != nil && s.ToolInput != nil {
			return outcome{runs: true, command: s.ToolInput.Command}
		}
		return outcome{runs: true}
	}
	if s == nil || s.HookEventName != "PreToolUse" {
		return outcome{runs: true}
	}
	switch decision := s.PermissionDecision; {
	case decision == "deny":
		return outcome{runs: agent == "codex" && s.PermissionDecisionReason == ""}
	case agent == "codex" && (decision != "allow" || s.UpdatedInput == nil):
		return outcome{runs: true} // invalid, or nothing said
	case s.UpdatedInput == nil:
		return outcome{runs: decision != "ask", asks: decision == "ask"}
	case decision == "":
		return outcome{runs: true}
	default:
		return outcome{runs: decision == "allow", asks: decision == "ask", command: s.UpdatedInput.Command}
	}
}

// Every decision comes out of every agent as what it is, or as a refusal.
func TestDecisionsReachTheAgent(t *testing.T) {
	const wrapped = `/bin/skillrun exec --session s-1 -- bash -c ls`
	for _, agent := range hook.Names() {
		a := hook.Find(agent)
		for _, mode := range []string{"", "default", "plan", "acceptEdits", "dontAsk", "bypassPermissions", "auto", "new"} {
			event := goodEvent(agent)
			field := `"permission_mode"`
			if agent == "generic" {
				field = `"mode"`
			}
			event = strings.Replace(event, "{", "{"+field+":\""+mode+"\",", 1)
			e, err := a.Read([]byte(event), home)
			if err != nil {
				t.Fatal(err)
			}
			for _, context := range []string{"", "more"} {
				for _, reason := range []string{"", "why"} {
					deny := runs(t, agent, a.Reply(e, hook.Answer{Reason: reason, Command: wrapped, Context: context}))
					if deny.runs || deny.asks {
						t.Errorf("%s %q: denied, and %+v", agent, mode, deny)
					}
					confirm := runs(t, agent, a.Reply(e, hook.Answer{Effect: policy.Confirm, Reason: reason, Command: wrapped, Context: context}))
					if confirm.runs || confirm.asks && confirm.command != wrapped {
						t.Errorf("%s %q: to be confirmed, and %+v", agent, mode, confirm)
					}
					canAsk := agent == "generic" || agent == "claude-code" && (mode == "" || mode == "default" || mode == "plan" || mode == "acceptEdits")
					if confirm.asks != canAsk {
						t.Errorf("%s %q: asks: %v, want %v", agent, mode, confirm.asks, canAsk)
					}
					allow := runs(t, agent, a.Reply(e, hook.Answer{Effect: policy.Allow, Reason: reason, Command: wrapped, Context: context}))
					if !allow.runs && !allow.asks || allow.command != wrapped {
						t.Errorf("%s %q: allowed, and %+v", agent, mode, allow)
					}
				}
			}
		}
	}
}

// A refusal that the agent gets before anything was read refuses too.
func TestRefusalOfNothing(t *testing.T) {
	for _, agent := range hook.Names() {
		r := hook.Find(agent).Refuse(nil, "out of time")
		if out := runs(t, agent, r); out.runs || out.asks {
			t.Errorf("%s: %+v", agent, out)
		}
		r.Code = 0 // some take the object whatever the exit code
		if out := runs(t, agent, r); out.runs || out.asks {
			t.Errorf("%s: by its object alone: %+v", agent, out)
		}
	}
}
