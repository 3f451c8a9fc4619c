package mvcc

import (
	"encoding/binary"
	"slices"
)

// A Tx reads and writes one database at a time of the live keyspace. It needs
// the ownership of every store that it touches. It never learns how many
// stores there are.
type Tx struct {
	View
	// Changes counts what the writes changed, as Redis' "dirty" does.
	Changes int64
	// Expired holds the keys that were found expired and removed, in order,
	// as the effects that must precede this transaction's own.
	Expired []Removed

	splicing bool

	// The writers, one of which may be open, and the bytes of its flat value.
	hashes  HashWriter
	sets    SetWriter
	zsets   ZSetWriter
	lists   ListWriter
	streams StreamWriter
	scratch []byte
}

// Removed is a key that was removed without a command that names it, or one
// member of it.
type Removed struct {
	DB     int
	Key    []byte
	Member []byte // nil: the key
	Type   Type   // of the value that lost the member
}

// Begin makes tx write the database at now (unix ms), with everything in it
// reset.
func (tx *Tx) Begin(s *Space, db int, now int64) {
	tx.LiveView(s, db, now)
	tx.Changes, tx.Expired, tx.splicing = 0, tx.Expired[:0], false
}

// Splice makes what tx writes invisible to freezes until Store.EndSplice.
func (tx *Tx) Splice() { tx.splicing = true }

// Select makes tx read and write another database from here on.
func (tx *Tx) Select(db int) { tx.db = db }

// place is where a key is or would be.
type place struct {
	k   *keyspace
	pos uint64
}

func (tx *Tx) place(key []byte) place {
	pos := tx.pos(key)
	k := tx.space.Stores[tx.space.StoreOf(pos)].keyspace(tx.db)
	k.splicing = tx.splicing
	return place{k, pos}
}

// Lookup finds a key to write it: an expired one is removed and noted in
// Expired. The access clock is set.
func (tx *Tx) Lookup(key []byte) (e Entry, ok bool) {
	if e, ok = tx.PeekWrite(key); ok {
		tx.touch(&e)
	}
	return e, ok
}

// PeekWrite is Lookup without setting the access clock.
func (tx *Tx) PeekWrite(key []byte) (e Entry, ok bool) {
	p := tx.place(key)
	r, at, ok := p.k.find(p.pos, key)
	if !ok {
		return e, false
	}
	if r.expire != 0 && r.expire <= tx.Now {
		tx.Expired = append(tx.Expired, Removed{DB: tx.db, Key: slices.Clone(key)})
		p.k.expire(p.pos, &r, at)
		return e, false
	}
	return p.k.entry(r, at), true
}

// Expire removes the key if it has expired, and says whether it did.
func (tx *Tx) Expire(key []byte) bool {
	n := len(tx.Expired)
	tx.PeekWrite(key)
	return len(tx.Expired) > n
}

// SetString sets the key to a string as SET does: a decimal integer is kept as
// one (OBJECT ENCODING int), up to 44 bytes as embstr. The expiry is unix ms, 0
// for none. The value is copied.
func (tx *Tx) SetString(key, value []byte, expire int64) {
	if n, ok := canonicalInt(value); ok {
		tx.SetInt(key, n, expire)
		return
	}
	enc := Raw
	if len(value) <= embstrMax {
		enc = Embstr
	}
	tx.setBytes(key, value, enc, expire)
}

// SetRaw sets the key to a string as an edit leaves it (OBJECT ENCODING raw).
func (tx *Tx) SetRaw(key, value []byte, expire int64) { tx.setBytes(key, value, Raw, expire) }

// SetInt sets the key to a decimal integer.
func (tx *Tx) SetInt(key []byte, n, expire int64) {
	room := tx.put(key, String, Int, expire, 8)
	binary.LittleEndian.PutUint64(room, uint64(n))
	tx.Changes++
}

func (tx *Tx) setBytes(key, value []byte, enc Encoding, expire int64) {
	tx.Changes++
	if len(value) <= maxInline {
		copy(tx.put(key, String, enc, expire, len(value)), value)
		return
	}
	p := tx.place(key)
	tx.putObject(key, String, newBigString(p.k.epoch, value), expire)
}

// put gives the key a record and returns the room for its value.
func (tx *Tx) put(key []byte, t Type, enc Encoding, expire int64, vlen int) []byte {
	p := tx.place(key)
	f := fields{typ: t, enc: enc, clock: tx.space.Access().first(tx.Now), expire: expire}
	if a := tx.space.Access(); a.LFU {
		if r, _, ok := p.k.find(p.pos, key); ok {
			f.clock = r.clock()
		}
	}
	if tx.Created != nil {
		if _, _, ok := p.k.find(p.pos, key); !ok {
			tx.Created(tx.db, key)
		}
	}
	return p.k.put(p.pos, key, f, vlen)
}

// putObject gives the key a stub record for the object, which becomes the
// keyspace's.
func (tx *Tx) putObject(key []byte, t Type, o *object, expire int64) {
	room := tx.put(key, t, Object, expire, 8)
	p := tx.place(key)
	binary.LittleEndian.PutUint64(room, p.k.addObject(p.pos, o))
}

// Delete removes a key and says whether it was there; an expired one was not.
func (tx *Tx) Delete(key []byte) bool {
	p := tx.place(key)
	r, at, ok := p.k.find(p.pos, key)
	if !ok {
		return false
	}
	if r.expire != 0 && r.expire <= tx.Now {
		tx.Expired = append(tx.Expired, Removed{DB: tx.db, Key: slices.Clone(key)})
		p.k.expire(p.pos, &r, at)
		return false
	}
	p.k.remove(p.pos, &r, at)
	tx.Changes++
	return true
}

// SetExpire sets when the key expires (unix ms; 0: never). The key must be
// there.
func (tx *Tx) SetExpire(key []byte, expire int64) {
	p := tx.place(key)
	r, _, ok := p.k.find(p.pos, key)
	if !ok {
		panic("mvcc: SetExpire of a key that is not there")
	}
	tx.Changes++
	p.k.rewrite(p.pos, key, &r, expire)
}

// rewrite gives a record another expiry.
func (k *keyspace) rewrite(pos uint64, key []byte, r *record, expire int64) {
	f := fields{typ: r.typ(), enc: r.encoding(), clock: r.clock(), expire: expire}
	value := r.value()
	if f.enc == Object {
		k.keepObject(pos, key, r, f)
		return
	}
	copy(k.put(pos, key, f, len(value)), value) // a copy onto itself if done in place
}

// keepObject rewrites a stub record without dropping its object.
func (k *keyspace) keepObject(pos uint64, key []byte, r *record, f fields) {
	id, o := k.object(r)
	k.objSize += o.bytes() // put drops the object of the old record
	room := k.put(pos, key, f, 8)
	binary.LittleEndian.PutUint64(room, id)
	k.setObject(id, o)
	k.noteDue(id, o, o.nextDue())
}

// SetClock sets the key's access clock (RESTORE IDLETIME, FREQ).
func (tx *Tx) SetClock(key []byte, clock uint32) {
	p := tx.place(key)
	if r, _, ok := p.k.find(p.pos, key); ok {
		r.setClock(clock)
	}
}

// WriteAt writes p into the string value of a key at off, with zeros between
// its end and off; a key that is not there is made without expiry. The caller
// has checked type and size.
func (tx *Tx) WriteAt(key []byte, off int64, p []byte) {
	tx.Changes++
	e, ok := tx.PeekWrite(key)
	if ok && e.Big() {
		pl := tx.place(key)
		pl.k.edit(&e.rec, func(o *object) { o.str().writeAtPadded(off, p) })
		return
	}
	size, expire := int64(0), int64(0)
	if ok {
		size, expire = e.Len(), e.Expire()
	}
	total := max(size, off+int64(len(p)))
	if total > growLimit && total > size || total > maxInline {
		tx.grow(key, &e, ok, off, p, expire)
		return
	}
	tx.editInline(key, &e, ok, off, p, int(total), expire)
}

// editInline edits a string that stays in a record.
func (tx *Tx) editInline(key []byte, e *Entry, ok bool, off int64, p []byte, total int, expire int64) {
	var num [20]byte
	var old []byte
	if ok {
		old = e.Bytes(num[:0])
	}
	room := tx.put(key, String, Raw, expire, total)
	n := copy(room, old) // the same bytes where the record was edited in place
	clear(room[n:])
	copy(room[off:], p)
}

// grow makes a string an object, because it is edited and becomes long.
func (tx *Tx) grow(key []byte, e *Entry, ok bool, off int64, p []byte, expire int64) {
	o := newBigString(tx.place(key).k.epoch, nil)
	if ok {
		o.str().writeAt(0, e.Bytes(nil))
	}
	o.str().writeAtPadded(off, p)
	tx.putObject(key, String, o, expire)
}

// Rename gives the value of one key, with its expiry and access clock, to
// another, whose value is dropped. The source must be there, and differ.
func (tx *Tx) Rename(from, to []byte) {
	e, ok := tx.PeekWrite(from)
	if !ok {
		panic("mvcc: Rename of a key that is not there")
	}
	tx.adopt(to, &e, e.Expire())
	tx.Delete(from)
}

// CopyTo puts the value of an entry of this Tx, from any database, under a key
// of the selected one: O(1) for a big value, whose parts are shared until one
// of the two is written.
func (tx *Tx) CopyTo(key []byte, e *Entry, expire int64) { tx.adopt(key, e, expire) }

func (tx *Tx) adopt(key []byte, e *Entry, expire int64) {
	tx.Changes++
	if e.obj == nil {
		value := e.rec.value()
		copy(tx.put(key, e.Type(), e.rec.encoding(), expire, len(value)), value)
	} else {
		k := tx.place(key).k
		tx.putObject(key, e.Type(), e.obj.mutableCopy(k.epoch), expire)
	}
	tx.SetClock(key, e.Clock())
}
