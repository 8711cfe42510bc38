package sandbox_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/sandboxtest"
)

// An X server that is not root's finds the directory in which it listens, in a /tmp that
// is the run's own; without mounts, in its own place where it is there outside.
func TestDisplays(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "namespaces")
	const own = `cd "$TMPDIR" && stat -c %F,%a .X11-unix && : >/tmp/.X11-unix/X9 && ls .X11-unix`
	if got := displays(t, sandbox.On, "cd /tmp && "+own); got != "directory,1777\nX9\n" {
		t.Errorf("with namespaces: %q", got)
	}
	if err := os.Mkdir("/tmp/.X11-unix", 0o777|os.ModeSticky); err == nil {
		defer os.Remove("/tmp/.X11-unix")
	} else if !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if got := displays(t, sandbox.Off, own+` && [ ! -e /tmp/.X11-unix/X9 ]`); got != "directory,1777\nX9\n" {
		t.Errorf("without: %q", got)
	}
	if os.Remove("/tmp/.X11-unix") == nil { // else it is somebody's
		if got := displays(t, sandbox.Off, `ls -A "$TMPDIR" && mkdir /tmp/.X11-unix && ls -A "$TMPDIR"`); got != ".X11-unix\n" {
			t.Errorf("without, and none outside: %q", got)
		}
	}
}

func displays(t *testing.T, mode sandbox.Mode, command string) string {
	return says(t, &profiles.Profile{}, mode, command)
}

// says runs a command under a profile, with what every run may read, and gives its
// output.
func says(t *testing.T, p *profiles.Profile, mode sandbox.Mode, command string) string {
	t.Helper()
	host := &profiles.Host{OS: "linux", Home: "/nonexistent", FS: os.DirFS("/"), Env: map[string]string{}}
	p.Process.Create, p.Paths = true, append(p.Paths, profiles.BaseReads(host)...)
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
		Profile: p, Path: sh, Argv: []string{"sh", "-c", command}, Dir: "/", Environ: os.Environ(),
		Stdout: w, Stderr: w, Namespaces: mode, Files: os.DirFS("/"),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
