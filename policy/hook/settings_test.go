package hook_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillrun/policy/hook"
)

const program = "/opt/my tools/skillrun"

// settingsFiles are files as people and agents leave them.
var settingsFiles = map[string]string{
	"empty object":      "{}",
	"with a newline":    "{}\n",
	"spread":            "{\n}\n",
	"spaced":            "{ }",
	"hooks empty":       "{\n  \"hooks\": {}\n}\n",
	"hooks spread":      "{\n  \"hooks\": {\n  }\n}\n",
	"list empty":        `{"hooks":{"PreToolUse":[],"BeforeTool":[],"PostToolUse":[]}}`,
	"list spread":       "{\"hooks\": {\"PreToolUse\": [\n\n]}}",
	"one line":          `{"model":"m","hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]},"env":{"A":"1"}}`,
	"tabs":              "{\n\t\"model\": \"m\",\n\t\"permissions\": {\n\t\t\"deny\": [\"Read(~/.ssh/**)\"]\n\t}\n}",
	"windows lines":     "{\r\n    \"model\": \"m\"\r\n}\r\n",
	"comments":          "// mine\n{\n  // before, with a comma\n  \"model\": \"m\", // after\n  /* and */ \"hooks\": { /* none, yet */ },\n}\n",
	"somebody's hooks":  "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"/x/lint || exit 2\"}]}\n    ],\n    \"BeforeTool\": [ {\"hooks\":[]} ]\n  }\n}",
	"escapes and bytes": "{\"h\\u006foks2\":\"\\ud83d\\ude00 é\",\n\n\n   \"x\":[1,2.50,-0e1,true,null]   }   \n\n",
}

// versioned is a file in which the agent would look for hooks.
func versioned(a *hook.Agent, text string) string {
	if _, err := a.Install([]byte("{}"), program); err == nil {
		return text
	}
	return strings.Replace(text, "{", `{"version": 1, `, 1)
}

func TestInstallAndRemoveLeaveNoTrace(t *testing.T) {
	for _, name := range hook.Names() {
		a := hook.Find(name)
		if a.Settings == nil {
			continue
		}
		for what, text := range settingsFiles {
			t.Run(name+"/"+what, func(t *testing.T) {
				text := versioned(a, text)
				installed, err := a.Install([]byte(text), program)
				if err != nil {
					t.Fatal(err)
				}
				want := a.Command(program)
				found, err := a.Before(installed)
				if err != nil || len(found) == 0 || !found[0].Ours || found[0].Command != want {
					t.Fatalf("not registered: %v %+v\n%s", err, found, installed)
				}
				again, err := a.Install(installed, program)
				if err != nil || !bytes.Equal(again, installed) {
					t.Errorf("a second install: %v\n%s", err, cmp.Diff(string(installed), string(again)))
				}
				moved, err := a.Install(installed, "/elsewhere/skillrun")
				if err != nil || bytes.Contains(moved, []byte("my tools")) {
					t.Errorf("another program: %v\n%s", err, moved)
				}
				for _, from := range [][]byte{installed, moved} {
					removed, err := a.Remove(from)
					if err != nil || string(removed) != text {
						t.Errorf("removed: %v\n%s", err, cmp.Diff(text, string(removed)))
					}
				}
				if removed, err := a.Remove([]byte(text)); err != nil || string(removed) != text {
					t.Errorf("removing nothing: %v\n%s", err, cmp.Diff(text, string(removed)))
				}
			})
		}
		t.Run(name+"/no file", func(t *testing.T) {
			installed, err := a.Install(nil, program)
			if err != nil || !json.Valid(installed) {
				t.Fatalf("%v\n%s", err, installed)
			}
			if removed, err := a.Remove(installed); err != nil || removed != nil {
				t.Errorf("removed: %v\n%s", err, removed)
			}
		})
	}
}

// What else is in the settings is the same before and after, for a JSON reader
// of another make.
func TestInstallChangesNothingElse(t *testing.T) {
	a := hook.Find("claude-code")
	for what, text := range settingsFiles {
		var before, after map[string]any
		if json.Unmarshal([]byte(text), &before) != nil {
			continue // comments
		}
		installed, err := a.Install([]byte(text), program)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(installed, &after); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, installed)
		}
		for _, settings := range []map[string]any{before, after} {
			hooks, _ := settings["hooks"].(map[string]any)
			for event, list := range hooks {
				var others []any
				for _, group := range list.([]any) {
					b, _ := json.Marshal(group)
					if !strings.Contains(string(b), program) {
						others = append(others, group)
					}
				}
				if hooks[event] = others; len(others) == 0 {
					delete(hooks, event)
				}
			}
			if len(hooks) == 0 {
				delete(settings, "hooks")
			}
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
	}
}

// An agent that writes its settings anew keeps our entries, and they still go.
func TestRemoveAfterReformatting(t *testing.T) {
	a := hook.Find("claude-code")
	installed, err := a.Install([]byte(settingsFiles["one line"]), program)
	if err != nil {
		t.Fatal(err)
	}
	for _, indent := range []string{"", "  "} {
		var b bytes.Buffer
		if err := json.Indent(&b, installed, "", indent); err != nil {
			t.Fatal(err)
		}
		removed, err := a.Remove(b.Bytes())
		if err != nil || !json.Valid(removed) || bytes.Contains(removed, []byte("skillrun")) || !bytes.Contains(removed, []byte(`"x"`)) {
			t.Errorf("%v\n%s", err, removed)
		}
	}
}

// A handler that somebody put beside ours stays.
func TestRemoveLeavesNeighbours(t *testing.T) {
	a := hook.Find("claude-code")
	installed, err := a.Install(nil, program)
	if err != nil {
		t.Fatal(err)
	}
	const theirs = `{"type": "command", "command": "/x/log"}`
	for _, neighbour := range []string{strings.Replace(string(installed), `"hooks": [{`, `"hooks": [`+theirs+`, {`, 1), strings.Replace(string(installed), `"timeout": 10}]`, `"timeout": 10}, `+theirs+`]`, 1)} {
		removed, err := a.Remove([]byte(neighbour))
		if err != nil || !json.Valid(removed) || bytes.Contains(removed, []byte("skillrun")) || !bytes.Contains(removed, []byte(theirs)) {
			t.Errorf("%v\n%s", err, removed)
		}
	}
}

func TestBrokenSettingsStay(t *testing.T) {
	for _, name := range hook.Names() {
		a := hook.Find(name)
		if a.Settings == nil {
			continue
		}
		for _, text := range []string{"", "{", "[]", "null", `"x"`, `{"hooks":[]}`, `{"hooks":1}`, `{"hooks":{"PreToolUse":{},"BeforeTool":{}}}`, `{"version":1,"hooks":{"PreToolUse":{},"BeforeTool":{},"preToolUse":{}}}`, `{"hooks":{},"hooks":{}}`, "{}\xff", "{} {}", "\ufeff{}"} {
			if out, err := a.Install([]byte(text), program); err == nil {
				t.Errorf("%s: %q was changed to %q", name, text, out)
			}
		}
	}
}

// The registered command blocks whatever becomes of the program, and no path
// can end the word that it stands in.
func TestCommandIsOneWord(t *testing.T) {
	a := hook.Find("codex")
	for path, want := range map[string]string{
		"/usr/local/bin/skillrun": "/usr/local/bin/skillrun hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }",
		"/it's/$(id)/skillrun":    `'/it'\''s/$(id)/skillrun' hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }`,
	} {
		if got := a.Command(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// A registered command of ours gives its program, and nothing else does: what
// only ends like one of ours runs something else.
func TestProgramOfCommand(t *testing.T) {
	a := hook.Find("codex")
	rapid.Check(t, func(t *rapid.T) {
		program := "/" + rapid.StringMatching(`[a-z'$ /\\\n"]{0,12}`).Draw(t, "program")
		if got := a.Program(a.Command(program)); got != program {
			t.Fatalf("%q of %q", got, program)
		}
	})
	for _, command := range []string{
		"", " hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }", "skillrun hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }", "/x/skillrun hook codex", "/x/skillrun hook gemini || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }",
		"/x/skillrun  hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }", "/tmp/evil; /x/skillrun hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }", "/tmp/evil\n/x/skillrun hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }",
		"'/x/skillrun' hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }", "'/x y/skillrun hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }", "'/x y';id;'/skillrun' hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }", "/$(id)/skillrun hook codex || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }",
	} {
		if got := a.Program(command); got != "" {
			t.Errorf("%q of %q", got, command)
		}
	}
}

// What earlier versions registered is found, replaced and removed; what somebody
// wrote like it is found.
func TestEarlierRegistration(t *testing.T) {
	for _, name := range hook.Names() {
		a := hook.Find(name)
		if a.Settings == nil {
			continue
		}
		empty := versioned(a, "{}")
		now, err := a.Install([]byte(empty), program)
		if err != nil {
			t.Fatal(err)
		}
		command := a.Command(program)
		start, _, _ := strings.Cut(command, " || ")
		as := func(command string) string {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			e.Encode(command)
			return strings.TrimSpace(b.String())
		}
		settings := func(to string) string { return strings.ReplaceAll(string(now), as(command), as(to)) }
		if found, err := a.Before(now); err != nil || len(found) != 1 || !found[0].Ours || found[0].Earlier {
			t.Errorf("%s as it is now: %v %+v", name, err, found)
		}
		for _, end := range []string{" || { exec 3<&0; cat <&3 >/dev/null 2>&1 & sleep 1; exit 2; }", " || { cat >/dev/null; exit 2; }", " || exit 2"} {
			before := settings(start + end)
			if before == string(now) {
				t.Fatalf("%s: not replaced in %s", name, now)
			}
			if found, err := a.Before([]byte(before)); err != nil || len(found) != 1 || !found[0].Ours || !found[0].Earlier || a.Program(found[0].Command) != program {
				t.Errorf("%s: %v %+v", name, err, found)
			}
			if again, err := a.Install([]byte(before), program); err != nil || string(again) != string(now) {
				t.Errorf("%s: %v\n%s", name, err, cmp.Diff(string(now), string(again)))
			}
			if removed, err := a.Remove([]byte(before)); err != nil || string(removed) != empty {
				t.Errorf("%s: %v %s", name, err, removed)
			}
		}
		for command, like := range map[string]bool{
			"skillrun hook " + name: true, "/x/skillrun-0.1 hook " + name + " --x": true,
			"/x/guard hook " + name: false, "id; skillrun hook " + name: false, "skillrun hook": false,
		} {
			if found, err := a.Before([]byte(settings(command))); err != nil || len(found) != 1 || found[0].Ours || found[0].Earlier != like {
				t.Errorf("%s %s: %v %+v", name, command, err, found)
			}
		}
	}
}

// From 2.1.295 on Claude Code does not use a tool whose hook gives no answer, if its
// handler says so. A registration of before that is one of an earlier version.
func TestNoAnswerBlocks(t *testing.T) {
	a := hook.Find("claude-code")
	now, err := a.Install(nil, program)
	if err != nil {
		t.Fatal(err)
	}
	const blocks = `, "onFailure": "block"`
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ OnFailure string }
		}
	}
	if err := json.Unmarshal(now, &settings); err != nil || settings.Hooks["PreToolUse"][0].Hooks[0].OnFailure != "block" {
		t.Fatalf("%v\n%s", err, now)
	}
	for _, other := range []string{"", `, "onFailure": "continue"`, `, "onFailure": null`} {
		before := strings.Replace(string(now), blocks, other, 1)
		if found, err := a.Before([]byte(before)); err != nil || len(found) != 1 || !found[0].Ours || !found[0].Earlier {
			t.Errorf("%q: %v %+v", other, err, found)
		}
		if again, err := a.Install([]byte(before), program); err != nil || string(again) != string(now) {
			t.Errorf("%q: %v\n%s", other, err, cmp.Diff(string(now), string(again)))
		}
	}
}

// Another program that is registered in the same way is somebody else's.
func TestOtherProgramStays(t *testing.T) {
	a := hook.Find("claude-code")
	theirs := `{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "/x/guard hook claude-code || { code=$?; exec 3<&0; cat <&3 >/dev/null 2>&1 & test $code = 2 || sleep 1; exit 2; }"}]}]}}`
	for _, data := range []string{theirs, strings.Replace(theirs, "/x/guard", "/x/guard; /x/skillrun", 1)} {
		removed, err := a.Remove([]byte(data))
		if err != nil || string(removed) != data {
			t.Errorf("%v: %s", err, removed)
		}
	}
	if _, err := a.Install(nil, "/x/guard"); err == nil {
		t.Error("a name that could not be found again was registered")
	}
}

// Whatever settings look like, removing takes out what installing put in.
func TestInstallLaw(t *testing.T) {
	space := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\n\t\t", " /* , */ ", "// x, y\n"})
	scalar := rapid.SampledFrom([]string{`1`, `"a\"b"`, `null`, `{}`, `[ ]`, `["x"]`})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		gap := func() { b.WriteString(space.Draw(t, "space")) }
		object := func(names []string, value func(name string)) {
			b.WriteByte('{')
			for i, name := range names {
				if i > 0 {
					b.WriteByte(',')
				}
				gap()
				b.WriteString(`"` + name + `"`)
				gap()
				b.WriteByte(':')
				gap()
				value(name)
			}
			gap()
			b.WriteByte('}')
		}
		some := func(from ...string) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 0, len(from), rapid.ID).Draw(t, "names")
		}
		gap()
		object(some("a", "hooks", "b"), func(name string) {
			if name != "hooks" {
				b.WriteString(scalar.Draw(t, "value"))
				return
			}
			object(some("Stop", "PreToolUse", "SessionStart", "PostToolUse"), func(string) {
				b.WriteByte('[')
				gap()
				if rapid.Bool().Draw(t, "group") {
					b.WriteString(`{"hooks":[{"command":"theirs"}]}`)
					gap()
				}
				b.WriteByte(']')
			})
		})
		gap()
		a := hook.Find("claude-code")
		installed, err := a.Install([]byte(b.String()), program)
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		removed, err := a.Remove(installed)
		if err != nil || string(removed) != b.String() {
			t.Fatalf("%v\n%s\n%s", err, installed, cmp.Diff(b.String(), string(removed)))
		}
	})
}

// What a project's file may set of the variables that name proxies, as the agent
// would read it; what cannot be read may set all.
func TestProxies(t *testing.T) {
	const every = "ALL_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY all_proxy http_proxy https_proxy no_proxy"
	for _, c := range [][4]string{
		{"claude-code", ".json", `{"env": {"A": "HTTP_PROXY"}, "HTTP_PROXY": "x", "x": {"env": {"NO_PROXY": "x"}}}`, ""},
		{"claude-code", ".json", `{"env": {"HTTPS_PROXY": "x", "no_proxy": ""}}`, "HTTPS_PROXY no_proxy"},
		{"claude-code", ".json", `// x
			{"env": {"\u0048TTPS_PROXY": "x",},}`, "HTTPS_PROXY"},
		{"claude-code", ".json", `{"env": "HTTPS_PROXY"}`, ""},
		{"claude-code", ".json", `{"env": {}, "env": {"HTTPS_PROXY": "x"}}`, every},
		{"claude-code", ".json", `{`, every},
		{"codex", ".toml", "model = 'x'\n", ""},
		{"codex", ".toml", "[shell_environment_policy]\nset = { HTTPS_PROXY = 'x' }\n", "HTTPS_PROXY"},
		{"codex", ".toml", `set = { "HTTPS\u005fPROXY" = 'x' }`, every},
		{"codex", ".toml", `set = { "HTTPS\U0000005fPROXY" = 'x' }`, every},
		{"gemini", ".env", "export A=1\nexport all_proxy=x\n", "all_proxy"},
	} {
		a := hook.Find(c[0])
		for _, file := range a.Settings.Env {
			if !strings.HasSuffix(file, c[1]) {
				t.Errorf("%s: %s does not end in %s", c[0], file, c[1])
			}
			if got := strings.Join(a.Proxies(file, []byte(c[2])), " "); got != c[3] {
				t.Errorf("%s %s: %q, want %q", file, c[2], got, c[3])
			}
			if got := strings.Join(a.Proxies(file, nil), " "); got != every {
				t.Errorf("%s that cannot be read: %q", file, got)
			}
		}
	}
}
