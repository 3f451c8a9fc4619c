package commands

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"firn/mvcc"
)

// A sorting is a SORT under way. What it reads is copied, but for the values
// that GET finds.
type sorting struct {
	q      *sortQuery
	c      *Call
	v      *mvcc.View
	isList bool

	elems  [][]byte
	weighs [][]byte // what BY ... ALPHA compares; nil: nothing was found
	order  []sortRank
	room   []byte // the rest of the memory that copies go to
	key    []byte // of the last lookup
	digits [maxIntLen]byte
	steps  int
}

// A sortRank stands for an element while they are sorted. Where keys differ,
// they order as the elements are to be.
type sortRank struct {
	key uint64
	i   int
}

const sortRoom = 64 << 10 // bytes that are taken at once for copies

// keep copies bytes to where they stay.
func (s *sorting) keep(b []byte) []byte {
	if s.room == nil || len(b) > cap(s.room)-len(s.room) {
		s.room = make([]byte, 0, max(len(b), min(sortRoom, 1+cap(s.elems)*(len(b)+8))))
	}
	at := len(s.room)
	s.room = append(s.room, b...)
	return s.room[at:len(s.room):len(s.room)]
}

// pause lets others have their turn, on a frozen view: there all stays in its
// place.
func (s *sorting) pause() {
	if s.steps++; s.v.Frozen() {
		s.c.pauseAt(s.steps)
	}
}

func (s *sorting) add(elem []byte) bool {
	s.elems = append(s.elems, s.keep(elem))
	s.pause()
	return true
}

// load reads all elements.
func (s *sorting) load(e *mvcc.Entry, n int) {
	s.elems = make([][]byte, 0, n)
	switch e.Type() {
	case mvcc.List:
		l := e.List()
		l.Ascend(0, s.add)
	case mvcc.Set:
		m := e.Set(s.v.Now)
		m.Each(s.add)
	default:
		z := e.ZSet(s.v.Now)
		z.Ascend(0, func(member []byte, _ float64) bool { return s.add(member) })
	}
}

// loadRange reads the elements from..to-1 of their own order, which DESC turns
// round, but not that of a set.
func (s *sorting) loadRange(e *mvcc.Entry, from, to int) {
	if e.Type() == mvcc.Set {
		s.load(e, e.Count())
		s.elems = s.elems[min(from, len(s.elems)):min(to, len(s.elems))]
		return
	}
	if from >= to {
		return
	}
	s.elems = make([][]byte, 0, to-from)
	add := func(elem []byte) bool { return s.add(elem) && len(s.elems) < to-from }
	scored := func(elem []byte, _ float64) bool { return add(elem) }
	last := e.Count() - 1 - from
	l, z := e.Type() == mvcc.List, e.Type() == mvcc.ZSet
	switch {
	case l && s.q.desc:
		v := e.List()
		v.Descend(last, add)
	case l:
		v := e.List()
		v.Ascend(from, add)
	case z && s.q.desc:
		v := e.ZSet(s.v.Now)
		v.Descend(last, scored)
	default:
		v := e.ZSet(s.v.Now)
		v.Ascend(from, scored)
	}
}

// rank finds what each element is compared by.
func (s *sorting) rank() error {
	s.order = make([]sortRank, len(s.elems))
	if s.q.alpha && s.q.hasBy {
		s.weighs = make([][]byte, len(s.elems))
	}
	for i := range s.elems {
		s.order[i].i = i
		if !s.rankOne(i) {
			return ErrSortNumber
		}
		if s.q.desc {
			s.order[i].key = ^s.order[i].key
		}
		s.pause()
	}
	return nil
}

func (s *sorting) rankOne(i int) bool {
	weight := s.elems[i]
	if s.q.hasBy {
		var found bool
		if weight, found = s.lookup(&s.q.by, weight); !found {
			s.order[i].key = floatKey(0)
			if s.q.alpha {
				s.order[i].key = 0
			}
			return true
		}
	}
	if s.q.alpha {
		if s.weighs != nil {
			weight = s.keep(s.text(weight))
			s.weighs[i] = weight
		}
		s.order[i].key = prefixKey(s.text(weight))
		return true
	}
	f, ok := sortNumber(weight)
	s.order[i].key = floatKey(f)
	return ok
}

// text is what ALPHA compares of a string: the reference's strcoll, in the C
// locale, ends at a NUL; what is stored is compared as a whole.
func (s *sorting) text(b []byte) []byte {
	if s.q.dest != nil {
		return b
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// floatKey orders as the doubles do.
func floatKey(f float64) uint64 {
	bits := math.Float64bits(f + 0) // no negative zero
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// prefixKey is the first eight bytes.
func prefixKey(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var room [8]byte
	copy(room[:], b)
	return binary.BigEndian.Uint64(room[:])
}

// compare orders as the reference does, which leaves some open.
func (s *sorting) compare(a, b *sortRank) int {
	switch {
	case a.key < b.key:
		return -1
	case a.key > b.key:
		return 1
	case s.q.desc:
		return s.tie(b.i, a.i)
	}
	return s.tie(a.i, b.i)
}

// tie compares two elements with the same key.
func (s *sorting) tie(i, j int) int {
	switch {
	case !s.q.alpha:
		return bytes.Compare(s.elems[i], s.elems[j])
	case s.weighs == nil:
		return bytes.Compare(s.text(s.elems[i]), s.text(s.elems[j]))
	}
	a, b := s.weighs[i], s.weighs[j]
	if a == nil || b == nil {
		return int(toInt(a != nil) - toInt(b != nil))
	}
	return bytes.Compare(a, b)
}

// strict orders any two elements: those that compare leaves open stay as they
// are in a list, and other types have no order for them to stay in.
func (s *sorting) strict(a, b *sortRank) int {
	if s.steps++; s.steps%pauseEvery == 0 && s.c.Pause != nil {
		s.c.Pause()
	}
	r := s.compare(a, b)
	if r == 0 && !s.isList {
		r = bytes.Compare(s.elems[a.i], s.elems[b.i])
	}
	return cmp.Or(r, a.i-b.i)
}

// sort leaves of the elements those of the places [from, to).
func (s *sorting) sort(from, to int) {
	switch n := len(s.order); {
	case from == to:
	case from == 0 && to == n:
		slices.SortFunc(s.order, func(a, b sortRank) int { return s.strict(&a, &b) })
	case s.isList && s.q.hasBy:
		partialSort(s.order, from, to, s.compare)
	default:
		partialSort(s.order, from, to, s.strict)
	}
	picked := make([][]byte, to-from)
	for i := range picked {
		picked[i] = s.elems[s.order[from+i].i]
	}
	s.elems = picked
}

// lookup returns what a pattern finds for an element. The bytes are valid until
// the next lookup.
func (s *sorting) lookup(p *sortPattern, elem []byte) ([]byte, bool) {
	switch {
	case p.self:
		return elem, true
	case p.constant:
		return nil, false
	case s.v.Frozen():
		s.key = s.key[:0]
	default:
		s.key = nil // a live view keeps the names of keys that have expired
	}
	s.key = append(append(append(s.key, p.prefix...), elem...), p.suffix...)
	e, ok := s.v.Get(s.key)
	switch {
	case !ok:
		return nil, false
	case p.field == nil && e.Type() == mvcc.String:
		return e.Bytes(s.digits[:0]), true
	case p.field != nil && e.Type() == mvcc.Hash:
		h := e.Hash(s.v.Now)
		return h.Get(p.field)
	}
	return nil, false
}

// width is how many values each element gives.
func (s *sorting) width() int { return max(len(s.q.gets), 1) }

// values yields what is asked for, in order; ok is false for what was not found.
func (s *sorting) values(yield func(b []byte, ok bool)) {
	for _, elem := range s.elems {
		if len(s.q.gets) == 0 {
			yield(elem, true)
		}
		for i := range s.q.gets {
			yield(s.lookup(&s.q.gets[i], elem))
		}
		s.pause()
	}
}

func (s *sorting) reply() {
	out := s.c.Out
	out.Array(len(s.elems) * s.width())
	s.values(func(b []byte, ok bool) {
		if ok {
			out.Bulk(b)
		} else {
			out.Null()
		}
		out.Spill()
	})
}

// store makes a list of the values; what was not found is an empty string.
func (s *sorting) store() func(*mvcc.Tx) error {
	c, key := s.c, s.q.dest
	w := mvcc.NewList(s.v.Space())
	s.values(func(b []byte, _ bool) { w.PushRight(b) })
	n := int64(w.Len())
	if n == 0 {
		return deleteDest(c, key)
	}
	if c.ByResult {
		tellSorted(c, key, w.Value())
	}
	return func(tx *mvcc.Tx) error {
		tx.Expire(key)
		tx.PutValue(key, w, 0)
		tx.Changes += n - 1
		c.Notify('l', "sortstore", key)
		c.Out.Int(n)
		return nil
	}
}

// tellSorted makes the list the command's effects.
func tellSorted(c *Call, key []byte, l mvcc.ListValue) {
	c.Propagate([]byte("DEL"), key)
	rpush := []byte("RPUSH")
	args := [][]byte{rpush, key}
	l.Ascend(0, func(b []byte) bool {
		if len(args) == toldAtOnce {
			c.Propagate(args...)
			args = [][]byte{rpush, key}
		}
		args = append(args, slices.Clone(b))
		return true
	})
	c.Propagate(args...)
}
