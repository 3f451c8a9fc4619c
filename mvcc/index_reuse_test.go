package mvcc

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

const reuseKeys = 20_000

func reuseSpace(t *testing.T) (*rand.Rand, *Space, *keyspace) {
	r, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	for i := range reuseKeys {
		setKey(s, i, 0)
	}
	return r, s, s.Stores[0].dbs[0]
}

func setKey(s *Space, i, value int) {
	var tx Tx
	tx.Begin(s, 0, 1)
	tx.SetString(fmt.Appendf(nil, "key:%d", i), fmt.Append(nil, value), 0)
}

// churn sets a few keys.
func churn(s *Space, r *rand.Rand) {
	for range 1 + r.IntN(60) {
		setKey(s, r.IntN(reuseKeys), r.IntN(1000))
	}
}

// nodesOf returns pointers to all nodes.
func nodesOf(x *index) map[any]bool {
	found := map[any]bool{}
	var walk func(in *inner)
	walk = func(in *inner) {
		found[in] = true
		for i := range in.n {
			if l := in.leaves[i]; l != nil {
				found[l] = true
			} else {
				walk(in.kids[i])
			}
		}
	}
	walk(x.root)
	return found
}

// TestReuseUnderReaders: many versions are open at a time, some for long and
// most for a moment, while nodes are used again. All go on showing what they
// showed.
func TestReuseUnderReaders(t *testing.T) {
	type frozen struct {
		*Version
		want []string
	}
	r, s, k := reuseSpace(t)
	var open []frozen
	gone, again := map[any]bool{}, 0
	for range 150 {
		before := nodesOf(k.index)
		v := s.Stores[0].Freeze(0)
		if r.IntN(10) == 0 {
			open = append(open, frozen{v, dump(v)})
		} else {
			v.Release()
		}
		churn(s, r)
		after := nodesOf(k.index)
		for n := range after {
			if gone[n] {
				again++
			}
			delete(before, n)
		}
		maps.Copy(gone, before)
		if len(open) > 4 {
			i := r.IntN(len(open))
			require.Equal(t, open[i].want, dump(open[i].Version))
			open[i].Release()
			open = append(open[:i], open[i+1:]...)
		}
	}
	require.NoError(t, s.Check())
	require.Positive(t, again, "no node was used again")
	for _, o := range open {
		require.Equal(t, o.want, dump(o.Version))
		o.Release()
	}
}

// TestReuseUnderSplice: what is frozen during a splice shows nodes that the splice
// has replaced before it was frozen.
func TestReuseUnderSplice(t *testing.T) {
	r, s, _ := reuseSpace(t)
	st := s.Stores[0]
	for range 20 {
		first := st.Freeze(0)
		want := dump(first)
		first.Release()
		st.BeginSplice(0)
		var tx Tx
		for range 10 {
			tx.Begin(s, 0, 1)
			tx.Splice()
			for range 50 {
				tx.SetString(fmt.Appendf(nil, "key:%d", r.IntN(reuseKeys)), fmt.Append(nil, r.IntN(1000)), 0)
			}
			v := st.Freeze(0)
			require.Equal(t, want, dump(v))
			v.Release()
			setKey(s, reuseKeys, 0) // another's write, so that the next version is a new one
			v = st.Freeze(0)
			want = dump(v)
			v.Release()
		}
		during := st.Freeze(0)
		st.EndSplice(0)
		for range 10 {
			churn(s, r)
			st.Freeze(0).Release()
		}
		require.Equal(t, want, dump(during))
		during.Release()
	}
}

// TestReuseKeepsLittle: an index keeps no more than its share, however long a
// version holds its nodes back, and nothing when it rests.
func TestReuseKeepsLittle(t *testing.T) {
	r, s, k := reuseSpace(t)
	st := s.Stores[0]
	long := st.Freeze(0)
	want := dump(long)
	u, most := k.index.reuse, 0
	for range 200 {
		st.Freeze(0).Release()
		churn(s, r)
		most = max(most, len(u.leaves)+len(u.inners)+len(u.retired)-u.head)
	}
	require.Equal(t, max(reuseLeast, reuseKeys/reuseShare), most)
	require.Equal(t, want, dump(long))
	long.Release()
	for range restCalls + 1 {
		st.Rest()
	}
	require.Equal(t, reuse{k: k}, *u)
}
