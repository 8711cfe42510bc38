package policy

import (
	"fmt"
	"strconv"
	"time"
)

// Term is how long an approval holds: for a time, or to the end of a day.
type Term struct {
	length time.Duration
	day    time.Time // if length is 0
}

// ParseTerm reads a number of hours or days, as "12h" or "30d", or the last day,
// as "2026-12-31".
func ParseTerm(s string) (Term, error) {
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return Term{day: day}, nil
	}
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour}
	if n := len(s) - 1; n > 0 && units[s[n]] > 0 && s[0] != '+' {
		// Up to a century, which no sum with a date overflows.
		if v, err := strconv.Atoi(s[:n]); err == nil && v > 0 && v <= int(36525*24*time.Hour/units[s[n]]) {
			return Term{length: time.Duration(v) * units[s[n]]}, nil
		}
	}
	return Term{}, fmt.Errorf("%q is not a time like 12h or 30d, nor a day like 2026-12-31", Escape(s))
}

// Until gives the first time at which what begins now holds no longer, under all
// of the terms; zero without any. A day ends as in now's zone.
func Until(now time.Time, terms ...Term) (end time.Time) {
	for _, t := range terms {
		ends := now.Add(t.length)
		if t.length == 0 {
			y, m, d := t.day.Date()
			ends = time.Date(y, m, d+1, 0, 0, 0, 0, now.Location())
		}
		end = Sooner(end, ends)
	}
	return end
}

// Sooner gives the earlier of two ends, of which zero is none.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
