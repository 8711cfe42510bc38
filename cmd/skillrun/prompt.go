package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"skillrun/policy"
)

// consent asks the user about every confirm entry at once, on the terminal and
// never on the command's stdin. Without a terminal it refuses and says which
// flag answers. What was answered for this version of the skill is not asked
// again.
func (j *job) consent() error {
	if j.approve == policy.ApproveDeclared {
		var declared []policy.Entry
		for _, e := range j.set.Entries() {
			if e.Source == "--approve declared" {
				declared = append(declared, e)
			}
		}
		j.consented("--approve", "once", declared)
	}
	pending := j.pending()
	if j.unasked && len(pending) > 0 {
		say("not granted, since nobody is asked here: %s", briefly(pending))
		hint("--approve declared accepts what is declared for this run, --approve none runs without it and without this line")
	}
	if j.approve != policy.ApproveAsk || len(pending) == 0 {
		return nil
	}
	tty, closeTerminal, err := openTerminal()
	if err != nil {
		err := fmt.Errorf("to be confirmed, and there is no terminal: %s", briefly(pending))
		if j.memory != nil && !j.memory.holds() {
			err = fmt.Errorf("%w; %w", j.memory.stale, err)
		}
		return withHint{err, "--approve declared accepts them for this run, --approve none runs without them"}
	}
	defer closeTerminal()
	if j.skill != nil && j.skill.tree == [32]byte{} {
		// What has no digest is asked about all the same: there is "once".
		if err := j.skill.measure(j); err != nil && j.verbose {
			say("%s", err)
		}
	}
	always := ""
	if j.skill != nil {
		always = "[a]lways for this version " + j.ending()
	}
	a, err := ask(tty, j.name(), j.changes(), pending, always)
	if err != nil {
		return err
	}
	j.host.FS = newSnapshot() // answering may have taken minutes
	j.accepted = append(j.accepted, keysOf(a.accepted)...)
	j.set = j.set.Accept(keysOf(a.accepted)...)
	lasting := "once"
	if a.always {
		declined := slices.DeleteFunc(keysOf(pending), func(k string) bool { return slices.Contains(keysOf(a.accepted), k) })
		if err := j.keep(keysOf(a.accepted), declined, nil, a.terms...); err != nil {
			return fmt.Errorf("cannot keep the answer: %w", err)
		}
		j.unsettled = j.unchanging()
		lasting = "version"
	}
	entries := make([]policy.Entry, len(a.accepted))
	for i, q := range a.accepted {
		entries[i] = q.Entry
		entries[i].Effect = policy.Allow
	}
	j.consented("terminal", lasting, entries)
	return nil
}

// pending are the questions that nobody has answered for this version.
func (j *job) pending() []policy.Question {
	now := time.Now()
	qs := slices.DeleteFunc(j.set.Pending(), func(q policy.Question) bool { return q.Entry.Lapsed(now) != "" })
	if m := j.memory; m.holds() {
		qs = slices.DeleteFunc(qs, func(q policy.Question) bool { return slices.Contains(m.record.Declined, q.Key) })
	}
	return qs
}

// name is what the acting skill is called in prompts.
func (j *job) name() string {
	if j.skill == nil {
		return "this command"
	}
	return named(j.skill.Name) + " (" + j.skill.why + ")"
}

var errDeclined = errors.New("declined: nothing was run")

// openTerminal opens the terminal of this process. What was typed before the
// question is no answer to it, and what a run left there neither hides it nor keeps
// anybody from an answer. done closes it, and puts back how it reads: others may have
// set that.
func openTerminal() (tty *os.File, done func(), err error) {
	tty, err = os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(tty.Fd())
	forgetInput(tty)
	if os.Getenv("TERM") != "dumb" {
		fmt.Fprint(tty, plainly)
	}
	was, err := term.GetState(fd)
	if err != nil || !foreground(fd) { // in the background that would stop this program, before it asks
		return tty, func() { tty.Close() }, nil
	}
	readLines(fd)
	return tty, func() {
		term.Restore(fd, was)
		tty.Close()
	}, nil
}

// plainly has a terminal show what follows: it ends a sequence that was begun, which
// takes all for its own, lets all rows scroll, has letters be letters (not concealed, nor
// lines), a long row go on in the next, and nothing stand behind the cursor; and has it
// send keys as what they are, not as sequences (xterm's, kitty's and Windows' own), and
// nothing for the mouse and the focus. A run can change each, and have the answer to a
// question of its own be one to ours, unseen, or leave none that can be typed.
const plainly = "\x18\x1b\\" + "\x1b7\x1b[r\x1b8" + "\x1b[>4m" + "\x1b[!p\x1b[0m\x1b(B\x0f" + "\x1b[?7h" + "\x1b[=0u\x1b[?9001l\x1b[?9;1000;1002;1003;1004l" + "\x1b[J"

// ownColors gives a terminal (Linux's, others') the colors that it had, where a run may
// just have made them black on black. Elsewhere they are the user's choice.
const ownColors = "\x1b]R\x1b\\" + "\x1b]104\a\x1b]110\a\x1b]111\a"

// reply is what the user said to a manifest's questions.
type reply struct {
	accepted []policy.Question
	always   bool // for this version, rather than once
	terms    []policy.Term
}

// ending tells of an answer for good when it ends by the configuration.
func (j *job) ending() string {
	if end := j.until(time.Now(), nil); !end.IsZero() {
		return "until " + end.Local().Format("2006-01-02 15:04") + " "
	}
	return ""
}

// ask shows what is wanted, the most dangerous first, and takes the answer; always
// is the offer to keep it, "" for none.
func ask(tty *os.File, who string, changes []string, pending []policy.Question, always string) (reply, error) {
	var lines []string
	for _, line := range changes {
		lines = append(lines, "skillrun: "+line)
	}
	lines = append(lines, fmt.Sprintf("skillrun: %s asks for:", policy.Row(policy.Escape(who))))
	for i, q := range pending {
		lines = append(lines, fmt.Sprintf("  %d. %-10s %s", i+1, q.Level, q.Text))
	}
	chosen := "which, by number, such as 1 3 (none: just return): "
	versioned := always != ""
	if versioned {
		chosen = "which, by number, such as 1 3, with an a for this version (none: just return): "
	}
	in := bufio.NewReader(tty)
	if err := page(tty, in, lines); err != nil {
		return reply{}, err
	}
	for {
		word, err := line(tty, in, "allow? [o]nce "+always+"[c]hoose [n]o: ")
		if err != nil {
			return reply{}, err
		}
		switch {
		case isOnce(word):
			return reply{accepted: pending}, nil
		case versioned && isAlways(word):
			if terms, ok := termsOf(tty, strings.Fields(word)[1:]); ok {
				return reply{pending, true, terms}, nil
			}
		case word == "n" || word == "no":
			return reply{}, errDeclined
		case word == "c" || word == "choose":
			text, err := line(tty, in, chosen)
			if err != nil {
				return reply{}, err
			}
			if a, ok := choose(tty, pending, text, versioned); ok {
				return a, nil
			}
		}
	}
}

// screen is what is shown at once: what fits on a usual terminal, or on this one above
// the question, if that is less. One that says it is larger may have been told so by a
// run.
func screen(tty io.Writer) (rows, columns int) {
	rows, columns = 20, 80
	if f, ok := tty.(*os.File); ok {
		if c, r, err := term.GetSize(int(f.Fd())); err == nil && c > 0 && r > 0 {
			rows, columns = min(rows, max(r-4, 4)), min(columns, max(c, 20))
		}
	}
	return rows, columns
}

// page shows lines, a screen at a time: a long list, or a long line of it, does not
// carry away what stands in it.
func page(tty io.Writer, in *bufio.Reader, lines []string) error {
	rows, width := screen(tty)
	left := rows
	for _, text := range lines {
		letters := []rune(text)
		for shown := false; !shown || len(letters) > 0; shown = true {
			if left == 0 {
				word, err := line(tty, in, "[return] shows more of it [n]o: ")
				if err != nil || word == "n" || word == "no" {
					return errDeclined
				}
				left = rows
			}
			n, columns := 0, 0
			for ; n < len(letters) && columns <= left*width-2; n++ {
				columns++
				if letters[n] >= 0x300 { // some are two wide
					columns++
				}
			}
			fmt.Fprintln(tty, string(letters[:n]))
			letters = letters[n:]
			left -= max(1, (columns+width-1)/width)
		}
	}
	return nil
}

// isOnce says whether an answer is for this once, which who only says yes means.
func isOnce(answer string) bool {
	return slices.Contains([]string{"o", "once", "y", "yes"}, answer)
}

// isAlways says whether an answer is for good: "a", or "a 30d", to end sometime.
func isAlways(answer string) bool {
	word, _, _ := strings.Cut(answer, " ")
	return word == "a" || word == "always"
}

// termsOf reads what such an answer says of its end, if that is sound and not past.
func termsOf(tty *os.File, words []string) (terms []policy.Term, ok bool) {
	for _, text := range words {
		t, err := policy.ParseTerm(text)
		if now := time.Now(); err == nil && !policy.Until(now, t).After(now) {
			err = errors.New(quote(text) + " is past")
		}
		if err != nil {
			fmt.Fprintf(tty, "skillrun: %v\n", err)
			return nil, false
		}
		terms = append(terms, t)
	}
	return terms, true
}

// line asks for one line.
func line(tty io.Writer, in *bufio.Reader, question string) (string, error) {
	fmt.Fprint(tty, question)
	text, err := in.ReadString('\n')
	if err != nil {
		fmt.Fprintln(tty) // the end of the input leaves the cursor behind the question
		return "", errDeclined
	}
	return strings.ToLower(strings.TrimSpace(text)), nil
}

func choose(tty *os.File, pending []policy.Question, text string, versioned bool) (a reply, ok bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	var ends []string
	for _, w := range words {
		n, err := strconv.Atoi(w)
		switch {
		case w == "a" && versioned:
			a.always = true
		case err != nil:
			ends = append(ends, w)
		case n < 1 || n > len(pending):
			return reply{}, false
		default:
			a.accepted = append(a.accepted, pending[n-1])
		}
	}
	a.terms, ok = termsOf(tty, ends)
	return a, ok && (a.always || len(ends) == 0)
}

func keysOf(qs []policy.Question) []string {
	keys := make([]string, len(qs))
	for i, q := range qs {
		keys[i] = q.Key
	}
	return keys
}

// briefly tells what is asked in one line. Terms have commas.
func briefly(qs []policy.Question) string {
	all := make([]string, len(qs))
	for i, q := range qs {
		all[i] = q.Entry.Brief()
	}
	return strings.Join(all, "; ")
}
