package scan

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// locate gives the absolute name of a file that may be followed: p beneath one
// of the roots; "" if it lies elsewhere, or where is not known.
func (e *Env) locate(p string) string {
	if e.FS == nil {
		return ""
	}
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		if e.Home == "" {
			return ""
		}
		p = e.Home + p[1:]
	case !strings.HasPrefix(p, "/"):
		if e.Dir == "" {
			return ""
		}
		p = e.Dir + "/" + p
	}
	if p = e.clean(p); p != path.Clean(p) {
		return ""
	}
	for _, root := range e.Roots {
		root = path.Clean(root)
		if p == root || root == "/" || strings.HasPrefix(p, root+"/") {
			return p
		}
	}
	return ""
}

// read reads a file of at most maxText bytes.
func (e *Env) read(name string) (string, bool) {
	name = strings.TrimPrefix(path.Clean(name), "/")
	info, err := fs.Stat(e.FS, name) // who opens a FIFO waits
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return "", false
	}
	f, err := e.FS.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil || len(b) > maxText {
		return "", false
	}
	return string(b), true
}

// followed is a file that was read as it runs in a directory, by a shell itself if
// that sources it.
type followed struct {
	name string
	at   field
	by   *shell
	lang string
}

// follow reads a script file that runs in s.at, once, when what is found is kept. It
// is false if the file cannot be read or its language is none that is read.
func (s *scan) follow(name string, from place, by *shell, as called) bool {
	key := followed{name, s.at, by, as.lang}
	if s.quiet > 0 || s.files[key] {
		return true
	}
	if len(s.files) >= maxFiles {
		s.opaque(from.at(1, 1), "more scripts than are read")
		return true
	}
	text, ok := s.env.read(name)
	if !ok {
		return false
	}
	lang := language(name, text)
	switch {
	case strings.IndexByte(text, 0) >= 0: // an archive, which python runs whatever is before it
		return false
	case as.lang == "kernel" && !strings.HasPrefix(text, "#!"):
		lang = "shell" // which bash and execvp take it for
	case as.lang != "" && as.lang != "kernel" && as.lang != lang:
		if lang = as.lang; !utf8.ValidString(text) {
			return false
		}
	}
	if lang != "shell" && lang != "python" && lang != "javascript" {
		return false
	}
	s.files[key] = true
	if !slices.Contains(s.out.Files, name) {
		s.out.Files = append(s.out.Files, name)
	}
	switch {
	case lang != "shell":
		s.source(lang, text, place{file: name})
	case by != nil:
		saved := by.called
		by.called = as
		by.shellText(text, place{file: name}, by)
		by.called = saved
	default:
		sh := newShell(s)
		switch line, _, _ := strings.Cut(text, "\n"); {
		case strings.Contains(line, "bash"):
			sh.called = as
		case !strings.Contains(line, "zsh"): // in which a function is $0
			sh.self = as.self
		}
		s.shellText(text, place{file: name}, sh)
	}
	return true
}

// source reads a text in a language.
func (s *scan) source(lang, text string, p place) {
	if s.depth > maxDepth || len(text) > maxText {
		s.opaque(p.at(1, 1), "too deep or too large to read")
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	switch lang {
	case "shell":
		s.shellText(text, p, newShell(s))
	case "python", "javascript":
		s.programText(lang, text, p)
	default:
		s.opaque(p.at(1, 1), "code in a language that is not read")
	}
}

// inlineCode says of an option in a first line that it may have an interpreter run other
// code than the file: -c, -e, -m, -r, -x, --eval, --require.
func inlineCode(option string) bool {
	ok := pattern(`^-[a-zA-Z]*[cemprx]|^--(?:eval|import|init-file|loader|print|rcfile|require)`).MatchString(option)
	return ok
}

// language tells "shell", "python" or "javascript" from the first line of a
// file, else from the ending of its name; "" for anything else.
func language(name, text string) string {
	if line, ok := strings.CutPrefix(text, "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		words := strings.Fields(line)
		if len(words) > 2 && slices.ContainsFunc(words[2:], inlineCode) {
			return ""
		}
		for _, w := range words {
			switch strings.TrimRight(path.Base(w), "0123456789.") {
			case "sh", "bash", "dash", "zsh", "ksh", "ash":
				return "shell"
			case "python", "pypy":
				return "python"
			case "node", "nodejs", "bun", "deno":
				return "javascript"
			case "uv":
				return "python"
			}
		}
		return ""
	}
	switch path.Ext(name) {
	case ".sh", ".bash", ".zsh", ".ksh":
		return "shell"
	case ".py", ".pyw":
		return "python"
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		return "javascript"
	case "":
		if text != "" && utf8.ValidString(text) && bytes.IndexByte([]byte(text), 0) < 0 {
			return "shell" // what a shell does with it
		}
	}
	return ""
}

// lookIn adds a directory to those where something is looked for.
func (s *scan) lookIn(list []string, f, dir field) []string {
	s.spend(len(list))
	if p, exact := s.env.target(f, dir); exact && !slices.Contains(list, p) {
		list = append(list, p)
	}
	return list
}

// text gives a file that is given to what runs its text, by a name for any directory;
// "" if it is not there to follow, and what runs is decided at run time.
func (e *Env) text(f, dir field) field {
	if p, exact := e.target(f, dir); exact && !f.stream {
		return literal(e.found(p))
	}
	return field{}
}

// installed says of a program that it lies outside of the roots, itself or as links to
// it lead: python in a virtual environment is the system's. A run can start it only if
// it may start what lies there. Where ".." leads must be known.
func (e *Env) installed(p string) bool {
	for range 8 {
		name := e.locate(p)
		if name == "" {
			return e.clean(p) == path.Clean(p)
		}
		to, err := fs.ReadLink(e.FS, strings.TrimPrefix(name, "/"))
		if err != nil {
			return false
		}
		if p = to; !path.IsAbs(to) {
			p = path.Dir(name) + "/" + to
		}
	}
	return false
}

// library gives a library that python loads for a module, rather than its text; "" if
// there is none.
func (e *Env) library(module string) string {
	dir, base := path.Split(module)
	at := e.locate(path.Clean(dir))
	if at == "" {
		return ""
	}
	entries, _ := fs.ReadDir(e.FS, strings.TrimPrefix(at, "/"))
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, base+".") && strings.HasSuffix(name, ".so") {
			return at + "/" + name
		}
	}
	return ""
}

// found gives the absolute name of a file that is there to follow; "" if it is not.
func (e *Env) found(p string) string {
	name := e.locate(p)
	if name == "" {
		return ""
	}
	if info, err := fs.Stat(e.FS, strings.TrimPrefix(name, "/")); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return name
}
