package policy

import (
	"bytes"
	"regexp"
	"strings"
)

// Started says what of a SKILL.md some agents start by themselves when they load the
// skill, past every hook and outside of any run: hooks of its header, a subagent that
// it names, whose definition may have some, and the commands in its text whose output
// is put in their place (Claude Code), or whose arguments name files that it reads. "" is
// nothing.
func Started(data []byte) string {
	switch h := readHeader(data); {
	case h.has("hooks"):
		return "hooks in its header"
	case h.has("agent"):
		return "a subagent in its header"
	}
	text := string(data)
	for i := 0; i+1 < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "```!"):
			return "the command " + Shown(firstLine(text[i+4:]))
		case text[i] == '!' && text[i+1] == '`' && (i == 0 || text[i-1] != '`'): // not of "`!`"
			if command, _, ended := strings.Cut(text[i+2:], "`"); ended && command != "" {
				return "the command " + Shown(firstLine(command))
			}
		}
	}
	for _, file := range mentions(text) {
		if strings.Contains(file, "$") {
			return "reading files that arguments of the skill name"
		}
	}
	return ""
}

// mention is how a text names a file that an agent reads by itself when it loads it.
const mention = `(?:^|\s)@(?:"([^"]+)"|(\S+))`

func mentions(text string) (files []string) {
	// The variables that no argument is put in the place of.
	own := strings.NewReplacer("${CLAUDE_SKILL_DIR}", ".", "${CLAUDE_SESSION_ID}", "")
	for _, m := range regexp.MustCompile(mention).FindAllStringSubmatch(text, 1000) {
		file, _, _ := strings.Cut(own.Replace(m[1]+m[2]), "#")
		files = append(files, file)
	}
	return files
}

// Mentioned gives what in a SKILL.md may be names of files that an agent reads by
// itself when it loads the skill, once without the marks behind each.
func Mentioned(data []byte) (files []string) {
	for _, file := range mentions(string(data)) {
		files = append(files, file)
		if word := strings.TrimRight(file, ".,;:!?)]}'`*"); word != file {
			files = append(files, word)
		}
	}
	return files
}

// firstLine is what a question has of a command.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s[:min(len(s), 80)]
}

// SubagentStarts says the same of the definition of a subagent, "" where it is one of
// another name.
func SubagentStarts(data []byte, name string) string {
	h := readHeader(data)
	if n := h.keys.get("name"); h.sure && (n == nil || !strings.EqualFold(strings.TrimSpace(n.text), strings.TrimSpace(name))) {
		return ""
	}
	for _, key := range [...]string{"hooks", "mcpServers"} {
		if h.has(key) {
			return key + " in its header"
		}
	}
	return ""
}

// header is one as others may read it.
type header struct {
	text []byte
	keys node
	sure bool // keys are all there are
}

func readHeader(data []byte) (h header) {
	if !bytes.HasPrefix(bytes.TrimLeft(data, "\ufeff \t\r\n"), []byte("---")) {
		return header{sure: true} // no header to anybody
	}
	text, fault := cutHeader(data)
	if h.text = text; text == nil {
		h.text = data
	}
	if fault == "" && checkText("", text) == nil {
		var err error
		h.keys, err = parseYAML("", text, 2, "name")
		h.sure = err == nil
	}
	return h
}

// has says whether the header has a key. In one that does not parse strictly a word
// counts that may be one, and whatever may stand for it.
func (h *header) has(key string) bool {
	if h.sure {
		return h.keys.get(key) != nil
	}
	return regexp.MustCompile(`(?m)` + key + `["']?\s*[:#]|^\s*\?|[\\&]`).Match(h.text)
}

// StartedBy says that an argument given to a skill is, or makes of what stands in its
// text, a command that [Started] finds, or a file's name as [Mentioned] gives them: a word
// of it begins with "!" or "@".
func StartedBy(argument string) bool {
	before := ' '
	for _, r := range argument {
		if (r == '!' || r == '@') && strings.ContainsRune(" \t\r\n\"'`", before) {
			return true
		}
		before = r
	}
	return false
}
