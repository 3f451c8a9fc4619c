package mvcc

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// benchTree returns n entries with members of 13 and values of 14 bytes,
// inserted in random order; entry i has the order benchOrder(i).
func benchTree(n int) *ptree {
	t, r := newPtree(), rand.New(rand.NewPCG(1, 1))
	value := []byte("value of 14 by")
	var member []byte
	for _, i := range r.Perm(n) {
		member = benchMember(member[:0], i)
		t.Set(benchOrder(i), member, value)
	}
	return t
}

// benchOrder is a bijection that spreads evenly.
func benchOrder(i int) uint64 { return uint64(i+1) * 0x9e3779b97f4a7c15 }

func benchMember(b []byte, i int) []byte { return fmt.Appendf(b, "member:%06d", i%1e6) }

// BenchmarkPtree puts Get and Set beside the same of the index.
func BenchmarkPtree(b *testing.B) {
	t, x := benchTree(benchKeys), newIndex()
	for i := range benchKeys {
		x.Set(benchOrder(i), ref(i))
	}
	picks, members := make([]int, 1<<16), make([][]byte, 1<<16)
	for i := range picks {
		picks[i] = rand.IntN(benchKeys)
		members[i] = benchMember(nil, picks[i])
	}
	value := []byte("other value 14")
	n := 0
	bench := func(name string, f func(order uint64, member []byte)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n++
				f(benchOrder(picks[n&(1<<16-1)]), members[n&(1<<16-1)])
			}
		})
	}
	bench("get", func(o uint64, m []byte) { t.Get(o, m) })
	bench("get/index", func(o uint64, _ []byte) { x.Get(o) })
	bench("set", func(o uint64, m []byte) { t.Set(o, m, value) })
	bench("set/index", func(o uint64, _ []byte) { x.Set(o, ref(n)) })
	bench("rank", func(o uint64, m []byte) { t.Rank(o, m) })
	bench("at", func(uint64, []byte) { t.At(picks[n&(1<<16-1)]) })
	bench("set, other length", func(o uint64, m []byte) { t.Set(o, m, value[:8+n%6]) })
	bench("delete and set", func(o uint64, m []byte) { t.Delete(o, m); t.Set(o, m, value) })
	bench("new", func(o uint64, m []byte) { t.Set(rand.Uint64(), m, value) })
	bench("new/index", func(o uint64, _ []byte) { x.Set(rand.Uint64(), 1) })
}

// BenchmarkPtreeBuild fills trees in ascending and in random order.
func BenchmarkPtreeBuild(b *testing.B) {
	member, value := []byte("member:000000"), []byte("value of 14 by")
	for name, order := range map[string]func(i int) uint64{"ascending": func(i int) uint64 { return uint64(i) }, "random": benchOrder} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var t *ptree
			for i := 0; b.Loop(); i++ {
				if i%benchKeys == 0 {
					t = newPtree()
				}
				t.Set(order(i), member, value)
			}
		})
	}
}

// BenchmarkPtreeWalk measures an entry of a walk, in memory and in the caches.
func BenchmarkPtreeWalk(b *testing.B) {
	t, small := benchTree(benchKeys), benchTree(1000)
	ascend := func(b *testing.B, t *ptree) {
		sum, left := 0, b.N
		for left > 0 {
			t.Ascend(rand.IntN(t.Len()), func(_ uint64, m, v []byte) bool {
				sum += len(m) + len(v)
				left--
				return left > 0
			})
		}
	}
	b.Run("ascend", func(b *testing.B) { ascend(b, t) })
	b.Run("ascend, small", func(b *testing.B) { ascend(b, small) })
	b.Run("next", func(b *testing.B) {
		c, sum := t.Cursor(), uint64(0)
		for b.Loop() {
			if !c.Next() {
				c = t.Cursor()
				continue
			}
			sum += c.Order() + uint64(len(c.Member()))
		}
	})
	for _, step := range []int{4, 100, 10_000} {
		b.Run(fmt.Sprintf("seek %d on", step), func(b *testing.B) {
			by := ^uint64(0) / benchKeys * uint64(step)
			c := t.Cursor()
			for o := uint64(0); b.Loop(); o += by {
				if !c.Seek(o, nil) {
					c, o = t.Cursor(), 0
				}
			}
		})
	}
}

// BenchmarkPtreeCopy measures the first write after a copy.
func BenchmarkPtreeCopy(b *testing.B) {
	t := benchTree(benchKeys)
	value := []byte("other value 14")
	var kept *ptree
	for i := 0; b.Loop(); i++ {
		kept = t.Copy()
		t.Set(benchOrder(i*7919%benchKeys), benchMember(nil, i*7919%benchKeys), value)
	}
	runtime.KeepAlive(kept)
}

// BenchmarkPtreeMemory reports what five million entries take.
func BenchmarkPtreeMemory(b *testing.B) {
	const n = 5_000_000
	for b.Loop() {
		before := heapAlloc()
		t := benchTree(n)
		after := heapAlloc()
		start := time.Now()
		runtime.GC()
		b.ReportMetric(float64(time.Since(start).Microseconds()), "gc-µs")
		b.ReportMetric(float64(after-before)/1e6, "MB")
		b.ReportMetric(float64(t.bytes())/1e6, "counted-MB")
		b.ReportMetric(float64(after-before)/n, "B/entry")
		start = time.Now()
		t.DeleteRange(n/10, n-n/10)
		b.ReportMetric(float64(time.Since(start).Microseconds()), "deleterange-µs")
	}
}

func heapAlloc() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
