package shard

import (
	"container/list"
	"sync"

	"firn/mvcc"
)

// A Cut is frozen versions of the shards of one database. It implements
// mvcc.Cut, belongs to one command, and costs memory until Release.
type Cut struct {
	set      *Set
	db       int
	now      int64
	versions []*mvcc.Version
	pin      *list.Element
	held     bool // everything was frozen by a Hold of all shards: CutHeld
}

// NewCut returns a cut of the database with nothing frozen yet, judging expiry
// by now (unix ms).
func (s *Set) NewCut(db int, now int64) *Cut {
	return &Cut{set: s, db: db, now: now, versions: make([]*mvcc.Version, len(s.shards)), pin: s.pins.add(now)}
}

// Space returns the keyspace.
func (c *Cut) Space() *mvcc.Space { return c.set.Space }

// Now returns the instant by which expiry is judged, unix ms.
func (c *Cut) Now() int64 { return c.now }

// Versions returns what has been frozen, by shard; nil where nothing was.
func (c *Cut) Versions() []*mvcc.Version { return c.versions }

// Version returns the version of a shard, frozen at the first call.
func (c *Cut) Version(i int) *mvcc.Version {
	if c.versions[i] == nil {
		sh := c.set.shards[i]
		sh.lock()
		c.versions[i] = sh.freeze(c.db)
		sh.mu.Unlock()
	}
	return c.versions[i]
}

// All freezes all shards at one instant.
func (c *Cut) All() []*mvcc.Version {
	if c.held || c.torn() {
		return c.versions
	}
	start := c.set.monotonic()
	for _, sh := range c.set.shards {
		sh.lock()
	}
	for i, sh := range c.set.shards {
		if c.versions[i] == nil {
			c.versions[i] = sh.freeze(c.db)
		}
	}
	for _, sh := range c.set.shards {
		sh.mu.Unlock()
	}
	c.set.stats.LongestFreeze.note(c.set.monotonic().Sub(start))
	return c.versions
}

// Release lets go of the versions. The cut must not be used after it.
func (c *Cut) Release() {
	for i, v := range c.versions {
		if v != nil {
			v.Release()
			c.versions[i] = nil
		}
	}
	c.set.pins.remove(c.pin)
}

// pinList knows the open cuts by age.
type pinList struct {
	mu    sync.Mutex
	since list.List // of int64, unix ms, oldest first
}

func (p *pinList) add(now int64) *list.Element {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since.PushBack(now)
}

func (p *pinList) remove(e *list.Element) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since.Remove(e)
}

// Pins returns how many cuts are open and since when the oldest is, unix ms.
func (s *Set) Pins() (n int, oldest int64) {
	s.pins.mu.Lock()
	defer s.pins.mu.Unlock()
	if e := s.pins.since.Front(); e != nil {
		oldest = e.Value.(int64)
	}
	return s.pins.since.Len(), oldest
}
