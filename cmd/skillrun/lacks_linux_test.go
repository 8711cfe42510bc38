package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Whether a directory is listed or each name looked at, a name that has come tells,
// and another does not.
func TestLacks(t *testing.T) {
	names := []string{".env", "key", "wanted"}
	for _, others := range []int{0, 1, 4 * len(names), 100} { // few are listed
		for _, c := range []struct {
			comes string
			lacks bool
		}{{"", true}, {"wanted", false}, {".env", false}, {"wante", true}} {
			dir := t.TempDir()
			for i := range others {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("other", i)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.comes != "" {
				if err := os.Symlink("nowhere", filepath.Join(dir, c.comes)); err != nil {
					t.Fatal(err)
				}
			}
			if lacks(dir, names) != c.lacks {
				t.Errorf("%d others, %q comes: lacks %v", others, c.comes, !c.lacks)
			}
		}
	}
	dir := t.TempDir()
	if !lacks(filepath.Join(dir, "gone"), names) {
		t.Error("a directory that is gone has names")
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if lacks(filepath.Join(dir, "file"), names) {
		t.Error("a file is taken for a directory that lacks names")
	}
}
