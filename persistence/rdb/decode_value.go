package rdb

import (
	"fmt"

	"firn/mvcc"
)

// A Value is one that was read: a string, whose bytes may be a part of what it
// was read from, or else a collection that belongs to no key yet.
type Value struct {
	Type       mvcc.Type
	String     []byte
	Collection mvcc.Detached
}

// Value reads a value of the type, whose byte has been read, for the space.
func (d *Decoder) Value(t byte, s *mvcc.Space) (v Value, err error) {
	switch t {
	case typeString:
		v.Type = mvcc.String
		v.String, err = d.String()
	case typeList, typeListZiplist, typeListQuicklist, typeListQuicklist2:
		w := mvcc.NewList(s)
		v = Value{Type: mvcc.List, Collection: w}
		err = d.list(t, w)
	case typeSet, typeSetIntset, typeSetListpack, typeSetTTL:
		w := mvcc.NewSet(s)
		v = Value{Type: mvcc.Set, Collection: w}
		err = d.set(t, w)
	case typeZSet, typeZSet2, typeZSetZiplist, typeZSetListpack, typeZSetTTL:
		v.Type = mvcc.ZSet
		v.Collection, err = d.zset(t, s)
	case typeHash, typeHashZipmap, typeHashZiplist, typeHashListpack, typeHashTTL, typeHashListpackEx:
		w := mvcc.NewHash(s)
		v = Value{Type: mvcc.Hash, Collection: w}
		err = d.hash(t, w)
	case typeStream, typeStream2, typeStream3:
		w := mvcc.NewStream(s)
		v = Value{Type: mvcc.Stream, Collection: w}
		err = d.stream(t, w)
	default:
		return v, d.fail(fmt.Sprintf("a value of the unknown type %d", t))
	}
	return v, err
}

// count reads how many elements follow, which are not none.
func (d *Decoder) count() (uint64, error) {
	n, err := d.Len()
	if err == nil && n == 0 {
		err = d.fail("an empty value")
	}
	return n, err
}

// times calls f for each of the elements that follow, as many as a count says.
func (d *Decoder) times(f func() error) error {
	n, err := d.count()
	for ; err == nil && n > 0; n-- {
		err = f()
		d.step()
	}
	return err
}

// openPack opens the listpack or ziplist in a string.
func (d *Decoder) openPack(old bool) (r packReader, err error) {
	at := d.offset
	p, err := d.String()
	if err != nil {
		return r, err
	}
	r, ok := openListpack(p)
	if old {
		r, ok = openZiplist(p)
	}
	if !ok {
		return r, &Error{at, "a pack with a broken header"}
	}
	r.at = at
	return r, nil
}

// element reads an element of a pack as text, which is valid until three more
// have been read.
func (d *Decoder) element(r *packReader) (text []byte, more bool, err error) {
	e, more, ok := r.next()
	switch {
	case !ok:
		return nil, false, &Error{r.at, "a broken pack"}
	case !more:
		return nil, false, nil
	case e.str == nil:
		return d.text(e.n), true, nil
	}
	return e.str, true, nil
}

// needElement is element where the pack must go on.
func (d *Decoder) needElement(r *packReader) ([]byte, error) {
	text, more, err := d.element(r)
	if err == nil && !more {
		err = &Error{r.at, "a pack that ends too early"}
	}
	return text, err
}

// tuples calls f for the first element of each tuple in a pack, which reads the
// others; there must be one.
func (d *Decoder) tuples(old bool, f func(r *packReader, first []byte) error) error {
	r, err := d.openPack(old)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		first, more, err := d.element(&r)
		switch {
		case err != nil:
			return err
		case !more && n == 0:
			return &Error{r.at, "an empty value"}
		case !more:
			return nil
		}
		if err := f(&r, first); err != nil {
			return err
		}
		d.step()
	}
}

func (d *Decoder) list(t byte, w *mvcc.ListWriter) error {
	switch t {
	case typeListZiplist:
		return d.tuples(true, func(_ *packReader, b []byte) error {
			w.PushRight(b)
			return nil
		})
	case typeListQuicklist, typeListQuicklist2:
		err := d.times(func() error { return d.listNode(t, w) })
		if err == nil && w.Len() == 0 {
			err = d.fail("an empty value")
		}
		return err
	}
	return d.times(func() error {
		b, err := d.String()
		if err == nil {
			w.PushRight(b)
		}
		return err
	})
}

// listNode reads a node, which may be empty.
func (d *Decoder) listNode(t byte, w *mvcc.ListWriter) error {
	kind := uint64(nodePacked)
	if t == typeListQuicklist2 {
		var err error
		if kind, err = d.Len(); err != nil {
			return err
		}
	}
	switch kind {
	case nodePlain:
		b, err := d.String()
		if err == nil && len(b) == 0 {
			err = d.fail("an empty node of a list")
		}
		if err == nil {
			w.PushRight(b)
		}
		return err
	case nodePacked:
		return d.packedNode(t == typeListQuicklist, w)
	}
	return d.fail("an unknown kind of a list's node")
}

func (d *Decoder) packedNode(old bool, w *mvcc.ListWriter) error {
	r, err := d.openPack(old)
	if err != nil {
		return err
	}
	for {
		b, more, err := d.element(&r)
		if err != nil || !more {
			return err
		}
		w.PushRight(b)
		d.step()
	}
}

func (d *Decoder) set(t byte, w *mvcc.SetWriter) error {
	add := func(b []byte) error {
		if !w.Add(b) {
			return d.fail("a member that comes twice")
		}
		return nil
	}
	switch t {
	case typeSetIntset:
		return d.intset(add)
	case typeSetListpack:
		return d.tuples(false, func(_ *packReader, b []byte) error { return add(b) })
	case typeSetTTL:
		return d.expiring(func(at int64) error {
			b, err := d.String()
			if err != nil {
				return err
			}
			if err := add(b); err != nil || at == 0 {
				return err
			}
			w.SetExpireAt(b, at)
			return nil
		})
	}
	return d.times(func() error {
		b, err := d.String()
		if err != nil {
			return err
		}
		return add(b)
	})
}

func (d *Decoder) intset(add func(b []byte) error) error {
	at := d.offset
	p, err := d.String()
	if err != nil {
		return err
	}
	ok := eachIntset(p, func(n int64) bool {
		d.step()
		return add(d.text(n)) == nil
	})
	if !ok {
		return &Error{at, "a broken set of integers"}
	}
	return nil
}

// The last moment at which a member may expire, unix ms.
const lastExpiry = 1<<48 - 1

// expiring calls f for each of the members that follow, with when it expires,
// unix ms, or 0.
func (d *Decoder) expiring(f func(at int64) error) error {
	first, err := d.Uint64()
	if err != nil {
		return err
	}
	return d.times(func() error {
		after, err := d.Len()
		switch {
		case err != nil:
			return err
		case after == 0:
			return f(0)
		case first > lastExpiry || after > lastExpiry || first+after-1 > lastExpiry || first+after == 1:
			return d.fail("an expiry of a member that can't be")
		}
		return f(int64(first + after - 1))
	})
}

func (d *Decoder) hash(t byte, w *mvcc.HashWriter) error {
	add := func(field, value []byte) error {
		if !w.Set(field, value) {
			return d.fail("a field that comes twice")
		}
		return nil
	}
	switch t {
	case typeHashZipmap:
		return d.zipmap(add)
	case typeHashZiplist, typeHashListpack:
		return d.tuples(t == typeHashZiplist, func(r *packReader, field []byte) error {
			value, err := d.needElement(r)
			if err != nil {
				return err
			}
			return add(field, value)
		})
	case typeHashListpackEx:
		if _, err := d.Uint64(); err != nil { // the earliest
			return err
		}
		return d.tuples(false, func(r *packReader, field []byte) error { return d.expiringField(r, field, w) })
	case typeHashTTL:
		return d.expiring(func(at int64) error {
			field, err := d.pair(add)
			if err == nil && at != 0 {
				w.SetExpireAt(field, at)
			}
			return err
		})
	}
	return d.times(func() error {
		_, err := d.pair(add)
		return err
	})
}

func (d *Decoder) pair(add func(field, value []byte) error) (field []byte, err error) {
	if field, err = d.String(); err != nil {
		return nil, err
	}
	value, err := d.String()
	if err != nil {
		return nil, err
	}
	return field, add(field, value)
}

// expiringField reads what stands behind the field: its value, and when it
// expires, unix ms.
func (d *Decoder) expiringField(r *packReader, field []byte, w *mvcc.HashWriter) error {
	value, err := d.needElement(r)
	if err != nil {
		return err
	}
	e, more, ok := r.next()
	if !ok || !more || e.str != nil || e.n < 0 || e.n > lastExpiry {
		return &Error{r.at, "an expiry of a member that can't be"}
	}
	if !w.Set(field, value) {
		return d.fail("a field that comes twice")
	}
	if e.n != 0 {
		w.SetExpireAt(field, e.n)
	}
	return nil
}

func (d *Decoder) zipmap(add func(field, value []byte) error) error {
	at := d.offset
	p, err := d.String()
	if err != nil {
		return err
	}
	if !eachZipmap(p, func(field, value []byte) bool { return add(field, value) == nil }) {
		return &Error{at, "a broken zipmap"}
	}
	return nil
}
