package darwin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"skillrun/profiles"
)

// Denied is one denial that the kernel logged. The log drops lines under load
// and names are those that programs chose: it is for people and the audit log,
// nothing is decided by it.
type Denied struct {
	Process   string // the program's name
	PID       int
	Operation string // "file-read-data"
	Object    string // a path, an address, a service; "" if there is none
}

// Access gives the access that the operation needs, 0 if it is not about a
// file.
func (d *Denied) Access() profiles.Access {
	switch {
	case strings.HasPrefix(d.Operation, "file-read"):
		return profiles.Read
	case d.Operation == "file-write-create", d.Operation == "file-link", d.Operation == "file-mknod":
		return profiles.Create
	case d.Operation == "file-write-unlink":
		return profiles.Delete
	case strings.HasPrefix(d.Operation, "file-write"):
		return profiles.Write
	case strings.HasPrefix(d.Operation, "process-exec"), d.Operation == "file-map-executable":
		return profiles.Execute
	}
	return 0
}

// LogArgs gives the command line that prints the denials with a tag since a
// moment, for [ReadDenials]. It has to run outside the sandbox.
func LogArgs(tag string, since time.Time) []string {
	return []string{"/usr/bin/log", "show", "--style", "ndjson", "--info", "--start", since.Format("2006-01-02 15:04:05"),
		"--predicate", `eventMessage ENDSWITH "` + tag + `"`}
}

// maxLine bounds one line of the log; longer ones are passed over.
const maxLine = 1 << 20

// ReadDenials reads what LogArgs prints and gives the denials that end with the
// tag, in order, each distinct one once. Lines that are something else are
// passed over.
func ReadDenials(r io.Reader, tag string) ([]Denied, error) {
	in := bufio.NewReaderSize(r, maxLine)
	var denials []Denied
	seen := map[Denied]bool{}
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			line = nil
		}
		var entry struct {
			Message string `json:"eventMessage"`
		}
		if json.Unmarshal(line, &entry) == nil {
			if d, ok := parseDenial(entry.Message, tag); ok && !seen[d] {
				seen[d] = true
				denials = append(denials, d)
			}
		}
		if err == io.EOF {
			return denials, nil
		}
		if err != nil {
			return denials, fmt.Errorf("read the log: %w", err)
		}
	}
}

// parseDenial reads "Sandbox: cat(123) deny(1) file-read-data /path\nTAG", with
// "2 duplicate reports for " before it where the kernel saved lines.
func parseDenial(message, tag string) (Denied, bool) {
	text, ok := strings.CutSuffix(strings.TrimRight(message, "\n "), tag)
	if !ok || tag == "" {
		return Denied{}, false
	}
	if i := strings.Index(text, "Sandbox: "); i >= 0 {
		text = text[i+len("Sandbox: "):]
	}
	who, what, ok := strings.Cut(strings.TrimRight(text, "\n "), " deny(")
	if !ok || !strings.HasSuffix(who, ")") {
		return Denied{}, false
	}
	open := strings.LastIndexByte(who, '(')
	if open < 0 {
		return Denied{}, false
	}
	pid, err := strconv.Atoi(who[open+1 : len(who)-1])
	_, what, closed := strings.Cut(what, ") ")
	op, object, _ := strings.Cut(what, " ")
	if err != nil || !closed || op == "" || strings.Trim(op, "abcdefghijklmnopqrstuvwxyz-*") != "" {
		return Denied{}, false
	}
	return Denied{Process: who[:open], PID: pid, Operation: op, Object: object}, true
}
