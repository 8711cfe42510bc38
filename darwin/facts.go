package darwin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Facts is what the compiler needs to know of a machine and of one run. It is
// also the form of a host file ("--for-host"): a machine that is not this one.
type Facts struct {
	OS      string `json:"os"`      // "darwin"
	Version string `json:"version"` // of macOS: "15" or "14.6.1"; 13 or later
	Home    string `json:"home"`    // the user's real home directory
	User    string `json:"user"`    // the account's name
	// Workspace is for whoever builds the Profile; the compiler takes the
	// Profile's.
	Workspace string `json:"workspace"`
	// Tmp and PrivateHome are the run's own directories, which it may always
	// use. PrivateHome may be "" if it lies beneath Tmp.
	Tmp         string `json:"tmp"`
	PrivateHome string `json:"private_home,omitempty"`
	// CaseSensitive says that names which differ in case only are different
	// files. An ordinary macOS volume folds case.
	CaseSensitive bool `json:"case_sensitive"`
	// Exists lists which of the paths that matter exist (see [Look]); what it
	// leaves out does not, except for directories above what it lists. Null
	// means that nobody looked: then the policy is stricter. A path that ends in
	// "/" is a directory.
	Exists []string `json:"exists"`
	// Contents lists what lies in the trees where the run may create but not
	// delete: it stays. Null means that it was not listed.
	Contents []string `json:"contents,omitempty"`
	// Links are symbolic links on the way to commands and libraries; their
	// names may be looked at.
	Links []string `json:"links,omitempty"`
	// Commands are programs that the run may always start: what the user
	// typed, with its interpreter.
	Commands []string `json:"commands,omitempty"`
	// ProxyPort is where skillrun's gate listens on loopback. It counts for
	// profiles with named hosts, which need one.
	ProxyPort uint16 `json:"proxy_port,omitempty"`
	// Tag marks this run's denials in the system's log: letters, digits and
	// "-", at most 64; "skillrun" if empty.
	Tag string `json:"tag,omitempty"`
	// BoundOutput says that the command's output goes through skillrun, which
	// the profile's limit of output needs.
	BoundOutput bool `json:"bound_output,omitempty"`
	// Proxied says that hosts which are named are reached by a proxy of this
	// machine's, which resolves them.
	Proxied bool `json:"proxied,omitempty"`
	// Unsearched says that there was too much to find all that denied names lead to.
	Unsearched bool `json:"unsearched,omitempty"`
	// HideNames refuses stat(2) of denied files as well. Listings of their
	// directories then end with an error.
	HideNames bool `json:"hide_names,omitempty"`
}

// ParseFacts reads a host file. An unknown key is an error, as is another
// operating system than darwin, and no home, workspace or tmp.
func ParseFacts(data []byte) (*Facts, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var file struct {
		Facts
		ProxyPort *uint16 `json:"proxy_port"` // one that is 0 is no port
	}
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("host file: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("host file: text after the object")
	}
	f := &file.Facts
	if file.ProxyPort != nil {
		if f.ProxyPort = *file.ProxyPort; f.ProxyPort == 0 {
			return nil, fmt.Errorf("host file: proxy port is 0")
		}
	}
	if err := f.validate(); err != nil {
		return nil, fmt.Errorf("host file: %w", err)
	}
	// Without a home nothing in it would be denied.
	for _, needed := range [...]struct{ key, path string }{{"home", f.Home}, {"workspace", f.Workspace}, {"tmp", f.Tmp}} {
		if needed.path == "" {
			return nil, fmt.Errorf("host file: no %s", needed.key)
		}
	}
	return f, nil
}

// Release is the major version of macOS: 15 for "15.6.1".
func (f *Facts) Release() int {
	major, _, _ := strings.Cut(f.Version, ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return n
}

func (f *Facts) validate() error {
	if f.OS != "darwin" {
		return fmt.Errorf("operating system %q is not darwin", f.OS)
	}
	if f.Release() < 13 {
		return fmt.Errorf("macOS %q is older than 13", f.Version)
	}
	for i := 0; i < len(f.Tag); i++ {
		c := f.Tag[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-') || len(f.Tag) > 64 {
			return fmt.Errorf("tag %q is not letters, digits and -, at most 64", f.Tag)
		}
	}
	for _, p := range [...]string{f.Home, f.Workspace, f.Tmp, f.PrivateHome} {
		if p == "" {
			continue
		}
		if err := Canonical(p); err != nil {
			return err
		}
	}
	for _, p := range slices.Concat(f.Exists, f.Contents, f.Links, f.Commands) {
		if len(p) > 1 {
			p = strings.TrimSuffix(p, "/")
		}
		if err := Canonical(p); err != nil {
			return err
		}
	}
	return nil
}

// rootLinks are the symbolic links of the root directory: the kernel asks
// about their targets.
var rootLinks = [...][2]string{
	{"/tmp", "/private/tmp"},
	{"/var", "/private/var"},
	{"/etc", "/private/etc"},
	{"/home", "/System/Volumes/Data/home"},
}

// firmlinks are directories of the data volume that appear at the root
// (/usr/share/firmlinks); the kernel asks about them there.
var firmlinks = [...]string{
	"Users", "Applications", "Library", "private", "opt", "usr/local", "cores", "Volumes", "AppleInternal", "usr/libexec/cups", "usr/share/snmp",
	"System/Library/Caches", "System/Library/Assets", "System/Library/AssetsV2", "System/Library/PreinstalledAssets",
	"System/Library/PreinstalledAssetsV2", "System/Library/Speech", "System/Library/CoreServices/CoreTypes.bundle/Contents/Library",
}

// dataVolume is where the data volume is mounted.
const dataVolume = "/System/Volumes/Data/"

// Canonical fails unless p is in the one spelling that the kernel asks about,
// as far as that shows in the text: absolute, clean, UTF-8, not through a link
// of the root directory, not through the data volume. A rule in any other
// spelling matches nothing, so that a denial would be dead.
func Canonical(p string) error {
	if err := checkText(p); err != nil {
		return fmt.Errorf("path %q: %w", p, err)
	}
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p {
		return fmt.Errorf("path %q: not absolute and clean", p)
	}
	for _, l := range rootLinks {
		if _, ok := inAnyCase(l[0], p); ok {
			return fmt.Errorf("path %q: not canonical, %s is a link to %s", p, l[0], l[1])
		}
	}
	for _, l := range firmlinks {
		if _, ok := inAnyCase(dataVolume+l, p); ok {
			return fmt.Errorf("path %q: not canonical, %s is /%s", p, dataVolume+l, l)
		}
		if rest, ok := inAnyCase("/"+l, p); ok && !strings.HasPrefix(p, "/"+l) {
			return fmt.Errorf("path %q: not canonical, the system spells it %q", p, "/"+l+rest)
		}
	}
	return nil
}

// inAnyCase says whether p is root or lies beneath it on a volume that folds
// case, as the system's does, and gives what follows root.
func inAnyCase(root, p string) (rest string, ok bool) {
	if len(p) < len(root) || !strings.EqualFold(p[:len(root)], root) {
		return "", false
	}
	rest = p[len(root):]
	return rest, rest == "" || rest[0] == '/'
}

// ancestors gives the directories above p, nearest first, "/" last.
func ancestors(p string) []string {
	var up []string
	for p != "/" && p != "." {
		p = path.Dir(p)
		up = append(up, p)
	}
	return up
}
