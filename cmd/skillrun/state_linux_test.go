package main

import (
	"os"
	"path/filepath"
	"testing"

	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

// TestRootsDirectories keeps root's record, and takes root's configuration, where no
// other user leads it, be it by a link through a directory of theirs to one of root's.
// They can move what root's runs made there.
func TestRootsDirectories(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"roots/state/skillrun", "theirs/state/skillrun"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "config.toml"), []byte("grants = [\"filesystem.read:/secret\"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for at, to := range map[string]string{"theirs/link": "../roots", "roots/link": "../theirs/link", "roots/own": "."} {
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() != 0 || os.Chown(dir+"/theirs", 12345, 12345) != nil {
		sandboxtest.Skip(t, sandboxtest.Root, "only root can give a directory away")
	}
	for name, root := range map[string]bool{
		"roots/state":           true,
		"roots/own/state":       true,
		"theirs/state":          false,
		"theirs/link/state":     false,
		"theirs/../roots/state": true,
		"roots/link/state":      false,
	} {
		h := &profiles.Host{FS: newSnapshot(), CaseSensitive: true, Account: "/account", Env: map[string]string{"XDG_STATE_HOME": dir + "/" + name}}
		want := "/account/.local/state/skillrun"
		if root {
			want = filepath.Join(dir, name, "skillrun")
		}
		if got, err := findStateDir(h); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
		h.Env = map[string]string{"XDG_CONFIG_HOME": dir + "/" + name}
		if c, err := loadConfiguration(h, "", ""); (err == nil) != root {
			t.Errorf("%s: configuration %v, %v", name, c, err)
		}
	}
}
