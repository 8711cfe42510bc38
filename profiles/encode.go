package profiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Paths, names and values are bytes, and JSON has text only. So in the JSON of
// a profile a backslash in them is written `\\` and a byte that is not part of
// valid UTF-8 `\xNN`, before JSON's own escapes.

// MarshalJSON writes the profile with words for enumerations ("hosts"), letters
// for accesses ("rx"), "80" or "80-90" for ports and "1m30s" for times.
func (p Profile) MarshalJSON() ([]byte, error) {
	type plain Profile
	_ = p.eachString(func(s string) (string, error) { return escapeBytes(s), nil })
	return json.Marshal(plain(p))
}

// UnmarshalJSON reads what MarshalJSON writes and nothing else: unknown and
// repeated keys, keys in another case, text that is not valid UTF-8 and
// profiles that do not validate are errors.
func (p *Profile) UnmarshalJSON(data []byte) error {
	if err := strictJSON(data); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	type plain Profile
	var n plain
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&n); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	q := Profile(n)
	if err := q.eachString(unescapeBytes); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	if err := q.Validate(); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	*p = q
	return nil
}

// eachString replaces every string of the profile in place, in copies of its
// lists.
func (p *Profile) eachString(f func(string) (string, error)) error {
	var failed error
	do := func(fields ...*string) {
		for _, s := range fields {
			t, err := f(*s)
			if err != nil && failed == nil {
				failed = err
			}
			*s = t
		}
	}
	origin := func(o *Origin) { do(&o.Source, &o.Capability, &o.Reason) }
	do(&p.Workspace, &p.Skill, &p.Home)
	origin(&p.Network.Origin)
	origin(&p.Process.Origin)
	p.Paths = each(p.Paths, func(r *PathRule) { do(&r.Path); origin(&r.Origin) })
	p.Denials = each(p.Denials, func(d *Denial) {
		do(&d.Path, &d.Match)
		d.Except = each(d.Except, func(s *string) { do(s) })
		origin(&d.Origin)
	})
	p.Network.Hosts = each(p.Network.Hosts, func(h *HostRule) {
		do(&h.Host)
		h.Except = each(h.Except, func(s *string) { do(s) })
		origin(&h.Origin)
	})
	p.Network.Listen = each(p.Network.Listen, func(l *ListenRule) { origin(&l.Origin) })
	p.Sockets = each(p.Sockets, func(s *SocketRule) { do(&s.Path); origin(&s.Origin) })
	for _, rules := range []*[]EnvRule{&p.Env.Pass, &p.Env.Deny, &p.Env.Allow} {
		*rules = each(*rules, func(r *EnvRule) { do(&r.Name); origin(&r.Origin) })
	}
	p.Env.Set = each(p.Env.Set, func(v *EnvVar) { do(&v.Name, &v.Value); origin(&v.Origin) })
	p.Demands = each(p.Demands, func(d *Demand) { do(&d.Name, &d.Detail); origin(&d.Origin) })
	p.Empty = each(p.Empty, func(s *string) { do(s) })
	p.Redact = each(p.Redact, func(s *Secret) { do(&s.Env, &s.Path); origin(&s.Origin) })
	return failed
}

func each[T any](list []T, f func(*T)) []T {
	list = append([]T(nil), list...)
	for i := range list {
		f(&list[i])
	}
	return list
}

func escapeBytes(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

func unescapeBytes(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			b.WriteByte(s[i])
		case strings.HasPrefix(s[i:], `\\`):
			b.WriteByte('\\')
			i++
		case strings.HasPrefix(s[i:], `\x`) && i+4 <= len(s):
			c, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
			if err != nil {
				return "", fmt.Errorf("escape in %q: %w", s, errors.Unwrap(err))
			}
			b.WriteByte(byte(c))
			i += 3
		default:
			return "", fmt.Errorf("escape in %q: unknown", s)
		}
	}
	// Only one spelling of every string, so that none hides from a reader.
	if escapeBytes(b.String()) != s {
		return "", fmt.Errorf("escape in %q: where none is needed", s)
	}
	return b.String(), nil
}

// strictJSON refuses what encoding/json would read in its own way: repeated
// keys, keys in another case, text that is not UTF-8, halves of surrogate
// pairs, null.
func strictJSON(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("not valid UTF-8")
	}
	for i := 0; i+3 < len(data); i++ {
		if data[i] == '\\' {
			if data[i+1] == 'u' && lower(data[i+2]) == 'd' && data[i+3] >= '8' {
				return errors.New("an escaped surrogate")
			}
			i++
		}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := strictValue(dec, 0); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// maxDepth is more than the depth of any profile.
const maxDepth = 8

func strictValue(dec *json.Decoder, depth int) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return errors.New("nested too deeply")
	}
	switch token {
	case nil:
		return errors.New("null")
	case json.Delim('{'):
		seen := map[string]bool{}
		for dec.More() {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			key, _ := token.(string)
			if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") != "" {
				return fmt.Errorf("unknown key %q", key)
			}
			if seen[key] {
				return fmt.Errorf("key %q twice", key)
			}
			seen[key] = true
			if err := strictValue(dec, depth+1); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	case json.Delim('['):
		for dec.More() {
			if err := strictValue(dec, depth+1); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	}
	return err
}

// MarshalText writes the letters.
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the letters, in the order in which String writes them.
func (a *Access) UnmarshalText(b []byte) error {
	got, ok := ParseAccess(string(b))
	if !ok || got.String() != string(b) {
		return fmt.Errorf("access %q: not letters of rwcdx in that order", b)
	}
	*a = got
	return nil
}

// MarshalText writes the word.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the word.
func (c *Class) UnmarshalText(b []byte) error { return word(c, b, "class", Control) }

// MarshalText writes the word.
func (m NetMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the word.
func (m *NetMode) UnmarshalText(b []byte) error { return word(m, b, "network mode", NetHost) }

// MarshalText writes the words.
func (p Protocol) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the words.
func (p *Protocol) UnmarshalText(b []byte) error { return word(p, b, "protocols", TCP|UDP) }

// word reads one of the words that the values up to last have.
func word[T interface {
	~uint8
	String() string
}](v *T, b []byte, name string, last T) error {
	for t := T(0); t <= last; t++ {
		if t.String() == string(b) {
			*v = t
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q", name, b)
}

// String gives "80" or "80-90".
func (r PortRange) String() string {
	s := strconv.Itoa(int(r.First))
	if r.Last != r.First {
		s += "-" + strconv.Itoa(int(r.Last))
	}
	return s
}

// MarshalText writes what String gives.
func (r PortRange) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what String gives.
func (r *PortRange) UnmarshalText(b []byte) error {
	got, err := parsePorts(string(b))
	if err == nil && got.String() != string(b) {
		err = fmt.Errorf("ports %q: written otherwise than %s", b, got)
	}
	if err != nil {
		return err
	}
	*r = got
	return nil
}

// parsePorts reads a port or a range of ports, "80" or "80-90", within 1 to
// 65535.
func parsePorts(s string) (PortRange, error) {
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}
	a, errA := strconv.ParseUint(first, 10, 16)
	b, errB := strconv.ParseUint(last, 10, 16)
	r := PortRange{uint16(a), uint16(b)}
	if errA != nil || errB != nil || r.validate() != nil {
		return PortRange{}, fmt.Errorf("ports %q: not a port or range within 1-65535", s)
	}
	return r, nil
}

// plainLimits is Limits with times as text.
type plainLimits struct {
	Memory    int64  `json:"memory,omitempty"`
	CPU       string `json:"cpu,omitempty"`
	Wall      string `json:"wall,omitempty"`
	Processes int64  `json:"processes,omitempty"`
	OpenFiles int64  `json:"open_files,omitempty"`
	FileSize  int64  `json:"file_size,omitempty"`
	Output    int64  `json:"output,omitempty"`
}

// MarshalJSON writes times as text ("1m30s").
func (l Limits) MarshalJSON() ([]byte, error) {
	text := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	return json.Marshal(plainLimits{l.Memory, text(l.CPU), text(l.Wall), l.Processes, l.OpenFiles, l.FileSize, l.Output})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Limits) UnmarshalJSON(data []byte) error {
	var n plainLimits
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&n); err != nil {
		return err
	}
	*l = Limits{Memory: n.Memory, Processes: n.Processes, OpenFiles: n.OpenFiles, FileSize: n.FileSize, Output: n.Output}
	for _, t := range [...]struct {
		text string
		to   *time.Duration
	}{{n.CPU, &l.CPU}, {n.Wall, &l.Wall}} {
		if t.text == "" {
			continue
		}
		d, err := time.ParseDuration(t.text)
		if err != nil {
			return fmt.Errorf("limit %q: not a time", t.text)
		}
		*t.to = d
	}
	return nil
}
