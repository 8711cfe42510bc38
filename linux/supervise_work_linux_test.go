package linux_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

// databaseSuite is what a program's tests of its database do: a database for each
// test, in every journal mode, in files and in memory, shared by connections,
// threads and processes, copied, attached, shrunk, broken off and repaired.
const databaseSuite = `
import os, sqlite3, subprocess, sys, tempfile, threading, unittest
class Case:
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory(dir="."); self.path = self.dir.name + "/t.db"
        self.c = self.open(); self.c.execute("create table t(id integer primary key, a text unique, b blob)")
    def tearDown(self): self.c.close(); self.dir.cleanup(); self.assertFalse(os.path.exists(self.path))
    def open(self, path=None):
        c = sqlite3.connect(path or self.path, isolation_level=None, timeout=30, check_same_thread=False)
        self.assertEqual(c.execute("pragma journal_mode=" + self.mode).fetchone()[0], self.mode); c.execute("pragma synchronous=off"); return c
    def one(self, sql, *args): return self.c.execute(sql, args).fetchone()[0]
    def fill(self, n=200):
        with self.c: self.c.execute("begin"); self.c.executemany("insert into t(a, b) values(?, ?)", [(str(i), os.urandom(500)) for i in range(n)])
    def test_commit(self):
        for i in range(50): self.c.execute("insert into t(a) values(?)", (i,))
        self.assertEqual(self.one("select count(*) from t"), 50)
    def test_rollback(self):
        self.fill(); self.c.execute("begin"); self.c.execute("delete from t"); self.c.execute("rollback"); self.assertEqual(self.one("select count(*) from t"), 200)
    def test_savepoint(self):
        for sql in ("begin", "insert into t(a) values('x')", "savepoint s", "insert into t(a) values('y')", "rollback to s", "release s", "commit"): self.c.execute(sql)
        self.assertEqual(self.one("select group_concat(a) from t"), "x")
    def test_constraint(self):
        self.fill(); self.assertRaises(sqlite3.IntegrityError, self.c.execute, "insert into t(a) values('1')")
    def test_spill(self):
        self.c.execute("pragma cache_size=5"); self.c.execute("pragma cache_spill=1"); self.fill(2000); self.c.execute("update t set b=randomblob(900)")
        self.assertEqual(self.one("pragma integrity_check"), "ok")
    def test_index_and_temporary(self):
        self.c.execute("pragma temp_store=file"); self.fill(2000); self.c.execute("create index i on t(b)"); self.c.execute("create temp table x as select * from t order by b desc")
        self.assertEqual(self.one("select count(*) from x"), 2000)
    def test_vacuum(self):
        self.fill(2000); size = os.stat(self.path).st_size; self.c.execute("delete from t"); self.c.execute("vacuum")
        if self.mode == "wal": self.c.execute("pragma wal_checkpoint(truncate)")
        self.assertLess(os.stat(self.path).st_size, max(size, 20000))
    def test_vacuum_into(self):
        self.fill(); self.c.execute("vacuum into '" + self.dir.name + "/copy.db'"); c = self.open(self.dir.name + "/copy.db")
        self.assertEqual(c.execute("select count(*) from t").fetchone()[0], 200); c.close()
    def test_backup(self):
        self.fill(); c = self.open(self.dir.name + "/backup.db"); self.c.backup(c, pages=3)
        self.assertEqual(c.execute("pragma integrity_check").fetchone()[0], "ok"); c.close()
    def test_attach(self):
        self.fill(); self.c.execute("attach '" + self.dir.name + "/other.db' as o"); self.c.execute("begin"); self.c.execute("create table o.t as select * from main.t")
        self.c.execute("delete from main.t"); self.c.execute("commit"); self.assertEqual(self.one("select count(*) from o.t"), 200); self.c.execute("detach o")
    def test_dump(self):
        self.fill(); c = self.open(self.dir.name + "/dump.db"); c.executescript("".join(self.c.iterdump())); c.close()
    def test_threads(self):
        def work(n):
            c = self.open()
            for i in range(10): c.execute("begin immediate"); c.execute("insert into t(a) values(?)", ("%d-%d" % (n, i),)); c.execute("commit")
            c.close()
        all = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for t in all: t.start()
        for t in all: t.join()
        self.assertEqual(self.one("select count(*) from t"), 40)
    def test_processes(self):
        code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=30)\nfor i in range(10):\n c.execute('begin immediate'); c.execute('insert into t(a) values(?)', (sys.argv[2] + str(i),)); c.commit()"
        for p in [subprocess.Popen([sys.executable, "-c", code, self.path, w]) for w in "abc"]: self.assertEqual(p.wait(), 0)
        self.assertEqual(self.one("select count(*) from t"), 30)
    def test_killed(self):
        code = "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('pragma cache_size=2'); c.execute('begin'); c.executemany('insert into t(a, b) values(?, randomblob(900))', [(i,) for i in range(500)]); os.kill(os.getpid(), 9)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code, self.path]).returncode, -9)
        self.assertEqual(self.one("select count(*) from t"), 0); self.assertEqual(self.one("pragma integrity_check"), "ok")
    def test_read_only(self):
        self.fill(); c = sqlite3.connect("file:" + self.path + "?mode=ro", uri=True); self.assertEqual(c.execute("select count(*) from t").fetchone()[0], 200)
        self.assertRaises(sqlite3.OperationalError, c.execute, "delete from t"); c.close()
for mode in "delete", "persist", "wal": globals()[mode] = type(mode, (Case, unittest.TestCase), {"mode": mode})
unittest.main()
`

// TestSupervisedWork does ordinary work with the right to write and without
// the right to delete what is old.
func TestSupervisedWork(t *testing.T) {
	for _, w := range []struct {
		name, needs, before, script string
		git                         bool // commit.create: Delete inside .git
	}{
		{name: "git", git: true, needs: "git", script: `
			git init -q .; git config user.name x; git config user.email x@y; ln -s HEAD .git/own; mkdir .git/d; ln .git/own .git/d/own; mv .git/d .git/e
			echo 1 > a; git add a; git commit -qm one; git branch side; git checkout -qb other
			echo 2 > b; git add .; git commit -qm two; git tag v1; git gc -q; git status; git log --oneline | wc -l; git fsck`},
		{name: "git in an old repository", git: true, needs: "git",
			before: `git init -q .; git config user.name x; git config user.email x@y; for i in 1 2 3; do echo $i > $i; git add .; git commit -qm $i; done`,
			script: `echo new > new; git add new; git commit -qm new; git branch side; echo edit >> 1; git commit -qam edit; git gc -q --prune=now; git fsck
				! git config core.fsmonitor evil; ! test -e .git/config.lock; git branch -D side; echo > .git/x.lock; chmod 600 .git/x.lock; echo >> .git/x.lock; rm .git/x.lock; ! rm 2; git checkout -q HEAD~3 || true; test -e 3`},
		{name: "sqlite wal", needs: "sqlite3", before: `sqlite3 old.db "create table t(a); insert into t values(1)"`,
			script: `for m in wal delete truncate persist; do sqlite3 old.db "pragma journal_mode=$m; insert into t values(2); update t set a=3; vacuum; select count(*) from t"; done; sqlite3 new.db "create table t(a)"; rm new.db; ! rm old.db`},
		{name: "database suite", needs: "python3", before: "cat > suite.py <<'END'" + databaseSuite + "END\n", script: "python3 suite.py -q"},
		{name: "compileall", needs: "python3", before: `mkdir p; for i in 1 2 3; do echo "x=$i" > p/m$i.py; done; python3 -m compileall -q p; echo "x=9" > p/m1.py`,
			script: `python3 -m compileall -q -f p; cd p; python3 -c "import m1, m2; assert m1.x == 9"; python3 -m venv --without-pip ../venv; python3 -c "import tempfile,shutil; d=tempfile.mkdtemp(); open(d+'/x','w').close(); shutil.rmtree(d); tempfile.TemporaryFile().close()"`},
		{name: "atomic save", needs: "vim", before: `echo old > f; chmod 640 f; ln -s f l`,
			script: `vim -u NONE -es -c 's/old/new/' -c 'wq' f; grep -q new f; vim -u NONE -es -c 'set backup backupcopy=no' -c 's/new/newer/' -c 'wq' f; grep newer f; sed -i s/newer/newest/ f; grep newest f; perl -pi -e s/newest/last/ f; grep last f; test $(stat -c %a f) = 640`},
		{name: "tar", needs: "tar", before: `mkdir s; for i in 1 2 3; do echo $i > s/$i; done; ln -s 1 s/link; ln s/2 s/hard; mkfifo s/fifo; tar cf t.tar s; mv s orig`,
			script: `tar xf t.tar; diff -r --exclude=fifo s orig; tar xf t.tar; rm -rf s; cp -a orig copy; diff -r --exclude=fifo orig copy; rm -rf copy`},
		{name: "make", needs: "gcc", before: `printf 'all: a b\n%%: %%.c\n\tcc -o $@ $<\nclean:\n\trm -f a b\n' > Makefile; for i in a b; do echo 'int main(){return 0;}' > $i.c; done`,
			script: `make -s -j4; ./a; make -s clean; make -s -j4; ./b`},
		{name: "npm", needs: "npm", before: `mkdir lib app; cd lib; printf '{"name":"lib","version":"1.0.0","bin":"x.js"}' > package.json; echo '#!/usr/bin/env node' > x.js; mkdir .vscode; echo {} > .vscode/settings.json; npm pack --silent >/dev/null; cd ../app; echo '{"name":"app","version":"1.0.0"}' > package.json`,
			script: `cd app; npm install --silent --offline --no-audit --no-fund --cache "$TMPDIR/npm" ../lib/lib-1.0.0.tgz; test -e node_modules/lib/x.js; npm install --silent --offline --no-audit --no-fund --cache "$TMPDIR/npm" ../lib/lib-1.0.0.tgz; npm ls; npm uninstall --silent --no-audit --no-fund --offline --cache "$TMPDIR/npm" lib; ! test -e node_modules/lib`},
		{name: "shell", needs: "bash", before: `echo old > old`,
			script: `cat <<< here; diff <(echo 1) <(echo 1); echo x > /dev/null; echo e > /dev/stderr; echo o > /proc/self/fd/1; mkfifo p; (echo through > p &) ; read x < p; test $x = through
				set -o noclobber; ! echo y > old; set +o noclobber; echo a >> old; tee -a old <<< b >/dev/null; mktemp; mktemp -d; install -m 755 old new; ln -sf new l; ln -sf old l; mv -f l l2; touch -d @5 old new; truncate -s 100 new; dd if=/dev/zero of=new bs=1k count=2 conv=notrunc status=none; rm new l2; seq 100 | sort -n --parallel=2 -S 10k -T "$TMPDIR" | tail -1; echo > /tmp/sr-scratch; test -e "$TMPDIR/sr-scratch"
				python3 -c "import os, struct; os.setxattr('old', 'system.posix_acl_access', struct.pack('<I' + 'HHI' * 3, 2, 1, 6, 0xffffffff, 4, 4, 0xffffffff, 32, 0, 0xffffffff))"; test $(stat -c %a old) = 640`},
	} {
		t.Run(strings.ReplaceAll(w.name, " ", "-"), func(t *testing.T) {
			sandboxtest.Program(t, w.needs)
			t.Parallel()
			c := newCell(t)
			c.features |= linux.NotifySockets
			if w.git {
				c.profile.Paths = append(c.profile.Paths, profiles.PathRule{Path: c.ws + "/.git", Tree: true, Access: workspaceRights | profiles.Delete})
			}
			c.env = []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}
			cmd := exec.Command("bash", "-ec", "umask 022; "+w.before)
			cmd.Dir, cmd.Env = c.ws, append(os.Environ(), c.env...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if r := c.run("bash", "-ec", w.script); r.code != 0 {
				t.Errorf("exit %d\n%s%s", r.code, r.out, c.explain())
			}
		})
	}
}

// TestSupervisedDirectories: "mkdir -p" names and opens each directory on its
// way, the shared ones that the run has a stand-in for and its own beneath them.
func TestSupervisedDirectories(t *testing.T) {
	c := newCell(t)
	c.features |= linux.NotifyOpens
	r := c.run("sh", "-ec", `mkdir -p "$TMPDIR/a/b" "$PWD/a/b" /tmp/sr-a/b
		touch "$TMPDIR/a/b/x" a/b/x; test -e "$TMPDIR/a/b/x"; test -e "$TMPDIR/sr-a/b"; ls "$TMPDIR"`)
	if r.code != 0 || r.out != "a\nsr-a\n" {
		t.Errorf("exit %d, %q\n%s", r.code, r.out, c.explain())
	}
}

// TestSupervisedOwnRepository: in repositories and directories of its own a run
// makes what nobody makes elsewhere.
func TestSupervisedOwnRepository(t *testing.T) {
	c := newCell(t)
	c.write("node_modules/x", "")
	r := c.run("sh", "-ec", `mkdir repo repo/.git repo/.git/hooks; echo > repo/.git/hooks/pre-commit; mkdir node_modules/.vscode; echo > ordinary`)
	if r.code != 0 {
		t.Fatal(r.out, c.explain())
	}
}

// TestSupervisedOwnProject: a project that the run makes or fetches has all that
// belongs to one, and is changed and removed again; what is looked for from above
// does not appear in it.
func TestSupervisedOwnProject(t *testing.T) {
	c := newCell(t)
	var made []string
	c.after = func(s *linux.Supervisor) { made, _ = s.ControlsMade() }
	r := c.run("sh", "-ec", `mkdir p p/.zed p/.zed/sub p/.github p/.github/actions p/.github/actions/a
		echo >p/.zed/tasks.json; echo >p/.zed/sub/x; echo >p/.github/actions/a/action.yml
		echo new >t; mv t p/.zed/tasks.json; mv p/.zed/sub p/.zed/top; rm -r p/.github/actions/a; echo >p/.github/actions/b
		mkdir q q/p; cp -r p/.zed q/p/; cp -r p/.github q/p/; rm -r q/p
		python3 -c 'import os; os.fchmod(os.open("p/.zed", os.O_RDONLY), 0o700)' # as tar does
		! mkdir p/.mcp.json 2>/dev/null; ! mkdir .zed 2>/dev/null`)
	if r.code != 0 {
		t.Fatal(r.out, c.explain())
	}
	want := []string{c.ws + "/p/.github/actions", c.ws + "/p/.zed", c.ws + "/q/p/.github/actions", c.ws + "/q/p/.zed"}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
}

// TestSupervisedReplaced: what an atomic save replaced can be had back, and what
// the run itself had saved before does not push it out.
func TestSupervisedReplaced(t *testing.T) {
	c := newCell(t)
	c.write("f", "old\n")
	var texts []string
	c.after = func(*linux.Supervisor) {
		held, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		for _, fd := range held {
			link := "/proc/self/fd/" + fd.Name()
			if name, _ := os.Readlink(link); strings.HasPrefix(name, c.ws+"/") {
				b, err := os.ReadFile(link)
				must(t, err)
				texts = append(texts, name+": "+string(b))
			}
		}
	}
	if r := c.run("sh", "-ec", `for i in 1 2 3; do echo new > t; mv t f; done; cat f; ! rm f`); r.code != 0 {
		t.Fatal(r.out, c.explain())
	}
	if diff := cmp.Diff([]string{c.ws + "/f (deleted): old\n"}, texts); diff != "" {
		t.Error(diff)
	}
}

// TestSupervisedOpens: in a directory with a denied file others can be made and
// read, and the denied one by no spelling.
func TestSupervisedOpens(t *testing.T) {
	c := newCell(t)
	c.features |= linux.NotifyOpens
	secret := c.write(".env", "secret\n")
	c.write("readable", "fine\n")
	must(t, os.Link(secret, c.ws+"/hard"))
	c.profile.Denials = append(c.profile.Denials, profiles.Denial{Path: c.ws, Match: ".env", Access: profiles.AllAccess, Class: profiles.Sensitive})
	c.config = func(s *linux.Supervision) { s.Denied = []string{secret} }
	tries := []string{"cat .env", "cat $PWD/.env", "cat ./x/../.env", "ln -s .env l; cat l", "cat /proc/self/cwd/.env", "cat hard", "ln .env h; cat h", "ln hard h2; cat h2",
		"mv .env e; cat e", "cp .env c; cat c", "cd x; cat ../.env", "exec 3<.; cat /proc/self/fd/3/.env", "cat < .env", "tail -c +1 .env", "mv x y; cat y/../.env",
		"python3 -c \"import os;print(os.read(os.open('.env',os.O_RDWR),9))\"", "python3 -c \"import os;d=os.open('.env',os.O_PATH);print(open('/proc/self/fd/%d'%d).read())\""}
	for _, try := range tries {
		must(t, os.MkdirAll(c.ws+"/x", 0o755))
		r := c.run("sh", "-c", "cat readable; echo made > new; cat new; "+try)
		if strings.Contains(r.out, "secret") || !strings.Contains(r.out, "fine\nmade\n") {
			t.Errorf("%s: %s", try, r.out)
		}
		bare := newCell(t)
		os.WriteFile(bare.ws+"/.env", []byte("secret\n"), 0o644)
		os.Link(bare.ws+"/.env", bare.ws+"/hard")
		os.Mkdir(bare.ws+"/x", 0o755)
		if r := bare.bare("sh", "-c", try); !strings.Contains(r.out, "secret") {
			t.Errorf("control %s: %s", try, r.out)
		}
		exec.Command("sh", "-c", "rm -rf "+c.ws+"/x "+c.ws+"/y "+c.ws+"/l "+c.ws+"/h "+c.ws+"/h2 "+c.ws+"/c").Run()
	}
}

// TestSupervisedStandIns: what the run makes in /tmp it can open there, from any
// directory; what it may not have there it cannot, nor anywhere else though its
// opens to read are its own; and O_PATH leads through /tmp to the workspace.
func TestSupervisedStandIns(t *testing.T) {
	other, err := os.CreateTemp("/tmp", "sr-other-")
	must(t, err)
	t.Cleanup(func() { os.Remove(other.Name()) })
	other.WriteString("another's\n")
	other.Close()
	name := "sr-made-" + strings.TrimPrefix(other.Name(), "/tmp/sr-other-")
	const walk = `import os, sys
d = os.open("/", os.O_PATH)
for part in sys.argv[1].split("/")[1:]: d = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=d)
print(open(os.open("f", os.O_RDONLY, dir_fd=d)).read())`
	for _, mode := range []struct{ pass, watch bool }{{}, {pass: true}, {pass: true, watch: true}} {
		pass := mode.pass
		c := newCell(t)
		c.write("f", "in the workspace\n")
		c.profile.Paths = slices.DeleteFunc(c.profile.Paths, func(r profiles.PathRule) bool { return r.Path == "/etc" })
		c.features |= linux.NotifyOpens
		c.config = func(s *linux.Supervision) { s.PassReads, s.WatchReads = pass, mode.watch }
		var moved string
		c.after = func(s *linux.Supervisor) { moved = s.Moved() }
		r := c.run("bash", "-c", `cat f; echo made > new; cat new; python3 -c '`+walk+`' "$PWD"`)
		if want := "in the workspace\nmade\nin the workspace\n\n"; r.out != want || moved != "" {
			t.Errorf("reads passed: %t: in the workspace: %q, want %q; moved %q", pass, r.out, want, moved)
		}
		r = c.run("bash", "-c", `n=`+name+`; echo 1 > /tmp/$n; cat /tmp/$n; cd /tmp; echo 2 >> $n; cat $n ./$n ../tmp/$n < $n; mkdir $n.d; echo 3 > $n.d/x; cat $n.d/x; rm -f $n; cat $n 2>/dev/null; ls -A | grep -c sr-made`)
		if want := strings.Repeat("1\n2\n", 3); r.out != "1\n"+want+"3\n1\n" || moved != "/tmp" {
			t.Errorf("reads passed: %t: in /tmp: %q%s; moved %q", pass, r.out, c.explain(), moved)
		}
		if !pass || mode.watch {
			// By a link, too, where what it leads to is looked at.
			r = c.run("bash", "-c", `echo made > /tmp/`+name+`; ln -sf /tmp/`+name+` link; cat link; python3 -c 'import os; os.write(os.open("/tmp/`+name+`x", os.O_CREAT | os.O_WRONLY, 0o755), b"#!/bin/sh\n")'; /tmp/`+name+`x 2> /dev/null`)
			// Nothing can be started there, and the hint about Moved says so.
			if r.out != "made\n" || strings.Contains(c.explain(), "execve") {
				t.Errorf("reads watched: %t: by a link: %q%s", mode.watch, r.out, c.explain())
			}
		}
		if _, err := os.Lstat("/tmp/" + name); err == nil {
			t.Errorf("made outside: %s", name)
		}
		for path, text := range map[string]string{other.Name(): "another's", "/etc/passwd": "root:"} {
			try := []string{"bash", "-c", `cat "$0"; cat < "$0"; cd "$(dirname "$0")"; cat "$(basename "$0")"`, path}
			if r := c.run(try...); strings.Contains(r.out, text) {
				t.Errorf("reads passed: %t: read %s: %s", pass, path, r.out)
			}
			if r := c.bare(try...); strings.Count(r.out, text) < 3 {
				t.Errorf("control: %s: %s", path, r.out)
			}
		}
	}
}

// A link in /tmp, where an open for O_PATH comes back open for reading, leads to
// nothing that the run may not read: what the layers leave to the supervisor and what
// /proc tells of its own process included.
func TestSupervisedStandInsPath(t *testing.T) {
	const read = `import os, sys
link = "/tmp/sr-link-%d" % os.getpid()
os.symlink(sys.argv[1], link)
d = os.open(link, os.O_PATH)
try: print(os.read(d, 100))
except OSError: print(open("/proc/self/fd/%d" % d, "rb").read(100))
finally: os.unlink(link)`
	for _, pass := range []bool{false, true} {
		c := newCell(t)
		c.write("f", "its own")
		denied := c.write(".env", "a secret")
		c.profile.Denials = append(c.profile.Denials, profiles.Denial{Path: denied, Access: profiles.AllAccess, Class: profiles.Sensitive})
		must(t, os.Link(denied, c.ws+"/other"))
		c.features |= linux.NotifyOpens
		c.config = func(s *linux.Supervision) { s.PassReads, s.Denied = pass, []string{denied} }
		for path, text := range map[string]string{denied: "secret", c.ws + "/other": "secret", "/proc/" + strconv.Itoa(os.Getpid()) + "/environ": "="} {
			if r := c.run("python3", "-c", read, path); strings.Contains(r.out, text) {
				t.Errorf("reads passed: %t: %s: %s", pass, path, r.out)
			}
			if r := c.bare("python3", "-c", read, path); !strings.Contains(r.out, text) {
				t.Errorf("control: %s: %s", path, r.out)
			}
		}
		if r := c.run("python3", "-c", read, c.ws+"/f"); !strings.Contains(r.out, "its own") {
			t.Errorf("reads passed: %t: its own: %s%s", pass, r.out, c.explain())
		}
	}
}

// Opens to read that are watched are the caller's own: each that is refused is told,
// and a path that was allowed once is not looked at again, wherever it leads by then.
func TestWatchedReads(t *testing.T) {
	const script = `import os, signal, sys
def read(p):
    try: print(open(p).read(4), flush=True)
    except OSError as e: print(e.strerror)
outside, link = sys.argv[1], os.getcwd() + "/link"
for p in ["f", os.getcwd() + "/f", os.getcwd() + "/f", "absent", outside, os.path.relpath(outside), "/proc/self/comm"]: read(p)
child = os.fork()
if child == 0:
    signal.pause()
read("/proc/%d/cwd/f" % child)
os.kill(child, 9)
here = os.open(".", os.O_PATH)
read("/proc/self/cwd/passwd"); read("/proc/self/cwd/f")
os.chdir("/etc"); read("/proc/self/cwd/passwd"); read("/proc/self/cwd/passwd"); os.fchdir(here)
os.symlink("f", link)
read(link)
os.remove(link); os.symlink(outside, link)
read(link)
os.remove(link)
`
	c := newCell(t)
	c.write("f", "mine\n")
	c.profile.Paths = slices.DeleteFunc(c.profile.Paths, func(r profiles.PathRule) bool { return r.Path == "/etc" })
	c.features |= linux.NotifyOpens
	c.config = func(s *linux.Supervision) { s.PassReads, s.WatchReads = true, true }
	try := []string{"python3", "-c", script, "/etc/passwd"}
	c.write("passwd", "mine\n")
	const want = "mine\nmine\nmine\nNo such file or directory\n%[1]s\n%[1]s\npyth\nmine\nmine\nmine\n%[1]s\n%[1]s\nmine\n%[1]s\n"
	if r, want := c.bare(try...), fmt.Sprintf(want, "root"); r.out != want {
		t.Errorf("control: %q, want %q", r.out, want)
	}
	if r, want := c.run(try...), fmt.Sprintf(want, "Permission denied"); r.out != want {
		t.Errorf("inside: %q, want %q%s", r.out, want, c.explain())
	}
	told := 0
	for _, r := range c.refusals {
		if r.Path == "/etc/passwd" && r.Access == profiles.Read {
			told++
		}
	}
	if told != 4 {
		t.Errorf("told of %d reads, want 4: %+v", told, c.refusals)
	}
}

// What holds something no rmdir takes away, so that this is no refusal, as far as
// the command may see it: git tries to remove the directories above every file.
func TestSupervisedRmdir(t *testing.T) {
	c := newCell(t)
	hidden := c.ws + "/hidden"
	c.profile.Denials = append(c.profile.Denials, profiles.Denial{Path: hidden, Access: profiles.AllAccess})
	c.write("full/x", "")
	c.write(".git/config", "")
	c.write(hidden+"/x", "")
	must(t, os.Mkdir(c.ws+"/empty", 0o755))
	must(t, os.Mkdir(c.ws+"/.git/hooks", 0o755))
	must(t, os.Mkdir(c.ws+"/free", 0o755))
	must(t, os.Remove(c.ws+"/free")) // the control
	r := c.run("python3", "-c", `
import os, errno, sys
for name in sys.argv[1:]:
    try:
        os.rmdir(name); print("gone")
    except OSError as e:
        print(errno.errorcode[e.errno])
`, "full", ".git", c.outside+"/../ws/full", "empty", ".git/hooks", hidden)
	if want := "ENOTEMPTY\nENOTEMPTY\nENOTEMPTY\nEACCES\nEACCES\nEACCES\n"; r.out != want {
		t.Errorf("got %q, want %q", r.out, want)
	}
	var refused []string
	for _, r := range c.refusals {
		refused = append(refused, r.Path)
	}
	if want := []string{c.ws + "/empty", c.ws + "/.git/hooks", hidden}; !slices.Equal(refused, want) {
		t.Errorf("refused %q, want %q", refused, want)
	}
	for _, dir := range []string{"/full/x", "/empty", "/.git/hooks", "/.git/config"} {
		if _, err := os.Lstat(c.ws + dir); err != nil {
			t.Error(err)
		}
	}
}
