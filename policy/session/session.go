// Package session holds the live policy of an agent's sessions and decides the
// calls of their tools.
//
// A host goes through it like this:
//
//	set := session.Settings{Dir: stateDir, Workspace: ws, Home: home, Preset: preset, ...}
//	s, err := session.Start(ctx, set, id)      // SessionStart; also where one may exist already
//	s, err := session.Open(ctx, set, id)       // later events; fs.ErrNotExist if there is none
//	defer s.Close()                            // gives up the lock; what was not saved is lost
//
//	v := s.Load(ctx, dir, session.ByAgent)     // a skill is loaded: a decision, then its manifest
//	v := s.Decide(ctx, session.Action{...})    // PreToolUse: one call of a tool
//	s.Answer(v.Call, session.ThisSession)      // what the user said to a v of effect Confirm
//	s.Refused(command, wants)                  // what a run was refused, to be asked about next time
//	s.Mark(session.Outside, "a web page")      // PostToolUse: what the session has seen
//	s.Task(ctx, prompt)                        // a new task: its scope is narrowed
//	run, err := s.Run(call)                    // the policy.Set for the command of a call
//
// Decide, Load, Answer, Mark and Task record what they decide in the audit log
// and save the session before they return; a verdict that could not be recorded
// is a denial. While a Session is open no other process has it: open it, decide
// and close it, and never hold it while a command runs.
//
// A Verdict of effect Confirm waits for somebody to say yes. Where the settings
// have an Asker, Decide has asked already and never gives it; where they have
// none, the host asks in its own way and treats what it cannot ask as a denial.
// A command that a host starts after its own yes is run by [Session.Run] with
// the call's name, which takes the yes as given for this one call.
//
// Everything that goes wrong is an error or a denial. Text in a Verdict is
// escaped for terminals.
package session

import (
	"time"

	"skillrun/policy"
	"skillrun/policy/skill"
	"skillrun/profiles"
)

// Settings are what holds for all sessions of a user: from flags, configuration
// and preset. They are not part of the session's document, so that a change of
// configuration counts at once.
type Settings struct {
	// Dir is the state directory: it holds the audit log, the approvals and,
	// in sessions/, the sessions. It must not lie where a run may write.
	Dir string
	// Workspace is the session's, resolved. It counts at Start only; later the
	// document's does.
	Workspace string
	Home      string // of the user, resolved
	User      string // for the record
	Places    skill.Places
	Preset    *policy.Preset // not nil

	// Defaults seed a new session; nil is policy.DefaultEntries.
	Defaults []policy.Entry
	// Grants are those of the user's configuration. SkillGrants, if not nil,
	// gives those for one skill besides, by its directory and tier.
	Grants      []policy.Entry
	SkillGrants func(dir string, tier policy.Tier) []policy.Entry
	// Ceilings, Narrowings and Floors are as in policy.Input.
	Ceilings, Narrowings, Floors []*policy.Document
	// Undeclared is what happens to what nobody declared; nil asks.
	Undeclared map[policy.Level]policy.Effect
	Limits     profiles.Limits

	// Approvals are how long an answer for a skill's version holds: all bound it.
	Approvals []policy.Term

	// Asker answers where the policy asks; nil leaves it to the host.
	Asker Asker
	// Risky is the level of risk from which on the Asker is called although the
	// policy allows; the zero level never.
	Risky policy.Risk
	// Guard, if not nil, answers instead of the user where the guard table
	// wants a call looked at.
	Guard *Command
	// Scope, if not nil, narrows the declared pool for each task. If it fails,
	// everything of the task is denied, unless ScopeMayFail: then the pool
	// stays as it is.
	Scope        *Command
	ScopeMayFail bool
	// Shared are the directories that have the role "shared".
	Shared []string

	// Protected gives the files that what acts outside of a run needs a
	// capability of their own for; nil protects none. It is called where a call
	// names files.
	Protected func() *policy.Protected

	// Readable says of a resolved path that every run may read it, whatever was granted;
	// nil says so of none.
	Readable func(path string) bool
	// Remote gives the address that git fetches from, as scan.Env has it; nil knows none.
	Remote func(dir, name string) (address string, known bool)

	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Action is one call of a tool of the agent, already mapped to capabilities.
type Action struct {
	Event string // "PreToolUse", for the record
	Tool  string // as the host calls it
	Input string // the tool's input as received, for the record

	// Requests are what the call needs, as a host's adapter reads it from the
	// tool and its input; at least one. Paths may be relative to Dir and need
	// not be resolved; hosts have ":PORT" where known. A Command is read for
	// what else it needs. Confined, Place, Time and Uses are filled in.
	Requests []policy.Request
	Dir      string // where it happens; "" is the session's directory
	// Confined says that its command will run under the Set of [Session.Run].
	// Without it whatever cannot be read from the command's text asks.
	Confined bool
	// Starts is what the agent starts by itself for the call, in no run; "" for nothing. It
	// is asked about whatever allows the call, once for each.
	Starts string
	// Searches says that what files beneath the paths hold is shown.
	Searches bool
	// Asks says that the host can put a question about this call to its user. Where
	// it cannot, nothing is asked that the call can be without: see [Session.Refused].
	Asks bool
	// Skill is the name of the loaded skill that acts, if the host knows;
	// otherwise it follows from the files that the command runs.
	Skill string
}

// Verdict is the decision on an Action. The zero Verdict denies.
type Verdict struct {
	Effect policy.Effect
	// Reason is one line, for the model and the person.
	Reason string
	Source string   // whose entry decided: "session-default", "skill:pdf", "user-grant"
	Skills []string // that the action is attributed to
	Call   string   // names the call for Answer and Run; "" if it was denied
	Needs  []Need   // what was judged, the action itself first
	// Notes are what could not be read from a command.
	Notes []string
	// Choices are the answers that can be given to a Confirm, Once first.
	Choices []Choice
}

// Need is one capability that an action needs, with its verdict.
type Need struct {
	Capability string
	Level      policy.Level
	Target     string
	Exact      bool // Target is known, not guessed
	Effect     policy.Effect
	Reason     string
	Source     string
	more       string // of Reason: what a yes opens beyond the target
}

// Choice is an answer to a prompt.
type Choice uint8

// The choices; the zero choice denies.
const (
	No          Choice = iota
	Once               // this call
	ThisTask           // until the next task begins
	ThisSession        // until the session ends
	ThisVersion        // as long as the skill stays as it is
)

var choiceWords = [...]string{"deny", "once", "task", "session", "version"}

func (c Choice) String() string {
	if int(c) < len(choiceWords) {
		return choiceWords[c]
	}
	return "choice?"
}

// ParseChoice reads the word of a choice.
func ParseChoice(word string) (Choice, bool) {
	for i, w := range choiceWords {
		if w == word {
			return Choice(i), true
		}
	}
	return No, false
}

// Taint is what a session has been touched by.
type Taint string

// The taints. Neither ever leaves a session.
const (
	Outside   Taint = "outside"   // content from outside: web pages, tools' answers
	Sensitive Taint = "sensitive" // secrets were read: from now on egress asks
)

// By is who wants a skill loaded.
type By uint8

// The ways a skill comes to be loaded.
const (
	ByAgent   By = iota // the agent's own choice
	ByLink              // so, by a link that leads there: a project's may
	ByPath              // so, by a path of a file that it reads or runs, and starts nothing else of
	ByKeyword           // words of the task
	ByUser              // the user named it
)
