package sandbox_test

// legacyBlocks is for calls of older architectures.
func legacyBlocks(uintptr) bool { return false }
