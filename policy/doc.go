// Package policy turns what a skill declares and what the user says into
// rights: manifests become entries, entries are composed and narrowed into a
// [Set], and a Set answers single questions ([Set.Decide], for agents' hooks)
// and becomes the Profile of a run ([Set.Profile], for the back ends).
//
//	files --Parse--> Document --Compose--> Set --Decide--> Answer
//	                                        \---Profile--> profiles.Profile
//
// The package is pure: files, time, environment and file system are arguments.
// What a manifest says can only narrow what the user allows, and every value
// remembers the file, line and column it comes from.
package policy
