package profiles

import (
	"path"
	"strings"
)

// versionManagers put small scripts ("shims") on PATH that choose a version
// and then run the real program. What decides is, in this order, a variable, a
// file in the current directory or above, and a file of the manager's: see
// pyenv's and rbenv's COMMANDS.md, "version-name".
var versionManagers = [...]struct{ name, variable, file string }{
	{"pyenv", "PYENV_VERSION", ".python-version"},
	{"rbenv", "RBENV_VERSION", ".ruby-version"},
}

// Unshim gives the program that a shim at file would run in directory cwd, so
// that it can be run without the right to start the shim's helpers. What is no
// shim, or chooses in a way that is not understood, is given back as it is.
func (h *Host) Unshim(file, cwd string) string {
	shims, program := path.Split(file)
	root := path.Dir(path.Clean(shims))
	if path.Base(path.Clean(shims)) != "shims" || !h.Exists(root+"/versions") {
		return file
	}
	for _, m := range versionManagers {
		if !h.Exists(root + "/libexec/" + m.name) {
			continue
		}
		for _, v := range h.versions(root, m.variable, m.file, cwd) {
			real := root + "/versions/" + v + "/bin/" + program
			if v != "." && v != ".." && !strings.Contains(v, "/") && h.Exists(real) {
				return real
			}
		}
	}
	return file
}

func (h *Host) versions(root, variable, file, cwd string) []string {
	if v := h.Env[variable]; v != "" {
		return strings.Split(v, ":")
	}
	for dir := cwd; path.IsAbs(dir); dir = path.Dir(dir) {
		if v := h.words(dir + "/" + file); len(v) > 0 {
			return v
		}
		if dir == "/" {
			break
		}
	}
	return h.words(root + "/version")
}

func (h *Host) words(file string) []string {
	name, err := h.Resolve(path.Clean(file))
	if err != nil {
		return nil
	}
	b, _ := h.ReadSmall(name, 4096)
	return strings.Fields(string(b))
}
