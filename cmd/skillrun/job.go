package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/scan"
	"skillrun/policy/skill"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// job is one run as far as it is known before anything starts: what the
// command line, the files and the user's answers come to. run, explain and
// profile share it, so that explain tells what run does.
type job struct {
	host      *profiles.Host
	cwd       string
	workspace string
	skill     *loadedSkill // nil without --skill
	set       *policy.Set
	findings  []policy.Finding
	preset    *policy.Preset
	approve   policy.Approve
	terms     []policy.Term // of answers for good
	unasked   bool          // approve is none by the preset or a configuration
	strict    bool
	fresh     bool // no caches of earlier runs, and none for later ones
	allowGaps []string
	memory    *memory  // what the user said before; nil if nothing
	unsettled error    // why the skill may yet become another than the approved one
	argv      []string // as the command will get it
	mounts    []policy.Mount
	decisive  []string // files that say what runs may do
	manifest  string   // of --manifest, absolute; "" for none
	vars      variables
	verbose   bool
	session   *sessionRun // nil outside of an agent's session
	// ownOutput says that somebody set a limit of output other than the
	// preset's, which is no reason to put pipes in the place of a terminal.
	ownOutput bool
	// consents are the answers that this run rests on, for the record.
	consents []*audit.Grant
	recalled bool           // an earlier run's plan is this one's
	ends     time.Time      // of the answer that was kept, zero for never
	accepted []string       // keys of confirm entries that the user accepted
	given    []policy.Entry // grants in answer to a question
	// deletes are the directories that the command names to be deleted; nil in a
	// session, which has asked of them.
	deletes func() []string
}

// policyFlags are the flags of run, explain and profile that decide rights.
func policyFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "skill", Usage: "directory `DIR` of the skill whose manifest decides"},
		&cli.StringFlag{Name: "manifest", Usage: "use the manifest `FILE` instead of a skill's"},
		&cli.StringFlag{Name: "workspace", Usage: "directory `DIR` that the run works in (default: top of the git work tree, else the current directory)"},
		&cli.StringSliceFlag{Name: "grant", Usage: "allow `CAP[:SCOPE]` beyond the manifest, such as filesystem.read:~/data, unix:/run/x.sock or listen:8080"},
		&cli.StringFlag{Name: "approve", Usage: "`HOW` to answer what the manifest wants confirmed: ask (on the terminal; the default), declared (yes to all), none (no to all, and to what was allowed for good)"},
		&cli.StringFlag{Name: "preset", Usage: "use the settings `NAME`: standard (the default), paranoid, power-user or ci"},
		&cli.StringSliceFlag{Name: "mount", Usage: "give the run another directory, `ROLE=DIR[:ro|rw]`, to read (the default) or to change"},
		&cli.StringSliceFlag{Name: "allow-gap", Usage: "run although `CLAUSE` cannot be enforced here; the refusal and --receipt name clauses"},
		&cli.BoolFlag{Name: "fresh", Usage: "begin with empty caches, and keep none for later runs"},
		&cli.BoolFlag{Name: "strict", Usage: "refuse to run unless the kernel itself holds every clause"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say what is being done"},
	}, limitFlags()...)
}

// answers are what the user said since the command line was given.
type answers struct {
	accepted []string // keys of confirm entries
	grants   []policy.Entry
	lasting  string // of the grants: "once" or "version"
	ends     time.Time
}

// newJob brings together what has a say.
func newJob(c *cli.Context, command []string, more answers) (*job, error) {
	j := &job{argv: command}
	j.deletes = sync.OnceValue(j.toDelete)
	// An empty value is a variable that the caller forgot to set, and not the
	// same as no flag.
	for _, name := range [...]string{"skill", "manifest", "workspace", "approve", "preset", "report", "path", "host", "env"} {
		if c.IsSet(name) && c.String(name) == "" {
			return nil, usage(fmt.Errorf("--%s: empty", name))
		}
	}
	var err error
	if j.cwd, err = os.Getwd(); err != nil {
		return nil, withHint{fmt.Errorf("current directory: %w", err), "it was removed, or a directory above it is closed to you: change to another one"}
	}
	j.host = thisHost()
	if j.vars, err = readVariables(j.host); err != nil {
		return nil, err
	}
	j.verbose = c.Bool("verbose") || j.vars.verbose
	in := policy.Input{Tier: policy.Approved} // without a skill, the user's own word
	skillDir := ""
	home := j.host.Home // no shell but bash does it after "="
	if dir := ofHome(c.String("skill"), home); dir != "" {
		if j.skill, err = loadSkill(dir); err != nil {
			return nil, err
		}
		skillDir = j.skill.Dir
		in.Documents = j.skill.documents
		j.findings = append(j.findings, j.skill.findings...)
	}
	if file := ofHome(c.String("manifest"), home); file != "" {
		if j.skill != nil {
			return nil, usage(errors.New("--manifest and --skill: take one"))
		}
		d, err := readManifest(file)
		if err != nil {
			return nil, err
		}
		in.Documents = append(in.Documents, d)
		j.manifest = absolute(file, j.cwd)
	}
	if j.workspace, err = findWorkspace(j.host, j.cwd, ofHome(c.String("workspace"), home)); err != nil {
		return nil, err
	}
	if file := j.manifest; file != "" {
		if err := notLed(j.host, j.workspace, "--manifest ", file); err != nil {
			return nil, err
		}
	}
	if j.skill != nil {
		given := absolute(j.skill.Given, j.cwd)
		if err := notLed(j.host, j.workspace, "--skill ", given); err != nil {
			return nil, err
		}
		if at, err := j.host.Resolve(given); err != nil || at != j.skill.Dir {
			return nil, fmt.Errorf("--skill %s: leads elsewhere than a moment ago", quote(given))
		}
		if err := j.recall(); err != nil {
			return nil, err
		}
		in.Tier = j.skill.tier
	}
	config, err := loadConfiguration(j.host, j.workspace, skillDir)
	if err != nil {
		return nil, err
	}
	if err := j.settings(c, config, &in); err != nil {
		return nil, err
	}
	j.accepted, j.given, j.ends = more.accepted, more.grants, more.ends
	in.Grants = append(in.Grants, more.grants...)
	in.Accepted = more.accepted
	if err := j.addRemembered(&in); err != nil {
		return nil, err
	}
	if err := j.compose(in); err != nil {
		return nil, err
	}
	j.consented("terminal", more.lasting, more.grants)
	j.argv, err = j.skillScript(command)
	return j, err
}

// addRemembered adds what the user said before. Who says none now means that, too; a preset
// does not.
func (j *job) addRemembered(in *policy.Input) error {
	m := j.memory
	if !m.holds() || j.approve == policy.ApproveNone && !j.unasked {
		return nil
	}
	in.Accepted, in.Hosts = append(in.Accepted, m.record.Accepted...), m.record.Hosts
	for _, g := range m.record.Grants {
		e, err := policy.ParseGrant(g, "approval")
		if err != nil {
			return err
		}
		in.Grants = append(in.Grants, e)
	}
	return nil
}

// compose makes the Set, with the hosts that the skill's text names where it needs them.
func (j *job) compose(in policy.Input) error {
	set, findings, err := policy.Compose(in)
	if err == nil && len(in.Hosts) == 0 && j.skill != nil && set.NeedsHosts() {
		var all bool
		if in.Hosts, all = scan.Hosts(os.DirFS(j.skill.Dir)); !all {
			what := "those of the rest are not granted, unless its manifest names them"
			if len(in.Hosts) == 0 {
				what = "none was found, so that any public host is meant, unless its manifest names some"
			}
			j.findings = append(j.findings, policy.Finding{What: "the skill has more text than is read for the hosts that it names: " + what})
		}
		set, findings, err = policy.Compose(in)
	}
	if errors.Is(err, policy.ErrUntrusted) && in.Tier <= policy.Untrusted && j.skill != nil {
		err = withHint{err, "to approve this version of it: skillrun grants promote " + typed(j.skill.Dir, "DIR")}
	}
	if err != nil {
		return err
	}
	j.set, j.findings = set, append(j.findings, findings...)
	now := time.Now()
	for _, e := range append(set.Entries(), set.Grants()...) {
		if why := e.Lapsed(now); why != "" {
			j.findings = append(j.findings, policy.Finding{Pos: e.Pos, What: e.Capability + " does not count now: " + why})
		}
	}
	j.ownOutput = j.ownOutput || set.Limits.Output != j.preset.Limits.Output
	return nil
}

// settings takes each setting from the strongest that names it: flags, the
// user's configuration, the system's, the preset. Variables narrow the result.
func (j *job) settings(c *cli.Context, config *configuration, in *policy.Input) (err error) {
	preset := c.String("preset")
	if config.flagged = preset != ""; !config.flagged {
		preset = config.preset()
	}
	if j.preset, err = policy.FindPreset(preset); err != nil {
		return usage(err)
	}
	j.approve = config.approve(j.preset)
	if v := c.String("approve"); v != "" {
		if j.approve, err = policy.ParseApprove(v); err != nil {
			return usage(err)
		}
	}
	if j.vars.noApprove {
		j.approve = policy.ApproveNone
	}
	j.unasked = j.approve == policy.ApproveNone && !c.IsSet("approve") && !j.vars.noApprove
	j.terms = config.approvals()
	j.fresh = c.Bool("fresh") || config.fresh(j.preset)
	j.strict = c.Bool("strict") || j.vars.strict || config.strict(j.preset)
	for _, g := range c.StringSlice("allow-gap") {
		if err := policy.CheckGap(g); err != nil {
			return usage(fmt.Errorf("--allow-gap: %w", err))
		}
	}
	j.allowGaps = append(append(c.StringSlice("allow-gap"), config.allowGaps()...), j.preset.GapNames()...)
	for _, g := range c.StringSlice("grant") {
		e, err := policy.ParseGrant(g, "--grant")
		if err != nil {
			return usage(err)
		}
		switch to, alone := j.ledOut(&e); {
		case alone:
			j.findings = append(j.findings, policy.Finding{What: fmt.Sprintf("--grant %s is of the link alone, and not of %s, to which it leads", named(g), quote(to))})
		case to != "":
			return usage(fmt.Errorf("--grant %s: a link that a run may have made leads to %s: grant that by its name", named(g), quote(to)))
		}
		if j.absent(&e) {
			j.findings = append(j.findings, policy.Finding{What: fmt.Sprintf("--grant %s: nothing is there now, and what comes there is meant", named(g))})
		}
		in.Grants = append(in.Grants, e)
	}
	for _, e := range config.grants(j.skill, j.places()) {
		if to, alone := j.ledOut(&e); to != "" && !alone {
			j.findings = append(j.findings, policy.Finding{Pos: e.Pos, What: fmt.Sprintf("%s is not granted: a link that a run may have made leads to %s", e.Capability, quote(to))})
		}
		in.Grants = append(in.Grants, e)
	}
	for _, m := range c.StringSlice("mount") {
		mount, err := parseMount(m, j.host.Home)
		if err != nil {
			return usage(err)
		}
		j.mounts = append(j.mounts, mount)
	}
	limits, err := flagLimits(c)
	if err != nil {
		return err
	}
	j.ownOutput = limits.Output != 0
	in.Preset, in.Approve = j.preset, j.approve
	in.Limits = limits.Else(config.limits())
	in.Ceilings, in.Narrowings, in.Floors = config.ceilings, config.narrowings, config.floors()
	j.decisive = config.decisive()
	if j.manifest != "" { // which says what the next launch may, too
		j.decisive = append(j.decisive, filepath.Clean(j.manifest))
	}
	if j.vars.narrowing != nil {
		in.Narrowings = append(in.Narrowings, j.vars.narrowing)
	}
	return nil
}

// absent says whether a grant of files names one that is not there, as a name
// with a slip in it does. What the run is to make need only have a place.
func (j *job) absent(e *policy.Entry) bool {
	group, right, _ := strings.Cut(e.Capability, ".")
	if group != "filesystem" && group != "source_code" || len(e.Constraints.Scope) != 1 {
		return false
	}
	file := j.granted(e)
	if strings.HasPrefix(file, "~") {
		return true // no shell that knows ~user has seen it
	}
	if strings.ContainsAny(file, "*?") {
		return false
	}
	if right == "write" {
		file = filepath.Dir(filepath.Clean(file))
	}
	look := os.Stat
	if right == "delete" {
		look = os.Lstat
	}
	_, err := look(file)
	return errors.Is(err, fs.ErrNotExist)
}

// granted is the file of a grant with one.
func (j *job) granted(e *policy.Entry) string {
	file := ofHome(e.Constraints.Scope[0].Value, j.host.Home)
	if strings.HasPrefix(file, "~") {
		return file
	}
	return absolute(file, j.workspace)
}

// ledOut says where a grant of a file in the workspace leads that a link there
// takes out of it, "" for any other; alone, that the link itself is granted.
func (j *job) ledOut(e *policy.Entry) (to string, alone bool) {
	group := "unix"
	if c := policy.Lookup(e.Capability); c != nil {
		group = c.Group
	}
	if !slices.Contains([]string{"Storage", "Secrets", "Code Repository", "unix"}, group) || len(e.Constraints.Scope) != 1 {
		return "", false
	}
	file := j.granted(e)
	workspace, err := j.host.Resolve(j.workspace)
	if !filepath.IsAbs(file) || strings.ContainsAny(file, "*?") || err != nil {
		return "", false
	}
	file = filepath.Clean(file)
	to = policy.LedOut(j.host, workspace, file)
	return to, to != "" && (e.Capability == "filesystem.delete" || e.Capability == "source_code.delete") && policy.LedOut(j.host, workspace, filepath.Dir(file)) == ""
}

// firm says that the limits of the run as a whole are to be the kernel's: a
// strict preset has none but such, and somebody who sets one means it. A
// preset's stop runaways, which looking at the run does as well.
func (j *job) firm() bool {
	l, preset := j.set.Limits, j.preset.Limits
	return j.strict || l.Memory != preset.Memory || l.Processes != preset.Processes || l.CPU != preset.CPU
}

// readManifest reads the file of --manifest. That flag is the user's word, so
// the file may lie anywhere.
func readManifest(file string) (*policy.Document, error) {
	if strings.EqualFold(filepath.Ext(file), ".md") {
		return nil, usage(fmt.Errorf("--manifest %s: a header is read of a skill: name its directory with --skill", quote(file)))
	}
	data, err := readNamed(file)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return policy.ParseManifest(file, data)
}

// readNamed reads a file that the command line names, which may be a pipe: up to
// what any such file needs, since a device has no end.
func readNamed(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(data) > maxConfig {
		err = fmt.Errorf("%s: more than %d bytes", quote(file), maxConfig)
	}
	return data, err
}

// undeclared says what a run without a manifest gets.
func (j *job) undeclared() string {
	who := "no manifest: the run"
	if j.skill != nil && j.skill.tier <= policy.Untrusted && !j.memory.holds() {
		what := "no manifest"
		if !slices.ContainsFunc(j.skill.Files, func(f policy.File) bool { return strings.EqualFold(f.Name, "SKILL.md") }) {
			what = quote(j.skill.Dir) + " has no SKILL.md and no manifest"
		}
		who = what + ", and the skill is not an approved one (" + j.skill.why + "): it"
	}
	writes := func(e policy.Entry) bool { return e.Capability == "filesystem.write" }
	rights := "read the workspace and run programs"
	switch {
	case slices.ContainsFunc(j.set.Entries(), func(e policy.Entry) bool { return writes(e) && e.Effect == policy.Allow }):
		rights = "read and write the workspace and run programs"
	case j.approve == policy.ApproveAsk && slices.ContainsFunc(j.pending(), func(q policy.Question) bool { return writes(q.Entry) }):
		rights += ", and writing is asked"
	}
	rest := "no network, no secrets"
	if len(j.set.Grants()) > 0 {
		rest = "beyond that only what is granted by name"
	}
	return who + " may " + rights + "; " + rest
}

// profile lowers the job's rights to a Profile for this machine.
func (j *job) profile() (*profiles.Profile, error) {
	in := j.inputs()
	// What was looked at before it starts could be another's by then: another run's.
	in.Approved = j.approved()
	return j.set.Profile(j.host, in)
}

// approved gives the directories of skills that were approved, or that the user
// installed.
func (j *job) approved() (dirs []string) {
	for _, state := range states(j.host) {
		dirs = append(dirs, skill.Approved(j.host, filepath.Join(state, "approvals"))...)
	}
	for _, root := range skill.Roots() {
		if root.Scope == skill.User { // what is there is approved
			dirs = append(dirs, filepath.Join(j.places().Home, root.Path))
		}
	}
	return dirs
}

func (j *job) inputs() policy.Inputs {
	in := policy.Inputs{Workspace: j.workspace, Cwd: j.cwd, Now: time.Now(), Mounts: j.mounts, Settings: append(slices.Clip(j.decisive), listed(j.host, manifestsFile)...)}
	in.Program, in.Script = policy.Words(j.argv)
	if a := j.host.Account; a != "" && a != j.host.Home {
		// Launches that have the account's HOME keep caches there.
		in.Settings = append(slices.Clip(in.Settings), filepath.Join(a, ".cache", "skillrun"))
	}
	if len(j.host.Mounts) > 0 { // what [sandbox.Guarded] keeps from runs has its second names here
		held := append(sandbox.Shared(), j.caches())
		for _, dir := range held {
			for _, alias := range j.host.Aliases(dir) {
				if !slices.Contains(held, alias) { // one /tmp by two names
					in.Settings = append(slices.Clip(in.Settings), alias)
				}
			}
		}
	}
	if j.skill != nil {
		in.Skill, in.Plugin = j.skill.Dir, j.skill.Plugin
	}
	return in
}

// thisHost describes this machine to the pure packages.
func thisHost() *profiles.Host {
	environ := os.Environ()
	h := &profiles.Host{
		OS: runtime.GOOS, UID: os.Geteuid(), CaseSensitive: runtime.GOOS != "darwin",
		Env: make(map[string]string, len(environ)), FS: newSnapshot(), Mounts: mounts(), Home: os.Getenv("HOME"),
	}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			h.Env[name] = value
		}
	}
	if _, set := h.Env["PATH"]; !set {
		h.Env["PATH"] = "/bin:/usr/bin" // as execvp(3) has it
	}
	h.User = strconv.Itoa(h.UID)
	if u, err := user.LookupId(h.User); err == nil {
		// Not USER, which a project can set: files are granted by this name.
		if u.Username != "" && !strings.Contains(u.Username, "/") {
			h.User = u.Username
		}
		if filepath.IsAbs(u.HomeDir) {
			h.Account = filepath.Clean(u.HomeDir)
		}
	}
	if !filepath.IsAbs(h.Home) {
		h.Home = h.Account
	}
	h.Home = filepath.Clean(h.Home)
	h.Theirs = h.UID == 0 && h.Home != h.Account && !onlyRoots(h, h.Home)
	for _, state := range states(h) {
		h.WrittenLists = append(h.WrittenLists, filepath.Join(state, writtenFile))
	}
	for _, tree := range listed(h, writtenFile) {
		if profiles.OfSystem(tree) {
			h.WrittenOfSystem = append(h.WrittenOfSystem, tree)
		}
	}
	return h
}

func parseMount(s, home string) (policy.Mount, error) {
	role, rest, ok := strings.Cut(s, "=")
	dir, mode := rest, "ro"
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		dir, mode = rest[:i], rest[i+1:]
	}
	if !ok || role == "" || dir == "" || mode != "ro" && mode != "rw" {
		return policy.Mount{}, fmt.Errorf("--mount %s: want ROLE=DIR, ROLE=DIR:ro or ROLE=DIR:rw", quote(s))
	}
	abs, err := filepath.Abs(ofHome(dir, home)) // no shell but bash does it there
	if err != nil {
		return policy.Mount{}, err
	}
	return policy.Mount{Role: role, Dir: abs, Write: mode == "rw"}, nil
}

// absolute gives the path that a name means in a directory.
func absolute(name, dir string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// ofHome gives the path that a leading "~" means.
func ofHome(path, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return home + path[1:]
	}
	return path
}
