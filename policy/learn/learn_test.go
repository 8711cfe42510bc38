package learn_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"skillrun/policy"
	"skillrun/policy/learn"
	"skillrun/policy/scan"
)

const header = "---\nname: it\ndescription: It.\n---\n"

// parsed holds a proposal to what every one has to be: a manifest without a fault, that
// lint says nothing of, and that allows nothing before somebody is asked.
func parsed(t *testing.T, fsys fs.FS) (string, *policy.Set) {
	t.Helper()
	text, entries := learn.Manifest(fsys)
	for i, b := range bytes.Split(text, []byte("\n")) {
		if len(b) > 0 && (!utf8.Valid(b) || policy.Escape(strings.ReplaceAll(string(b), `\`, "/")) != strings.ReplaceAll(string(b), `\`, "/")) {
			t.Errorf("line %d has what does not show: %q", i+1, b)
		}
	}
	d, err := policy.ParseManifest("skillrun.toml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(d.Entries) != entries {
		t.Errorf("%d entries are said to be %d\n%s", len(d.Entries), entries, text)
	}
	for _, e := range d.Entries {
		if e.Effect != policy.Confirm {
			t.Errorf("%v: %s is not asked about", e.Pos, e.Capability)
		}
	}
	for _, f := range policy.Lint("it", []policy.File{{Name: "SKILL.md", Data: []byte(header)}, {Name: "skillrun.toml", Data: text}}) {
		t.Errorf("lint: %v\n%s", f, text)
	}
	set, _, err := policy.Compose(policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved})
	if err != nil {
		t.Fatal(err)
	}
	// What is left to the author is a manifest without a fault as well, all at once.
	all := strings.ReplaceAll("\n"+string(text), "\npermissions = []", "")
	for _, line := range []string{"[[", "capability", "effect", "constraints"} {
		all = strings.ReplaceAll(all, "\n#"+line, "\n"+line)
	}
	if strings.Contains(all, "\n[[") {
		if _, err := policy.ParseManifest("skillrun.toml", []byte(all)); err != nil {
			t.Errorf("with what is aside: %v\n%s", err, all)
		}
	}
	return string(text), set
}

// accepted answers every question of a set with yes.
func accepted(set *policy.Set) *policy.Set {
	var keys []string
	for _, q := range set.Pending() {
		keys = append(keys, q.Key)
	}
	return set.Accept(keys...)
}

func decide(set *policy.Set, capability string, r policy.Request) policy.Effect {
	r.Capability, r.Confined, r.Time = capability, true, time.Unix(0, 0)
	r.Place = policy.Place{Workspace: "/w", Home: "/h"}
	return set.Decide(r).Effect
}

// skills gives the examples, and each script of the reader's labels as a skill.
func skills(t *testing.T) map[string]fs.FS {
	all := map[string]fs.FS{}
	for _, pattern := range []string{"../../examples/skills/*", "../scan/testdata/eval/*/scripts/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			if path.Ext(name) == "" {
				all[name] = os.DirFS(name)
				continue
			}
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = fstest.MapFS{"SKILL.md": {Data: []byte(header)}, "scripts/" + path.Base(name): {Data: b}}
		}
	}
	return all
}

// A proposal comes to what the reader sees, once somebody says yes, and to nothing
// before.
func TestManifest(t *testing.T) {
	in, hosts := policy.Request{Paths: []string{"/w/x"}}, 0
	for name, fsys := range skills(t) {
		t.Run(path.Base(name), func(t *testing.T) {
			text, set := parsed(t, fsys)
			yes := accepted(set)
			scripts, _ := scan.Skill(fsys)
			seen := map[string]bool{}
			for _, s := range scripts {
				for _, n := range s.Needs {
					seen[strings.Replace(n.Capability, "source_code.", "filesystem.", 1)] = true
					if policy.Lookup(n.Capability).Group == "Network" && n.Exact && strings.Contains(n.Target, ".") {
						hosts++
						r := policy.Request{Hosts: []string{n.Target}}
						if ports := s.Ports[n.Target]; ports != nil {
							r.Hosts = ports
						}
						if got := decide(set, n.Capability, r); got == policy.Allow {
							t.Errorf("%s %v is allowed before anybody is asked", n.Capability, r.Hosts)
						}
						if got := decide(yes, n.Capability, r); got != policy.Allow && !strings.ContainsAny(n.Target, "*") {
							t.Errorf("%s %v: %v after a yes\n%s", n.Capability, r.Hosts, got, text)
						}
					}
				}
			}
			for _, c := range []string{"filesystem.read", "filesystem.write", "filesystem.delete"} {
				if decide(set, c, in) == policy.Allow {
					t.Errorf("%s is allowed before anybody is asked", c)
				}
				if got := decide(yes, c, in); got == policy.Allow && !seen[c] {
					t.Errorf("%s is asked for and was not seen\n%s", c, text)
				}
				if got := decide(yes, c, policy.Request{Paths: []string{"/h/x"}}); got == policy.Allow {
					t.Errorf("%s is asked for outside of the workspace\n%s", c, text)
				}
			}
			for _, c := range []string{"secrets.read", "package.install", "commit.push", "process.query", "container.run"} {
				if e := yes.Entries(); slices.ContainsFunc(e, func(e policy.Entry) bool { return e.Capability == c }) {
					t.Errorf("%s is proposed, and not left to decide\n%s", c, text)
				}
			}
		})
	}
	if hosts == 0 {
		t.Error("no script names a host")
	}
}

func TestProposal(t *testing.T) {
	tests := []struct {
		name, script    string
		contains, lacks []string
	}{
		{"hosts keep their ports", "curl https://a.example.com:8443/x\ncurl http://127.0.0.1:9/y", []string{`"a.example.com:8443"`, `"127.0.0.1:9"`}, []string{"#[["}},
		{"a host of an argument is left to decide, with those in the text", "api=https://b.example.com\ncurl \"$1\"", []string{`#constraints = {resource_scope = ["b.example.com"]}`}, []string{"\ncapability = \"web"}},
		{"secrets are left to decide", "curl -H \"x: $MY_TOKEN\" https://a.example.com; cat ~/.ssh/id_rsa", []string{`#constraints = {resource_scope = ["MY_TOKEN", "~/.ssh/id_rsa"]}`}, nil},
		{"variables by name, without those that are there", "echo $MY_UNITS $LANG $SKILL_DIR $CLAUDE_PLUGIN_ROOT $HOME", []string{`["MY_UNITS"]`}, []string{"LANG", "SKILL_DIR", "PLUGIN"}},
		{"a variable that programs obey is left to decide", "echo $LD_PRELOAD", []string{`#constraints = {resource_scope = ["LD_PRELOAD"]}`}, []string{"\n[[permissions]]\ncapability = \"env"}},
		{"outside of the workspace", "cat ~/notes/a /opt/x /etc/hosts ../y; echo >~/.config/z", []string{`#constraints = {resource_scope = ["~/notes/a", "/opt/x"]}`, `#constraints = {resource_scope = ["~/.config/z"]}`}, []string{"/etc/hosts"}},
		{"what lies in a directory that is made", "mkdir -p ~/.local/share/n; cat ~/.local/share/n/a >~/.local/share/n/b", []string{`#constraints = {resource_scope = ["~/.local/share/n"]}`}, []string{"n/a\"", "n/b\""}},
		{"the skill's own files need nothing", "cat data/own.txt >/dev/null", nil, []string{"filesystem"}},
		{"what is mktemp's needs nothing", "t=$(mktemp -d); echo >$t/x; rm -r $t", nil, []string{"filesystem"}},
		{"what is deleted by name", "rm -r dist", []string{"\ncapability = \"filesystem.delete\"", "workspace_only = true"}, []string{"#[["}},
		{"what is deleted by a name that is not known", "rm \"$1\"", []string{"\n#capability = \"filesystem.delete\""}, nil},
		{"what the script itself makes may go", "echo >x.tmp; mv x.tmp x", []string{"\n#capability = \"filesystem.delete\""}, []string{"\ncapability = \"filesystem.delete\""}},
		{"the run's own directories", "cat \"$XDG_CONFIG_HOME/x\"", nil, []string{"env_var"}},
		{"a file that is started", "./data/own.txt", []string{"\ncapability = \"source_code.execute\""}, nil},
		{"a script that a program reads", ". data/own.txt; bash data/own.txt; bash \"$1\"", []string{"\ncapability = \"shell.execute\""}, []string{"source_code.execute"}},
		{"what is sourced elsewhere is only read", ". /opt/x/env.sh", nil, []string{"source_code.execute"}},
		{"a program of the workspace that another runs", "make -C build", []string{"\ncapability = \"source_code.execute\""}, nil},
		{"what is dear", "pip install x; git push; docker ps; ps", []string{`#capability = "package.install"`, `#capability = "commit.push"`, `#capability = "container.query"`, `#capability = "process.query"`}, nil},
		{"what no run can have", "crontab -l; echo >.git/hooks/pre-commit", []string{"# policy.install_hook: "}, []string{`capability = "policy`}},
		{"what serves", "python3 -m http.server 8000\nnc -l 80\nphp -S localhost:1\nnode -e 'require(\"http\").createServer().listen(3)'", []string{"--grant listen:PORT", "#   do.sh:1: serves this directory\n#   do.sh:2: listens\n#   do.sh:3: listens\n#   do.sh:4: listens\n"}, nil},
		{"what asks a server", "nc localhost 80; curl http://localhost:1", nil, []string{"listen"}},
		{"what is not read", "eval \"$1\"", []string{"# Not read; it may need more:\n#   do.sh:1: "}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, _ := parsed(t, fstest.MapFS{"do.sh": {Data: []byte(tt.script)}, "data/own.txt": {Data: []byte("x")}})
			has(t, text, tt.contains, tt.lacks)
		})
	}
}

// has holds a text against words that it contains and words that it lacks.
func has(t *testing.T, text string, contains, lacks []string) {
	t.Helper()
	for _, s := range contains {
		if !strings.Contains(text, s) {
			t.Errorf("without %q:\n%s", s, text)
		}
	}
	for _, s := range lacks {
		if strings.Contains(text, s) {
			t.Errorf("with %q:\n%s", s, text)
		}
	}
}

// A program that needs no right of its own is started all the same, and what is in a
// language that nobody read is told of.
func TestSeen(t *testing.T) {
	text, _ := parsed(t, fstest.MapFS{
		"a.py": {Data: []byte("import subprocess\nsubprocess.run(['echo', 'x'])\nsubprocess.run(['cat', 'x'])\n")},
		"b.pl": {Data: []byte("unlink 'x'")}, "c": {Data: []byte("#!/usr/bin/ruby\n")}, "d.txt": {Data: []byte("x")},
	})
	has(t, text, []string{"a.py:2: starts the program: echo", "a.py:3: the command runs it: cat", "#   b.pl:1: in a language that is not read\n#   c:1: in a language that is not read\n"}, []string{"starts the program: cat", "d.txt"})
}

// What an agent is told to type is read, at its place in SKILL.md.
func TestTyped(t *testing.T) {
	text, _ := parsed(t, fstest.MapFS{
		"SKILL.md":  {Data: []byte(header + "Do:\n\n```bash\n\npython3 do.py in.csv\ncurl https://a.example.com\n```\n")},
		"do.py":     {Data: []byte("open('out.txt', 'w')\n")},
		"README.md": {Data: []byte("```bash\ncurl https://b.example.com\n```\n")},
	})
	has(t, text, []string{"SKILL.md:9: ", "the command runs it: python3", `"a.example.com"`, "do.py:1: "}, []string{"b.example.com", "source_code.execute"})
}

// What is to be filled in is no redirection, and in a real one the file is read.
func TestHoles(t *testing.T) {
	text, _ := parsed(t, fstest.MapFS{
		"SKILL.md": {Data: []byte(header + "```bash\npython3 do.py <skill-name> --path <output-directory>\ncurl https://<host>/x\nwc -l <in.txt >out.txt\n```\n")},
		"do.sh":    {Data: []byte("sort <given> sorted\n")},
	})
	has(t, learned(t, "cat <<EOF > a.txt\nmkdir said\nEOF\ncat <<B> b.txt\nmkdir said\nB\nsort <c.txt > d.txt\nsort <e.txt 2>/dev/null\nls <f> <g h>\n"),
		[]string{"redirection: a.txt", "redirection: b.txt", "redirection: c.txt", "redirection: d.txt", "redirection: e.txt"}, []string{"said", "redirection: f", "redirection: g", "cannot be parsed"})
	has(t, text, []string{"redirection: in.txt", "redirection: out.txt", "do.sh:1: redirection: given", "do.sh:1: redirection: sorted"}, []string{"cannot be parsed", "redirection: skill-name", "--path"})
}

// Where nothing is left to the author, no line says what to take away with it.
func TestNothing(t *testing.T) {
	text, _ := parsed(t, fstest.MapFS{"SKILL.md": {Data: []byte(header)}, "a.rb": {Data: []byte("puts 1\n")}})
	has(t, text, []string{"\n# Nothing.\npermissions = []\n", "a.rb:1: in a language"}, []string{"take this line away"})
	text, _ = parsed(t, fstest.MapFS{"SKILL.md": {Data: []byte(header)}, "a.py": {Data: []byte("open('/srv/x')\n")}})
	has(t, text, []string{"\n# Nothing; take this line away with the first \"#\" below.\n", "\n#[[permissions]]"}, nil)
}

func learned(t *testing.T, block string) string {
	t.Helper()
	text, _ := parsed(t, fstest.MapFS{"SKILL.md": {Data: []byte(header + "```bash\n" + block + "```\n")}})
	return text
}

// A module of the skill's own is read by itself, and one of nobody's is not.
func TestOwnModules(t *testing.T) {
	text, _ := parsed(t, fstest.MapFS{
		"scripts/a.py":      {Data: []byte("import helper\nfrom lib.x import y\nfrom scripts.helper import z\nimport nobodys\n")},
		"scripts/helper.py": {Data: []byte("open('out.txt', 'w')\n")},
		"lib/x.py":          {Data: []byte("y = 1\n")},
	})
	has(t, text, []string{"scripts/helper.py:1: ", "module nobodys"}, []string{"module helper", "module lib", "module scripts"})
}

// Names of a hostile skill stay words in comments and items in quotes.
func TestHostile(t *testing.T) {
	evil := []string{
		"\"]\n[[permissions]]\ncapability = \"*\"\neffect = \"allow\"\n",
		"\"]}\r\n[[permissions]]\r\n", `\"]`, "\x1b]0;x\a\x1b[2J", "\u202e\u200b\u2066", "\x80\xff", "# x", strings.Repeat("a", 5000), "'''", `"""`, "\x00", "\u2028[[permissions]]\u2029", "\u0085x",
	}
	for _, e := range evil {
		shell := "'" + strings.ReplaceAll(e, "'", `'\''`) + "'"
		script := "cat " + shell + " ~/" + shell + " /opt/" + shell + "\ncurl https://" + shell + "/ " + shell + "\ncurl http://" + shell + ".example.com:1\n" + shell + "\nrm " + shell + "\ndocker run " + shell + "\npip install " + shell + "\neval \"$x\" " + shell + "\n. " + shell + "\n"
		python := "import os\nopen(" + python(e) + ")\nos.environ[" + python(e) + "]\nopen(os.path.expanduser('~/.ssh/' + " + python(e) + "))\n"
		files := fstest.MapFS{"do.sh": {Data: []byte(script)}, "do.py": {Data: []byte(python)}}
		if name := "scripts/" + strings.NewReplacer("/", "_", "\x00", "").Replace(e) + ".sh"; fs.ValidPath(name) {
			files[name] = &fstest.MapFile{Data: []byte("cat x\n\nfrob\neval \"$1\"\n")}
		}
		text, set := parsed(t, files)
		for _, entry := range set.Entries() {
			if entry.Capability == "*" {
				t.Errorf("%q became an entry:\n%s", e, text)
			}
		}
	}
}

func python(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		if r >= ' ' && r < 0x7f && r != '\'' && r != '\\' {
			b.WriteRune(r)
		} else {
			b.WriteString("\\U" + strings.Repeat("0", 8-len(hex(r))) + hex(r))
		}
	}
	b.WriteByte('\'')
	return b.String()
}

func hex(r rune) string {
	const digits = "0123456789abcdef"
	s := ""
	for ; r > 0 || s == ""; r /= 16 {
		s = string(digits[r%16]) + s
	}
	return s
}

func FuzzManifest(f *testing.F) {
	f.Add("x.sh", "cat \"$1\" >out\ncurl https://a.example.com:1/x\n")
	f.Add("SKILL.md", "```python\nopen('\\x1b\"]\\n[[permissions]]')\n```\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		if !fs.ValidPath(name) || len(text) > 1<<12 {
			return
		}
		parsed(t, fstest.MapFS{name: {Data: []byte(text)}})
	})
}
