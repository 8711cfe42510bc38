package profiles

//go:generate go run ./gen

// The rows of data/*.toml, one type per table. The tables themselves are
// generated, since reading TOML at start would cost more than all the rest.
type (
	storeRow struct {
		Path, Match, OS, Reason string
		Moved, Holds, Except    []string
		List, Read              bool
	}
	socketRow struct {
		Path, OS, Reason string
		Moved            []string
	}
	secretRow struct {
		Match, Reason string
		Except        []string
	}
	controlRow struct {
		Match, Reason            string
		UnlessMade, UnlessWithin bool
		Everywhere               bool
		Holds                    []string
	}
	ordinaryRow struct {
		Name, Reason string
		Unpacked     bool
	}
	outputRow struct {
		Name, Reason string
	}
	baseRow struct {
		Path, Access, OS, Reason string
		Credentials              bool
	}
	toolRow struct {
		Name, Marker, Set, Value, OS, Reason string
		Fetch, Then, ThenValue               string
		Places, Proof, Read, Exec            []string
	}
	passRow struct {
		Name, Reason string
	}
	denyRow struct {
		Name, Reason string
	}
	steerRow struct {
		Name, Reason string
	}
	keepRow struct {
		Name, Reason string
		Values       []string
	}
	hostRow struct {
		Group, Host, Reason string
		Ports               []int64
		ReadOnly            bool
	}
	secondLevelRow struct {
		Label, Reason string
	}
	suffixRow struct {
		Name, Reason string
	}
)
