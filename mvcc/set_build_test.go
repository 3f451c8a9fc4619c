package mvcc

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSetAppend: a set that is appended to is one that is added to.
func TestSetAppend(t *testing.T) {
	space := NewSpace(1, 1, Seed{1, 2}.Hasher())
	for _, n := range []int{1, 5, 100, 600, 5000} {
		for _, form := range []string{"%d", "member:%d", "%0600d", "%02000d"} {
			var all []placed
			for i := range n {
				m := fmt.Appendf(nil, form, i)
				all = append(all, placed{pos: space.Hash(m), member: m})
			}
			slices.SortFunc(all, comparePlaced)
			one, two := NewSet(space), NewSet(space)
			for _, m := range all {
				one.Append(m.pos, m.member)
				two.Add(m.member)
			}
			var tx Tx
			tx.Begin(space, 0, 0)
			tx.PutValue([]byte("one"), one, 0)
			tx.PutValue([]byte("two"), two, 0)
			require.NoError(t, space.Check())
			a, _ := tx.Lookup([]byte("one"))
			b, _ := tx.Lookup([]byte("two"))
			require.Equal(t, b.EncodingName(), a.EncodingName())
			s := a.Set(0)
			require.Equal(t, n, s.Len())
			for _, m := range all {
				require.True(t, s.Has(m.member))
			}
		}
	}
}
