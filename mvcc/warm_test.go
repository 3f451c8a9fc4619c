package mvcc

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkWarm looks batches of 32 random keys of a million up, with and
// without warming them first.
func BenchmarkWarm(b *testing.B) {
	const n = 1 << 20
	s := NewSpace(8, 1, Seed{1, 2}.Hasher())
	var tx Tx
	keys := make([][]byte, n)
	value := make([]byte, 100)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key:%016d", i)
		tx.Begin(s, 0, 1)
		tx.SetRaw(keys[i], value, 0)
	}
	for _, warm := range []bool{false, true, false, true} {
		b.Run(fmt.Sprintf("warm=%v", warm), func(b *testing.B) {
			r := rand.New(rand.NewPCG(3, 4))
			var w Warmer
			var v View
			batch := make([][]byte, 32)
			for i := 0; i < b.N; i += len(batch) {
				v.LiveView(s, 0, 1)
				for j := range batch {
					batch[j] = keys[r.Uint64()%n]
				}
				for _, k := range batch {
					if warm {
						w.Add(s, Place{Pos: s.Hash(k)})
					}
				}
				w.Run()
				for _, k := range batch {
					if _, ok := v.Get(k); !ok {
						b.Fatal("a key is missing")
					}
				}
			}
		})
	}
}
