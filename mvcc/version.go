package mvcc

import "sync/atomic"

// A Version is a frozen keyspace: one database of one store at one instant. It
// is never changed, even after what it shows was deleted, and may be read from
// any goroutine. It costs memory as long as it is pinned: the records, tree
// nodes and big values that writers have replaced since.
type Version struct {
	tables
	of   *keyspace
	pins atomic.Int64
	sum  uint64 // checksum at the freeze, with the build tag invariants
}

// Freeze returns the current version of the database, pinned once: O(1), and
// the same version as before if nothing was written since. During a splice it
// is the state without the splice.
func (s *Store) Freeze(db int) *Version {
	k := s.keyspace(db)
	if k.cached == nil {
		from := &k.tables
		if k.before != nil {
			from = k.before
		}
		k.cached = &Version{tables: from.freeze(), of: k}
		k.cached.seal()
		k.raise(s.epochs.next())
		s.freezes.Add(1)
	}
	k.cached.pins.Add(1)
	k.open.Add(1)
	return k.cached
}

// Release gives back one pin; every Freeze needs one. The version must not be
// read after its last pin was given back.
func (v *Version) Release() {
	v.verify()
	if v.pins.Add(-1) < 0 {
		panic("mvcc: version released more often than frozen")
	}
	v.of.open.Add(-1)
}

// Len returns the number of keys, expired ones that were not yet removed
// included.
func (v *Version) Len() int { return v.count }

// Ascend calls yield for each key at or after the position, in position order
// and exactly once each, until it returns false. Expired keys are among them.
func (v *Version) Ascend(from uint64, yield func(pos uint64, e Entry) bool) { v.ascend(from, yield) }
