package policy

import _ "embed"

//go:embed schema/skillguard-manifest.schema.json
var jsonSchema []byte

//go:embed schema/skillrun.schema.json
var tomlSchema []byte

// Schema gives the JSON Schema (2020-12) of a manifest in a form: JSON for
// skillguard-manifest.json, TOML for skillrun.toml.
func Schema(form Form) []byte {
	if form == TOML {
		return append([]byte(nil), tomlSchema...)
	}
	return append([]byte(nil), jsonSchema...)
}
