package scan

import (
	"io/fs"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrun/policy"
)

// Hosts lists the hosts that the files of a skill name, sorted, each once: of
// addresses in text and of the calls of its scripts. Loopback, private and
// link-local addresses, bare names and what is not exact are left out. Files
// that cannot be read, are no text or lie in ".git" and "node_modules" count
// for nothing. all is false where there is more to read than a launch may wait for.
func Hosts(fsys fs.FS) (hosts []string, all bool) {
	found := map[string]bool{}
	spent := budget{}
	all = texts(fsys, func(name, text string) bool {
		addresses(text, func(host, _ string) { addHost(host, found) })
		spent.code(name, text, func(r Result, _ Block) { calls(r, found) })
		return len(found) <= maxHosts
	})
	return slices.Sorted(maps.Keys(found)), all && !spent.short && len(found) <= maxHosts
}

// texts gives the texts among the files of a skill, until each says no. all is false
// where there is more.
func texts(fsys fs.FS, each func(name, text string) bool) (all bool) {
	names, read, more := 0, 0, true
	all = true
	_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if names++; names > maxNames || read > maxHostText || !more {
			all = false
			return fs.SkipAll
		}
		if err != nil {
			return nil
		}
		if d.IsDir() {
			if base := path.Base(name); base == ".git" || base == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		env := Env{FS: fsys}
		text, ok := env.read(name)
		read += len(text)
		if !ok || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return nil
		}
		more = each(name, text)
		return nil
	})
	return all
}

// budget is what reading the code of a skill has cost.
type budget struct {
	of           fs.FS // the skill, where each of its files is read by itself, nil for its hosts
	bytes, steps int
	short        bool // some was not read
}

// code reads a file as code, or the blocks of one in Markdown.
func (u *budget) code(name, text string, each func(r Result, of Block)) {
	read := func(b Block) {
		if u.bytes+len(b.Text) > maxText || u.steps > 4*maxSteps {
			u.short = true
			return
		}
		s := newScan(Env{skill: u.of})
		s.source(b.Lang, b.Text, place{file: name})
		u.bytes += len(b.Text)
		u.steps += s.steps + 64 // that is what an empty one costs
		each(s.result(), b)
	}
	switch lang := language(name, text); {
	case markdown(name):
		for _, b := range Blocks(text) {
			if u.of != nil && b.Lang == "shell" {
				b.Text = unfilled(b.Text)
			}
			read(b)
		}
	case lang != "" && (path.Ext(name) != "" || strings.HasPrefix(text, "#!")):
		read(Block{lang, text, 1})
	}
}

// Bounds of what is read for hosts, all files of a skill together; code is bounded as
// one text is.
const (
	maxNames    = 10_000   // files and directories
	maxHostText = 64 << 20 // bytes
	maxHosts    = 1000
)

// calls adds the hosts that a script connects to.
func calls(r Result, found map[string]bool) {
	for _, n := range r.Needs {
		group, _, _ := strings.Cut(n.Capability, ".")
		if n.Exact && (group == "web" || group == "network" || group == "external_api") {
			addHost(n.Target, found)
		}
	}
}

func addHost(name string, found map[string]bool) {
	if len(found) > maxHosts {
		return
	}
	host, _, fault := policy.ParseHost(name)
	if fault != "" || host == "*" || strings.Contains(host, "/") {
		return
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
			return
		}
	} else if !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") {
		return
	}
	found[host] = true
}

// addresses gives the hosts of the addresses in a text, and their ports, "" for none.
func addresses(text string, found func(host, port string)) {
	for i := 0; ; {
		j := strings.Index(text[i:], "://")
		if j < 0 {
			return
		}
		at := i + j
		i = at + 3
		begin := at
		for begin > 0 && isLetter(text[begin-1]) && text[begin-1] < 0x80 {
			begin--
		}
		switch strings.ToLower(text[begin:at]) {
		case "http", "https", "ws", "wss", "ftp", "ssh", "git":
		default:
			continue
		}
		end := i
		for end < len(text) && (isLetter(text[end]) && text[end] < 0x80 || isDigit(text[end]) || strings.IndexByte(".-:@[]%*{}<>", text[end]) >= 0) {
			end++
		}
		address := literal(text[begin:at] + "://" + strings.TrimRight(text[i:end], ".:"))
		host, exact := hostOf(address)
		if exact && !strings.ContainsAny(host, "{}<>%*$[]") {
			found(host, portOf(address))
		}
	}
}

// Block is a fenced block of code in a Markdown text.
type Block struct {
	Lang string // "shell", "python" or "javascript"
	Text string
	Line int // that it begins at, from 1
}

// Blocks lists the fenced blocks of a Markdown text that are in a language that
// the package reads.
func Blocks(src string) []Block {
	var list []Block
	var open *Block
	var body strings.Builder // of open
	fence, at := "", 0
	for _, line := range strings.SplitAfter(src, "\n") {
		at++
		t := strings.TrimSpace(line)
		if open == nil && fence == "" {
			for _, mark := range [...]string{"```", "~~~"} {
				if info, ok := strings.CutPrefix(t, mark); ok {
					fence = mark
					word := strings.ToLower(strings.Trim(strings.SplitN(strings.TrimLeft(info, "`~ {."), " ", 2)[0], "}"))
					if lang := blockLanguage(word); lang != "" {
						open = &Block{Lang: lang, Line: at + 1}
					}
				}
			}
			continue
		}
		if strings.HasPrefix(t, fence) {
			if open != nil {
				open.Text = body.String()
				list = append(list, *open)
				body.Reset()
			}
			open, fence = nil, ""
			continue
		}
		if open != nil {
			body.WriteString(strings.TrimPrefix(line, "$ "))
		}
	}
	if open != nil {
		open.Text = body.String()
		list = append(list, *open)
	}
	return list
}

func blockLanguage(word string) string {
	switch word {
	case "sh", "bash", "shell", "zsh", "console", "shellsession":
		return "shell"
	case "py", "python", "python3":
		return "python"
	case "js", "javascript", "ts", "typescript", "node", "mjs", "jsx", "tsx":
		return "javascript"
	}
	return ""
}
