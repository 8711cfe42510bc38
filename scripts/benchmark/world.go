package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"skillrun/linux"
)

// world is what is launched: a workspace, a skill of 200 files with a manifest,
// a state directory of its own, and the programs.
type world struct {
	dir                     string
	skillrun, bwrap, python string
	seccomp                 string // file with bwrap's seccomp program
	env                     []string
}

// kind is one way to launch one program.
type kind struct {
	name string
	argv []string
}

const manifest = `{"skill_metadata": {"name": "bench", "version": "1.0", "trust_tier": 2},
  "permissions": [
    {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}},
    {"capability": "filesystem.write", "effect": "allow", "constraints": {"workspace_only": true}},
    {"capability": "source_code.execute", "effect": "allow", "constraints": {"workspace_only": true}},
    {"capability": "shell.execute", "effect": "allow"}
  ]}
`

func newWorld(skillrun string) (*world, error) {
	w := &world{skillrun: skillrun}
	var err error
	if w.bwrap, err = exec.LookPath("bwrap"); err != nil {
		return nil, err
	}
	// A shim before the interpreter would be measured with it.
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return nil, fmt.Errorf("python3: %w", err)
	}
	w.python = string(bytes.TrimSpace(out))
	if w.dir, err = os.MkdirTemp("", "skillrun-bench-"); err != nil {
		return nil, err
	}
	w.env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(w.dir, "state"))
	return w, w.build()
}

func (w *world) remove() { os.RemoveAll(w.dir) }

func (w *world) build() error {
	files := map[string][]byte{
		"skill/SKILL.md":                 []byte("---\nname: bench\ndescription: a skill to measure launches with\n---\n"),
		"skill/skillguard-manifest.json": []byte(manifest),
		"work/hidden/key":                []byte("k"),
		"work/secret":                    []byte("s"),
	}
	for i := range 198 {
		files[fmt.Sprintf("skill/scripts/%d/file%03d.py", i%10, i)] = bytes.Repeat([]byte("print('a line of an ordinary script')\n"), 20+i)
	}
	filters, err := linux.Filters(runtime.GOARCH, linux.NoInternet|linux.NoSupervisor)
	if err != nil {
		return err
	}
	w.seccomp = filepath.Join(w.dir, "seccomp.bpf")
	files["seccomp.bpf"] = []byte(filters[0].Program)
	// Settled: a digest of what was changed just now is not remembered.
	old := time.Now().Add(-time.Hour)
	for name, data := range files {
		name = filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(name, old, old); err != nil {
			return err
		}
	}
	// Their ctime is the moment of their making, and cannot be set back.
	time.Sleep(2100 * time.Millisecond)
	return nil
}

// kinds lists, for each program, the bare launch first and bwrap's full one
// last.
func (w *world) kinds() []kind {
	work := filepath.Join(w.dir, "work")
	run := []string{w.skillrun, "--skill", filepath.Join(w.dir, "skill"), "--approve", "declared", "--namespaces"}
	minimal := []string{w.bwrap, "--bind", "/", "/", "--dev", "/dev"}
	// Everything that skillrun closes and bwrap can: all namespaces, its own
	// /proc, /dev and /tmp, a writable workspace in a read-only system, a
	// hidden directory and a hidden file, no capability, a seccomp filter.
	full := []string{
		w.bwrap, "--seccomp", "3", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
		"--tmpfs", "/tmp", "--bind", work, work, "--tmpfs", filepath.Join(work, "hidden"), "--ro-bind", "/dev/null", filepath.Join(work, "secret"), "--chdir", work,
	}
	var kinds []kind
	for _, p := range []kind{{"true", []string{"/bin/true"}}, {"python", []string{w.python, "-c", "pass"}}} {
		add := func(name string, argv ...string) {
			kinds = append(kinds, kind{p.name + ", " + name, append(argv[:len(argv):len(argv)], p.argv...)})
		}
		add("bare")
		add("skillrun, no namespaces", append(run[:len(run):len(run)], "off", "--")...)
		add("skillrun, namespaces", append(run[:len(run):len(run)], "on", "--")...)
		add("bwrap minimal", minimal...)
		add("bwrap full", full...)
	}
	return kinds
}

// launch starts a program in the workspace, with a file as its standard input,
// and gives the time to its end.
func (w *world) launch(argv []string, in string, out *os.File) (time.Duration, error) {
	input, err := os.Open(in)
	if err != nil {
		return 0, err
	}
	defer input.Close()
	seccomp, err := os.Open(w.seccomp)
	if err != nil {
		return 0, err
	}
	defer seccomp.Close()
	attr := &os.ProcAttr{Dir: filepath.Join(w.dir, "work"), Env: w.env, Files: []*os.File{input, out, os.Stderr, seccomp}}
	start := time.Now()
	p, err := os.StartProcess(argv[0], argv, attr)
	if err != nil {
		return 0, err
	}
	state, err := p.Wait()
	d := time.Since(start)
	if err == nil && !state.Success() {
		err = fmt.Errorf("%v", state)
	}
	return d, err
}
