package commands

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"firn/commands/transcript"
	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// TestShiftModel compares BITOP LSHIFT and RSHIFT with the shifts of a big
// number whose least significant byte is the first, also across chunks.
func TestShiftModel(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	h := newHarness(4, 1)
	for range 300 {
		value := randomBytes(r, pickSize(r))
		shift := int64(r.IntN(64)) + 8*int64(pickSize(r))
		op := []string{"LSHIFT", "RSHIFT"}[r.IntN(2)]
		do(t, h, "SET", "a", string(value))
		size := do(t, h, "BITOP", op, "x", "a", fmt.Sprint(shift))
		want := shiftedModel(value, op == "RSHIFT", shift)
		require.Equal(t, fmt.Sprint(len(want)), size.Text, "%s of %d bytes by %d", op, len(value), shift)
		got := do(t, h, "GET", "x").Text
		require.Equal(t, string(want), got, "%s of %d bytes by %d", op, len(value), shift)
	}
	require.NoError(t, h.verify())
}

func pickSize(r *rand.Rand) int {
	return []int{0, 1, 7, 8, 9, 100, mvcc.ChunkSize - 1, mvcc.ChunkSize, mvcc.ChunkSize + 1, 3 * mvcc.ChunkSize}[r.IntN(10)]
}

func shiftedModel(value []byte, right bool, shift int64) []byte {
	n := new(big.Int).SetBytes(reversed(value))
	size := int64(len(value)) + (shift+7)/8
	if right {
		size = max(int64(len(value))-shift/8, 0)
		n.Rsh(n, uint(shift))
	} else {
		n.Lsh(n, uint(shift))
	}
	return reversed(n.FillBytes(make([]byte, size)))
}

func reversed(b []byte) []byte {
	b = bytes.Clone(b)
	slices.Reverse(b)
	return b
}

// do runs a command line that must not fail.
func do(t testing.TB, h *harness, line ...string) transcript.Reply {
	t.Helper()
	args := make([][]byte, len(line))
	for i, w := range line {
		args[i] = []byte(w)
	}
	raw, err := wellFormed(h, args)
	require.NoError(t, err)
	v, err := transcript.ReadAll(raw)
	require.NoError(t, err)
	require.NotEqual(t, byte('-'), v.Kind, v.Text)
	return v
}
