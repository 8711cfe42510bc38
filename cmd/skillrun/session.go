package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
	"skillrun/policy/session"
	"skillrun/profiles"
)

// decider is what decides about an agent's session, besides the session itself.
type decider struct {
	host      *profiles.Host
	vars      variables
	settings  session.Settings
	strict    bool
	fresh     bool
	allowGaps []string
	decisive  []string // files that say what runs may do
}

// errNoSession says that there is no session of that name, and nothing to make
// one with.
var errNoSession = errors.New("there is no such session (inside a run none can be reached)")

// newDecider brings together what has a say in the session with an ID. The
// workspace is the session's own; where there is no session yet it is found
// from project, a directory of the host's. c may be nil.
func newDecider(c *cli.Context, id, project string) (*decider, error) {
	d := &decider{host: thisHost()}
	var err error
	if d.vars, err = readVariables(d.host); err != nil {
		return nil, err
	}
	dir, err := stateDir(d.host)
	if err != nil {
		return nil, err
	}
	workspace, err := session.WorkspaceOf(dir, id)
	switch {
	case errors.Is(err, fs.ErrNotExist) && project == "":
		return nil, fmt.Errorf("session %s: %w", quote(id), errNoSession)
	case errors.Is(err, fs.ErrNotExist):
		if !filepath.IsAbs(project) {
			return nil, fmt.Errorf("project directory %s is not absolute", quote(project))
		}
		workspace, err = findWorkspace(d.host, project, "")
	}
	if err != nil {
		return nil, err
	}
	if tree := enclosing(d.host, dir, workspace); tree != "" {
		return nil, fmt.Errorf("state directory %s lies inside %s, which a run could change", quote(dir), quote(tree))
	}
	config, err := loadConfiguration(d.host, workspace, "")
	if err != nil {
		return nil, err
	}
	preset := config.preset()
	if c != nil && c.String("preset") != "" {
		preset = c.String("preset")
	}
	p, err := policy.FindPreset(preset)
	if err != nil {
		return nil, usage(err)
	}
	d.strict = d.vars.strict || config.strict(p)
	d.fresh = config.fresh(p)
	d.allowGaps = append(config.allowGaps(), p.GapNames()...)
	d.decisive = config.decisive()
	j := &job{host: d.host, cwd: workspace, workspace: workspace}
	places := j.places()
	home, err := d.host.ResolvePrefix(d.host.Home) // "~" is to commands what it is to their runs
	if err != nil {
		return nil, err
	}
	d.settings = session.Settings{
		Dir: dir, Workspace: workspace, Home: home, User: d.host.User, Places: places, Preset: p,
		Grants: config.grants(nil, places), Ceilings: config.ceilings, Narrowings: config.narrowings, Floors: config.floors(), Limits: config.limits(),
		Readable: readable(d.host),
		Remote:   func(dir, name string) (string, bool) { return policy.GitRemote(d.host, dir, name) },
		SkillGrants: func(dir string, tier policy.Tier) []policy.Entry {
			placed, _ := places.Trust(dir, nil)
			return config.skillGrants(dir, min(tier, placed), places)
		},
		Approvals: config.approvals(),
		Protected: func() *policy.Protected {
			return policy.NewProtected(d.host, workspace, append(append(j.approved(), listed(d.host, manifestsFile)...), append([]string{dir, configDir(d.host), filepath.Join(places.Home, ".config", "skillrun")}, d.decisive...)...)...)
		},
	}
	if d.vars.narrowing != nil {
		d.settings.Narrowings = append(d.settings.Narrowings, d.vars.narrowing)
	}
	if d.vars.noApprove || config.approve(p) == policy.ApproveNone {
		d.settings.Asker = session.DenyAll{}
	}
	return d, config.session(d.host, &d.settings)
}

// readable says of files whether every run may read them: of /proc what is about the
// machine, since what is about processes depends on the run's.
func readable(h *profiles.Host) func(string) bool {
	base := sync.OnceValue(func() *profiles.Profile { return &profiles.Profile{Paths: profiles.BaseReads(h)} })
	return func(path string) bool {
		if rest, ok := strings.CutPrefix(path, "/proc/"); ok && (rest == "" || rest[0] <= '9') {
			return false
		}
		return path != "/proc" && base().Allows(path, profiles.Read).Allowed
	}
}

// session adds what the [session] tables say: the first that names a setting
// counts, the user's before the system's.
func (c *configuration) session(h *profiles.Host, to *session.Settings) error {
	var ask, fails string
	risky := false
	for i, f := range c.files {
		s := &f.Session
		program := func(argv []string) *session.Command {
			return &session.Command{Argv: argv, Home: to.Places.Home, Deadline: s.Deadline}
		}
		if s.Defaults.Value != "" && to.Defaults == nil {
			path := beside(h, f.File, s.Defaults.Value)
			data, err := readConfig(h, path, i < c.system, to.Workspace, "")
			if err != nil {
				return fmt.Errorf("%s: session defaults: %w", s.Defaults.Pos, err)
			}
			if to.Defaults, err = policy.ParseDefaults(path, data); err != nil {
				return err
			}
			if to.Defaults == nil {
				to.Defaults = []policy.Entry{} // an empty list seeds nothing
			}
		}
		if ask == "" {
			ask = s.Ask
			switch {
			case to.Asker != nil:
			case ask == "deny":
				to.Asker = session.DenyAll{}
			case ask == "terminal":
				to.Asker = terminalAsker{}
			case ask == "command":
				to.Asker = program(s.AskCommand)
			}
		}
		if s.HasRisky && !risky {
			to.Risky, risky = s.Risky, true
		}
		if s.Guard != nil && to.Guard == nil {
			to.Guard = program(s.Guard)
		}
		if s.Scope != nil && to.Scope == nil {
			to.Scope = program(s.Scope)
		}
		if fails == "" {
			fails = s.ScopeFails
			to.ScopeMayFail = fails == "keep"
		}
		for _, dir := range s.Shared {
			resolved, err := h.Resolve(ofHome(dir, h.Home))
			if err != nil {
				return fmt.Errorf("shared directory: %w", err)
			}
			to.Shared = append(to.Shared, resolved)
		}
		if to.Undeclared == nil {
			to.Undeclared = s.Undeclared
		}
	}
	return nil
}

// terminalAsker asks on the terminal, which hosts whose agent draws on it do not
// want: it is for those that have none of their own.
type terminalAsker struct{}

// Ask shows what is wanted and takes one of the choices. No terminal is an
// error, and so a denial.
func (terminalAsker) Ask(_ context.Context, p session.Prompt) (session.Choice, error) {
	tty, closeTerminal, err := openTerminal()
	if err != nil {
		return session.No, errors.New("there is no terminal")
	}
	defer closeTerminal()
	return askChoice(tty, tty, &p)
}

func askChoice(r io.Reader, w io.Writer, p *session.Prompt) (session.Choice, error) {
	who := "the agent"
	for i, name := range p.Skills {
		who += [...]string{", with ", ", "}[min(i, 1)] + named(name)
	}
	lines := []string{fmt.Sprintf("skillrun: %s wants to use %s:", policy.Row(policy.Escape(who)), policy.Row(policy.Escape(named(p.Tool))))}
	if p.Input != "" {
		lines = append(lines, "  > "+policy.Row(policy.Escape(p.Input)))
	}
	for _, n := range p.Needs {
		lines = append(lines, fmt.Sprintf("  %-10s %s", n.Level, shown(strings.TrimSpace(n.Capability+" "+named(n.Target))+" - "+n.Reason)))
	}
	for _, n := range p.Notes {
		lines = append(lines, fmt.Sprintf("  %-10s %s", "note", shown(n)))
	}
	in := bufio.NewReader(r)
	if err := page(w, in, lines); err != nil {
		return session.No, err
	}
	for {
		fmt.Fprintf(w, "allow? [%s]: ", strings.Join(p.Choices, "/"))
		text, err := in.ReadString('\n')
		if err != nil {
			return session.No, errors.New("no answer was given")
		}
		word := strings.ToLower(strings.TrimSpace(text))
		for _, offered := range p.Choices {
			if c, ok := session.ParseChoice(offered); ok && word != "" && (word == offered || word == offered[:1]) {
				return c, nil
			}
		}
	}
}

// shown is text for the terminal that was escaped before. If it was not, it is
// now.
func shown(text string) string {
	if escaped := policy.Escape(text); strings.ReplaceAll(escaped, `\\`, `\`) != text {
		text = escaped
	}
	return policy.Row(text)
}

// maxEvent bounds what decide reads: 1 MiB, as all JSON of ours.
const maxEvent = 1 << 20

func readEvent(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
	if err == nil && len(data) > maxEvent {
		err = fmt.Errorf("more than %d bytes", maxEvent)
	}
	return data, err
}
