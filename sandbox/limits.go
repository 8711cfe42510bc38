package sandbox

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// limitsWord is the first argument of a process of this program that lowers
// its own limits and then becomes another program: without cgo there is no
// other moment between fork and exec. Whoever calls it gains nothing by it.
const limitsWord = "--become-with-limits"

// limitNames are the limits that a process can be under, with their names on
// the command line.
var limitNames = [...]struct {
	name     string
	resource int
}{
	{"core", unix.RLIMIT_CORE},
	{"cpu", unix.RLIMIT_CPU},
	{"fsize", unix.RLIMIT_FSIZE},
	{"nofile", unix.RLIMIT_NOFILE},
}

// limitArgs gives the command line that runs args under limits.
func limitArgs(self string, l *profiles.Limits, args []string) []string {
	out := []string{self, limitsWord, "core=0"}
	if l.CPU > 0 {
		out = append(out, "cpu="+strconv.FormatInt(int64((l.CPU+time.Second-1)/time.Second), 10))
	}
	if l.FileSize > 0 {
		out = append(out, "fsize="+strconv.FormatInt(l.FileSize, 10))
	}
	if l.OpenFiles > 0 {
		out = append(out, "nofile="+strconv.FormatInt(l.OpenFiles, 10))
	}
	return append(append(out, "--"), args...)
}

// BecomeLimited is called first by the main function of every program that
// runs commands on macOS, with its arguments. Where they ask for it, it lowers
// this process's limits, marks what it inherited to be closed, and becomes the
// program that they name, with the environment that descriptor 3 gives; it
// returns only where they do not, or with why it could not.
func BecomeLimited(args []string) error {
	if len(args) < 2 || args[1] != limitsWord {
		return nil
	}
	env, err := readEnv()
	if err != nil {
		return fmt.Errorf("read the environment: %w", err)
	}
	if err := closeOnExec(); err != nil {
		return fmt.Errorf("close what was inherited: %w", err)
	}
	for i, word := range args[2:] {
		if word == "--" {
			argv := args[2+i+1:]
			if len(argv) == 0 {
				break
			}
			return fmt.Errorf("start %s: %w", argv[0], syscall.Exec(argv[0], argv, env))
		}
		if err := lower(word); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: no command", limitsWord)
}

// envDescriptor is where the command's environment comes from: in this
// process's own it could change what this process does before the sandbox is
// there, and on the command line others could see it.
const envDescriptor = 3

func readEnv() ([]string, error) {
	f := os.NewFile(envDescriptor, "environment")
	if f == nil {
		return nil, os.ErrInvalid
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"), nil
}

// writeEnv gives the end to read of a pipe that holds an environment.
func writeEnv(env []string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		defer w.Close()
		for _, kv := range env {
			if _, err := io.WriteString(w, kv+"\x00"); err != nil {
				return // nobody reads: it did not start
			}
		}
	}()
	return r, nil
}

// closeOnExec marks every descriptor but the standard ones.
func closeOnExec() error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// lower sets one limit, "nofile=64", soft and hard, never above the hard limit
// that there is.
func lower(word string) error {
	name, text, _ := strings.Cut(word, "=")
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return fmt.Errorf("limit %q: %w", word, err)
	}
	for _, l := range limitNames {
		if l.name != name {
			continue
		}
		var now syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("limit %s: %w", name, err)
		}
		n = min(n, uint64(now.Max))
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("limit %s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("limit %q: unknown", word)
}

// limitMet gives the limit of single processes that ended a command, "" if none
// did; cpu is the processor time of the whole run, which the kernel counts by ticks
// when it looks at the limit: on a busy machine a quarter more.
func limitMet(l *profiles.Limits, status syscall.WaitStatus, cpu time.Duration) string {
	switch {
	case l.CPU > 0 && status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGXCPU) && cpu >= l.CPU*3/4:
		return "cpu"
	case l.FileSize > 0 && endedBy(status, syscall.SIGXFSZ):
		return "file size"
	}
	return ""
}

// endedBy says whether a command was ended by a signal, or is a shell whose
// last command was.
func endedBy(status syscall.WaitStatus, sig syscall.Signal) bool {
	return status.Signaled() && status.Signal() == sig || status.Exited() && status.ExitStatus() == 128+int(sig)
}
