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
	pageHead = 8
	slotSize = 10

	inlineMax = 512         // bytes of member and value that lie in the page
	outOfLine = 1 << 15     // flag of a slot's offset: the rest is a place in big.list
	blobCost  = 24 + 16     // of the slice header, and what the allocator rounds up
	blobsCost = 8 + 24 + 16 // of big itself
)

// A pleaf is a leaf of a ptree. Its page holds no pointers:
//
//	0  number of slots, 2 bytes
//	2  bytes of the heap, 2
//	4  bytes of the heap that are dead, 2
//	8  slots in order of (order, member): order 8, offset 2
//	   room
//	   heap, at the page's end: [uvarint member length][uvarint value length][member][value]
//
// An offset counts from the page's end, so that it stays when the page grows.
// What is longer than inlineMax lies in a blob of its own, in the same form,
// which is never written again.
type pleaf struct {
	gen  uint64
	page []byte
	big  *blobs
}

type blobs struct {
	list  [][]byte
	bytes int64
}

func newLeaf(size int, gen uint64) pleaf { return pleaf{gen: gen, page: make([]byte, size)} }

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

func (l *pleaf) n() int    { return int(binary.LittleEndian.Uint16(l.page[0:])) }
func (l *pleaf) heap() int { return int(binary.LittleEndian.Uint16(l.page[2:])) }
func (l *pleaf) dead() int { return int(binary.LittleEndian.Uint16(l.page[4:])) }

func (l *pleaf) setN(n int)    { binary.LittleEndian.PutUint16(l.page[0:], uint16(n)) }
func (l *pleaf) setHeap(n int) { binary.LittleEndian.PutUint16(l.page[2:], uint16(n)) }
func (l *pleaf) setDead(n int) { binary.LittleEndian.PutUint16(l.page[4:], uint16(n)) }

func (l *pleaf) order(s int) uint64 { return binary.LittleEndian.Uint64(l.page[pageHead+slotSize*s:]) }
func (l *pleaf) off(s int) int {
	return int(binary.LittleEndian.Uint16(l.page[pageHead+slotSize*s+8:]))
}

func (l *pleaf) setOff(s, off int) {
	binary.LittleEndian.PutUint16(l.page[pageHead+slotSize*s+8:], uint16(off))
}

// used is the number of bytes that the entries need, with the head.
func (l *pleaf) used() int { return pageHead + slotSize*l.n() + l.heap() - l.dead() }

// bytes is what the leaf has allocated.
func (l *pleaf) bytes() int64 {
	if l.big != nil {
		return int64(len(l.page)) + l.big.bytes
	}
	return int64(len(l.page))
}

// payload is where the entry of a slot lies, with what follows it.
func (l *pleaf) payload(s int) []byte {
	off := l.off(s)
	if off >= outOfLine {
		return l.big.list[off-outOfLine]
	}
	return l.page[len(l.page)-off:]
}

// entry returns what the slot holds.
func (l *pleaf) entry(s int) (order uint64, member, value []byte) {
	p := l.page
	slot := p[pageHead+slotSize*s:]
	order = binary.LittleEndian.Uint64(slot)
	off := int(binary.LittleEndian.Uint16(slot[8:]))
	if off >= outOfLine {
		member, value = unpack(l.big.list[off-outOfLine])
		return order, member, value
	}
	b := p[len(p)-off:]
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
	b := l.payload(s)
	if m := b[0]; m|b[1] < 0x80 {
		return b[2 : 2+int(m) : 2+int(m)]
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

func packedSize(b []byte) int {
	head, m, v := lengths(b)
	return head + m + v
}

func appendPacked(b, member, value []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(member)))
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(append(b, member...), value...)
}

// inlineSize is the room that a member and its value need in a page's heap.
func inlineSize(member, value []byte) int {
	n := 2 + len(member) + len(value)
	if n-2 > inlineMax {
		return 0
	}
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

// search returns where (order, member) is or would be among the n slots; g is a
// guess of the place, n at most.
func (l *pleaf) search(order uint64, member []byte, g, n int) (s int, found bool) {
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
func (l *pleaf) insert(s int, order uint64, member, value []byte) bool {
	n := l.n()
	size := inlineSize(member, value)
	if !l.reserve(slotSize+size, s == n) {
		return false
	}
	at := l.page[pageHead+slotSize*s:]
	copy(at[slotSize:slotSize*(n-s+1)], at)
	binary.LittleEndian.PutUint64(at, order)
	l.setN(n + 1)
	l.write(s, size, member, value)
	return true
}

// write puts the payload of slot s where it belongs.
func (l *pleaf) write(s, size int, member, value []byte) {
	if size == 0 {
		b := make([]byte, 0, 2*binary.MaxVarintLen32+len(member)+len(value))
		l.setOff(s, l.addBlob(appendPacked(b, member, value)))
		return
	}
	heap := l.heap() + size
	at := len(l.page) - heap
	appendPacked(l.page[at:at:at+size], member, value)
	l.setHeap(heap)
	l.setOff(s, heap)
}

// addBlob returns the offset that names the blob.
func (l *pleaf) addBlob(b []byte) (off int) {
	if l.big == nil {
		l.big = &blobs{bytes: blobsCost}
	}
	l.big.list = append(l.big.list, b)
	l.big.bytes += int64(len(b) + blobCost)
	return outOfLine + len(l.big.list) - 1
}

// reserve makes that much room between the slots and the heap.
func (l *pleaf) reserve(need int, appending bool) bool {
	room := len(l.page) - pageHead - slotSize*l.n() - l.heap()
	if need <= room {
		return true
	}
	dead, full := l.dead(), len(l.page) == pageMax
	if need <= room+dead && (full || dead >= pageStep) {
		l.compact()
		return true
	}
	size := l.used() + need
	if size > pageMax {
		return false
	}
	if appending {
		size = max(size, 2*len(l.page))
	}
	l.resize(min(pageSize(size+pageStep), pageMax)) // with room for the next three or so
	return true
}

// resize moves the entries to a page of another size.
func (l *pleaf) resize(size int) {
	old := *l
	l.page = make([]byte, size)
	if old.dead() > 0 {
		l.big = nil
		l.take(&old, 0, old.n())
		return
	}
	copy(l.page, old.page[:pageHead+slotSize*old.n()])
	heap := old.heap()
	copy(l.page[size-heap:], old.page[len(old.page)-heap:])
}

// compact frees the dead bytes.
func (l *pleaf) compact() {
	var b [pageMax]byte
	old := pleaf{page: b[:copy(b[:], l.page)], big: l.big}
	l.setN(0)
	l.setHeap(0)
	l.setDead(0)
	l.big = nil
	l.take(&old, 0, old.n())
}

// take appends entries of another leaf, for which there is room.
func (l *pleaf) take(from *pleaf, first, last int) {
	n, heap := l.n(), l.heap()
	for s := first; s < last; s++ {
		off, b := 0, from.payload(s)
		if from.off(s) >= outOfLine {
			off = l.addBlob(b)
		} else {
			size := packedSize(b)
			heap += size
			off = heap
			copy(l.page[len(l.page)-heap:], b[:size])
		}
		binary.LittleEndian.PutUint64(l.page[pageHead+slotSize*n:], from.order(s))
		l.setOff(n, off)
		n++
	}
	l.setN(n)
	l.setHeap(heap)
}

// overwrite puts a new value into place if it is as long as the old one.
func (l *pleaf) overwrite(s int, value []byte) bool {
	if l.off(s) >= outOfLine {
		return false
	}
	_, _, old := l.entry(s)
	if len(old) != len(value) {
		return false
	}
	copy(old, value)
	return true
}

// drop gives up what slots [first, last) hold, and the slots.
func (l *pleaf) drop(first, last int) {
	n, dead := l.n(), l.dead()
	for s := first; s < last; s++ {
		if off := l.off(s); off >= outOfLine {
			l.setOff(s, 0)
			l.dropBlob(off)
		} else {
			dead += packedSize(l.page[len(l.page)-off:])
		}
	}
	copy(l.page[pageHead+slotSize*first:], l.page[pageHead+slotSize*last:pageHead+slotSize*n])
	n -= last - first
	l.setN(n)
	if dead == l.heap() {
		dead = 0
		l.setHeap(0)
	}
	l.setDead(dead)
}

// dropBlob takes a blob out and moves the last one to its place.
func (l *pleaf) dropBlob(off int) {
	list := l.big.list
	i, end := off-outOfLine, len(list)-1
	l.big.bytes -= int64(len(list[i]) + blobCost)
	if end == 0 {
		l.big = nil
		return
	}
	for s := range l.n() {
		if l.off(s) == outOfLine+end {
			l.setOff(s, off)
		}
	}
	list[i], list[end] = list[end], nil
	l.big.list = list[:end]
}

// shrink gives back what a page has too much by half.
func (l *pleaf) shrink() {
	if used := l.used(); len(l.page) > pageMin && used <= len(l.page)/2 {
		l.resize(pageSize(used))
	}
}

// split moves about half of the bytes to a new leaf, to which greater entries
// belong. Either half has room for one more entry then.
func (l *pleaf) split(gen uint64) (right pleaf) {
	old, n := *l, l.n()
	half, size, last, at := (l.used()-pageHead)/2, 0, 0, 0
	for ; size < half; at++ {
		last = l.footprint(at)
		size += last
	}
	if size-half > last/2 {
		size, at = size-last, at-1
	}
	*l, right = newLeaf(pageSize(pageHead+size), gen), newLeaf(pageSize(old.used()-size), gen)
	l.take(&old, 0, at)
	right.take(&old, at, n)
	return right
}

// footprint is the number of bytes of the page that an entry takes.
func (l *pleaf) footprint(s int) int {
	off := l.off(s)
	if off >= outOfLine {
		return slotSize
	}
	return slotSize + packedSize(l.page[len(l.page)-off:])
}

// own makes a copy of the leaf to write to.
func (l *pleaf) own(gen uint64) {
	p := make([]byte, len(l.page))
	copy(p, l.page)
	l.page, l.gen = p, gen
	if l.big != nil {
		l.big = &blobs{list: append([][]byte(nil), l.big.list...), bytes: l.big.bytes}
	}
}
