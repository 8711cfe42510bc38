package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"skillrun/audit"
	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// report is what --report writes.
type report struct {
	Phase   string         `json:"phase"` // "refused" or "ran"
	Code    int            `json:"code"`
	Signal  string         `json:"signal,omitempty"`
	Error   string         `json:"error,omitempty"`
	Denials []audit.Denial `json:"denials"`
	More    int            `json:"more_denials,omitempty"`
	// Network is what was used of each host and port, and refused.
	Network []egress.SummaryRow `json:"network,omitempty"`
	// Controls are control files that the run was allowed to make.
	Controls     []string         `json:"controls_made,omitempty"`
	MoreControls int              `json:"more_controls_made,omitempty"`
	Receipt      profiles.Receipt `json:"receipt"`
	Profile      string           `json:"profile_sha256"`
	Run          string           `json:"run_id"`
}

func (r *recorder) write(rep report) {
	if r.report == "" {
		return
	}
	<-r.known
	rep.Receipt, rep.Run = r.receipt, r.id
	rep.Profile = r.sum.String()
	if rep.Denials == nil {
		rep.Denials = []audit.Denial{}
	}
	b, err := json.MarshalIndent(rep, "", "  ")
	if err == nil {
		err = writePlaced(r.report, r.runsWrite, append(shownJSON(b), '\n'))
	}
	if err != nil {
		say("cannot write the report: %v", err)
	}
}

// placed says why a report could not be written where the person wants it:
// after a run it would be too late to say so.
func (r *recorder) placed() error {
	if r.report == "" {
		return nil
	}
	path, err := filepath.Abs(r.report)
	if err != nil {
		return err
	}
	real, shared, err := followOurs(path, r.runsWrite)
	if shared {
		path = real
	}
	if err == nil {
		err = writable(path)
	}
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// runsWrite says whether runs make names in a directory: this one, or earlier
// ones, in the same workspace or another.
func (r *recorder) runsWrite(dir string) bool {
	for _, w := range append(listed(r.job.host, writtenFile), r.job.workspace) {
		if w != "" && (dir == w || strings.HasPrefix(dir, w+"/")) {
			return true
		}
	}
	return r.profile != nil && r.profile.Allows(filepath.Join(dir, "x"), profiles.Create).Allowed
}
