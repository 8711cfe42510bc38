package darwin

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ended is the state of a process that has ended and was not waited for (SZOMB
// of sys/proc.h).
const ended = 5

// Processes reads the process table (sysctl kern.proc.all) but for processes
// that have ended, for [Descendants.See].
func Processes() ([]Process, error) {
	rows, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	table := make([]Process, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		if r.Proc.P_stat == ended {
			continue
		}
		table = append(table, Process{
			PID: int(r.Proc.P_pid), Parent: int(r.Eproc.Ppid), Group: int(r.Eproc.Pgid),
			Started: r.Proc.P_starttime.Sec*1e6 + int64(r.Proc.P_starttime.Usec),
		})
	}
	return table, nil
}
