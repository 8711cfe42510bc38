package main

import (
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/audit"
	"skillrun/policy/session"
	"skillrun/policy/skill"
	"skillrun/profiles"
)

// Main is main, for the tests that start this program as a user would.
func Main() { main() }

// Configured is the same where the system's configuration is elsewhere.
func Configured() {
	systemConfig = os.Getenv("TEST_SYSTEM_CONFIG")
	main()
}

// NewApp describes the command line, for the tests of its documentation.
func NewApp() *cli.App { return newApp(nil, false) }

// Variables are the names that the environment may set.
func Variables() []string {
	names := append([]string{"SKILLRUN_APPROVE"}, switches[:]...)
	for _, f := range limitFlags() {
		names = append(names, limitVariable(f.Names()[0]))
	}
	return names
}

// AskChoice is what the terminal is asked about a call.
func AskChoice(r io.Reader, w io.Writer, p *session.Prompt) (session.Choice, error) {
	return askChoice(r, w, p)
}

// Spare says whether nobody is told of a refusal.
func Spare(d audit.Denial) bool { return spare(d) }

// WritePlaced writes a report.
func WritePlaced(name string, theirs func(dir string) bool, data []byte) error {
	return writePlaced(name, theirs, data)
}

// Promotion is what promoting gives a skill whose record holds for one tree, and
// whose tree is read as another.
func Promotion(record *skill.Approval, measured, read []skill.Entry) (skill.Approval, error) {
	j := &job{host: thisHost(), skill: &loadedSkill{Skill: new(skill.Skill), tree: skill.Digest(measured)}}
	if record != nil {
		j.memory = &memory{record: record}
	}
	return j.promotion(read)
}

// StateDir is where a host's record is kept.
func StateDir(h *profiles.Host) (string, error) { return stateDir(h) }

// Floors are what the configuration of a host denies.
func Floors(h *profiles.Host) (denied []string, err error) {
	c, err := loadConfiguration(h, "", "")
	if err != nil {
		return nil, err
	}
	for _, d := range c.floors() {
		for i := range d.Entries {
			denied = append(denied, d.Entries[i].Capability)
		}
	}
	return denied, nil
}

// Settings are what the configuration of a host says besides: the preset, whether nobody
// is asked in sessions, for how long an answer for good is one, and how many grants and
// gaps it has.
func Settings(h *profiles.Host) (preset string, denies bool, ends, grants int, err error) {
	c, err := loadConfiguration(h, "", "")
	if err != nil {
		return "", false, 0, 0, err
	}
	var s session.Settings
	err = c.session(h, &s)
	_, denies = s.Asker.(session.DenyAll)
	return c.preset(), denies, len(c.approvals()), len(c.grants(nil, skill.Places{})) + len(c.allowGaps()), err
}

// SkillGrants is how much the configuration of a host grants to the skill in a directory.
func SkillGrants(h *profiles.Host, places skill.Places, dir string) (int, error) {
	c, err := loadConfiguration(h, "", "")
	if err != nil {
		return 0, err
	}
	tier, _ := places.Trust(dir, nil)
	return len(c.skillGrants(dir, tier, places)), nil
}

// ChangedSince says whether a file may have changed since a time.
func ChangedSince(file string, t time.Time) bool { return changedSince(file, t) }

// Plainly is what a terminal is told before a question.
const Plainly = plainly
