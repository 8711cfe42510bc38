package linux

// legacyCalls are the calls that newer architectures do without: arm64 is one.
func legacyCalls() []call { return nil }
