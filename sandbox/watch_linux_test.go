package sandbox

import (
	"testing"
	"time"
)

// Who makes a look slow wins no more than a second without one.
func TestPauseBounds(t *testing.T) {
	for _, c := range []struct{ pause, took, want time.Duration }{
		{firstLook, 0, 40 * time.Millisecond},
		{80 * time.Millisecond, time.Millisecond, lastLook},
		{lastLook, 30 * time.Millisecond, 600 * time.Millisecond},
		{lastLook, 10 * time.Second, time.Second},
	} {
		if got := pauseAfter(c.pause, c.took); got != c.want {
			t.Errorf("after %v and a look of %v: %v, want %v", c.pause, c.took, got, c.want)
		}
	}
}
