package shard

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"firn/mvcc"
)

var policies = map[string]Policy{
	"allkeys-lru": AllKeysLRU, "allkeys-lfu": AllKeysLFU, "allkeys-random": AllKeysRandom,
	"volatile-lru": VolatileLRU, "volatile-lfu": VolatileLFU, "volatile-random": VolatileRandom, "volatile-ttl": VolatileTTL,
}

// limit sets the limit below what is used, by that many bytes.
func (h *harness) limit(p Policy, over int64) {
	h.Space.SetAccess(mvcc.Access{LFU: p.lfu(), LogFactor: 10, DecayTime: 1, Rand: h.Set.rand})
	h.SetLimit(Limit{Max: h.Used() - over, Policy: p, Samples: 5, Slice: time.Hour})
}

// overflow is a limit that can't be reached, as if clients had used it up.
func overflow(p Policy) Limit {
	return Limit{Max: 1, Policy: p, Samples: 5, Slice: time.Hour, Extra: func() int64 { return 2 }}
}

// TestPolicies: each policy evicts as little as will do, volatile ones only
// keys that expire, tells the journal, and says so when it has come to its end.
func TestPolicies(t *testing.T) {
	for name, p := range policies {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, 8)
			j := newReplica()
			s.Subscribe(j)
			c := s.client()
			for i := range 1000 {
				expire := int64(0)
				if i%2 == 0 {
					expire = s.now.Load() + 1_000_000 + int64(i)
				}
				c.set(fmt.Sprintf("key:%04d", i), "12345678901234567890x", expire)
			}
			size := s.Used() / 1000
			s.limit(p, 20*size)
			require.Equal(t, RoomEnough, s.MakeRoom(s.now.Load()))
			require.Zero(t, s.Over())
			n := s.Stats().Evicted.Load()
			require.True(t, 10 <= n && n <= 30, "%d evicted", n)
			require.LessOrEqual(t, s.evictor.limit.Load().Max-s.Used(), 2*size, "more than it must")
			require.Equal(t, RoomEnough, s.MakeRoom(s.now.Load()))
			require.Equal(t, n, s.Stats().Evicted.Load())

			s.SetLimit(overflow(p))
			require.Equal(t, RoomNone, s.MakeRoom(s.now.Load()))
			left := s.contents()
			if !p.volatile() {
				require.Empty(t, left)
			} else {
				require.Len(t, left, 500)
				for k, v := range left {
					require.True(t, strings.HasSuffix(v, " 0"), "%s has an expiry left", k)
				}
			}
			require.Equal(t, left, j.contents())
		})
	}
}

func TestNoEviction(t *testing.T) {
	s := newHarness(t, 4)
	s.client().set("k", "v", 0)
	s.SetLimit(Limit{Max: 1, Policy: NoEviction})
	require.Equal(t, RoomNone, s.MakeRoom(s.now.Load()))
	require.Len(t, s.contents(), 1)
	s.evictDuty(context.Background()) // must end
	s.SetLimit(Limit{})
	require.Equal(t, RoomEnough, s.MakeRoom(s.now.Load()))
	s.SetLimit(Limit{Max: s.Used() + 10, Policy: NoEviction, Extra: func() int64 { return 11 }})
	require.EqualValues(t, 1, s.Over(), "Extra counts")
}

// TestEvictionQuality: of 10,000 keys half are used, and 90 % of what is
// evicted is from the other half; with a volatile-ttl, nearly all is from the
// half that expires first.
func TestEvictionQuality(t *testing.T) {
	for name, p := range policies {
		if p == AllKeysRandom || p == VolatileRandom {
			continue
		}
		t.Run(name, func(t *testing.T) {
			const keys = 10_000
			s := newHarness(t, 8)
			s.limit(p, 0)
			c := s.client()
			hot := func(i int) bool { return i%2 == 1 }
			key := func(i int) string { return fmt.Sprint("key:", i) }
			for i := range keys {
				expire := s.now.Load() + 1_000_000
				if hot(i) {
					expire *= 2
				}
				c.set(key(i), "value", expire+int64(i))
			}
			for range 3 {
				s.now.Add(10_000)
				for i := range keys {
					if hot(i) {
						c.get(key(i))
					}
				}
			}
			s.limit(p, s.Used()/4)
			require.Equal(t, RoomEnough, s.MakeRoom(s.now.Load()))
			cold, left := 0, s.contents()
			for i := range keys {
				if _, ok := left[key(i)]; !ok && !hot(i) {
					cold++
				}
			}
			evicted := keys - len(left)
			t.Logf("%d of %d evicted keys are cold", cold, evicted)
			require.EqualValues(t, evicted, s.Stats().Evicted.Load())
			require.GreaterOrEqual(t, cold*10, evicted*9)
		})
	}
}

// TestEvictionAtFullRate: C1, C2. With inserts at the limit about as many keys
// go as come, the number of keys hardly moves, and no call removes many.
func TestEvictionAtFullRate(t *testing.T) {
	s := newHarness(t, 8)
	c := s.client()
	n := 0
	insert := func() {
		c.set(fmt.Sprintf("key:%016d", n), "12345678901234567890x", 0)
		n++
	}
	for range 20_000 {
		insert()
	}
	s.limit(AllKeysLRU, 0)
	for range 20_000 {
		evicted := s.Stats().Evicted.Load()
		require.Equal(t, RoomEnough, s.MakeRoom(s.now.Load()))
		require.LessOrEqual(t, s.Stats().Evicted.Load()-evicted, int64(3))
		insert()
	}
	require.InDelta(t, 20_000, len(s.contents()), 10)
}

// TestEvictionSlice: C1. A limit that is lowered far is reached in slices.
func TestEvictionSlice(t *testing.T) {
	s := newHarness(t, 8)
	c := s.client()
	for i := range 1000 {
		c.set(fmt.Sprint(i), "value", 0)
	}
	s.stepClock(time.Millisecond)
	s.SetLimit(Limit{Max: 1, Policy: AllKeysRandom, Samples: 5, Slice: 2 * time.Millisecond})
	require.Equal(t, RoomRunning, s.MakeRoom(s.now.Load()))
	require.LessOrEqual(t, s.Stats().Evicted.Load(), int64(24))
	require.EqualValues(t, 1, s.Stats().EvictionSlices.Load())
	s.evictDuty(context.Background())
	require.Empty(t, s.contents())
}

// TestEvictionDutyLeaves: when a writer meets the duty, it leaves the rest to the
// writers, who would add without evicting meanwhile.
func TestEvictionDutyLeaves(t *testing.T) {
	s := newHarness(t, 8)
	c := s.client()
	for i := range 1000 {
		c.set(fmt.Sprint(i), "value", 0)
	}
	s.SetLimit(Limit{Max: 1, Policy: AllKeysRandom, Samples: 5, Slice: time.Hour})
	met := false
	s.monotonic = func() time.Time {
		if !s.evictor.mu.TryLock() {
			met = met || s.MakeRoom(s.now.Load()) == RoomRunning
		} else {
			s.evictor.mu.Unlock()
		}
		return time.Time{}
	}
	s.evictDuty(context.Background())
	require.True(t, met)
	require.Positive(t, s.Over())
	require.LessOrEqual(t, s.Stats().Evicted.Load(), int64(8))
	s.monotonic = time.Now
	require.Equal(t, RoomEnough, s.MakeRoom(s.now.Load()))
	require.Empty(t, s.contents())
}

// TestVolatileLimit: C6. Keys with an expiry, up to twice the limit, under
// volatile-lru: the memory stays at the limit.
func TestVolatileLimit(t *testing.T) {
	const limit = 400_000
	s := newHarness(t, 8)
	s.SetLimit(Limit{Max: limit, Policy: VolatileLRU, Samples: 5, Slice: time.Hour})
	c := s.client()
	for i := range 5000 {
		require.Equal(t, RoomEnough, s.MakeRoom(s.now.Load()))
		c.set(fmt.Sprint("key:", i), strings.Repeat("v", 100), s.now.Load()+100_000)
		require.Less(t, s.Used(), int64(limit+500))
	}
	require.Positive(t, s.Stats().Evicted.Load())
}

// TestEvictionDoesNotHang: C9. Commands of several keys over a tiny limit, from
// many goroutines that each make room first.
func TestEvictionDoesNotHang(t *testing.T) {
	s := newHarness(t, 4)
	s.SetLimit(Limit{Max: 300, Policy: AllKeysRandom, Samples: 5, Slice: time.Millisecond})
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			c := s.client()
			for i := range 500 {
				s.MakeRoom(s.now.Load())
				keys := []string{fmt.Sprint(g, i), "b", "c", "d"}
				c.write(func(tx *mvcc.Tx) (e []Effect) {
					for _, k := range keys {
						e = append(e, set(tx, k, "v", 0))
					}
					return e
				}, keys...)
			}
		})
	}
	all.Wait()
	s.evictDuty(context.Background())
	require.Zero(t, s.Over())
}

// TestPersistedKeyStays: a key that was sampled as one that expires, and no
// longer does, is not evicted by a volatile policy.
func TestPersistedKeyStays(t *testing.T) {
	s := newHarness(t, 1)
	c := s.client()
	for i := range 10 {
		c.set(fmt.Sprint(i), "v", s.now.Load()+1000)
	}
	s.limit(VolatileTTL, 1)
	require.Equal(t, RoomEnough, s.MakeRoom(s.now.Load()))
	s.evictor.sample(s.Set, s.evictor.limit.Load(), s.now.Load(), 0)
	require.NotEmpty(t, s.evictor.best)
	for i := range 10 {
		c.write(func(tx *mvcc.Tx) []Effect {
			if _, ok := tx.Lookup(fmt.Append(nil, i)); ok {
				tx.SetExpire(fmt.Append(nil, i), 0)
			}
			return nil
		}, fmt.Sprint(i))
	}
	over := s.Used() - 1
	best := s.evictor.best
	s.SetLimit(Limit{Max: over, Policy: VolatileTTL, Samples: 5, Slice: time.Hour})
	s.evictor.best = best // as if sampled just before
	require.Equal(t, RoomNone, s.MakeRoom(s.now.Load()))
	require.Len(t, s.contents(), 9)
}

// TestExpiredCandidate: a candidate that has expired frees memory as well as
// any, and no other goes for it.
func TestExpiredCandidate(t *testing.T) {
	s := newHarness(t, 1)
	j := newReplica()
	s.Subscribe(j)
	c := s.client()
	c.set("old", "v", s.now.Load()+5)
	c.set("new", "v", s.now.Load()+500_000)
	s.now.Add(5)
	s.limit(VolatileTTL, 1)
	require.Equal(t, RoomEnough, s.MakeRoom(s.now.Load()))
	require.Len(t, s.contents(), 1)
	require.Equal(t, s.contents(), j.contents())
	require.Zero(t, s.Stats().Evicted.Load())
	require.EqualValues(t, 1, s.Stats().Expired.Load())
}

// TestCandidatesAreJudgedAnew: a key that was used after it had been sampled
// loses its place when it is sampled again, and no key is in the pool twice.
func TestCandidatesAreJudgedAnew(t *testing.T) {
	var e evictor
	add := func(key string, pos uint64, score int64) {
		e.add(victim{Candidate: mvcc.Candidate{Key: []byte(key), Pos: pos}, score: score})
	}
	order := func() (keys []string) {
		for _, v := range e.best {
			keys = append(keys, string(v.Key))
		}
		return keys
	}
	add("a", 1, 10)
	add("b", 2, 30)
	add("c", 3, 20)
	add("twin of c", 3, 40)
	require.Equal(t, []string{"a", "c", "b", "twin of c"}, order())
	add("b", 2, 5)
	require.Equal(t, []string{"b", "a", "c", "twin of c"}, order())
	for i := range 30 {
		add(fmt.Sprint(i), uint64(100+i), int64(100+i))
	}
	require.Len(t, e.best, poolSize)
	require.Equal(t, "29", order()[poolSize-1])
	add("cold enough for nobody", 9, 1)
	require.NotContains(t, order(), "cold enough for nobody")
}
