package darwin_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skillrun/darwin"
	"skillrun/darwin/sbpl"
	"skillrun/sandbox/sandboxtest"
)

// releases are the versions of macOS that policies are held to.
var releases = []int{13, 14, 15, 26}

// evaluator gives the path of sbpl-eval, the independent evaluator. Where CI is
// set it has to be there.
func evaluator(t testing.TB) string {
	t.Helper()
	tool := os.Getenv("SKILLRUN_SBPL_EVAL")
	if tool == "" {
		tool = filepath.Join("..", "..", "shared", "tools", "sbpl-eval", "sbpl-eval")
	}
	if info, err := os.Stat(tool); err == nil && info.IsDir() {
		tool = filepath.Join(tool, "sbpl-eval")
	}
	if _, err := os.Stat(tool); err != nil {
		sandboxtest.Skip(t, sandboxtest.Machine, "sbpl-eval is not at %s: set SKILLRUN_SBPL_EVAL", tool)
	}
	sandboxtest.Program(t, "tinyscheme")
	sandboxtest.Program(t, "python3")
	return tool
}

// oracle is a process of sbpl-eval that answers for one policy after another.
type oracle struct {
	in  *json.Encoder
	out *json.Decoder
}

// oracles are those that nobody uses. They end with this process, which holds
// the other end of what they read.
var oracles = make(chan *oracle, 64)

func newOracle(t testing.TB, tool string) *oracle {
	t.Helper()
	cmd := exec.Command("python3", filepath.Join("testdata", "sbpl-eval", "serve.py"), tool)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &oracle{json.NewEncoder(in), json.NewDecoder(out)}
}

// askTool gives sbpl-eval's strict verdicts: allow, deny or ambiguous. Any
// problem with the policy, a warning included, fails the test.
func askTool(t testing.TB, tool string, p *darwin.Policy, release int, queries []string) []string {
	t.Helper()
	var o *oracle
	select {
	case o = <-oracles:
	default:
		o = newOracle(t, tool)
	}
	params := map[string]string{}
	for _, v := range p.Params() {
		params[v.Name] = v.Value
	}
	var answer struct {
		Verdicts []string
		Error    string
	}
	request := map[string]any{"macos": strconv.Itoa(release), "source": p.Source(), "params": params, "queries": queries}
	if err := errors.Join(o.in.Encode(request), o.out.Decode(&answer)); err != nil {
		t.Fatalf("sbpl-eval: %v", err)
	}
	oracles <- o
	if answer.Error != "" || len(answer.Verdicts) != len(queries) {
		t.Fatalf("macOS %d: %s: %d answers to %d queries\n%s", release, answer.Error, len(answer.Verdicts), len(queries), p.Source())
	}
	return answer.Verdicts
}

// TestOracleIsTheCommand: the process that answers for many policies says what
// the command says for one, and takes no policy that the command does not.
func TestOracleIsTheCommand(t *testing.T) {
	t.Parallel()
	tool := evaluator(t)
	f := standardFacts()
	p, err := darwin.Compile(standardProfile(f), f)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "policy.sb")
	command := func(release int, source, queries string) (string, error) {
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"--strict", "--raw", "--macos", strconv.Itoa(release), file}
		for _, v := range p.Params() {
			args = append(args, "-D", v.Name+"="+v.Value)
		}
		cmd := exec.Command(tool, args...)
		cmd.Stdin = strings.NewReader(queries)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	queries := make([]string, len(answers))
	for i, a := range answers {
		queries[i] = spell(a.query)
	}
	out, err := command(15, p.Source(), strings.Join(queries, "\n"))
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, got := range askTool(t, tool, p, 15, queries) {
		if want, _, _ := strings.Cut(lines[i], "\t"); got != want || len(lines) != len(queries) {
			t.Errorf("%s: %s, the command says %s", queries[i], got, want)
		}
	}
	for _, wrong := range []string{
		"(version 1)(deny file-graft)", "(version 1)(deny default)(allow file-read-data (literal (param \"P0\"))", "(deny default)",
		"(version 1)(deny default)(allow file-read-data (literal \"x\"))", "(version 1)(deny default)(allow file-read-data (literal (param \"absent\")))",
	} {
		out, err := command(15, wrong, "")
		o := newOracle(t, tool)
		var answer struct{ Error string }
		if err := errors.Join(o.in.Encode(map[string]any{"macos": "15", "source": wrong, "params": map[string]string{}, "queries": []string{}}), o.out.Decode(&answer)); err != nil {
			t.Fatal(err)
		}
		if err == nil && out == "" || answer.Error == "" {
			t.Errorf("%s: taken: %q, %q", wrong, out, answer.Error)
		}
	}
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
