package mvcc

import "sync/atomic"

const (
	fanout     = 64 // kids of an inner node
	fanoutThin = 16 // fewer kids than this are joined with a neighbour's
	pnodeCost  = 64
	pkidCost   = 56 + 16
	ptreeCost  = 64
	tailCost   = 24
)

// A ptree holds the entries of a big hash, set or sorted set in the order of
// (order, member), each with a value: a counted copy-on-write B+ tree whose
// leaves are pages of bytes (ptree_page.go). The collector sees one object
// without pointers for each forty entries or so.
//
// Pages grow in small steps, so they are nine tenths full whatever the order of
// the inserts, and a split into halves costs no memory. Only at the right end of the tree a full page stays as it is and a
// new one begins, so ascending inserts fill the pages. A page that gets thin is
// joined with a neighbour if both together leave a quarter free. Five million
// entries of 35 bytes, inserted in random order, take 46 bytes each
// (BenchmarkPtreeMemory).
//
// Copy is O(1), after which either side copies a node or page before it first
// writes to it: what carries another generation may be shared.
//
// Members and values that a method returns or yields lie in the tree: they are
// read-only, and valid until the next write to this tree. Those longer than
// inlineMax together stay valid for ever. Arguments are copied; they must not
// lie in the tree itself.
type ptree struct {
	root *pnode
	gen  uint64
	gens *atomic.Uint64 // the last generation given out, of this tree and its copies
	n    int
	size int64

	spare *spares // nil: none yet

	// shape changes whenever an inner node that has inner kids loses or gets one,
	// or the root is another: see pseat.
	shape uint64
}

// pnode is an inner node.
type pnode struct {
	gen    uint64
	bottom bool   // the kids are leaves
	shape  uint32 // changes whenever it loses or gets a kid, if it is a bottom
	pkids
}

// pkids are the kids of a node. Kid i has what is not below its separator and
// below the next one's; the first kid's separator is 0. What a search asks of
// the kids lies together, so that it looks at few cache lines.
type pkids struct {
	seps []psep
	kids []pkid
}

// psep is what a search for an order or a rank asks of a kid.
type psep struct {
	low   uint64 // the separator: the least order
	count int    // entries below; so a search needs not wait for a page's head
}

// pkid is a leaf or a node, with the rest of what its parent knows of it.
type pkid struct {
	tail *string // the separator's member if the kid before has the same order too
	node *pnode
	pleaf
}

// newPtree returns an empty tree.
func newPtree() *ptree {
	t := &ptree{gen: 1, gens: new(atomic.Uint64), size: ptreeCost}
	t.gens.Store(1)
	t.reset()
	return t
}

func (t *ptree) reset() {
	leaf := pkid{pleaf: newLeaf(nil, pageMin, t.gen)}
	t.root = &pnode{gen: t.gen, bottom: true, pkids: pkids{make([]psep, 1), []pkid{leaf}}}
	t.spare = nil
	t.n, t.size = 0, ptreeCost+t.root.bytes()
	t.shape++
}

// Copy returns a tree that later writes to t don't reach, nor the other way
// round: O(1).
func (t *ptree) Copy() *ptree {
	c := *t
	c.spare = nil // or the two would take the same pages
	c.gen, t.gen = t.gens.Add(1), t.gens.Add(1)
	return &c
}

// Len returns the number of entries.
func (t *ptree) Len() int { return t.n }

// bytes returns what the tree has allocated, as if it shared nothing with its
// copies.
func (t *ptree) bytes() int64 {
	if t.spare != nil {
		return t.size + spareCost + t.spare.bytes
	}
	return t.size
}

// bytes is what the node and all below it have allocated.
func (nd *pnode) bytes() int64 {
	n := nd.ownBytes()
	for i := range nd.kids {
		n += nd.kids[i].bytes()
	}
	return n
}

// ownBytes is what the node itself has allocated.
func (nd *pnode) ownBytes() int64 { return pnodeCost + int64(cap(nd.kids))*pkidCost }

func (k *pkid) bytes() int64 {
	n := tailBytes(k.tail)
	if k.node != nil {
		return n + k.node.bytes()
	}
	return n + k.pleaf.bytes()
}

func tailBytes(tail *string) int64 {
	if tail == nil {
		return 0
	}
	return int64(tailCost + len(*tail))
}

// above says whether an entry is not below the separator of kid i.
func (p *pkids) above(i int, order uint64, member []byte) bool {
	if low := p.seps[i].low; low != order {
		return low < order
	}
	tail := p.kids[i].tail
	return tail == nil || *tail <= string(member)
}

// find returns the kid for an entry.
func (p *pkids) find(order uint64, member []byte) int {
	lo, hi := 0, len(p.seps)-1 // the kid is none below lo, none above hi
	if hi == 0 {
		return 0
	}
	i := 1 + guess(order, p.seps[1].low, p.seps[hi].low, hi)
	for left := patience; lo < hi; left-- {
		if left <= 0 {
			i = (lo + hi + 1) / 2
		}
		if p.above(i, order, member) {
			lo = i
			i++
		} else {
			hi = i - 1
			i--
		}
		i = max(min(i, hi), lo+1)
	}
	return lo
}

// ranked returns the kid that holds the entry of a rank, and its rank there.
func (p *pkids) ranked(rank int) (i, below int) {
	for i = range p.seps {
		n := p.seps[i].count
		if rank < n {
			break
		}
		rank -= n
	}
	return i, rank
}

// bounds narrows the orders of a node to those of its kid i.
func (p *pkids) bounds(i int, lo, hi uint64) (uint64, uint64) {
	if i > 0 {
		lo = p.seps[i].low
	}
	if i+1 < len(p.seps) {
		hi = p.seps[i+1].low
	}
	return lo, hi
}

// Get returns the value of an entry.
func (t *ptree) Get(order uint64, member []byte) (value []byte, ok bool) {
	nd, lo, hi := t.root, uint64(0), ^uint64(0)
	for {
		i := nd.find(order, member)
		lo, hi = nd.bounds(i, lo, hi)
		k := &nd.kids[i]
		if !nd.bottom {
			nd = k.node
			continue
		}
		n := nd.seps[i].count
		s, found := k.search(order, member, guess(order, lo, hi, n), n)
		if !found {
			return nil, false
		}
		_, _, value = k.entry(s)
		return value, true
	}
}

// Rank returns the number of entries before (order, member), and whether that
// entry is there.
func (t *ptree) Rank(order uint64, member []byte) (rank int, found bool) {
	nd, lo, hi := t.root, uint64(0), ^uint64(0)
	for {
		i := nd.find(order, member)
		lo, hi = nd.bounds(i, lo, hi)
		for j := range nd.seps[:i] {
			rank += nd.seps[j].count
		}
		k := &nd.kids[i]
		if nd.bottom {
			n := nd.seps[i].count
			s, found := k.search(order, member, guess(order, lo, hi, n), n)
			return rank + s, found
		}
		nd = k.node
	}
}

// own makes the node one that t may write to.
func (t *ptree) own(p **pnode) *pnode {
	nd := *p
	if nd.gen == t.gen {
		return nd
	}
	c := pkids{make([]psep, len(nd.seps), cap(nd.seps)), make([]pkid, len(nd.kids), cap(nd.kids))}
	copy(c.seps, nd.seps)
	copy(c.kids, nd.kids)
	*p = &pnode{gen: t.gen, bottom: nd.bottom, shape: nd.shape, pkids: c}
	return *p
}

func (t *ptree) ownLeaf(k *pkid) {
	if k.gen != t.gen {
		k.pleaf.own(t.spare, t.gen)
	}
}

// Set puts an entry in, or gives it a new value. A value of the same length is
// written in place.
func (t *ptree) Set(order uint64, member, value []byte) (replaced bool) {
	w := psetting{ptree: t, order: order, member: member, value: value}
	root := t.own(&t.root)
	if right, ok := w.set(root, 0, ^uint64(0), true); ok {
		seps := []psep{{count: root.count()}, right.psep}
		t.root = &pnode{gen: t.gen, pkids: pkids{seps, []pkid{{node: root}, right.pkid}}}
		t.size += t.root.ownBytes()
		t.shape++
	}
	if t.spare == nil && t.n >= spareFrom {
		t.spare = new(spares)
	}
	if !w.replaced {
		t.n++
	}
	return w.replaced
}

// psetting is one Set on its way down.
type psetting struct {
	*ptree
	order         uint64
	member, value []byte
	replaced      bool
}

// psplit is what a split puts to the right.
type psplit struct {
	psep
	pkid
}

// set writes below a node that w owns; last says that it is the rightmost. If
// the node had to be split it returns the new right half.
func (w *psetting) set(nd *pnode, lo, hi uint64, last bool) (split psplit, ok bool) {
	i := nd.find(w.order, w.member)
	k := &nd.kids[i]
	lo, hi = nd.bounds(i, lo, hi)
	last = last && i == len(nd.kids)-1
	if nd.bottom {
		split, ok = w.setLeaf(k, nd.seps[i].count, lo, hi, last)
	} else {
		split, ok = w.set(w.own(&k.node), lo, hi, last)
	}
	if !w.replaced {
		nd.seps[i].count++
	}
	if !ok {
		return split, false
	}
	nd.seps[i].count -= split.count
	w.insertKid(nd, i+1, &split)
	if len(nd.kids) < fanout {
		return split, false
	}
	return w.splitNode(nd, last), true
}

func (w *psetting) setLeaf(k *pkid, n int, lo, hi uint64, last bool) (split psplit, ok bool) {
	w.ownLeaf(k)
	s, found := n, false
	if !last || s == 0 || k.order(s-1) >= w.order { // else it is appended
		s, found = k.search(w.order, w.member, guess(w.order, lo, hi, n), n)
	}
	before := k.pleaf.bytes()
	if found {
		w.replaced = true
		if ok = !k.update(w.spare, s, w.member, w.value); ok {
			k.drop(s, s+1)
		}
	} else {
		ok = !k.insert(w.spare, s, w.order, w.member, w.value)
	}
	if ok {
		split = w.splitLeaf(k, s, last)
	}
	w.size += k.pleaf.bytes() - before
	return split, ok
}

// splitLeaf makes room in a full leaf and inserts at place s.
func (w *psetting) splitLeaf(k *pkid, s int, last bool) (right psplit) {
	if last && s == k.n() {
		right.pleaf = newLeaf(w.spare, pageMin, w.gen)
	} else {
		right.pleaf = k.split(w.spare, w.gen)
	}
	to := &k.pleaf
	if n := k.n(); s > n || right.n() == 0 {
		to, s = &right.pleaf, s-n
	}
	to.insert(w.spare, s, w.order, w.member, w.value)
	right.count = right.n()
	right.separate(&k.pleaf)
	w.size += right.bytes()
	return right
}

// separate finds the separator to the leaf before.
func (k *psplit) separate(left *pleaf) {
	end := left.n() - 1
	k.low = k.order(0)
	if left.order(end) != k.low {
		return
	}
	a, b := left.member(end), k.member(0)
	n := 0
	for n < len(a) && a[n] == b[n] {
		n++
	}
	tail := string(b[:n+1])
	k.tail = &tail
}

// kidRoom is the capacity for n kids: the allocator's size classes, about.
func kidRoom(n int) int {
	switch {
	case n <= 2:
		return n
	case n <= 8:
		return (n + 1) / 2 * 2
	case n <= 32:
		return (n + 3) / 4 * 4
	case n <= 54:
		return (n + 5) / 6 * 6
	}
	return fanout
}

func (p *pkids) slice(first, last int) pkids { return pkids{p.seps[first:last], p.kids[first:last]} }

// setKids gives a node the kids, in arrays of its own.
func (t *ptree) setKids(nd *pnode, lists ...pkids) {
	n := 0
	for _, l := range lists {
		n += len(l.kids)
	}
	before, room := cap(nd.kids), kidRoom(n)
	nd.seps, nd.kids = make([]psep, 0, room), make([]pkid, 0, room)
	for _, l := range lists {
		nd.seps = append(nd.seps, l.seps...)
		nd.kids = append(nd.kids, l.kids...)
	}
	t.size += int64(room-before) * pkidCost
}

func (t *ptree) insertKid(nd *pnode, i int, k *psplit) {
	t.reshape(nd)
	n := len(nd.kids)
	if n == cap(nd.kids) {
		t.setKids(nd, nd.slice(0, i), pkids{[]psep{k.psep}, []pkid{k.pkid}}, nd.slice(i, n))
		return
	}
	nd.seps, nd.kids = nd.seps[:n+1], nd.kids[:n+1]
	copy(nd.seps[i+1:], nd.seps[i:n])
	copy(nd.kids[i+1:], nd.kids[i:n])
	nd.seps[i], nd.kids[i] = k.psep, k.pkid
}

// splitNode moves half of the kids to a new node, or few if the node is the
// tree's last.
func (t *ptree) splitNode(nd *pnode, last bool) (right psplit) {
	n := len(nd.kids)
	at := n / 2
	if last {
		at = n - 2
	}
	t.shape++
	r := &pnode{gen: t.gen, bottom: nd.bottom}
	t.size += pnodeCost
	t.setKids(r, nd.slice(at, n))
	t.setKids(nd, nd.slice(0, at))
	right = psplit{psep{r.seps[0].low, r.count()}, pkid{tail: r.kids[0].tail, node: r}}
	r.seps[0].low, r.kids[0].tail = 0, nil
	return right
}

func (nd *pnode) count() (n int) {
	for i := range nd.seps {
		n += nd.seps[i].count
	}
	return n
}
