package mvcc

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestZSetBuilder: whatever the order that it is given, it makes what a writer
// makes.
func TestZSetBuilder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := NewSpace(1, 1, Seed{1, 2}.Hasher())
	for _, size := range []int{0, 1, 20, 128, 129, 5000} {
		for _, byScore := range []bool{false, true} {
			w, b := NewZSet(s), NewZSetBuilder(s, byScore)
			for i := range size {
				w.Set(fmt.Appendf(nil, "m%d", i), float64(r.IntN(size))-10)
			}
			z, pauses := w.Value(), 0
			if byScore {
				z.Ascend(0, func(m []byte, score float64) bool { b.Add(m, score); return true })
			} else {
				addByPosition(s, &z, b)
			}
			require.Equal(t, size, b.Len())
			got := b.Finish(func() { pauses++ })
			require.Equal(t, size >= 128, pauses > 0, "the long steps pause")
			require.Equal(t, zsetText(w), zsetText(got))
			require.Equal(t, packedName(w), packedName(got))
			if got.obj != nil {
				require.NoError(t, got.obj.val.check())
			}
		}
	}
}

func addByPosition(s *Space, z *ZSetValue, b *ZSetBuilder) {
	var all []placed
	z.Ascend(0, func(m []byte, score float64) bool {
		all = append(all, placed{s.Hash(m), bytes.Clone(m), score})
		return true
	})
	slices.SortFunc(all, comparePlaced)
	for _, p := range all {
		b.Add(p.member, p.score)
	}
}

func zsetText(w *ZSetWriter) (all []string) {
	z := w.Value()
	z.Ascend(0, func(m []byte, score float64) bool {
		all = append(all, fmt.Sprintf("%s %v", m, score))
		return true
	})
	return all
}

func packedName(w *ZSetWriter) bool {
	if w.obj != nil {
		return w.tree().packed
	}
	return w.enc == Flat
}
