package policy

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Typed says why a command that the user typed is not what the skill declared:
// a denied pattern matches it, or the declared commands, such as Bash(git:*),
// have it not; "" if there is no such reason. Only the typed command is held to
// that, not what it starts. Where grant is not "", granting it lifts the reason.
func (s *Set) Typed(argv []string, now time.Time) (why, grant string) {
	line := strings.Join(argv, " ")
	for _, l := range s.layers() {
		for i, es := 0, l.of("shell.execute"); i < len(es); i++ {
			if p := deniedCommand(&es[i], line); p != nil && !es[i].expired(now) {
				return fmt.Sprintf("the command matches the pattern %q, which %s denies", p.Text, es[i].source()), ""
			}
		}
	}
	for i, es := 0, s.grants.of("shell.execute"); i < len(es); i++ {
		if es[i].Lapsed(now) == "" {
			return "", ""
		}
	}
	for _, l := range s.layers() {
		if why := l.typed(argv, now); why != "" {
			return why, "shell.execute"
		}
	}
	return "", ""
}

// typed says why no entry of a layer that names commands names this one.
func (l *layer) typed(argv []string, now time.Time) string {
	why := ""
	for i, es := 0, l.of("shell.execute"); i < len(es); i++ {
		e := &es[i]
		switch {
		case e.Effect == Deny || e.Lapsed(now) != "":
		case len(e.Constraints.AllowedCommands) == 0:
			return ""
		default:
			for _, t := range e.Constraints.AllowedCommands {
				if begins(argv, t.Value) {
					return ""
				}
			}
			why = fmt.Sprintf("the command is none of those that %s declares: %s", e.source(), Escape(strings.Join(values(e.Constraints.AllowedCommands), ", ")))
		}
	}
	return why
}

// begins says whether a command has the words that a declared one begins with, of
// which a directory at the end is for what lies in it.
func begins(argv []string, declared string) bool {
	words, ok := shellWords(declared, "")
	if !ok || len(argv) < len(words) {
		return false
	}
	for i := range words {
		word, have := plainPath(words[i]), plainPath(argv[i])
		if i == 0 && sameProgram(word, have) {
			continue
		}
		if file, ok := strings.CutPrefix(have, word); i == len(words)-1 && ok && strings.HasSuffix(word, "/") {
			return file != "" && !strings.ContainsAny(file, "*?[") && !strings.Contains("/"+file+"/", "/../")
		}
		if have != word {
			return false
		}
	}
	return len(words) > 0
}

// shellSyntax is what has a shell do more, outside of quotes, than take words as they
// are. In double quotes "$", "`" and "\\" still do.
const shellSyntax = ";&|<>`$(){}\n\\"

// shellWords cuts a text where a shell does, and takes the quotes away. It fails where
// a quote does not end, and on any of syntax, with which a shell may see something else:
// other words, or another command.
func shellWords(text, syntax string) (words []string, ok bool) {
	var word []byte
	var quote byte
	begun, quoted, literal := false, false, true
	end := func() {
		if begun {
			words = append(words, string(word))
			// "~" is a home, and no more than a name where any of the word is quoted.
			literal = literal && (syntax == "" || !quoted || len(word) == 0 || word[0] != '~')
		}
		word, begun, quoted = nil, false, false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun, quoted = c, true, true
		case quote == 0 && (c == ' ' || c == '\t'):
			end()
		case quote == 0 && c == '\\' && i+1 < len(text) && text[i+1] != '\n' && (syntax == "" || i == 0 || text[i-1] < utf8.RuneSelf):
			// Behind another byte it may be half of a letter, as in GB18030 and Big5.
			i++
			word, begun, quoted = append(word, text[i]), true, true
		case quote == 0 && c == '#' && !begun && syntax != "": // the rest is a comment
			return words, literal && !strings.Contains(text[i:], "\n")
		case quote != '\'' && strings.IndexByte(syntax, c) >= 0 && (quote == 0 || strings.IndexByte("$`\\", c) >= 0):
			return nil, false
		default:
			word, begun = append(word, c), true
		}
	}
	end()
	return words, literal && quote == 0
}

// plainPath leaves the "./" out of "./scripts/x", which "scripts/x" is, too; "x" is not
// "./x" but a program of PATH.
func plainPath(word string) string {
	if rest, ok := strings.CutPrefix(word, "./"); ok && strings.Contains(rest, "/") {
		return rest
	}
	return word
}

// sameProgram says whether two names that PATH is searched for are one interpreter's:
// which of them a machine has is its distribution's choice. python3.12 is python3, and
// is not python3.11; python2 is another.
func sameProgram(a, b string) bool {
	a, minorA := program(a)
	b, minorB := program(b)
	return a == b && (minorA == minorB || minorA == "" || minorB == "")
}

// program gives one name for all of an interpreter, and its minor version if that is
// part of the name.
func program(name string) (one, minor string) {
	one, minor, dotted := strings.Cut(name, ".")
	if dotted && (one != "python3" && one != "pip3" || minor == "" || strings.Trim(minor, "0123456789") != "") {
		return name, ""
	}
	switch one {
	case "python":
		one = "python3"
	case "pip":
		one = "pip3"
	case "nodejs":
		one = "node"
	}
	return one, minor
}
