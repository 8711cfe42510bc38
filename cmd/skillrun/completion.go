package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
)

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a completion script for bash, zsh or fish",
		UsageText: "skillrun completion bash|zsh|fish",
		Action: func(c *cli.Context) error {
			places := completionPlaces(c.App)
			switch c.Args().First() {
			case "bash":
				fmt.Fprintf(os.Stdout, bashCompletion, cases(values(), "%[1]s) words='%[2]s' ;;"), cases(offers(places), "' %[1]s'*) words='%[2]s' ;;"))
			case "zsh":
				fmt.Fprintf(os.Stdout, zshCompletion, cases(values(), "%[1]s) compadd -- %[2]s; return ;;"), cases(offers(places), "' %[1]s'*) compadd -- %[2]s ;;"))
			case "fish":
				io.WriteString(os.Stdout, fishCompletion)
				completeFish(os.Stdout, places)
			default:
				return usage(errors.New("completion: name a shell: bash, zsh or fish"))
			}
			return nil
		},
	}
}

// place is where a command line has got to.
type place struct {
	after       string // the words so far, such as "audit show"; "" at the beginning
	subcommands []*cli.Command
	flags       []cli.Flag
}

// completionPlaces gives all of them, the longest first. At the beginning the
// flags are those of run.
func completionPlaces(app *cli.App) (places []place) {
	top := place{subcommands: app.Commands}
	for _, cmd := range app.Commands {
		for _, sub := range cmd.Subcommands {
			places = append(places, place{after: cmd.Name + " " + sub.Name, flags: sub.Flags})
		}
		places = append(places, place{after: cmd.Name, subcommands: cmd.Subcommands, flags: cmd.Flags})
		if cmd.Name == "run" {
			top.flags = cmd.Flags
		}
	}
	return append(places, top)
}

// offer is what can come next: after these words, or after this flag.
type offer struct {
	after string
	words []string
}

func offers(places []place) (all []offer) {
	for _, p := range places {
		o := offer{after: p.after}
		if o.after != "" {
			o.after += " "
		}
		switch p.after {
		case "completion":
			o.words = []string{"bash", "zsh", "fish"}
		case "schema":
			o.words = []string{"json", "toml"}
		}
		for _, c := range p.subcommands {
			o.words = append(o.words, c.Name)
		}
		for _, f := range p.flags {
			for _, n := range f.Names() {
				if f != cli.HelpFlag {
					o.words = append(o.words, dashed(n))
				}
			}
		}
		all = append(all, o)
	}
	return all
}

// values are those of flags that take one of a few.
func values() []offer {
	presets := offer{after: "--preset"}
	for _, p := range policy.Presets() {
		presets.words = append(presets.words, p.Name)
	}
	return []offer{presets, {"--approve", []string{"ask", "declared", "none"}}, {"--namespaces", []string{"auto", "on", "off"}}}
}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// cases writes a line for each offer, in a shell's words.
func cases(all []offer, line string) string {
	var b strings.Builder
	for _, o := range all {
		fmt.Fprintf(&b, "\t"+line+"\n", o.after, strings.Join(o.words, " "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// After "--" everything is the command's, so the shell's own completion takes
// over.
const bashCompletion = `_skillrun() {
	local cur=${COMP_WORDS[COMP_CWORD]} i words=
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] && { COMPREPLY=($(compgen -c -f -- "$cur")); return; }
	done
	case ${COMP_WORDS[COMP_CWORD-1]} in
%s
	*) case " ${COMP_WORDS[*]:1:COMP_CWORD-1} " in
%s
	esac ;;
	esac
	COMPREPLY=($(compgen -W "$words" -- "$cur"))
	local IFS=$'\n'
	COMPREPLY+=($(compgen -f -- "$cur"))
}
complete -o filenames -F _skillrun skillrun
`

const zshCompletion = `#compdef skillrun
_skillrun() {
	local at=${words[(i)--]}
	if (( at < CURRENT )); then
		shift $at words
		(( CURRENT -= at ))
		_normal
		return
	fi
	case ${words[CURRENT-1]} in
%s
	esac
	case " ${(j: :)words[2,CURRENT-1]} " in
%s
	esac
	_files
}
compdef _skillrun skillrun
`

const fishCompletion = `function __skillrun_at
	set -l words (commandline -opc)
	set -e words[1]
	contains -- -- $words; and return 1
	if test (count $argv) -eq 0
		not string match -qr '^[a-z]' -- "$words[1]"
	else
		set -l n (count $argv)
		test "$argv" = "$words[1..$n]"
	end
end
`

func completeFish(w io.Writer, places []place) {
	few := map[string]string{}
	for _, v := range values() {
		few[v.after] = strings.Join(v.words, " ")
	}
	line := func(at, rest, text string) {
		fmt.Fprintf(w, "complete -c skillrun -n '%s' %s -d '%s'\n", at, rest, strings.NewReplacer("`", "", `\`, `\\`, "'", `\'`).Replace(text))
	}
	for _, p := range places {
		at := strings.TrimSpace("__skillrun_at " + p.after)
		for _, c := range p.subcommands {
			first := at + "; and test (count (commandline -opc)) -eq " + fmt.Sprint(len(strings.Fields(p.after))+1)
			line(first, "-a "+c.Name, c.Usage)
		}
		for _, f := range p.flags {
			doc, ok := f.(cli.DocGenerationFlag)
			if !ok {
				continue
			}
			rest := ""
			for _, n := range f.Names() {
				if len(n) == 1 {
					rest += " -s " + n
				} else {
					rest += " -l " + n
				}
			}
			if words := few[dashed(f.Names()[0])]; words != "" {
				rest += " -x -a '" + words + "'"
			} else if doc.TakesValue() {
				rest += " -r"
			}
			line(at, rest[1:], doc.GetUsage())
		}
	}
}
