package hook_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillrun/policy/hook"
)

// A word comes out of a shell as it went in, whichever an agent runs commands in. To
// fish, which need not be here, a backslash in quotes takes the next letter along if
// that is another or the quote's end.
func TestQuote(t *testing.T) {
	letters := rapid.OneOf(rapid.SampledFrom([]byte(`\';# `)), rapid.ByteRange(1, 255))
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Map(rapid.SliceOf(letters), func(b []byte) string { return string(b) }), 1, 40).Draw(t, "texts")
		var command strings.Builder
		command.WriteString("printf '%s\\0'")
		for _, s := range texts {
			word := hook.Quote(s)
			command.WriteString(" " + word)
			for quoted, i := false, 0; i < len(word); i++ {
				switch {
				case word[i] == '\'':
					quoted = !quoted
				case word[i] == '\\' && quoted && strings.IndexByte(`\'`, word[i+1]) >= 0:
					t.Fatalf("%q: a backslash in quotes before %q", word, word[i+1])
				case word[i] == '\\' && !quoted:
					i++
				}
			}
		}
		for _, shell := range [...]string{"bash", "dash", "zsh", "fish"} {
			if _, err := exec.LookPath(shell); err != nil && shell != "bash" {
				continue
			}
			out, err := exec.Command(shell, "-c", command.String()).Output()
			if err != nil {
				t.Fatal(shell, err)
			}
			if want := strings.Join(texts, "\x00") + "\x00"; string(out) != want {
				t.Fatalf("%s: %q, want %q", shell, out, want)
			}
		}
	})
}

// standIn is a program that does what exec does, without confining: it runs the
// command and leaves the directory that it ended in.
func standIn(t *testing.T) *hook.Door {
	t.Helper()
	dir := t.TempDir()
	d := &hook.Door{Program: filepath.Join(dir, "skill run"), Session: "s-1", Call: "c.1", Directory: filepath.Join(dir, "last directory")}
	script := `#!/bin/bash
[ "$1 $2 $3 $4 $5 $6 $7 $8" = "exec --session s-1 --call c.1 -- bash -c" ] || exit 99
PATH=${PATH#*:}
bash -c "trap 'pwd >\"$LAST\"' EXIT; $9"
`
	if err := os.WriteFile(d.Program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LAST", d.Directory)
	return d
}

// What runs in the place of a command gives its output and exit code, and the
// next command starts where it ended.
func TestRewrittenCommand(t *testing.T) {
	d := standIn(t)
	work := t.TempDir()
	if err := os.Mkdir(filepath.Join(work, "a b"), 0o755); err != nil {
		t.Fatal(err)
	}
	// What a command may have planted where the agent looks for programs.
	planted := filepath.Join(work, "bin")
	if err := os.Mkdir(planted, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cat", "cd", "read", "exit", "skillrun"} {
		if err := os.WriteFile(filepath.Join(planted, name), []byte("#!/bin/sh\necho >"+planted+"/ran\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := os.Getenv("PATH")
	if err := exec.Command(filepath.Join(planted, "cat")).Run(); err != nil || os.Remove(filepath.Join(planted, "ran")) != nil {
		t.Fatalf("the control: %v", err)
	}
	real, err := filepath.EvalSymlinks(work)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command, out, dir string
		code              int
	}{
		{"echo hi", "hi\n", "", 0},
		{"echo 'it''s' \"$HOME\" | wc -l", "1\n", "", 0},
		{"cd 'a b' && false", "", "a b", 1},
		{"cd 'a b'; exit 7", "", "a b", 7},
		{"cat <<'EOF'\n$x `id` 'q'\nEOF", "$x `id` 'q'\n", "", 0},
		{"# only a comment", "", "", 0},
		{"echo a\necho b", "a\nb\n", "", 0},
		{"true; (exit 3)", "", "", 3},
	} {
		for _, shell := range []string{"bash", "sh"} {
			rewritten := d.Command(c.command)
			if !strings.Contains(c.command, "'") && !strings.Contains(rewritten, c.command) {
				t.Errorf("%q cannot be read in %q", c.command, rewritten)
			}
			var out, errs bytes.Buffer
			cmd := exec.Command(shell, "-c", rewritten+"\necho \"$?\" >code; pwd -P >dir")
			cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = work, &out, &errs, append(os.Environ(), "PATH="+planted+":"+path)
			// The two files are written where the shell is by then.
			if err := cmd.Run(); err != nil {
				t.Fatalf("%s: %v: %s", rewritten, err, errs.Bytes())
			}
			code, err := os.ReadFile(filepath.Join(work, c.dir, "code"))
			if err != nil {
				t.Errorf("%q in %s did not end in %q", c.command, shell, c.dir)
				continue
			}
			dir, _ := os.ReadFile(filepath.Join(work, c.dir, "dir"))
			if want := filepath.Join(real, c.dir) + "\n"; string(dir) != want {
				t.Errorf("%q in %s ended in %q, want %q", c.command, shell, dir, want)
			}
			if got := strings.TrimSpace(string(code)); got != strconv.Itoa(c.code) || out.String() != c.out {
				t.Errorf("%q in %s: exit %s, %q; want %d, %q", c.command, shell, got, out.String(), c.code, c.out)
			}
			if errs.Len() > 0 {
				t.Errorf("%q in %s: %s", c.command, shell, errs.Bytes())
			}
			if _, err := os.Stat(filepath.Join(planted, "ran")); err == nil {
				t.Fatalf("%q in %s ran a planted program", c.command, shell)
			}
			os.Remove(filepath.Join(work, c.dir, "code"))
			os.Remove(d.Directory)
		}
	}
}
