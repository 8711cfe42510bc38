package profiles

import (
	"crypto/sha256"
	"hash"
	"strconv"
)

// canonicalHeader names the format; it changes when the meaning of a line does.
const canonicalHeader = "skillrun profile 1\n"

// Canonical gives the profile as text, one rule a line, in a fixed order, for
// people to read and for Hash: profiles that allow the same by the same rules
// give the same bytes. Origins and Home, which decide nothing, are left out. A
// path, name or value is always in double quotes, with Go's escapes, so that
// none can look like another line.
func (p *Profile) Canonical() []byte {
	n := *p
	n.Normalize()
	var w canonicalWriter
	w.profile(&n)
	return w.b
}

// Hashes gives the SHA-256 of the canonical bytes, which names the profile in the audit
// log, and of those of the same profile without Limits.
func (p *Profile) Hashes() (whole, unlimited [32]byte) {
	n := *p
	n.Normalize()
	w := canonicalWriter{make([]byte, 0, 2*maxUnhashed), []hash.Hash{sha256.New(), sha256.New()}}
	w.profile(&n)
	w.hash(w.sums)
	w.sums[0].Sum(whole[:0])
	w.sums[1].Sum(unlimited[:0])
	return whole, unlimited
}

// Hash is the first of [Profile.Hashes].
func (p *Profile) Hash() [32]byte {
	whole, _ := p.Hashes()
	return whole
}

// canonicalWriter writes lines of words.
type canonicalWriter struct {
	b    []byte
	sums []hash.Hash // what has the lines in place of b, but for the last of them
}

// maxUnhashed is how many bytes wait to be hashed.
const maxUnhashed = 4 << 10

// hash gives the lines that wait to some of sums, if there are any.
func (w *canonicalWriter) hash(sums []hash.Hash) {
	if len(w.sums) > 0 {
		for _, sum := range sums {
			sum.Write(w.b)
		}
		w.b = w.b[:0]
	}
}

// profile writes a normal one.
func (w *canonicalWriter) profile(n *Profile) {
	w.b = append(w.b, canonicalHeader...)
	w.optional("workspace", n.Workspace)
	w.optional("skill", n.Skill)
	for i, r := range n.Paths {
		// Rules that differ in origin only are one line.
		if i > 0 && n.Paths[i-1].Path == r.Path && n.Paths[i-1].Tree == r.Tree {
			continue
		}
		for _, s := range n.Paths[i+1:] {
			if s.Path != r.Path || s.Tree != r.Tree {
				break
			}
			r.Access |= s.Access
		}
		kind := "file"
		if r.Tree {
			kind = "tree"
		}
		w.begin("path")
		w.quoted(r.Path)
		w.word(kind)
		w.word(r.Access.String())
		w.end()
	}
	for i, d := range n.Denials {
		if i > 0 && compareScopes(&n.Denials[i-1], &d) == 0 {
			continue
		}
		for j := i + 1; j < len(n.Denials) && compareScopes(&n.Denials[j], &d) == 0; j++ {
			d.Access |= n.Denials[j].Access
		}
		w.begin("deny")
		w.quoted(d.Path)
		if d.Match != "" {
			w.word("match")
			w.quoted(d.Match)
		}
		w.word(d.Access.String())
		w.word(d.Class.String())
		if d.UnlessMade {
			w.word("unless-made")
		}
		if d.UnlessWithin {
			w.word("unless-within")
		}
		for _, e := range d.Except {
			w.word("except")
			w.quoted(e)
		}
		w.end()
	}
	w.network(&n.Network)
	for _, s := range n.Sockets {
		w.quotes("socket", s.Path)
	}
	for _, list := range []struct {
		word  string
		rules []EnvRule
	}{{"env pass", n.Env.Pass}, {"env deny", n.Env.Deny}, {"env allow", n.Env.Allow}} {
		for _, r := range list.rules {
			w.quotes(list.word, r.Name)
		}
	}
	for _, v := range n.Env.Set {
		w.quotes("env set", v.Name, v.Value)
	}
	w.flag("process create", n.Process.Create)
	w.flag("process query", n.Process.Query)
	w.flag("process any-mode", n.Process.AnyMode)
	w.flag("process execute-own", n.Process.ExecuteOwn)
	w.hash(w.sums)
	w.number("limit memory", n.Limits.Memory)
	w.number("limit cpu", int64(n.Limits.CPU))
	w.number("limit wall", int64(n.Limits.Wall))
	w.number("limit processes", n.Limits.Processes)
	w.number("limit open-files", n.Limits.OpenFiles)
	w.number("limit file-size", n.Limits.FileSize)
	w.number("limit output", n.Limits.Output)
	w.hash(w.sums[:min(1, len(w.sums))])
	for _, d := range n.Demands {
		w.quotes("demand", d.Name, d.Detail)
	}
	for _, name := range n.Empty {
		w.quotes("empty", name)
	}
	for _, s := range n.Redact {
		w.quotes("redact", s.Env, s.Path)
	}
}

// begin starts a line.
func (w *canonicalWriter) begin(word string) { w.b = append(w.b, word...) }

func (w *canonicalWriter) word(s string) { w.b = append(append(w.b, ' '), s...) }

func (w *canonicalWriter) quoted(s string) { w.b = strconv.AppendQuote(append(w.b, ' '), s) }

func (w *canonicalWriter) end() {
	if w.b = append(w.b, '\n'); len(w.b) > maxUnhashed {
		w.hash(w.sums)
	}
}

// quotes writes a line of a word and quoted ones.
func (w *canonicalWriter) quotes(word string, values ...string) {
	w.begin(word)
	for _, v := range values {
		w.quoted(v)
	}
	w.end()
}

func (w *canonicalWriter) optional(word, value string) {
	if value != "" {
		w.quotes(word, value)
	}
}

func (w *canonicalWriter) flag(words string, set bool) {
	if set {
		w.quotes(words)
	}
}

func (w *canonicalWriter) number(words string, n int64) {
	if n != 0 {
		w.begin(words)
		w.word(strconv.FormatInt(n, 10))
		w.end()
	}
}

func (w *canonicalWriter) network(n *Network) {
	if n.Mode != NetNone {
		w.begin("network")
		w.word(n.Mode.String())
		w.end()
	}
	for i := range n.Hosts {
		h := &n.Hosts[i]
		w.begin("host")
		w.quoted(h.Host)
		for j, r := range h.Ports {
			if j == 0 {
				w.word(r.String())
			} else {
				w.b = append(append(w.b, ','), r.String()...)
			}
		}
		if protocols := h.Protocols.String(); protocols != "" {
			w.word(protocols)
		}
		if h.ReadOnly {
			w.word("read-only")
		}
		if h.Private {
			w.word("private")
		}
		if h.MaxBytes != 0 {
			w.word("bytes=" + strconv.FormatInt(h.MaxBytes, 10))
		}
		if h.MaxConnections != 0 {
			w.word("connections=" + strconv.FormatInt(h.MaxConnections, 10))
		}
		if h.MaxRate != 0 {
			w.word("rate=" + strconv.FormatInt(h.MaxRate, 10) + "/" + h.Per.String())
		}
		for _, e := range h.Except {
			w.word("except")
			w.quoted(e)
		}
		w.end()
	}
	for _, l := range n.Listen {
		where := "loopback"
		if l.Any {
			where = "any"
		}
		w.begin("listen")
		w.word(l.Ports.String())
		w.word(where)
		w.end()
	}
}

func quote(s string) string { return strconv.Quote(s) }
