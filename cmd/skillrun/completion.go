package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
)

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a completion script for bash, zsh or fish",
		UsageText: "skillrun completion bash|zsh|fish",
		Action: func(c *cli.Context) error {
			words := strings.Join(completionWords(c.App), " ")
			switch c.Args().First() {
			case "bash":
				fmt.Fprintf(os.Stdout, bashCompletion, words)
			case "zsh":
				fmt.Fprintf(os.Stdout, zshCompletion, words)
			case "fish":
				for _, w := range strings.Fields(words) {
					if name, ok := strings.CutPrefix(w, "--"); ok {
						fmt.Fprintf(os.Stdout, "complete -c skillrun -l %s\n", name)
					} else {
						fmt.Fprintf(os.Stdout, "complete -c skillrun -n __fish_use_subcommand -a %s\n", w)
					}
				}
			default:
				return usage(errors.New("completion: name a shell: bash, zsh or fish"))
			}
			return nil
		},
	}
}

// completionWords are the subcommands and every flag.
func completionWords(app *cli.App) []string {
	seen := map[string]bool{}
	var words []string
	add := func(w string) {
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	for _, cmd := range app.Commands {
		add(cmd.Name)
	}
	for _, cmd := range app.Commands {
		for _, f := range cmd.Flags {
			for _, n := range f.Names() {
				if len(n) > 1 {
					add("--" + n)
				}
			}
		}
	}
	return words
}

// After "--" everything is the command's, so the shell's own completion takes
// over.
const bashCompletion = `_skillrun() {
	local cur=${COMP_WORDS[COMP_CWORD]} i
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] && { COMPREPLY=($(compgen -c -f -- "$cur")); return; }
	done
	COMPREPLY=($(compgen -W '%s' -- "$cur") $(compgen -f -- "$cur"))
}
complete -o filenames -F _skillrun skillrun
`

const zshCompletion = `#compdef skillrun
_skillrun() {
	if (( ${words[(I)--]} && ${words[(I)--]} < CURRENT )); then
		_normal
	else
		compadd -- %s
		_files
	fi
}
compdef _skillrun skillrun
`
