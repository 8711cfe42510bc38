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

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/sandboxtest"
)

// scratch are places that a run has to itself, in words that its environment fills in.
var scratch = []string{"$HOME/", "$TMPDIR/", "/tmp/", "/dev/shm/"}

// inScratch lists what the programs make in these places, and anybody may have
// made, where they are everybody's.
func inScratch() (all []string) {
	for _, dir := range scratch {
		list, _ := filepath.Glob(dir + "new[012]")
		all = append(all, list...)
	}
	return all
}

// others are places of the process outside.
var others = []string{"environ", "cwd/f", "cwd/new1", "fd/0", "root", "mem", "oom_score_adj", "timerslack_ns", "cwd", "task/$" + victimVar + "/environ", "auxv"}

// randomPath is a path of the tree by some spelling.
func randomPath(r *rand.Rand, paths []string) string {
	p := paths[r.IntN(len(paths))]
	switch r.IntN(12) {
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
	case 5:
		p = filepath.Join(filepath.Base(filepath.Dir(p)), filepath.Base(p))
	case 6:
		p = "../" + filepath.Base(p)
	case 7:
		p = scratch[r.IntN(len(scratch))] + "new" + strconv.Itoa(r.IntN(3))
		if r.IntN(2) == 0 {
			p += "/" + fileNames[r.IntN(len(fileNames))]
		}
	case 8:
		p = "/proc/$" + victimVar + "/" + others[r.IntN(len(others))]
	}
	return p
}

// randomProfile grants and denies over the trees, on top of base.
func randomProfile(r *rand.Rand, base *profiles.Profile, dirs, files []string) *profiles.Profile {
	p := *base
	p.Paths = slices.Clone(base.Paths)
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	if r.IntN(2) == 0 { // much is allowed, as in a workspace
		p.Paths = append(p.Paths, profiles.PathRule{Path: dirs[0], Tree: true, Access: profiles.AllAccess &^ (1 << r.IntN(8))})
	}
	for range 1 + r.IntN(4) {
		p.Paths = append(p.Paths, profiles.PathRule{Path: pick(dirs), Tree: true, Access: profiles.Access(1 + r.IntN(int(profiles.AllAccess)))})
	}
	for range r.IntN(3) {
		p.Paths = append(p.Paths, profiles.PathRule{Path: pick(files), Access: profiles.Access(1 + r.IntN(int(profiles.AllAccess)))})
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
	file uint64 // which file it is
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
		s := state{kind: d.Type(), file: st.Ino, meta: fmt.Sprintf("mode %o owner %d", st.Mode, st.Uid)}
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
	names := map[uint64][]string{}
	for path, was := range before {
		names[was.file] = append(names[was.file], path)
	}
	// What is in a file is whoever's who has it by one of its names.
	opens := func(was state, a profiles.Access) bool {
		return slices.ContainsFunc(names[was.file], func(path string) bool { return allows(path, a) })
	}
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
		case was.file == now.file && was != now && !opens(was, profiles.Write) && !replaced,
			was.file != now.file && !allows(path, profiles.Write) && !replaced:
			list = append(list, fmt.Sprintf("changed: %s: %.120v -> %.120v", path, was, now))
		}
		// What was in a file is told by its word, wherever it was read.
		if was.kind.IsRegular() && bytes.Contains(output, []byte(was.text)) && !opens(was, profiles.Read) {
			list = append(list, "read: "+path)
		}
	}
	for path, now := range after {
		if _, there := before[path]; !there && !allows(path, profiles.Create) {
			list = append(list, "made: "+path)
		}
		if !now.kind.IsRegular() || !allows(path, profiles.Read) {
			continue
		}
		for other, was := range before {
			if other != path && was.kind.IsRegular() && strings.Contains(now.text, was.text) && !strings.Contains(before[path].text, was.text) && !opens(was, profiles.Read) {
				list = append(list, "brought: "+other+" to "+path)
			}
		}
	}
	for line := range bytes.Lines(output) {
		path, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("executed "))
		is, there := after[string(path)]
		if !there {
			is = before[string(path)]
		}
		if ok && !allows(string(path), profiles.Execute) && !opens(is, profiles.Execute) {
			list = append(list, "executed: "+string(path))
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
		first = 40 // the same programs each time, unless there is time to find others
		if long > 0 {
			first = uint64(time.Now().UnixNano())
		}
	}
	end := time.Now().Add(long)
	least := 24
	if sandboxtest.Emulated() != "" { // beside make test
		least = 12
	}
	programs, effects, bareEffects := 0, 0, map[string]int{} // by the word that a crime begins with
	for seed := first; programs < least || time.Now().Before(end); seed++ {
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
			dirs, files := plant(t, root, self)
			_, outside := plant(t, top+"/outside", self)
			links := tangle(t, r, dirs, append(files, outside[:4]...))
			around := newSurroundings(t, root, top+"/outside")
			defer around.close()
			draws.p = randomProfile(r, base, dirs, files)
			draws.p.Workspace = root
			if one := []string{root + "/listen", root + "/a/listen", around.abstract}; r.IntN(3) == 0 {
				draws.p.Sockets = []profiles.SocketRule{{Path: one[r.IntN(len(one))]}}
			}
			paths := slices.Concat(dirs, files, outside[:4], links, []string{root + "/listen", root + "/a/listen", top + "/outside/listen"})
			draws.steps = nil
			for beside := 0; len(draws.steps) < 120; {
				s := step{ops[r.IntN(len(ops))], randomPath(r, paths), randomPath(r, paths), r.Uint64()}
				if s.Op == "beside" {
					if beside++; beside > 4 {
						continue // each doubles the threads
					}
				}
				draws.steps = append(draws.steps, s)
			}
			if bare { // on the real machine only by names of the tree
				beyond := func(name string) bool {
					return strings.HasPrefix(name, "/proc/$") || slices.ContainsFunc(scratch, func(dir string) bool { return strings.HasPrefix(name, dir+"new") })
				}
				draws.steps = slices.DeleteFunc(draws.steps, func(s step) bool {
					return s.Op == "raw" || s.Op != "read" && (beyond(s.A) || beyond(s.B))
				})
			}
			env := append(around.env(), profiles.EnvVar{Name: programVar, Value: encoded(draws.steps)})
			before, others := look(t, top), inScratch()
			var out []byte
			if bare {
				cmd := exec.Command(self)
				cmd.Dir, cmd.Env = root, os.Environ()
				for _, v := range env {
					cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
				}
				out, _ = cmd.Output()
			} else {
				p := *draws.p
				p.Env.Set = env
				out = runProgram(t, &p, self, mode, root)
			}
			after := look(t, top)
			if !bare {
				for _, path := range inScratch() {
					if !slices.Contains(others, path) {
						t.Errorf("RANDOM_SEED=%d (mode %v): made outside: %q", seed, mode, path)
					}
				}
				for path, s := range after {
					if before[path] != s {
						effects++
					}
				}
			}
			return append(crimes(draws.p, before, after, out), around.crimes(draws.p, out)...)
		}
		for _, crime := range try(true) {
			kind, _, _ := strings.Cut(crime, ":")
			bareEffects[kind]++
		}
		if list := try(false); len(list) > 0 {
			t.Fatalf("RANDOM_SEED=%d (mode %v):\n%s\n%s\n%s", seed, mode, strings.Join(list, "\n"), about(draws.p, draws.p.Workspace), encoded(draws.steps))
		}
	}
	t.Logf("%d programs, %d effects that are permitted; without a sandbox %v that are not", programs, effects, bareEffects)
	if effects == 0 {
		t.Error("the programs did nothing: the test shows nothing")
	}
	for _, kind := range []string{"gone", "changed", "read", "made", "brought", "disturbed", "connected", "sent", "executed"} {
		if bareEffects[kind] == 0 {
			t.Errorf("nothing is %s without a sandbox: the test shows nothing", kind)
		}
	}
}

func encoded(steps []step) string {
	b, err := json.Marshal(steps)
	if err != nil {
		panic(err) // plain data
	}
	return string(b)
}

// plant fills a directory two levels deep; every file has a word of its own.
func plant(t *testing.T, root, self string) (dirs, files []string) {
	t.Helper()
	var fill func(dir string, depth int)
	fill = func(dir string, depth int) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
		for _, n := range fileNames {
			p := filepath.Join(dir, n)
			if err := os.WriteFile(p, fmt.Appendf(nil, "#!%s\nword %x", self, rand.Uint64()), 0o755); err != nil {
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
