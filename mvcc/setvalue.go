package mvcc

// A SetValue reads a set as it is at one moment. Bytes that it returns are the
// keyspace's own: read-only, and valid as those of an Entry.
type SetValue struct{ members }

// Set returns the entry's value, which must be a set, without the members that
// have expired at now (unix ms).
func (e *Entry) Set(now int64) SetValue { return SetValue{e.members(now)} }

// Len returns the number of members, those included that have expired and were
// not yet removed.
func (s *SetValue) Len() int {
	if s.big != nil {
		return s.big.count()
	}
	return flatCount(s.flat, 1)
}

// Has says whether the member is there.
func (s *SetValue) Has(member []byte) (ok bool) {
	if s.big != nil {
		_, ok = s.get(member)
		return ok
	}
	_, _, ok = flatFind(s.flat, member, 1)
	return ok
}

// Each yields the members until yield returns false.
func (s *SetValue) Each(yield func(member []byte) bool) {
	if s.big != nil {
		s.ascend(0, func(_ uint64, member, _ []byte) bool { return yield(member) })
		return
	}
	for rest := s.flat; len(rest) > 0; {
		var member []byte
		if member, rest = elem(rest); !yield(member) {
			return
		}
	}
}

// AscendPos is Each over a big set in the order of positions, from one on.
func (s *SetValue) AscendPos(from uint64, yield func(pos uint64, member []byte) bool) {
	s.ascend(from, func(pos uint64, member, _ []byte) bool { return yield(pos, member) })
}

// At returns the i-th member, in no order that means anything; i is below Len.
// It may have expired.
func (s *SetValue) At(i int) (member []byte) {
	if s.big != nil {
		_, member, _ = s.big.tree.At(i)
		return member
	}
	for rest := s.flat; i >= 0; i-- {
		member, rest = elem(rest)
	}
	return member
}

// Cursor returns a cursor over the members.
func (s *SetValue) Cursor() SetCursor { return s.cursor(Set) }

// A SetWriter edits the set of a key, or one that is detached.
type SetWriter struct{ memberWriter }

// WriteSet opens a writer of the key, which holds a set or is absent. It belongs
// to the Tx; one writer may be open at a time.
func (tx *Tx) WriteSet(key []byte) *SetWriter {
	tx.sets.openMembers(tx, key, Set, 1)
	return &tx.sets
}

// EditSet is WriteSet of a key that Lookup has just found to hold a set.
func (tx *Tx) EditSet(key []byte, e *Entry) *SetWriter {
	tx.sets.openFound(tx, key, e, Set, 1)
	return &tx.sets
}

// NewSet returns the writer of a detached, empty set.
func NewSet(s *Space) *SetWriter { return &SetWriter{memberWriter{detached(s, Set), 1}} }

// Value reads what is written so far. It is valid until the next write.
func (w *SetWriter) Value() SetValue { return SetValue{w.state()} }

// Has says whether the member is there.
func (w *SetWriter) Has(member []byte) bool {
	s := w.Value()
	return s.Has(member)
}

// Add adds a member and says whether it is new. The bytes are copied.
func (w *SetWriter) Add(member []byte) bool {
	w.dropExpired(member)
	if w.obj != nil {
		return w.addBig(member)
	}
	if _, _, ok := flatFind(w.flat, member, 1); ok {
		return false
	}
	if len(member) > flatMax {
		w.becomeTree()
		return w.addBig(member)
	}
	w.flat = appendElem(w.flat, member)
	w.n++
	w.added(member)
	return true
}

func (w *SetWriter) addBig(member []byte) bool {
	pos, seat := w.place(member)
	if !w.unshared() {
		if _, ok := w.tree().tree.GetBy(seat, pos, member); ok {
			return false
		}
	}
	if w.edit().(*collection).tree.SetBy(seat, pos, member, nil) {
		return false
	}
	w.edited()
	w.added(member)
	return true
}

// added counts a new member. A set is an intset as long as all members are
// integers and few.
func (w *SetWriter) added(member []byte) {
	w.changed()
	packed := w.enc == Flat
	if w.obj != nil {
		packed = w.tree().packed
	}
	if packed {
		_, integer := canonicalInt(member)
		packed = integer && w.count() <= w.limits.SetInts
	}
	w.grown(!packed)
}

// Remove removes a member and says whether it was there.
func (w *SetWriter) Remove(member []byte) bool { return w.remove(member) }

// Pop removes the i-th member, where SetValue.At finds it, and appends it to
// dst. It may have expired.
func (w *SetWriter) Pop(i int, dst []byte) []byte {
	if w.obj == nil {
		s := w.Value()
		from := len(dst)
		dst = append(dst, s.At(i)...)
		w.remove(dst[from:])
		return dst
	}
	c := w.edit().(*collection)
	pos, member := c.tree.DeleteAt(i, dst)
	if c.ttl != nil {
		c.ttl.set(pos, member[len(dst):], 0)
	}
	w.edited()
	w.changed()
	return member
}
