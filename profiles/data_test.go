package profiles_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"skillrun/profiles"
)

// machine is a made-up Linux host: names ending in "/" are directories, "a -> b"
// is a link, the others are files.
func machine(files ...string) *profiles.Host {
	m := fstest.MapFS{"home/u": {Mode: os.ModeDir | 0o755}}
	for _, f := range files {
		name, target, link := strings.Cut(strings.TrimPrefix(f, "/"), " -> ")
		switch {
		case link:
			m[name] = &fstest.MapFile{Mode: os.ModeSymlink | 0o777, Data: []byte(target)}
		case strings.HasSuffix(name, "/"):
			m[strings.TrimSuffix(name, "/")] = &fstest.MapFile{Mode: os.ModeDir | 0o755}
		default:
			m[name] = &fstest.MapFile{Mode: 0o755}
		}
	}
	return &profiles.Host{OS: "linux", Home: "/home/u", User: "u", UID: 1000, CaseSensitive: true, Env: map[string]string{}, FS: m}
}

// TestSensitiveStays: what is on the way to where a store is cannot be made to lead
// elsewhere, be it a directory that ".." is of, or what ends the way.
func TestSensitiveStays(t *testing.T) {
	p := &profiles.Profile{
		Paths: []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.AllAccess}},
		Denials: profiles.SensitivePaths(machine("/home/u/.netrc -> /p/w/x/y/../../netrc", "/p/w/x/y/old", "/p/w/netrc",
			"/home/u/.pgpass -> /p/w/file/pgpass", "/p/w/file", "/home/u/.ssh/config -> /p/w/none/../config", "/home/u/.vault-token -> /p/w/l1", "/p/w/l1 -> l2", "/p/w/l2 -> l1",
			"/home/u/.aws", "/p/w/free -> x", "/usr/x/", "/home/u/.bashrc -> /usr/x/../rc")),
	}
	const write, create, change = profiles.Write, profiles.Create, profiles.Delete
	for _, c := range []struct {
		path   string
		access profiles.Access
		want   bool
	}{
		{"/p/w/x/y", change, false}, {"/p/w/x", change, false}, {"/p/w/x/y/new", create, true}, {"/p/w/x/y/old", write, true}, {"/p/w/netrc", write, false},
		{"/p/w/file", change, false}, {"/p/w/none", create, false}, {"/p/w/config", create, false}, {"/p/w/l2", change, false}, {"/p/w/l2", create, false},
		{"/p/w/free", change, true}, {"/p/w/new", create, true}, {"/usr/x", change, true}, {"/home/u/new", create, true},
	} {
		if v := p.Allows(c.path, c.access); v.Allowed != c.want {
			t.Errorf("%s of %s: %t %v", c.access.Word(), c.path, v.Allowed, v.Denial)
		}
	}
}

func TestSensitivePaths(t *testing.T) {
	h := machine("/data/ssh/id", "/home/u/.ssh -> /data/ssh", "/home/u/.config -> /data/config", "/data/config/gh/hosts.yml", "/data/config/gcloud/",
		"/home/u/.aws/", "/home/u/.aws/credentials -> /data/aws/mid", "/data/aws/mid -> keys", "/data/aws/keys",
		"/data/config/fish/config.fish -> /data/dots/c.fish", "/data/dots/c.fish", "/data/config/direnv/lib -> /data/dots/lib", "/data/dots/lib/x.sh",
		"/home/u/.bash_history -> /dev/null", "/dev/null")
	h.Env["CARGO_HOME"] = "/data/cargo"
	h.Env["KUBECONFIG"] = "/k/one:/k/two:rel"
	h.Env["GNUPGHOME"] = "/home"
	h.Env["XDG_CONFIG_HOME"] = "/data/xdg"
	h.Env["DOCKER_CONFIG"] = "/acc"
	h.Env["GIT_CONFIG_GLOBAL"] = "/dev/null"
	h.Env["RUNNER_TEMP"], h.Env["RUNNER_TEMP_PROJECT_DIR"] = "/w/_temp", "/b/p.tmp"
	h.Account = "/acc/u"
	p := &profiles.Profile{
		Paths:   []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.AllAccess}},
		Denials: profiles.SensitivePaths(h),
	}
	for path, denied := range map[string]bool{
		"/home/u/.ssh/id":                      true, // as written
		"/data/ssh/id":                         true, // where it leads
		"/data/ssh2":                           false,
		"/data/aws/keys":                       true, // where a file in it leads
		"/data/aws/other":                      false,
		"/data/dots/c.fish":                    true,
		"/data/dots/lib/x.sh":                  true,
		"/data/dots/other":                     false,
		"/data/config/gh/hosts.yml":            true, // a link above
		"/data/config/op/x":                    true, // which does not exist yet
		"/data/config/other":                   false,
		"/data/xdg/gh/hosts.yml":               true,
		"/home/u/.config/gh/hosts.yml":         true,
		"/home/u/.cargo/credentials.toml":      true,
		"/data/cargo/credentials.toml":         true,
		"/data/cargo/registry/index":           false,
		"/home/u/.kube/config":                 true,
		"/k/one":                               true,
		"/k/two":                               true,
		"/home/other":                          false, // GNUPGHOME=/home is passed over
		"/acc/u/.ssh/id":                       true,  // HOME says /home/u, the account this
		"/acc/u/src/main.go":                   false,
		"/acc/other":                           false, // DOCKER_CONFIG=/acc is passed over
		"/w/_temp/git-credentials-1-2.config":  true,  // what actions/checkout leaves
		"/w/_temp/step.sh":                     false,
		"/b/p.tmp/KUBE":                        true, // a file variable of a GitLab job
		"/b/p/KUBE":                            false,
		"/dev/null":                            false, // GIT_CONFIG_GLOBAL and a link say none
		"/etc/shadow":                          true,
		"/etc/ssh/ssh_host_rsa_key":            true,
		"/etc/ssh/ssh_host_rsa_key.pub":        false,
		"/home/u/Library/Keychains/login.db":   false, // macOS only
		"/home/u/.bash_history":                true,
		"/home/u/src/main.go":                  false,
		"/home/u/.mozilla/firefox/cookies.sql": true,
	} {
		if got := !p.Allows(path, profiles.Read).Allowed; got != denied {
			t.Errorf("%s: denied %v, want %v", path, got, denied)
		}
	}
	for _, d := range p.Denials {
		link := d.Class == profiles.Control && slices.Index(h.Links(d.Path), d.Path) == 0
		if d.Class != profiles.Sensitive && !link || d.Origin.Reason == "" || d.Origin.Source == "" {
			t.Errorf("%+v: not a sensitive denial with an origin, nor of a link on the way", d)
		}
	}
	// Who replaced a link on the way would make another file the store.
	for path, kept := range map[string]bool{"/home/u/.config": true, "/data/aws/mid": true, "/home/u/.kube": true, "/data/other": false} {
		if got := !p.Allows(path, profiles.Delete).Allowed; got != kept {
			t.Errorf("%s: kept %v, want %v", path, got, kept)
		}
	}
}

// What is denied in /proc has every open of a run supervised where it is there. Of what
// only a capability opens (kcore, kmsg) nothing need be said: no run has any.
func TestSensitiveInProc(t *testing.T) {
	for _, d := range profiles.SensitivePaths(machine()) {
		if rest, ok := profiles.Beneath("/proc", d.Path); ok && rest != "" {
			t.Errorf("%s is denied to all", d.Path)
		}
	}
}

func TestSocketWarning(t *testing.T) {
	h := machine()
	h.Env["SSH_AUTH_SOCK"] = "/tmp/ssh-x/agent.1"
	h.Env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/tmp/bus,guid=1"
	h.Env["DOCKER_HOST"] = "unix:///srv/docker.sock"
	for path, word := range map[string]string{
		"/run/docker.sock":         "root",
		"/srv/docker.sock":         "root",
		"/tmp/ssh-x/agent.1":       "SSH keys",
		"/tmp/bus":                 "session bus",
		"/run/user/1000/bus":       "session bus",
		"/run/user/1000/wayland-0": "Wayland",
		"/tmp/.X11-unix/X0":        "X11",
		"@/tmp/.X11-unix/X0":       "X11",
		"/tmp/tmux-1000/default":   "types into",
		"/run/user/1000/other":     "your session",
		"/srv/app.sock":            "",
	} {
		got := profiles.SocketWarning(h, path)
		if (got != "") != (word != "") || !strings.Contains(got, word) {
			t.Errorf("%s: %q; want %q", path, got, word)
		}
	}
}

func TestWorkspaceDenials(t *testing.T) {
	p := &profiles.Profile{
		Paths:   []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.AllAccess}},
		Denials: append(profiles.WorkspaceSecrets("/w"), profiles.ControlFiles("/w")...),
	}
	for path, want := range map[string]string{
		"/w/main.go":                         "rw",
		"/w/.env":                            "",
		"/w/a/.env.production":               "",
		"/w/gha-creds-910db60f450d15e4.json": "",
		"/w/.env.example":                    "rw",
		"/w/tls/server.PEM":                  "",
		"/w/.git/hooks/pre-commit":           "r",
		"/w/.git/index":                      "rw",
		"/w/sub/.git/config":                 "r",
		"/w/.git/modules/x/hooks/pre-commit": "r",
		"/w/.vscode/tasks.json":              "r",
		"/w/a/.mcp.json":                     "r",
		"/w/node_modules/x/.vscode/a":        "rw",
		"/w/node_modules/x/.git/hooks/a":     "r",
		"/w/.claude/node_modules/x":          "r",
		"/w/.github/workflows/ci.yml":        "r",
		"/w/.github/ISSUE_TEMPLATE.md":       "rw",
		"/w/Makefile":                        "rw",
		"/w/.skillrun/policy.toml":           "r",
	} {
		got := ""
		if p.Allows(path, profiles.Read).Allowed {
			got += "r"
		}
		if p.Allows(path, profiles.Write).Allowed {
			got += "w"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, dir := range []string{"/w/.git", "/w/.github", "/w"} {
		if p.Allows(dir, profiles.Delete).Allowed {
			t.Errorf("%s may be renamed away", dir)
		}
	}
	if !p.Allows("/w/src", profiles.Delete).Allowed {
		t.Error("/w/src cannot be deleted")
	}
	if !p.Allows("/w/Makefile", profiles.Write).Allowed {
		t.Error("/w/Makefile cannot be written")
	}
}

func TestOutputDirectory(t *testing.T) {
	for path, want := range map[string]string{
		"/w/target/debug/x":             "/w/target",
		"/w/target":                     "/w/target",
		"/w/a/node_modules/b/dist/x.js": "/w/a/node_modules",
		"/w/lib/x.egg-info/PKG-INFO":    "/w/lib/x.egg-info",
		"/w/src/targets/x":              "",
		"/w":                            "",
		"/target/x":                     "",
		"/ww/target/x":                  "",
	} {
		if got := profiles.OutputDirectory("/w", path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestBaseReads(t *testing.T) {
	h := machine("/usr/bin/python3", "/bin -> usr/bin", "/lib64 -> usr/lib", "/usr/lib/ld.so", "/etc/passwd", "/etc/shadow", "/dev/null", "/etc/resolv.conf -> ../run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/stub-resolv.conf", "/opt/app/.env")
	p := &profiles.Profile{Paths: profiles.BaseReads(h)}
	for path, want := range map[string]profiles.Access{
		"/usr/bin/python3":                      profiles.Read | profiles.Execute,
		"/usr/lib/ld.so":                        profiles.Read | profiles.Execute,
		"/etc/passwd":                           profiles.Read,
		"/dev/null":                             profiles.Read | profiles.Write,
		"/run/systemd/resolve/stub-resolv.conf": profiles.Read,
	} {
		for _, a := range []profiles.Access{profiles.Read, profiles.Write, profiles.Create, profiles.Delete, profiles.Execute} {
			if got := p.Allows(path, a).Allowed; got != (want&a != 0) {
				t.Errorf("%s %v: %v", path, a, got)
			}
		}
	}
	for _, path := range []string{"/etc/shadow", "/opt/app/.env", "/home/u/x", "/etc/passwd2"} {
		if p.Allows(path, profiles.Read).Allowed {
			t.Errorf("%s is readable", path)
		}
	}
	for _, r := range p.Paths {
		if at, err := h.Resolve(r.Path); err != nil || at != r.Path {
			t.Errorf("%s is not resolved: %s, %v", r.Path, at, err)
		}
	}
}

// Settings of the whole system are read where nothing in them may be a credential.
func TestSettingsWithoutSecrets(t *testing.T) {
	h := machine("/etc/dbus-1/session.d/", "/etc/elsewhere", "/etc/xdg/pip/pip.conf -> ../../elsewhere")
	files := h.FS.(fstest.MapFS)
	files["etc/elsewhere"].Data = []byte("[global]\n")
	allowed := func(name string) bool {
		p := &profiles.Profile{Paths: profiles.BaseReads(h)}
		return p.Allows(name, profiles.Read).Allowed
	}
	for text, want := range map[string]bool{
		"[global]\ncert = /etc/ssl/certs/ca.crt\nindex-url = https://mirror.example.org/simple\n": true,
		"": true,
		"index-url = https://u:p@mirror.example.org/simple\n": false,
		"index-url = https://t@mirror.example.org/simple\n":   false,
		"//registry.example.org/:_authToken=x\n":              false,
		"_auth = eDp5\n":                                      false,
		"[a]\npassword = x\n":                                 false,
		"index-url = https://u:\\\n p@mirror.example.org\n":   false,
	} {
		for _, name := range []string{"/etc/pip.conf", "/etc/npmrc", "/etc/uv/uv.toml"} {
			files[name[1:]] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
			if got := allowed(name); got != want {
				t.Errorf("%s with %q: %t, want %t", name, text, got, want)
			}
		}
	}
	if allowed("/etc/elsewhere") {
		t.Error("what a link leads to is read")
	}
	if !allowed("/etc/dbus-1/session.d/x.conf") {
		t.Error("a session bus has no settings")
	}
}

func TestToolchains(t *testing.T) {
	h := machine("/home/u/.pyenv/versions/3.12/bin/python3", "/home/u/.pyenv/shims/python3", "/home/u/.pyenv/pyenv.d/exec/pip-rehash/pip", "/home/u/.local/bin/x", "/home/u/.local/lib/python3.12/site-packages/a.py",
		"/home/u/.cargo/bin/cargo", "/home/u/.cargo/registry/r", "/home/u/.cargo/git -> /big/git", "/big/git/i",
		"/home/u/.rustup -> /big/rustup", "/big/rustup/toolchains/t", "/home/u/.cargo/credentials.toml",
		"/home/u/go/pkg/mod/cache/download/", "/home/u/go/pkg/mod/golang.org/toolchain@v0/bin/go", "/home/u/go/pkg/mod/golang.org/toolchain@v1 -> /home/u/Documents",
		"/home/u/go/bin -> ../Documents", "/opt/tool/bin/t", "/opt/app/.env",
		"/home/u/Documents/x", "/w/evil/versions/v/bin/python3", "/w/evil/shims -> /home/u/Documents", "/w/evil/root -> /other", "/other/versions/v/bin/python3", "/home/u/.gem/ruby/3.0/specifications/", "/home/u/.gem/ruby/3.1/specifications/")
	h.Env["PATH"] = "/usr/bin:/opt/tool/bin:/opt"
	h.Env["NVM_DIR"] = "/home/u/Documents" // no nvm there
	rules, vars := profiles.Toolchains(h, "/w")
	p := &profiles.Profile{Paths: rules}
	for path, want := range map[string]string{
		"/home/u/.pyenv/versions/3.12/bin/python3":          "rx",
		"/home/u/.pyenv/shims/python3":                      "rx",
		"/home/u/.pyenv/pyenv.d/exec/pip-rehash/pip":        "-", // it would fail for the shims that it may not write
		"/home/u/.local/bin/x":                              "rx",
		"/home/u/.local/lib/python3.12/site-packages/a.py":  "r",
		"/home/u/.local/share/keyrings/k":                   "-",
		"/home/u/.cargo/bin/cargo":                          "rx",
		"/home/u/.cargo/credentials.toml":                   "-",
		"/home/u/.cargo/registry/r":                         "r",
		"/big/git/i":                                        "-", // who made the link cannot be told
		"/big/rustup/toolchains/t":                          "rx",
		"/home/u/go/pkg/mod/x":                              "r",
		"/home/u/go/pkg/mod/golang.org/toolchain@v0/bin/go": "rx",
		"/opt/tool/bin/t":                                   "rx",
		"/opt/app/.env":                                     "-",
		"/home/u/Documents/x":                               "-",
		"/home/u/.gem/ruby/3.1/specifications":              "r",
		"/home/u/.gem/ruby/3.0/specifications":              "-",
	} {
		var got profiles.Access
		for _, a := range []profiles.Access{profiles.Read, profiles.Write, profiles.Create, profiles.Delete, profiles.Execute} {
			if p.Allows(path, a).Allowed {
				got |= a
			}
		}
		if got.String() != want {
			t.Errorf("%s: %v, want %s", path, got, want)
		}
	}
	got := map[string]string{}
	for _, v := range vars {
		got[v.Name] = v.Value
	}
	for name, want := range map[string]string{
		"PYENV_ROOT": "/home/u/.pyenv", "PYTHONUSERBASE": "/home/u/.local", "CARGO_HOME": "/home/u/.cargo",
		"GOMODCACHE": "/home/u/go/pkg/mod", "NVM_DIR": "", "GEM_HOME": "/home/u/.gem/ruby/3.1",
	} {
		if got[name] != want {
			t.Errorf("%s=%q, want %q", name, got[name], want)
		}
	}

	// A variable that leads into a tree which others write opens that tree only.
	h.Env["PYENV_ROOT"] = "/w/evil"
	rules, _ = profiles.Toolchains(h, "/w")
	p = &profiles.Profile{Paths: rules}
	if !p.Allows("/w/evil/versions/v", profiles.Read).Allowed {
		t.Error("PYENV_ROOT is not followed")
	}
	if p.Allows("/home/u/Documents/x", profiles.Read).Allowed {
		t.Error("a planted link opened a directory outside the place that holds it")
	}
	h.Env["PYENV_ROOT"] = "/w/evil/root"
	for workspace, want := range map[string]bool{"/w": false, "/w/evil": false, "/elsewhere": true, "": true} {
		rules, _ = profiles.Toolchains(h, workspace)
		p = &profiles.Profile{Paths: rules}
		if p.Allows("/other/versions/v", profiles.Read).Allowed != want {
			t.Errorf("workspace %q: a variable leads by a link out of it: %v", workspace, !want)
		}
	}
}

func TestEnvDefaults(t *testing.T) {
	var e profiles.Env
	e.Pass, e.Deny = profiles.EnvDefaults()
	for _, name := range []string{"LANG", "LC_ALL", "PATH", "TERM", "CI", "GIT_AUTHOR_NAME", "SSL_CERT_FILE"} {
		if ok, rule := e.Passes(name); !ok {
			t.Errorf("%s does not pass: %+v", name, rule)
		}
	}
	for _, r := range e.Pass {
		name := strings.TrimSuffix(r.Name, "*")
		if ok, rule := e.Passes(name); !ok {
			t.Errorf("%s is both passed and denied by %s", r.Name, rule.Name)
		}
	}
	if ok, _ := e.Passes("FOO"); ok {
		t.Error("FOO passes")
	}
	e.Pass = append(e.Pass, profiles.EnvRule{Name: "*"})
	if ok, _ := e.Passes("FOO"); !ok {
		t.Error("FOO does not pass a wildcard")
	}
	for _, name := range []string{"LD_PRELOAD", "BASH_ENV", "NODE_OPTIONS", "GITHUB_TOKEN", "my_secret", "AWS_ACCESS_KEY_ID", "OPENAI_API_KEY", "SKILLRUN_PROFILE", "GIT_SSH_COMMAND", "PYTHONPATH", "https_proxy", "DYLD_INSERT_LIBRARIES", "SSH_AUTH_SOCK", "CI_REPOSITORY_URL", "CIRCLE_OIDC_TOKEN_V2"} {
		if ok, _ := e.Passes(name); ok {
			t.Errorf("%s passes", name)
		}
	}
	e.Allow = []profiles.EnvRule{{Name: "OPENAI_API_KEY"}}
	if ok, _ := e.Passes("OPENAI_API_KEY"); !ok {
		t.Error("an allowed variable does not pass")
	}
	if ok, _ := e.Passes("OTHER_API_KEY"); ok {
		t.Error("allowing one variable let another pass")
	}
}

// A value that is kept is one of a variable that is denied, whose denial says which
// values are not; nothing else passes by it.
func TestEnvKept(t *testing.T) {
	var e profiles.Env
	e.Pass, e.Deny = profiles.EnvDefaults()
	for name, value := range map[string]string{"GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": ":", "EDITOR": "/bin/true", "VISUAL": "true", "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "/usr/bin/cat"} {
		passes, rule := e.Passes(name)
		if passes || rule == nil || !strings.Contains(rule.Origin.Reason, "unless it is "+path.Base(value)) && value != ":" {
			t.Errorf("%s: %v %+v", name, passes, rule)
		}
		kept := func(value string, deny ...profiles.EnvRule) bool {
			vars := profiles.EnvKept(&profiles.Host{Env: map[string]string{name: value}}, append(deny, e.Deny...))
			return len(vars) == 1 && vars[0].Name == name && vars[0].Value == value && vars[0].Origin.Reason != ""
		}
		if !kept(value) {
			t.Errorf("%s=%s is not kept", name, value)
		}
		for _, other := range []string{"", "vi", value + " ", value + ";id", "./" + value, "/tmp/" + path.Base(value), strings.ToUpper(value) + "!"} {
			if kept(other) {
				t.Errorf("%s=%s is kept", name, other)
			}
		}
		if kept(value, profiles.EnvRule{Name: name, Origin: profiles.Origin{Source: "config"}}) {
			t.Errorf("%s=%s is kept against the user's denial", name, value)
		}
	}
}

func TestHostGroup(t *testing.T) {
	for _, name := range profiles.HostGroups() {
		rules, ok := profiles.HostGroup(name)
		if !ok || len(rules) == 0 {
			t.Errorf("%s: no rules", name)
		}
		for _, r := range rules {
			if len(r.Ports) == 0 || r.Protocols != profiles.TCP || r.Origin.Reason == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	p := &profiles.Profile{Network: profiles.Network{Mode: profiles.NetHosts}}
	p.Network.Hosts, _ = profiles.HostGroup("npm")
	if !p.Reaches("registry.npmjs.org", 443, profiles.TCP).Allowed || p.Reaches("registry.npmjs.org", 80, profiles.TCP).Allowed || p.Reaches("pypi.org", 443, profiles.TCP).Allowed {
		t.Error("the npm group is not the npm registry at 443")
	}
	if _, ok := profiles.HostGroup("nobody"); ok {
		t.Error("an unknown group exists")
	}
}

// What other programs obey without being asked to run the project is not made;
// control: what looks like it, and what builds write, is.
func TestControlFilesCannotBeMade(t *testing.T) {
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.AllAccess}}, Denials: profiles.ControlFiles("/w")}
	for _, name := range strings.Fields(`
		lefthook.yml lefthook.yaml .lefthook.toml lefthook-local.yml .config/lefthook.json .lefthook-local/x .huskyrc .huskyrc.json .overcommit.yml prek.toml .pre-commit-config.yml hk.pkl .simple-git-hooks.cjs .lintstagedrc.json lint-staged.config.mjs
		.gitea/workflows/x.yml .forgejo/workflows/x.yml .drone.yml .cirrus.yml .cirrus.star appveyor.yml .appveyor.yml .woodpecker.yml .woodpecker.yaml azure-pipelines.yml azure-pipelines.yaml azure-pipelines-release.yml
		cloudbuild.yaml buildspec.yml .gitlab-ci.yml .gitlab-ci.yaml build.gitlab-ci.yml .gitlab/ci/x.yml .builds/x.yml .tekton/x.yaml
		AGENTS.override.md .github/agents/x.md .github/prompts/x.md .github/instructions/x.md .github/copilot-instructions.md .github/copilot/x crush.json .crush.json .roomodes .junie/guidelines.md .qwen/settings.json .factory/settings.json .kilocode/x .kilocodemodes .augment-guidelines
		.helix/languages.toml .lazy.lua .dir-locals.el .dir-locals-2.el .lvimrc .vim/coc-settings.json x.sublime-project .run/x.run.xml .gitpod.yml
		mise.toml mise.local.toml .mise.toml .mise.local.toml .mise/config.toml .config/mise/config.toml .config/mise.toml mise/config.toml rust-toolchain rust-toolchain.toml .prototools .envrc .envrc.local .autoenv.zsh .rvmrc
		.bash_login .bash_logout .zlogin .zlogout .login .tcshrc .bash_aliases .inputrc .pdbrc .irbrc .pryrc .Rprofile .iex.exs .ghci .octaverc
		commitlint.config.mjs .commitlintrc .commitlintrc.js .gitlint .bsp/x.json buildServer.json .sourcekit-lsp/config.json hie.yaml .merlin rust-analyzer.toml
		.pnpmfile.cjs .pnpmfile.mjs .yarn/releases/yarn-4.cjs .yarn/plugins/x.cjs .corepack.env
		.crushrc crushrc .crush/commands/x.md .crush/skills/x/SKILL.md .cline/hooks/TaskStart .devin/hooks.v1.json .kimi-code/mcp.json .mux/init .hermes.md .hermes/skills/x .bob/settings.json .copilot/hooks.json .tabnine/agent/settings.json .warp/skills/x .superset/config.json conductor.json
		.trunk/trunk.yaml .trunk/user.yaml .rusty-hook.toml .lfsconfig .ruby-env .versions.conf .sdkmanrc .bazeliskrc .bazelversion tools/bazel .swiftpm/configuration/mirrors.json
		.rwx/ci.yml .depot/workflows/ci.yml .vela.yml .cnb.yml .harness/x.yaml .prow.yaml Jenkinsfile.release
		.hg/hgrc .hg/hgrc-not-shared .hg/sharedpath .jj/repo/config.toml .jj/workspace-config.toml .sl/config .git/remotes/origin .git/branches/x`) {
		for _, dir := range []string{"/w/", "/w/a/b/"} {
			if p.Allows(dir+name, profiles.Create).Allowed || p.Allows(dir+name, profiles.Write).Allowed {
				t.Errorf("%s%s is made", dir, name)
			}
		}
	}
	for _, name := range strings.Fields(`
		lefthook.go hook.yml .hk data/hk_1.pkl pipelines.yml Makefile package.json pnpm-workspace.yaml .pnp.cjs .pnp.loader.mjs .yarn/install-state.gz .yarn/cache/x.zip .yarn/unplugged/x/y.js yarn.lock compile_commands.json
		.terraform/providers/x .nvmrc .node-version .python-version .ruby-version global.json flake.nix AGENTS.md CLAUDE.md .github/CODEOWNERS .gitlab/issue_templates/x.md x.vim vim/x rules a.rules x.idx .build/x drone.go buildspec.md
		.pylintrc pylintrc .rubocop.yml shell.nix devenv.nix devbox.json jupyter_server_config.py x.bsp bsp/x.json server.json x.merlin hie-bios.yaml rustfmt.toml
		.crush/crush.db .crowdin.yml .trunk/out/x .trunk/logs/x .moon/workspace.yml .moon/cache/x skills/x.md mcp.json src/skills/x .storybook/hooks/x semiconductor.json .depot/x tools/bazel.bzl .bazelrc .swiftpm/xcode/x crushrc.md .hg/requires .mise-tasks/x
		mise.lock toolchain.toml .eslintrc.js login .config/x .hg/store/x .jj/repo/store/x .git/index .git/refs/heads/x node_modules/x/.drone.yml vendor/x/.cirrus.yml .gitignore .gitattributes .editorconfig .dockerignore .env.example`) {
		if !p.Allows("/w/"+name, profiles.Create).Allowed || !p.Allows("/w/"+name, profiles.Write).Allowed {
			t.Errorf("control: %s is not made", name)
		}
	}
}

// TestControlFilesInsideTheirName: a work tree may itself be called as the beginning
// of a control file's name is, or as one.
func TestControlFilesInsideTheirName(t *testing.T) {
	for _, x := range []struct{ root, denied, free string }{
		{"/w/.github", "workflows/x.yml agents/x.md sub/.github/workflows/x", "CODEOWNERS x/workflows/y"},
		{"/w/.git", "hooks/x config info/attributes worktrees/a/commondir modules/x", "index HEAD info/exclude x/hooks/y"},
		{"/w/.git/worktrees", "a/commondir a/config.worktree", "a/HEAD"},
		{"/w/.config", "mise/x mise.toml", "x/mise.lock"},
		{"/w/.claude", "settings.json hooks/x skills/x/SKILL.md .mcp.json", "notes.md worktrees/a/settings.json"},
		{"/w/.claude/worktrees/a", ".claude/x", "settings.json hooks/x"},
		{"/w/.VSCODE", "tasks.json", "x.json"},
		{"/w/node_modules/.github", "", "workflows/x.yml"},
		{"/", ".git/hooks/x", "hooks/x"},
	} {
		p := &profiles.Profile{Paths: []profiles.PathRule{{Path: x.root, Tree: true, Access: profiles.AllAccess}},
			Denials: append(profiles.ControlFiles(x.root), profiles.ControlledIn(x.root)...)}
		for _, name := range strings.Fields(x.denied) {
			if at := path.Join(x.root, name); p.Allows(at, profiles.Write).Allowed || p.Allows(at, profiles.Create).Allowed {
				t.Errorf("%s is written", at)
			}
		}
		for _, name := range strings.Fields(x.free) {
			if at := path.Join(x.root, name); !p.Allows(at, profiles.Write).Allowed || !p.Allows(at, profiles.Create).Allowed {
				t.Errorf("control: %s is not written", at)
			}
		}
	}
}
