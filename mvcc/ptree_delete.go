package mvcc

import "slices"

// Delete takes an entry out, if it is there. The tree looks for it on nodes of its
// own, so that it need not look twice: the first Delete after a Copy copies the
// way down, whether the entry is there or not.
func (t *ptree) Delete(order uint64, member []byte) bool {
	if !t.remove(t.own(&t.root), order, member, 0, ^uint64(0)) {
		return false
	}
	t.n--
	t.lower()
	return true
}

// remove takes an entry out below a node that t owns, if it is there.
func (t *ptree) remove(nd *pnode, order uint64, member []byte, lo, hi uint64) bool {
	i := nd.find(order, member)
	lo, hi = nd.bounds(i, lo, hi)
	k := &nd.kids[i]
	if nd.bottom {
		n := nd.seps[i].count
		s, found := k.search(order, member, guess(order, lo, hi, n), n)
		if !found {
			return false
		}
		t.cutLeaf(k, s, s+1)
	} else if !t.remove(t.own(&k.node), order, member, lo, hi) {
		return false
	}
	nd.seps[i].count--
	t.tidy(nd, i)
	return true
}

// DeleteAt takes the entry of that rank out, which must be below Len, and appends
// its member to dst.
func (t *ptree) DeleteAt(rank int, dst []byte) (order uint64, member []byte) {
	order, member = t.removeAt(t.own(&t.root), rank, dst)
	t.n--
	t.lower()
	return order, member
}

// removeAt is DeleteAt below a node that t owns.
func (t *ptree) removeAt(nd *pnode, rank int, dst []byte) (order uint64, member []byte) {
	i, rank := nd.ranked(rank)
	k := &nd.kids[i]
	if nd.bottom {
		if k.glimpse(rank, nd.seps[i].count) == 0xff && rank < 0 { // only to read the cache line
			return 0, nil
		}
		order, member, _ = k.entry(rank)
		member = append(dst, member...)
		t.cutLeaf(k, rank, rank+1)
	} else {
		order, member = t.removeAt(t.own(&k.node), rank, dst)
	}
	nd.seps[i].count--
	t.tidy(nd, i)
	return order, member
}

// cutLeaf takes the slots [first, last) out.
func (t *ptree) cutLeaf(k *pkid, first, last int) {
	t.ownLeaf(k)
	before := k.pleaf.bytes()
	k.drop(first, last)
	k.shrink(t.spare)
	t.size += k.pleaf.bytes() - before
}

// lower takes roots with a single kid off.
func (t *ptree) lower() {
	for !t.root.bottom && len(t.root.kids) == 1 {
		t.size -= t.root.ownBytes()
		t.root = t.root.kids[0].node
		t.shape++
	}
}

func (k *pkid) thin() bool {
	if k.node != nil {
		return len(k.node.kids) < fanoutThin
	}
	return k.used() < pageThin
}

// tidy takes kid i out if it is empty, and joins it with a neighbour if it is
// thin and there is one with room.
func (t *ptree) tidy(nd *pnode, i int) {
	switch {
	case len(nd.kids) == 1 || !nd.kids[i].thin():
	case nd.seps[i].count == 0:
		t.dropKids(nd, i, i+1)
	case i > 0 && t.join(nd, i-1):
	case i+1 < len(nd.kids):
		t.join(nd, i)
	}
}

// join makes one kid of kids i and i+1 if a quarter of it stays free.
func (t *ptree) join(nd *pnode, i int) bool {
	a, b := &nd.kids[i], &nd.kids[i+1]
	if nd.bottom {
		used := a.used() + b.used() - pageHead
		if used > pageMax*3/4 {
			return false
		}
		t.size -= a.pleaf.bytes() + b.bytes()
		if a.gen != t.gen || used > len(a.page) {
			both := newLeaf(t.spare, pageSize(used), t.gen)
			both.take(&a.pleaf, 0, a.n())
			a.pleaf = both
		}
		a.take(&b.pleaf, 0, b.n())
		t.size += a.pleaf.bytes()
	} else {
		if len(a.node.kids)+len(b.node.kids) > fanout*3/4 {
			return false
		}
		t.joinNodes(t.own(&a.node), nd.seps[i+1].low, b)
	}
	nd.seps[i].count += nd.seps[i+1].count
	t.unlink(nd, i+1, i+2)
	return true
}

// joinNodes moves the kids of b, whose separator is low, to a.
func (t *ptree) joinNodes(a *pnode, low uint64, b *pkid) {
	n := len(a.kids)
	t.setKids(a, a.pkids, b.node.pkids)
	a.seps[n].low, a.kids[n].tail = low, b.tail
	t.size -= b.node.ownBytes()
}

// dropKids takes kids [first, last) out and with them all that is below.
func (t *ptree) dropKids(nd *pnode, first, last int) {
	for i := first; i < last; i++ {
		t.size -= nd.kids[i].bytes()
	}
	t.unlink(nd, first, last)
}

// unlink takes kids [first, last) out of the node.
func (t *ptree) unlink(nd *pnode, first, last int) {
	t.reshape(nd)
	nd.seps = slices.Delete(nd.seps, first, last)
	nd.kids = slices.Delete(nd.kids, first, last)
	t.size -= tailBytes(nd.kids[0].tail)
	nd.seps[0].low, nd.kids[0].tail = 0, nil
}

// DeleteRange takes the entries with ranks in [lo, hi) out. Nodes and pages
// that lie in the range are dropped without looking at their entries.
func (t *ptree) DeleteRange(lo, hi int) {
	lo, hi = max(lo, 0), min(hi, t.n)
	if lo >= hi {
		return
	}
	if hi-lo == t.n {
		t.reset()
		return
	}
	t.cut(t.own(&t.root), lo, hi)
	t.n -= hi - lo
	t.lower()
}

// cut takes some but not all entries out below a node that t owns.
func (t *ptree) cut(nd *pnode, lo, hi int) {
	base, first, whole, end := 0, -1, -1, -1 // the first kid touched; kids [whole, end) go
	for i := 0; i < len(nd.kids) && base < hi; i++ {
		count := nd.seps[i].count
		from, to := max(lo-base, 0), min(hi-base, count)
		base += count
		if from >= to {
			continue
		}
		if first < 0 {
			first = i
		}
		if to-from < count {
			t.cutKid(nd, i, from, to)
			continue
		}
		if whole < 0 {
			whole = i
		}
		end = i + 1
	}
	if whole >= 0 {
		t.dropKids(nd, whole, end)
	}
	for i := min(first+1, len(nd.kids)-1); i >= max(first-1, 0); i-- {
		t.tidy(nd, i)
	}
}

func (t *ptree) cutKid(nd *pnode, i, lo, hi int) {
	k := &nd.kids[i]
	nd.seps[i].count -= hi - lo
	if nd.bottom {
		t.cutLeaf(k, lo, hi)
	} else {
		t.cut(t.own(&k.node), lo, hi)
	}
}
