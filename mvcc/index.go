package mvcc

import "sync/atomic"

const (
	leafMax  = 63 // pairs of a leaf, so that it is 1024 bytes
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
// it: a node belongs to the index whose generation it carries.
//
// Leaves hold no pointers, so that the collector marks them and does not read them:
// they are nearly all objects that there are.
type index struct {
	root   *inner // nil: nothing was ever set; else there is a leaf
	height int    // inner nodes above one whose children are leaves
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
	leaf   *leaf // nil: none
	pos    uint64
	lo, hi uint64
}

// reshaped says that leaves have been split, joined or copied.
func (x *index) reshaped() {
	x.shape++
	x.seat.leaf = nil
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

// descend returns the leaf for a position and the bounds of what it holds. The
// leaf itself is not read.
func (x *index) descend(pos uint64) (l *leaf, lo, hi uint64) {
	in, hi := x.root, ^uint64(0)
	for range x.height {
		i := in.kid(pos)
		lo, hi = in.bounds(i, lo, hi)
		in = in.kids[i]
	}
	i := in.kid(pos)
	lo, hi = in.bounds(i, lo, hi)
	return in.leaves[i], lo, hi
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

// ownLeaf makes the leaf one that x may write to.
func (x *index) ownLeaf(p **leaf) *leaf {
	if (*p).gen != x.gen {
		x.reshaped()
		*p = x.reuse.copyLeaf(*p, x)
	}
	return *p
}

func (x *index) ownInner(p **inner) *inner {
	if (*p).gen != x.gen {
		*p = x.reuse.copyInner(*p, x)
	}
	return *p
}

// Set puts a ref at the position and returns the one it replaced.
func (x *index) Set(pos uint64, r ref) (old ref, replaced bool) {
	if x.root == nil {
		x.root = &inner{gen: x.gen, n: 1}
		x.root.leaves[0] = &leaf{gen: x.gen}
	}
	if l := x.seat.leaf; l != nil && x.seat.pos == pos && l.gen == x.gen {
		if i := l.place(pos, x.seat.lo, x.seat.hi); i < l.n && l.pairs[i].pos == pos {
			old, l.pairs[i].ref = l.pairs[i].ref, r
			return old, true
		}
	}
	w := setting{index: x, pos: pos, ref: r}
	right, low := w.set(x.ownInner(&x.root), x.height, 0, ^uint64(0))
	if right != nil {
		in := &inner{gen: x.gen, n: 2, count: x.root.count + right.count}
		in.low[1] = low
		in.kids[0], in.kids[1] = x.root, right
		x.root = in
		x.height++
	}
	if !w.replaced {
		x.n++
	}
	return w.old, w.replaced
}

// setting is one Set on its way down.
type setting struct {
	*index
	pos      uint64
	ref, old ref
	replaced bool
}

// set writes below a node that x owns, which has so many inner nodes below it. If
// the node had to be split it returns the new right half and the least position of
// it.
func (w *setting) set(in *inner, below int, lo, hi uint64) (right *inner, low uint64) {
	i := in.kid(w.pos)
	from, to := in.bounds(i, lo, hi)
	if below == 0 {
		l := w.ownLeaf(&in.leaves[i])
		if l.n == leafMax && w.lend(in, i) {
			return w.set(in, below, lo, hi)
		}
		if split, at := w.setLeaf(l, from, to); split != nil {
			in.insertLeaf(i+1, at, split)
		}
	} else if split, at := w.set(w.ownInner(&in.kids[i]), below-1, from, to); split != nil {
		in.insertKid(i+1, at, split)
	}
	if !w.replaced {
		in.count++
	}
	if in.n < innerMax {
		return nil, 0
	}
	return in.split(w.gen)
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
		if left < 0 || left+1 >= in.n || in.leaves[left].n+in.leaves[left+1].n > leafMax+roomy {
			continue
		}
		shareLeaf(w.ownLeaf(&in.leaves[left]), w.ownLeaf(&in.leaves[left+1]), &in.low[left+1])
		w.reshaped()
		return true
	}
	return false
}

func (w *setting) setLeaf(l *leaf, lo, hi uint64) (right *leaf, low uint64) {
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
	right = &leaf{gen: w.gen, n: l.n - half}
	copy(right.pairs[:], l.pairs[half:l.n])
	l.n = half
	if i <= half {
		l.insert(i, pair{w.pos, w.ref})
	} else {
		right.insert(i-half, pair{w.pos, w.ref})
	}
	return right, right.pairs[0].pos
}

// Delete takes a position out and returns its ref.
func (x *index) Delete(pos uint64) (old ref, ok bool) {
	if old, ok = x.Get(pos); !ok {
		return 0, false
	}
	x.remove(x.ownInner(&x.root), x.height, pos)
	x.n--
	for x.height > 0 && x.root.n == 1 {
		x.root = x.root.kids[0]
		x.height--
	}
	return old, true
}

// remove takes a position that is there out below a node that x owns, which has so
// many inner nodes below it.
func (x *index) remove(in *inner, below int, pos uint64) {
	i := in.kid(pos)
	in.count--
	var thin bool
	if below == 0 {
		l := x.ownLeaf(&in.leaves[i])
		l.remove(pos)
		thin = l.n < leafMin
	} else {
		kid := x.ownInner(&in.kids[i])
		x.remove(kid, below-1, pos)
		thin = kid.n < innerMin
	}
	if thin && in.n > 1 {
		x.rebalance(in, below, min(i, in.n-2))
	}
}

// rebalance joins children i and i+1, or shares what they have evenly.
func (x *index) rebalance(in *inner, below, i int) {
	joined := false
	if below == 0 {
		joined = shareLeaf(x.ownLeaf(&in.leaves[i]), x.ownLeaf(&in.leaves[i+1]), &in.low[i+1])
	} else {
		joined = shareInner(x.ownInner(&in.kids[i]), x.ownInner(&in.kids[i+1]), &in.low[i+1])
	}
	x.reshaped()
	if joined {
		in.drop(i + 1)
	}
}

// GetAt returns the i-th position in order, and its ref; i must be below Len.
func (x *index) GetAt(i int) (pos uint64, r ref, ok bool) {
	if i < 0 || i >= x.n {
		return 0, 0, false
	}
	in := x.root
	for {
		k := 0
		for n := in.weight(k); i >= n; n = in.weight(k) {
			i -= n
			k++
		}
		if l := in.leaves[k]; l != nil {
			return l.pairs[i].pos, l.pairs[i].ref, true
		}
		in = in.kids[k]
	}
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
