package hook_test

import (
	"encoding/json"
	"testing"

	"skillrun/policy"
	"skillrun/policy/hook"
)

// Whatever comes in, what goes out is one JSON object or nothing, and never a
// yes to what could not be read.
func FuzzEvent(f *testing.F) {
	for _, agent := range hook.Names() {
		f.Add(goodEvent(agent))
	}
	f.Add(`{"sessionId":"s","cwd":"/w","toolName":"apply_patch","toolArgs":"*** Begin Patch\n*** Add File: a\n+x"}`)
	f.Add(`{"sessionId":"s","cwd":"/w","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`)
	f.Add(`{"hook_event_name":"beforeShellExecution","conversation_id":"s","workspace_roots":["/w"],"cwd":"","command":"ls"}`)
	f.Add(`{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/w","tool_name":"Read","tool_input":{"file_path":"x"},"tool_response":["a",{"b":"c"}]}`)
	f.Fuzz(func(t *testing.T, event string) {
		for _, name := range hook.Names() {
			a := hook.Find(name)
			e, err := a.Read([]byte(event), home)
			replies := []hook.Reply{a.Refuse(e, "x")}
			if err == nil {
				if !json.Valid([]byte(event)) {
					t.Fatalf("%s: read what is no JSON", name)
				}
				for _, effect := range []policy.Effect{policy.Deny, policy.Confirm, policy.Allow} {
					replies = append(replies, a.Reply(e, hook.Answer{
						Effect: effect, Command: "W", Redact: func(s string) string { return s + "!" },
					}))
				}
			}
			for i, r := range replies {
				if len(r.Stdout) > 0 && !json.Valid(r.Stdout) {
					t.Fatalf("%s: reply %d: %s", name, i, r.Stdout)
				}
			}
			switch {
			case e.Kind == hook.AfterTool && name == "cursor": // which lets nobody withhold it
			case e.Kind == hook.AfterTool: // it has run, and what it gave is withheld
				var refusal struct{ Decision string }
				if json.Unmarshal(replies[0].Stdout, &refusal); refusal.Decision != "block" && refusal.Decision != "deny" {
					t.Fatalf("%s: a result that is not withheld: %s", name, replies[0].Stdout)
				}
			case e.Kind == hook.BeforeTool || err != nil:
				if out := runs(t, name, replies[0]); out.runs || out.asks {
					t.Fatalf("%s: a refusal that runs: %+v", name, out)
				}
			}
		}
	})
}

// Settings that can be edited at all are left as they were by taking out what
// was put in.
func FuzzSettings(f *testing.F) {
	for _, text := range settingsFiles {
		f.Add(text)
		f.Add(versioned(hook.Find("cursor"), text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range [...]string{"claude-code", "cursor"} {
			a := hook.Find(name)
			if same, err := a.Remove([]byte(text)); err != nil || string(same) != text {
				continue // it holds entries of ours already
			}
			installed, err := a.Install([]byte(text), program)
			if err != nil {
				continue
			}
			removed, err := a.Remove(installed)
			if err != nil || string(removed) != text && removed != nil {
				t.Fatalf("%s: %v\n%q\n%q\n%q", name, err, text, installed, removed)
			}
		}
	})
}
