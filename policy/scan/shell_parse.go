package scan

import (
	"errors"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What is nested more than this is not read: the parser, and who walks through what it
// gives, call themselves for it, and a stack that is used up ends the program.
const (
	maxFrames = 10_000 // calls while a text is parsed
	maxNodes  = 1000   // nodes within nodes
)

var errNested = errors.New("nested too deep to read")

// parseShell parses shell text.
func parseShell(src string, options ...syntax.ParserOption) (*syntax.File, error) {
	options = append(options, syntax.KeepComments(true))
	for range maxContinued {
		file, err := syntax.NewParser(options...).Parse(&shallow{strings.NewReader(src)}, "")
		if file != nil && nested(file) { // of a faulty text, what parses
			return nil, errNested
		}
		at := continued(file, src)
		if at < 0 {
			return file, err
		}
		src = src[:at] + " " + src[at+1:]
	}
	return nil, errors.New("many comments that end in a backslash")
}

// maxContinued bounds how often a text is parsed.
const maxContinued = 32

// continued is where the first comment ends in a backslash, which to shells is a letter
// of it. The parser has the next line go on with the command before it.
func continued(file *syntax.File, src string) (at int) {
	if at = -1; file == nil {
		return at
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && strings.HasSuffix(c.Text, "\\\n") {
			begin := int(c.Hash.Offset())
			end := begin + strings.IndexByte(src[begin:], '\n') - 1
			if end > begin && src[end] == '\\' && (at < 0 || end < at) {
				at = end
			}
		}
		return true
	})
	return at
}

// shallow is a text that ends with a fault where its parser, which reads a part after
// the other, is too deep in it.
type shallow struct{ text *strings.Reader }

func (s *shallow) Read(b []byte) (int, error) {
	if runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 {
		return 0, errNested
	}
	return s.text.Read(b)
}

// nested says whether a text has too much within each other: chains such as "a && b",
// which the parser reads one by one, among it.
func nested(file *syntax.File) (deep bool) {
	depth := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		switch {
		case n == nil:
			depth--
		case deep || depth == maxNodes:
			deep = true
			return false
		default:
			depth++
		}
		return true
	})
	return deep
}
