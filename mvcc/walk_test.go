package mvcc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWalk compares Walk with Ascend, for any bounds and any end, where keys
// share positions and where they don't.
func TestWalk(t *testing.T) {
	for _, bits := range []int{4, 8, 64} {
		t.Run(fmt.Sprintf("hash of %d bits", bits), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			testWalk(t, rand.New(rand.NewPCG(seed, 1)), bits)
		})
	}
}

func testWalk(t *testing.T, r *rand.Rand, bits int) {
	h := Seed{r.Uint64(), 7}.Hasher()
	s := NewSpace(1, 1, func(k []byte) uint64 { return h(k) >> (64 - bits) << (64 - bits) })
	var tx Tx
	tx.Begin(s, 0, 0)
	for i := range 1 + r.IntN(1000) {
		tx.SetString(fmt.Appendf(nil, "key:%d", i), make([]byte, r.IntN(50)), int64(r.IntN(2))*int64(i+1))
	}
	v := s.Stores[0].Freeze(0)
	defer v.Release()
	for range 200 {
		first, last, stop := r.Uint64(), r.Uint64(), r.IntN(1500)
		if r.IntN(4) == 0 {
			first, last = 0, ^uint64(0)
		}
		want := ascended(v, first, last, stop)
		var got []string
		whole := v.Walk(first, last, int64(r.IntN(1500)-10), func(k Key) bool {
			got = append(got, fmt.Sprintf("%d %s %d %v", k.Pos, k.Bytes, k.Expire, k.Type))
			return len(got) <= stop
		})
		require.Equal(t, want, got)
		require.Equal(t, len(got) <= stop, whole)
	}
}

// ascended is what Ascend yields up to the last position, at most stop+1 keys.
func ascended(v *Version, first, last uint64, stop int) (all []string) {
	v.Ascend(first, func(pos uint64, e Entry) bool {
		if pos > last {
			return false
		}
		all = append(all, fmt.Sprintf("%d %s %d %v", pos, e.Key(), e.Expire(), e.Type()))
		return len(all) <= stop
	})
	return all
}

// TestViewWalk: a live view and a frozen one see the same keys, and as many as
// they say.
func TestViewWalk(t *testing.T) {
	s := NewSpace(4, 2, Seed{1, 2}.Hasher())
	var live, frozen View
	live.LiveView(s, 1, 0)
	versions := make([]*Version, 4)
	freeze := func() {
		for i, st := range s.Stores {
			versions[i] = st.Freeze(1)
		}
		frozen.FrozenView(s, 1, 0, versions)
	}
	release := func() {
		for _, v := range versions {
			v.Release()
		}
	}
	count := func(v *View) (walked, told int) {
		for i := range s.Stores {
			v.Walk(i, func(Key) bool { walked++; return true })
			told += v.Len(i)
		}
		return walked, told
	}
	walked, told := count(&live)
	require.Equal(t, [2]int{0, 0}, [2]int{walked, told}, "databases that were never used")
	var tx Tx
	tx.Begin(s, 1, 0)
	for i := range 100 {
		tx.SetInt(fmt.Appendf(nil, "k%d", i), 1, 0)
	}
	freeze()
	defer release()
	tx.SetInt([]byte("later"), 1, 0)
	walked, told = count(&live)
	require.Equal(t, [2]int{101, 101}, [2]int{walked, told})
	walked, told = count(&frozen)
	require.Equal(t, [2]int{100, 100}, [2]int{walked, told})
}

// TestPrefixSpan: a prefix with a whole hash tag bounds the positions of all
// keys that begin with it; one without does not.
func TestPrefixSpan(t *testing.T) {
	s := NewSpace(4, 1, Seed{1, 2}.Hasher())
	for _, prefix := range []string{"{a}", "{a}x", "x{tag}y{other}", "{{a}", "x{a}}"} {
		first, last := s.PrefixSpan([]byte(prefix))
		require.Equal(t, uint64(1)<<52-1, last-first, prefix)
		for i := range 100 {
			pos := s.Hash(fmt.Appendf([]byte(prefix), "%d{b}", i))
			require.True(t, first <= pos && pos <= last, prefix)
		}
	}
	for _, prefix := range []string{"", "a", "{", "{a", "{}", "{}a", "{}{a}", "a}", "}a{"} {
		first, last := s.PrefixSpan([]byte(prefix))
		require.Equal(t, [2]uint64{0, ^uint64(0)}, [2]uint64{first, last}, prefix)
	}
}
