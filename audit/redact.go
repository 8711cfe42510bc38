package audit

import (
	"slices"
	"strings"
)

// MinSecret is the length, in bytes, below which a value is not taken as a
// secret: replacing it everywhere would destroy the text and hide nothing.
const MinSecret = 4

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// Redactor replaces declared secrets. The nil Redactor replaces nothing.
type Redactor struct {
	values   []string
	replacer *strings.Replacer
}

// NewRedactor takes the values that must not be shown: each as it is, without
// the white space around it, and, if it has several lines, each line of at
// least 8 bytes. It gives the number of values that are shorter than MinSecret,
// which it does not replace.
func NewRedactor(values []string) (r *Redactor, short int) {
	r = &Redactor{}
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < MinSecret {
			short++
			continue
		}
		r.values = append(r.values, v)
		if strings.Contains(v, "\n") {
			for line := range strings.Lines(v) {
				if line = strings.TrimSpace(line); len(line) >= 8 {
					r.values = append(r.values, line)
				}
			}
		}
	}
	// At one place the longest value wins.
	slices.SortFunc(r.values, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(r.values))
	for _, v := range r.values {
		pairs = append(pairs, v, Redacted)
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r, short
}

// Text replaces the secrets in s.
func (r *Redactor) Text(s string) string {
	if r == nil || len(r.values) == 0 || s == "" {
		return s
	}
	return r.replacer.Replace(s)
}

// trim removes from the end of a text that was cut there what may be the
// beginning of a secret.
func (r *Redactor) trim(s string) string {
	if r == nil {
		return s
	}
	longest := 0
	for _, v := range r.values {
		for n := min(len(v)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, v[:n]) {
				longest = n
			}
		}
	}
	return s[:len(s)-longest]
}
