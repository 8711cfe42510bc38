package main

import (
	"os"

	"skillrun/darwin"
	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/egress"
)

// maxLook is how many directory entries are looked at before a policy falls
// back to what needs no look.
const maxLook = 200_000

// thisMac gives the facts of this machine for showing a policy.
func thisMac(j *job) (*darwin.Facts, error) {
	version, err := darwin.Version()
	if err != nil {
		return nil, err
	}
	tmp, err := j.host.Resolve(os.TempDir())
	if err != nil {
		return nil, err
	}
	return &darwin.Facts{
		OS: "darwin", Version: version, Home: j.host.Home, User: j.host.User,
		Workspace: j.workspace, Tmp: tmp + "/skillrun", CaseSensitive: j.host.CaseSensitive,
	}, nil
}

// lookAround lists what a policy for this machine wants to know, and gives the profile
// with what names lead to here.
func lookAround(f *darwin.Facts, p *profiles.Profile) *profiles.Profile {
	p, all := darwin.WithLinked(os.DirFS("/"), p, darwin.MostSearched)
	f.Unsearched = !all
	f.Exists, f.Contents = darwin.Look(os.DirFS("/"), p, maxLook)
	if parents, err := egress.NewParents(os.Getenv); err == nil { // a run tells of it
		f.Proxied = parents.Serve(&p.Network)
	}
	return p
}

// become makes this process the one between launcher and command, where it was
// started as that.
func become(args []string) {
	if err := sandbox.BecomeLimited(args); err != nil {
		printError(err)
		os.Exit(exitRefused)
	}
}
