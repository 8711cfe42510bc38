package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
	"skillrun/policy/hook"
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
				fmt.Fprintf(os.Stdout, bashCompletion, cases(values(places), "%[1]s) words='%[2]s'; %[3]s ;;", "files=yes"), cases(offers(places), "%[1]s) words='%[2]s'; %[3]s ;;", "files=yes"))
			case "zsh":
				fmt.Fprintf(os.Stdout, zshCompletion, cases(values(places), "%[1]s) compadd -- %[2]s; %[3]s; return ;;", "_files"), cases(offers(places), "%[1]s) compadd -- %[2]s; %[3]s ;;", "_files"))
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

// offer is what can come next where the words so far, or the flag, match a
// shell's pattern: some words, or names of files.
type offer struct {
	after string
	words []string
	files bool
}

// offers gives what can come after words. A subcommand's own subcommands come
// first of all.
func offers(places []place) (all []offer) {
	for _, p := range places {
		o := offer{after: strings.TrimPrefix(p.after+" ", " ")}
		o.words, o.files = arguments(p.after)
		for _, f := range p.flags {
			for _, n := range f.Names() {
				if f != cli.HelpFlag {
					o.words = append(o.words, dashed(n))
				}
			}
		}
		if p.subcommands != nil {
			first := o
			first.words = nil
			for _, c := range p.subcommands {
				first.words = append(first.words, c.Name)
			}
			first.words = append(first.words, o.words...)
			first.after = "' " + o.after + "'"
			all = append(all, first)
		}
		o.after = "' " + o.after + "'*"
		all = append(all, o)
	}
	return all
}

// arguments are what a subcommand takes besides flags: some words, or a file.
func arguments(of string) (words []string, files bool) {
	switch of {
	case "completion":
		return []string{"bash", "zsh", "fish"}, false
	case "schema":
		return []string{"json", "toml"}, false
	case "hook", "install-hook", "uninstall-hook":
		return hook.Names(), false
	case "lint", "init", "grants promote", "grants revoke", "shell":
		return nil, true
	}
	return nil, false
}

// values gives what can come after flags that take a value: one of a few words,
// a file, or what nobody can guess.
func values(places []place) (all []offer) {
	seen := map[string]bool{}
	for _, p := range places {
		for _, f := range p.flags {
			doc, ok := f.(cli.DocGenerationFlag)
			_, alone := f.(*cli.GenericFlag) // --capture, with or without a value
			if name := f.Names()[0]; ok && doc.TakesValue() && !alone && !seen[name] {
				seen[name] = true
				o := offer{after: dashed(name), words: valuesOf(name)}
				for _, of := range [...]string{"`DIR`", "`FILE`", "`PATH`"} {
					o.files = o.files || strings.Contains(doc.GetUsage(), of)
				}
				all = append(all, o)
			}
		}
	}
	return all
}

// valuesOf are the words that a flag takes, if they are a few.
func valuesOf(flag string) (words []string) {
	switch flag {
	case "preset":
		for _, p := range policy.Presets() {
			words = append(words, p.Name)
		}
	case "approve":
		words = []string{"ask", "declared", "none"}
	case "namespaces":
		words = []string{"auto", "on", "off"}
	case "platform":
		words = []string{"linux", "darwin", "all"}
	case "format":
		words = []string{"text", "json", "sbpl", "params"}
	case "allow-gap":
		words = policy.Gaps()
	case "agent":
		words = hook.Names()
	case "grant":
		for _, c := range policy.Taxonomy() {
			if c.Enforced() {
				words = append(words, c.Name)
			}
		}
	}
	return words
}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// cases writes a line for each offer, in a shell's words; files is how names of
// files are offered there.
func cases(all []offer, line, files string) string {
	var b strings.Builder
	for _, o := range all {
		also := ":"
		if o.files {
			also = files
		}
		fmt.Fprintf(&b, "\t"+line+"\n", o.after, strings.Join(o.words, " "), also)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// After "--" everything is the command's: its program, then files, or what the
// shell has for it. bash takes the "=" of --flag=value for a word.
const bashCompletion = `_skillrun() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i words= files=
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			compopt -o filenames 2>/dev/null
			local IFS=$'\n' kind=-f
			((i == COMP_CWORD - 1)) && kind=-cf
			COMPREPLY=($(compgen $kind -- "$cur"))
			return
		fi
	done
	[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
	[[ $cur == = ]] && cur=
	[[ $prev == --grant ]] && compopt -o nospace 2>/dev/null # a scope may follow
	case $prev in
%s
	*)
		local before=" ${COMP_WORDS[*]:1:COMP_CWORD-1} "
		((COMP_CWORD == 1)) && before=' '
		case $before in
%s
		esac ;;
	esac
	COMPREPLY=($(compgen -W "$words" -- "$cur"))
	if [[ $files ]]; then
		compopt -o filenames 2>/dev/null
		local IFS=$'\n'
		COMPREPLY+=($(compgen -f -- "$cur"))
	fi
}
complete -F _skillrun skillrun
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
	local before=" ${(j: :)words[2,CURRENT-1]} "
	(( CURRENT == 2 )) && before=' '
	case $before in
%s
	esac
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
function __skillrun_command
	set -l words (commandline -opc)
	set -e words[1..(contains -i -- -- $words)]
	complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end
complete -c skillrun -f
complete -c skillrun -n 'contains -- -- (commandline -opc)' -a '(__skillrun_command)'
`

func completeFish(w io.Writer, places []place) {
	line := func(at, rest, text string) {
		fmt.Fprintf(w, "complete -c skillrun -n '%s' %s -d '%s'\n", at, rest, strings.NewReplacer("`", "", `\`, `\\`, "'", `\'`).Replace(text))
	}
	few := map[string]offer{}
	for _, v := range values(places) {
		few[v.after] = v
	}
	for _, p := range places {
		at := strings.TrimSpace("__skillrun_at " + p.after)
		first := at + "; and test (count (commandline -opc)) -eq " + fmt.Sprint(len(strings.Fields(p.after))+1)
		for _, c := range p.subcommands {
			line(first, "-a "+c.Name, c.Usage)
		}
		if words, files := arguments(p.after); files {
			line(at, "-F", "")
		} else if words != nil {
			line(first, "-a '"+strings.Join(words, " ")+"'", "")
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
			switch v, takes := few[dashed(f.Names()[0])]; {
			case takes && v.files:
				rest += " -r -F"
			case takes:
				rest += " -x -a '" + strings.Join(v.words, " ") + "'"
			}
			line(at, rest[1:], doc.GetUsage())
		}
	}
}
