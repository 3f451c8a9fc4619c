package mvcc

type pair struct {
	pos uint64
	ref ref
}

// leaf holds pairs in order.
type leaf struct {
	gen   uint64
	n     int
	pairs [leafMax]pair
}

// inner is an inner node: child i has the positions in [low[i], low[i+1]), the
// first and the last child whatever lies outside. Its children are all inner nodes
// or all leaves.
type inner struct {
	gen    uint64
	n      int // children
	count  int // pairs below
	low    [innerMax]uint64
	kids   [innerMax]*inner
	leaves [innerMax]*leaf
}

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

// bounds returns where child i of a node for [lo, hi] begins and ends.
func (in *inner) bounds(i int, lo, hi uint64) (from, to uint64) {
	if i > 0 {
		lo = in.low[i]
	}
	if i+1 < in.n {
		hi = in.low[i+1]
	}
	return lo, hi
}

// weight is the number of pairs in child i, or below it.
func (in *inner) weight(i int) int {
	if l := in.leaves[i]; l != nil {
		return l.n
	}
	return in.kids[i].count
}

// insertLeaf makes a leaf child i, from the position low on.
func (in *inner) insertLeaf(i int, low uint64, l *leaf) {
	copy(in.leaves[i+1:in.n+1], in.leaves[i:in.n])
	in.leaves[i] = l
	in.insertLow(i, low)
}

func (in *inner) insertKid(i int, low uint64, kid *inner) {
	copy(in.kids[i+1:in.n+1], in.kids[i:in.n])
	in.kids[i] = kid
	in.insertLow(i, low)
}

func (in *inner) insertLow(i int, low uint64) {
	copy(in.low[i+1:in.n+1], in.low[i:in.n])
	in.low[i] = low
	in.n++
}

// drop takes child i out.
func (in *inner) drop(i int) {
	copy(in.low[i:], in.low[i+1:in.n])
	copy(in.kids[i:], in.kids[i+1:in.n])
	copy(in.leaves[i:], in.leaves[i+1:in.n])
	in.n--
	in.kids[in.n], in.leaves[in.n] = nil, nil
}

// split moves half of the children to a new node, which begins at low.
func (in *inner) split(gen uint64) (right *inner, low uint64) {
	half := in.n / 2
	right = &inner{gen: gen}
	right.fill(in.low[half:in.n], in.kids[half:in.n], in.leaves[half:in.n])
	clear(in.kids[half:in.n])
	clear(in.leaves[half:in.n])
	in.n = half
	in.count -= right.count
	return right, right.low[0]
}

// fill gives the node these children and no others.
func (in *inner) fill(low []uint64, kids []*inner, leaves []*leaf) {
	clear(in.kids[copy(in.kids[:], kids):])
	clear(in.leaves[copy(in.leaves[:], leaves):])
	in.n, in.count = copy(in.low[:], low), 0
	for i := range in.n {
		in.count += in.weight(i)
	}
}

// shareInner is shareLeaf for inner nodes.
func shareInner(a, b *inner, low *uint64) (joined bool) {
	var lows [2 * innerMax]uint64
	var kids [2 * innerMax]*inner
	var leaves [2 * innerMax]*leaf
	b.low[0] = *low
	n := a.n + b.n
	copy(lows[copy(lows[:], a.low[:a.n]):], b.low[:b.n])
	copy(kids[copy(kids[:], a.kids[:a.n]):], b.kids[:b.n])
	copy(leaves[copy(leaves[:], a.leaves[:a.n]):], b.leaves[:b.n])
	half := n / 2
	if n <= innerMax*3/4 {
		half, joined = n, true
	}
	a.fill(lows[:half], kids[:half], leaves[:half])
	b.fill(lows[half:n], kids[half:n], leaves[half:n])
	if !joined {
		*low = lows[half]
	}
	return joined
}

// ascend calls yield for the pairs below from the position on until it returns
// false, and says whether it never did.
func (in *inner) ascend(from uint64, yield func(pos uint64, r ref) bool) bool {
	for i := in.kid(from); i < in.n; i++ {
		if l := in.leaves[i]; l != nil {
			if !l.ascend(from, yield) {
				return false
			}
		} else if !in.kids[i].ascend(from, yield) {
			return false
		}
	}
	return true
}

// place returns where pos is or would be among the pairs of a leaf whose
// positions lie in [lo, hi].
func (l *leaf) place(pos, lo, hi uint64) int {
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

func (l *leaf) insert(i int, p pair) {
	copy(l.pairs[i+1:l.n+1], l.pairs[i:l.n])
	l.pairs[i] = p
	l.n++
}

// remove takes a position out that is there.
func (l *leaf) remove(pos uint64) {
	i := l.place(pos, l.pairs[0].pos, l.pairs[l.n-1].pos)
	copy(l.pairs[i:l.n-1], l.pairs[i+1:l.n])
	l.n--
}

// shareLeaf moves the pairs of b to a if they fit with room to spare, else
// half of all to each; low is where b begins.
func shareLeaf(a, b *leaf, low *uint64) (joined bool) {
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

func (l *leaf) ascend(from uint64, yield func(pos uint64, r ref) bool) bool {
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
