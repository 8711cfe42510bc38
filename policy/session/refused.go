package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/scan"
	"skillrun/profiles"
)

// Want is what the run of a command was refused and what a yes can open:
// "filesystem.write" to a control file, "filesystem.delete" of what was there.
type Want struct {
	Capability string
	Path       string // resolved, of a file or of a directory with all in it
	// Lasts says that a yes to it is one for the session, where the policy lets it: to
	// a build's output, which is deleted time and again.
	Lasts bool
}

// refused is a Want that a session remembers, until it was asked about.
type refused struct {
	Command    string `json:"command"` // digest of its text
	Capability string `json:"capability"`
	Path       string `json:"path"`
	Lasts      bool   `json:"lasts,omitempty"`
	// Call is the one that asked about it: without a run of that it was a no, and
	// nobody is asked again.
	Call string `json:"call,omitempty"`
	// Grant is what a yes comes to beyond the call, for the session.
	Grant json.RawMessage `json:"grant,omitempty"`
}

// maxRefused bounds what is remembered: the newest.
const maxRefused = 64

func digest(command string) string {
	sum := sha256.Sum256([]byte(command))
	return hex.EncodeToString(sum[:12])
}

// Refused remembers what the run of a command was refused, though its text did not
// show that it would need it: the user is asked when the command comes again, or
// another that git replaces files by. It says whether the user will be: not of what
// lies outside of the workspace, nor of what was a no. It changes no right.
func (s *Session) Refused(command string, wants []Want) (asks bool, err error) {
	for _, w := range wants {
		if !profiles.Within(s.state.Workspace, w.Path) || w.Path == s.state.Workspace || len(w.Path) > 4096 {
			continue
		}
		one := refused{Command: digest(command), Capability: w.Capability, Path: w.Path, Lasts: w.Lasts}
		known := func(o refused) bool {
			return o.Capability == one.Capability && o.Path == one.Path && (o.Call != "" || o.Command == one.Command)
		}
		if i := slices.IndexFunc(s.more.Refused, known); i < 0 {
			s.more.Refused = append(s.more.Refused, one)
			asks = true
		} else {
			asks = asks || s.more.Refused[i].Call == ""
		}
	}
	s.more.Refused = last(s.more.Refused, maxRefused)
	return asks, s.save()
}

// again gives the needs of a confined command that its text does not show, and that
// it was refused before, at most so many: the rest waits for the next time. None of
// them denies: without a yes it runs as it did.
func (s *Session) again(a *Action, st *policy.State, read *scan.Result, dir string, most int) (needs []judged) {
	for i := range s.more.Refused {
		if len(needs) >= most {
			break
		}
		w := &s.more.Refused[i]
		if w.Call != "" || w.Command != digest(a.command()) && !s.replaces(read, w.Path, dir) {
			continue
		}
		n := scan.Need{Capability: w.Capability, Target: w.Path, Exact: true, Reason: "its last run was refused that"}
		c := policy.Lookup(n.Capability)
		if c == nil {
			continue
		}
		w.Grant = nil
		j := s.judge(st, s.requestFor(a, c, &n, dir, s.now()), n.Target, true, n.Reason)
		if j.need.Effect != policy.Confirm {
			continue
		}
		if g, ok := j.answer.Grant(&j.request, s.now()); ok && !j.single && w.Lasts {
			g.Granted = s.now()
			w.Grant = policy.EntriesJSON([]policy.Entry{g})
			j.need.Reason += "; a yes holds for the session"
		}
		j.refused = w
		needs = append(needs, j)
	}
	return needs
}

// replaces says whether git is seen to replace the files of a directory that path
// lies in. In a repository of its own it replaces none.
func (s *Session) replaces(read *scan.Result, path, dir string) bool {
	if strings.Contains(path+"/", "/.git/") {
		return false
	}
	return slices.ContainsFunc(read.Besides, func(n scan.Need) bool {
		if n.Capability != "source_code.delete" || !n.Exact {
			return false
		}
		at := n.Target
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		return profiles.Within(filepath.Clean(at), path)
	})
}

// accept takes the run of a call for the yes to what it asked about.
func (s *Session) accept(id string) error {
	record := &audit.Grant{Action: "grant", For: ThisSession.String(), Session: s.state.ID, Run: id, By: "host"}
	for _, w := range s.more.Refused {
		if w.Call != id {
			continue
		}
		grants, err := decodeGrants(w.Grant)
		if err != nil {
			return err
		}
		s.state.Granted = append(s.state.Granted, grants...)
		for _, g := range grants {
			record.Capabilities = append(record.Capabilities, audit.Capability{Name: g.Capability, Effect: "allow"})
		}
	}
	s.more.Refused = slices.DeleteFunc(s.more.Refused, func(w refused) bool { return w.Call == id })
	if len(record.Capabilities) == 0 {
		return nil
	}
	return s.log.Append(record)
}
