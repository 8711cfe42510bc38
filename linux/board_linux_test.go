package linux_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// A word by which processes tell each other of what they have written is itself
// written by what releases that: on arm64 a plain store may be seen before those
// that precede it, which no test on amd64 would notice.
func TestWordsOfTheBoardAreReleased(t *testing.T) {
	files, err := filepath.Glob("*_linux.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	words, plain := map[string]bool{}, map[string]token.Pos{}
	onBoard := func(e ast.Expr) (word string) {
		field, ok := e.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		switch x := field.X.(type) {
		case *ast.Ident:
			ok = x.Name == "b" || x.Name == "board"
		case *ast.SelectorExpr:
			ok = x.Sel.Name == "board"
		}
		if !ok {
			return ""
		}
		return field.Sel.Name
	}
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && strings.Contains(" load await hold ", " "+f.Name+" ") {
					if a, ok := n.Args[0].(*ast.UnaryExpr); ok {
						words[onBoard(a.X)] = true
					}
				}
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					plain[onBoard(e)] = e.Pos()
				}
			case *ast.IncDecStmt:
				plain[onBoard(n.X)] = n.Pos()
			}
			return true
		})
	}
	delete(words, "")
	if len(words) < 10 {
		t.Fatalf("the words that are waited for and looked at are %v", words)
	}
	for w := range words {
		if at, ok := plain[w]; ok {
			t.Errorf("%s: %s is set without store", set.Position(at), w)
		}
	}
}
