package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// decision is one kind of call that is decided about, as a whole process.
type decision struct {
	name string
	argv []string // of skillrun; none is the bare program that the others are compared with
	in   any      // the event
	gate time.Duration
}

// decisions measures `skillrun decide` and a hook on single calls of an agent's
// tools, interleaved with a bare program. All are of one session, which is long
// by then.
func (w *world) decisions(rounds int) error {
	work := filepath.Join(w.dir, "work")
	decide, hook := []string{"decide"}, []string{"hook", "claude-code"}
	call := func(command string) any {
		return map[string]any{
			"event": "call", "session": "bench", "tool": "Bash", "confined": true,
			"requests": []map[string]string{{"capability": "shell.execute", "command": command}},
		}
	}
	event := func(name, tool string, input map[string]string) any {
		return map[string]any{
			"session_id": "bench", "cwd": work, "permission_mode": "default", "hook_event_name": name,
			"tool_name": tool, "tool_use_id": "toolu_" + tool, "tool_input": input,
		}
	}
	const short = "git status && ls -la | wc -l > out.txt"
	kinds := []decision{
		{name: "true, bare"},
		{"decide, one line", decide, call(short), 8 * time.Millisecond},
		{"decide, 500 lines", decide, call(long()), 50 * time.Millisecond},
		{"hook, Bash", hook, event("PreToolUse", "Bash", map[string]string{"command": short}), 8 * time.Millisecond},
		{"hook, Read", hook, event("PreToolUse", "Read", map[string]string{"file_path": filepath.Join(work, "notes.txt")}), 8 * time.Millisecond},
	}
	// Not /dev/null: a hook whose answer goes to nobody blocks the call.
	answers, err := os.Create(filepath.Join(w.dir, "answers"))
	if err != nil {
		return err
	}
	defer answers.Close()
	start, err := w.event("start.json", map[string]any{"event": "start", "session": "bench"})
	if err != nil {
		return err
	}
	if _, err := w.launch([]string{w.skillrun, "decide"}, start, answers); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	events := make([]string, len(kinds))
	for i, k := range kinds {
		if events[i], err = w.event(fmt.Sprintf("call%d.json", i), k.in); err != nil {
			return err
		}
	}
	times := make([][]time.Duration, len(kinds))
	const warm = 3
	for round := range warm + rounds {
		for _, i := range rand.Perm(len(kinds)) {
			argv, in := append([]string{w.skillrun}, kinds[i].argv...), events[i]
			if len(kinds[i].argv) == 0 {
				argv, in = []string{"/bin/true"}, os.DevNull
			}
			d, err := w.launch(argv, in, answers)
			if err != nil {
				return fmt.Errorf("%s: %w", kinds[i].name, err)
			}
			if round >= warm {
				times[i] = append(times[i], d)
			}
		}
	}
	fmt.Printf("\none decision about a call, of %d interleaved rounds\n", rounds)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tleast ms\tmedian ms\tx bare\tgate")
	bare := median(times[0])
	for i, k := range kinds {
		d, gate := median(times[i]), ""
		if k.gate > 0 {
			if gate = fmt.Sprintf("%v: held", k.gate); d > k.gate {
				gate = fmt.Sprintf("%v: MISSED", k.gate)
			}
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%s\n", k.name, float64(slices.Min(times[i]))/1e6, float64(d)/1e6, ratio(d, bare), gate)
	}
	return t.Flush()
}

func (w *world) event(name string, event any) (path string, err error) {
	b, err := json.Marshal(event)
	if err != nil {
		return "", err
	}
	path = filepath.Join(w.dir, name)
	return path, os.WriteFile(path, b, 0o644)
}

// long is a command of 500 lines that reads, writes and asks for many things.
func long() string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "cat src/file%d.txt | grep -n 'foo%d' > out/%d.txt\n", i, i, i)
		fmt.Fprintf(&b, "for f in a b c; do cp $f /tmp/x%d; done\n", i)
		fmt.Fprintf(&b, "curl -s https://host%d.example.com/api/%d -o d%d.json\n", i%7, i, i)
		fmt.Fprintf(&b, "if [ -f x%d ]; then rm -f x%d; else python3 -c 'print(%d)'; fi\n", i, i, i)
		fmt.Fprintf(&b, "git log --oneline -n %d && make target%d || echo no\n", i, i)
	}
	return b.String()
}
