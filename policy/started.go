package policy

import (
	"bytes"
	"regexp"
	"strings"
)

// Started says what of a SKILL.md some agents start by themselves when they load the
// skill, past every hook and outside of any run: hooks of its header, a subagent that
// it names, whose definition may have some, and the commands in its text whose output
// is put in their place (Claude Code). "" is nothing.
func Started(data []byte) string {
	if key := startedKey(data); key != "" {
		return key + " in its header"
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
	return ""
}

// firstLine is what a question has of a command.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s[:min(len(s), 80)]
}

// hasAgent finds the key in a header that is not read strictly.
var hasAgent = regexp.MustCompile(`\bagent["']?\s*:`)

// startedKey names the key of the header that starts something. One that does not
// parse strictly others may read: there the word counts, and what may stand for it.
func startedKey(data []byte) string {
	if !bytes.HasPrefix(bytes.TrimLeft(data, "\ufeff \t\r\n"), []byte("---")) {
		return "" // no header to anybody
	}
	header, fault := cutHeader(data)
	if header == nil {
		header = data
	}
	keys := node{}
	err := checkText("", header)
	if err == nil && fault == "" {
		keys, err = parseYAML("", header, 2, "")
	}
	sure := fault == "" && err == nil
	switch {
	case keys.get("hooks") != nil, !sure && (bytes.Contains(header, []byte("hooks")) || bytes.ContainsAny(header, `\&`)):
		return "hooks"
	case keys.get("agent") != nil, !sure && hasAgent.Match(header):
		return "a subagent"
	}
	return ""
}

// StartedBy says that an argument given to a skill is, or makes of what stands in its
// text, a command that [Started] finds: a word of it begins with "!".
func StartedBy(argument string) bool {
	before := ' '
	for _, r := range argument {
		if r == '!' && strings.ContainsRune(" \t\r\n\"'`", before) {
			return true
		}
		before = r
	}
	return false
}
