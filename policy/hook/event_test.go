package hook_test

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/policy/hook"
)

// paths reads an event and gives the paths that it is decided about.
func paths(agent, tool, input string) ([]string, error) {
	event := "PreToolUse"
	if agent == "gemini" {
		event = "BeforeTool"
	}
	text := `{"hook_event_name":"` + event + `","session_id":"s-1","cwd":"/work","tool_name":"` + tool + `","tool_input":` + input + `}`
	if agent == "generic" {
		text = `{"event":"before_tool","session":"s-1","cwd":"/work","call":"1","tool":"` + tool + `","input":` + input + `}`
	}
	e, err := hook.Find(agent).Read([]byte(text), home)
	if err != nil {
		return nil, err
	}
	return e.Requests[0].Paths, nil
}

// An argument in other letters is the same to some readers of JSON: such a call is
// refused, whatever else it has. Controls: as the agents write it, and a name of a
// server's own.
func TestArgumentIsNoOther(t *testing.T) {
	for _, c := range []struct {
		agent, tool, input string
		ok                 bool
	}{
		{"generic", "shell", `{"command":"ls","workdir":"/work","description":"x"}`, true},
		{"generic", "shell", `{"command":"ls","Command":"id"}`, false},
		{"generic", "shell", `{"COMMAND":"id","command":"ls"}`, false},
		{"generic", "shell", `{"command":"ls","Cwd":"/etc"}`, false},
		{"generic", "read", `{"path":"a"}`, true},
		{"generic", "read", `{"path":"a","Path":"/etc/shadow"}`, false},
		{"generic", "s\u006bill", `{"name":"a"}`, true},
		{"claude-code", "Skill", `{"skill":"a","s\u212aill":"b"}`, false}, // the sign of kelvins
		{"claude-code", "Grep", `{"pattern":"x","PATH":"/"}`, false},
		{"claude-code", "mcp__a__b", `{"Directory":"/","Command":"x"}`, true},
		{"claude-code", "TodoWrite", `{"Todos":[]}`, true},
	} {
		event := `{"hook_event_name":"PreToolUse","session_id":"s-1","cwd":"/work","tool_name":"` + c.tool + `","tool_input":` + c.input + `}`
		if c.agent == "generic" {
			event = `{"event":"before_tool","session":"s-1","cwd":"/work","call":"1","tool":"` + c.tool + `","input":` + c.input + `}`
		}
		if _, err := hook.Find(c.agent).Read([]byte(event), home); (err == nil) != c.ok {
			t.Errorf("%s %s: %v", c.tool, c.input, err)
		}
	}
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
			for i := range got {
				got[i] = path.Clean(got[i]) // nothing is a link here
			}
			slices.Sort(got)
			if (err != nil) != (c.want == nil) || !slices.Equal(got, c.want) {
				t.Errorf("%s %s: %q, %v; want %q", tool[1], text, got, err, c.want)
			}
		}
	}
}

// What "x/.." means depends on whether x is a link, which no adapter knows: it
// stays for those who follow links.
func TestLinkedParentsStay(t *testing.T) {
	patch := `{"command":"*** Begin Patch\n*** Update File: link/../secret\n*** End Patch"}`
	for _, c := range []struct{ agent, tool, input, want string }{
		{"claude-code", "Read", `{"file_path":"./link//secret"}`, "/work/link/secret"}, // the control
		{"claude-code", "Read", `{"file_path":"link/../secret"}`, "/work/link/../secret"},
		{"claude-code", "Write", `{"file_path":"/work/link/../secret","content":""}`, "/work/link/../secret"},
		{"claude-code", "Grep", `{"pattern":"x","path":"~/link/.."}`, "/home/u/link/.."},
		{"claude-code", "Glob", `{"pattern":"link/../*"}`, "/work/link/.."},
		{"codex", "apply_patch", patch, "/work/link/../secret"},
		{"gemini", "read_file", `{"absolute_path":"/work/link/../secret","file_path":"/work/link/../secret"}`, "/work/link/../secret"},
		{"gemini", "read_many_files", `{"include":["link/../secret"]}`, "/work/link/../secret"},
		{"generic", "read", `{"path":"link/../secret"}`, "/work/link/../secret"},
	} {
		got, err := paths(c.agent, c.tool, c.input)
		if err != nil || !slices.Contains(got, c.want) {
			t.Errorf("%s %s %s: %q, %v; want %q", c.agent, c.tool, c.input, got, err, c.want)
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

// A path that no system takes is refused, before anything is made of it: an event
// has room for millions.
func TestLongPathsRefused(t *testing.T) {
	long := strings.Repeat("a/", policy.MaxPath/2) + "a"
	for _, c := range [][3]string{
		{"claude-code", "Read", `{"file_path":"%s"}`},
		{"claude-code", "Grep", `{"pattern":"x","path":"%s"}`},
		{"claude-code", "Glob", `{"pattern":"%s"}`},
		{"codex", "apply_patch", `{"input":"*** Delete File: %s"}`},
		{"gemini", "read_many_files", `{"include":["a","%s"]}`},
		{"gemini", "run_shell_command", `{"command":"ls","dir_path":"%s"}`},
		{"generic", "write", `{"path":["%s"]}`},
	} {
		if _, err := paths(c[0], c[1], fmt.Sprintf(c[2], long)); err != nil {
			t.Errorf("%s, the control: %v", c[1], err)
		}
		if _, err := paths(c[0], c[1], fmt.Sprintf(c[2], long+"a")); !strings.Contains(fmt.Sprint(err), "more than 4095 bytes") {
			t.Errorf("%s: %v", c[1], err)
		}
	}
	for dir, want := range map[string]string{"/" + long[1:]: "<nil>", "/" + long: "cwd is not an absolute path of at most 4095 bytes"} {
		_, err := hook.Find("generic").Read([]byte(`{"event":"before_tool","session":"s-1","cwd":"`+dir+`","tool":"shell","input":{"command":"ls"}}`), home)
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("a directory of %d bytes: %v, want %s", len(dir), err, want)
		}
	}
	wild := func(n int) string {
		return `{"include":[` + strings.Repeat(`"{`+strings.Repeat(",", 98)+`}",`, n) + `"a"]}`
	}
	if _, err := paths("gemini", "read_many_files", wild(10)); err != nil {
		t.Errorf("patterns, the control: %v", err)
	}
	if _, err := paths("gemini", "read_many_files", wild(11)); !strings.Contains(fmt.Sprint(err), "more than 1000 alternatives") {
		t.Errorf("patterns: %v", err)
	}
}

// What is wrong is said of the member that it is in.
func TestFaultsNameTheirMember(t *testing.T) {
	copilot := func(args string) string {
		return fmt.Sprintf(`{"sessionId":"s-1","cwd":"/work","toolName":"bash","toolArgs":%q}`, args)
	}
	cursor := func(roots string) string {
		return `{"hook_event_name":"preToolUse","conversation_id":"s-1",` + roots + `"tool_name":"Shell","tool_input":{"command":"ls"}}`
	}
	for _, c := range []struct{ agent, event, want string }{
		{"copilot", copilot(`{"command":"ls"}`), "<nil>"},
		{"copilot", copilot(`{"command":"ls","command":"id"}`), `toolArgs, in its text: at byte 16: key "command" is there twice`},
		{"copilot", copilot(`{"command":`), "toolArgs, in its text: at byte 11: want a value"},
		{"copilot", copilot(`["ls"]`), "toolArgs is not an object"},
		{"cursor", cursor(`"workspace_roots":["/work"],`), "<nil>"},
		{"cursor", cursor(`"cwd":"","workspace_roots":[],`), "no cwd, and workspace_roots names no directory"},
		{"cursor", cursor(``), "no cwd, and workspace_roots names no directory"},
		{"cursor", cursor(`"workspace_roots":["work"],`), "the first of workspace_roots is not an absolute path"},
		{"cursor", cursor(`"workspace_roots":[7],`), "the first of workspace_roots is not an absolute path"},
		{"cursor", cursor(`"cwd":"work","workspace_roots":[],`), "cwd is not an absolute path"},
	} {
		if _, err := hook.Find(c.agent).Read([]byte(c.event), home); !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %s", c.event, err, c.want)
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

// What a tool gave may have half of a surrogate pair in it, as any program can
// write one: secrets are taken out of it all the same. What is decided about may
// not, and then the whole result is withheld.
func TestHalfPairs(t *testing.T) {
	a := hook.Find("claude-code")
	event := func(input, output string) string {
		return `{"hook_event_name":"PostToolUse","session_id":"s-1","cwd":"/w","tool_use_id":"c","tool_name":"Bash","tool_input":{"command":"` + input + `"},"tool_response":{"stdout":"` + output + `","x\udfff":["` + output + `"]}}`
	}
	answer := hook.Answer{Effect: policy.Allow, Redact: func(s string) string { return strings.ReplaceAll(s, "KEY", "[redacted]") }}
	for _, output := range []string{"a KEY b", `a KEY b\ud83d`, `\udc00KEY`, `\ud83d\ud83d KEY \ud83d\u0041`} {
		e, err := a.Read([]byte(event("ls", output)), home)
		if err != nil {
			t.Errorf("%s: %v", output, err)
			continue
		}
		r := a.Reply(e, answer)
		if !json.Valid(r.Stdout) || strings.Contains(string(r.Stdout), "KEY") || strings.Count(string(r.Stdout), "[redacted]") != 2 || r.Code != 0 {
			t.Errorf("%s: %s", output, r.Stdout)
		}
	}
	e, err := a.Read([]byte(event(`l\ud800`, "KEY")), home)
	if err == nil {
		t.Fatal("half a pair in a command was read")
	}
	if r := a.Refuse(e, err.Error()); strings.Contains(string(r.Stdout), "KEY") || !strings.Contains(string(r.Stdout), "withheld") || r.Code != 0 {
		t.Errorf("exit %d: %s", r.Code, r.Stdout) // with another code it would not be read
	}
}

// What a search shows is what files hold, which listing does not.
func TestSearches(t *testing.T) {
	for _, c := range []struct {
		agent, event, tool string
		want               bool
	}{
		{"claude-code", "PreToolUse", "Grep", true},
		{"gemini", "BeforeTool", "grep_search", true},
		{"gemini", "BeforeTool", "search_file_content", true},
		{"claude-code", "PreToolUse", "LS", false},
		{"gemini", "BeforeTool", "list_directory", false},
	} {
		e, err := hook.Find(c.agent).Read([]byte(`{"hook_event_name":"`+c.event+`","session_id":"s-1","cwd":"/work","tool_name":"`+c.tool+`","tool_input":{"path":"d","pattern":"x"}}`), home)
		if err != nil || e.Searches() != c.want || !slices.Equal(e.Requests[0].Paths, []string{"/work/d"}) {
			t.Errorf("%s: %v, searches: %v, want %v, of %v", c.tool, err, e.Searches(), c.want, e.Requests[0].Paths)
		}
	}
}

// What an agent only tells of its own work is not asked about, by its whole name.
func TestOwnAffairs(t *testing.T) {
	for tool, own := range map[string]bool{"update_topic": true, "write_todos": true, "update_topics": false, "mcp_x_update_topic": false} {
		e, err := hook.Find("gemini").Read([]byte(`{"hook_event_name":"BeforeTool","session_id":"s-1","cwd":"/work","tool_name":"`+tool+`","tool_input":{"title":"x"}}`), home)
		if err != nil || (len(e.Requests) == 0) != own {
			t.Errorf("%s: %v, needs %v", tool, err, e.Requests)
		}
	}
}

// No argument of a skill makes a command of its text, which an agent would start by
// itself.
func TestArgumentsStartNothing(t *testing.T) {
	for args, refused := range map[string]bool{"fix this!": false, "!`id`": true, "a\n!`id`": true, "!": true} {
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := paths("claude-code", "Skill", `{"skill":"pdf","args":`+string(text)+`}`); (err != nil) != refused {
			t.Errorf("%q: %v", args, err)
		}
		if _, err := paths("claude-code", "Task", `{"subagent_type":"x","prompt":`+string(text)+`}`); err != nil {
			t.Errorf("of another tool: %q: %v", args, err)
		}
	}
}

// Agents compose letters before they open a path, and to some "~" is a name: what it
// may mean is all decided about.
func TestPathsOfTwoMeanings(t *testing.T) {
	for _, c := range []struct {
		agent, tool, input string
		want               []string
	}{
		{"claude-code", "Read", `{"file_path":"\u00e9/x"}`, []string{"/work/\u00e9/x"}}, // the control
		{"claude-code", "Read", `{"file_path":"e\u0301/x"}`, []string{"/work/e\u0301/x", "/work/\u00e9/x"}},
		{"claude-code", "Write", `{"file_path":"/work/\u212a"}`, []string{"/work/\u212a", "/work/K"}},
		{"claude-code", "Grep", `{"pattern":"x","path":"e\u0301"}`, []string{"/work/e\u0301", "/work/\u00e9"}},
		{"claude-code", "Glob", `{"pattern":"e\u0301/a"}`, []string{"/work/e\u0301/a", "/work/\u00e9/a"}},
		{"claude-code", "Glob", `{"path":"e\u0301","pattern":"*"}`, []string{"/work/e\u0301", "/work/\u00e9"}},
		{"codex", "apply_patch", `{"command":"*** Begin Patch\n*** Update File: a\n\ufeff*** Update File: e\u0301\n"}`, []string{"/work/a", "/work/e\u0301", "/work/\u00e9"}},
		{"claude-code", "Read", `{"file_path":"~/x"}`, []string{"/home/u/x", "/work/~/x"}},
		{"gemini", "read_file", `{"file_path":"~/x"}`, []string{"/home/u/x", "/work/~/x"}},
		{"gemini", "glob", `{"path":"~","pattern":"*"}`, []string{"/home/u", "/work/~"}},
		{"gemini", "read_many_files", `{"include":["e\u0301/a"]}`, []string{"/work/e\u0301/a", "/work/\u00e9/a"}},
	} {
		got, err := paths(c.agent, c.tool, c.input)
		slices.Sort(c.want)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %s %s: %q, %v; want %q", c.agent, c.tool, c.input, got, err, c.want)
		}
	}
}
