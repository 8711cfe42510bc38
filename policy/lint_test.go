package policy_test

import (
	"strings"
	"testing"

	"skillrun/policy"
)

// What a manifest names that reaches nothing is told.
func TestLintScopes(t *testing.T) {
	for _, row := range []struct{ capability, scope, want string }{
		{"external_api.call", "api.example.com", ""},
		{"external_api.call", "*.example.com:8443", ""},
		{"external_api.call", "*.com", `"*.com" is not a host and grants nothing: a wildcard over names of strangers`},
		{"web.fetch", "*.github.io", `"*.github.io" is not a host`},
		{"web.fetch", "2130706433", `"2130706433" is not a host`},
		{"web.fetch", "https://example.com/", ""},
		{"web.fetch", "https://example.com/v1", `"https://example.com/v1" grants the whole host: "/v1" does not count`},
		{"web.fetch", "https://example.com?q", `"https://example.com?q" grants the whole host: "?q" does not count`},
		{"env_var.read", "LANGUAGE_TOOL", ""},
		{"env_var.read", "OPENAI_BASE_URL", `"OPENAI_BASE_URL" is not passed by env_var.read (`},
		{"env_var.read", "$LANGUAGE_TOOL", `"$LANGUAGE_TOOL" is not the name of a variable and grants nothing`},
		{"env_var.read", "LANGUAGE_*", ""},
		{"filesystem.write", "out", ""},
		{"filesystem.write", "~/out", ""},
		{"filesystem.write", "$HOME/out", ""},
		{"filesystem.write", "$HOMES/out", `"$HOMES/out" is taken for a path in the workspace: `},
		{"filesystem.write", "~user/out", `"~user/out" is taken for a path in the workspace: `},
		{"filesystem.write", "file:///out", `"file:///out" is taken for a path in the workspace: `},
		{"filesystem.write", `C:\\out`, `"C:\out" is taken for a path in the workspace: `}, // escaped where it is shown
		{"secrets.read", "OPENAI_BASE_URL", ""},
		{"package.install", "npm", ""},
		{"package.install", "registry.npmjs.org", `"registry.npmjs.org" is not a group of package registries`},
	} {
		manifest := `{"permissions": [{"capability": "` + row.capability + `", "effect": "confirm", "constraints": {"resource_scope": ["` + row.scope + `"]}}]}`
		var found []string
		for _, f := range policy.Lint("x", []policy.File{{Name: "skillguard-manifest.json", Data: []byte(manifest)}}) {
			if f.What != "there is no SKILL.md" {
				found = append(found, f.What)
			}
		}
		switch {
		case row.want == "" && len(found) > 0:
			t.Errorf("%s %s: %q", row.capability, row.scope, found)
		case row.want != "" && (len(found) != 1 || !strings.HasPrefix(found[0], row.want)):
			t.Errorf("%s %s: %q, want %q", row.capability, row.scope, found, row.want)
		}
	}
}

// What a header or skillrun.toml says beside, and nothing knows, is told with its line.
func TestLintNames(t *testing.T) {
	for _, row := range []struct{ file, text, want string }{
		{"SKILL.md", "---\nname: x\ndescription: x\nallowed-tools: Raed\n---\n", `SKILL.md:4:16: "Raed" is no tool that gives a run something (did you mean "Read"?)`},
		{"SKILL.md", "---\nname: x\ndescription: x\nallowed-tools: [Read, bash]\n---\n", `SKILL.md:4:23: "bash" is no tool that gives a run something (did you mean "Bash"?)`},
		{"SKILL.md", "---\nname: x\ndescription: x\nallowed-tools: filesystem.read\n---\n", `SKILL.md:4:16: "filesystem.read" is a capability, and no tool of an agent: permissions of a skillguard-manifest.json name those`},
		{"SKILL.md", "---\nname: x\ndescription: x\nallowed-tools: Read AskUserQuestion Ask TodoWrite mcp__x__reads\n---\n", ""},
		{"SKILL.md", "---\nname: x\ndescription: x\nallowed-tools: Rea Patch Batch Send Kill Head\n---\n", ""},
		{"SKILL.md", "---\nname: x\ndescription: x\nallowed-tools: Bsah(git:*)\n---\n", `SKILL.md:4:16: "Bsah" is no tool that gives a run something (did you mean "Bash"?)`},
		{"SKILL.md", "---\nname: x\ndescription: x\nallowed-tools: Web_Fetch\n---\n", `SKILL.md:4:16: "Web_Fetch" is no tool that gives a run something (did you mean "WebFetch"?)`},
		{"SKILL.md", "---\nname: x\ndescription: x\nallowed_tools: Read\n---\n", `SKILL.md:4:1: key "allowed_tools" is not read, and restricts nothing (did you mean "allowed-tools"?)`},
		{"SKILL.md", "---\nname: x\ndescription: x\nAllowed-Tools: Read\n---\n", `SKILL.md:4:1: key "Allowed-Tools" is not read, and restricts nothing (did you mean "allowed-tools"?)`},
		{"SKILL.md", "---\nname: x\ndescription: x\nallowed-tools: Read\nlicense: MIT\nmetadata:\n  tools: x\n---\nallowed_tools: Read\n", ""},
		{"SKILL.md", "\n---\nname: x\n---\n", `SKILL.md:1:1: does not start with a line "---": there is no header`},
		{"skillrun.toml", "toolchains = [\"pyenv\", \"pynev\"]\npermissions = []\n", `skillrun.toml:1:24: "pynev" is no toolchain that is known, and grants nothing`},
		{"skillrun.toml", "permissions = []\n[environment]\nPYTHONDONTWRITEBYTECODE = \"1\"\nLD_PRELOAD = \"x\"\n", `skillrun.toml:4:1: "LD_PRELOAD" is not set by a manifest (libraries loaded into every program (LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH))`},
		{"manifest.json", `{"permissions": [{"capability": "READ_FILE"}]}`, `manifest.json:1:33: unknown capability "READ_FILE" (did you mean "filesystem.read"?)`},
	} {
		var found []string
		for _, f := range policy.Lint("x", []policy.File{{Name: row.file, Data: []byte(row.text)}}) {
			if f.What != "there is no SKILL.md" {
				found = append(found, f.String())
			}
		}
		switch {
		case row.want == "" && len(found) > 0:
			t.Errorf("%s: %q", row.text, found)
		case row.want != "" && (len(found) != 1 || found[0] != row.want):
			t.Errorf("%s: %q, want %q", row.text, found, row.want)
		}
	}
}
