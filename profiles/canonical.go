package profiles

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
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
	w.WriteString(canonicalHeader)
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
		w.line("path", quote(r.Path), kind, r.Access.String())
	}
	for i, d := range n.Denials {
		if i > 0 && compareScopes(&n.Denials[i-1], &d) == 0 {
			continue
		}
		for j := i + 1; j < len(n.Denials) && compareScopes(&n.Denials[j], &d) == 0; j++ {
			d.Access |= n.Denials[j].Access
		}
		words := []string{"deny", quote(d.Path)}
		if d.Match != "" {
			words = append(words, "match", quote(d.Match))
		}
		words = append(words, d.Access.String(), d.Class.String())
		if d.UnlessMade {
			words = append(words, "unless-made")
		}
		for _, e := range d.Except {
			words = append(words, "except", quote(e))
		}
		w.line(words...)
	}
	w.network(&n.Network)
	for _, s := range n.Sockets {
		w.line("socket", quote(s.Path))
	}
	for _, list := range []struct {
		word  string
		rules []EnvRule
	}{{"pass", n.Env.Pass}, {"deny", n.Env.Deny}, {"allow", n.Env.Allow}} {
		for _, r := range list.rules {
			w.line("env", list.word, quote(r.Name))
		}
	}
	for _, v := range n.Env.Set {
		w.line("env set", quote(v.Name), quote(v.Value))
	}
	w.flag("process create", n.Process.Create)
	w.flag("process query", n.Process.Query)
	w.flag("process any-mode", n.Process.AnyMode)
	w.flag("process execute-own", n.Process.ExecuteOwn)
	w.number("limit memory", n.Limits.Memory)
	w.number("limit cpu", int64(n.Limits.CPU))
	w.number("limit wall", int64(n.Limits.Wall))
	w.number("limit processes", n.Limits.Processes)
	w.number("limit open-files", n.Limits.OpenFiles)
	w.number("limit file-size", n.Limits.FileSize)
	w.number("limit output", n.Limits.Output)
	for _, d := range n.Demands {
		w.line("demand", quote(d.Name), quote(d.Detail))
	}
	for _, s := range n.Redact {
		w.line("redact", quote(s.Env), quote(s.Path))
	}
	return []byte(w.String())
}

// Hash is the SHA-256 of the canonical bytes. It names the profile in the audit
// log.
func (p *Profile) Hash() [32]byte { return sha256.Sum256(p.Canonical()) }

// canonicalWriter writes lines of words.
type canonicalWriter struct{ strings.Builder }

func (w *canonicalWriter) line(words ...string) {
	w.WriteString(strings.Join(words, " "))
	w.WriteByte('\n')
}

func (w *canonicalWriter) optional(word, value string) {
	if value != "" {
		w.line(word, quote(value))
	}
}

func (w *canonicalWriter) flag(words string, set bool) {
	if set {
		w.line(words)
	}
}

func (w *canonicalWriter) number(words string, n int64) {
	if n != 0 {
		w.line(words, strconv.FormatInt(n, 10))
	}
}

func (w *canonicalWriter) network(n *Network) {
	if n.Mode != NetNone {
		w.line("network", n.Mode.String())
	}
	for i := range n.Hosts {
		h := &n.Hosts[i]
		var ports []string
		for _, r := range h.Ports {
			ports = append(ports, r.String())
		}
		words := []string{"host", quote(h.Host), strings.Join(ports, ","), h.Protocols.String()}
		if h.ReadOnly {
			words = append(words, "read-only")
		}
		if h.Private {
			words = append(words, "private")
		}
		if h.MaxBytes != 0 {
			words = append(words, "bytes="+strconv.FormatInt(h.MaxBytes, 10))
		}
		if h.MaxConnections != 0 {
			words = append(words, "connections="+strconv.FormatInt(h.MaxConnections, 10))
		}
		w.line(slices.DeleteFunc(words, func(s string) bool { return s == "" })...)
	}
	for _, l := range n.Listen {
		where := "loopback"
		if l.Any {
			where = "any"
		}
		w.line("listen", l.Ports.String(), where)
	}
}

func quote(s string) string { return strconv.Quote(s) }
