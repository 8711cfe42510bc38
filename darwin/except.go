package darwin

import (
	"slices"
	"strings"
)

// exceptions writes what a line leaves alone. A pattern counts only where it
// stands at a covered name or above: beneath one it counts for nothing. Regular
// expressions cannot say which comes first, so that a name that is both above
// and beneath exceptions is covered, too: lines that are alike share one filter.
func (c *compiler) exceptions(v *cover, all []cover) string {
	var patterns []string
	var text string
	for _, e := range v.leaves {
		if strings.HasPrefix(e, "/") {
			text += " (require-not " + c.w.subpath(moved(e)) + ")"
		} else {
			patterns = append(patterns, e)
		}
	}
	if len(patterns) == 0 {
		return text
	}
	if v.path != "" {
		stem := "^" + strings.TrimSuffix(c.root(v.path), "/") + "/([^/]+/)*"
		return text + " (require-not " + c.w.regex(stem+globs(patterns)+andBeneath) + ")"
	}
	var names []string
	for i := range all {
		if o := &all[i]; o.stem == v.stem && o.access == v.access && slices.Equal(o.leaves, v.leaves) {
			names = append(names, o.names...)
		}
	}
	if len(names) == 0 {
		return text + " (require-not " + c.w.regex(v.stem+globs(patterns)+andBeneath) + ")"
	}
	beneath := []string{"([^/]+/)*" + globs(patterns)}
	for _, e := range patterns {
		for i := 0; i < len(e); i++ {
			if e[i] == '/' {
				beneath = append(beneath, glob(e[i+1:])) // its head may be the covered name's tail
			}
		}
	}
	return text + " (require-any (require-not " + c.w.regex(v.stem+globs(patterns)+andBeneath) + ") " +
		c.w.regex(v.stem+globs(names)+"/("+strings.Join(beneath, "|")+")"+andBeneath) + ")"
}

// globs writes patterns, any of which is to match.
func globs(patterns []string) string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = glob(p)
	}
	if len(out) == 1 {
		return out[0]
	}
	return "(" + strings.Join(out, "|") + ")"
}
