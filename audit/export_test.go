package audit

import "time"

// SetClock lets a test age files.
func (d *Digests) SetClock(now func() time.Time) { d.now = now }
