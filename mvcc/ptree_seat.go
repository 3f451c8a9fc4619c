package mvcc

// pseatDepth is more inner nodes than lie above a leaf of a tree of a billion
// entries.
const pseatDepth = 6

// pseatMember is how many bytes a member may have for which a seat is kept.
const pseatMember = 64

// A pseat is the way to a member's leaf: which kid it goes on with on every inner
// node from the root down. It holds no pointers, so it stays good when nodes are
// copied, and keeps nothing from the collector. It is bad as soon as a node above
// the lowest has lost or got a kid, or the lowest one on the way has: see
// ptree.shape and pnode.shape.
type pseat struct {
	id     uint64 // of the object whose member it is; 0: none
	shape  uint64 // of the tree
	order  uint64 // of the member
	bottom uint32 // the shape of the lowest node
	slot   uint16 // where the entry is or would be, about
	depth  uint8  // nodes on the way
	way    [pseatDepth]uint8
}

// seated is a pseat with its member. The zero value is none.
type seated struct {
	pseat
	member []byte // a copy
}

// reshape says that a node that t owns has lost or got a kid.
func (t *ptree) reshape(nd *pnode) {
	if nd.bottom {
		if nd.shape++; nd.shape != 0 {
			return
		}
	}
	t.shape++
}

// step notes the kid that the way goes on with, unless there are too many.
func (s *pseat) step(i int) {
	if s.depth < pseatDepth {
		s.way[s.depth] = uint8(i)
	}
	s.depth++
}

// bottomOf returns the lowest node on the way, and which of its kids has the
// member; nil if there is no seat or the tree is no longer the one that it is
// of.
func (s *pseat) bottomOf(t *ptree) (nd *pnode, i int) {
	if s == nil || s.shape != t.shape || s.depth == 0 || s.depth > pseatDepth {
		return nil, 0
	}
	nd = t.root
	for _, i := range s.way[:s.depth-1] {
		nd = nd.kids[i].node
	}
	if nd.shape != s.bottom {
		return nil, 0
	}
	return nd, int(s.way[s.depth-1])
}

// GetBy is Get of the member of the seat; nil: there is none.
func (t *ptree) GetBy(seat *pseat, order uint64, member []byte) (value []byte, ok bool) {
	nd, i := seat.bottomOf(t)
	if nd == nil {
		return t.Get(order, member)
	}
	k, n := &nd.kids[i], nd.seps[i].count
	s, found := k.search(order, member, min(int(seat.slot), n), n)
	if !found {
		return nil, false
	}
	_, _, value = k.entry(s)
	return value, true
}

// SetBy is Set of the member of the seat; nil: there is none.
func (t *ptree) SetBy(seat *pseat, order uint64, member, value []byte) (replaced bool) {
	if nd, i := seat.bottomOf(t); nd != nil {
		w := psetting{ptree: t, order: order, member: member, value: value}
		if n := nd.seps[i].count; n > 0 && w.setBy(seat, n) {
			return w.replaced
		}
	}
	return t.Set(order, member, value)
}

// setBy sets by a seat that is good; false if the leaf, of n entries, has no
// room.
func (w *psetting) setBy(seat *pseat, n int) bool {
	var path [pseatDepth]*pnode
	nd := w.own(&w.root)
	last := int(seat.depth) - 1
	for d := range last {
		path[d] = nd
		nd = w.own(&nd.kids[seat.way[d]].node)
	}
	path[last] = nd
	k := &nd.kids[seat.way[last]]
	w.ownLeaf(k)
	if !w.put(k, min(int(seat.slot), n), n) {
		return false
	}
	if !w.replaced {
		for d := range last + 1 {
			path[d].seps[seat.way[d]].count++
		}
		w.n++
	}
	return true
}

// put writes the entry to a leaf of n entries; g is a guess of its slot. False:
// there is no room, and nothing has changed.
func (w *psetting) put(k *pkid, g, n int) bool {
	s, found := k.search(w.order, w.member, g, n)
	before := k.pleaf.bytes()
	switch {
	case found && !k.update(w.spare, s, w.member, w.value):
		return false
	case !found && !k.insert(w.spare, s, w.order, w.member, w.value):
		return false
	}
	w.replaced = found
	w.size += k.pleaf.bytes() - before
	return true
}
