package mvcc

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// A Version is a frozen keyspace: one database of one store at one instant. It
// is never changed, even after what it shows was deleted, and may be read from
// any goroutine. It costs memory as long as it is pinned: the records, tree
// nodes and big values that writers have replaced since.
type Version struct {
	tables
	of   *keyspace
	pins *pins
	sum  uint64 // checksum at the freeze, with the build tag invariants
}

// pins is what a keyspace remembers of a version that it has made.
type pins struct {
	n     atomic.Int64
	gen   uint64 // of its index
	epoch uint64 // that the version ended: it sees what was born in it or before
}

// dropped is a segment that was taken out of the table: versions that ended an
// epoch in [born, died) see it.
type dropped struct {
	born, died uint64
	buf        []byte
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
		t := from.freeze()
		k.cached = &Version{tables: t, of: k, pins: &pins{gen: t.index.gen, epoch: k.epoch}}
		k.cached.seal()
		if n := len(k.versions); n >= 32 && n&(n-1) == 0 {
			k.forgetReleased()
		}
		k.versions = append(k.versions, k.cached.pins)
		k.raise(s.epochs.next())
		s.freezes.Add(1)
	}
	k.cached.pins.n.Add(1)
	k.open.Add(1)
	return k.cached
}

// Release gives back one pin; every Freeze needs one. The version must not be
// read after its last pin was given back.
func (v *Version) Release() {
	v.verify()
	if v.pins.n.Add(-1) < 0 {
		panic("mvcc: version released more often than frozen")
	}
	v.of.open.Add(-1)
}

// forgetReleased drops what is noted of versions that were released and may not
// be frozen again, and of segments that none of the others sees: one of these is
// used again.
func (k *keyspace) forgetReleased() {
	k.versions = slices.DeleteFunc(k.versions, func(p *pins) bool {
		return p.n.Load() == 0 && (k.cached == nil || k.cached.pins != p)
	})
	k.dropped = slices.DeleteFunc(k.dropped, func(d dropped) bool {
		if k.sees(d) {
			return false
		}
		k.log.keepSpare(d.buf)
		return true
	})
}

// sees says whether a noted version sees the segment.
func (k *keyspace) sees(d dropped) bool {
	i, _ := slices.BinarySearchFunc(k.versions, d.born, func(p *pins, born uint64) int { return cmp.Compare(p.epoch, born) })
	return i < len(k.versions) && k.versions[i].epoch < d.died
}

// pinnedBytes is the size of the dropped segments that open versions see.
func (k *keyspace) pinnedBytes() (n int64) {
	k.forgetReleased()
	for _, d := range k.dropped {
		n += int64(len(d.buf))
	}
	return n
}

// Len returns the number of keys, expired ones that were not yet removed
// included.
func (v *Version) Len() int { return v.count }

// Ascend calls yield for each key at or after the position, in position order
// and exactly once each, until it returns false. Expired keys are among them.
func (v *Version) Ascend(from uint64, yield func(pos uint64, e Entry) bool) { v.ascend(from, yield) }
