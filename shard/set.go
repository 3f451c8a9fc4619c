package shard

import (
	"sync"
	"sync/atomic"
	"time"

	"firn/mvcc"
)

// A Shard is one part of the keyspace and the right to touch it.
type Shard struct {
	mu      sync.Mutex
	waiting atomic.Int32 // that are in lock
	store   *mvcc.Store
	locks   []*Lock              // of long writes and stores with keys here
	lines   map[*mvcc.Mark]*line // of those who wait for keys here
	late    []*line              // that are ready, once the key is not locked any more
	used    int64                // store.Used() at the last settlement
}

// lock takes the shard, and lets who holds it in slices see that somebody
// waits: a mutex that is given back and taken again at once stays with its
// holder, for a millisecond at a time, however many slices that is.
func (sh *Shard) lock() {
	if sh.mu.TryLock() {
		return
	}
	sh.waiting.Add(1)
	sh.mu.Lock()
	sh.waiting.Add(-1)
}

// A Set is all the shards of a keyspace.
type Set struct {
	Space *mvcc.Space
	Heavy *Pool

	shards    []*Shard
	clock     func() int64     // unix ms
	monotonic func() time.Time // measures slices; tests replace it
	rand      func() uint64
	expired   func([]mvcc.Removed)
	evicted   func(db int, key []byte)
	journals  atomic.Pointer[[]Journal]
	journal   sync.Mutex // one order for all effects
	used      atomic.Int64
	taken     atomic.Int64
	long      longWriter
	backlog   backlog
	pins      pinList
	evictor   evictor
	stats     Stats
	wake      chan struct{}
	noExpire  atomic.Bool
	still     atomic.Bool
}

// Stats counts what the duties did since the start. Read with Load.
type Stats struct {
	Expired        atomic.Int64 // keys removed because they had expired
	ExpiredByRead  atomic.Int64 // of these, by a lookup
	Evicted        atomic.Int64
	EvictionSlices atomic.Int64 // times that eviction stopped at its time limit
	LongWrites     atomic.Int64
	Stores         atomic.Int64 // that ran aside
	DutyNanos      atomic.Int64 // time spent in duties
	ExpireLate     atomic.Int64 // times that a duty left expired keys for the next

	LongestExpire   Longest // slice of removing expired keys, with its shard held
	LongestEviction Longest // slice of evicting
	LongestFreeze   Longest // freezing of all shards at one instant
}

// Config is what a Set needs to know at its start.
type Config struct {
	Shards       int           // a power of two
	Databases    int           // number of databases
	Hash         mvcc.Hasher   // position hash
	HeavyThreads int           // goroutines of the heavy pool
	HeavyEnter   Enter         // called by each goroutine of the heavy pool; may be nil
	Clock        func() int64  // unix ms
	Rand         func() uint64 // uniform; must be safe for concurrent use

	// Expired and Evicted, which may be nil, are told of keys that the duties
	// removed, and of those evicted; their shard is held, and they must be
	// quick.
	Expired func(gone []mvcc.Removed)
	Evicted func(db int, key []byte)
}

// New returns an empty keyspace. Run must be started for its duties.
func New(c Config) *Set {
	s := &Set{
		Space: mvcc.NewSpace(c.Shards, c.Databases, c.Hash),
		Heavy: NewPool(c.HeavyThreads, c.HeavyEnter),
		clock: c.Clock,
		rand:  c.Rand,

		expired: c.Expired,
		evicted: c.Evicted,

		wake: make(chan struct{}, 1),

		monotonic: time.Now,
	}
	if s.expired == nil {
		s.expired = func([]mvcc.Removed) {}
	}
	if s.evicted == nil {
		s.evicted = func(int, []byte) {}
	}
	s.journals.Store(&[]Journal{})
	for _, st := range s.Space.Stores {
		s.shards = append(s.shards, &Shard{store: st})
	}
	return s
}

// Len returns the number of shards.
func (s *Set) Len() int { return len(s.shards) }

// Stats returns the counters.
func (s *Set) Stats() *Stats { return &s.stats }

// Used returns the memory that data and index take, in bytes.
func (s *Set) Used() int64 { return s.used.Load() }

// Taken returns the heap that data and index took when the present period of the
// duties began, in bytes: Used with what is dead or not yet filled.
func (s *Set) Taken() int64 { return s.taken.Load() }

// Subscribe makes a journal receive every effect from now on. It must be called
// before commands run or with the keyspace at rest.
func (s *Set) Subscribe(j Journal) {
	s.journal.Lock()
	defer s.journal.Unlock()
	all := append([]Journal{}, *s.journals.Load()...)
	all = append(all, j)
	s.journals.Store(&all)
}

// Journaled says whether somebody listens to the effects.
func (s *Set) Journaled() bool { return len(*s.journals.Load()) > 0 }

// append hands effects to the journals in the one total order. The caller holds
// the shards that they are about.
func (s *Set) append(now int64, effects []Effect) {
	js := *s.journals.Load()
	if len(js) == 0 || len(effects) == 0 {
		return
	}
	s.journal.Lock()
	defer s.journal.Unlock()
	for _, j := range js {
		j.Append(now, effects)
	}
}

// SetActiveExpire turns the removal of expired keys that nobody looks at on or
// off (DEBUG SET-ACTIVE-EXPIRE).
func (s *Set) SetActiveExpire(on bool) { s.noExpire.Store(!on) }

// SetStill makes the keyspace change by commands alone: nothing expires, though
// expired keys stay invisible, and nothing is evicted (CLIENT PAUSE).
func (s *Set) SetStill(on bool) { s.still.Store(on) }

// Usage measures all shards, one after the other. It doesn't take the shards
// that the Hold, which may be nil, holds open.
func (s *Set) Usage(h *Hold) (u mvcc.Usage) {
	s.each(h, func(sh *Shard) { u.Add(sh.store.Usage()) })
	return u
}

// settle brings the account of used memory up to date and does the cleaning
// that the writes have to pay for. The shard is held.
func (s *Set) settle(sh *Shard) {
	sh.store.CleanDebt(cleanPerWrite)
	if used := sh.store.Used(); used != sh.used {
		s.used.Add(used - sh.used)
		sh.used = used
	}
}

// cleanPerWrite bounds the cleaning (bytes examined) behind one command; what
// is left is done behind the next ones and by the duties.
const cleanPerWrite = 16 << 10
