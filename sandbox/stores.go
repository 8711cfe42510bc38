package sandbox

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// stores are directories of tools that fetch packages. A run's own are beneath
// ~/.cache, where they may be there for later runs; who has one of his own has a
// rule (profiles/data/toolchains.toml) that sets the variable, unless the run may
// fetch. Programs in them are found last.
var stores = [...]struct {
	variable, dir string
	programs      bool
}{
	{"GOMODCACHE", "go-mod", false},
	{"PYTHONUSERBASE", "python", true}, // pip install --user
	{"CARGO_HOME", "cargo", true},
}

// linkStores has tools find in stores of the run's own what the user has in his and
// no variable names: what he installed with pip install --user, after what the run
// did, and cargo's settings. dir holds ~/.cache. A run before may have put anything
// there: what is in the way stays, and nothing is written where a link leads out.
func linkStores(dir string, p *profiles.Profile) {
	own := func(variable string) bool {
		return !slices.ContainsFunc(p.Env.Set, func(v profiles.EnvVar) bool { return v.Name == variable })
	}
	var packages, settings []string
	if own("PYTHONUSERBASE") {
		packages = p.OfTool("python-user")
	}
	if own("CARGO_HOME") {
		settings = p.OfTool("cargo")
	}
	if packages == nil && settings == nil {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	for _, lib := range packages {
		// A line of code, since only that reads such files there, too.
		if version := path.Base(lib); strings.HasPrefix(version, "python3") && !strings.ContainsAny(lib, "'\\\r\n") {
			at := ".cache/python/lib/" + version + "/site-packages"
			if f, err := create(root, at, "user.pth"); err == nil {
				fmt.Fprintf(f, "import site; site.addsitedir('%s/site-packages')\n", lib)
				f.Close()
			}
		}
	}
	for _, file := range settings {
		if base := path.Base(file); base == "config.toml" || base == "config" {
			if err := root.MkdirAll(".cache/cargo", 0o700); err == nil {
				root.Symlink(file, ".cache/cargo/"+base)
			}
		}
	}
}

// create makes a new file, and the directories that lead to it.
func create(root *os.Root, dir, name string) (*os.File, error) {
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return root.OpenFile(dir+"/"+name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}
