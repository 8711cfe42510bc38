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

// OwnVariable says what a variable is set to that every run has for itself,
// unless its profile sets it: "the run's own home directory". It is "" for any
// other.
func OwnVariable(name string) string {
	switch {
	case name == "HOME":
		return "the run's own home directory"
	case slices.Contains(tempVariables[:], name):
		return "the run's own directory for temporary files"
	case name == cachesVariable:
		return "where ~/.cache of the run's own home directory leads, if it leads anywhere"
	}
	for _, s := range stores {
		if name == s.variable {
			return "~/.cache/" + s.dir + " of the run's own home directory"
		}
	}
	return ""
}

// cachesVariable names the kept caches where they are: what tools write there of
// their own places ($HOME is another one each time) holds for the next run, too.
const cachesVariable = "XDG_CACHE_HOME"

// Environ builds the environment of a run: of the caller's variables those the
// profile passes, then what the profile sets, then the run's own directories.
// caches is where ~/.cache leads, "" where that is a directory.
func Environ(env *profiles.Env, caller []string, home, temp, caches string) []string {
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
	for _, name := range [...]string{"XDG_CONFIG_HOME", cachesVariable, "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		delete(vars, name) // they follow HOME
	}
	if caches != "" {
		vars[cachesVariable] = caches
	} else {
		caches = filepath.Join(home, ".cache")
	}
	for _, v := range env.Set {
		vars[v.Name] = v.Value
	}
	for _, s := range stores {
		if _, given := vars[s.variable]; given {
			continue
		}
		store := filepath.Join(caches, s.dir)
		vars[s.variable] = store
		if path := vars["PATH"]; s.programs && path != "" {
			vars["PATH"] = path + ":" + store + "/bin"
		}
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	sort.Strings(out)
	return out
}
