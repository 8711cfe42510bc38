package audit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Break is a place where the chain is broken.
type Break struct {
	File string `json:"file"` // base name
	Line int    `json:"line"` // from 1; 0 is the file as a whole
	What string `json:"what"` // one line, printable
}

func (b Break) String() string { return fmt.Sprintf("%s:%d: %s", b.File, b.Line, b.What) }

// Report is what Verify found.
type Report struct {
	Files   int    `json:"files"`
	Records uint64 `json:"records"` // whole ones
	Last    uint64 `json:"last"`    // number of the last record
	Hash    Digest `json:"hash"`    // of the last record
	// Breaks are in the order of the log; the log is whole if there are none.
	Breaks []Break `json:"breaks,omitempty"`
	// Torn are ends that a killed writer left. They are no records, hide
	// none, and are no breaks.
	Torn []Break `json:"torn,omitempty"`
}

// Whole says whether nothing is broken.
func (r *Report) Whole() bool { return len(r.Breaks) == 0 }

// Verify reads the whole log in dir and checks every record, the chain through
// all files, and the end against the head file. The error is for what could not
// be read; what was read and is wrong is in the report.
func Verify(dir string) (*Report, error) {
	s, err := takeSnapshot(dir)
	if err != nil {
		return nil, err
	}
	v := verifier{next: 1}
	for i, name := range s.files {
		b, err := s.read(i, 0)
		if err != nil {
			return nil, err
		}
		v.file(name, b)
		v.Files++
	}
	v.end(s)
	return &v.Report, nil
}

// verifier walks over the lines of all files.
type verifier struct {
	Report
	next uint64 // the expected number
	prev Digest // the expected prev
	last Break  // where the last good record is

	// A region of lines that are no records.
	bad      bool
	badAt    Break
	badLines uint64
	badStart int
}

func (v *verifier) file(name string, b []byte) {
	first, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(name, filePrefix), fileSuffix), 10, 64)
	if err != nil || fileName(first) != name {
		v.broken(Break{name, 0, "is not a name that a log file has"})
	}
	line, at := 0, 0
	for raw := range bytes.Lines(b) {
		line++
		where := Break{File: name, Line: line}
		text := bytes.TrimSuffix(raw, []byte("\n"))
		k, err := parseLink(text)
		if err == nil && len(text) == len(raw) {
			err = fmt.Errorf("is not ended by a newline")
		}
		if err != nil {
			v.badLine(where, at, err)
		} else {
			v.record(where, at, k, text, b)
			if at == 0 && k.seq != first {
				v.broken(Break{name, line, fmt.Sprintf("record %d begins the file, but its name says %d", k.seq, first)})
			}
		}
		at += len(raw)
	}
	// A torn end is closed off within its file or not at all.
	v.flushBad()
}

func (v *verifier) badLine(where Break, at int, err error) {
	if !v.bad {
		where.What = err.Error()
		v.bad, v.badAt, v.badLines, v.badStart = true, where, 0, at
	}
	v.badLines++
}

// record takes a line that is a record, at its place in the file's bytes b.
func (v *verifier) record(where Break, at int, k link, text, b []byte) {
	v.Records++
	skipped := uint64(0)
	if v.bad {
		if torn := b[v.badStart : at-1]; k.seq == v.next && k.prev == v.prev && closesOff(text, torn) {
			v.badAt.What = fmt.Sprintf("%d bytes that a killed writer left, closed off by record %d", len(torn), k.seq)
			v.Torn = append(v.Torn, v.badAt)
			v.bad = false
		} else {
			skipped = v.badLines
			v.flushBad()
		}
	}
	switch {
	case k.seq == v.next && k.prev == v.prev:
	case skipped > 0 && k.seq == v.next+skipped:
		// The lines between are named already.
	case k.seq > v.next:
		where.What = fmt.Sprintf("records %d to %d are missing before this one (%d)", v.next, k.seq-1, k.seq)
		if k.seq-1 == v.next {
			where.What = fmt.Sprintf("record %d is missing before this one", v.next)
		}
		v.broken(where)
	case k.seq < v.next:
		where.What = fmt.Sprintf("record %d is repeated or out of order, %d is expected", k.seq, v.next)
		v.broken(where)
	case v.last.File == "":
		where.What = fmt.Sprintf("record %d begins the log but names one before it", k.seq)
		v.broken(where)
	default:
		b := v.last
		b.What = fmt.Sprintf("record %d was replaced: record %d names another hash for it", k.seq-1, k.seq)
		v.broken(b)
	}
	v.next, v.prev, v.last = k.seq+1, k.hash, where
	v.Last, v.Hash = k.seq, k.hash
}

func (v *verifier) flushBad() {
	if v.bad {
		v.broken(v.badAt)
		v.bad = false
	}
}

func (v *verifier) broken(b Break) { v.Breaks = append(v.Breaks, b) }

// end holds the end of the chain against the head.
func (v *verifier) end(s *snapshot) {
	headBreak := func(what string) { v.broken(Break{headName, 0, what}) }
	switch {
	case s.state == headMissing && len(s.files) > 0:
		headBreak("is missing: whether the end of the log was cut cannot be told")
		return
	case s.state == headMissing:
		return
	case s.state == headDamaged:
		headBreak("is damaged: whether the end of the log was cut cannot be told")
		return
	}
	// What lies behind the head's end is what killed writers wrote and no
	// writer came after: a torn end there is not a break yet.
	if n := len(v.Breaks); n > 0 && v.Last >= s.head.seq {
		b, current := v.Breaks[n-1], fileName(s.head.first)
		behind := b.File == current && int64(v.badStart) >= s.head.size || b.File > current && (v.badStart > 0 || b.File == fileName(v.next))
		if b == v.badAt && b.File == s.files[len(s.files)-1] && behind {
			b.What = "bytes that a killed writer left; the next writer will close them off"
			v.Breaks, v.Torn = v.Breaks[:n-1], append(v.Torn, b)
		}
	}
	switch {
	case s.head.seq > v.Last && s.head.seq == v.Last+1:
		headBreak(fmt.Sprintf("record %d is missing at the end", s.head.seq))
	case s.head.seq > v.Last:
		headBreak(fmt.Sprintf("records %d to %d are missing at the end", v.Last+1, s.head.seq))
	case s.head.seq == v.Last && s.head.hash != v.Hash:
		b := v.last
		b.What = fmt.Sprintf("record %d was replaced: the head names another hash for it", v.Last)
		v.broken(b)
	}
}
