package sandbox

import (
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"skillrun/profiles"
)

// tempVariables name the run's own directory for temporary files.
//
// tmux takes /tmp whatever TMPDIR says, and looks before it makes its directory:
// where a supervisor stands in for /tmp it would find none.
var tempVariables = [...]string{"TMPDIR", "TMP", "TEMP", "TMUX_TMPDIR"}

// Go keeps the modules that it fetches beneath ~/.cache, too, where they may be kept
// for later runs.
const modulesVariable, modulesDir = "GOMODCACHE", ".cache/go-mod"

// OwnVariable says what a variable is set to that every run has for itself,
// unless its profile sets it: "the run's own home directory". It is "" for any
// other.
func OwnVariable(name string) string {
	switch {
	case name == "HOME":
		return "the run's own home directory"
	case slices.Contains(tempVariables[:], name):
		return "the run's own directory for temporary files"
	case name == modulesVariable:
		return "~/" + modulesDir + " of the run's own home directory"
	}
	return ""
}

// Environ builds the environment of a run: of the caller's variables those the
// profile passes, then what the profile sets, then the run's own directories.
func Environ(env *profiles.Env, caller []string, home, temp string) []string {
	vars := map[string]string{}
	for _, kv := range caller {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		if env.Lets(name) {
			vars[name] = value
		}
	}
	vars["HOME"] = home
	for _, name := range tempVariables {
		vars[name] = temp
	}
	for _, name := range [...]string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		delete(vars, name) // they follow HOME
	}
	if _, passed := vars[modulesVariable]; !passed {
		vars[modulesVariable] = filepath.Join(home, modulesDir)
	}
	for _, v := range env.Set {
		vars[v.Name] = v.Value
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	sort.Strings(out)
	return out
}
