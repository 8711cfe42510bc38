package scan

import (
	"path"
	"slices"
	"strings"

	"skillrun/policy"
	"skillrun/profiles"
)

// What a variable of the environment decides of the programs that get it.
var (
	// The value is a command.
	variablesRun = [...]string{
		"AWS_PAGER", "BAT_PAGER", "BROWSER", "CVS_RSH", "DELTA_PAGER", "EDITOR", "FCEDIT", "FZF_DEFAULT_COMMAND", "GH_BROWSER", "GH_EDITOR", "GH_PAGER", "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND",
		"GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GOCACHEPROG", "HGEDITOR", "KUBECTL_EXTERNAL_DIFF", "KUBE_EDITOR", "LESSCLOSE", "LESSOPEN", "MANPAGER", "PAGER",
		"PROMPT_COMMAND", "PSQL_EDITOR", "PSQL_PAGER", "RSYNC_RSH",
		"RUSTC", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "SSH_ASKPASS", "SSH_PKCS11_HELPER", "SSH_SK_HELPER", "SUDO_ASKPASS", "SVN_EDITOR", "SVN_SSH",
		"SYSTEMD_EDITOR", "SYSTEMD_PAGER", "VISUAL", "npm_config_script_shell",
	}
	// The value is a program, which says something where it is named by a path.
	variablesProgram = [...]string{"AR", "AS", "CC", "CPP", "CXX", "FC", "GOAUTH", "GOTOOLCHAIN", "LD", "PARALLEL_SHELL", "SHELL", "UV_PYTHON"}
	// The value is a file of code that is run before anything else.
	variablesFile = [...]string{"BASH_ENV", "ENV", "MAKEFILES", "PYTHONSTARTUP"}
	// The value is options, settings or code, which are not read.
	variablesOpaque = [...]string{
		"CARGO_BUILD_RUSTC_WRAPPER", "DYLD_INSERT_LIBRARIES", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GNUMAKEFLAGS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
		"LD_AUDIT", "LD_PRELOAD", "MAKEFLAGS", "PERL5DB", "PERL5OPT", "RUBYOPT", "TAR_OPTIONS", "_JAVA_OPTIONS",
	}
	// The value is where programs or libraries are looked for.
	variablesSearch = [...]string{"AWKLIBPATH", "AWKPATH", "DYLD_LIBRARY_PATH", "GCONV_PATH", "LD_LIBRARY_PATH", "NODE_PATH", "PATH", "PERL5LIB", "PYTHONHOME", "PYTHONPATH", "RUBYLIB"}
	// The value is a host that connections go through.
	variablesProxy = [...]string{"ALL_PROXY", "FTP_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "ftp_proxy", "http_proxy", "https_proxy", "RSYNC_PROXY", "npm_config_https_proxy", "npm_config_proxy"}
	// The value is where packages are looked for.
	variablesIndex = [...]string{
		"GOPROXY", "NPM_CONFIG_REGISTRY", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS",
		"UV_INDEX", "UV_INDEX_URL", "YARN_NPM_REGISTRY_SERVER", "YARN_REGISTRY", "npm_config_registry",
	}
	// The value is where packages are sent.
	variablesPublish = [...]string{"RUBYGEMS_HOST", "TWINE_REPOSITORY_URL", "UV_PUBLISH_URL"}
	// The value is where a service is called in place of its own address; of AWS each has one.
	variablesService = [...]string{
		"ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT", "GH_HOST", "GITLAB_HOST", "GOOGLE_GEMINI_BASE_URL", "HF_ENDPOINT", "OPENAI_API_BASE", "OPENAI_BASE_URL", "OLLAMA_HOST", "VAULT_ADDR",
	}
	// The value is where programs find settings, which may name code, or a program; besides
	// those that no run is given by itself (profiles.Obeyed).
	variablesSettings = [...]string{
		"AWS_CONFIG_FILE", "BAT_CONFIG_PATH", "CARGO_HOME", "COMPILER_PATH", "CURL_HOME", "DOCKER_CONFIG", "GCC_EXEC_PREFIX", "GNUPGHOME", "GOENV", "HGRCPATH", "HOME", "KUBECONFIG",
		"LESSKEY", "LESSKEYIN", "LESSKEYIN_SYSTEM", "LESSKEY_CONTENT", "LESSKEY_SYSTEM", "PARALLEL",
		"NODE_REDIRECT_WARNINGS", "PIP_CONFIG_FILE", "PSQLRC", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONUSERBASE", "RIPGREP_CONFIG_PATH", "RSYNC_CONNECT_PROG", "SYSTEM_WGETRC",
		"UV_CONFIG_FILE", "WGETRC", "XDG_CONFIG_HOME", "ZIPOPT", "npm_config_globalconfig", "npm_config_node_options", "npm_config_userconfig",
	}
	// Programs that show or edit and are no news.
	plainViewers = [...]string{"", ":", "cat", "emacs", "less", "more", "nano", "true", "vi", "vim"}
)

// How the programs of awk, jq and yq name the environment, or a variable of it; and a file.
const (
	environOfAwk = `ENVIRON(?:\["(\w+)"\])?`
	loadedByYq   = `\bload\w*\((?:\s*"([^"]+)"\s*\))?`
	environOfJq  = `(?:\$ENV|(?:^|[^.\w"{,$])(?:str)?env)\b(?:\.(\w+)|\((\w+)\))?|\benvsubst\b`
)

// environOf records what a program reads of the environment.
func (sh *shell) environOf(names, program string, pos policy.Pos) {
	for _, m := range pattern(names).FindAllStringSubmatch(program, maxSteps) {
		if name := strings.Join(m[1:], ""); name != "" {
			sh.variable(name, pos)
		} else {
			sh.need("env_var.read", "*", true, pos, "the program reads the environment")
		}
	}
}

// environ reads the setting of a variable that programs take code from.
func (sh *shell) environ(name string, f field, pos policy.Pos) {
	named := func(list []string) bool { return slices.Contains(list, name) }
	switch {
	case f.text == "$"+name, name == "HOME" && f.text == "~": // is what it was
	case named(variablesRun[:]):
		if f.text = strings.TrimLeft(f.text, "|-"); !f.exact || !slices.Contains(plainViewers[:], f.text) {
			sh.code("shell", f, pos)
		}
	case named(variablesProgram[:]):
		if word, _, _ := strings.Cut(f.text, " "); f.exact && strings.ContainsAny(f.text, "/;|&$`") && !systemDir(path.Dir(word)) {
			sh.code("shell", f, pos)
		}
	case name == "LESS" && strings.ContainsAny(f.text, "+/"):
		sh.unknownAt(pos, "programs obey "+name)
	case named(variablesFile[:]):
		if name == "ENV" && f.exact && !strings.ContainsAny(f.text, "/$`") {
			return // a name of many things
		}
		as := called{}
		switch name {
		case "BASH_ENV", "ENV":
			as.lang = "shell"
		case "PYTHONSTARTUP":
			as.lang = "python"
		}
		sh.runs(f, pos, name+" names it", nil, as)
		if strings.Contains(f.text, "$(") || strings.Contains(f.text, "`") {
			sh.opaque(pos, name+" is expanded by the shell that gets it")
		}
	case strings.HasPrefix(name, "PS") && len(name) == 3:
		switch {
		case f.computed && name == "PS4", strings.Contains(f.text, "$("), strings.Contains(f.text, "`"):
			sh.opaque(pos, name+" has commands in it")
		case f.computed: // only where somebody types, and environments' activate sets it
			sh.unknownAt(pos, name+" is decided at run time")
		}
	case named(variablesSearch[:]):
		if f.computed || f.text == "" && !f.exact {
			sh.unknownAt(pos, "programs and libraries are looked for in "+name+", which is decided at run time")
		}
		for _, dir := range strings.Split(f.text, ":") {
			g := field{text: dir, exact: f.exact || !f.computed && !strings.Contains(dir, "$")}
			switch name {
			case "PATH":
				sh.programs = sh.lookIn(sh.programs, g, sh.dir)
			case "PYTHONPATH":
				sh.modules = sh.lookIn(sh.modules, g, sh.dir)
			}
		}
		for _, dir := range strings.Split(f.text, ":") {
			if dir != "$"+name && !systemDir(dir) && (dir != "" || name == "PATH" && f.exact) {
				sh.unknownAt(pos, "programs and libraries are looked for in "+name+": "+policy.Escape(dir))
				return
			}
		}
	case named(variablesProxy[:]):
		sh.leads(name, "net", f, pos)
	case named(variablesIndex[:]):
		sh.leads(name, "index", f, pos)
	case named(variablesPublish[:]):
		sh.leads(name, "publish", f, pos)
	case name == "DOCKER_HOST":
		sh.leads(name, "daemon", f, pos)
	case named(variablesService[:]), strings.HasPrefix(name, "AWS_ENDPOINT_URL"):
		sh.leads(name, "api", f, pos)
	case name == "NODE_OPTIONS" || name == "GOFLAGS":
		for _, word := range [...]string{"require", "import", "loader", "-r", "exec", "vettool", "overlay", "eval", "$"} {
			if !f.exact || strings.Contains(f.text, word) {
				sh.opaque(pos, name+" names code")
				return
			}
		}
	case named(variablesOpaque[:]), strings.HasPrefix(name, "GIT_CONFIG"), strings.HasPrefix(name, "BASH_FUNC_"), name == "BASH_CMDS", strings.HasPrefix(name, "BASH_ALIASES"):
		if f.text != "" || !f.exact {
			sh.opaque(pos, name+" decides what runs")
		}
	case name == "IFS", name == "CDPATH": // are followed
	case named(variablesSettings[:]), profiles.Obeyed(name):
		if (f.text != "" || !f.exact) && !choosesNothing(name, f) {
			sh.unknownAt(pos, "programs obey "+name)
		}
	}
}

// choosesNothing says that by this value of a variable that they obey programs take
// nothing from elsewhere: it is a place of the user's own, a switch, or options that
// name no file.
func choosesNothing(name string, f field) bool {
	v := f.text
	switch {
	case v == "/dev/null", !strings.Contains(v, "..") && (strings.HasPrefix(v, "$HOME/.") || strings.HasPrefix(v, "~/.")):
		return true
	case !f.exact:
		return false
	}
	switch name {
	case "CARGO_TARGET_DIR":
		return true // where results go
	case "GIT_DIR":
		return v == ".git"
	case "GOENV":
		return v == "off"
	case "MAVEN_OPTS", "GRADLE_OPTS", "PYTEST_ADDOPTS", "RUSTFLAGS":
		return namesNoFile(v)
	case "CARGO_BUILD_JOBS", "PYTHONBREAKPOINT", "PYTHONWARNINGS":
		return isSwitch(v)
	}
	return strings.HasPrefix(name, "CGO_") && namesNoFile(v) ||
		(strings.HasPrefix(name, "GDK_") || strings.HasPrefix(name, "GIT_TRACE") || strings.HasPrefix(name, "MALLOC_")) && isSwitch(v)
}

func isSwitch(v string) bool {
	return slices.Contains([]string{"default", "error", "false", "ignore", "true"}, v) || strings.Trim(v, "0123456789") == ""
}

// namesNoFile says that all words are among the usual options: -O2, -Wall, -Xmx2g, -q,
// -D warnings.
func namesNoFile(v string) bool {
	usual := pattern(`^(?:-O\w?|-g|-D\w*|-A|-W[a-z0-9=-]*|-Xm[sx]\d+[kmgKMG]?|-[qvxs]+|-std=[\w+]+|warnings|dead_code|unused)$`)
	return !slices.ContainsFunc(strings.Fields(v), func(word string) bool { return !usual.MatchString(word) })
}

// leads reads a variable whose value is a host. One that is passed on from
// elsewhere, as many scripts do, names none.
func (sh *shell) leads(name, role string, f field, pos policy.Pos) {
	switch {
	case !f.exact:
		sh.unknownAt(pos, "programs connect to what "+name+" names")
	case f.text != "":
		sh.role(role, f, pos, name+" names it")
	}
}

// subscripted says of arithmetic, or of a name that is a value, that a text with a
// command in a subscript, which is expanded there, was seen before.
func (sh *shell) subscripted(arithmetic bool, pos policy.Pos) {
	if arithmetic && sh.subscript {
		sh.opaque(pos, "a subscript with a command in it")
	}
}

// subscript says whether a text has a command in a subscript.
func subscript(text string) bool {
	if !strings.Contains(text, "[") || !strings.Contains(text, "$(") && !strings.Contains(text, "`") {
		return false
	}
	ok := pattern("\\w\\[[^]]*(?:\\$\\(|`)").MatchString(text)
	return ok
}

// evaluated reads a text that the shell evaluates as arithmetic or as the name
// of a variable: a subscript in it is expanded once more.
func (sh *shell) evaluated(f field, pos policy.Pos) {
	if i := strings.IndexByte(f.text, '['); i >= 0 && (strings.Contains(f.text[i:], "$(") || strings.Contains(f.text[i:], "`")) {
		sh.opaque(pos, "a subscript with a command in it")
	}
}
