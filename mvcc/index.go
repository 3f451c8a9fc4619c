package mvcc

import "sync/atomic"

const (
	leafMax  = 61 // pairs of a leaf, so that it is 1000 bytes, in the class of 1024
	leafMin  = 20 // fewer pairs than this are joined with a neighbour's
	innerMax = 64 // children of an inner node
	innerMin = 20
)

// An index maps positions to refs: a copy-on-write B+ tree of its own kind.
// Positions are hashes, spread evenly, so a node is not searched by halving but
// by interpolation (Perl, Itai, Avni: "Interpolation search, a log log N
// search", CACM 1978): the guess is off by a few pairs, which lie in the same
// cache line or the next. Measured against btree.Map[uint64, ref]
// (BenchmarkIndex): 0.26 to 0.44 µs a get at a million keys against 0.66 to
// 1.09 µs in the same minutes, because a leaf costs two cache misses instead of
// five.
//
// Copy is O(1), after which either side copies a node before it first writes to
// it: a node belongs to the index whose generation it carries. Leaves hold no
// pointers but one that is nil.
type index struct {
	root   *node
	height int // inner nodes above a leaf
	gen    uint64
	gens   *atomic.Uint64 // the last generation given out, of this index and its copies
	n      int
	reuse  *reuse // nil: nodes that were replaced are left to the collector

	// shape changes whenever a position may have got another leaf, and seat is
	// a leaf that was found since: see Warmer. Both are the owner's alone.
	shape uint64
	seat  seat
}

// seat is the leaf of a position and the bounds of what the leaf holds.
type seat struct {
	leaf   *node // nil: none
	pos    uint64
	lo, hi uint64
}

// reshaped says that leaves have been split, joined or copied.
func (x *index) reshaped() {
	x.shape++
	x.seat.leaf = nil
}

type pair struct {
	pos uint64
	ref ref
}

// node is a leaf, or an inner node if inner is set. The pointer comes first so
// that the collector looks no further.
type node struct {
	inner *inner
	gen   uint64
	n     int // pairs of a leaf
	pairs [leafMax]pair
}

// inner is the rest of an inner node: child i has the positions in
// [low[i], low[i+1]), the first and the last child whatever lies outside.
type inner struct {
	n     int // children
	count int // pairs below
	low   [innerMax]uint64
	kids  [innerMax]*node
}

func newIndex() *index {
	x := &index{gen: 1, gens: new(atomic.Uint64)}
	x.gens.Store(1)
	return x
}

// Copy returns an index that later writes to x don't reach, nor the other way
// round.
func (x *index) Copy() *index {
	c := *x
	c.gen, x.gen = x.gens.Add(1), x.gens.Add(1)
	c.seat, c.reuse = seat{}, nil
	return &c
}

// Len returns the number of positions.
func (x *index) Len() int { return x.n }

// guess estimates the place of pos among n things that are spread evenly over
// [lo, hi].
func guess(pos, lo, hi uint64, n int) int {
	if pos <= lo || hi <= lo {
		return 0
	}
	if pos >= hi {
		return n - 1
	}
	return int(float64(pos-lo) / float64(hi-lo) * float64(n-1))
}

// kid returns the child for a position.
func (in *inner) kid(pos uint64) int {
	if in.n == 1 {
		return 0
	}
	i := 1 + guess(pos, in.low[1], in.low[in.n-1], in.n-1)
	for i > 0 && in.low[i] > pos {
		i--
	}
	for i+1 < in.n && in.low[i+1] <= pos {
		i++
	}
	return i
}

// place returns where pos is or would be among the pairs of a leaf whose
// positions lie in [lo, hi].
func (l *node) place(pos, lo, hi uint64) int {
	if l.n == 0 {
		return 0
	}
	i := guess(pos, lo, hi, l.n)
	for i > 0 && l.pairs[i-1].pos >= pos {
		i--
	}
	for i < l.n && l.pairs[i].pos < pos {
		i++
	}
	return i
}

// descend returns the leaf for a position and the bounds of what it holds. The
// leaf itself is not read.
func (x *index) descend(pos uint64) (l *node, lo, hi uint64) {
	l, hi = x.root, ^uint64(0)
	for range x.height {
		in := l.inner
		i := in.kid(pos)
		if i > 0 {
			lo = in.low[i]
		}
		if i+1 < in.n {
			hi = in.low[i+1]
		}
		l = in.kids[i]
	}
	return l, lo, hi
}

// Get returns the ref at the position.
func (x *index) Get(pos uint64) (ref, bool) {
	if x.root == nil {
		return 0, false
	}
	l, lo, hi := x.seat.leaf, x.seat.lo, x.seat.hi
	if l == nil || x.seat.pos != pos {
		l, lo, hi = x.descend(pos)
	}
	if i := l.place(pos, lo, hi); i < l.n && l.pairs[i].pos == pos {
		return l.pairs[i].ref, true
	}
	return 0, false
}

// own makes the node one that x may write to.
func (x *index) own(p **node) *node {
	if (*p).gen == x.gen {
		return *p
	}
	return x.replace(p)
}

func (x *index) replace(p **node) *node {
	x.reshaped()
	old := *p
	*p = x.reuse.copy(old)
	(*p).gen = x.gen
	x.reuse.retire(old, x.gens.Load()+1, x.n)
	return *p
}

// Set puts a ref at the position and returns the one it replaced.
func (x *index) Set(pos uint64, r ref) (old ref, replaced bool) {
	if x.root == nil {
		x.root = &node{gen: x.gen}
	}
	if l := x.seat.leaf; l != nil && x.seat.pos == pos && l.gen == x.gen {
		if i := l.place(pos, x.seat.lo, x.seat.hi); i < l.n && l.pairs[i].pos == pos {
			old, l.pairs[i].ref = l.pairs[i].ref, r
			return old, true
		}
	}
	w := setting{index: x, pos: pos, ref: r}
	right, low := w.set(x.own(&x.root), 0, ^uint64(0))
	if right != nil {
		in := &inner{n: 2, count: weight(x.root) + weight(right)}
		in.low[1] = low
		in.kids[0], in.kids[1] = x.root, right
		x.root = &node{gen: x.gen, inner: in}
		x.height++
	}
	if !w.replaced {
		x.n++
	}
	return w.old, w.replaced
}

// weight is the number of pairs at or below a node.
func weight(l *node) int {
	if l.inner != nil {
		return l.inner.count
	}
	return l.n
}

// setting is one Set on its way down.
type setting struct {
	*index
	pos      uint64
	ref, old ref
	replaced bool
}

// set writes below a node that x owns. If the node had to be split it returns
// the new right half and the least position of it.
func (w *setting) set(l *node, lo, hi uint64) (right *node, low uint64) {
	if l.inner == nil {
		return w.setLeaf(l, lo, hi)
	}
	in := l.inner
	i := in.kid(w.pos)
	from, to := lo, hi
	if i > 0 {
		from = in.low[i]
	}
	if i+1 < in.n {
		to = in.low[i+1]
	}
	kid := w.own(&in.kids[i])
	if kid.inner == nil && kid.n == leafMax && w.lend(in, i) {
		return w.set(l, lo, hi)
	}
	split, at := w.set(kid, from, to)
	if !w.replaced {
		in.count++
	}
	if split == nil {
		return nil, 0
	}
	in.insert(i+1, at, split)
	if in.n < innerMax {
		return nil, 0
	}
	return w.splitInner(in)
}

// roomy is the number of pairs below which a leaf takes some of a full
// neighbour's.
const roomy = leafMax - 6

// lend evens out a full leaf, child i, with a neighbour that has room, and says
// whether there was one. Splitting only when the neighbours are full as well is
// what makes it a B* tree (Knuth, TAOCP 6.2.4): leaves are four fifths full with
// random keys, not two thirds.
func (w *setting) lend(in *inner, i int) bool {
	for _, left := range [...]int{i - 1, i} {
		if left < 0 || left+1 >= in.n || in.kids[left].n+in.kids[left+1].n > leafMax+roomy {
			continue
		}
		shareLeaf(w.own(&in.kids[left]), w.own(&in.kids[left+1]), &in.low[left+1])
		w.reshaped()
		return true
	}
	return false
}

func (in *inner) insert(i int, low uint64, kid *node) {
	copy(in.low[i+1:in.n+1], in.low[i:in.n])
	copy(in.kids[i+1:in.n+1], in.kids[i:in.n])
	in.low[i], in.kids[i] = low, kid
	in.n++
}

func (w *setting) splitInner(in *inner) (right *node, low uint64) {
	half := in.n / 2
	r := &inner{n: in.n - half}
	copy(r.low[:], in.low[half:in.n])
	copy(r.kids[:], in.kids[half:in.n])
	clear(in.kids[half:in.n])
	low, in.n = in.low[half], half
	for _, k := range r.kids[:r.n] {
		r.count += weight(k)
	}
	in.count -= r.count
	return &node{gen: w.gen, inner: r}, low
}

func (w *setting) setLeaf(l *node, lo, hi uint64) (right *node, low uint64) {
	i := l.place(w.pos, lo, hi)
	if i < l.n && l.pairs[i].pos == w.pos {
		w.old, w.replaced = l.pairs[i].ref, true
		l.pairs[i].ref = w.ref
		return nil, 0
	}
	if l.n < leafMax {
		l.insert(i, pair{w.pos, w.ref})
		return nil, 0
	}
	w.reshaped()
	half := l.n / 2
	right = &node{gen: w.gen, n: l.n - half}
	copy(right.pairs[:], l.pairs[half:l.n])
	l.n = half
	if i <= half {
		l.insert(i, pair{w.pos, w.ref})
	} else {
		right.insert(i-half, pair{w.pos, w.ref})
	}
	return right, right.pairs[0].pos
}

func (l *node) insert(i int, p pair) {
	copy(l.pairs[i+1:l.n+1], l.pairs[i:l.n])
	l.pairs[i] = p
	l.n++
}

// Delete takes a position out and returns its ref.
func (x *index) Delete(pos uint64) (old ref, ok bool) {
	if old, ok = x.Get(pos); !ok {
		return 0, false
	}
	x.remove(x.own(&x.root), pos)
	x.n--
	for x.root.inner != nil && x.root.inner.n == 1 {
		x.root = x.root.inner.kids[0]
		x.height--
	}
	return old, true
}

// remove takes a position that is there out below a node that x owns.
func (x *index) remove(l *node, pos uint64) {
	if l.inner == nil {
		i := l.place(pos, l.pairs[0].pos, l.pairs[l.n-1].pos)
		copy(l.pairs[i:l.n-1], l.pairs[i+1:l.n])
		l.n--
		return
	}
	in := l.inner
	i := in.kid(pos)
	kid := x.own(&in.kids[i])
	x.remove(kid, pos)
	in.count--
	if in.n > 1 && kid.thin() {
		x.rebalance(in, min(i, in.n-2))
	}
}

func (l *node) thin() bool {
	if l.inner != nil {
		return l.inner.n < innerMin
	}
	return l.n < leafMin
}

// rebalance joins children i and i+1, or shares what they have evenly.
func (x *index) rebalance(in *inner, i int) {
	a, b := x.own(&in.kids[i]), x.own(&in.kids[i+1])
	x.reshaped()
	joined := false
	if a.inner != nil {
		joined = shareInner(a.inner, b.inner, &in.low[i+1])
	} else {
		joined = shareLeaf(a, b, &in.low[i+1])
	}
	if joined {
		copy(in.low[i+1:], in.low[i+2:in.n])
		copy(in.kids[i+1:], in.kids[i+2:in.n])
		in.n--
		in.kids[in.n] = nil
	}
}

// shareLeaf moves the pairs of b to a if they fit with room to spare, else
// half of all to each; low is where b begins.
func shareLeaf(a, b *node, low *uint64) (joined bool) {
	var all [2 * leafMax]pair
	n := copy(all[:], a.pairs[:a.n])
	n += copy(all[n:], b.pairs[:b.n])
	if n <= leafMax*3/4 {
		a.n = copy(a.pairs[:], all[:n])
		return true
	}
	a.n = copy(a.pairs[:], all[:n/2])
	b.n = copy(b.pairs[:], all[n/2:n])
	*low = b.pairs[0].pos
	return false
}

func shareInner(a, b *inner, low *uint64) (joined bool) {
	var lows [2 * innerMax]uint64
	var kids [2 * innerMax]*node
	b.low[0] = *low
	n := copy(lows[:], a.low[:a.n])
	copy(kids[:], a.kids[:a.n])
	copy(lows[n:], b.low[:b.n])
	n += copy(kids[n:], b.kids[:b.n])
	half := n / 2
	if n <= innerMax*3/4 {
		half, joined = n, true
	}
	a.fill(lows[:half], kids[:half])
	b.fill(lows[half:n], kids[half:n])
	if !joined {
		*low = lows[half]
	}
	return joined
}

func (in *inner) fill(lows []uint64, kids []*node) {
	clear(in.kids[:])
	in.n, in.count = copy(in.low[:], lows), 0
	copy(in.kids[:], kids)
	for _, k := range kids {
		in.count += weight(k)
	}
}

// GetAt returns the i-th position in order, and its ref; i must be below Len.
func (x *index) GetAt(i int) (pos uint64, r ref, ok bool) {
	if i < 0 || i >= x.n {
		return 0, 0, false
	}
	l := x.root
	for l.inner != nil {
		k := 0
		for i >= weight(l.inner.kids[k]) {
			i -= weight(l.inner.kids[k])
			k++
		}
		l = l.inner.kids[k]
	}
	return l.pairs[i].pos, l.pairs[i].ref, true
}

// Scan calls yield for all positions in order until it returns false.
func (x *index) Scan(yield func(pos uint64, r ref) bool) { x.Ascend(0, yield) }

// Ascend calls yield for the positions from the first on, in order, until it
// returns false. The index must not be written meanwhile.
func (x *index) Ascend(from uint64, yield func(pos uint64, r ref) bool) {
	if x.root != nil {
		x.root.ascend(from, yield)
	}
}

func (l *node) ascend(from uint64, yield func(pos uint64, r ref) bool) bool {
	if in := l.inner; in != nil {
		for i := in.kid(from); i < in.n; i++ {
			if !in.kids[i].ascend(from, yield) {
				return false
			}
		}
		return true
	}
	i := 0
	for i < l.n && l.pairs[i].pos < from {
		i++
	}
	for ; i < l.n; i++ {
		if !yield(l.pairs[i].pos, l.pairs[i].ref) {
			return false
		}
	}
	return true
}
