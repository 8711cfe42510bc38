package main_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	main "skillrun/cmd/skillrun"
	"skillrun/sandbox/sandboxtest"
)

// A file in the workspace that the user says is a secret may be an earlier run's, and
// one that is never read to its end.
func TestSecretWithoutEnd(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	for _, made := range []string{"mkfifo token", "truncate -s 3G token"} {
		os.Remove(filepath.Join(dir, "token"))
		run := func(argv ...string) string {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, "prlimit", append([]string{"--data=1000000000", program(t)}, argv...)...)
			cmd.Dir, cmd.Env = dir, env
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v: %.300s", made, err, out)
			}
			return string(out)
		}
		run("--", "sh", "-c", made)
		if out := run("--grant", "secrets.read:token", "--", "echo", "ran"); !strings.Contains(out, "ran\n") || !strings.Contains(out, dir+"/token holds may stand in the record") {
			t.Errorf("%s: %s", made, out)
		}
	}
}

// What a run puts in the place of a secret's file is not read after it: what is replaced
// in the output would tell what another file holds, and a FIFO is never read to its end.
func TestSecretReplaced(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"token": "good guess", "others": "what others keep"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token := filepath.Join(dir, "token")
	const guesses = "good guess, what others keep, what others had"
	if got, want := main.Shown(token, guesses), "[redacted], what others keep, what others had"; got != want {
		t.Fatalf("control: %q", got)
	}
	const none = "[a secret, withheld by skillrun]"
	for what, put := range map[string]func() error{
		"link":      func() error { return os.Symlink("others", token) },
		"FIFO":      func() error { return unix.Mkfifo(token, 0o600) },
		"large":     func() error { return os.WriteFile(token, bytes.Repeat([]byte("a\n"), 1<<18), 0o600) },
		"directory": func() error { return os.Mkdir(token, 0o700) },
	} {
		os.Remove(token)
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if got := main.Shown(token, guesses); got != none {
			t.Errorf("%s: %q", what, got)
		}
	}
}
