package scan_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"skillrun/policy/scan"
)

var (
	evalHalf = flag.String("eval", "dev", "which labels of testdata/eval to measure by: dev, heldout or heldout2")
	evalRows = flag.Bool("eval-rows", false, "show the rows that differ; not of heldout")
)

type label struct {
	Cap    string `json:"cap"`
	Target string `json:"target"`
	Exact  bool   `json:"exact"`
	Opaque bool   `json:"opaque"`
}

type labelled struct {
	ID         string  `json:"id"`
	Cmd        string  `json:"cmd"`
	File       string  `json:"file"`
	Lang       string  `json:"lang"`
	Needs      []label `json:"needs"`
	May        []label `json:"may"`
	Obfuscated bool    `json:"obfuscated"`
}

// score counts as testdata/eval/README.md says.
type score struct{ found, missed, wrong int }

func (s score) recall() float64    { return float64(s.found) / float64(max(1, s.found+s.missed)) }
func (s score) precision() float64 { return float64(s.found) / float64(max(1, s.found+s.wrong)) }

// TestEval measures the reader by the labels. `make eval` runs it on the half
// that was not looked at.
func TestEval(t *testing.T) {
	dir := "testdata/eval/" + *evalHalf
	var total score
	for _, kind := range []string{"commands", "scripts"} {
		var part score
		for _, row := range readLabels(t, filepath.Join(dir, kind+".jsonl")) {
			text, lang := row.Cmd, "shell"
			if kind == "scripts" {
				b, err := os.ReadFile(filepath.Join(dir, row.File))
				if err != nil {
					t.Fatal(err)
				}
				text, lang = string(b), row.Lang
			}
			s, missed, wrong := scoreRow(row, scan.Source(lang, text, scan.Env{}), lang)
			part.found += s.found
			part.missed += s.missed
			part.wrong += s.wrong
			if *evalRows && *evalHalf != "heldout" && len(missed)+len(wrong) > 0 {
				t.Logf("%s\n%s\n\tmissed %v\n\twrong  %v", row.ID, row.Cmd, missed, wrong)
			}
		}
		t.Logf("%s %s: recall %.4f, precision %.4f (%d found, %d missed, %d wrong)", *evalHalf, kind, part.recall(), part.precision(), part.found, part.missed, part.wrong)
		total.found += part.found
		total.missed += part.missed
		total.wrong += part.wrong
	}
	t.Logf("%s: recall %.4f, precision %.4f", *evalHalf, total.recall(), total.precision())
	if total.recall() < 0.98 || total.precision() < 0.90 {
		t.Errorf("%s: recall %.4f and precision %.4f, want 0.98 and 0.90", *evalHalf, total.recall(), total.precision())
	}
}

func readLabels(t *testing.T, name string) []labelled {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []labelled
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r labelled
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if len(rows) < 50 {
		t.Fatalf("%s: %d rows", name, len(rows))
	}
	return rows
}

func normal(l label) label {
	l.Cap = strings.Replace(l.Cap, "source_code.read", "filesystem.read", 1)
	l.Cap = strings.Replace(l.Cap, "source_code.write", "filesystem.write", 1)
	l.Cap = strings.Replace(l.Cap, "source_code.delete", "filesystem.delete", 1)
	if l.Target != "" && !strings.Contains(l.Target, "://") {
		l.Target = path.Clean(l.Target)
	}
	switch group, _, _ := strings.Cut(l.Cap, "."); group {
	case "filesystem", "source_code", "shell_profile", "secrets", "env_var":
	case "web", "external_api", "network":
		l.Target = strings.ToLower(l.Target)
	default:
		l.Target, l.Exact = "", true
	}
	return l
}

func matches(pred, want label) bool {
	return pred.Cap == want.Cap && (pred.Target == want.Target || !pred.Exact && !want.Exact)
}

func ignored(l label, lang string, want []label) bool {
	if l.Cap == "shell.execute" && !l.Opaque {
		return true
	}
	if l.Cap == "process.create" && lang == "shell" {
		for _, w := range want {
			if w.Cap == l.Cap {
				return false
			}
		}
		return true
	}
	if l.Cap == "filesystem.read" {
		for _, d := range []string{"/usr", "/lib", "/proc/self", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"} {
			if l.Target == d || strings.HasPrefix(l.Target, d+"/") {
				return true
			}
		}
	}
	return false
}

func scoreRow(row labelled, r scan.Result, lang string) (s score, missed, wrong []label) {
	var want, may, pred []label
	for _, l := range row.Needs {
		want = append(want, normal(l))
	}
	for _, l := range row.May {
		may = append(may, normal(l))
	}
	seen := map[label]bool{}
	opaque := len(r.Opaque) > 0
	if opaque {
		pred = append(pred, label{Cap: "shell.execute", Opaque: true, Exact: true})
	}
	for _, n := range r.Needs {
		l := normal(label{Cap: n.Capability, Target: n.Target, Exact: n.Exact})
		if !seen[l] {
			seen[l] = true
			pred = append(pred, l)
		}
	}
	for _, w := range want {
		ok := false
		for _, p := range pred {
			if w.Cap == "shell.execute" {
				ok = ok || p.Opaque
			} else if p.Cap != "shell.execute" {
				ok = ok || matches(p, w)
			}
		}
		if ok {
			s.found++
		} else {
			missed = append(missed, w)
		}
	}
next:
	for _, p := range pred {
		if ignored(p, lang, want) {
			continue
		}
		for _, w := range append(want, may...) {
			if p.Opaque && w.Cap == "shell.execute" || !p.Opaque && w.Cap != "shell.execute" && matches(p, w) {
				continue next
			}
		}
		for _, m := range may {
			if m.Cap == p.Cap && !m.Exact {
				continue next // an inexact one stands for any target
			}
		}
		wrong = append(wrong, p)
	}
	if row.Obfuscated {
		if len(pred) > 0 && (opaque || len(missed) == 0) {
			missed = nil
			s.found = len(want)
			if opaque {
				wrong = nil
			}
		} else if len(pred) == 0 {
			missed = append(missed, want...)
		}
	}
	s.missed, s.wrong = len(missed), len(wrong)
	sort.Slice(missed, func(i, j int) bool { return missed[i].Cap < missed[j].Cap })
	return s, missed, wrong
}
