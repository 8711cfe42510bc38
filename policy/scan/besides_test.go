package scan_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrun/policy"
	"skillrun/policy/scan"
)

// What programs do on the way is beside what they are for.
func TestBesides(t *testing.T) {
	for _, c := range []struct{ command, besides string }{
		{"git checkout main", "source_code.delete ."},
		{"git checkout -- a.txt b", "source_code.delete a.txt, source_code.delete b"},
		{"git checkout -b x", ""},
		{"git checkout -b x origin/x", "source_code.delete ."},
		{"git switch -c x", ""},
		{"git switch main", "source_code.delete ."},
		{"git restore --staged a.txt", ""},
		{"git -C d restore a.txt", "source_code.delete d/a.txt"},
		{"git reset HEAD~1", ""},
		{"git reset --hard", "source_code.delete ."},
		{"git stash", "source_code.delete ."},
		{"git stash list", ""},
		{"git stash push -m x", "source_code.delete ."},
		{"git pull && git merge x", "source_code.delete ."},
		{"git apply --check p", ""},
		{"git remote -v", ""},
		{"git remote add origin u", "filesystem.write .git/config"},
		{"git config user.name", ""},
		{"git config user.name x", "filesystem.write .git/config"},
		{"git config --global user.name x", ""},
		{"git branch -d x", ""},
		{"git branch -u origin/x", "filesystem.write .git/config"},
		{"git push -u origin x", "filesystem.write .git/config"},
		{"git push origin x", ""},
		{"git commit -am x", ""},
		{"git worktree add -b x ../a/t main", "filesystem.write .git/worktrees/t/commondir, filesystem.write .git/worktrees/t/gitdir"},
		{"git -C d worktree add t", "filesystem.write d/.git/worktrees/t/commondir, filesystem.write d/.git/worktrees/t/gitdir"},
		{`git worktree add "$d"`, ""},
		{"git worktree add ..", ""},
		{"git worktree list", ""},
		{"python3 -m venv env", "filesystem.write env/bin"},
		{"cd d; uv venv", "filesystem.write d/.venv/bin"},
		{"virtualenv a b", "filesystem.write a/bin, filesystem.write b/bin"},
	} {
		var got []string
		for _, n := range scan.Command(c.command, scan.Env{}).Besides {
			got = append(got, n.Capability+" "+n.Target)
		}
		if joined := strings.Join(got, ", "); joined != c.besides {
			t.Errorf("%s: %q, want %q", c.command, joined, c.besides)
		}
	}
}

// The repository of a directory outside of the roots has to be opened, that of the
// workspace has not.
func TestRepositoryElsewhere(t *testing.T) {
	env := scan.Env{Dir: "/w/d", Roots: []string{"/w"}, Home: "/home/u", FS: fstest.MapFS{"w/d/e/f": {}}}
	for _, c := range []struct{ command, besides string }{
		{"git status; cd .. && git log", ""},
		{"git -C e log; git -C /w status; cd /w/d/e && git commit -m x", ""},
		{"cd $(mktemp -d) && git init && git commit -m x", ""},
		{`git -C "$d" log`, ""},
		{"git -C ../../other log -1", "filesystem.read ../../other"},
		{"cd ~/x && git status", "filesystem.read ~/x"},
		{"cd /x && git add . && git commit -m x", "filesystem.write /x, filesystem.read /x"},
	} {
		var got []string
		for _, n := range scan.Command(c.command, env).Besides {
			got = append(got, n.Capability+" "+n.Target)
		}
		if diff := cmp.Diff(c.besides, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.command, diff)
		}
	}
}

func TestPorts(t *testing.T) {
	for _, c := range []struct {
		command string
		want    map[string][]string
	}{
		{"curl https://a.example.com/x", nil},
		{"curl https://a.example.com:8443/x:1", map[string][]string{"a.example.com": {"a.example.com:8443"}}},
		{"curl localhost:80; wget http://u:p@localhost:81/x http://localhost/", map[string][]string{"localhost": {"localhost:80", "localhost:81", "localhost"}}},
		{"curl http://[::1]:8080/ http://[::2]/", map[string][]string{"::1": {"[::1]:8080"}}},
		{"curl http://a.example.com:port/ http://a.example.com:99999/ http://$h:80/", nil},
		{"nc -zv -w 1 localhost 5432; nc ::1 80; nc b.example.com 20-30", map[string][]string{"localhost": {"localhost:5432"}, "::1": {"[::1]:80"}}},
		{"telnet localhost 25; echo > /dev/tcp/a.example.com/26; nc c.example.com $p", map[string][]string{"localhost": {"localhost:25"}, "a.example.com": {"a.example.com:26"}}},
		{"psql -h localhost -p 1 -p5432; pg_isready -h db --port=5433; psql -h a.example.com -p $PORT", map[string][]string{"localhost": {"localhost:5432"}, "db": {"db:5433"}}},
		{"mysql -h localhost -P 3306 -p3307; redis-cli -h ::1 -p 6379; mongosh --host db --port 27017", map[string][]string{"localhost": {"localhost:3306"}, "::1": {"[::1]:6379"}, "db": {"db:27017"}}},
		{"psql -p 5432 postgres://a.example.com/db", nil},
		{"psql -h a.example.com -p 1 postgres://b.example.com:2/db", map[string][]string{"a.example.com": {"a.example.com:1"}, "b.example.com": {"b.example.com:2"}}},
		{`python3 -c 'import requests; requests.get("http://b.example.com:5000/")'`, map[string][]string{"b.example.com": {"b.example.com:5000"}}},
	} {
		if diff := cmp.Diff(c.want, scan.Command(c.command, scan.Env{}).Ports); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.command, diff)
		}
	}
}

// Every row says what it does on the way with capabilities that there are.
func TestBesidesOfRows(t *testing.T) {
	for _, r := range readTable(t, "commands.toml", "command") {
		for _, b := range r.Besides {
			if name, target, _ := strings.Cut(b, " "); policy.Lookup(name) == nil || target == "" {
				t.Errorf("%v: %q", r.Names, b)
			}
		}
	}
}

// "x/.." is the directory above what x leads to, wherever x may be a link.
func TestAboveLinks(t *testing.T) {
	env := scan.Env{Dir: "/w", Roots: []string{"/w"}, Home: "/home/u", FS: fstest.MapFS{
		"w/d/e/f": {}, "w/link": {Data: []byte("/elsewhere/x"), Mode: fs.ModeSymlink}, "w/.env": {},
	}}
	for _, c := range []struct{ command, read string }{
		{"cat d/../f", "f"}, // the controls
		{"cat ./d/e/../../f", "f"},
		{"cat d/e/..", "d"},
		{"cat /w/d/../f", "/w/f"},
		{"cat ../w/d/../f", "../w/f"},
		{"cat ../../f", "../../f"},
		{"cd d && cat ../f", "f"},
		{"cd link/.. && cat f", "f"},
		{"cd link && cd .. && cat f", "f"},
		{"cd -P link/.. && cat f", "link/../f"},
		{"cd -eP link && cd -P .. && cat f", "link/../f"},
		{"cd -LP link/.. && cat f", "link/../f"},
		{"cd -PL link/.. && cat f", "f"},
		{"cd -P d/.. && cat f", "f"},
		{"cd -P link && cat f", "link/f"},
		{"cd -P link && cd /w/link/.. && cat f", "/w/f"},
		{"set -P; cd link/.. && cat f", "link/../f"},
		{"set -euo physical; cd link && cd .. && cat f", "link/../f"},
		{"set -o physical; set +o physical; cd link/.. && cat f", "f"},
		{"set -eP; set +P; cd link/.. && cat f", "f"},
		{"(set -P); cd link/.. && cat f", "f"},
		{"f() { set -P; }; f; cd link/.. && cat f", "link/../f"},
		{"cat link/../f", "link/../f"},
		{"cat /w/./link/../f", "/w/link/../f"},
		{"cat d/../link/../d/../f", "link/../d/../f"},
		{"cd link && cat ../f", "link/../f"},
		{"env -C link/.. cat f", "link/../f"},
		{"cat none/../f", "none/../f"},
		{"cat /other/x/../f", "/other/x/../f"},
		{"cat ~/../f", "~/../f"},
		{"cd ~/.. && cat f", "/home/f"},
		// Where that is is not known.
		{"cd -P link && cd .. && cat f", "?"},
		{"if [ -e x ]; then set -P; fi; cd link/.. && cat f", "?"},
		{"if [ -e x ]; then cd -P link; else cd link; fi; cd .. && cat f", "?"},
		{"cd link; if [ -e x ]; then cd -P .; fi; cd .. && cat f", "?"},
		{"if [ -e x ]; then set -P; fi; cd d/.. && cat f", "f"},
	} {
		needs := scan.Command(c.command, env).Needs
		if n := needs[len(needs)-1]; n.Capability != "filesystem.read" || n.Exact == (c.read == "?") || n.Exact && n.Target != c.read {
			t.Errorf("%s: %s %q (%v), want %q", c.command, n.Capability, n.Target, n.Exact, c.read)
		}
	}
	home := scan.Env{Dir: "/w", Home: "/home/u", FS: fstest.MapFS{"home/u/a/x": {}}}
	for command, want := range map[string]string{"cat ~/a/../x": "~/x", "cat ~/../v/x": "/home/v/x", "cat ~/a/../../../x": "/x"} {
		if n := scan.Command(command, home).Needs; n[len(n)-1].Target != want {
			t.Errorf("%s: %+v", command, n)
		}
	}
	for command, want := range map[string]string{"cat link/../.env": "secrets.read link/../.env", "cat ~/x/../.ssh/id": "secrets.read ~/x/../.ssh/id"} {
		if n := scan.Command(command, env).Needs; n[len(n)-1].Capability+" "+n[len(n)-1].Target != want {
			t.Errorf("%s: %+v", command, n)
		}
	}
}
