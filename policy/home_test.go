package policy_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"skillrun/policy"
	"skillrun/profiles"
)

// TestHomeControls: what the home's settings and programs lead to in the workspace is
// those.
func TestHomeControls(t *testing.T) {
	h := machine()
	files := h.FS.(fstest.MapFS)
	for name, to := range map[string]string{
		"home/u/.claude/settings.json": "../../../w/claude/settings.json", "home/u/.claude/CLAUDE.md": "/w/mid", "w/mid": "claude/notes", "home/u/.codex": "/w/codex",
		"home/u/.claude/hooks": "/w/none", "home/u/.claude/x/deep": "/w/in.csv", "home/u/.cursor": "/w", "home/u/.local/bin/tool": "/w/bin/tool", "home/u/.config/nvim": "/w/nvim", "home/u/.tmux.conf": "/w/tmux.conf", "home/u/other": "/w/run.py",
		"w/codex/config.toml": "../shared.toml",
	} {
		files[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
	}
	for _, name := range []string{"w/claude/settings.json", "w/claude/notes", "w/claude/free", "w/shared.toml"} {
		files[name] = &fstest.MapFile{}
	}
	for home, set := range map[string]func(string){"HOME": func(at string) { h.Home = at }, "account": func(at string) { h.Home, h.Account = "/home/v", at }} {
		set("/home/u")
		p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{
			"/w/claude/settings.json": false, "/w/claude/notes": false, "/w/mid": false, "/w/codex/hooks.json": false, "/w/shared.toml": false, "/w/none": false,
			"/w/bin/tool": false, "/w/bin/other": true, "/w/nvim/init.lua": false, "/w/tmux.conf": false,
			"/w/claude/free": true, "/w/in.csv": true, "/w/run.py": true,
		} {
			if got := p.Allows(name, profiles.Write).Allowed; got != want {
				t.Errorf("%s: %s is written: %t", home, name, got)
			}
		}
	}
}
