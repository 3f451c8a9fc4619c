package rdb

import (
	"fmt"

	"firn/mvcc"
)

// What is packed into one string when it is written: Redis does so with small
// values only, and reads either form as what its own limits say.
const (
	packedMost = 8192    // members of a hash or sorted set
	intsetMost = 1 << 16 // members of a set
	nodeMost   = 8 << 10 // bytes of a list's node, as list-max-listpack-size -2 has it
	plainFrom  = 64 << 10
	nodePlain  = 1 // a list's node that is an element of at least plainFrom bytes
	nodePacked = 2 // one that is a listpack
)

// Type is the type under which the value of an entry is written, at now (unix
// ms, for members that expire).
func Type(e *mvcc.Entry, now int64) byte {
	packed, n := e.EncodingName(), e.Count()
	switch e.Type() {
	case mvcc.String:
		return typeString
	case mvcc.List:
		return typeListQuicklist2
	case mvcc.Stream:
		return typeStream2
	case mvcc.Set:
		return setType(e.Set(now), packed == "intset" && n <= intsetMost)
	case mvcc.ZSet:
		return zsetType(e.ZSet(now), packed == "listpack" && n <= packedMost)
	}
	return hashType(e.Hash(now), packed == "listpack" && n <= packedMost)
}

func hashType(h mvcc.HashValue, packed bool) byte {
	switch {
	case h.HasExpiries():
		return typeHashTTL
	case packed:
		return typeHashListpack
	}
	return typeHash
}

func setType(s mvcc.SetValue, packed bool) byte {
	switch {
	case s.HasExpiries():
		return typeSetTTL
	case packed:
		return typeSetIntset
	}
	return typeSet
}

func zsetType(z mvcc.ZSetValue, packed bool) byte {
	switch {
	case z.HasExpiries():
		return typeZSetTTL
	case packed:
		return typeZSetListpack
	}
	return typeZSet2
}

// Value writes the value of an entry under the type that Type gave for it, at
// the same now. The type itself is the caller's to write.
func (w *Encoder) Value(t byte, e *mvcc.Entry, now int64) {
	switch t {
	case typeString:
		w.stringValue(e)
	case typeListQuicklist2:
		l := e.List()
		w.list(&l)
	case typeStream2:
		s := e.Stream()
		w.stream(&s)
	case typeHash, typeHashListpack, typeHashTTL:
		h := e.Hash(now)
		w.hash(t, &h)
	case typeSet, typeSetIntset, typeSetTTL:
		s := e.Set(now)
		w.set(t, &s)
	case typeZSet2, typeZSetListpack, typeZSetTTL:
		z := e.ZSet(now)
		w.zset(t, &z)
	default:
		panic(fmt.Sprintf("rdb: no value is written as type %d", t))
	}
}

// SavedLen is how many bytes the value of an entry takes, at now (unix ms),
// without its type. Others have their turn in pause, if it is not nil.
func SavedLen(e *mvcc.Entry, now int64, compress bool, pause func()) (n int64) {
	w := Encoder{Compress: compress, Flush: func(p []byte) {
		n += int64(len(p))
		if pause != nil {
			pause()
		}
	}}
	w.Value(Type(e, now), e, now)
	return n + int64(len(w.buf))
}

func (w *Encoder) stringValue(e *mvcc.Entry) {
	if n, ok := e.Int(); ok {
		w.Int(n)
		return
	}
	if !e.Big() || w.Compress && e.Len() <= compressTo {
		w.String(e.Bytes(nil))
		w.spill()
		return
	}
	w.Len(uint64(e.Len()))
	e.Pieces(0, e.Len(), func(p []byte) bool {
		w.Raw(p)
		w.spill()
		return true
	})
}

// packedString writes what has been collected in the pack.
func (w *Encoder) packedString() {
	w.String(w.pack.finish())
	w.spill()
	if cap(w.pack.p) > flushFrom {
		w.pack.p = nil
	}
}

func (w *Encoder) hash(t byte, h *mvcc.HashValue) {
	switch t {
	case typeHashListpack:
		w.pack.reset()
		h.Each(func(field, value []byte) bool {
			w.pack.add(field)
			w.pack.add(value)
			return true
		})
		w.packedString()
		return
	case typeHashTTL:
		var m expiries
		h.Each(func(field, _ []byte) bool { return m.note(h.ExpireAt(field)) })
		w.expiries(&m)
		h.Each(func(field, value []byte) bool {
			w.expiry(&m, h.ExpireAt(field))
			return w.pair(field, value)
		})
		return
	}
	w.Len(uint64(h.Len()))
	h.Each(w.pair)
}

func (w *Encoder) pair(field, value []byte) bool {
	w.String(field)
	w.String(value)
	w.spill()
	return true
}

// expiries is what stands before members that expire.
type expiries struct {
	first int64 // unix ms
	count int
}

func (m *expiries) note(at int64) bool {
	if at != 0 && (m.first == 0 || at < m.first) {
		m.first = at
	}
	m.count++
	return true
}

func (w *Encoder) expiries(m *expiries) {
	w.Uint64(uint64(m.first))
	w.Len(uint64(m.count))
}

func (w *Encoder) expiry(m *expiries, at int64) {
	if at == 0 {
		w.Len(0)
		return
	}
	w.Len(uint64(at-m.first) + 1)
}

func (w *Encoder) set(t byte, s *mvcc.SetValue) {
	switch t {
	case typeSetIntset:
		w.intset(s)
		return
	case typeSetTTL:
		var m expiries
		s.Each(func(member []byte) bool { return m.note(s.ExpireAt(member)) })
		w.expiries(&m)
		s.Each(func(member []byte) bool {
			w.expiry(&m, s.ExpireAt(member))
			return w.element(member)
		})
		return
	}
	w.Len(uint64(s.Len()))
	s.Each(w.element)
}

func (w *Encoder) element(b []byte) bool {
	w.String(b)
	w.spill()
	return true
}

func (w *Encoder) intset(s *mvcc.SetValue) {
	ints := make([]int64, 0, s.Len())
	s.Each(func(member []byte) bool {
		n, ok := canonicalInt(member)
		if !ok {
			panic(fmt.Sprintf("rdb: %q in a set of integers", member))
		}
		ints = append(ints, n)
		return true
	})
	w.String(appendIntset(nil, ints))
	w.spill()
}

func (w *Encoder) zset(t byte, z *mvcc.ZSetValue) {
	switch t {
	case typeZSetListpack:
		w.pack.reset()
		z.Ascend(0, func(member []byte, score float64) bool {
			w.pack.add(member)
			w.pack.addScore(score)
			return true
		})
		w.packedString()
		return
	case typeZSetTTL:
		var m expiries
		z.Ascend(0, func(member []byte, _ float64) bool { return m.note(z.ExpireAt(member)) })
		w.expiries(&m)
		z.Ascend(0, func(member []byte, score float64) bool {
			w.expiry(&m, z.ExpireAt(member))
			return w.scored(member, score)
		})
		return
	}
	w.Len(uint64(z.Len()))
	z.Descend(z.Len()-1, w.scored) // the greatest first: the fast way in for Redis' skip list
}

func (w *Encoder) scored(member []byte, score float64) bool {
	w.String(member)
	w.Double(score)
	w.spill()
	return true
}

// A cutter says where a list is cut into nodes, by nothing but the lengths of
// its elements: they are counted before the first is written.
type cutter struct{ bytes int }

// cut says whether an element of n bytes begins a node.
func (c *cutter) cut(n int) bool {
	cost := packCost(n)
	if c.bytes == 0 || c.bytes+cost > nodeMost {
		c.bytes = cost
		return true
	}
	c.bytes += cost
	return false
}

func (w *Encoder) list(l *mvcc.ListValue) {
	var counting, cutting cutter
	nodes := uint64(0)
	l.Ascend(0, func(b []byte) bool {
		if counting.cut(len(b)) {
			nodes++
		}
		return true
	})
	w.Len(nodes)
	w.pack.reset()
	l.Ascend(0, func(b []byte) bool {
		if cutting.cut(len(b)) {
			w.listNode()
		}
		if len(b) >= plainFrom {
			w.Len(nodePlain)
			return w.element(b)
		}
		w.pack.add(b)
		return true
	})
	w.listNode()
}

// listNode writes the elements that are in the pack, if any.
func (w *Encoder) listNode() {
	if w.pack.count > 0 {
		w.Len(nodePacked)
		w.packedString()
		w.pack.reset()
	}
}
