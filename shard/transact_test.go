package shard

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A transaction in slices: commands on other keys of its shards go on in its
// pauses, freezes see nothing of it, and its batch comes whole, at its end,
// behind what others did meanwhile.
func TestTransactIsOneInstant(t *testing.T) {
	s := newHarness(t, 2)
	j := newReplica()
	j.keep = true
	s.Subscribe(j)
	c := s.client()
	c.set("a", "before", 0)
	begun, done := make(chan struct{}), make(chan struct{})
	var looks []map[string]string // what others saw in the pauses
	require.True(t, s.Heavy.Go(func() {
		defer close(done)
		s.Transact(Transaction{
			DBs: []int{0},
			Want: func(h *Hold) {
				for range 3 { // many commands name the same key
					h.Want([]byte("a"))
					h.Want([]byte("b"))
				}
			},
			Run: func(h *Hold, pause func()) {
				close(begun)
				for i := range 4 {
					h.Begin(0, s.now.Load())
					h.Commit(s.now.Load(), []Effect{set(&h.Tx, "a", fmt.Sprint("long", i), 0)})
					other := s.client()
					pause()
					step, seen := make(chan struct{}), map[string]string{}
					go func() { // in the next pauses
						defer close(step)
						other.set(fmt.Sprint("other", i), "1", 0)
						cut := s.NewCut(0, s.now.Load())
						defer cut.Release()
						seen = frozen(cut.All())
					}()
					for waiting := true; waiting; {
						select {
						case <-step:
							waiting = false
						default:
							pause()
						}
					}
					looks = append(looks, seen)
				}
				h.Begin(0, s.now.Load())
				h.Commit(s.now.Load(), []Effect{set(&h.Tx, "b", "long", 0)})
			},
		})
	}))
	<-begun
	require.Equal(t, "long3", c.get("a"), "it was not waited for")
	<-done
	require.Len(t, looks, 4)
	for i, seen := range looks {
		require.Equal(t, "before 0", seen["a"])
		require.Equal(t, "1 0", seen[fmt.Sprint("other", i)])
		require.NotContains(t, seen, "b")
	}
	require.Equal(t, map[string]string{"a": "long3 0", "b": "long 0", "other0": "1 0", "other1": "1 0", "other2": "1 0", "other3": "1 0"}, s.contents())
	require.Equal(t, s.contents(), j.contents())
	require.Len(t, j.batches, 6)
	require.Len(t, j.batches[5], 5)
}
