package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// maxFile is the size, in bytes, above which a file is not taken for a log
// file. Writers begin the next one at [Options.FileSize].
const maxFile = 256 << 20

// snapshot is a log at one moment: readers see no record half written, however
// many writers there are.
type snapshot struct {
	dir   string
	head  head
	state headState
	files []string
	sizes []int64
}

type headState uint8

const (
	headGood headState = iota
	headMissing
	headDamaged
)

func takeSnapshot(dir string) (*snapshot, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	defer d.Close()
	s := &snapshot{dir: dir}
	// The first writer makes the head before the first file: where it is not there
	// yet, the log is what was there before it was looked for.
	if s.files, err = logFiles(d); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	h, err := os.OpenFile(filepath.Join(dir, headName), os.O_RDONLY|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.state = headMissing
	case err != nil:
		return nil, fmt.Errorf("audit log: %w", err)
	default:
		defer h.Close()
		// A log that was copied to a place where locks do not work can still
		// be read.
		for end := time.Now().Add(lockPatience); unix.Flock(int(h.Fd()), unix.LOCK_SH|unix.LOCK_NB) == unix.EWOULDBLOCK; {
			if time.Now().After(end) {
				return nil, fmt.Errorf("audit log %q: locked", dir)
			}
			time.Sleep(time.Millisecond)
		}
		b, err := io.ReadAll(io.LimitReader(h, int64(headSize)+1))
		if err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		var ok bool
		if s.head, ok = parseHead(b); !ok {
			s.state = headDamaged
			if len(b) == 0 {
				s.state = headMissing
			}
		}
		if s.files, err = logFiles(d); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
	}
	for _, name := range s.files {
		st, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		if !st.Mode().IsRegular() {
			return nil, fmt.Errorf("audit file %q: is not a regular file", filepath.Join(dir, name))
		}
		s.sizes = append(s.sizes, st.Size())
	}
	return s, nil
}

// read gives the bytes that file i had at the time of the snapshot, from an
// offset on, or fewer if they are gone.
func (s *snapshot) read(i int, from int64) ([]byte, error) {
	if s.sizes[i] > maxFile {
		return nil, fmt.Errorf("audit file %q: %d bytes are too many for a log file", s.files[i], s.sizes[i])
	}
	f, err := os.Open(filepath.Join(s.dir, s.files[i]))
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	defer f.Close()
	b := make([]byte, max(0, s.sizes[i]-from))
	n, err := io.ReadFull(io.NewSectionReader(f, from, int64(len(b))), b)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return b[:n], nil
}

// Records gives all records of the log in dir, oldest first. A line that is no
// record comes with Damage set. The chain is not checked; see [Verify]. An
// error ends the sequence.
func Records(dir string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		s, err := takeSnapshot(dir)
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range s.files {
			b, err := s.read(i, 0)
			if err != nil {
				yield(nil, err)
				return
			}
			line := 0
			for raw := range bytes.Lines(b) {
				line++
				r := decode(bytes.TrimSuffix(raw, []byte("\n")))
				r.File, r.Line = s.files[i], line
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Tail gives the last n records, oldest first.
func Tail(dir string, n int) ([]*Record, error) {
	s, err := takeSnapshot(dir)
	if err != nil {
		return nil, err
	}
	var tail []*Record // newest first
	for i := len(s.files) - 1; i >= 0 && len(tail) < n; i-- {
		b, err := s.read(i, 0)
		if err != nil {
			return nil, err
		}
		line := bytes.Count(b, []byte("\n"))
		if len(b) > 0 && b[len(b)-1] != '\n' {
			line++
		}
		for b = bytes.TrimSuffix(b, []byte("\n")); line > 0 && len(tail) < n; line-- {
			at := bytes.LastIndexByte(b, '\n')
			r := decode(b[at+1:])
			r.File, r.Line = s.files[i], line
			tail = append(tail, r)
			b = b[:max(at, 0)]
		}
	}
	slices.Reverse(tail)
	return tail, nil
}

// Follow gives the records after the one of the number given, and those that
// are appended later, looking every so often, until ctx is done. An error ends
// the sequence.
func Follow(ctx context.Context, dir string, after uint64, every time.Duration) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		tick := time.NewTicker(every)
		defer tick.Stop()
		var file string // the file that was read last, how far, and the last number there
		var offset int64
		var line int
		var seq uint64
		for {
			s, err := takeSnapshot(dir)
			if err != nil {
				yield(nil, err)
				return
			}
			for i, name := range s.files {
				if name < file || i+1 < len(s.files) && s.files[i+1] <= fileName(after+1) {
					continue
				}
				if name > file {
					file, offset, line = name, 0, 0
				}
				b, err := s.read(i, offset)
				if err != nil {
					yield(nil, err)
					return
				}
				for raw := range bytes.Lines(b) {
					if raw[len(raw)-1] != '\n' {
						break // not yet a record
					}
					offset += int64(len(raw))
					line++
					r := decode(raw[:len(raw)-1])
					r.File, r.Line = name, line
					if r.Damage == "" {
						seq = r.Seq
					}
					if seq > after && !yield(r, nil) {
						return
					}
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

func (r *Record) skill() string {
	switch {
	case r.Start != nil:
		return r.Start.Skill.Name
	case r.Decision != nil:
		return r.Decision.Skill
	case r.Grant != nil:
		return r.Grant.Skill.Name
	}
	return ""
}

// decode reads one line. It never fails: what is wrong is in Damage.
func decode(line []byte) *Record {
	r := &Record{Raw: line}
	k, err := parseLink(line)
	if err != nil {
		r.Damage = err.Error()
		return r
	}
	var envelope struct {
		Time time.Time `json:"time"`
		Kind Kind      `json:"kind"`
	}
	if err := json.Unmarshal(line, &envelope); err != nil {
		r.Damage = "is not JSON: " + err.Error()
		return r
	}
	r.Seq, r.Prev, r.Hash, r.Time, r.Kind = k.seq, k.prev, k.hash, envelope.Time, envelope.Kind
	var into any
	switch r.Kind {
	case KindStart:
		r.Start = new(Start)
		into = r.Start
	case KindEnd:
		r.End = new(End)
		into = r.End
	case KindDecision:
		r.Decision = new(Decision)
		into = r.Decision
	case KindGrant:
		r.Grant = new(Grant)
		into = r.Grant
	case KindRepair:
		r.Repair = new(Repair)
		into = r.Repair
	default:
		r.Damage = "is of an unknown kind"
		return r
	}
	if err := json.Unmarshal(line, into); err != nil {
		return &Record{Raw: line, Damage: "does not read as " + string(r.Kind) + ": " + err.Error()}
	}
	if err := restore(reflect.ValueOf(into).Elem()); err != nil {
		return &Record{Raw: line, Damage: err.Error()}
	}
	return r
}

// restore undoes what the encoder did to values: strings are unescaped and
// durations, which are microseconds in the file, multiplied.
func restore(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		s, err := Unescape(v.String())
		if err != nil {
			return err
		}
		v.SetString(s)
	case reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			v.SetInt(v.Int() * int64(time.Microsecond))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return restore(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := restore(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return nil
		}
		for i := range v.NumField() {
			if err := restore(v.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
