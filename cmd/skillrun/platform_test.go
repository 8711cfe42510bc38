package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skillrun/darwin/sbpl"
)

const macHost = `{"os":"darwin","version":"15.6","home":"/Users/ann","user":"ann","workspace":"/Users/ann/work",
 "tmp":"/private/var/folders/zz/x/T/run","case_sensitive":false,
 "exists":["/Users/ann/work/.git/","/Users/ann/.ssh/","/opt/homebrew/bin/"]}`

const macManifest = `{"skill_metadata":{"name":"demo","version":"1.0","trust_tier":2},"permissions":[
 {"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}},
 {"capability":"filesystem.write","effect":"allow","constraints":{"workspace_only":true}},
 {"capability":"shell.execute","effect":"allow"}]}`

// runHere runs the command with files in a directory of its own and gives what
// it printed.
func runHere(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"host.json": macHost, "manifest.json": macManifest, "ws/file": ""} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "ws"))
	out, err := os.Create(filepath.Join(dir, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	var messagesHere strings.Builder
	oldOut, oldMessages := os.Stdout, messages
	os.Stdout, messages = out, &messagesHere
	code = realMain(append([]string{"skillrun"}, args...))
	os.Stdout, messages = oldOut, oldMessages
	out.Close()
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b), messagesHere.String(), code
}

func onMac(args ...string) []string {
	return append([]string{args[0], "--manifest", "../manifest.json", "--approve", "declared", "--for-host", "../host.json"}, args[1:]...)
}

func TestProfileForAnotherHost(t *testing.T) {
	source, stderr, code := runHere(t, onMac("profile", "--format", "sbpl")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if n := strings.Count(source, "\n"); n >= 275 {
		t.Errorf("the policy has %d lines, want fewer than 275", n)
	}
	if strings.Contains(source, "(param \"P0\")") == false || strings.Contains(strings.ReplaceAll(source, "; ", ""), "(literal \"/Users") {
		t.Errorf("a path is policy text:\n%s", source)
	}
	text, _, _ := runHere(t, onMac("profile", "--format", "params")...)
	params := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		k, v, ok := strings.Cut(line, "=")
		if !ok {
			t.Fatalf("not KEY=VALUE: %s", line)
		}
		params[k] = v
	}
	p, err := sbpl.Parse(source, params, 15)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/Users/ann/work/x": true, "/Users/ann/work/.env": false, "/Users/ann/.ssh/id_rsa": false, "/usr/lib/libz.dylib": true} {
		a, err := sbpl.Evaluate(p, sbpl.Query{Operation: "file-read-data", Object: path})
		if err != nil || a.Allowed != want || a.Ambiguous {
			t.Errorf("%s: %+v, %v", path, a, err)
		}
	}
	doc, _, _ := runHere(t, onMac("profile", "--format", "json")...)
	var parsed struct {
		Source string
		Params map[string]string
		Gaps   []any
	}
	if err := json.Unmarshal([]byte(doc), &parsed); err != nil {
		t.Fatal(err)
	}
	if parsed.Source != source || parsed.Params["P0"] != params["P0"] || parsed.Gaps == nil || len(parsed.Gaps) != 0 {
		t.Errorf("json differs from sbpl and params, or has gaps: %v", parsed.Gaps)
	}
}

func TestProfileFailOnGap(t *testing.T) {
	if _, stderr, code := runHere(t, onMac("profile", "--fail-on-gap")...); code != 0 {
		t.Errorf("without a gap: exit %d: %s", code, stderr)
	}
	stdout, stderr, code := runHere(t, onMac("profile", "--fail-on-gap", "--strict")...)
	if code != exitRefused || !strings.Contains(stderr, "gap on darwin: fs.stat") {
		t.Errorf("strict: exit %d: %s\n%s", code, stderr, stdout)
	}
	if !strings.Contains(stdout, "proc.survive   must   darwin  restored") {
		t.Errorf("no line for proc.survive:\n%s", stdout)
	}
	if !strings.Contains(stdout, "GAP: (a denied name itself") {
		t.Errorf("the gap that fails is not marked:\n%s", stdout)
	}
	stdout, stderr, code = runHere(t, onMac("profile", "--fail-on-gap", "--strict", "--format", "json")...)
	var document struct{ Gaps []struct{ Name string } }
	if err := json.Unmarshal([]byte(stdout), &document); err != nil || code != exitRefused || len(document.Gaps) != strings.Count(stderr, "gap on darwin: ") || len(document.Gaps) == 0 {
		t.Errorf("strict, as JSON: exit %d, %v, gaps %v, and on stderr:\n%s", code, err, document.Gaps, stderr)
	}
}

func TestExplainForAnotherHost(t *testing.T) {
	stdout, stderr, code := runHere(t, onMac("explain", "--path", ".git/hooks/x", "--access", "rc")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"allowed: read /Users/ann/work/.git/hooks/x", "denied: create /Users/ann/work/.git/hooks/x", "git runs them at the next commit"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in:\n%s", want, stdout)
		}
	}
}

func TestPlatformUsage(t *testing.T) {
	for _, args := range [][]string{
		{"profile", "--platform", "beos"}, {"profile", "--platform", "linux", "--for-host", "../host.json"},
		{"profile", "--platform", "darwin", "--format", "yaml"}, {"explain", "--platform", "all"}, {"profile", "--for-host", "../manifest.json"},
		{"profile", "--for-host", "../absent.json"},
	} {
		if stdout, stderr, code := runHere(t, append([]string{args[0], "--manifest", "../manifest.json"}, args[1:]...)...); code != exitRefused || stderr == "" {
			t.Errorf("%v: exit %d: %s%s", args, code, stdout, stderr)
		}
	}
	if stdout, stderr, code := runHere(t, "profile", "--manifest", "../manifest.json", "--platform", "darwin"); code != 0 || !strings.Contains(stdout, "fs.read") {
		t.Errorf("a Mac made up: exit %d: %s%s", code, stdout, stderr)
	}
}

// TestMacCostsNothingAtStart: what is for macOS does nothing before main, so
// that a launch elsewhere is none the slower for it.
func TestMacCostsNothingAtStart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\ninit os @") {
		t.Fatalf("no trace: %v\n%s", err, out)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(line, "init skillrun/darwin") {
			t.Error(line)
		}
	}
}
