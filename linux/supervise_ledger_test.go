package linux

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Where all files have one number, what the run made is known by its path, and
// nothing is taken for made because of a number.
func TestLedgerNumbersAlike(t *testing.T) {
	one := dirID{fileID{1, 7}, 0}
	at := func(dir, name string) place { return place{one, dir + name, name} }
	l := newLedger()
	l.add(at("/w/sub/", "x"), dirID{}, false)
	if !l.made(at("/w/sub/", "x")) || l.made(at("/w/", "x")) {
		t.Error("a name is known by more than a directory's number")
	}
	l.add(at("/w/", "new"), one, false)
	if l.madeDir(one) || l.made(at("/w/.git/hooks/", "post-commit")) || !l.made(at("/w/", "new")) {
		t.Error("a directory whose holder has its number counts as made")
	}
	l.add(at("/w/new/", "y"), dirID{}, false)
	if !l.made(at("/w/new/", "y")) {
		t.Error("what is made in it is not known")
	}
	l.remove(at("/w/new/", "y"), dirID{})
	if l.made(at("/w/new/", "y")) {
		t.Error("what is gone is still known")
	}

	// Control: with numbers of their own.
	l = newLedger()
	l.add(place{one, "/w/new", "new"}, dirID{fileID{1, 8}, 5}, false)
	if !l.madeDir(dirID{fileID{1, 8}, 5}) || !l.made(place{dirID{fileID{1, 8}, 5}, "/w/new/y", "y"}) || l.madeDir(one) {
		t.Error("a directory with a number of its own")
	}
}

// A directory that is gone may leave its number to another, which was born later.
func TestLedgerNumberReused(t *testing.T) {
	holder, first, second := dirID{fileID{1, 7}, 3}, dirID{fileID{1, 8}, 5}, dirID{fileID{1, 8}, 6}
	l := newLedger()
	l.add(place{holder, "/w/new", "new"}, first, false)
	l.add(place{holder, "/w/x", "x"}, dirID{}, false)
	if !l.madeDir(first) || l.madeDir(second) || l.made(place{second, "/w/new/y", "y"}) {
		t.Error("a number stands for two directories")
	}
	again := dirID{fileID{1, 7}, 9}
	if !l.made(place{holder, "/w/x", "x"}) || l.made(place{again, "/w/x", "x"}) {
		t.Error("a name in a directory that is gone stands for one in the next")
	}
}

// How many directories in a row were made is counted where they are made, and of two
// that have had one number the fewer count, whatever was noted first.
func TestLedgerMadeAbove(t *testing.T) {
	id := func(n uint64) dirID { return dirID{fileID{1, n}, 0} }
	old, x, y, z := id(1), id(2), id(3), id(4)
	l := newLedger()
	l.add(place{old, "/w/x", "x"}, x, false)
	l.add(place{x, "/w/x/y", "y"}, y, false)
	l.add(place{y, "/w/x/y/z", "z"}, z, false)
	if got := [...]int{l.madeAbove(old), l.madeAbove(x), l.madeAbove(y), l.madeAbove(z)}; got != [...]int{0, 1, 2, 3} {
		t.Errorf("made in a row: %v", got)
	}
	l.leaves(place{y, "/w/x/y/z", "z"}, z)
	l.add(place{old, "/w/z", "z"}, z, false) // noted before the removal that made it free
	l.remove(place{y, "/w/x/y/z", "z"}, z)
	l.stays(place{y, "/w/x/y/z", "z"}, z)
	if got := l.madeAbove(z); got != 1 {
		t.Errorf("a number that is used again: %d", got)
	}
	l.remove(place{old, "/w/z", "z"}, z)
	if got := l.madeAbove(z); got != 0 {
		t.Errorf("of what is gone: %d", got)
	}
	l.add(place{y, "/w/x/y/z", "z"}, z, false)
	if got := l.madeAbove(z); got != 3 {
		t.Errorf("made anew: %d", got)
	}
}

// A secret's name in a directory that the run made is known by itself, as long as it
// stands.
func TestLedgerSecrets(t *testing.T) {
	made := dirID{fileID{1, 7}, 5}
	l := newLedger()
	l.add(place{dirID{fileID{1, 2}, 5}, "/w/new", "new"}, made, false)
	key, other := place{made, "/w/new/key.pem", "key.pem"}, place{made, "/w/new/other.pem", "other.pem"}
	l.add(key, dirID{}, true)
	if !l.madeSecret(key) || l.madeSecret(other) || !l.made(other) {
		t.Error("what the run made is not told from what others did")
	}
	if l.remove(key, dirID{}); l.madeSecret(key) {
		t.Error("what is gone is still known")
	}
}

// A run that has many control files and moves what holds them as often as it can has
// its end told all the same, in bounded words, which say that they are not all.
func TestLedgerControlsBounds(t *testing.T) {
	l := newLedger()
	deep := "/w/" + strings.Repeat("d/", 500)
	for i := range controlsMost {
		l.controlMade(fmt.Sprintf("%sp/a/%d/.git/hooks", deep, i))
	}
	l.moving(deep+"p/a", deep+"p/b")
	for i := 0; i < movesMost-1; i += 2 {
		l.moving(deep+"p", fmt.Sprintf("%s%d", deep, i))
		l.moving(fmt.Sprintf("%s%d", deep, i), deep+"p")
	}
	told := make(chan bool)
	go func() {
		list, more := l.controls()
		told <- len(list) <= namesMost && more > 0 && slices.Contains(list, deep+"p/b/0/.git/hooks")
	}()
	select {
	case ok := <-told:
		if !ok {
			t.Error("too many, none where they are, or no word of others")
		}
	case <-time.After(time.Minute):
		t.Error("not told within a minute")
	}

	// Control: what is made and moved once has both names.
	l = newLedger()
	l.controlMade("/w/a/.git/hooks")
	l.moving("/w/a", "/w/b")
	if list, more := l.controls(); !slices.Equal(list, []string{"/w/a/.git/hooks", "/w/b/.git/hooks"}) || more != 0 {
		t.Error(list, more)
	}
}
