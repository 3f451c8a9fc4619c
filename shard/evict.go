package shard

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"firn/mvcc"
)

// Policy says which keys may be evicted and which go first.
type Policy byte

// The policies of maxmemory-policy.
const (
	NoEviction Policy = iota
	AllKeysLRU
	AllKeysLFU
	AllKeysRandom
	VolatileLRU
	VolatileLFU
	VolatileRandom
	VolatileTTL
)

func (p Policy) volatile() bool { return p >= VolatileLRU }
func (p Policy) lfu() bool      { return p == AllKeysLFU || p == VolatileLFU }

// Limit is the memory limit and what to do at it.
type Limit struct {
	Max     int64 // bytes of data, index and Extra; 0: none
	Policy  Policy
	Samples int           // keys looked at for each one evicted
	Slice   time.Duration // how long one MakeRoom may take
	Extra   func() int64  // what else counts, client buffers; may be nil
}

// Room is what MakeRoom reached.
type Room byte

// Outcomes of MakeRoom.
const (
	RoomEnough  Room = iota // memory is under the limit
	RoomRunning             // not yet, but eviction goes on
	RoomNone                // over the limit, and nothing may be evicted
)

// poolSize is the number of candidates that are kept from sample to sample, so
// that the choice is better than its sample (Redis' eviction pool, evict.c).
const poolSize = 16

// spareKeyMax is how long a key may be whose memory is kept.
const spareKeyMax = 1 << 10

// evictor chooses the keys to evict.
type evictor struct {
	limit  atomic.Pointer[Limit]
	mu     sync.Mutex
	wanted atomic.Bool // a writer has met another who is at it
	best   []victim    // worst score first; the last goes next
	spare  [][]byte    // memory of keys that were in best
	hold   *Hold
	quota  int // keys that may be evicted before the next sample
}

// victim is a candidate that outlives its sample.
type victim struct {
	mvcc.Candidate
	shard int
	score int64 // higher goes first
}

func (v *victim) same(o *victim) bool {
	return o.Pos == v.Pos && o.DB == v.DB && string(o.Key) == string(v.Key)
}

// SetLimit changes the memory limit.
func (s *Set) SetLimit(l Limit) {
	s.evictor.mu.Lock()
	defer s.evictor.mu.Unlock()
	s.evictor.best = nil
	s.evictor.limit.Store(&l)
	s.Kick()
}

// Over says by how many bytes the memory is over the limit; 0 if it is not.
func (s *Set) Over() int64 {
	l := s.evictor.limit.Load()
	if l == nil || l.Max == 0 {
		return 0
	}
	used := s.used.Load()
	if l.Extra != nil {
		used += l.Extra()
	}
	return max(used-l.Max, 0)
}

// MakeRoom evicts keys until the memory is under the limit, or its slice is
// over; the duties go on with what is left. Nothing may be held.
func (s *Set) MakeRoom(now int64) Room {
	if s.Over() == 0 || s.still.Load() {
		return RoomEnough
	}
	if s.evictor.limit.Load().Policy == NoEviction {
		return RoomNone
	}
	if !s.evictor.mu.TryLock() {
		s.evictor.wanted.Store(true)
		return RoomRunning // another session is at it, or the duty
	}
	defer s.evictor.mu.Unlock()
	return s.evictSlice(now, func() bool { return false })
}

// evictSlice is MakeRoom with evictor.mu held. It ends early when leave says so.
func (s *Set) evictSlice(now int64, leave func() bool) Room {
	l := s.evictor.limit.Load()
	if s.Over() > 0 && l.Policy == NoEviction {
		return RoomNone
	}
	start := s.monotonic()
	defer func() { s.stats.LongestEviction.note(s.monotonic().Sub(start)) }()
	for n := 1; s.Over() > 0; n++ {
		if !s.evictOne(l, now) {
			return RoomNone
		}
		if n%8 == 0 && (leave() || s.monotonic().Sub(start) > l.Slice) {
			s.stats.EvictionSlices.Add(1)
			s.Kick()
			return RoomRunning
		}
	}
	return RoomEnough
}

// evictDuty evicts until the memory is under the limit or nothing is left to
// evict. It waits for its turn, where MakeRoom would only say that another is
// at it. When a writer meets it, it leaves the rest to the writers: they would go
// on adding while it evicts, and it is the slower one, because it waits for the
// shards that they hold. (So a server that came to its limit at 1 M inserts a
// second went 6 % beyond it, and had 130,000 a second until it was back.)
func (s *Set) evictDuty(ctx context.Context) {
	e := &s.evictor
	for more := s.Over() > 0; more && ctx.Err() == nil; {
		e.mu.Lock()
		e.wanted.Store(false)
		more = s.evictSlice(s.clock(), e.wanted.Load) == RoomRunning && !e.wanted.Load()
		e.mu.Unlock()
	}
}

// evictOne frees memory by the best candidate; false if there is none.
func (s *Set) evictOne(l *Limit, now int64) bool {
	e := &s.evictor
	if e.hold == nil {
		e.hold = s.NewHold()
	}
	for try := 0; try < 4*len(s.shards)+poolSize; try++ {
		if e.quota == 0 || len(e.best) == 0 {
			e.sample(s, l, now, try)
			e.quota = l.perSample()
		}
		n := len(e.best)
		if n == 0 {
			continue
		}
		e.quota--
		v := e.best[n-1]
		e.best = e.best[:n-1]
		freed := e.hold.evict(v, l.Policy, now)
		e.forget(v)
		if freed {
			return true
		}
	}
	return false
}

// sample adds candidates from one shard: a random one, or, when those tried
// were empty, each in turn.
func (e *evictor) sample(s *Set, l *Limit, now int64, try int) {
	i := int(s.rand() % uint64(len(s.shards)))
	if try >= poolSize {
		i = try % len(s.shards)
	}
	sh := s.shards[i]
	sh.lock()
	defer sh.mu.Unlock()
	access := s.Space.Access()
	for db := range s.Space.Databases() {
		if l.Policy == VolatileTTL {
			if c, ok := sh.store.Soonest(db); ok && !sh.lockedBy(c.Pos) {
				e.add(victim{c, i, 1<<62 - c.Expire})
			}
			continue
		}
		sh.store.Sample(db, l.Policy.volatile(), l.samples()*l.perSample(), s.rand, func(c mvcc.Candidate) {
			if !sh.lockedBy(c.Pos) {
				e.add(victim{c, i, l.score(access, c.Clock, now)})
			}
		})
	}
}

// evictPerSample is how many keys are evicted for one sample, which is that many
// times maxmemory-samples: the descent and the wait for memory are shared.
const evictPerSample = 4

func (l *Limit) perSample() int {
	if l.Policy == VolatileTTL {
		return 1
	}
	return evictPerSample
}

func (l *Limit) samples() int {
	if l.Policy == AllKeysRandom || l.Policy == VolatileRandom {
		return 1
	}
	return l.Samples
}

// score ranks a candidate: idle time, or rarity.
func (l *Limit) score(a *mvcc.Access, clock uint32, now int64) int64 {
	switch {
	case l.Policy == AllKeysRandom || l.Policy == VolatileRandom:
		return 0
	case l.Policy.lfu():
		return 255 - int64(a.Frequency(clock, now))
	}
	return a.Idle(clock, now)
}

// add puts a candidate into the pool if it is better than one that is there. One
// that is there itself is judged anew: it may have been used since.
func (e *evictor) add(v victim) {
	for i := range e.best {
		if e.best[i].Pos == v.Pos && v.same(&e.best[i]) {
			e.forget(e.best[i])
			e.best = slices.Delete(e.best, i, i+1)
			break
		}
	}
	if len(e.best) == poolSize && v.score <= e.best[0].score {
		return
	}
	if len(e.best) == poolSize {
		e.forget(e.best[0])
		e.best = append(e.best[:0], e.best[1:]...)
	}
	v.Key = append(e.room(), v.Key...)
	at, _ := slices.BinarySearchFunc(e.best, v.score, func(b victim, score int64) int { return int(b.score - score) })
	e.best = slices.Insert(e.best, at, v)
}

// forget keeps the memory of a candidate's key for another one, within reason.
func (e *evictor) forget(v victim) {
	if cap(v.Key) <= spareKeyMax {
		e.spare = append(e.spare, v.Key[:0])
	}
}

// room returns memory for a key.
func (e *evictor) room() (b []byte) {
	if n := len(e.spare); n > 0 {
		b, e.spare = e.spare[n-1], e.spare[:n-1]
	}
	return b
}

// evict removes a candidate if it is still there and the policy still allows
// it: it may have lost its expiry since it was sampled. It says whether memory
// was freed, be it that the candidate had just expired.
func (h *Hold) evict(v victim, p Policy, now int64) bool {
	h.Reset()
	h.pos = append(h.pos, v.Pos)
	if h.Take(false) != nil {
		return false
	}
	defer h.Give()
	h.Tx.Begin(h.set.Space, v.DB, now)
	h.Tx.Hint(v.Key, v.Pos)
	if p.volatile() {
		if e, ok := h.Tx.Peek(v.Key); ok && e.Expire() == 0 {
			return false
		}
	}
	if h.Tx.Delete(v.Key) {
		h.set.stats.Evicted.Add(1)
		h.set.evicted(v.DB, v.Key)
	} else if len(h.Tx.Expired) == 0 {
		return false
	}
	h.CountExpired()
	h.set.expired(h.Tx.Expired)
	if h.set.Journaled() {
		h.set.append(now, []Effect{Expired(mvcc.Removed{DB: v.DB, Key: v.Key})})
	}
	h.Settle()
	return true
}
