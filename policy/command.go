package policy

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// interpreters are the programs whose first argument that is no option is a
// script. Version suffixes such as python3.12 do not count.
var interpreters = [...]string{
	"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox",
	"python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "Rscript", "tclsh", "awk",
}

func interpreter(name string) bool {
	base := strings.TrimRight(path.Base(name), "0123456789.")
	for _, i := range interpreters {
		if i == base {
			return true
		}
	}
	return false
}

// command grants what the typed command needs to start: its program through
// all interpreters that "#!" lines name, its script, and the virtual
// environment that it belongs to. What cannot be found is the launcher's to
// report. A link in the workspace or the skill that leads out of it opens nothing:
// who named it has not seen where it leads, and a run or the skill's author made it.
func (l *lowering) command(p *profiles.Profile) {
	if l.in.Program == "" {
		return
	}
	program, err := l.find(l.in.Program)
	if err != nil {
		return
	}
	l.program(p, program, 0)
	if l.in.Script == "" {
		return
	}
	name := absolute(l.in.Cwd, l.in.Script)
	if script, err := l.host.Resolve(name); err == nil && !l.ledOut(name) {
		if info, err := fs.Stat(l.host.FS, profiles.FSName(script)); err == nil && info.Mode().IsRegular() {
			p.Paths = append(p.Paths, profiles.PathRule{Path: script, Access: profiles.Read, Origin: typed("script of the command")})
		}
	}
}

// ledOut says whether a link in the workspace or the skill leads out of both.
func (l *lowering) ledOut(name string) bool {
	to, err := l.host.Resolve(name)
	if err == nil && (profiles.Within(l.place.Workspace, to) || profiles.Within(l.place.Skill, to)) {
		return false
	}
	return LedOut(l.host, l.place.Workspace, name) != "" || LedOut(l.host, l.place.Skill, name) != ""
}

// Words gives the words of a command that decide what it needs to start: its
// program, and what is after an interpreter's options, its script; "" if there is
// none. Nothing else of a command has a say in a Profile. Of options only those of
// the POSIX shells are known, where CI systems put them before the script.
func Words(command []string) (program, script string) {
	if len(command) == 0 {
		return "", ""
	}
	return command[0], scriptOf(command)
}

func scriptOf(command []string) string {
	if !interpreter(command[0]) {
		return ""
	}
	name := strings.TrimRight(path.Base(command[0]), "0123456789.")
	options := name == "sh" || name == "bash" || name == "dash" || name == "ksh"
	for i := 1; i < len(command); i++ {
		switch word := command[i]; {
		case word == "" || word[0] != '-' && word[0] != '+':
			return word
		case !options || word == "-" || word == "--":
			return ""
		case word == "--rcfile" || word == "--init-file":
			i++
		case strings.HasPrefix(word, "--"):
		case strings.ContainsAny(word, "cs"): // a text, or standard input
			return ""
		case strings.ContainsAny(word, "oO"):
			i++
		}
	}
	return ""
}

func typed(reason string) profiles.Origin { return profiles.Origin{Source: "command", Reason: reason} }

// find resolves a word in command position to a path that is not resolved yet.
func (l *lowering) find(word string) (string, error) {
	if strings.Contains(word, "/") {
		word = absolute(l.in.Cwd, word)
	}
	file, err := l.host.Lookup(word, l.host.Env["PATH"])
	return l.host.Unshim(file, l.in.Cwd), err
}

// program grants reading and executing one program and the interpreters of its
// "#!" line; Linux follows four of them, see execve(2).
func (l *lowering) program(p *profiles.Profile, name string, depth int) {
	file, err := l.host.Resolve(name)
	if err != nil || depth > 4 {
		return
	}
	if l.ledOut(name) && !l.startable(p, name) {
		return
	}
	p.Paths = append(p.Paths, profiles.PathRule{Path: file, Access: profiles.Read | profiles.Execute, Origin: typed("program of the command")})
	l.prefix(p, name)
	// Who wrote the script chose the word: a file of the workspace or the skill
	// opens nothing with it that the run does not have.
	theirs := profiles.Within(l.place.Workspace, file) || profiles.Within(l.place.Skill, file)
	for _, word := range l.shebang(file) {
		if next, err := l.find(word); err == nil && (!theirs || !strings.Contains(word, "/") || l.startable(p, next)) {
			l.program(p, next, depth+1)
		}
	}
}

// startable says whether a program is one of the run's, whatever names it: it may
// be started already, lies in the workspace or the skill, or is what PATH finds,
// where that leads elsewhere.
func (l *lowering) startable(p *profiles.Profile, name string) bool {
	theirs := func(at string) bool {
		return profiles.Within(l.place.Workspace, at) || profiles.Within(l.place.Skill, at)
	}
	file, err := l.host.Resolve(name)
	if err != nil {
		return false
	}
	if theirs(file) || p.Allows(file, profiles.Read).Allowed && p.Allows(file, profiles.Execute).Allowed {
		return true
	}
	for _, dir := range strings.Split(l.host.Env["PATH"], ":") {
		if at, err := l.host.Resolve(dir); err != nil || theirs(dir) || theirs(at) {
			continue
		}
		if found, err := l.host.Resolve(dir + "/" + path.Base(name)); err == nil && found == file {
			return true
		}
	}
	return false
}

// shebang gives the programs that a script's first line names: its
// interpreter, and with env(1) what that looks up.
func (l *lowering) shebang(file string) []string {
	f, err := l.host.FS.Open(profiles.FSName(file))
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 256) // as much as Linux reads
	n, _ := io.ReadFull(f, head)
	line, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	if !ok {
		return nil
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) == 0 || !path.IsAbs(words[0]) {
		return nil
	}
	programs := words[:1]
	if path.Base(words[0]) == "env" {
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
				return append(programs, w)
			}
		}
	}
	return programs
}

// What is granted of a virtual environment, and of a version among those of a
// version manager besides: ruby-build's, conda's among pyenv's, goenv's.
var (
	environments = [...]string{"bin", "lib", "lib64", "include", "share", "etc/jupyter", "pyvenv.cfg"}
	versions     = [...]string{"libexec", "ssl", "pkg", "src", "go.env", "VERSION"}
)

// installed are the directories of an interpreter's own library and of packages, in
// which names are theirs: certificates of authorities, keys of tests. What a project
// keeps is not there, and no run can move its secrets there.
var installed = [...]string{"python3*", "pypy3*", "ruby", "perl5", "site-packages", "dist-packages", "node_modules", "gems"}

// prefix grants the virtual environment of a program, or its version among those of
// a version manager: of the directory above its bin what an environment has and no
// more, and none of the secrets in that, since a run that could write there may have
// made it look like one. Links that lead out of it are not followed.
func (l *lowering) prefix(p *profiles.Profile, program string) {
	bin, err := l.host.Resolve(path.Dir(program))
	if err != nil || path.Base(bin) != "bin" || l.ledOut(path.Dir(program)) {
		return
	}
	dir := path.Dir(bin)
	names, theirs := environments[:], installed[:]
	switch {
	case profiles.Within(dir, l.place.Home):
		return
	case l.managed(dir, path.Base(program)):
		names, theirs = slices.Concat(names, versions[:]), slices.Concat(theirs, versions[:])
	case !l.virtual(dir):
		return
	}
	if !profiles.Within(l.place.Workspace, dir) && !p.Allows(dir, profiles.Read).Allowed {
		for _, d := range profiles.WorkspaceSecrets(dir) {
			d.Except = slices.Concat(theirs, d.Except)
			p.Denials = append(p.Denials, d)
		}
	}
	for _, name := range names {
		at, err := l.host.Resolve(dir + "/" + name)
		if err != nil || !profiles.Within(dir, at) || at == dir {
			continue
		}
		info, err := fs.Stat(l.host.FS, profiles.FSName(at))
		if err != nil {
			continue
		}
		p.Paths = append(p.Paths, profiles.PathRule{Path: at, Tree: info.IsDir(), Access: profiles.Read | profiles.Execute, Origin: typed("environment of the command")})
	}
}

// virtual says whether a directory is a virtual environment of Python: it has
// pyvenv.cfg, an interpreter, and where that looks for packages.
func (l *lowering) virtual(dir string) bool {
	if !l.host.Exists(dir + "/pyvenv.cfg") {
		return false
	}
	has := func(dir string, names ...string) bool {
		entries, err := fs.ReadDir(l.host.FS, profiles.FSName(dir))
		return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(e.Name(), n) }) && l.host.Exists(dir+"/"+e.Name())
		})
	}
	return has(dir+"/bin", "python", "pypy") && has(dir+"/lib", "python3", "pypy3")
}

// managed says whether a directory is one of a version manager's (pyenv, rbenv,
// nodenv and others that work so), which has made a shim of the program's name.
func (l *lowering) managed(dir, program string) bool {
	all := path.Dir(dir)
	return path.Base(all) == "versions" && l.host.Exists(path.Dir(all)+"/shims/"+program)
}
