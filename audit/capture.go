package audit

import (
	"crypto/sha256"
	"hash"
	"sync"
)

// CaptureText is how many bytes of a stream --capture=full keeps.
const CaptureText = MaxText / 2

// Capture is a writer that digests and counts what goes through a stream, and
// keeps the beginning. It never fails and is safe for concurrent use.
type Capture struct {
	mu   sync.Mutex
	hash hash.Hash
	size int64
	keep int
	text []byte
}

// NewCapture keeps up to keep bytes, at most CaptureText; 0 keeps none.
func NewCapture(keep int) *Capture {
	return &Capture{hash: sha256.New(), keep: min(keep, CaptureText)}
}

// Write takes all of b.
func (c *Capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hash.Write(b)
	c.size += int64(len(b))
	c.text = append(c.text, b[:min(len(b), c.keep-len(c.text))]...)
	return len(b), nil
}

// Stream gives what was captured so far.
func (c *Capture) Stream() Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stream{
		Size: c.size, SHA256: Digest(c.hash.Sum(nil)),
		Text: string(c.text), Cut: c.keep > 0 && int64(len(c.text)) < c.size,
	}
}
