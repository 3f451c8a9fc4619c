package mvcc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSipHash checks SipHash-2-4 against the vectors of its paper's authors;
// the position hash is the same code with fewer rounds.
func TestSipHash(t *testing.T) {
	k0, k1 := uint64(0x0706050403020100), uint64(0x0f0e0d0c0b0a0908)
	var in []byte
	want := []uint64{0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d}
	for i, w := range want {
		require.Equal(t, w, sipHash(k0, k1, in, 2, 4))
		in = append(in, byte(i))
	}
}

func TestPositionTag(t *testing.T) {
	h := Seed{1, 2}.Hasher()
	require.Equal(t, h([]byte("{a}x"))>>52, h([]byte("{a}yy"))>>52)
	require.Equal(t, h([]byte("{a}x"))>>52, h([]byte("a"))>>52)
	require.NotEqual(t, h([]byte("{a}x")), h([]byte("{a}yy")))
}
