package darwin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
)

// sandboxExec starts a command under a policy. It is always named by its
// absolute path: one found through PATH could be anything.
const sandboxExec = "/usr/bin/sandbox-exec"

// probe is the program of the pre-flight: it does nothing, and every Mac has it.
const probe = "/usr/bin/true"

// Errors of [Runner.Check] that callers branch on.
var (
	// ErrSandboxed: a sandbox around skillrun (an agent's own) lets no other
	// be applied inside.
	ErrSandboxed = errors.New("already sandboxed: macOS applies no sandbox inside another")
	// ErrPolicy: the system's compiler does not take the policy.
	ErrPolicy = errors.New("policy refused by the system")
	// ErrNoSandboxExec: there is no sandbox-exec.
	ErrNoSandboxExec = errors.New("no sandbox-exec")
)

// Runner starts commands under policies.
type Runner struct {
	// Program is what to use for sandbox-exec; "" is sandbox-exec of the system.
	Program string
}

// maxArgs bounds source and parameters: the system takes 1 MiB of arguments and
// environment (getconf ARG_MAX).
const maxArgs = 900 << 10

// Args gives the command line that runs argv under a policy. It fails if
// argv[0] is not an absolute path, which sandbox-exec would look up in PATH, and
// on a policy that is too long for a command line.
func (r Runner) Args(p *Policy, argv []string) ([]string, error) {
	if len(argv) == 0 || !strings.HasPrefix(argv[0], "/") {
		return nil, fmt.Errorf("run under sandbox-exec: command %q is not an absolute path", argv)
	}
	program := r.Program
	if program == "" {
		program = sandboxExec
	}
	args := []string{program, "-p", p.source}
	size := len(p.source)
	for _, v := range p.params {
		args = append(args, "-D", v.Name+"="+v.Value)
		size += len(v.Name) + len(v.Value) + 16
	}
	if size > maxArgs {
		return nil, fmt.Errorf("run under sandbox-exec: policy has %d bytes with its parameters, at most %d fit", size, maxArgs)
	}
	return append(append(args, "--"), argv...), nil
}

// Check is the pre-flight: it applies the policy to a program that does
// nothing. Without it a refused policy would look like a failure of the
// command. The error wraps ErrSandboxed, ErrPolicy or ErrNoSandboxExec.
func (r Runner) Check(ctx context.Context, p *Policy) error {
	args, err := r.Args(p, []string{probe})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = "/", []string{}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("try the policy: %w", ctx.Err())
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %s: %w", ErrNoSandboxExec, args[0], err)
	case err != nil && !errors.As(err, &exit):
		return fmt.Errorf("try the policy: %w", err)
	}
	return judge(cmd.ProcessState.ExitCode(), stderr.String())
}

// judge says what the end of the pre-flight means. sandbox-exec ends with 65
// where it does not compile the policy and with 71 where a system call fails,
// and names itself in the message; -1 is a signal.
func judge(code int, stderr string) error {
	line, ours := "", false
	for _, l := range strings.Split(stderr, "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), "sandbox-exec: "); ok {
			line, ours = rest, true
			break
		}
	}
	switch {
	case code == 0:
		return nil
	case ours && strings.HasPrefix(line, "sandbox_apply") && strings.Contains(line, "Operation not permitted"):
		return ErrSandboxed
	case ours && strings.HasPrefix(line, "execvp()"):
		return nil // the policy holds: it does not let this program start
	case ours:
		return fmt.Errorf("%w: %s", ErrPolicy, line)
	case code == -1:
		return nil // the program died of the policy, which therefore holds
	}
	return fmt.Errorf("%w: the pre-flight ended with status %d", ErrPolicy, code)
}
