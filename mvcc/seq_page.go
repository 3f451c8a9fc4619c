package mvcc

import "slices"

const (
	seqPageMax   = 4096 // bytes of packed elements on a page
	seqPageMin   = 64   // bytes that a page is given at first
	seqPageCost  = 112  // bytes of a page's node
	seqPageJoin  = seqPageMax * 3 / 4
	markEvery    = 16  // elements from one mark of a page to the next
	seqInlineMax = 512 // a longer element lies in a blob of its own
	blobsMax     = 64  // blobs of a page
)

// seqBlobs are the elements of a page that are too long to lie on it: each has its
// own memory and is never written again.
type seqBlobs struct {
	slots [][]byte // nil where free
	n     int
	bytes int64
}

func (s *seqBlobs) clone() *seqBlobs {
	if s == nil || s.n == 0 {
		return nil
	}
	c := *s
	c.slots = slices.Clone(s.slots)
	return &c
}

// seqPage is the part of a node that holds elements: those in buf[from:to],
// packed one after the other. There may be room on both sides.
//
// Elements are numbered from base on, whatever is pushed or popped at the ends;
// marks hold the offsets of those whose number is a multiple of markEvery.
type seqPage struct {
	buf      []byte
	marks    []uint16
	blobs    *seqBlobs
	base     int
	from, to int32
	n        int32 // elements
	borrowed bool  // buf is also somebody else's
	unmarked bool  // there are no marks: a flat list
}

func newSeqPage(gen uint64, size int) *seqNode {
	return &seqNode{gen: gen, seqPage: seqPage{buf: make([]byte, size)}}
}

func (p *seqPage) used() int { return int(p.to - p.from) }

func (p *seqPage) blobCount() int {
	if p.blobs == nil {
		return 0
	}
	return p.blobs.n
}

// bytes is the memory of the page.
func (p *seqPage) bytes() int64 {
	n := int64(seqPageCost + len(p.buf) + 2*cap(p.marks))
	if p.blobs != nil {
		n += 40 + 24*int64(cap(p.blobs.slots)) + p.blobs.bytes
	}
	return n
}

// firstMark is the least number from base on that has a mark.
func (p *seqPage) firstMark() int { return (p.base + markEvery - 1) &^ (markEvery - 1) }

// offset returns where element i begins, or the end if there are only i.
func (p *seqPage) offset(i int) int {
	if i == int(p.n) {
		return int(p.to)
	}
	first, number := p.firstMark(), p.base+i
	if number < first || p.unmarked {
		return elemSkip(p.buf, int(p.from), i)
	}
	k := (number - first) / markEvery
	return elemSkip(p.buf, int(p.marks[k]), number-first-k*markEvery)
}

// remark makes the marks of all elements from i on anew.
func (p *seqPage) remark(i int) {
	if p.unmarked {
		return
	}
	first := p.firstMark()
	k := max(0, (p.base+i-first+markEvery-1)/markEvery)
	p.marks = p.marks[:min(k, len(p.marks))]
	i = first + len(p.marks)*markEvery - p.base // the element of the next mark
	if i >= int(p.n) {
		return
	}
	off := p.offsetBefore(i)
	for {
		p.marks = append(p.marks, uint16(off))
		if i += markEvery; i >= int(p.n) {
			return
		}
		off = elemSkip(p.buf, off, markEvery)
	}
}

// offsetBefore is offset for an element that gets the next mark.
func (p *seqPage) offsetBefore(i int) int {
	if len(p.marks) == 0 {
		return elemSkip(p.buf, int(p.from), i)
	}
	return elemSkip(p.buf, int(p.marks[len(p.marks)-1]), markEvery)
}

// at returns element i; an integer is printed into num.
func (p *seqPage) at(i int, num []byte) []byte { return p.elem(p.offset(i), num) }

// elem returns the element at off.
func (p *seqPage) elem(off int, num []byte) []byte {
	if p.buf[off] == tagBlob {
		return p.blobs.slots[p.buf[off+1]]
	}
	b, _ := elemAt(p.buf, off, num)
	return b
}

// fits says whether the page could take an element, after moving if need be.
func (p *seqPage) fits(e *packedElem) bool {
	return p.used()+e.size <= seqPageMax && (e.tag != tagBlob || p.blobCount() < blobsMax)
}

// write puts an element into buf at off, which is free.
func (p *seqPage) write(off int32, e *packedElem) {
	if e.tag != tagBlob {
		e.put(p.buf[off:])
		return
	}
	b := e.b
	if !e.kept {
		b = slices.Clone(b)
	}
	p.buf[off], p.buf[off+1] = tagBlob, p.addBlob(b)
}

func (p *seqPage) addBlob(b []byte) (slot byte) {
	if p.blobs == nil {
		p.blobs = &seqBlobs{}
	}
	s := p.blobs
	s.n++
	s.bytes += int64(cap(b))
	if s.n <= len(s.slots) {
		i := slices.IndexFunc(s.slots, func(b []byte) bool { return b == nil })
		s.slots[i] = b
		return byte(i)
	}
	s.slots = append(s.slots, b)
	return byte(len(s.slots) - 1)
}

// dropBlobs lets go of the blobs among the elements in buf[from:to].
func (p *seqPage) dropBlobs(from, to int) {
	if p.blobs == nil {
		return
	}
	for ; from < to; from += elemSize(p.buf[from:]) {
		if p.buf[from] == tagBlob {
			p.takeBlob(p.buf[from+1])
		}
	}
	if p.blobs.n == 0 {
		p.blobs = nil
	}
}

func (p *seqPage) takeBlob(slot byte) []byte {
	b := p.blobs.slots[slot]
	p.blobs.slots[slot] = nil
	p.blobs.n--
	p.blobs.bytes -= int64(cap(b))
	return b
}

// pushRight appends an element that fits.
func (p *seqPage) pushRight(e *packedElem) {
	if len(p.buf)-int(p.to) < e.size || p.borrowed {
		p.move(e.size, false)
	}
	if (p.base+int(p.n))&(markEvery-1) == 0 && !p.unmarked {
		p.marks = append(p.marks, uint16(p.to))
	}
	p.write(p.to, e)
	p.to += int32(e.size)
	p.n++
}

// pushLeft puts an element that fits in front.
func (p *seqPage) pushLeft(e *packedElem) {
	if int(p.from) < e.size || p.borrowed {
		p.move(e.size, true)
	}
	p.from -= int32(e.size)
	p.write(p.from, e)
	p.n++
	p.base--
	if p.base&(markEvery-1) == 0 && !p.unmarked {
		p.marks = slices.Insert(p.marks, 0, uint16(p.from))
	}
}

// move makes room for need bytes at an end by moving the elements to the other
// end of the buffer, or into a bigger one.
func (p *seqPage) move(need int, left bool) {
	used := p.used()
	buf := p.buf
	if total := used + need; p.borrowed || total > len(buf) || used > len(buf)/2 && len(buf) < seqPageMax {
		buf = make([]byte, seqPageSize(max(total, min(2*used, seqPageMax))))
	}
	to := 0
	if left {
		to = len(buf) - used
	}
	copy(buf[to:], p.buf[p.from:p.to])
	for i := range p.marks {
		p.marks[i] += uint16(to - int(p.from))
	}
	p.buf, p.borrowed = buf, false
	p.from, p.to = int32(to), int32(to+used)
}

// seqPageSizes are size classes of Go's allocator, each about half as big again.
var seqPageSizes = [...]int{seqPageMin, 96, 128, 192, 288, 416, 640, 896, 1408, 2048, 3072, seqPageMax}

// seqPageSize rounds a number of bytes up to what is worth allocating.
func seqPageSize(n int) int {
	for _, size := range seqPageSizes {
		if size >= n {
			return size
		}
	}
	panic("mvcc: a page of a list overflows")
}

// resize replaces the old bytes at off by room for size bytes. The page must
// have space for them.
func (p *seqPage) resize(off, old, size int) (at int) {
	grow := size - old
	if p.borrowed || grow > len(p.buf)-int(p.to) {
		off -= int(p.from)
		p.move(max(grow, 0), false)
		off += int(p.from)
	}
	copy(p.buf[off+size:], p.buf[off+old:p.to])
	p.to += int32(grow)
	return off
}

// insert puts an element before element i, unless it does not fit.
func (p *seqPage) insert(i int, e *packedElem) (ok bool) {
	switch {
	case !p.fits(e):
		return false
	case i == 0:
		p.pushLeft(e)
	case i == int(p.n):
		p.pushRight(e)
	default:
		off := p.resize(p.offset(i), 0, e.size)
		p.write(int32(off), e)
		p.n++
		p.remark(i)
	}
	return true
}

// set replaces element i, unless the new one does not fit.
func (p *seqPage) set(i int, e *packedElem) (ok bool) {
	off := p.offset(i)
	old := elemSize(p.buf[off:])
	wasBlob := p.buf[off] == tagBlob
	if p.used()-old+e.size > seqPageMax || e.tag == tagBlob && !wasBlob && p.blobCount() == blobsMax {
		return false
	}
	p.dropBlobs(off, off+old)
	off = p.resize(off, old, e.size)
	p.write(int32(off), e)
	for k := range p.marks {
		if int(p.marks[k]) > off {
			p.marks[k] += uint16(e.size - old)
		}
	}
	return true
}

// lend makes p, a copy of another page, one that may be written: the bytes are
// copied later, when one of them changes.
func (p *seqPage) lend() {
	p.marks = slices.Clone(p.marks)
	p.blobs = p.blobs.clone()
	p.borrowed = true
}

// cut takes the elements [lo, hi) out.
func (p *seqPage) cut(lo, hi int) {
	a, b := p.offset(lo), p.offset(hi)
	p.dropBlobs(a, b)
	switch {
	case lo == 0:
		gone := min((p.base+hi+markEvery-1-p.firstMark())/markEvery, len(p.marks))
		p.base += hi
		p.marks = slices.Delete(p.marks, 0, gone)
		p.from = int32(b)
		p.n -= int32(hi)
	case hi == int(p.n):
		p.to, p.n = int32(a), int32(lo)
		p.marks = p.marks[:min((p.base+lo+markEvery-1-p.firstMark())/markEvery, len(p.marks))]
	default:
		p.resize(a, b-a, 0)
		p.n -= int32(hi - lo)
		p.remark(lo)
	}
	p.thin()
}

// popLeft takes the first element out and returns it; an integer is printed into
// num.
func (p *seqPage) popLeft(num []byte) (b []byte) {
	off := int(p.from)
	b = p.elem(off, num)
	next := off + elemSize(p.buf[off:])
	p.dropBlobs(off, next)
	if p.base&(markEvery-1) == 0 && !p.unmarked {
		p.marks = slices.Delete(p.marks, 0, 1)
	}
	p.base++
	p.n--
	p.from = int32(next)
	p.thin()
	return b
}

// popRight takes the last element out, as popLeft does the first.
func (p *seqPage) popRight(num []byte) (b []byte) {
	off := p.offset(int(p.n) - 1)
	b = p.elem(off, num)
	p.dropBlobs(off, int(p.to))
	p.n--
	if (p.base+int(p.n))&(markEvery-1) == 0 && !p.unmarked {
		p.marks = p.marks[:len(p.marks)-1]
	}
	p.to = int32(off)
	p.thin()
	return b
}

// thin shrinks the page if it has become nearly empty.
func (p *seqPage) thin() {
	if len(p.buf) > 512 && p.used() < len(p.buf)/4 && p.n > 0 && !p.unmarked {
		p.shrink()
	}
}

// shrink gives back the memory of a page that has become nearly empty.
func (p *seqPage) shrink() {
	buf := make([]byte, seqPageSize(2*p.used()))
	at := (len(buf) - p.used()) / 2
	copy(buf[at:], p.buf[p.from:p.to])
	for i := range p.marks {
		p.marks[i] += uint16(at - int(p.from))
	}
	p.buf, p.borrowed = buf, false
	p.from, p.to = int32(at), int32(at+p.used())
}

// split makes room for an element that does not fit: it moves about half of
// the bytes, or of the blobs, to a new page and returns that.
func (p *seqPage) split(gen uint64, e *packedElem) *seqNode {
	byBlobs := e.tag == tagBlob && p.blobCount() == blobsMax
	i, left := 0, p.used()/2
	if byBlobs {
		left = blobsMax / 2
	}
	for off := int(p.from); left > 0; i++ {
		size := elemSize(p.buf[off:])
		switch {
		case !byBlobs:
			left -= size
		case p.buf[off] == tagBlob:
			left--
		}
		off += size
	}
	right := newSeqPage(gen, seqPageSize(int(p.to)-p.offset(i)))
	right.take(p, i)
	p.cut(i, int(p.n))
	return right
}

// take appends the elements of q from the i-th on, which must fit.
func (p *seqPage) take(q *seqPage, i int) {
	off := q.offset(i)
	bytes := q.buf[off:q.to]
	if p.borrowed || len(p.buf)-int(p.to) < len(bytes) {
		p.move(len(bytes), false)
	}
	at, before := int(p.to), int(p.n)
	p.to += int32(copy(p.buf[at:], bytes))
	p.n += q.n - int32(i)
	for ; q.blobs != nil && at < int(p.to); at += elemSize(p.buf[at:]) {
		if p.buf[at] == tagBlob {
			p.buf[at+1] = p.addBlob(q.blobs.slots[p.buf[at+1]])
		}
	}
	p.remark(before)
}

// ascend yields the elements from i up until yield returns false, and says
// whether it never did.
func (p *seqPage) ascend(i int, yield func(b []byte) bool) bool {
	var num []byte
	b := p.buf[:p.to]
	for off := p.offset(i); off < len(b); {
		if t := b[off]; t&0xc0 == tagString {
			next := off + 1 + int(t&63)
			if !yield(b[off+1 : next : next]) {
				return false
			}
			off = next
			continue
		}
		var elem []byte
		if elem, off = p.other(off, &num); !yield(elem) {
			return false
		}
	}
	return true
}

// other returns the element at off and where the next one begins; num is given
// room at the first integer.
func (p *seqPage) other(off int, num *[]byte) (elem []byte, next int) {
	if p.buf[off] == tagBlob {
		return p.blobs.slots[p.buf[off+1]], off + 2
	}
	if *num == nil {
		*num = make([]byte, 0, 20)
	}
	return elemAt(p.buf, off, *num)
}

// descend yields the elements from i down.
func (p *seqPage) descend(i int, yield func(b []byte) bool) bool {
	var num []byte
	var offs [markEvery]uint16
	for i >= 0 {
		low := max(0, (p.base+i)&^(markEvery-1)-p.base) // the mark's element, which is cheap to find
		for j, off := low, p.offset(low); j <= i; j++ {
			offs[j-low] = uint16(off)
			off += elemSize(p.buf[off:])
		}
		for ; i >= low; i-- {
			if elem, _ := p.other(int(offs[i-low]), &num); !yield(elem) {
				return false
			}
		}
	}
	return true
}
