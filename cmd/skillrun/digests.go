package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"skillrun/audit"
	"skillrun/policy/skill"
)

// warmDigests are those that need no reading of files.
type warmDigests struct{ tree, interpreter, script audit.Digest }

// lookAtSkill looks at the skill's tree, where that was not digested, beside what
// gives the plan: the looks take about as long. Nothing is asked any more.
func (j *job) lookAtSkill() (look func() *skill.Look) {
	if j.skill == nil || j.skill.tree != [32]byte{} {
		return nil
	}
	look = sync.OnceValue(func() *skill.Look { return skill.LookAt(j.skill.Dir, time.Now()) })
	go look()
	return look
}

// lookUp asks the cache for digests, and looks for rebases that are going on.
// What it does not have is computed while the command runs.
func (r *recorder) lookUp(look func() *skill.Look) {
	defer close(r.known)
	r.readTodos()
	var cold []string
	tree := ""
	file := func(path string) (sum audit.Digest) {
		if path == "" {
			return sum
		}
		sum, ok := r.cache.Cached(path)
		if !ok {
			cold = append(cold, path)
		}
		return sum
	}
	r.warm.interpreter, r.warm.script = file(r.interpreter), file(r.script)
	if look != nil {
		sum, ok, err := look().Cached(r.cache)
		if ok && err == nil {
			r.warm.tree = sum
		} else {
			tree = r.job.skill.Dir
		}
	} else if sk := r.job.skill; sk != nil {
		r.warm.tree = sk.tree
	}
	if len(cold) > 0 || tree != "" {
		r.cold = digest(r.cache, tree, cold)
	}
}

// digesting computes what was not cached while the command runs.
type digesting struct {
	done   chan struct{}
	cancel context.CancelFunc
	tree   audit.Digest
	path   map[string]audit.Digest
}

// digest starts computing the digest of a skill's tree and of files, those
// that the cache does not have.
func digest(cache *audit.Digests, tree string, files []string) *digesting {
	ctx, cancel := context.WithCancel(context.Background())
	d := &digesting{done: make(chan struct{}), cancel: cancel, path: map[string]audit.Digest{}}
	go func() {
		defer close(d.done)
		for _, f := range files {
			if sum, err := cache.File(ctx, f); err == nil {
				d.path[f] = sum
			}
		}
		if tree != "" {
			if entries, err := skill.Tree(ctx, tree, cache, time.Now()); err == nil {
				d.tree = audit.Digest(skill.Digest(entries))
			} else if ctx.Err() == nil {
				say("%s", fmt.Errorf("cannot digest the skill: %w", err))
			}
		}
	}()
	return d
}

// wait gives the work a moment to end after the command has. It is false where it
// does not end although it should: a file system does not answer.
func (d *digesting) wait() bool {
	for _, patience := range [...]time.Duration{10 * time.Second, time.Second} {
		select {
		case <-d.done:
			return true
		case <-time.After(patience):
			d.cancel()
		}
	}
	return false
}
