package sandbox_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/sandboxtest"
)

// request is one thing that the probe tries.
type request struct {
	Path   string
	Access string // one letter
}

// The test binary is its own probe: started with this variable it tries the
// requests on its standard input, one JSON object a line, and answers y or n.
const probeVar = "PROBE_REQUESTS"

func TestMain(m *testing.M) {
	if err := sandbox.BecomeLimited(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	if os.Getenv(probeVar) != "" {
		probe()
		return
	}
	if path := os.Getenv(executedVar); path != "" {
		fmt.Println("executed", path)
		return
	}
	if os.Getenv(programVar) != "" {
		performSteps()
		return
	}
	if urls := os.Getenv(fetchVar); urls != "" {
		fetch(strings.Fields(urls))
		return
	}
	os.Exit(m.Run())
}

func probe() {
	in := json.NewDecoder(os.Stdin)
	for {
		var r request
		if err := in.Decode(&r); err != nil {
			return
		}
		answer := "y"
		if err := try(r); err != nil {
			answer = "n " + err.Error()
		}
		fmt.Println(answer)
	}
}

// try does what the request says.
func try(r request) error {
	var err error
	switch r.Access {
	case "r":
		_, err = os.ReadFile(r.Path)
	case "w":
		var f *os.File
		if f, err = os.OpenFile(r.Path, os.O_WRONLY, 0); err == nil {
			_, err = f.WriteString("w")
			f.Close()
		}
	case "c":
		err = os.WriteFile(r.Path, []byte("new"), 0o600)
	case "d":
		err = os.Remove(r.Path)
	case "x":
		if err = exec.Command(r.Path).Run(); errors.Is(err, syscall.ENOEXEC) {
			err = nil // an earlier request wrote over it; it was opened all the same
		}
	}
	return err
}

var (
	dirNames  = []string{"a", "b", ".git", "deep"}
	fileNames = []string{"f", "g.key", ".env"}
)

// tree fills a directory three levels deep; every file is a program.
func tree(t *testing.T, root string) (dirs, files []string) {
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	var fill func(dir string, depth int)
	fill = func(dir string, depth int) {
		dirs = append(dirs, dir)
		for _, n := range fileNames {
			p := filepath.Join(dir, n)
			if err := os.WriteFile(p, program, 0o755); err != nil {
				t.Fatal(err)
			}
			files = append(files, p)
		}
		if depth == 0 {
			return
		}
		for _, n := range dirNames {
			p := filepath.Join(dir, n)
			if err := os.Mkdir(p, 0o755); err != nil {
				t.Fatal(err)
			}
			fill(p, depth-1)
		}
	}
	fill(root, 2)
	return dirs, files
}

// drawProfile draws grants and denials over the tree, on top of what the probe
// needs to start.
func drawProfile(t *rapid.T, base *profiles.Profile, dirs, files []string) *profiles.Profile {
	p := *base
	p.Paths = append([]profiles.PathRule(nil), base.Paths...)
	access := rapid.Custom(func(t *rapid.T) profiles.Access {
		a := profiles.Access(rapid.IntRange(1, int(profiles.AllAccess)).Draw(t, "access"))
		if a&profiles.Delete != 0 {
			// The tree lies in /tmp, where names that the run may not make
			// lead to its own directory instead.
			a |= profiles.Write | profiles.Create
		}
		return a
	})
	for range rapid.IntRange(1, 4).Draw(t, "rules") {
		p.Paths = append(p.Paths, profiles.PathRule{Path: rapid.SampledFrom(dirs).Draw(t, "dir"), Tree: true, Access: access.Draw(t, "a")})
	}
	if rapid.Bool().Draw(t, "file rule") {
		p.Paths = append(p.Paths, profiles.PathRule{Path: rapid.SampledFrom(files).Draw(t, "file"), Access: access.Draw(t, "a") &^ (profiles.Create | profiles.Delete)})
	}
	for range rapid.IntRange(0, 3).Draw(t, "denials") {
		d := profiles.Denial{Path: rapid.SampledFrom(append(dirs[1:], files...)).Draw(t, "denied"), Access: profiles.AllAccess}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			d.Path, d.Match = dirs[0], rapid.SampledFrom([]string{".env", "*.key", ".git/f"}).Draw(t, "match")
		case 1:
			d.Path, d.Match = dirs[0], rapid.SampledFrom([]string{".git/f", ".git", "deep/.env"}).Draw(t, "control")
			d.Access, d.Class = profiles.Write|profiles.Create|profiles.Delete, profiles.Control
		}
		p.Denials = append(p.Denials, d)
	}
	p.Normalize()
	return &p
}

// What the kernel and the supervisor let a program do is what Profile.Allows
// says, for random profiles and requests, with namespaces and without.
func TestAllowsIsWhatTheKernelDoes(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		t.Fatal(err)
	}
	host := &profiles.Host{OS: "linux", Home: "/nonexistent", FS: os.DirFS("/"), Env: map[string]string{}}
	base := &profiles.Profile{Process: profiles.Process{Create: true}, Paths: profiles.BaseReads(host)}
	base.Paths = append(base.Paths, profiles.PathRule{Path: self, Access: profiles.Read | profiles.Execute})
	base.Env.Set = []profiles.EnvVar{{Name: probeVar, Value: "1"}}
	base.Env.Pass = []profiles.EnvRule{{Name: "GOCOVERDIR"}}

	modes := []sandbox.Mode{sandbox.Off}
	if linux.ProbeDeep().Namespaces {
		modes = append(modes, sandbox.On)
	}
	if sandboxtest.Emulated() != "" && os.Getenv("E2E") == "" { // beside make test
		checks := flag.Lookup("rapid.checks").Value
		defer flag.Set("rapid.checks", checks.String())
		flag.Set("rapid.checks", "40")
	}
	asked, granted := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		dirs, files := tree(t, root)
		mode := rapid.SampledFrom(modes).Draw(rt, "mode")
		p := drawProfile(rt, base, dirs, files)
		p.Workspace = root
		var requests []request
		// Deletions last, of names that nothing else is asked about.
		last := map[string]bool{} // asked already
		for range 24 {
			a := rapid.SampledFrom([]string{"r", "w", "x", "c"}).Draw(rt, "what")
			path := rapid.SampledFrom(files).Draw(rt, "path")
			if a == "c" {
				path = filepath.Join(rapid.SampledFrom(dirs).Draw(rt, "where"), fmt.Sprintf("new%d", len(requests)))
			}
			requests = append(requests, request{path, a})
			last[path] = true
		}
		for range 8 {
			if path := rapid.SampledFrom(files).Draw(rt, "gone"); !last[path] {
				last[path] = true
				requests = append(requests, request{path, "d"})
			}
		}
		answers := runProbe(t, p, self, mode, root, requests)
		if len(answers) != len(requests) {
			rt.Fatalf("%d answers to %d requests", len(answers), len(requests))
		}
		for i, r := range requests {
			a, _ := profiles.ParseAccess(r.Access)
			want := p.Allows(r.Path, a).Allowed
			if r.Access == "x" {
				// Linux opens what it executes for reading.
				want = want && p.Allows(r.Path, profiles.Read).Allowed
			}
			asked++
			if want {
				granted++
			}
			// Reading and executing the probe must report. The rest is judged
			// from outside: what it does to a private /tmp is nobody's loss.
			if got := outcome(r, answers[i] == "y"); got != want {
				rt.Errorf("%s %s: %v (%s), the profile says %v (mode %v)\n%s", r.Access, strings.TrimPrefix(r.Path, root), got, answers[i], want, mode, about(p, root))
			}
		}
	})
	if granted == 0 || granted == asked {
		t.Errorf("%d of %d requests were granted: the test shows nothing", granted, asked)
	}
}

func outcome(r request, reported bool) bool {
	data, err := os.ReadFile(r.Path)
	switch r.Access {
	case "w":
		return err == nil && data[0] == 'w'
	case "c":
		return err == nil
	case "d":
		return errors.Is(err, os.ErrNotExist)
	}
	return reported
}

// about gives the lines of a profile that speak of the tree.
func about(p *profiles.Profile, root string) string {
	var b strings.Builder
	for line := range strings.Lines(string(p.Canonical())) {
		if strings.Contains(line, root) {
			b.WriteString(strings.ReplaceAll(line, root, "ROOT"))
		}
	}
	return b.String()
}

func runProbe(t *testing.T, p *profiles.Profile, self string, mode sandbox.Mode, dir string, requests []request) []string {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer inR.Close()
	defer outR.Close()
	go func() {
		enc := json.NewEncoder(inW)
		for _, r := range requests {
			enc.Encode(r)
		}
		inW.Close()
	}()
	lines := make(chan []string)
	go func() {
		var out []string
		for s := bufio.NewScanner(outR); s.Scan(); {
			out = append(out, s.Text())
		}
		lines <- out
	}()
	_, err = sandbox.Run(&sandbox.Spec{
		Profile: p, Path: self, Argv: []string{self}, Dir: dir, Environ: os.Environ(),
		Stdin: inR, Stdout: outW, Stderr: os.Stderr, Namespaces: mode, Files: os.DirFS("/"),
	})
	outW.Close()
	if err != nil {
		t.Fatalf("%v (mode %v)\n%s", err, mode, about(p, dir))
	}
	return <-lines
}
