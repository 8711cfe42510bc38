package linux

import "skillrun/profiles"

// deciders are all that rule on a call, the run's own first and then those of
// the runs inside it that the caller belongs to, from the outermost inwards.
// What one refuses is refused. Each knows by its own ledger what was made in
// its run.
type deciders []*decider

// each gives the first refusal.
func (ds deciders) each(rule func(*decider) ruling) ruling {
	for i, d := range ds {
		if r := rule(d); !r.ok() {
			r.inner = i > 0
			return r
		}
	}
	return ruling{}
}

func (ds deciders) rule(pl place, access profiles.Access) ruling {
	return ds.each(func(d *decider) ruling { return d.rule(pl, access) })
}

func (ds deciders) create(pl place, k kind) ruling {
	return ds.each(func(d *decider) ruling { return d.create(pl, k) })
}

func (ds deciders) write(pl place, access profiles.Access) ruling {
	return ds.each(func(d *decider) ruling { return d.write(pl, access) })
}

func (ds deciders) start(pl place) ruling {
	return ds.each(func(d *decider) ruling { return d.start(pl) })
}

func (ds deciders) edit(pl place) ruling {
	return ds.each(func(d *decider) ruling { return d.edit(pl, profiles.Write) })
}

func (ds deciders) remove(pl place) ruling {
	return ds.each(func(d *decider) ruling { return d.remove(pl) })
}

func (ds deciders) rename(from place, fromKind kind, to place, toKind kind, exchange bool) ruling {
	return ds.each(func(d *decider) ruling { return d.rename(from, fromKind, to, toKind, exchange) })
}

func (ds deciders) across(from, to place) ruling {
	return ds.each(func(d *decider) ruling { return d.across(from, to) })
}

func (ds deciders) link(from place, k kind, to place) ruling {
	return ds.each(func(d *decider) ruling { return d.link(from, k, to) })
}

func (ds deciders) mode(pl place, k kind, mode uint32) ruling {
	return ds.each(func(d *decider) ruling { return d.mode(pl, k, mode) })
}

func (ds deciders) group(pl place, mode uint32, foreign bool) ruling {
	return ds.each(func(d *decider) ruling { return d.group(pl, mode, foreign) })
}

func (ds deciders) attribute(pl place, k kind, name string, value []byte, set bool) ruling {
	return ds.each(func(d *decider) ruling { return d.attribute(pl, k, name, value, set) })
}

// narrowMode is what a change of mode comes to in all of the runs.
func (ds deciders) narrowMode(mode uint32) uint32 {
	for _, d := range ds {
		mode = d.narrowMode(mode)
	}
	return mode
}

func (ds deciders) narrowACL(acl []byte) {
	for _, d := range ds {
		d.narrowACL(acl)
	}
}

// newMode is the mode that a new file gets: what the caller asks for, less its umask,
// and narrowed as a change of mode is.
func (ds deciders) newMode(mode, umask uint32) uint32 {
	return ds.narrowMode(mode &^ umask)
}

// made says whether what stands at pl was made in each of the runs.
func (ds deciders) made(pl place) bool {
	for _, d := range ds {
		if !d.made(pl) {
			return false
		}
	}
	return true
}

// add notes a name that was made; dir is its identity if it is a directory.
func (ds deciders) add(pl place, dir dirID) {
	for _, d := range ds {
		d.ledger.add(pl, dir, d.secret(pl))
	}
}

// forget notes that a name is gone.
func (ds deciders) forget(pl place, dir dirID) {
	for _, d := range ds {
		d.ledger.remove(pl, dir)
	}
}
