package sandbox

import (
	"os"
	"sync"
	"testing"
)

// Runs that start and end at once sweep each other's directories, and none may
// lose its own.
func TestOwnAmongOthers(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 50 {
				o, err := newOwnBelow(tempRoots[:])
				if err == nil {
					err = o.furnish()
				}
				if err == nil {
					_, err = os.Stat(o.masked())
				}
				if err != nil {
					t.Error(err)
					return
				}
				if err := o.remove(); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(o.dir); !os.IsNotExist(err) {
					t.Errorf("%s is left: %v", o.dir, err)
				}
			}
		}()
	}
	all.Wait()
}
