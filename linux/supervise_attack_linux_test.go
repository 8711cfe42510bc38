//go:build amd64

package linux_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

// An attack is a few lines of Python and what would be seen from outside if
// they got through. Each runs in fresh surroundings, supervised, where the
// harm must not be there, and bare, where it must.
//
// The lines know W (the workspace, also the current directory), O (a directory
// with read rights alone), T (TMPDIR) and call (any system call, by amd64's numbers).
type attack struct {
	name, code string
	harm       func(*scene) bool
}

// Few of them need ctypes and socket, which take as long to read as Python to start.
const attackPrelude = `
import os, sys, stat, struct, time
class Later:
    def __init__(self, name): self.name = name
    def __getattr__(self, what): return getattr(__import__(self.name), what)
ctypes, socket = Later("ctypes"), Later("socket")
W, O = os.getcwd(), sys.argv[1]
T = os.environ["TMPDIR"]
P = lambda s: ctypes.c_char_p(os.fsencode(s))
def call(nr, *args):
    r = ctypes.CDLL(None, use_errno=True).syscall(nr, *args)
    if r < 0: raise OSError(ctypes.get_errno(), "call")
    return r
FD = -100
def rename2(a, b, flags): call(316, FD, P(a), FD, P(b), flags)
def write(p, text="evil", flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
    fd = os.open(p, flags, 0o644); os.write(fd, text.encode()); os.close(fd)
def acl(*entries): return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *(e + (0xffffffff,))[:3]) for e in entries)
def unix(p, kind=None):
    s = socket.socket(socket.AF_UNIX, kind or socket.SOCK_STREAM); s.settimeout(60); s.connect(p); return s
`

// attackRun are the words before an attack's script that run it.
var attackRun = []string{"python3", "-I", "-S"}

// bareAttacks is Python that runs scripts bare, one after another and each as if it had
// just been started; the lines say where.
const bareAttacks = `
import json, os, sys, traceback
answers, sys.stdout = sys.stdout, sys.stderr
for line in sys.stdin:
    dir, tmp, *sys.argv = json.loads(line)
    os.chdir(dir); os.umask(0o022); os.environ["TMPDIR"] = tmp
    names, said = {}, ""
    try: exec(open(sys.argv[0]).read(), names)
    except BaseException: said = traceback.format_exc()
    names.clear(); os.closerange(3, 100)
    print(json.dumps(said), file=answers, flush=True)
`

// startBareAttacks starts it, and gives what runs a script with its arguments in a cell.
func startBareAttacks(t *testing.T) func(c *cell, script ...string) result {
	t.Helper()
	cmd := exec.Command("python3", "-I", "-S", "-c", bareAttacks)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	var one sync.Mutex
	to, from := json.NewEncoder(in), json.NewDecoder(out)
	return func(c *cell, script ...string) (r result) {
		c.t.Helper()
		one.Lock()
		defer one.Unlock()
		must(c.t, to.Encode(append([]string{c.ws, c.own}, script...)))
		must(c.t, from.Decode(&r.out))
		if r.out != "" {
			r.code = 1
		}
		return r
	}
}

// scene is the surroundings, with what they looked like at first.
type scene struct {
	*cell
	accepted atomic.Int64
	judged   chan struct{} // has an element when talked's own datagram was read
	abstract string
}

func newScene(t *testing.T) *scene {
	s := &scene{cell: newCell(t), judged: make(chan struct{}, 1)}
	s.features |= linux.NotifySockets
	// The controls take permissions away; the directories have to go all the
	// same.
	t.Cleanup(func() {
		filepath.WalkDir(s.outside, func(path string, d os.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				os.Chmod(path, 0o700)
			}
			return nil
		})
	})
	for _, f := range []string{"old.txt", "old2.txt", "olddir/inner.txt", ".git/HEAD", ".git/config", ".git/hooks/pre-commit",
		"sub/.git/config", "sub/.git/config.lock", "module/.git", "node_modules/pkg/index.js", "src/.vscode/settings.json", ".github/x.yml"} {
		s.write(f, "old\n")
	}
	for _, f := range []string{"file", "dir/inner", "victim"} {
		s.write(s.outside+"/"+f, "old\n")
	}
	must(t, os.Mkdir(s.ws+"/empty", 0o755))
	must(t, unix.Setxattr(s.write("masked", "old\n"), accessACL, []byte(maskedACL), 0))
	must(t, os.Symlink(s.outside+"/file", s.ws+"/out"))
	must(t, os.Symlink(".git", s.ws+"/gitlink"))
	must(t, os.Symlink("old.txt", s.ws+"/oldlink"))
	must(t, os.Symlink("olddir", s.ws+"/oldway"))
	for _, way := range [...]string{"way", "oldway"} {
		s.profile.Denials = append(s.profile.Denials, profiles.Denial{Path: s.ws + "/" + way + "/denied", Access: profiles.AllAccess, Class: profiles.Sensitive})
	}
	must(t, os.Link(s.ws+"/.git/config", s.ws+"/hardconfig"))
	s.abstract = "@skillrun-attack-" + strings.ReplaceAll(filepath.Dir(s.ws), "/", "-")
	for _, name := range []string{s.outside + "/sock", s.abstract, "@" + s.ws + "/display"} {
		l, err := net.Listen("unix", name)
		must(t, err)
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.accepted.Add(1)
				c.Write([]byte("x"))
				c.Close()
			}
		}()
	}
	d, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.outside + "/dgram", Net: "unixgram"})
	must(t, err)
	t.Cleanup(func() { d.Close() })
	go func() {
		for b := make([]byte, 16); ; {
			n, err := d.Read(b)
			switch {
			case err != nil:
				return
			case string(b[:n]) == judge:
				s.judged <- struct{}{}
			default:
				s.accepted.Add(1)
			}
		}
	}()
	return s
}

func (s *scene) at(p string) string {
	if rest, ok := strings.CutPrefix(p, "O/"); ok {
		return s.outside + "/" + rest
	}
	return s.ws + "/" + p
}

func gone(p string) func(*scene) bool {
	return func(s *scene) bool { _, err := os.Lstat(s.at(p)); return err != nil }
}

func linked(p string) func(*scene) bool {
	return func(s *scene) bool { fi, err := os.Lstat(s.at(p)); return err == nil && fi.Mode()&os.ModeSymlink != 0 }
}

func made(p string) func(*scene) bool {
	return func(s *scene) bool { _, err := os.Lstat(s.at(p)); return err == nil }
}

func changed(p string) func(*scene) bool {
	return func(s *scene) bool { b, err := os.ReadFile(s.at(p)); return err != nil || string(b) != "old\n" }
}

// touched says that times or mode have become what the attacks make of them.
func touched(p string) func(*scene) bool {
	return func(s *scene) bool {
		fi, err := os.Lstat(s.at(p))
		return err == nil && (fi.ModTime().Unix() == 1 || fi.Mode().Perm()&0o022 != 0 || fi.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 ||
			fi.Mode().Perm() == 0o600 || fi.Mode().Perm() == 0)
	}
}

func labelled(p string) func(*scene) bool {
	return func(s *scene) bool {
		n, err := unix.Getxattr(s.at(p), "user.evil", make([]byte, 10))
		return err == nil && n > 0
	}
}

// bared says that the group may write, by mode alone.
func bared(p string) func(*scene) bool {
	return func(s *scene) bool {
		_, err := unix.Getxattr(s.at(p), accessACL, nil)
		fi, stat := os.Lstat(s.at(p))
		return err == unix.ENODATA && stat == nil && fi.Mode().Perm()&0o020 != 0
	}
}

const (
	accessACL = "system.posix_acl_access"

	// Of owner and user 1 rw-, group r--, mask rw-, others r--.
	maskedACL = "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\x01\x00\x00\x00" +
		"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x04\x00\xff\xff\xff\xff"
)

const judge = "judge"

// talked says whether anything came to the sockets outside. What was sent before
// this has been counted when this has been read.
func talked(s *scene) bool {
	c, err := net.Dial("unixgram", s.outside+"/dgram")
	must(s.t, err)
	defer c.Close()
	_, err = c.Write([]byte(judge))
	must(s.t, err)
	<-s.judged
	return s.accepted.Load() > 0
}

func attacks() []attack {
	return []attack{
		// What was there at the start goes away.
		{"unlink", `os.unlink("old.txt")`, gone("old.txt")},
		{"unlink absolute", `os.unlink(W + "/old.txt")`, gone("old.txt")},
		{"unlink dot-dot", `os.unlink("olddir/../old.txt")`, gone("old.txt")},
		{"unlink by descriptor", `os.unlink("old.txt", dir_fd=os.open(".", os.O_RDONLY))`, gone("old.txt")},
		{"unlink by O_PATH descriptor", `os.unlink("old.txt", dir_fd=os.open(".", os.O_PATH))`, gone("old.txt")},
		{"unlink through /proc/self/cwd", `os.unlink("/proc/self/cwd/old.txt")`, gone("old.txt")},
		{"unlink through /proc/thread-self/root", `os.unlink("/proc/thread-self/root" + W + "/old.txt")`, gone("old.txt")},
		{"unlink through /proc/self/fd", `d = os.open(".", os.O_RDONLY); os.unlink("/proc/self/fd/%d/old.txt" % d)`, gone("old.txt")},
		{"unlink through /dev/fd", `d = os.open(".", os.O_RDONLY); os.unlink("/dev/fd/%d/old.txt" % d)`, gone("old.txt")},
		{"unlink through own symlink", `os.symlink(".", "here"); os.unlink("here/old.txt")`, gone("old.txt")},
		{"unlink after chdir", `os.chdir("olddir"); os.unlink("inner.txt")`, gone("olddir/inner.txt")},
		{"unlink old symlink", `os.unlink("oldlink")`, gone("oldlink")},
		{"rmdir", `os.rmdir("empty")`, gone("empty")},
		{"rmdir by unlinkat", `call(263, FD, P("empty/"), 0x200)`, gone("empty")},
		{"rename away", `os.rename("old.txt", "mine")`, gone("old.txt")},
		{"rename into own directory", `os.mkdir("m"); os.rename("old.txt", "m/x")`, gone("old.txt")},
		{"rename directory away", `os.rename("olddir", "mine")`, gone("olddir")},
		{"rename into TMPDIR", `os.rename("olddir", T + "/x")`, gone("olddir")},
		{"exchange with own", `write("mine"); rename2("mine", "old.txt", 2)`, changed("old.txt")},
		{"exchange old", `rename2("olddir", "empty", 2)`, gone("olddir/inner.txt")},
		{"whiteout", `rename2("old.txt", "mine", 4)`, changed("old.txt")},
		{"noreplace away", `rename2("old.txt", "mine", 1)`, gone("old.txt")},
		{"rename old over old", `os.rename("old2.txt", "old.txt")`, gone("old2.txt")},
		{"own directory over old empty one, then away", `os.mkdir("m"); os.rename("m", "empty"); os.rmdir("empty")`, gone("empty")},
		{"atomic save, then unlink", `write("t"); os.rename("t", "old.txt"); os.unlink("old.txt")`, gone("old.txt")},
		{"unlink own, link old, unlink both", `write("m"); os.unlink("m"); os.link("old.txt", "m"); os.unlink("m"); os.unlink("old.txt")`, gone("old.txt")},
		{"reused directory number", `
for i in range(50):
    os.mkdir("m%d" % i); os.rmdir("m%d" % i)
os.unlink("olddir/inner.txt")`, gone("olddir/inner.txt")},
		{"rm -rf", `os.system("rm -rf olddir")`, gone("olddir/inner.txt")},

		// Control files appear or change.
		{"write .git/config", `write(".git/config")`, changed(".git/config")},
		{"append .git/config", `write(".git/config", flags=os.O_WRONLY | os.O_APPEND)`, changed(".git/config")},
		{"truncate .git/config", `os.truncate(".git/config", 0)`, changed(".git/config")},
		{"open O_TRUNC to read", `os.open(".git/config", os.O_RDONLY | os.O_TRUNC)`, changed(".git/config")},
		{"creat .git/config", `call(85, P(".git/config"), 0o644)`, changed(".git/config")},
		{"link through which git writes", `os.symlink("config", ".git/MERGE_MSG")`, linked(".git/MERGE_MSG")},
		{"the same, moved there", `os.symlink("config", "s"); os.rename("s", ".git/MERGE_MSG")`, linked(".git/MERGE_MSG")},
		{"the same, over a file", `os.symlink("config", "s"); os.rename("s", ".git/HEAD")`, linked(".git/HEAD")},
		{"the same, by a hard link", `os.symlink("config", "s"); os.link("s", ".git/MERGE_MSG", follow_symlinks=False)`, linked(".git/MERGE_MSG")},
		{"the same, exchanged", `write(".git/q"); os.symlink("config", "s"); rename2("s", ".git/q", 2)`, linked(".git/q")},
		{"the same, exchanged from there", `write(".git/q"); os.symlink("config", "s"); rename2(".git/q", "s", 2)`, linked(".git/q")},
		{"the same, in a directory of its own", `os.mkdir(".git/x"); os.symlink("../config", ".git/x/main")`, linked(".git/x/main")},
		{"the same, in one that was in a repository of the run's", `os.makedirs("d/e"); os.symlink("../config", "d/e/main"); os.makedirs("r/.git"); os.rename("d", "r/.git/d"); os.rename("r/.git/d/e", ".git/x")`, linked(".git/x/main")},
		{"the same, in one that was made deeper", `os.makedirs(".git/d/e/f"); os.rename(".git/d/e/f", ".git/x"); os.symlink("../config", ".git/x/main")`, linked(".git/x/main")},
		{"the same, in one that was beneath such a one", `os.makedirs(".git/d/e/f/x"); os.rename(".git/d/e/f", ".git/y"); os.rename(".git/y/x", ".git/x"); os.symlink("../config", ".git/x/main")`, linked(".git/x/main")},
		{"the same, in a directory that comes", `os.mkdir("d"); os.symlink("../config", "d/main"); os.rename("d", ".git/x")`, linked(".git/x/main")},
		{"write what git is about to rename to a config", `write("sub/.git/config.lock")`, changed("sub/.git/config.lock")},
		{"make one for whoever renames another", `write(".git/config.lock")`, made(".git/config.lock")},
		{"make one in other letters", `write(".git/config.LocK")`, made(".git/config.LocK")},
		{"move one there", `write("x"); os.rename("x", ".git/config.lock")`, made(".git/config.lock")},
		{"open that to make it", `os.open("sub/.git/config.lock", os.O_CREAT | os.O_RDWR | os.O_TRUNC)`, changed("sub/.git/config.lock")},
		{"link that", `os.link("sub/.git/config.lock", "x")`, made("x")},
		{"save over that", `write("x"); os.rename("x", "sub/.git/config.lock")`, changed("sub/.git/config.lock")},
		{"write through old symlink", `write("gitlink/config")`, changed(".git/config")},
		{"write through own symlink", `os.symlink(".git/config", "s"); write("s")`, changed(".git/config")},
		{"write through chain", `os.symlink(W + "/gitlink/config", "a"); os.symlink("a", "b"); write("b")`, changed(".git/config")},
		{"reopen a reading descriptor", `d = os.open(".git/config", os.O_RDONLY); write("/proc/self/fd/%d" % d)`, changed(".git/config")},
		{"reopen by pid", `d = os.open(".git/config", os.O_RDONLY); write("/proc/%d/fd/%d" % (os.getpid(), d))`, changed(".git/config")},
		{"reopen an O_PATH descriptor", `d = os.open(".git/config", os.O_PATH); write("/dev/fd/%d" % d)`, changed(".git/config")},
		{"truncate by /proc/self/fd", `d = os.open(".git/config", os.O_RDONLY); os.truncate("/proc/self/fd/%d" % d, 0)`, changed(".git/config")},
		{"hard link, write", `os.link(".git/config", "h"); write("h")`, changed(".git/config")},
		{"hard link in TMPDIR, write", `os.link(".git/config", T + "/h"); write(T + "/h")`, changed(".git/config")},
		{"linkat AT_EMPTY_PATH", `d = os.open(".git/config", os.O_RDONLY); call(265, d, P(""), FD, P("h"), 0x1000); write("h")`, changed(".git/config")},
		{"linkat of descriptor", `d = os.open(".git/config", os.O_RDONLY); call(265, FD, P("/proc/self/fd/%d" % d), FD, P("h"), 0x400); write("h")`, changed(".git/config")},
		{"save over .git/config", `write("t"); os.rename("t", ".git/config")`, changed(".git/config")},
		{"exchange .git/config", `write("t"); rename2("t", ".git/config", 2)`, changed(".git/config")},
		{"unlink .git/config", `os.unlink(".git/config")`, gone(".git/config")},
		{"hook", `write(".git/hooks/post-commit")`, made(".git/hooks/post-commit")},
		{"hook symlink", `os.symlink("/bin/true", ".git/hooks/post-commit")`, made(".git/hooks/post-commit")},
		{"hook directory", `os.mkdir(".git/hooks/x")`, made(".git/hooks/x")},
		{"hook fifo", `os.mkfifo(".git/hooks/x")`, made(".git/hooks/x")},
		{"hook mknod", `os.mknod(".git/hooks/x", 0o644 | stat.S_IFREG)`, made(".git/hooks/x")},
		{"hook link", `write("h"); os.link("h", ".git/hooks/x")`, made(".git/hooks/x")},
		{"hook rename", `write("h"); os.rename("h", ".git/hooks/x")`, made(".git/hooks/x")},
		{"hook by O_TMPFILE", `d = os.open(".git/hooks", os.O_TMPFILE | os.O_RDWR); call(265, FD, P("/proc/self/fd/%d" % d), FD, P(".git/hooks/x"), 0x400)`, made(".git/hooks/x")},
		{"hook by O_TMPFILE elsewhere", `d = os.open(".", os.O_TMPFILE | os.O_RDWR); call(265, FD, P("/proc/self/fd/%d" % d), FD, P(".git/hooks/x"), 0x400)`, made(".git/hooks/x")},
		{"hook by dangling symlink", `os.symlink(".git/hooks/x", "d"); write("d")`, made(".git/hooks/x")},
		{"nested hook", `os.mkdir("sub/.git/hooks")`, made("sub/.git/hooks")},
		{"capital letters", `write(".ENVRC")`, made(".ENVRC")},
		{".envrc", `write(".envrc")`, made(".envrc")},
		{".envrc below", `os.makedirs("a/b"); write("a/b/.envrc")`, made("a/b/.envrc")},
		{".mcp.json symlink", `os.symlink("/etc/passwd", ".mcp.json")`, made(".mcp.json")},
		{".vscode", `os.mkdir(".vscode")`, made(".vscode")},
		{".vscode with slash", `os.mkdir("./sub/.vscode/")`, made("sub/.vscode")},
		{".vscode by rename", `os.mkdir("v"); write("v/settings.json"); os.rename("v", ".vscode")`, made(".vscode")},
		{"settings inside old .vscode", `write("src/.vscode/settings.json")`, changed("src/.vscode/settings.json")},
		{"new file inside old .vscode", `write("src/.vscode/tasks.json")`, made("src/.vscode/tasks.json")},
		{"move .git away", `os.rename(".git", "g"); os.mkdir(".git"); write(".git/config")`, changed(".git/config")},
		{"move parent of .git", `os.rename("sub", "s2"); os.makedirs("sub/.git"); write("sub/.git/config")`, changed("sub/.git/config")},
		{"prepared directory becomes .github", `os.makedirs("g/workflows"); write("g/workflows/x"); os.rename("g", "olddir/.github")`, made("olddir/.github/workflows/x")},
		{"prepared directory becomes .git", `os.makedirs("g/hooks"); write("g/hooks/x"); os.rename("g", "olddir/.git")`, made("olddir/.git/hooks/x")},
		{"git file", `write("module/.git")`, changed("module/.git")},
		{"git file saved over", `write("t"); os.rename("t", "module/.git")`, changed("module/.git")},
		{"git file truncated", `os.truncate("module/.git", 0)`, changed("module/.git")},
		{"git file by another name", `os.link("module/.git", "h"); write("h")`, changed("module/.git")},
		{"git file where none was", `write("olddir/.git")`, made("olddir/.git")},
		{"git file moved where none was", `write("t"); os.rename("t", "olddir/.git")`, made("olddir/.git")},
		{"git file linked where none was", `write("t"); os.link("t", "olddir/.git")`, made("olddir/.git")},
		{"link for .git", `os.mkdir("g"); os.symlink("../g", "olddir/.git")`, made("olddir/.git")},
		{"link for .git, moved", `os.symlink("../g", "l"); os.rename("l", "olddir/.git")`, made("olddir/.git")},
		{"link for .github", `os.mkdir("g"); os.symlink("../g", "olddir/.github")`, made("olddir/.github")},
		{"link on the way to a denied path", `os.mkdir("g"); os.symlink("g", "way")`, linked("way")},
		{"link on the way to a denied path, moved", `os.mkdir("g"); os.symlink("g", "l"); os.rename("l", "way")`, linked("way")},
		{"link on the way to a denied path, linked", `os.mkdir("g"); os.symlink("g", "l"); os.link("l", "way", follow_symlinks=False)`, linked("way")},
		{"link on the way to a denied path, exchanged", `os.mkdir("g"); os.symlink("g", "l"); os.mkdir("way"); rename2("l", "way", 2)`, linked("way")},
		{"old link on the way saved over", `write("t"); os.rename("t", "oldway")`, gone("oldway/inner.txt")},
		{"old link on the way led elsewhere", `os.mkdir("g"); os.symlink("g", "l"); os.rename("l", "oldway")`, gone("oldway/inner.txt")},
		{"exchanged in", `os.makedirs("g/workflows"); os.mkdir("olddir/.github"); rename2("g", "olddir/.github", 2)`, made("olddir/.github/workflows")},
		{"out of node_modules", `os.makedirs("node_modules/p/.vscode"); os.rename("node_modules/p", "p")`, made("p/.vscode")},
		{"node_modules gets another name", `os.makedirs("a/node_modules/.vscode"); os.rename("a/node_modules", "a/x")`, made("a/x/.vscode")},
		{"node_modules exchanged", `os.makedirs("a/node_modules/.vscode"); os.mkdir("a/x"); rename2("a/node_modules", "a/x", 2)`, made("a/x/.vscode")},
		{"project's settings", `os.mkdir(".zed"); write(".zed/tasks.json")`, made(".zed")},
		{"project's settings, moved out of one", `os.makedirs("p/.zed"); os.rename("p/.zed", ".zed")`, made(".zed")},
		{"project's settings, moved out by another name", `os.makedirs("p/z"); write("p/z/tasks.json"); os.rename("p/z", "z"); os.rename("z", "sub/.zed")`, made("sub/.zed")},
		{"project's settings, exchanged out", `os.makedirs("p/.zed"); os.mkdir("z"); rename2("p/.zed", "z", 2); os.rename("z", ".zed")`, made(".zed")},
		{"project's settings, linked out", `os.mkdir("p"); write("p/.zed"); os.link("p/.zed", "sub/.zed")`, made("sub/.zed")},
		{"project's settings by a link", `os.mkdir("p"); os.symlink("../olddir", "p/l"); os.mkdir("p/l/.zed")`, made("olddir/.zed")},
		{"project's workflow in a directory of its own", `os.makedirs("olddir/.github/actions"); write("olddir/.github/actions/x")`, made("olddir/.github/actions")},
		{"project's workflow in the old one", `os.mkdir(".github/actions")`, made(".github/actions")},
		{"project's workflow, moved out of one", `os.makedirs("p/.github/actions"); os.rename("p/.github", "olddir/.github")`, made("olddir/.github/actions")},
		{"project's workflow, its directory moved", `os.makedirs("olddir/.github"); os.makedirs("p/.github/actions"); os.rename("p/.github/actions", "olddir/.github/actions")`, made("olddir/.github/actions")},
		{"project's workflow below what moved", `os.makedirs("p/q/g"); os.rename("p/q/g", "olddir/g"); os.mkdir("olddir/g/actions"); os.rename("olddir/g", "olddir/.github")`, made("olddir/.github/actions")},
		{"project's workflow below what moved, empty", `os.makedirs("p/q/g"); os.rename("p/q/g", "olddir/g"); os.rename("olddir/g", "olddir/.github"); os.mkdir("olddir/.github/actions")`, made("olddir/.github/actions")},
		{"project's workflow, exchanged out", `os.makedirs("p/.github/actions"); os.mkdir("olddir/.github"); rename2("p/.github", "olddir/.github", 2)`, made("olddir/.github/actions")},
		{"dot-dot out of a directory that moved", `os.makedirs("a/b"); d = os.open("a/b", os.O_PATH); os.rename("a/b", ".git/b"); os.close(os.open("../hooks/x", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=d))`, made(".git/hooks/x")},
		{"dot-dot out of the current directory, moved", `os.makedirs("a/b"); os.chdir("a/b"); os.rename(W + "/a/b", W + "/.git/b"); write("../hooks/x")`, made(".git/hooks/x")},
		{"by the number of a thread", `import threading; d = os.open(".git/hooks", os.O_PATH); write("/proc/self/task/%d/fd/%d/x" % (threading.get_native_id(), d))`, made(".git/hooks/x")},
		{"link out of node_modules", `write("node_modules/.envrc"); os.link("node_modules/.envrc", ".envrc")`, made(".envrc")},
		{"bind a socket as control file", `socket.socket(socket.AF_UNIX).bind(".envrc")`, made(".envrc")},

		// What the profile does not let it write.
		{"write outside", `write(O + "/file")`, changed("O/file")},
		{"write outside by symlink", `write("out")`, changed("O/file")},
		{"write outside by dot-dot", `write("../outside/file")`, changed("O/file")},
		{"create outside", `write(O + "/new")`, made("O/new")},
		{"mkdir outside", `os.mkdir(O + "/new")`, made("O/new")},
		{"symlink outside", `os.symlink("x", O + "/new")`, made("O/new")},
		{"fifo outside", `os.mkfifo(O + "/new")`, made("O/new")},
		{"bind outside", `socket.socket(socket.AF_UNIX).bind(O + "/new")`, made("O/new")},
		{"link outside", `write("h"); os.link("h", O + "/new")`, made("O/new")},
		{"rename outside", `write("h"); os.rename("h", O + "/new")`, made("O/new")},
		{"unlink outside", `os.unlink(O + "/victim")`, gone("O/victim")},
		{"rename in", `os.rename(O + "/victim", "v")`, gone("O/victim")},
		{"link in, write", `os.link(O + "/file", "h"); write("h")`, changed("O/file")},
		{"truncate outside", `os.truncate(O + "/file", 0)`, changed("O/file")},
		{"reopen outside", `d = os.open(O + "/file", os.O_RDONLY); write("/proc/self/fd/%d" % d)`, changed("O/file")},
		{"create by descriptor outside", `d = os.open(O, os.O_RDONLY); os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=d)`, made("O/new")},
		{"O_TMPFILE outside", `d = os.open(O, os.O_TMPFILE | os.O_RDWR); call(265, FD, P("/proc/self/fd/%d" % d), FD, P(O + "/new"), 0x400)`, made("O/new")},

		// Metadata.
		{"chmod outside", `os.chmod(O + "/file", 0o600)`, touched("O/file")},
		{"fchmod outside", `os.fchmod(os.open(O + "/file", os.O_RDONLY), 0o600)`, touched("O/file")},
		{"fchmodat outside", `call(268, os.open(O, os.O_RDONLY), P("file"), 0o600)`, touched("O/file")},
		{"fchmodat2 outside", `call(452, os.open(O + "/file", os.O_PATH), P(""), 0o600, 0x1000)`, touched("O/file")},
		{"chmod by symlink", `os.chmod("out", 0o600)`, touched("O/file")},
		{"chmod by /proc/self/fd", `d = os.open(O + "/file", os.O_PATH); os.chmod("/proc/self/fd/%d" % d, 0o600)`, touched("O/file")},
		{"chmod directory outside", `os.chmod(O + "/dir", 0o777)`, touched("O/dir")},
		{"utime outside", `os.utime(O + "/file", (1, 1))`, touched("O/file")},
		{"futimens outside", `os.utime(os.open(O + "/file", os.O_RDONLY), (1, 1))`, touched("O/file")},
		{"utime(2) outside", `call(132, P(O + "/file"), struct.pack("qq", 1, 1))`, touched("O/file")},
		{"utimes outside", `call(235, P(O + "/file"), struct.pack("qqqq", 1, 0, 1, 0))`, touched("O/file")},
		{"futimesat outside", `call(261, os.open(O, os.O_RDONLY), P("file"), struct.pack("qqqq", 1, 0, 1, 0))`, touched("O/file")},
		{"utimensat AT_EMPTY_PATH outside", `call(280, os.open(O + "/file", os.O_PATH), P(""), struct.pack("qqqq", 1, 0, 1, 0), 0x1000)`, touched("O/file")},
		{"setxattr outside", `os.setxattr(O + "/file", "user.evil", b"1")`, labelled("O/file")},
		{"fsetxattr outside", `os.setxattr(os.open(O + "/file", os.O_RDONLY), "user.evil", b"1")`, labelled("O/file")},
		{"lsetxattr outside", `os.setxattr(O + "/file", "user.evil", b"1", follow_symlinks=False)`, labelled("O/file")},
		{"chmod of an O_PATH descriptor, by link", `d = os.open("out", os.O_PATH); call(90, P("/proc/self/fd/%d" % d), 0o600)`, touched("O/file")},
		{"fchmodat2 through a directory's descriptor", `call(452, os.open(O, os.O_PATH), P("file"), 0o600, 0x100)`, touched("O/file")},
		{"chmod control file", `os.chmod(".git/config", 0o600)`, touched(".git/config")},
		{"chmod hook by descriptor", `os.fchmod(os.open(".git/hooks/pre-commit", os.O_RDONLY), 0o600)`, touched(".git/hooks/pre-commit")},
		{"set-uid", `write("s"); os.chmod("s", 0o4755)`, touched("s")},
		{"set-gid", `write("s"); os.chmod("s", 0o2755)`, touched("s")},
		{"set-uid at creation", `os.umask(0); os.close(os.open("s", os.O_CREAT | os.O_WRONLY, 0o6777))`, touched("s")},
		{"others may write", `write("s"); os.chmod("s", 0o666)`, touched("s")},
		{"others may write, by descriptor", `os.fchmod(os.open("old.txt", os.O_RDONLY), 0o646)`, touched("old.txt")},
		{"others may write, by ACL", `write("s"); os.setxattr("s", "system.posix_acl_access", acl((1, 6), (4, 6), (32, 6)))`, touched("s")},
		{"a user may write, by ACL", `write("s"); os.setxattr("s", "system.posix_acl_access", acl((1, 6), (2, 6, 1), (4, 4), (16, 6), (32, 4)))`, touched("s")},
		{"others may write, by default ACL", `os.mkdir("s"); os.setxattr("s", "system.posix_acl_default", acl((1, 7), (4, 7), (32, 7))); os.umask(0); os.mkdir("s/d", 0o777); os.rename("s", "t"); os.rename("t/d", "s")`, touched("s")},
		{"the group may write, without the ACL", `os.removexattr("masked", "system.posix_acl_access")`, bared("masked")},
		{"the same by descriptor", `os.removexattr(os.open("masked", os.O_RDONLY), "system.posix_acl_access")`, bared("masked")},
		{"others may write a new directory", `os.umask(0); os.mkdir("s", 0o777)`, touched("s")},
		{"others may write a new fifo", `os.umask(0); os.mkfifo("s", 0o666)`, touched("s")},
		{"a directory that cannot be listed", `os.chmod("olddir", 0)`, touched("olddir")},
		{"that cannot be entered, by descriptor", `os.fchmod(os.open("olddir", os.O_RDONLY), 0o600)`, touched("olddir")},
		{"that cannot be listed, by ACL", `os.setxattr("olddir", "system.posix_acl_access", acl((1, 6), (4, 0), (32, 0)))`, touched("olddir")},
		{"mknod set-uid", `os.umask(0); os.mknod("s", 0o4777 | stat.S_IFREG)`, touched("s")},

		// Sockets of others.
		{"connect", `unix(O + "/sock").recv(1)`, talked},
		{"connect relative", `unix("../outside/sock").recv(1)`, talked},
		{"connect by symlink", `os.symlink(O + "/sock", "s"); unix("s").recv(1)`, talked},
		{"connect by directory symlink", `os.symlink(O, "s"); unix("s/sock").recv(1)`, talked},
		{"connect by /proc/self/fd", `d = os.open(O, os.O_PATH); unix("/proc/self/fd/%d/sock" % d).recv(1)`, talked},
		{"connect by O_PATH of the socket", `d = os.open(O + "/sock", os.O_PATH); unix("/proc/self/fd/%d" % d).recv(1)`, talked},
		{"connect by /proc/self/root", `unix("/proc/self/root" + O + "/sock").recv(1)`, talked},
		{"connect after fchdir", `os.chdir(O); unix("sock").recv(1)`, talked},
		{"connect abstract", `unix(sys.argv[2].replace("@", "\0")).recv(1)`, talked},
		{"connect abstract beside an own", `s = socket.socket(socket.AF_UNIX); s.bind(os.getcwd() + "/display"); s.listen(1); unix("\0" + os.getcwd() + "/display").recv(1)`, talked},
		{"connect by hard link", `os.link(O + "/sock", "s"); unix("s").recv(1)`, talked},
		{"connect by hard link in TMPDIR", `os.link(O + "/sock", T + "/s"); unix(T + "/s").recv(1)`, talked},
		{"connect by rename", `os.rename(O + "/sock", "s"); unix("s").recv(1)`, talked},
		{"send datagram", `socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", O + "/dgram")`, talked},
		{"connect datagram", `unix(O + "/dgram", socket.SOCK_DGRAM).send(b"x")`, talked},
		{"sendmsg datagram", `socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, O + "/dgram")`, talked},
		{"datagram pair", `socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", O + "/dgram")`, talked},
		{"raw unix socket", `socket.socket(socket.AF_UNIX, socket.SOCK_RAW).sendto(b"x", O + "/dgram")`, talked},
	}
}

// TestSupervisedAttacks judges each attack from outside.
func TestSupervisedAttacks(t *testing.T) {
	list := attacks()
	if len(list) < 80 {
		t.Fatalf("only %d attacks", len(list))
	}
	bare := startBareAttacks(t)
	for _, a := range list {
		t.Run(strings.ReplaceAll(a.name, "/", "_"), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			script := s.write(s.outside+"/attack.py", attackPrelude+a.code+"\n")
			r := s.run(append(slices.Clip(attackRun), script, s.outside, s.abstract)...)
			if a.harm(s) {
				t.Errorf("got through: exit %d\n%s%s", r.code, r.out, s.explain())
			}
			s = newScene(t)
			script = s.write(s.outside+"/attack.py", attackPrelude+a.code+"\n")
			r = bare(s.cell, script, s.outside, s.abstract)
			if !a.harm(s) {
				t.Errorf("control: no harm even unsupervised, so that the attack shows nothing: exit %d\n%s", r.code, r.out)
			}
		})
	}
}

// TestSupervisedModesRefused gives directories ACLs where any mode is allowed: one that
// was there before must stay one that its owner can list.
func TestSupervisedModesRefused(t *testing.T) {
	bare := startBareAttacks(t)
	for _, x := range []struct {
		name, acl string
		refused   bool
	}{
		{"to a user", "(1, 7), (2, 5, 1), (4, 5), (16, 5), (32, 0)", false},
		{"to a user, from the owner", "(1, 2), (2, 7, 1), (4, 7), (16, 7), (32, 7)", true},
		{"of three", "(1, 7), (4, 0), (32, 0)", false},
		{"of three, from the owner", "(1, 6), (4, 7), (32, 7)", true},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			code := `os.setxattr("olddir", "system.posix_acl_access", acl(` + x.acl + `))`
			c := newScene(t)
			c.profile.Process.AnyMode = true
			before := aclOf(c.ws + "/olddir")
			r := c.run(append(slices.Clip(attackRun), c.write(c.outside+"/attack.py", attackPrelude+code), c.outside, c.abstract)...)
			if got := aclOf(c.ws+"/olddir") == before; got != x.refused || (r.code != 0) != x.refused {
				t.Errorf("refused: %v, exit %d, want %v\n%s%s", got, r.code, x.refused, r.out, c.explain())
			}
			c = newScene(t)
			r = bare(c.cell, c.write(c.outside+"/attack.py", attackPrelude+code), c.outside, c.abstract)
			if r.code != 0 || aclOf(c.ws+"/olddir") == before {
				t.Errorf("control: exit %d\n%s", r.code, r.out)
			}
		})
	}
}

// TestSupervisedDevicesRefused has a run as root, who owns devices, change one that it may
// write to, as every run may to /dev/null.
func TestSupervisedDevicesRefused(t *testing.T) {
	sandboxtest.Require(t, "root")
	bare := startBareAttacks(t)
	for _, code := range []string{
		`os.chmod(D, 0o600)`, `os.chmod("/proc/self/fd/%d" % os.open(D, os.O_PATH), 0o600)`, `os.utime(D, (5, 5))`, `os.chown(D, -1, os.getgid())`,
		`os.setxattr(D, "system.posix_acl_access", acl((1, 6), (4, 0), (32, 0)))`,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			change := func(run func(*scene, string) result) (changed bool, r result, why string) {
				s := newScene(t)
				device := s.outside + "/device"
				must(t, unix.Mknod(device, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
				must(t, unix.Chmod(device, 0o666))
				must(t, unix.Setxattr(device, accessACL, []byte(maskedACL), 0))
				s.profile.Paths = append(s.profile.Paths, profiles.PathRule{Path: device, Access: profiles.Read | profiles.Write})
				look := func() (st unix.Stat_t) {
					must(t, unix.Stat(device, &st))
					return st
				}
				before := look()
				r = run(s, s.write(s.outside+"/attack.py", attackPrelude+"D = O + '/device'\n"+code))
				return look().Ctim != before.Ctim, r, s.explain()
			}
			if changed, r, why := change(func(s *scene, script string) result {
				return s.run(append(slices.Clip(attackRun), script, s.outside)...)
			}); changed || r.code == 0 {
				t.Errorf("changed: %v, exit %d\n%s%s", changed, r.code, r.out, why)
			}
			if changed, r, _ := change(func(s *scene, script string) result { return bare(s.cell, script, s.outside) }); !changed || r.code != 0 {
				t.Errorf("control: changed: %v, exit %d\n%s", changed, r.code, r.out)
			}
		})
	}
}

// TestSupervisedGroupsRefused gives files to another group, which may write them or may
// come to by the umask. The capability stands for being in that group.
func TestSupervisedGroupsRefused(t *testing.T) {
	sandboxtest.Require(t, "root")
	const group = 12345
	bare := startBareAttacks(t)
	for _, x := range []struct {
		name        string
		mode, umask uint32
		anyMode     bool
		refused     bool
	}{
		{"who may write", 0o664, 0o022, false, true},
		{"who may come to", 0o644, 0o002, false, true},
		{"who may come to if that is granted", 0o644, 0o002, true, false},
		{"who may not", 0o644, 0o022, false, false},
	} {
		for _, code := range []string{`os.chown("f", -1, 12345)`, `os.chown(os.open("f", os.O_RDONLY), 0, 12345)`, `call(260, FD, P("f"), -1, 12345, 0x100)`} {
			t.Run(x.name+" "+code, func(t *testing.T) {
				t.Parallel()
				change := func(run func(c *cell, script ...string) result) (changed bool, r result, why string) {
					c := newCell(t)
					c.profile.Process.AnyMode = x.anyMode
					c.config = func(s *linux.Supervision) { s.Umask, s.Capabilities = x.umask, 1<<unix.CAP_CHOWN }
					file := c.write("f", "old\n")
					must(t, os.Chmod(file, os.FileMode(x.mode)))
					r = run(c, c.write(c.outside+"/attack.py", attackPrelude+code), c.outside)
					var st unix.Stat_t
					must(t, unix.Stat(file, &st))
					return st.Gid == group, r, c.explain()
				}
				if changed, r, why := change(func(c *cell, script ...string) result { return c.run(append(slices.Clip(attackRun), script...)...) }); changed == x.refused || (r.code != 0) != x.refused {
					t.Errorf("changed: %v, exit %d\n%s%s", changed, r.code, r.out, why)
				}
				if changed, r, _ := change(bare); !changed || r.code != 0 {
					t.Errorf("control: changed: %v, exit %d\n%s", changed, r.code, r.out)
				}
			})
		}
	}
}

// aclOf gives a file's ACL and mode.
func aclOf(path string) string {
	var st unix.Stat_t
	unix.Stat(path, &st)
	acl := make([]byte, 256)
	n, _ := unix.Getxattr(path, accessACL, acl)
	return fmt.Sprintf("%o %x", st.Mode, acl[:max(n, 0)])
}
