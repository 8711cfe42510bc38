package scan

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"skillrun/policy"
)

// A phrase is words in order, up to three others between each two. A word that
// ends in "*" is the start of one.
var phrases = [...]struct {
	words [][]string
	what  string
}{
	{[][]string{{"ignore", "ignoring", "disregard", "forget", "override", "overrides", "bypass", "neglect"}, {"previous", "prior", "above", "earlier", "preceding", "all", "any", "system", "your", "existing", "other"}, {"instruction*", "rule*", "prompt*", "guideline*", "directive*", "restriction*", "polic*", "guardrail*", "safety", "constraint*", "message*", "context"}}, "tells the model to set its instructions aside"},
	{[][]string{{"not", "never", "dont", "without"}, {"tell*", "inform*", "mention*", "reveal*", "notify*", "alert*", "disclos*", "asking", "ask"}, {"user*", "human*", "operator*", "anyone", "owner"}}, "tells the model to keep something from the user"},
	{[][]string{{"without"}, {"user*", "human*", "their", "explicit"}, {"consent", "approval", "knowledge", "permission", "confirmation", "noticing"}}, "tells the model to act without the user's consent"},
	{[][]string{{"you"}, {"are"}, {"now"}, {"in", "a", "an", "dan", "jailbroken", "unrestricted", "developer", "free", "root"}}, "gives the model another role"},
	{[][]string{{"new", "updated", "real", "actual", "hidden", "secret"}, {"system"}, {"prompt*", "instruction*", "message*", "directive*"}}, "poses as the system's instructions"},
	{[][]string{{"reveal", "print", "show", "output", "repeat", "leak", "expose"}, {"system", "hidden", "initial"}, {"prompt*", "instruction*"}}, "asks for the system's instructions"},
	{[][]string{{"send", "upload", "post", "exfiltrate", "transmit", "email", "forward", "copy", "include", "append", "paste", "read"}, {"credential*", "secret*", "password*", "token*", "private", "ssh", "env", "apikey*", "cookies", "wallet*"}, {"to", "into", "in", "key*", "file*", "and"}, {"http*", "server*", "url*", "webhook*", "endpoint*", "attacker*", "comment*", "response*", "output", "request*", "send", "upload", "post"}}, "asks for secrets to be sent"},
	{[][]string{{"secretly", "silently", "covertly", "stealthily", "quietly"}, {"run", "execute", "send", "upload", "install", "download", "add", "modify", "delete", "copy", "read", "post", "collect"}}, "asks for something to be done unseen"},
	{[][]string{{"disable", "skip", "turn", "circumvent", "evade", "bypass"}, {"sandbox*", "permission*", "safety", "security", "guardrail*", "confirmation*", "approval*", "skillrun", "hook*", "off"}, {"check*", "prompt*", "mode", "sandbox*", "feature*", "control*", "filter*", "setting*", "for", "permission*", "confirmation*", "before", "and"}}, "asks for protection to be switched off"},
	{[][]string{{"curl", "wget"}, {"bash", "sh"}, {"important", "required", "mandatory", "must"}}, "presses for a download to be run"},
}

// marks are spellings of the roles of a conversation, which no document needs.
var marks = [...]string{"<|im_start|>", "<|im_end|>", "[inst]", "[/inst]", "<<sys>>", "<|system|>", "<system>", "</system>", "<|endoftext|>", "### system:", "<system-reminder>", "begin system prompt", "\nsystem: ", "\nassistant: ", "<important_instructions>"}

// Injections finds what in a text is meant for a model and not for its reader:
// characters that do not show, instructions to set instructions aside, payloads
// in another encoding. It knows patterns only; none found proves nothing.
func Injections(name, src string) []policy.Finding {
	if len(src) > maxText {
		return []policy.Finding{{Pos: policy.Pos{File: name, Line: 1, Column: 1}, What: "text of more than 4 MiB, not read"}}
	}
	p := &prose{file: name, src: src}
	p.hidden()
	p.phrases()
	p.marks()
	p.encoded()
	return p.found
}

type prose struct {
	file, src string
	lines     []int // where each line begins
	found     []policy.Finding
}

func (p *prose) add(offset int, what string) {
	if p.lines == nil {
		p.lines = []int{0}
		for i := 0; i < len(p.src); i++ {
			if p.src[i] == '\n' {
				p.lines = append(p.lines, i+1)
			}
		}
	}
	lo, hi := 0, len(p.lines)
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if p.lines[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	if len(p.found) < 1000 {
		p.found = append(p.found, policy.Finding{Pos: policy.Pos{File: p.file, Line: lo + 1, Column: offset - p.lines[lo] + 1}, What: what})
	}
}

// unseen says whether a character does not show, and what it is.
func unseen(r rune) string {
	switch {
	case r >= 0xE0000 && r <= 0xE007F:
		return "tag characters"
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
		return "characters that turn the direction of text"
	case r >= 0x200B && r <= 0x200D, r >= 0x2060 && r <= 0x2064, r == 0xFEFF, r == 0x00AD, r == 0x180E, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800, r == 0x034F, r >= 0x206A && r <= 0x206F:
		return "characters without width"
	case r >= 0xE0100 && r <= 0xE01EF:
		return "variation selectors that carry data"
	case r < 0x20 && r != '\n' && r != '\t' && r != '\r' && r != '\f', r >= 0x7F && r < 0xA0:
		return "control characters"
	}
	return ""
}

func (p *prose) hidden() {
	last, before := "", rune(0)
	var text strings.Builder
	start := 0
	flush := func() {
		if last == "" {
			return
		}
		what := last
		if text.Len() > 0 {
			what += ": " + strconv.Quote(text.String())
		}
		p.add(start, what)
		text.Reset()
	}
	for i, r := range p.src {
		kind := unseen(r)
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(p.src[i:]); n == 1 {
				kind = "bytes that are not UTF-8"
			}
		}
		if r == 0x200D && before >= 0x2190 || r == 0xFEFF && i == 0 || r >= 0xE0020 && before == 0x1F3F4 {
			kind = "" // joined emoji, a byte order mark, a flag
		}
		if kind != last {
			flush()
			last, start = kind, i
		}
		if r >= 0xE0020 && r < 0xE007F && kind != "" && text.Len() < 200 {
			text.WriteByte(byte(r - 0xE0000))
		}
		before = r
	}
	flush()
}

type proseWord struct {
	text string
	at   int
}

// words gives the words in lower case, without what does not show and with
// letters of other scripts that look like Latin ones read as those.
func (p *prose) words() []proseWord {
	var list []proseWord
	var b strings.Builder
	start := 0
	flush := func() {
		if b.Len() > 0 {
			list = append(list, proseWord{b.String(), start})
			b.Reset()
		}
	}
	for i, r := range p.src {
		if unseen(r) != "" && r >= 0xA0 || r == '\'' || r == '’' {
			continue
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			if r == '.' || r == '\n' && strings.HasPrefix(p.src[i:], "\n\n") {
				list = append(list, proseWord{"", i}) // a phrase does not span it
			}
			continue
		}
		if b.Len() == 0 {
			start = i
		}
		b.WriteRune(latin(unicode.ToLower(r)))
	}
	flush()
	return list
}

// latin maps letters that look like Latin ones.
func latin(r rune) rune {
	const from, to = "аеорсухіјѕԁһոνεικοταℓıɡ", "aeopcyxijsdhnveikotalig"
	if r < 0x80 {
		return r
	}
	if r >= 0xFF41 && r <= 0xFF5A { // full width
		return r - 0xFF41 + 'a'
	}
	n := 0
	for _, f := range from {
		if f == r {
			return rune(to[n])
		}
		n++
	}
	return r
}

func (p *prose) phrases() {
	words := p.words()
	for i := range words {
		for j := range phrases {
			if matchPhrase(words[i:], phrases[j].words) {
				p.add(words[i].at, phrases[j].what)
			}
		}
	}
}

func matchPhrase(words []proseWord, phrase [][]string) bool {
	if !oneOf(words[0].text, phrase[0]) {
		return false
	}
	at := 1
	for _, alternatives := range phrase[1:] {
		hit := false
		for gap := 0; gap <= 3 && at+gap < len(words); gap++ {
			if words[at+gap].text == "" {
				break
			}
			if oneOf(words[at+gap].text, alternatives) {
				at += gap + 1
				hit = true
				break
			}
		}
		if !hit {
			return false
		}
	}
	return true
}

func oneOf(word string, list []string) bool {
	for _, l := range list {
		if stem, ok := strings.CutSuffix(l, "*"); ok && strings.HasPrefix(word, stem) || l == word {
			return true
		}
	}
	return false
}

func (p *prose) marks() {
	low := strings.ToLower(p.src)
	if len(low) != len(p.src) {
		return // positions would not hold; the phrases are found anyway
	}
	for _, m := range marks {
		for i := 0; ; {
			j := strings.Index(low[i:], m)
			if j < 0 {
				break
			}
			at := i + j
			if m[0] == '\n' {
				at++
			}
			p.add(at, "a mark of a conversation's roles")
			i += j + len(m)
		}
	}
}

// encoded finds long runs of base64 or hexadecimal digits that hold text.
func (p *prose) encoded() {
	for i := 0; i < len(p.src); {
		j := i
		for j < len(p.src) && (isLetter(p.src[j]) && p.src[j] < 0x80 && p.src[j] != '$' || isDigit(p.src[j]) || strings.IndexByte("+/=-", p.src[j]) >= 0) {
			j++
		}
		if j-i >= 40 {
			if what := decoded(p.src[i:j]); what != "" {
				p.add(i, what)
			}
		}
		i = max(j, i+1)
	}
}

func decoded(s string) string {
	hexadecimal := strings.Trim(s, "0123456789abcdefABCDEF") == ""
	if hexadecimal && len(s)%2 == 0 {
		b := make([]byte, 0, len(s)/2)
		for i := 0; i+1 < len(s); i += 2 {
			b = append(b, byte(number(s[i:i+2], 16)))
		}
		if readable(b) {
			return "hexadecimal text: " + preview(b)
		}
		return ""
	}
	t := strings.TrimRight(s, "=")
	t = strings.NewReplacer("-", "+", "_", "/").Replace(t)
	for cut := 0; cut < 4 && cut < len(t); cut++ {
		b, err := base64.RawStdEncoding.DecodeString(t[:len(t)-cut])
		if err == nil && readable(b) {
			return "base64 text: " + preview(b)
		}
	}
	return ""
}

// readable says whether bytes are text of ASCII with blanks or punctuation.
func readable(b []byte) bool {
	marks := 0
	for _, c := range b {
		if c >= 0x7F || c < 0x20 && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
		if c == ' ' || c == '\n' || c == '/' || c == '.' {
			marks++
		}
	}
	return len(b) >= 16 && marks > 0
}

func preview(b []byte) string { return strconv.Quote(string(b[:min(len(b), 80)])) }
