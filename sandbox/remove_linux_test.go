package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Whatever is left, and however deep, is removed, and nothing that links lead to.
func TestRemoveTree(t *testing.T) {
	base := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	outside, dir := filepath.Join(base, "outside"), filepath.Join(base, "dir")
	must(os.Mkdir(outside, 0o755))
	must(os.WriteFile(filepath.Join(outside, "kept"), nil, 0o644))
	var closed []string
	for at, depth := dir, 0; depth < 100; at, depth = filepath.Join(at, fmt.Sprint("d", depth%3)), depth+1 {
		must(os.MkdirAll(filepath.Join(at, "empty"), 0o755))
		must(os.MkdirAll(filepath.Join(at, ".removed-1", "x"), 0o755))
		must(os.WriteFile(filepath.Join(at, "f\n\xff"), nil, 0))
		must(os.WriteFile(filepath.Join(at, ".removed-2"), nil, 0))
		must(os.Symlink(outside, filepath.Join(at, "link")))
		must(os.Symlink(filepath.Join(outside, "kept"), filepath.Join(at, "file")))
		closed = append(closed, at)
	}
	for i := 0; i < 5000; i++ {
		must(os.WriteFile(filepath.Join(dir, fmt.Sprint("many", i)), nil, 0o600))
	}
	for i := len(closed) - 1; i >= 0; i-- {
		must(os.Chmod(closed[i], os.FileMode(0o100*(i%8)))) // without some rights, or all
	}
	must(removeTree(dir))
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
	for name, mode := range map[string]os.FileMode{outside: 0o755, filepath.Join(outside, "kept"): 0o644} {
		if info, err := os.Lstat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("outside: %v %v", info, err)
		}
	}
	must(removeTree(dir)) // which is not there
	if err := os.Symlink(outside, dir); err != nil || removeTree(dir) == nil {
		t.Errorf("a link was taken for a directory: %v", err)
	}
}
