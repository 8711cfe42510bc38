package main

import (
	"errors"
	"io"

	"skillrun/audit"
)

// captureMode is the value of --capture: "", "digest" for the bare flag, "full".
type captureMode string

func (m *captureMode) Set(s string) error {
	switch s {
	case "true":
		*m = "digest"
	case "full":
		*m = "full"
	case "false":
		*m = ""
	default:
		return errors.New("not full; without a value it records digests and sizes")
	}
	return nil
}

func (m *captureMode) String() string { return string(*m) }

// IsBoolFlag lets the flag stand alone.
func (m *captureMode) IsBoolFlag() bool { return true }

// capture has the standard streams recorded. Of stdin there is never text.
func (r *recorder) capture(mode any) {
	m, ok := mode.(*captureMode)
	if !ok || *m == "" {
		return
	}
	keep := 0
	if *m == "full" {
		keep = audit.CaptureText
	}
	r.captures = [3]*audit.Capture{audit.NewCapture(0), audit.NewCapture(keep), audit.NewCapture(keep)}
}

func (r *recorder) tees() (tees [3]io.Writer) {
	for i, c := range r.captures {
		if c != nil {
			tees[i] = c
		}
	}
	return tees
}
