package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"skillrun/profiles"
)

// What the user has in his stores is found in a run's own, which a run before may
// have made anything of: nothing of that leads out.
func TestLinkStores(t *testing.T) {
	user := t.TempDir()
	config := filepath.Join(user, ".cargo/config.toml")
	lib := filepath.Join(user, ".local/lib/python3.12")
	rule := func(tool, path string) profiles.PathRule {
		return profiles.PathRule{Path: path, Tree: true, Access: profiles.Read, Origin: profiles.Origin{Source: "built-in:toolchains", Reason: tool + ": for a test"}}
	}
	p := &profiles.Profile{Paths: []profiles.PathRule{
		rule("cargo", config), rule("cargo", filepath.Join(user, ".cargo/registry")),
		rule("python-user", lib), rule("python-user", filepath.Join(user, ".local/bin")), rule("python-user", user+"/it's/python3.11"), rule("other", user+"/python3.10"),
	}}
	const pth, settings = ".cache/python/lib/python3.12/site-packages/user.pth", ".cache/cargo/config.toml"
	read := func(dir, name string) string {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		return string(b)
	}
	dir := t.TempDir()
	for range 2 { // the second finds it there
		linkStores(dir, p)
		if got, _ := os.Readlink(filepath.Join(dir, settings)); got != config {
			t.Errorf("cargo's settings are %q", got)
		}
		if got := read(dir, pth); got != "import site; site.addsitedir('"+lib+"/site-packages')\n" {
			t.Errorf("the user's packages are %q", got)
		}
	}
	if all, _ := filepath.Glob(dir + "/.cache/*/lib/*"); len(all) != 1 {
		t.Errorf("made: %v", all)
	}
	for name, hostile := range map[string]func(dir, to string) error{
		"the caches": func(dir, to string) error { return os.Symlink(to, dir+"/.cache") },
		"stores": func(dir, to string) error {
			os.Mkdir(dir+"/.cache", 0o700)
			os.Symlink(to, dir+"/.cache/cargo")
			return os.Symlink(to, dir+"/.cache/python")
		},
		"files": func(dir, to string) error {
			os.MkdirAll(dir+"/.cache/cargo", 0o700)
			os.Symlink(to+"/x", dir+"/"+settings)
			os.MkdirAll(filepath.Dir(dir+"/"+pth), 0o700)
			return os.Symlink(to+"/y", dir+"/"+pth)
		},
		"a file": func(dir, to string) error { return os.WriteFile(dir+"/.cache", nil, 0o600) },
	} {
		dir, to := t.TempDir(), t.TempDir()
		if err := hostile(dir, to); err != nil {
			t.Fatal(err)
		}
		linkStores(dir, p)
		if there, _ := os.ReadDir(to); len(there) > 0 {
			t.Errorf("%s: %v was made outside", name, there)
		}
	}
	dir = t.TempDir()
	p.Env.Set = []profiles.EnvVar{{Name: "PYTHONUSERBASE"}, {Name: "CARGO_HOME"}}
	if linkStores(dir, p); read(dir, pth) != "" || read(dir, settings) != "" {
		t.Error("linked where the user's own are used")
	}
}
