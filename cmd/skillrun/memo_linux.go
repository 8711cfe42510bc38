package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
	"skillrun/policy"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// A memo is what an earlier launch worked out: the profile that a set of rights
// came to, and the plan that it was compiled into. Both are functions of plain
// data and of the machine's files, so a memo names the data by a digest and
// lists what was seen of the files; it counts only while all of that is the
// same. Looking takes a tenth of the time that working it out does.
//
// It lies in the state directory, which no run can write, like the approvals
// that it stands behind.
type memo struct {
	Key      [sha256.Size]byte
	Sum      [sha256.Size]byte // of the profile
	Cache    string            // see [job.cache]
	Profile  profiles.Profile
	Compiled sandbox.Compiled
	Sifts    []string // the roots of the profile's that were used
}

// seen is one thing that was looked up in the machine's file system, with the
// answer.
type seen struct {
	Name   string // the whole path, as the kernel is asked for it
	How    how
	There  outcome
	Mode   uint32
	Target string // of a link; the digest of a listing; what is left of one; names, zeros between them
	ID     identity
	// Names is how many names a regular file had that was looked at itself: what
	// is denied by name is denied by its other names too. With more than one, ID
	// tells when they last changed.
	Names uint64
	// Owner is whose it is that was looked at itself: a directory that cannot be
	// listed is closed to its owner's run, who could open it.
	Owner uint32
	// Settled says that ID changes whenever the contents do: the last change
	// was long enough before the look for the next to have another time, on a
	// file system that keeps such times.
	Settled bool
}

type how uint8

const (
	byLstat how = iota
	byStat
	byReadLink
	byReadDir
	byOpen
	byLacking // of a directory: it has none of the names
	bySifted  // what one of the memo's sifts, number Mode, leaves of its listing
	byLinks   // its directories and links
)

type outcome uint8

const (
	present outcome = iota
	absent
	failed
)

// settledAfter is the age at which a time of change is trusted to be the last
// one: file systems keep times of a tick's or of a second's precision.
const settledAfter = 2 * time.Second

// settling says of files whether they were settled at a time.
type settling struct {
	at       time.Time
	ordinary map[uint64]bool // devices of the files that were asked about
	merged   map[uint64]bool // of these, such as merge directories
}

func newSettling(at time.Time) settling {
	return settling{at, map[uint64]bool{}, map[uint64]bool{}}
}

// dir says so of a directory's listing. That of an encrypted one has other names
// once its key is there, and the same times.
func (s settling) dir(name string, id identity) bool {
	return s.has(name, id) && !s.merged[id.Dev] && !encrypted("/"+name)
}

func (s settling) has(name string, id identity) bool {
	if _, known := s.ordinary[id.Dev]; !known {
		// Of the file system that id is on: by now something else may be there.
		fd, err := unix.Open("/"+name, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return false
		}
		defer unix.Close(fd)
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || uint64(st.Dev) != id.Dev || st.Ino != id.Ino {
			return false
		}
		s.ordinary[id.Dev] = private.Ordinary(fd)
		s.merged[id.Dev] = private.MergedAt("/proc/self/fd/" + strconv.Itoa(fd))
	}
	return s.ordinary[id.Dev] && s.at.Sub(time.Unix(int64(id.Sec), int64(id.Nsec))) > settledAfter
}

func encrypted(name string) bool {
	var st unix.Statx_t
	return unix.Statx(unix.AT_FDCWD, name, 0, unix.STATX_TYPE, &st) != nil || st.Attributes&unix.STATX_ATTR_ENCRYPTED != 0
}

// maxMemos is how many memos are kept.
const maxMemos = 64

// memoKey names everything but files that a profile and its plan are made from.
// It is false where the time of day has a say.
func (j *job) memoKey(in policy.Inputs, mode sandbox.Mode, streams string) (key [sha256.Size]byte, ok bool) {
	if j.set.Timed() {
		return key, false
	}
	program := identify("/proc/self/exe")
	if program == (identity{}) {
		return key, false
	}
	in.Now = time.Time{}
	host := *j.host
	host.FS = nil
	host.Env = maps.Clone(host.Env)
	for _, name := range [...]string{"_", "OLDPWD", "PWD", "SHLVL"} { // shells' own: no file's name is made of them
		delete(host.Env, name)
	}
	facts := struct {
		Program identity
		Version string
		Set     *policy.Set
		Inputs  policy.Inputs
		Mode    sandbox.Mode
		Streams string
		Fresh   bool
		OS      string
		Home    string
		Account string
		Theirs  bool
		User    string
		UID     int
		Mounts  []profiles.Mount
		Written []string
		Env     map[string]string
	}{program, version, j.set, in, mode, streams, j.fresh, host.OS, host.Home, host.Account, host.Theirs, host.User, host.UID, host.Mounts, host.WrittenOfSystem, host.Env}
	return sha256.Sum256(pack(make([]byte, 0, 16<<10), reflect.ValueOf(facts))), true
}

// plan gives the profile of a run, with its digest and with what it was compiled
// into if an earlier run found that out. In the other case keep has to be told
// what this run found; keep is to be called at the end, if it is not nil, and
// without anything where nothing was. streams is who is told of refusals, and what
// the outputs are: these have a say in what is compiled.
func (j *job) plan(state string, mode sandbox.Mode, streams string) (m *memo, keep func(*sandbox.Compiled), err error) {
	key, ok := j.memoKey(j.inputs(), mode, streams)
	if ok {
		if m, amend := recallMemo(state, key); m != nil {
			j.recalled = true
			if j.verbose {
				say("an earlier run's plan holds")
			}
			return m, func(c *sandbox.Compiled) {
				if c != nil { // it is of another machine than this now is
					os.Remove(memoFile(state, key))
				} else if amend != nil {
					amend()
				}
			}, nil
		}
	}
	p, err := j.profile()
	if err != nil {
		return nil, nil, err
	}
	sum, rights := p.Hashes()
	m = &memo{Key: key, Profile: *p, Sum: sum, Cache: j.cache(p, rights)}
	files, isSnapshot := j.host.FS.(*snapshot)
	if !ok || !isSnapshot {
		return m, nil, nil
	}
	return m, func(c *sandbox.Compiled) {
		if c == nil {
			return
		}
		m.Compiled = *c
		own := m.Profile.Sifts()
		for _, used := range files.sifts {
			if !slices.ContainsFunc(own, func(s *profiles.Sift) bool {
				return s.Root == used.Root && slices.EqualFunc(s.Denials, used.Denials, profiles.Denial.Equal)
			}) {
				return // of another profile
			}
			m.Sifts = append(m.Sifts, used.Root)
		}
		if err := m.remember(state, files.seen(files.begun)); err != nil && j.verbose {
			say("the plan is not kept for another time: %s", quote(err.Error()))
		}
	}, nil
}

func memoFile(state string, key [sha256.Size]byte) string {
	return filepath.Join(state, "memo", hex.EncodeToString(key[:16]))
}

const maxMemo = 8 << 20 // bytes

// recallMemo finds the memo with a key, if there is one and it still counts. Where
// it is to be told of what is new, amend does that.
func recallMemo(state string, key [sha256.Size]byte) (m *memo, amend func()) {
	fd, err := unix.Open(memoFile(state, key), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode != unix.S_IFREG|0o600 || int(st.Uid) != os.Geteuid() || st.Size > maxMemo {
		return nil, nil
	}
	data := make([]byte, st.Size)
	if n, err := unix.Pread(fd, data, 0); err != nil || n != len(data) {
		return nil, nil
	}
	body := len(data) - sumSize
	if body < 0 || checksum(data[:body]) != [sumSize]byte(data[body:]) {
		return nil, nil
	}
	looks := newUnpacker(data[:body])
	text := looks.string()
	rest := unpacker{data: text}
	// One processor looks while the other unpacks, and both look then.
	same, l := make(chan bool, 1), new(looking)
	go func() { same <- l.holds(*looks) }()
	m = new(memo)
	rest.value(reflect.ValueOf(m).Elem())
	whole := rest.err == nil && rest.data == "" && m.Key == key
	if !l.holds(*looks) || !<-same || !whole {
		return nil, nil
	}
	r, ok := m.sifts(l.changed)
	if !ok {
		return nil, nil
	}
	if r.other || r.stale > maxSifted {
		amend = func() { m.amend(state, text, *looks, l.changed, r) }
	}
	return m, amend
}

// looking is done by several at a time.
type looking struct {
	next    atomic.Int64 // the first that nobody has begun with
	mu      sync.Mutex
	changed []seen // directories of which it takes the memo to say whether they are the same
}

// holds looks at what was seen, of which another may do a part. It is false if
// anything is not as it was.
func (l *looking) holds(u unpacker) bool {
	var s seen
	for i := int64(0); u.data != ""; i++ {
		u.seen(&s)
		if u.err != nil {
			return false
		}
		if !l.next.CompareAndSwap(i, i+1) {
			continue
		}
		if s.How == bySifted && !s.unchanged() {
			l.mu.Lock()
			l.changed = append(l.changed, s)
			l.mu.Unlock()
		} else if s.How != bySifted && !s.holds() {
			l.next.Store(math.MaxInt64)
			return false
		}
	}
	return u.err == nil
}

// unchanged says of a directory that nothing in it has come or gone.
func (s *seen) unchanged() bool { return s.Settled && identify(s.Name) == s.ID }

// seen reads what pack wrote of one, in a tenth of the time that value takes: there
// are hundreds, and a launch waits.
func (u *unpacker) seen(s *seen) {
	s.Name = u.string()
	s.How, s.There, s.Mode = how(u.uint()), outcome(u.uint()), uint32(u.uint())
	s.Target = u.string()
	s.ID = identity{u.uint(), u.uint(), u.uint(), u.uint(), u.uint()}
	s.Names, s.Owner, s.Settled = u.uint(), uint32(u.uint()), u.uint() != 0
}

// remember keeps the memo for the launches to come, with what was seen.
func (m *memo) remember(state string, list []seen) error {
	for i := range list {
		// What is only known by its identity cannot be looked up again.
		if s := &list[i]; s.There == present && !s.Settled && (s.How == byOpen || s.Names > 1) {
			return nil
		}
	}
	return m.write(state, packMemo(pack(make([]byte, beforeMemo, 192<<10), reflect.ValueOf(m).Elem()), list))
}

// write writes a memo's file.
func (m *memo) write(state string, body []byte) error {
	name := memoFile(state, m.Key)
	dir := filepath.Dir(name)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := forgetOldest(dir); err != nil {
		return err
	}
	if len(body)+sumSize > maxMemo {
		return nil // it would not be read
	}
	sum := checksum(body)
	// Without a name until it is whole, so that a launch that is killed leaves
	// nothing.
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	if _, err := f.Write(append(body, sum[:]...)); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	if errors.Is(err, fs.ErrExist) {
		return nil // another launch was as quick
	}
	return err
}

// packMemo gives what a memo's file holds: b, which is the memo itself behind so much
// room, as one string, and all that was seen.
func packMemo(b []byte, list []seen) []byte {
	var size [beforeMemo]byte
	n := binary.PutUvarint(size[:], uint64(len(b)-beforeMemo))
	copy(b[beforeMemo-n:], size[:n])
	for i := range list {
		b = pack(b, reflect.ValueOf(&list[i]).Elem())
	}
	return b[beforeMemo-n:]
}

const beforeMemo = binary.MaxVarintLen64

const sumSize = 8

// checksum tells a file that a crash cut short. It is no defence: whoever can
// write the state directory can write approvals. It is FNV-1a over words in the
// place of bytes: a CRC has tables, which each launch would make first.
func checksum(b []byte) (sum [sumSize]byte) {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * prime
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
	}
	binary.LittleEndian.PutUint64(sum[:], h)
	return sum
}

// forgetOldest makes room for one memo more.
func forgetOldest(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < maxMemos {
		return err
	}
	age := func(e fs.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	oldest := slices.MinFunc(entries, func(a, b fs.DirEntry) int { return age(a).Compare(age(b)) })
	return os.Remove(filepath.Join(dir, oldest.Name()))
}

// seen lists what was looked up since the time at, in order of name.
func (s *snapshot) seen(at time.Time) []seen {
	list := make([]seen, 0, len(s.files)+len(s.dirs))
	settled := newSettling(at)
	for name, f := range s.files {
		o := f.seen(name, byLstat)
		if parent, base := splitName(name); o.There == absent && s.dirs[parent].lacks(base) {
			s.dirs[parent].lacking = append(s.dirs[parent].lacking, base)
			continue
		}
		if st := statOf(f.info); st != nil {
			o.Owner = st.Uid
			if st.Mode&unix.S_IFMT == unix.S_IFREG {
				o.Names = uint64(st.Nlink)
			}
			if o.Names > 1 {
				o.ID = identity{uint64(st.Dev), st.Ino, uint64(st.Size), uint64(st.Ctim.Sec), uint64(st.Ctim.Nsec)}
				o.Settled = settled.has(name, o.ID)
			}
		}
		list = append(list, o)
	}
	for name, f := range s.targets {
		list = append(list, f.seen(name, byStat))
	}
	for name, target := range s.links {
		list = append(list, seen{Name: name, How: byReadLink, Target: target})
	}
	for name, d := range s.dirs {
		if len(d.lacking) > 0 {
			slices.Sort(d.lacking)
			names := strings.Join(slices.Compact(d.lacking), "\x00")
			list = append(list, seen{Name: name, How: byLacking, ID: d.namesID, Settled: settled.dir(name, d.namesID), Target: names})
		}
		if d.read {
			o := seen{Name: name, How: byReadDir, ID: d.id, Settled: settled.dir(name, d.id), There: failed}
			if d.err == nil {
				o.There, o.Target = present, digestOf(d.entries)
			}
			list = append(list, o)
		}
	}
	for name, l := range s.linked {
		o := seen{Name: name, How: byLinks, ID: l.id, Settled: settled.dir(name, l.id), There: failed}
		if l.err == nil {
			o.There, o.Target = present, digestOf(l.entries)
		}
		list = append(list, o)
	}
	for of, l := range s.sifted {
		list = append(list, seen{Name: of.name, How: bySifted, Mode: uint32(of.sift), ID: l.id, Settled: settled.dir(of.name, l.id), There: outcomeOf(l.err), Target: textOf(l.entries)})
	}
	for name, id := range s.opened {
		o := seen{Name: name, How: byOpen, There: failed, ID: id}
		if o.ID != (identity{}) {
			o.There, o.Settled = present, settled.has(name, o.ID)
		}
		list = append(list, o)
	}
	for i := range list {
		list[i].Name = "/" + list[i].Name
	}
	slices.SortFunc(list, bySeen)
	return list
}

func bySeen(a, b seen) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), int(a.How)-int(b.How), int(a.Mode)-int(b.Mode))
}

func (f *found) seen(name string, how how) seen {
	s := seen{Name: name, How: how, There: outcomeOf(f.err)}
	if f.err == nil {
		s.Mode = uint32(f.info.Mode())
	}
	return s
}

// statOf is what the kernel said of a file; nil if it said nothing.
func statOf(info fs.FileInfo) *syscall.Stat_t {
	if info == nil {
		return nil
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	return st
}

func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return present
	case errors.Is(err, fs.ErrNotExist):
		return absent
	}
	return failed
}

// digestOf names what a directory holds.
func digestOf(entries []fs.DirEntry) string {
	sum := sha256.Sum256([]byte(textOf(entries)))
	return string(sum[:16])
}

// textOf lists entries of a directory, with their types.
func textOf(entries []fs.DirEntry) string {
	var b []byte
	for _, e := range entries {
		b = append(appendType(append(append(b, e.Name()...), 0), e.Type()), 0)
	}
	return string(b)
}

func appendType(b []byte, t fs.FileMode) []byte { return strconv.AppendUint(b, uint64(t), 16) }

// holds looks once more and says whether the answer is the same.
func (s *seen) holds() bool {
	var st unix.Stat_t
	switch s.How {
	case byLstat, byStat:
		flags := 0
		if s.How == byLstat {
			flags = unix.AT_SYMLINK_NOFOLLOW
		}
		err := unix.Fstatat(unix.AT_FDCWD, s.Name, &st, flags)
		return outcomeOf(err) == s.There && (err != nil || uint32(fileMode(st.Mode)) == s.Mode) &&
			(err != nil || s.How == byStat || st.Uid == s.Owner) &&
			(s.Names == 0 || uint64(st.Nlink) == s.Names) && (s.Names < 2 || identify(s.Name) == s.ID)
	case byReadLink:
		target, err := os.Readlink(s.Name)
		return err == nil && target == s.Target
	case byLacking:
		return s.unchanged() || lacks(s.Name, strings.Split(s.Target, "\x00"))
	case byReadDir, byLinks:
		if s.unchanged() {
			return true
		}
		entries, err := os.ReadDir(s.Name)
		if s.How == byLinks {
			entries = profiles.LeadingOf(entries)
		}
		return (err != nil) == (s.There == failed) && (err != nil || digestOf(entries) == s.Target)
	default: // byOpen
		return identify(s.Name) == s.ID
	}
}

// lacks says whether none of names, which are sorted, is in a directory that has
// changed. To list one of the usual size takes a tenth of the time of the looks; a
// home has hundreds of names that are not there, and something new every minute.
func lacks(dir string, names []string) bool {
	if has, ok := namesIn(dir, 4*len(names)); ok {
		return !slices.ContainsFunc(has, func(name string) bool {
			_, found := slices.BinarySearch(names, name)
			return found
		})
	}
	var st unix.Stat_t
	return !slices.ContainsFunc(names, func(name string) bool {
		return outcomeOf(unix.Fstatat(unix.AT_FDCWD, profiles.Below(dir, name), &st, unix.AT_SYMLINK_NOFOLLOW)) != absent
	})
}

// namesIn lists a directory, if that tells all and there are at most so many names.
func namesIn(dir string, most int) (names []string, ok bool) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	if !listsAllOf(fd) {
		return nil, false
	}
	names, err = f.Readdirnames(most + 1)
	return names, (err == nil || err == io.EOF) && len(names) <= most
}

// fileMode is the kernel's mode in the words of io/fs.
func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	case unix.S_IFIFO:
		m |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		m |= fs.ModeSocket
	case unix.S_IFBLK:
		m |= fs.ModeDevice
	case unix.S_IFCHR:
		m |= fs.ModeDevice | fs.ModeCharDevice
	}
	for _, bit := range [...]struct {
		kernel uint32
		mode   fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if mode&bit.kernel != 0 {
			m |= bit.mode
		}
	}
	return m
}
