package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skillrun/linux"
	"skillrun/sandbox/sandboxtest"
)

// TestNested starts a run inside a run. The kernel allows one supervisor in a
// chain, so that the inner one says what it cannot hold and refuses; with that
// named it runs, and holds the rest.
func TestNested(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	modes := []string{"off"}
	if linux.ProbeDeep().Namespaces {
		modes = append(modes, "on")
	}
	const script = `cp "$1" ./skillrun
./skillrun -- true; echo "refused $?"
./skillrun --allow-gap fs.control --allow-gap fs.metadata -- sh -c 'echo inner; test -w "$TMPDIR" && cat inside && ! cat "$1"' sh "$2/canary"; echo "ended $?"
cat "$2/canary"`
	start := func(t *testing.T, prefix ...string) string {
		dir, env := home(t)
		outside := filepath.Join(filepath.Dir(dir), "outside")
		if err := os.Mkdir(outside, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{filepath.Join(dir, "inside"), filepath.Join(outside, "canary")} {
			if err := os.WriteFile(name, []byte("contents of "+filepath.Base(name)+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if prefix != nil {
			prefix = append(prefix, "--grant", "filesystem.read:"+outside, "--")
		}
		argv := append(prefix, "sh", "-c", script, "sh", program(t), outside)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	// The control: by itself the inner run has everything that it wants.
	if out := start(t); !strings.Contains(out, "refused 0\n") {
		t.Errorf("bare: %s", out)
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			out := start(t, program(t), "--namespaces", mode, "--grant", "filesystem.read:"+filepath.Dir(program(t)), "--grant", "filesystem.write:.", "--grant", "source_code.execute:.")
			for _, want := range []string{"refused 125\n", "fs.control is none", "fs.metadata is none", "inner\ncontents of inside\n", "ended 0\ncontents of canary\n"} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in %s", want, out)
				}
			}
			if strings.Count(out, "contents of canary") != 1 {
				t.Errorf("the inner run reads what was granted to the outer one: %s", out)
			}
		})
	}
}
