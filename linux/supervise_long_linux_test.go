package linux_test

import "testing"

const longScript = `
import errno, os
for size in (4096, 5000):
    try: os.truncate("old", size)
    except OSError as e: print(errno.errorcode[e.errno], os.stat("old").st_size)
    else: print("ok", size)
`

// Who makes files longer for the run has its limit.
func TestSupervisedTooLongRefused(t *testing.T) {
	c := newCell(t)
	c.profile.Limits.FileSize = 4096
	const bare, held = "ok 4096\nok 5000\n", "ok 4096\nEFBIG 4096\n"
	c.write("old", "x")
	if r := c.bare("python3", "-c", longScript); r.out != bare {
		t.Fatalf("control: exit %d: %s", r.code, r.out)
	}
	c.write("old", "x")
	if r := c.run("python3", "-c", longScript); r.out != held {
		t.Errorf("exit %d: %s%s", r.code, r.out, c.explain())
	}
}
