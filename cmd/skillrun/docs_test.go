package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"skillrun/cmd/skillrun"
	"skillrun/policy"
	"skillrun/profiles"
)

var updateDocs = flag.Bool("update", false, "write the tables of the documentation that follow from the code")

const docs = "../../docs/"

func readDoc(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(docs + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// table holds the table of a document between two marks to the code.
func table(t *testing.T, file, want string) {
	t.Helper()
	const begin, end = "<!-- from the code: begin -->\n", "<!-- from the code: end -->"
	text := readDoc(t, file)
	i, j := strings.Index(text, begin), strings.Index(text, end)
	if i < 0 || j < i {
		t.Fatalf("docs/%s: no table between marks", file)
	}
	i += len(begin)
	if text[i:j] == want {
		return
	}
	if *updateDocs {
		if err := os.WriteFile(docs+file, []byte(text[:i]+want+text[j:]), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("docs/%s is not what the code says (go test ./cmd/skillrun -run Documented -update):\n%s", file, cmp.Diff(want, text[i:j]))
}

func TestCapabilitiesAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| capability | permission | level | would allow to | a run |\n|---|---|---|---|---|\n")
	for _, c := range policy.Taxonomy() {
		effect := "enforces it"
		if !c.Enforced() {
			effect = "has no use for it: " + c.Why
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c.Name, c.Label, c.Level, c.About, effect)
	}
	table(t, "capabilities.md", b.String())
}

func TestPresetsAreDocumented(t *testing.T) {
	var b strings.Builder
	presets := policy.Presets()
	row := func(what string, value func(p *policy.Preset) string) {
		fmt.Fprintf(&b, "| %s |", what)
		for i := range presets {
			v := value(&presets[i])
			if v == "" {
				v = "-"
			}
			fmt.Fprintf(&b, " %s |", v)
		}
		b.WriteString("\n")
	}
	yes := func(y bool) string {
		if y {
			return "yes"
		}
		return ""
	}
	bytes := func(n int64) string {
		switch {
		case n == 0:
			return ""
		case n%(1<<30) == 0:
			return strconv.FormatInt(n>>30, 10) + " GiB"
		}
		return strconv.FormatInt(n>>20, 10) + " MiB"
	}
	count := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	span := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
	}
	row("", func(p *policy.Preset) string { return "`" + p.Name + "`" })
	b.WriteString(strings.Repeat("|---", len(presets)+1) + "|\n")
	row("untrusted skills are refused", func(p *policy.Preset) string { return yes(p.RejectUntrusted) })
	row("strict", func(p *policy.Preset) string { return yes(p.Strict) })
	row("no caches are kept", func(p *policy.Preset) string { return yes(p.Fresh) })
	row("clauses that may be gaps", func(p *policy.Preset) string { return strings.Join(p.GapNames(), " ") })
	row("what wants confirming", func(p *policy.Preset) string {
		return map[policy.Approve]string{policy.ApproveAsk: "is asked", policy.ApproveNone: "is not granted", policy.ApproveDeclared: "is granted"}[p.Approve]
	})
	row("memory", func(p *policy.Preset) string { return bytes(p.Limits.Memory) })
	row("processor time", func(p *policy.Preset) string { return span(p.Limits.CPU) })
	row("wall clock", func(p *policy.Preset) string { return span(p.Limits.Wall) })
	row("processes", func(p *policy.Preset) string { return count(p.Limits.Processes) })
	row("open files", func(p *policy.Preset) string { return count(p.Limits.OpenFiles) })
	row("file size", func(p *policy.Preset) string { return bytes(p.Limits.FileSize) })
	row("output", func(p *policy.Preset) string { return bytes(p.Limits.Output) })
	row("writable files, named by", func(p *policy.Preset) string { return strings.Join(p.WritableFiles, " ") })
	row("closed files, named by", func(p *policy.Preset) string { return strings.Join(p.ProtectedFiles, " ") })
	row("hidden variables", func(p *policy.Preset) string { return strings.Join(p.HiddenVariables, " ") })
	row("`.git/config` with credentials is unreadable", func(p *policy.Preset) string { return yes(p.HideCheckoutCredentials) })
	table(t, "presets.md", b.String())
}

// Every clause, and whether it is a must, is in the table of clauses.
func TestClausesAreDocumented(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../../profiles/receipt.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, clauses := readDoc(t, "platforms.md"), 0
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Clause") {
			return true
		}
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		clauses++
		word := "should"
		if profiles.Must(name) {
			word = "must"
		}
		if row := fmt.Sprintf("\n| `%s` | %s |", name, word); !strings.Contains(text, row) {
			t.Errorf("docs/platforms.md has no row %q", row[1:])
		}
		return true
	})
	if clauses < 20 {
		t.Errorf("%d clauses found in profiles/receipt.go", clauses)
	}
}

// The manual page has every subcommand, flag and variable, and no other.
func TestManualIsComplete(t *testing.T) {
	text := readDoc(t, "skillrun.1")
	listed := func(macro string) (names []string) {
		for _, m := range regexp.MustCompile(`(?m)^\.It `+macro+` (\S+)`).FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	var flags, commands []string
	var collect func(prefix string, list []*cli.Command)
	collect = func(prefix string, list []*cli.Command) {
		for _, c := range list {
			commands = append(commands, prefix+c.Name)
			for _, f := range c.Flags {
				if name := f.Names()[0]; len(name) > 1 {
					flags = append(flags, "-"+name)
				} else {
					flags = append(flags, name)
				}
			}
			collect(prefix+c.Name+".", c.Subcommands)
		}
	}
	collect("", main.NewApp().Commands)
	slices.Sort(flags)
	slices.Sort(commands)
	if diff := cmp.Diff(slices.Compact(flags), listed("Fl")); diff != "" {
		t.Errorf("flags of the program (-) and of docs/skillrun.1 (+):\n%s", diff)
	}
	for i := range commands {
		commands[i] = commands[i][strings.LastIndexByte(commands[i], '.')+1:]
	}
	slices.Sort(commands)
	if diff := cmp.Diff(slices.Compact(commands), listed("Cm")); diff != "" {
		t.Errorf("subcommands of the program (-) and of docs/skillrun.1 (+):\n%s", diff)
	}
	variables := main.Variables()
	slices.Sort(variables)
	if diff := cmp.Diff(variables, listed("Ev")); diff != "" {
		t.Errorf("variables of the program (-) and of docs/skillrun.1 (+):\n%s", diff)
	}
}

// Every key of both manifest forms is in their reference.
func TestManifestKeysAreDocumented(t *testing.T) {
	text, keys := readDoc(t, "manifest.md"), 0
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for key := range properties {
				keys++
				if !strings.Contains(text, "`"+key+"`") {
					t.Errorf("docs/manifest.md: key `%s` is missing", key)
				}
			}
			for _, sub := range v {
				look(sub)
			}
		case []any:
			for _, sub := range v {
				look(sub)
			}
		}
	}
	for _, form := range []policy.Form{policy.JSON, policy.TOML} {
		var schema any
		if err := json.Unmarshal(policy.Schema(form), &schema); err != nil {
			t.Fatal(err)
		}
		look(schema)
	}
	if keys < 30 {
		t.Errorf("%d keys found in the schemas", keys)
	}
}

// Relative links of every document lead to files, and to headings in them.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)]*))?\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	odd := regexp.MustCompile(`[^\pL\pN_ -]`)
	links := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			links++
			to := path
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(path), m[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: link to %s leads nowhere", path, m[1])
				continue
			}
			if m[2] == "" {
				continue
			}
			text, err := os.ReadFile(to)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(heading.FindAllStringSubmatch(string(text), -1), func(h []string) bool {
				return strings.ReplaceAll(odd.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == m[2]
			}) {
				t.Errorf("%s: %s has no heading %s", path, to, m[2])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links == 0 {
		t.Error("no links found")
	}
}
