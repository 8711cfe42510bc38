package session

import (
	"encoding/json"
	"fmt"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
)

// asked is a need that waits for a yes.
type asked struct {
	Capability string `json:"capability"`
	// Grant is what a yes comes to, a list of one entry; absent if nothing can
	// be held to it. Single says that it counts for this call only.
	Grant  json.RawMessage `json:"grant,omitempty"`
	Single bool            `json:"single,omitempty"`
	// Run is what the run of this call gets, where no Grant can be held to
	// anything.
	Run   json.RawMessage `json:"run,omitempty"`
	Key   string          `json:"key,omitempty"`   // of the entry that asked
	Skill string          `json:"skill,omitempty"` // whose entry it is
}

// What a call asks for can be much, and only the answer to it and its run read
// it: it is kept beside the document, which every decision reads and writes.

// keep writes what a call asks for.
func (s *Session) keep(c *call) error {
	if c.Asks = len(c.asked) > 0; !c.Asks {
		return nil
	}
	data, err := json.Marshal(c.asked)
	if err == nil {
		err = private.Replace(s.dir, s.beside(c), data)
	}
	if err != nil {
		return fmt.Errorf("session %q: cannot save: %w", s.state.ID, err)
	}
	return nil
}

// recall reads what a call asks for.
func (s *Session) recall(c *call) error {
	if !c.Asks || c.asked != nil {
		return nil
	}
	data, err := private.ReadFile(s.dir, s.beside(c), maxDocument)
	if err == nil {
		err = json.Unmarshal(data, &c.asked)
	}
	if err != nil {
		return fmt.Errorf("session %q: what call %q asks for: %w", s.state.ID, c.ID, err)
	}
	return nil
}

// forget removes what a call asks for.
func (s *Session) forget(c *call) {
	if c.Asks {
		unix.Unlinkat(int(s.dir.Fd()), s.beside(c), 0)
	}
}

func (s *Session) beside(c *call) string { return base(s.state.ID) + "." + c.ID + askedSuffix }

const askedSuffix = ".asked"
