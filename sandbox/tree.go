package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"skillrun/darwin"
)

// tree is a run and all that it started, as far as the process table shows.
type tree struct {
	table  func() ([]darwin.Process, error)
	known  *darwin.Descendants
	leader int
	killed map[int]bool // but for the leader
}

// How often the table is looked at while a command runs, and how often and how
// long it is tried to end what is left.
const (
	lookEvery  = 200 * time.Millisecond
	endPause   = 5 * time.Millisecond
	endPatient = 2 * time.Second
)

// newTree begins with a child of this process that nobody has waited for yet,
// so that its number is its own.
func newTree(pid int, table func() ([]darwin.Process, error)) (*tree, error) {
	t := &tree{table: table, leader: pid, killed: map[int]bool{}}
	rows, err := table()
	if err != nil {
		return nil, err
	}
	leader := darwin.Process{PID: pid, Parent: os.Getpid()}
	for _, p := range rows {
		if p.PID == pid {
			leader = p
		}
	}
	t.known = darwin.NewDescendants(leader)
	t.known.See(rows)
	return t, nil
}

// look remembers whoever has joined since the last look.
func (t *tree) look() {
	if rows, err := t.table(); err == nil {
		t.known.See(rows)
	}
}

// end kills everything that is alive until nothing is. What forks faster than
// it is looked at is caught by the next look.
func (t *tree) end() error {
	for start := time.Now(); ; time.Sleep(endPause) {
		rows, err := t.table()
		if err != nil {
			return err
		}
		alive := t.known.See(rows)
		if len(alive) == 0 {
			return nil
		}
		if time.Since(start) > endPatient {
			return fmt.Errorf("cannot end processes %v", alive)
		}
		for _, pid := range alive {
			if syscall.Kill(pid, syscall.SIGKILL) == nil && pid != t.leader {
				t.killed[pid] = true
			}
		}
	}
}
