package scan_test

import (
	"os"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"skillrun/policy"
	"skillrun/policy/scan"
)

type tableRow struct {
	Names, Needs, Besides, Expect      []string
	If, Opts, Args, Default            string
	Special, Lang, Reason, Example, Kw string
	Sub                                bool
}

func readTable(t *testing.T, file, table string) []tableRow {
	t.Helper()
	b, err := os.ReadFile("data/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string][]tableRow
	if _, err := toml.Decode(string(b), &doc); err != nil {
		t.Fatal(err)
	}
	return doc[table]
}

// spell writes needs as the tables' "expect" does. Programs themselves are left
// out.
func spell(r scan.Result) []string {
	var list []string
	for _, n := range r.Needs {
		if n.Capability == "shell.execute" {
			continue
		}
		target := n.Target
		if !n.Exact {
			target = "?" + target
		}
		list = append(list, strings.TrimSpace(n.Capability+" "+target))
	}
	if len(r.Opaque) > 0 {
		list = append(list, "opaque")
	}
	return list
}

// Every row of the table of programs is run by its example.
func TestCommandExamples(t *testing.T) {
	rows := readTable(t, "commands.toml", "command")
	if len(rows) < 250 {
		t.Fatalf("%d rows, want 250", len(rows))
	}
	for _, row := range rows {
		t.Run(row.Names[0]+" "+row.If, func(t *testing.T) {
			if !strings.Contains(row.Example, strings.Fields(row.Names[0])[0]) {
				t.Errorf("the example %q is not of the row", row.Example)
			}
			if row.Special != "" && !scan.HasSpecial(row.Special) {
				t.Errorf("no reader %q", row.Special)
			}
			r := scan.Command(row.Example, scan.Env{})
			if diff := cmp.Diff(row.Expect, spell(r), cmpEmpty); diff != "" {
				t.Errorf("%s\n%s", row.Example, diff)
			}
			if len(r.Unknown) > 0 {
				t.Errorf("%s: %v", row.Example, r.Unknown)
			}
			for _, n := range r.Needs {
				if policy.Lookup(n.Capability) == nil {
					t.Errorf("%s: no such capability: %s", row.Example, n.Capability)
				}
				if n.Reason == "" || n.Where.Line == 0 {
					t.Errorf("%s: %s without reason or place", row.Example, n.Capability)
				}
			}
		})
	}
}

var cmpEmpty = cmp.Transformer("nil", func(s []string) []string { return append([]string{}, s...) })

// Every row of the table of functions is run by its example.
func TestCallExamples(t *testing.T) {
	for _, row := range readTable(t, "calls.toml", "call") {
		t.Run(row.Names[0], func(t *testing.T) {
			lang := map[string]string{"py:": "python", "js:": "javascript"}[row.Names[0][:3]]
			r := scan.Source(lang, row.Example, scan.Env{})
			if diff := cmp.Diff(row.Expect, spell(r), cmpEmpty); diff != "" {
				t.Errorf("%s\n%s", row.Example, diff)
			}
			for _, n := range r.Needs {
				if policy.Lookup(n.Capability) == nil {
					t.Errorf("%s: no such capability: %s", row.Example, n.Capability)
				}
			}
		})
	}
}
