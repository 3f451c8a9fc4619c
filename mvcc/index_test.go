package mvcc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/btree"
)

// TestIndex runs random writes against btree.Map, which has the same contract,
// with copies that are compared again and again; positions are spread evenly,
// clumped, or few.
func TestIndex(t *testing.T) {
	for _, shape := range []string{"even", "clumped", "few"} {
		t.Run(shape, func(t *testing.T) { testIndex(t, shape) })
	}
}

func testIndex(t *testing.T, shape string) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	pos := func() uint64 {
		switch shape {
		case "even":
			return r.Uint64() % 5000 * (^uint64(0) / 5000)
		case "clumped":
			return r.Uint64()%4<<60 + r.Uint64()%2000
		}
		return r.Uint64() % 100
	}
	x, m := newIndex(), new(btree.Map[uint64, ref])
	type frozen struct {
		x *index
		m *btree.Map[uint64, ref]
	}
	var old []frozen
	for round := range 60 {
		grow := round%20 < 12
		for range 700 {
			p := pos()
			if r.IntN(10) < 3 == grow {
				got, ok := x.Delete(p)
				want, has := m.Delete(p)
				require.Equal(t, has, ok)
				require.Equal(t, want, got)
				continue
			}
			v := ref(r.Uint64())
			got, ok := x.Set(p, v)
			want, has := m.Set(p, v)
			require.Equal(t, has, ok)
			require.Equal(t, want, got)
		}
		old = append(old, frozen{x.Copy(), m.Copy()})
		if len(old) > 5 {
			old = old[1:]
		}
		sameIndex(t, r, x, m)
		for _, f := range old {
			sameIndex(t, r, f.x, f.m)
		}
	}
}

func sameIndex(t *testing.T, r *rand.Rand, x *index, m *btree.Map[uint64, ref]) {
	t.Helper()
	require.Equal(t, m.Len(), x.Len())
	require.NoError(t, x.check())
	from := r.Uint64()
	if p, _, ok := m.GetAt(r.IntN(m.Len() + 1)); ok {
		from = p
	}
	var got, want []pair
	x.Ascend(from, func(p uint64, v ref) bool { got = append(got, pair{p, v}); return true })
	m.Ascend(from, func(p uint64, v ref) bool { want = append(want, pair{p, v}); return true })
	require.Equal(t, want, got)
	i := 0
	m.Scan(func(p uint64, v ref) bool {
		gp, gv, ok := x.GetAt(i)
		require.True(t, ok && gp == p && gv == v)
		gv, ok = x.Get(p)
		require.True(t, ok && gv == v)
		i++
		return true
	})
	_, ok := x.Get(from ^ 1<<17)
	_, has := m.Get(from ^ 1<<17)
	require.Equal(t, has, ok)
}

// BenchmarkIndex compares with btree.Map.
func BenchmarkIndex(b *testing.B) {
	const n = 1 << 20
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, n)
	x, m := newIndex(), new(btree.Map[uint64, ref])
	for i := range keys {
		keys[i] = r.Uint64()
		x.Set(keys[i], ref(i))
		m.Set(keys[i], ref(i))
	}
	type ops interface {
		Get(uint64) (ref, bool)
		Set(uint64, ref) (ref, bool)
		Ascend(uint64, func(uint64, ref) bool)
	}
	for name, o := range map[string]ops{"index": x, "btree": m} {
		b.Run(fmt.Sprintf("get/%s", name), func(b *testing.B) {
			for i := range b.N {
				o.Get(keys[i*7919%n])
			}
		})
		b.Run(fmt.Sprintf("set/%s", name), func(b *testing.B) {
			for i := range b.N {
				o.Set(keys[i*7919%n], ref(i))
			}
		})
		b.Run(fmt.Sprintf("ascend100/%s", name), func(b *testing.B) {
			for i := range b.N {
				k := 0
				o.Ascend(keys[i*7919%n], func(uint64, ref) bool { k++; return k < 100 })
			}
		})
	}
}
