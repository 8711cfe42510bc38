package hook_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

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
