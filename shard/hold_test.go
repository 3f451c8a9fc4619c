package shard

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"firn/mvcc"
)

// TestHoldExcludes: whatever keys the commands of many goroutines take, none
// meets another in a shard, and none waits for ever. Plain counters make -race
// look as well.
func TestHoldExcludes(t *testing.T) {
	s := newHarness(t, 16)
	counts := make([]int, s.Len())
	var want sync.Map
	var all sync.WaitGroup
	for g := range uint64(6) {
		all.Go(func() {
			r, h, n := s.rand(g), s.NewHold(), 0
			for range 1500 {
				h.Reset()
				if r.IntN(50) == 0 {
					h.WantAll()
				}
				for range 1 + r.IntN(5) {
					h.Want(strconv.AppendInt(nil, int64(r.IntN(200)), 10))
				}
				if h.Take(false) != nil {
					t.Error("there is no long write")
				}
				for i, at := range h.held {
					counts[at]++
					n++
					if i > 0 && h.held[i-1] >= at {
						t.Error("shards are not taken in order, once each")
					}
				}
				h.Give()
			}
			want.Store(g, n)
		})
	}
	all.Wait()
	sum := 0
	want.Range(func(_, n any) bool { sum += n.(int); return true })
	for _, n := range counts {
		sum -= n
	}
	require.Zero(t, sum)
}

// TestCutIsOneInstant: tokens move between keys of different shards while cuts
// count them: no token is ever missing or there twice.
func TestCutIsOneInstant(t *testing.T) {
	const keys, tokens = 20, 1000
	s := newHarness(t, 16)
	key := func(i int) string { return fmt.Sprint("account:", i) }
	c := s.client()
	for i := range keys {
		c.set(key(i), fmt.Sprint(tokens), 0)
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	for g := range uint64(3) {
		all.Go(func() {
			r, c := s.rand(g), s.client()
			for {
				select {
				case <-done:
					return
				default:
				}
				a, b, n := key(r.IntN(keys)), key(r.IntN(keys)), int64(r.IntN(9))
				c.write(func(tx *mvcc.Tx) []Effect {
					add(tx, a, -n)
					add(tx, b, n)
					return nil
				}, a, b)
			}
		})
	}
	for range 500 {
		cut := s.NewCut(0, s.now.Load())
		sum, n := int64(0), 0
		for _, v := range cut.All() {
			v.Ascend(0, func(_ uint64, e mvcc.Entry) bool {
				x, _ := e.Int()
				sum, n = sum+x, n+1
				return true
			})
		}
		cut.Release()
		require.Equal(t, keys, n)
		require.EqualValues(t, keys*tokens, sum)
	}
	close(done)
	all.Wait()
}

func add(tx *mvcc.Tx, key string, n int64) {
	e, _ := tx.Lookup([]byte(key))
	old, _ := e.Int()
	tx.SetInt([]byte(key), old+n, 0)
}

// TestJournalIsTheHistory: a keyspace that replays the effects of concurrent
// commands, long writes, expiry and eviction ends equal to the one that they
// happened in.
func TestJournalIsTheHistory(t *testing.T) {
	s := newHarness(t, 8)
	r := newReplica()
	s.Subscribe(r)
	ctx, stop := context.WithCancel(context.Background())
	var duties, all sync.WaitGroup
	duties.Go(func() { s.Run(ctx, time.Millisecond) })
	s.SetLimit(Limit{Max: 50_000, Policy: AllKeysLRU, Samples: 5, Slice: time.Millisecond})
	for g := range uint64(4) {
		all.Go(func() { s.history(g) })
	}
	all.Wait()
	stop()
	duties.Wait()
	require.Positive(t, s.Stats().Evicted.Load())
	require.Positive(t, s.Stats().Expired.Load())
	require.Positive(t, s.Stats().LongWrites.Load())
	require.Equal(t, s.contents(), r.contents())
	require.NotEmpty(t, r.contents())
}

// history is one client of TestJournalIsTheHistory.
func (h *harness) history(g uint64) {
	r, c := h.rand(g), h.client()
	key := func() string { return fmt.Sprint("key:", r.IntN(2000)) }
	for i := range 3000 {
		h.now.Add(1)
		a, b, value := key(), key(), fmt.Sprint(g, " ", i, string(make([]byte, r.IntN(100))))
		switch r.IntN(10) {
		case 0:
			c.write(func(tx *mvcc.Tx) []Effect { return del(tx, a) }, a)
		case 1: // of two keys at one instant
			c.write(func(tx *mvcc.Tx) []Effect { return append(del(tx, a), set(tx, b, value, 0)) }, a, b)
		case 2, 3:
			c.set(a, value, h.now.Load()+int64(r.IntN(2000)))
		case 4:
			c.get(a)
		case 5:
			h.MakeRoom(h.now.Load())
		case 6:
			if r.IntN(20) == 0 {
				h.longSet(value, key(), key(), key(), key(), key())
			}
		default:
			c.set(a, value, 0)
		}
	}
}

// longSet sets keys by a long write and waits for it.
func (h *harness) longSet(value string, keys ...string) {
	done := make(chan struct{})
	h.Heavy.Go(func() {
		defer close(done)
		h.long(keys, func(tx *mvcc.Tx, pause func()) (effects []Effect) {
			for _, k := range keys {
				effects = append(effects, set(tx, k, value, 0))
				pause()
			}
			return effects
		})
	})
	<-done
}

// long runs a long write of the keys, as server does.
func (h *harness) long(keys []string, f func(tx *mvcc.Tx, pause func()) []Effect) {
	args := make([][]byte, len(keys))
	for i, k := range keys {
		args[i] = []byte(k)
	}
	h.Long(args, []int{0}, func(hold *Hold, pause func()) []Effect {
		hold.Tx.Begin(h.Space, 0, h.now.Load())
		hold.Tx.Splice()
		effects := f(&hold.Tx, pause)
		for _, r := range hold.Tx.Expired {
			effects = append([]Effect{Expired(r)}, effects...)
		}
		hold.CountExpired()
		return effects
	})
}

// TestExpireByRead: a read that comes across an expired key removes it, tells
// the journal, and does not hang (I6).
func TestExpireByRead(t *testing.T) {
	s := newHarness(t, 4)
	j := newReplica()
	j.keep = true
	s.Subscribe(j)
	s.client().set("k", "v", s.now.Load()+10)
	s.now.Add(10)
	h := s.NewHold()
	h.Want([]byte("k"))
	require.Nil(t, h.Take(false))
	h.View.LiveView(s.Space, 0, s.now.Load())
	_, ok := h.View.Get([]byte("k"))
	require.False(t, ok)
	removed := h.Expire(s.now.Load())
	h.Give()
	require.Equal(t, []mvcc.Removed{{DB: 0, Key: []byte("k")}}, removed)
	require.Equal(t, []Effect{effect(0, "DEL", "k")}, j.batches[1])
	require.Empty(t, s.contents())
	require.EqualValues(t, 1, s.Stats().ExpiredByRead.Load())
}

// TestPins: open cuts are counted, with their age.
func TestPins(t *testing.T) {
	s := newHarness(t, 4)
	a := s.NewCut(0, 100)
	b := s.NewCut(0, 200)
	n, oldest := s.Pins()
	require.Equal(t, 2, n)
	require.EqualValues(t, 100, oldest)
	a.All()
	first := b.Version(1)
	require.Same(t, first, b.Version(1), "frozen once")
	require.EqualValues(t, 5, s.Space.Pins())
	a.Release()
	_, oldest = s.Pins()
	require.EqualValues(t, 200, oldest)
	b.Release()
}

// However many keys a command names, WarmHeld takes few of them at a time.
func TestWarmHeldIsBounded(t *testing.T) {
	s := newHarness(t, 4)
	h := s.NewHold()
	h.Reset()
	for i := range int64(10_000) {
		h.Want(strconv.AppendInt(nil, i, 10))
	}
	require.Nil(t, h.Take(false))
	defer h.Give()
	h.WarmHeld(0)
	room := reflect.ValueOf(h.ahead).FieldByName("todo").Cap()
	require.Positive(t, room)
	require.Less(t, room, 2*warmHeld)
}
