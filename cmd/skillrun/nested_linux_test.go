package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"skillrun/linux"
	"skillrun/sandbox/sandboxtest"
)

// A run inside a run: the supervisor of the outer one rules on its calls, by both
// profiles.

// outerRun makes a workspace and gives what runs a script in it, bare or in a run
// that may write all of it.
type outerRun struct {
	t    *testing.T
	dir  string
	env  []string
	args []string // of the run; nil for none
}

// eachOuter calls f for a script outside every run, and inside one in every way
// that this machine has: with namespaces and without, with a file whose denial
// has every open asked about and without one.
func eachOuter(t *testing.T, f func(o *outerRun, inside bool)) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	features := linux.ProbeDeep()
	if features.Landlock < 6 {
		sandboxtest.Skip(t, sandboxtest.Machine, "below Landlock ABI 6 a run inside does not hold signals, and is refused")
	}
	start := func(t *testing.T, secret bool) *outerRun {
		dir, env := home(t)
		o := &outerRun{t: t, dir: dir, env: env}
		for _, d := range []string{"sub", "side"} {
			if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		o.write("inside", "contents\n")
		o.write("sub/old", "old\n")
		for _, name := range []string{"sub", "side", "all"} {
			scope := filepath.Join(dir, name) + "/**"
			if name == "all" {
				scope = dir + "/**"
			}
			o.write(name+".json", fmt.Sprintf(`{"permissions": [
  {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}},
  {"capability": "filesystem.write", "effect": "allow", "constraints": {"resource_scope": [%q]}},
  {"capability": "source_code.execute", "effect": "allow"},
  {"capability": "shell.execute", "effect": "allow"}
]}`, scope))
		}
		data, err := os.ReadFile(program(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "skillrun"), data, 0o755); err != nil {
			t.Fatal(err)
		}
		if secret {
			o.write(".env", "SECRET=1\n")
		}
		return o
	}
	t.Run("bare", func(t *testing.T) { f(start(t, false), false) })
	modes := []string{"off"}
	if features.Namespaces {
		modes = append(modes, "on")
	}
	for _, mode := range modes {
		for _, secret := range []bool{false, true} {
			t.Run(fmt.Sprintf("namespaces %s, secret %t", mode, secret), func(t *testing.T) {
				o := start(t, secret)
				o.args = []string{program(t), "--namespaces", mode, "--grant", "filesystem.write:.", "--grant", "filesystem.delete:.", "--grant", "source_code.execute:.", "--"}
				f(o, true)
			})
		}
	}
}

func (o *outerRun) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o644); err != nil {
		o.t.Fatal(err)
	}
}

// bash runs a script.
func (o *outerRun) bash(script string) string {
	o.t.Helper()
	argv := append(o.args, "bash", "-c", script)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = o.dir, o.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		o.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// asHeld runs a script as a run of the manifest NAME.json would be started.
const asHeld = `held() { local name=$1; shift; ./skillrun --approve declared --manifest $name.json -- "$@"; }
`

// attempts tries to change what only the outer run may. Each says what became of
// it. What waits for a process that nobody can wait for reads its output to the end.
const attempts = `T=top
try() { local name=$1; shift; if "$@" 2>/dev/null; then echo "$name: through"; else echo "$name: refused"; fi; }
yes() { [ "$("$@" 2>/dev/null)" = yes ]; }
into() { echo x >"$1"; }
adds() { echo x >>"$1"; }
later() { (setsid bash -c 'while read -r k v; do [ "$k" != PPid: ] || now=$v; done </proc/$$/status
while [ "$now" = "$1" ]; do while read -r k v; do [ "$k" != PPid: ] || now=$v; done </proc/$$/status; done
echo x >"$2" && echo yes' later $BASHPID "$1" &); }
python() { /usr/bin/python3 -I -S -c "import ctypes, os, platform, resource, sys
def through(path):
    open(path, 'w').close()
    os.write(1, b'yes')
$1" "$2"; }
try write into "$T/write"
try append adds "$T/append"
try create into "$T/created"
try truncate truncate -s 0 "$T/truncate"
try mkdir mkdir "$T/made"
try symlink ln -s x "$T/link"
try fifo mkfifo "$T/fifo"
try "link out" ln sub/old "$T/linked"
try "link in" ln "$T/linkin" sub/linked
try "rename out" /usr/bin/python3 -I -S -c 'import os, sys; os.rename("sub/mine", sys.argv[1])' "$T/renamed"
try "rename in" /usr/bin/python3 -I -S -c 'import os, sys; os.rename(sys.argv[1], "sub/taken")' "$T/renamein"
try exchange /usr/bin/python3 -I -S -c 'import ctypes, os, sys; c = ctypes.CDLL(None); sys.exit(c.renameat2(-100, b"sub/other", -100, os.fsencode(sys.argv[1]), 2) != 0)' "$T/exchange"
try unlink rm -f "$T/unlink"
try rmdir rmdir "$T/rmdir"
try chmod chmod 600 "$T/chmod"
try times touch -d 2001-01-01 "$T/times"
try "metadata by descriptor" /usr/bin/python3 -I -S -c 'import os, sys; os.fchmod(os.open(sys.argv[1], os.O_RDONLY), 0o600)' "$T/fchmod"
try "through a link" into sub/outwards
try "by /proc/self/cwd" into "/proc/self/cwd/$T/proc"
try subshell bash -c '(cd sub; (echo x >"../$1"))' bash "$T/subshell"
try daemon yes later "$T/daemon"
try "double fork" yes python 'if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: through(sys.argv[1])
    os._exit(0)
os.wait()' "$T/double"
try "fork beside" yes python 'if ctypes.CDLL(None).syscall({"x86_64": 56}.get(platform.machine(), 220), 0x8000 | 17, 0, 0, 0, 0) == 0:
    through(sys.argv[1])
    os._exit(0)' "$T/beside"
try thread yes python 'import threading
threading.Thread(target=through, args=sys.argv[1:]).start()' "$T/thread"
try spawn yes python 'os.posix_spawn("/bin/sh", ["sh", "-c", "echo x >\"$1\" && echo yes", "sh", sys.argv[1]], os.environ)
os.wait()' "$T/spawn"
try "with lower limits" bash -c 'ulimit -m 1000000; ulimit -x 1000000; echo x >"$1"' bash "$T/limits"
try "wider registration" ./skillrun --approve declared --manifest all.json -- sh -c 'echo x >"$1"' sh "$T/wider"
`

// TestNestedHolds has a hostile script in a run inside a run. The control is the
// same script in the outer run itself, and outside both.
func TestNestedHolds(t *testing.T) {
	t.Parallel()
	eachOuter(t, func(o *outerRun, inside bool) {
		for _, name := range []string{"sub/mine", "sub/other", "sub/mine2", "sub/other2"} {
			o.write(name, "x\n")
		}
		if err := os.Symlink("../top/outwards", filepath.Join(o.dir, "sub/outwards")); err != nil {
			t.Fatal(err)
		}
		prepare := func() {
			os.RemoveAll(filepath.Join(o.dir, "top"))
			if err := os.MkdirAll(filepath.Join(o.dir, "top/rmdir"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"write", "append", "truncate", "linkin", "renamein", "exchange", "unlink", "chmod", "times", "fchmod"} {
				o.write("top/"+name, "before\n")
			}
		}
		o.write("attempts.sh", attempts)
		if inside {
			prepare()
			before := treeOf(t, filepath.Join(o.dir, "top"))
			out := o.bash(asHeld + `
held sub bash -c 'echo y >sub/new && cat inside sub/new && rm sub/new && echo works
kill -9 $PPID 2>/dev/null && echo "guardian: through"
grep -qc . /proc/$PPID/environ 2>/dev/null && echo "its environment: through"
sh -c "kill -9 \$\$" 2>/dev/null; [ $? = 137 ] || echo "own process: through"
/usr/bin/python3 -c "import resource as r; r.setrlimit(r.RLIMIT_RSS, (-1, -1))" 2>/dev/null && echo "limit: through"
. ./attempts.sh'; echo "ended $?"`)
			if !strings.Contains(out, "contents\ny\nworks\n") || !strings.Contains(out, "ended 0\n") {
				t.Errorf("the inner run does not work: %s", out)
			}
			if n := strings.Count(out, ": refused\n"); strings.Contains(out, ": through") || n != strings.Count(attempts, "\ntry ") {
				t.Errorf("%d refused of %d: %s", n, strings.Count(attempts, "\ntry "), out)
			}
			if after := treeOf(t, filepath.Join(o.dir, "top")); after != before {
				t.Errorf("before: %s\nafter: %s", before, after)
			}
		}
		prepare()
		if !inside && !strings.Contains(o.bash("bash -c 'grep -qc . /proc/$PPID/environ && echo readable; true'; true"), "readable") {
			t.Error("control: no process can read its parent's environment here")
		}
		out := o.bash(asHeld + ". ./attempts.sh")
		if n := strings.Count(out, ": through\n"); n != strings.Count(attempts, "\ntry ") {
			t.Errorf("control: %d through of %d: %s", n, strings.Count(attempts, "\ntry "), out)
		}
	})
}

// treeOf tells all names beneath dir with kind, mode, time and contents.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, p, info.Mode(), info.ModTime().UnixNano())
		if d.Type().IsRegular() {
			text, err := os.ReadFile(p)
			fmt.Fprintf(&b, "%q %v\n", text, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNestedBeside has two runs inside at once, with different rights, and a run
// inside one of them that asks for more than it has.
func TestNestedBeside(t *testing.T) {
	t.Parallel()
	eachOuter(t, func(o *outerRun, inside bool) {
		out := o.bash(asHeld + `
rounds() { held $1 bash -c 'for i in {1..20}; do echo x >$1/$i || echo "own: refused"; { echo x >$2/of$i; } 2>/dev/null && echo "other: through"; done; echo "$1 done"' rounds $1 $2; }
rounds sub side & rounds side sub & wait
held all bash -c './skillrun --approve declared --manifest sub.json -- bash -c "echo x >sub/deep && echo deep; { echo x >side/deep; } 2>/dev/null && echo side: through
./skillrun --approve declared --manifest all.json -- bash -c \"{ echo x >side/deeper; } 2>/dev/null && echo deeper: through; echo x >sub/deeper && echo deeper\""
echo x >side/all && echo all'
ls side`)
		for _, want := range []string{"sub done\n", "side done\n", "deep\n", "deeper\n", "all\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in %s", want, out)
			}
		}
		for _, no := range []string{"through", "own: refused", "of1"} {
			if strings.Contains(out, no) {
				t.Errorf("%q in %s", no, out)
			}
		}
	})
}

// TestNestedReceipt: the run inside says who holds what, needs no gap to be named,
// and the outer run tells what was refused to it, by whose rule.
func TestNestedReceipt(t *testing.T) {
	t.Parallel()
	eachOuter(t, func(o *outerRun, inside bool) {
		if !inside {
			return
		}
		out := o.bash(asHeld + `./skillrun --receipt --approve declared --manifest sub.json -- bash -c '[ ! -e .env ] || { ! cat .env; } 2>/dev/null && echo closed
/usr/bin/python3 -c "import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))"
{ echo x >inside; } 2>/dev/null; exec 3>/tmp/x && echo "temporary files"'`)
		for _, want := range []string{"closed\n", "[1, 2]\n", "temporary files\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in %s", want, out)
			}
		}
		for _, clause := range []string{"fs.read", "fs.write", "fs.deny", "fs.control", "fs.metadata", "fs.keep"} {
			found := false
			for line := range strings.Lines(out) {
				found = found || strings.Contains(line, " "+clause+" ") && strings.Contains(line, " supervised ") && strings.Contains(line, "the outer run's supervisor")
			}
			if !found {
				t.Errorf("%s is not held by the outer run's supervisor: %s", clause, out)
			}
		}
	})
}

// TestNestedCgroup: by their permissions root can make control groups, in another
// user's workspace, and the outer run's rules refuse it. A run inside goes without,
// and says so. The control is outside, where it makes one.
func TestNestedCgroup(t *testing.T) {
	t.Parallel()
	if _, ok := linux.FindCgroup(); !ok {
		sandboxtest.Skip(t, sandboxtest.Cgroups, "no group can be made here")
	}
	eachOuter(t, func(o *outerRun, inside bool) {
		if err := os.Chown(o.dir, 1001, 1001); err != nil && os.Geteuid() == 0 {
			t.Fatal(err)
		}
		out := o.bash("./skillrun --preset ci --receipt -- echo ran; ./skillrun doctor")
		held, group := "launcher, looking at the run", "missing"
		if !inside {
			held, group = "cgroup", "ok"
		}
		for _, want := range []string{`(?m)^ran$`, `limit\.memory .*` + held, `(?m)^cgroup +` + group} {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("no %s in %s", want, out)
			}
		}
	})
}

// TestNestedBounds: what is no description of a run is refused, and so are too
// many of them, after which a run inside says what it lacks.
func TestNestedBounds(t *testing.T) {
	t.Parallel()
	const script = `exec /usr/bin/python3 -c 'import ctypes, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def tell(name, text, size=None):
    n = libc.fsetxattr(-1, b"skillrun." + name, text, len(text) if size is None else size, 0)
    return n if n >= 0 else -ctypes.get_errno()
good = b"""{"run": "0123456789ab", "profile": {}, "own": [], "denied": [], "redirects": [], "umask": 18, "handled_fs": 1, "handled_net": 0, "rules": []}"""
print("bad", [tell(b"narrow", bytes(bad)) for bad in (b"", b"{" * 64, b"\xff" * 64, good[:-1], good.replace(b"umask", b"UMASK!"), good.replace(b"{}", b"[]"),
    good.replace(b"\"handled_fs\": 1", b"\"handled_fs\": 0"), good.replace(b"\"own\": []", b"\"own\": [\"L25vbmU=\"]"),
    good.replace(b"{}", b"{\"workspace\": \"relative\"}"), good + b"{}", good.replace(b"[]", b"[\"bm9uZQ==\"]", 1), good.replace(b"89ab", b""))])
big, many = good.ljust(1 << 20), 0
while many < 100 and tell(b"narrow", ctypes.create_string_buffer(big, 1 << 20), 1 << 20) > 0: many += 1
print("big", many, [tell(b"over", b"", n + 1) for n in range(many)])
print("long", tell(b"narrow", b"", 1 << 21), "elsewhere", tell(b"narrow", None, 64), "over", tell(b"over", b"", 99), "other", tell(b"other", b""))
made = 0
while made < 100 and tell(b"narrow", ctypes.create_string_buffer(good, len(good)), len(good)) > 0: made += 1
print("made", made, flush=True)
def run(): print(subprocess.run(["./skillrun", "--", "true"], capture_output=True, text=True).returncode, flush=True)
run()
print("over", tell(b"over", b"", many + 3), flush=True)
run()'`
	eachOuter(t, func(o *outerRun, inside bool) {
		want := "bad [-7, -22, -22, -22, -22, -22, -42, -20, -22, -22, -22, -22]\nbig 8 [0, 0, 0, 0, 0, 0, 0, 0]\nlong -7 elsewhere -14 over -13 other -95\nmade 64\n125\nover 0\n0\n"
		out := o.bash(script)
		if !inside { // the control: nobody listens to these names, and the run is in no other
			_, out, _ = strings.Cut(out, "made ")
			want = "0\n0\nover -9\n0\n"
		}
		if out != want {
			t.Errorf("%s\nwant %s", out, want)
		}
	})
}

// TestNestedOver: a run around ends one inside, of which a call still waits. The
// call is refused, and the supervisor that they share lives on.
func TestNestedOver(t *testing.T) {
	t.Parallel()
	const script = `exec /usr/bin/python3 -c 'import ctypes, os, subprocess
libc = ctypes.CDLL(None, use_errno=True)
waits = """
import os, threading
def writer():
    try: os.open("fifo", os.O_WRONLY)
    except PermissionError: print("refused", flush=True)
t = threading.Thread(target=writer)
t.start()
while open(f"/proc/self/task/{t.native_id}/syscall").read().split()[0] not in ("257", "56"): pass
print("waits", flush=True)
t.join()
"""
os.mkfifo("fifo")
inner = subprocess.Popen(["./skillrun", "--grant", "filesystem.write:.", "--", "/usr/bin/python3", "-c", waits], stdout=subprocess.PIPE, text=True)
print(inner.stdout.readline().strip(), libc.fsetxattr(-1, b"skillrun.over", None, ctypes.c_size_t(1), 0), flush=True)
print(inner.stdout.readline().strip(), flush=True)
os.mkdir("made")
print("outer lives", flush=True)'`
	eachOuter(t, func(o *outerRun, inside bool) {
		if !inside {
			return // nobody listens there
		}
		if out := o.bash(script); out != "waits 0\nrefused\nouter lives\n" {
			t.Errorf("%s", out)
		}
	})
}
