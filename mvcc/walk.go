package mvcc

// A Key is a key as a walk over many keys sees it: without its value.
type Key struct {
	Pos    uint64
	Bytes  []byte // the keyspace's own: read-only, valid as long as the version
	Expire int64  // unix ms; 0: never
	Type   Type
}

// Expired says whether the key has expired at now (unix ms).
func (k *Key) Expired(now int64) bool { return k.Expire != 0 && k.Expire <= now }

// Records lie scattered over the segments, so that a walk that reads one after
// the other waits for memory most of the time. It takes a batch of refs from
// the index and reads two bytes of each, which the processor overlaps, before
// it looks at any.
const (
	walkBatch = 64
	walkLeast = 8
)

// Walk calls yield for each key at a position in [first, last], in the order
// of Ascend and exactly once each, until it returns false, and says whether it
// never did. Expired keys are among them. The caller expects to want about so
// many keys, which only affects the speed.
func (v *Version) Walk(first, last uint64, expect int64, yield func(Key) bool) bool {
	return v.walk(first, last, expect, yield)
}

// Len returns the number of keys of the view in one store, expired ones that
// were not yet removed included.
func (v *View) Len(store int) int {
	if v.frozen != nil {
		return v.frozen[store].count
	}
	keys, _ := v.space.Stores[store].Len(v.db)
	return keys
}

// Walk calls yield for each key of the view in one store, in position order,
// until it returns false. Expired keys are among them.
func (v *View) Walk(store int, yield func(Key) bool) {
	var t *tables
	if v.frozen != nil {
		t = &v.frozen[store].tables
	} else if k := v.space.Stores[store].dbs[v.db]; k != nil {
		t = &k.tables
	}
	if t != nil {
		t.walk(0, ^uint64(0), walkBatch, yield)
	}
}

func (t *tables) walk(first, last uint64, expect int64, yield func(Key) bool) bool {
	w := walk{tables: t, left: expect, yield: yield}
	w.plan()
	more := true
	t.index.Ascend(first, func(pos uint64, at ref) bool {
		if pos > last {
			return false
		}
		more = w.add(pos, at)
		return more
	})
	return more && w.flush()
}

// walk is the state of a Walk.
type walk struct {
	*tables
	yield func(Key) bool
	left  int64 // what the caller still expects
	size  int   // of the present batch
	n     int
	batch [walkBatch]twin
	sum   byte // keeps the early reads alive
}

// add takes in what the index has at the position.
func (w *walk) add(pos uint64, at ref) (more bool) {
	if at != twinned {
		return w.push(twin{pos, at})
	}
	more = true
	w.eachTwin(pos, func(tw ref) bool {
		more = w.push(twin{pos, tw})
		return more
	})
	return more
}

func (w *walk) push(tw twin) (more bool) {
	w.batch[w.n] = tw
	if w.n++; w.n < w.size {
		return true
	}
	w.left -= int64(w.size)
	w.plan()
	return w.flush()
}

// plan chooses the size of the next batch.
func (w *walk) plan() { w.size = int(min(max(w.left, walkLeast), walkBatch)) }

// flush yields the batch.
func (w *walk) flush() (more bool) {
	batch := w.batch[:w.n]
	w.n = 0
	for _, tw := range batch {
		b := w.segs[tw.ref.slot()][tw.ref.off():]
		w.sum += b[0] + b[min(walkTouch, klenOffset+int(b[klenOffset]&0x7f))] // never beyond the record
	}
	for _, tw := range batch {
		r := w.record(tw.ref)
		if !w.yield(Key{Pos: tw.pos, Bytes: r.key(), Expire: r.expire, Type: r.typ()}) {
			return false
		}
	}
	return true
}

// PrefixSpan returns the first and the last position that a key beginning with
// the prefix can have: those of its hash tag where the prefix holds a whole
// one, else all there are.
func (s *Space) PrefixSpan(prefix []byte) (first, last uint64) {
	if len(hashTag(prefix)) == len(prefix) {
		return 0, ^uint64(0)
	}
	first = s.Hash(prefix) & tagMask
	return first, first | ^tagMask
}
