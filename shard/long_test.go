package shard

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"firn/mvcc"
)

// startLong begins a long write of the keys a and b and stops it between them.
// finish lets it end and waits for that.
func startLong(t *testing.T, s *harness) (finish func()) {
	half, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	require.True(t, s.Heavy.Go(func() {
		defer close(done)
		s.long([]string{"a", "b"}, func(tx *mvcc.Tx, pause func()) []Effect {
			first := set(tx, "a", "long", 0)
			close(half)
			for waiting := true; waiting; {
				select {
				case <-goOn:
					waiting = false
				default:
					pause()
				}
			}
			return []Effect{first, set(tx, "b", "long", 0)}
		})
	}))
	<-half
	return func() { close(goOn); <-done }
}

// TestLongSharesItsShards: while a long write is under way, commands on other
// keys of its own shards go on, freezes and counts show the state before it,
// and nothing of it is in the journal; then all of it is there at once.
func TestLongSharesItsShards(t *testing.T) {
	s := newHarness(t, 1)
	j := newReplica()
	j.keep = true
	s.Subscribe(j)
	c := s.client()
	c.set("a", "before", 0)
	finish := startLong(t, s)

	c.set("other", "1", 0)
	require.Equal(t, "1", c.get("other"))
	before := map[string]string{"a": "before 0", "other": "1 0"}
	cut := s.NewCut(0, s.now.Load())
	require.Equal(t, before, frozen(cut.All()))
	c.set("other", "2", 0)
	again := s.NewCut(0, s.now.Load())
	before["other"] = "2 0"
	require.Equal(t, before, frozen(again.All()))
	h := s.NewHold()
	h.Want([]byte("other"))
	require.Nil(t, h.Take(false))
	keys, _ := s.shards[0].store.Len(0)
	h.Give()
	require.Equal(t, 2, keys)
	require.Len(t, j.batches, 3, "the long write is in the journal too soon")

	finish()
	before["other"] = "1 0"
	require.Equal(t, before, frozen(cut.All()), "a cut has changed")
	cut.Release()
	again.Release()
	require.Equal(t, []Effect{effect(0, "SET", "a", "long", "0"), effect(0, "SET", "b", "long", "0")}, j.batches[3])
	require.Equal(t, map[string]string{"a": "long 0", "b": "long 0", "other": "2 0"}, s.contents())
}

// TestLongLocksItsKeys: commands on its keys, and those on everything, wait in
// line; they see all of it.
func TestLongLocksItsKeys(t *testing.T) {
	s := newHarness(t, 4)
	finish := startLong(t, s)
	h := s.NewHold()
	take := func(exclusive bool, keys ...string) *Lock {
		h.Reset()
		for _, k := range keys {
			h.Want([]byte(k))
		}
		return h.Take(exclusive)
	}
	lock := take(false, "other", "a")
	require.NotNil(t, lock)
	require.False(t, h.Held(), "a shard is kept while waiting")
	require.Same(t, lock, take(false, "b"), "a key that it has not come to yet")
	require.Nil(t, take(false, "other"))
	h.Give()
	h.Reset()
	h.WantAll()
	require.Same(t, lock, h.Take(true))
	h.Reset()
	h.WantAll()
	require.Nil(t, h.Take(false))
	h.Give()

	var order []int
	for i := range 5 {
		lock.Wait(func() { order = append(order, i) })
	}
	require.Empty(t, order)
	finish()
	require.Equal(t, []int{0, 1, 2, 3, 4}, order)
	lock.Wait(func() { order = nil })
	require.Nil(t, order, "Wait behind a lock that is gone")
	require.Equal(t, "long", s.client().get("a"))
}

// TestLongKeysStay: expiry and eviction leave the keys of a long write alone.
func TestLongKeysStay(t *testing.T) {
	s := newHarness(t, 1)
	c := s.client()
	c.set("b", "due", s.now.Load()+10)
	c.set("c", "due", s.now.Load()+10)
	finish := startLong(t, s)
	s.now.Add(10)
	h := s.NewHold()
	h.expireSlice(0)
	require.EqualValues(t, 1, s.Stats().Expired.Load(), "c alone")
	c.set("d", "1", 0)
	s.SetLimit(overflow(AllKeysRandom))
	require.Equal(t, RoomNone, s.MakeRoom(s.now.Load()))
	require.EqualValues(t, 1, s.Stats().Evicted.Load(), "d alone")
	finish()
	require.Equal(t, map[string]string{"a": "long 0", "b": "long 0"}, s.contents())
	require.Equal(t, RoomNone, s.MakeRoom(s.now.Load()))
	require.Empty(t, s.contents())
}

// TestLongOneAtATime: long writes happen one after the other, in the order of
// their calls, and a waiting one takes up no place of the pool.
func TestLongOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHarness(t, 4)
		var busy atomic.Int64
		var order []int
		for i := range 6 {
			s.Heavy.Go(func() {
				s.long([]string{"a", fmt.Sprint(i)}, func(tx *mvcc.Tx, pause func()) []Effect {
					require.EqualValues(t, 1, busy.Add(1))
					order = append(order, i)
					for range 50 {
						pause()
					}
					busy.Add(-1)
					return []Effect{set(tx, "a", fmt.Sprint(i), 0)}
				})
			})
			synctest.Wait()
		}
		s.Heavy.Close()
		require.Equal(t, []int{0, 1, 2, 3, 4, 5}, order)
	})
}

// TestLongIsOneInstant: cuts that are made while long writes over all shards
// come and go show all of one or nothing of it.
func TestLongIsOneInstant(t *testing.T) {
	s := newHarness(t, 8)
	keys := make([]string, 40)
	for i := range keys {
		keys[i] = fmt.Sprint("key:", i)
	}
	s.longSet("0", keys...)
	done := make(chan struct{})
	var all sync.WaitGroup
	for g := range 2 {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
					s.longSet(fmt.Sprint(g, "-", n), keys...)
				}
			}
		})
	}
	seen := map[string]bool{}
	for n := 0; n < 200 || len(seen) < 10; n++ {
		cut := s.NewCut(0, s.now.Load())
		state := map[string]bool{}
		got := frozen(cut.All())
		for _, v := range got {
			state[v], seen[v] = true, true
		}
		cut.Release()
		require.Len(t, got, len(keys))
		require.Len(t, state, 1, "%v", state)
	}
	close(done)
	all.Wait()
}
