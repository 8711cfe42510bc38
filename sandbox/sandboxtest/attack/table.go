//go:build linux

package attack

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed attempts/*.py jobs/*.sh
var files embed.FS

// A Program is an attempt or a job.
type Program struct {
	Group, Name string
	Code        string
	// Limit names the clause of the receipt that owns to it where it gets
	// through.
	Limit string
	// Needs is what the bare run has to have to succeed; see [Environment.Has].
	Needs []string
	// Flags are given to skillrun.
	Flags []string
	// Control is "may" where the bare run may get nothing, "no" where it must
	// get nothing.
	Control string
	// Terminal is on if it runs on a terminal of its own.
	Terminal bool
	// Job is on for ordinary work.
	Job bool
	// Plain is on for work in a workspace without secrets.
	Plain bool
	// Victim is on if it wants another process of the same user.
	Victim bool
}

func (p *Program) String() string { return p.Group + ": " + p.Name }

// Groups are the attempts' groups in their order.
var groups = [...]string{"fs_read", "fs_write", "metadata", "control", "exec", "environment", "network", "processes", "kernel", "terminal", "resources"}

// Attempts gives all attempts.
func Attempts() ([]Program, error) {
	var all []Program
	for _, g := range groups {
		list, err := read("attempts/" + g + ".py")
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// Jobs gives all ordinary jobs.
func Jobs() ([]Program, error) {
	entries, err := files.ReadDir("jobs")
	if err != nil {
		return nil, err
	}
	var all []Program
	for _, e := range entries {
		list, err := read("jobs/" + e.Name())
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].Job = true
		}
		all = append(all, list...)
	}
	return all, nil
}

func read(name string) ([]Program, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	group := strings.TrimSuffix(path.Base(name), path.Ext(name))
	group = strings.ReplaceAll(group, "_", " ")
	var list []Program
	for i, section := range strings.Split("\n"+string(data), "\n#: ") {
		if i == 0 {
			continue // what stands before the first
		}
		head, code, _ := strings.Cut(section, "\n")
		p, err := parseHead(head)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p.Group, p.Code = group, code+"\n"
		p.Victim = p.Victim || strings.Contains(code, "VICTIM")
		if slices.ContainsFunc(list, func(o Program) bool { return o.Name == p.Name }) {
			return nil, fmt.Errorf("%s: two are named %q", name, p.Name)
		}
		list = append(list, p)
	}
	return list, nil
}

func parseHead(head string) (Program, error) {
	var p Program
	var name []string
	for _, word := range strings.Fields(head) {
		key, value, is := strings.Cut(word, "=")
		switch {
		case is && key == "needs":
			p.Needs = strings.Split(value, ",")
		case is && key == "limit":
			p.Limit = value
		case is && key == "flags":
			p.Flags = strings.Split(value, ",")
		case is && key == "control" && (value == "may" || value == "no"):
			p.Control = value
		case word == "tty":
			p.Terminal = true
		case word == "plain":
			p.Plain = true
		case word == "victim":
			p.Victim = true
		case is:
			return p, fmt.Errorf("%q: unknown word %q", head, word)
		default:
			name = append(name, word)
		}
	}
	p.Name = strings.Join(name, " ")
	return p, nil
}
