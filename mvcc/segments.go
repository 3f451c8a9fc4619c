package mvcc

import "slices"

const (
	segmentMin = 8 << 10 // bytes of a keyspace's first segment; doubles up to segmentMax

	// cleanBelow: cleaning starts when less than this share of the sealed
	// segments is live. 85 % keeps resident memory at 1.2 to 1.4 times the
	// live bytes for about one moved byte per appended byte.
	cleanBelow = 85
	// cleanSample is how many segments the cleaner looks at to find an empty one.
	cleanSample = 24
	// cleanRatio is how many bytes of a victim are examined for each byte
	// appended, so that cleaning keeps pace with writing.
	cleanRatio = 6
)

// segment is what the owner knows of one slot of the segment table.
type segment struct {
	used   int    // bytes appended
	live   int    // bytes of records that the index still points to
	born   uint64 // epoch in which it was created
	mark   int    // bytes that a version of epoch marked may see
	marked uint64
}

// log is the owner's side of a keyspace's record store.
type log struct {
	info   []segment // by slot, like tables.segs
	head   int       // slot that is appended to; -1: none yet
	free   []int     // empty slots
	live   int64     // bytes in live records
	alloc  int64     // bytes of all segments
	victim int       // slot being cleaned; -1: none
	at     int       // how far the victim has been walked
	debt   int       // bytes that the cleaner may still examine
	next   int       // where the next victim search starts
	spare  []byte    // one full-sized segment that no version can see, to be used again
}

func newLog() log { return log{head: -1, victim: -1} }

// reserve returns n bytes at the end of the log, and their ref.
func (k *keyspace) reserve(n int) ([]byte, ref) {
	l := &k.log
	if l.head < 0 || len(k.segs[l.head])-l.info[l.head].used < n {
		k.addSegment(n)
	}
	s := &l.info[l.head]
	off := s.used
	s.used += n
	s.live += n
	l.live += int64(n)
	l.debt += n * cleanRatio
	return k.segs[l.head][off : off+n : off+n], makeRef(l.head, off)
}

// addSegment seals the head and starts a segment with room for n bytes. A
// record longer than a segment gets one of its own.
func (k *keyspace) addSegment(n int) {
	l := &k.log
	size := segmentMin
	if l.head >= 0 {
		size = min(2*len(k.segs[l.head]), segmentMax)
	}
	var buf []byte
	if size == segmentMax && n <= size && l.spare != nil {
		buf, l.spare = l.spare, nil
	} else {
		buf = make([]byte, max(size, n))
	}
	l.alloc += int64(len(buf))
	slot := len(k.segs)
	if len(l.free) > 0 {
		slot = l.free[len(l.free)-1]
		l.free = l.free[:len(l.free)-1]
		k.segs = slices.Clone(k.segs)
		k.segs[slot] = buf
		l.info[slot] = segment{}
	} else {
		k.segs = append(k.segs, buf)
		l.info = append(l.info, segment{})
	}
	l.info[slot].born = k.epoch
	l.head = slot
	if k.before != nil {
		k.before.segs = k.segs
	}
}

// kill accounts for a record that the index no longer points to.
func (k *keyspace) kill(at ref, size int) {
	k.log.info[at.slot()].live -= size
	k.log.live -= int64(size)
}

// private says whether no version can see the record, so that it may be
// written in place.
func (k *keyspace) private(at ref) bool {
	if k.before != nil {
		return false
	}
	if k.open.Load() == 0 {
		return true
	}
	s := &k.log.info[at.slot()]
	return s.born == k.epoch || s.marked == k.epoch && at.off() >= s.mark
}

// markFrozen notes how much of the head a version sees from now on.
func (k *keyspace) markFrozen() {
	if h := k.log.head; h >= 0 {
		k.log.info[h].mark, k.log.info[h].marked = k.log.info[h].used, k.epoch
	}
}

// sealed is the bytes of all segments but the head.
func (k *keyspace) sealed() (bytes, live int64) {
	l := &k.log
	if l.head < 0 {
		return 0, 0
	}
	return l.alloc - int64(len(k.segs[l.head])), l.live - int64(l.info[l.head].live)
}

// dirty says whether so much of the sealed segments is dead that one of them
// should be cleaned.
func (k *keyspace) dirty() bool {
	bytes, live := k.sealed()
	return bytes > 0 && live*100 < bytes*cleanBelow
}

// Clean moves live records out of the emptiest segments, examining at most
// budget bytes, and says whether there is more to do. Nothing is cleaned while
// a splice is under way, because two indexes then point to the records.
func (k *keyspace) clean(budget int) (more bool) {
	if k.before != nil {
		return false
	}
	for budget > 0 {
		if k.log.victim < 0 && !k.pickVictim() {
			return false
		}
		budget -= k.cleanRecord()
	}
	return true
}

// pickVictim chooses the emptiest of a sample of sealed segments.
func (k *keyspace) pickVictim() bool {
	l := &k.log
	if !k.dirty() {
		return false
	}
	best, bestLive := -1, 2.0
	for i, seen := 0, 0; i < len(k.segs) && seen < cleanSample; i++ {
		l.next = (l.next + 1) % len(k.segs)
		if k.segs[l.next] == nil || l.next == l.head {
			continue
		}
		seen++
		if share := float64(l.info[l.next].live) / float64(len(k.segs[l.next])); share < bestLive {
			best, bestLive = l.next, share
		}
	}
	l.victim, l.at = best, 0
	return best >= 0
}

// cleanRecord examines one record of the victim and returns the bytes of work.
func (k *keyspace) cleanRecord() int {
	l := &k.log
	s := &l.info[l.victim]
	if s.live == 0 || l.at >= s.used {
		k.dropSegment(l.victim)
		l.victim = -1
		return 1
	}
	at := makeRef(l.victim, l.at)
	r := k.record(at)
	size := r.size()
	l.at += size
	pos := k.hash(r.key())
	if !k.holds(pos, at) {
		return size/8 + 8
	}
	buf, to := k.reserve(size)
	l.debt -= size * cleanRatio // moving must not feed the cleaner
	copy(buf, r.buf[:size])
	k.relink(pos, at, to)
	k.kill(at, size)
	return size
}

// dropSegment takes an emptied segment out of the table. Versions keep it as
// long as they need it; when there are none it is used again.
func (k *keyspace) dropSegment(slot int) {
	buf := k.segs[slot]
	k.cached = nil // it may see the segment, which may be used again
	k.log.alloc -= int64(len(buf))
	k.log.info[slot] = segment{}
	k.segs = slices.Clone(k.segs)
	k.segs[slot] = nil
	k.log.free = append(k.log.free, slot)
	switch {
	case k.open.Load() > 0:
		k.pinned.Add(int64(len(buf)))
	case len(buf) == segmentMax:
		k.log.spare = buf
	}
}
