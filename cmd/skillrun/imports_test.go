package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed says which packages of this module each package imports, tests aside.
// It is the table of ARCHITECTURE.md: data flows one way, back ends cannot see
// manifests, policy cannot see kernels, nothing sees cmd. "*" is anything.
var allowed = map[string][]string{
	"profiles":                    {},
	"profiles/gen":                {},
	"audit":                       {"audit/private"},
	"audit/private":               {},
	"policy":                      {"policy/jsontext", "profiles"},
	"policy/jsontext":             {},
	"policy/gen":                  {"policy"},
	"policy/scan":                 {"policy", "profiles"},
	"policy/learn":                {"policy", "policy/scan", "profiles"},
	"policy/skill":                {"audit/private", "policy", "profiles"},
	"policy/session":              {"audit", "audit/private", "policy", "policy/scan", "policy/skill", "profiles"},
	"policy/hook":                 {"policy", "policy/jsontext"},
	"linux":                       {"profiles"},
	"linux/gen":                   {"linux"},
	"darwin":                      {"profiles"},
	"darwin/sbpl":                 {},
	"sandbox":                     {"darwin", "linux", "profiles", "sandbox/egress"},
	"sandbox/egress":              {"profiles"},
	"sandbox/sandboxtest":         {"linux", "profiles"},
	"sandbox/sandboxtest/attack":  {"linux", "sandbox/sandboxtest"},
	"sandbox/sandboxtest/emulate": {},
	"sandbox/sandboxtest/judge":   {"sandbox/sandboxtest"},
	"cmd/skillrun":                {"*"},
	"scripts/benchmark":           {"linux"},
}

// pure packages reach neither files nor processes nor the network: time and
// file systems are arguments.
var (
	pure      = []string{"profiles", "policy", "policy/jsontext", "policy/scan", "policy/learn"}
	forbidden = []string{"os", "net", "os/exec", "syscall", "golang.org/x/sys/unix"}
)

// ofProgram says whether a package is one of skillrun's own, which each launch has.
func ofProgram(pkg string) bool {
	return !strings.HasPrefix(pkg, "sandbox/sandboxtest") && !strings.HasPrefix(pkg, "scripts/") && !strings.HasSuffix(pkg, "/gen")
}

// compiledAtStart gives what a file makes before main that costs a launch: regular
// expressions and templates of the package.
func compiledAtStart(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			ast.Inspect(g, func(n ast.Node) bool {
				if _, ok := n.(*ast.FuncLit); ok {
					return false
				}
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && (x.Name == "regexp" && strings.HasSuffix(s.Sel.Name, "Compile") || x.Name == "template" && s.Sel.Name == "Must") {
						names = append(names, x.Name+"."+s.Sel.Name)
					}
				}
				return true
			})
		}
	}
	return names
}

// Every Go file is read, whatever its build tags. Test files are held to the
// purity of nothing and to the table not at all: a test may use any package.
func TestImports(t *testing.T) {
	const module = "skillrun/"
	root := filepath.Join("..", "..")
	seen, used := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "examples" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		may, known := allowed[pkg]
		if !known {
			t.Errorf("%s: package %s is not in the table of imports", path, pkg)
			return nil
		}
		seen[pkg] = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if ofProgram(pkg) {
			for _, name := range compiledAtStart(f) {
				t.Errorf("%s: %s before main, which every launch pays for", path, name)
			}
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if ours, ok := strings.CutPrefix(name, module); ok {
				used[pkg+" "+ours] = true
				if !slices.Contains(may, "*") && !slices.Contains(may, ours) {
					t.Errorf("%s: %s may not import %s", path, pkg, ours)
				}
			}
			if slices.Contains(pure, pkg) && slices.Contains(forbidden, name) {
				t.Errorf("%s: %s is pure and may not import %s", path, pkg, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg, may := range allowed {
		if !seen[pkg] {
			t.Errorf("there is no package %s", pkg)
		}
		for _, ours := range may {
			if ours != "*" && !used[pkg+" "+ours] {
				t.Errorf("%s may import %s and does not", pkg, ours)
			}
		}
	}
}
