package rdb

import (
	"encoding/binary"
	"slices"

	"firn/mvcc"
)

// stream reads a stream. It is stricter than Redis: ids must ascend, and what is
// said of the entries must be what they are.
func (d *Decoder) stream(t byte, w *mvcc.StreamWriter) error {
	nodes, err := d.Len()
	for ; err == nil && nodes > 0; nodes-- {
		err = d.streamNode(w)
	}
	if err != nil {
		return err
	}
	if err := d.streamHead(t, w); err != nil {
		return err
	}
	groups, err := d.Len()
	for ; err == nil && groups > 0; groups-- {
		err = d.group(t, w)
	}
	return err
}

// numbers reads so many numbers that are written like lengths.
func (d *Decoder) numbers(dst []uint64) error {
	for i := range dst {
		n, err := d.Len()
		if err != nil {
			return err
		}
		dst[i] = n
	}
	return nil
}

// streamHead reads the numbers between the entries and the groups.
func (d *Decoder) streamHead(t byte, w *mvcc.StreamWriter) error {
	var n [8]uint64 // length, last id, first id, id of the last deleted, ever added
	some := n[:3]
	if t != typeStream {
		some = n[:]
	}
	if err := d.numbers(some); err != nil {
		return err
	}
	last := mvcc.StreamID{Ms: n[1], Seq: n[2]}
	if n[0] != uint64(w.Len()) || last.Less(w.Value().LastID()) {
		return d.fail("a stream that is not as its entries say")
	}
	w.SetLastID(last)
	if t == typeStream {
		n[7] = n[0]
	}
	// A count that XSETID has set too high is past 2^63 here and below 0 there.
	w.SetCounters(int64(n[7]), mvcc.StreamID{Ms: n[5], Seq: n[6]})
	return nil
}

func rawID(p []byte) mvcc.StreamID {
	return mvcc.StreamID{Ms: binary.BigEndian.Uint64(p), Seq: binary.BigEndian.Uint64(p[8:])}
}

// A nodeReader reads the listpack of a stream's node.
type nodeReader struct {
	packReader
	d     *Decoder
	first mvcc.StreamID
	names [][]byte
	pairs [][]byte
	nums  []byte // the texts of integers among names and values
}

func (r *nodeReader) fail(what string) error { return &Error{r.at, what} }

// int reads an integer.
func (r *nodeReader) int() (int64, error) {
	e, more, ok := r.next()
	if !ok || !more || e.str != nil {
		return 0, r.fail("a stream's node without a number where one should be")
	}
	return e.n, nil
}

// count reads how many elements follow; a pack can't hold more of them than
// bytes.
func (r *nodeReader) count() (int, error) {
	n, err := r.int()
	if err == nil && (n < 0 || n > int64(len(r.p))) {
		err = r.fail("a stream's node with a count that can't be")
	}
	return int(n), err
}

// text reads a name or value.
func (r *nodeReader) text() ([]byte, error) {
	e, more, ok := r.next()
	if !ok || !more {
		return nil, r.fail("a stream's node that ends too early")
	}
	if e.str != nil {
		return e.str, nil
	}
	start := len(r.nums)
	r.nums = append(r.nums, r.d.text(e.n)...)
	return slices.Clip(r.nums[start:]), nil
}

func (d *Decoder) streamNode(w *mvcc.StreamWriter) error {
	key, err := d.String()
	if err != nil {
		return err
	}
	if len(key) != 16 {
		return d.fail("a stream's node without an id")
	}
	pack, err := d.openPack(false)
	if err != nil {
		return err
	}
	r := nodeReader{packReader: pack, d: d, first: rawID(key)}
	live, deleted, err := r.head()
	if err != nil {
		return err
	}
	for left := live + deleted; left > 0; left-- {
		was := w.Len()
		if err := r.entry(w); err != nil {
			return err
		}
		live -= w.Len() - was
		d.step()
	}
	if _, more, ok := r.next(); more || !ok || live != 0 {
		return r.fail("a stream's node that is not as its head says")
	}
	return nil
}

// head reads what stands before the entries.
func (r *nodeReader) head() (live, deleted int, err error) {
	if live, err = r.count(); err != nil {
		return 0, 0, err
	}
	if deleted, err = r.count(); err != nil {
		return 0, 0, err
	}
	names, err := r.count()
	for ; err == nil && names > 0; names-- {
		var name []byte
		name, err = r.text()
		r.names = append(r.names, name)
	}
	if err != nil {
		return 0, 0, err
	}
	if zero, err := r.int(); err != nil || zero != 0 {
		return 0, 0, r.fail("a stream's node with a broken head")
	}
	r.nums = r.nums[len(r.nums):] // the names stay
	return live, deleted, nil
}

// entry reads an entry and adds it, unless it is deleted.
func (r *nodeReader) entry(w *mvcc.StreamWriter) error {
	var head [3]int64 // flags, ms, seq
	for i := range head {
		n, err := r.int()
		if err != nil {
			return err
		}
		head[i] = n
	}
	id := mvcc.StreamID{Ms: r.first.Ms + uint64(head[1]), Seq: r.first.Seq + uint64(head[2])}
	same := head[0]&itemSameNames != 0
	r.pairs, r.nums = r.pairs[:0], r.nums[:0]
	if err := r.fields(same); err != nil {
		return err
	}
	want := 3 + len(r.pairs)/2
	if !same {
		want = 4 + len(r.pairs)
	}
	if parts, err := r.int(); err != nil || parts != int64(want) {
		return r.fail("a stream's entry of a wrong length")
	}
	if head[0]&itemDeleted != 0 {
		return nil
	}
	if !w.Value().LastID().Less(id) || id.Less(r.first) {
		return r.fail("a stream's entry out of order")
	}
	w.Add(id, r.pairs)
	return nil
}

// fields reads names and values, or values only.
func (r *nodeReader) fields(same bool) error {
	n := len(r.names)
	if !same {
		var err error
		if n, err = r.count(); err != nil {
			return err
		}
	}
	for i := range n {
		var name []byte
		var err error
		if same {
			name = r.names[i]
		} else if name, err = r.text(); err != nil {
			return err
		}
		value, err := r.text()
		if err != nil {
			return err
		}
		r.pairs = append(r.pairs, name, value)
	}
	return nil
}

// A pending is an entry of a group that waits to be acknowledged.
type pending struct {
	id        mvcc.StreamID
	at, count int64
	owned     bool
}

func (d *Decoder) group(t byte, w *mvcc.StreamWriter) error {
	name, err := d.String()
	if err != nil {
		return err
	}
	var n [3]uint64 // last id, entries read
	some := n[:]
	if t == typeStream {
		some = n[:2]
	}
	if err := d.numbers(some); err != nil {
		return err
	}
	last, read := mvcc.StreamID{Ms: n[0], Seq: n[1]}, int64(n[2])
	if t == typeStream {
		read = readUpTo(w.Value(), last)
	}
	if !w.AddGroup(name, last, read) {
		return d.fail("a group that comes twice")
	}
	g, _ := w.Group(name)
	all, err := d.pending()
	if err != nil {
		return err
	}
	if err := d.consumers(t, &g, all); err != nil {
		return err
	}
	for i := range all {
		if !all[i].owned {
			return d.fail("a pending entry that nobody has")
		}
	}
	return nil
}

// readUpTo is what Redis estimates that a group has read whose last id is that,
// in a stream of which nothing was ever deleted; -1 if there is no telling
// (streamEstimateDistanceFromFirstEverEntry of t_stream.c).
func readUpTo(s mvcc.StreamValue, last mvcc.StreamID) int64 {
	switch added := s.Added(); {
	case added == 0:
		return 0
	case last == s.LastID() || s.Len() == 0 && last.Less(s.LastID()):
		return added
	case s.LastID().Less(last):
		return -1
	case last.Less(s.FirstID()):
		return added - int64(s.Len())
	case last == s.FirstID():
		return added - int64(s.Len()) + 1
	}
	return -1
}

// pending reads what is pending in a group, by id.
func (d *Decoder) pending() (all []pending, err error) {
	n, err := d.Len()
	for ; err == nil && n > 0; n-- {
		var p pending
		if p, err = d.pendingEntry(); err != nil {
			break
		}
		if len(all) > 0 && !all[len(all)-1].id.Less(p.id) {
			return nil, d.fail("pending entries out of order")
		}
		all = append(all, p)
		d.step()
	}
	return all, err
}

func (d *Decoder) pendingEntry() (p pending, err error) {
	raw, err := d.take(16)
	if err != nil {
		return p, err
	}
	p.id = rawID(raw)
	at, err := d.Uint64()
	if err != nil {
		return p, err
	}
	count, err := d.Len()
	p.at, p.count = int64(at), int64(count)
	return p, err
}

// consumers reads the consumers of a group, and gives them what is pending.
func (d *Decoder) consumers(t byte, g *mvcc.GroupWriter, all []pending) error {
	n, err := d.Len()
	for ; err == nil && n > 0; n-- {
		err = d.consumer(t, g, all)
	}
	return err
}

func (d *Decoder) consumer(t byte, g *mvcc.GroupWriter, all []pending) error {
	name, err := d.String()
	if err != nil {
		return err
	}
	seen, err := d.Uint64()
	if err != nil {
		return err
	}
	active := seen
	if t == typeStream3 {
		if active, err = d.Uint64(); err != nil {
			return err
		}
	}
	if !g.AddConsumer(name, int64(seen)) {
		return d.fail("a consumer that comes twice")
	}
	n, err := d.Len()
	for ; err == nil && n > 0; n-- {
		err = d.owned(g, name, all)
		d.step()
	}
	g.Touch(name, int64(seen), int64(active))
	return err
}

// owned reads an id of what is pending for a consumer.
func (d *Decoder) owned(g *mvcc.GroupWriter, consumer []byte, all []pending) error {
	raw, err := d.take(16)
	if err != nil {
		return err
	}
	i, ok := slices.BinarySearchFunc(all, rawID(raw), func(p pending, id mvcc.StreamID) int { return p.id.Compare(id) })
	if !ok || all[i].owned {
		return d.fail("a pending entry that the group doesn't know, or two consumers have")
	}
	all[i].owned = true
	g.Pend(consumer, all[i].id, all[i].at, all[i].count)
	return nil
}
