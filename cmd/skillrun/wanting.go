package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"skillrun/profiles"
	"skillrun/sandbox"
)

// unseen gives the first file that a failed command names in a directory of all users,
// or in HOME, which it could not see: the run had one of its own in that place.
func (r *recorder) unseen(code int) (own, path string) {
	if code == 0 || r.temp == "" || r.job.session != nil {
		return "", ""
	}
	hidden := func(path string) bool {
		v := r.profile.Allows(path, profiles.Read)
		return !v.Allowed && v.Denial == nil
	}
	for _, word := range r.job.argv[1:] {
		for _, name := range regexp.MustCompile(homeNames).FindAllString(word, -1) {
			if path, err := r.job.host.Resolve(ofHome(name, r.job.host.Home)); err == nil && hidden(path) {
				return "HOME", name
			}
		}
		path, err := r.job.host.Resolve(word)
		if filepath.IsAbs(word) && err == nil && sharedAbove(path) != "" && hidden(path) {
			return sharedAbove(path), path
		}
	}
	return "", ""
}

// homeNames are the names by which a shell's text has what lies in HOME, as far as
// they are plain.
const homeNames = `~/[\w.@+-]+(/[\w.@+-]+)*`

// homeWords are how a program's text asks where HOME is, or what lies below.
const homeWords = `~/|\bHOME\b|XDG_(CONFIG|DATA|STATE|CACHE)_HOME|\bexpanduser\b|\bPath\.home\b|\bhomedir\b`

// cacheWords are those for what is cached, of which no run misses the user's.
const cacheWords = `(\bexpanduser\(\s*["'])?(~|\$HOME|\$\{HOME\})/\.cache\b|\$?\{?XDG_CACHE_HOME\b`

// wanting says what the command or the skill's script names and did not get, of which
// nobody was refused anything: variables that are set, or, unless something else was
// refused, what lies in HOME. Without the variable $RUNNER_TEMP/f is /f, and that is
// what a line about it is of.
func (r *recorder) wanting(refused bool) {
	if r.job.session != nil {
		return
	}
	script, text := r.ownScript()
	// Further down it may be what a script is to print.
	if line, _, _ := bytes.Cut(text, []byte("\n")); slices.Contains(shells[:], filepath.Base(r.interpreter)) && bytes.HasSuffix(line, []byte("\r")) {
		hint("the lines of %s end in CR LF, as on Windows, of which a shell takes the CR for part of a word; they are to end in LF", named(script))
	}
	words := []byte(strings.Join(r.job.argv, " "))
	set := func(name string) bool { // has a value of the run's own
		return slices.ContainsFunc(r.profile.Env.Set, func(v profiles.EnvVar) bool { return v.Name == name })
	}
	withheld := func(text []byte) (names []string) {
		for _, name := range slices.Sorted(maps.Keys(r.job.host.Env)) {
			if r.job.host.Env[name] != "" && !r.profile.Env.Lets(name) && !set(name) && strings.Contains(strings.Trim(name, "_"), "_") && !strings.HasPrefix(name, "XDG_") &&
				regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).Match(text) {
				names = append(names, name)
			}
		}
		return names[:min(len(names), shownDenials)]
	}
	whose, names := named(script), withheld(text)
	if len(names) == 0 {
		whose, names = "the command", withheld(words)
	}
	if len(names) > 0 {
		r.tellWithheld(whose, names)
		return
	}
	if refused {
		return
	}
	for _, s := range searched {
		value := r.job.host.Env[s.variable]
		if value == "" || r.profile.Env.Lets(s.variable) || !regexp.MustCompile(`(?m)\b`+s.program+`[\d.]*(\W|$)`).Match(slices.Concat([]byte(filepath.Base(r.interpreter)+" "), words, text)) {
			continue
		}
		hint("%s is set and was withheld, should modules be missing; %s passes it", s.variable, strings.Join(r.searching(s.variable, value), " "))
		return
	}
	text = regexp.MustCompile(cacheWords).ReplaceAll(text, nil)
	// Where all that the text names there was granted, it saw that.
	names = regexp.MustCompile(homeNames).FindAllString(strings.NewReplacer("${HOME}/", "~/", "$HOME/", "~/").Replace(string(text)), -1)
	shown := len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		at, err := r.job.host.ResolvePrefix(ofHome(name, r.job.host.Home))
		return err != nil || !r.profile.Allows(at, profiles.Read).Allowed
	})
	if !shown && len(r.unkept) == 0 && regexp.MustCompile(homeWords).Match(text) {
		hint("%s names HOME, which was the run's own: of yours it shows what is granted, as by --grant filesystem.read:~/DIR", named(script))
	}
}

// tellWithheld says which variables were named and withheld, and what passes them.
func (r *recorder) tellWithheld(whose string, names []string) {
	are, pass := "which is set and was withheld", " passes it"
	if len(names) > 1 {
		are, pass = "which are set and were withheld", " pass them"
	}
	flags := ""
	for _, name := range names {
		grant := "secrets.read:" + name
		if r.profile.Env.Steers(name) {
			grant = "env_var.read:" + name
		} else if !isTerminal(os.Stderr) {
			pass = " - this needs the user"
		}
		held := heldBy(r.job, grant, &sandbox.Refusal{})
		if _, rule := r.profile.Env.Passes(name); rule != nil && rule.Origin.Capability != "" {
			held = rule.Origin.Source + " denies " + rule.Origin.Capability
		}
		if held != "" {
			pass = " - a grant would have no effect: " + held
		}
		flags += " " + grantFlag(grant)
	}
	if strings.HasPrefix(pass, " p") {
		pass = ";" + flags + pass
	}
	hint("%s names %s, %s%s", whose, strings.Join(names, ", "), are, pass)
}

// searched are the variables by which interpreters find modules: a program does not
// name them, and what it says without them is that a module is not there.
var searched = [...]struct{ program, variable string }{
	{"python", "PYTHONPATH"}, {"node", "NODE_PATH"}, {"perl", "PERL5LIB"}, {"ruby", "RUBYLIB"},
}

// searching gives the grants of a variable that lists directories, and of those in it
// which the run may not read.
func (r *recorder) searching(variable, value string) []string {
	flags := []string{grantFlag("env_var.read:" + variable)}
	for _, dir := range filepath.SplitList(value) {
		at, err := r.job.host.Resolve(dir)
		if v := r.profile.Allows(at, profiles.Read); err != nil || !filepath.IsAbs(dir) || v.Allowed || v.Denial != nil {
			continue
		}
		if g := grantFlag((&sandbox.Refusal{Access: profiles.Read, Path: at}).Grant()); g != "" {
			flags = append(flags, g)
		}
	}
	return flags
}

// ownScript is the skill's script that was run, or one where no run writes, such as a
// step of a workflow, and its text. Not any other: the run could have put something
// else in its place.
func (r *recorder) ownScript() (path string, text []byte) {
	for _, path := range []string{r.interpreter, r.script} {
		own := r.job.skill != nil && strings.HasPrefix(path, r.job.skill.Dir+"/")
		if !own && (path != r.script || !filepath.IsAbs(path) || r.runsWrite(filepath.Dir(path))) {
			continue
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if f, err := os.Open(path); err == nil {
			defer f.Close()
			text, _ := io.ReadAll(io.LimitReader(f, 1<<18))
			return path, text
		}
	}
	return "", nil
}
