package main_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	main "skillrun/cmd/skillrun"
)

// A file is believed not to have changed only where this machine's clock says when it
// did.
func TestChangedSince(t *testing.T) {
	file := filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, c := range []struct {
		file string
		t    time.Time
		want bool
	}{
		{file, now.Add(time.Minute), false},
		{file, now, true},
		{file, now.Add(time.Second), true}, // clocks tick
		{file + ".lock", now.Add(time.Minute), true},
		{"/proc/version", now.Add(100 * 365 * 24 * time.Hour), true}, // of a file system that may tell any time
	} {
		if got := main.ChangedSince(c.file, c.t); got != c.want {
			t.Errorf("%s since %v: %v", c.file, c.t.Sub(now), got)
		}
	}
}
