package mvcc

// Set replaces element i, which must be there, by b, which is copied.
func (s *seq) Set(i int, b []byte) {
	e := packElem(b)
	s.edit(i, &e, true)
}

// Insert puts b, which is copied, before element i, 0 <= i <= Len.
func (s *seq) Insert(i int, b []byte) {
	e := packElem(b)
	s.insert(i, &e)
}

func (s *seq) insert(i int, e *packedElem) {
	switch i {
	case 0:
		s.pushLeft(e)
	case s.Len():
		s.pushRight(e)
	default:
		s.edit(i, e, false)
	}
}

func (s *seq) edit(i int, e *packedElem, replace bool) {
	head, root := s.head.count(), s.root.count()
	switch {
	case i < head:
		if right := s.editPage(s.own(&s.head), i, e, replace); right != nil {
			s.link(right, true)
		}
	case i < head+root:
		s.split(s.editBelow(s.own(&s.root), i-head, e, replace))
	default:
		if right := s.editPage(s.own(&s.tail), i-head-root, e, replace); right != nil {
			s.link(s.tail, false)
			s.tail = right
		}
	}
}

func (s *seq) editBelow(l *seqNode, i int, e *packedElem, replace bool) *seqNode {
	if l.inner == nil {
		return s.editPage(l, i, e, replace)
	}
	k, i := l.inner.find(i)
	return s.editKid(l.inner, l, k, func(kid *seqNode) *seqNode { return s.editBelow(kid, i, e, replace) })
}

// editPage sets or inserts an element. If the page had to be split it returns
// the right half.
func (s *seq) editPage(p *seqNode, i int, e *packedElem, replace bool) (right *seqNode) {
	if replace && p.set(i, e) || !replace && p.insert(i, e) {
		return nil
	}
	right = p.split(s.gen, e)
	if n := int(p.n); i >= n {
		s.editPage(right, i-n, e, replace)
	} else {
		s.editPage(p, i, e, replace)
	}
	return right
}

// RemoveRange takes n elements from the i-th on out; they must be there. Whole
// pages and subtrees go without being looked at.
func (s *seq) RemoveRange(i, n int) {
	if n == 0 {
		return
	}
	if n == s.Len() {
		s.head, s.root, s.tail = nil, nil, nil
		return
	}
	if i == 0 && s.root != nil && s.head.count() == 0 {
		s.head = s.fetch(true)
	}
	if s.root != nil && s.tail.count() == 0 && i+n == s.Len() {
		s.tail = s.fetch(false)
	}
	head, root := s.head.count(), s.root.count()
	s.cutEnd(&s.head, i, i+n)
	s.cutTree(i-head, i+n-head)
	s.cutEnd(&s.tail, i-head-root, i+n-head-root)
	if s.root == nil { // else an empty page may stay, for the next push
		s.head, s.tail = s.head.orNil(), s.tail.orNil()
	}
}

// orNil returns the page unless it is empty.
func (l *seqNode) orNil() *seqNode {
	if l.count() == 0 {
		return nil
	}
	return l
}

// filtered returns a seq of the elements for whose index keep says true, which
// is asked in order.
func (s *seq) filtered(keep func(i int) bool) *seq {
	to, i := newSeq(), 0
	s.Ascend(0, func(b []byte) bool {
		if keep(i) {
			e := packElem(b)
			e.kept = true
			to.pushRight(&e)
		}
		i++
		return true
	})
	return to
}

// Pop takes the first or the last element out, of a list that has one, and
// returns it; an integer is printed into num. It is valid until the next write.
func (s *seq) Pop(left bool, num []byte) []byte {
	end, other := &s.tail, &s.head
	if left {
		end, other = other, end
	}
	if (*end).count() == 0 {
		if s.root != nil {
			*end = s.fetch(left)
		} else {
			*end, end = nil, other
		}
	}
	p := s.own(end)
	if p.n == 1 && s.root == nil { // else an empty page may stay, for the next push
		*end = nil
	}
	if left {
		return p.popLeft(num)
	}
	return p.popRight(num)
}

// cutEnd takes the elements [lo, hi) of a page at an end out, as far as there
// are such.
func (s *seq) cutEnd(p **seqNode, lo, hi int) {
	lo, hi = max(lo, 0), min(hi, (*p).count())
	if lo < hi {
		s.own(p).cut(lo, hi)
	}
}

func (s *seq) cutTree(lo, hi int) {
	lo, hi = max(lo, 0), min(hi, s.root.count())
	switch {
	case lo >= hi:
		return
	case hi-lo == s.root.count():
		s.root = nil
		return
	}
	s.cutBelow(s.own(&s.root), lo, hi)
	s.lower()
}

// cutBelow takes some but not all of an owned node's elements out.
func (s *seq) cutBelow(l *seqNode, lo, hi int) {
	in := l.inner
	if in == nil {
		l.cut(lo, hi)
		return
	}
	kept, first := 0, -1
	for k := range in.n {
		n, kid := in.counts[k], in.kids[k]
		a, b := max(lo, 0), min(hi, n)
		lo, hi = lo-n, hi-n
		if a < b && first < 0 {
			first = kept
		}
		if a == 0 && b == n {
			in.count -= n
			in.bytes -= kid.memory()
			continue
		}
		in.kids[kept], in.counts[kept] = kid, n
		if a < b {
			s.editKid(in, l, kept, func(kid *seqNode) *seqNode { s.cutBelow(kid, a, b); return nil })
		}
		kept++
	}
	clear(in.kids[kept:in.n])
	in.n = kept
	for k := min(first+1, in.n-2); k >= max(first-1, 0); k-- {
		s.join(in, k)
	}
}

// join makes one of children k and k+1 if they have room to spare in it.
func (s *seq) join(in *seqInner, k int) {
	b := in.kids[k+1]
	if !in.kids[k].joins(b) {
		return
	}
	in.remove(k + 1)
	s.editKid(in, nil, k, func(a *seqNode) *seqNode {
		if a.inner == nil {
			a.take(&b.seqPage, 0)
		} else {
			a.inner.add(b.inner.kids[:b.inner.n])
		}
		return nil
	})
}

// joins says whether two nodes have room to spare in one.
func (l *seqNode) joins(b *seqNode) bool {
	if l.inner != nil {
		return l.inner.n+b.inner.n <= seqJoin
	}
	return l.used()+b.used() <= seqPageJoin && l.blobCount()+b.blobCount() <= blobsMax
}
