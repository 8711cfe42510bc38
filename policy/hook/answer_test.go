package hook_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/policy/hook"
)

// A result of many parts is withheld for no more than its size: the deadline
// is over by then.
func TestRefusalIsNoWork(t *testing.T) {
	var members strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&members, `"k%d":"secret",`, i)
	}
	a := hook.Find("claude-code")
	e, err := a.Read([]byte(`{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_use_id":"c","tool_input":{"command":"x"},"tool_response":{`+members.String()+`"stdout":""}}`), "/")
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := a.Refuse(e, "no")
	runtime.ReadMemStats(&after)
	if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 32 {
		t.Errorf("%d MiB for an event of %d KiB", made, members.Len()>>10)
	}
	if out := string(r.Stdout); strings.Contains(out, "secret") || strings.Count(out, "withheld") < 4000 {
		t.Errorf("%.200s", out)
	}
}

// What says of which kind a result is stays, whatever else is withheld: an agent may
// take one of no kind that it knows for none, and its own in its place.
func TestShapesStay(t *testing.T) {
	a := hook.Find("claude-code")
	for result, want := range map[string]string{
		`{"type":"text","file":{"filePath":"/w/.env","content":"KEY","numLines":1}}`: `{"type":"text","file":{"filePath":"gone","content":"gone","numLines":1}}`,
		`[{"type":"text","text":"KEY"}]`:                                             `[{"type":"text","text":"gone"}]`,
		`{"type":"image","file":{"base64":"KEY","type":"image/png"}}`:                `{"type":"image","file":{"base64":"gone","type":"image/png"}}`,
		`{"type":"KEY","text":"text","types":"text"}`:                                `{"type":"gone","text":"gone","types":"gone"}`,
		`{"type":["text"]}`: `{"type":["gone"]}`,
	} {
		e, err := a.Read([]byte(`{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/","tool_name":"Read","tool_use_id":"c","tool_input":{"file_path":"x"},"tool_response":`+result+`}`), "/")
		if err != nil {
			t.Fatal(err)
		}
		r := a.Reply(e, hook.Answer{Effect: policy.Allow, Redact: func(string) string { return "gone" }})
		if !strings.Contains(string(r.Stdout), `"updatedToolOutput":`+want+`}`) {
			t.Errorf("%s: %s", result, r.Stdout)
		}
	}
}
