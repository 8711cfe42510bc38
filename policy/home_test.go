package policy_test

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"skillrun/policy"
	"skillrun/profiles"
)

// TestHomeControls: what the home's settings and programs lead to in the workspace, or
// in another tree that may be written, is those, and nothing on the way is replaced.
func TestHomeControls(t *testing.T) {
	for home, set := range map[string]func(*profiles.Host){"HOME": func(*profiles.Host) {}, "account": func(h *profiles.Host) { h.Home, h.Account = "/home/v", h.Home }} {
		h := machine()
		files := h.FS.(fstest.MapFS)
		for name, to := range map[string]string{
			"home/u/.claude/settings.json": "../../../w/claude/settings.json", "home/u/.claude/CLAUDE.md": "/w/mid", "w/mid": "claude/notes", "home/u/.codex": "/w/codex",
			"home/u/.claude/hooks": "/w/none", "home/u/.claude/x/deep": "/w/deep", "home/u/.cursor": "/w", "home/u/.local/bin/tool": "/w/bin/tool", "home/u/.config/nvim": "/w/nvim", "home/u/.tmux.conf": "/w/tmux.conf", "home/u/other": "/w/run.py",
			"w/codex/config.toml": "../shared.toml",
			// deeper, by way of another directory, in a circle
			"home/u/.emacs.d/lisp/a/b/c/d": "/w/five", "home/u/.emacs.d/lisp/a/b/c/d2/e": "/w/six", "home/u/.config/helix": "/home/u/dots/helix", "home/u/dots/helix/themes/own": "/w/themes",
			"home/u/.config/helix2": "/w/helix2", "home/u/dots/helix/round": "/home/u/.config/helix",
			// patterns
			"home/u/.augment-x": "/w/augment", "home/u/.kilocode/rules": "/w/kilo", "home/u/.config/mise.local.toml": "/w/mise", "home/u/.jj/repo/my-config.toml": "/w/jj",
			// other trees
			"home/u/.vimrc": "/data/vimrc", "home/u/.config/zed": "/data/zed", "home/u/.psqlrc": "/in/psqlrc", "home/u/.irbrc": "/w/way", "w/way": "/home/u/dots/irbrc",
			"home/u/.tigrc": "/w/file/tigrc", "home/u/.config/sway": "/data",
		} {
			files[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
		}
		for _, name := range []string{"w/claude/settings.json", "w/claude/notes", "w/claude/free", "w/shared.toml", "w/five", "w/six", "home/u/dots/irbrc", "w/file",
			"data/vimrc", "data/zed/tasks.json", "data/other", "in/psqlrc"} {
			files[name] = &fstest.MapFile{}
		}
		set(h)
		in := inputs("true")
		in.Mounts = []policy.Mount{{Role: "data", Dir: "/data", Write: true}, {Role: "in", Dir: "/in"}}
		p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, in)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{
			"/w/claude/settings.json": false, "/w/claude/notes": false, "/w/mid": false, "/w/codex/hooks.json": false, "/w/shared.toml": false, "/w/none": false,
			"/w/bin/tool": false, "/w/bin/other": true, "/w/nvim/init.lua": false, "/w/tmux.conf": false, "/w/deep": false,
			"/w/claude/free": true, "/w/in.csv": true, "/w/run.py": true,
			"/w/five": false, "/w/six": true, "/w/themes": false, "/w/helix2": true,
			"/w/augment": false, "/w/kilo": false, "/w/mise": false, "/w/jj": false,
			"/w/hooks.json": false, "/w/rules/x": false, "/w/settings.json": true, // ~/.cursor is /w
			"/data/vimrc": false, "/data/zed/new": false, "/data/other": true, "/w/way": false, "/w/file": false,
		} {
			if got := p.Allows(name, profiles.Write).Allowed; got != want {
				t.Errorf("%s: %s is written: %t", home, name, got)
			}
		}
	}
}

// TestHomeControlsBound: of so many directories those are looked through that are
// nearest to the home.
func TestHomeControlsBound(t *testing.T) {
	h := machine()
	files := h.FS.(fstest.MapFS)
	for i := range 400 {
		files[fmt.Sprintf("home/u/.vim/pack/d%03d/l", i)] = &fstest.MapFile{Data: []byte(fmt.Sprintf("/w/v%03d", i)), Mode: 0o777 | fs.ModeSymlink}
	}
	files["home/u/.emacs.d/lisp/l"] = &fstest.MapFile{Data: []byte("/w/lisp"), Mode: 0o777 | fs.ModeSymlink}
	p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs("true"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"/w/v000": false, "/w/v110": false, "/w/v128": true, "/w/lisp": false} {
		if got := p.Allows(name, profiles.Write).Allowed; got != want {
			t.Errorf("%s is written: %t", name, got)
		}
	}
}
