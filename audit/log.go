package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
)

// Options of a log; the zero value is the default.
type Options struct {
	// FileSize is when, in bytes, the next file is begun; 0 is 16 MiB.
	FileSize int64
	// Secrets are replaced in every string of every record.
	Secrets *Redactor
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

const defaultFileSize = 16 << 20

// lockPatience is how long Append waits for other writers. Each holds the lock
// for some microseconds; longer means that one was stopped inside.
const lockPatience = 10 * time.Second

// Log is the audit log of one state directory, open for appending. It is safe
// for concurrent use, by any number of processes.
type Log struct {
	opt  Options
	mu   sync.Mutex
	dir  *os.File
	head *os.File // also the lock
	file *os.File // the current log file
	fst  uint64   // its first sequence number
	has  int64    // bytes that the disk keeps for it
	buf  []byte
}

const (
	headName   = "audit.head"
	filePrefix = "audit-"
	fileSuffix = ".jsonl"
)

// fileName is the name of the log file that begins with record first. Names
// sort as their numbers.
func fileName(first uint64) string {
	return fmt.Sprintf("%s%012d%s", filePrefix, first, fileSuffix)
}

// Open opens the log in dir, which is made if it is not there. It fails if the
// directory or the head file is a link, belongs to another user, can be written
// by others, or cannot be written by us. Nothing is appended.
func Open(dir string, opt Options) (*Log, error) {
	if opt.FileSize <= 0 {
		opt.FileSize = defaultFileSize
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	d, err := private.OpenDir(dir)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	h, _, err := private.OpenFile(d, headName, unix.O_RDWR|unix.O_CREAT)
	if err != nil {
		d.Close()
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return &Log{opt: opt, dir: d, head: h}, nil
}

// Close releases the log's descriptors.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
	}
	l.head.Close()
	return l.dir.Close()
}

// Append writes the entries as consecutive records, with one write. When it
// returns without error they survive the death of this process. An error means
// that none of them counts: nothing may be started on the strength of it.
//
// It leaves room on the disk for [Log.AppendBrief] of 64 runs, as far as the file
// system lets a file have room beyond its end, and fails where there is none.
func (l *Log) Append(entries ...Entry) error { return l.add(false, entries) }

// AppendBrief is Append for the end of a run that found the disk full, as the run
// itself may have made it: without lists and texts, in the room that is kept for it.
func (l *Log) AppendBrief(e *End) error { return l.add(true, []Entry{e.brief()}) }

func (l *Log) add(brief bool, entries []Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.lock(); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	defer unix.Flock(int(l.head.Fd()), unix.LOCK_UN)
	if err := l.append(brief, entries); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}

// lock takes the lock that is on the head file, and opens that anew if it was
// removed meanwhile.
func (l *Log) lock() error {
	wait := 20 * time.Microsecond
	for end := time.Now().Add(lockPatience); ; {
		err := unix.Flock(int(l.head.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			var st unix.Stat_t
			if err := unix.Fstat(int(l.head.Fd()), &st); err != nil {
				return err
			}
			if st.Nlink > 0 {
				return nil
			}
			h, _, err := private.OpenFile(l.dir, headName, unix.O_RDWR|unix.O_CREAT)
			if err != nil {
				return err
			}
			l.head.Close()
			l.head = h
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("lock: %w", err)
		case time.Now().After(end):
			return fmt.Errorf("directory %q: another process has held the lock for %v", l.dir.Name(), lockPatience)
		default:
			time.Sleep(wait)
			wait = min(2*wait, 2*time.Millisecond)
		}
	}
}

func (l *Log) append(brief bool, entries []Entry) error {
	now := l.opt.Now()
	h, ok, err := l.readHead()
	if err != nil {
		return err
	}
	b := l.buf[:0]
	var repairs []Entry
	if !ok {
		var found bool
		if h, found, err = l.newHead(); err != nil {
			return err
		}
		if found {
			repairs = append(repairs, &Repair{Found: "no-head"})
		}
	}
	size, err := l.openFile(h.first)
	if err != nil {
		return err
	}
	var full *os.File // and the next one is begun
	if size == h.size && size >= l.opt.FileSize && !brief {
		full, l.file = l.file, nil
		defer full.Close()
		h.first, h.size = h.seq+1, 0
		if size, err = l.openFile(h.first); err != nil {
			return err
		}
	}
	if size != h.size {
		repair, err := l.recover(&h, size)
		if err != nil {
			return err
		}
		repairs = append(repair, repairs...) // a torn end is closed off by the record next to it
	}
	// Whatever stands there, torn or edited, a record begins a line.
	if size > 0 {
		var last [1]byte
		if _, err := l.file.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' || torn(repairs) {
			b = append(b, '\n')
		}
	}
	for _, e := range append(repairs, entries...) {
		h.seq++
		b, h.hash = appendLine(b, h.seq, h.hash, now, e, l.opt.Secrets)
	}
	l.buf = b
	if !brief {
		if err := l.keepRoom(size + int64(len(b))); err != nil {
			if full != nil {
				unix.Unlinkat(int(l.dir.Fd()), fileName(h.first), 0)
			}
			return fmt.Errorf("keep room for the ends of runs: %w", err)
		}
	}
	if full != nil {
		if end, err := full.Seek(0, io.SeekEnd); err == nil {
			full.Truncate(end) // the room that was kept in it is the next one's
		}
	}
	if n, err := l.file.Write(b); err != nil {
		// Ours alone, since we hold the lock; if this fails too, the next
		// writer closes the torn line off.
		if n > 0 {
			l.file.Truncate(size)
		}
		return err
	}
	h.size = size + int64(len(b))
	_, err = l.head.WriteAt(h.encode(), 0)
	return err
}

// keptRoom is the room, in bytes, that is kept beyond the end of a file, 4 KiB for
// the end of each run, and as much again from time to time.
const keptRoom = 256 << 10

// keepRoom sees to it that there is room beyond end. A file system that knows no such
// thing keeps none.
func (l *Log) keepRoom(end int64) error {
	if l.has >= end+keptRoom {
		return nil
	}
	err := allocate(l.file, end+2*keptRoom)
	if IsFull(err) {
		err = allocate(l.file, end+keptRoom)
	}
	if IsFull(err) {
		return err
	}
	return nil
}

// IsFull says whether an error is that of a full disk, or of the user's share of it.
func IsFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// readHead gives the head; not ok if there is none or it is damaged.
func (l *Log) readHead() (head, bool, error) {
	var b [headSize + 1]byte
	n, err := l.head.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return head{}, false, err
	}
	h, ok := parseHead(b[:n])
	return h, ok, nil
}

// newHead starts a log, or, if there are log files, finds the last good record
// of the last one.
func (l *Log) newHead() (h head, found bool, err error) {
	names, err := logFiles(l.dir)
	if err != nil {
		return head{}, false, err
	}
	if err := l.head.Truncate(0); err != nil {
		return head{}, false, err
	}
	h.first = 1
	for _, name := range slices.Backward(names) {
		var first uint64
		if _, err := fmt.Sscanf(name, filePrefix+"%d"+fileSuffix, &first); err != nil {
			continue
		}
		h.first = first
		size, err := l.openFile(first)
		if err != nil {
			return head{}, false, err
		}
		b := make([]byte, size)
		if _, err := l.file.ReadAt(b, 0); err != nil && err != io.EOF {
			return head{}, false, err
		}
		// Here, with nothing to hold it against, any record that is whole
		// is believed; verify will look at the links.
		for at := 0; ; {
			end := bytes.IndexByte(b[at:], '\n')
			if end < 0 {
				break
			}
			k, err := parseLink(b[at : at+end])
			at += end + 1
			if err == nil {
				h.seq, h.hash, h.size = k.seq, k.hash, int64(at)
			}
		}
		if h.seq > 0 {
			return h, true, nil
		}
		h.seq = first - 1
	}
	return h, len(names) > 0, nil
}

// openFile makes the file that begins with record first the current one and
// gives its size.
func (l *Log) openFile(first uint64) (int64, error) {
	if l.file != nil && l.fst == first {
		var st unix.Stat_t
		if err := unix.Fstat(int(l.file.Fd()), &st); err != nil {
			return 0, err
		}
		if st.Nlink > 0 {
			l.has = st.Blocks * 512
			return st.Size, nil
		}
	}
	f, st, err := private.OpenFile(l.dir, fileName(first), unix.O_RDWR|unix.O_APPEND|unix.O_CREAT)
	if err == nil && st.Size > maxFile {
		f.Close()
		err = fmt.Errorf("file %q: %d bytes are too many for a log file", f.Name(), st.Size)
	}
	if err != nil {
		return 0, err
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file, l.fst, l.has = f, first, st.Blocks*512
	return st.Size, nil
}

// recover brings the head up to a file that is not as long as the head says.
// A writer that was killed after its write and before that of the head left
// whole records: they count. One that was killed during its write left a part
// of one: it stays, and a record says so; both may have happened more than
// once. A file that is too short lost
// records: a record says so, and the chain goes on from the last hash that was
// known, so that verify names what is missing for ever.
func (l *Log) recover(h *head, size int64) ([]Entry, error) {
	if size < h.size {
		return []Entry{&Repair{Found: "cut", Bytes: h.size - size, LastSeq: h.seq}}, nil
	}
	tail := make([]byte, size-h.size)
	if _, err := io.ReadFull(io.NewSectionReader(l.file, h.size, size-h.size), tail); err != nil {
		return nil, err
	}
	bad := 0 // where those lines begin that are no records
	for at := 0; at < len(tail); {
		line, _, _ := bytes.Cut(tail[at:], []byte("\n")) // only the newline may be missing
		next := min(at+len(line)+1, len(tail))
		k, err := parseLink(line)
		if err == nil && k.seq == h.seq+1 && k.prev == h.hash && (at == bad || closesOff(line, tail[bad:at-1])) {
			h.seq, h.hash, bad = k.seq, k.hash, next
		}
		at = next
	}
	if bad == len(tail) {
		return nil, nil
	}
	tail = tail[bad:]
	return []Entry{&Repair{Found: "torn", Bytes: int64(len(tail)), SHA256: Digest(sha256.Sum256(tail))}}, nil
}

// closesOff says whether a line is the record that a torn end before it was
// closed off with.
func closesOff(line, torn []byte) bool {
	r := decode(line).Repair
	return r != nil && r.Found == "torn" && r.Bytes == int64(len(torn)) && r.SHA256 == Digest(sha256.Sum256(torn))
}

// torn says whether a torn end is to be closed off, which takes a newline even
// if it ends in one: what the repair tells of is all before that newline.
func torn(repairs []Entry) bool {
	return slices.ContainsFunc(repairs, func(e Entry) bool { r, ok := e.(*Repair); return ok && r.Found == "torn" })
}

// logFiles lists the log files of a directory, oldest first.
func logFiles(dir *os.File) ([]string, error) {
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	all, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(all, func(n string) bool {
		return !strings.HasPrefix(n, filePrefix) || !strings.HasSuffix(n, fileSuffix)
	})
	slices.Sort(names)
	return names, nil
}
