package scan

import "strings"

type valKind uint8

const (
	valUnknown valKind = iota
	valText
	valList
	valDict
	valThing  // a module, a function or what a call gave; qual names it
	valChoice // one of items
)

// val is what is known of the value of an expression, before anything runs.
type val struct {
	kind    valKind
	text    string // of valText; what is not known stands in it as "$NAME"
	exact   bool   // text is all of it
	decoded bool   // spelled by chr(), hex, base64 or the like
	// from says where it comes from, if that matters: "many" for any number of
	// values, "temp" for a temporary file that the text makes, "cwd:DIR" for the
	// current directory as it was asked for in DIR, "none" for None.
	from  string
	qual  string // of valThing: "os.path.join", "open()" for what a call gave
	items []val
	keys  []string // of a dictionary; of a call, the names of items
	recv  *val     // what a method is of
	body  *node    // of a function of the text
}

func text(s string) val { return val{kind: valText, text: s, exact: true} }

// known says that v is a text, and all of it.
func (v val) known() bool { return v.kind == valText && v.exact }

func (v val) field() field {
	if v.kind != valText {
		return field{}
	}
	own := v.from == "temp" && !strings.Contains(strings.TrimPrefix(v.text, "$"), "$") && !strings.Contains(v.text, "..")
	return field{text: v.text, exact: v.exact, temp: own}
}

// each calls f for every value that v may be.
func (v val) each(f func(val)) {
	if v.kind != valChoice {
		f(v)
		return
	}
	for _, x := range v.items {
		x.each(f)
	}
}

func choice(all ...val) val {
	var list []val
	for _, v := range all {
		v.each(func(x val) { list = append(list, x) })
	}
	if len(list) == 1 {
		return list[0]
	}
	if len(list) > maxAlts {
		return val{}
	}
	return val{kind: valChoice, items: list}
}

// key finds a named item.
func (v *val) key(names ...string) (val, bool) {
	if v == nil {
		return val{}, false
	}
	for _, n := range names {
		for i, k := range v.keys {
			if k == n && i < len(v.items) {
				return v.items[i], true
			}
		}
	}
	return val{}, false
}

// plus joins two values as text; what is not known leaves a "$".
func plus(a, b val) val {
	if a.kind == valChoice || b.kind == valChoice {
		var all []val
		a.each(func(x val) { b.each(func(y val) { all = append(all, plus(x, y)) }) })
		return choice(all...)
	}
	if a.kind == valList && len(a.items)+len(b.items) > maxSteps/10 {
		return val{}
	}
	if a.kind == valList && b.kind == valList {
		return val{kind: valList, items: append(append([]val(nil), a.items...), b.items...)}
	}
	if a.kind == valList {
		return val{kind: valList, items: append(append([]val(nil), a.items...), val{from: "many"})}
	}
	if b.kind == valList {
		return val{kind: valList, items: append([]val{{from: "many"}}, b.items...)}
	}
	piece := func(v val) string {
		if v.kind == valText && (v.exact || v.text != "") {
			return v.text
		}
		return "$"
	}
	if len(a.text)+len(b.text) > maxValue {
		return val{kind: valText, decoded: true}
	}
	return val{kind: valText, text: piece(a) + piece(b), exact: a.known() && b.known(), decoded: a.decoded || b.decoded, from: begins(a, b)}
}

// begins is "temp" of parts that begin with a temporary name.
func begins(parts ...val) string {
	for _, p := range parts {
		switch {
		case p.from == "temp":
			return p.from
		case !p.exact || p.text != "":
			return ""
		}
	}
	return ""
}

// formatted puts the values of "%" or .format() into a text.
func formatted(a, b val) val {
	args := []val{b}
	if b.kind == valList {
		args = b.items
	}
	out := val{kind: valText, exact: a.exact}
	s := a.text
	for {
		i := strings.IndexByte(s, '%')
		if i < 0 || i+1 >= len(s) {
			out.text += s
			return out
		}
		out.text += s[:i]
		if s[i+1] == '%' {
			out.text += "%"
			s = s[i+2:]
			continue
		}
		j := i + 1
		for j < len(s) && !isLetter(s[j]) {
			j++
		}
		s = s[min(j+1, len(s)):]
		x := val{}
		if len(args) > 0 {
			x, args = args[0], args[1:]
		}
		out = plus(out, x)
	}
}

func joinPath(parts ...val) val {
	out := val{kind: valText, exact: true, qual: "path"}
	for i, p := range parts {
		if p.kind == valChoice {
			var all []val
			p.each(func(x val) {
				q := append(append([]val(nil), parts[:i]...), x)
				all = append(all, joinPath(append(q, parts[i+1:]...)...))
			})
			return choice(all...)
		}
		t := "$"
		if p.kind == valText && (p.text != "" || p.exact) {
			t = p.text
		}
		out.exact = out.exact && p.known()
		out.decoded = out.decoded || p.decoded
		switch {
		case out.text == "" || strings.HasPrefix(t, "/") || strings.HasPrefix(t, "~"):
			out.text, out.from = t, begins(p)
		case len(out.text)+len(t) > maxValue:
			return val{kind: valText, qual: "path"}
		case t != "":
			out.text = strings.TrimSuffix(out.text, "/") + "/" + t
		}
	}
	if out.text == "$" {
		out.text = ""
	}
	return out
}
