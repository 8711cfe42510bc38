package egress

// The parsers, for fuzzing and tables.

func ParseHello(b []byte) (name string, ech bool, err error) {
	h, err := parseHello(b)
	return h.name, h.ech, err
}

func ParseHead(b []byte) (method, authority, host string, length int64, size int, err error) {
	h, err := parseHead(b)
	return h.method, h.authority, h.host, h.length, h.size, err
}

func ParseSOCKS(b []byte) (Target, uint16, int, error) {
	r, err := parseSOCKS(b)
	return r.target, r.port, r.size, err
}

func Classify(b []byte) string {
	return [...]string{"unclear", "tls", "http", "opaque"}[classify(b)]
}

func ChunkSize(b []byte) (int64, int, error) { return chunkSize(b) }

func (g *Gate) Reply(msg []byte) []byte { return g.reply(msg, true) }

var (
	ErrMore    = errMore
	ErrRequest = errRequest
)
