package scan

import (
	"slices"
	"strings"

	"skillrun/policy"
)

// harmlessArgv is what programs do with the names of their files that gives them no other.
const harmlessArgv = `(?:[<=~(,]\s*|\b(?:delete|in|print|return)\s+)ARGV(?:\[\w+\])?\s*(?:[^=\s]|==|$)|ARGV\[\w+\]\s*(?:[=!]=|=\s*"")`

// awk reads its program for system(), pipes, getline and redirections.
func (c *command) awk() {
	files := c.o.operands
	var program field
	if v, ok := c.o.value("-f", "--file", "-E", "--exec"); ok {
		c.path(executes, v, c.dir, c.in.pos, "awk runs the program")
		c.unknownAt(c.in.pos, "not read: awk's program")
	} else if c.o.has("-e", "--source") {
		var parts alt
		for _, v := range c.o.values {
			if v.name == "-e" || v.name == "--source" {
				parts = append(parts, v.value)
			}
		}
		program = parts.joined("\n")
	} else if len(files) > 0 {
		program, files = files[0], files[1:]
	}
	v, includes := c.o.value("-i", "--include")
	if includes && v.text != "inplace" || c.o.has("-l", "--load", "-W") || strings.Contains(program.text, "@load") || strings.Contains(program.text, "@include") {
		c.unknownAt(c.in.pos, "not read: what awk loads")
	}
	for _, f := range files {
		if f.exact && strings.Contains(f.text, "=") && !strings.ContainsAny(f.text[:strings.IndexByte(f.text, '=')], "/.") {
			continue // an assignment
		}
		do := reads
		if v, ok := c.o.value("-i", "--include"); ok && v.text == "inplace" {
			do |= writes
		}
		c.path(do, f, c.dir, c.in.pos, "awk reads the files named")
	}
	if !program.exact && program.text == "" && len(c.o.operands) > 0 {
		c.opaque(c.in.pos, "the awk program is decided at run time")
		return
	}
	if c.spend(len(program.text) / 64); strings.Contains(program.text, "ARGV") {
		c.spend(len(program.text) / 8)
	}
	if !c.spent() && strings.Contains(pattern(harmlessArgv).ReplaceAllString(program.text, ""), "ARGV") {
		c.path(reads, field{}, c.dir, c.in.pos, "awk reads files that its program names")
	}
	c.awkProgram(program, c.in.pos, false)
	if strings.Contains(program.text, "[") || strings.Contains(program.text, "++") || strings.Contains(program.text, "--") {
		c.awkProgram(program, c.in.pos, true)
	}
}

// awkProgram reads a program of an awk that takes a slash in a class for a letter of it
// (/[/]/), and one after "++" for a pattern's, or of one that does not.
func (sh *shell) awkProgram(program field, pos policy.Pos, other bool) {
	src := program.text
	sh.environOf(environOfAwk, src, pos)
	// str reads a string literal at i, which must be all of the operand.
	str := func(i int) (string, bool) {
		for i < len(src) && (src[i] == ' ' || src[i] == '(' || src[i] == '\t') {
			i++
		}
		if i >= len(src) || src[i] != '"' {
			return "", false
		}
		j := skipDelimited(src, i+1, '"', false)
		rest := strings.TrimLeft(src[j:], " \t")
		whole := rest == "" || strings.IndexByte(")};\n|", rest[0]) >= 0
		return ansi(src[i+1 : max(i+1, j-1)]), whole
	}
	depth := 0
	last := -1 // start of the last string literal
	printing := false
	var conditions []bool // of the parentheses that are open, which are those of an "if"
	condition := false    // of the last one that was closed
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			last = i
			i = skipDelimited(src, i+1, '"', false) - 1
		case c == '/' && regexPlace(src[:i], condition, other):
			i = skipDelimited(src, i+1, '/', other) - 1
		case c == '#':
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case c == '(':
			depth++
			conditions = append(conditions, slices.Contains([]string{"if", "while", "for"}, lastWord(src[:i])))
		case c == ')':
			depth--
			if condition = false; len(conditions) > 0 {
				condition, conditions = conditions[len(conditions)-1], conditions[:len(conditions)-1]
			}
		case c == '@' && i+1 < len(src) && lastWord(src[:i+2]) != "":
			sh.opaque(pos, "awk calls a function that is decided at run time")
		case c == '\n' && continues(src[:i]):
		case c == ';' || c == '}' || c == '\n' || c == '{':
			printing = false
		case strings.HasPrefix(src[i:], "print"):
			printing = true
			i += 4
		case strings.HasPrefix(src[i:], "system"):
			if s, ok := str(i + 6); ok {
				sh.code("shell", literal(s), pos)
			} else {
				sh.opaque(pos, "awk runs a command that is decided at run time")
			}
			i += 5
		case c == '|':
			if i+1 < len(src) && src[i+1] == '|' {
				i++
				continue
			}
			rest := strings.TrimLeft(src[i+1:], "& \t")
			if strings.HasPrefix(rest, "getline") {
				if last >= 0 && strings.TrimSpace(src[min(i, skipDelimited(src, last+1, '"', false)):i]) == "" {
					s, _ := str(last)
					sh.code("shell", literal(s), pos)
				} else {
					sh.opaque(pos, "awk runs a command that is decided at run time")
				}
			} else if s, ok := str(i + 1); ok {
				sh.code("shell", literal(s), pos)
			} else {
				sh.opaque(pos, "awk runs a command that is decided at run time")
			}
		case c == '>' && depth <= 0 && printing:
			j := i + 1
			if j < len(src) && src[j] == '>' {
				j++
			}
			if s, ok := str(j); ok {
				sh.path(writes, literal(s), sh.dir, pos, "awk prints into the file")
			} else {
				sh.path(writes, field{}, sh.dir, pos, "awk prints into a file")
			}
			i = j - 1
		case strings.HasPrefix(src[i:], "getline"):
			rest := strings.TrimLeft(src[i+7:], " \tabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
			if strings.HasPrefix(rest, "<") {
				if s, ok := str(len(src) - len(rest) + 1); ok {
					sh.path(reads, literal(s), sh.dir, pos, "awk reads the file")
				} else {
					sh.path(reads, field{}, sh.dir, pos, "awk reads a file")
				}
			}
			i += 6
		}
	}
}

// regexPlace says whether a slash after a text begins a regular expression, and divides
// nothing: after a parenthesis where condition says so, after "++" where other does.
func regexPlace(before string, condition, other bool) bool {
	t := strings.TrimRight(before, " \t")
	for strings.HasSuffix(t, "\\\n") {
		t = strings.TrimRight(t[:len(t)-2], " \t")
	}
	switch word := lastWord(t); {
	case t == "":
		return true
	case word != "":
		return slices.Contains([]string{"case", "do", "else", "exit", "in", "print", "printf", "return"}, word)
	case t[len(t)-1] == ')':
		return condition
	case strings.HasSuffix(t, "++"), strings.HasSuffix(t, "--"):
		return other
	}
	return strings.IndexByte(`]"`, t[len(t)-1]) < 0
}

// lastWord is the name or number that a text ends with, "" if it ends with neither.
func lastWord(t string) string {
	t = strings.TrimRight(t, " \t")
	return t[len(strings.TrimRight(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")):]
}

// continues says that a statement goes on in the next line.
func continues(t string) bool {
	t = strings.TrimRight(t, " \t")
	return t != "" && strings.IndexByte(",&|\\", t[len(t)-1]) >= 0
}
