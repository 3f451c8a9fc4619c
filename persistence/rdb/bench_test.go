package rdb

import (
	"fmt"
	"testing"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// BenchmarkDecode reads values of 200,000 elements.
func BenchmarkDecode(b *testing.B) {
	for name, p := range benchValues(b) {
		b.Run(name, func(b *testing.B) {
			s := mvcc.NewSpace(1, 1, mvcc.Seed{6, 7}.Hasher())
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				_, err := NewDecoder(p[1:]).Value(p[0], s)
				require.NoError(b, err)
			}
		})
	}
}

func benchValues(b *testing.B) map[string][]byte {
	const n = 200_000
	s := mvcc.NewSpace(1, 1, mvcc.Seed{5, 7}.Hasher())
	var tx mvcc.Tx
	tx.Begin(s, 0, now)
	h := tx.WriteHash([]byte("hash"))
	for i := range n {
		h.Set(fmt.Appendf(nil, "field:%d", i), fmt.Appendf(nil, "value%d", i))
	}
	h.Close()
	z := tx.WriteZSet([]byte("zset"))
	for i := range n {
		z.Set(fmt.Appendf(nil, "member:%d", i), float64(i)*1.5)
	}
	z.Close()
	l := tx.WriteList([]byte("list"))
	for i := range n {
		l.PushRight(fmt.Appendf(nil, "element:%d", i))
	}
	l.Close()
	all := map[string][]byte{}
	for _, key := range []string{"hash", "zset", "list"} {
		e, ok := tx.View.Peek([]byte(key))
		require.True(b, ok)
		var w Encoder
		t := Type(&e, now)
		w.Byte(t)
		w.Value(t, &e, now)
		all[key] = w.Take()
	}
	return all
}
