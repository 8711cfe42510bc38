package hook

import "strings"

// Door is how a shell command is let run: through this program.
type Door struct {
	Program string // absolute path
	Session string
	// Call names the use of the tool, so that what was refused can be told
	// afterwards; "" if nobody asks.
	Call string
	// Tell has refusals told on stderr, where nothing else tells them.
	Tell bool
	// Directory is the file in which the program leaves the directory that the
	// command ended in; "" if the next one does not start there.
	Directory string
}

// Command is what the agent's shell runs in the place of a command. The text of
// the command stands in it as it was, within quotes, so that rules that look for
// words in it find them. Its exit code is that of the command.
func (d *Door) Command(command string) string {
	var b strings.Builder
	b.WriteString(Quote(d.Program) + " exec --session " + d.Session)
	if d.Call != "" {
		b.WriteString(" --call " + d.Call)
	}
	if d.Tell {
		b.WriteString(" --denials")
	}
	b.WriteString(" -- bash -c " + Quote(command))
	if d.Directory != "" {
		// What the shell can do itself: programs of the PATH may be the command's.
		b.WriteString(`; skillrun_code=$?; { IFS= read -r skillrun_directory <` + Quote(d.Directory) + ` && cd -- "$skillrun_directory"; } 2>/dev/null; (exit $skillrun_code)`)
	}
	return b.String()
}

// Inside gives the command within a text that Command gave for this program and
// session, without a directory, and the call that it names. Nothing else can be
// within, not even spelled differently: what runs is this program.
func (d *Door) Inside(text string) (command, call string, ok bool) {
	rest, ok := strings.CutPrefix(text, Quote(d.Program)+" exec --session "+d.Session+" ")
	if !ok {
		return "", "", false
	}
	if named, ok := strings.CutPrefix(rest, "--call "); ok {
		call, rest, _ = strings.Cut(named, " ")
	}
	if call != "" && !ValidID(call) {
		return "", "", false
	}
	flags, word, _ := strings.Cut(rest, "-- bash -c ")
	command = unquote(word)
	same := Door{Program: d.Program, Session: d.Session, Call: call, Tell: flags != ""}
	return command, call, command != "" && same.Command(command) == text
}

// Altered says that a text calls a program as Command does for this session: where
// Inside finds nothing in it, it was changed.
func (d *Door) Altered(text string) bool {
	return strings.Contains(text, " exec --session "+d.Session+" ")
}

// Quote writes a text as one word of a POSIX shell, and of fish, to which a backslash
// in quotes is no letter before another and before the quote's end. The text must not
// hold NUL, which no command line can.
func Quote(s string) string {
	plain := s != ""
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("/._-+:,@%", c) >= 0) {
			plain = false
		}
	}
	if plain {
		return s
	}
	b := []byte{'\''}
	for i, c := range []byte(s) {
		if c == '\'' || c == '\\' && (i+1 == len(s) || s[i+1] == '\'' || s[i+1] == '\\') {
			b = append(b, '\'', '\\', c, '\'')
		} else {
			b = append(b, c)
		}
	}
	return string(append(b, '\''))
}

// unquote gives the text of a word that Quote wrote; of any other, some text.
func unquote(word string) string {
	if !strings.HasPrefix(word, "'") {
		return word
	}
	return strings.NewReplacer(`'\''`, "'", `'\\'`, `\`).Replace(strings.TrimSuffix(word[1:], "'"))
}
