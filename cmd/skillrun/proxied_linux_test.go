package main_test

import (
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// TestProxied: where a machine's environment names a proxy, a granted name is
// reached by it, in every environment, with programs that know nothing of it.
func TestProxied(t *testing.T) {
	t.Parallel()
	if !inOwnInternet(t) {
		return
	}
	w := newInternet(t, map[string]string{"good.example": "93.184.216.34", "*.evil.example": "151.101.1.69"})
	var mu sync.Mutex
	var asked []string
	gate, err := egress.New(egress.Config{Network: &profiles.Network{Mode: profiles.NetHost}, Report: func(v egress.Verdict) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, v.Name)
	}, System: &egress.System{Servers: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.53:53")}, Timeout: 1e9, Attempts: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go gate.ServeProxy(ln)
	at := ln.Addr().String()
	const script = "export CURL_CA_BUNDLE=$PWD/ca.crt; env | grep -i proxy; curl -sS http://HOST/a; curl -sS https://HOST/b"
	for _, s := range newSites(t, clientManifest, map[string]string{"ca.crt": string(w.pem)}) {
		t.Run(s.name, func(t *testing.T) {
			bare, _ := s.start(t, true, strings.ReplaceAll(script, "HOST", "good.example"))
			proxied := append(slices.Clip(s.outer), "env", "HTTP_PROXY=http://u:pa55w0rd@"+at, "https_proxy="+at)
			program := s.words[len(s.outer)]
			s.words = append(append(proxied, program, "--receipt"), s.words[len(s.outer)+1:]...)
			got, errs := s.start(t, false, strings.ReplaceAll(script, "HOST", "good.example"))
			mu.Lock()
			names := asked
			asked = nil
			mu.Unlock()
			if want := []string{"good.example", "good.example"}; got != bare || strings.Count(got, "host=good.example") != 2 || !slices.Equal(names, want) {
				t.Errorf("outside %q, inside %q: %s\nthe proxy was asked for %q", bare, got, errs, names)
			}
			if !strings.Contains(errs, "net.resolved     should none") {
				t.Errorf("the receipt says %s", errs)
			}
			s.words = s.outer
			log, errs := s.start(t, false, program+" audit show $("+program+` audit show | sed -n 's/.*#1 start \([0-9a-z]*\):.*/\1/p')`)
			if strings.Count(log, " by proxy "+at+" granted") != 2 || strings.Contains(log, "pa55w0rd") {
				t.Errorf("recorded: %s %s", log, errs)
			}
			evil := strings.ReplaceAll(script, "HOST", "a.evil.example")
			w.reached()
			s.start(t, true, evil)
			if seen := w.reached(); !noted(seen, "host=a.evil.example") {
				t.Errorf("outside, another host was not reached: %q", seen)
			}
			s.words = append(proxied, program, "--manifest", filepath.Join(s.dir, "m.json"), "--approve", "declared", "--")
			s.start(t, false, evil)
			mu.Lock()
			defer mu.Unlock()
			if seen := w.reached(); len(asked) > 0 || noted(seen, "evil.example") {
				t.Errorf("reached %q, the proxy was asked for %q", seen, asked)
			}
		})
	}
}
