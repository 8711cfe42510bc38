package policy

import "skillrun/profiles"

// Preset is a named group of settings: how trusting, how strict, which limits.
// The shipped ones are data, see presets.toml.
type Preset struct {
	Name   string
	Reason string
	// RejectUntrusted refuses skills below tier Approved.
	RejectUntrusted bool
	// Strict makes a gap of every clause that the kernel does not hold.
	Strict bool
	// Approve is how confirm entries are answered unless a flag says.
	Approve Approve
	// Overlay runs on a copy of the workspace whose changes are accepted
	// afterwards.
	Overlay bool
	Limits  profiles.Limits
	// WritableFiles are variables that name a file which the run may write, if
	// they are set: GITHUB_OUTPUT.
	WritableFiles []string
	// ProtectedFiles are variables that name a file which the run may neither
	// read nor write.
	ProtectedFiles []string
	// HiddenVariables are never passed; a "*" may stand at an end.
	HiddenVariables []string
	// HideCheckoutCredentials keeps .git/config unreadable, where CI systems
	// put their tokens.
	HideCheckoutCredentials bool
	// Floors are deny entries that nothing lifts.
	Floors []Entry
}
