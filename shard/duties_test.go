package shard

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"firn/mvcc"
)

// stepClock is a monotonic clock that moves by step at every look.
func (h *harness) stepClock(step time.Duration) {
	at := time.Time{}
	h.monotonic = func() time.Time { at = at.Add(step); return at }
}

// TestExpireSlices: 10,000 keys that expire in one millisecond go in slices: no
// shard is kept longer than one, and the rest is left for the next.
func TestExpireSlices(t *testing.T) {
	const keys = 10_000
	s := newHarness(t, 1)
	j := newReplica()
	s.Subscribe(j)
	c := s.client()
	due := s.now.Load() + 100
	for i := range keys {
		c.set(fmt.Sprint("key:", i), "v", due)
	}
	c.set("stays", "v", due+1)
	s.stepClock(dutySlice / 4)
	h := s.NewHold()
	s.now.Store(due - 1)
	require.False(t, h.expireSlice(0), "nothing is due")
	require.Zero(t, s.Stats().Expired.Load())
	s.now.Store(due)
	slices, before := 0, int64(0)
	for more := true; more; slices++ {
		more = h.expireSlice(0)
		require.False(t, h.Held())
		n := s.Stats().Expired.Load() - before
		before += n
		require.LessOrEqual(t, n, int64(4*expireBatch), "a slice went on too long")
	}
	require.EqualValues(t, keys, s.Stats().Expired.Load())
	require.GreaterOrEqual(t, slices, keys/(4*expireBatch))
	require.Equal(t, map[string]string{"stays": fmt.Sprint("v ", due+1)}, s.contents())
	require.Equal(t, s.contents(), j.contents())
}

// TestCleanSlices: cleaning, too, gives the shard back after each slice, and it
// ends.
func TestCleanSlices(t *testing.T) {
	s := newHarness(t, 1)
	c := s.client()
	r := s.rand(9)
	for range 3 {
		c.write(func(tx *mvcc.Tx) []Effect {
			for range 20_000 {
				set(tx, fmt.Sprint(r.IntN(20_000)), string(make([]byte, r.IntN(300))), 0)
			}
			return nil
		}, "x")
	}
	ratio := func() float64 { u := s.Usage(nil); return float64(u.Segments) / float64(u.Records) }
	before := ratio()
	s.stepClock(dutySlice / 4)
	h := s.NewHold()
	slices := 0
	for ; h.cleanSlice(0); slices++ {
		require.Less(t, slices, 10_000)
	}
	require.Greater(t, slices, 10)
	require.Less(t, ratio(), 1.3, "before: %.2f", before)
}

// TestRun: the duties run by themselves, every period and when kicked, and end
// with the context.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHarness(t, 4)
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { s.Run(ctx, time.Second); close(ended) }()
		c := s.client()
		for i := range 100 {
			c.set(fmt.Sprint(i), "v", s.now.Load()+1)
		}
		s.now.Add(1)
		synctest.Wait()
		require.Len(t, s.contents(), 100)
		<-time.After(time.Second)
		synctest.Wait()
		require.Empty(t, s.contents())

		c.set("k", "v", s.now.Load()+1)
		s.now.Add(1)
		s.SetActiveExpire(false)
		s.Kick()
		synctest.Wait()
		require.Len(t, s.contents(), 1)
		s.SetActiveExpire(true)
		s.Kick()
		s.Kick()
		synctest.Wait()
		require.Empty(t, s.contents())
		stop()
		<-ended
	})
}

// TestGiveWay: between two slices a shard is left alone for as long as one
// lasts, if somebody waits for it, and not at all otherwise.
func TestGiveWay(t *testing.T) {
	s := newHarness(t, 2)
	h := s.NewHold()
	sh := h.takeOne(1)
	taken := make(chan struct{})
	go func() {
		sh.lock()
		defer sh.mu.Unlock()
		close(taken)
	}()
	for sh.waiting.Load() == 0 {
		runtime.Gosched()
	}
	h.Give()
	<-taken
	require.Zero(t, sh.waiting.Load())

	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s.giveWay(0, 1)
		require.Zero(t, time.Since(start))
		sh.waiting.Store(1)
		s.giveWay(0)
		require.Zero(t, time.Since(start))
		s.giveWay(0, 1)
		require.Equal(t, dutySlice, time.Since(start))
		sh.waiting.Store(0)
	})
}
