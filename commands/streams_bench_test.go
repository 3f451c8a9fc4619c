package commands

import (
	"testing"

	"firn/mvcc"
)

// BenchmarkXAdd measures XADD of one small field, as redis-benchmark's.
func BenchmarkXAdd(b *testing.B) {
	h := bareHarness(1, 1)
	c := &h.session("main").call
	args := words("XADD mystream * myfield xxx")
	row, err := h.table.Resolve(args)
	if err != nil {
		b.Fatal(err)
	}
	var tx mvcc.Tx
	b.ReportAllocs()
	for i := range b.N {
		c.Now = harnessStart + int64(i)/500
		c.Begin(row, args)
		tx.Begin(h.space, 0, c.Now)
		if err := RunOwner(c, &tx); err != nil {
			b.Fatal(err)
		}
		c.Effects(&tx)
		c.Out.Reset()
	}
}
