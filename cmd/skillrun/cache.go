package main

import (
	"encoding/hex"
	"path/filepath"

	"skillrun/policy"
	"skillrun/profiles"
)

// caches is the directory of the caches that are kept from run to run.
func (j *job) caches() string {
	dir := j.host.Env["XDG_CACHE_HOME"]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(j.host.Home, ".cache")
	}
	if dir = filepath.Join(dir, "skillrun"); !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}

// cache names the caches that a run with a profile shares with others, "" for
// none. What one leaves there, those after it use: so they all have the same
// rights, and may leave as much in the workspace, where their user looks.
func (j *job) cache(p *profiles.Profile) string {
	const leave = profiles.Write | profiles.Create
	caches := j.caches()
	if j.fresh || caches == "" || p.Workspace == "" || !p.Allows(filepath.Join(p.Workspace, "file"), leave).Allowed ||
		enclosing(j.host, caches, p.Workspace, p.Skill) != "" {
		return ""
	}
	rights := *p
	rights.Limits = profiles.Limits{} // an agent's commands have each their own
	sum := rights.Hash()
	return hex.EncodeToString(sum[:16])
}

// uncached says why a run has caches of its own.
func (j *job) uncached(err error) {
	if j.verbose {
		say("caches are this run's alone: %s", policy.Escape(err.Error()))
	}
}
