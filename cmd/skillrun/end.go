package main

import (
	"errors"
	"fmt"
	"io/fs"
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
	ending, read := regexp.MustCompile(scriptNames), ""
	// Those of a shell's text are words, too: sh -c 'python3 scripts/x.py'.
	words := slices.Concat(j.argv, strings.Fields(strings.Join(j.argv[1:], " ")))
	for i, word := range words {
		if _, script := policy.Words(words[i:]); script != "" {
			read = script
		}
		if i == 0 || word != read && !strings.Contains(word, "/") && !ending.MatchString(word) {
			continue // a target (make build), a subcommand (npm run build)
		}
		file, ok := j.skillFile(word)
		if !ok {
			file, ok = j.skillFile(filepath.Join("scripts", word))
		}
		if _, err := os.Lstat(filepath.Join(j.cwd, word)); ok && err != nil {
			hint("%s is not here; the skill has one: %s", quote(word), quote(file))
			return
		}
	}
	if _, script := policy.Words(j.argv); ending.MatchString(script) {
		if _, err := os.Lstat(filepath.Join(j.cwd, script)); errors.Is(err, fs.ErrNotExist) {
			hint("%s is neither here nor in the skill", quote(script))
		}
	}
}

// scriptNames are those of which it is plain that an interpreter was to read a file here:
// what has no ending may be text (of awk), a subcommand (of bun), an applet (of busybox),
// a module whose ending node finds, or a program that a shell finds.
const scriptNames = `^[\w@+-][\w@+./-]*\.[A-Za-z]+$`

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

// shells are those that take the end of a line so.
var shells = [...]string{"sh", "bash", "dash", "ksh", "zsh"}
