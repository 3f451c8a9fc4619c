package server

import (
	"strings"
	"sync"
	"testing"

	"firn/mvcc"
	"firn/shard"

	"github.com/stretchr/testify/require"
)

// startStore begins a store from the key "in" to the key "to" and stops it with
// its input frozen. finish lets it end.
func (s *testServer) startStore() (finish func()) {
	frozen, goOn := make(chan struct{}), make(chan struct{})
	named := func(keys ...string) shard.Keys {
		return func(want func([]byte)) {
			for _, k := range keys {
				want([]byte(k))
			}
		}
	}
	s.shards.Heavy.Go(func() {
		s.shards.Store(shard.Store{Keys: named("in", "to"), Dest: named("to"), Compute: func(cut *shard.Cut) func(*shard.Hold) []shard.Effect {
			var v mvcc.View
			v.FrozenView(cut.Space(), 0, 1, cut.Versions())
			e, _ := v.Get([]byte("in"))
			value := e.Bytes(nil)
			close(frozen)
			s.shards.Heavy.Block(func() { <-goOn })
			return func(h *shard.Hold) []shard.Effect {
				h.Tx.Begin(s.shards.Space, 0, 1)
				h.Tx.SetRaw([]byte("to"), value, 0)
				return nil
			}
		}})
	})
	<-frozen
	return sync.OnceFunc(func() { close(goOn) })
}

// TestStoreHoldsUpNobody: while a store computes, its inputs and all other keys
// are free; who names its key, or needs everything, waits and sees the result.
func TestStoreHoldsUpNobody(t *testing.T) {
	s := serve(t)
	c := s.dial()
	require.Equal(t, "+OK", c.do("SET in old"))
	require.Equal(t, "+OK", c.do("SET to before"))
	finish := s.startStore()
	t.Cleanup(finish)
	require.Equal(t, "$3\r\nold", c.do("GET in"))
	require.Equal(t, "+OK", c.do("SET in new"))
	require.Equal(t, ":2", c.do("DBSIZE"))
	reader, writer, flusher := s.dial(), s.dial(), s.dial()
	reader.send("GET to", "GET in")
	writer.send("APPEND to +")
	eventually(t, func() bool { return s.lockWaiters() == 2 }, "they don't wait")
	flusher.send("FLUSHALL")
	eventually(t, func() bool { return s.lockWaiters() == 3 }, "it doesn't wait")
	require.Equal(t, "$3\r\nnew", c.do("GET in"))
	finish()
	require.Contains(t, []string{"$3\r\nold", "$4\r\nold+"}, reader.reply())
	require.Equal(t, ":4", writer.reply())
	require.Equal(t, "+OK", flusher.reply())
}

// lockWaiters counts the sessions that wait in line.
func (s *testServer) lockWaiters() (n int) {
	done := make(chan int)
	for _, other := range s.clients.sessions() {
		other.home.post(func() {
			if other.parked != nil {
				done <- 1
				return
			}
			done <- 0
		})
		n += <-done
	}
	return n
}

// TestHeavyStore: a store that goes aside gives the result that a small one
// does, holds nobody up, and does nothing if its client is killed before the end.
func TestHeavyStore(t *testing.T) {
	s := serve(t)
	c, other := s.dial(), s.dial()
	require.Equal(t, "+OK", c.do("SET a "+strings.Repeat("x", 8<<20)))
	require.Equal(t, "+OK", c.do("SET b yy"))
	require.Equal(t, ":8388608", c.do("BITOP XOR to a b"))
	require.Equal(t, "$3\r\n\x01\x01x", c.do("GETRANGE to 0 2"))
	require.EqualValues(t, 1, s.shards.Stats().Stores.Load())
	require.Equal(t, ":2", c.do("BITOP XOR to b"))
	require.EqualValues(t, 1, s.shards.Stats().Stores.Load())

	p := s.ping()
	id := strings.TrimPrefix(c.do("CLIENT ID"), ":")
	c.send("BITOP XOR to" + strings.Repeat(" a", 20_000)) // seconds
	eventually(t, func() bool { return s.shards.Stats().Stores.Load() == 2 }, "not aside")
	require.Equal(t, "$2\r\nyy", other.do("GET b"))
	require.Equal(t, ":8388609", other.do("APPEND a z"))
	require.Equal(t, ":1", other.do("CLIENT KILL ID "+id))
	require.Equal(t, "$2\r\nyy", other.do("GET to"), "the result of who has left")
	require.Less(t, p.end(t), unhurt)
}
