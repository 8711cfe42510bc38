package hook_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"skillrun/policy/hook"
)

// paths reads an event and gives the paths that it is decided about.
func paths(agent, tool, input string) ([]string, error) {
	event := "PreToolUse"
	if agent == "gemini" {
		event = "BeforeTool"
	}
	e, err := hook.Find(agent).Read([]byte(`{"hook_event_name":"`+event+`","session_id":"s-1","cwd":"/work","tool_name":"`+tool+`","tool_input":`+input+`}`), home)
	if err != nil {
		return nil, err
	}
	return e.Requests[0].Paths, nil
}

// A pattern is decided by what it can match, however it is spelled.
func TestPatternsReach(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    []string // nil is a refusal
	}{
		{"sub/file", []string{"/work/sub/file"}}, // the control
		{"src/**/*.{ts,tsx}", []string{"/work/src"}},
		{"app/(group)/*", []string{"/work/app"}},
		{"*", []string{"/work"}},
		{"/etc/*", []string{"/etc"}},
		{"../*", []string{"/"}},
		{"{a,../b}/*", []string{"/", "/b", "/work/a"}},
		{"{/etc,x}/passwd", []string{"/etc/passwd", "/work", "/work/x/passwd"}},
		{"{.,x}./*", []string{"/", "/work", "/work/x."}},
		{"{.,{y,x}}./f", []string{"/f", "/work", "/work/x./f", "/work/y./f"}},
		{"{.env,x}", []string{"/work", "/work/.env", "/work/x"}},
		{`\.env`, []string{"/work"}},
		{"@(.env)", []string{"/work"}},
		{"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", nil},
		{"~/*", nil},
		{"\ufeff/etc/*", nil},
	} {
		text, err := json.Marshal(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range [][3]string{
			{"claude-code", "Glob", `{"pattern":` + string(text) + `}`},
			{"gemini", "glob", `{"pattern":` + string(text) + `}`},
			{"gemini", "read_many_files", `{"include":[` + string(text) + `]}`},
		} {
			got, err := paths(tool[0], tool[1], tool[2])
			if (err != nil) != (c.want == nil) || !slices.Equal(got, c.want) {
				t.Errorf("%s %s: %q, %v; want %q", tool[1], text, got, err, c.want)
			}
		}
	}
}

// What an agent takes off a path is no part of the path that is decided about.
func TestTrimmedPathsRefused(t *testing.T) {
	if got, err := paths("claude-code", "Read", `{"file_path":"/work/a b"}`); err != nil || !slices.Equal(got, []string{"/work/a b"}) {
		t.Fatalf("the control: %q, %v", got, err)
	}
	for _, blank := range []string{" ", `\t`, `\n`, `\u00a0`, `\u2028`, `\u3000`, `\ufeff`} {
		for _, path := range []string{"/work/.env" + blank, blank + "/etc/passwd"} {
			if got, err := paths("claude-code", "Read", `{"file_path":"`+path+`"}`); err == nil {
				t.Errorf("%q was read as %q", path, got)
			}
		}
	}
}

// An event is read in the time that it takes to send, whatever is in it; one of
// more values than that is refused.
func TestManyValues(t *testing.T) {
	many := strings.Repeat("1,", 1<<18) + "1"
	var members strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&members, `"k%d":1,`, i)
	}
	for input, want := range map[string]string{
		`{` + members.String() + `"file_path":"/work/a"}`:        "<nil>",
		`{"file_path":"/work/a","x":[` + many + `]}`:             "more than 262144 values",
		`{` + members.String() + `"k7":2,"file_path":"/work/a"}`: `"k7" is there twice`,
	} {
		if _, err := paths("claude-code", "Read", input); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%d bytes: %v, want %s", len(input), err, want)
		}
	}
}
