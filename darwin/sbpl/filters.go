package sbpl

import "regexp"

// filter is one condition. Those of kind all, any and not have parts.
type filter struct {
	line  int
	index int // which of the filters of its line it is
	count int // how many its line has
	kind  filterKind
	key   string // the fact it is about: "path", "target"
	args  []string
	parts []filter
	re    []*regexp.Regexp
}

type filterKind uint8

const (
	all filterKind = iota
	anyOf
	not
	literal
	subpath
	prefix
	regex
	constant
	network
)

// filters lists the filters of the subset by their name.
var filters = [...]struct {
	name     string
	kind     filterKind
	key      string
	category string // what an operation must take
}{
	{"require-all", all, "", ""},
	{"require-any", anyOf, "", ""},
	{"require-not", not, "", ""},
	{"literal", literal, "path", "path"},
	{"subpath", subpath, "path", "path"},
	{"prefix", prefix, "path", "path"},
	{"regex", regex, "path", "path"},
	{"vnode-type", constant, "vnode-type", "vnode"},
	{"global-name", literal, "global-name", "mach"},
	{"global-name-prefix", prefix, "global-name", "mach"},
	{"sysctl-name", literal, "sysctl-name", "sysctl"},
	{"sysctl-name-prefix", prefix, "sysctl-name", "sysctl"},
	{"ipc-posix-name", literal, "ipc-posix-name", "posix-ipc"},
	{"ipc-posix-name-prefix", prefix, "ipc-posix-name", "posix-ipc"},
	{"extension", literal, "extension", "*"},
	{"target", constant, "target", "target"},
	{"socket-domain", constant, "socket-domain", "socket"},
	{"socket-type", constant, "socket-type", "socket"},
	{"local", network, "local", "network"},
	{"remote", network, "remote", "network"},
}

// constants are the words that filters of kind constant take.
const constants = " self same-sandbox children others " +
	"REGULAR-FILE DIRECTORY SYMLINK CHARACTER-DEVICE BLOCK-DEVICE SOCKET FIFO TTY " +
	"AF_UNIX AF_INET AF_INET6 SOCK_STREAM SOCK_DGRAM "
