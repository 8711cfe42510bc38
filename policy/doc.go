// Package policy turns what a skill declares and what the user says into
// rights: manifests become entries, entries are composed and narrowed into a
// [Set], and a Set answers single questions ([Set.Decide], for agents' hooks)
// and becomes the Profile of a run ([Set.Profile], for the back ends).
//
//	files --Parse--> Document --Compose--> Set --Decide--> Answer
//	                                        \---Profile--> profiles.Profile
//
// The words that it is written in:
//
//   - An Entry says allow, ask (Confirm) or deny of one capability, or of all
//     that a pattern names, with constraints such as files or hosts.
//   - A Document is a manifest with its entries; entries of one source are a
//     layer. In a layer the entry with the highest priority decides.
//   - A ceiling bounds what the manifest can give. A floor denies, whoever
//     allows. A grant is what the user gives by name: it goes beyond manifest
//     and ceilings, and never beyond a denial.
//   - The tier says how far a skill is trusted. It decides what an entry's
//     "allow" counts for.
//   - The pool holds the manifest's entries, or those of a skill that has none
//     (DefaultEntries), with the effects that tier, preset and answers leave.
//   - Lowering turns an entry into rules of a Profile: files, hosts, variables.
//
// To read the code, begin with entry.go and taxonomy.go, the table of
// capabilities. manifest.go reads a manifest (json.go, toml.go and yaml.go only
// read the text), header.go a SKILL.md. compose.go makes the Set, set.go is what
// it holds. decide.go asks it; profile.go makes a Profile of it, with the
// capabilities' meanings in lower.go and beside it. What protects the user's own
// files is in protected.go, home.go and repository.go. state.go and pool.go are
// for agents' sessions.
//
// The package is pure: files, time, environment and file system are arguments.
// What a manifest says can only narrow what the user allows, and every value
// remembers the file, line and column it comes from.
package policy
