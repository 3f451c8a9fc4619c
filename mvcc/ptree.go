package mvcc

import "sync/atomic"

const (
	fanout     = 64 // kids of an inner node
	fanoutThin = 16 // fewer kids than this are joined with a neighbour's
	pnodeCost  = 48
	pkidCost   = 64
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
// joined with a neighbour if both together leave a quarter free.
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
}

// pnode is an inner node. Kid i has what is below kid i+1's separator and not
// below its own; the first kid has no separator.
type pnode struct {
	gen    uint64
	bottom bool // the kids are leaves
	kids   []pkid
}

// pkid is a leaf or a node, with what its parent knows of it: 64 bytes.
type pkid struct {
	low   uint64  // the separator: the least order
	tail  *string // and the least member of that order, if other kids have the order too
	count int     // entries below
	node  *pnode
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
	t.root = &pnode{gen: t.gen, bottom: true, kids: []pkid{{pleaf: newLeaf(pageMin, t.gen)}}}
	t.n, t.size = 0, ptreeCost+t.root.bytes()
}

// Copy returns a tree that later writes to t don't reach, nor the other way
// round: O(1).
func (t *ptree) Copy() *ptree {
	c := *t
	c.gen, t.gen = t.gens.Add(1), t.gens.Add(1)
	return &c
}

// Len returns the number of entries.
func (t *ptree) Len() int { return t.n }

// bytes returns what the tree has allocated, as if it shared nothing with its
// copies.
func (t *ptree) bytes() int64 { return t.size }

// bytes is what the node and all below it have allocated.
func (nd *pnode) bytes() int64 {
	n := nd.own()
	for i := range nd.kids {
		n += nd.kids[i].bytes()
	}
	return n
}

// own is what the node itself has allocated.
func (nd *pnode) own() int64 { return pnodeCost + int64(cap(nd.kids))*pkidCost }

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

// above says whether the entry is not below the kid's separator.
func (k *pkid) above(order uint64, member []byte) bool {
	if k.low != order {
		return k.low < order
	}
	return k.tail == nil || *k.tail <= string(member)
}

// find returns the kid for an entry.
func (nd *pnode) find(order uint64, member []byte) int {
	kids := nd.kids
	if len(kids) == 1 {
		return 0
	}
	lo, hi := 0, len(kids)-1 // the kid is none below lo, none above hi
	i := 1 + guess(order, kids[1].low, kids[hi].low, hi)
	for left := patience; lo < hi; left-- {
		if left <= 0 {
			i = (lo + hi + 1) / 2
		}
		if kids[i].above(order, member) {
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

// bounds narrows the orders of a node to those of its kid i.
func (nd *pnode) bounds(i int, lo, hi uint64) (uint64, uint64) {
	if i > 0 {
		lo = nd.kids[i].low
	}
	if i+1 < len(nd.kids) {
		hi = nd.kids[i+1].low
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
		s, found := k.search(order, member, guess(order, lo, hi, k.n()))
		if !found {
			return nil, false
		}
		_, value = k.entry(s)
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
		for j := range nd.kids[:i] {
			rank += nd.kids[j].count
		}
		k := &nd.kids[i]
		if nd.bottom {
			s, found := k.search(order, member, guess(order, lo, hi, k.n()))
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
	kids := make([]pkid, len(nd.kids), cap(nd.kids))
	copy(kids, nd.kids)
	*p = &pnode{gen: t.gen, bottom: nd.bottom, kids: kids}
	return *p
}

func (t *ptree) ownLeaf(k *pkid) {
	if k.gen() != t.gen {
		k.pleaf.own(t.gen)
	}
}

// Set puts an entry in, or gives it a new value. A value of the same length is
// written in place.
func (t *ptree) Set(order uint64, member, value []byte) (replaced bool) {
	w := psetting{ptree: t, order: order, member: member, value: value}
	root := t.own(&t.root)
	if split, ok := w.set(root, 0, ^uint64(0), true); ok {
		t.root = &pnode{gen: t.gen, kids: []pkid{{node: root}, split}}
		t.root.kids[0].count = root.count()
		t.size += t.root.own()
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

// set writes below a node that w owns; last says that it is the rightmost. If
// the node had to be split it returns the new right half.
func (w *psetting) set(nd *pnode, lo, hi uint64, last bool) (split pkid, ok bool) {
	i := nd.find(w.order, w.member)
	k := &nd.kids[i]
	lo, hi = nd.bounds(i, lo, hi)
	last = last && i == len(nd.kids)-1
	if nd.bottom {
		split, ok = w.setLeaf(k, lo, hi, last)
	} else {
		split, ok = w.set(w.own(&k.node), lo, hi, last)
	}
	if !w.replaced {
		k.count++
	}
	if !ok {
		return split, false
	}
	k.count -= split.count
	w.insertKid(nd, i+1, &split)
	if len(nd.kids) < fanout {
		return split, false
	}
	return w.splitNode(nd, last), true
}

func (w *psetting) setLeaf(k *pkid, lo, hi uint64, last bool) (split pkid, ok bool) {
	w.ownLeaf(k)
	s, found := k.search(w.order, w.member, guess(w.order, lo, hi, k.n()))
	before := k.pleaf.bytes()
	if found {
		w.replaced = true
		if k.overwrite(s, w.value) {
			return split, false
		}
		k.drop(s, s+1)
	}
	if ok = !k.insert(s, w.order, w.member, w.value); ok {
		split = w.splitLeaf(k, s, last)
	}
	w.size += k.pleaf.bytes() - before
	return split, ok
}

// splitLeaf makes room in a full leaf and inserts at place s.
func (w *psetting) splitLeaf(k *pkid, s int, last bool) (right pkid) {
	if last && s == k.n() {
		right.pleaf = newLeaf(pageMin, w.gen)
	} else {
		right.pleaf = k.split(w.gen)
	}
	to := &k.pleaf
	if n := k.n(); s > n || right.n() == 0 {
		to, s = &right.pleaf, s-n
	}
	to.insert(s, w.order, w.member, w.value)
	right.count = right.n()
	right.separate(&k.pleaf)
	w.size += right.bytes()
	return right
}

// separate sets the separator between a leaf and the kid to its right.
func (k *pkid) separate(left *pleaf) {
	end := left.n() - 1
	k.low = k.order(0)
	if left.order(end) != k.low {
		return
	}
	a, _ := left.entry(end)
	b, _ := k.entry(0)
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

// setKids gives a node the kids, in an array of its own.
func (t *ptree) setKids(nd *pnode, lists ...[]pkid) {
	n := 0
	for _, l := range lists {
		n += len(l)
	}
	before := cap(nd.kids)
	nd.kids = make([]pkid, 0, kidRoom(n))
	for _, l := range lists {
		nd.kids = append(nd.kids, l...)
	}
	t.size += int64(cap(nd.kids)-before) * pkidCost
}

func (t *ptree) insertKid(nd *pnode, i int, k *pkid) {
	if n := len(nd.kids); n < cap(nd.kids) {
		nd.kids = nd.kids[:n+1]
		copy(nd.kids[i+1:], nd.kids[i:n])
		nd.kids[i] = *k
		return
	}
	t.setKids(nd, nd.kids[:i], []pkid{*k}, nd.kids[i:])
}

// splitNode moves half of the kids to a new node, or few if the node is the
// tree's last.
func (t *ptree) splitNode(nd *pnode, last bool) (right pkid) {
	at := len(nd.kids) / 2
	if last {
		at = len(nd.kids) - 2
	}
	r := &pnode{gen: t.gen, bottom: nd.bottom}
	t.size += pnodeCost
	t.setKids(r, nd.kids[at:])
	t.setKids(nd, nd.kids[:at])
	right = pkid{low: r.kids[0].low, tail: r.kids[0].tail, node: r}
	r.kids[0].low, r.kids[0].tail = 0, nil
	right.count = r.count()
	return right
}

func (nd *pnode) count() (n int) {
	for i := range nd.kids {
		n += nd.kids[i].count
	}
	return n
}
