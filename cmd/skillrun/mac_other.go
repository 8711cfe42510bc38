//go:build !darwin

package main

import (
	"path/filepath"

	"skillrun/darwin"
	"skillrun/profiles"
)

// thisMac makes up a Mac, since this machine is none: the user's, with the
// workspace and nothing else in the home.
func thisMac(j *job) (*darwin.Facts, error) {
	user := j.host.User
	if user == "" {
		user = "user"
	}
	home := "/Users/" + user
	return &darwin.Facts{
		OS: "darwin", Version: "15", Home: home, User: user, Workspace: home + "/" + filepath.Base(j.workspace),
		Tmp: "/private/var/folders/zz/skillrun/T/skillrun", Exists: []string{},
	}, nil
}

func lookAround(_ *darwin.Facts, p *profiles.Profile) *profiles.Profile { return p }

// become does nothing: limits are set between fork and exec.
func become([]string) {}
