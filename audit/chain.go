package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
)

// A line is
//
//	{"seq":N,"prev":"HASH","time":"...","kind":"...",...,"hash":"HASH"}
//
// where hash is the SHA-256, in lower-case hexadecimal, of the line's bytes
// before `,"hash":"`, and prev is the hash of record N-1 (64 zeros for N = 1).
const (
	hashKey  = `,"hash":"`
	tailSize = len(hashKey) + 64 + len(`"}`)
)

// appendLine encodes one record with its newline and gives its hash.
func appendLine(b []byte, seq uint64, prev Digest, now time.Time, entry Entry, secrets *Redactor) ([]byte, Digest) {
	start := len(b)
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, `,"prev":"`...)
	b = hex.AppendEncode(b, prev[:])
	b = append(b, `","time":"`...)
	b = now.UTC().AppendFormat(b, timeLayout)
	b = append(b, `","kind":"`...)
	b = append(b, entry.kind()...)
	b = append(b, '"')
	e := encoder{b: b, secrets: secrets}
	entry.encode(&e)
	b = e.b
	sum := Digest(sha256.Sum256(b[start:]))
	b = append(b, hashKey...)
	b = hex.AppendEncode(b, sum[:])
	return append(b, '"', '}', '\n'), sum
}

// link is the part of a line that the chain needs.
type link struct {
	seq        uint64
	prev, hash Digest
}

// parseLink reads a line, without its newline, and checks its own hash. The
// error says in what way it is no record.
func parseLink(line []byte) (link, error) {
	var l link
	body := len(line) - tailSize
	if body < 0 || !bytes.HasPrefix(line[body:], []byte(hashKey)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return l, fmt.Errorf("is not a whole record")
	}
	sum := Digest(sha256.Sum256(line[:body]))
	if sum.String() != string(line[body+len(hashKey):len(line)-2]) {
		return l, fmt.Errorf("was altered: its hash does not fit its bytes")
	}
	l.hash = sum
	rest, ok := bytes.CutPrefix(line[:body], []byte(`{"seq":`))
	number, rest, found := bytes.Cut(rest, []byte(`,"prev":"`))
	if !ok || !found || len(rest) < 65 || rest[64] != '"' {
		return l, fmt.Errorf("does not begin as a record")
	}
	var err error
	if l.seq, err = strconv.ParseUint(string(number), 10, 64); err != nil {
		return l, fmt.Errorf("has no sequence number")
	}
	if err := l.prev.UnmarshalText(rest[:64]); err != nil {
		return l, fmt.Errorf("names no record before it")
	}
	return l, nil
}

// head is what the head file holds: where the chain ends.
type head struct {
	seq   uint64 // of the last record; 0 if there is none
	first uint64 // of the first record of the current file, its name
	size  int64  // of the current file
	hash  Digest // of the last record
}

const headMagic = "skillrun-audit 1 "

// encode writes the head in a fixed width, so that it is replaced in place by
// one small write: the magic, seq, first, size, hash and, over all that, the
// first 16 digits of a SHA-256.
func (h head) encode() []byte {
	b := []byte(headMagic)
	for _, n := range [...]uint64{h.seq, h.first, uint64(h.size)} {
		b = fmt.Appendf(b, "%020d ", n)
	}
	b = hex.AppendEncode(b, h.hash[:])
	sum := sha256.Sum256(b)
	b = append(b, ' ')
	b = hex.AppendEncode(b, sum[:8])
	return append(b, '\n')
}

const headSize = len(headMagic) + 3*21 + 64 + 1 + 16 + 1

func parseHead(b []byte) (h head, ok bool) {
	if len(b) != headSize || !bytes.HasPrefix(b, []byte(headMagic)) {
		return h, false
	}
	f := b[len(headMagic):]
	seq, err1 := strconv.ParseUint(string(f[:20]), 10, 64)
	first, err2 := strconv.ParseUint(string(f[21:41]), 10, 64)
	size, err3 := strconv.ParseInt(string(f[42:62]), 10, 64)
	_, err4 := hex.Decode(h.hash[:], f[63:63+64])
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return h, false
	}
	h.seq, h.first, h.size = seq, first, size
	// What it means must be written exactly so; this checks the sum as well.
	return h, bytes.Equal(h.encode(), b)
}
