package mvcc

import (
	"errors"
	"fmt"
)

// check verifies order, counts and account of the stream and its groups.
func (s *bigStream) check() error {
	c := streamCheck{s: s, alloc: bigStreamCost}
	c.nodes()
	s.groups.each(func(name streamName, g *streamGroup) bool {
		c.group(name, g)
		return len(c.errs) < 20
	})
	if c.alloc != s.alloc {
		c.failf("%d bytes allocated, counted %d", c.alloc, s.alloc)
	}
	return errors.Join(c.errs...)
}

type streamCheck struct {
	s     *bigStream
	alloc int64
	errs  []error
}

func (c *streamCheck) failf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *streamCheck) nodes() {
	s, live, prev := c.s, 0, StreamID{}
	err := s.nodes.check()
	if err != nil {
		c.failf("nodes: %w", err)
	}
	var tail *streamNode
	s.nodes.each(func(first StreamID, n *streamNode) bool {
		if n.first != first || !prev.Less(first) || n.live < 1 {
			c.failf("node %v after %v begins with %v and has %d entries", first, prev, n.first, n.live)
		}
		tail, live = n, live+n.live
		c.alloc += streamNodeCost + int64(cap(n.blob))
		prev = c.node(n, prev)
		return len(c.errs) < 20
	})
	if live != s.length || tail != s.tail || s.lastID.Less(prev) {
		c.failf("%d entries, counted %d; last %v, counted %v; tail %v", live, s.length, prev, s.lastID, tail == s.tail)
	}
	if first := s.firstEntry(); s.first != first {
		c.failf("the first entry is %v, noted %v", first, s.first)
	}
}

// node checks one whose entries come after the id prev, and returns the last.
func (c *streamCheck) node(n *streamNode, prev StreamID) StreamID {
	live, dead := 0, 0
	var e StreamEntry
	for off := n.names; off < len(n.blob); {
		next := n.at(off, &e)
		switch {
		case e.deleted():
			dead += next - off
		case !prev.Less(e.ID) || e.ID.Less(n.first) || n.last.Less(e.ID):
			c.failf("entry %v after %v in the node from %v to %v", e.ID, prev, n.first, n.last)
		default:
			prev = e.ID
			live++
		}
		off = next
	}
	if live != n.live || dead != n.dead {
		c.failf("node %v has %d entries and %d dead bytes, counted %d and %d", n.first, live, dead, n.live, n.dead)
	}
	return prev
}

func (c *streamCheck) group(name streamName, g *streamGroup) {
	bytes, pending := int64(groupCost+len(g.name)), 0
	if g.name != string(name) || g.consumers.len() != g.ids.len() {
		c.failf("group %q is named %q and has %d consumers, %d names", name, g.name, g.consumers.len(), g.ids.len())
	}
	for _, err := range []error{g.pending.check(), g.consumers.check(), g.ids.check()} {
		if err != nil {
			c.failf("group %q: %w", name, err)
		}
	}
	g.consumers.each(func(id consumerID, con *streamConsumer) bool {
		if at, _ := g.ids.get(streamName(con.name)); at != id || con.id != id {
			c.failf("consumer %q is %d, and by its name %d", con.name, id, at)
		}
		bytes += con.bytes()
		pending += con.pending.len()
		con.pending.each(func(e StreamID, _ struct{}) bool {
			if p, ok := g.pending.get(e); !ok || p.owner != id {
				c.failf("entry %v is pending for %q, in the group for %d", e, con.name, p.owner)
			}
			return len(c.errs) < 20
		})
		return len(c.errs) < 20
	})
	if pending != g.pending.len() || bytes != g.alloc {
		c.failf("group %q: %d of %d pending entries have consumers; %d bytes, counted %d", name, pending, g.pending.len(), bytes, g.alloc)
	}
	c.alloc += g.bytes()
}

// check verifies order and counts of the tree.
func (t *cow[K, V]) check() error {
	if t.root == nil {
		return nil
	}
	n, last, err := 0, *new(K), error(nil)
	t.each(func(k K, _ V) bool {
		if n > 0 && k.compare(last) <= 0 {
			err = fmt.Errorf("%v after %v", k, last)
		}
		n, last = n+1, k
		return err == nil
	})
	if err == nil && n != t.root.count {
		err = fmt.Errorf("%d keys, counted %d", n, t.root.count)
	}
	if err != nil {
		return err
	}
	return t.root.check()
}

func (n *cowNode[K, V]) check() error {
	if n.kids == nil {
		if n.count != len(n.keys) || n.count != len(n.vals) || n.count == 0 || n.count > cowMax {
			return fmt.Errorf("a leaf of %d keys and %d values counts %d", len(n.keys), len(n.vals), n.count)
		}
		return nil
	}
	sum := 0
	for i, k := range n.kids {
		if n.keys[i].compare(k.keys[0]) > 0 {
			return fmt.Errorf("a child from %v on has %v", n.keys[i], k.keys[0])
		}
		if err := k.check(); err != nil {
			return err
		}
		sum += k.count
	}
	if sum != n.count || len(n.kids) != len(n.keys) || len(n.kids) > cowMax {
		return fmt.Errorf("an inner node of %d children and %d keys counts %d, has %d", len(n.kids), len(n.keys), n.count, sum)
	}
	return nil
}
