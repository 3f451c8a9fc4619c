package mvcc

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A markRun writes to a few keys of three types, in two databases, and tells by
// the values alone what a mark must have counted.
type markRun struct {
	*modelRun
	marks [2]map[string]*Mark
}

// image is what a key is in a database, as far as it has not expired.
func (m *markRun) image(db int, key string) string {
	var v View
	v.LiveView(m.s, db, m.now)
	e, ok := v.Peek([]byte(key))
	if !ok {
		return ""
	}
	s := fmt.Sprint(e.Type(), " ", e.Expire(), " ")
	switch e.Type() {
	case Set:
		set := e.Set(m.now)
		set.Each(func(member []byte) bool { s += string(member) + ","; return true })
	case List:
		list := e.List()
		list.Ascend(0, func(b []byte) bool { s += string(b) + ","; return true })
	default:
		s += string(e.Bytes(nil))
	}
	return s
}

// Whatever is done, a mark has counted if the key was changed by it, and has not
// if nothing was written. (A write of what was there already may do either.)
func TestMarksCountChanges(t *testing.T) {
	r, seed := newRand(t)
	for _, bits := range []int{4, 64} {
		m := &markRun{modelRun: &modelRun{r: r, s: newSpace(t, 2, 2, bits, seed), bits: bits}}
		keys := []string{"string", "set", "list", "none"}
		for db := range m.marks {
			m.marks[db] = map[string]*Mark{}
			for _, k := range keys {
				m.marks[db][k] = m.mark(db, k)
				m.marks[db][k].Blocked++
			}
		}
		for range 1500 {
			m.markStep(t, keys)
		}
		require.NoError(t, m.s.Check())
		for _, ms := range m.marks {
			for k, mark := range ms {
				m.store(k).Unmark(mark)
			}
		}
		for _, s := range m.s.Stores {
			require.Zero(t, s.Marks())
			require.Empty(t, s.TakeTouched(), "of marks that are gone")
		}
	}
}

func (m *markRun) store(key string) *Store { return m.s.Stores[m.s.StoreOf(m.s.Hash([]byte(key)))] }

func (m *markRun) mark(db int, key string) *Mark {
	return m.store(key).Mark(db, m.s.Hash([]byte(key)))
}

func (m *markRun) markStep(t *testing.T, keys []string) {
	var before [2]map[string]string
	var counts [2]map[string]uint64
	for db := range before {
		before[db], counts[db] = map[string]string{}, map[string]uint64{}
		for _, k := range keys {
			before[db][k], counts[db][k] = m.image(db, k), m.marks[db][k].Changes
		}
	}
	quiet, what := m.act()
	touched := map[*Mark]bool{}
	for _, s := range m.s.Stores {
		for _, mark := range s.TakeTouched() {
			require.False(t, touched[mark], "twice in the list")
			touched[mark] = true
		}
	}
	for db := range before {
		for _, k := range keys {
			mark := m.marks[db][k]
			switch now := m.image(db, k); {
			case now != before[db][k]:
				require.Greater(t, mark.Changes, counts[db][k], "%s changed %s of %d: %q %q", what, k, db, before[db][k], now)
				require.True(t, touched[mark], "%s changed %s", what, k)
			case quiet && m.bits == 64: // or it shares its mark
				require.Equal(t, counts[db][k], mark.Changes, "%s did not change %s of %d", what, k, db)
			}
		}
	}
}

// act does one thing. Quiet says that it writes only what it changes.
func (m *markRun) act() (quiet bool, what string) {
	m.db = m.r.IntN(2)
	m.tx.Begin(m.s, m.db, m.now)
	n := fmt.Appendf(nil, "%d", m.r.IntN(60))
	switch m.r.IntN(13) {
	case 0:
		m.tx.SetString([]byte("string"), n, 0)
		return false, "SET"
	case 1:
		m.tx.Delete([]byte("none"))
		return true, "DEL of nothing"
	case 2:
		m.tx.WriteAt([]byte("string"), int64(m.r.IntN(100000)), n)
		return false, "SETRANGE"
	case 3, 4, 5:
		w := m.tx.WriteSet([]byte("set"))
		for i := range m.r.IntN(40) {
			w.Add(fmt.Appendf(nil, "a longer member %s %d", n, i))
		}
		w.Close()
		return true, "SADD"
	case 6:
		w := m.tx.WriteSet([]byte("set"))
		w.Remove(fmt.Appendf(nil, "a longer member %s 1", n))
		w.Close()
		return true, "SREM"
	case 7, 8:
		w := m.tx.WriteList([]byte("list"))
		if w.Len() > 800 {
			w.PopLeft()
		} else {
			for range m.r.IntN(200) {
				w.PushRight(n)
			}
		}
		w.Close()
		return false, "RPUSH"
	case 9:
		key := []byte([]string{"string", "set", "list"}[m.r.IntN(3)])
		m.tx.Delete(key)
		return true, "DEL"
	}
	return m.actOnAll()
}

func (m *markRun) actOnAll() (quiet bool, what string) {
	switch m.r.IntN(6) {
	case 0:
		for _, s := range m.s.Stores {
			s.Swap(0, 1, m.now)
		}
		return false, "SWAPDB"
	case 1:
		for _, s := range m.s.Stores {
			s.Flush(1)
		}
		return true, "FLUSHDB"
	case 2:
		for _, s := range m.s.Stores {
			v := s.Freeze(m.r.IntN(2))
			v.Release()
		}
		return true, "a freeze"
	}
	m.clean(7)
	return true, "cleaning"
}

// A key that expires counts as touched, but not as changed: who saw it alive
// sees that it is gone, and who saw it expired sees nothing new.
func TestMarksAndExpiry(t *testing.T) {
	s := newSpace(t, 1, 2, 64, 1)
	st, key := s.Stores[0], []byte("k")
	mark := st.Mark(0, s.Hash(key))
	other := st.Mark(1, s.Hash(key))
	mark.Blocked = 1
	var tx Tx
	tx.Begin(s, 0, 5)
	tx.SetString(key, key, 10)
	require.EqualValues(t, 1, mark.Changes)
	require.Equal(t, []*Mark{mark}, st.TakeTouched())

	tx.Begin(s, 0, 20)
	require.False(t, tx.Delete(key))
	require.EqualValues(t, 1, mark.Changes)
	require.Equal(t, []*Mark{mark}, st.TakeTouched())

	// An expired key that takes the place of none is none either.
	tx.Begin(s, 0, 5)
	tx.SetString(key, key, 10)
	st.Swap(0, 1, 20)
	require.EqualValues(t, 2, mark.Changes)
	require.Zero(t, other.Changes)
	st.Swap(0, 1, 5)
	require.EqualValues(t, 3, mark.Changes)
	require.EqualValues(t, 1, other.Changes)
	st.Unmark(mark)
	st.Unmark(other)
}
