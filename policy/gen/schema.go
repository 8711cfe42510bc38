package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"slices"
	"strings"

	"skillrun/policy"
)

type object = map[string]any

// schemas writes the JSON Schemas of both file forms. What a schema cannot say
// (regular expressions that compile, times that exist) the parser checks.
func schemas() {
	for name, toml := range map[string]bool{"skillguard-manifest.schema.json": false, "skillrun.schema.json": true} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(schema(toml)); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile("schema/"+name, b.Bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

func schema(toml bool) object {
	capabilities := []string{"*"}
	for _, c := range policy.Taxonomy() {
		group, _, _ := strings.Cut(c.Name, ".")
		capabilities = append(capabilities, c.Name, group+".*")
	}
	slices.Sort(capabilities)
	capabilities = slices.Compact(capabilities)

	const line = `^[^\x00-\x1f\x7f-\x9f]+$`
	text := object{"type": "string", "pattern": line}
	prose := object{"type": "string", "pattern": `^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$`}
	texts := object{"type": "array", "items": text}
	positive := object{"type": "integer", "minimum": 1}
	size := object{"anyOf": []any{positive, object{"type": "string", "pattern": "^[0-9]+ ?(B|[KMGT](i?B)?)?$"}}}
	clock := object{"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$"}
	when := object{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`}
	scalar := object{"anyOf": []any{text, object{"type": []string{"number", "boolean"}}, object{"const": ""}}}

	constraints := table(object{
		"workspace_only":          object{"type": "boolean", "description": "file capabilities stay inside the workspace"},
		"denied_command_patterns": described(texts, "regular expressions (RE2) that no command line may match"),
		"arguments":               object{"type": "object", "additionalProperties": object{"anyOf": []any{scalar, object{"type": "array", "items": scalar}}}, "description": "accepted values per argument; names lists environment variables"},
		"resource_scope":          described(texts, "paths, hosts or variables; an empty list grants nothing"),
		"time_window": table(object{
			"start": clock, "end": clock, "timezone": object{"type": "string", "pattern": `^(UTC|[+-][0-9]{2}:[0-9]{2})$`},
			"days": object{"type": "array", "minItems": 1, "items": object{"type": "string", "pattern": "^([Ss][Uu][Nn]|[Mm][Oo][Nn]|[Tt][Uu][Ee]|[Ww][Ee][Dd]|[Tt][Hh][Uu]|[Ff][Rr][Ii]|[Ss][Aa][Tt])$"}},
		}),
		"rate_limit": table(object{
			"max": positive, "per": object{"enum": []string{"second", "minute", "hour", "day", "session"}},
			"per_seconds": positive, "max_bytes": size, "max_connections": positive,
		}),
	})
	window := constraints["properties"].(object)["time_window"].(object)
	window["dependentRequired"] = object{"start": []string{"end"}, "end": []string{"start"}}
	rate := constraints["properties"].(object)["rate_limit"].(object)
	rate["minProperties"] = 1
	rate["dependentRequired"] = object{"per": []string{"max"}, "per_seconds": []string{"max"}}
	rate["not"] = object{"required": []string{"per", "per_seconds"}}
	permission := table(object{
		"capability":   object{"enum": capabilities},
		"effect":       object{"enum": []string{"allow", "confirm", "deny"}, "description": "absent: what the capability's protection level says"},
		"priority":     object{"type": "integer", "minimum": -1 << 31, "maximum": 1<<31 - 1, "description": "the highest wins, the strictest among equals"},
		"constraints":  object{"$ref": "#/$defs/constraints"},
		"fallback_msg": prose, "source": text, "granted_at": when, "expires_at": when,
	}, "capability")
	permissions := object{"type": "array", "items": object{"$ref": "#/$defs/permission"}}
	properties := object{
		"$schema": prose, "description": prose,
		"skill_metadata":   table(object{"name": text, "version": text, "description": prose, "trust_tier": object{"type": "integer", "minimum": 1, "maximum": 4}}, "name"),
		"permissions":      permissions,
		"session_defaults": table(object{"permissions": permissions}),
	}
	s := table(properties)
	s["title"] = "SkillGuard manifest"
	if toml {
		s["title"] = "skillrun.toml"
		duration := object{"type": "string"}
		properties["limits"] = table(object{"memory": size, "file_size": size, "output": size, "processes": positive, "open_files": positive, "cpu": duration, "wall": duration})
		properties["environment"] = object{"type": "object", "propertyNames": object{"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}, "additionalProperties": prose}
		properties["toolchains"] = texts
	}
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["oneOf"] = []any{object{"required": []string{"permissions"}}, object{"required": []string{"session_defaults"}}}
	s["$defs"] = object{"permission": permission, "constraints": constraints}
	return s
}

// table is an object with these keys and no others.
func table(properties object, required ...string) object {
	t := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		t["required"] = required
	}
	return t
}

func described(o object, what string) object {
	d := object{"description": what}
	for k, v := range o {
		d[k] = v
	}
	return d
}
