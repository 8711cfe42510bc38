package main

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"sync"

	"skillrun/audit"
	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// keptConnections bounds the rows of the record, of the granted and of the
// refused apart, so that a run cannot hide one behind many of the other.
const keptConnections = 256

// traffic is what a run's connections come to.
type traffic struct {
	mu      sync.Mutex
	rows    []audit.Connection
	index   map[audit.Connection]int // of rows, without their counts
	kept    map[bool]int             // rows granted, rows refused
	summary egress.Summary
}

// parents are the proxies by which this machine reaches what a profile names, nil
// if there is none: those that the caller's environment names.
func (j *job) parents(p *profiles.Profile) (*egress.Parents, error) {
	if p.Network.Mode != profiles.NetHosts {
		return nil, nil
	}
	parents, err := egress.NewParents(func(name string) string { return j.host.Env[name] })
	if err != nil {
		return nil, fmt.Errorf("%w; where it is not set, connections are made directly", err)
	}
	return parents, nil
}

// add counts a verdict; connections that are alike are one row.
func (t *traffic) add(v egress.Verdict) {
	t.summary.Add(v)
	row := audit.Connection{
		Host: v.Name, Port: int(v.Port), Protocol: v.Protocol.String(), Door: string(v.Door),
		Via: v.Via, TLSName: v.TLSName, HTTPHost: v.HTTPHost, Verdict: string(v.Reason),
	}
	if v.Door == egress.DoorDNS {
		row.Port, row.Protocol = 0, ""
	}
	if v.Addr.IsValid() {
		row.Addr = v.Addr.String()
	}
	if v.Rule != nil {
		row.Rule = v.Rule.Host + ", " + v.Rule.Origin.Source
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i, ok := t.index[row]
	if !ok && t.kept[v.Allowed] >= keptConnections {
		row = audit.Connection{Verdict: row.Verdict}
		i, ok = t.index[row]
	}
	if !ok {
		if t.index == nil {
			t.index, t.kept = map[audit.Connection]int{}, map[bool]int{}
		}
		i = len(t.rows)
		t.index[row] = i
		t.rows = append(t.rows, row)
		t.kept[v.Allowed]++
	}
	t.rows[i].Count++
	t.rows[i].Sent += v.Sent
	t.rows[i].Received += v.Received
}

// connections are the rows for the record. The run is over.
func (t *traffic) connections() []audit.Connection {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows
}

// unanswered is a host that was granted and could not be reached, and how often. The
// run is over.
func (t *traffic) unanswered() (host string, port int, via string, times int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, row := range t.rows {
		at := cmp.Or(row.Host, row.Addr)
		switch {
		case row.Verdict != string(egress.Unreachable) || row.Port == 0:
		case times == 0:
			host, port, via, times = at, row.Port, row.Via, row.Count
		case at == host && row.Port == port && row.Via == via:
			times += row.Count
		}
	}
	return host, port, via, times
}

// tell prints what was used of each host, one line each.
func (t *traffic) tell(mode profiles.NetMode) {
	rows := t.summary.Rows()
	switch {
	case mode == profiles.NetHost:
		say("network: the host's own, where nothing is counted")
	case mode == profiles.NetNone:
		say("network: none")
	case len(rows) == 0:
		say("network: no connections")
	}
	for _, r := range rows {
		host := r.Host
		switch {
		case host == "":
			host = "others"
		case r.Port != 0:
			host = net.JoinHostPort(host, strconv.Itoa(int(r.Port)))
		}
		if r.Connections > 0 {
			say("network: %s: %d connections, %d bytes sent, %d received", host, r.Connections, r.Sent, r.Received)
		}
		if r.Refused > 0 {
			say("network: %s: refused %d (%s)", host, r.Refused, r.LastReason)
		}
	}
}
