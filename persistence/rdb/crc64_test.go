package rdb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCRC64(t *testing.T) {
	require.Equal(t, uint64(0xe9c6d914c4b8d9ca), CRC64(0, []byte("123456789")))
	require.Zero(t, CRC64(0, nil))
}

// A sum in pieces is the sum of the whole, wherever it is cut.
func TestCRC64InPieces(t *testing.T) {
	rnd := newRand(t)
	p := make([]byte, 100)
	for i := range p {
		p[i] = byte(rnd.Uint32())
	}
	whole := CRC64(0, p)
	for cut := range p {
		require.Equal(t, whole, CRC64(CRC64(0, p[:cut]), p[cut:]), "cut at %d", cut)
	}
}

func BenchmarkCRC64(b *testing.B) {
	p := make([]byte, 64<<10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		CRC64(0, p)
	}
}
