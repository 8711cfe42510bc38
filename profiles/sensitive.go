package profiles

import (
	"path"
	"strconv"
	"strings"
)

// SensitivePaths gives the denials that guard credential stores and private data of
// this user and machine: every access, or every change where it may be read, class
// Sensitive, whether or not the store exists, in its default place and where the
// environment moves it to.
// Where a store is reached through a symbolic link there are two denials, one
// for the path as written and one for where it leads, since one back end goes
// by names and the other by files; so it is with the names in a store that people
// have as links. Nothing on the way is changed, links among it: who did would make
// another file the store.
//
// The stores of the account's own home are guarded as well where the
// environment names another: who can set HOME must not open them by that.
//
// A variable that holds a relative path, "/" or a directory that holds the
// user's home is passed over: it names no store, and would close everything. So is
// /dev/null, which variables name and links lead to for no file.
func SensitivePaths(h *Host) []Denial {
	denials := make([]Denial, 0, 2*len(storeRows))
	seen := make(map[string]bool, 2*len(storeRows))
	look := newLookout(h)
	for i := range storeRows {
		row := &storeRows[i]
		if row.OS != "" && row.OS != h.OS {
			continue
		}
		deny := func(p, match string, access Access, class Class) {
			if key := p + "\x00" + match + "\x00" + access.String() + class.String(); p != "" && p != noFile && !seen[key] {
				seen[key] = true
				denials = append(denials, Denial{
					Path: p, Match: match, Access: access, Except: row.Except, Class: class,
					Origin: Origin{Source: "built-in:sensitive-paths", Reason: row.Reason},
				})
			}
		}
		access := AllAccess
		if row.Read {
			access = Change
		}
		leads := func(name, match string) (to string) {
			to, _, _ = look.at(name)
			if to != name && (to != "" || len(h.Links(name)) > 0) {
				deny(to, match, access, Sensitive)
				_, way, _ := h.Held(name, Origin{})
				for _, step := range way {
					if path.Dir(step.Path) != "/" && !OfSystem(step.Path) {
						deny(step.Path, "", step.Access, Control)
					}
				}
			}
			return to
		}
		add := func(name string) {
			deny(name, row.Match, access, Sensitive)
			if at := leads(name, row.Match); at != "" {
				for _, inside := range row.Holds {
					leads(path.Join(at, inside), "")
				}
			}
		}
		for _, name := range h.places(row.Path) {
			add(name)
		}
		if rest, ok := strings.CutPrefix(row.Path, "~/"); ok && h.Account != "" && h.Account != h.Home {
			add(path.Join(h.Account, rest))
		}
		for _, moved := range row.Moved {
			for _, name := range h.expand(moved, row.List) {
				if !h.holdsHome(name) {
					add(name)
				}
			}
		}
	}
	return denials
}

// holdsHome says whether one of the user's homes is dir or lies beneath it.
func (h *Host) holdsHome(dir string) bool {
	return Within(dir, h.Home) || Within(dir, h.Account) || dir == "/"
}

// SocketWarning says what whoever talks to the unix socket at path (or the
// abstract name "@name") gains beyond its own name, as a sentence for the
// person who is asked to grant it. It knows sockets by place, so "" means
// only that nothing is known about this one.
func SocketWarning(h *Host, path string) string {
	for i := range socketRows {
		row := &socketRows[i]
		if row.OS != "" && row.OS != h.OS {
			continue
		}
		for _, pattern := range append([]string{row.Path}, row.Moved...) {
			for _, name := range h.expand(pattern, false) {
				if matchHead(name, path) {
					return row.Reason
				}
			}
		}
	}
	return ""
}

// matchHead says whether the first components of name match pattern, case
// counting for nothing.
func matchHead(pattern, name string) bool {
	for {
		p, ps, more := strings.Cut(pattern, "/")
		c, cs, rest := strings.Cut(name, "/")
		if !matchName(p, c) || p == "*" && c == "" {
			return false
		}
		if !more {
			return true
		}
		if !rest {
			return false
		}
		pattern, name = ps, cs
	}
}

// xdg are the base directories with the variables that move them, from the
// XDG Base Directory Specification.
var xdg = [...]struct{ home, variable string }{
	{"~/.config/", "XDG_CONFIG_HOME"},
	{"~/.cache/", "XDG_CACHE_HOME"},
	{"~/.local/share/", "XDG_DATA_HOME"},
	{"~/.local/state/", "XDG_STATE_HOME"},
}

// places gives the default place of a row, and the place that an XDG variable
// moves it to.
func (h *Host) places(template string) []string {
	names := h.expand(template, false)
	for _, x := range xdg {
		if rest, ok := strings.CutPrefix(template, x.home); ok && h.Env[x.variable] != "" {
			names = append(names, h.expand("$"+x.variable+"/"+rest, false)...)
		}
	}
	return names
}

// expand replaces "~" and "$NAME" in a row's path and gives what is then an
// absolute path (or an abstract socket's name): nothing if a variable is not
// set. Of a variable that holds a list, each element counts; of one that holds
// a socket's address (unix:path=..., unix://..., tmux's "path,pid,n"), the path.
func (h *Host) expand(template string, list bool) []string {
	if strings.HasPrefix(template, "@") {
		return []string{template}
	}
	parts := strings.Split(template, "/")
	for i, part := range parts {
		variable, ok := strings.CutPrefix(part, "$")
		switch {
		case part == "~" && i == 0 && h.Home != "":
			parts[i] = h.Home
		case part == "~" && i == 0:
			return nil
		case ok && h.Env[variable] != "":
			parts[i] = h.Env[variable]
		case ok && variable == "XDG_RUNTIME_DIR" && h.OS == "linux":
			parts[i] = "/run/user/" + strconv.Itoa(h.UID)
		case ok:
			return nil
		}
	}
	values := []string{strings.Join(parts, "/")}
	if list {
		values = strings.Split(values[0], ":")
	}
	names := values[:0]
	for _, v := range values {
		if rest, ok := strings.CutPrefix(v, "unix:"); ok {
			rest = strings.TrimPrefix(rest, "path=")
			v, _, _ = strings.Cut(rest, ",")
		} else if strings.HasPrefix(template, "$TMUX") {
			v, _, _ = strings.Cut(v, ",")
		}
		if rest, ok := strings.CutPrefix(v, "~/"); ok && h.Home != "" {
			v = h.Home + "/" + rest
		}
		if strings.HasPrefix(v, "/") && strings.IndexByte(v, 0) < 0 {
			names = append(names, path.Clean(v))
		}
	}
	return names
}
