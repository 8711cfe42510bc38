package profiles

import "strings"

// WithoutCredentials says whether a file of settings (git's, pip's, npm's) is there,
// by its own name, and holds nothing that could open anything: no header to send, no
// address with a password or token in it, nothing that is called a secret.
func (h *Host) WithoutCredentials(file string) bool {
	if real, err := h.Resolve(file); err != nil || real != file {
		return false
	}
	b, err := h.ReadSmall(file, 1<<20)
	if err != nil {
		return false
	}
	text := strings.ToLower(string(b))
	// A backslash joins lines and escapes: that is not looked through.
	for _, word := range [...]string{"\\", "extraheader", "authorization", "_auth", "pass", "token", "secret", "cookie"} {
		if strings.Contains(text, word) {
			return false
		}
	}
	for line := range strings.Lines(text) {
		before, after, at := strings.Cut(line, "@")
		if !at || !strings.Contains(line, "://") {
			continue
		}
		_, user, ssh := strings.Cut(before, "ssh://") // a user's name alone opens nothing
		if !ssh || strings.ContainsAny(user, ":/\"") || strings.Contains(after, "@") {
			return false
		}
	}
	return true
}
