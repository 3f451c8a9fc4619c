package mvcc

import "github.com/tidwall/btree"

// A ref says where a record is: slot of the segment table and offset in it.
type ref uint64

const (
	offsetBits = 20
	segmentMax = 1 << offsetBits // bytes of a full-sized segment

	// twinned is the index's value for a position that several keys share;
	// their refs are in the twins tree.
	twinned = ref(1) << 63
)

func makeRef(slot, off int) ref { return ref(slot)<<offsetBits | ref(off) }
func (r ref) slot() int         { return int(r >> offsetBits) }
func (r ref) off() int          { return int(r & (segmentMax - 1)) }

// twin is one of several keys at one position.
type twin struct {
	pos uint64
	ref ref
}

func lessTwin(a, b twin) bool { return a.pos < b.pos || a.pos == b.pos && a.ref < b.ref }

// tables is all that a reader needs of one keyspace. The live one is changed by
// its owner; a frozen one (the copy in a Version) is never changed.
type tables struct {
	hash    Hasher
	index   *index
	twins   *btree.BTreeG[twin]
	objects *btree.Map[uint64, *object]
	segs    [][]byte
	count   int // keys, twins included

	seated seated // a member of one of the objects; the owner's alone: see Warmer
}

func newTables(h Hasher) tables {
	return tables{
		hash:    h,
		index:   newIndex(),
		twins:   btree.NewBTreeGOptions(lessTwin, btree.Options{NoLocks: true}),
		objects: new(btree.Map[uint64, *object]),
	}
}

// freeze returns a copy that later writes to t do not reach: O(1).
func (t *tables) freeze() tables {
	return tables{hash: t.hash, index: t.index.Copy(), twins: t.twins.Copy(), objects: t.objects.Copy(), segs: t.segs, count: t.count}
}

func (t *tables) record(r ref) record { return decode(t.segs[r.slot()][r.off():]) }

// find returns the record of the key.
func (t *tables) find(pos uint64, key []byte) (r record, at ref, ok bool) {
	at, ok = t.index.Get(pos)
	if !ok {
		return r, 0, false
	}
	if at != twinned {
		r = t.record(at)
		return r, at, string(r.key()) == string(key)
	}
	ok = false
	t.eachTwin(pos, func(tw ref) bool {
		if c := t.record(tw); string(c.key()) == string(key) {
			r, at, ok = c, tw, true
		}
		return !ok
	})
	return r, at, ok
}

func (t *tables) eachTwin(pos uint64, yield func(ref) bool) {
	t.twins.Ascend(twin{pos: pos}, func(tw twin) bool { return tw.pos == pos && yield(tw.ref) })
}

// link puts a new key's ref into the index.
func (t *tables) link(pos uint64, at ref) {
	t.count++
	old, taken := t.index.Set(pos, at) // and not looked up first: it is all but never taken
	if !taken {
		return
	}
	t.index.Set(pos, twinned)
	t.twins.Set(twin{pos, at})
	if old != twinned {
		t.twins.Set(twin{pos, old})
	}
}

// relink changes a key's ref.
func (t *tables) relink(pos uint64, old, at ref) {
	if t.twins.Len() > 0 {
		if _, ok := t.twins.Delete(twin{pos, old}); ok {
			t.twins.Set(twin{pos, at})
			return
		}
	}
	t.index.Set(pos, at)
}

// unlink takes a key's ref out of the index.
func (t *tables) unlink(pos uint64, old ref) {
	t.count--
	if _, ok := t.twins.Delete(twin{pos, old}); !ok {
		t.index.Delete(pos)
		return
	}
	left, last := 0, ref(0)
	t.eachTwin(pos, func(r ref) bool { left, last = left+1, r; return left < 2 })
	if left == 1 {
		t.twins.Delete(twin{pos, last})
		t.index.Set(pos, last)
	}
}

// holds says whether the index has the ref at the position.
func (t *tables) holds(pos uint64, at ref) bool {
	got, ok := t.index.Get(pos)
	if ok && got == twinned {
		_, ok = t.twins.Get(twin{pos, at})
		return ok
	}
	return ok && got == at
}

// ascend calls yield for each key from the position on, in position order.
func (t *tables) ascend(from uint64, yield func(pos uint64, e Entry) bool) {
	t.index.Ascend(from, func(pos uint64, at ref) bool {
		if at != twinned {
			return yield(pos, t.entry(t.record(at), at))
		}
		more := true
		t.eachTwin(pos, func(tw ref) bool {
			more = yield(pos, t.entry(t.record(tw), tw))
			return more
		})
		return more
	})
}

// random returns a key at a uniformly chosen place of the index, by n, which
// is reduced to the number of positions; false if there are none.
func (t *tables) random(n uint64) (e Entry, ok bool) {
	places := t.index.Len()
	if places == 0 {
		return e, false
	}
	pos, at, _ := t.index.GetAt(int(n % uint64(places)))
	if at != twinned {
		return t.entry(t.record(at), at), true
	}
	twins := uint64(0)
	t.eachTwin(pos, func(ref) bool { twins++; return true })
	skip := n / uint64(places) % twins
	t.eachTwin(pos, func(tw ref) bool {
		e, ok = t.entry(t.record(tw), tw), skip == 0
		skip--
		return !ok
	})
	return e, ok
}
