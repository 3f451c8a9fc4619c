package shard

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPoolFIFO: work starts in the order in which it came.
func TestPoolFIFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(1, nil)
		var order []int
		for i := range 20 {
			require.True(t, p.Go(func() { order = append(order, i) }))
		}
		p.Close()
		require.Len(t, order, 20)
		require.True(t, slices.IsSorted(order), "%v", order)
		require.False(t, p.Go(func() {}), "closed")
	})
}

// TestPoolPlaces: never more than its number run at once, whatever mix of
// Yield and Block they do, and all of them end.
func TestPoolPlaces(t *testing.T) {
	for _, places := range []int{0, 1, 3} {
		p := NewPool(places, nil)
		var running, most, ended atomic.Int64
		enter := func() {
			n := running.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
		}
		for i := range 200 {
			p.Go(func() {
				enter()
				for range 20 {
					running.Add(-1)
					if i%3 == 0 {
						p.Block(func() {})
					} else {
						p.Yield()
					}
					enter()
				}
				running.Add(-1)
				ended.Add(1)
			})
		}
		p.Close()
		require.EqualValues(t, 200, ended.Load())
		require.LessOrEqual(t, most.Load(), int64(max(places, 1)))
		run, wait := p.Load()
		require.Zero(t, run+wait)
	}
}

// TestPoolYieldIsFair: tasks that yield take turns, and new work gets its turn
// too.
func TestPoolYieldIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(1, nil)
		var order []string
		task := func(name string) func() {
			return func() {
				for range 3 {
					order = append(order, name)
					p.Yield()
				}
			}
		}
		p.Go(func() { // so that a and b wait side by side
			p.Go(task("a"))
			p.Go(task("b"))
			p.Go(func() { order = append(order, "c") })
		})
		synctest.Wait()
		p.Close()
		require.Equal(t, []string{"a", "b", "c", "a", "b", "a", "b"}, order)
	})
}

// TestPoolBlock: a task that waits for a slow reader takes up no place; it goes
// on when there is one again, behind those that were there before it.
func TestPoolBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(1, nil)
		var mu sync.Mutex
		var order []string
		note := func(s string) { mu.Lock(); defer mu.Unlock(); order = append(order, s) }
		p.Go(func() {
			p.Block(func() { <-time.After(time.Minute) })
			note("slow")
		})
		p.Go(func() { note("first") })
		p.Go(func() {
			<-time.After(2 * time.Minute) // keeps the place beyond the end of the wait
			note("second")
		})
		synctest.Wait()
		run, wait := p.Load()
		require.Equal(t, [2]int{1, 1}, [2]int{run, wait})
		<-time.After(90 * time.Second)
		synctest.Wait()
		mu.Lock()
		require.Equal(t, []string{"first"}, order)
		mu.Unlock()
		p.Close()
		require.Equal(t, []string{"first", "second", "slow"}, order)
	})
}

// TestPoolCloseWaits: Close returns when the work has ended, blocked work too.
func TestPoolCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(2, nil)
		done := 0
		p.Go(func() { p.Block(func() { <-time.After(time.Hour) }); done++ })
		start := time.Now()
		p.Close()
		require.Equal(t, 1, done)
		require.Equal(t, time.Hour, time.Since(start))
	})
}

// TestPoolBetween: a worker calls what enter gave it after each task, with its
// place still taken, and hears how many wait.
func TestPoolBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []int
		p := NewPool(1, func() func(int) { return func(waiting int) { heard = append(heard, waiting) } })
		for range 4 {
			p.Go(func() { synctest.Wait() })
		}
		p.Close()
		require.Equal(t, []int{3, 2, 1, 0}, heard)
	})
}
