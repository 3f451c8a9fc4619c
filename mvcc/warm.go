package mvcc

import "encoding/binary"

// A Warmer brings what lookups will need into the processor's caches. One
// lookup after the other waits for memory twice, for its leaf and for its
// record; a batch of independent reads waits about once for all. It is the idea
// of Valkey 8's key prefetching, without prefetch instructions: a processor
// that runs ahead has the reads of many loop turns under way at a time.
//
// Measured with batches of 32 of 1 M keys of 20 bytes (BenchmarkWarm): 1.9 and
// 1.3 µs a key against 4.2 and 2.7 µs in turns, on two busy cores.
type Warmer struct {
	todo    []warming
	members bool   // some have one
	sum     uint64 // keeps the reads from being optimised away
}

type warming struct {
	t         *tables // nil: it does not pay
	same      bool    // the key is that of the one before
	at        int     // where the position may be in the leaf
	rec       []byte
	leafShape uint64 // of the index
	seat

	// The member's position and page, if the value is big.
	member []byte
	pseat
	node     *pnode
	from, to uint64 // the bounds of what the node holds
	page     *pleaf
}

// warmFrom is the number of keys of a keyspace from which warming pays; a
// smaller one lies in the caches anyway.
const warmFrom = 4096

// A Place is where a key is or would be.
type Place struct {
	DB     int
	Pos    uint64
	Member []byte // of its value, to be looked up as well; nil: none
}

// Add takes in a key that is about to be looked up. It needs the ownership of
// the store from here to Run.
func (w *Warmer) Add(s *Space, p Place) {
	k := warming{seat: seat{pos: p.Pos}, member: p.Member}
	if ks := s.Stores[s.StoreOf(p.Pos)].dbs[p.DB]; ks != nil && (ks.count >= warmFrom || p.Member != nil && ks.count > 0) {
		k.t = &ks.tables
		w.members = w.members || p.Member != nil
		n := len(w.todo)
		k.same = n > 0 && w.todo[n-1].t == k.t && w.todo[n-1].pos == k.pos
	}
	w.todo = append(w.todo, k)
}

// Run touches what was added, and remembers the leaves for Seat until Forget.
func (w *Warmer) Run() {
	w.leaves()
	w.records()
	if w.members {
		w.pages()
	}
}

// Forget lets go of what was added, which would keep a flushed keyspace from the
// collector.
func (w *Warmer) Forget() {
	clear(w.todo)
	w.todo, w.members = w.todo[:0], false
}

// Seat spares the lookup of the position, the i-th that was added, the way down
// the index, and a writer of its member the way down to the member, as far as they
// are still what Run found. It needs the ownership of the store.
func (w *Warmer) Seat(i int, pos uint64) {
	if i >= len(w.todo) {
		return
	}
	k := &w.todo[i]
	if k.t == nil || k.pos != pos {
		return
	}
	if k.t.index.shape == k.leafShape {
		k.t.index.seat = k.seat
	}
	if k.id != 0 && len(k.member) <= pseatMember {
		k.t.seated.pseat = k.pseat
		k.t.seated.member = append(k.t.seated.member[:0], k.member...)
	}
}

// leaves finds every key's leaf, and then reads where the keys should be in them:
// apart, because a loop that does little else has more reads under way.
func (w *Warmer) leaves() {
	sum := uint64(0)
	for i := range w.todo {
		switch k := &w.todo[i]; {
		case k.same:
			k.leafShape, k.seat = w.todo[i-1].leafShape, w.todo[i-1].seat
		case k.t != nil:
			k.leafShape = k.t.index.shape
			k.leaf, k.lo, k.hi = k.t.index.descend(k.pos)
			k.at = guess(k.pos, k.lo, k.hi, leafMax*4/5)
		}
	}
	for i := range w.todo {
		if k := &w.todo[i]; k.t != nil && !k.same {
			sum += uint64(k.leaf.n) + k.leaf.pairs[k.at].pos
		}
	}
	w.sum += sum
}

// records finds every key's ref, and then reads the start of the records.
func (w *Warmer) records() {
	sum := uint64(0)
	for i := range w.todo {
		switch k := &w.todo[i]; {
		case k.same:
			k.rec = w.todo[i-1].rec
		case k.t != nil:
			k.rec = k.t.peek(k)
		}
	}
	for i := range w.todo {
		if b := w.todo[i].rec; len(b) > walkTouch && !w.todo[i].same {
			sum += uint64(b[0]) + uint64(b[walkTouch])
		}
	}
	w.sum += sum
}

// peek returns the segment's bytes from the key's record on, without reading
// them; nil if there is no record.
func (t *tables) peek(k *warming) []byte {
	at := k.leaf.place(k.pos, k.lo, k.hi)
	if at >= k.leaf.n || k.leaf.pairs[at].pos != k.pos {
		return nil
	}
	r := k.leaf.pairs[at].ref
	if r == twinned {
		return nil
	}
	return t.segs[r.slot()][r.off():]
}

// pages takes the members of big hashes, sets and sorted sets step by step down
// to their entries. Each loop reads what the one before has found, and little
// else, so that the reads of all members are under way together.
func (w *Warmer) pages() {
	w.trees()
	w.sum += touchPages(w.todo, false)
}

// touchPages is pages from the lowest inner nodes on. Of a page from which the
// entry will go, or to which it may come because it is not there, it also reads
// what will have to move. It returns a sum of what it has read.
func touchPages(todo []warming, going bool) (sum uint64) {
	for i := range todo {
		if nd := todo[i].node; nd != nil {
			sum += nd.seps[len(nd.seps)/2].low
		}
	}
	for i := range todo {
		if k := &todo[i]; k.node != nil {
			k.findPage()
		}
	}
	for i := range todo {
		if k := &todo[i]; k.page != nil {
			sum += uint64(k.page.page[0]) + k.page.order(int(k.slot))
		}
	}
	for i := range todo {
		if k := &todo[i]; k.page != nil {
			s := k.page.lower(k.order, int(k.slot), k.page.n())
			k.slot = uint16(s)
			sum += uint64(k.page.touch(s, going || s == k.page.n() || k.page.order(s) != k.order))
		}
	}
	return sum
}

// trees finds the lowest inner node above every member, without reading it.
func (w *Warmer) trees() {
	var c *collection
	var id uint64
	known := false // c and id are those of the key
	for i := range w.todo {
		k := &w.todo[i]
		known = known && k.same
		if k.member == nil || len(k.rec) == 0 {
			continue
		}
		if !known {
			c, id = k.t.collection(k.rec)
			known = true
		}
		if c != nil {
			k.pseat = pseat{id: id, order: c.hash(k.member)}
			k.findBottom(c.tree)
		}
	}
}

// collection returns the big value of a record and its object's id; nil if it is
// no big hash, set or sorted set.
func (t *tables) collection(rec []byte) (c *collection, id uint64) {
	r := decode(rec)
	if r.encoding() != Object {
		return nil, 0
	}
	id = binary.LittleEndian.Uint64(r.value())
	o, _ := t.objects.Get(id)
	c, _ = o.val.(*collection)
	return c, id
}

// findBottom goes down to the lowest inner node above the member.
func (k *warming) findBottom(t *ptree) {
	k.shape = t.shape
	nd, lo, hi := t.root, uint64(0), ^uint64(0)
	for left := nd; !left.bottom; left = left.kids[0].node { // asks none of the nodes that are not read yet
		i := nd.find(k.order, k.member)
		lo, hi = nd.bounds(i, lo, hi)
		k.step(i)
		nd = nd.kids[i].node
	}
	k.node, k.from, k.to = nd, lo, hi
}

// findPage finds the leaf of the member, without reading its page.
func (k *warming) findPage() {
	i := k.node.find(k.order, k.member)
	k.step(i)
	k.bottom = k.node.shape
	lo, hi := k.node.bounds(i, k.from, k.to)
	if n := k.node.seps[i].count; n > 0 {
		k.page, k.slot = &k.node.kids[i].pleaf, uint16(guess(k.order, lo, hi, n))
	}
}

// touch reads a byte of the entry of a slot, or of the last one, and if all is
// set of every cache line from there to the heap's beginning.
func (l *pleaf) touch(s int, all bool) (sum byte) {
	at := len(l.page) - l.end(min(s, l.n()-1))
	sum = l.page[at]
	if all {
		for i := len(l.page) - l.heap(); i < at; i += 64 {
			sum += l.page[i]
		}
	}
	return sum
}
