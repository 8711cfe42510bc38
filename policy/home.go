package policy

import (
	"io/fs"
	"strings"

	"skillrun/profiles"
)

// homeControls guards what in a workspace the user's own control files lead to, as
// where settings of agents are kept in a repository: those in a home that are links,
// and what in their directories is one.
func homeControls(h *profiles.Host, workspace string) (denials []profiles.Denial) {
	if workspace == "" {
		return nil
	}
	sift := profiles.Sift{Root: workspace}
	guard := func(name, reason string) {
		to, err := h.ResolvePrefix(name)
		if err != nil || to == workspace || !within(workspace, to) || within(workspace, name) {
			return
		}
		denials = append(denials, sift.Beyond(h, profiles.Denial{Path: name, Access: profiles.Write | profiles.Create | profiles.Delete, Class: profiles.Control,
			Origin: profiles.Origin{Source: profiles.OfControlFiles, Reason: reason}})...)
	}
	for _, home := range [...]string{h.Home, h.Account} {
		if home == "" {
			continue
		}
		for _, d := range append(profiles.ControlFiles(home), profiles.HomeControls(home)...) {
			name := d.Path
			if d.Match != "" {
				name = home + "/" + d.Match
			}
			if strings.ContainsAny(d.Match, "*?") || !h.Exists(name) && len(h.Links(name)) == 0 {
				continue
			}
			guard(name, d.Origin.Reason)
			entries, _ := fs.ReadDir(h.FS, fsName(name))
			for _, e := range entries {
				if e.Type()&fs.ModeSymlink != 0 {
					guard(profiles.Below(name, e.Name()), d.Origin.Reason)
				}
			}
		}
	}
	return denials
}
