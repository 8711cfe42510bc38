package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// runners are the words before a script's place that are neither its program nor an
// option.
var runners = [...]string{"bun run", "deno run", "go run", "npx tsx", "uv run", "uv run python", "uv run python3"}

// launcher says whether a program starts the command that follows its options, and
// gives the letters of those that take the next word.
func launcher(program string) (valued string, ok bool) {
	switch program {
	case "env":
		return "u", true
	case "nice":
		return "n", true
	case "nohup", "setsid":
		return "", true
	case "stdbuf":
		return "eio", true
	case "time":
		return "fo", true
	case "timeout":
		return "ks", true
	}
	return "", false
}

// launched gives where the command begins that the launchers at its front start.
func launched(command []string) (at int) {
	for next := 0; next < len(command); {
		at = next
		program := filepath.Base(command[at])
		valued, ok := launcher(program)
		if !ok || command[at] != program && !filepath.IsAbs(command[at]) {
			break
		}
		for next++; next < len(command) && strings.HasPrefix(command[next], "-"); next++ {
			option := command[next]
			if program == "env" && elsewhere(option) {
				return at
			}
			if !strings.HasPrefix(option, "--") && strings.IndexAny(option, valued) == len(option)-1 {
				next++
			}
		}
		if program == "timeout" {
			next++ // the time
		}
		for program == "env" && next < len(command) && strings.Contains(command[next], "=") {
			next++
		}
	}
	return at
}

// elsewhere says that an option of env has it start the command in another directory,
// or what a text says.
func elsewhere(option string) bool {
	if long, ok := strings.CutPrefix(option, "--"); ok {
		return strings.HasPrefix(long, "c") || strings.HasPrefix(long, "s")
	}
	letters, _, _ := strings.Cut(option, "u") // then a name
	return strings.ContainsAny(letters, "CS")
}

// skillScript replaces the word in a script's place, the program's own or the
// first that is no option, by the skill's file of that name. Where something
// here has the name as well, whoever may write here would choose what runs with
// the skill's rights, be it only by what lies beside a copy: the user says which.
func (j *job) skillScript(command []string) ([]string, error) {
	if j.skill == nil {
		return command, nil
	}
	before, first := "", launched(command)
	for i, word := range command {
		if i < first {
			continue
		}
		if i == first && !strings.Contains(word, "/") {
			before = word
			continue
		}
		if i > first && strings.HasPrefix(word, "-") {
			if !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c") {
				break // code is next
			}
			continue
		}
		if file, ok := j.skillFile(word); ok {
			here := filepath.Join(j.cwd, word)
			if _, err := os.Lstat(here); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				cwd, _ := j.host.Resolve(j.cwd)
				if rel, err := filepath.Rel(j.skill.Dir, cwd); err == nil && filepath.IsLocal(rel) {
					return command, nil // no run writes there
				}
				return nil, withHint{fmt.Errorf("%s is in the skill and here", quote(word)), fmt.Sprintf("write %s or %s", quote(file), quote(here))}
			}
			out := slices.Clone(command)
			out[i] = file
			if j.verbose {
				say("%s is %s", quote(word), quote(file))
			}
			return out, nil
		}
		if i == first {
			before = filepath.Base(word)
		} else if before += " " + word; !slices.Contains(runners[:], before) {
			break
		}
	}
	return command, nil
}

// skillFile gives the file of the skill that a relative word names.
func (j *job) skillFile(word string) (string, bool) {
	file := filepath.Join(j.skill.Dir, word)
	info, err := os.Stat(file)
	return file, err == nil && info.Mode().IsRegular() && filepath.IsLocal(word)
}

// programs gives the files behind the command: its program, and the script
// that it is given, resolved; "" if there is none.
func (j *job) programs(path string) (interpreter, script string) {
	interpreter = path
	if r, err := j.host.Resolve(path); err == nil {
		interpreter = r
	}
	first := launched(j.argv)
	program, words := filepath.Base(j.argv[first]), j.argv[first+1:]
	for i, word := range words {
		// bash -eo pipefail FILE, as CI starts a step: -o takes the next word.
		if strings.HasPrefix(word, "-") || i > 0 && strings.HasSuffix(program, "sh") && strings.HasPrefix(words[i-1], "-") && strings.HasSuffix(words[i-1], "o") {
			continue
		}
		if r, err := j.host.Resolve(absolute(word, j.cwd)); err == nil {
			if info, err := os.Stat(r); err == nil && info.Mode().IsRegular() {
				script = r
			}
		}
		break
	}
	return interpreter, script
}
