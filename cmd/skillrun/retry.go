package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrun/policy"
	"skillrun/policy/scan"
	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/egress"
)

// offered is how many refusals one question is about, at most: each is shown,
// so that nobody allows what they did not read.
const offered = 8

// offerable gives the grant that lifts a refusal, if the user may be asked to
// give it after a failed run: not for what is denied by name, credentials and
// control files above all, a socket that gives away more than its name says, an
// address that the question does not show, or what no grant lifts. A script can provoke any refusal.
func offerable(j *job, p *profiles.Profile, d *sandbox.Refusal) (policy.Entry, bool) {
	text := d.Grant()
	if ofLink(d) && (p.Workspace == "" || !strings.HasPrefix(d.Path, p.Workspace+"/")) {
		return policy.Entry{}, false // of all that it leads to
	}
	if d.Verdict.Denial != nil || text == "" || d.Private != "" || useless(d) != "" || mountFlag(j, d) != "" || changesSkill(p, d) || socketWarning(j.host, d) != "" || heldBy(j, text, d) != "" {
		return policy.Entry{}, false
	}
	e, err := policy.ParseGrant(text, "prompt")
	return e, err == nil
}

// ofLink says that what lifts a refusal is of a link, and of what that leads to.
func ofLink(d *sandbox.Refusal) bool { return d.Link && d.Access&profiles.Delete != 0 }

// socketWarning says what a refused socket would have given away, "" if nothing
// is known of it.
func socketWarning(h *profiles.Host, d *sandbox.Refusal) string {
	if !d.Socket {
		return ""
	}
	return profiles.SocketWarning(h, d.Path)
}

// changesSkill says whether the skill itself is what was to be changed.
func changesSkill(p *profiles.Profile, d *sandbox.Refusal) bool {
	return p != nil && d.Path != "" && !d.Socket && p.ChangesSkill(d.Path, d.Access)
}

// offer asks, after a failed run on a terminal, whether to run again with what
// was refused; signals are released then, so that one ends skillrun. It gives
// the answers for the next run, nil for none.
func (r *recorder) offer(code int, release func()) (*answers, error) {
	j := r.job
	list := together(j, r.lifting, r.profile.Workspace)
	if code == 0 || j.approve != policy.ApproveAsk || len(list) == 0 || len(list) > offered ||
		!isTerminal(os.Stdin) || !isTerminal(os.Stderr) {
		return nil, nil
	}
	release()
	tty, closeTerminal, err := openTerminal()
	if err != nil {
		return nil, nil
	}
	defer closeTerminal()
	if os.Getenv("TERM") != "dumb" {
		fmt.Fprint(tty, ownColors)
	}
	var what, texts []string
	next := &answers{accepted: j.accepted, grants: append([]policy.Entry(nil), j.given...), lasting: "once"}
	for _, l := range list {
		tried := policy.Row(policy.Escape(l.refusal.Word() + " " + named(j.homely(l.refusal.Target()))))
		text := l.refusal.Grant()
		if l.whole {
			tried += " and all that is in it"
		}
		if (l.refusal.Made || ofLink(&l.refusal)) && !slices.Contains(texts, text) {
			tried += " (" + policy.Row(policy.Escape(named(text))) + ": " + wider(&l.refusal) + ")"
		}
		if !slices.Contains(what, tried) {
			what = append(what, tried)
		}
		if !slices.Contains(texts, text) {
			texts, next.grants = append(texts, text), append(next.grants, l.grant)
		}
	}
	always := ""
	if j.skill != nil {
		if j.skill.tree == [32]byte{} {
			if err := j.skill.measure(j); err != nil {
				return nil, err
			}
		}
		always = "[a]lways for " + policy.Row(policy.Escape(j.skill.versioned())) + " " + j.ending()
	}
	question := fmt.Sprintf("skillrun: %d refused: %s. [r]etry with these once %s[n]o: ", len(what), strings.Join(what, ", "), always)
	in := bufio.NewReader(tty)
	if rows, columns := screen(tty); len(question) > rows*columns/2 { // letters may be two wide
		if err := page(tty, in, what); err != nil {
			return nil, nil
		}
		question = fmt.Sprintf("skillrun: %d refused. [r]etry with these once %s[n]o: ", len(what), always)
	}
	for {
		word, err := line(tty, in, question)
		switch {
		case err != nil || word == "n" || word == "no":
			return nil, nil
		case word == "r" || word == "retry" || isOnce(word):
			return next, nil
		case isAlways(word) && always != "":
			terms, ok := termsOf(tty, strings.Fields(word)[1:])
			if !ok {
				continue
			}
			if err := j.keep(nil, nil, texts, terms...); err != nil {
				return nil, fmt.Errorf("cannot keep the answer: %w", err)
			}
			next.lasting, next.ends = "version", j.ends
			return next, nil
		}
	}
}

// fewDeletions is how many refused deletions are allowed each by its own name.
const fewDeletions = 3

// deletion gives the directory whose grant stands for what was not deleted, "" if
// there is none: who removes one file of a build's output means all of it, and a
// command that names a directory to be deleted (rm -r) is refused what is in it first.
func deletion(j *job, d *sandbox.Refusal, workspace string) string {
	if d.Access&profiles.Delete == 0 || d.Verdict.Denial != nil || d.Inner || workspace == "" {
		return ""
	}
	if dir := profiles.OutputDirectory(workspace, d.Path); dir != "" {
		return dir
	}
	if j.deletes != nil {
		for _, tree := range j.deletes() {
			if strings.HasPrefix(tree, workspace+"/") && strings.HasPrefix(d.Path, tree+"/") {
				return tree
			}
		}
	}
	// A name that no grant can have: not UTF-8, with a star in it. All of the workspace
	// would be too much for it.
	if dir := filepath.Dir(d.Path); strings.HasPrefix(dir, workspace+"/") {
		if _, err := policy.ParseGrant(d.Grant(), "prompt"); err != nil {
			return dir
		}
	}
	return ""
}

// toDelete are the directories that the command names to be deleted.
func (j *job) toDelete() (trees []string) {
	for _, n := range scan.Command(shellText(j.argv), scan.Env{}).Needs {
		if n.Capability != "filesystem.delete" || !n.Exact || strings.ContainsAny(n.Target, "*?[~") {
			continue
		}
		if tree, err := j.host.Resolve(absolute(n.Target, j.cwd)); err == nil {
			trees = append(trees, tree)
		}
	}
	return trees
}

// grantOf gives the grant that a line about a refusal tells.
func grantOf(j *job, d *sandbox.Refusal, workspace string) string {
	if dir := deletion(j, d, workspace); dir != "" {
		return (&sandbox.Refusal{Path: dir, Access: profiles.Delete}).Grant()
	}
	return hostGrant(j, d)
}

// hostGrant gives for a package registry the grant of its group, where that lifts
// the refusal: who fetches a package asks the other hosts of it next. The group's
// is of TCP and for reading, and a policy may deny it.
func hostGrant(j *job, d *sandbox.Refusal) string {
	const install = "package.install"
	if group := profiles.Registry(d.Host, d.Port); group != "" && d.Grantable && d.Verdict.Host == nil && !strings.HasPrefix(d.What, string(egress.DoorUDP)) && !j.set.Denies(install, time.Now()) {
		return install + ":" + group
	}
	return d.Grant()
}

// outputs takes from a list what was not deleted of builds' output or of what the
// command names, and gives the directories, each once.
func outputs(j *job, list []lifting, workspace string) (dirs []string, rest []lifting) {
	for _, l := range list {
		dir := deletion(j, &l.refusal, workspace)
		switch {
		case dir == "":
			rest = append(rest, l)
		case !slices.Contains(dirs, dir):
			dirs = append(dirs, dir)
		}
	}
	return dirs, rest
}

// deletions gives the directory of a workspace that holds all that was not deleted,
// where that is more than a few, and how many there were: whoever removes a tree is
// refused each of its files, and means the tree.
func deletions(list []lifting, workspace string) (dir string, n int) {
	for i := range list {
		d := &list[i].refusal
		if d.Access&profiles.Delete == 0 {
			continue
		}
		if n++; n == 1 {
			dir = filepath.Dir(d.Path)
		}
		if strings.HasPrefix(dir+"/", d.Path+"/") {
			dir = d.Path // itself, with what is in it
		}
		for dir != "/" && !strings.HasPrefix(d.Path+"/", dir+"/") {
			dir = filepath.Dir(dir)
		}
	}
	if n <= fewDeletions || workspace == "" || !strings.HasPrefix(dir+"/", workspace+"/") {
		return "", 0
	}
	return dir, n
}

// together has one grant lift more than a few refused deletions, if they are of one
// tree or cannot be shown each, and all in one directory of a build's output.
func together(j *job, list []lifting, workspace string) []lifting {
	dirs, kept := outputs(j, list, workspace)
	dir, n := deletions(kept, workspace)
	if n > 0 && (dir != workspace || len(kept) > offered) {
		dirs = append(dirs, dir)
		kept = slices.DeleteFunc(kept, func(l lifting) bool { return l.refusal.Access&profiles.Delete != 0 })
	}
	for _, dir := range dirs {
		all := sandbox.Refusal{Path: dir, Access: profiles.Delete}
		grant, err := policy.ParseGrant(all.Grant(), "prompt")
		if err != nil {
			return list
		}
		kept = append(kept, lifting{all, grant, true})
	}
	return kept
}

// tellDeletions says in one hint what would allow the deletions that were refused,
// where no line about each has said so: a list of old files is not read.
func (r *recorder) tellDeletions(code int) {
	workspace := r.profile.Workspace
	dirs, rest := outputs(r.job, r.lifting, workspace)
	all := 0
	for i := range r.lifting {
		if r.lifting[i].refusal.Access&profiles.Delete != 0 {
			all++
		}
	}
	one := len(dirs)
	if dir, n := deletions(rest, workspace); n > 0 {
		dirs, one = append(dirs, dir), 2
	} else if !r.show {
		for i := range rest {
			if d := &rest[i].refusal; d.Access&profiles.Delete != 0 && strings.HasPrefix(d.Path, workspace+"/") {
				dirs = append(dirs, d.Path)
			}
		}
	}
	if r.tells || len(dirs) == 0 || r.show && one < 2 {
		return
	}
	var names, flags []string
	for _, dir := range dirs {
		if g := grantFlag((&sandbox.Refusal{Path: dir, Access: profiles.Delete}).Grant()); g != "" {
			names, flags = append(names, named(dir)), append(flags, g)
		}
	}
	although := ""
	if code == 0 {
		although = ", although the command succeeded"
	}
	switch {
	case len(flags) == 0:
	case one == 0:
		hint("deleting %s was refused%s; %s allows it", strings.Join(names, ", "), although, strings.Join(flags, " "))
	default:
		hint("%d deletions in %s were refused%s; %s allows any there", all, strings.Join(names, ", "), although, strings.Join(flags, " "))
	}
}

// tellStarts says in one hint what would allow the programs to be started that a failed
// run was refused, where no line about each has said so; whether there are any.
func (r *recorder) tellStarts(code int) (some bool) {
	var names, flags []string
	for i := range r.lifting {
		d := &r.lifting[i].refusal
		if d.Access&profiles.Execute == 0 {
			continue
		}
		some = true
		flag := grantFlag(d.Grant())
		if flag != "" && d.Made {
			flag += " (which " + wider(d) + ")"
		}
		if flag != "" && len(names) < shownDenials && !slices.Contains(flags, flag) {
			names, flags = append(names, named(d.Path)), append(flags, flag)
		}
	}
	if code != 0 && !r.tells && !r.show && len(names) > 0 {
		hint("starting %s was refused; %s allows it", strings.Join(names, ", "), strings.Join(flags, " "))
	}
	return some
}

// wider says what a grant gives that is of more than one program.
func wider(d *sandbox.Refusal) string {
	switch {
	case ofLink(d):
		return "deletes what it leads to, too"
	case d.Within == "":
		return "reads and starts whatever the workspace and the skill hold, and what it makes in TMPDIR"
	}
	return "reads and starts whatever is there, and what it makes in TMPDIR"
}

// homely shortens a path in the home directory.
func (j *job) homely(path string) string {
	if rest, ok := strings.CutPrefix(path, j.host.Home+"/"); ok {
		return "~/" + rest
	}
	return path
}
