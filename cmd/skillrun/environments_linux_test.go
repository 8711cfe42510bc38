package main_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

// world is a home directory with the tools that people have in theirs, and a
// workspace that is a git work tree.
type world struct {
	dir string // the workspace
	env []string
}

// newWorld makes one. Another owner gets the workspace for himself, or, where
// root cannot do what it likes, for everybody.
func newWorld(t *testing.T, o owner) *world {
	t.Helper()
	dir, env := home(t)
	// The system's programs: those of another home are not this one's.
	path := "/usr/local/bin:/usr/bin:/bin"
	if g, err := exec.LookPath("go"); err == nil {
		path += ":" + filepath.Dir(g)
	}
	w := &world{dir: dir, env: append(env, "PATH="+path, "GIT_CONFIG_NOSYSTEM=1", "GOPROXY=file://"+filepath.Dir(dir)+"/proxy", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=")}
	homeDir := filepath.Join(filepath.Dir(dir), "home")
	write := func(name, text string) {
		t.Helper()
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		writeFile(t, name, text)
	}
	write("c/main.c", "#include <stdio.h>\nint main(void) { puts(\"compiled\"); return 0; }\n")
	write("Makefile", "made: c/main.c\n\tcp c/main.c made && echo is made\n")
	write("package.json", `{"name": "top", "version": "1.0.0", "dependencies": {"dep": "1.0.0"}}`)
	write("node_modules/dep/package.json", `{"name": "dep", "version": "1.0.0", "main": "index.js"}`)
	write("node_modules/dep/index.js", "module.exports = 'a node module'\n")
	write("go.mod", "module example.test/top\n\ngo 1.21\n\nrequire example.test/dep v1.0.0\n")
	write("main.go", "package main\n\nimport \"example.test/dep\"\n\nfunc main() { println(dep.Text) }\n")
	write(homeDir+"/.gitconfig", "[user]\n\tname = A User\n\temail = user@example.test\n")

	// What "pip install --user" leaves.
	site := strings.TrimSpace(w.outside(t, "python3", "-m", "site", "--user-site"))
	write(site+"/userpackage.py", "text = 'a user package'\n")
	w.outside(t, "python3", "-m", "venv", "--without-pip", "venv")
	write(strings.TrimSpace(w.outside(t, "venv/bin/python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))+"/venvpackage.py", "text = 'a venv package'\n")

	// What "go mod download" leaves.
	module := "example.test/dep@v1.0.0/"
	proxy := filepath.Join(filepath.Dir(dir), "proxy/example.test/dep/@v/v1.0.0")
	mod := "module example.test/dep\n\ngo 1.21\n"
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{"go.mod": mod, "dep.go": "package dep\n\nconst Text = \"a go module\"\n"} {
		f, err := z.Create(module + name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(proxy+".zip", archive.String())
	write(proxy+".mod", mod)
	write(proxy+".info", `{"Version": "v1.0.0"}`)
	w.outside(t, "go", "mod", "tidy")
	t.Cleanup(func() { exec.Command("chmod", "-R", "u+w", homeDir).Run() }) // go's cache is read-only

	w.outside(t, "git", "init", "-q")
	w.outside(t, "git", "add", "c/main.c")
	if o.uid != os.Getuid() {
		w.outside(t, "chown", "-R", fmt.Sprintf("%d:%d", o.uid, o.uid), dir)
		w.outside(t, "chmod", "700", dir)
	}
	if o.capless {
		w.outside(t, "chmod", "-R", "a+rwX", dir)
	}
	return w
}

func (w *world) command(name string, arg ...string) *exec.Cmd {
	cmd := exec.Command(name, arg...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

func (w *world) outside(t *testing.T, name string, arg ...string) string {
	t.Helper()
	path := name
	for _, kv := range w.env {
		if dirs, ok := strings.CutPrefix(kv, "PATH="); ok && !strings.Contains(name, "/") {
			for _, d := range filepath.SplitList(dirs) {
				if unix.Access(filepath.Join(d, name), unix.X_OK) == nil {
					path = filepath.Join(d, name)
					break
				}
			}
		}
	}
	out, err := w.command(path, arg...).Output()
	if err != nil {
		t.Fatalf("preparing: %s %q: %v", name, arg, err)
	}
	return string(out)
}

// ordinary programs, with what they print.
var ordinaryPrograms = []struct {
	name, needs, line, want string
	grants                  []string
}{
	{name: "python", needs: "python3", line: `python3 -c 'import userpackage; print(userpackage.text)'`, want: "a user package"},
	{name: "venv", needs: "python3", line: `venv/bin/python -c 'import venvpackage; print(venvpackage.text)'`, want: "a venv package", grants: []string{"source_code.execute"}},
	{name: "node", needs: "node", line: `node -e 'console.log(require("dep"))'`, want: "a node module"},
	{name: "npm", needs: "npm", line: `npm ls`, want: "dep@1.0.0"},
	{name: "gcc", needs: "gcc", line: `gcc -o compiled c/main.c && ./compiled`, want: "compiled", grants: []string{"source_code.execute"}},
	{name: "make", needs: "make", line: `make`, want: "is made"},
	{name: "go", needs: "go", line: `go build -o built . && ./built 2>&1`, want: "a go module", grants: []string{"source_code.execute"}},
	{name: "sqlite", needs: "sqlite3", line: `sqlite3 data.db 'pragma journal_mode=wal; create table t(a); insert into t values(42); select a from t'`, want: "42"},
	{name: "git", needs: "git", line: `git commit -q -m message && git log --format='%an <%ae> %s'`, want: "A User <user@example.test> message", grants: []string{"commit.create"}},
}

// owner is whose workspace it is.
type owner struct {
	uid     int
	capless bool // skillrun is started by root without capabilities
}

// owners gives the owners that a workspace can have here: this user and, for
// root, another one.
func owners() map[string]owner {
	all := map[string]owner{"own workspace": {uid: os.Getuid()}}
	if os.Getuid() == 0 {
		all["workspace of another"] = owner{uid: 1001}
		all["workspace of another without capabilities"] = owner{1001, true}
	}
	return all
}

// capless gives a command line without capabilities, as which root is refused
// what an ordinary user is.
func capless(argv ...string) []string {
	if os.Geteuid() != 0 {
		return argv
	}
	return append([]string{"setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"}, argv...)
}

// skillrun is the program in this world.
func (w *world) skillrun(t *testing.T, o owner, arg ...string) *exec.Cmd {
	argv := append([]string{program(t)}, arg...)
	if o.capless {
		argv = capless(argv...)
	}
	return w.command(argv[0], argv[1:]...)
}

// Ordinary programs work under the preset standard in every environment,
// without a gap allowed.
func TestOrdinary(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for name, o := range owners() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, o)
			for _, p := range ordinaryPrograms {
				// What takes long, and in go's case builds all of its runtime: make e2e does.
				if again := o.uid != os.Getuid(); os.Getenv("E2E") == "" && (again && (p.name == "node" || p.name == "npm") || p.name == "go" && (again || sandboxtest.Emulated() != "")) {
					continue
				}
				t.Run(p.name, func(t *testing.T) {
					sandboxtest.Program(t, p.needs)
					var args []string
					for _, g := range p.grants {
						args = append(args, "--grant", g)
					}
					cmd := w.skillrun(t, o, append(args, "--denials", "--", "sh", "-c", p.line)...)
					out, err := cmd.CombinedOutput()
					if err != nil || !strings.Contains(string(out), p.want) {
						t.Errorf("%v, want %q:\n%s", err, p.want, out)
					}
				})
			}
		})
	}
}

// The example skills do their work in every environment, and what holds them is
// what the golden file of that environment says.
func TestReceipts(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range owners() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, o)
			w.outside(t, "cp", examples+"/data/co2-mauna-loa.csv", w.dir)
			w.outside(t, "git", "-c", "safe.directory=*", "commit", "-q", "-m", "one")
			for _, run := range []struct{ skill, made, want, command string }{
				{"csv-report", "co2-mauna-loa.html", "<polyline", "python3 scripts/report.py co2-mauna-loa.csv"},
				{"repo-stats", "repo-stats.md", "Most changed files", "bash scripts/stats.sh --top 3"},
			} {
				report := filepath.Join(filepath.Dir(w.dir), run.skill+".json")
				args := []string{"--skill", filepath.Join(examples, "skills", run.skill), "--approve", "declared", "--report", report, "--"}
				cmd := w.skillrun(t, o, append(args, strings.Fields(run.command)...)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", run.skill, err, out)
					continue
				}
				if b, err := os.ReadFile(filepath.Join(w.dir, run.made)); err != nil || !strings.Contains(string(b), run.want) {
					t.Errorf("%s: %v: %.200q", run.skill, err, b)
				}
				compareReceipt(t, run.skill, o, report)
			}
		})
	}
}

// compareReceipt holds a run's receipt against the golden file of this
// environment. They are of a kernel that has all that is used; on an older one
// only the gaps count.
func compareReceipt(t *testing.T, skill string, o owner, report string) {
	t.Helper()
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Receipt profiles.Receipt }
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if gaps := r.Receipt.Gaps(false, nil); len(gaps) > 0 || len(r.Receipt) == 0 {
		t.Errorf("%s: gaps under standard: %v", skill, gaps)
	}
	f := linux.ProbeDeep()
	if f.Landlock < 7 || !f.Notify || !f.Children {
		sandboxtest.Skip(t, sandboxtest.Machine, "the golden receipts are of another kernel than %+v", f)
	}
	// A container's filter and a host that refuses namespaces come to the same.
	environment := []string{"namespaces", "root"}
	if !f.Namespaces {
		environment[0] = "none"
	}
	if os.Getuid() != 0 {
		environment[1] = "user"
	}
	switch {
	case o.capless:
		// What keeps a capability in a user namespace is not there to keep.
		environment = []string{"none", "root without capabilities, workspace of another"}
	case o.uid != os.Getuid():
		environment[1] = "root, workspace of another"
	}
	var b strings.Builder
	for _, c := range r.Receipt {
		fmt.Fprintf(&b, "%s: %s: %s", c.Name, c.Strength, c.Mechanism)
		if c.Note != "" {
			fmt.Fprintf(&b, " (%s)", c.Note)
		}
		b.WriteByte('\n')
	}
	golden := filepath.Join("testdata/receipts", skill+", "+strings.Join(environment, ", ")+".txt")
	compareReceipts(t, golden, b.String())
}

// compareReceipts holds receipts to a golden file.
func compareReceipts(t *testing.T, golden, receipts string) {
	t.Helper()
	if *updateDocs {
		writeFile(t, golden, receipts)
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), receipts); d != "" {
		t.Errorf("other receipts than %s (run with -update if it is meant):\n%s", golden, d)
	}
}

// elsewhere are machines that are not this one, by what a probe finds there.
// None of them is to have a gap under standard.
var elsewhere = []struct {
	name     string
	features linux.Features
}{
	// Linux 6.1, user namespaces for everybody.
	{"Debian 12, a user", linux.Features{Landlock: 2, Namespaces: true, NetNamespace: true, UID: 1000}},
	// Linux 6.8; AppArmor takes the capabilities in user namespaces.
	{"Ubuntu 24.04 runner", linux.Features{Landlock: 4, UID: 1001}},
	// Docker's filter refuses namespaces and keyrings, and leaves root 14 capabilities.
	{"Docker, root", linux.Features{Landlock: 4, Capabilities: 0xa80425fb}},
	{"Docker, a user", linux.Features{Landlock: 4, UID: 1000}},
	{"Linux 6.15, root with all capabilities", linux.Features{Landlock: 7, Namespaces: true, NetNamespace: true, Capabilities: 1<<41 - 1, Cgroup: "v2"}},
	// Root in a container without root: 11 capabilities, and /proc is masked, so that no other can be mounted.
	{"podman without root", linux.Features{Landlock: 6, Capabilities: 0x800405fb}},
	{"Linux 5.13, no namespaces", linux.Features{Landlock: 1, UID: 1000}},
	{"Linux 6.2, no namespaces", linux.Features{Landlock: 3, UID: 1000}},
	{"Linux 6.10, no namespaces", linux.Features{Landlock: 5, UID: 1000}},
}

// What holds csv-report on other machines is what the golden file says.
func TestReceiptsElsewhere(t *testing.T) {
	dir, env := home(t)
	skill, err := filepath.Abs("../../examples/skills/csv-report")
	if err != nil {
		t.Fatal(err)
	}
	receipt := func(name string, f linux.Features) string {
		f.Seccomp, f.Notify, f.Children, f.Pidfd, f.CloseRange = true, true, true, true, true
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "features.json")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program(t), "explain", "--features", file, "--skill", skill, "--approve", "declared", "--", "python3", "scripts/report.py", "in.csv")
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		_, held, ok := strings.Cut(string(out), "\nheld here by:\n")
		if err != nil || !ok {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		return held
	}
	var b strings.Builder
	for _, m := range elsewhere {
		held := receipt(m.name, m.features)
		if strings.Contains(held, "gaps:") {
			t.Errorf("%s: gaps under standard:\n%s", m.name, held)
		}
		fmt.Fprintf(&b, "%s\n%s\n", m.name, held)
	}
	if held := receipt("no Landlock", linux.Features{}); !strings.Contains(held, "gaps:") || !strings.Contains(held, "\n  fs.read\n") {
		t.Errorf("without Landlock there is no gap:\n%s", held)
	}
	const golden = "testdata/receipts/elsewhere.txt"
	compareReceipts(t, golden, b.String())
}
