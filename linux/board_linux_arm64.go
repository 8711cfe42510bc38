package linux

// load reads a word of the board, and store writes one: who finds it finds what
// was written before.
//
//go:nosplit
//go:norace
func load(word *uint32) uint32 { return loadAcquire(word) }

//go:nosplit
//go:norace
func store(word *uint32, value uint32) { storeRelease(word, value) }
