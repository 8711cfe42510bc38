package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// MaxText bounds, in bytes, one string of a record and the whole argv of a run.
// A longer string is cut and ends in "...[N bytes, sha256 HEX]".
const MaxText = 64 << 10

// timeLayout has a fixed width and microseconds, in UTC.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// encoder appends JSON. It is written by hand because a record is encoded
// between the user's return key and the first instruction of the command.
// Empty values are left out, except where a method says otherwise.
type encoder struct {
	b       []byte
	secrets *Redactor
}

func (e *encoder) key(k string) {
	if k == "" { // an element of a list
		if e.b[len(e.b)-1] != '[' {
			e.b = append(e.b, ',')
		}
		return
	}
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, k...)
	e.b = append(e.b, '"', ':')
}

// text writes a string even when it is empty.
func (e *encoder) text(k, s string) {
	e.key(k)
	s = e.secrets.Text(s)
	if len(s) > MaxText {
		sum := sha256.Sum256([]byte(s))
		s = s[:MaxText] + "...[" + strconv.Itoa(len(s)) + " bytes, sha256 " + hex.EncodeToString(sum[:]) + "]"
	}
	e.b = append(e.b, '"')
	start := len(e.b)
	e.b = appendEscaped(e.b, s)
	quotes := 0
	for _, c := range e.b[start:] {
		if c == '"' || c == '\\' {
			quotes++
		}
	}
	if quotes > 0 { // once more, for JSON
		n := len(e.b)
		e.b = append(e.b, make([]byte, quotes)...)
		for r, w := n-1, len(e.b)-1; w > r; r-- {
			e.b[w] = e.b[r]
			w--
			if c := e.b[r]; c == '"' || c == '\\' {
				e.b[w] = '\\'
				w--
			}
		}
	}
	e.b = append(e.b, '"')
}

func (e *encoder) str(k, s string) {
	if s != "" {
		e.text(k, s)
	}
}

// num writes a number even when it is zero.
func (e *encoder) num(k string, n int64) {
	e.key(k)
	e.b = strconv.AppendInt(e.b, n, 10)
}

func (e *encoder) int(k string, n int64) {
	if n != 0 {
		e.num(k, n)
	}
}

func (e *encoder) bool(k string, v bool) {
	if v {
		e.key(k)
		e.b = append(e.b, "true"...)
	}
}

func (e *encoder) time(k string, t time.Time) {
	if !t.IsZero() {
		e.key(k)
		e.b = append(e.b, '"')
		e.b = t.UTC().AppendFormat(e.b, timeLayout)
		e.b = append(e.b, '"')
	}
}

func (e *encoder) digest(k string, d Digest) {
	if d != (Digest{}) {
		e.key(k)
		e.b = append(e.b, '"')
		e.b = hex.AppendEncode(e.b, d[:])
		e.b = append(e.b, '"')
	}
}

func (e *encoder) strs(k string, list []string) {
	if len(list) > 0 {
		e.list(k, len(list), func(i int) { e.text("", list[i]) })
	}
}

func (e *encoder) list(k string, n int, element func(i int)) {
	e.key(k)
	e.b = append(e.b, '[')
	for i := range n {
		element(i)
	}
	e.b = append(e.b, ']')
}

// objects writes a list of objects, and nothing where it has none.
func (e *encoder) objects(k string, n int, body func(i int)) {
	if n > 0 {
		e.list(k, n, func(i int) { e.object("", func() { body(i) }) })
	}
}

func (e *encoder) object(k string, body func()) {
	e.key(k)
	e.b = append(e.b, '{')
	body()
	e.b = append(e.b, '}')
}

func (e *encoder) file(k string, f File) {
	if f != (File{}) {
		e.object(k, func() {
			e.text("path", f.Path)
			e.digest("sha256", f.SHA256)
		})
	}
}

func (e *encoder) skill(s Skill) {
	if s == (Skill{}) {
		return
	}
	e.object("skill", func() {
		e.text("name", s.Name)
		e.str("version", s.Version)
		e.str("dir", s.Dir)
		e.str("tier", s.Tier)
		e.digest("tree", s.Tree)
		e.digest("manifest", s.Manifest)
	})
}

func (e *encoder) capabilities(list []Capability) {
	e.objects("capabilities", len(list), func(i int) {
		c := &list[i]
		e.text("name", c.Name)
		e.strs("scope", c.Scope)
		e.str("effect", c.Effect)
		e.str("source", c.Source)
	})
}

func (e *encoder) argv(argv []string) {
	kept, total := len(argv), 0
	for i, a := range argv {
		total += len(a) + 1
		if total > MaxText && i < kept {
			kept = i
		}
	}
	e.list("argv", kept, func(i int) { e.text("", argv[i]) })
	if kept == len(argv) {
		return
	}
	h := sha256.New()
	for _, a := range argv {
		h.Write([]byte(e.secrets.Text(a)))
		h.Write([]byte{0})
	}
	e.object("argv_cut", func() {
		e.num("count", int64(len(argv)))
		e.num("bytes", int64(total))
		e.digest("sha256", Digest(h.Sum(nil)))
	})
}

func (*Start) kind() Kind { return KindStart }

func (s *Start) encode(e *encoder) {
	e.text("run", s.Run)
	e.str("parent", s.Parent)
	e.int("depth", int64(s.Depth))
	e.str("session", s.Session)
	e.skill(s.Skill)
	e.argv(s.Argv)
	e.str("dir", s.Dir)
	e.str("workspace", s.Workspace)
	e.str("preset", s.Preset)
	e.file("interpreter", s.Interpreter)
	e.file("script", s.Script)
	e.digest("profile", s.Profile)
	e.capabilities(s.Capabilities)
	e.objects("receipt", len(s.Receipt), func(i int) {
		c := &s.Receipt[i]
		e.text("clause", c.Name)
		e.bool("must", c.Must)
		e.text("strength", c.Strength)
		e.str("mechanism", c.Mechanism)
		e.str("note", c.Note)
	})
	e.strs("gaps", s.Gaps)
	e.str("launcher", s.Launcher)
	e.int("pid", int64(s.PID))
	e.num("uid", int64(s.UID))
}

func (*End) kind() Kind { return KindEnd }

func (r *End) encode(e *encoder) {
	e.text("run", r.Run)
	e.str("session", r.Session)
	e.text("status", string(r.Status))
	e.num("code", int64(r.Code))
	e.str("signal", r.Signal)
	e.str("reason", r.Reason)
	e.num("wall_us", r.Wall.Microseconds())
	e.int("user_us", r.User.Microseconds())
	e.int("system_us", r.System.Microseconds())
	e.int("memory", r.Memory)
	e.objects("denials", len(r.Denials), func(i int) {
		d := &r.Denials[i]
		e.text("access", d.Access)
		e.text("target", d.Target)
		e.str("rule", d.Rule)
		e.str("class", d.Class)
		e.int("count", int64(d.Count))
	})
	e.int("more_denials", int64(r.MoreDenials))
	e.connections(r.Connections)
	e.strs("controls_made", r.Controls)
	e.int("more_controls_made", int64(r.MoreControls))
	e.objects("runs", len(r.Runs), func(i int) {
		e.text("run", r.Runs[i].Run)
		e.text("parent", r.Runs[i].Parent)
		e.num("depth", int64(r.Runs[i].Depth))
	})
	e.int("more_runs", int64(r.MoreRuns))
	e.stream("stdin", r.Stdin)
	e.stream("stdout", r.Stdout)
	e.stream("stderr", r.Stderr)
	e.digest("tree", r.Tree)
	e.digest("interpreter_sha256", r.Interpreter)
	e.digest("script_sha256", r.Script)
}

func (e *encoder) connections(list []Connection) {
	e.objects("connections", len(list), func(i int) {
		c := &list[i]
		e.str("host", c.Host)
		e.str("addr", c.Addr)
		e.str("via", c.Via)
		e.int("port", int64(c.Port))
		e.str("protocol", c.Protocol)
		e.str("door", c.Door)
		e.str("tls_name", c.TLSName)
		e.str("http_host", c.HTTPHost)
		e.text("verdict", c.Verdict)
		e.str("rule", c.Rule)
		e.int("count", int64(c.Count))
		e.int("sent", c.Sent)
		e.int("received", c.Received)
	})
}

func (e *encoder) stream(k string, s Stream) {
	if s == (Stream{}) {
		return
	}
	e.object(k, func() {
		e.num("size", s.Size)
		e.digest("sha256", s.SHA256)
		text := s.Text
		if s.Cut {
			text = e.secrets.trim(e.secrets.Text(text))
		}
		e.str("text", text)
		e.bool("cut", s.Cut)
	})
}

func (*Decision) kind() Kind { return KindDecision }

func (d *Decision) encode(e *encoder) {
	e.text("session", d.Session)
	e.str("run", d.Run)
	e.text("event", d.Event)
	e.str("tool", d.Tool)
	e.str("skill", d.Skill)
	e.str("capability", d.Capability)
	e.text("verdict", d.Verdict)
	e.str("reason", d.Reason)
	e.str("source", d.Source)
	e.str("input", d.Input)
	e.bool("scanned", d.Scanned)
	e.objects("needs", len(d.Needs), func(i int) {
		n := &d.Needs[i]
		e.text("capability", n.Capability)
		e.str("target", n.Target)
		e.bool("exact", n.Exact)
		e.text("verdict", n.Verdict)
		e.str("reason", n.Reason)
		e.str("source", n.Source)
	})
	e.int("took_us", d.Took.Microseconds())
}

func (*Grant) kind() Kind { return KindGrant }

func (g *Grant) encode(e *encoder) {
	e.text("action", g.Action)
	e.text("for", g.For)
	e.str("session", g.Session)
	e.str("run", g.Run)
	e.skill(g.Skill)
	e.capabilities(g.Capabilities)
	e.str("by", g.By)
	e.time("until", g.Until)
	e.str("reason", g.Reason)
}

func (*Repair) kind() Kind { return KindRepair }

func (r *Repair) encode(e *encoder) {
	e.text("found", r.Found)
	e.int("bytes", r.Bytes)
	e.digest("sha256", r.SHA256)
	e.int("last_seq", int64(r.LastSeq))
}
