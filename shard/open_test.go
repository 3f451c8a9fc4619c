package shard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What an open Hold runs is one batch of the journal, with copies of arguments
// that are gone by its end, and nobody has a shard in between.
func TestOpenHoldIsOneTransaction(t *testing.T) {
	s := newHarness(t, 4)
	r := newReplica()
	r.keep = true
	s.Subscribe(r)
	h := s.NewHold()
	h.WantAll()
	require.Nil(t, h.Take(true))
	h.Open()
	c := &client{s, h}
	for _, key := range []string{"a", "b", "c", "a"} {
		c.set(key, "value of "+key, 0) // takes and gives as outside
	}
	h.Tx.Begin(s.Space, 0, s.now.Load())
	effects := []Effect{set(&h.Tx, "d", "1", 0)}
	h.Commit(s.now.Load(), effects)
	copy(effects[0].Args[1], "X")
	for _, sh := range s.shards {
		require.False(t, sh.mu.TryLock())
	}
	require.Empty(t, r.batches)
	h.Close(s.now.Load())
	require.False(t, h.IsOpen())
	require.False(t, h.Held())
	require.Len(t, r.batches, 1)
	require.Len(t, r.batches[0], 5)
	require.Equal(t, r.contents(), s.contents())
	require.Contains(t, s.contents(), "d")
}

// A cut inside a transaction shows what the transaction has written, and takes
// no shard; nor do Usage and Sizes.
func TestCutOfAnOpenHold(t *testing.T) {
	s := newHarness(t, 4)
	h := s.NewHold()
	h.WantAll()
	require.Nil(t, h.Take(false))
	h.Open()
	c := &client{s, h}
	c.set("a", "1", 0)
	cut := h.CutHeld(0, s.now.Load())
	require.Len(t, frozen(cut.All()), 1)
	cut.Release()
	require.Equal(t, 1, s.Sizes(h)[0].Keys)
	require.EqualValues(t, 1, s.Usage(h).Keys)
	h.Close(s.now.Load())
}

// What an open Hold finds expired is a part of its batch.
func TestOpenHoldGathersTheExpired(t *testing.T) {
	s := newHarness(t, 2)
	r := newReplica()
	r.keep = true
	s.Subscribe(r)
	s.client().set("old", "1", s.now.Load()+1)
	s.now.Add(10)
	h := s.NewHold()
	h.WantAll()
	require.Nil(t, h.Take(false))
	h.Open()
	h.View.LiveView(s.Space, 0, s.now.Load())
	_, ok := h.View.Get([]byte("old"))
	require.False(t, ok)
	require.Len(t, h.Expire(s.now.Load()), 1)
	(&client{s, h}).set("new", "1", 0)
	require.Len(t, r.batches, 1)
	h.Close(s.now.Load())
	require.Len(t, r.batches, 2)
	require.Equal(t, "DEL", string(r.batches[1][0].Args[0]))
	require.Equal(t, r.contents(), s.contents())
}
