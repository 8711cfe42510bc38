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
