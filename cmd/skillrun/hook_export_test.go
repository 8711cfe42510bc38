package main

import (
	"io"
	"time"

	"skillrun/audit"
	"skillrun/policy/hook"
	"skillrun/policy/session"
	"skillrun/policy/skill"
)

// Told is what the model is told of a run that was given a secret and refused
// these.
func Told(variable string, denials ...audit.Denial) string {
	o := result{Denials: denials}
	if variable != "" {
		o.Variables = []string{variable}
	}
	return o.explanation(o.redaction())
}

// Serve answers one event of Claude Code that comes from in.
func Serve(in io.Reader, deadline time.Duration) hook.Reply {
	return serve(hook.Find("claude-code"), in, deadline)
}

// Shown is what the model gets to read of a text after a run that was given the secret
// in a file.
func Shown(file, text string) string {
	o := result{Files: []string{file}}
	return o.redaction()(text)
}

// SkillNamed gives the directory of the skill that an agent calls by a name, "" if
// none is found.
func SkillNamed(p skill.Places, name string) string {
	d := &decider{settings: session.Settings{Places: p}}
	if f, ok := d.skillNamed(name); ok {
		return f.Dir
	}
	return ""
}
