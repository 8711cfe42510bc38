//go:build amd64

package linux_test

import (
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
)

const (
	racerVariable = "SKILLRUN_TEST_RACER" // how long, and the directory outside or "bare"
	drawsVariable = "SKILLRUN_TEST_DRAWS" // seed and count
)

// raceTime is how long attackers race; make e2e gives them a minute.
func raceTime(t *testing.T) time.Duration {
	if d, err := time.ParseDuration(os.Getenv("RACE_TIME")); err == nil {
		return d
	}
	return 3 * time.Second
}

// TestSupervisedRace lets four threads change, while others call, what the
// calls are about: the path in memory, symbolic links, directories that change
// places, descriptors. Nothing guarded may have changed afterwards.
func TestSupervisedRace(t *testing.T) {
	limit := raceTime(t)
	s := newScene(t)
	self := []string{testBinary(t), "-test.run=^TestSupervisedRacer$"}
	before := guarded(t, s)
	s.env = []string{racerVariable + "=" + limit.String() + " " + s.outside}
	r := s.runWithin(limit+time.Minute, self...)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.out)
	}
	if diff := cmp.Diff(before, guarded(t, s)); diff != "" {
		t.Errorf("a race was won (-before +after):\n%s", diff)
	}
	if s.accepted.Load() > 0 {
		t.Error("a connection to a socket outside was made")
	}
	if len(s.refusals) == 0 {
		t.Error("nothing was refused: nothing was tried")
	}

	control := newScene(t)
	before = guarded(t, control)
	for limit := 500 * time.Millisecond; cmp.Equal(before, guarded(t, control)); limit *= 2 {
		if limit > 20*time.Second {
			t.Fatal("control: the racers change nothing even unsupervised")
		}
		control.env = []string{racerVariable + "=" + limit.String() + " bare"}
		if r := control.bare(self...); r.code != 0 {
			t.Fatalf("control: exit %d\n%s", r.code, r.out)
		}
	}
}

// guarded describes what must not change: all outside, control files, and
// the names of old files.
func guarded(t *testing.T, s *scene) []string {
	var list []string
	add := func(root string, contents bool) {
		filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			var st unix.Stat_t
			must(t, unix.Lstat(p, &st))
			line := p
			if contents {
				line += fmt.Sprintf(" %o", st.Mode)
			}
			if contents && d.Type().IsRegular() {
				b, _ := os.ReadFile(p)
				line += fmt.Sprintf(" %q %d", b, st.Mtim.Nano())
			}
			list = append(list, line)
			return nil
		})
	}
	add(s.outside, true)
	add(s.ws+"/.git/hooks", true)
	add(s.ws+"/.git/config", true)
	// The run may make new names beside old ones, and does, of a path that is
	// half of one and half of another.
	add(s.ws+"/olddir/inner.txt", false)
	sort.Strings(list)
	return list
}

// TestSupervisedRacer is the attacking program.
func TestSupervisedRacer(t *testing.T) {
	text := os.Getenv(racerVariable)
	if text == "" {
		return
	}
	word, outside, _ := strings.Cut(text, " ")
	limit, err := time.ParseDuration(word)
	must(t, err)
	end := time.Now().Add(limit)
	for _, d := range []string{"fine", "d1/hooks", "d2", "deep/a/b"} {
		must(t, os.MkdirAll(d, 0o755))
	}
	os.WriteFile("fine/file", nil, 0o644)
	// Half of one and half of another stays within the test's own directory.
	targets := []string{"fine/file", ".git/hooks/evil", "../outside/file", "s/evil", "d1/hooks/evil", "../outside/new", ".git/config",
		"olddir/inner.txt", "deep/../.git/config", "../outside/sock", "s/hooks/x", "s/config"}
	if outside != "bare" {
		targets = append(targets, outside+"/file", outside+"/new", "/proc/self/cwd/.git/config", "deep/a/b/../../../.git/config")
	}
	size := 0
	for _, p := range targets {
		size = max(size, len(p)+1)
	}
	path := make([]byte, size) // rewritten while calls read it
	var group sync.WaitGroup
	race := func(f func(i int)) {
		group.Add(1)
		go func() {
			defer group.Done()
			runtime.LockOSThread()
			for i := 0; time.Now().Before(end); i++ {
				f(i)
			}
		}()
	}
	race(func(i int) { // arguments
		for _, p := range targets {
			rewrite(path, p+"\x00")
		}
	})
	race(func(i int) { // links
		to := []string{"fine", ".git", ".git/hooks", "../outside", "d1"}[i%5]
		os.Symlink(to, "s"+strconv.Itoa(i%7))
		os.Rename("s"+strconv.Itoa(i%7), "s")
	})
	race(func(i int) { // directories
		unix.Renameat2(unix.AT_FDCWD, "d1", unix.AT_FDCWD, "d2", unix.RENAME_EXCHANGE)
		unix.Rename("deep/a", "deep/z")
		unix.Rename("deep/z", "deep/a")
		unix.Rename("d1", "sub/.git")
	})
	fine, err := unix.Open("fine", unix.O_PATH, 0)
	must(t, err)
	spot, err := unix.FcntlInt(uintptr(fine), unix.F_DUPFD, 100)
	must(t, err)
	hooks, _ := unix.Open(".git/hooks", unix.O_PATH, 0)
	away, _ := unix.Open("../outside", unix.O_PATH, 0)
	race(func(i int) { // descriptors
		for _, fd := range []int{fine, hooks, away} {
			unix.Dup3(fd, spot, 0)
		}
	})
	at := func(p []byte) uintptr { return uintptr(unsafe.Pointer(&p[0])) }
	call := func(nr uintptr, args ...uintptr) int {
		var a [6]uintptr
		copy(a[:], args)
		r, _, e := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		if e != 0 {
			return -1
		}
		return int(r)
	}
	cwd := ^uintptr(99)
	evil, mine, name := []byte("evil\x00"), []byte("fine/mine\x00"), []byte("evil\x00")
	for k := 0; k < 2; k++ {
		race(func(i int) {
			switch i % 10 {
			case 0, 1:
				if fd := call(unix.SYS_OPENAT, cwd, at(path), unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND, 0o644); fd >= 0 {
					unix.Write(fd, []byte("evil"))
					unix.Close(fd)
				}
			case 2:
				call(unix.SYS_UNLINKAT, cwd, at(path), 0)
			case 3:
				call(unix.SYS_MKDIRAT, cwd, at(path), 0o755)
			case 4:
				call(unix.SYS_FCHMODAT, cwd, at(path), 0o600)
			case 5:
				os.WriteFile("fine/mine", []byte("evil"), 0o644)
				call(unix.SYS_RENAMEAT, cwd, at(mine), cwd, at(path))
			case 6:
				call(unix.SYS_LINKAT, cwd, at(path), cwd, at(mine), 0)
				if fd, err := unix.Open("fine/mine", unix.O_WRONLY|unix.O_TRUNC, 0); err == nil {
					unix.Close(fd)
				}
				os.Remove("fine/mine")
			case 7:
				call(unix.SYS_SYMLINKAT, at(evil), cwd, at(path))
			case 8:
				if fd := call(unix.SYS_OPENAT, uintptr(spot), at(name), unix.O_WRONLY|unix.O_CREAT, 0o644); fd >= 0 {
					unix.Close(fd)
				}
				call(unix.SYS_UNLINKAT, uintptr(spot), at(name), 0)
			case 9:
				fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
				if err != nil {
					return
				}
				address := make([]byte, 2+len(path))
				address[0] = unix.AF_UNIX
				rewrite(address[2:], path)
				call(unix.SYS_CONNECT, uintptr(fd), at(address), uintptr(min(len(address), 110)))
				unix.Close(fd)
			}
		})
	}
	group.Wait()
}

// rewrite is a copy that races, as the race detector need not say.
//
//go:norace
func rewrite[T string | []byte](to []byte, from T) {
	for i := range min(len(to), len(from)) {
		to[i] = from[i]
	}
}

// TestSupervisedNeverExceeds draws requests and has them served by the kernel
// for a child under the first layer alone, and by the performing thread, with
// a supervisor that allows everything: the same calls succeed, with the same
// effects, the others fail with the same errors.
func TestSupervisedNeverExceeds(t *testing.T) {
	// The same draws each time, so that a failure is somebody's change; other
	// ones in make e2e.
	seed := int64(1)
	if os.Getenv("RACE_TIME") != "" {
		seed = time.Now().UnixNano()
	}
	for i := int64(0); i < 4; i++ {
		t.Run(strconv.FormatInt(seed+i, 10), func(t *testing.T) {
			t.Parallel()
			var outs, trees [2]string
			for k := range outs {
				c := newCell(t)
				c.write("old.txt", "old\n")
				c.write("dir/inner", "old\n")
				c.write(c.outside+"/file", "old\n")
				must(t, os.Mkdir(c.outside+"/d", 0o755))
				must(t, os.Symlink(c.outside+"/file", c.ws+"/out"))
				must(t, os.Symlink("dir", c.ws+"/in"))
				must(t, os.Symlink("loop", c.ws+"/loop"))
				must(t, os.Symlink("nothing", c.ws+"/dangling"))
				c.kernel = c.profile
				all := *c.profile
				all.Denials, all.Process.AnyMode = nil, true
				all.Paths = []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.AllAccess}}
				c.profile = &all
				c.config = func(s *linux.Supervision) { s.Redirects = nil }
				c.alone = k == 0
				c.env = []string{drawsVariable + "=" + strconv.FormatInt(seed+i, 10)}
				r := c.run(testBinary(t), "-test.run=^TestSupervisedDraws$", "-test.v")
				if r.code != 0 {
					t.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
				}
				base := filepath.Dir(c.ws)
				outs[k] = strings.ReplaceAll(r.out[:strings.Index(r.out, "--- PASS")], base, "")
				var tree strings.Builder
				filepath.WalkDir(base, func(p string, _ fs.DirEntry, _ error) error {
					fi, err := os.Lstat(p)
					must(t, err)
					target, _ := os.Readlink(p)
					b := []byte(nil)
					if fi.Mode().IsRegular() {
						b, _ = os.ReadFile(p)
					}
					fmt.Fprintf(&tree, "%s %v %q %q\n", p[len(base):], fi.Mode(), strings.ReplaceAll(target, base, ""), b)
					return nil
				})
				trees[k] = tree.String()
			}
			kernel, supervisor := strings.Split(outs[0], "\n"), strings.Split(outs[1], "\n")
			for i := range min(len(kernel), len(supervisor)) {
				if !sameAnswer(kernel[i], supervisor[i]) {
					t.Errorf("kernel:     %s\nsupervisor: %s", kernel[i], supervisor[i])
				}
			}
			if len(kernel) != len(supervisor) {
				t.Errorf("%d answers of the kernel, %d of the supervisor", len(kernel), len(supervisor))
			}
			if diff := cmp.Diff(strings.Split(trees[0], "\n"), strings.Split(trees[1], "\n")); diff != "" {
				t.Errorf("effects (-kernel +supervisor):\n%s", diff)
			}
		})
	}
}

// Where a call is wrong in two ways the supervisor may name the other one. ""
// stands for any error; success is never taken for failure.
var otherErrors = []struct{ call, kernel, supervisor string }{
	{"", "", "file name too long"},                                     // the path is copied, and names looked at, first
	{"openat", "", "is a directory"},                                   // O_CREAT with a slash at the end
	{"openat", "is a directory", ""},                                   // the same in a link's target
	{"unlinkat", "", "invalid argument"},                               // AT_REMOVEDIR of "/" or ".."
	{"unlinkat", "permission denied", "not a directory"},               // AT_REMOVEDIR
	{"renameat2", "invalid cross-device link", ""},                     // between mounts: looked at last
	{"renameat2", "permission denied", ""},                             // by Landlock: the same
	{"renameat2", "file exists", "not a directory"},                    // RENAME_NOREPLACE
	{"renameat2", "invalid argument", "not a directory"},               // a directory into itself
	{"renameat2", "directory not empty", "is a directory"},             // a name over the directory that holds it
	{"linkat", "invalid cross-device link", "operation not permitted"}, // of a directory
	{"linkat", "permission denied", "operation not permitted"},         // the same
	{"mknodat", "", "operation not permitted"},                         // a device: the filter refuses it before any look
}

// sameAnswer compares two lines of TestSupervisedDraws.
func sameAnswer(kernel, supervisor string) bool {
	if kernel == supervisor {
		return true
	}
	asked, k, _ := cutLast(kernel, ": ")
	same, s, ok := cutLast(supervisor, ": ")
	if !ok || asked != same || k == "done" || s == "done" {
		return false
	}
	_, call, _ := strings.Cut(asked, " ")
	for _, o := range otherErrors {
		if strings.HasPrefix(call, o.call) && (o.kernel == "" || o.kernel == k) && (o.supervisor == "" || o.supervisor == s) {
			return true
		}
	}
	return false
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// TestSupervisedDraws makes random calls and prints their answers.
func TestSupervisedDraws(t *testing.T) {
	seed, err := strconv.ParseInt(os.Getenv(drawsVariable), 10, 64)
	if err != nil {
		return
	}
	r := rand.New(rand.NewSource(seed))
	unix.Umask(0o027)
	cwd, _ := os.Getwd()
	names := []string{"a", "b", "old.txt", "dir", "dir/inner", "dir/new", "in/x", "in", "out", "loop", "dangling", "../outside/file", "../outside/new", "../outside/d",
		cwd + "/a", cwd + "/dir/../b", "a/", "dir/", "./a", "nothing/x", "old.txt/x", ".", "..", "/", "", "dir/.", "dir/..", "/dev/null", "/proc/self/cwd/a", "/proc/self/fd/77",
		"/proc/thread-self/cwd/dir/c", strings.Repeat("n", 255), strings.Repeat("n", 256), strings.Repeat("x/", 2047) + "y", strings.Repeat("./", 2000) + "a", "\xff\xfe", "in/../a", "c d\n"}
	dirs := []int{unix.AT_FDCWD, unix.AT_FDCWD, 77, 78, 99, -5}
	open := func(path string, at int) {
		fd, err := unix.Open(path, unix.O_RDONLY, 0)
		must(t, err)
		must(t, unix.Dup3(fd, at, 0))
	}
	open("dir", 77)
	open("old.txt", 78)
	pick := func() string { return names[r.Intn(len(names))] }
	// Landlock does not hold metadata, and one of the two runs has nothing
	// else: these calls get names of the test's own files only.
	mine := []string{"a", "b", "old.txt", "dir/inner", "dir/new", "in/x", "out", "loop", "dangling", "../outside/file", cwd + "/a", "a/", "nothing/x", "old.txt/x"}
	pickMine := func() string { return mine[r.Intn(len(mine))] }
	dir := func() int { return dirs[r.Intn(len(dirs))] }
	flags := []int{unix.O_WRONLY, unix.O_RDWR, unix.O_CREAT, unix.O_CREAT | unix.O_WRONLY, unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY, unix.O_TRUNC, unix.O_WRONLY | unix.O_TRUNC | unix.O_CREAT,
		unix.O_NOFOLLOW | unix.O_WRONLY, unix.O_CREAT | unix.O_NOFOLLOW | unix.O_RDWR, unix.O_RDWR | unix.O_APPEND, unix.O_DIRECTORY | unix.O_RDWR, unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_RDWR, unix.O_TMPFILE | unix.O_RDWR,
		unix.O_CREAT | unix.O_DIRECTORY, unix.O_WRONLY | unix.O_NONBLOCK, unix.O_WRONLY | unix.O_CLOEXEC}
	modes := []uint32{0o644, 0o755, 0o600, 0o666, 0o777, 0o4755, 0o1777}
	for i := 0; i < 1500; i++ {
		a, b, da, db := pick(), pick(), dir(), dir()
		mode := modes[r.Intn(len(modes))]
		var what string
		var err error
		switch r.Intn(13) {
		case 0, 1, 2:
			f := flags[r.Intn(len(flags))] | unix.O_NONBLOCK // or a FIFO would wait for ever
			var fd int
			fd, err = unix.Openat(da, a, f, mode)
			what = fmt.Sprintf("openat %#o", f)
			if err == nil {
				got, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
				cloexec, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
				var st unix.Stat_t
				unix.Fstat(fd, &st)
				n, werr := unix.Write(fd, []byte("w"))
				what += fmt.Sprintf(" = %d %#o %d %o write %d %v", fd, got&^(unix.O_NOFOLLOW), cloexec, st.Mode, n, werr)
				unix.Close(fd)
			}
		case 3:
			what, err = "mkdirat", unix.Mkdirat(da, a, mode)
		case 4:
			f := []int{0, unix.AT_REMOVEDIR, 0x10000}[r.Intn(3)]
			what, err = fmt.Sprint("unlinkat ", f), unix.Unlinkat(da, a, f)
		case 5, 6:
			f := []uint{0, 0, unix.RENAME_NOREPLACE, unix.RENAME_EXCHANGE, 8}[r.Intn(5)]
			what, err = fmt.Sprint("renameat2 ", f), unix.Renameat2(da, a, db, b, f)
		case 7:
			f := []int{0, unix.AT_SYMLINK_FOLLOW, 0x10000}[r.Intn(3)]
			what, err = fmt.Sprint("linkat ", f), unix.Linkat(da, a, db, b, f)
		case 8:
			b = pickMine() // or metadata calls would follow it elsewhere
			what, err = "symlinkat", unix.Symlinkat(b, da, a)
		case 9:
			f := []uint32{unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK, unix.S_IFCHR, unix.S_IFDIR, 0}[r.Intn(6)]
			what, err = fmt.Sprintf("mknodat %o", f), unix.Mknodat(da, a, f|mode, 0x103)
		case 10:
			what, err = "truncate", unix.Truncate(a, int64(r.Intn(20)))
		case 11:
			a, da = pickMine(), unix.AT_FDCWD
			what, err = "fchmodat", unix.Fchmodat(da, a, mode|0o700, 0)
		case 12:
			a, da = pickMine(), unix.AT_FDCWD
			f := []int{0, unix.AT_SYMLINK_NOFOLLOW, unix.AT_EMPTY_PATH}[r.Intn(3)]
			what, err = "utimensat", unix.UtimesNanoAt(da, a, []unix.Timespec{{Sec: 5}, {Sec: 6}}, f)
		}
		short := func(s string) string {
			if len(s) > 60 {
				s = fmt.Sprint(s[:10], "...", len(s))
			}
			return strconv.Quote(s)
		}
		answer := "done"
		if err != nil {
			answer = err.Error()
		}
		fmt.Printf("%d %s %d %s %d %s: %s\n", i, what, da, short(a), db, short(b), answer)
	}
}
