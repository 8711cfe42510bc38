package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillrun/profiles"
)

// linkHome has what a run is granted beneath the user's home directory lie at
// the same place beneath its own: a script that is named by ~ is found. The links
// give nothing: what they lead to is ruled on by its own name. What the launcher
// writes into home itself has to be there before. What could not be made there either,
// for want of the directory that it lies in, is the run's own to make. Programs and libraries of the
// toolchains are left out, since they are found by variables and a package
// manager may want to write in their places.
func linkHome(home string, p *profiles.Profile) error {
	user, err := filepath.EvalSymlinks(p.Home)
	if err != nil || user == "/" {
		return nil // there is nothing beneath it
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer root.Close()
	var linked []string
	for i := range p.Paths {
		r := &p.Paths[i]
		rest, ok := strings.CutPrefix(r.Path, user+"/")
		beneath := func(l string) bool { return r.Path == l || strings.HasPrefix(r.Path, l+"/") }
		if source := r.Origin.Source; !ok || source == "built-in:base" || source == "built-in:toolchains" || slices.ContainsFunc(linked, beneath) {
			continue
		}
		if _, err := os.Stat(filepath.Dir(r.Path)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := root.MkdirAll(filepath.Dir(rest), 0o700); err != nil {
			return err
		}
		if err := root.Symlink(r.Path, rest); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		linked = append(linked, r.Path)
	}
	return nil
}
