package mvcc

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// A Space is the whole keyspace: stores side by side, in position order. The
// slice itself never changes.
type Space struct {
	Stores []*Store
	Hash   Hasher
	shift  int
	access atomic.Pointer[Access]
	limits atomic.Pointer[Limits]
}

// NewSpace returns an empty keyspace of that many stores (a power of two, at
// most 4096) and databases.
func NewSpace(stores, databases int, h Hasher) *Space {
	if bits.OnesCount(uint(stores)) != 1 || stores > 1<<tagBits {
		panic("mvcc: the number of stores must be a power of two up to 4096")
	}
	s := &Space{Hash: h, shift: 64 - bits.TrailingZeros(uint(stores))}
	s.access.Store(&Access{})
	s.SetLimits(DefaultLimits())
	epochs := new(epochSource)
	for i := range stores {
		st := &Store{dbs: make([]*keyspace, databases), hash: h, epochs: epochs, first: uint64(i) << s.shift, bits: s.shift}
		s.Stores = append(s.Stores, st)
	}
	return s
}

// StoreOf returns the index of the store that holds the position.
func (s *Space) StoreOf(pos uint64) int {
	return int(pos >> s.shift)
}

// Databases returns the number of databases.
func (s *Space) Databases() int { return len(s.Stores[0].dbs) }

// Access returns how access clocks are kept.
func (s *Space) Access() *Access { return s.access.Load() }

// SetAccess changes how access clocks are kept, from the next access on.
func (s *Space) SetAccess(a Access) { s.access.Store(&a) }

// A Store is one shard's part of the keyspace: its keyspaces by database.
type Store struct {
	dbs     []*keyspace
	inUse   []*keyspace // those of dbs that are there, for what is done behind each write
	hash    Hasher
	first   uint64 // least position of the store
	bits    int    // its positions are first plus as many bits
	epochs  *epochSource
	freezes atomic.Int64
	marks   []*marks // by database; nil while there never were any
	touched []*Mark  // see TakeTouched
}

// keyspace returns the database, made at its first use.
func (s *Store) keyspace(db int) *keyspace {
	k := s.dbs[db]
	if k == nil {
		k = newKeyspace(s.hash, s.epochs.next())
		k.marks = s.marksOf(db)
		s.dbs[db] = k
		s.inUse = append(s.inUse, k)
	}
	return k
}

// Len returns the number of keys of the database, expired ones that were not
// yet removed included, and how many have an expiry. During a splice it is the
// number without the splice.
func (s *Store) Len(db int) (keys, expires int) {
	k := s.dbs[db]
	if k == nil {
		return 0, 0
	}
	if k.before != nil {
		return k.before.count, k.expires.Len()
	}
	return k.count, k.expires.Len()
}

// Flush empties the database in O(1): what it held is left to the collector
// and to the versions that still show it. It must not be done during a splice.
func (s *Store) Flush(db int) {
	s.unspliced(db)
	s.inUse = slices.DeleteFunc(s.inUse, func(k *keyspace) bool { return k == s.dbs[db] })
	s.replaced(db, s.dbs[db], nil, 0)
	s.dbs[db] = nil
}

// Swap exchanges two databases at now (unix ms), which must not be done during a
// splice.
func (s *Store) Swap(a, b int, now int64) {
	s.unspliced(a)
	s.unspliced(b)
	if a != b {
		s.replaced(a, s.dbs[a], s.dbs[b], now)
		s.replaced(b, s.dbs[b], s.dbs[a], now)
	}
	s.dbs[a], s.dbs[b] = s.dbs[b], s.dbs[a]
}

// unspliced panics if the database has a splice under way: its end would not
// find it, and freezes would show the state before it for ever.
func (s *Store) unspliced(db int) {
	if k := s.dbs[db]; k != nil && k.before != nil {
		panic("mvcc: a database is flushed or swapped during a splice")
	}
}

// Clean moves live records out of the emptiest segments, examining at most
// budget bytes in all, and says whether there is more to do. What writers clean
// by themselves (CleanDebt) is left to them.
func (s *Store) Clean(budget int) (more bool) {
	for _, k := range s.dbs {
		if k != nil && !k.log.kept() && k.clean(budget) {
			return true
		}
	}
	return false
}

// Rest is called from time to time, more often than a user would notice: a
// keyspace that was hardly written since the last call is kept denser.
func (s *Store) Rest() {
	for _, k := range s.dbs {
		if k != nil {
			k.rest()
		}
	}
}

// CleanDebt does the cleaning that the writes since the last call have to pay
// for, at most limit bytes of it.
func (s *Store) CleanDebt(limit int) {
	for _, k := range s.inUse {
		if k.log.debt <= 0 {
			continue
		}
		n := min(k.log.debt, limit)
		k.log.debt -= n
		if !k.clean(n) {
			k.log.debt = 0
		}
	}
}

// NextExpiry returns when the first key or member of a value expires, unix ms;
// false if none does.
func (s *Store) NextExpiry() (at int64, ok bool) {
	for _, k := range s.dbs {
		if k == nil {
			continue
		}
		if d, any := k.expires.Min(); any && (!ok || d.at < at) {
			at, ok = d.at, true
		}
		if d, any := k.members.Min(); any && (!ok || d.at < at) {
			at, ok = d.at, true
		}
	}
	return at, ok
}

// Usage is what a store's data takes, in bytes and counts.
type Usage struct {
	Live      int64 // live data and index: used memory
	Records   int64 // live record bytes
	Segments  int64 // bytes of all segments, live or dead
	Objects   int64 // bytes of big values
	Keys      int64
	Expires   int64
	Pinned    int64 // bytes that only open versions hold
	Freezes   int64 // versions made since the start
	OpenPins  int64
	KeyspaceN int64 // databases in use
}

// Add adds another usage.
func (u *Usage) Add(o Usage) {
	u.Live += o.Live
	u.Records += o.Records
	u.Segments += o.Segments
	u.Objects += o.Objects
	u.Keys += o.Keys
	u.Expires += o.Expires
	u.Pinned += o.Pinned
	u.Freezes += o.Freezes
	u.OpenPins += o.OpenPins
	u.KeyspaceN += o.KeyspaceN
}

// Usage measures the store: O(databases).
func (s *Store) Usage() Usage {
	u := Usage{Freezes: s.freezes.Load()}
	for _, k := range s.dbs {
		if k == nil {
			continue
		}
		u.Add(Usage{
			Live: k.used(), Records: k.log.live, Segments: k.log.alloc, Objects: k.objSize, Keys: int64(k.count),
			Expires: int64(k.expires.Len()), OpenPins: k.open.Load(), Pinned: k.pinnedBytes(), KeyspaceN: 1,
		})
	}
	return u
}

// Used returns Usage().Live alone.
func (s *Store) Used() (n int64) {
	for _, k := range s.inUse {
		n += k.used()
	}
	return n
}

// Taken is Used with what is dead or not yet filled in the segments: the heap
// that the store takes, without what only versions hold.
func (s *Store) Taken() (n int64) {
	for _, k := range s.inUse {
		n += k.used() - k.log.live + k.log.alloc
	}
	return n
}

// BeginSplice opens a splice on the database: from here to EndSplice, freezes
// and Len show the keyspace without what the splicing Tx writes.
func (s *Store) BeginSplice(db int) {
	k := s.keyspace(db)
	if k.before != nil {
		panic("mvcc: a splice is already under way")
	}
	t := k.tables.freeze()
	k.before = &t
	k.cached = nil
	k.raise(s.epochs.next())
}

// EndSplice makes the splice visible to freezes.
func (s *Store) EndSplice(db int) {
	k := s.keyspace(db)
	k.before, k.cached = nil, nil
	k.raise(s.epochs.next())
}

// Splicing says whether a splice is under way on any database of the store.
func (s *Store) Splicing() bool {
	for _, k := range s.dbs {
		if k != nil && k.before != nil {
			return true
		}
	}
	return false
}
