package linux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// foreignScript does what root may and who has no capabilities may not: to files of
// another user, and to some that lie where only that one may enter.
const foreignScript = `
import errno, os
def tries(name, do):
    try: do()
    except OSError as e: print(name, errno.errorcode[e.errno])
    else: print(name, "ok")
def write(f):
    with open(f, "r+") as f: f.write("x")
tries("write", lambda: write("theirs/file"))
tries("make", lambda: open("theirs/new", "w"))
tries("mkdir", lambda: os.mkdir("theirs/newdir"))
tries("truncate", lambda: os.truncate("theirs/file", 0))
tries("rename", lambda: os.rename("mine", "theirs/mine"))
tries("chmod", lambda: os.chmod("theirs/file", 0o640))
tries("chown", lambda: os.chown("own", 65534, -1))
tries("utime", lambda: os.utime("theirs/file", (1, 1)))
tries("enter", lambda: write("closed/mine"))
`

// What root's command may not, being without capabilities, nobody does for it.
func TestSupervisedForeignFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		return // there are no capabilities to leave out
	}
	for _, bare := range []bool{true, false} {
		c := newCell(t)
		must(t, os.Chmod(filepath.Dir(c.ws), 0o755))
		c.write("theirs/file", "old")
		c.write("closed/mine", "old")
		c.write("mine", "old")
		c.write("own", "old")
		for _, name := range []string{"theirs/file", "theirs", "closed"} {
			must(t, os.Chown(c.ws+"/"+name, 65534, 65534))
		}
		must(t, os.Chmod(c.ws+"/theirs/file", 0o644))
		must(t, os.Chmod(c.ws+"/closed", 0o700))
		do := c.run
		if bare {
			do = c.bare
		}
		r := do("python3", "-c", foreignScript)
		lines := strings.Split(strings.TrimSpace(r.out), "\n")
		for _, line := range lines {
			if ok := strings.HasSuffix(line, " ok"); bare && !ok {
				t.Errorf("control: %s", line)
			} else if !bare && !strings.HasSuffix(line, "EACCES") && !strings.HasSuffix(line, "EPERM") {
				t.Errorf("%s", line)
			}
		}
		if len(lines) != 9 {
			t.Fatalf("exit %d: %s", r.code, r.out)
		}
	}
}
