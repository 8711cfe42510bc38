package scan

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// field is one argument, as far as it is known before anything runs. It is also used
// for a file, a directory or a host that an argument names.
type field struct {
	// text is what is known. What is not stands in it as "$NAME", or is missing.
	text string
	// exact says that text is all of it.
	exact bool
	// glob marks an unquoted pattern.
	glob bool
	// computed marks text that an expansion or a decoder made; it is never
	// exact.
	computed bool
	// stream marks what names a pipe and no file: <(...).
	stream bool
	// unknown marks a directory that nothing is known of.
	unknown bool
	// temp marks a temporary file or directory that the text itself makes (Need.Own).
	temp bool
	// many marks "$@" and its like: any number of arguments.
	many bool
}

func literal(s string) field { return field{text: s, exact: true} }

// alt is one of the values that a word may have, as one word may be several fields:
// x="a b" makes two of $x. A variable that may have one of several values, as after an
// "if", has a list of them.
type alt []field

// text joins the fields, as an assignment or a here-document does.
func (a alt) text() field { return a.joined(" ") }

func (a alt) joined(sep string) field {
	if len(a) == 1 {
		return a[0]
	}
	f, size := field{exact: true}, max(len(a)-1, 0)+a.size()
	if size > maxValue {
		return field{computed: true}
	}
	var b strings.Builder
	b.Grow(size)
	for i, x := range a {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(x.text)
		x.text = ""
		f = f.plus(x)
	}
	f.text = b.String()
	return f
}

// size is that of its texts in bytes.
func (a alt) size() (n int) {
	for i := range a {
		n += len(a[i].text)
	}
	return n
}

// plus joins two texts.
func (f field) plus(g field) field {
	if len(f.text)+len(g.text) > maxValue {
		return field{computed: true}
	}
	return field{text: f.text + g.text, exact: f.exact && g.exact, glob: f.glob || g.glob, computed: f.computed || g.computed, stream: f.stream || g.stream, many: f.many || g.many,
		temp: f.temp && g.exact && !strings.Contains(g.text, "..") || g.temp && f.exact && f.text == ""}
}

// builder joins the pieces of a word into the values that it may have.
type builder struct {
	alts []partial
	ifs  []string // the letters at which unquoted values split, as far as known
}

// partial is a value whose last field is still open.
type partial struct {
	fields alt
	open   field
	begun  bool
}

func (sh *shell) newBuilder() *builder {
	return &builder{alts: []partial{{open: field{exact: true}}}, ifs: sh.separators()}
}

const blanks = " \t\n"

// separators gives what $IFS may be. Blanks are always among it: what a function sets
// may be its own.
func (sh *shell) separators() []string {
	all := []string{blanks}
	for _, v := range sh.vars["IFS"] {
		if f := v.text(); !slices.Contains(all, f.text) {
			all = append(all, f.text)
		}
	}
	return all
}

// add joins a piece that does not split.
func (b *builder) add(f field) {
	for i := range b.alts {
		p := &b.alts[i]
		p.open, p.begun = p.open.plus(f), true
	}
}

// cost is that of one more piece, in steps: what there is is copied.
func (b *builder) cost() int {
	n := 0
	for i := range b.alts {
		n += len(b.alts[i].open.text)/1024 + len(b.alts[i].fields)/16
	}
	return n
}

// choose joins one of several values; unquoted ones split at blanks.
func (b *builder) choose(values []alt, quoted, list bool) {
	if len(values) == 0 {
		return
	}
	ifs := b.ifs
	if list && quoted || !slices.ContainsFunc(values, func(v alt) bool { return v.splits(ifs, quoted) }) {
		ifs = ifs[:1]
	}
	if len(values)*len(b.alts)*len(ifs) > maxAlts {
		b.add(field{computed: true})
		return
	}
	var all []partial
	for _, p := range b.alts {
		for _, v := range values {
			for _, ifs := range ifs {
				q := partial{fields: append(alt(nil), p.fields...), open: p.open, begun: p.begun}
				switch {
				case list && quoted: // "$@", "${a[@]}"
					for i, f := range v {
						if i > 0 {
							q.close()
						}
						q.open, q.begun = q.open.plus(f), true
					}
				case quoted:
					q.open, q.begun = q.open.plus(v.joined(ifs[:min(1, len(ifs))])), true
				default:
					for i, f := range v {
						if i > 0 {
							q.close()
						}
						q.split(f, ifs)
					}
				}
				all = append(all, q)
			}
		}
	}
	b.alts = all
}

// splits says whether it matters at which letters a value splits, or by which its
// fields are joined.
func (a alt) splits(ifs []string, quoted bool) bool {
	if quoted {
		return len(a) > 1
	}
	return len(ifs) > 1 && slices.ContainsFunc(a, func(f field) bool {
		return slices.ContainsFunc(ifs, func(s string) bool { return strings.ContainsAny(f.text, s) })
	})
}

func (p *partial) close() {
	if p.begun {
		p.fields = append(p.fields, p.open)
	}
	p.open, p.begun = field{exact: true}, false
}

func (p *partial) split(f field, ifs string) {
	words := strings.FieldsFunc(f.text, func(r rune) bool { return strings.ContainsRune(ifs, r) })
	if f.text == "" && !f.exact {
		p.open, p.begun = p.open.plus(f), true
		return
	}
	if len(words) == 0 {
		if f.text != "" {
			p.close()
		}
		return
	}
	if strings.IndexByte(ifs, f.text[0]) >= 0 {
		p.close()
	}
	for i, w := range words {
		if i > 0 {
			p.close()
		}
		g := f
		g.text = w
		g.glob = f.glob || strings.ContainsAny(w, "*?[")
		p.open, p.begun = p.open.plus(g), true
	}
	if strings.IndexByte(ifs, f.text[len(f.text)-1]) >= 0 {
		p.close()
	}
}

func (b *builder) result() []alt {
	var all []alt
	for i := range b.alts {
		b.alts[i].close()
		all = append(all, b.alts[i].fields)
	}
	return all
}

// words evaluates the words of a command: every combination of the values that
// they may have, up to a bound beyond which they are unknown.
func (sh *shell) words(words []*syntax.Word) []alt {
	all := []alt{nil}
	for _, w := range words {
		if sh.spent() {
			return []alt{{{computed: true}}}
		}
		var next []alt
		for _, w := range braces(w) {
			values := sh.word(w)
			if len(next) > 0 {
				all = next
				next = nil
			}
			if len(values) == 1 && len(all) == 1 { // the usual case, without copying
				next = append(next, append(all[0], values[0]...))
				continue
			}
			if len(values)*len(all) > maxAlts {
				values = []alt{{{computed: true}}}
			}
			for _, a := range all {
				sh.spend(1 + len(a)*len(values)/16)
				for _, v := range values {
					next = append(next, append(append(alt(nil), a...), v...))
				}
			}
		}
		all = next
	}
	return all
}

// word evaluates one word, without brace expansion.
func (sh *shell) word(w *syntax.Word) []alt {
	if w == nil {
		return []alt{{literal("")}}
	}
	b := sh.newBuilder()
	sh.parts(b, w.Parts, false)
	return b.result()
}

// text evaluates a word that does not split: an assigned value, the target of
// a redirection, a here-document.
func (sh *shell) text(w *syntax.Word) []field {
	if w == nil {
		return []field{literal("")}
	}
	b := sh.newBuilder()
	sh.parts(b, w.Parts, true)
	var all []field
	for _, a := range b.result() {
		all = append(all, a.text())
	}
	return all
}

func (sh *shell) parts(b *builder, parts []syntax.WordPart, quoted bool) {
	for i, part := range parts {
		if sh.spend(b.cost()); sh.spent() {
			b.add(field{computed: true})
			return
		}
		switch p := part.(type) {
		case *syntax.Lit:
			value := p.Value
			if i == 0 && value != "" && value[0] == '~' {
				value = sh.tilde(b, value)
			}
			text := unescape(value, false)
			b.add(field{text: text, exact: true, glob: !quoted && hasGlob(value)})
		case *syntax.SglQuoted:
			text := p.Value
			if p.Dollar {
				text = ansi(text)
			}
			sh.subscript = sh.subscript || subscript(text)
			b.add(literal(text))
		case *syntax.DblQuoted:
			if len(p.Parts) == 0 {
				b.add(literal(""))
			}
			for _, q := range p.Parts {
				if l, ok := q.(*syntax.Lit); ok {
					b.add(literal(unescape(l.Value, true)))
				} else {
					sh.parts(b, []syntax.WordPart{q}, true)
				}
			}
		case *syntax.ParamExp:
			values, list := sh.param(p)
			b.choose(values, quoted, list)
		case *syntax.CmdSubst:
			b.choose([]alt{{sh.substitution(p)}}, quoted, false)
		case *syntax.ArithmExp:
			sh.arithm(p.X)
			b.add(field{text: "$((", computed: true})
		case *syntax.ProcSubst:
			sub := sh.fork()
			if p.Op == syntax.CmdOut {
				sub.stdin = input{given: true}
			}
			sub.stmts(p.Stmts)
			b.add(field{stream: true})
		case *syntax.ExtGlob:
			b.add(field{text: p.Op.String() + p.Pattern.Value + ")", exact: true, glob: true})
		case *syntax.BraceExp:
			b.add(field{computed: true})
		}
	}
}

// tilde expands "~", "~+" and "~-" at the beginning of a word where they are not
// what they usually are, and gives what follows.
func (sh *shell) tilde(b *builder, value string) string {
	end := strings.IndexByte(value, '/')
	if end < 0 {
		end = len(value)
	}
	var dir []alt
	switch value[:end] {
	case "~":
		if sh.vars["HOME"] != nil {
			dir, _ = sh.value("HOME", &syntax.ParamExp{})
		}
	case "~+":
		dir = []alt{{sh.here()}}
	case "~-":
		dir = []alt{{{text: "$OLDPWD"}}}
	}
	if dir == nil {
		return value
	}
	b.choose(dir, true, false)
	return value[end:]
}

func hasGlob(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return s != "["
		}
	}
	return false
}

// unescape removes backslashes as the shell does outside and inside of double
// quotes.
func unescape(s string, quoted bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		next := s[i+1]
		switch {
		case next == '\n':
			i++
		case !quoted || strings.IndexByte("$`\"\\", next) >= 0:
			b.WriteByte(next)
			i++
		default:
			b.WriteByte('\\')
		}
	}
	return b.String()
}

// ansi decodes the escapes of $'...', printf and echo -e.
func ansi(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'a', 'b', 'f', 'v':
			b.WriteByte(' ')
		case 'e', 'E':
			b.WriteByte(0x1b)
		case 'x':
			n := digits(s[i+1:], 16, 2)
			b.WriteByte(byte(number(s[i+1:i+1+n], 16)))
			i += n
		case 'u', 'U':
			n := digits(s[i+1:], 16, 4)
			if c == 'U' {
				n = digits(s[i+1:], 16, 8)
			}
			b.WriteRune(rune(number(s[i+1:i+1+n], 16)))
			i += n
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := digits(s[i:], 8, 3)
			if c == '0' {
				n = digits(s[i:], 8, 4)
			}
			b.WriteByte(byte(number(s[i:i+n], 8)))
			i += n - 1
		case 'c':
			i++
		default:
			if c == '\\' || c == '\'' || c == '"' || c == '?' {
				b.WriteByte(c)
			} else {
				b.WriteByte('\\')
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

func digits(s string, base, limit int) int {
	n := 0
	for n < len(s) && n < limit {
		c := s[n] | 0x20
		if s[n] >= '0' && s[n] <= '7' || base == 16 && (s[n] == '8' || s[n] == '9' || c >= 'a' && c <= 'f') {
			n++
			continue
		}
		break
	}
	return n
}

func number(s string, base int) uint64 {
	n, err := strconv.ParseUint(s, base, 32)
	if err != nil {
		return utf8.RuneError
	}
	return n
}

// braces expands {a,b} and {1..3}.
func braces(w *syntax.Word) []*syntax.Word {
	n := 0
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			n += strings.Count(l.Value, "{")
		}
	}
	switch {
	case n == 0:
		return []*syntax.Word{w}
	case n > 4*maxAlts: // too many to try; what runs in the word is read
		rest := &syntax.Word{Parts: []syntax.WordPart{&syntax.BraceExp{}}}
		for _, p := range w.Parts {
			if _, ok := p.(*syntax.Lit); !ok {
				rest.Parts = append(rest.Parts, p)
			}
		}
		return []*syntax.Word{rest}
	}
	copied := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(copied)
	return expandBraces(copied, 0)
}

func expandBraces(w *syntax.Word, depth int) []*syntax.Word {
	for i, p := range w.Parts {
		be, ok := p.(*syntax.BraceExp)
		if !ok || depth > maxDepth {
			continue
		}
		var elems []*syntax.Word
		if be.Sequence {
			elems = sequence(be)
		} else {
			elems = be.Elems
		}
		var all []*syntax.Word
		for _, e := range elems {
			joined := &syntax.Word{}
			joined.Parts = append(joined.Parts, w.Parts[:i]...)
			joined.Parts = append(joined.Parts, e.Parts...)
			joined.Parts = append(joined.Parts, w.Parts[i+1:]...)
			if len(joined.Parts) == 0 {
				continue
			}
			all = append(all, expandBraces(joined, depth+1)...)
			if len(all) > 4*maxAlts {
				return all
			}
		}
		return all
	}
	return []*syntax.Word{w}
}

// sequence gives the words of a short {1..3}; a long one stands for itself as
// a pattern.
func sequence(be *syntax.BraceExp) []*syntax.Word {
	lit := func(s string) *syntax.Word { return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}} }
	from, err1 := strconv.Atoi(be.Elems[0].Lit())
	to, err2 := strconv.Atoi(be.Elems[1].Lit())
	if err1 != nil || err2 != nil || len(be.Elems) > 2 || to < from || to-from > maxAlts {
		return []*syntax.Word{lit("*")}
	}
	var all []*syntax.Word
	for i := from; i <= to; i++ {
		all = append(all, lit(strconv.Itoa(i)))
	}
	return all
}
