package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"skillrun/audit/private"
	"skillrun/policy"
	"skillrun/policy/skill"
	"skillrun/profiles"
)

// systemConfig is the directory of the machine's configuration; packagers set
// it with -X main.systemConfig=DIR.
var systemConfig = "/etc/skillrun"

// narrowingFile is what a project may say, from the top of the workspace: it
// has a manifest's form and only narrows.
const narrowingFile = ".skillrun/policy.toml"

const maxConfig = 1 << 20

// configuration is what files say besides the skill's own.
type configuration struct {
	// files are the user's configuration, what the account's says besides, then the
	// system's in the order of their names: what is said first counts.
	files      []*policy.Config
	system     int // files from this index on are the system's
	ceilings   []*policy.Document
	narrowings []*policy.Document
	// account is the configuration of the account's own home, where HOME or
	// XDG_CONFIG_HOME lead to another: a project can set these, so what it denies
	// and bounds counts all the same.
	account *policy.Config
	// flagged says that a flag named the preset: files make that no looser.
	flagged bool
	// named are the files that files name, wherever those lie.
	named []string
}

// decisive are the files and directories that say what runs may do, besides the
// user's own directory, which is closed to all.
func (c *configuration) decisive() []string { return append(slices.Clip(c.named), systemConfig) }

// configDir is the directory of the user's configuration, "" if there is none.
func configDir(h *profiles.Host) string {
	dir := h.Env["XDG_CONFIG_HOME"]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(h.Home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "skillrun")
}

// usualConfig is the directory of the user's configuration without variables, "" if
// that is not known.
func usualConfig(h *profiles.Host) string {
	if h.Account == "" {
		return ""
	}
	return filepath.Join(h.Account, ".config", "skillrun")
}

// loadConfiguration reads the configuration files that are there. Any fault in
// one, or any doubt about who wrote it, is an error: nothing runs.
func loadConfiguration(h *profiles.Host, workspace, skill string) (*configuration, error) {
	c := &configuration{}
	if dir := configDir(h); dir != "" {
		if err := c.add(h, filepath.Join(dir, "config.toml"), true, workspace, skill); err != nil {
			return nil, err
		}
		if len(c.files) > 0 {
			if tree := strangersTree(h, dir, usualConfig(h)); tree != "" {
				return nil, withHint{
					fmt.Errorf("configuration %s lies inside %s, and a project may have set the variable that leads there", quote(filepath.Join(dir, "config.toml")), quote(tree)),
					"keep it outside of work trees and packages, or in ~/.config of the account's home",
				}
			}
			if h.UID == 0 && !onlyRoots(h, dir) {
				return nil, withHint{
					fmt.Errorf("configuration %s lies where another user could put what a run of root's wrote", quote(filepath.Join(dir, "config.toml"))),
					"keep it in ~/.config of root's own home, with HOME and XDG_CONFIG_HOME not set to another's",
				}
			}
		}
	}
	if dir := usualConfig(h); dir != "" && dir != configDir(h) {
		own := &configuration{}
		// What this user may not read is another's: root's, for who is called so in a
		// user namespace. What a file of his own names he has to be able to read.
		err := own.add(h, filepath.Join(dir, "config.toml"), true, workspace, skill)
		if err != nil && (len(own.files) > 0 || !errors.Is(err, fs.ErrPermission)) {
			return nil, err
		}
		if len(own.files) > 0 {
			c.account, c.ceilings, c.named = own.files[0], append(c.ceilings, own.ceilings...), append(c.named, own.named...)
			// What another file does not say it says, but for what lets runs do more: that
			// the other is not there makes nothing looser.
			rest := *c.account
			rest.Grants, rest.Skills, rest.AllowGaps, rest.Floors, rest.Limits = nil, nil, nil, nil, profiles.Limits{}
			c.files = append(c.files, &rest)
		}
	}
	c.system = len(c.files)
	entries, err := os.ReadDir(systemConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("system configuration: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".toml") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := c.add(h, filepath.Join(systemConfig, e.Name()), false, workspace, skill); err != nil {
			return nil, err
		}
	}
	return c, c.narrow(workspace)
}

// strangersTree gives the work tree that a directory lies in, other than one that the
// account's home lies in, or the package, by names that places for packages have: it may
// have come there with them. It is "" for the usual directory, whatever that lies in.
func strangersTree(h *profiles.Host, dir, usual string) string {
	if dir == usual {
		return ""
	}
	real := func(name string) string {
		if at, err := h.ResolvePrefix(name); err == nil {
			return at
		}
		return name
	}
	home := real(cmp.Or(h.Account, h.Home))
	if dir = real(dir); usual != "" && dir == real(usual) {
		return ""
	}
	for at := dir; at != "/" && !profiles.Within(at, home); at = filepath.Dir(at) {
		if at == "/usr" || isPackages(at) {
			return at
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
	}
	return ""
}

// isPackages says whether a directory is called as those are in which tools keep packages.
func isPackages(dir string) bool {
	above, name := filepath.Split(dir)
	switch filepath.Base(above) + "/" + name {
	case "pkg/mod", "registry/src", "git/checkouts":
		return true
	}
	switch name {
	case "site-packages", "dist-packages", "node_modules", "gems":
		return true
	}
	return strings.Contains(name, "@v") // a module of Go, wherever GOMODCACHE is
}

// add reads one configuration file, if it is there, and the ceilings it names.
func (c *configuration) add(h *profiles.Host, file string, user bool, workspace, skill string) error {
	data, err := readConfig(h, file, user, workspace, skill)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	one, err := policy.ParseConfig(file, data)
	if err != nil {
		return err
	}
	c.files = append(c.files, one)
	for _, t := range one.Ceilings {
		path := beside(h, file, t.Value)
		data, err := readConfig(h, path, user, workspace, skill)
		if err != nil {
			return fmt.Errorf("%s: ceiling: %w", t.Pos, err)
		}
		d, err := policy.ParseCeiling(path, data, one.Configured)
		if err != nil {
			return err
		}
		c.ceilings, c.named = append(c.ceilings, d), append(c.named, path)
	}
	for _, s := range one.Skills {
		if filepath.IsAbs(s.Name) { // a skill with grants, whose files say what is done with them
			c.named = append(c.named, filepath.Clean(s.Name))
		}
	}
	if t := one.Session.Defaults; t.Value != "" {
		c.named = append(c.named, beside(h, file, t.Value))
	}
	for _, word := range slices.Concat(one.Session.AskCommand, one.Session.Guard, one.Session.Scope) {
		if filepath.IsAbs(word) { // a program, or its script
			c.named = append(c.named, filepath.Clean(word))
		}
	}
	return nil
}

// beside gives the whole path of a file that a configuration file names: below the
// home directory ("~/"), or beside that file.
func beside(h *profiles.Host, file, path string) string {
	return filepath.Clean(absolute(ofHome(path, h.Home), filepath.Dir(file)))
}

// readConfig reads a file that decides rights: one that neither a project nor a
// skill can have written.
func readConfig(h *profiles.Host, file string, user bool, workspace, skill string) ([]byte, error) {
	data, err := private.ReadTrusted(file, user, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("configuration %w", err)
	}
	if tree := enclosing(h, file, workspace, skill); tree != "" {
		return nil, fmt.Errorf("configuration %s lies inside %s, which the run or its skill could change", quote(file), quote(tree))
	}
	if tree := ofCaches(h, file); tree != "" {
		return nil, fmt.Errorf("configuration %s lies inside %s, which runs could change", quote(file), quote(tree))
	}
	return data, nil
}

// enclosing gives the first of the trees that a file or directory lies in, ""
// if it is in none.
func enclosing(h *profiles.Host, path string, trees ...string) string {
	if resolved, err := h.ResolvePrefix(path); err == nil {
		path = resolved
	}
	for _, tree := range trees {
		if profiles.Within(tree, path) {
			return tree
		}
	}
	return ""
}

// narrow reads what the project says. Whoever wrote it, it can only narrow; a
// file that cannot be read might have. Where a link leads a run may write, unlike
// in .skillrun.
func (c *configuration) narrow(workspace string) error {
	if workspace == "" {
		return nil
	}
	file := filepath.Join(workspace, narrowingFile)
	for _, name := range [...]string{filepath.Dir(file), file} {
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("workspace policy: %s is a symbolic link, and a run may change what it leads to", quote(name))
		}
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("workspace policy: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
		return fmt.Errorf("workspace policy %s: not a regular file of at most %d bytes", quote(file), maxConfig)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return fmt.Errorf("workspace policy: %w", err)
	}
	d, err := policy.ParseManifest(file, data)
	if err != nil {
		return err
	}
	if len(d.Environment)+len(d.Toolchains) > 0 {
		return fmt.Errorf("%s: a workspace policy only narrows: it has no environment or toolchains", quote(file))
	}
	c.narrowings = append(c.narrowings, d)
	return nil
}

// preset is the first that a file names.
func (c *configuration) preset() string {
	for _, f := range c.files {
		if f.Preset != "" {
			return f.Preset
		}
	}
	return "standard"
}

// approve is the first that a file names, else the preset's.
func (c *configuration) approve(preset *policy.Preset) policy.Approve {
	approve := preset.Approve
	for _, f := range c.files {
		if f.HasApprove {
			approve = f.Approve
			break
		}
	}
	if a := c.account; a != nil && a.HasApprove {
		approve = min(approve, a.Approve)
	}
	if c.flagged {
		approve = min(approve, preset.Approve)
	}
	return approve
}

// approvals are how long an answer for good holds: all bound it.
func (c *configuration) approvals() (terms []policy.Term) {
	for _, f := range c.files {
		terms = append(terms, f.Approvals...)
	}
	return terms
}

func (c *configuration) strict(preset *policy.Preset) bool {
	return c.choice(func(f *policy.Config) policy.Choice { return f.Strict }, preset.Strict)
}

func (c *configuration) fresh(preset *policy.Preset) bool {
	return c.choice(func(f *policy.Config) policy.Choice { return f.Fresh }, preset.Fresh)
}

// choice is the first that a file makes, else the preset's; the system's yes
// stays one, and that of a preset that a flag names.
func (c *configuration) choice(of func(*policy.Config) policy.Choice, preset bool) bool {
	if c.flagged && preset {
		return true
	}
	for _, f := range append(slices.Clip(c.files[c.system:]), c.account) {
		if f != nil && of(f) == policy.Yes {
			return true
		}
	}
	for _, f := range c.files {
		if made := of(f); made != policy.Unset {
			return made == policy.Yes
		}
	}
	return preset
}

func (c *configuration) allowGaps() (gaps []string) {
	for _, f := range c.files {
		gaps = append(gaps, f.AllowGaps...)
	}
	return gaps
}

// grants are those for every run and those for this skill, if there is one.
func (c *configuration) grants(of *loadedSkill, places skill.Places) (grants []policy.Entry) {
	for _, f := range c.files {
		grants = append(grants, f.Grants...)
	}
	if of != nil {
		grants = append(grants, c.skillGrants(of.Dir, of.placed, places)...)
	}
	return grants
}

// skillGrants are those for one skill: by its directory, or by the directory's
// name where the user installed it, as its tier by its place alone tells, and no
// other skill brought it along. What a skill calls itself has no part in it.
func (c *configuration) skillGrants(dir string, tier policy.Tier, places skill.Places) (grants []policy.Entry) {
	for _, f := range c.files {
		for _, s := range f.Skills {
			if s.Name == dir || s.Name == filepath.Base(dir) && tier >= policy.Approved && places.Around(dir) == "" {
				grants = append(grants, s.Grants...)
			}
		}
	}
	return grants
}

// limits are the user's. The system's and the account's are floors: nothing raises them.
func (c *configuration) limits() (l profiles.Limits) {
	for _, f := range c.files[:c.system] {
		l = l.Else(f.Limits)
	}
	return l
}

// floors are what all files deny, and the limits of the system and the account.
func (c *configuration) floors() (floors []*policy.Document) {
	add := func(f *policy.Config, limits bool) {
		d := policy.Document{File: f.File, Form: policy.TOML}
		if f.Floors != nil {
			d = *f.Floors
		}
		if limits {
			d.Limits = f.Limits
		}
		floors = append(floors, &d)
	}
	for i, f := range c.files {
		add(f, i >= c.system)
	}
	if c.account != nil {
		add(c.account, true)
	}
	return slices.Clip(floors)
}
