package sandbox

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// gitKeys are what a run may know of the user's git configuration: who commits
// and how a new branch is called. Nothing else, since most of the rest names
// programs to run or holds credentials.
var gitKeys = map[string]bool{"user.name": true, "user.email": true, "init.defaultbranch": true}

// writeGitConfig writes .gitconfig into a run's HOME: the user's gitKeys, and
// the workspace as a safe directory, which git wants where it belongs to
// another user.
func writeGitConfig(home, userHome, workspace string) error {
	values := map[string]string{}
	for _, file := range [...]string{"/etc/gitconfig", filepath.Join(userHome, ".config/git/config"), filepath.Join(userHome, ".gitconfig")} {
		readGitConfig(file, values)
	}
	var b strings.Builder
	for _, key := range [...]string{"user.name", "user.email", "init.defaultbranch"} {
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

// readGitConfig reads the plain lines of a git configuration (git-config(1),
// "Syntax"): sections without subsection, one-line values. Includes are not
// followed. What it does not understand it leaves out.
func readGitConfig(file string, values map[string]string) {
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	section := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			name, rest, ok := strings.Cut(line[1:], "]")
			section = strings.ToLower(strings.TrimSpace(name))
			if line = strings.TrimSpace(rest); !ok || line == "" {
				continue
			}
		}
		name, value, ok := strings.Cut(line, "=")
		key := section + "." + strings.ToLower(strings.TrimSpace(name))
		if ok && gitKeys[key] {
			if v, ok := gitValue(strings.TrimSpace(value)); ok {
				values[key] = v
			}
		}
	}
}

// gitValue unquotes a value and drops its comment.
func gitValue(s string) (string, bool) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++
			if i == len(s) {
				return "", false // continued on the next line
			}
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'b':
				b.WriteByte('\b')
			case '"', '\\':
				b.WriteByte(s[i])
			default:
				return "", false
			}
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String()), true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), !quoted
}
