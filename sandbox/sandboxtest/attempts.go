//go:build linux

package sandboxtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"skillrun/profiles"
)

// Attempts lists what the hostile skill tries, as "kind.how".
func Attempts(skill string) ([]string, error) {
	out, err := exec.Command("python3", filepath.Join(skill, "scripts", "check.py"), "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("list the attempts: %w", err)
	}
	return strings.Fields(string(out)), nil
}

// Clause is the clause of a Profile that an attempt runs into.
func Clause(attempt string) string {
	kind, _, _ := strings.Cut(attempt, ".")
	switch kind {
	case "hook":
		return profiles.ClauseControl
	case "agent":
		if attempt == "agent.settings" || attempt == "agent.mcp" {
			return profiles.ClauseControl
		}
		return profiles.ClauseWrite
	case "environment":
		return profiles.ClauseEnvironment
	case "descriptor":
		return profiles.ClauseDescriptors
	case "tcp", "udp", "dns":
		return profiles.ClauseNetwork
	case "unix":
		return profiles.ClauseUnix
	case "process":
		return profiles.ClauseProcesses
	case "daemon":
		return profiles.ClauseSurvivors
	}
	return profiles.ClauseRead
}
