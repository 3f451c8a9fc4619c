package mvcc

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// listModel is what each key should hold.
type listModel map[string][][]byte

func (m listModel) clone() listModel {
	c := maps.Clone(m)
	for k := range c {
		c[k] = slices.Clone(c[k])
	}
	return c
}

// matches compares the lists that a view shows, read in each way.
func (m listModel) matches(t *testing.T, v *View, keys []string) {
	t.Helper()
	for _, key := range keys {
		e, ok := v.Peek([]byte(key))
		want := m[key]
		require.Equal(t, len(want) > 0, ok, key)
		if !ok {
			continue
		}
		l := e.List()
		require.Equal(t, len(want), l.Len())
		require.Equal(t, len(want), e.Count())
		i := 0
		l.Ascend(0, func(b []byte) bool {
			require.True(t, bytes.Equal(want[i], b), "%s[%d]", key, i)
			require.True(t, bytes.Equal(b, l.At(i)), "%s[%d]", key, i)
			i++
			return true
		})
		require.Equal(t, len(want), i)
		l.Descend(i-1, func(b []byte) bool { i--; return bytes.Equal(want[i], b) })
		require.Zero(t, i)
	}
}

// write edits a key at random and the model with it.
func (m listModel) write(t *testing.T, r *rand.Rand, w *ListWriter, key string) {
	for range 1 + r.IntN(20) {
		list, elem := m[key], randomElem(r, r.IntN(20) == 0)
		n := len(list)
		switch op := r.IntN(12); {
		case n > 0 && op == 10:
			require.Equal(t, string(list[0]), string(w.PopLeft()))
			list = list[1:]
		case n > 0 && op == 11:
			require.Equal(t, string(list[n-1]), string(w.PopRight()))
			list = list[:n-1]
		case op < 3:
			w.PushLeft(elem)
			list = slices.Insert(list, 0, elem)
		case op < 5 || n == 0:
			w.PushRight(elem)
			list = append(list, elem)
		case op < 6:
			i := r.IntN(n)
			w.Set(i, elem)
			list[i] = elem
		case op < 8:
			i := r.IntN(n + 1)
			w.Insert(i, elem)
			list = slices.Insert(list, i, elem)
		default:
			i := r.IntN(n)
			k := 1 + r.IntN(min(n-i, 4))
			w.RemoveRange(i, k)
			list = slices.Delete(list, i, i+k)
		}
		m[key] = list
	}
	switch r.IntN(16) {
	case 0, 1:
		n := len(m[key])
		w.RemoveRange(n/3, n-n/3)
		m[key] = m[key][:n/3]
	case 2:
		list := m[key]
		m[key] = nil
		w.Filter(func(i int) bool {
			keep := r.IntN(3) > 0
			if keep {
				m[key] = append(m[key], list[i])
			}
			return keep
		})
	}
}

// openList opens a writer in one of the two ways.
func openList(r *rand.Rand, tx *Tx, key []byte) *ListWriter {
	if e, ok := tx.Lookup(key); ok && r.IntN(2) == 0 {
		return tx.EditList(key, &e)
	}
	return tx.WriteList(key)
}

// TestListWriter writes lists of many lengths while versions are open, and
// copies them between keys and databases.
func TestListWriter(t *testing.T) {
	r, seed := newRand(t)
	s := newSpace(t, 2, 2, 64, seed)
	keys := make([]string, 12)
	for i := range keys {
		keys[i] = fmt.Sprint("list", i)
	}
	type frozen struct {
		versions []*Version
		m        listModel
	}
	var open []frozen
	m, tx := listModel{}, new(Tx)
	for round := range 400 {
		tx.Begin(s, 0, 1)
		key := keys[r.IntN(len(keys))]
		switch r.IntN(8) {
		case 0:
			if e, ok := tx.Lookup([]byte(key)); ok {
				to := keys[r.IntN(len(keys))]
				if to != key {
					tx.CopyTo([]byte(to), &e, 0)
					m[to] = slices.Clone(m[key])
				}
			}
		case 1:
			w := NewList(s)
			m[key] = nil
			m.write(t, r, w, key)
			tx.PutValue([]byte(key), w, 0)
		default:
			w := openList(r, tx, []byte(key))
			m.write(t, r, w, key)
			require.Equal(t, len(m[key]), w.Len())
			w.Close()
		}
		if round%10 == 0 {
			open = append(open, frozen{[]*Version{s.Stores[0].Freeze(0), s.Stores[1].Freeze(0)}, m.clone()})
		}
		tx.LiveView(s, 0, 1)
		m.matches(t, &tx.View, keys)
		require.NoError(t, s.Check())
		if round%5 == 0 {
			for _, f := range open {
				var v View
				v.FrozenView(s, 0, 1, f.versions)
				f.m.matches(t, &v, keys)
			}
		}
		if len(open) > 4 {
			open[0].versions[0].Release()
			open[0].versions[1].Release()
			open = open[1:]
		}
	}
	for _, f := range open {
		f.versions[0].Release()
		f.versions[1].Release()
	}
}

// TestListChanges counts as Redis' dirty does: one for each element that came,
// went or was replaced.
func TestListChanges(t *testing.T) {
	_, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	var tx Tx
	tx.Begin(s, 0, 1)
	w := tx.WriteList([]byte("l"))
	for range 1000 {
		w.PushRight([]byte("x"))
	}
	require.EqualValues(t, 1000, tx.Changes)
	w.RemoveRange(10, 500)
	w.Set(0, []byte("y"))
	w.Insert(3, []byte("z"))
	w.Close()
	require.EqualValues(t, 1502, tx.Changes)
	w = tx.WriteList([]byte("l"))
	w.RemoveRange(0, w.Len())
	w.Close()
	_, ok := tx.Peek([]byte("l"))
	require.False(t, ok)
	require.Zero(t, s.Stores[0].Usage().Objects)
}

// TestListInPlace wants most pushes to a small list, and pops from it, to leave
// nothing to clean up.
func TestListInPlace(t *testing.T) {
	_, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	var tx Tx
	tx.Begin(s, 0, 1)
	moves := 0
	var at ref
	edit := func(f func(w *ListWriter)) {
		w := tx.WriteList([]byte("l"))
		f(w)
		w.Close()
		if e, ok := tx.Peek([]byte("l")); ok && e.ref != at {
			moves, at = moves+1, e.ref
		}
	}
	for range 100 {
		edit(func(w *ListWriter) { w.PushRight([]byte("abc")) })
	}
	require.LessOrEqual(t, moves, 100*4/padTo+1)
	moves = 0
	for range 1000 {
		edit(func(w *ListWriter) { w.PushLeft([]byte("abc")) })
		edit(func(w *ListWriter) { w.PopRight() })
	}
	require.LessOrEqual(t, moves, 1)
	moves = 0
	for range 99 {
		edit(func(w *ListWriter) { w.PopLeft() })
	}
	require.LessOrEqual(t, moves, 100*4/padTo+1)
	e, _ := tx.Peek([]byte("l"))
	require.Equal(t, 1, e.Count())
}

// TestListGoesBack looks at where a list lies that grew and shrank again.
func TestListGoesBack(t *testing.T) {
	_, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	var tx Tx
	tx.Begin(s, 0, 1)
	big := func() bool { e, _ := tx.Peek([]byte("l")); return e.Big() }
	edit := func(f func(w *ListWriter)) {
		w := tx.WriteList([]byte("l"))
		f(w)
		w.Close()
	}
	edit(func(w *ListWriter) {
		for range 100 {
			w.PushRight([]byte("abc"))
		}
	})
	require.False(t, big())
	edit(func(w *ListWriter) {
		for range 100 {
			w.PushLeft([]byte("abc"))
		}
	})
	require.True(t, big())
	edit(func(w *ListWriter) { w.RemoveRange(50, 100) })
	require.True(t, big(), "it is not yet short enough")
	edit(func(w *ListWriter) { w.RemoveRange(1, 90) })
	require.False(t, big())
	edit(func(w *ListWriter) { w.Set(5, make([]byte, seqInlineMax+1)) })
	require.True(t, big())
	edit(func(w *ListWriter) { w.RemoveRange(5, 1) })
	require.False(t, big())
	e, _ := tx.Peek([]byte("l"))
	require.Equal(t, 9, e.Count())
}

func BenchmarkListWriter(b *testing.B) {
	s := NewSpace(1, 1, Seed{1, 2}.Hasher())
	var tx Tx
	tx.Begin(s, 0, 1)
	big, small, elem := []byte("big"), []byte("small"), []byte("xxx")
	w := tx.WriteList(big)
	for range 100_000 {
		w.PushLeft(elem)
	}
	w.Close()
	w = tx.WriteList(small)
	for range 20 {
		w.PushLeft(elem)
	}
	w.Close()
	for name, key := range map[string][]byte{"big": big, "small": small} {
		b.Run("push+pop/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := tx.WriteList(key)
				w.PushLeft(elem)
				w.Close()
				w = tx.WriteList(key)
				w.PopRight()
				w.Close()
				s.Stores[0].CleanDebt(16 << 10)
			}
		})
	}
}
