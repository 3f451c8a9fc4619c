package mvcc

import "slices"

// A HashValue reads a hash as it is at one moment. Bytes that it returns are the
// keyspace's own: read-only, and valid as those of an Entry.
type HashValue struct{ members }

// Hash returns the entry's value, which must be a hash, without the fields that
// have expired at now (unix ms).
func (e *Entry) Hash(now int64) HashValue { return HashValue{e.members(now)} }

// Len returns the number of fields, those included that have expired and were
// not yet removed.
func (h *HashValue) Len() int {
	if h.big != nil {
		return h.big.count()
	}
	return flatCount(h.flat, 2)
}

// Get returns the value of a field.
func (h *HashValue) Get(field []byte) (value []byte, ok bool) {
	if h.big != nil {
		return h.get(field)
	}
	_, value, ok = flatFind(h.flat, field, 2)
	return value, ok
}

// Each yields the fields with their values until yield returns false.
func (h *HashValue) Each(yield func(field, value []byte) bool) {
	if h.big != nil {
		h.ascend(0, func(_ uint64, field, value []byte) bool { return yield(field, value) })
		return
	}
	for rest := h.flat; len(rest) > 0; {
		var field, value []byte
		field, rest = elem(rest)
		if value, rest = elem(rest); !yield(field, value) {
			return
		}
	}
}

// AscendPos is Each over a big hash in the order of positions, from one on.
func (h *HashValue) AscendPos(from uint64, yield func(pos uint64, field, value []byte) bool) {
	h.ascend(from, yield)
}

// At returns the i-th field, in no order that means anything; i is below Len. It
// may have expired.
func (h *HashValue) At(i int) (field, value []byte) {
	if h.big != nil {
		_, field, value = h.big.tree.At(i)
		return field, value
	}
	rest := h.flat
	for ; i >= 0; i-- {
		field, rest = elem(rest)
		value, rest = elem(rest)
	}
	return field, value
}

// A HashWriter edits the hash of a key, or one that is detached.
type HashWriter struct{ memberWriter }

// WriteHash opens a writer of the key, which holds a hash or is absent. It
// belongs to the Tx; one writer may be open at a time.
func (tx *Tx) WriteHash(key []byte) *HashWriter {
	tx.hashes.openMembers(tx, key, Hash, 2)
	return &tx.hashes
}

// EditHash is WriteHash of a key that Lookup has just found to hold a hash.
func (tx *Tx) EditHash(key []byte, e *Entry) *HashWriter {
	tx.hashes.openFound(tx, key, e, Hash, 2)
	return &tx.hashes
}

// NewHash returns the writer of a detached, empty hash.
func NewHash(s *Space) *HashWriter { return &HashWriter{memberWriter{detached(s, Hash), 2}} }

// Value reads what is written so far. It is valid until the next write.
func (w *HashWriter) Value() HashValue { return HashValue{w.state()} }

// Get returns the value of a field.
func (w *HashWriter) Get(field []byte) ([]byte, bool) {
	h := w.Value()
	return h.Get(field)
}

// Set sets a field and says whether it is new. The bytes are copied. An expiry
// of the field stays.
func (w *HashWriter) Set(field, value []byte) (created bool) {
	w.dropExpired(field)
	if w.obj != nil {
		pos, seat := w.place(field)
		created = !w.edit().(*collection).tree.SetBy(seat, pos, field, value)
		w.edited()
	} else {
		created = w.setFlat(field, value)
	}
	w.changed()
	l := w.limits
	w.grown(len(value) > l.HashValue || len(field) > l.HashValue || w.count() > l.HashEntries)
	return created
}

func (w *HashWriter) setFlat(field, value []byte) (created bool) {
	if len(field)+len(value) > flatMax {
		w.becomeTree()
		return w.Set(field, value)
	}
	s, old, ok := flatFind(w.flat, field, 2)
	if ok && len(old) == len(value) {
		copy(old, value)
		return false
	}
	if ok { // in its place, as fields keep their order
		from := s.to - uvarintLen(len(old)) - len(old)
		w.flat = slices.Delete(w.flat, from, s.to)
		tail := len(w.flat) - from
		w.flat = appendElem(w.flat, value)
		rotate(w.flat[from:], tail)
		return false
	}
	w.flat = appendElem(appendElem(w.flat, field), value)
	w.n++
	return true
}

// Delete removes a field and says whether it was there.
func (w *HashWriter) Delete(field []byte) bool { return w.remove(field) }
