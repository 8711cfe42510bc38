package linux

import "testing"

// Where all files have one number, what the run made is known by its path, and
// nothing is taken for made because of a number.
func TestLedgerNumbersAlike(t *testing.T) {
	one := fileID{1, 7}
	at := func(dir, name string) place { return place{one, dir + name, name} }
	l := newLedger()
	l.add(at("/w/sub/", "x"), fileID{})
	if !l.made(at("/w/sub/", "x")) || l.made(at("/w/", "x")) {
		t.Error("a name is known by more than a directory's number")
	}
	l.add(at("/w/", "new"), one)
	if l.madeDir(one) || l.made(at("/w/.git/hooks/", "post-commit")) || !l.made(at("/w/", "new")) {
		t.Error("a directory whose holder has its number counts as made")
	}
	l.add(at("/w/new/", "y"), fileID{})
	if !l.made(at("/w/new/", "y")) {
		t.Error("what is made in it is not known")
	}
	l.remove(at("/w/new/", "y"), fileID{})
	if l.made(at("/w/new/", "y")) {
		t.Error("what is gone is still known")
	}

	// Control: with numbers of their own.
	l = newLedger()
	l.add(place{one, "/w/new", "new"}, fileID{1, 8})
	if !l.madeDir(fileID{1, 8}) || !l.made(place{fileID{1, 8}, "/w/new/y", "y"}) || l.madeDir(one) {
		t.Error("a directory with a number of its own")
	}
}
