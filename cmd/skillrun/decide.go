package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
	"skillrun/policy/session"
)

func decideCommand() *cli.Command {
	return &cli.Command{
		Name:      "decide",
		Usage:     "decide one event of an agent's session: JSON on stdin, JSON on stdout",
		UsageText: "skillrun decide [--workspace DIR] <EVENT.json",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "workspace", Usage: "workspace `DIR` of a session that begins with this event (default: as for run)"},
			&cli.StringFlag{Name: "preset", Usage: "use the settings `NAME`"},
		},
		Action: func(c *cli.Context) error { return decide(c) },
	}
}

// event is what decide reads: one object, of which unknown keys are an error.
// docs/sessions.md has what each event takes.
type event struct {
	Event    string         `json:"event"`
	Session  string         `json:"session"`
	Tool     string         `json:"tool"`
	Input    string         `json:"input"`
	Dir      string         `json:"cwd"`
	Requests []eventRequest `json:"requests"`
	Confined bool           `json:"confined"`
	Skill    string         `json:"skill"`
	By       string         `json:"by"`
	Call     string         `json:"call"`
	Choice   string         `json:"choice"`
	Task     string         `json:"task"`
	Taint    string         `json:"taint"`
	Why      string         `json:"why"`
}

type eventRequest struct {
	Capability string            `json:"capability"`
	Paths      []string          `json:"paths"`
	Hosts      []string          `json:"hosts"`
	Names      []string          `json:"names"`
	Command    string            `json:"command"`
	Arguments  map[string]string `json:"arguments"`
}

// decision is what decide writes.
type decision struct {
	Decision string         `json:"decision"` // "allow", "confirm", "deny"
	Reason   string         `json:"reason"`
	Source   string         `json:"source,omitempty"`
	Call     string         `json:"call,omitempty"`
	Skills   []string       `json:"skills,omitempty"`
	Needs    []decisionNeed `json:"needs,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
	Choices  []string       `json:"choices,omitempty"`
	State    any            `json:"state,omitempty"`
}

type decisionNeed struct {
	Capability string `json:"capability"`
	Level      string `json:"level"`
	Target     string `json:"target,omitempty"`
	Exact      bool   `json:"exact"`
	Decision   string `json:"decision"`
	Reason     string `json:"reason"`
	Source     string `json:"source,omitempty"`
}

// decide answers one event. Whatever goes wrong is the answer "deny": a host
// that gets none, or another exit code than 0, denies too.
func decide(c *cli.Context) error {
	d := func() (d decision) {
		defer func() {
			if p := recover(); p != nil {
				d = decision{Decision: policy.Deny.String(), Reason: policy.Escape(fmt.Sprintf("skillrun failed: %v", p))}
			}
		}()
		d, err := decideEvent(c)
		if err != nil {
			d = decision{Decision: policy.Deny.String(), Reason: policy.Escape(err.Error())}
		}
		return d
	}()
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(shownJSON(b), '\n'))
	return err
}

func parseEvent(data []byte) (e event, err error) {
	if !utf8.Valid(data) {
		return e, errors.New("event: not UTF-8")
	}
	if err := policy.UniqueKeys("event", data); err != nil {
		return e, err
	}
	members, err := onlyKnown(data, e)
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	var each []json.RawMessage
	if err == nil && members["requests"] != nil {
		err = json.Unmarshal(members["requests"], &each)
	}
	for i := range each {
		if err == nil {
			_, err = onlyKnown(each[i], eventRequest{})
		}
	}
	for _, r := range e.Requests {
		if err == nil && slices.Contains(slices.Concat(r.Paths, r.Hosts, r.Names), "") {
			err = errors.New("an empty path, host or name")
		}
	}
	if err != nil {
		return e, fmt.Errorf("event: %w", kindFault(err))
	}
	return e, nil
}

// kindFault says without Go's types that a value is of another kind than it must be.
func kindFault(err error) error {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return err
	}
	at, kind := "", "an object"
	if t.Field != "" {
		at = quote(t.Field) + ": "
	}
	switch t.Type.Kind() {
	case reflect.String:
		kind = "a string"
	case reflect.Bool:
		kind = "true or false"
	case reflect.Slice:
		kind = "an array"
	}
	return fmt.Errorf("%s%s where %s belongs", at, t.Value, kind)
}

// onlyKnown gives the members of an object, which must be called as the fields
// of a struct are, to the letter: encoding/json takes "Paths" for "paths", and
// the last of both.
func onlyKnown(data []byte, of any) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	fields := reflect.TypeOf(of)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		known := false
		for f := range fields.Fields() {
			known = known || f.Tag.Get("json") == name
		}
		if !known {
			return nil, fmt.Errorf("unknown key %s", quote(name))
		}
	}
	return members, nil
}

func decideEvent(c *cli.Context) (decision, error) {
	data, err := readEvent(os.Stdin)
	if err != nil {
		return decision{}, fmt.Errorf("event: %w", err)
	}
	e, err := parseEvent(data)
	if err != nil {
		return decision{}, err
	}
	project := ""
	if e.Event == "start" {
		if project = c.String("workspace"); project == "" {
			if project, err = os.Getwd(); err != nil {
				return decision{}, fmt.Errorf("current directory: %w", err)
			}
		}
	}
	d, err := newDecider(c, e.Session, project)
	if err != nil {
		return decision{}, err
	}
	ctx := context.Background()
	open := session.Open
	if e.Event == "start" {
		open = session.Start
	}
	s, err := open(ctx, d.settings, e.Session)
	if err != nil {
		return decision{}, err
	}
	defer s.Close()
	done := func(err error, what string) (decision, error) {
		return decision{Decision: policy.Allow.String(), Reason: what}, err
	}
	switch e.Event {
	case "start":
		return done(nil, "the session is open")
	case "call":
		a := session.Action{Event: "PreToolUse", Tool: e.Tool, Input: e.Input, Dir: e.Dir, Confined: e.Confined, Skill: e.Skill}
		for _, r := range e.Requests {
			a.Requests = append(a.Requests, policy.Request{Capability: r.Capability, Paths: r.Paths, Hosts: r.Hosts, Names: r.Names, Command: r.Command, Arguments: r.Arguments})
		}
		return decisionOf(s.Decide(ctx, a)), nil
	case "load":
		by, ok := map[string]session.By{"": session.ByAgent, "agent": session.ByAgent, "keyword": session.ByKeyword, "user": session.ByUser}[e.By]
		if !ok {
			return decision{}, fmt.Errorf("event: by %s: not agent, keyword or user", quote(e.By))
		}
		return decisionOf(s.Load(ctx, e.Skill, by)), nil
	case "unload":
		return done(s.Unload(e.Skill), "unloaded")
	case "answer":
		choice, ok := session.ParseChoice(e.Choice)
		if !ok {
			return decision{}, fmt.Errorf("event: choice %s: not deny, once, task, session or version", quote(e.Choice))
		}
		return done(s.Answer(e.Call, choice), "the answer is kept")
	case "task":
		return done(s.Task(ctx, e.Task), "the task has begun")
	case "taint":
		return done(s.Mark(session.Taint(e.Taint), e.Why), "noted")
	case "state":
		state, err := s.State()
		return decision{Decision: policy.Allow.String(), Reason: "the session's state", State: json.RawMessage(state)}, err
	}
	return decision{}, fmt.Errorf("event %s: not start, call, load, unload, answer, task, taint or state", quote(e.Event))
}

func decisionOf(v session.Verdict) decision {
	d := decision{Decision: v.Effect.String(), Reason: v.Reason, Source: v.Source, Call: v.Call, Skills: v.Skills, Notes: v.Notes}
	for _, n := range v.Needs {
		d.Needs = append(d.Needs, decisionNeed{n.Capability, n.Level.String(), n.Target, n.Exact, n.Effect.String(), n.Reason, n.Source})
	}
	for _, c := range v.Choices {
		d.Choices = append(d.Choices, c.String())
	}
	return d
}
