package linux_test

import (
	"os"
	"testing"
)

func TestSupervisedShell(t *testing.T) {
	c := newCell(t)
	c.write("old.txt", "old\n")
	r := c.run("sh", "-ec", `
		echo new > new.txt; cat new.txt; mkdir -p a/b; echo x > a/b/c; mv a/b/c a/d; ln -s a/d l; cat l; rm -r a l
		echo more >> old.txt; echo whole > tmp; mv tmp old.txt; cat old.txt
		umask 077; : > private; chmod 600 private; touch private
		! rm old.txt`)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
	}
	if fi, err := os.Stat(c.ws + "/private"); err != nil || fi.Mode() != 0o600 {
		t.Errorf("private: %v %v", fi, err)
	}
	t.Log(r.out, c.explain())
}
