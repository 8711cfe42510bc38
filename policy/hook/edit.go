package hook

import (
	"errors"
	"strconv"
	"strings"
)

// Which containers Install made is told by the text itself: inside one of its
// own, there is a line break before the child; in one that was there and empty,
// the child follows the bracket at once, and what was inside comes after it.

var errNotObject = errors.New("the settings do not hold hooks where they should: an object of lists")

// insert puts text as the first element of the list that keys lead to, and
// makes what is not there; made says that the outermost object is Install's too.
func insert(data []byte, keys [2]string, text string, made bool) ([]byte, error) {
	at, err := parseJSON(data, true)
	if err != nil {
		return nil, err
	}
	unit := indent(data, &at)
	kind := byte('[')
	for depth, key := range keys {
		if at.Kind != '{' {
			return nil, errNotObject
		}
		next := at.Get(key)
		if next == nil {
			// From the inside out: the list, and the objects around it.
			for d := len(keys) - 1; d >= depth; d-- {
				open, closing := "{", "}"
				if d == len(keys)-1 {
					open, closing = "[", "]"
				}
				text = strconv.Quote(keys[d]) + ": " + open + "\n" + strings.Repeat(unit, d+2) + text + "\n" + strings.Repeat(unit, d+1) + closing
			}
			kind = '{'
			break
		}
		at = *next
	}
	if at.Kind != kind {
		return nil, errNotObject
	}
	first := at.Start + 1
	space := first
	for space < len(data) && strings.IndexByte(" \t\r\n", data[space]) >= 0 {
		space++
	}
	if len(at.Members)+len(at.Items) > 0 {
		text = string(data[first:space]) + text + ","
	} else if made {
		text = "\n" + unit + text
	}
	return []byte(string(data[:first]) + text + string(data[first:])), nil
}

// indent is by how much the settings indent; two spaces if they do not.
func indent(data []byte, top *value) string {
	if len(top.Members) > 0 {
		before := string(data[top.Start+1 : top.Members[0].Start])
		if i := strings.LastIndexByte(before, '\n'); i >= 0 && strings.Trim(before[i+1:], " \t") == "" && before[i+1:] != "" {
			return before[i+1:]
		}
	}
	return "  "
}

// cut takes out the last child of a trail, and the containers around it that
// Install made and that are empty then; nil if that is all there is.
func cut(data []byte, trail []step) []byte {
	last := trail[len(trail)-1]
	start, end := last.span(last.child)
	count := len(last.container.Members) + len(last.container.Items)
	switch {
	case count > 1 && last.child < count-1:
		// With its comma, and the space up to the next.
		next, _ := last.span(last.child + 1)
		for end < next && data[end] != ',' {
			end++
		}
		for end++; end < next && strings.IndexByte(" \t\r\n", data[end]) >= 0; {
			end++
		}
	case count > 1:
		_, start = last.span(last.child - 1)
	case start > last.container.Start+1 && len(trail) == 1:
		return nil
	case start > last.container.Start+1:
		return cut(data, trail[:len(trail)-1])
	}
	return []byte(string(data[:start]) + string(data[end:]))
}

// span is where a child lies in the text.
func (s *step) span(child int) (start, end int) {
	if s.container.Kind == '{' {
		m := &s.container.Members[child]
		return m.Start, m.Value.End
	}
	return s.container.Items[child].Start, s.container.Items[child].End
}
