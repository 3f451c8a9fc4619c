package mvcc

import "strings"

type (
	streamName string
	consumerID uint64
)

func (a streamName) compare(b streamName) int { return strings.Compare(string(a), string(b)) }

func (a consumerID) compare(b consumerID) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// A streamGroup is a consumer group. Pending entries name their consumer by a
// number, so that the lists of them hold no pointers.
type streamGroup struct {
	gen       uint64
	name      string
	last      StreamID // of the last entry that was delivered
	read      int64    // entries delivered so far; -1: not known
	pending   cow[StreamID, StreamPending]
	consumers cow[consumerID, *streamConsumer]
	ids       cow[streamName, consumerID]
	nextID    consumerID
	alloc     int64 // bytes, without what is pending
}

// A StreamPending is what a group knows of an entry that was delivered and not
// acknowledged.
type StreamPending struct {
	At    int64 // of the last delivery, unix ms
	Count int64 // of deliveries
	owner consumerID
}

type streamConsumer struct {
	gen          uint64
	id           consumerID
	name         string
	seen, active int64 // unix ms: when it last asked, and last got something
	pending      cow[StreamID, struct{}]
}

const (
	groupCost    = 256 // bytes, without names
	consumerCost = 192
	pendingCost  = 64 // in the group's list and in the consumer's
)

func (s *bigStream) group(name []byte) *streamGroup {
	g, _ := s.groups.get(streamName(name))
	return g
}

// writableGroup makes the group, which must be there, one that s may write to.
func (s *bigStream) writableGroup(name []byte) *streamGroup {
	p := s.groups.mut(s.gen, streamName(name))
	if (*p).gen != s.gen {
		g := **p
		g.gen = s.gen
		*p = &g
	}
	return *p
}

func (s *bigStream) addGroup(name []byte) *streamGroup {
	g := &streamGroup{gen: s.gen, name: string(name), alloc: groupCost + int64(len(name))}
	s.groups.set(s.gen, streamName(name), g)
	s.alloc += g.alloc
	return g
}

// dropGroup lets go of the group with all that is in it: O(log groups).
func (s *bigStream) dropGroup(name []byte) bool {
	g, ok := s.groups.delete(s.gen, streamName(name))
	if ok {
		s.alloc -= g.bytes()
	}
	return ok
}

func (g *streamGroup) bytes() int64 { return g.alloc + int64(g.pending.len())*pendingCost }

func (c *streamConsumer) bytes() int64 { return consumerCost + int64(len(c.name)) }

func (g *streamGroup) consumer(name []byte) *streamConsumer {
	id, ok := g.ids.get(streamName(name))
	if !ok {
		return nil
	}
	c, _ := g.consumers.get(id)
	return c
}

// writableConsumer makes the consumer one that g, which is writable, may write
// to; nil if it is gone.
func (g *streamGroup) writableConsumer(id consumerID) *streamConsumer {
	p := g.consumers.mut(g.gen, id)
	if p == nil {
		return nil
	}
	if (*p).gen != g.gen {
		c := **p
		c.gen = g.gen
		*p = &c
	}
	return *p
}

func (s *bigStream) addConsumer(g *streamGroup, name []byte, now int64) *streamConsumer {
	g.nextID++
	c := &streamConsumer{gen: g.gen, id: g.nextID, name: string(name), seen: now, active: -1}
	g.consumers.set(g.gen, c.id, c)
	g.ids.set(g.gen, streamName(name), c.id)
	g.alloc += c.bytes()
	s.alloc += c.bytes()
	return c
}

// dropConsumer takes a consumer out for whom nothing is pending.
func (s *bigStream) dropConsumer(g *streamGroup, c *streamConsumer) {
	g.consumers.delete(g.gen, c.id)
	g.ids.delete(g.gen, streamName(c.name))
	g.alloc -= c.bytes()
	s.alloc -= c.bytes()
}

// pend makes the entry pending for the consumer, who need not be the one for
// whom it was. Both are writable.
func (s *bigStream) pend(g *streamGroup, c *streamConsumer, id StreamID, at, count int64) {
	old, ok := g.pending.get(id)
	g.pending.set(g.gen, id, StreamPending{at, count, c.id})
	if ok && old.owner == c.id {
		return
	}
	if ok {
		g.writableConsumer(old.owner).pending.delete(g.gen, id)
	} else {
		s.alloc += pendingCost
	}
	c.pending.set(g.gen, id, struct{}{})
}

// ack takes a pending entry out and says whether it was there.
func (s *bigStream) ack(g *streamGroup, id StreamID) bool {
	p, ok := g.pending.delete(g.gen, id)
	if !ok {
		return false
	}
	g.writableConsumer(p.owner).pending.delete(g.gen, id)
	s.alloc -= pendingCost
	return true
}
