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
	c.follow(heapSize{live: 1 << 20, collected: 1}, 1<<20)
	require.Equal(t, gcMaxPercent, c.percent)
	c.follow(heapSize{live: 1 << 30, collected: 1}, 1<<20)
	require.Equal(t, gcMaxPercent, c.percent)
	c.follow(heapSize{live: 1 << 30, collected: 2}, 1<<30)
	require.Equal(t, gcShareOfLive, c.percent)
	require.EqualValues(t, 1<<30, c.used)

	before := readHeap().collected
	c.follow(heapSize{live: 1 << 30, collected: 2}, 1<<20)
	require.Greater(t, readHeap().collected, before)
	require.EqualValues(t, 1<<20, c.used)
}

// TestCollectorGivesBack: free pages and garbage that a load has left behind are
// given back once, when used memory stands still.
func TestCollectorGivesBack(t *testing.T) {
	const used = 200 << 20
	var c collector
	left := heapSize{live: used, objects: used, free: 20 << 20}
	for i := range int64(20) {
		require.False(t, c.idle(left, used/2+i*used/20), "it grows")
	}
	end := int64(used/2 + 19*used/20)
	times := 0
	for range 5 * stillTicks {
		if c.idle(left, end) {
			times++
		}
	}
	require.Equal(t, 1, times)

	c, times = collector{}, 0
	for range 5 * stillTicks {
		if c.idle(heapSize{live: used, objects: used + 1<<20, free: 2 << 20}, used) {
			times++
		}
	}
	require.Zero(t, times, "nothing worth a collection")
}
