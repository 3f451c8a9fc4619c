package mvcc

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

const benchKeys = 1_000_000

// benchSpace returns a million keys of 20 bytes with values of 100 bytes.
func benchSpace(n int) (*Space, *Tx) {
	s := NewSpace(1, 1, Seed{1, 2}.Hasher())
	tx, value := new(Tx), make([]byte, 100)
	tx.Begin(s, 0, 1)
	for i := range n {
		tx.SetRaw(benchKey(i), value, 0)
	}
	return s, tx
}

func benchKey(i int) []byte { return fmt.Appendf(nil, "user%016d", i) }

// benchLoop measures f with random keys that are there.
func benchLoop(b *testing.B, f func(s *Space, tx *Tx, n int, key []byte)) {
	s, tx := benchSpace(benchKeys)
	keys := make([][]byte, 1<<16)
	for i := range keys {
		keys[i] = benchKey(rand.IntN(benchKeys))
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		f(s, tx, n, keys[n&(1<<16-1)])
		n++
	}
}

func BenchmarkGet(b *testing.B) {
	benchLoop(b, func(_ *Space, tx *Tx, _ int, key []byte) { tx.Get(key) })
}

func BenchmarkSet(b *testing.B) {
	value := make([]byte, 200)
	b.Run("same size", func(b *testing.B) {
		benchLoop(b, func(_ *Space, tx *Tx, _ int, key []byte) { tx.SetRaw(key, value[:100], 0) })
	})
	b.Run("other size", func(b *testing.B) {
		benchLoop(b, func(s *Space, tx *Tx, n int, key []byte) {
			tx.SetRaw(key, value[:80+n%40], 0)
			s.Stores[0].CleanDebt(16 << 10)
		})
	})
	b.Run("freeze every 100", func(b *testing.B) {
		var v *Version
		benchLoop(b, func(s *Space, tx *Tx, n int, key []byte) {
			if n%100 == 0 {
				if v != nil {
					v.Release()
				}
				v = s.Stores[0].Freeze(0)
			}
			tx.SetRaw(key, value[:100], 0)
			s.Stores[0].CleanDebt(16 << 10)
		})
	})
	b.Run("new", func(b *testing.B) {
		s := NewSpace(1, 1, Seed{1, 2}.Hasher())
		var tx Tx
		tx.Begin(s, 0, 1)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			tx.SetRaw(benchKey(i), value[:100], 0)
		}
	})
}

func BenchmarkFreezeSet(b *testing.B) {
	value := make([]byte, 100)
	benchLoop(b, func(s *Space, tx *Tx, _ int, key []byte) {
		v := s.Stores[0].Freeze(0)
		tx.SetRaw(key, value, 0)
		v.Release()
	})
}

func BenchmarkAscend(b *testing.B) {
	s, _ := benchSpace(benchKeys)
	v := s.Stores[0].Freeze(0)
	defer v.Release()
	for b.Loop() {
		n := 0
		v.Ascend(0, func(uint64, Entry) bool { n++; return true })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchKeys, "ns/key")
}

func BenchmarkDelete(b *testing.B) {
	value := make([]byte, 100)
	benchLoop(b, func(s *Space, tx *Tx, n int, key []byte) {
		tx.Delete(key)
		tx.SetRaw(key, value, 0)
		s.Stores[0].CleanDebt(16 << 10)
	})
}

// BenchmarkMemory reports what a key of 20 bytes with a value of 100 takes.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s, _ := benchSpace(benchKeys)
		runtime.GC()
		runtime.ReadMemStats(&after)
		u := s.Stores[0].Usage()
		b.ReportMetric(float64(after.HeapInuse-before.HeapInuse)/benchKeys, "heap-B/key")
		b.ReportMetric(float64(u.Live)/benchKeys, "counted-B/key")
	}
}
