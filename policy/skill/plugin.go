package skill

import (
	"os"
	"path/filepath"
)

// plugin gives the directory of the agent's plugin that a skill in a resolved directory
// is part of: the nearest one around it, or itself, that says so by
// .claude-plugin/plugin.json. It is "" where there is none, and where somebody other
// than the user and root could have said so. Whoever packed the skill, or a run that
// writes around it, can: it is a name, and opens nothing.
func plugin(dir string) string {
	for ; dir != "/"; dir = filepath.Dir(dir) {
		names := [...]string{dir, filepath.Join(dir, ".claude-plugin"), filepath.Join(dir, ".claude-plugin", "plugin.json")}
		info, err := os.Lstat(names[2])
		if err != nil {
			continue
		}
		if around, err := os.Lstat(names[1]); err != nil || !around.IsDir() || !info.Mode().IsRegular() {
			return ""
		}
		for _, name := range names {
			if owner, safe := ownership(name); !safe || owner != 0 && owner != os.Geteuid() {
				return ""
			}
		}
		return dir
	}
	return ""
}
