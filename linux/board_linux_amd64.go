package linux

// load reads a word of the board, and store writes one: who finds it finds what
// was written before. Here every store does that. They are no functions in assembly,
// after which the compiler has the thread's g fetched from memory that the guardian
// does not have.
//
//go:noinline
//go:nosplit
//go:norace
func load(word *uint32) uint32 { return *word }

//go:noinline
//go:nosplit
//go:norace
func store(word *uint32, value uint32) { *word = value }
