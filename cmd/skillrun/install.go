package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"skillrun/policy/hook"
)

func installHookCommand() *cli.Command {
	return &cli.Command{
		Name:      "install-hook",
		Usage:     "have an agent ask skillrun before it uses a tool",
		UsageText: "skillrun install-hook [--user|--project] [--dry-run] AGENT",
		Flags:     installFlags(),
		Action:    func(c *cli.Context) error { return register(c, true) },
	}
}

func uninstallHookCommand() *cli.Command {
	return &cli.Command{
		Name:      "uninstall-hook",
		Usage:     "take skillrun out of an agent's settings again",
		UsageText: "skillrun uninstall-hook [--user|--project] [--dry-run] AGENT",
		Flags:     installFlags(),
		Action:    func(c *cli.Context) error { return register(c, false) },
	}
}

func installFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "user", Usage: "change the user's settings (the default)"},
		&cli.BoolFlag{Name: "project", Usage: "change the settings of the project around the current directory"},
		&cli.BoolFlag{Name: "dry-run", Usage: "print what the file would hold, and change nothing"},
	}
}

// register puts the program into an agent's settings, or takes it out.
func register(c *cli.Context, install bool) error {
	agent, err := agentNamed(c.Args().Slice())
	if err != nil {
		return err
	}
	if c.Bool("user") && c.Bool("project") {
		return usage(errors.New("--user and --project: take one"))
	}
	if agent.Settings == nil {
		return fmt.Errorf("%s: a host of this kind is told by hand to run: %s", agent.Name, agent.Command("/path/of/skillrun"))
	}
	file, err := settingsFile(agent, c.Bool("project"))
	if err != nil {
		return err
	}
	before, err := readSettings(file)
	if err != nil {
		return err
	}
	var after []byte
	if install {
		program, err := thisProgram()
		if err != nil {
			return err
		}
		if after, err = agent.Install(before, program); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	} else if before != nil {
		if after, err = agent.Remove(before); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	switch {
	case c.Bool("dry-run"):
		os.Stdout.Write(shownJSON(after))
		return nil
	case bytes.Equal(before, after) && (before == nil) == (after == nil):
		say("%s: nothing to change", file)
		return nil
	}
	if err := writeSettings(file, before, after); err != nil {
		return err
	}
	if !install {
		say("%s: skillrun is out", file)
		return nil
	}
	if agent.Off(after) {
		say("%s: skillrun is in, and not asked while disableAllHooks is true there", file)
	} else {
		say("%s: skillrun is asked from the next session on", file)
	}
	for _, note := range agent.Settings.Notes {
		hint("%s", note)
	}
	hint("skillrun doctor --agent %s tries it out", agent.Name)
	return nil
}

// agentNamed finds the agent that the only argument names.
func agentNamed(args []string) (*hook.Agent, error) {
	known := "known agents: " + strings.Join(hook.Names(), ", ")
	if len(args) != 1 {
		return nil, usage(errors.New("name one agent; " + known))
	}
	if a := hook.Find(args[0]); a != nil {
		return a, nil
	}
	return nil, usage(fmt.Errorf("unknown agent %s; %s", quote(args[0]), known))
}

// settingsFile is the file that an agent reads, links followed: settings that
// are kept elsewhere stay there. A project's do not lie outside of it, since
// links in it are anybody's.
func settingsFile(agent *hook.Agent, project bool) (string, error) {
	if project {
		top, err := projectTop()
		if err != nil {
			return "", err
		}
		return settingsBelow(top, agent.Settings.Project)
	}
	dir, under, err := ofUser(agent, agent.Settings.User)
	if err != nil {
		return "", err
	}
	file, _, err := followed(filepath.Join(dir, under))
	return file, err
}

// ofUser is where a file of the user's lies that an agent reads: in the home
// directory, unless a variable moves it.
func ofUser(agent *hook.Agent, name string) (dir, under string, err error) {
	if dir = os.Getenv(agent.Settings.Moved); filepath.IsAbs(dir) {
		_, under, _ = strings.Cut(name, "/")
		return dir, under, nil
	}
	if dir = os.Getenv("HOME"); !filepath.IsAbs(dir) {
		return "", "", errors.New("the user's settings: HOME is not set")
	}
	return dir, name, nil
}

// settingsFiles are all that an agent reads and doctor looks at.
func settingsFiles(agent *hook.Agent) ([]string, error) {
	user, err := settingsFile(agent, false)
	if err != nil {
		return nil, err
	}
	top, err := projectTop()
	if err != nil {
		return nil, err
	}
	files := []string{user}
	add := func(file string, err error) error {
		if err == nil && !slices.Contains(files, file) {
			files = append(files, file)
		}
		return err
	}
	for _, name := range append([]string{agent.Settings.Project}, agent.Settings.Shared...) {
		for _, name := range matching(top, name) {
			if err := add(settingsBelow(top, name)); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range agent.Settings.Others {
		dir, under, err := ofUser(agent, name)
		if err != nil {
			return nil, err
		}
		for _, name := range matching(dir, under) {
			file, _, err := followed(filepath.Join(dir, name))
			if err := add(file, err); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// matching are the files of a directory that a name stands for, of whose last part
// "*" may be one.
func matching(dir, name string) []string {
	under, last := filepath.Split(name)
	if !strings.Contains(last, "*") {
		return []string{name}
	}
	entries, _ := os.ReadDir(filepath.Join(dir, under)) // those that can be read
	var names []string
	for _, e := range entries {
		if ok, _ := filepath.Match(last, e.Name()); ok {
			names = append(names, under+e.Name())
		}
	}
	return names
}

// projectTop is the top of the project around the current directory, resolved.
func projectTop() (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(gitTop(cwd))
}

// settingsBelow is a file of a project whose top is resolved.
func settingsBelow(top, name string) (string, error) {
	file, dir, err := followed(filepath.Join(top, name))
	if err == nil && dir != top && !strings.HasPrefix(dir, strings.TrimSuffix(top, "/")+"/") {
		err = fmt.Errorf("%s: a link in the project leads out of it, to %s", filepath.Join(top, name), quote(file))
	}
	return file, err
}

// followed follows links to a file, which need not be there; dir is its
// directory, or as much of that as there is.
func followed(name string) (file, dir string, err error) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real, filepath.Dir(real), nil
	} else if _, err := os.Lstat(name); err == nil {
		return "", "", fmt.Errorf("%s: a link to nothing", name)
	}
	for dir = filepath.Dir(name); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, strings.TrimPrefix(name, dir)), real, nil
		} else if _, err := os.Lstat(dir); err == nil {
			return "", "", fmt.Errorf("%s: a link to nothing", dir)
		}
	}
}

const maxSettings = 8 << 20

// readSettings reads settings whole; nil if there is no such file.
func readSettings(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", file, maxSettings)
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a run may have put something else there
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(data) > maxSettings {
		err = fmt.Errorf("%s: grows while it is read", file)
	}
	return data, err
}

// writeSettings puts the new settings in the place of the old ones at once, if
// they are still what was read; nil takes the file away.
func writeSettings(file string, before, after []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".skillrun-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(after)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if e := temp.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	now, err := readSettings(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, before) || (now == nil) != (before == nil) {
		return fmt.Errorf("%s: somebody else changed it just now; nothing was written", file)
	}
	if after == nil {
		return os.Remove(file)
	}
	return os.Rename(temp.Name(), file)
}

// thisProgram is the path of this program as agents are to run it: as it was
// found, where that is absolute, since a link to the current version stays when
// the version goes.
func thisProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if arg := os.Args[0]; filepath.IsAbs(arg) {
		if a, err := os.Stat(arg); err == nil {
			if b, err := os.Stat(path); err == nil && os.SameFile(a, b) {
				return filepath.Clean(arg), nil
			}
		}
	}
	return path, nil
}
