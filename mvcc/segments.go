package mvcc

import (
	"math/bits"
	"slices"
)

const (
	segmentMin = 8 << 10 // bytes of a keyspace's first segment
	// segmentShare: a new segment is this part of the keyspace's memory, up
	// to segmentMax, so that the unused rest of the last one does not count.
	segmentShare = 16
	// ownShare: a record longer than this part of a segment gets one of its
	// own, so that the rest of the last one is not given up for it.
	ownShare = 4

	// Cleaning starts when less than this share of the sealed segments is
	// live: cleanBusy while the keyspace is written, where each byte more
	// that is kept free costs writers dear, and cleanBelow when it rests. E4
	// at its worst stage, rss/valid: 1.77 at 85 %, 1.45 at 90 % (with fuller
	// leaves, and free pages given back).
	cleanBusy  = 85
	cleanBelow = 91
	// cleanBehind is the share from which a keyspace that is written is cleaned
	// by others than its writers, who have to wait for them.
	cleanBehind = 78
	// restShare: less than this part added between two calls of Rest is next
	// to nothing, and restCalls such calls in a row are a rest. A server that is
	// slow for a moment must not take itself to be at rest: the cleaning would
	// keep it slow (with a thousandth, SETs at the limit of memory fell from
	// 350,000 a second to 60,000, for seconds).
	restShare = 20_000
	restCalls = 2
	// cleanSample is how many segments the cleaner looks at to find the emptiest.
	// Neighbours are of about the same age, and so as empty as each other where
	// the oldest keys are evicted.
	cleanSample = 1024
	// cleanAhead is how many records the cleaner looks up together.
	cleanAhead = 16
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
	used   int64     // bytes in records, live or dead
	alloc  int64     // bytes of all segments
	victim int       // slot being cleaned; -1: none
	at     int       // how far the victim has been walked
	debt   int       // bytes that the cleaner may still examine
	next   int       // where the next victim search starts
	spare  []byte    // a segment that no version sees, to be used again; nil: none
	target int       // cleanBusy or cleanBelow
	added  int64     // bytes appended by writers since the start
	rested int64     // added at the last Rest
	still  int       // calls of Rest since more was added than next to nothing
	ahead  ahead     // positions of the victim's next records
}

// ahead holds the positions of the records that the cleaner comes to next.
// Their leaves are touched together, so that it waits for memory once for all of
// them (see Warmer).
type ahead struct {
	pos     [cleanAhead]uint64
	next, n int
	sum     uint64 // keeps the early reads alive
}

func newLog() log { return log{head: -1, victim: -1, target: cleanBusy} }

// reserve returns n bytes at the end of the log, and their ref.
func (k *keyspace) reserve(n int) ([]byte, ref) {
	l := &k.log
	slot := l.head
	if slot < 0 || len(k.segs[slot])-l.info[slot].used < n {
		slot = k.addSegment(n)
	}
	s := &l.info[slot]
	off := s.used
	s.used += n
	s.live += n
	l.live += int64(n)
	l.used += int64(n)
	l.debt += n * cleanRatio
	l.added += int64(n)
	return k.segs[slot][off : off+n : off+n], makeRef(slot, off)
}

// addSegment makes a segment with room for n bytes: a new head, the old one
// being sealed, or one for a long record alone.
func (k *keyspace) addSegment(n int) (slot int) {
	size := k.log.segmentSize()
	if n > size/ownShare {
		return k.addSlot(make([]byte, n))
	}
	k.log.head = k.addSlot(k.newSegment(size))
	return k.log.head
}

// segmentSize is the size of the next segment, a power of two.
func (l *log) segmentSize() int {
	return min(max(1<<bits.Len64(uint64(l.alloc)/segmentShare)>>1, segmentMin), segmentMax)
}

// newSegment returns a segment that no version sees any more, or a new one.
func (k *keyspace) newSegment(size int) []byte {
	l := &k.log
	if len(l.spare) != size {
		k.forgetReleased()
	}
	if len(l.spare) != size {
		return make([]byte, size)
	}
	buf := l.spare
	l.spare = nil
	return buf
}

// keepSpare takes a segment that nobody sees, to be used again.
func (l *log) keepSpare(buf []byte) {
	if len(buf) == l.segmentSize() {
		l.spare = buf
	}
}

// addSlot puts a segment into the table.
func (k *keyspace) addSlot(buf []byte) (slot int) {
	l := &k.log
	l.alloc += int64(len(buf))
	slot = len(k.segs)
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
	if k.before != nil {
		k.before.segs = k.segs
	}
	return slot
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

// dirty says whether so much of the sealed segments is dead that one of them
// should be cleaned. The unused end of a segment does not count: cleaning
// would only make another one, so that with records that fill segments badly
// it would never end.
func (l *log) dirty() bool {
	if l.head < 0 {
		return false
	}
	h := &l.info[l.head]
	return l.sparse(l.live-int64(h.live), l.used-int64(h.used))
}

func (l *log) sparse(live, used int64) bool { return live*100 < used*int64(l.target) }

// kept says whether writers clean the log well enough by themselves.
func (l *log) kept() bool { return l.target == cleanBusy && l.live*100 >= l.used*cleanBehind }

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

// rest says how the log is to be kept until the next call: dense, and without
// anything to be used again, if writers have added next to nothing since the last
// one.
func (k *keyspace) rest() {
	l := &k.log
	if l.still++; l.added-l.rested > l.used/restShare {
		l.still, l.target = 0, cleanBusy
	} else if l.still >= restCalls {
		k.forgetReleased()
		k.index.reuse.drop()
		l.target, l.spare = cleanBelow, nil
	}
	l.rested = l.added
}

// pickVictim chooses the emptiest of many sealed segments. The search
// goes on until it has one that is worth it, as there is when the log is dirty.
func (k *keyspace) pickVictim() bool {
	l := &k.log
	if !l.dirty() {
		return false
	}
	best, bestLive := -1, 2.0
	for i, seen := 0, 0; i < len(k.segs) && (seen < cleanSample || bestLive*100 >= float64(l.target)); i++ {
		l.next = (l.next + 1) % len(k.segs)
		s := &l.info[l.next]
		if k.segs[l.next] == nil || l.next == l.head {
			continue
		}
		seen++
		if share := float64(s.live) / float64(s.used); share < bestLive {
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
		l.victim, l.ahead = -1, ahead{}
		return 1
	}
	at := makeRef(l.victim, l.at)
	r := k.record(at)
	size := r.size()
	if l.ahead.next == l.ahead.n {
		k.lookAhead()
	}
	l.at += size
	pos := l.ahead.pos[l.ahead.next]
	l.ahead.next++
	if !k.holds(pos, at) {
		return size/8 + 8
	}
	buf, to := k.reserve(size)
	l.debt -= size * cleanRatio // moving must not feed the cleaner
	l.added -= int64(size)
	copy(buf, r.buf[:size])
	k.relink(pos, at, to)
	k.kill(at, size)
	return size
}

// lookAhead finds the positions of the victim's next records and touches their
// leaves.
func (k *keyspace) lookAhead() {
	l := &k.log
	a := &l.ahead
	a.next, a.n = 0, 0
	for at := l.at; a.n < cleanAhead && at < l.info[l.victim].used; a.n++ {
		r := k.record(makeRef(l.victim, at))
		a.pos[a.n] = k.hash(r.key())
		at += r.size()
	}
	for _, pos := range a.pos[:a.n] {
		leaf, lo, hi := k.index.descend(pos)
		a.sum += leaf.pairs[guess(pos, lo, hi, leafMax*4/5)].pos
	}
}

// dropSegment takes an emptied segment out of the table. Versions that see it
// keep it as long as they need it; when there are none it is used again.
func (k *keyspace) dropSegment(slot int) {
	buf := k.segs[slot]
	d := dropped{born: k.log.info[slot].born, died: k.epoch, buf: buf}
	k.cached = nil // it may see the segment, which may be used again
	k.log.alloc -= int64(len(buf))
	k.log.used -= int64(k.log.info[slot].used)
	k.log.info[slot] = segment{}
	k.segs = slices.Clone(k.segs)
	k.segs[slot] = nil
	k.log.free = append(k.log.free, slot)
	k.forgetReleased()
	if k.sees(d) {
		k.dropped = append(k.dropped, d)
	} else {
		k.log.keepSpare(buf)
	}
}
