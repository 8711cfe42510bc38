package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// work is something ordinary that a run does, as a shell script, and how many
// times the bare time it may take. Each round has a directory of its own in the
// workspace.
type work struct {
	name   string
	gate   float64
	inputs string // once, in the workspace
	before string // in each round's directory, not counted
	script string
}

// works are mostly calls that the supervisor makes for the command: what it
// costs at its worst. What removes files comes last: ext4 looks at each inode
// that was freed in the last minutes before it takes another.
var works = []work{
	{"sqlite, 1,500 commits, WAL", 1.3, commits("WAL"), "", "sqlite3 db < ../commits.sql > /dev/null"},
	{"sqlite, 1,500 commits, journal", 1.3, commits("DELETE"), "", "sqlite3 db < ../commits.sql > /dev/null"},
	{"git status, 7,000 files", 1.25, `mkdir repo; cd repo; git init -q
for d in $(seq 70); do mkdir $d; for f in $(seq 100); do echo $f > $d/$f; done; done
git add .; git -c user.name=x -c user.email=x@y commit -qm x`, "", "cd ../repo && git status --porcelain"},
	{"python imports", 1.08, "", "", "python3 -c 'import asyncio, json, http.client, unittest, xml.dom, email, sqlite3'"},
	{"unix sockets, 4 x 1,000 connects", 0, connects, "", "python3 ../connects.py"},
	{"write and rename, 3,000 times", 0, saves, "", "python3 ../saves.py"},
	{"npm install, 40 packages, local", 1.25, packages, "cp -r ../made ../package.json .",
		"npm install --offline --no-audit --no-fund --loglevel=error --cache \"$PWD/cache\" > /dev/null"},
	{"tar x, 10,000 files", 2.5, tarball, "", "tar xf ../small.tar"},
	{"the same, as an ordinary user's tar", 2.5, tarball, "", "tar --no-same-owner --no-same-permissions -xf ../small.tar"},
	{"rm -rf of one's own 10,000 files", 2.0, tarball, "", "tar xf ../small.tar; date +%s%N; rm -rf tree; date +%s%N"},
}

const tarball = `for d in $(seq 100); do mkdir -p tree/$d; for f in $(seq 100); do echo $d $f > tree/$d/$f; done; done
tar cf small.tar tree; rm -rf tree`

func commits(journal string) string {
	return `(echo "PRAGMA journal_mode=` + journal + `; PRAGMA synchronous=NORMAL; CREATE TABLE t(a);"
for i in $(seq 1500); do echo "INSERT INTO t VALUES($i);"; done) > commits.sql`
}

const packages = `mkdir made; list=
for p in $(seq 40); do
	mkdir -p package/lib; echo '{"name":"made'$p'","version":"1.0.0","main":"lib/1.js"}' > package/package.json
	for f in $(seq 25); do echo "module.exports = $f" > package/lib/$f.js; done
	tar czf made/$p.tgz package; rm -rf package; list="$list,\"made$p\":\"file:made/$p.tgz\""
done
echo "{\"name\":\"user\",\"version\":\"1.0.0\",\"dependencies\":{${list#,}}}" > package.json`

const connects = `cat > connects.py <<'END'
import socket, threading
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(64)
def serve():
    while True: s.accept()[0].close()
def connect():
    for i in range(1000):
        c = socket.socket(socket.AF_UNIX); c.connect("s"); c.recv(1); c.close()
threading.Thread(target=serve, daemon=True).start()
storm = [threading.Thread(target=connect) for i in range(4)]
for t in storm: t.start()
for t in storm: t.join()
END`

const saves = `cat > saves.py <<'END'
import os
for i in range(3000):
    with open("t", "w") as f: f.write("x" * 100)
    os.rename("t", "f")
END`

// works measures each, bare and inside, in rounds that alternate.
func (w *world) works(rounds int) error {
	fmt.Printf("\nordinary work, x bare, medians of %d alternating rounds: time, and processor time of everything\n", rounds)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tbare, ms\tno namespaces\tnamespaces\tbare, CPU ms\tno namespaces\tnamespaces\ttarget")
	for _, where := range []struct{ name, dir string }{{"tmpfs", "/dev/shm"}, {"disk", "/var/tmp"}} {
		var left []string
		for i := range works {
			o := &works[i]
			ws, err := os.MkdirTemp(where.dir, "skillrun-bench-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(ws)
			left = append(left, ws)
			wall, cpu, err := w.work(ws, where.name == "disk", o, rounds)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", o.name, where.name, err)
			}
			target := "-"
			if o.gate > 0 {
				target = strconv.FormatFloat(o.gate, 'f', -1, 64)
			}
			fmt.Fprintf(t, "%s, %s", where.name, o.name)
			for _, m := range [][3]time.Duration{wall, cpu} {
				if m[0] == 0 {
					fmt.Fprint(t, "\t-\t-\t-")
					continue
				}
				fmt.Fprintf(t, "\t%.1f\t%.2f\t%.2f", float64(m[0])/1e6, ratio(m[1], m[0]), ratio(m[2], m[0]))
			}
			fmt.Fprintf(t, "\t%s\n", target)
		}
		for _, ws := range left {
			os.RemoveAll(ws)
		}
	}
	return t.Flush()
}

// work gives the medians bare, without and with namespaces, of the time and of
// the processor time of all processes that took part, ours included. The latter
// is zero where the script measures itself. With keep what a round has made
// stays until all is done.
func (w *world) work(ws string, keep bool, o *work, rounds int) (wall, cpu [3]time.Duration, err error) {
	home := filepath.Join(w.dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return wall, cpu, err
	}
	shell := func(dir string, argv ...string) (out string, took, used time.Duration, err error) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(w.env[:len(w.env):len(w.env)], "HOME="+home)
		var b bytes.Buffer
		cmd.Stdout, cmd.Stderr = &b, &b
		start := time.Now()
		err = cmd.Run()
		took = time.Since(start)
		if err != nil {
			return "", 0, 0, fmt.Errorf("%w\n%s", err, b.String())
		}
		return b.String(), took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
	}
	if _, _, _, err := shell(ws, "sh", "-ec", o.inputs); err != nil {
		return wall, cpu, err
	}
	run := []string{w.skillrun, "--skill", filepath.Join(w.dir, "skill"), "--workspace", ws, "--approve", "declared", "--namespaces"}
	kinds := [][]string{nil, append(run[:len(run):len(run)], "off", "--"), append(run[:len(run):len(run)], "on", "--")}
	measures := strings.Contains(o.script, "date +%s%N")
	var took, used [3][]time.Duration
	for round := range 1 + rounds { // the first warms up
		for j := range kinds {
			k := (j + round) % len(kinds)
			dir := filepath.Join(ws, fmt.Sprint("round", round, "-", k))
			if err := os.Mkdir(dir, 0o755); err != nil {
				return wall, cpu, err
			}
			if _, _, _, err := shell(dir, "sh", "-ec", o.before); err != nil {
				return wall, cpu, err
			}
			out, d, c, err := shell(dir, append(kinds[k][:len(kinds[k]):len(kinds[k])], "sh", "-ec", o.script)...)
			if err != nil {
				return wall, cpu, err
			}
			if !keep {
				os.RemoveAll(dir)
			}
			if measures {
				var first, last int64
				if _, err := fmt.Sscan(out, &first, &last); err != nil {
					return wall, cpu, err
				}
				d, c = time.Duration(last-first), 0
			}
			if round > 0 {
				took[k], used[k] = append(took[k], d), append(used[k], c)
			}
		}
	}
	for k := range kinds {
		wall[k], cpu[k] = median(took[k]), median(used[k])
	}
	return wall, cpu, nil
}
