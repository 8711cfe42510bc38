package sandbox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// step is one system call, or two, of a random program.
type step struct {
	Op   string
	A, B string
	N    uint64
}

// The test binary, started with this variable, performs the steps that it
// holds. It minds no error and prints what it reads.
const programVar = "PROGRAM_STEPS"

var ops = []string{"read", "write", "append", "create", "temporary", "truncate", "unlink", "rmdir", "mkdir", "rename", "exchange", "link", "symlink",
	"chmod", "utimes", "setxattr", "mknod", "chdir", "copy", "path", "list", "raw"}

func performSteps() {
	var steps []step
	if err := json.Unmarshal([]byte(os.Getenv(programVar)), &steps); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, s := range steps {
		s.perform()
	}
}

func (s step) perform() {
	open := func(path string, flags int) int {
		fd, err := unix.Open(path, flags|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, uint32(s.N)&0o777)
		if err != nil {
			return -1
		}
		return fd
	}
	write := func(fd int) { unix.Write(fd, []byte("written")); unix.Close(fd) }
	read := func(fd int) []byte {
		b := make([]byte, 1<<10)
		n, _ := unix.Read(fd, b)
		unix.Close(fd)
		return b[:max(n, 0)]
	}
	switch s.Op {
	case "read":
		fmt.Printf("%s\n", read(open(s.A, unix.O_RDONLY)))
	case "write":
		write(open(s.A, unix.O_RDWR))
	case "append":
		write(open(s.A, unix.O_WRONLY|unix.O_APPEND))
	case "create":
		write(open(s.A, unix.O_WRONLY|unix.O_CREAT|int(s.N)&(unix.O_TRUNC|unix.O_EXCL|unix.O_NOFOLLOW)))
	case "temporary":
		fd := open(s.A, unix.O_TMPFILE|unix.O_RDWR)
		unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, s.B, unix.AT_SYMLINK_FOLLOW)
		write(fd)
	case "truncate":
		unix.Truncate(s.A, int64(s.N%5))
	case "unlink":
		unix.Unlink(s.A)
	case "rmdir":
		unix.Rmdir(s.A)
	case "mkdir":
		unix.Mkdir(s.A, 0o755)
	case "rename":
		unix.Rename(s.A, s.B)
	case "exchange":
		unix.Renameat2(unix.AT_FDCWD, s.A, unix.AT_FDCWD, s.B, uint(s.N)&7)
	case "link":
		unix.Linkat(unix.AT_FDCWD, s.A, unix.AT_FDCWD, s.B, int(s.N)&unix.AT_SYMLINK_FOLLOW)
	case "symlink":
		unix.Symlink(s.A, s.B)
	case "chmod":
		unix.Chmod(s.A, uint32(s.N)&0o7777|0o400)
	case "utimes":
		unix.Utimes(s.A, []unix.Timeval{{Sec: 1}, {Sec: 2}})
	case "setxattr":
		unix.Setxattr(s.A, "user.random", []byte{byte(s.N)}, 0)
	case "mknod":
		unix.Mknod(s.A, unix.S_IFIFO|0o600, 0)
	case "chdir":
		unix.Chdir(s.A)
	case "copy":
		data := read(open(s.A, unix.O_RDONLY))
		if fd := open(s.B, unix.O_WRONLY|unix.O_CREAT); fd >= 0 {
			unix.Write(fd, data)
			unix.Close(fd)
		}
	case "path":
		fd := open(s.A, unix.O_PATH)
		again := "/proc/self/fd/" + strconv.Itoa(fd)
		if s.N&1 == 0 {
			write(open(again, unix.O_WRONLY))
		} else {
			fmt.Printf("%s\n", read(open(again, unix.O_RDONLY)))
		}
		unix.Close(fd)
	case "list":
		os.ReadDir(s.A)
	case "raw":
		// Any call with names or nothing for arguments, but for those that end,
		// stop or replace this process, or would wait.
		nr := uintptr(s.N % 470)
		switch nr {
		case unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_RT_SIGRETURN, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_CLONE, unix.SYS_CLONE3,
			unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_PPOLL, unix.SYS_PSELECT6,
			unix.SYS_MUNMAP, unix.SYS_MMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_BRK, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_SECCOMP,
			unix.SYS_FUTEX, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_SIGALTSTACK, unix.SYS_SET_TID_ADDRESS, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
			unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_RSEQ, unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_READ, unix.SYS_EPOLL_PWAIT, unix.SYS_FLOCK:
			return
		}
		if legacyBlocks(nr) {
			return
		}
		a, _ := unix.BytePtrFromString(s.A)
		b, _ := unix.BytePtrFromString(s.B)
		rawNames(nr, a, b, s.N)
	}
}

// randomPath is a path of the tree by some spelling.
func randomPath(r *rand.Rand, paths []string) string {
	p := paths[r.IntN(len(paths))]
	switch r.IntN(8) {
	case 0:
		p = filepath.Join(filepath.Dir(p), "new"+strconv.Itoa(r.IntN(6)))
	case 1:
		p = "/proc/self/root" + p
	case 2:
		p = filepath.Dir(p) + "/../" + filepath.Base(filepath.Dir(p)) + "/./" + filepath.Base(p)
	case 3:
		p = filepath.Join(filepath.Dir(p), "new"+strconv.Itoa(r.IntN(6)), filepath.Base(p))
	case 4:
		p = filepath.Base(p) // beneath wherever it is
	}
	return p
}

// randomProfile grants and denies over the trees, on top of base.
func randomProfile(r *rand.Rand, base *profiles.Profile, dirs, files []string) *profiles.Profile {
	p := *base
	p.Paths = slices.Clone(base.Paths)
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	for range 1 + r.IntN(4) {
		p.Paths = append(p.Paths, profiles.PathRule{Path: pick(dirs), Tree: true, Access: profiles.Access(1 + r.IntN(int(profiles.AllAccess)))})
	}
	for range r.IntN(4) {
		d := profiles.Denial{Path: pick(append(dirs[1:len(dirs):len(dirs)], files...)), Access: profiles.AllAccess}
		switch r.IntN(4) {
		case 0:
			d.Path, d.Match = dirs[0], pick([]string{".env", "*.key", ".git/f"})
		case 1:
			d.Path, d.Match = dirs[0], pick([]string{".git/f", ".git", "deep/.env"})
			d.Access, d.Class = profiles.Write|profiles.Create|profiles.Delete, profiles.Control
		}
		p.Denials = append(p.Denials, d)
	}
	p.Normalize()
	return &p
}

// state is what can be told of a file from outside.
type state struct {
	kind fs.FileMode
	text string // content, or a link's target
	meta string // mode, owner, attributes; times where they are not those of a directory
}

func look(t *testing.T, root string) map[string]state {
	t.Helper()
	all := map[string]state{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		s := state{kind: d.Type(), meta: fmt.Sprintf("mode %o owner %d", st.Mode, st.Uid)}
		need := uint32(0o400)
		if d.IsDir() {
			need = 0o700
		}
		if st.Mode&need != need && d.Type()&^fs.ModeDir == 0 {
			os.Chmod(path, fs.FileMode(st.Mode&0o777|need)) // noted as it was; an owner who is not root has to see inside
		}
		switch {
		case d.Type() == fs.ModeSymlink:
			s.text, _ = os.Readlink(path)
		case d.Type().IsRegular():
			data, err := beginning(path)
			if err != nil {
				return err
			}
			var value [8]byte
			n, _ := unix.Lgetxattr(path, "user.random", value[:])
			s.text = string(data)
			s.meta += fmt.Sprintf(" size %d time %d.%d attribute %x", st.Size, st.Mtim.Sec, st.Mtim.Nsec, value[:max(n, 0)])
		}
		all[path] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// beginning gives as much of a file as the programs know of: some make one of
// terabytes, of nothing.
func beginning(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<16))
}

// crimes are the effects that the profile does not permit.
func crimes(p *profiles.Profile, before, after map[string]state, output []byte) []string {
	var list []string
	allows := func(path string, a profiles.Access) bool { return p.Allows(path, a).Allowed }
	for path, was := range before {
		now, there := after[path]
		replaced := allows(path, profiles.Delete) && allows(path, profiles.Create)
		switch {
		case !there:
			if !allows(path, profiles.Delete) {
				list = append(list, "gone: "+path)
			}
		case was.kind.IsDir() && now.kind.IsDir():
			if was.meta != now.meta && !allows(path, profiles.Write) && !allows(path, profiles.Create) && !replaced {
				list = append(list, fmt.Sprintf("changed: %s: %s -> %s", path, was.meta, now.meta))
			}
		case was != now && !allows(path, profiles.Write) && !replaced:
			list = append(list, fmt.Sprintf("changed: %s: %.120v -> %.120v", path, was, now))
		}
		// What was in a file is told by its word, wherever it was read.
		if was.kind.IsRegular() && bytes.Contains(output, []byte(was.text)) && !allows(path, profiles.Read) {
			list = append(list, "read: "+path)
		}
	}
	for path := range after {
		if _, there := before[path]; !there && !allows(path, profiles.Create) {
			list = append(list, "made: "+path)
		}
	}
	slices.Sort(list)
	return list
}

// A program of random calls changes nothing outside that the profile does not
// permit, and reads nothing; without a sandbox the same programs do. RANDOM_TIME
// is how long to try others, RANDOM_SEED the first program.
func TestRandomPrograms(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	host := &profiles.Host{OS: "linux", Home: "/nonexistent", FS: os.DirFS("/"), Env: map[string]string{}}
	base := &profiles.Profile{Process: profiles.Process{Create: true}, Paths: profiles.BaseReads(host)}
	base.Paths = append(base.Paths, profiles.PathRule{Path: self, Access: profiles.Read | profiles.Execute})
	modes := []sandbox.Mode{sandbox.Off}
	if linux.ProbeDeep().Namespaces {
		modes = append(modes, sandbox.On)
	}
	long, _ := time.ParseDuration(os.Getenv("RANDOM_TIME"))
	first, err := strconv.ParseUint(os.Getenv("RANDOM_SEED"), 10, 64)
	if err != nil {
		first = 1 // the same programs each time, unless there is time to find others
		if long > 0 {
			first = uint64(time.Now().UnixNano())
		}
	}
	end := time.Now().Add(long)
	programs, effects, bareEffects := 0, 0, 0
	for seed := first; programs < 12 || time.Now().Before(end); seed++ {
		programs++
		r := rand.New(rand.NewPCG(seed, 0))
		mode := modes[r.IntN(len(modes))]
		var draws struct {
			steps []step
			p     *profiles.Profile
		}
		try := func(bare bool) []string {
			r := rand.New(rand.NewPCG(seed, 1))
			top, err := os.MkdirTemp(cache, "random-")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(top)
			if top, err = filepath.EvalSymlinks(top); err != nil {
				t.Fatal(err)
			}
			root := top + "/w"
			dirs, files := plant(t, root)
			_, others := plant(t, top+"/outside")
			draws.p = randomProfile(r, base, dirs, files)
			draws.p.Workspace = root
			paths := append(append(slices.Clone(dirs), files...), others[:4]...)
			draws.steps = nil
			for range 60 {
				draws.steps = append(draws.steps, step{ops[r.IntN(len(ops))], randomPath(r, paths), randomPath(r, paths), r.Uint64()})
			}
			if bare { // on the real machine only by names of the tree
				draws.steps = slices.DeleteFunc(draws.steps, func(s step) bool { return s.Op == "raw" })
			}
			steps, err := json.Marshal(draws.steps)
			if err != nil {
				t.Fatal(err)
			}
			before := look(t, top)
			var out []byte
			if bare {
				cmd := exec.Command(self)
				cmd.Dir, cmd.Env = root, append(os.Environ(), programVar+"="+string(steps))
				out, _ = cmd.Output()
			} else {
				p := *draws.p
				p.Env.Set = []profiles.EnvVar{{Name: programVar, Value: string(steps)}}
				out = runProgram(t, &p, self, mode, root)
			}
			after := look(t, top)
			if !bare {
				for path, s := range after {
					if before[path] != s {
						effects++
					}
				}
			}
			return crimes(draws.p, before, after, out)
		}
		bareEffects += len(try(true))
		if list := try(false); len(list) > 0 {
			b, _ := json.Marshal(draws.steps)
			t.Fatalf("RANDOM_SEED=%d (mode %v):\n%s\n%s\n%s", seed, mode, strings.Join(list, "\n"), about(draws.p, draws.p.Workspace), b)
		}
	}
	t.Logf("%d programs, %d effects that are permitted; without a sandbox %d that are not", programs, effects, bareEffects)
	if effects == 0 || bareEffects == 0 {
		t.Error("the programs did nothing: the test shows nothing")
	}
}

// plant fills a directory two levels deep; every file has a word of its own.
func plant(t *testing.T, root string) (dirs, files []string) {
	t.Helper()
	var fill func(dir string, depth int)
	fill = func(dir string, depth int) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
		for _, n := range fileNames {
			p := filepath.Join(dir, n)
			if err := os.WriteFile(p, fmt.Appendf(nil, "word %x", rand.Uint64()), 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, p)
		}
		for _, n := range dirNames {
			if depth > 0 {
				fill(filepath.Join(dir, n), depth-1)
			}
		}
	}
	fill(root, 1)
	return dirs, files
}

func runProgram(t *testing.T, p *profiles.Profile, self string, mode sandbox.Mode, dir string) []byte {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read := make(chan []byte)
	go func() {
		var all bytes.Buffer
		all.ReadFrom(r)
		read <- all.Bytes()
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	_, err = sandbox.Run(&sandbox.Spec{
		Profile: p, Path: self, Argv: []string{self}, Dir: dir, Environ: os.Environ(),
		Stdin: null, Stdout: w, Stderr: w, Namespaces: mode, Files: os.DirFS("/"),
	})
	w.Close()
	out := <-read
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, syscall.EPIPE) {
		t.Fatalf("%v (mode %v)\n%s", err, mode, about(p, dir))
	}
	return out
}

// rawNames makes a call with names where calls have them.
func rawNames(nr uintptr, a, b *byte, n uint64) {
	cwd := unix.AT_FDCWD
	at := uintptr(cwd)
	small := uintptr(n >> 32 & 7)
	switch n >> 60 & 3 {
	case 0:
		syscall.RawSyscall6(nr, uintptr(unsafe.Pointer(a)), uintptr(unsafe.Pointer(b)), small, small, 0, 0)
	case 1:
		syscall.RawSyscall6(nr, at, uintptr(unsafe.Pointer(a)), at, uintptr(unsafe.Pointer(b)), small, 0)
	case 2:
		syscall.RawSyscall6(nr, at, uintptr(unsafe.Pointer(a)), small, uintptr(unsafe.Pointer(b)), small, 0)
	default:
		syscall.RawSyscall6(nr, uintptr(unsafe.Pointer(a)), small, uintptr(unsafe.Pointer(b)), small, small, 0)
	}
}
