//go:build linux

package attack

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tree is what a scene's files look like: path -> what can be told of it.
type tree map[string]string

// look describes all files that the run has no right to change, and what in the
// workspace it may not: control files, secrets, and that what was there stays.
func (s *scene) look() tree {
	t := tree{}
	for _, root := range [...]string{s.dir, s.tmp} {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			t.add(s, path)
			return nil
		})
	}
	t.add(s, s.shm)
	return t
}

// What other programs obey in a work tree.
var obeyed = regexp.MustCompile(`(?i)(^|/)(\.git/(config|config\.worktree|commondir|hooks|info/attributes)(/|$)|\.git/modules/.*/hooks/|\.git$|\.envrc$|\.mcp\.json$|\.vscode(/|$)|\.claude(/|$)|\.github/workflows(/|$)|\.npmrc$|\.yarnrc\.yml$|\.pre-commit-config\.yaml$|\.skillrun(/|$)|\.venv/bin/|\.env$|[^/]*\.key$)|^(ai|tools/hooks)(/|$)|^tools/(x\.sh|gitconfig)$|^mods\.git/(config|commondir|hooks)(/|$)|^conf/local$`)

func (t tree) add(s *scene, path string) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return
	}
	rel := strings.TrimPrefix(path, s.dir+"/")
	in, inside := strings.CutPrefix(rel, "home/project")
	in = strings.TrimPrefix(in, "/")
	if inside && in == "" || rel == "state" || strings.HasPrefix(rel, "state/skillrun") || rel == "victim.py" || rel == "home/.cache" || rel == "home/.cache/skillrun" {
		return // the workspace's own times; what skillrun writes itself
	}
	_, err := unix.Lgetxattr(path, "security.capability", make([]byte, 64))
	loose := err == nil || st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 || st.Mode&0o002 != 0 && st.Mode&unix.S_IFMT != unix.S_IFLNK
	kept := strings.HasPrefix(rel, "home/.cache/skillrun/")
	switch device := st.Mode&unix.S_IFMT == unix.S_IFCHR || st.Mode&unix.S_IFMT == unix.S_IFBLK; {
	case kept && !loose && !device:
		return // the run's own, for the next with its rights
	case inside && strings.HasPrefix(in, "node_modules/") && !loose:
		return // other programs are looked at there, not obeyed
	case inside && device:
		t[rel] = "a device"
		return
	case inside && !obeyed.MatchString(in) && loose:
		t[rel] = fmt.Sprintf("mode %o", st.Mode&0o7777)
		return
	case inside && !obeyed.MatchString(in):
		if s.before == nil && in != "swap" { // it has to stay, however changed
			t[rel] = ""
		}
		return
	case inside && st.Mode&unix.S_IFMT == unix.S_IFDIR:
		t[rel] = fmt.Sprintf("mode %o", st.Mode) // what matters in it is looked at by itself
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "mode %o owner %d:%d links %d time %d.%d", st.Mode, st.Uid, st.Gid, st.Nlink, st.Mtim.Sec, st.Mtim.Nsec)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, " size %d text %x %v", st.Size, sha256.Sum256(data), err)
		if st.Atim.Sec < 1000 {
			b.WriteString(" access time")
		}
		b.WriteString(" flags " + flags(path))
	case unix.S_IFLNK:
		target, _ := os.Readlink(path)
		b.WriteString(" to " + target)
	}
	names := make([]byte, 1<<10)
	if n, err := unix.Llistxattr(path, names); err == nil {
		for name := range bytes.SplitSeq(names[:n], []byte{0}) {
			if len(name) > 0 {
				value := make([]byte, 1<<8)
				n, _ := unix.Lgetxattr(path, string(name), value)
				fmt.Fprintf(&b, " %s=%x", name, value[:max(n, 0)])
			}
		}
	}
	t[rel] = b.String()
}

// From linux/fs.h.
const (
	getFlags, setFlags    = 0x80086601, 0x40086602
	immutable, appendOnly = 0x10, 0x20
	noDump, noAccessTime  = 0x40, 0x80
)

func flags(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var n int64
	syscall.Syscall(unix.SYS_IOCTL, uintptr(fd), getFlags, uintptr(unsafe.Pointer(&n)))
	return strconv.FormatInt(n&(immutable|appendOnly|noDump|noAccessTime), 16)
}

func clearFlags(path string, d fs.DirEntry) {
	if d == nil || !d.Type().IsRegular() {
		return
	}
	if fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err == nil {
		var n int64
		syscall.Syscall(unix.SYS_IOCTL, uintptr(fd), getFlags, uintptr(unsafe.Pointer(&n)))
		if n&(immutable|appendOnly) != 0 {
			n &^= immutable | appendOnly
			syscall.Syscall(unix.SYS_IOCTL, uintptr(fd), setFlags, uintptr(unsafe.Pointer(&n)))
		}
		unix.Close(fd)
	}
}

// judge says what a run got that printed output: every trace that it left
// outside, by any attempt's way.
func (s *scene) judge(output []byte) []string {
	var got []string
	add := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	after := s.look()
	for path, was := range s.before {
		switch now, there := after[path]; {
		case !there && was == "" && exists(filepath.Join(s.dir, path)):
		case !there:
			add("gone: %s", path)
		case now != was && was != "":
			add("changed: %s: %s", path, difference(was, now))
		case now != was:
			add("changed: %s: %s", path, now)
		}
	}
	for path, now := range after {
		if _, there := s.before[path]; !there {
			add("made: %s: %.60s", path, now)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for w, place := range s.secrets {
		if bytes.Contains(output, []byte(w)) {
			add("read: %s", place)
		}
	}
	// A secret somewhere else is as good as read.
	filepath.WalkDir(s.ws, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil || len(data) > 1<<20 {
			return nil
		}
		for w, place := range s.secrets {
			if rel, _ := filepath.Rel(s.dir, path); place != rel && bytes.Contains(data, []byte(w)) && !sameFile(path, filepath.Join(s.dir, place)) {
				add("copied: %s to %s", place, rel)
			}
		}
		return nil
	})
	got = append(got, s.arrived...)
	if exists("/dev/shm/" + s.mark) {
		add("made: /dev/shm/%s", s.mark)
	}
	if s.semaphore() > 0 {
		add("changed: System V semaphore")
	}
	if s.victim != nil {
		if now := s.victimState(); now != s.was {
			add("changed: another process: %s", difference(s.was, now))
		}
	}
	if s.terminal != nil && strings.Contains(s.terminal.typed(), s.mark) {
		add("typed: into the terminal")
	}
	for line := range bytes.Lines(output) {
		if claim, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("GOT ")); ok {
			add("says: %.80s", claim)
		}
	}
	slices.Sort(got)
	return slices.Compact(got)
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// difference gives the words that are not the same.
func difference(was, now string) string {
	a, b := strings.Fields(was), strings.Fields(now)
	var d []string
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			d = append(d, fmt.Sprintf("%s -> %s", a[i], b[i]))
		}
	}
	if len(a) != len(b) {
		d = append(d, fmt.Sprintf("%d words -> %d", len(a), len(b)))
	}
	return strings.Join(d, ", ")
}

// victimState is all of the other process that somebody else could have
// changed.
func (s *scene) victimState() string {
	pid := s.victim.Process.Pid
	read := func(name string) string {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		return strings.TrimSpace(string(b))
	}
	stat := read("stat")
	state := ""
	if i := strings.LastIndexByte(stat, ')'); i > 0 && len(stat) > i+2 {
		switch state = stat[i+2 : i+3]; state {
		case "R", "D":
			state = "S" // asleep or about to be
		}
	}
	for line := range strings.Lines(read("status")) {
		if key, value, _ := strings.Cut(line, ":"); key == "SigPnd" || key == "ShdPnd" {
			if n, _ := strconv.ParseUint(strings.TrimSpace(value), 16, 64); n != 0 {
				state = "signalled"
			}
		}
	}
	nice, _ := unix.Getpriority(unix.PRIO_PROCESS, pid)
	var cpus unix.CPUSet
	unix.SchedGetaffinity(pid, &cpus)
	policy, _, _ := syscall.Syscall(unix.SYS_SCHED_GETSCHEDULER, uintptr(pid), 0, 0)
	ioprio, _, _ := syscall.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(pid), 0)
	var files unix.Rlimit
	unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &files)
	memory := make([]byte, 64)
	if f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid)); err == nil {
		f.ReadAt(memory, int64(s.victimAt))
		f.Close()
	}
	return fmt.Sprintf("state=%s nice=%d cpus=%x policy=%d ioprio=%d files=%d:%d oom=%s comm=%s filter=%s slack=%s memory=%x", state, nice, cpus[0], policy, ioprio,
		files.Cur, files.Max, read("oom_score_adj"), read("comm"), read("coredump_filter"), read("timerslack_ns"), sha256.Sum256(memory))
}

// lingering finds what still runs of the scene's run: its directory is inside.
// Processes that end while they are looked at are counted; a chain of them is
// hard to see otherwise.
func (s *scene) lingering() (found []int, passing int) {
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		if name.Name()[0] < '0' || name.Name()[0] > '9' {
			continue
		}
		link := "/proc/" + name.Name() + "/cwd"
		dir, err := os.Readlink(link)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			passing++
		}
		if err != nil || dir != s.ws && !strings.HasPrefix(dir, s.ws+"/") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err != nil || s.victim != nil && pid == s.victim.Process.Pid {
			continue
		}
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
			if i := bytes.LastIndexByte(b, ')'); i > 0 && len(b) > i+2 && b[i+2] == 'Z' {
				continue
			}
		}
		found = append(found, pid)
	}
	return found, passing
}

// survivors kills what lingers and says how much that was.
// It looks again while processes come and go, at most looks times.
func (s *scene) survivors(looks int) int {
	all := map[int]bool{}
	deadline := time.Now().Add(10 * time.Second)
	for again := 0; again < looks && time.Now().Before(deadline); again++ {
		found, passing := s.lingering()
		for _, pid := range found {
			all[pid] = true
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(found) > 0 {
			again = 0
		} else if passing == 0 {
			break
		}
	}
	return len(all)
}
