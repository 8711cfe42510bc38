package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrun/cmd/skillrun"
)

// Another run may put a link in the place of a directory, or of the file, after
// it has been looked at, and may have given another file the report's name.
func TestReportPlacedInARace(t *testing.T) {
	const kept = "somebody's file\n"
	for _, is := range []struct {
		name   string
		beside func(work, outside string) error // while the last directory is looked at
		fails  string
	}{
		{"control", func(string, string) error { return nil }, ""},
		{"a directory", func(work, outside string) error {
			if err := os.Rename(work+"/sub", work+"/old"); err != nil {
				return err
			}
			return os.Symlink(outside, work+"/sub")
		}, "not a directory"},
		{"the directory above", func(work, outside string) error {
			if err := os.Rename(work, work+".old"); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(outside), work)
		}, "not a directory"},
		{"a file", func(work, outside string) error { return os.Symlink(outside+"/r.json", work+"/sub/r.json") }, "is a symbolic link that a run may have made"},
		{"another name", func(work, outside string) error { return os.Link(outside+"/r.json", work+"/sub/r.json") }, "is not a file of one name"},
	} {
		t.Run(is.name, func(t *testing.T) {
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			work, outside := top+"/work", top+"/sub"
			for _, dir := range []string{work + "/sub", outside} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(outside+"/r.json", []byte(kept), 0o600); err != nil {
				t.Fatal(err)
			}
			theirs := func(dir string) bool {
				if dir == work+"/sub" {
					if err := is.beside(work, outside); err != nil {
						t.Error(err)
					}
				}
				return dir == work || strings.HasPrefix(dir, work+"/")
			}
			err = main.WritePlaced(work+"/sub/r.json", theirs, []byte("report\n"))
			if b, fault := os.ReadFile(outside + "/r.json"); string(b) != kept {
				t.Errorf("written outside: %q %v", b, fault)
			}
			if is.fails != "" {
				if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "too many levels of symbolic links", "not a directory"), is.fails) {
					t.Errorf("%v, no %q", err, is.fails)
				}
				return
			}
			if b, fault := os.ReadFile(work + "/sub/r.json"); err != nil || string(b) != "report\n" {
				t.Errorf("%v: %q %v", err, b, fault)
			}
		})
	}
}
