package main_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"skillrun/sandbox/sandboxtest"
)

// A directory that nobody can list may be left open to the run of a user who cannot
// change that, and to no run of its owner: whose it is is looked at
// again, even though nothing else of it has changed.
func TestMemoForeignDirectory(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "root")
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			uid := 61000 + rand.IntN(4000) // nobody's
			t.Cleanup(func() { os.RemoveAll("/tmp/skillrun-" + strconv.Itoa(uid)) })
			dir, env := home(t)
			root := filepath.Dir(dir)
			for _, line := range [][]string{
				{"cp", program(t), root + "/skillrun"},
				{"mkdir", dir + "/d"},
				{"sh", "-c", "echo secret >" + dir + "/d/.env"},
				{"chown", "-R", strconv.Itoa(uid), filepath.Dir(root)},
				{"chown", "root", dir + "/d"},
				{"chmod", "0", dir + "/d"},
			} {
				if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v: %s", line, err, out)
				}
			}
			show := func(argv ...string) string {
				cmd := exec.Command("sh", "-c", `"$@"`, "-")
				cmd.Args = append(append(cmd.Args, argv...), "sh", "-c", "chmod 700 d 2>/dev/null; cat d/.env 2>/dev/null; chmod 0 d 2>/dev/null")
				cmd.Dir, cmd.Env = dir, env
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
				out, _ := cmd.Output()
				return string(out)
			}
			run := append(append([]string{root + "/skillrun", "--grant", "filesystem.write:."}, flags...), "--")
			l := launches{t: t, dir: dir}
			for range 2 { // the first makes the state directory, which is a change
				if out := show(run...); out != "" {
					t.Fatalf("somebody else's: %q", out)
				}
			}
			if l.memos() == "" {
				t.Fatal("nothing was kept, so that this shows nothing")
			}
			if err := os.Chown(dir+"/d", uid, -1); err != nil {
				t.Fatal(err)
			}
			if out := show("env"); out != "secret\n" {
				t.Fatalf("control: %q", out)
			}
			if out := show(run...); out != "" {
				t.Errorf("the owner's run: %q", out)
			}
		})
	}
}
