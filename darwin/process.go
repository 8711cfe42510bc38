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
	group int           // 0 once a stranger has its number
	known map[int]int64 // PID -> start
}

// NewDescendants begins with the run's first process, the leader of its own
// process group.
func NewDescendants(leader Process) *Descendants {
	return &Descendants{group: leader.PID, known: map[int]int64{leader.PID: leader.Started}}
}

// See takes a look at the process table: it remembers the children of those
// known and the members of the run's process group, and gives all that are
// alive, in order.
func (d *Descendants) See(table []Process) []int {
	for _, p := range table {
		if p.PID == d.group && p.Started != d.known[p.PID] {
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
