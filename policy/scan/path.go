package scan

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"skillrun/policy"
)

// access is what is done to a path.
type access uint8

const (
	reads access = 1 << iota
	writes
	deletes
	executes
)

// The files that have a capability of their own, relative to a home directory
// unless absolute. What lies beneath counts too.
var secretPaths = [...]string{
	"~/.ssh", "~/.aws", "~/.gnupg", "~/.azure", "~/.kube", "~/.config/gcloud", "~/.config/gh", "~/.docker", "~/.npmrc", "~/.pypirc", "~/.netrc",
	"~/.git-credentials", "~/.vault-token", "/etc/shadow", "/etc/gshadow", "~/.password-store", "~/.local/share/keyrings", "~/Library/Keychains",
	"~/.config/google-chrome", "~/.config/chromium", "~/.config/BraveSoftware", "~/.mozilla", "~/.config/mozilla", "~/snap/firefox",
	"~/Library/Application Support/Google/Chrome", "~/Library/Application Support/Firefox", "~/Library/Application Support/Chromium",
	"~/Library/Safari", "~/Library/Cookies", "~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.config/op",
}

var secretNames = [...]string{
	".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "credentials.json", "token.json",
	"service-account*.json", "service_account*.json", "secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml",
}

var profilePaths = [...]string{
	"~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_aliases", "~/.bash_logout", "~/.profile", "~/.zshrc", "~/.zprofile", "~/.zshenv", "~/.zlogin",
	"~/.config/fish/config.fish", "/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/zsh/zshrc", "/etc/zshrc",
}

// Writing these needs another capability besides. A path without "/" or "~" at
// its start counts in any directory.
var controlPaths = [...]struct{ path, capability string }{
	{"/etc/cron*", "scheduled_job.create"}, {"/var/spool/cron", "scheduled_job.create"}, {"~/.config/systemd/user", "scheduled_job.create"},
	{"/etc/systemd/system", "scheduled_job.create"}, {"~/Library/LaunchAgents", "scheduled_job.create"}, {"/Library/LaunchAgents", "scheduled_job.create"},
	{"/Library/LaunchDaemons", "scheduled_job.create"}, {"~/.config/autostart", "scheduled_job.create"},
	{".git/hooks", "policy.install_hook"}, {".husky", "policy.install_hook"},
	{".claude/settings*.json", "policy.expand"}, {".claude/hooks", "policy.expand"}, {".mcp.json", "policy.expand"}, {"~/.claude.json", "policy.expand"},
	{".codex", "policy.expand"}, {".gemini/settings.json", "policy.expand"}, {".cursor/hooks.json", "policy.expand"}, {".cursor/mcp.json", "policy.expand"},
	{".github/hooks", "policy.expand"}, {".github/copilot/settings*.json", "policy.expand"}, {".github/extensions", "policy.expand"}, {".github/mcp.json", "policy.expand"}, {".copilot", "policy.expand"},
	{"skillguard-manifest.json", "policy.expand"}, {"skillrun.toml", "policy.expand"}, {"~/.config/skillrun", "policy.expand"},
	{"/etc/environment", "env_var.write"}, {"$GITHUB_ENV", "env_var.write"}, {"$GITHUB_PATH", "env_var.write"},
}

// devices that are no files: reading or writing them needs another capability,
// or none ("").
var devices = [...]struct{ path, capability string }{
	{"/dev/null", ""}, {"/dev/zero", ""}, {"/dev/full", ""}, {"/dev/random", ""}, {"/dev/urandom", ""}, {"/dev/tty", ""},
	{"/dev/stdin", ""}, {"/dev/stdout", ""}, {"/dev/stderr", ""}, {"/dev/fd", ""}, {"/dev/ptmx", ""},
	{"/dev/video*", "camera.capture"}, {"/dev/input", "input_devices.access"}, {"/dev/uinput", "input_devices.access"},
	{"/dev/snd", "microphone.record"}, {"/dev/dsp*", "microphone.record"}, {"/dev/fb*", "screen.capture"},
}

// homely names paths beneath any home directory by "~".
func (e *Env) homely(p string) string {
	if e.Home != "" && e.Home != "/" {
		if rest, ok := strings.CutPrefix(p, e.Home); ok && (rest == "" || rest[0] == '/') {
			return "~" + rest
		}
	}
	return p
}

// anyHome replaces the home directory of any user at the start of a path, for
// comparing only.
func anyHome(p string) string {
	if rest, ok := strings.CutPrefix(p, "/root"); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	for _, base := range [...]string{"/home/", "/Users/", "~"} {
		if rest, ok := strings.CutPrefix(p, base); ok && rest != "" && rest[0] != '/' {
			if i := strings.IndexByte(rest, '/'); i >= 0 {
				return "~" + rest[i:]
			}
			return "~"
		}
	}
	return p
}

// under says whether p is at or beneath the pattern, or is itself a pattern
// that matches it. Components compare by glob either way.
func under(pattern, p string) bool {
	for more := true; more; {
		var a, b string
		var left bool
		a, pattern, more = strings.Cut(pattern, "/")
		b, p, left = strings.Cut(p, "/")
		if !component(a, b) || more && !left {
			return false
		}
	}
	return true
}

func component(pattern, name string) bool {
	if pattern == name || strings.EqualFold(pattern, name) {
		return true
	}
	if strings.ContainsAny(pattern, "*?[\\") {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	if pattern != "" && strings.ContainsAny(name, "*?[") {
		if name[0] != pattern[0] && pattern[0] == '.' || strings.Trim(name, "*?") == "" {
			return false // a pattern finds dotted names only by a dot; "*" says nothing
		}
		ok, err := path.Match(name, pattern)
		return ok && err == nil
	}
	return false
}

func secretPath(p string) bool {
	if beneath(secretPaths[:], p) {
		return true
	}
	base := path.Base(p)
	switch path.Ext(base) {
	case ".example", ".sample", ".template", ".dist":
		return false
	}
	return slices.ContainsFunc(secretNames[:], func(n string) bool { ok, _ := path.Match(n, base); return ok })
}

// beneath says whether p is under one of the patterns, in any home directory.
func beneath(patterns []string, p string) bool {
	h := anyHome(p)
	return slices.ContainsFunc(patterns, func(s string) bool { return under(s, h) })
}

// secretVariable says whether the name of an environment variable tells that
// it holds a secret.
func secretVariable(name string) bool {
	up := strings.ToUpper(name)
	for _, part := range [...]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY"} {
		if strings.Contains(up, part) {
			return true
		}
	}
	for _, end := range [...]string{"_KEY", "_PASS", "_PAT", "_PWD"} {
		if strings.HasSuffix(up, end) {
			return up != "OLD_PWD"
		}
	}
	return false
}

// path records what is done to a file that is named by target, relative to the
// directory dir.
func (s *scan) path(do access, f field, dir field, pos policy.Pos, reason string) {
	if f.stream || f.text == "-" || f.text == "" && f.exact {
		return
	}
	s.owning = do&executes == 0 && (f.temp || dir.temp && inside(f))
	defer func() { s.owning = false }()
	f.text = strings.TrimPrefix(f.text, "file://")
	p, exact := s.env.target(f, dir)
	called := s.env.lexical(p)
	if rest, ok := strings.CutPrefix(p, "/dev/tcp/"); ok || strings.HasPrefix(p, "/dev/udp/") {
		host, port, _ := strings.Cut(strings.TrimPrefix(rest, "/dev/udp/"), "/")
		s.host("network.client", field{text: host, exact: !strings.Contains(host, "$")}.at(literal(port)), pos, reason)
		return
	}
	for _, d := range devices {
		if under(d.path, called) {
			if d.capability != "" {
				s.need(d.capability, p, exact, pos, reason)
			}
			return
		}
	}
	group := "filesystem."
	switch {
	case secretPath(called):
		group = "secrets."
	case beneath(profilePaths[:], called):
		group = "shell_profile."
		if do&deletes != 0 {
			do = do&^deletes | writes
		}
	}
	if do&executes != 0 {
		s.need("source_code.execute", p, exact, pos, reason)
		if group != "filesystem." && do&reads == 0 { // ". .env"
			s.need(group+"read", p, exact, pos, reason)
		}
	}
	if do&reads != 0 {
		if under("/proc/*/environ", called) {
			s.need("env_var.read", "*", true, pos, "the environment of a process")
		}
		s.need(group+"read", p, exact, pos, reason)
	}
	if do&deletes != 0 {
		s.need(group+"delete", p, exact, pos, reason)
	}
	if do&writes != 0 {
		s.need(group+"write", p, exact, pos, reason)
	}
	if do&(writes|deletes) != 0 {
		s.control(p, do, exact, pos, reason)
	}
}

// inside says of a name that it is one beneath the directory that it is relative to.
func inside(f field) bool {
	return f.exact && !strings.ContainsAny(f.text[:min(1, len(f.text))], "/~$") && !strings.Contains(f.text, "..")
}

func (s *scan) control(p string, do access, exact bool, pos policy.Pos, reason string) {
	called := s.env.lexical(p)
	h := anyHome(called)
	for _, c := range controlPaths {
		hit := false
		if strings.HasPrefix(c.path, "/") || strings.HasPrefix(c.path, "~") || strings.HasPrefix(c.path, "$") {
			hit = under(c.path, h)
		} else {
			for rest, more := called, true; more && !hit; {
				hit = under(c.path, rest)
				_, rest, more = strings.Cut(rest, "/")
			}
		}
		if !hit {
			continue
		}
		capability := c.capability
		if do&writes == 0 {
			switch capability {
			case "scheduled_job.create":
				capability = "scheduled_job.delete"
			case "env_var.write":
				continue
			}
		}
		s.need(capability, p, exact, pos, reason)
	}
}

// searched records that a file, or files beneath a directory, are printed or copied.
func (s *scan) searched(f, dir field) {
	p, exact := s.env.target(f, dir)
	if !exact || s.quiet > 0 || slices.Contains(s.out.Searched, p) {
		return
	}
	if len(s.out.Searched) == maxSearched {
		s.spend(maxSteps)
		return
	}
	s.out.Searched = append(s.out.Searched, p)
}

// target gives the clean name of a path.
func (e *Env) target(f, dir field) (string, bool) {
	if f.text == "" {
		return "", false
	}
	p, exact := e.homely(f.text), f.exact
	switch {
	case strings.HasPrefix(p, "/"), strings.HasPrefix(p, "~"), strings.HasPrefix(p, "$"):
	case dir.text != "" && dir.text != ".":
		p = dir.text + "/" + p
		exact = exact && dir.exact
	default:
		exact = exact && (dir.exact || dir.text == "" && !dir.unknown)
	}
	return e.homely(e.clean(p)), exact
}

// clean is path.Clean but for "x/..", which is where the kernel comes to from there:
// it stays if x may be a link. Without files nothing is known of links. What leads out
// of the home directory is named from the root, if that is known.
func (e *Env) clean(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok && strings.Contains(rest, "..") {
		if e.Home != "" {
			return e.clean(e.Home + "/" + rest)
		}
		return strings.TrimSuffix("~/"+path.Clean(rest), "/.")
	}
	if e.FS == nil || !strings.Contains(p, "..") {
		return path.Clean(p)
	}
	root, stays := "", false
	if p[0] == '/' {
		root = "/"
	}
	var parts []string
	for part := range strings.SplitSeq(p, "/") {
		last := len(parts) - 1
		switch {
		case part == "" || part == ".":
		case part != ".." || stays || last >= 0 && parts[last] == "..":
			parts = append(parts, part)
		case last >= 0 && e.directory(root+strings.Join(parts, "/")):
			parts = parts[:last]
		case last >= 0 || root == "":
			parts, stays = append(parts, part), last >= 0
		}
	}
	if len(parts) == 0 && root == "" {
		return "."
	}
	return root + strings.Join(parts, "/")
}

// straight says that a directory is known to be there, with no link on the way to it.
func (e *Env) straight(f field) bool {
	if e.FS == nil || !f.exact || f.unknown || strings.Contains(f.text, "..") {
		return false
	}
	for p := f.text; p != "" && p != "." && p != "/" && p != "~"; p = path.Dir(p) {
		if !e.directory(p) {
			return false
		}
	}
	return true
}

// directory says that p, in which ".." stands at the beginning only, is known to be
// a directory and no link.
func (e *Env) directory(p string) bool {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		p = e.Home + p[1:]
	case p[0] != '/':
		p = e.Dir + "/" + p
	}
	if p == "" || p[0] != '/' {
		return false
	}
	info, err := fs.Lstat(e.FS, strings.TrimPrefix(path.Clean(p), "/"))
	return err == nil && info.IsDir()
}

// lexical is path.Clean, of a path in the home directory too.
func (e *Env) lexical(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok && e.Home != "" {
		p = e.Home + "/" + rest
	}
	return e.homely(path.Clean(p))
}

// host records a need for the host that a URL, an address or a "user@host:path"
// names.
func (s *scan) host(capability string, f field, pos policy.Pos, reason string) {
	if f.text == "" && f.exact {
		return
	}
	name, exact := hostOf(f)
	s.need(capability, name, exact, pos, reason)
	if exact {
		s.address(name, portOf(f))
	}
}

// at is a host with a port that stands apart from it.
func (f field) at(port field) field {
	switch {
	case !f.exact || !port.exact || strings.Trim(port.text, "0123456789") != "" || port.text == "" || strings.ContainsAny(f.text, "[/@"):
	case !strings.Contains(f.text, ":"):
		f.text += ":" + port.text
	case strings.Count(f.text, ":") > 1:
		f.text = "[" + f.text + "]:" + port.text
	}
	return f
}

// portOf gives the port that a text names its host with, "" if it names none.
func portOf(f field) string {
	_, h, ok := strings.Cut(f.text, "://")
	if !ok {
		h = f.text
	}
	if i := strings.IndexAny(h, "/?#\\"); i >= 0 {
		h = h[:i]
	}
	h = h[strings.LastIndexByte(h, '@')+1:]
	i := strings.LastIndexByte(h, ':')
	if i < 0 || !strings.HasPrefix(h, "[") && strings.Count(h, ":") > 1 || strings.HasSuffix(h, "]") {
		return ""
	}
	if n, err := strconv.ParseUint(h[i+1:], 10, 16); err != nil || n == 0 {
		return ""
	}
	return h[i+1:]
}

// hostOf gives the lower-case host that a text names.
func hostOf(f field) (string, bool) {
	h := f.text
	scheme := ""
	if i := strings.Index(h, "://"); i >= 0 {
		scheme, h = h[:i], h[i+3:]
	}
	h = strings.TrimPrefix(h, "//")
	if i := strings.IndexAny(h, "/?#\\"); i >= 0 {
		h = h[:i]
	}
	rest := len(h) < len(f.text)-len(scheme)-3 || strings.Contains(f.text, "$")
	if i := strings.LastIndexByte(h, '@'); i >= 0 {
		h = h[i+1:]
	}
	if strings.HasPrefix(h, "[") {
		h, _, _ = strings.Cut(h[1:], "]")
	} else if i := strings.IndexByte(h, ':'); i >= 0 && strings.Count(h, ":") == 1 {
		h = h[:i]
	}
	// "https://a.example.com" + path: what follows may go on with the name.
	if base := strings.TrimRight(h, "$"); base != h && scheme != "" && strings.Contains(base, ".") && !strings.HasSuffix(base, ".") && !strings.Contains(base, "$") {
		return strings.ToLower(base), false
	}
	if h == "" || strings.ContainsAny(h, "$*") || strings.Contains(scheme, "$") {
		return h, false
	}
	return strings.ToLower(strings.TrimSuffix(h, ".")), f.exact || rest && !f.computed
}

// variable records that an environment variable is read.
func (s *scan) variable(name string, pos policy.Pos) {
	if s.unset || plainVariable(name) {
		return
	}
	capability := "env_var.read"
	if secretVariable(name) {
		capability = "secrets.read"
	}
	s.need(capability, "$"+name, true, pos, "the variable is read")
}

// plainVariable names variables that say nothing about the user.
func plainVariable(name string) bool {
	switch name {
	case "", "HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "PATH", "SHELL", "TMPDIR", "UID", "EUID", "PPID", "IFS", "RANDOM", "SECONDS", "LINENO", "HOSTNAME",
		"LANG", "TERM", "BASH_SOURCE", "BASH_VERSION", "BASHPID", "FUNCNAME", "BASH_LINENO", "OPTARG", "OPTIND", "REPLY", "PIPESTATUS", "SHLVL", "EPOCHSECONDS",
		"BASH_REMATCH", "OSTYPE", "HOSTTYPE", "MACHTYPE", "COLUMNS", "LINES", "_", "BASH", "BASH_VERSINFO", "BASH_SUBSHELL", "PS1", "PS2", "PS4", "DIRSTACK",
		"COMP_WORDS", "COMP_CWORD", "COMPREPLY", "EPOCHREALTIME", "SRANDOM", "MAPFILE", "GROUPS", "BASH_COMMAND":
		return true
	}
	c := name[0]
	return !(c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
}
