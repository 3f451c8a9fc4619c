package mvcc

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

const minute = 60_000

func TestIdle(t *testing.T) {
	var a Access
	f := func(then, now, want int64) {
		t.Helper()
		require.Equal(t, want, a.Idle(a.first(then), now))
	}
	f(5000, 5999, 0)
	f(5999, 6000, 1000)
	f(5000, 65_000, 60_000)
	wrap := int64(1<<24) * 1000
	f(wrap-1000, wrap-1000, 0)
	f(wrap-1000, wrap, 0) // one second too few across the wrap, as in Redis
	f(wrap-10_000, wrap+20_000, 29_000)
	f(3*wrap+7000, 3*wrap+9000, 2000)
}

func TestIdleClock(t *testing.T) {
	var a Access
	now := int64(1_700_000_000_000)
	for _, s := range []int64{0, 1, 1000, 1 << 23} {
		require.Equal(t, s*1000, a.Idle(IdleClock(now, s), now), "%d s", s)
	}
	require.Equal(t, int64(20_000), a.Idle(IdleClock(5000, 20), 5000), "before the epoch of the clock")
}

func TestFrequencyDecay(t *testing.T) {
	a := Access{LFU: true, DecayTime: 1}
	f := func(decay int, counter byte, minutesLater int64, want int) {
		t.Helper()
		a.DecayTime = decay
		now := int64(1_700_000_000_000)
		require.Equal(t, want, a.Frequency(FrequencyClock(now, counter), now+minutesLater*minute))
	}
	f(1, 100, 0, 100)
	f(1, 100, 1, 99)
	f(1, 100, 99, 1)
	f(1, 100, 100, 0)
	f(1, 100, 60_000, 0)
	f(10, 100, 9, 100)
	f(10, 100, 25, 98)
	f(0, 100, 5000, 100)

	wrap := int64(1 << 16)
	a.DecayTime = 1
	require.Equal(t, 200, a.Frequency(FrequencyClock((wrap-1)*minute, 200), wrap*minute), "one minute too few across the wrap")
	require.Equal(t, 191, a.Frequency(FrequencyClock((wrap-5)*minute, 200), (wrap+5)*minute))
}

// TestFrequencyGrowth holds the counter against the table in redis.conf: with
// lfu-log-factor 10 about 10, 18, 142, 255 after 100, 1000, 100 k, 1 M hits.
func TestFrequencyGrowth(t *testing.T) {
	r, _ := newRand(t)
	a := Access{LFU: true, LogFactor: 10, DecayTime: 1, Rand: r.Uint64}
	require.Equal(t, lfuInit, a.Frequency(a.first(minute), minute))
	// The mean of sixteen keys: one key's counter strays too far for bounds
	// that say something.
	var clocks [16]uint32
	for i := range clocks {
		clocks[i] = a.first(minute)
	}
	hits := 0
	for _, step := range []struct{ hits, least, most int }{{100, 8, 13}, {1000, 16, 24}, {100_000, 130, 155}, {1_000_000, 250, 255}} {
		sum := 0
		for i := range clocks {
			for range step.hits - hits {
				clocks[i] = a.touched(clocks[i], minute)
			}
			sum += a.Frequency(clocks[i], minute)
		}
		hits = step.hits
		mean := sum / len(clocks)
		require.True(t, step.least <= mean && mean <= step.most, "after %d hits: %d", hits, mean)
	}
}

// TestClockOfKeys: which accesses set the clock, and what an overwrite does to
// it: an LRU clock starts anew, an LFU counter is kept (as Redis' dbOverwrite).
func TestClockOfKeys(t *testing.T) {
	for _, lfu := range []bool{false, true} {
		t.Run(fmt.Sprintf("lfu %v", lfu), func(t *testing.T) {
			s := newSpace(t, 1, 1, 64, 1)
			s.SetAccess(Access{LFU: lfu, LogFactor: 0, Rand: func() uint64 { return 0 }})
			key := []byte("k")
			var tx Tx
			clock := func(now int64) uint32 {
				tx.Begin(s, 0, now)
				e, ok := tx.Peek(key)
				require.True(t, ok)
				return e.Clock()
			}
			tx.Begin(s, 0, minute)
			tx.SetString(key, []byte("a"), 0)
			first := clock(minute)
			require.Equal(t, first, clock(9*minute), "Peek")
			tx.PeekCounted(key)
			require.Equal(t, first, clock(9*minute), "PeekCounted")
			tx.NoTouch = true
			tx.Get(key)
			tx.NoTouch = false
			require.Equal(t, first, clock(9*minute), "CLIENT NO-TOUCH")
			tx.Get(key)
			touched := clock(9 * minute)
			require.NotEqual(t, first, touched, "Get")
			tx.Begin(s, 0, 20*minute)
			tx.SetString(key, []byte("bb"), 0)
			if lfu {
				require.Equal(t, touched, clock(20*minute), "overwrite")
			} else {
				require.Equal(t, s.Access().first(20*minute), clock(20*minute), "overwrite")
			}
			kept := clock(20 * minute)
			tx.Begin(s, 0, 30*minute)
			tx.Rename(key, []byte("k2"))
			key = []byte("k2")
			require.Equal(t, kept, clock(30*minute), "rename")
			tx.Begin(s, 0, 31*minute)
			tx.SetExpire(key, 99*minute)
			require.Equal(t, kept, clock(31*minute), "expire")
		})
	}
}
