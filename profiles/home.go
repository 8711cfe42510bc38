package profiles

import "path"

type homeRow struct {
	Path   string
	Reason string
}

// HomeControls gives denials of the files beneath a home that programs obey, against
// writing and creation, besides those that [ControlFiles] and [SensitivePaths] have.
func HomeControls(home string) []Denial {
	denials := make([]Denial, len(homeRows))
	for i, row := range homeRows {
		denials[i] = Denial{Path: path.Join(home, row.Path), Access: Change, Class: Control, Origin: Origin{Source: OfControlFiles, Reason: row.Reason}}
	}
	return denials
}
