package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/policy/session"
)

// A lock that is swept while somebody waits for it is no lock: whoever waited
// makes another, and holds that.
func TestSweptWhileWaiting(t *testing.T) {
	w := newWorld(t, "standard")
	w.start().Close()
	locks, err := filepath.Glob(filepath.Join(w.set.Dir, "sessions", "*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	f, err := os.Open(locks[0])
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan *session.Session, 1)
	go func() {
		s, err := session.Start(ctx, w.set, "s1")
		if err != nil {
			t.Error(err)
		}
		started <- s
	}()
	for opened := 0; opened < 2; time.Sleep(time.Millisecond) { // by us, and by whoever waits
		opened = 0
		fds, _ := filepath.Glob("/proc/self/fd/*")
		for _, fd := range fds {
			if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, locks[0]) {
				opened++
			}
		}
	}
	if err := os.Remove(locks[0]); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s := <-started
	if s == nil {
		return
	}
	defer s.Close()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if other, err := session.Start(short, w.set, "s1"); err == nil {
		other.Close()
		t.Error("two hold the session")
	}
}
