package mvcc

// A ZSetValue reads a sorted set as it is at one moment: members in the order of
// (score, member). Bytes that it returns are the keyspace's own: read-only, and
// valid as those of an Entry.
type ZSetValue struct{ members }

// ZSet returns the entry's value, which must be a sorted set. Members that have
// expired at now (unix ms) have no score, but keep their rank until they are
// removed.
func (e *Entry) ZSet(now int64) ZSetValue { return ZSetValue{e.members(now)} }

// Len returns the number of members, those included that have expired and were
// not yet removed.
func (z *ZSetValue) Len() int {
	if z.big != nil {
		return z.big.count()
	}
	return flatZCount(z.flat)
}

// Score returns the score of a member.
func (z *ZSetValue) Score(member []byte) (float64, bool) {
	if z.big != nil {
		v, ok := z.get(member)
		if !ok {
			return 0, false
		}
		return decodeScore(v), true
	}
	_, e, ok := flatZFind(z.flat, member)
	return e.score, ok
}

// Rank returns how many members stand in front of a member.
func (z *ZSetValue) Rank(member []byte) (i int, ok bool) {
	if z.big == nil {
		i, _, ok = flatZFind(z.flat, member)
		return i, ok
	}
	score, ok := z.Score(member)
	if !ok {
		return 0, false
	}
	i, _ = z.big.scores.Rank(scoreOrder(score), member)
	return i, true
}

// At returns the member of rank i, which is below Len.
func (z *ZSetValue) At(i int) (member []byte, score float64) {
	if z.big != nil {
		order, member, note := z.big.scores.At(i)
		return member, noteScore(order, note)
	}
	z.Ascend(i, func(m []byte, s float64) bool {
		member, score = m, s
		return false
	})
	return member, score
}

// Ascend yields the members from rank i up until yield returns false.
func (z *ZSetValue) Ascend(i int, yield func(member []byte, score float64) bool) {
	if z.big == nil {
		flatZ(z.flat, func(at int, e flatScored) bool { return at < i || yield(e.member, e.score) })
		return
	}
	z.big.scores.Ascend(i, z.visit(yield))
}

// Descend yields the members from rank i down until yield returns false.
func (z *ZSetValue) Descend(i int, yield func(member []byte, score float64) bool) {
	if z.big != nil {
		z.big.scores.Descend(i, z.visit(yield))
		return
	}
	all := make([]flatScored, 0, i+1)
	flatZ(z.flat, func(at int, e flatScored) bool {
		if at <= i {
			all = append(all, e)
		}
		return at < i
	})
	for ; i >= 0 && i < len(all); i-- {
		if !yield(all[i].member, all[i].score) {
			return
		}
	}
}

func (z *ZSetValue) visit(yield func(member []byte, score float64) bool) func(uint64, []byte, []byte) bool {
	if z.big.ttl == nil {
		return func(order uint64, member, note []byte) bool { return yield(member, noteScore(order, note)) }
	}
	return func(order uint64, member, note []byte) bool {
		return z.big.gone(z.hash(member), member, z.now) || yield(member, noteScore(order, note))
	}
}

// RankOfScore returns how many members have a score below x, or up to x
// inclusive if after.
func (z *ZSetValue) RankOfScore(x float64, after bool) (n int) {
	if z.big != nil {
		order := scoreOrder(x)
		if after {
			order++ // no score has the greatest order
		}
		n, _ = z.big.scores.Rank(order, nil)
		return n
	}
	flatZ(z.flat, func(_ int, e flatScored) bool {
		if e.score > x || e.score == x && !after {
			return false
		}
		n++
		return true
	})
	return n
}

// RankOfLex returns how many members stand in front of the member, or up to it
// inclusive if after, in a sorted set in which all scores are equal.
func (z *ZSetValue) RankOfLex(member []byte, after bool) (n int) {
	if z.big != nil {
		order, _, _ := z.big.scores.At(0)
		n, found := z.big.scores.Rank(order, member)
		if found && after {
			n++
		}
		return n
	}
	flatZ(z.flat, func(_ int, e flatScored) bool {
		if m := string(e.member); m > string(member) || m == string(member) && !after {
			return false
		}
		n++
		return true
	})
	return n
}

// AscendPos yields the members of a big sorted set in the order of positions,
// from one on.
func (z *ZSetValue) AscendPos(from uint64, yield func(pos uint64, member []byte, score float64) bool) {
	z.ascend(from, func(pos uint64, member, v []byte) bool { return yield(pos, member, decodeScore(v)) })
}

// Cursor returns a cursor over the members by position.
func (z *ZSetValue) Cursor() ZSetCursor { return ZSetCursor{z.cursor(ZSet)} }

// A ZSetWriter edits the sorted set of a key, or one that is detached.
type ZSetWriter struct {
	memberWriter
	room [64]byte // for a member that is cut
}

// WriteZSet opens a writer of the key, which holds a sorted set or is absent. It
// belongs to the Tx; one writer may be open at a time.
func (tx *Tx) WriteZSet(key []byte) *ZSetWriter {
	tx.zsets.openMembers(tx, key, ZSet, 1)
	return &tx.zsets
}

// EditZSet is WriteZSet of a key that Lookup has just found to hold a sorted set.
func (tx *Tx) EditZSet(key []byte, e *Entry) *ZSetWriter {
	tx.zsets.openFound(tx, key, e, ZSet, 1)
	return &tx.zsets
}

// NewZSet returns the writer of a detached, empty sorted set.
func NewZSet(s *Space) *ZSetWriter {
	return &ZSetWriter{memberWriter: memberWriter{detached(s, ZSet), 1}}
}

// Value reads what is written so far. It is valid until the next write.
func (w *ZSetWriter) Value() ZSetValue { return ZSetValue{w.state()} }

// Score returns the score of a member.
func (w *ZSetWriter) Score(member []byte) (float64, bool) {
	z := w.Value()
	return z.Score(member)
}

// Set gives a member the score, which is not NaN, and says whether the member
// is new, or else whether its score changed. The bytes are copied.
func (w *ZSetWriter) Set(member []byte, score float64) (added, changed bool) {
	w.dropExpired(member)
	if w.obj == nil && len(member) > flatMax {
		w.becomeTree()
	}
	if w.obj != nil {
		added, changed = w.setBig(member, score)
	} else {
		added, changed = w.setFlat(member, score)
	}
	if !added && !changed {
		return false, false
	}
	w.changed()
	l := w.limits
	w.grown(added && (len(member) > l.ZSetValue || w.count() > l.ZSetEntries))
	return added, changed
}

func (w *ZSetWriter) setBig(member []byte, score float64) (added, changed bool) {
	pos, seat := w.place(member)
	v, there := w.tree().tree.GetBy(seat, pos, member)
	if there && decodeScore(v) == score {
		return false, false
	}
	c := w.edit().(*collection)
	if there {
		c.scores.Delete(scoreOrder(decodeScore(v)), member)
	}
	var b [scoreLen]byte
	c.tree.SetBy(seat, pos, member, encodeScore(&b, score))
	c.scores.Set(scoreOrder(score), member, scoreNote(score))
	w.edited()
	return !there, there
}

// add puts a member into both trees; in the second it must not be.
func (c *collection) add(member []byte, score float64) {
	var b [scoreLen]byte
	c.tree.Set(c.hash(member), member, encodeScore(&b, score))
	c.scores.Set(scoreOrder(score), member, scoreNote(score))
}

func (w *ZSetWriter) setFlat(member []byte, score float64) (added, changed bool) {
	_, e, there := flatZFind(w.flat, member)
	switch {
	case there && e.score == score:
		return false, false
	case there:
		w.flat = flatCut(w.flat, e.flatSpan)
		w.n--
	}
	w.flat = flatZInsert(w.flat, member, score)
	w.n++
	return !there, there
}

// Remove removes a member and says whether it was there.
func (w *ZSetWriter) Remove(member []byte) bool { return w.remove(member) }

// RemoveRange removes the members of the ranks [lo, hi), which are below Len,
// and returns how many they were.
func (w *ZSetWriter) RemoveRange(lo, hi int) int {
	if lo >= hi {
		return 0
	}
	if w.obj == nil {
		w.cutFlat(lo, hi)
	} else {
		w.cutBig(lo, hi)
	}
	w.changed()
	if w.tx != nil {
		w.tx.Changes += int64(hi-lo) - 1
	}
	return hi - lo
}

func (w *ZSetWriter) cutFlat(lo, hi int) {
	s := flatSpan{-1, 0}
	flatZ(w.flat, func(i int, e flatScored) bool {
		if i == lo {
			s.from = e.from
		}
		s.to = e.to
		return i+1 < hi
	})
	w.flat = flatCut(w.flat, s)
	w.n -= hi - lo
}

func (w *ZSetWriter) cutBig(lo, hi int) {
	c := w.edit().(*collection)
	if hi-lo == 1 {
		c.cutOne(lo, w.room[:0])
	} else {
		c.cutRange(lo, hi)
	}
	w.edited()
}

// cutOne is cutBig of one rank; the member is put into the room for a moment.
func (c *collection) cutOne(rank int, room []byte) {
	_, member := c.scores.DeleteAt(rank, room)
	c.cutMember(member)
	c.popped(rank)
}

func (c *collection) cutRange(lo, hi int) {
	i := lo
	c.scores.Ascend(lo, func(_ uint64, member, _ []byte) bool {
		if (i-lo)%aheadMax == 0 {
			c.readAhead(i, min(hi-i, aheadMax))
		}
		c.cutMember(member)
		i++
		return i < hi
	})
	c.scores.DeleteRange(lo, hi)
}

// cutMember removes a member but for its score.
func (c *collection) cutMember(member []byte) {
	pos := c.hash(member)
	if c.ttl != nil {
		c.ttl.set(pos, member, 0)
	}
	c.tree.Delete(pos, member)
}

// aheadMax is how many members are read ahead together. Those of two leaves of
// the tree by score would be pushed out of the caches by other work.
const aheadMax = 32

// popped reads the next members ahead after a pop of that rank, if it was at an
// end: who pops one pops many. One after the other would wait for its place in
// the tree by position, a third of a ZPOPMIN's time.
func (c *collection) popped(rank int) {
	size := c.count()
	switch {
	case c.ahead > 0:
		c.ahead--
	case rank == 0:
		c.ahead = min(aheadMax, size)
		c.readAhead(0, c.ahead)
	case rank == size:
		c.ahead = min(aheadMax, size)
		c.readAhead(size-c.ahead, c.ahead)
	}
}

// readAhead reads the entries by position of the n members from a rank up, side
// by side.
func (c *collection) readAhead(rank, n int) {
	var room [aheadMax]warming
	todo := room[:0]
	c.scores.Ascend(rank, func(_ uint64, member, _ []byte) bool {
		k := warming{member: member, pseat: pseat{order: c.hash(member)}}
		k.findBottom(c.tree)
		todo = append(todo, k)
		return len(todo) < n
	})
	c.sum += touchPages(todo, true)
}
