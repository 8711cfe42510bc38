package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// host is one whose hooks may change a command, in some of its versions. It does what
// Copilot CLI and Cursor are documented to do with an answer.
type host struct {
	*agent
	name    string
	honours bool // takes the command of an answer in the place of its own
	guards  bool // asks again about the command that it is about to run
	turns   int  // how often its model asked for a command
	last    string
}

// answer sends an event, and gives the reason of a refusal or the command of the answer.
func (h *host) answer(event string) (denied, command string) {
	h.t.Helper()
	cmd := exec.Command(program(h.t), "hook", h.name)
	cmd.Env, cmd.Dir, cmd.Stdin = h.env, h.work, strings.NewReader(event)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("%s: %v: %s%s", event, err, out, errs.Bytes())
	}
	var reply struct {
		Permission, PermissionDecision, PermissionDecisionReason string

		Message      string                   `json:"user_message"`
		UpdatedInput struct{ Command string } `json:"updated_input"`
		ModifiedArgs struct{ Command string } `json:"modifiedArgs"`
	}
	if len(out) > 0 {
		if err := json.Unmarshal(out, &reply); err != nil {
			h.t.Fatalf("%s: %v", out, err)
		}
	}
	if reply.Permission == "deny" || reply.PermissionDecision == "deny" {
		return reply.PermissionDecisionReason + reply.Message, ""
	}
	if h.name == "cursor" && reply.Permission != "allow" && !strings.Contains(event, "sessionStart") {
		h.t.Fatalf("%s: no answer, which fails closed: %s", event, out)
	}
	return "", reply.UpdatedInput.Command + reply.ModifiedArgs.Command
}

func (h *host) start() {
	h.t.Helper()
	event := fmt.Sprintf(`{"sessionId":"s-1","cwd":%q,"source":"new"}`, h.work)
	if h.name == "cursor" {
		event = fmt.Sprintf(`{"hook_event_name":"sessionStart","conversation_id":"s-1","workspace_roots":[%q]}`, h.work)
	}
	if denied, _ := h.answer(event); denied != "" {
		h.t.Fatalf("the session: %s", denied)
	}
}

// asks has the model ask for a command once, and gives what runs: "" if nothing does.
func (h *host) asks(text string) (runs, denied string) {
	h.t.Helper()
	h.turns++
	quoted, err := json.Marshal(text)
	if err != nil {
		h.t.Fatal(err)
	}
	before := fmt.Sprintf(`{"sessionId":"s-1","cwd":%q,"toolName":"bash","toolArgs":{"command":%s,"description":"x"}}`, h.work, quoted)
	if h.name == "cursor" {
		before = fmt.Sprintf(`{"hook_event_name":"preToolUse","conversation_id":"s-1","cwd":"","workspace_roots":[%q],"tool_name":"Shell","tool_use_id":"c%d","tool_input":{"command":%s}}`, h.work, h.turns, quoted)
	}
	denied, command := h.answer(before)
	if h.last = command; denied != "" {
		return "", denied
	}
	runs = text
	if h.honours && command != "" {
		runs = command
	}
	if h.guards {
		final, err := json.Marshal(runs)
		if err != nil {
			h.t.Fatal(err)
		}
		if denied, _ := h.answer(fmt.Sprintf(`{"hook_event_name":"beforeShellExecution","conversation_id":"s-1","cwd":"","workspace_roots":[%q],"command":%s}`, h.work, final)); denied != "" {
			return "", denied
		}
	}
	return runs, ""
}

// run has the model ask for a command, and for the one that a refusal names.
func (h *host) run(text string) (out, denied string) {
	h.t.Helper()
	runs, denied := h.asks(text)
	if _, named, ok := strings.Cut(denied, "run this instead, as it stands: "); ok {
		runs, denied = h.asks(named)
	}
	if denied != "" {
		return "", denied
	}
	if !strings.HasPrefix(runs, program(h.t)+" exec --session s-1 ") {
		h.t.Errorf("runs unconfined: %s", runs)
	}
	cmd := exec.Command("bash", "-c", runs)
	cmd.Env, cmd.Dir = h.env, h.work
	b, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Errorf("%s: %v: %s", runs, err, b)
	}
	return string(b), ""
}

func newHost(t *testing.T, name string, honours, guards bool) *host {
	h := &host{agent: newAgent(t), name: name, honours: honours, guards: guards}
	h.write("work/in.txt", "in\n")
	h.start()
	return h
}

// A command is put in the place of the agent's own only where that was seen to run,
// in this session: an agent that ignores it runs nothing unconfined.
func TestRewrittenOnlyWhereProven(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"copilot", "cursor"} {
		for _, honours := range []bool{true, false} {
			for _, guards := range []bool{false, true} {
				if guards && name == "copilot" {
					continue
				}
				t.Run(fmt.Sprintf("%s, changes commands: %v, asks twice: %v", name, honours, guards), func(t *testing.T) {
					h := newHost(t, name, honours, guards)
					for i, command := range []string{"cat in.txt", "cat 'in.txt' # it's\ntrue", "cat in.txt"} {
						h.turns = 0
						if out, denied := h.run(command); out != "in\n" {
							t.Errorf("%q: %q, refused: %s", command, out, denied)
						}
						want := 2
						if honours && i > 0 {
							want = 1
						}
						if h.turns != want {
							t.Errorf("%q took %d turns, want %d", command, h.turns, want)
						}
					}
					// What was named once is asked for again, and in its form.
					if out, denied := h.run(program(t) + ` exec --session s-1 --denials -- bash -c 'cat in.txt'`); out != "in\n" {
						t.Errorf("in the form that is named: %q, refused: %s", out, denied)
					}
					if _, denied := h.run("cat ~/.ssh/id"); denied == "" || strings.Contains(denied, "instead") {
						t.Errorf("a refusal names another command: %s", denied)
					}
					// Another version may go on with the session.
					h.start()
					if runs, denied := h.asks("cat in.txt"); denied == "" {
						t.Errorf("after a new start %s runs", runs)
					}
				})
			}
		}
	}
}

// Nothing that a model asks for makes an agent pass for one that changes commands.
func TestProofCannotBeForged(t *testing.T) {
	for _, name := range []string{"copilot", "cursor"} {
		h := newHost(t, name, false, false)
		door := program(t) + " exec --session s-1 "
		// The control: the agent that does passes.
		honest := newHost(t, name, true, false)
		honest.run("cat in.txt")
		if runs, denied := honest.asks("cat in.txt"); denied != "" {
			t.Fatalf("control: %s %s", runs, denied)
		}
		if _, denied := h.run("cat in.txt"); denied != "" || h.last == "" {
			t.Fatalf("control: %s", denied)
		}
		// The answer that it ignored, should it have read it in a log.
		for _, text := range []string{
			h.last,
			strings.Replace(h.last, "cat in.txt", "cat  in.txt", 1),
			h.last + "; cat in.txt",
			"cat in.txt; " + h.last,
			h.last + "\ncat in.txt",
			door + `--denials -- bash -c "` + h.last + `"`,
			door + `--denials -- bash -c ` + `'cat in.txt'"; cat in.txt"`,
			door + `--denials  -- bash -c 'cat in.txt'`,
			door + `--denials -- bash -c 'cat in.txt' ; cat in.txt`,
			door + `--denials -- bash -c 'cat in.txt'$(cat in.txt)`,
			door + "--denials -- bash -c 'cat in.txt'\ncat in.txt",
			door + `--denials --workspace / -- bash -c 'cat in.txt'`,
			door + `--call c1 -- bash -c 'cat in.txt'`,
			"X=1 " + door + `-- bash -c 'cat in.txt'`,
			strings.Replace(door, "s-1", "s-2", 1) + `-- bash -c 'cat in.txt'`,
		} {
			runs, denied := h.asks(text)
			if runs != "" {
				t.Errorf("%s: runs %s", name, runs)
			}
			if strings.Contains(text, " --session s-1 ") && !strings.Contains(denied, "to the letter") && !strings.Contains(denied, "as it stands") {
				t.Errorf("%s: %s: %s", name, text, denied)
			}
		}
		// Of a run that does it inside.
		h.run(door + "--denials -- bash -c '" + strings.ReplaceAll(h.last, "'", `'\''`) + " || true'")
		if runs, denied := h.asks("cat in.txt"); denied == "" {
			t.Errorf("%s: afterwards %s runs", name, runs)
		}
	}
}

// What these agents obey is not for their own tools to change.
func TestAgentsCannotChangeTheirHooks(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]string{
		"copilot": {
			`{"sessionId":"s-1","cwd":"WORK","toolName":"create","toolArgs":{"path":"FILE","file_text":"x"}}`,
			`{"sessionId":"s-1","cwd":"WORK","toolName":"edit","toolArgs":"{\"path\":\"FILE\",\"old_str\":\"x\",\"new_str\":\"y\"}"}`,
			`{"sessionId":"s-1","cwd":"WORK","toolName":"apply_patch","toolArgs":"*** Begin Patch\n*** Add File: FILE\n+x\n*** End Patch"}`,
		},
		"cursor": {
			`{"hook_event_name":"preToolUse","conversation_id":"s-1","workspace_roots":["WORK"],"tool_name":"Write","tool_use_id":"c","tool_input":{"file_path":"FILE"}}`,
			`{"hook_event_name":"preToolUse","conversation_id":"s-1","workspace_roots":["WORK"],"tool_name":"Delete","tool_use_id":"c","tool_input":{"path":"FILE"}}`,
		},
	} {
		h := newHost(t, name, true, false)
		for _, event := range events {
			write := func(file string) string {
				denied, _ := h.answer(strings.NewReplacer("WORK", h.work, "FILE", h.root+"/"+file).Replace(event))
				return denied
			}
			h.write("work/notes.txt", "x")
			if denied := write("work/notes.txt"); denied != "" && !strings.Contains(event, "Delete") {
				t.Errorf("control: %s: %s", event, denied)
			}
			for _, file := range []string{
				"work/.github/hooks/x.json", "work/.github/copilot/settings.json", "work/.github/copilot/settings.local.json", "work/.github/extensions/x/extension.mjs",
				"work/.copilot/hooks/x.json", "work/.cursor/hooks.json", "work/.cursor/mcp.json", "work/.claude/settings.json", "work/.git/hooks/pre-commit", "work/sub/../.cursor/hooks.json",
				"home/.copilot/hooks/skillrun.json", "home/.copilot/settings.json", "home/.cursor/hooks.json",
			} {
				if write(file) == "" {
					t.Errorf("%s: %s is written", event, file)
				}
			}
		}
	}
}
