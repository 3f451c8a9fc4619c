package mvcc

import (
	"bytes"
	"encoding/binary"
)

const (
	pageMax  = 2048
	pageMin  = 256
	pageStep = 128 // pages are multiples of it, each a size class of Go's allocator
	pageThin = 512 // bytes in use below which a page is joined with a neighbour
	pageHead = 4
	slotSize = 10

	inlineMax = 512         // bytes of member and value that lie in the page
	outOfLine = 1 << 15     // flag of a slot: the entry names a blob
	outSize   = 2           // of such an entry
	blobCost  = 24 + 16     // of the slice header, and what the allocator rounds up
	blobsCost = 8 + 24 + 16 // of big itself
)

// A pleaf is a leaf of a ptree. Its page holds no pointers:
//
//	0  number of slots, 2 bytes
//	2  bytes of the heap, 2
//	4  slots: order, 8 bytes, and where the entry begins, counted from the page's end, 2
//	   room
//	   heap: the entries, the last one first, up to the page's end
//
// An entry is two uvarints for the lengths, the member and the value. What is
// longer than inlineMax lies in a blob of its own, which is never written
// again; the entry is the blob's place in big.list then, 2 bytes. So a search
// looks at slots that lie close together, an append moves nothing, and what
// other writes move is one block.
type pleaf struct {
	gen  uint64
	page []byte
	big  *blobs
}

type blobs struct {
	list  [][]byte
	bytes int64
}

// spares are pages that a tree alone had and has outgrown, for its next ones: a
// leaf that grows from a half to a whole page leaves some six behind, which would
// be nearly all of the tree's garbage. A nil *spares keeps none.
type spares struct {
	pages [pageMax/pageStep + 1][spareKeep][]byte // by size
	bytes int64                                   // of all pages
}

const (
	spareKeep = 8 // pages of a size
	spareCost = (pageMax/pageStep+1)*spareKeep*24 + 8
)

// take returns a page of that size, whose contents are of no account.
func (sp *spares) take(size int) []byte {
	if sp == nil {
		return make([]byte, size)
	}
	kept := &sp.pages[size/pageStep]
	for i, p := range kept {
		if p != nil {
			kept[i] = nil
			sp.bytes -= int64(size)
			return p
		}
	}
	return make([]byte, size)
}

// give hands over a page that nothing uses any more.
func (sp *spares) give(p []byte) {
	scrap(p)
	if sp == nil {
		return
	}
	kept := &sp.pages[len(p)/pageStep]
	for i := range kept {
		if kept[i] == nil {
			kept[i] = p
			sp.bytes += int64(len(p))
			return
		}
	}
}

func newLeaf(sp *spares, size int, gen uint64) pleaf {
	l := pleaf{gen: gen, page: sp.take(size)}
	l.setN(0)
	l.setHeap(0)
	return l
}

// pageSize is the size of the page that holds so many bytes.
func pageSize(used int) int {
	switch {
	case used <= pageMin:
		return pageMin
	case used <= 3*pageMax/4:
		return (used + pageStep - 1) / pageStep * pageStep
	}
	return (used + 2*pageStep - 1) / (2 * pageStep) * (2 * pageStep) // the next classes lie wider apart
}

func (l *pleaf) n() int    { return int(binary.LittleEndian.Uint16(l.page)) }
func (l *pleaf) heap() int { return int(binary.LittleEndian.Uint16(l.page[2:])) }
func (l *pleaf) order(s int) uint64 {
	return binary.LittleEndian.Uint64(l.page[pageHead+slotSize*s:])
}

func (l *pleaf) slot(s int) int {
	return int(binary.LittleEndian.Uint16(l.page[pageHead+slotSize*s+8:]))
}

func (l *pleaf) setN(n int)    { binary.LittleEndian.PutUint16(l.page, uint16(n)) }
func (l *pleaf) setHeap(n int) { binary.LittleEndian.PutUint16(l.page[2:], uint16(n)) }
func (l *pleaf) setSlot(s, slot int) {
	binary.LittleEndian.PutUint16(l.page[pageHead+slotSize*s+8:], uint16(slot))
}

// end is where the entries up to slot s begin, counted from the page's end.
func (l *pleaf) end(s int) int {
	if s < 0 {
		return 0
	}
	return l.slot(s) &^ outOfLine
}

// packed is an entry with what lies behind it.
func (l *pleaf) packed(s int) []byte { return l.page[len(l.page)-l.slot(s)&^outOfLine:] }

// blob is the place in big.list that an entry out of line has.
func (l *pleaf) blob(s int) int { return int(binary.LittleEndian.Uint16(l.packed(s))) }

func (l *pleaf) setBlob(s, i int) { binary.LittleEndian.PutUint16(l.packed(s), uint16(i)) }

// used is the number of bytes that the entries need, with the head.
func (l *pleaf) used() int { return pageHead + slotSize*l.n() + l.heap() }

// bytes is what the leaf has allocated.
func (l *pleaf) bytes() int64 {
	if l.big != nil {
		return int64(len(l.page)) + l.big.bytes
	}
	return int64(len(l.page))
}

// entry returns what the slot holds.
func (l *pleaf) entry(s int) (order uint64, member, value []byte) {
	p := l.page
	at := p[pageHead+slotSize*s:]
	order = binary.LittleEndian.Uint64(at)
	slot := int(binary.LittleEndian.Uint16(at[8:]))
	if slot >= outOfLine {
		member, value = unpack(l.big.list[l.blob(s)])
		return order, member, value
	}
	b := p[len(p)-slot:]
	if x, y := b[0], b[1]; x|y < 0x80 {
		m := 2 + int(x)
		v := m + int(y)
		return order, b[2:m:m], b[m:v:v]
	}
	member, value = unpack(b)
	return order, member, value
}

// member returns the member of an entry.
func (l *pleaf) member(s int) []byte {
	slot := l.slot(s)
	if slot >= outOfLine {
		m, _ := unpack(l.big.list[l.blob(s)])
		return m
	}
	b := l.page[len(l.page)-slot:]
	if m := 2 + int(b[0]); b[0]|b[1] < 0x80 {
		return b[2:m:m]
	}
	m, _ := unpack(b)
	return m
}

func unpack(b []byte) (member, value []byte) {
	head, ml, vl := lengths(b)
	return b[head : head+ml : head+ml], b[head+ml : head+ml+vl : head+ml+vl]
}

// lengths returns where the member begins, and the lengths.
func lengths(b []byte) (head, member, value int) {
	if b[0]|b[1] < 0x80 {
		return 2, int(b[0]), int(b[1])
	}
	m, i := binary.Uvarint(b)
	v, j := binary.Uvarint(b[i:])
	return i + j, int(m), int(v)
}

func appendPacked(b, member, value []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(member)))
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(append(b, member...), value...)
}

// entrySize is the room that an entry needs in the heap.
func entrySize(member, value []byte) int {
	n := len(member) + len(value)
	if n > inlineMax {
		return outSize
	}
	n += 2
	if len(member) >= 0x80 {
		n++
	}
	if len(value) >= 0x80 {
		n++
	}
	return n
}

// patience is how many slots a search goes from its guess, one by one, before
// it halves what is left.
const patience = 8

// glimpse reads a byte about where the entry of slot g should lie, so that this
// cache line comes while the search still waits for the slots: a tenth of a Get
// in a large tree. That the caller depends on the byte, if only for show, keeps
// the read from being optimised away.
func (l *pleaf) glimpse(g, n int) byte {
	p := l.page
	heap := len(p) - 64 - slotSize*n // for pages are nearly full
	if n < 8 || heap < n {
		return 0
	}
	return p[len(p)-1-int(uint32((2*g+1)*heap)/uint32(2*n))]
}

// search returns where (order, member) is or would be among the n slots; g is a
// guess of the place, n at most.
func (l *pleaf) search(order uint64, member []byte, g, n int) (s int, found bool) {
	if l.glimpse(g, n) == 0xff && g > 0 {
		g--
	}
	s = l.lower(order, g, n)
	if s == n || l.order(s) != order {
		return s, false
	}
	c := bytes.Compare(l.member(s), member)
	if c >= 0 {
		return s, c == 0
	}
	lo, hi := s+1, n
	for lo < hi {
		mid := (lo + hi) / 2
		if s == lo-1 && n-lo > patience {
			mid = lo // an order seldom has a second member
		}
		if l.order(mid) == order && l.under(mid, member) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == n || l.order(lo) != order {
		return lo, false
	}
	return lo, bytes.Equal(l.member(lo), member)
}

func (l *pleaf) under(s int, member []byte) bool {
	return bytes.Compare(l.member(s), member) < 0
}

// lower returns the first slot with that order or a greater one.
func (l *pleaf) lower(order uint64, g, n int) int {
	lo, hi := 0, n
	for left := patience; ; left-- {
		switch {
		case left == 0:
			return l.halve(order, lo, hi)
		case g < n && l.order(g) < order:
			g++
			lo = g
		case g > 0 && l.order(g-1) >= order:
			g--
			hi = g
		default:
			return g
		}
	}
}

func (l *pleaf) halve(order uint64, lo, hi int) int {
	for lo < hi {
		mid := (lo + hi) / 2
		if l.order(mid) < order {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// insert puts an entry at place s; false if the page has no room even if it
// grows. The member and the value must not lie in the page.
func (l *pleaf) insert(sp *spares, s int, order uint64, member, value []byte) bool {
	n, size := l.n(), entrySize(member, value)
	if !l.reserve(sp, slotSize+size, s == n) {
		return false
	}
	l.shift(s, n, size)
	at := l.page[pageHead+slotSize*s:]
	copy(at[slotSize:slotSize*(n-s+1)], at)
	binary.LittleEndian.PutUint64(at, order)
	l.setN(n + 1)
	l.write(s, l.end(s-1)+size, member, value)
	return true
}

// shift moves the entries from slot s on by so many bytes away from the page's
// end, or towards it.
func (l *pleaf) shift(s, n, by int) {
	p, heap, end := l.page, l.heap(), l.end(s-1)
	copy(p[len(p)-heap-by:], p[len(p)-heap:len(p)-end])
	for slots := p[pageHead+slotSize*s : pageHead+slotSize*n]; len(slots) >= slotSize; slots = slots[slotSize:] {
		binary.LittleEndian.PutUint16(slots[8:], binary.LittleEndian.Uint16(slots[8:])+uint16(by))
	}
	l.setHeap(heap + by)
}

// write puts the entry of slot s where it begins at end.
func (l *pleaf) write(s, end int, member, value []byte) {
	if len(member)+len(value) <= inlineMax {
		l.setSlot(s, end)
		appendPacked(l.packed(s)[:0], member, value)
		return
	}
	b := make([]byte, 0, 2*binary.MaxVarintLen32+len(member)+len(value))
	l.setSlot(s, end|outOfLine)
	l.setBlob(s, l.addBlob(appendPacked(b, member, value)))
}

// addBlob returns the place of the blob.
func (l *pleaf) addBlob(b []byte) int {
	if l.big == nil {
		l.big = &blobs{bytes: blobsCost}
	}
	l.big.list = append(l.big.list, b)
	l.big.bytes += int64(len(b) + blobCost)
	return len(l.big.list) - 1
}

// dropBlob takes a blob out and moves the last one to its place.
func (l *pleaf) dropBlob(i int) {
	list := l.big.list
	end := len(list) - 1
	l.big.bytes -= int64(len(list[i]) + blobCost)
	if end == 0 {
		l.big = nil
		return
	}
	for s := range l.n() {
		if l.slot(s) >= outOfLine && l.blob(s) == end {
			l.setBlob(s, i)
		}
	}
	list[i], list[end] = list[end], nil
	l.big.list = list[:end]
}

// reserve makes that much room between the slots and the heap.
func (l *pleaf) reserve(sp *spares, need int, appending bool) bool {
	size := l.used() + need
	if size <= len(l.page) {
		return true
	}
	if size > pageMax {
		return false
	}
	if appending {
		size = max(size, 2*len(l.page))
	}
	l.resize(sp, min(pageSize(size+pageStep), pageMax)) // with room for the next three or so
	return true
}

// resize moves the entries to a page of another size.
func (l *pleaf) resize(sp *spares, size int) {
	old, heap := l.page, l.heap()
	l.page = sp.take(size)
	copy(l.page, old[:pageHead+slotSize*int(binary.LittleEndian.Uint16(old))])
	copy(l.page[size-heap:], old[len(old)-heap:])
	sp.give(old)
}

// shrink gives back what a page has too much by half.
func (l *pleaf) shrink(sp *spares) {
	if used := l.used(); len(l.page) > pageMin && used <= len(l.page)/2 {
		l.resize(sp, pageSize(used))
	}
}

// take appends entries of another leaf, for which there is room.
func (l *pleaf) take(from *pleaf, first, last int) {
	n, heap := l.n(), l.heap()
	begin, end := from.end(first-1), from.end(last-1)
	copy(l.page[len(l.page)-heap-(end-begin):], from.page[len(from.page)-end:len(from.page)-begin])
	for s := first; s < last; s++ {
		binary.LittleEndian.PutUint64(l.page[pageHead+slotSize*(n+s-first):], from.order(s))
		l.setSlot(n+s-first, from.slot(s)-begin+heap)
		if from.slot(s) >= outOfLine {
			l.setBlob(n+s-first, l.addBlob(from.big.list[from.blob(s)]))
		}
	}
	l.setN(n + last - first)
	l.setHeap(heap + end - begin)
}

// update gives an entry another value; false if the page has no room.
func (l *pleaf) update(sp *spares, s int, member, value []byte) bool {
	if l.overwrite(s, value) {
		return true
	}
	end := l.end(s)
	by := entrySize(member, value) - (end - l.end(s-1))
	if !l.reserve(sp, max(by, 0), false) {
		return false
	}
	if l.slot(s) >= outOfLine {
		l.dropBlob(l.blob(s))
	}
	l.shift(s+1, l.n(), by)
	l.write(s, end+by, member, value)
	return true
}

// overwrite puts a new value into place if it is as long as the old one.
func (l *pleaf) overwrite(s int, value []byte) bool {
	if l.slot(s) >= outOfLine {
		return false
	}
	_, _, old := l.entry(s)
	if len(old) != len(value) {
		return false
	}
	copy(old, value)
	return true
}

// drop gives up slots [first, last) and what they hold.
func (l *pleaf) drop(first, last int) {
	for s := first; s < last; s++ {
		if l.slot(s) >= outOfLine {
			l.dropBlob(l.blob(s))
		}
	}
	n := l.n()
	l.shift(last, n, l.end(first-1)-l.end(last-1))
	copy(l.page[pageHead+slotSize*first:], l.page[pageHead+slotSize*last:pageHead+slotSize*n])
	l.setN(n - (last - first))
}

// split moves about half of the bytes to a new leaf, to which greater entries
// belong. Either half has room for one more entry then.
func (l *pleaf) split(sp *spares, gen uint64) (right pleaf) {
	old, n := *l, l.n()
	half, at := l.used()/2, 0
	for l.footprint(at) < half {
		at++
	}
	size := l.footprint(at)
	if before := l.footprint(at - 1); size-half > half-before {
		size, at = before, at-1
	}
	at++
	*l, right = newLeaf(sp, pageSize(pageHead+size), gen), newLeaf(sp, pageSize(old.used()-size), gen)
	l.take(&old, 0, at)
	right.take(&old, at, n)
	sp.give(old.page)
	return right
}

// footprint is the number of bytes of the page that the slots up to s take.
func (l *pleaf) footprint(s int) int { return slotSize*(s+1) + l.end(s) }

// own makes a copy of the leaf to write to.
func (l *pleaf) own(sp *spares, gen uint64) {
	p := sp.take(len(l.page))
	copy(p, l.page)
	l.page, l.gen = p, gen
	if l.big != nil {
		l.big = &blobs{list: append([][]byte(nil), l.big.list...), bytes: l.big.bytes}
	}
}
