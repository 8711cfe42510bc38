//go:build linux

// Package attack holds what is tried against a run, and the ordinary work that
// must go on in one.
//
// An attempt is a few lines of Python in attempts/GROUP.py, begun by a line
//
//	#: NAME [needs=A,B] [limit=CLAUSE] [flags=--x=1,--y=2] [control=may|no] [tty] [victim]
//
// It is judged from outside, by canaries that are made for it alone ([Try]): the
// same judge looks at the bare run, where it has to find something, and at the
// confined one, where it must not. Only where the kernel's answer is the whole
// effect (a ring, a namespace) the attempt says itself what it got; its word
// counts against the sandbox alone, and the bare run shows that it says so.
//
//	needs    what the bare run needs to succeed: see [Environment.Has]
//	limit    the clause that says so where it gets through: docs/limits.md
//	flags    given to skillrun
//	control  may: the bare run may get nothing; no: it must not
//	tty      runs on a terminal of its own
//	victim   another process of the same user is there; VICTIM in the code says so too
//
// A job is a few lines of shell in jobs/GROUP.sh under a line of the same form.
// It has to end with exit code 0, and to print what it prints bare. With the word
// "plain" no secret lies in its workspace: without namespaces a run cannot start
// programs that it makes beside one (docs/troubleshooting.md).
package attack
