package mvcc

import "bytes"

// ptreeHeight is more than a tree can have: neighbours have half of fanout
// kids on average, at least.
const ptreeHeight = 12

// A ptreeCursor runs through the entries of a tree, forward only. The tree must
// not be written meanwhile. What Member and Value return lies in the tree.
type ptreeCursor struct {
	leaf  *pkid
	s, n  int
	depth int  // of the leaf's parent in path
	sum   byte // keeps the reads of warm from being optimised away
	path  [ptreeHeight]pstep
}

// pstep is a node on the way to a leaf and which kid the way goes on with.
type pstep struct {
	nd *pnode
	i  int
}

// Cursor returns a cursor that stands before the first entry.
func (t *ptree) Cursor() (c ptreeCursor) {
	c.down(0, t.root, 0)
	c.s = -1
	return c
}

// down goes from kid i of a node at that depth to the leftmost leaf.
func (c *ptreeCursor) down(depth int, nd *pnode, i int) {
	c.path[depth] = pstep{nd, i}
	for !nd.bottom {
		nd = nd.kids[i].node
		i, depth = 0, depth+1
		c.path[depth] = pstep{nd, 0}
	}
	c.depth = depth
	c.enter(nd, i, 0)
}

func (c *ptreeCursor) enter(nd *pnode, i, s int) { c.leaf, c.s, c.n = &nd.kids[i], s, nd.seps[i].count }

// warm reads all of the leaf's cache lines: a walk would wait for one after the
// other, for the entries do not lie in order, while these reads go on side by
// side.
func (c *ptreeCursor) warm() {
	sum := c.sum
	for p := c.leaf.page; len(p) >= 64; p = p[64:] {
		sum += p[0]
	}
	c.sum = sum
}

// Next goes to the next entry; false if there is none.
func (c *ptreeCursor) Next() bool {
	if c.s+1 < c.n {
		c.s++
		return true
	}
	return c.nextLeaf()
}

// nextLeaf goes to the first entry of the next leaf, if there is one, else
// behind the last entry.
func (c *ptreeCursor) nextLeaf() bool {
	for d := c.depth; d >= 0; d-- {
		if p := &c.path[d]; p.i+1 < len(p.nd.kids) {
			c.down(d, p.nd, p.i+1)
			c.warm()
			return true
		}
	}
	c.s = c.n
	return false
}

// prevLeaf goes to the last entry of the leaf before, if there is one.
func (c *ptreeCursor) prevLeaf() bool {
	d := c.depth
	for d >= 0 && c.path[d].i == 0 {
		d--
	}
	if d < 0 {
		return false
	}
	c.path[d].i--
	nd, i := c.path[d].nd, c.path[d].i
	for ; !nd.bottom; d++ {
		nd = nd.kids[i].node
		i = len(nd.kids) - 1
		c.path[d+1] = pstep{nd, i}
	}
	c.enter(nd, i, 0)
	c.s = c.n - 1
	c.warm()
	return true
}

// Order returns the order of the entry that the cursor stands on.
func (c *ptreeCursor) Order() uint64 { return c.leaf.order(c.s) }

// Member returns its member.
func (c *ptreeCursor) Member() []byte { return c.leaf.member(c.s) }

// Value returns its value.
func (c *ptreeCursor) Value() []byte {
	_, _, v := c.leaf.entry(c.s)
	return v
}

// Seek goes to the first entry that is not below (order, member), never back;
// false if there is none. It is cheap if the entry is near.
func (c *ptreeCursor) Seek(order uint64, member []byte) bool {
	s := max(c.s, 0)
	if s >= c.n {
		return false
	}
	if !c.below(s, order, member) {
		c.s = s
		return true
	}
	if c.below(c.n-1, order, member) {
		if !c.climb(order, member) {
			return c.nextLeaf()
		}
		s = guess(order, c.leaf.order(0), c.leaf.order(c.n-1), c.n)
	}
	if c.s, _ = c.leaf.search(order, member, s, c.n); c.s < c.n {
		return true
	}
	return c.nextLeaf()
}

// below says whether the entry of a slot is below (order, member).
func (c *ptreeCursor) below(s int, order uint64, member []byte) bool {
	if o := c.leaf.order(s); o != order {
		return o < order
	}
	return bytes.Compare(c.leaf.member(s), member) < 0
}

// climb goes to the leaf for an entry that is above all of this leaf's; false
// if it is the same leaf.
func (c *ptreeCursor) climb(order uint64, member []byte) bool {
	top := -1
	for d := c.depth; d >= 0; d-- {
		if p := &c.path[d]; p.i+1 < len(p.nd.kids) {
			if !p.nd.above(p.i+1, order, member) {
				break
			}
			top = d
		}
	}
	if top < 0 {
		return false
	}
	nd := c.path[top].nd
	for d := top; ; d++ {
		i := nd.find(order, member)
		c.path[d] = pstep{nd, i}
		if nd.bottom {
			c.depth = d
			c.enter(nd, i, 0)
			return true
		}
		nd = nd.kids[i].node
	}
}

// at sets the cursor to the entry of that rank, which must be below Len.
func (t *ptree) at(rank int) (c ptreeCursor) {
	nd := t.root
	for d := 0; ; d++ {
		var i int
		i, rank = nd.ranked(rank)
		c.path[d] = pstep{nd, i}
		if nd.bottom {
			c.depth = d
			c.enter(nd, i, rank)
			return c
		}
		nd = nd.kids[i].node
	}
}

// At returns the entry of that rank, which must be below Len.
func (t *ptree) At(rank int) (order uint64, member, value []byte) {
	nd := t.root
	for {
		var i int
		i, rank = nd.ranked(rank)
		if nd.bottom {
			return nd.kids[i].entry(rank)
		}
		nd = nd.kids[i].node
	}
}

// Ascend calls yield for the entries from a rank up until it returns false. The
// tree must not be written meanwhile.
func (t *ptree) Ascend(rank int, yield func(order uint64, member, value []byte) bool) {
	if rank = max(rank, 0); rank < t.n {
		c := t.at(rank)
		c.ascend(yield)
	}
}

// AscendFrom is Ascend from the first entry that has the order or a greater one.
func (t *ptree) AscendFrom(order uint64, yield func(order uint64, member, value []byte) bool) {
	c := t.Cursor()
	if c.Seek(order, nil) {
		c.ascend(yield)
	}
}

func (c *ptreeCursor) ascend(yield func(order uint64, member, value []byte) bool) {
	for {
		l := &c.leaf.pleaf
		for s := c.s; s < c.n; s++ {
			if !yield(l.entry(s)) {
				return
			}
		}
		if !c.nextLeaf() {
			return
		}
	}
}

// Descend calls yield for the entries from a rank down until it returns false.
// The tree must not be written meanwhile.
func (t *ptree) Descend(rank int, yield func(order uint64, member, value []byte) bool) {
	if rank = min(rank, t.n-1); rank < 0 {
		return
	}
	for c, more := t.at(rank), true; more; more = c.prevLeaf() {
		l := &c.leaf.pleaf
		for s := c.s; s >= 0; s-- {
			if !yield(l.entry(s)) {
				return
			}
		}
	}
}
