package scan

// callRow says what calling a function needs.
type callRow struct {
	Args, Kw, Default string
	Needs             []string
	Special, Reason   string
}

type callName struct {
	name string
	row  uint16
}
