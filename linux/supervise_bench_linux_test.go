package linux_test

import (
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strings"
	"testing"

	"skillrun/linux"
)

// BenchmarkSupervised compares ordinary work inside with the same work bare,
// interleaved, and reports the ratio of the medians as "x-bare". The gates of
// the design stand in the table.
//
//	go test ./linux -run '^$' -bench Supervised -benchtime 5x
func BenchmarkSupervised(b *testing.B) {
	for _, where := range []struct{ name, dir string }{{"tmpfs", "/dev/shm"}, {"disk", "/var/tmp"}} {
		for _, w := range []struct {
			name   string
			gate   float64
			before string // in a shell, not counted
			work   string
		}{
			{"tar-x-10000", 2.5, "rm -rf tree; sync", "tar xf ../outside/small.tar"},
			{"rm-rf-10000", 2.0, "rm -rf tree", "MEASURE"},
			{"sqlite-1500-commits", 1.3, "rm -f db*", "sqlite3 db < ../outside/commits.sql >/dev/null"},
			{"sqlite-1500-journal", 1.3, "rm -f db*", "sqlite3 db < ../outside/journal.sql >/dev/null"},
			{"git-status-7000", 1.25, "", "cd repo && git status --porcelain"},
			{"python-imports", 1.08, "", "python3 -c 'import asyncio,json,http.client,unittest,xml.dom,email,sqlite3'"},
			{"connects-unix-2000", 0, "rm -f s", "python3 ../outside/connects.py"},
			{"save-3000", 0, "rm -f f t", "python3 ../outside/save.py"},
		} {
			b.Run(where.name+"/"+w.name, func(b *testing.B) { compare(b, where.dir, w.gate, w.before, w.work) })
		}
	}
}

func compare(b *testing.B, dir string, gate float64, before, work string) {
	base, err := os.MkdirTemp(dir, "skillrun-bench-")
	must(b, err)
	defer os.RemoveAll(base)
	c := newCellAt(b, base)
	c.features |= linux.NotifySockets
	benchInputs(b, c, work)
	var bare, inside []float64
	once := func(supervised bool) {
		prepare := exec.Command("sh", "-ec", before)
		prepare.Dir = c.ws
		if out, err := prepare.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		argv := []string{"sh", "-ec", work}
		if work == "MEASURE" {
			// The run's own tree: it makes it first, and tells how long
			// removing took.
			argv = []string{"sh", "-ec", "tar xf ../outside/small.tar; date +%s%N; rm -rf tree; date +%s%N"}
		}
		run := c.bare
		if supervised {
			run = c.run
		}
		r := run(argv...)
		if r.code != 0 {
			b.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
		}
		took := float64(c.elapsed)
		if work == "MEASURE" {
			var first, last float64
			if _, err := fmt.Sscan(r.out, &first, &last); err != nil {
				b.Fatal(err)
			}
			took = last - first
		}
		if supervised {
			inside = append(inside, took)
		} else {
			bare = append(bare, took)
		}
	}
	once(true)
	once(false)
	bare, inside = nil, nil
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		once(i%2 == 0)
		once(i%2 != 0)
	}
	ratio := median(inside) / median(bare)
	b.ReportMetric(ratio, "x-bare")
	b.ReportMetric(gate, "gate")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	sort.Float64s(v)
	return v[len(v)/2]
}

func benchInputs(b *testing.B, c *cell, work string) {
	b.Helper()
	script := ""
	switch {
	case strings.Contains(work, "small.tar") || work == "MEASURE":
		script = `cd ../outside; for d in $(seq 100); do mkdir -p tree/$d; for f in $(seq 100); do echo $d $f > tree/$d/$f; done; done; tar cf small.tar tree; rm -rf tree`
	case strings.Contains(work, "commits.sql"), strings.Contains(work, "journal.sql"):
		script = `cd ../outside
for m in WAL:commits DELETE:journal; do (echo "PRAGMA journal_mode=${m%:*}; PRAGMA synchronous=NORMAL; CREATE TABLE t(a);"; for i in $(seq 1500); do echo "INSERT INTO t VALUES($i);"; done) > ${m#*:}.sql; done`
	case strings.Contains(work, "repo"):
		script = `mkdir repo; cd repo; git init -q; for d in $(seq 70); do mkdir $d; for f in $(seq 100); do echo $f > $d/$f; done; done; git add .; git -c user.name=x -c user.email=x@y commit -qm x`
	case strings.Contains(work, "connects.py"):
		c.write(c.outside+"/connects.py", `
import socket, threading
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(64)
def serve():
    while True: s.accept()[0].close()
threading.Thread(target=serve, daemon=True).start()
for i in range(2000):
    c = socket.socket(socket.AF_UNIX); c.connect("s"); c.recv(1); c.close()
`)
	case strings.Contains(work, "save.py"):
		c.write(c.outside+"/save.py", `
import os
for i in range(3000):
    with open("t", "w") as f: f.write("x" * 100)
    os.rename("t", "f")
`)
	}
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = c.ws
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
}

const callScript = `
import os, socket, threading, time
fd = os.open("f", os.O_CREAT | os.O_RDWR, 0o644)
os.makedirs("d/e")
here = os.open("d/e", os.O_RDONLY)
def best(name, f, n=200):
    low = 1e9
    for _ in range(40):
        t = time.perf_counter()
        for i in range(n): f(i)
        low = min(low, (time.perf_counter() - t) / n)
    print(name, round(low * 1e6, 2))
best("umask", lambda i: os.umask(0o22))
best("fchmod", lambda i: os.fchmod(fd, 0o644))
best("fchown", lambda i: os.fchown(fd, -1, -1))
best("futime", lambda i: os.utime(fd))
best("chmod", lambda i: os.chmod("f", 0o644))
best("utime", lambda i: os.utime("f"))
best("open-existing", lambda i: os.close(os.open("f", os.O_WRONLY)))
best("open-null", lambda i: os.close(os.open("/dev/null", os.O_WRONLY)))
made = iter(range(10**9)); gone = iter(range(10**9))
best("open-new", lambda i: os.close(os.open("d/e/%d" % next(made), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)))
best("unlink", lambda i: os.unlink("d/e/%d" % next(gone)))
made = iter(range(10**9)); gone = iter(range(10**9))
best("open-new-at", lambda i: os.close(os.open("%d" % next(made), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=here)))
best("unlink-at", lambda i: os.unlink("%d" % next(gone), dir_fd=here))
made = iter(range(10**9)); gone = iter(range(10**9))
best("mkdir", lambda i: os.mkdir("d/e/%d" % next(made)))
best("rmdir", lambda i: os.rmdir("d/e/%d" % next(gone)))
best("symlink", lambda i: os.symlink("x", "d/e/%d" % next(made)))
os.mkdir("d/0")
best("rename", lambda i: os.rename("d/%d" % i, "d/%d" % (i+1)) or (i == 199 and os.rename("d/200", "d/0")))
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(64)
def serve():
    while True: s.accept()[0].close()
threading.Thread(target=serve, daemon=True).start()
def connect(i):
    c = socket.socket(socket.AF_UNIX); c.connect("s"); c.recv(1); c.close()
best("socket", lambda i: socket.socket(socket.AF_UNIX).close())
best("connect-unix", connect)
`

// BenchmarkNotifiedCall prints what one call costs, in microseconds, bare and
// inside: the best of 40 batches, which a busy machine disturbs least.
func BenchmarkNotifiedCall(b *testing.B) {
	base, err := os.MkdirTemp("/dev/shm", "skillrun-bench-")
	must(b, err)
	defer os.RemoveAll(base)
	c := newCellAt(b, base)
	c.features |= linux.NotifySockets
	for i := 0; i < b.N; i++ {
		script := c.write(c.outside+"/calls.py", callScript)
		bare := c.bare("python3", script)
		must(b, exec.Command("sh", "-c", "rm -rf "+c.ws+"/*").Run())
		inside := c.run("python3", script)
		if bare.code != 0 || inside.code != 0 {
			b.Fatal(bare, inside, c.explain())
		}
		must(b, exec.Command("sh", "-c", "rm -rf "+c.ws+"/*").Run())
		x, y := strings.Fields(bare.out), strings.Fields(inside.out)
		for k := 0; k+1 < len(x); k += 2 {
			b.Logf("%-14s bare %6s inside %6s", x[k], x[k+1], y[k+1])
		}
	}
}
