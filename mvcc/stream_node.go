package mvcc

import (
	"encoding/binary"
	"slices"
)

// A streamNode holds some entries in a row, packed:
//
//	names    uvarint count, then the field names of the first entry
//	entries  each:
//	  head   uvarint: bytes that follow << 2 | flags
//	  ms     uvarint: how much later than the node's first id
//	  seq    uvarint: relative to the first id's if ms is 0
//	  values in order, if the field names are those of the node; else
//	         uvarint count, then names and values in turn
//
// Names and values are each a uvarint length and the bytes. That a node names
// the fields once is the idea of Redis' t_stream.c. So that as many entries
// share a node as there, which XTRIM with ~ and XINFO show, it keeps account of
// the bytes that Redis' listpack would have.
//
// The ids ascend, but those of deleted entries may be greater than later ones:
// XSETID may take the last id back as far as the last entry that is there.
type streamNode struct {
	gen     uint64
	first   StreamID // of the first entry, deleted or not
	last    StreamID // of the last entry, deleted or not
	live    int      // at least one
	deleted int      // entries that are flagged, or were and are swept out
	dead    int      // bytes of blob that flagged entries take
	names   int      // where the entries begin
	lp      int      // bytes as a listpack, without the two counts
	blob    []byte   // never shared with another node
}

const (
	entryDeleted   = 1
	entrySameNames = 2
	entryFlagBits  = 2

	streamNodeCost = 112     // bytes of a node and its place in the tree
	streamNodeMax  = 1 << 20 // bytes of a node of several entries, where the configuration has no limit
	sweepFrom      = 128     // dead bytes that are worth sweeping out
	listpackEmpty  = 7       // bytes: header and end
)

func newStreamNode(gen uint64, id StreamID, pairs [][]byte, room int) *streamNode {
	n := &streamNode{gen: gen, first: id, last: id, blob: make([]byte, 0, room)}
	n.blob = binary.AppendUvarint(n.blob, uint64(len(pairs)/2))
	n.lp = listpackEmpty + listpackInt(int64(len(pairs)/2)) + listpackInt(0)
	for i := 0; i < len(pairs); i += 2 {
		n.blob = appendChunk(n.blob, pairs[i])
		n.lp += listpackString(pairs[i])
	}
	n.names = len(n.blob)
	return n
}

// clone copies the node, with some room to grow.
func (n *streamNode) clone(gen uint64) *streamNode {
	c := *n
	c.gen = gen
	c.blob = append(make([]byte, 0, cap(n.blob)), n.blob...)
	return &c
}

// full says whether an entry whose names and values are size bytes begins a new
// node.
func (n *streamNode) full(size int, l *Limits) bool {
	limit := l.StreamBytes
	if limit <= 0 || limit > streamNodeMax {
		limit = streamNodeMax
	}
	count := n.live + n.deleted
	bytes := n.lp + listpackInt(int64(n.live)) + listpackInt(int64(n.deleted))
	return bytes+size >= limit || l.StreamCount > 0 && count >= l.StreamCount
}

// sameNames says whether the fields of the pairs are those of the node.
func (n *streamNode) sameNames(pairs [][]byte) bool {
	count, i := uvarint(n.blob)
	if count != len(pairs)/2 {
		return false
	}
	for f := 0; f < len(pairs); f += 2 {
		size, k := uvarint(n.blob[i:])
		i += k + size
		if string(n.blob[i-size:i]) != string(pairs[f]) {
			return false
		}
	}
	return true
}

// add appends an entry; its id must be greater than the node's last.
func (n *streamNode) add(id StreamID, pairs [][]byte) {
	flags := uint64(0)
	if n.sameNames(pairs) {
		flags = entrySameNames
	}
	ms, seq := n.delta(id)
	size := uvarintLen64(ms) + uvarintLen64(seq)
	lp := listpackInt(0) + listpackInt(int64(ms)) + listpackInt(int64(id.Seq-n.first.Seq))
	parts := 3 + len(pairs)/2
	if flags == 0 {
		size += uvarintLen(len(pairs) / 2)
		lp += listpackInt(int64(len(pairs) / 2))
		parts += 1 + len(pairs)/2
	}
	for i := int(flags / entrySameNames); i < len(pairs); i += 1 + int(flags/entrySameNames) {
		size += uvarintLen(len(pairs[i])) + len(pairs[i])
		lp += listpackString(pairs[i])
	}
	n.lp += lp + listpackInt(int64(parts))
	n.put(uint64(size)<<entryFlagBits|flags, ms, seq, pairs)
	n.last = id
	n.live++
}

func (n *streamNode) put(head, ms, seq uint64, pairs [][]byte) {
	b := slices.Grow(n.blob, int(head>>entryFlagBits)+binary.MaxVarintLen64)
	b = binary.AppendUvarint(b, head)
	b = binary.AppendUvarint(b, ms)
	b = binary.AppendUvarint(b, seq)
	if head&entrySameNames != 0 {
		for i := 1; i < len(pairs); i += 2 {
			b = appendChunk(b, pairs[i])
		}
		n.blob = b
		return
	}
	b = binary.AppendUvarint(b, uint64(len(pairs)/2))
	for _, p := range pairs {
		b = appendChunk(b, p)
	}
	n.blob = b
}

// delta returns the id as an entry of the node has it.
func (n *streamNode) delta(id StreamID) (ms, seq uint64) {
	if ms = id.Ms - n.first.Ms; ms == 0 {
		return 0, id.Seq - n.first.Seq
	}
	return ms, id.Seq
}

// A StreamEntry is one entry of a stream. Its bytes are the stream's.
type StreamEntry struct {
	ID    StreamID
	pairs int
	names []byte // nil: they are among the values
	rest  []byte
	flags byte
}

// Len returns the number of fields.
func (e *StreamEntry) Len() int { return e.pairs }

// Each yields the fields in order.
func (e *StreamEntry) Each(yield func(field, value []byte) bool) {
	names, rest := e.names, e.rest
	for range e.pairs {
		var field, value []byte
		if e.names != nil {
			field, names = cutChunk(names)
		} else {
			field, rest = cutChunk(rest)
		}
		value, rest = cutChunk(rest)
		if !yield(field, value) {
			return
		}
	}
}

// at decodes the entry at an offset, and returns where the next one is.
func (n *streamNode) at(off int, e *StreamEntry) (next int) {
	head, k := binary.Uvarint(n.blob[off:])
	off += k
	next = off + int(head>>entryFlagBits)
	ms, k := binary.Uvarint(n.blob[off:])
	off += k
	seq, k := binary.Uvarint(n.blob[off:])
	off += k
	e.ID = StreamID{n.first.Ms + ms, seq}
	if ms == 0 {
		e.ID.Seq += n.first.Seq
	}
	e.flags, e.names, e.rest = byte(head&(1<<entryFlagBits-1)), nil, n.blob[off:next]
	if e.flags&entrySameNames == 0 {
		e.pairs, k = uvarint(e.rest)
		e.rest = e.rest[k:]
		return next
	}
	e.pairs, k = uvarint(n.blob)
	e.names = n.blob[k:n.names]
	return next
}

func (e *StreamEntry) deleted() bool { return e.flags&entryDeleted != 0 }

// find returns the offset of the entry, if it is there and not deleted.
func (n *streamNode) find(id StreamID) (off, next int, ok bool) {
	var e StreamEntry
	for off = n.names; off < len(n.blob); off = next {
		next = n.at(off, &e)
		if e.deleted() {
			continue
		}
		if c := e.ID.Compare(id); c >= 0 {
			return off, next, c == 0
		}
	}
	return 0, 0, false
}

// count returns how many entries are in the range, both ids included.
func (n *streamNode) count(from, to StreamID) (count int) {
	if !n.first.Less(from) && !to.Less(n.last) {
		return n.live
	}
	var e StreamEntry
	n.ascend(from, &e, func(e *StreamEntry) bool {
		if to.Less(e.ID) {
			return false
		}
		count++
		return true
	})
	return count
}

// ascend calls yield for the entries from an id on, until it returns false.
func (n *streamNode) ascend(from StreamID, e *StreamEntry, yield func(*StreamEntry) bool) bool {
	for off := n.names; off < len(n.blob); {
		off = n.at(off, e)
		if e.deleted() || e.ID.Less(from) {
			continue
		}
		if !yield(e) {
			return false
		}
	}
	return true
}

// descend calls yield for the entries from an id down, until it returns false.
func (n *streamNode) descend(from StreamID, e *StreamEntry, yield func(*StreamEntry) bool) bool {
	var few [128]int
	offs := few[:0]
	for off := n.names; off < len(n.blob); {
		next := n.at(off, e)
		if !e.deleted() {
			if from.Less(e.ID) {
				break
			}
			offs = append(offs, off)
		}
		off = next
	}
	for _, off := range slices.Backward(offs) {
		n.at(off, e)
		if !yield(e) {
			return false
		}
	}
	return true
}

// flag deletes the entry between two offsets.
func (n *streamNode) flag(off, next int) {
	n.blob[off] |= entryDeleted
	n.live--
	n.deleted++
	n.dead += next - off
}

// sweep takes out the flagged entries if they are half of all; who looks can't
// tell, but for the memory.
func (n *streamNode) sweep() {
	if n.dead < sweepFrom || n.dead < len(n.blob)/2 {
		return
	}
	var e StreamEntry
	b := append(make([]byte, 0, len(n.blob)-n.dead), n.blob[:n.names]...)
	for off := n.names; off < len(n.blob); {
		next := n.at(off, &e)
		if !e.deleted() {
			b = append(b, n.blob[off:next]...)
		}
		off = next
	}
	n.blob, n.dead = b, 0
}

func appendChunk(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func cutChunk(b []byte) (chunk, rest []byte) {
	n, k := uvarint(b)
	return b[k : k+n : k+n], b[k+n:]
}

func uvarintLen64(v uint64) int {
	l := 1
	for ; v >= 0x80; v >>= 7 {
		l++
	}
	return l
}

// listpackInt is the number of bytes of an integer in a listpack of Redis, with
// the length that ends each element.
func listpackInt(v int64) int {
	switch {
	case v >= 0 && v <= 127:
		return 2
	case v >= -1<<12 && v < 1<<12:
		return 3
	case v >= -1<<15 && v < 1<<15:
		return 4
	case v >= -1<<23 && v < 1<<23:
		return 5
	case v >= -1<<31 && v < 1<<31:
		return 6
	}
	return 10
}

// listpackString is the number of bytes of a string in a listpack of Redis, which
// keeps integers as such.
func listpackString(b []byte) int {
	if v, ok := canonicalInt(b); ok {
		return listpackInt(v)
	}
	n := len(b) + 5
	switch {
	case len(b) < 64:
		n = len(b) + 1
	case len(b) < 4096:
		n = len(b) + 2
	}
	switch {
	case n <= 127:
		return n + 1
	case n < 16383:
		return n + 2
	case n < 2097151:
		return n + 3
	case n < 268435455:
		return n + 4
	}
	return n + 5
}
