package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"skillrun/sandbox/sandboxtest"

	"golang.org/x/sys/unix"
)

// refused runs skillrun, which must run nothing, exit with 125, say nothing on
// stdout, and say on stderr only lines of its own in plain text. It gives those
// lines without their prefix.
func refused(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if end := ending(cmd.Run()); end != "exit 125" {
		t.Errorf("%s, want exit 125", end)
	}
	if out.Len() > 0 {
		t.Errorf("on stdout: %q", out.String())
	}
	if _, err := os.Lstat(filepath.Join(cmd.Dir, "ran")); err == nil {
		t.Error("the command was run")
	}
	return messages(t, errs.String())
}

// messages gives the lines of stderr without their prefix. None may be forged:
// all are printable, and begin with our name.
func messages(t *testing.T, said string) (lines []string) {
	t.Helper()
	if said == "" || !strings.HasSuffix(said, "\n") {
		t.Errorf("said %q, want whole lines", said)
	}
	for line := range strings.Lines(said) {
		text, ours := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "skillrun: ")
		if !ours {
			t.Errorf("not our line: %q", line)
		}
		for _, r := range text {
			if !strconv.IsPrint(r) {
				t.Errorf("%q is in %q", r, line)
			}
		}
		lines = append(lines, text)
	}
	return lines
}

// skillDir makes a skill with one manifest.
func skillDir(t *testing.T, dir, name, manifest string) string {
	t.Helper()
	skill := filepath.Join(filepath.Dir(dir), name)
	if err := os.MkdirAll(skill, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(skill, "skillguard-manifest.json"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	return skill
}

const goodManifest = `{"permissions": [{"capability": "filesystem.read", "effect": "allow"}]}`

// Every fault of a manifest is told with its place, and nothing is run.
func TestBadManifest(t *testing.T) {
	entry := func(text string) string { return "{\"permissions\": [\n  {" + text + "}\n]}" }
	for _, c := range []struct{ name, manifest, want string }{
		{"empty", "", `:1:1: `},
		{"unknown key", `{"permissions": [], "premissions": []}`, `:1:21: unknown key "premissions" in the manifest`},
		{"unknown key of an entry", entry(`"capability": "filesystem.read", "efect": "allow"`), `:2:37: unknown key "efect" in a permission (did you mean "effect"?)`},
		{"duplicate key", entry(`"capability": "filesystem.read", "effect": "deny", "effect": "allow"`), `:2:55: key "effect" is there twice`},
		{"wrong type", `{"permissions": {}}`, `:1:17: permissions must be a list, not a table`},
		{"wrong type of a value", entry(`"capability": 7`), `:2:18: `},
		{"unknown capability", entry(`"capability": "filesystem.raed"`), `:2:18: unknown capability "filesystem.raed" (did you mean "filesystem.read"?)`},
		{"unknown effect", entry(`"capability": "filesystem.read", "effect": "permit"`), `:2:47: unknown effect "permit": not allow, confirm or deny`},
		{"bad regex", entry(`"capability": "shell.execute", "constraints": {"denied_command_patterns": ["rm ("]}`), `:2:79: pattern "rm (": missing closing ): ` + "`rm (`"},
		{"lookahead", entry(`"capability": "shell.execute", "constraints": {"denied_command_patterns": ["^(?!ls)"]}`), `:2:79: pattern "^(?!ls)": lookahead of PCRE cannot be honoured`},
		{"NUL", "{\"permissions\": [\x00]}", `:1:18: `},
		{"NUL by escape", entry(`"capability": "filesystem.read", "constraints": {"resource_scope": ["a\u0000b"]}`), `:2:72: control character 0x00 in a string`},
		{"control character", "{\"permissions\": [\x1b]}", `:1:18: `},
		{"invalid UTF-8", "{\"permissions\": [\"\xff\"]}", `:1:19: `},
		{"trailing text", `{"permissions": []} {}`, `:1:21: text after the end of the document`},
		{"200,000 levels", strings.Repeat("[", 200000), `: nested deeper than `},
		{"no permissions", `{}`, `:1:1: the manifest has no permissions (an empty list grants nothing)`},
		{"forged line", entry(`"capability": "x\nskillrun: all is well"`), `:2:18: control character 0x0a in a string`},
		{"forged colour", entry(`"capability": "\u001b[2J"`), `:2:18: control character 0x1b in a string`},
		{"forged direction", entry("\"capability\": \"\u202etxt.exe\""), `:2:18: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, by := range []string{"--skill", "--manifest"} {
				dir, env := home(t)
				skill := skillDir(t, dir, "skill", c.manifest)
				file := filepath.Join(skill, "skillguard-manifest.json")
				arg := map[string]string{"--skill": skill, "--manifest": file}[by]
				cmd := exec.Command(program(t), by, arg, "--approve", "declared", "--", "touch", "ran")
				cmd.Dir, cmd.Env = dir, env
				lines := refused(t, cmd)
				if len(lines) != 1 || !strings.HasPrefix(lines[0], file+":") || !strings.Contains(lines[0], c.want) {
					t.Errorf("%s: said %q, want %s%s", by, lines, file, c.want)
				}
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		dir, env := home(t)
		cmd := exec.Command(program(t), "--skill", skillDir(t, dir, "skill", goodManifest), "--approve", "declared", "--", "true")
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// Names of directories and files are anybody's bytes: they work, and cannot
// forge a line of ours.
func TestOddNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"new\nline", "skillrun: all is well\nskillrun: x", "\xff\xfe", "esc\x1b[31m", "bidi\u202e", "spa ce", "-dash", "'\"$`\\", "é"} {
		t.Run(strconv.Quote(name), func(t *testing.T) {
			dir, env := home(t)
			skill := skillDir(t, dir, name, goodManifest)
			for _, file := range []string{"a\nb", "\xff", "\x1b"} {
				if err := os.WriteFile(filepath.Join(skill, file), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			run := func(arg ...string) *exec.Cmd {
				cmd := exec.Command(program(t), arg...)
				cmd.Dir, cmd.Env = dir, env
				return cmd
			}
			// It works, or is a clear refusal.
			out, err := run("-v", "--skill", skill, "--approve", "declared", "--", "true").CombinedOutput()
			if end := ending(err); end != "exit 0" && end != "exit 125" {
				t.Errorf("%s: %q", end, out)
			}
			if len(out) > 0 {
				messages(t, string(out))
			}
			refused(t, run("--skill", skill+"/missing", "--", "touch", "ran"))
			refused(t, run("--manifest", skill+"/missing", "--", "touch", "ran"))
			refused(t, run("--workspace", skill+"/missing", "--", "touch", "ran"))
			refused(t, run("--"+name, "--", "touch", "ran"))
			refused(t, run("--grant", name, "--", "touch", "ran"))
			refused(t, run("--preset", name, "--", "touch", "ran"))
			refused(t, run("x"+name))
			var errs bytes.Buffer
			cmd := run("--", "x"+name)
			cmd.Stderr = &errs
			if end := ending(cmd.Run()); end != "exit 127" {
				t.Errorf("a command that is not there: %s", end)
			}
			messages(t, errs.String())
		})
	}
}

// A skill that cannot be read is not a skill without a manifest.
func TestUnreadableSkill(t *testing.T) {
	dir, env := home(t)
	for _, hidden := range []string{".", "skillguard-manifest.json"} {
		skill := skillDir(t, dir, "skill", goodManifest)
		run := func(line ...string) *exec.Cmd {
			argv := capless(append([]string{program(t), "--skill", skill, "--approve", "declared", "--"}, line...)...)
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = dir, env
			return cmd
		}
		if out, err := run("true").CombinedOutput(); err != nil {
			t.Errorf("readable: %v: %s", err, out)
		}
		if err := os.Chmod(filepath.Join(skill, hidden), 0); err != nil {
			t.Fatal(err)
		}
		if lines := refused(t, run("touch", "ran")); len(lines) != 1 || !strings.HasSuffix(lines[0], "permission denied") {
			t.Errorf("%s: said %q", hidden, lines)
		}
		os.Chmod(filepath.Join(skill, hidden), 0o755)
		os.RemoveAll(skill)
	}
}

// Without a place for the record nothing runs.
func TestBadState(t *testing.T) {
	command := func(t *testing.T, prepare string, attr *syscall.SysProcAttr) *exec.Cmd {
		t.Helper()
		dir, env := home(t)
		state := filepath.Join(filepath.Dir(dir), "state")
		if err := os.MkdirAll(filepath.Join(state, "skillrun"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(filepath.Join(state, "skillrun"), 0o700) })
		cmd := exec.Command("sh", "-ec", prepare+"\nexec \"$@\"", "sh", program(t), "--", "touch", "ran")
		if attr == nil {
			cmd.Args = append(cmd.Args[:4], capless(cmd.Args[4:]...)...)
		}
		cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, append(env, "STATE="+filepath.Join(state, "skillrun")), attr
		return cmd
	}
	start := func(t *testing.T, prepare string, attr *syscall.SysProcAttr) []string {
		t.Helper()
		return refused(t, command(t, prepare, attr))
	}
	t.Run("control", func(t *testing.T) {
		cmd := command(t, `test -d "$STATE"`, nil)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %s", err, out)
		}
		if _, err := os.Lstat(filepath.Join(cmd.Dir, "ran")); err != nil {
			t.Error(err)
		}
	})
	own := func(t *testing.T) *syscall.SysProcAttr {
		if exec.Command("unshare", "-Urm", "true").Run() != nil {
			sandboxtest.Skip(t, sandboxtest.Namespaces, "no mounts of our own here")
		}
		id := func(n int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: n, HostID: n, Size: 1}}
		}
		return &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: id(os.Getuid()), GidMappings: id(os.Getgid()), AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
		}
	}
	t.Run("full", func(t *testing.T) {
		lines := start(t, `mount -t tmpfs -o size=16k,mode=700 tmpfs "$STATE"; head -c 16384 /dev/zero >"$STATE/fill" || true`, own(t))
		if len(lines) == 0 || !strings.Contains(lines[0], "no space left on device") {
			t.Errorf("said %q", lines)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		lines := start(t, `mount -t tmpfs -o ro,mode=700 tmpfs "$STATE"`, own(t))
		if len(lines) == 0 || !strings.Contains(lines[0], "read-only file system") {
			t.Errorf("said %q", lines)
		}
	})
	t.Run("without permission", func(t *testing.T) {
		lines := start(t, `chmod 500 "$STATE"`, nil)
		if len(lines) == 0 || !strings.Contains(lines[0], "permission denied") {
			t.Errorf("said %q", lines)
		}
	})
	t.Run("a file", func(t *testing.T) {
		lines := start(t, `rmdir "$STATE"; : >"$STATE"`, nil)
		if len(lines) == 0 {
			t.Error("said nothing")
		}
	})
	t.Run("open to others", func(t *testing.T) {
		lines := start(t, `chmod 777 "$STATE"`, nil)
		if len(lines) == 0 {
			t.Error("said nothing")
		}
	})
	t.Run("foreign", func(t *testing.T) {
		if os.Geteuid() != 0 {
			sandboxtest.Skip(t, sandboxtest.Root, "only root can give a directory away")
		}
		lines := start(t, `chown 1000 "$STATE"`, nil)
		if len(lines) == 0 || !strings.Contains(lines[0], "audit log: ") {
			t.Errorf("said %q", lines)
		}
	})
	t.Run("inside the workspace", func(t *testing.T) {
		dir, env := home(t)
		cmd := exec.Command(program(t), "--", "touch", "ran")
		cmd.Dir, cmd.Env = dir, append(env, "XDG_STATE_HOME="+dir)
		if lines := refused(t, cmd); len(lines) != 1 || !strings.Contains(lines[0], "which the run or its skill could change") {
			t.Errorf("said %q", lines)
		}
	})
}
