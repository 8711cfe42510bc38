package policy_test

import (
	"strings"
	"testing"
	"time"

	"skillrun/policy"
)

func TestTerm(t *testing.T) {
	zone := time.FixedZone("here", -5*3600)
	now := time.Date(2026, 11, 23, 22, 0, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"1h":         now.Add(time.Hour),
		"30d":        now.AddDate(0, 0, 30),
		"36525d":     now.Add(36525 * 24 * time.Hour),
		"2026-12-31": time.Date(2027, 1, 1, 0, 0, 0, 0, zone),
		"2026-11-23": time.Date(2026, 11, 24, 0, 0, 0, 0, zone),
		"2024-02-29": time.Date(2024, 3, 1, 0, 0, 0, 0, zone), // past, for whoever asks to say
	} {
		term, err := policy.ParseTerm(text)
		if got := policy.Until(now, term); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "d", "h", "0d", "0h", "-1d", "+1d", "1", "1.5d", " 1d", "1 d", "30D", "30days", "2w", "5m", "36526d", "876601h", "99999999999999999999d", "2026-02-30", "2026-1-1", "tomorrow", "1d\n", "\x1b[2J1d"} {
		if term, err := policy.ParseTerm(bad); err == nil || !strings.Contains(err.Error(), "is not a time like 12h or 30d") || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: %v, %v", bad, term, err)
		}
	}
	// The soonest counts, in any order.
	long, _ := policy.ParseTerm("30d")
	short, _ := policy.ParseTerm("2026-11-24")
	for _, terms := range [][]policy.Term{{long, short}, {short, long}} {
		if got := policy.Until(now, terms...); !got.Equal(time.Date(2026, 11, 25, 0, 0, 0, 0, zone)) {
			t.Errorf("%v", got)
		}
	}
	if got := policy.Until(now); !got.IsZero() {
		t.Errorf("no term ends %v", got)
	}
}
