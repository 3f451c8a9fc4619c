package shard

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"firn/mvcc"
)

func named(keys ...string) Keys {
	return func(want func([]byte)) {
		for _, k := range keys {
			want([]byte(k))
		}
	}
}

// storing is a store that joins the values of some keys under another.
type storing struct {
	dest   string
	inputs []string
	during func() // called with the inputs frozen
	drop   bool   // nothing is written
}

// store runs it on the heavy pool; done is closed when it has ended.
func (h *harness) store(t testing.TB, op storing) (done chan struct{}) {
	done = make(chan struct{})
	require.True(t, h.Heavy.Go(func() {
		defer close(done)
		h.Store(Store{Now: h.now.Load(), Keys: named(append(op.inputs, op.dest)...), Dest: named(op.dest), Compute: func(cut *Cut) func(*Hold) []Effect {
			var v mvcc.View
			v.FrozenView(cut.Space(), 0, cut.Now(), cut.Versions())
			joined := ""
			for _, k := range op.inputs {
				if e, ok := v.Get([]byte(k)); ok {
					joined += string(e.Bytes(nil))
				}
			}
			if op.during != nil {
				op.during()
			}
			if op.drop {
				return nil
			}
			return h.put(op.dest, joined[:min(len(joined), 100)])
		}})
	}))
	return done
}

// put is the commit of a store, as server makes it.
func (h *harness) put(key, value string) func(*Hold) []Effect {
	return func(hold *Hold) []Effect {
		hold.Tx.Begin(h.Space, 0, h.now.Load())
		effects := []Effect{set(&hold.Tx, key, value, 0)}
		for _, r := range hold.Tx.Expired {
			effects = append([]Effect{Expired(r)}, effects...)
		}
		hold.CountExpired()
		return effects
	}
}

// startStore begins a store and stops it with its inputs frozen. finish lets it
// end and waits for that.
func (h *harness) startStore(t testing.TB, op storing) (finish func()) {
	half, goOn := make(chan struct{}), make(chan struct{})
	op.during = func() {
		close(half)
		h.Heavy.Block(func() { <-goOn })
	}
	done := h.store(t, op)
	<-half
	return func() { close(goOn); <-done }
}

// TestStoreInstant: a store happens when it freezes. Its inputs stay free, to
// read and to write; other keys of all its shards too; its key waits in line.
func TestStoreInstant(t *testing.T) {
	for _, shards := range []int{1, 8} {
		s := newHarness(t, shards)
		j := newReplica()
		j.keep = true
		s.Subscribe(j)
		c := s.client()
		c.set("a", "1", 0)
		c.set("b", "2", 0)
		c.set("to", "before", 0)
		finish := s.startStore(t, storing{dest: "to", inputs: []string{"a", "b"}})

		c.set("a", "changed", 0)
		require.Equal(t, "changed", c.get("a"))
		c.set("other", "x", 0)
		require.Equal(t, "x", c.get("other"))
		h := s.NewHold()
		h.Want([]byte("to"))
		lock := h.Take(false)
		require.NotNil(t, lock)
		require.False(t, h.Held())
		seen := make(chan string)
		go func() { seen <- s.client().get("to") }()
		before := s.contents()
		require.Equal(t, map[string]string{"a": "changed 0", "b": "2 0", "to": "before 0", "other": "x 0"}, before)
		require.Len(t, j.batches, 5)

		finish()
		require.Equal(t, "12", <-seen)
		require.Equal(t, []Effect{effect(0, "SET", "to", "12", "0")}, j.batches[5])
		require.EqualValues(t, 1, s.Stats().Stores.Load())
		require.Equal(t, s.contents(), j.contents())
	}
}

// TestStoreDropped: a store whose client has left takes its lock off, writes
// nothing, and lets those go on that waited. So does one that panics.
func TestStoreDropped(t *testing.T) {
	s := newHarness(t, 4)
	c := s.client()
	c.set("a", "1", 0)
	c.set("to", "before", 0)
	finish := s.startStore(t, storing{dest: "to", inputs: []string{"a"}, drop: true})
	finish()
	require.Equal(t, "before", c.get("to"))
	require.Panics(t, func() {
		s.Store(Store{Keys: named("to"), Dest: named("to"), Compute: func(*Cut) func(*Hold) []Effect { panic("a bug") }})
	})
	require.Equal(t, "before", c.get("to"))
}

// TestStoresSideBySide: several stores run at once; those with a key in common
// do one after the other, in the order of their calls.
func TestStoresSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHarness(t, 4)
		c := s.client()
		c.set("a", "x", 0)
		var ends []func()
		for i := range 5 {
			ends = append(ends, s.startStore(t, storing{dest: fmt.Sprint("to:", i), inputs: []string{"a"}}))
		}
		next := s.store(t, storing{dest: "to:0", inputs: []string{"to:0", "to:0"}})
		then := s.store(t, storing{dest: "end", inputs: []string{"to:0", "to:4"}})
		synctest.Wait()
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i]()
		}
		<-next
		<-then
		require.Equal(t, "xx", c.get("to:0"))
		require.Contains(t, []string{"xx", "xxx"}, c.get("end"), "after to:4, before or after the second to:0")
	})
}

// TestStoreKeysStay: expiry and eviction leave the key of a store alone; its
// inputs may go. A key that has expired is noted when the result replaces it.
func TestStoreKeysStay(t *testing.T) {
	s := newHarness(t, 1)
	j := newReplica()
	j.keep = true
	s.Subscribe(j)
	c := s.client()
	due := s.now.Load() + 10
	c.set("a", "1", due)
	c.set("to", "old", due)
	finish := s.startStore(t, storing{dest: "to", inputs: []string{"a"}})
	s.now.Add(10)
	s.NewHold().expireSlice(0)
	require.EqualValues(t, 1, s.Stats().Expired.Load(), "a alone")
	c.set("d", "1", 0)
	s.SetLimit(overflow(AllKeysRandom))
	require.Equal(t, RoomNone, s.MakeRoom(s.now.Load()))
	require.EqualValues(t, 1, s.Stats().Evicted.Load(), "d alone")
	finish()
	require.Equal(t, map[string]string{"to": "1 0"}, s.contents())
	require.EqualValues(t, 2, s.Stats().Expired.Load())
	last := j.batches[len(j.batches)-1]
	require.Equal(t, []Effect{effect(0, "DEL", "to"), effect(0, "SET", "to", "1", "0")}, last)
}

// TestStoreAndLong: a store and a long write over the same shards go side by
// side, and one after the other if they have a key in common, whoever is first.
func TestStoreAndLong(t *testing.T) {
	s := newHarness(t, 1)
	c := s.client()
	c.set("in", "1", 0)
	endLong := startLong(t, s) // a and b
	endStore := s.startStore(t, storing{dest: "to", inputs: []string{"in"}})
	endStore()
	require.Equal(t, "1", c.get("to"), "while the long write is under way")
	require.Equal(t, map[string]string{"in": "1 0", "to": "1 0"}, s.contents())
	behind := s.store(t, storing{dest: "to", inputs: []string{"a", "b"}})
	s.shards[0].locks[0].awaitWaiter()
	require.NotContains(t, s.contents(), "a")
	endLong()
	<-behind
	require.Equal(t, "longlong", c.get("to"))

	endStore = s.startStore(t, storing{dest: "a", inputs: []string{"in"}})
	long := make(chan struct{})
	go func() { s.longSet("late", "a", "in"); close(long) }()
	c.set("in", "changed", 0)
	endStore()
	<-long
	require.Equal(t, "late", c.get("a"))
}

// awaitWaiter returns when somebody waits for the lock.
func (l *Lock) awaitWaiter() {
	for n := 0; n == 0; runtime.Gosched() {
		l.mu.Lock()
		n = len(l.waiters)
		l.mu.Unlock()
	}
}

// TestStoreExclusive: what needs everything to itself (FLUSHALL) waits.
func TestStoreExclusive(t *testing.T) {
	s := newHarness(t, 4)
	finish := s.startStore(t, storing{dest: "to"})
	h := s.NewHold()
	h.WantAll()
	require.NotNil(t, h.Take(true))
	require.Nil(t, h.Take(false))
	h.Give()
	finish()
	require.Nil(t, h.Take(true))
	h.Give()
}

// TestStoresAreTheHistory: as TestJournalIsTheHistory, of stores among long
// writes, small commands and duties.
func TestStoresAreTheHistory(t *testing.T) {
	s := newHarness(t, 8)
	r := newReplica()
	s.Subscribe(r)
	ctx, stop := context.WithCancel(context.Background())
	var duties, all sync.WaitGroup
	duties.Go(func() { s.Run(ctx, time.Millisecond) })
	s.SetLimit(Limit{Max: 2_000, Policy: AllKeysRandom, Samples: 5, Slice: time.Millisecond})
	for g := range uint64(4) {
		all.Go(func() {
			r, c := s.rand(g), s.client()
			key := func() string { return fmt.Sprint("key:", r.IntN(60)) }
			for i := range 400 {
				s.now.Add(1)
				switch r.IntN(4) {
				case 0:
					<-s.store(t, storing{dest: key(), inputs: []string{key(), key()}, during: s.Heavy.Yield, drop: r.IntN(9) == 0})
				case 1:
					s.longSet(strconv.Itoa(i%7), key(), key(), key())
				case 2:
					s.MakeRoom(s.now.Load())
				default:
					c.set(key(), strconv.Itoa(i), s.now.Load()+int64(r.IntN(300)))
				}
			}
		})
	}
	all.Wait()
	stop()
	duties.Wait()
	require.Positive(t, s.Stats().Stores.Load())
	require.Positive(t, s.Stats().Expired.Load())
	require.Positive(t, s.Stats().Evicted.Load())
	require.Equal(t, s.contents(), r.contents())
}
