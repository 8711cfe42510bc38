package sandbox

import (
	"sort"
	"strings"

	"skillrun/profiles"
)

// Environ builds the environment of a run: of the caller's variables those the
// profile passes, then what the profile sets, then the run's own directories.
func Environ(env *profiles.Env, caller []string, home, temp string) []string {
	vars := map[string]string{}
	for _, kv := range caller {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && passes(env, name) {
			vars[name] = value
		}
	}
	vars["HOME"] = home
	for _, name := range [...]string{"TMPDIR", "TMP", "TEMP"} {
		vars[name] = temp
	}
	for _, name := range [...]string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		delete(vars, name) // they follow HOME
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

func passes(env *profiles.Env, name string) bool {
	for _, r := range env.Allow {
		if r.Name == name {
			return true
		}
	}
	for _, r := range env.Deny {
		if nameMatches(r.Name, name) {
			return false
		}
	}
	for _, r := range env.Pass {
		if nameMatches(r.Name, name) {
			return true
		}
	}
	return false
}

// nameMatches matches a name with an optional "*" at either end.
func nameMatches(pattern, name string) bool {
	head, tail := strings.HasPrefix(pattern, "*"), strings.HasSuffix(pattern, "*")
	core := strings.Trim(pattern, "*")
	switch {
	case head && tail:
		return strings.Contains(name, core)
	case head:
		return strings.HasSuffix(name, core)
	case tail:
		return strings.HasPrefix(name, core)
	}
	return name == pattern
}
