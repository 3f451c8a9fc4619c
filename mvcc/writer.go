package mvcc

import (
	"encoding/binary"
	"slices"
)

// A writer is what the writers of collections have in common: a value under
// edit, of a key or detached. A flat value is edited in a copy and put back by
// close; an object is edited where it is.
//
// While a writer of a Tx is open, no other method of the Tx may be called. Other
// transactions may run on other keys, and freezes may happen (a long write
// pauses): the writer looks at the epoch before each write.
type writer struct {
	tx     *Tx       // nil: detached
	k      *keyspace // nil: detached
	hash   Hasher
	limits *Limits
	typ    Type
	key    []byte
	expire int64

	there bool // the key has a record
	dirty bool // the value differs from what it was
	enc   Encoding
	flat  []byte // the elements, if obj is nil
	n     int    // how many they are
	obj   *object
	id    uint64 // of an object that is in the keyspace; 0: not yet
	size  int64  // of the object, as the keyspace has accounted for it
}

// Detached is a value that belongs to no key yet: see Tx.PutValue.
type Detached interface{ base() *writer }

func (w *writer) base() *writer { return w }

func detached(s *Space, t Type) writer {
	return writer{hash: s.Hash, limits: s.Limits(), typ: t, enc: Flat}
}

// open begins to edit the key's value, which is of the type or absent. The
// Tx's scratch is the writer's until close.
func (w *writer) open(tx *Tx, key []byte, t Type) {
	p := tx.place(key)
	*w = writer{tx: tx, k: p.k, hash: tx.space.Hash, limits: tx.space.Limits(), typ: t, key: key, enc: Flat, flat: tx.scratch[:0]}
	r, _, ok := p.k.find(p.pos, key)
	if !ok {
		return
	}
	if r.typ() != t {
		panic("mvcc: a " + r.typ().String() + " is written as a " + t.String())
	}
	w.there, w.expire, w.enc = true, r.expire, r.encoding()
	if w.enc == Object {
		w.id, w.obj = p.k.object(&r)
		w.size = w.obj.bytes()
		return
	}
	w.flat = append(w.flat, r.value()...)
}

// found is open of a key that Lookup has just found to hold the type.
func (w *writer) found(tx *Tx, key []byte, e *Entry, t Type) {
	*w = writer{
		tx: tx, k: tx.place(key).k, hash: tx.space.Hash, limits: tx.space.Limits(), typ: t, key: key,
		there: true, expire: e.rec.expire, enc: e.rec.encoding(), obj: e.obj, flat: tx.scratch[:0],
	}
	if w.obj != nil {
		w.id, w.size = binary.LittleEndian.Uint64(e.rec.value()), e.obj.bytes()
	} else {
		w.flat = append(w.flat, e.rec.value()...)
	}
}

// changed counts a change.
func (w *writer) changed() {
	w.dirty = true
	if w.tx != nil {
		w.tx.Changes++
	}
}

// edit returns the object's value, to be written.
func (w *writer) edit() value {
	if w.id == 0 {
		return w.obj.val
	}
	w.k.cached, w.k.splicing = nil, w.tx.splicing
	if m := w.obj.mutable(w.k.epoch); m != w.obj {
		w.obj = m
		w.k.setObject(w.id, m)
	}
	return w.obj.val
}

// unshared says that no version sees the object, so that a write which turns
// out to change nothing copies nothing.
func (w *writer) unshared() bool { return w.id == 0 || w.obj.epoch == w.k.epoch }

// edited keeps account after an edit.
func (w *writer) edited() {
	if w.id != 0 {
		n := w.obj.bytes()
		w.k.objSize += n - w.size
		w.size = n
	}
}

// become makes the flat value an object with the value v, which holds the same.
func (w *writer) become(v value) { w.obj, w.flat, w.dirty = &object{val: v}, w.flat[:0], true }

// close puts the result into the keyspace: a key without elements is removed,
// unless it keeps (a stream does).
func (w *writer) close(empty bool) {
	w.edited() // a write that changed nothing may yet have copied what was shared
	tx := w.tx
	switch {
	case empty && w.there:
		p := tx.place(w.key)
		if r, at, ok := p.k.find(p.pos, w.key); ok {
			p.k.remove(p.pos, &r, at)
		}
	case empty:
	case w.obj == nil && w.dirty:
		copy(tx.put(w.key, w.typ, w.enc, w.expire, len(w.flat)), w.flat)
	case w.obj != nil && w.id == 0:
		w.obj.epoch = w.k.epoch
		tx.putObject(w.key, w.typ, w.obj, w.expire)
	case w.obj != nil:
		w.k.noteDue(w.id, w.obj, w.obj.nextDue())
		if w.dirty {
			w.k.touch(w.obj.pos)
		}
	}
	if cap(w.flat) > cap(tx.scratch) {
		tx.scratch = w.flat
	}
	*w = writer{}
}

// PutValue gives the key a detached value in place of what it had: O(1) for a
// big one. The value is the keyspace's from then on, and its writer must not be
// used again. An empty collection deletes the key; an empty stream does not. The
// expiry is unix ms, 0 for never.
func (tx *Tx) PutValue(key []byte, v Detached, expire int64) {
	w := v.base()
	switch {
	case w.obj != nil && (w.typ == Stream || w.obj.val.count() > 0):
		tx.Changes++
		w.obj.epoch = tx.place(key).k.epoch
		tx.putObject(key, w.typ, w.obj, expire)
	case w.obj == nil && len(w.flat) > 0:
		tx.Changes++
		copy(tx.put(key, w.typ, w.enc, expire, len(w.flat)), w.flat)
	default:
		tx.Delete(key)
	}
	*w = writer{}
}

// memberWriter is what the writers of hashes, sets and sorted sets share.
type memberWriter struct {
	writer
	each int // elements of an entry in the flat form
}

func (w *memberWriter) tree() *collection { return w.obj.val.(*collection) }

// place returns the position of a member of the object, and its seat if a Warmer
// has found it; else nil.
func (w *memberWriter) place(member []byte) (uint64, *pseat) {
	if w.id != 0 {
		if s := &w.k.seated; s.id == w.id && string(s.member) == string(member) {
			return s.order, &s.pseat
		}
	}
	return w.hash(member), nil
}

// count returns the number of members.
func (w *memberWriter) count() int {
	if w.obj != nil {
		return w.tree().count()
	}
	return w.n
}

// openMembers begins to edit, and removes what members have expired.
func (w *memberWriter) openMembers(tx *Tx, key []byte, t Type, each int) {
	w.open(tx, key, t)
	w.begin(each)
}

// openFound is openMembers of a key that Lookup has just found.
func (w *memberWriter) openFound(tx *Tx, key []byte, e *Entry, t Type, each int) {
	w.found(tx, key, e, t)
	w.begin(each)
}

// begin counts a flat value, and removes what members have expired.
func (w *memberWriter) begin(each int) {
	w.each = each
	switch tx, key, t := w.tx, w.key, w.typ; {
	case w.obj == nil && t == ZSet:
		w.n = flatZCount(w.flat)
	case w.obj == nil:
		w.n = flatCount(w.flat, each)
	case w.obj.due != 0 && w.obj.due <= tx.Now:
		limit := purgeLimit
		if t == ZSet {
			limit = w.count() // ranks must not count what is gone: ZPOPMIN says how many it will send
		}
		w.purge(limit)
		if w.count() == 0 { // the key went with them
			w.Close()
			w.open(tx, key, t)
		}
	}
}

// purgeLimit bounds how many expired members a write of a hash or set removes
// before its own work; the owner's duties remove the rest.
const purgeLimit = 256

// purge removes at most limit members that have expired, and says whether
// there are more.
func (w *memberWriter) purge(limit int) (more bool) {
	for ; limit > 0; limit-- {
		c := w.tree()
		at := c.ttl.next()
		if at == 0 || at > w.tx.Now {
			return false
		}
		_, member, _ := c.ttl.due.At(0)
		w.drop(slices.Clone(member))
	}
	return true
}

// drop removes a member that has expired. It keeps the bytes.
func (w *memberWriter) drop(gone []byte) {
	w.tx.Expired = append(w.tx.Expired, Removed{DB: w.tx.db, Key: slices.Clone(w.key), Type: w.typ, Member: gone})
	w.edit().(*collection).remove(gone)
	w.edited()
	w.dirty = true
}

// dropExpired removes the member if it has expired, so that a write to it finds
// none: there may be more than open purged.
func (w *memberWriter) dropExpired(member []byte) {
	if w.obj == nil || w.tx == nil {
		return
	}
	if c := w.tree(); c.ttl != nil && c.gone(w.hash(member), member, w.tx.Now) {
		w.drop(slices.Clone(member))
	}
}

// grown makes an object of a flat value that has become too long, and gives up
// the name of a packed one if told so.
func (w *memberWriter) grown(unpack bool) {
	if unpack {
		w.unpack()
	}
	if w.obj == nil && len(w.flat) > flatMax {
		w.becomeTree()
	}
}

func (w *memberWriter) unpack() {
	switch {
	case w.obj == nil:
		w.enc = FlatTable
	case w.tree().packed:
		w.edit().(*collection).packed = false
	}
}

func (w *memberWriter) becomeTree() {
	c := newCollection(w.typ, w.hash)
	c.packed = w.enc == Flat
	if w.typ == ZSet {
		flatZ(w.flat, func(_ int, e flatScored) bool {
			c.add(e.member, e.score)
			return true
		})
	} else {
		for rest := w.flat; len(rest) > 0; {
			var member, v []byte
			if member, rest = elem(rest); w.each == 2 {
				v, rest = elem(rest)
			}
			c.tree.Set(c.hash(member), member, v)
		}
	}
	w.become(c)
}

// remove takes a member out.
func (w *memberWriter) remove(member []byte) bool {
	w.dropExpired(member)
	if w.obj != nil {
		if c := w.tree(); !w.unshared() {
			if _, ok := c.tree.Get(c.hash(member), member); !ok {
				return false
			}
		}
		if !w.edit().(*collection).remove(member) {
			return false
		}
		w.edited()
		w.changed()
		return true
	}
	s, ok := w.findFlat(member)
	if !ok {
		return false
	}
	w.flat = flatCut(w.flat, s)
	w.n--
	w.changed()
	return true
}

func (w *memberWriter) findFlat(member []byte) (flatSpan, bool) {
	if w.typ == ZSet {
		_, e, ok := flatZFind(w.flat, member)
		return e.flatSpan, ok
	}
	s, _, ok := flatFind(w.flat, member, w.each)
	return s, ok
}

// SetExpireAt sets when a member expires (unix ms; 0: never) and says whether
// it is there.
func (w *memberWriter) SetExpireAt(member []byte, at int64) (ok bool) {
	w.dropExpired(member)
	if w.obj == nil {
		if _, ok = w.findFlat(member); !ok || at == 0 {
			return ok
		}
		w.becomeTree()
	}
	c := w.tree()
	pos := c.hash(member)
	if _, ok = c.tree.Get(pos, member); !ok || c.ttl.get(pos, member) == at {
		return ok
	}
	c = w.edit().(*collection)
	if c.ttl == nil {
		c.ttl = newMemberTTL()
	}
	c.ttl.set(pos, member, at)
	w.edited()
	w.changed()
	return true
}

// ExpireAt returns when a member expires, unix ms; 0: never, or not there.
func (w *memberWriter) ExpireAt(member []byte) int64 {
	if w.obj == nil {
		return 0
	}
	c := w.tree()
	return c.ttl.get(c.hash(member), member)
}

// Len returns the number of members.
func (w *memberWriter) Len() int { return w.count() }

// Close ends the edit. A key without members is removed.
func (w *memberWriter) Close() { w.close(w.count() == 0) }

func (w *memberWriter) now() int64 {
	if w.tx == nil {
		return 0
	}
	return w.tx.Now
}

// state is how a reader finds the value at this moment.
func (w *memberWriter) state() members {
	m := members{hash: w.hash, now: w.now(), flat: w.flat}
	if w.obj != nil {
		m.big = w.tree()
	}
	return m
}
