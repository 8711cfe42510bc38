package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"skillrun/policy"
)

// mostSequence is the size of the largest file of a sequence that is read, and mostTodos
// of all that a launch reads.
const (
	mostSequence = 16 << 20
	mostTodos    = 2 * mostSequence
)

// readTodos notes the git directories that the run finds, and which rebases are going on
// there, with the commands that they have left to start. Of those that cannot be read,
// or not beside the others, all commands count as a run's that changes them.
func (r *recorder) readTodos() {
	host := *r.job.host
	host.FS = newSnapshot()
	r.gitDirs, _, _ = r.gitDirectories(&host, nil)
	left := int64(mostTodos)
	for _, dir := range r.gitDirs {
		b, err := host.ReadSmall(filepath.Join(dir, policy.GitTodo), min(mostSequence, left))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		left -= int64(len(b))
		r.todos[dir] = policy.GitContinues(policy.GitTodo, b)
	}
}

// refuseSequences takes away what a run has put into a rebase, patches or picks that
// were begun before, and by which git would start a command or write elsewhere, as the
// user goes on with them. The commands of a rebase that the run began are told of.
func (r *recorder) refuseSequences(dir string, left *int64) {
	for _, name := range policy.GitSequences {
		file := filepath.Join(dir, name)
		if changedSince(file, r.begin) || changedSince(filepath.Dir(file), r.begin) || changedSince(dir, r.begin) {
			r.refuseSequence(dir, name, left)
		}
	}
}

func (r *recorder) refuseSequence(dir, name string, left *int64) {
	file := filepath.Join(dir, name)
	place, err := openWithoutLinks(filepath.Dir(file))
	if err != nil {
		return
	}
	defer unix.Close(place)
	b, err := readIn(place, file, min(mostSequence, *left), 0)
	*left -= int64(len(b))
	if !r.mayWrite(file) || errors.Is(err, fs.ErrNotExist) {
		return
	}
	words := policy.GitContinues(name, b)
	if err != nil {
		words = []string{"what cannot be read"}
	}
	todo, begun := r.todos[dir]
	if name == policy.GitTodo {
		known := make(map[string]bool, len(todo)) // there may be a million
		for _, w := range todo {
			known[w] = true
		}
		words = slices.DeleteFunc(words, func(w string) bool { return known[w] })
	}
	if len(words) == 0 {
		return
	}
	what := policy.Escape(strings.Join(words[:min(len(words), shownDenials)], ", "))
	if name == policy.GitTodo && !begun {
		r.tellRemains("%s has commands, which git rebase --continue would start: %s; look at them before you continue it", named(file), what)
	} else if refused, err := takeAway(place, file); err != nil {
		r.tellRemains("%s has what git obeys as it goes on: %s; remove it before you call git", named(file), what)
	} else {
		r.tellRenamed("%s had what git would have obeyed as it goes on: %s; it is %s now", named(file), what, named(refused))
	}
}
