package commands

import "firn/mvcc"

// storedStream tells add what effects carry of a stream. That is not when an entry
// was delivered, how often its history was read, how many entries a group has
// read, and which consumers have nothing (Redis doesn't tell either).
func storedStream(s mvcc.StreamValue, add func(parts ...any)) {
	add("ids", s.FirstID(), s.LastID(), s.MaxDeletedID(), s.Added())
	s.Ascend(mvcc.StreamID{}, func(e *mvcc.StreamEntry) bool {
		e.Each(func(field, value []byte) bool { add(e.ID, string(field), string(value)); return true })
		return true
	})
	s.EachGroup(func(g mvcc.StreamGroup) bool {
		add("group", g.Name(), g.LastID())
		g.AscendPending(mvcc.StreamID{}, func(id mvcc.StreamID, p mvcc.StreamPending) bool {
			add("pending", g.Name(), id, g.Owner(p).Name())
			return true
		})
		return true
	})
}
