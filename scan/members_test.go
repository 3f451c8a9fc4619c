package scan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// pageOf walks members that are sorted by position as the commands do.
func pageOf(members []uint64, from Cursor, count int64) (got []uint64, next Cursor) {
	p, pos, ok := NewPager(from, count)
	if !ok {
		return nil, 0
	}
	i, _ := slices.BinarySearch(members, pos)
	for _, m := range members[i:] {
		if !p.Take(m) {
			break
		}
		got = append(got, m)
	}
	return got, p.Next()
}

// TestPagerGuarantee: whatever else comes and goes, a member that is there from
// the first call to the last is returned exactly once, also where positions
// share their cursor.
func TestPagerGuarantee(t *testing.T) {
	r := testRand(t)
	for range 300 {
		shift := 1 + r.IntN(60) // few cursors, or many
		draw := func() uint64 { return r.Uint64() >> shift << shift }
		stays := sortedSet(r, 50, draw)
		returned := map[uint64]int{}
		for next, calls := Cursor(0), 0; ; calls++ {
			all := slices.Concat(stays, sortedSet(r, 50, draw))
			slices.Sort(all)
			got, cursor := pageOf(slices.Compact(all), next, int64(1+r.IntN(10)))
			for _, m := range got {
				returned[m]++
			}
			require.Less(t, calls, 200)
			if next = cursor; next == 0 {
				break
			}
		}
		for _, m := range stays {
			require.Equal(t, 1, returned[m], "%x", m)
		}
	}
}

func sortedSet(r *rand.Rand, n int, draw func() uint64) []uint64 {
	set := make([]uint64, r.IntN(n))
	for i := range set {
		set[i] = draw()
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// TestPagerCount: a page has COUNT members and all that share the last one's
// cursor; a foreign cursor is at the end.
func TestPagerCount(t *testing.T) {
	f := func(members []uint64, from Cursor, count int64, want int, next Cursor) {
		t.Helper()
		got, cursor := pageOf(members, from, count)
		require.Len(t, got, want)
		require.Equal(t, next, cursor)
	}
	one, two := uint64(1)<<12, uint64(2)<<12
	f(nil, 0, 10, 0, 0)
	f([]uint64{one, two}, 0, 1, 1, 2)
	f([]uint64{one, two}, 0, 2, 2, 0)
	f([]uint64{one, two}, 2, 1, 1, 0)
	f([]uint64{one, one + 1, one + 4095, two}, 0, 1, 3, 2)
	f([]uint64{one, two}, 0, math.MaxInt64, 2, 0)
	f([]uint64{one, two}, math.MaxUint64, 1, 0, 0)
	f([]uint64{math.MaxUint64}, 1<<52-1, 1, 1, 0)
}
