package mvcc

import "encoding/binary"

// A bigStream is the value of a stream: nodes of entries in a tree by their first
// ids, and the consumer groups. A node, a group or a consumer belongs to the
// stream whose generation it carries; it is copied before another writes to it.
// So a clone is O(1), whatever hangs below.
type bigStream struct {
	gen    uint64
	nodes  cow[StreamID, *streamNode]
	tail   *streamNode // the last of nodes; nil if there is none
	groups cow[streamName, *streamGroup]

	length     int
	first      StreamID // of the first entry that is there; 0-0 if none
	lastID     StreamID // the greatest that was ever given out or set
	maxDeleted StreamID // the greatest that XDEL has deleted
	added      int64    // entries ever added
	alloc      int64    // bytes
}

const bigStreamCost = 192 // bytes of the header

func newBigStream() *bigStream { return &bigStream{gen: 1, alloc: bigStreamCost} }

func (s *bigStream) bytes() int64 { return s.alloc }

func (s *bigStream) count() int { return s.length }

// clone copies the header. The two may both be read from then on, but of the old
// one only a further clone may be written, which is what object sees to.
func (s *bigStream) clone() value {
	c := *s
	c.gen++
	return &c
}

// add appends an entry, whose id must be greater than lastID.
func (s *bigStream) add(id StreamID, pairs [][]byte, l *Limits) {
	size := 0
	for _, p := range pairs {
		size += len(p)
	}
	if s.tail == nil || s.tail.full(size, l) {
		s.begin(id, pairs, size)
	}
	n := s.writable(s.tail)
	was := cap(n.blob)
	n.add(id, pairs)
	s.alloc += int64(cap(n.blob) - was)
	if s.length++; s.length == 1 {
		s.first = id
	}
	s.lastID = id
	s.added++
}

// begin makes a new last node. It is given the room that the one before it
// took, because what follows will mostly be alike; that one gives back what it
// did not use.
func (s *bigStream) begin(id StreamID, pairs [][]byte, size int) {
	room := size + 2*binary.MaxVarintLen64 + 2*len(pairs)
	if t := s.tail; t != nil {
		if n := len(t.blob); n > 4*room/3 {
			room = n + n/32
		}
		if waste := cap(t.blob) - len(t.blob); waste > cap(t.blob)/8 {
			t = s.writable(t)
			s.resize(t, append(make([]byte, 0, len(t.blob)), t.blob...))
		}
	}
	s.tail = newStreamNode(s.gen, id, pairs, room)
	s.nodes.set(s.gen, id, s.tail)
	s.alloc += streamNodeCost + int64(cap(s.tail.blob))
}

func (s *bigStream) resize(n *streamNode, b []byte) {
	s.alloc += int64(cap(b) - cap(n.blob))
	n.blob = b
}

// writable makes the node one that s may write to.
func (s *bigStream) writable(n *streamNode) *streamNode {
	if n.gen == s.gen {
		return n
	}
	c := n.clone(s.gen)
	s.alloc += int64(cap(c.blob) - cap(n.blob))
	*s.nodes.mut(s.gen, n.first) = c
	if s.tail == n {
		s.tail = c
	}
	return c
}

// drop takes a whole node out.
func (s *bigStream) drop(n *streamNode) {
	s.nodes.delete(s.gen, n.first)
	s.alloc -= streamNodeCost + int64(cap(n.blob))
	if s.tail == n {
		_, s.tail, _ = s.nodes.last()
	}
}

// delete takes an entry out and says whether it was there.
func (s *bigStream) delete(id StreamID) bool {
	_, n, ok := s.nodes.floor(id)
	if !ok {
		return false
	}
	off, next, ok := n.find(id)
	if !ok {
		return false
	}
	if n.live == 1 {
		s.drop(n)
	} else {
		n = s.writable(n)
		n.flag(off, next)
		s.sweep(n)
	}
	s.length--
	if s.maxDeleted.Less(id) {
		s.maxDeleted = id
	}
	if id == s.first {
		s.first = s.firstEntry()
	}
	return true
}

func (s *bigStream) sweep(n *streamNode) {
	was := cap(n.blob)
	n.sweep()
	s.alloc += int64(cap(n.blob) - was)
}

// firstEntry returns the id of the first entry; 0-0 if there is none.
func (s *bigStream) firstEntry() (id StreamID) {
	s.ascend(StreamID{}, func(e *StreamEntry) bool {
		id = e.ID
		return false
	})
	return id
}

// A StreamTrim says which of its oldest entries a stream is to lose.
type StreamTrim struct {
	ByID   bool
	MaxLen int      // keep no more than so many, unless ByID
	MinID  StreamID // keep none that is before it, if ByID
	Approx bool     // take out whole nodes only
	Limit  int      // take out no more than so many, in whole nodes; 0: as many as there are
}

// trim takes out the oldest entries and returns how many. More says that it
// stopped after some nodes, so that others have their turn, and must be called
// again.
func (s *bigStream) trim(t *StreamTrim) (removed int, more bool) {
	for round := 0; ; round++ {
		_, n, ok := s.nodes.first()
		if !ok || !t.ByID && s.length <= t.MaxLen || t.Limit > 0 && removed+n.live > t.Limit {
			break
		}
		if more = round == trimNodes && removed != t.Limit; more {
			break
		}
		if t.ByID && n.last.Less(t.MinID) || !t.ByID && s.length-n.live >= t.MaxLen {
			s.drop(n)
			s.length -= n.live
			removed += n.live
			continue
		}
		if t.Approx {
			break
		}
		cut, empty := s.trimNode(n, t)
		if removed += cut; !empty {
			break
		}
	}
	if removed > 0 {
		s.first = s.firstEntry()
	}
	return removed, more
}

const trimNodes = 64 // that are taken out in one go

// trimNode flags the first entries of a node.
func (s *bigStream) trimNode(n *streamNode, t *StreamTrim) (removed int, empty bool) {
	n = s.writable(n)
	var e StreamEntry
	for off := n.names; off < len(n.blob); {
		next := n.at(off, &e)
		gone := e.deleted() // such an id may be above the next ones
		if t.ByID && !gone && !e.ID.Less(t.MinID) || !t.ByID && s.length <= t.MaxLen {
			break
		}
		if !gone {
			n.flag(off, next)
			s.length--
			removed++
		}
		off = next
	}
	if n.live == 0 { // the last entry was deleted before; XSETID may have let lower ids follow it
		s.drop(n)
		return removed, true
	}
	s.sweep(n)
	return removed, false
}

// ascend calls yield for the entries from an id on, until it returns false. The
// entry is the same variable each time.
func (s *bigStream) ascend(from StreamID, yield func(*StreamEntry) bool) {
	start, _, ok := s.nodes.floor(from)
	if !ok {
		start = from
	}
	var e StreamEntry
	s.nodes.ascend(start, func(_ StreamID, n *streamNode) bool { return n.ascend(from, &e, yield) })
}

// descend calls yield for the entries from an id down, until it returns false.
func (s *bigStream) descend(from StreamID, yield func(*StreamEntry) bool) {
	var e StreamEntry
	s.nodes.descend(from, func(_ StreamID, n *streamNode) bool { return n.descend(from, &e, yield) })
}
