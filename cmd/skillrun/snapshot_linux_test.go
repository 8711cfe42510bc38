package main

import (
	"fmt"
	"os"
	"testing"
)

// procfs has names that it does not list.
func TestSnapshotOfUnlisted(t *testing.T) {
	s := newSnapshot()
	for i := range 2 * listAfter {
		s.Lstat(fmt.Sprintf("proc/absent%d", i))
	}
	name := fmt.Sprintf("proc/%d", os.Getpid())
	if _, err := s.Lstat(name); err != nil {
		t.Error(err)
	}
	task, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	// A thread's number is a directory of /proc that no listing shows.
	for _, e := range task {
		if _, err := s.Lstat("proc/" + e.Name()); err != nil {
			t.Errorf("thread %s: %v", e.Name(), err)
		}
	}
}
