package policy

import (
	"slices"
	"strings"

	"skillrun/profiles"
)

// Files of a git directory with what is left of a rebase, of patches to be applied,
// and of picks and reverts: git goes on by them, whoever wrote them.
const GitTodo = "rebase-merge/git-rebase-todo"

// GitSequences are those of these files that can name a command or a file elsewhere.
var GitSequences = [...]string{GitTodo, "rebase-merge/strategy", "rebase-apply/apply-opt", "sequencer/opts"}

// GitContinues gives what git would start, or write elsewhere, by one of GitSequences,
// in the words of the file: commands of a rebase; a merge strategy whose name is a path,
// since git starts "git-merge-NAME", and looks only for names without a slash on the
// search path; the option of git apply that names a file to write.
func GitContinues(file string, b []byte) (words []string) {
	text := strings.Trim(string(b), " \t\r\n\x00")
	switch file {
	case GitTodo:
		for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == 0 }) {
			line = strings.Trim(line, " \t\r")
			if word, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " "); word == "exec" || word == "x" {
				words = append(words, line)
			}
		}
	case "rebase-apply/apply-opt":
		if strings.Contains(text, "'--b") { // --build-fake-ancestor, or the beginning of it
			words = []string{text}
		}
	case "sequencer/opts":
		profiles.GitConfig(b, func(name, value string) {
			if name == "options.strategy" && strings.Contains(value, "/") {
				words = append(words, value)
			}
		})
	default:
		if strings.Contains(text, "/") {
			words = []string{text}
		}
	}
	return slices.Compact(words)
}
