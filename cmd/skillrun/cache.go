package main

import (
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"skillrun/policy"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// caches is the directory of the caches that are kept from run to run, by this
// launcher or another: each guards it. The environment is asked for HOME alone.
func (j *job) caches() string {
	home, err := j.host.ResolvePrefix(j.host.Home)
	if err != nil {
		home = j.host.Home
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, ".cache", "skillrun")
}

// ofCaches gives the directory of all caches that a path lies in, of whatever HOME:
// who sets the variables that places are named by could send a launch there. It is
// "" for any other path.
func ofCaches(h *profiles.Host, path string) string {
	if resolved, err := h.ResolvePrefix(path); err == nil {
		path = resolved
	}
	for dir := path; dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if strings.HasSuffix(filepath.Dir(dir), "/.cache/skillrun") && sandbox.IsCache(filepath.Base(dir)) {
			return filepath.Dir(dir)
		}
	}
	return ""
}

// cache names the caches that a run with a profile shares with others, "" for
// none. What one leaves there, those after it use: so they all have the same
// rights, and may leave as much in the workspace, where their user looks. Where
// something of the user's own caches is granted or denied, a run's HOME has that.
// Rights is the hash of the profile without limits, which an agent's commands have
// each their own.
func (j *job) cache(p *profiles.Profile, rights [32]byte) string {
	const leave = profiles.Write | profiles.Create
	caches := j.caches()
	if j.fresh || caches == "" || !filepath.IsAbs(j.host.Env["HOME"]) || p.Workspace == "" || !slices.ContainsFunc(p.Paths, func(r profiles.PathRule) bool {
		return r.Tree && r.Access&leave == leave && (r.Path == p.Workspace || strings.HasPrefix(p.Workspace, strings.TrimSuffix(r.Path, "/")+"/"))
	}) ||
		enclosing(j.host, caches, p.Workspace, p.Skill, configDir(j.host)) != "" {
		return ""
	}
	state, err := stateDir(j.host)
	if err != nil || enclosing(j.host, state, caches) != "" || enclosing(j.host, caches, state) != "" {
		return ""
	}
	name := hex.EncodeToString(rights[:16])
	mine := filepath.Dir(caches) + "/"
	if slices.ContainsFunc(p.Denials, func(d profiles.Denial) bool {
		if d.Class == profiles.Control && d.Origin.Source != profiles.OfControlFiles {
			return false // of a link, which no cache is in
		}
		return d.Covers(filepath.Join(caches, name, "file")) || d.Match != "" && strings.HasPrefix(caches, strings.TrimSuffix(d.Path, "/")+"/")
	}) ||
		slices.ContainsFunc(p.Paths, func(r profiles.PathRule) bool { return strings.HasPrefix(r.Path, mine) && !builtIn(r.Origin.Source) }) {
		return ""
	}
	return name
}

// builtIn says of a rule's source that no link in HOME leads to what it grants.
func builtIn(source string) bool {
	return source == "built-in:base" || source == "built-in:toolchains"
}

// uncached says why a run has caches of its own.
func (j *job) uncached(err error) {
	if j.verbose {
		say("caches are this run's alone: %s", policy.Escape(err.Error()))
	}
}
