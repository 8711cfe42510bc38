package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrun/policy"
	"skillrun/policy/hook"
)

// probeSession begins the name of the session of all probes in a directory, so
// that they leave one.
const probeSession = "skillrun-doctor-"

// diagnoseAgent tries out how an agent is told to ask: it sends what the agent
// would send to what is registered, as the agent would.
func diagnoseAgent(agent *hook.Agent) ([]check, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if agent.Settings == nil {
		program, err := thisProgram()
		if err != nil {
			return nil, err
		}
		return probe(agent, agent.Command(program), cwd), nil
	}
	var all []check
	registered := ""
	files, err := settingsFiles(agent)
	if err != nil {
		return nil, err
	}
	for i, file := range files {
		renew := "skillrun install-hook " + agent.Name
		switch {
		case i == 1:
			renew = "skillrun install-hook --project " + agent.Name
		case i > 1:
			renew = "take it out of that file, then " + renew
		}
		data, err := readSettings(file)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		found, err := agent.Before(data)
		if err != nil {
			all = append(all, check{"settings", false, policy.Escape(file) + ": " + err.Error(), "mend the file: the agent may not read it either"})
			continue
		}
		for _, r := range found {
			// Settings of a project are anybody's: only this program is run.
			switch {
			case r.Ours && isThisProgram(agent.Program(r.Command)):
				registered = r.Command
				all = append(all, check{"registered", true, policy.Escape(file), ""})
				if r.Earlier {
					all = append(all, check{"earlier-form", false, policy.Escape(fmt.Sprintf("%s: %s is what an earlier version registered", file, r.Command)), renew})
				}
				continue
			case r.Ours:
				all = append(all, check{"other-program", false, policy.Escape(fmt.Sprintf("%s: %s is not this program, and is not tried", file, r.Command)), renew})
				continue
			case r.Earlier:
				all = append(all, check{"earlier-form", false, policy.Escape(fmt.Sprintf("%s: %s is not what this version registers, and is not tried", file, r.Command)), "take it out of that file, then skillrun install-hook " + agent.Name})
				continue
			}
			all = append(all, check{"other-hook", true, policy.Escape(fmt.Sprintf("%s: %s on %q: of two that rewrite a command, one wins", file, r.Command, r.Matcher)), ""})
		}
		// In another file of hooks it speaks of that file alone.
		if agent.Off(data) && (i < 2 || filepath.Base(filepath.Dir(file)) != "hooks") {
			all = append(all, check{"hooks-on", false, policy.Escape(file) + " switches hooks off", "take disableAllHooks out"})
		}
		if agent.Sandboxed(data) {
			all = append(all, check{"own-sandbox", true, policy.Escape(file) + " switches the agent's own sandbox on: see whether commands run inside it", ""})
		}
	}
	top, err := projectTop()
	if err != nil {
		return nil, err
	}
	proxies := projectProxies(agent, top, cwd)
	byFile := map[string][]string{}
	for _, variable := range slices.Sorted(maps.Keys(proxies)) {
		byFile[proxies[variable]] = append(byFile[proxies[variable]], variable)
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		all = append(all, check{"project-proxy", true, policy.Escape(file) + " sets " + strings.Join(byFile[file], ", ") + ": runs do not use it, and the agent may", ""})
	}
	if registered == "" {
		return append(all, check{"registered", false, "no settings of " + agent.Name + " name skillrun", "skillrun install-hook " + agent.Name}), nil
	}
	return append(all, probe(agent, registered, cwd)...), nil
}

// isThisProgram says whether a path is that of the program which is running.
func isThisProgram(path string) bool {
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	program, err := os.Executable()
	if err != nil {
		return false
	}
	b, err := os.Stat(program)
	return err == nil && os.SameFile(a, b)
}

// probe sends events to a registered command.
func probe(agent *hook.Agent, registered, cwd string) []check {
	session := probeSession + commandDigest(cwd)[:8]
	start, before := agent.Probe(session, cwd, "exit 7")
	var all []check
	say := func(name string, ok bool, what, fix string) bool {
		all = append(all, check{name, ok, what, fix})
		return ok
	}
	r, _, err := fire(registered, cwd, []byte("{"))
	say("fails-closed", err == nil && r.Denies(), "an event that cannot be read is refused", "register it anew: skillrun install-hook "+agent.Name)
	r, _, err = fire(registered, cwd, start)
	if !say("starts", err == nil && r.Code == 0, "a session starts"+complaint(r, err), "run this in a project's directory, with HOME set") {
		return all
	}
	r, took, err := fire(registered, cwd, before)
	if agent.Unproven {
		door := hook.Door{Program: agent.Program(registered), Session: session, Tell: true}
		if !say("refuses-first", err == nil && r.Denies(), "a command is refused until the agent was seen to run the one in its place"+complaint(r, err), "register it anew: skillrun install-hook "+agent.Name) {
			return all
		}
		_, offered := agent.Probe(session, cwd, door.Command("exit 7"))
		r, took, err = fire(registered, cwd, offered)
	}
	command := r.Command()
	say("rewrites", err == nil && r.Code == 0 && command != "", fmt.Sprintf("a shell command is decided about and rewritten, in %d ms%s", took.Milliseconds(), complaint(r, err)), "skillrun doctor, and the reason above")
	if command == "" {
		return all
	}
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = cwd
	out, _ := cmd.CombinedOutput() // the exit code tells
	code := cmd.ProcessState.ExitCode()
	say("confines", code == 7, fmt.Sprintf("the rewritten command runs confined (exit code %d, 7 is right)%s", code, oneLine(out)), "skillrun doctor")
	return all
}

// fire runs a registered command as agents do.
func fire(registered, cwd string, event []byte) (hook.Reply, time.Duration, error) {
	var out, errs bytes.Buffer
	cmd := exec.Command("sh", "-c", registered)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = bytes.NewReader(event), &out, &errs, cwd
	begin := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	r := hook.Reply{Stdout: out.Bytes(), Stderr: errs.Bytes()}
	if cmd.ProcessState != nil {
		r.Code = cmd.ProcessState.ExitCode()
	}
	return r, time.Since(begin), err
}

// complaint is what a reply that blocks says, for the end of a line.
func complaint(r hook.Reply, err error) string {
	if err != nil {
		return ": " + policy.Escape(err.Error())
	}
	if r.Code == 0 {
		return ""
	}
	return oneLine(r.Stderr)
}

func oneLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	if line == "" {
		return ""
	}
	return ": " + policy.Escape(line)
}
