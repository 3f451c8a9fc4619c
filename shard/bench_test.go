package shard

import (
	"fmt"
	"testing"
	"time"

	"firn/mvcc"
)

// BenchmarkHold is what a small command pays for its shards, beside its work.
func BenchmarkHold(b *testing.B) {
	for _, keys := range []int{1, 2, 10} {
		b.Run(fmt.Sprintf("%d keys", keys), func(b *testing.B) {
			s := newHarness(b, 16)
			h, key := s.NewHold(), make([][]byte, keys)
			for i := range key {
				key[i] = fmt.Appendf(nil, "key:%d", i)
			}
			b.ReportAllocs()
			for b.Loop() {
				h.Reset()
				for _, k := range key {
					h.Want(k)
				}
				h.Take(false)
				h.Commit(1, nil)
				h.Give()
			}
		})
	}
}

// BenchmarkCut is a cut of all shards after a write, as under KEYS and writers.
func BenchmarkCut(b *testing.B) {
	s := newHarness(b, 16)
	c := s.client()
	for i := range 100_000 {
		c.set(fmt.Sprint(i), "value", 0)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		c.set(fmt.Sprint(n%100_000), "other", 0)
		cut := s.NewCut(0, 1)
		cut.All()
		cut.Release()
		n++
	}
}

// BenchmarkEviction is a SET of a new key at the limit, with what it evicts.
func BenchmarkEviction(b *testing.B) {
	s := newHarness(b, 16)
	c := s.client()
	n := 0
	insert := func() { c.set(fmt.Sprintf("key:%016d", n), "12345678901234567890x", 0); n++ }
	for range 200_000 {
		insert()
	}
	s.Space.SetAccess(mvcc.Access{})
	s.SetLimit(Limit{Max: s.Used(), Policy: AllKeysLRU, Samples: 5, Slice: time.Millisecond})
	b.ReportAllocs()
	for b.Loop() {
		s.MakeRoom(1)
		insert()
	}
}

// BenchmarkBesideDuty is a small command on a shard that is being cleaned all
// the time.
func BenchmarkBesideDuty(b *testing.B) {
	s := newHarness(b, 1)
	c := s.client()
	for i := range 1000 {
		c.set(fmt.Sprint(i), "value", 0)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		h := s.NewHold()
		for {
			select {
			case <-done:
				return
			default:
			}
			h.takeOne(0)
			for start := time.Now(); time.Since(start) < dutySlice; {
			}
			h.Give()
			s.giveWay(0)
		}
	}()
	for b.Loop() {
		c.get("1")
	}
	close(done)
	<-ended
}

// BenchmarkLong is a long write's cost an element, a pause after each.
func BenchmarkLong(b *testing.B) {
	s := newHarness(b, 16)
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprint("key:", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.longSet("value", keys...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/key")
}
