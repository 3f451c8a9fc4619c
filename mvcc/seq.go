package mvcc

import "sync/atomic"

const (
	seqFan       = 62 // children of an inner node, which is then 1 KiB
	seqJoin      = seqFan * 3 / 4
	seqCost      = 48   // bytes of a seq
	seqInnerCost = 1136 // bytes of an inner node
)

// A seq is a big list: a counted tree of pages (seq_page.go), of which the
// first and the last stand outside: head takes what is pushed on the left, tail
// what is pushed on the right, and a page goes into the tree when it is full, or
// comes out when it is next. So a push or pop touches one page, and the tree
// once in about a thousand times.
//
// Copy is O(1), after which either side copies a node before it first writes to
// it: a node belongs to the seq whose generation it carries. Of a page only the
// header is copied at first, so that a pop copies no elements.
type seq struct {
	head, tail *seqNode // pages, or nil; either may be empty
	root       *seqNode // nil if there is no third page
	gen        uint64
	gens       *atomic.Uint64 // the last generation given out, of this seq and its copies
}

// seqNode is a page, or an inner node if inner is set. The pages of the tree
// are all equally deep, and none is empty.
type seqNode struct {
	inner *seqInner
	gen   uint64
	seqPage
}

// seqInner is the rest of an inner node.
type seqInner struct {
	n      int   // children
	count  int   // elements below
	bytes  int64 // memory below
	counts [seqFan]int
	kids   [seqFan]*seqNode
}

func newSeq() *seq {
	s := &seq{gen: 1, gens: new(atomic.Uint64)}
	s.gens.Store(1)
	return s
}

// Copy returns a seq that later writes to s don't reach, nor the other way
// round.
func (s *seq) Copy() *seq {
	c := *s
	c.gen, s.gen = s.gens.Add(1), s.gens.Add(1)
	return &c
}

// count is the number of elements at or below a node, which may be nil.
func (l *seqNode) count() int {
	switch {
	case l == nil:
		return 0
	case l.inner != nil:
		return l.inner.count
	}
	return int(l.n)
}

// memory is the bytes of memory at and below a node, which may be nil.
func (l *seqNode) memory() int64 {
	switch {
	case l == nil:
		return 0
	case l.inner != nil:
		return seqInnerCost + l.inner.bytes
	}
	return l.bytes()
}

// Len returns the number of elements.
func (s *seq) Len() int { return s.head.count() + s.root.count() + s.tail.count() }

// bytes returns the memory that the list takes.
func (s *seq) bytes() int64 {
	return seqCost + s.head.memory() + s.root.memory() + s.tail.memory()
}

// own makes the node one that s may write to.
func (s *seq) own(p **seqNode) *seqNode {
	if (*p).gen == s.gen {
		return *p
	}
	c := *(*p)
	c.gen = s.gen
	if c.inner != nil {
		in := *c.inner
		c.inner = &in
	} else {
		c.lend()
	}
	*p = &c
	return &c
}

// PushLeft puts an element, which is copied, in front.
func (s *seq) PushLeft(b []byte) {
	e := packElem(b)
	s.pushLeft(&e)
}

func (s *seq) pushLeft(e *packedElem) {
	if s.head != nil {
		if s.head.fits(e) {
			s.own(&s.head).pushLeft(e)
			return
		}
		s.link(s.head, true)
	}
	s.head = newSeqPage(s.gen, s.firstSize(e))
	s.head.pushLeft(e)
}

// PushRight appends an element, which is copied.
func (s *seq) PushRight(b []byte) {
	e := packElem(b)
	s.pushRight(&e)
}

func (s *seq) pushRight(e *packedElem) {
	if s.tail != nil {
		if s.tail.fits(e) {
			s.own(&s.tail).pushRight(e)
			return
		}
		s.link(s.tail, false)
	}
	s.tail = newSeqPage(s.gen, s.firstSize(e))
	s.tail.pushRight(e)
}

// firstSize is the size of a new page at an end: that of a full one where a
// page more is little.
func (s *seq) firstSize(e *packedElem) int {
	if e.tag != tagBlob && s.root != nil && s.root.inner != nil && s.root.inner.bytes > 16*seqPageMax {
		return seqPageMax
	}
	return seqPageSize(e.size)
}

// link puts a page into the tree, at its left or right end.
func (s *seq) link(p *seqNode, left bool) {
	if s.root == nil {
		s.root = p
		return
	}
	s.split(s.linkBelow(s.own(&s.root), p, left))
}

// split makes the tree higher, if its root was split and this is the right half.
func (s *seq) split(right *seqNode) {
	if right == nil {
		return
	}
	in := &seqInner{}
	in.insert(0, s.root)
	in.insert(1, right)
	s.root = &seqNode{gen: s.gen, inner: in}
}

// linkBelow is link below an owned node. If that had to be split it returns its
// new right sibling.
func (s *seq) linkBelow(l, p *seqNode, left bool) *seqNode {
	in := l.inner
	if in == nil { // the root is a page
		if !left {
			return p
		}
		s.root = p
		return l
	}
	k := in.end(left)
	if in.kids[0].inner == nil {
		if !left {
			k++
		}
		return s.insertKid(l, k, p)
	}
	return s.editKid(in, l, k, func(kid *seqNode) *seqNode { return s.linkBelow(kid, p, left) })
}

// end is the first or the last child.
func (in *seqInner) end(left bool) int {
	if left {
		return 0
	}
	return in.n - 1
}

// editKid runs f on child k, makes up the account, and puts in the right
// sibling that f may return.
func (s *seq) editKid(in *seqInner, l *seqNode, k int, f func(kid *seqNode) *seqNode) *seqNode {
	memory := in.kids[k].memory()
	kid := s.own(&in.kids[k])
	right := f(kid)
	in.count += kid.count() - in.counts[k]
	in.bytes += kid.memory() - memory
	in.counts[k] = kid.count()
	if right == nil {
		return nil
	}
	return s.insertKid(l, k+1, right)
}

// insertKid puts a child into an owned node, and splits that when it is full:
// in halves, but at the ends so that what pushes fill stays full.
func (s *seq) insertKid(l *seqNode, k int, kid *seqNode) *seqNode {
	in := l.inner
	in.insert(k, kid)
	if in.n < seqFan {
		return nil
	}
	at := in.n / 2
	switch k {
	case 0:
		at = 1
	case in.n - 1:
		at = in.n - 1
	}
	r := &seqInner{}
	r.add(in.kids[at:in.n])
	clear(in.kids[at:in.n])
	in.n = at
	in.count -= r.count
	in.bytes -= r.bytes
	return &seqNode{gen: s.gen, inner: r}
}

func (in *seqInner) insert(k int, kid *seqNode) {
	copy(in.counts[k+1:in.n+1], in.counts[k:in.n])
	copy(in.kids[k+1:in.n+1], in.kids[k:in.n])
	in.counts[k], in.kids[k] = kid.count(), kid
	in.n++
	in.count += kid.count()
	in.bytes += kid.memory()
}

func (in *seqInner) remove(k int) {
	in.count -= in.counts[k]
	in.bytes -= in.kids[k].memory()
	in.n--
	copy(in.counts[k:in.n], in.counts[k+1:])
	copy(in.kids[k:in.n], in.kids[k+1:])
	in.kids[in.n] = nil
}

// add puts children behind in's own.
func (in *seqInner) add(kids []*seqNode) {
	for _, kid := range kids {
		in.insert(in.n, kid)
	}
}

// fetch takes the first or the last page out of the tree, for an end that is
// empty.
func (s *seq) fetch(left bool) *seqNode {
	p := s.root
	if p.inner == nil {
		s.root = nil
		return p
	}
	p = s.fetchBelow(s.own(&s.root).inner, left)
	s.lower()
	return p
}

func (s *seq) fetchBelow(in *seqInner, left bool) (p *seqNode) {
	k := in.end(left)
	if p = in.kids[k]; p.inner == nil {
		in.remove(k)
		return p
	}
	memory := in.kids[k].memory()
	kid := s.own(&in.kids[k])
	p = s.fetchBelow(kid.inner, left)
	in.count += kid.count() - in.counts[k]
	in.bytes += kid.memory() - memory
	in.counts[k] = kid.count()
	if kid.inner.n == 0 {
		in.remove(k)
	}
	return p
}

// lower takes off roots that have one child or none.
func (s *seq) lower() {
	for s.root.inner != nil && s.root.inner.n <= 1 {
		s.root = s.root.inner.kids[0]
		if s.root == nil {
			return
		}
	}
}

// pageOf returns the page with element i, and which of its elements that is.
func (s *seq) pageOf(i int) (p *seqNode, at int) {
	if n := s.head.count(); i < n {
		return s.head, i
	} else {
		i -= n
	}
	if n := s.root.count(); i >= n {
		return s.tail, i - n
	}
	l := s.root
	for l.inner != nil {
		k := 0
		k, i = l.inner.find(i)
		l = l.inner.kids[k]
	}
	return l, i
}

// find returns the child with element i, and which of its elements that is; of
// the element after the last it is the last child.
func (in *seqInner) find(i int) (k, at int) {
	for k < in.n-1 && i >= in.counts[k] {
		i -= in.counts[k]
		k++
	}
	return k, i
}

// At returns element i, which must be there. An integer is printed into
// scratch. It is only valid until the next write.
func (s *seq) At(i int, scratch []byte) []byte {
	p, i := s.pageOf(i)
	return p.at(i, scratch)
}

// Ascend calls yield for the elements from the i-th up until it returns false.
// The list must not be written meanwhile, and an element is only valid until
// yield returns.
func (s *seq) Ascend(i int, yield func(b []byte) bool) {
	for _, l := range [...]*seqNode{s.head, s.root, s.tail} {
		if n := l.count(); i >= n {
			i -= n
			continue
		}
		if !l.ascendBelow(i, yield) {
			return
		}
		i = 0
	}
}

func (l *seqNode) ascendBelow(i int, yield func(b []byte) bool) bool {
	if l.inner == nil {
		return l.ascend(i, yield)
	}
	k, i := l.inner.find(i)
	for ; k < l.inner.n; k++ {
		if !l.inner.kids[k].ascendBelow(i, yield) {
			return false
		}
		i = 0
	}
	return true
}

// Descend calls yield for the elements from the i-th down, as Ascend does.
func (s *seq) Descend(i int, yield func(b []byte) bool) {
	head, root := s.head.count(), s.root.count()
	if i >= head+root && i >= 0 {
		if !s.tail.descendBelow(i-head-root, yield) {
			return
		}
		i = head + root - 1
	}
	if i >= head {
		if !s.root.descendBelow(i-head, yield) {
			return
		}
		i = head - 1
	}
	if i >= 0 {
		s.head.descendBelow(i, yield)
	}
}

func (l *seqNode) descendBelow(i int, yield func(b []byte) bool) bool {
	if l.inner == nil {
		return l.descend(i, yield)
	}
	k, i := l.inner.find(i)
	for {
		if !l.inner.kids[k].descendBelow(i, yield) {
			return false
		}
		if k == 0 {
			return true
		}
		k--
		i = l.inner.counts[k] - 1
	}
}
