// Package darwin compiles a Profile into a Seatbelt policy, runs commands under
// sandbox-exec(1) and reads the denials that the kernel logs.
//
// [Compile] is pure and works on every operating system: what it needs to know
// of the machine and the run is [Facts]. The policy does not depend on any
// belief about the order of rules: defaults without filter come first, then
// grants, then denials that name the wildcard and every leaf. Paths and the
// regular expressions made of them are parameters; no text of a manifest is
// ever policy text.
//
// docs/macos.md says what holds and how strongly.
package darwin
