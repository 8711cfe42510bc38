package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"skillrun/policy"
)

// consent asks the user about every confirm entry at once, on the terminal and
// never on the command's stdin. Without a terminal it refuses and says which
// flag answers.
func (j *job) consent() error {
	pending := j.set.Pending()
	if j.approve != policy.ApproveAsk || len(pending) == 0 {
		return nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		keys := make([]string, len(pending))
		for i, q := range pending {
			keys[i] = q.Key
		}
		return withHint{
			fmt.Errorf("the manifest asks for %d rights to be confirmed and there is no terminal: %s", len(pending), strings.Join(keys, ", ")),
			"--approve declared accepts them for this run, --approve none runs without them",
		}
	}
	defer tty.Close()
	accepted, err := ask(tty, j.name(), pending)
	if err != nil {
		return err
	}
	j.set = j.set.Accept(accepted...)
	j.host.FS = newSnapshot() // answering may have taken minutes
	return nil
}

// name is what the acting skill is called in prompts.
func (j *job) name() string {
	if j.skill == nil {
		return "this command"
	}
	return j.skill.Name
}

var errDeclined = errors.New("declined: nothing was run")

// ask shows what is wanted and gives the keys that were accepted.
func ask(tty *os.File, who string, pending []policy.Question) ([]string, error) {
	fmt.Fprintf(tty, "skillrun: %s asks for:\n", policy.Escape(who))
	for i, q := range pending {
		fmt.Fprintf(tty, "  %d. %-10s %s\n", i+1, q.Level, q.Text)
	}
	in := bufio.NewReader(tty)
	for {
		fmt.Fprint(tty, "allow? [o]nce [c]hoose [n]o: ")
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, errDeclined
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "o", "once":
			return keysOf(pending), nil
		case "n", "no":
			return nil, errDeclined
		case "c", "choose":
			fmt.Fprint(tty, "which, by number, such as 1 3 (empty: none): ")
			line, err := in.ReadString('\n')
			if err != nil {
				return nil, errDeclined
			}
			if chosen, ok := choose(pending, line); ok {
				return keysOf(chosen), nil
			}
		}
	}
}

func choose(pending []policy.Question, line string) (chosen []policy.Question, ok bool) {
	for _, w := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' }) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n > len(pending) {
			return nil, false
		}
		chosen = append(chosen, pending[n-1])
	}
	return chosen, true
}

func keysOf(qs []policy.Question) []string {
	keys := make([]string, len(qs))
	for i, q := range qs {
		keys[i] = q.Key
	}
	return keys
}
