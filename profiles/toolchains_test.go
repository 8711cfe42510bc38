package profiles_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/BurntSushi/toml"

	"skillrun/profiles"
)

// What tools make in the place that their variable names, "X", each as a fresh
// installation has it, and a name in it that the run must have.
var installations = []struct {
	tool, variable string
	files          []string
	want           string
}{
	{"pyenv", "PYENV_ROOT", []string{"libexec/pyenv", "versions/"}, "libexec/pyenv"},
	{"pyenv", "PYENV_ROOT", []string{"versions/3.12.1/bin/python3.12"}, "versions/3.12.1/bin/python3.12"},
	{"python-user", "PYTHONUSERBASE", []string{"lib/python3.12/site-packages/six.py", "bin/tool"}, "bin/tool"},
	{"venv", "VIRTUAL_ENV", []string{"pyvenv.cfg", "bin/python -> /usr/bin/python3", "lib/python3.12/site-packages/", "lib64 -> lib"}, "lib/python3.12/site-packages"},
	{"venv", "VIRTUAL_ENV", []string{"pyvenv.cfg", "lib/pypy3.10/site-packages/"}, "pyvenv.cfg"},
	{"conda", "CONDA_PREFIX", []string{"conda-meta/history", "bin/python3.12", "ssl/cacert.pem"}, "ssl/cacert.pem"},
	{"uv-python", "UV_PYTHON_INSTALL_DIR", []string{".lock", "cpython-3.12.1-linux-x86_64-gnu/bin/python3.12"}, "cpython-3.12.1-linux-x86_64-gnu/bin/python3.12"},
	{"uv-tools", "UV_TOOL_DIR", []string{".lock", "ruff/uv-receipt.toml", "ruff/bin/ruff"}, "ruff/bin/ruff"},
	{"pipx", "PIPX_HOME", []string{"venvs/black/pipx_metadata.json", "venvs/black/bin/black"}, "venvs/black/bin/black"},
	{"nvm", "NVM_DIR", []string{"nvm.sh", "versions/node/"}, "nvm.sh"},
	{"nvm", "NVM_DIR", []string{"versions/node/v22.1.0/bin/node"}, "versions/node/v22.1.0/bin/node"},
	{"fnm", "FNM_DIR", []string{"node-versions/v22.1.0/installation/bin/node"}, "node-versions/v22.1.0/installation/bin/node"},
	{"volta", "VOLTA_HOME", []string{"tools/image/node/22.1.0/bin/node"}, "tools/image/node/22.1.0/bin/node"},
	{"n", "N_PREFIX", []string{"n/versions/node/22.1.0/bin/node", "bin/node"}, "bin/node"},
	{"npm-prefix", "NPM_CONFIG_PREFIX", []string{"lib/node_modules/tool/cli.js", "bin/tool -> ../lib/node_modules/tool/cli.js"}, "lib/node_modules/tool/cli.js"},
	{"pnpm", "PNPM_HOME", []string{"global/5/package.json", "tool"}, "tool"},
	{"corepack", "COREPACK_HOME", []string{"v1/pnpm/9.1.0/.corepack", "lastKnownGood.json"}, "v1/pnpm/9.1.0"},
	{"bun", "BUN_INSTALL", []string{"bin/bun"}, "bin/bun"},
	{"deno", "DENO_INSTALL", []string{"bin/deno"}, "bin/deno"},
	{"go-modules", "GOMODCACHE", []string{"cache/lock", "cache/download/", "rsc.io/quote@v1/q.go"}, "rsc.io/quote@v1/q.go"},
	{"go-modules", "GOPATH", []string{"pkg/mod/cache/lock", "pkg/mod/cache/download/", "pkg/mod/rsc.io/q@v1/q.go"}, "pkg/mod/rsc.io/q@v1/q.go"},
	{"go-bin", "GOPATH", []string{"pkg/sumdb/sum.golang.org/latest", "bin/gopls"}, "bin/gopls"},
	{"goroot", "GOROOT", []string{"pkg/tool/linux_amd64/compile", "bin/go", "VERSION", "go.env"}, "go.env"},
	{"rustup", "RUSTUP_HOME", []string{"settings.toml", "toolchains/stable/bin/rustc"}, "settings.toml"},
	{"cargo", "CARGO_HOME", []string{"bin/cargo", "env"}, "env"},
	{"cargo", "CARGO_HOME", []string{"bin/tool", "registry/CACHEDIR.TAG", "registry/src/a"}, "registry/src/a"},
	{"gradle", "GRADLE_USER_HOME", []string{"caches/modules-2/files-2.1/a"}, "caches/modules-2/files-2.1/a"},
	{"sdkman", "SDKMAN_DIR", []string{"bin/sdkman-init.sh", "candidates/java/21/bin/java"}, "candidates/java/21/bin/java"},
	{"java", "JAVA_HOME", []string{"bin/java", "lib/modules", "release"}, "release"},
	{"java", "JAVA_HOME", []string{"bin/java", "jre/lib/rt.jar"}, "jre/lib/rt.jar"},
	{"rbenv", "RBENV_ROOT", []string{"versions/3.3.0/bin/ruby"}, "versions/3.3.0/bin/ruby"},
	{"rvm", "rvm_path", []string{"scripts/rvm", "rubies/3.3.0/bin/ruby"}, "rubies/3.3.0/bin/ruby"},
	{"gems", "GEM_HOME", []string{"specifications/rake-13.gemspec", "gems/rake-13/rake.rb", "bin/rake"}, "gems/rake-13/rake.rb"},
	{"perl-local", "PERL_LOCAL_LIB_ROOT", []string{"lib/perl5/x86_64-linux/auto/A/.packlist", "lib/perl5/A.pm"}, "lib/perl5/A.pm"},
	{"perlbrew", "PERLBREW_ROOT", []string{"perls/perl-5.38/bin/perl"}, "perls/perl-5.38/bin/perl"},
	{"composer", "COMPOSER_HOME", []string{"keys.tags.pub", "vendor/bin/tool"}, "vendor/bin/tool"},
	{"opam", "OPAMROOT", []string{"config", "opam-init/init.sh", "default/bin/ocaml"}, "default/bin/ocaml"},
	{"dotnet", "DOTNET_ROOT", []string{"shared/Microsoft.NETCore.App/8.0.1/a", "dotnet", "host/fxr/8.0.1/a"}, "dotnet"},
	{"dart", "PUB_CACHE", []string{"hosted/pub.dev/a/a.dart"}, "hosted/pub.dev/a/a.dart"},
	{"asdf", "ASDF_DATA_DIR", []string{"plugins/nodejs/bin/list-all", "installs/nodejs/22/bin/node"}, "installs/nodejs/22/bin/node"},
	{"mise", "MISE_DATA_DIR", []string{"installs/node/22.1.0/bin/node", "installs/node/latest -> ./22.1.0"}, "installs/node/22.1.0/bin/node"},
	{"runner-tools", "RUNNER_TOOL_CACHE", []string{"node/20.1.0/x64.complete", "node/20.1.0/x64/bin/node"}, "node/20.1.0/x64/bin/node"},
	{"runner-tools", "AGENT_TOOLSDIRECTORY", []string{"Python/3.12.1/x64.complete", "Python/3.12.1/x64/bin/python"}, "Python/3.12.1/x64/bin/python"},
	{"setup-python", "pythonLocation", []string{"lib/libpython3.12.so.1.0", "lib/python3.12/site-packages/", "bin/python"}, "bin/python"},
	{"proto", "PROTO_HOME", []string{"bin/proto-shim", "tools/node/22/bin/node"}, "tools/node/22/bin/node"},
}

// Names that many a directory has, each with something in it.
var everyday = []string{
	"HEAD", "config", "objects/aa", "refs/heads/main", "hooks/pre-commit", // a repository
	".lock", "env", "git/s", "registry/s", "bin/s", "bin/java", "lib/s", "lib64/s", "include/s", "share/s", "etc/s", "src/s", "global/s", "shared/s",
	"versions/v/s", "installs/s", "tools/s", "tools/image/s", "candidates/s", "hosted/s", "specifications/s.md", "venvs/s", "v1/s", "toolchains/s",
	"rubies/s", "perls/s", "vendor/composer/installed.json", "pkg/mod/s", "pkg/tool/s", "cache/download/s", "caches/modules-2/s", "lib/perl5/s",
	"node-versions/s", "conda-meta/s", "pyvenv.cfg", "n/versions/s", "repo/s", "lib/python3/s", "plugins/s", "shims/s", "C/s", "T/s", "package.json",
}

// A project can set variables. One that names a directory of another sort opens
// nothing of it, whatever its name and its contents' are; control: with what the
// tool makes it opens that.
func TestVariableOpensItsToolOnly(t *testing.T) {
	var data struct {
		Tool []struct {
			Name, Os   string
			Places     []string
			Read, Exec []string
		}
	}
	if _, err := toml.DecodeFile("data/toolchains.toml", &data); err != nil {
		t.Fatal(err)
	}
	opened := func(h *profiles.Host, workspace string) (names []string) {
		rules, _ := profiles.Toolchains(h, workspace)
		for _, r := range rules {
			if strings.HasPrefix(r.Path, "/home/u/x") || strings.HasPrefix("/home/u/x", r.Path) {
				names = append(names, r.Path)
			}
		}
		return names
	}
	in := func(files []string) (all []string) {
		for _, f := range files {
			all = append(all, "/home/u/x/"+f)
		}
		return all
	}
	for _, row := range data.Tool {
		for _, place := range row.Places {
			name, ok := strings.CutPrefix(place, "$")
			if !ok || row.Os == "darwin" {
				continue
			}
			variable, _, _ := strings.Cut(name, "/")
			h := machine(in(everyday)...)
			h.Env[variable] = "/home/u/x"
			if got := opened(h, "/w"); len(got) > 0 {
				t.Errorf("%s: %s opens %v of any directory", row.Name, variable, got)
			}
			found := false
			for _, i := range installations {
				if i.tool != row.Name || i.variable != variable {
					continue
				}
				found = true
				h = machine(in(i.files)...)
				h.Env[variable] = "/home/u/x"
				rules, _ := profiles.Toolchains(h, "/w")
				p := &profiles.Profile{Paths: rules}
				if !p.Allows("/home/u/x/"+i.want, profiles.Read).Allowed {
					t.Errorf("%s: %s=x: nothing to read at %s; rules for %v", row.Name, variable, i.want, opened(h, "/w"))
				}
				// A run may have put there what tells it from others: nothing is opened
				// whole that one could write, nor a work tree, the workspace apart.
				if !slices.Contains(append(row.Read, row.Exec...), ".") || place != "$"+variable {
					continue
				}
				for _, also := range []string{"/home/u/x/.git/HEAD", "/state/written"} {
					h = machine(append(in(i.files), also)...)
					h.Env[variable], h.WrittenLists = "/home/u/x", []string{"/state/written"}
					if f := h.FS.(fstest.MapFS)["state/written"]; f != nil {
						f.Data = []byte("/home/u/x\x00/w\x00")
					}
					if got := opened(h, "/w"); len(got) > 0 {
						t.Errorf("%s: %s opens %v, with %s", row.Name, variable, got, also)
					}
					if !slices.Contains(opened(h, "/home/u/x"), "/home/u/x") {
						t.Errorf("%s: %s does not open the workspace", row.Name, variable)
					}
				}
			}
			if !found {
				t.Errorf("%s: no installation by $%s to try", row.Name, variable)
			}
		}
	}
	for _, variable := range []string{"XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		h := machine("/home/u/x/pnpm/global/s", "/home/u/x/uv/python/.lock", "/home/u/x/composer/vendor/s", "/home/u/x/node/corepack/v1/s")
		h.Env[variable] = "/home/u/x"
		if got := opened(h, "/w"); len(got) > 0 {
			t.Errorf("%s opens %v", variable, got)
		}
	}
}

// A project can set HOME, too: to another directory of the user's, with a "bin" in it.
// Control: the account's home, and one elsewhere, as container jobs have it, open theirs.
func TestChosenHomeOpensToolsOnly(t *testing.T) {
	files := func(home string) []string {
		return []string{home + "/bin/s", home + "/.local/bin/s", home + "/sdk/go1/s", home + "/.cargo/bin/cargo"}
	}
	for _, c := range []struct {
		name, home string
		also       []string
		opens      []string
	}{
		{"control: the account's", "/home/u", nil, []string{"/bin/s", "/.local/bin/s", "/sdk/go1/s", "/.cargo/bin/cargo"}},
		{"control: another", "/github/home", nil, []string{"/bin/s", "/.local/bin/s", "/sdk/go1/s", "/.cargo/bin/cargo"}},
		{"the account's by a link", "/link", []string{"/link -> /home/u"}, []string{"/bin/s", "/.local/bin/s", "/sdk/go1/s", "/.cargo/bin/cargo"}},
		{"beneath the account's", "/home/u/x", nil, []string{"/.cargo/bin/cargo"}},
		{"beneath it by a link", "/link", []string{"/link -> /home/u/x"}, []string{"/.cargo/bin/cargo"}},
		{"a work tree", "/src/x", []string{"/src/x/.git/HEAD"}, []string{"/.cargo/bin/cargo"}},
		{"in a work tree", "/src/x", []string{"/src/.git"}, []string{"/.cargo/bin/cargo"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := c.home
			if len(c.also) > 0 {
				if _, target, ok := strings.Cut(c.also[0], " -> "); ok {
					at = target
				}
			}
			h := machine(append(files(at), c.also...)...)
			h.Home, h.Account = c.home, "/home/u"
			rules, _ := profiles.Toolchains(h, "/w")
			p := &profiles.Profile{Paths: rules}
			for _, name := range files("") {
				if got, want := p.Allows(at+name, profiles.Read).Allowed, slices.Contains(c.opens, name); got != want {
					t.Errorf("HOME=%s: reading %s: %v, want %v", c.home, at+name, got, want)
				}
			}
		})
	}
}

// A link in another user's home opens nothing outside of it to a run of root's.
func TestTheirHomeLeadsNowhere(t *testing.T) {
	h := machine("/home/u/bin -> /secret", "/home/u/.local -> x", "/home/u/x/bin/s", "/secret/s")
	h.Home, h.Account = "/home/u", "/root"
	opens := func(name string) bool {
		rules, _ := profiles.Toolchains(h, "/w")
		return (&profiles.Profile{Paths: rules}).Allows(name, profiles.Read).Allowed
	}
	if !opens("/secret/s") {
		t.Error("control: a link in one's own home opens nothing")
	}
	h.Theirs = true
	if opens("/secret/s") {
		t.Error("their link leads out of their home")
	}
	if !opens("/home/u/x/bin/s") {
		t.Error("a link that stays in it opens nothing")
	}
}

// PATH, which a project can set, opens a directory of /opt only where programs are.
func TestPathOpensProgramsOnly(t *testing.T) {
	h := machine("/opt/tool/bin/t", "/opt/tool/share/x", "/opt/data/conf/a", "/opt/file", "/opt/linked/bin/t -> ../lib/t", "/opt/linked/lib/t", "/opt/dirs/conf/sub/", "/opt/started/x/t")
	h.FS.(fstest.MapFS)["opt/data/conf/a"].Mode = 0o644
	h.Env["PATH"] = "/opt/tool/bin:/opt/data/conf:/opt/data:/opt/file:/opt/linked/bin:/opt/dirs/conf:/opt/started/x:/opt/none:/opt"
	rules, _ := profiles.Toolchains(h, "/w")
	p := &profiles.Profile{Paths: rules}
	for name, want := range map[string]bool{
		"/opt/tool/share/x": true, "/opt/linked/lib/t": true, "/opt/started/x/t": true, // the controls
		"/opt/data/conf/a": false, "/opt/file": false, "/opt/dirs/conf": false, "/opt/none/x": false,
	} {
		if got := p.Allows(name, profiles.Read).Allowed; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The Python of actions/setup-python looks for its library in /opt/hostedtoolcache
// only; where the tool cache is another the runner's jobs have LD_LIBRARY_PATH, which
// no run is passed.
func TestSetupPythonFindsItsLibrary(t *testing.T) {
	const place = "/home/u/_work/_tool/Python/3.12.1/x64"
	h := machine(place+"/lib/libpython3.12.so.1.0", place+"/lib/python3.12/site-packages/", place+".complete")
	h.Env["pythonLocation"] = place
	_, vars := profiles.Toolchains(h, "/w")
	if !slices.ContainsFunc(vars, func(v profiles.EnvVar) bool { return v.Name == "LD_LIBRARY_PATH" && v.Value == place+"/lib" }) {
		t.Errorf("variables are %v", vars)
	}
}
