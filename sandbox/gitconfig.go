package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillrun/profiles"
)

// gitKeys are what a run may know of the user's git configuration: who commits
// and how a new branch is called. Nothing else, since most of the rest names
// programs to run or holds credentials.
var gitKeys = [...]string{"user.name", "user.email", "init.defaultbranch"}

// writeGitConfig writes .gitconfig into a run's HOME: the user's gitKeys, and
// the workspace as a safe directory, which git wants where it belongs to
// another user.
func writeGitConfig(home, userHome, workspace string) error {
	values := map[string]string{}
	for _, file := range [...]string{"/etc/gitconfig", filepath.Join(userHome, ".config/git/config"), filepath.Join(userHome, ".gitconfig")} {
		b, _ := (&profiles.Host{FS: os.DirFS("/")}).ReadSmall(file, 1<<20) // no pipe is waited for
		profiles.GitConfig(b, func(name, value string) {
			if slices.Contains(gitKeys[:], name) {
				values[name] = value
			}
		})
	}
	var b strings.Builder
	for _, key := range gitKeys {
		if v, ok := values[key]; ok {
			section, name, _ := strings.Cut(key, ".")
			b.WriteString("[" + section + "]\n\t" + name + " = " + quoteGit(v) + "\n")
		}
	}
	if workspace != "" {
		b.WriteString("[safe]\n\tdirectory = " + quoteGit(workspace) + "\n")
	}
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(b.String()), 0o600)
}

func quoteGit(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(s) + `"`
}
