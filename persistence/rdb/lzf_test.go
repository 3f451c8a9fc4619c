package rdb

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// wordy makes bytes with repetitions, near and far, in it.
func wordy(rnd *rand.Rand, n int) []byte {
	p := make([]byte, 0, n+300)
	for len(p) < n {
		switch k := rnd.IntN(300) + 1; {
		case rnd.IntN(3) == 0 || len(p) == 0:
			for range k {
				p = append(p, byte(rnd.Uint32()))
			}
		default:
			from := max(len(p)-1-rnd.IntN(10000), 0)
			for i := range k {
				p = append(p, p[from+i])
			}
		}
	}
	return p[:n]
}

func TestLZFRoundTrip(t *testing.T) {
	rnd := newRand(t)
	var z lzf
	for _, n := range []int{1, 2, 3, 4, 5, 31, 32, 33, 264, 265, 8192, 8193, 100_000, 1000, 21, 300_000} {
		for range 20 {
			in := wordy(rnd, n)
			packed, ok := z.compress(nil, in, 2*n+10)
			require.True(t, ok)
			out := make([]byte, n)
			require.True(t, decompress(out, packed), "length %d", n)
			require.True(t, bytes.Equal(in, out), "length %d", n)
			require.False(t, decompress(make([]byte, n+1), packed))
			require.False(t, decompress(make([]byte, n-1), packed))
		}
	}
}

// Positions of earlier inputs stay in the table and must not be taken for this
// one's, also where the counting of them begins anew.
func TestLZFTableIsReused(t *testing.T) {
	rnd := newRand(t)
	var z lzf
	z.slots(1)
	z.base = 1<<32 - 5000
	for range 50 {
		in := wordy(rnd, 1000)
		packed, ok := z.compress(nil, in, 2000)
		require.True(t, ok)
		out := make([]byte, len(in))
		require.True(t, decompress(out, packed))
		require.Equal(t, in, out)
	}
}

func TestLZFGivesUp(t *testing.T) {
	rnd := newRand(t)
	noise := make([]byte, 1000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	var z lzf
	_, ok := z.compress(nil, noise, len(noise)-4)
	require.False(t, ok)
	packed, ok := z.compress(nil, bytes.Repeat([]byte("a"), 1000), 996)
	require.True(t, ok)
	require.Less(t, len(packed), 30)
}

func FuzzDecompress(f *testing.F) {
	f.Add([]byte{0, 'a', 0xE0, 0, 0}, 10)
	f.Add([]byte{0x20, 0xFF}, 4)
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		if n >= 0 && n <= len(in)*lzfExpansion {
			decompress(make([]byte, n), in)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	for name, n := range map[string]int{"100B": 100, "64KB": 64 << 10} {
		b.Run(name, func(b *testing.B) {
			in := wordy(rand.New(rand.NewPCG(1, 1)), n)
			var z lzf
			var out []byte
			b.SetBytes(int64(n))
			for b.Loop() {
				out, _ = z.compress(out[:0], in, n)
			}
		})
	}
}
