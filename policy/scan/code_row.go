package scan

import (
	"sort"
	"strings"
)

// callRow says what calling a function of Python or JavaScript needs.
//
// The names of a row are "py:" or "js:" and the function with its module, as in
// "py:shutil.copy"; "NAME()" is what calling NAME gives, as in
// "py:sqlite3.connect().execute"; ".NAME" is a method of anything else; a name
// that ends in "*" is any function beneath.
//
// To add one: add it to data/calls.toml with a reason, an example and the needs
// of the example, run `go generate ./policy/scan`, and `go test`.
type callRow struct {
	// Args gives the roles of the arguments in order, "@ROLE" that of what the
	// method is of.
	Args string
	// Kw gives the roles of named arguments, or of the keys of an object:
	// "path:r".
	Kw string
	// Needs are needed in any case: "CAPABILITY" or "CAPABILITY TARGET".
	Needs []string
	// Special is a case of special in code_special.go.
	Special string
	Reason  string
}

type callName struct {
	name string
	row  uint16
}

func callOf(name string) *callRow {
	i := sort.Search(len(callNames), func(i int) bool { return callNames[i].name >= name })
	if i < len(callNames) && callNames[i].name == name {
		return &callRows[callNames[i].row]
	}
	return nil
}

// hasCalls says whether the name of any function begins so.
func hasCalls(prefix string) bool {
	i := sort.Search(len(callNames), func(i int) bool { return callNames[i].name >= prefix })
	return i < len(callNames) && strings.HasPrefix(callNames[i].name, prefix)
}

// callRowFor finds the row of a function: by its name, beneath a module, or by
// the method's name alone.
func callRowFor(lang, qual string) *callRow {
	if lang == "js:" {
		for _, m := range [...]string{"fs.promises.", "fs.", "child_process.", "Deno."} {
			if rest, ok := strings.CutPrefix(qual, m); ok {
				qual = strings.TrimSuffix(m, "promises.") + strings.TrimSuffix(rest, "Sync")
				break
			}
		}
	}
	if row := callOf(lang + qual); row != nil {
		return row
	}
	for q := qual; ; {
		i := strings.LastIndexByte(q, '.')
		if j := strings.LastIndexByte(q, '/'); j > i {
			i = j
		}
		if i <= 0 {
			break
		}
		q = q[:i]
		if row := callOf(lang + q + ".*"); row != nil {
			return row
		}
		if row := callOf(lang + q + "/*"); row != nil {
			return row
		}
	}
	if row := callOf(lang + qual + ".*"); row != nil {
		return row
	}
	if i := strings.LastIndexByte(qual, '.'); i >= 0 {
		if row := callOf(lang + qual[i:]); row != nil {
			return row
		}
		// A module that came as a value: nothing else has names like these.
		if name, ok := strings.CutSuffix(qual[i+1:], "Sync"); ok && lang == "js:" {
			if row := callOf(lang + "fs." + name); row != nil {
				return row
			}
			return callOf(lang + "child_process." + name)
		}
	}
	return nil
}
