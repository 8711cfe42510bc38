package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/skill"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// sentSignals end a command whose reader has left, or that somebody stopped: no
// right was wanting.
var sentSignals = [...]syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGTERM}

// tellEnd tells a person of a run that has ended: what stopped it, what it leaves
// behind, what went with it, and where to look if it failed. r.mu is held.
func (r *recorder) tellEnd(res *sandbox.Result, code int, controls []string) {
	if wall := r.profile.Limits.Wall; wall > 0 { // nobody may read this
		defer time.AfterFunc(max(time.Second, time.Until(r.begin.Add(wall))), func() { os.Exit(code) }).Stop()
	}
	r.showing.Wait()
	told := len(r.denials) + r.dropped - r.spared
	if n := told - r.shown; r.show && n > 0 && r.shown > 0 {
		say("denied %d more; all of them: skillrun audit show %s", n, r.id)
	}
	r.tellUnchanged(code)
	r.tellDeletions(code)
	starting := r.tellStarts(code)
	if r.show && told == 0 && code != 0 {
		for _, d := range r.looked {
			say("denied %s", denialLine(r.job, r.profile, d))
		}
	}
	if res.TimedOut {
		say("timed out after %v: everything was ended", r.profile.Limits.Wall)
	}
	if res.Limit != "" {
		say("stopped at its limit of %s, %s: everything was ended", res.Limit, limitText(&r.profile.Limits, res.Limit))
	}
	if res.Lost != nil {
		say("cannot pass on what the command wrote: %s", res.Lost)
	}
	now := *r.job.host
	now.FS = newSnapshot()
	tellControls(&now, controls, res.MoreControls)
	if code != 0 && res.Moved != "" {
		r.lost = append(r.lost, r.unfound...)
	}
	if len(r.lost) > 0 {
		read := sandbox.Refusal{Path: r.lost[0], Access: profiles.Read}
		write := sandbox.Refusal{Path: r.lost[0], Access: profiles.Write}
		goneWith("/tmp", r.lost, r.lost[0], "", read.Grant(), write.Grant())
	}
	if len(r.unkept) > 0 {
		r.tellUnkept()
	}
	if own, path := r.unseen(code); path != "" {
		line := fmt.Sprintf("%s was the run's own, and %s outside was not shown", own, named(path))
		if g := grantFlag("filesystem.read:" + path); g != "" {
			line += "; " + g + " shows it"
		}
		hint("%s", line)
	}
	if code == 0 && res.Killed > 0 && len(r.profile.Network.Listen) > 0 && !r.tells {
		hint("what still ran when the command ended was ended with it: a server is to be the command itself, and not in the background")
	}
	foreign := code == 128+int(syscall.SIGSYS)
	switch {
	case code == 0 || code == exitTimeout || r.show || r.tells || res.Unstarted != "":
	case told > 0:
		hint("%d refused; --denials shows them as they happen, skillrun audit show %s lists them", told, r.id)
	case foreign || res.Status.Signaled() && slices.Contains(sentSignals[:], res.Status.Signal()):
	default:
		hint("if it failed for want of a right, --denials shows what was refused")
	}
	if foreign {
		hint("SIGSYS ends programs that make system calls of another architecture, as 32-bit ones do; a run makes those of this machine's own only, whatever is granted")
	}
	if code != 0 && !r.profile.Process.Create && !r.tells && !starting {
		hint("the run had no right to start other programs, which is refused without a line: --grant shell.execute gives it")
	}
	if host, port, via, times := r.traffic.unanswered(); code != 0 && host != "" {
		// Others may have been: nobody counts those to a server of the run's own.
		line := fmt.Sprintf("%s is granted, and nobody answered %d of the connections to it", net.JoinHostPort(host, strconv.Itoa(port)), times)
		if via != "" {
			line += ", by the proxy " + via
		}
		if isLoopback(host) {
			line += ", outside of the run or in it"
		}
		hint("%s", line)
	}
	if s := r.job.session; code != 0 && s != nil && len(s.unset) > 0 && r.profile.Network.Mode == profiles.NetHosts {
		hint("%s was not used, which a file of the project sets for the agent; set it in your own environment, and not there", strings.Join(s.unset, ", "))
	}
	if code != 0 {
		r.wanting(told > 0)
		r.job.tellElsewhere()
		r.job.tellOwn()
	}
	if j := r.job; code != 0 && told > 0 && !r.tells && j.session == nil && j.skill != nil && len(j.skill.documents) == 0 && r.elsewhere() {
		hint("the skill has no manifest; skillrun init %s - shows what its files are seen to do", typed(j.skill.Dir, "DIR"))
	}
	if (code != 0 || r.show) && res.Unstarted != "" {
		hint("%s, which came while the command ran, cannot be started beside %s, which is hidden; without namespaces programs are to be built in $TMPDIR, or where no such file is", named(res.Unstarted), named(res.Beside))
	}
	if code != 0 && res.Moved != "" {
		hint("what the command made in %s it could open there, but not find with ls, test or cd; $TMPDIR has no such limits, nor has what is granted", res.Moved)
	}
}

// elsewhere says that something was refused that is not of the skill's own files, which
// no manifest lets a run change.
func (r *recorder) elsewhere() bool {
	return slices.ContainsFunc(r.denials, func(d audit.Denial) bool { return !strings.HasPrefix(d.Target, r.job.skill.Dir+"/") })
}

// tellElsewhere says where the file of the skill is that the command named, other
// than in a script's place, as if it were here.
func (j *job) tellElsewhere() {
	if j.skill == nil {
		return
	}
	// Those of a shell's text are words, too: sh -c 'python3 scripts/x.py'.
	for _, word := range slices.Concat(j.argv[1:], strings.Fields(strings.Join(j.argv[1:], " "))) {
		file, ok := j.skillFile(word)
		if !ok {
			file, ok = j.skillFile(filepath.Join("scripts", word))
		}
		if _, err := os.Lstat(filepath.Join(j.cwd, word)); ok && err != nil {
			hint("%s is not here; the skill has one: %s", quote(word), quote(file))
			return
		}
	}
	if _, script := policy.Words(j.argv); script != "" && !filepath.IsAbs(script) {
		if _, err := os.Lstat(filepath.Join(j.cwd, script)); errors.Is(err, fs.ErrNotExist) {
			hint("%s is neither here nor in the skill", quote(script))
		}
	}
}

// tellOwn says that the work was done in the skill itself, as where its text has
// somebody change there first.
func (j *job) tellOwn() {
	if j.skill != nil && j.session == nil && enclosing(j.host, j.workspace, j.skill.Dir) != "" {
		hint("the workspace was the skill's own directory, which no run changes; --workspace DIR names that of the work")
	}
}

// standing leaves out of paths what is not there any more. What cannot be looked at,
// since the run has closed a directory above it, may be there.
func standing(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	})
}

// tellControls lists what a run has made that programs outside obey. Of a
// repository of its own that is its .git, with what git would start, if there is
// something: git in a work tree around it does, too, once the one is added to the
// other. More may not be listed.
func tellControls(h *profiles.Host, paths []string, more int) {
	var names []string
	told := map[string]bool{}
	starting := 0
	for _, path := range paths {
		above, _, in := strings.Cut(path+"/", "/.git/")
		repository := above + "/.git"
		if in && !told[repository] {
			told[repository] = true
			started := policy.GitObeys(h, repository)
			if len(started) > 0 {
				starting++
			}
			if len(started) > 0 && starting <= shownDenials {
				say("%s, in which the run made something, has what git starts: %s", named(repository), policy.Escape(strings.Join(started[:min(len(started), shownDenials)], ", ")))
			}
		}
		if in && slices.Contains(paths, repository+"/config") && slices.Contains(paths, repository+"/hooks") {
			path = repository
		}
		if name := named(path); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if n := starting - shownDenials; n > 0 {
		say("%d more repositories, in which the run made something, have what git starts", n)
	}
	shown := names[:min(len(names), shownDenials)]
	switch n := len(names) - len(shown); {
	case more > 0:
		shown = append(shown, "more than can be listed")
	case n > 0:
		shown[len(shown)-1] += fmt.Sprintf(" and %d more", n)
	}
	if len(shown) > 0 {
		say("the run made what other programs obey: %s; look at it before they do", strings.Join(shown, ", "))
	}
}

// tellUnkept says what went with the run's HOME, and what keeps the first of it: not
// in a session, where nobody types flags, and nothing that is denied by its name.
func (r *recorder) tellUnkept() {
	for _, path := range r.unkept {
		at := filepath.Join(r.job.host.Home, path[2:])
		if r.job.session != nil || r.profile.Allows(at, profiles.Write).Denial != nil {
			continue
		}
		first := ""
		if _, err := os.Stat(filepath.Dir(at)); err != nil {
			first = ", if you make its directory first"
		} else if _, err := os.Stat(at); err != nil && slices.Contains(r.trees, path) {
			// Inside, what is granted is a link, through which not all programs make one.
			first = ", if you make that directory first"
		}
		goneWith("HOME", r.unkept, path, first, "filesystem.read:"+path, "filesystem.write:"+path)
		return
	}
	goneWith("HOME", r.unkept, "", "")
}

// goneWith says what went with a directory of the run's own, and which grants keep
// kept, one of it.
func goneWith(own string, lost []string, kept, first string, grants ...string) {
	var flags []string
	for _, g := range grants {
		if g = grantFlag(g); g != "" {
			flags = append(flags, g)
		}
	}
	it := "it"
	if len(lost) > 1 {
		it = named(kept)
	}
	keeps := ""
	if len(flags) == 1 {
		keeps = "; " + flags[0] + " keeps " + it + first
	} else if len(flags) > 1 {
		keeps = "; " + strings.Join(flags, " ") + " keep " + it + first
	}
	var names []string
	for _, name := range lost[:min(len(lost), shownDenials)] {
		names = append(names, named(name))
	}
	hint("%s was the run's own, and %s went with it%s", own, strings.Join(names, ", "), keeps)
}

// left looks at what a run has left: in an agent's session where its shell ended,
// else what is lost with its /tmp although the command or the skill names it; and with its HOME
// what looks like work and not like a cache, as it is not hidden, or the skill's own
// text has its name, or it is among what an agent's skills keep and no skill is known.
func (r *recorder) left(home string) {
	if s := r.job.session; s != nil && s.place {
		s.leave(r.job, home)
	} else if s == nil {
		r.leftInTemp()
	}
	var hidden [][]string // each is left if the skill's text has all of its names
	entries, _ := os.ReadDir(home)
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, "."):
			r.leftInHome(home, name)
		case slices.Contains(programsOwn[:], name):
		case e.IsDir() && slices.ContainsFunc(skill.Roots(), func(root skill.Root) bool {
			return root.Scope == skill.User && strings.HasPrefix(root.Path, name+"/")
		}): // an agent's, in which each skill has something
			more, _ := os.ReadDir(filepath.Join(home, name))
			for _, e := range more {
				if r.job.skill == nil {
					r.leftInHome(home, name+"/"+e.Name())
				} else {
					hidden = append(hidden, []string{name, e.Name()})
				}
			}
		case r.job.skill != nil:
			hidden = append(hidden, []string{name})
		}
	}
	for _, shared := range basesOwn {
		more, _ := os.ReadDir(filepath.Join(home, shared))
		for _, e := range more {
			if r.job.skill != nil {
				hidden = append(hidden, []string{shared, e.Name()})
			}
		}
	}
	hidden = hidden[:min(len(hidden), mostNames)]
	others := r.unnamed(slices.Concat(hidden...)...)
	for _, names := range hidden {
		if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(others, name) }) {
			r.leftInHome(home, strings.Join(names, "/"))
		}
	}
}

// mostNames is how many names of a run's making are looked for in all of the skill's text.
const mostNames = 64

// programsOwn are hidden names by which every program keeps something, or every run
// has something: no skill's text is read for them.
var programsOwn = [...]string{".cache", ".config", ".gitconfig", ".local", ".npm"}

// basesOwn are those of them in which each program has something of its own.
var basesOwn = [...]string{".config", ".local/share", ".local/state"}

// leftInHome notes what there is something in of what a run left in its HOME.
func (r *recorder) leftInHome(home, name string) {
	at := filepath.Join(home, name)
	if !hasFile(at) {
		return
	}
	r.unkept = append(r.unkept, "~/"+name)
	if info, err := os.Lstat(at); err == nil && info.IsDir() {
		r.trees = append(r.trees, "~/"+name)
	}
}

// unnamed gives those of all names that the files of the run's skill do not have in them.
func (r *recorder) unnamed(all ...string) []string {
	if r.job.skill == nil || len(all) == 0 {
		return all
	}
	left := 256
	filepath.WalkDir(r.job.skill.Dir, func(path string, d fs.DirEntry, err error) error {
		if left--; err != nil || left == 0 || len(all) == 0 {
			return fs.SkipAll
		}
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		text, _ := io.ReadAll(io.LimitReader(f, 1<<18))
		all = slices.DeleteFunc(all, func(name string) bool { return names(string(text), name) })
		return nil
	})
	return all
}

// leftInTemp notes what is lost with the run's /tmp although the command names it, or
// the skill's text does: a file in which there is something, since a directory is
// where programs work, and matters only to a run that did not find it again.
func (r *recorder) leftInTemp() {
	entries, _ := os.ReadDir(r.temp)
	var files, trees []string
	for _, e := range entries {
		name := "/tmp/" + e.Name()
		if name == "/tmp/.X11-unix" || strings.HasPrefix(r.temp, name+"/") { // there from the beginning
			continue
		}
		switch {
		case slices.ContainsFunc(r.job.argv, func(word string) bool { return names(word, name) }):
			r.lost = append(r.lost, name)
		case len(files)+len(trees) == mostNames:
		case e.IsDir():
			trees = append(trees, name)
		case hasFile(filepath.Join(r.temp, e.Name())):
			files = append(files, name)
		}
	}
	others := r.unnamed(slices.Concat(files, trees)...)
	other := func(name string) bool { return slices.Contains(others, name) }
	r.lost = append(r.lost, slices.DeleteFunc(files, other)...)
	r.unfound = slices.DeleteFunc(trees, other)
}

// hasFile says whether there is a file in a tree, of which it looks at no more
// than a part: what was granted of the user's home is found in a run's own by
// links, in directories that are there for them.
func hasFile(tree string) bool {
	found, left := false, 256
	filepath.WalkDir(tree, func(_ string, d fs.DirEntry, err error) error {
		if left--; err != nil || left == 0 {
			return fs.SkipAll
		}
		if d.Type().IsRegular() {
			info, err := d.Info()
			if found = err == nil && info.Size() > 0; found { // else a lock, or a mark
				return fs.SkipAll
			}
		}
		return nil
	})
	return found
}

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

// shells are those that take the end of a line so.
var shells = [...]string{"sh", "bash", "dash", "ksh", "zsh"}

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
	if slices.Contains(shells[:], filepath.Base(r.interpreter)) && bytes.Contains(text, []byte("\r\n")) {
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

// names says whether a word of a command line has the path in it, or something
// beneath it.
func names(word, path string) bool {
	for {
		_, rest, ok := strings.Cut(word, path)
		if !ok {
			return false
		}
		if rest == "" || !strings.ContainsRune("._-", rune(rest[0])) && !('0' <= rest[0] && rest[0] <= '9' || 'A' <= rest[0] && rest[0] <= 'Z' || 'a' <= rest[0] && rest[0] <= 'z' || rest[0] >= 0x80) {
			return true
		}
		word = rest
	}
}
