package sbpl_test

import (
	"strings"
	"testing"

	"skillrun/darwin/sbpl"
)

// measured lists what others measured on Macs (sources in docs/macos.md); the
// operation tree has to agree with each.
var measured = []struct {
	name, policy, op, object string
	allowed, ambiguous       bool
}{
	{"filtered allow, then filtered deny", `(allow file-read* (subpath "/a")) (deny file-read* (literal "/a/b"))`, "file-read*", "/a/b", false, false},
	{"filtered deny, then filtered allow", `(deny file-read* (literal "/a/b")) (allow file-read* (subpath "/a"))`, "file-read*", "/a/b", true, false},
	{"filtered deny, then bare allow", `(deny file-read* (literal "/a/b")) (allow file-read*)`, "file-read*", "/a/b", false, true},
	{"bare deny, then bare allow", `(deny signal) (allow signal)`, "signal", "others", true, false},
	{"leaf allow, then wildcard deny", `(allow file-read-data (subpath "/")) (deny file-read* (literal "/a"))`, "file-read-data", "/a", true, true},
	{"leaf deny, then wildcard allow", `(deny file-read-data (subpath "/a")) (allow file-read* (literal "/a/b"))`, "file-read-data", "/a/b", false, true},
	{"leaf allow after wildcard deny", `(deny file-write* (literal "/a/b")) (allow file-write-data (subpath "/a"))`, "file-write-data", "/a/b", true, false},
	{"deny file* does not reach file-link", `(deny file*)`, "file-link", "/a", true, false},
	{"deny file* does not reach file-clone", `(deny file*)`, "file-clone", "/a", true, false},
	{"nor file-map-executable", `(deny file*)`, "file-map-executable", "/a", true, false},
	{"nor file-test-existence", `(deny file*)`, "file-test-existence", "/a", true, false},
	{"the exact name does", `(deny file-link)`, "file-link", "/a", false, false},
	{"default does not reach process-info*", ``, "process-info-pidinfo", "others", true, true},
	{"set-uid is refused though file-write* is granted", `(allow file-write* (subpath "/"))`, "file-write-setugid", "/a", false, false},
	{"inbound covers bind", `(allow network-inbound (local ip "*:80"))`, "network-bind", "tcp:thishost:80", true, false},
	{"localhost is every address of the machine", `(allow network-outbound (remote ip "localhost:80"))`, "network-outbound", "tcp:thishost:80", true, false},
	{"and no other", `(allow network-outbound (remote ip "localhost:80"))`, "network-outbound", "tcp:192.0.2.7:80", false, false},
	{"local on outbound matches everything", `(allow network-outbound (local ip "localhost:*"))`, "network-outbound", "tcp:192.0.2.7:80", true, false},
	{"remote on inbound does nothing", `(allow network-inbound (remote ip "*:*"))`, "network-inbound", "tcp:192.0.2.7:80", false, false},
	{"a path filter matches unix sockets", `(allow network-outbound (subpath "/a"))`, "network-outbound", "unix:/a/s", true, false},
	{"and those only", `(allow network-outbound (subpath "/"))`, "network-outbound", "tcp:192.0.2.7:80", false, false},
	{"require-not", `(allow file-read-data (require-all (subpath "/a") (require-not (literal "/a/b"))))`, "file-read-data", "/a/b", false, false},
	{"require-any", `(allow file-read-data (require-any (literal "/x") (literal "/a/b")))`, "file-read-data", "/a/b", true, false},
	{"regex searches", `(allow file-read-data (regex "b$"))`, "file-read-data", "/a/b", true, false},
	{"same-sandbox holds for children", `(deny signal) (allow signal (target same-sandbox))`, "signal", "children", true, false},
	{"an alias", `(allow process-exec (subpath "/bin"))`, "process-exec*", "/bin/sh", true, false},
	{"a guarded operation that exists", `(if (defined? 'fs-snapshot-mount) (deny fs-snapshot-mount))`, "fs-snapshot-mount", "", false, false},
}

func TestMeasured(t *testing.T) {
	for _, m := range measured {
		p, err := sbpl.Parse("(version 1)(deny default)\n"+m.policy, nil, 15)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		a, err := sbpl.Evaluate(p, sbpl.Query{Operation: m.op, Object: m.object})
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		} else if a.Allowed != m.allowed || a.Ambiguous != m.ambiguous {
			t.Errorf("%s: allowed %t, ambiguous %t, want %t, %t", m.name, a.Allowed, a.Ambiguous, m.allowed, m.ambiguous)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for policy, want := range map[string]string{
		``:                              "starts with (version 1)",
		`(version 2)`:                   "starts with (version 1)",
		`(deny default)(version 1)`:     "starts with (version 1)",
		`(version 1)(allow`:             "not closed",
		`(version 1))`:                  "unexpected )",
		`(version 1)(allow file-graft)`: "exists from macOS 26 on",
		`(version 1)(allow nonsense)`:   `unknown operation "nonsense"`,
		`(version 1)(allow)`:            "no operation",
		`(version 1)(allow mach-lookup (literal "/"))`:                      "does not apply to mach-lookup",
		`(version 1)(allow file-read* (literal))`:                           "without an argument",
		`(version 1)(allow file-read* (literal "a"))`:                       "not absolute",
		`(version 1)(allow file-read* (literal "\n"))`:                      "only a parameter may",
		"(version 1)(allow file-read* (literal \"/\n\"))":                   "only a parameter may",
		`(version 1)(allow file-read* (literal "/))`:                        "not closed",
		`(version 1)(allow file-read* (literal (param "X")))`:               "parameter X has no value",
		`(version 1)(allow file-read* (regex "("))`:                         "regex",
		`(version 1)(allow file-read* (surprise "/"))`:                      "outside the subset",
		`(version 1)(allow file-read* (with no-log))`:                       "outside the subset",
		`(version 1)(allow network-outbound (remote ip "127.0.0.1:80"))`:    "host must be * or localhost",
		`(version 1)(allow network-outbound (remote ip "localhost:0"))`:     "bad port",
		`(version 1)(allow network-outbound (remote ip "localhost:65536"))`: "bad port",
		`(version 1)(allow network-outbound (remote sctp "*:*"))`:           "want a protocol",
		`(version 1)(allow signal (target everybody))`:                      "constant",
		`(version 1)(import "system.sb")`:                                   "outside the subset",
		`(version 1)(if (defined? 'surprise) (deny default))`:               "unknown operation",
		`(version 1)(if #t (deny default))`:                                 "outside the subset",
		`(version 1)` + strings.Repeat("(", 1000):                           "nest deeper",
		`(version 1)(deny default 'file-read*)`:                             "neither an operation nor a filter",
	} {
		_, err := sbpl.Parse(policy, nil, 15)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 1") {
			t.Errorf("%.80s: %v, want an error with %q", policy, err, want)
		}
	}
}

func TestAnswerExplains(t *testing.T) {
	const policy = `(version 1)
; the default
(deny default)

; reads
(allow file-read-data
  (subpath "/a") (literal "/b") ; source, first | , second
  (require-all (require-not (literal "/c/x")) (require-any
    (subpath "/c") ; third
  ))
)
`
	p, err := sbpl.Parse(policy, nil, 15)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		line    int
		comment string
	}{
		"/a/x": {7, "source, first"},
		"/b":   {7, "source, second"},
		"/c/y": {9, "third"},
		"/c/x": {3, "the default"},
		"/e":   {3, "the default"},
	} {
		a, err := sbpl.Evaluate(p, sbpl.Query{Operation: "file-read-data", Object: path})
		if err != nil {
			t.Fatal(err)
		}
		if a.Line != want.line || a.Comment != want.comment {
			t.Errorf("%s: line %d %q (%s), want %d %q", path, a.Line, a.Comment, a.Text, want.line, want.comment)
		}
	}
}

func TestEvaluateRefuses(t *testing.T) {
	p, err := sbpl.Parse("(version 1)(deny default)", nil, 15)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []sbpl.Query{
		{Operation: "nonsense"}, {Operation: "file-read-data", Object: "relative"}, {Operation: "network-outbound", Object: "localhost:80"},
		{Operation: "network-outbound", Object: "tcp:localhost"}, {Operation: "network-outbound", Object: "unix:x"}, {Operation: "lsopen", Object: "x"},
	} {
		if a, err := sbpl.Evaluate(p, q); err == nil {
			t.Errorf("%s: %+v, want an error", q, a)
		}
	}
}

func TestQueryString(t *testing.T) {
	q := sbpl.Query{Operation: "file-read-data", Object: "/it's", Facts: map[string]string{"vnode-type": "TTY", "extension": "a b"}}
	if got, want := q.String(), `file-read-data '/it'\''s' 'extension=a b' 'vnode-type=TTY'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// FuzzParse: no text makes the parser or the evaluator panic, and what parses
// answers every operation.
func FuzzParse(f *testing.F) {
	for _, m := range measured {
		f.Add("(version 1)(deny default)\n"+m.policy, m.object)
	}
	f.Add("(version 1) ; comment | x\n(deny default (with message \"x\"))", "/x")
	f.Fuzz(func(t *testing.T, policy, object string) {
		p, err := sbpl.Parse(policy, map[string]string{"P0": object}, 26)
		if err != nil {
			return
		}
		for _, op := range []string{"file-read-data", "network-outbound", "signal", "default", "sysctl-read", "process-fork"} {
			if _, err := sbpl.Evaluate(p, sbpl.Query{Operation: op}); err != nil {
				t.Fatalf("%s: %v", op, err)
			}
			_, _ = sbpl.Evaluate(p, sbpl.Query{Operation: op, Object: object})
		}
	})
}
