package server

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGCRoom: room enough when little is alive, no more than its share when
// much is, and no heap that grows gets a smaller goal.
func TestGCRoom(t *testing.T) {
	require.Equal(t, gcMaxPercent, gcPercent(0))
	require.Equal(t, gcMaxPercent, gcPercent(1<<20))
	goal := int64(0)
	for live := int64(1 << 20); live < 1<<40; live += live / 16 {
		require.GreaterOrEqual(t, live+gcRoom(live), goal, "live %d", live)
		goal = live + gcRoom(live)
		require.GreaterOrEqual(t, gcRoom(live), live*gcShareOfLive/100)
		if live >= gcFloorEnd {
			require.InDelta(t, gcShareOfLive, gcPercent(live), 1)
		}
	}
}

// TestCollectorFollows: a change of the percentage only after a collection, and
// a collection at once when much was deleted (C10).
func TestCollectorFollows(t *testing.T) {
	t.Cleanup(func() { debug.SetGCPercent(100) })
	var c collector
	c.follow(heapSize{live: 1 << 20, collected: 1}, 1<<20, 0, run)
	require.Equal(t, gcMaxPercent, c.percent)
	c.follow(heapSize{live: 1 << 30, collected: 1}, 1<<20, 0, run)
	require.Equal(t, gcMaxPercent, c.percent)
	c.follow(heapSize{live: 1 << 30, collected: 2}, 1<<30, 0, run)
	require.Equal(t, gcShareOfLive, c.percent)
	require.EqualValues(t, 1<<30, c.used)

	before := readHeap().collected
	c.follow(heapSize{live: 1 << 30, collected: 2}, 1<<20, 0, run)
	require.Greater(t, readHeap().collected, before)
	require.EqualValues(t, 1<<20, c.used)
	require.Equal(t, gcMaxPercent, c.percent) // fits what is left, or allocations would have to sweep at once
}

func run(f func()) { f() }

// A deleted value that nobody has collected counts as left behind, also where
// the heap is small.
func TestCollectorNoticesWhatWasDeleted(t *testing.T) {
	c := collector{cycles: 1, percent: 8, used: 40 << 20}
	h, n := heapSize{live: 40 << 20, objects: 40 << 20, collected: 1}, 0
	for range 3 * stillTicks {
		c.follow(h, 20<<20, 0, func(f func()) { n++; f() })
	}
	require.Equal(t, 1, n)
}

// TestCollectorGivesBack: free pages and garbage that a load has left behind are
// given back when used memory stands still, also when they come late (the
// cleaner is at work until then); what readers leave all the time, ever less
// often.
func TestCollectorGivesBack(t *testing.T) {
	const used = 200 << 20
	left := heapSize{live: used, objects: used, free: 20 << 20}
	clean := heapSize{live: used, objects: used + 1<<20, free: 2 << 20}
	times := func(c *collector, h heapSize, ticks int) (n int) {
		for range ticks {
			if c.idle(h, used) {
				n++
			}
		}
		return n
	}

	c := collector{used: used}
	for i := range int64(20) {
		require.False(t, c.idle(left, used/2+i*used/40), "it grows")
	}
	require.Zero(t, times(&c, clean, 7*stillTicks), "nothing is worth a collection")
	require.Equal(t, 1, times(&c, left, stillTicks), "it is now")
	require.Zero(t, times(&c, clean, 10*stillTicks))

	c = collector{used: used}
	c.idle(left, used)
	require.Equal(t, 11, times(&c, left, 32*stillTicks), "at 5 10 15 20 26 34 45 60 80 106 141 ticks")
}

// TestCollectorLeavesWhatIsInUse: a server that evicts at its limit has used
// memory that stands still and free pages that it fills again and again. When the
// writes end they are given back, and a few writes don't keep them.
func TestCollectorLeavesWhatIsInUse(t *testing.T) {
	const used = 1 << 30
	h := heapSize{live: used, objects: used + 50<<20, free: 40 << 20, collected: 1}
	c := collector{cycles: 1, percent: 8, used: used, raised: used}
	forced, writes := 0, int64(0)
	tick := func() { c.follow(h, used, writes, func(f func()) { forced++; f() }) }
	for range 100 {
		writes += 2 * stillMost
		tick()
	}
	require.Zero(t, forced)
	for range stillTicks {
		writes += stillMost
		tick()
	}
	require.Equal(t, 1, forced)
}

// TestCollectorLeavesGrowthAlone: what is known to be alive brings no collection
// until it has grown a lot, however early the runtime begins and however old the
// figures are; garbage always does; and when the data goes that came since the
// last collection there is one at once.
func TestCollectorLeavesGrowthAlone(t *testing.T) {
	t.Cleanup(func() { debug.SetGCPercent(100) })
	for _, pace := range []int64{1 << 20, 10 << 20} {
		var c collector
		h, used, forced := heapSize{live: 10 << 20, objects: 10 << 20, collected: 1}, int64(10<<20), 0
		goal := func() int64 { return max(h.live+h.live*int64(c.percent)/100, gcLeast*int64(c.percent)/100) }
		c.follow(h, used, 0, nil)
		collections := 0
		for used < 1<<30 {
			c.follow(h, used, 0, nil)
			require.Less(t, goal(), used+max(used/5, 32<<20)+2*gcRoom(used)+3*pace*64/45, "room for garbage")
			used, h.objects = used+pace, h.objects+pace
			if h.objects > h.live+(goal()-h.live)*45/64 {
				h.live = h.objects
				h.collected, collections = h.collected+1, collections+1
			}
		}
		require.Less(t, collections, 12)
		c.follow(h, used/2, 0, func(func()) { forced++ })
		require.Equal(t, 1, forced)
	}
}

// TestPercentStaysWhileMemoryIsGivenBack: setting it would wait for that, with the
// world stopped.
func TestPercentStaysWhileMemoryIsGivenBack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	var c collector
	var giveBack func()
	later := func(f func()) { giveBack = f }
	c.follow(heapSize{live: 1 << 30, collected: 1}, 1<<30, 0, later)
	c.follow(heapSize{live: 1 << 30, collected: 1}, 1<<20, 0, later)
	require.NotNil(t, giveBack)
	percent := c.percent
	c.follow(heapSize{live: 1 << 30, collected: 2}, 1<<30, 0, later)
	require.Equal(t, percent, c.percent)
	giveBack()
	c.follow(heapSize{live: 1 << 30, collected: 2}, 1<<30, 0, later)
	require.NotEqual(t, percent, c.percent)
}
