package mvcc

import "encoding/binary"

// A small list lies in its record: in two bytes the number of elements and the
// length of the padding, the elements packed as on a page of a seq, the padding.
// So three of four pushes and pops of short elements change the record in place;
// without it, cleaning up after them took a third of their time. A bigger list
// is an object, a seq.
const (
	flatListMax    = 512 // bytes of a longer list, or of one with a blob, become an object
	flatListMin    = 128 // an object that has become shorter goes back into a record
	flatListHeader = 2
	flatListRoom   = 2 * flatListMax // bytes of the page on which a flat list is edited

	padTo      = 32 // records of lists have values whose length is a multiple of this
	padKeep    = 48 // up to so much padding a list that shrinks keeps its record
	countBits  = 10
	countsMask = 1<<countBits - 1
)

func flatListCount(b []byte) int { return int(binary.LittleEndian.Uint16(b)) & countsMask }

// flatListEnd is where the elements end.
func flatListEnd(b []byte) int { return len(b) - int(b[1]>>(countBits-8)) }

// finishFlat completes a flat list of n elements, whose header is room yet, to
// the length was, if it had that before and may keep it.
func finishFlat(b []byte, n, was int) []byte {
	size := len(b)
	if was < size || was > size+padKeep {
		was = (size + padTo - 1) / padTo * padTo
	}
	b = append(b, make([]byte, was-size)...)
	binary.LittleEndian.PutUint16(b, uint16(n|(was-size)<<countBits))
	return b
}

func (s *seq) count() int   { return s.Len() }
func (s *seq) clone() value { return s.Copy() }

// A ListValue reads a list as it is at one moment. An element that it returns is
// only valid until the next call, or until yield returns; but one of more than
// 512 bytes is never written again and may be kept.
type ListValue struct {
	big  *seq
	page seqPage // of a flat list
	num  [20]byte
}

// List returns the entry's value, which must be a list.
func (e *Entry) List() (v ListValue) {
	if e.obj != nil {
		v.big = e.obj.val.(*seq)
		return v
	}
	flat := e.rec.value()
	v.page = seqPage{
		buf: flat, from: flatListHeader, to: int32(flatListEnd(flat)), n: int32(flatListCount(flat)),
		borrowed: true, unmarked: true,
	}
	return v
}

// Len returns the number of elements.
func (v *ListValue) Len() int {
	if v.big != nil {
		return v.big.Len()
	}
	return int(v.page.n)
}

// At returns element i, 0 <= i < Len.
func (v *ListValue) At(i int) []byte {
	if v.big != nil {
		return v.big.At(i, v.num[:0])
	}
	return v.page.at(i, v.num[:0])
}

// Ascend yields the elements from the i-th up, 0 <= i <= Len, until yield
// returns false.
func (v *ListValue) Ascend(i int, yield func(b []byte) bool) {
	if v.big != nil {
		v.big.Ascend(i, yield)
		return
	}
	v.page.ascend(i, yield)
}

// Descend yields the elements from the i-th down, -1 <= i < Len, until yield
// returns false.
func (v *ListValue) Descend(i int, yield func(b []byte) bool) {
	if v.big != nil {
		v.big.Descend(i, yield)
		return
	}
	v.page.descend(i, yield)
}

// A ListWriter edits the list of a key, or one that is detached. A flat list is
// taken onto a page of the writer's own, and written back by Close.
type ListWriter struct {
	writer
	page seqPage // the elements, unless there is an object
	room []byte  // memory of the page, for the next edit
	num  [20]byte
}

// WriteList opens a writer of the key, which holds a list or is absent. It
// belongs to the Tx; one writer may be open at a time.
func (tx *Tx) WriteList(key []byte) *ListWriter {
	w := &tx.lists
	w.open(tx, key, List)
	w.begin()
	return w
}

// EditList is WriteList of a key that Lookup has just found to hold a list.
// (Finding it once and not twice makes a push a tenth faster.)
func (tx *Tx) EditList(key []byte, e *Entry) *ListWriter {
	w := &tx.lists
	w.found(tx, key, e, List)
	w.begin()
	return w
}

// NewList returns the writer of a detached, empty list.
func NewList(s *Space) *ListWriter {
	w := &ListWriter{writer: detached(s, List)}
	w.begin()
	return w
}

// begin takes a flat list onto the page.
func (w *ListWriter) begin() {
	if w.obj != nil {
		return
	}
	if w.room == nil {
		w.room = make([]byte, flatListRoom)
	}
	mid := int32(len(w.room) / 4)
	w.page = seqPage{buf: w.room, from: mid, to: mid, unmarked: true}
	if len(w.flat) > 0 {
		w.page.n = int32(flatListCount(w.flat))
		w.page.to += int32(copy(w.room[mid:], w.flat[flatListHeader:flatListEnd(w.flat)]))
	}
}

// Len returns the number of elements.
func (w *ListWriter) Len() int {
	if w.obj != nil {
		return w.obj.val.count()
	}
	return int(w.page.n)
}

// Value reads what is written so far. It is valid until the next write.
func (w *ListWriter) Value() (v ListValue) {
	if w.obj != nil {
		v.big = w.obj.val.(*seq)
		return v
	}
	v.page = w.page
	return v
}

// list returns the object to write to; false if the list is flat and has room
// for the element.
func (w *ListWriter) list(e *packedElem) (s *seq, big bool) {
	if w.obj == nil {
		if e.tag != tagBlob && flatListHeader+w.page.used()+e.size <= flatListMax {
			return nil, false
		}
		w.grow()
	}
	return w.edit().(*seq), true
}

// grow makes an object of the flat list.
func (w *ListWriter) grow() {
	s := newSeq()
	if w.page.n > 0 {
		s.tail = newSeqPage(s.gen, seqPageSize(w.page.used()))
		s.tail.take(&w.page, 0)
	}
	w.page = seqPage{}
	w.become(s)
}

// PushLeft puts an element, which is copied, in front.
func (w *ListWriter) PushLeft(b []byte) {
	e := packElem(b)
	if s, big := w.list(&e); big {
		s.pushLeft(&e)
		w.edited()
	} else {
		w.page.pushLeft(&e)
	}
	w.changed()
}

// PushRight appends an element, which is copied.
func (w *ListWriter) PushRight(b []byte) {
	e := packElem(b)
	if s, big := w.list(&e); big {
		s.pushRight(&e)
		w.edited()
	} else {
		w.page.pushRight(&e)
	}
	w.changed()
}

// Set replaces element i, 0 <= i < Len, by b, which is copied.
func (w *ListWriter) Set(i int, b []byte) {
	e := packElem(b)
	if s, big := w.list(&e); big {
		s.edit(i, &e, true)
		w.edited()
	} else {
		w.page.set(i, &e)
	}
	w.changed()
}

// Insert puts b, which is copied, before element i, 0 <= i <= Len.
func (w *ListWriter) Insert(i int, b []byte) {
	e := packElem(b)
	if s, big := w.list(&e); big {
		s.insert(i, &e)
		w.edited()
	} else {
		w.page.insert(i, &e)
	}
	w.changed()
}

// PopLeft takes the first element out, of a list that has one, and returns it.
// It is valid until the next write.
func (w *ListWriter) PopLeft() (b []byte) { return w.pop(true) }

// PopRight takes the last element out, as PopLeft does the first.
func (w *ListWriter) PopRight() (b []byte) { return w.pop(false) }

func (w *ListWriter) pop(left bool) (b []byte) {
	switch {
	case w.obj != nil:
		b = w.edit().(*seq).Pop(left, w.num[:0])
		w.edited()
	case left:
		b = w.page.popLeft(w.num[:0])
	default:
		b = w.page.popRight(w.num[:0])
	}
	w.changed()
	return b
}

// RemoveRange takes n elements from the i-th on out; they must be there. It
// does not look at the pages in the middle of the range.
func (w *ListWriter) RemoveRange(i, n int) {
	if n == 0 {
		return
	}
	if w.obj != nil {
		w.edit().(*seq).RemoveRange(i, n)
		w.edited()
	} else {
		w.page.cut(i, i+n)
	}
	w.changed()
	if w.tx != nil {
		w.tx.Changes += int64(n - 1)
	}
}

// Filter leaves the elements for whose index keep says true, which is asked in
// order: in one pass that writes the list anew, which is faster than RemoveRange
// if many elements go here and there.
func (w *ListWriter) Filter(keep func(i int) bool) {
	n := w.Len()
	if w.obj != nil {
		s := w.obj.val.(*seq).filtered(keep)
		*w.edit().(*seq) = *s
		w.edited()
	} else {
		p := w.page
		w.room = nil
		w.begin()
		w.page.n, w.page.to = 0, w.page.from
		i := 0
		p.ascend(0, func(b []byte) bool {
			if keep(i) {
				e := packElem(b)
				w.page.pushRight(&e)
			}
			i++
			return true
		})
	}
	if gone := n - w.Len(); gone > 0 {
		w.changed()
		if w.tx != nil {
			w.tx.Changes += int64(gone - 1)
		}
	}
}

// Close ends the edit. A key without elements is removed.
func (w *ListWriter) Close() {
	empty := w.Len() == 0
	if !empty {
		w.store()
	}
	w.close(empty)
}

// store leaves the list as the writer keeps flat values.
func (w *ListWriter) store() {
	if w.obj != nil {
		w.flatten()
		return
	}
	if w.dirty {
		was := len(w.flat)
		w.flat = append(w.flat[:0], 0, 0)
		w.flat = finishFlat(append(w.flat, w.page.buf[w.page.from:w.page.to]...), int(w.page.n), was)
	}
}

// flatten makes a list flat again that has become short.
func (w *ListWriter) flatten() {
	s := w.obj.val.(*seq)
	if s.root != nil || s.head.blobless()+s.tail.blobless() > flatListMin {
		return
	}
	w.flat = append(w.flat[:0], 0, 0)
	for _, p := range [...]*seqNode{s.head, s.tail} {
		if p != nil {
			w.flat = append(w.flat, p.buf[p.from:p.to]...)
		}
	}
	w.flat = finishFlat(w.flat, s.Len(), 0)
	w.obj, w.id, w.enc, w.dirty = nil, 0, Flat, true
}

// blobless is the number of bytes used on a page, or many if it has blobs.
func (l *seqNode) blobless() int {
	switch {
	case l == nil:
		return 0
	case l.blobs != nil:
		return flatListMax
	}
	return l.used()
}

func (w *ListWriter) base() *writer {
	if w.Len() > 0 {
		w.store()
	}
	return &w.writer
}

var _ Detached = (*ListWriter)(nil)
