package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"skillrun/policy"
)

// Command is an external program that is asked: it gets one JSON object on its
// standard input and gives one on its standard output. The user's own
// configuration names it; it runs unconfined.
type Command struct {
	Argv []string // Argv[0] is an absolute path
	// Home is its home directory: not the variable, by which a project could have it
	// start code of its own (~/.local/lib/python3.*).
	Home string
	// Deadline is how long it may take; 0 is DefaultDeadline. After it the
	// program and what it started are killed, and it counts as failed.
	Deadline time.Duration
}

// DefaultDeadline of external programs: what agents' own hooks leave time for.
const DefaultDeadline = 5 * time.Second

const maxAnswer = 1 << 20

// run asks the program. Its answer is strict: an unknown key, a second value or
// more than a mebibyte is an error, as is any exit code but 0.
func (c *Command) run(ctx context.Context, question, answer any) error {
	if len(c.Argv) == 0 || !filepath.IsAbs(c.Argv[0]) {
		return errors.New("external command: not an absolute path")
	}
	fail := func(err error) error { return fmt.Errorf("external command %q: %w", c.Argv[0], err) }
	in, err := json.Marshal(question)
	if err != nil {
		return fail(err)
	}
	deadline := c.Deadline
	if deadline <= 0 {
		deadline = DefaultDeadline
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	var out bounded
	cmd.Stdin, cmd.Stdout = bytes.NewReader(in), &out
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + c.Home, "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	switch err := cmd.Run(); {
	case ctx.Err() != nil:
		return fail(fmt.Errorf("gave no answer within %v", deadline))
	case err != nil:
		return fail(err)
	case out.over:
		return fail(errors.New("its answer is too long"))
	}
	d := json.NewDecoder(bytes.NewReader(out.kept))
	d.DisallowUnknownFields()
	if err := d.Decode(answer); err != nil {
		return fail(fmt.Errorf("its answer does not read: %w", err))
	}
	if d.More() {
		return fail(errors.New("its answer is more than one value"))
	}
	return nil
}

// bounded keeps what fits. It is no more than a Writer: a bytes.Buffer in it
// would be read into past the bound.
type bounded struct {
	kept []byte
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.kept)+len(p) > maxAnswer {
		b.over = true
		return len(p), nil
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}

// Prompt is what somebody is asked. Tool, Skills and Input are as they came; the
// rest is escaped for terminals.
type Prompt struct {
	Session string   `json:"session"`
	Tool    string   `json:"tool,omitempty"`
	Skills  []string `json:"skills,omitempty"`
	Input   string   `json:"input,omitempty"` // the command, or the tool's input
	Reason  string   `json:"reason"`
	// Needs are the needs that ask, the most dangerous first.
	Needs   []PromptNeed `json:"needs"`
	Notes   []string     `json:"notes,omitempty"`
	Choices []string     `json:"choices"` // "deny", "once", "task", "session", "version"
}

// PromptNeed is one line of a prompt.
type PromptNeed struct {
	Capability string `json:"capability"`
	Level      string `json:"level"`
	Risk       string `json:"risk"`
	Target     string `json:"target,omitempty"`
	Source     string `json:"source,omitempty"`
	Reason     string `json:"reason"`
}

// Asker answers prompts. Every error is a denial, as is a choice that was not
// offered.
type Asker interface {
	Ask(ctx context.Context, p Prompt) (Choice, error)
}

// DenyAll says no to everything.
type DenyAll struct{}

// Ask says no.
func (DenyAll) Ask(context.Context, Prompt) (Choice, error) { return No, nil }

// Ask sends the Prompt to the program, which answers {"choice": "once"}.
func (c *Command) Ask(ctx context.Context, p Prompt) (Choice, error) {
	var answer struct {
		Choice string `json:"choice"`
		Reason string `json:"reason"`
	}
	if err := c.run(ctx, p, &answer); err != nil {
		return No, err
	}
	choice, ok := ParseChoice(answer.Choice)
	if !ok {
		return No, fmt.Errorf("external command %q: unknown choice %q", c.Argv[0], clip(answer.Choice, 40))
	}
	return choice, nil
}

// guard asks the program about one call; it answers {"decision": "allow"|
// "confirm"|"deny", "reason": ...}.
func (c *Command) guard(ctx context.Context, question any) (policy.Effect, string, error) {
	var answer struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	if err := c.run(ctx, question, &answer); err != nil {
		return policy.Deny, "", err
	}
	for _, e := range [...]policy.Effect{policy.Deny, policy.Confirm, policy.Allow} {
		if e.String() == answer.Decision {
			return e, answer.Reason, nil
		}
	}
	return policy.Deny, "", fmt.Errorf("external command %q: unknown decision %q", c.Argv[0], clip(answer.Decision, 40))
}
