//go:build generate

package policy

// presets are none while they are generated: those of an earlier Preset, which
// has other fields, would not compile.
var presets [0]Preset
