package mvcc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Check walks everything in the space and verifies what the code relies on:
// order, placement, counts, refs, live bytes, objects, the expiry index. It
// returns every fault found. It needs the ownership of all stores.
func (s *Space) Check() error {
	var all []error
	for i, st := range s.Stores {
		for db, k := range st.dbs {
			if k == nil {
				continue
			}
			c := checker{k: k, live: make([]int, len(k.segs)), seen: map[uint64]bool{}}
			c.run(func(pos uint64) bool { return s.StoreOf(pos) == i })
			for _, err := range c.errs {
				all = append(all, fmt.Errorf("store %d db %d: %w", i, db, err))
			}
		}
	}
	return errors.Join(all...)
}

type checker struct {
	k       *keyspace
	live    []int
	seen    map[uint64]bool // object ids
	keys    int
	objects int64
	expires map[due]bool
	due     int // objects of which members expire
	errs    []error
}

func (c *checker) failf(format string, args ...any) {
	if len(c.errs) < 20 {
		c.errs = append(c.errs, fmt.Errorf(format, args...))
	}
}

func (c *checker) run(here func(pos uint64) bool) {
	c.expires = map[due]bool{}
	last, first := uint64(0), true
	c.k.index.Scan(func(pos uint64, at ref) bool {
		if !first && pos <= last {
			c.failf("position %x after %x", pos, last)
		}
		last, first = pos, false
		if !here(pos) {
			c.failf("position %x belongs to another store", pos)
		}
		c.position(pos, at)
		return true
	})
	if err := c.k.index.check(); err != nil {
		c.failf("index: %w", err)
	}
	c.totals()
}

func (c *checker) position(pos uint64, at ref) {
	if at != twinned {
		c.entry(pos, at)
		return
	}
	var keys [][]byte
	c.k.eachTwin(pos, func(tw ref) bool {
		r := c.k.record(tw)
		for _, other := range keys {
			if bytes.Equal(other, r.key()) {
				c.failf("key %q stands twice at position %x", other, pos)
			}
		}
		keys = append(keys, r.key())
		c.entry(pos, tw)
		return true
	})
	if len(keys) < 2 {
		c.failf("position %x is marked as shared by %d keys", pos, len(keys))
	}
}

func (c *checker) entry(pos uint64, at ref) {
	c.keys++
	if at.slot() >= len(c.k.segs) || c.k.segs[at.slot()] == nil || at.off() >= c.k.log.info[at.slot()].used {
		c.failf("ref %x points nowhere", at)
		return
	}
	r := c.k.record(at)
	if got := c.k.hash(r.key()); got != pos {
		c.failf("key %q is at position %x, should be at %x", r.key(), pos, got)
	}
	c.live[at.slot()] += r.size()
	if r.expire != 0 {
		c.expires[due{r.expire, pos}] = true
	}
	if r.encoding() == Object {
		c.object(pos, &r)
	}
}

func (c *checker) object(pos uint64, r *record) {
	id := binary.LittleEndian.Uint64(r.value())
	o, ok := c.k.objects.Get(id)
	if !ok || c.seen[id] {
		c.failf("object %d of key %q: there %v, seen before %v", id, r.key(), ok, c.seen[id])
		return
	}
	c.seen[id] = true
	c.objects += o.bytes()
	if o.pos != pos || o.due != o.nextDue() {
		c.failf("object %d of key %q: position %x, is at %x; due %d, noted %d", id, r.key(), o.pos, pos, o.nextDue(), o.due)
	}
	if _, ok := c.k.members.Get(memberDue{o.due, id}); o.due != 0 {
		if c.due++; !ok {
			c.failf("object %d of key %q has members that expire, but is not due", id, r.key())
		}
	}
	if err := o.val.check(); err != nil {
		c.failf("object %d of key %q: %w", id, r.key(), err)
	}
}

func (c *checker) totals() {
	k := c.k
	if c.keys != k.count {
		c.failf("count says %d keys, the index holds %d", k.count, c.keys)
	}
	if len(c.seen) != k.objects.Len() || c.objects != k.objSize {
		c.failf("%d objects of %d bytes are reachable, %d of %d are kept", len(c.seen), c.objects, k.objects.Len(), k.objSize)
	}
	if len(c.expires) != k.expires.Len() {
		c.failf("%d expiries in records, %d in the index", len(c.expires), k.expires.Len())
	}
	if c.due != k.members.Len() {
		c.failf("%d objects have members that expire, %d are due", c.due, k.members.Len())
	}
	k.expires.Scan(func(d due) bool {
		if !c.expires[d] {
			c.failf("expiry index has %d at position %x, no record does", d.at, d.pos)
		}
		return true
	})
	c.segments()
}

func (c *checker) segments() {
	k, sum, alloc, used := c.k, int64(0), int64(0), int64(0)
	for i, n := range c.live {
		sum, alloc, used = sum+int64(n), alloc+int64(len(k.segs[i])), used+int64(k.log.info[i].used)
		if n != k.log.info[i].live {
			c.failf("segment %d has %d live bytes, counted %d", i, n, k.log.info[i].live)
		}
	}
	if sum != k.log.live || alloc != k.log.alloc || used != k.log.used {
		c.failf("live %d alloc %d used %d, counted %d, %d and %d", sum, alloc, used, k.log.live, k.log.alloc, k.log.used)
	}
	if n := k.open.Load(); n < 0 {
		c.failf("%d pins are open", n)
	}
}

// Pins returns the number of pins held on versions of the space's present
// keyspaces; a test ends with none.
func (s *Space) Pins() (n int64) {
	for _, st := range s.Stores {
		n += st.Usage().OpenPins
	}
	return n
}

// check verifies the chunks and their account.
func (s *bigString) check() error {
	if want := int((s.size + chunkSize - 1) / chunkSize); len(s.chunks) != want {
		return fmt.Errorf("%d bytes in %d chunks", s.size, len(s.chunks))
	}
	alloc := int64(len(s.chunks)) * chunkCost
	for i, c := range s.chunks {
		alloc += int64(cap(c.b))
		if end := int64(i)*chunkSize + int64(len(c.b)); end > s.size || len(c.b) > chunkSize {
			return fmt.Errorf("chunk %d of %d bytes ends at %d of %d", i, len(c.b), end, s.size)
		}
	}
	if alloc != s.alloc {
		return fmt.Errorf("%d bytes allocated, counted %d", alloc, s.alloc)
	}
	return nil
}

// check verifies order, bounds and counts of the index.
func (x *index) check() error {
	if x.root == nil {
		if x.n != 0 {
			return fmt.Errorf("an empty tree counts %d", x.n)
		}
		return nil
	}
	if x.root.count != x.n {
		return fmt.Errorf("the root counts %d positions, the index %d", x.root.count, x.n)
	}
	return x.root.check(x.height, 0, ^uint64(0))
}

// check verifies what lies below a node that has so many inner nodes below it.
func (in *inner) check(below int, lo, hi uint64) error {
	sum := 0
	for i := range in.n {
		from, to := in.bounds(i, lo, hi)
		if i+1 < in.n {
			to--
		}
		if below > 0 == (in.leaves[i] != nil) || below > 0 != (in.kids[i] != nil) {
			return fmt.Errorf("child %d is of the wrong kind", i)
		}
		err := error(nil)
		if below > 0 {
			err = in.kids[i].check(below-1, from, to)
		} else {
			err = in.leaves[i].check(from, to)
		}
		if err != nil {
			return err
		}
		sum += in.weight(i)
	}
	if sum != in.count {
		return fmt.Errorf("an inner node counts %d positions, has %d", in.count, sum)
	}
	return nil
}

func (l *leaf) check(lo, hi uint64) error {
	for i, p := range l.pairs[:l.n] {
		if p.pos < lo || p.pos > hi || i > 0 && p.pos <= l.pairs[i-1].pos {
			return fmt.Errorf("position %x is out of place in [%x, %x]", p.pos, lo, hi)
		}
	}
	return nil
}
