package mvcc

import (
	"encoding/binary"
	"strconv"
)

// An Entry is a key's record as a reader found it. Its bytes belong to the
// keyspace: read-only, and valid while the view is (a live view's until the
// next write).
type Entry struct {
	rec  record
	ref  ref
	obj  *object
	hash Hasher
}

// entry completes a record to an Entry.
func (t *tables) entry(r record, at ref) Entry {
	e := Entry{rec: r, ref: at, hash: t.hash}
	if r.encoding() == Object {
		e.obj, _ = t.objects.Get(binary.LittleEndian.Uint64(r.value()))
	}
	return e
}

// Key returns the key's bytes.
func (e *Entry) Key() []byte { return e.rec.key() }

// Type returns the type of the value.
func (e *Entry) Type() Type { return e.rec.typ() }

// Encoding returns how the value is stored; an object says Raw for a string.
func (e *Entry) Encoding() Encoding {
	if e.obj != nil {
		return Raw
	}
	return e.rec.encoding()
}

// Expire returns when the key expires, unix ms; 0 if never.
func (e *Entry) Expire() int64 { return e.rec.expire }

// Expired says whether the key has expired at now (unix ms).
func (e *Entry) Expired(now int64) bool { return e.rec.expire != 0 && e.rec.expire <= now }

// Clock returns the 24-bit access clock: LRU seconds, or LFU minutes and
// counter. Only meaningful on a live view: versions must not read it.
func (e *Entry) Clock() uint32 { return e.rec.clock() }

// Size returns the bytes of memory that the entry takes: record, index slot,
// object.
func (e *Entry) Size() int64 {
	n := int64(e.rec.size()) + indexCost
	if e.rec.expire != 0 {
		n += expireCost
	}
	if e.obj != nil {
		n += e.obj.bytes()
	}
	return n
}

// Len returns the length of a string value in bytes.
func (e *Entry) Len() int64 {
	switch {
	case e.obj != nil:
		return e.obj.str().size
	case e.rec.encoding() == Int:
		var b [20]byte
		return int64(len(strconv.AppendInt(b[:0], e.int(), 10)))
	}
	return int64(e.rec.vlen)
}

func (e *Entry) int() int64 { return int64(binary.LittleEndian.Uint64(e.rec.value())) }

// Int returns the value of an Int-encoded string.
func (e *Entry) Int() (int64, bool) {
	if e.rec.encoding() != Int {
		return 0, false
	}
	return e.int(), true
}

// Bytes returns a string value in one piece: the record's own bytes where it
// lies there, else built in scratch (which may be nil).
func (e *Entry) Bytes(scratch []byte) []byte {
	switch {
	case e.obj != nil:
		return e.obj.str().appendRange(scratch[:0], 0, e.obj.str().size)
	case e.rec.encoding() == Int:
		return strconv.AppendInt(scratch[:0], e.int(), 10)
	}
	return e.rec.value()
}

// AppendRange appends the bytes [from, to) of a string value to dst; the range
// must lie inside the value.
func (e *Entry) AppendRange(dst []byte, from, to int64) []byte {
	if e.obj != nil {
		return e.obj.str().appendRange(dst, from, to)
	}
	var b [20]byte
	return append(dst, e.Bytes(b[:0])[from:to]...)
}

// Big says whether the value is an object, to be read in pieces.
func (e *Entry) Big() bool { return e.obj != nil }

// Pieces yields the bytes [from, to) of a string value in order, in pieces that
// are the keyspace's own bytes. Those of a Big value are never written again
// after View.Share, and always on a frozen view, and may be kept.
func (e *Entry) Pieces(from, to int64, yield func([]byte) bool) {
	if e.obj != nil {
		e.obj.str().pieces(from, to, yield)
		return
	}
	if from < to {
		yield(e.Bytes(nil)[from:to])
	}
}
