package egress

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// handed remembers which address was given out for which name, so that a
// connection, which carries an address only, can be judged by name.
type handed struct {
	mu    sync.Mutex
	names map[netip.Addr]map[string]time.Time // name -> until when
	size  int                                 // pairs
}

const (
	// handedFor is how long an address stands for a name after it was last
	// given out. It outlives the DNS answer because programs keep
	// addresses longer than they were told.
	handedFor = time.Hour
	// maxHanded bounds the pairs: a wildcard rule lets a run ask for names
	// without end. What is forgotten is refused.
	maxHanded = 1 << 15
)

// add notes that a was given out for name.
func (h *handed) add(name string, a netip.Addr, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.names == nil {
		h.names = map[netip.Addr]map[string]time.Time{}
	}
	m := h.names[a]
	if _, ok := m[name]; !ok {
		if h.size >= maxHanded {
			h.shrink(now)
			m = h.names[a]
		}
		if m == nil {
			m = map[string]time.Time{}
			h.names[a] = m
		}
		h.size++
	}
	m[name] = now.Add(handedFor)
}

// of gives the names that a stands for now.
func (h *handed) of(a netip.Addr, now time.Time) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for n, until := range h.names[a] {
		if now.Before(until) {
			names = append(names, n)
		}
	}
	return names
}

// addresses gives those that stand for a name now, in order.
func (h *handed) addresses(name string, now time.Time) []netip.Addr {
	h.mu.Lock()
	defer h.mu.Unlock()
	var addrs []netip.Addr
	for a, names := range h.names {
		if now.Before(names[name]) {
			addrs = append(addrs, a)
		}
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return addrs
}

// shrink makes room: what is over, and if that is not a quarter, any.
func (h *handed) shrink(now time.Time) {
	for _, dropLive := range []bool{false, true} {
		for a, m := range h.names {
			for n, until := range m {
				if !dropLive && now.Before(until) {
					continue
				}
				if h.size <= maxHanded*3/4 {
					return
				}
				delete(m, n)
				h.size--
			}
			if len(m) == 0 {
				delete(h.names, a)
			}
		}
	}
}
