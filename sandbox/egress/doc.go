// Package egress decides which hosts a run may reach, and carries its
// connections there.
//
// Everything that a run sends ends at a [Gate]. Its resolver answers allowed
// names only and remembers which address it gave for which name; its gate
// proper finds that name again from the address, compares it with the name in
// the bytes (TLS server name, HTTP Host), and only then connects; its proxy
// form does the same for programs that speak HTTP proxy or SOCKS5. All of them
// ask one [Policy], and report one [Verdict] per connection.
//
// What leads the run to the gate is not here: a network namespace in which
// every address is local ([AnyIP]), a supervisor that makes the run's sockets
// ([Gate.Connect]), or a Seatbelt policy that leaves one loopback port open.
//
// The package listens on nothing by itself, starts nothing before it is asked
// to serve, and has no state outside a Gate.
package egress
