package sandbox_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/sandboxtest"
)

// An X server that is not root's finds the directory in which it listens, in a /tmp that
// is the run's own.
func TestDisplays(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "namespaces")
	host := &profiles.Host{OS: "linux", Home: "/nonexistent", FS: os.DirFS("/"), Env: map[string]string{}}
	p := &profiles.Profile{Process: profiles.Process{Create: true}, Paths: profiles.BaseReads(host)}
	p.Normalize()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	_, err = sandbox.Run(&sandbox.Spec{
		Profile: p, Path: sh, Argv: []string{"sh", "-c", "cd /tmp && stat -c %F,%a .X11-unix && : >.X11-unix/X9 && ls .X11-unix"}, Dir: "/", Environ: os.Environ(),
		Stdout: w, Stderr: w, Namespaces: sandbox.On, Files: os.DirFS("/"),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := "directory,1777\nX9\n"; string(text) != want {
		t.Errorf("%q, want %q", text, want)
	}
}
