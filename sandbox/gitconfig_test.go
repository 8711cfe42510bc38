package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What git itself reads back from the generated file is what it read from the
// user's, and nothing more.
func TestGitConfig(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, config, user, email, branch string }{
		{"plain", "[user]\n\tname = A B\n\temail = a@b.example\n[init]\n\tdefaultBranch = main\n", "A B", "a@b.example", "main"},
		{"quoted", "[user]\n name = \"A \\\"x\\\" # B\" ; comment\n email = \"a\\\\b\"\n", `A "x" # B`, `a\b`, ""},
		{"one line", "[User] name = X\n", "X", "", ""},
		{"other sections", "[core]\n\thooksPath = /evil\n[user \"sub\"]\n\tname = no\n[credential]\n\thelper = !evil\n", "", "", ""},
		{"forged", "[user]\n\tname = \"x\\n[core]\\n\\tfsmonitor = evil\"\n", "x\n[core]\n\tfsmonitor = evil", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			user, home := t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(user, ".gitconfig"), []byte(tt.config), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := writeGitConfig(home, user, "/work space"); err != nil {
				t.Fatal(err)
			}
			get := func(key string) string {
				cmd := exec.Command(git, "config", "--file", filepath.Join(home, ".gitconfig"), "--null", "--get", key)
				out, _ := cmd.Output()
				return strings.TrimSuffix(string(out), "\x00")
			}
			for key, want := range map[string]string{
				"user.name": tt.user, "user.email": tt.email, "init.defaultBranch": tt.branch,
				"safe.directory": "/work space", "core.fsmonitor": "", "core.hooksPath": "", "credential.helper": "",
			} {
				if got := get(key); got != want {
					t.Errorf("%s = %q, want %q", key, got, want)
				}
			}
		})
	}
}

// A launch waits for no pipe in the place of the user's file, nor for the end of a
// device. Control: what it leads to is read where that is a file.
func TestGitConfigIsNoPipe(t *testing.T) {
	user := t.TempDir()
	file := filepath.Join(user, ".gitconfig")
	if err := os.WriteFile(filepath.Join(user, "real"), []byte("[user]\n\tname = X\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		make func() error
		want bool
	}{
		{"control", func() error { return os.Symlink("real", file) }, true},
		{"pipe", func() error { return syscall.Mkfifo(file, 0o600) }, false},
		{"device", func() error { return os.Symlink("/dev/zero", file) }, false},
	} {
		home := t.TempDir()
		os.Remove(file)
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		if err := writeGitConfig(home, user, ""); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(home, ".gitconfig")); err != nil || strings.Contains(string(b), "X") != c.want {
			t.Errorf("%s: %q, %v", c.name, b, err)
		}
	}
}
