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
// chain, and the outer one makes calls for the inner run, whose Landlock domain
// does not bind them. The inner run says so and refuses; with that named it runs,
// held by the outer one, and by its own kernel's refusals where nobody is asked.
func TestNested(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	modes := []string{"off"}
	if linux.ProbeDeep().Namespaces {
		modes = append(modes, "on")
	}
	const script = `cp "$1" ./skillrun
./skillrun -- true; echo "refused $?"
./skillrun --allow-gap fs.read --allow-gap fs.write --allow-gap fs.deny --allow-gap fs.control --allow-gap fs.metadata -- sh -c 'echo inner; test -w "$TMPDIR" && cat inside && ! cat "$1"
! echo x >"$1"; echo y >"$2"' sh "$2/canary" "$3/canary"; echo "ended $?"
cat "$2/canary"`
	start := func(t *testing.T, prefix ...string) string {
		dir, env := home(t)
		outside, both := filepath.Join(filepath.Dir(dir), "outside"), filepath.Join(filepath.Dir(dir), "both")
		for _, d := range []string{outside, both} {
			if err := os.Mkdir(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{filepath.Join(dir, "inside"), filepath.Join(outside, "canary"), filepath.Join(both, "canary")} {
			if err := os.WriteFile(name, []byte("contents of "+filepath.Base(name)+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if prefix != nil {
			prefix = append(prefix, "--grant", "filesystem.read:"+outside, "--grant", "filesystem.write:"+both, "--")
		}
		argv := append(prefix, "sh", "-c", script, "sh", program(t), outside, both)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		written, err := os.ReadFile(filepath.Join(both, "canary"))
		if err != nil {
			t.Fatal(err)
		}
		return string(out) + string(written)
	}
	// The control: by itself the inner run has everything that it wants.
	if out := start(t); !strings.Contains(out, "refused 0\n") {
		t.Errorf("bare: %s", out)
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			out := start(t, program(t), "--namespaces", mode, "--grant", "filesystem.read:"+filepath.Dir(program(t)), "--grant", "filesystem.write:.", "--grant", "source_code.execute:.")
			for _, want := range []string{"refused 125\n", "fs.read is none", "fs.write is none", "fs.deny is none", "fs.control is none", "fs.metadata is none",
				"inner\ncontents of inside\n",
				// What the outer run may not write stays; what it may, the inner one may, too.
				"ended 0\ncontents of canary\ny\n"} {
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
