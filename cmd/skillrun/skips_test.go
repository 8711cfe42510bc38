package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A test that skips itself proves nothing where it should have run, and nobody
// sees that. Only sandboxtest skips, which fails the test in CI instead, and a
// script by the condition root, which is an error there. In an emulated environment
// it skips for what that is there to take away alone.
func TestSkips(t *testing.T) {
	patterns := map[string]*regexp.Regexp{
		".go":    regexp.MustCompile(`[\w)]+\.(?:Skip|Skipf|SkipNow)\b|\btesting\.Short\b`),
		".txtar": regexp.MustCompile(`(?m)^(?:\[[^\]]*\] *)*skip\b`),
	}
	root := filepath.Join("..", "..")
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		skips := patterns[filepath.Ext(path)]
		if skips == nil {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range skips.FindAllString(string(text), -1) {
			if m != "sandboxtest.Skip" {
				found[strings.TrimPrefix(filepath.ToSlash(path), "../../")+": "+m] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{
		"sandbox/sandboxtest/sandboxtest.go: t" + ".Skipf":               true,
		"cmd/skillrun/testdata/script/config_system.txtar: [!root] skip": true,
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Errorf("what skips by itself (-allowed +found):\n%s", d)
	}
}
