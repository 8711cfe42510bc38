package darwin_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skillrun/darwin"
	"skillrun/darwin/sbpl"
)

// releases are the versions of macOS that policies are held to.
var releases = []int{13, 14, 15, 26}

// evaluator gives the path of sbpl-eval, the independent evaluator. Where CI is
// set it has to be there.
func evaluator(t testing.TB) string {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	tool := os.Getenv("SKILLRUN_SBPL_EVAL")
	if tool == "" {
		tool = filepath.Join("..", "..", "shared", "tools", "sbpl-eval", "sbpl-eval")
	}
	if info, err := os.Stat(tool); err == nil && info.IsDir() {
		tool = filepath.Join(tool, "sbpl-eval")
	}
	if _, err := os.Stat(tool); err != nil {
		missing("sbpl-eval is not at %s: set SKILLRUN_SBPL_EVAL", tool)
	}
	for _, needed := range []string{"tinyscheme", "python3"} {
		if _, err := exec.LookPath(needed); err != nil {
			missing("sbpl-eval needs %s: %v", needed, err)
		}
	}
	return tool
}

// askTool gives sbpl-eval's strict verdicts: allow, deny or ambiguous. Any
// problem with the policy, a warning included, fails the test.
func askTool(t testing.TB, tool string, p *darwin.Policy, release int, queries []string) []string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "policy.sb")
	asked := filepath.Join(dir, "queries")
	for file, text := range map[string]string{source: p.Source(), asked: strings.Join(queries, "\n") + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--strict", "--raw", "--macos", strconv.Itoa(release), "--queries", asked, source}
	for _, v := range p.Params() {
		args = append(args, "-D", v.Name+"="+v.Value)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(tool, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if _, ambiguous := err.(*exec.ExitError); err != nil && (!ambiguous || cmd.ProcessState.ExitCode() != 1) {
		t.Fatalf("macOS %d: %v: %s\n%s", release, err, stderr.Bytes(), p.Source())
	}
	if stderr.Len() > 0 {
		t.Fatalf("macOS %d: %s\n%s", release, stderr.Bytes(), p.Source())
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(queries) {
		t.Fatalf("macOS %d: %d answers to %d queries:\n%s", release, len(lines), len(queries), out)
	}
	for i := range lines {
		lines[i], _, _ = strings.Cut(lines[i], "\t")
	}
	return lines
}

// parse reads a compiled policy with our own evaluator.
func parse(t testing.TB, p *darwin.Policy, release int) *sbpl.Policy {
	t.Helper()
	params := map[string]string{}
	for _, v := range p.Params() {
		params[v.Name] = v.Value
	}
	parsed, err := sbpl.Parse(p.Source(), params, release)
	if err != nil {
		t.Fatalf("macOS %d: %v\n%s", release, err, p.Source())
	}
	return parsed
}

// compounds are requests that take several operations, as sbpl-eval has them.
var compounds = map[string][]struct {
	op     string
	object int
}{
	"@read":   {{"file-read-data", 0}},
	"@stat":   {{"file-read-metadata", 0}},
	"@write":  {{"file-write-data", 0}},
	"@create": {{"file-write-create", 0}},
	"@unlink": {{"file-write-unlink", 0}},
	"@rename": {{"file-write-unlink", 0}, {"file-write-create", 1}},
	"@link":   {{"file-link", 0}, {"file-write-create", 1}},
	"@clone":  {{"file-clone", 0}, {"file-write-create", 1}},
	"@exec":   {{"process-exec*", 0}},
	"@listen": {{"network-bind", 0}, {"network-inbound", 0}},
}

// ask answers a query line with our own evaluator.
func ask(t testing.TB, p *sbpl.Policy, line string) string {
	t.Helper()
	words := strings.Fields(line)
	var objects []string
	facts := map[string]string{}
	for _, w := range words[1:] {
		if k, v, ok := strings.Cut(w, "="); ok {
			facts[k] = v
		} else {
			objects = append(objects, w)
		}
	}
	parts := compounds[words[0]]
	if parts == nil {
		parts = append(parts, struct {
			op     string
			object int
		}{words[0], 0})
	}
	verdict := "allow"
	for _, part := range parts {
		q := sbpl.Query{Operation: part.op, Facts: facts}
		if part.object < len(objects) {
			q.Object = objects[part.object]
		}
		a, err := sbpl.Evaluate(p, q)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if !a.Allowed {
			verdict = "deny"
		}
		if a.Ambiguous {
			return "ambiguous"
		}
	}
	return verdict
}

func query(op, object string) sbpl.Query { return sbpl.Query{Operation: op, Object: object} }
