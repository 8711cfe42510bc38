// Package sbpl reads policies written in Apple's Sandbox Profile Language and
// answers what they decide, on any operating system.
//
// It knows the subset that package darwin emits and refuses everything else,
// so that a policy which passes here cannot hold a surprise: rules with path,
// name, network and target filters, parameters, and one conditional form for
// operations that older releases lack.
//
// No document of Apple's says how rules combine. Three beliefs are in
// circulation; [Evaluate] computes all of them and says when they differ.
package sbpl
