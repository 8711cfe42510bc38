package darwin

import "slices"

// Process is one row of the process table.
type Process struct {
	PID, Parent, Group int
	Started            int64 // microseconds since the epoch; tells a reused PID apart
}

// Descendants keeps track of what a run started. macOS has neither PID
// namespaces nor subreapers: a process that leaves its group and whose parent
// ends belongs to launchd. Whoever was seen as a descendant once is remembered.
type Descendants struct {
	group  int           // 0 once a stranger has its number
	parent int           // of the leader
	known  map[int]int64 // PID -> start, 0 if it is not known yet
}

// NewDescendants begins with the run's first process, the leader of its own
// process group. One that the table did not show yet, without a start, is known by its
// parent, which no stranger has.
func NewDescendants(leader Process) *Descendants {
	return &Descendants{group: leader.PID, parent: leader.Parent, known: map[int]int64{leader.PID: leader.Started}}
}

// See takes a look at the process table: it remembers the children of those
// known and the members of the run's process group, and gives all that are
// alive, in order.
func (d *Descendants) See(table []Process) []int {
	for _, p := range table {
		switch {
		case p.PID != d.group:
		case d.known[p.PID] == 0 && p.Parent == d.parent:
			d.known[p.PID] = p.Started
		case d.known[p.PID] != p.Started:
			d.group = 0
		}
	}
	alive := map[int]bool{}
	for changed := true; changed; {
		changed = false
		for _, p := range table {
			if alive[p.PID] {
				continue
			}
			started, known := d.known[p.PID]
			parent := alive[p.Parent]
			if known && started == p.Started || parent || d.group != 0 && p.Group == d.group {
				d.known[p.PID] = p.Started
				alive[p.PID] = true
				changed = true
			}
		}
	}
	var pids []int
	for pid := range alive {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}
