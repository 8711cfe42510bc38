package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
)

// unescape reads what encoding/json reads, and no more: a surrogate without its
// other half is no character, and told apart from U+FFFD.
func TestUnescape(t *testing.T) {
	tails := []string{"", "0", "00e", "00e9", "00E9f", "12g4", "ffff", "d83d", `d83d\`, `d83d\u`, `d83d\ude0`, `d83d\ude00`, `D83D\uDE00x`, `d83d\u0041`, `d83d ude00`, `de00\ud83d`, `dfff`, `d83d\ud83d`}
	good := 0
	for c := range 0x80 {
		for _, tail := range tails {
			escape := `\` + string(rune(c)) + tail
			r, size := unescape([]byte(escape))
			var want string
			err := json.Unmarshal([]byte(`"`+escape[:max(size, 2)]+`"`), &want)
			if (err == nil) != (size > 0) || size > 0 && want != string(r) {
				// What encoding/json makes U+FFFD of is refused.
				if size > 0 || []rune(want)[0] != '\ufffd' {
					t.Errorf("%q: %q of %d bytes, want %q, %v", escape, r, size, want, err)
				}
			}
			if half := strings.Contains(want, "\ufffd"); half != (r < 0) && size > 0 {
				t.Errorf("%q: %d", escape, r)
			}
			if size > 0 {
				good++
			}
		}
	}
	if want := 8*len(tails) + 5 + 9; good != want { // \u of: é twice, U+FFFF, two pairs, and half of one
		t.Errorf("%d escapes are read, want %d", good, want)
	}
	for _, none := range []string{"", `\`, "n", `n\n`} {
		if _, size := unescape([]byte(none)); size != 0 {
			t.Errorf("%q is %d bytes of an escape", none, size)
		}
	}
}
