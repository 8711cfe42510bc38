package linux_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reusedNumbers makes directories, waits for others to have their numbers, and
// tries what it may do in one that it made.
const reusedNumbers = `
import os, sys, time
for i in range(500): os.makedirs("made/%d" % i)
open("ready", "w").close()
for _ in range(6000):
    if os.path.exists("go"): break
    time.sleep(0.01)
repo = open("go").read()
def tries(what, f, *a):
    try: f(*a); print(what, "done")
    except OSError as e: print(what, "refused")
tries("hook", lambda: open(repo + "/.git/hooks/post-commit", "w").close())
tries("file", os.unlink, repo + "/.git/hooks/old")
`

// A directory that somebody outside makes with the number of one that the run made,
// and that is gone, is not the run's: file systems give numbers out again at once.
func TestSupervisedReused(t *testing.T) {
	c := newCell(t)
	repo := ""
	made := make(chan bool, 1)
	go func() { made <- takeNumbers(c.ws, &repo) }()
	r := c.run("python3", "-c", reusedNumbers)
	if !<-made {
		t.Log("this file system did not give a number out again")
		return
	}
	if want := "hook refused\nfile refused\n"; r.out != want {
		t.Errorf("exit %d:\n%s%s", r.code, r.out, c.explain())
	}
	if b := c.bare("python3", "-c", strings.ReplaceAll(reusedNumbers, "os.makedirs", "str")); b.out != "hook done\nfile done\n" {
		t.Errorf("control: exit %d:\n%s", b.code, b.out)
	}
}

// takeNumbers removes what the run has made in ws and makes repositories there until
// the hooks of one have a number of those. It always lets the run go on.
func takeNumbers(ws string, repo *string) bool {
	defer func() {
		os.WriteFile(ws+"/go.new", []byte(*repo), 0o644)
		os.Rename(ws+"/go.new", ws+"/go")
	}()
	for range 3000 {
		if _, err := os.Stat(ws + "/ready"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	numbers := map[uint64]bool{}
	list, _ := filepath.Glob(ws + "/made/*")
	for _, dir := range list {
		numbers[number(dir)] = true
	}
	os.RemoveAll(ws + "/made")
	for i := range 500 {
		*repo = "repo" + strconv.Itoa(i)
		hooks := ws + "/" + *repo + "/.git/hooks"
		if os.MkdirAll(hooks, 0o755) == nil && os.WriteFile(hooks+"/old", nil, 0o644) == nil && numbers[number(hooks)] {
			return true
		}
	}
	return false
}

func number(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Sys().(*syscall.Stat_t).Ino
}
