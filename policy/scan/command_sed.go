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
	if len(scripts) > 0 {
		f := alt(scripts).joined("\n") // as sed puts them together
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

// sedCommands finds the w, r and e commands and flags of a sed script. Some versions of
// sed take a delimiter in a class for a letter of it (s/[/]/x/), and some do not.
func sedCommands(script string) []string {
	found := sedRead(script, false)
	if strings.Contains(script, "[") {
		found = append(found, sedRead(script, true)...)
	}
	return found
}

func sedRead(script string, classes bool) (found []string) {
	for i := 0; i < len(script); {
		rest := script[i:]
		line := rest
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			line = rest[:end]
		}
		switch c := script[i]; {
		case c == '/':
			i = skipDelimited(script, i+1, '/', classes)
		case c == '\\' && len(line) > 1:
			i = skipDelimited(script, i+2, script[i+1], classes)
		case (c == 's' || c == 'y') && len(line) > 1:
			d := script[i+1]
			i = skipDelimited(script, skipDelimited(script, i+2, d, classes), d, false)
			for i < len(script) && strings.IndexByte(";}\n", script[i]) < 0 {
				if script[i] == 'w' {
					name, _, _ := strings.Cut(script[i:], "\n")
					found = append(found, name)
					i += len(name)
					break
				}
				if script[i] == 'e' && c == 's' {
					found = append(found, "e")
				}
				i++
			}
		case c == 'w' || c == 'W' || c == 'r' || c == 'R':
			found = append(found, strings.ToLower(line[:1])+line[1:])
			i += len(line)
		case c == 'e':
			found = append(found, line)
			i += len(line)
		case c == 'a' || c == 'i' || c == 'c':
			for i += len(line); strings.HasSuffix(line, "\\") && !strings.HasSuffix(line, `\\`) && i+1 < len(script); i += len(line) {
				i++
				line, _, _ = strings.Cut(script[i:], "\n")
			}
		case c == ':' || c == 'b' || c == 't' || c == 'T':
			if j := strings.IndexByte(line, ';'); j >= 0 {
				i += j
			} else {
				i += len(line)
			}
		case c == '#':
			i += len(line)
		default: // addresses, and what has no arguments
			i++
		}
	}
	return found
}

// skipDelimited gives what comes after the delimiter.
func skipDelimited(s string, i int, d byte, classes bool) int {
	for i < len(s) {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == d:
			return i + 1
		case s[i] == '[' && classes:
			n := classLength(s[i:])
			if n == 0 { // which those versions refuse
				return len(s)
			}
			i += n - 1
		}
		i++
	}
	return len(s)
}

// classLength is the length of "[...]" at the beginning of a text, 0 if it does not end.
func classLength(s string) int {
	n := 1
	if strings.HasPrefix(s[n:], "^") {
		n++
	}
	if strings.HasPrefix(s[n:], "]") {
		n++
	}
	for n < len(s) && s[n] != '\n' {
		if s[n] == ']' {
			return n + 1
		}
		if strings.HasPrefix(s[n:], "[:") { // no name of one is longer
			n += max(0, strings.Index(s[n:min(n+40, len(s))], ":]")+1)
		}
		n++
	}
	return 0
}
