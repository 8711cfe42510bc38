package egress

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"skillrun/profiles"
)

// Door is where a run knocked.
type Door string

// The doors.
const (
	DoorGate  Door = "gate"  // a plain connection
	DoorProxy Door = "proxy" // HTTP proxy request
	DoorSOCKS Door = "socks" // SOCKS5 request
	DoorUDP   Door = "udp"   // a flow of datagrams
	DoorDNS   Door = "dns"   // a name that was not resolved
)

// Text says a reason in words that fit behind the name of a host.
func (r Reason) Text() string {
	switch r {
	case Granted:
		return "granted"
	case BadName:
		return "not a name or address in plain form"
	case WrongPort:
		return "granted on other ports or by another protocol only"
	case NotPublic:
		return "granted by name only, and its address is private or special, or of this machine's network: it would have to be granted, too"
	case DeniedAddr:
		return "its address is denied, whatever name is granted"
	case Mismatch:
		return "another name was asked for than the address was given out for"
	case HiddenName:
		return "the name is encrypted and no granted one is visible"
	case Malformed:
		return "TLS or HTTP that servers could read in two ways, HTTP/2 in the clear, or neither on a port of the web"
	case ReadOnly:
		return "granted for reading only"
	case OverBytes:
		return "over its limit of bytes"
	case OverCount:
		return "over its limit of connections"
	case NotNow:
		return "over its limit of connections in this time"
	case NoRoom:
		return "granted, at one port more than a run can open"
	case Unreachable:
		return "granted, and does not answer"
	case NotRegistered:
		return "a connection that the supervisor knows nothing of"
	}
	return "not granted"
}

// Grantable says whether a grant of the host at the port would lift a refusal.
func (r Reason) Grantable() bool {
	switch r {
	case UnknownName, UnknownAddr, WrongPort, ReadOnly:
		return true
	}
	return false
}

// Verdict is what became of one connection, one flow of datagrams, or one
// refused name: everything an audit record needs. It is reported once, when
// the connection is over.
type Verdict struct {
	Start time.Time
	Door  Door
	// Name is the host that the run asked for; "" if it went to an address.
	// It comes from the run: escape it before it reaches a terminal.
	Name     string
	Addr     netip.Addr // where it went, or would have gone; may be invalid
	Via      string     // the proxy of this machine that it went through
	Port     uint16
	Protocol profiles.Protocol
	// TLSName and HTTPHost are what the bytes said, as they said it, cut to
	// 255 bytes.
	TLSName, HTTPHost string
	// Sent and Received count payload bytes as the run sees them.
	Sent, Received int64
	Allowed        bool
	Reason         Reason
	// Rule is the rule that granted it, or that the refusal is about; may be nil.
	Rule *profiles.HostRule
}

// Summary adds verdicts up by host and port, for --net-summary. The zero
// Summary is ready; its methods are safe for concurrent use.
type Summary struct {
	mu   sync.Mutex
	rows map[rowKey]*SummaryRow
}

type rowKey struct {
	host string
	port uint16
}

// SummaryRow is the use of one host at one port.
type SummaryRow struct {
	Host           string `json:"host"`        // name, else address; "" sums up what was too much to list
	Port           uint16 `json:"port"`        // 0 for a name that was not resolved
	Connections    int64  `json:"connections"` // allowed ones
	Refused        int64  `json:"refused"`
	Sent           int64  `json:"sent"`
	Received       int64  `json:"received"`
	LastReason     Reason `json:"last_reason,omitempty"` // of a refusal
	FirstTimestamp int64  `json:"first"`                 // Unix seconds
}

// maxRows bounds a summary: a run can invent names without end.
const maxRows = 4096

// Add counts a verdict.
func (s *Summary) Add(v Verdict) {
	host := v.Name
	if host == "" && v.Addr.IsValid() {
		host = v.Addr.String()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[rowKey]*SummaryRow{}
	}
	key := rowKey{host, v.Port}
	if v.Door == DoorDNS {
		key.port = 0 // a name that was not resolved is for no port yet
	}
	row := s.rows[key]
	if row == nil {
		if len(s.rows) >= maxRows {
			key = rowKey{}
		}
		if row = s.rows[key]; row == nil {
			row = &SummaryRow{Host: key.host, Port: key.port, FirstTimestamp: v.Start.Unix()}
			s.rows[key] = row
		}
	}
	row.Sent += v.Sent
	row.Received += v.Received
	if v.Allowed {
		row.Connections++
	} else {
		row.Refused++
		row.LastReason = v.Reason
	}
}

// Rows gives the rows, most bytes first, then by host and port.
func (s *Summary) Rows() []SummaryRow {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([]SummaryRow, 0, len(s.rows))
	for _, r := range s.rows {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b SummaryRow) int {
		return cmp.Or(cmp.Compare(b.Sent+b.Received, a.Sent+a.Received), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port))
	})
	return rows
}
