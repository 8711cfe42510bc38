package egress

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// head is one HTTP/1 request head, read so strictly that no server can read it
// in another way.
type head struct {
	method, target string
	minor          int    // of the version, 0 or 1
	scheme         string // of an absolute form; "" otherwise
	authority      string // of an absolute or authority form
	host           string // the Host header as sent; "" if absent
	length         int64  // of the body; -1 means chunked
	upgrade        string // value of the Upgrade header
	h2c            bool   // offers to go on in HTTP/2, which is not passed on
	override       bool   // has a header that replaces the method
	size           int    // bytes with the final empty line
}

// maxHead bounds a request head. Servers take 8 to 16 KB.
const maxHead = 32 << 10

var errRequest = errors.New("malformed HTTP request")

// parseHead reads the request head at the start of b. It gives errMore as long
// as b is only a beginning.
func parseHead(b []byte) (head, error) {
	end := bytes.Index(b[:min(len(b), maxHead)], []byte("\r\n\r\n"))
	if end < 0 {
		if len(b) >= maxHead || startsWrong(b) {
			return head{}, errRequest
		}
		return head{}, errMore
	}
	h := head{size: end + 4}
	line, rest, _ := strings.Cut(string(b[:end]), "\r\n")
	if err := h.requestLine(line); err != nil {
		return head{}, err
	}
	f := fields{}
	for rest != "" {
		line, rest, _ = strings.Cut(rest, "\r\n")
		if err := f.add(&h, line); err != nil {
			return head{}, err
		}
	}
	switch {
	case f.lengths > 1 || f.codings > 1 || f.hosts > 1,
		f.lengths > 0 && f.codings > 0,
		f.codings > 0 && h.minor == 0,
		f.hosts == 0 && h.minor == 1,
		h.h2c && (h.minor == 0 || h.upgrade != ""),
		h.method == "CONNECT" && h.length != 0:
		return head{}, errRequest
	}
	return h, nil
}

// startsWrong says early that what came so far cannot become a head.
func startsWrong(b []byte) bool {
	return len(b) > 0 && !tokenByte(b[0])
}

func (h *head) requestLine(line string) error {
	method, rest, ok := strings.Cut(line, " ")
	target, version, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || !isToken(method) || target == "" {
		return errRequest
	}
	for i := range len(target) {
		if target[i] <= ' ' || target[i] == 0x7f {
			return errRequest
		}
	}
	switch version {
	case "HTTP/1.1":
		h.minor = 1
	case "HTTP/1.0":
	default:
		return errRequest
	}
	h.method, h.target = method, target
	switch {
	case method == "CONNECT":
		h.authority = target
	case strings.EqualFold(method, "CONNECT"):
		return errRequest
	case target[0] == '/':
	case target == "*" && method == "OPTIONS":
	default:
		scheme, rest, ok := strings.Cut(target, "://")
		if !ok {
			return errRequest
		}
		switch h.scheme = strings.ToLower(scheme); h.scheme {
		case "http", "https", "ws", "wss":
		default:
			return errRequest
		}
		if i := strings.IndexAny(rest, `/?#`); i >= 0 {
			rest = rest[:i]
		}
		// To some a backslash ends the host, and to some it is of what comes
		// before the "@".
		if rest == "" || strings.ContainsAny(rest, `@\`) {
			return errRequest
		}
		h.authority = rest
	}
	return nil
}

// fields counts the header fields of which one is too many.
type fields struct{ hosts, lengths, codings int }

func (f *fields) add(h *head, line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) { // a folded line starts with a blank, which is no token
		return errRequest
	}
	for i := range len(value) {
		if value[i] < ' ' && value[i] != '\t' || value[i] == 0x7f {
			return errRequest
		}
	}
	value = strings.Trim(value, " \t")
	switch strings.ToLower(name) {
	case "host":
		f.hosts++
		if h.host = value; value == "" {
			return errRequest
		}
	case "content-length":
		f.lengths++
		n, err := strconv.ParseUint(value, 10, 62)
		if err != nil {
			return errRequest
		}
		h.length = int64(n)
	case "transfer-encoding":
		f.codings++
		h.length = -1
		if !strings.EqualFold(value, "chunked") {
			return errRequest
		}
	case "http2-settings":
		h.h2c = true
	case "upgrade":
		if strings.EqualFold(value, "h2c") {
			h.h2c = true
			break
		}
		if h.upgrade != "" || value == "" {
			return errRequest
		}
		h.upgrade = value
	case "content_length", "transfer_encoding":
		// They become the real ones behind servers that map '-' to '_'.
		return errRequest
	}
	switch strings.ReplaceAll(strings.ToLower(name), "_", "-") {
	case "x-http-method-override", "x-http-method", "x-method-override":
		h.override = true
	}
	return nil
}

// path is the target without scheme, host and fragment.
func (h *head) path() string {
	path := h.target
	if h.scheme != "" {
		_, after, _ := strings.Cut(path, "://")
		path = strings.TrimPrefix(after, h.authority)
	}
	path, _, _ = strings.Cut(path, "#")
	if !strings.HasPrefix(path, "/") && path != "*" {
		path = "/" + path
	}
	return path
}

// rewrite gives the head, whose bytes are raw, for another target and host: with
// more fields, and without the fields for a proxy and those named in drop.
func (h *head) rewrite(raw []byte, target, host, more string, drop ...string) []byte {
	line, rest, _ := strings.Cut(string(raw[:h.size]), "\r\n")
	var b strings.Builder
	b.WriteString(h.method + " " + target + line[strings.LastIndexByte(line, ' '):] + "\r\n")
	b.WriteString("Host: " + host + "\r\n" + more)
	for line := range strings.SplitSeq(strings.TrimSuffix(rest, "\r\n"), "\r\n") {
		name, _, _ := strings.Cut(line, ":")
		switch name = strings.ToLower(name); name {
		case "", "host", "proxy-connection", "proxy-authorization":
			continue
		}
		if !slices.Contains(drop, name) {
			b.WriteString(line + "\r\n")
		}
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

// withoutH2C are the fields of an offer to go on in HTTP/2, of which nothing could
// be checked. A client that makes it, as Java's does, goes on without.
var withoutH2C = [...]string{"connection", "upgrade", "http2-settings"}

// readOnly says whether a server that sees this request is only asked to show
// something: no body either, which some servers would read as a next request.
func (h *head) readOnly() bool {
	switch h.method {
	case "GET", "HEAD", "OPTIONS":
		return h.length == 0 && !h.override && h.upgrade == ""
	}
	return false
}

// splitHostPort takes a Host header or authority apart. The port is 0 if none
// is given.
func splitHostPort(s string) (Target, uint16, error) {
	host, port := s, uint64(0)
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		var err error
		if port, err = strconv.ParseUint(s[i+1:], 10, 16); err != nil || port == 0 {
			return Target{}, 0, errRequest
		}
		host = s[:i]
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return Target{}, 0, errRequest
	}
	t, err := ParseTarget(host)
	return t, uint16(port), err
}

func isToken(s string) bool {
	for i := range len(s) {
		if !tokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func tokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// chunkSize reads a chunk's size line at the start of b: hexadecimal digits and
// CRLF, no extension.
func chunkSize(b []byte) (size int64, n int, err error) {
	end := bytes.Index(b[:min(len(b), 18)], []byte("\r\n"))
	if end < 0 {
		for _, c := range b[:min(len(b), 16)] {
			if !hexByte(c) && c != '\r' {
				return 0, 0, errRequest
			}
		}
		if len(b) >= 18 {
			return 0, 0, errRequest
		}
		return 0, 0, errMore
	}
	if end == 0 || end > 15 {
		return 0, 0, errRequest
	}
	for _, c := range b[:end] {
		if !hexByte(c) {
			return 0, 0, errRequest
		}
	}
	u, err := strconv.ParseUint(string(b[:end]), 16, 62)
	if err != nil {
		return 0, 0, errRequest
	}
	return int64(u), end + 2, nil
}

func hexByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// speech is what the first bytes of a connection are.
type speech uint8

const (
	unclear speech = iota // more bytes needed
	isTLS
	isHTTP // or something that a server could take for it
	opaque // neither
	oddTLS // what a lenient server could take for TLS
)

// classify looks at the first bytes that a program sends. Whatever a lenient
// server could take for an HTTP request counts as one, so that it is held to
// the strict form. What no server could is left to other protocols, whose
// lengths and the like begin with any byte.
func classify(b []byte) speech {
	if len(b) == 0 {
		return unclear
	}
	if recordCipher <= b[0] && b[0] <= recordData {
		return classifyRecord(b)
	}
	if bytes.HasPrefix(b, []byte("\r\n\r\n\x00")) {
		return isHTTP // a proxy's preamble in bytes
	}
	blanks := 0
	for blanks < len(b) && blank(b[blanks]) {
		blanks++ // servers skip these before a request
	}
	if blanks >= maxHead {
		return isHTTP
	}
	return classifyLine(b[blanks:])
}

// classifyRecord looks at what begins as a record of TLS.
func classifyRecord(b []byte) speech {
	switch {
	case len(b) < 2:
		return unclear
	case b[0] == recordHandshake && b[1] == 3:
		return isTLS
	case b[1] == 3:
		return oddTLS
	case len(b) < 6:
		return unclear
	}
	// Servers skip a warning or a change of cipher before a client hello, and some
	// take any version that is low enough. Java's take any at all, and skip records
	// without content.
	size, next := int(b[3])<<8|int(b[4]), b[5]
	if next == 1 && (b[0] == recordCipher && size == 1 || b[0] == recordAlert && size == 2 || b[0] == recordHandshake) ||
		b[0] == recordHandshake && size == 0 && recordCipher <= next && next <= recordData {
		return oddTLS
	}
	return opaque
}

// classifyLine looks at what begins as a line of a request.
func classifyLine(b []byte) speech {
	word := 0
	for word < len(b) && tokenByte(b[word]) {
		word++
	}
	switch {
	case word == len(b):
		if word >= maxHead {
			return isHTTP
		}
		return unclear
	case b[word] == '\r' && word+1 == len(b):
		return unclear
	case word == 0 || !blank(b[word]) || b[word] == '\n' || b[word] == '\r' && b[word+1] == '\n':
		return opaque
	}
	target := b[word:]
	for len(target) > 0 && blank(target[0]) && target[0] != '\n' {
		target = target[1:]
	}
	switch string(b[:word]) {
	case "CONNECT":
		if len(target) > 0 && target[0] != '{' { // NATS begins so
			return isHTTP
		}
	case "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "PRI", "PROXY":
		// Even without a version (HTTP/0.9), or a proxy's preamble. In lower case
		// they are words of others, such as memcached.
		return isHTTP
	}
	if len(target) > 0 && target[0] < ' ' && !blank(target[0]) {
		return opaque // no server has such a target
	}
	line, _, whole := bytes.Cut(b, []byte("\n"))
	path, _, git := bytes.Cut(line, []byte{0}) // git:// ends a line so (gitprotocol-pack(5))
	switch {
	case isGit(b[:word]) && git && !versioned(path):
		return opaque
	case versioned(line), !isGit(b[:word]) && isTarget(b[:word], target), !whole && len(b) >= maxHead:
		return isHTTP
	case !whole:
		return unclear
	}
	return opaque
}

// isTarget says whether something behind a word begins as the target of a request:
// servers of Node and Java take one without a version, or with any. Java's take one
// whose path is not its first; keys of memcached, whose words are in lower case, look
// like those.
func isTarget(word, b []byte) bool {
	if len(b) > 0 && (b[0] == '/' || b[0] == '*') || len(b) >= 3 && strings.EqualFold(string(b[:3]), "%2f") {
		return true
	}
	i := bytes.IndexByte(b, '/')
	return i > 1 && b[i-1] == ':' && isToken(string(b[:i-1])) &&
		(bytes.HasPrefix(b[i:], []byte("//")) || !bytes.Equal(word, bytes.ToLower(word)))
}

// versioned says whether a line names a version of HTTP, or of what servers of Node
// take for it.
func versioned(line []byte) bool {
	line = bytes.ToUpper(line)
	return bytes.Contains(line, []byte("HTTP/")) || slices.ContainsFunc(bytes.Fields(line), func(word []byte) bool {
		return bytes.HasPrefix(word, []byte("RTSP/")) || bytes.HasPrefix(word, []byte("ICE/"))
	})
}

// isGit says whether a word begins a request of git://: four digits and a command.
func isGit(word []byte) bool {
	switch string(word[min(4, len(word)):]) {
	case "git-upload-pack", "git-receive-pack", "git-upload-archive":
		return true
	}
	return false
}

// blank says whether lenient servers take a byte for white space: Python's take all
// that is some in Latin-1.
func blank(c byte) bool { return strings.IndexByte("\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0", c) >= 0 }
