package darwin

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"skillrun/profiles"
)

// Param is one parameter of a policy: sandbox-exec gets it as -D Name=Value.
type Param struct{ Name, Value string }

// writer writes policy text. Everything that comes from outside goes through
// param or note.
type writer struct {
	b      strings.Builder
	tag    string
	params []Param
	names  map[string]string // value -> name
}

// cond is one filter with the reason it is there, and the filters of what it
// leaves alone, each with a space before it.
type cond struct{ text, note, except string }

// param writes a reference to a value.
func (w *writer) param(value string) string {
	name, ok := w.names[value]
	if !ok {
		name = "P" + strconv.Itoa(len(w.params))
		w.names[value] = name
		w.params = append(w.params, Param{name, value})
	}
	return `(param "` + name + `")`
}

func (w *writer) literal(path string) string { return "(literal " + w.param(path) + ")" }
func (w *writer) subpath(path string) string { return "(subpath " + w.param(path) + ")" }
func (w *writer) regex(re string) string     { return "(regex " + w.param(re) + ")" }

// text writes a piece of the shipped policy.
func (w *writer) text(shipped string) {
	shipped = strings.ReplaceAll(shipped, " TAG)", " "+w.message()+")")
	if w.b.Len() > 0 {
		w.b.WriteByte('\n')
	}
	w.b.WriteString(shipped)
}

func (w *writer) message() string { return `(with message "` + w.tag + `")` }

// width is where lines of packed filters end, wide where lines with notes do.
const (
	width = 150
	wide  = 200
)

// rule writes one rule. Filters with notes stand several to a line, their
// notes behind them in the same order; those with the same except share it. A
// rule without filter would hold for everything, so none is written.
func (w *writer) rule(comment, action string, ops []string, conds []cond) {
	if len(conds) == 0 {
		return
	}
	w.b.WriteString("\n; " + comment + "\n(" + action)
	w.pack(len(action)+1, ops)
	end, last := ")", "\n"
	if action == "deny" {
		end, last = w.message()+")", "\n  "
	}
	switch {
	case slices.ContainsFunc(conds, func(c cond) bool { return c.note != "" }):
		end = last + end // what follows a note is part of it
	case action == "deny":
		end = " " + end
	}
	var excepts []string
	for _, c := range conds {
		if !slices.Contains(excepts, c.except) {
			excepts = append(excepts, c.except)
		}
	}
	for _, e := range excepts {
		var of []cond
		for _, c := range conds {
			if c.except == e {
				of = append(of, c)
			}
		}
		switch {
		case e == "":
			w.lines(of)
		case len(of) == 1:
			w.lines([]cond{{text: "(require-all" + e + " " + of[0].text + ")", note: of[0].note}})
		default:
			w.b.WriteString("\n  (require-all" + e + " (require-any")
			w.lines(of)
			w.b.WriteString("\n  ))")
		}
	}
	w.b.WriteString(end + "\n")
}

// lines writes filters, as many to a line as fit.
func (w *writer) lines(conds []cond) {
	var texts, notes []string
	source, length := "", 0
	flush := func() {
		if len(texts) > 0 {
			w.b.WriteString("\n  " + strings.Join(texts, " "))
		}
		if len(notes) > 0 {
			w.b.WriteString(" ; " + strings.Join(notes, between))
		}
		texts, notes, source, length = nil, nil, "", 0
	}
	for _, c := range conds {
		n, limit := c.note, width
		of, rest, ok := strings.Cut(n, ", ")
		if ok && of == source {
			n = ", " + rest // the same source as the note before
		}
		if c.note != "" {
			limit = wide
		}
		if length+len(c.text)+len(n)+len(between) > limit || (len(notes) > 0) != (c.note != "") {
			flush()
			n = c.note
		}
		texts = append(texts, c.text)
		if c.note != "" {
			notes, source = append(notes, n), of
		}
		length += len(c.text) + len(n) + len(between)
	}
	flush()
}

// between separates the notes of a line; no note holds it.
const between = " | "

// pack writes words with a space before each, several to a line.
func (w *writer) pack(column int, words []string) {
	for _, t := range words {
		if column+1+len(t) > width {
			w.b.WriteString("\n ")
			column = 1
		}
		w.b.WriteString(" " + t)
		column += 1 + len(t)
	}
}

// maxNote is how much of an origin a comment shows, in bytes.
const maxNote = 160

// note writes an origin for a comment. Nothing in it can end the comment or
// change how the text reads: what is not printable is escaped.
func note(o profiles.Origin) string {
	var b strings.Builder
	for i, part := range [...]string{o.Source, o.Capability, o.Reason} {
		if part == "" {
			continue
		}
		if i > 0 && b.Len() > 0 {
			b.WriteString(", ")
		}
		for _, r := range part {
			if b.Len() > maxNote {
				b.WriteString("...")
				break
			}
			if unicode.IsPrint(r) && r != unicode.ReplacementChar && r != '|' {
				b.WriteRune(r)
			} else {
				b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + "}")
			}
		}
	}
	if b.Len() == 0 {
		return "origin unknown"
	}
	return b.String()
}
