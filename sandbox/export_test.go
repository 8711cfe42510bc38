package sandbox

import (
	"time"

	"skillrun/darwin"
	"skillrun/sandbox/egress"
)

// RunSeatbelt is Run on macOS, with a stand-in for sandbox-exec, this system's
// process table and a command that prints a log.
func RunSeatbelt(spec *Spec, program, self string, processes func() ([]darwin.Process, error), denials func(string, time.Time) []string) (Result, error) {
	s := seatbelt{runner: darwin.Runner{Program: program}, version: "15.0", roots: []string{"/dev/shm"}, self: self, processes: processes, denials: denials}
	return s.run(spec)
}

// Links is links.
var Links = links

// TellConnection gives what is said of a refused connection.
func TellConnection(v egress.Verdict, refused func(Refusal)) {
	(&Spec{Refused: refused}).connection(v)
}
