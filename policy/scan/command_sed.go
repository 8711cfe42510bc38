package scan

import "strings"

// sed reads its script for "w FILE" and "e".
func (c *command) sed() {
	files := c.o.operands
	if len(files) > 1 && files[0].text == "" && files[0].exact && c.o.has("-i") {
		files = files[1:] // -i '' of BSD
	}
	var scripts []field
	given := false
	for _, v := range c.o.values {
		switch v.name {
		case "-e", "--expression":
			scripts, given = append(scripts, v.value), true
		case "-f", "--file":
			given = true
			c.path(reads, v.value, c.dir, c.in.pos, "sed reads its script")
			c.unknownAt(c.in.pos, "not read: sed's script")
		}
	}
	if !given && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	do := reads
	if c.o.has("-i", "--in-place") {
		do = reads | writes
	}
	if v, ok := c.o.value("-i", "--in-place"); ok && v.text != "" {
		do |= deletes // what was there gets the backup's name
	}
	for _, f := range files {
		c.path(do, f, c.dir, c.in.pos, "sed edits the files named")
	}
	for _, f := range scripts {
		for _, line := range sedCommands(f.text) {
			g := f
			g.text = strings.TrimSpace(line[1:])
			switch line[0] {
			case 'w':
				c.path(writes, g, c.dir, c.in.pos, "sed writes the file")
			case 'r':
				c.path(reads, g, c.dir, c.in.pos, "sed reads the file")
			case 'e':
				if g.text != "" {
					c.code("shell", g, c.in.pos)
				} else {
					c.opaque(c.in.pos, "sed runs its input as commands")
				}
			}
		}
	}
}

// sedCommands finds the w, r and e commands and flags of a sed script.
func sedCommands(script string) []string {
	var found []string
	for _, line := range strings.FieldsFunc(script, func(r rune) bool { return r == '\n' }) {
		for i := 0; i < len(line); {
			c := line[i]
			switch {
			case c == ' ' || c == ';' || c == '{' || c == '}' || c == '!' || c == ',' || c == '$' || c == '~' || c == '+' || c >= '0' && c <= '9' || c == '\t':
				i++
			case c == '/':
				i = skipDelimited(line, i+1, '/')
			case c == '\\' && i+1 < len(line):
				i = skipDelimited(line, i+2, line[i+1])
			case (c == 's' || c == 'y') && i+1 < len(line):
				d := line[i+1]
				i = skipDelimited(line, skipDelimited(line, i+2, d), d)
				for i < len(line) && line[i] != ';' && line[i] != '}' && line[i] != '\n' {
					if line[i] == 'w' {
						found = append(found, line[i:])
						return found
					}
					if line[i] == 'e' && c == 's' {
						found = append(found, "e")
					}
					i++
				}
			case c == 'w' || c == 'W' || c == 'r' || c == 'R':
				found = append(found, strings.ToLower(line[i:i+1])+line[i+1:])
				i = len(line)
			case c == 'e':
				found = append(found, line[i:])
				i = len(line)
			case c == 'a' || c == 'i' || c == 'c' || c == '#' || c == ':' || c == 'b' || c == 't':
				if j := strings.IndexByte(line[i:], ';'); j >= 0 && (c == 'b' || c == 't' || c == ':') {
					i += j
				} else {
					i = len(line)
				}
			default:
				i++
			}
		}
	}
	return found
}

func skipDelimited(s string, i int, d byte) int {
	for i < len(s) {
		if s[i] == '\\' {
			i += 2
			continue
		}
		if s[i] == '[' && d != '[' { // a class may hold the delimiter
			if j := strings.IndexByte(s[i:], ']'); j > 1 && !strings.ContainsRune(s[i:i+j], rune(d)) {
				i += j
			}
		}
		if i < len(s) && s[i] == d {
			return i + 1
		}
		i++
	}
	return len(s)
}
