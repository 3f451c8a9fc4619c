package mvcc

// A StreamValue reads a stream as it is at one moment. Bytes that it yields are
// the stream's own: read-only, and valid as those of an Entry.
type StreamValue struct{ s *bigStream }

// Stream returns the entry's value, which must be a stream.
func (e *Entry) Stream() StreamValue { return StreamValue{e.obj.val.(*bigStream)} }

// Len returns the number of entries.
func (v StreamValue) Len() int { return v.s.length }

// FirstID returns the id of the first entry; 0-0 if there is none.
func (v StreamValue) FirstID() StreamID { return v.s.first }

// LastID returns the greatest id that was ever given out, or set.
func (v StreamValue) LastID() StreamID { return v.s.lastID }

// MaxDeletedID returns the greatest id that was deleted (trimming does not
// count); 0-0 if none was.
func (v StreamValue) MaxDeletedID() StreamID { return v.s.maxDeleted }

// Added returns how many entries were ever added.
func (v StreamValue) Added() int64 { return v.s.added }

// LastEntryID returns the id of the last entry; false if there is none.
func (v StreamValue) LastEntryID() (id StreamID, ok bool) {
	if t := v.s.tail; t != nil && t.last == v.s.lastID && t.deleted == 0 {
		return t.last, true
	}
	v.s.descend(MaxStreamID, func(e *StreamEntry) bool {
		id, ok = e.ID, true
		return false
	})
	return id, ok
}

// OldestID returns the first id of the first node, whose entry may have been
// deleted: what Redis makes of MINID ~ in its effects. False if there is no node.
func (v StreamValue) OldestID() (StreamID, bool) {
	id, _, ok := v.s.nodes.first()
	return id, ok
}

// Has says whether there is an entry with the id.
func (v StreamValue) Has(id StreamID) bool {
	_, n, ok := v.s.nodes.floor(id)
	if ok {
		_, _, ok = n.find(id)
	}
	return ok
}

// Get reads the entry with the id into e, and says whether it is there.
func (v StreamValue) Get(id StreamID, e *StreamEntry) bool {
	_, n, ok := v.s.nodes.floor(id)
	if !ok {
		return false
	}
	off, _, ok := n.find(id)
	if ok {
		n.at(off, e)
	}
	return ok
}

// Count returns how many entries are in the range, both ids included, but no
// more than limit, unless that is 0. It looks at the entries only in the nodes
// at the ends.
func (v StreamValue) Count(from, to StreamID, limit int) (count int) {
	if to.Less(from) {
		return 0
	}
	start, _, ok := v.s.nodes.floor(from)
	if !ok {
		start = from
	}
	v.s.nodes.ascend(start, func(first StreamID, n *streamNode) bool {
		if to.Less(first) {
			return false
		}
		count += n.count(from, to)
		return limit == 0 || count < limit
	})
	if limit > 0 {
		return min(count, limit)
	}
	return count
}

// About estimates, in O(log n), how many entries are in the range.
func (v StreamValue) About(from, to StreamID) int {
	nodes := v.s.nodes.len()
	if nodes == 0 || to.Less(from) {
		return 0
	}
	each := 1 + v.s.length/nodes
	return min(v.s.length, each*(1+v.s.nodes.rank(to)-v.s.nodes.rank(from)))
}

// Ascend yields the entries from an id on, in order, until yield returns false.
// The entry is the same variable each time.
func (v StreamValue) Ascend(from StreamID, yield func(e *StreamEntry) bool) { v.s.ascend(from, yield) }

// Descend yields the entries from an id down, until yield returns false. The
// entry is the same variable each time.
func (v StreamValue) Descend(from StreamID, yield func(e *StreamEntry) bool) {
	v.s.descend(from, yield)
}

// Nodes returns the number of nodes that the entries lie in.
func (v StreamValue) Nodes() int { return v.s.nodes.len() }

// RadixNodes returns how many nodes Redis' radix tree would have with the first
// ids of the stream's nodes as keys, 16 bytes each. It looks at all of them.
func (v StreamValue) RadixNodes() int {
	var r radixCount
	v.s.nodes.each(func(id StreamID, _ *streamNode) bool {
		r.add(id)
		return true
	})
	return r.total()
}

// A radixCount counts the nodes of a radix tree whose chains are one node each,
// from its keys in order. Open are the depths of the branching nodes that the
// last key lies below.
type radixCount struct {
	last  StreamID
	any   bool
	nodes int
	above int // depth below the branching node above the last key, on its left side
	open  []int
}

const idBytes = 16

func (r *radixCount) add(id StreamID) {
	if r.any {
		depth := sharedBytes(r.last, id)
		r.leaf(max(r.above, depth+1))
		r.branch(depth)
		r.above = depth + 1
	}
	r.last, r.any = id, true
}

// leaf counts a key that hangs, by a chain of bytes from a depth on, at a
// branching node or the root.
func (r *radixCount) leaf(from int) {
	r.nodes++
	if from < idBytes {
		r.nodes++
	}
}

// branch opens a branching node at the depth, and counts those that end.
func (r *radixCount) branch(depth int) {
	for n := len(r.open); n > 0 && r.open[n-1] > depth; n-- {
		r.close(depth)
	}
	if n := len(r.open); n == 0 || r.open[n-1] < depth {
		r.open = append(r.open, depth)
	}
}

// close counts the innermost open node; the one above it is at least at a depth.
func (r *radixCount) close(above int) {
	n := len(r.open) - 1
	depth := r.open[n]
	r.open = r.open[:n]
	if n > 0 {
		above = max(above, r.open[n-1])
	}
	r.nodes++
	if depth > above+1 {
		r.nodes++
	}
}

func (r *radixCount) total() int {
	if !r.any {
		return 1 // the root
	}
	r.leaf(r.above)
	for len(r.open) > 0 {
		r.close(-1)
	}
	return r.nodes
}

// sharedBytes is how many bytes two ids have in common at the front, written as
// 16 bytes.
func sharedBytes(a, b StreamID) (n int) {
	x := a.Ms ^ b.Ms
	if x == 0 {
		n, x = 8, a.Seq^b.Seq
	}
	for ; n < idBytes && x>>56 == 0; x <<= 8 {
		n++
	}
	return n
}

// GroupCount returns the number of consumer groups.
func (v StreamValue) GroupCount() int { return v.s.groups.len() }

// Group returns the consumer group of the name.
func (v StreamValue) Group(name []byte) (StreamGroup, bool) {
	g := v.s.group(name)
	return StreamGroup{g}, g != nil
}

// EachGroup yields the consumer groups by name, until yield returns false.
func (v StreamValue) EachGroup(yield func(StreamGroup) bool) {
	v.s.groups.each(func(_ streamName, g *streamGroup) bool { return yield(StreamGroup{g}) })
}

// A StreamGroup reads a consumer group as it is at one moment.
type StreamGroup struct{ g *streamGroup }

// Name returns the group's name.
func (g StreamGroup) Name() string { return g.g.name }

// LastID returns the id of the last entry that was delivered to the group.
func (g StreamGroup) LastID() StreamID { return g.g.last }

// Read returns how many entries were delivered to the group; -1: not known.
func (g StreamGroup) Read() int64 { return g.g.read }

// PendingCount returns the number of entries that wait to be acknowledged.
func (g StreamGroup) PendingCount() int { return g.g.pending.len() }

// PendingRange returns the ids of the first and the last pending entry; there must
// be one.
func (g StreamGroup) PendingRange() (first, last StreamID) {
	first, _, _ = g.g.pending.first()
	last, _, _ = g.g.pending.last()
	return first, last
}

// Pending returns what the group knows of a pending entry.
func (g StreamGroup) Pending(id StreamID) (StreamPending, bool) { return g.g.pending.get(id) }

// NextPending returns the first pending entry from an id on.
func (g StreamGroup) NextPending(from StreamID) (StreamID, StreamPending, bool) {
	return g.g.pending.ceil(from)
}

// AscendPending yields the pending entries from an id on, until yield returns
// false.
func (g StreamGroup) AscendPending(from StreamID, yield func(StreamID, StreamPending) bool) {
	g.g.pending.ascend(from, yield)
}

// Owner returns the consumer to whom a pending entry was delivered.
func (g StreamGroup) Owner(p StreamPending) StreamConsumer {
	c, _ := g.g.consumers.get(p.owner)
	return StreamConsumer{c}
}

// ConsumerCount returns the number of consumers.
func (g StreamGroup) ConsumerCount() int { return g.g.consumers.len() }

// Consumer returns the consumer of the name.
func (g StreamGroup) Consumer(name []byte) (StreamConsumer, bool) {
	c := g.g.consumer(name)
	return StreamConsumer{c}, c != nil
}

// EachConsumer yields the consumers by name, until yield returns false.
func (g StreamGroup) EachConsumer(yield func(StreamConsumer) bool) {
	g.g.ids.each(func(_ streamName, id consumerID) bool {
		c, _ := g.g.consumers.get(id)
		return yield(StreamConsumer{c})
	})
}

// A StreamConsumer reads a consumer as it is at one moment.
type StreamConsumer struct{ c *streamConsumer }

// Name returns the consumer's name.
func (c StreamConsumer) Name() string { return c.c.name }

// Seen returns when the consumer last asked for something, unix ms.
func (c StreamConsumer) Seen() int64 { return c.c.seen }

// Active returns when something was last delivered to the consumer, unix ms;
// -1: never.
func (c StreamConsumer) Active() int64 { return c.c.active }

// PendingCount returns the number of entries that the consumer has not
// acknowledged.
func (c StreamConsumer) PendingCount() int { return c.c.pending.len() }

// AscendPending yields the ids of the entries that the consumer has not
// acknowledged, from an id on, until yield returns false.
func (c StreamConsumer) AscendPending(from StreamID, yield func(StreamID) bool) {
	c.c.pending.ascend(from, func(id StreamID, _ struct{}) bool { return yield(id) })
}
