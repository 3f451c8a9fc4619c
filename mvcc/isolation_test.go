package mvcc

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The names are those of go-memdb's isolation_test.go (after Berenson et al.,
// "A Critique of ANSI SQL Isolation Levels", 1995): what a reader of versions
// must never see. Each runs for the version of one store and for a cut, the
// versions of all stores.

func eachReader(t *testing.T, f func(t *testing.T, i *isolation)) {
	for name, stores := range map[string]int{"version": 1, "cut": 8} {
		t.Run(name, func(t *testing.T) {
			i := &isolation{s: newSpace(t, stores, 1, 64, 1)}
			f(t, i)
		})
	}
}

type isolation struct {
	s  *Space
	tx Tx
}

func (i *isolation) write() *Tx {
	i.tx.Begin(i.s, 0, 1)
	return &i.tx
}

func (i *isolation) set(key, value string) { i.write().SetString([]byte(key), []byte(value), 0) }

// read freezes; the reader is released when the test ends.
func (i *isolation) read(t *testing.T) *View {
	var versions []*Version
	for _, s := range i.s.Stores {
		v := s.Freeze(0)
		t.Cleanup(v.Release)
		versions = append(versions, v)
	}
	v := new(View)
	v.FrozenView(i.s, 0, 1, versions)
	return v
}

func get(v *View, key string) string {
	e, ok := v.Peek([]byte(key))
	if !ok {
		return "(none)"
	}
	return string(e.Bytes(nil))
}

func all(v *View) map[string]string {
	m := map[string]string{}
	for _, ver := range v.frozen {
		ver.Ascend(0, func(_ uint64, e Entry) bool { m[string(e.Key())] = string(e.Bytes(nil)); return true })
	}
	return m
}

// A dirty read sees what a writer has not finished: here, a splice.
func TestDirtyRead(t *testing.T) {
	eachReader(t, func(t *testing.T, i *isolation) {
		i.set("a", "1")
		i.set("gone", "1")
		big := strings.Repeat("b", 2*maxInline)
		i.set("big", big) // not yet seen by any version
		for _, s := range i.s.Stores {
			s.BeginSplice(0)
		}
		tx := i.write()
		tx.Splice()
		tx.SetString([]byte("a"), []byte("2"), 0)
		tx.SetString([]byte("new"), []byte("2"), 0)
		tx.Delete([]byte("gone"))
		tx.WriteAt([]byte("big"), 0, []byte("x"))
		during := i.read(t)
		before := map[string]string{"a": "1", "gone": "1", "big": big}
		require.True(t, maps.Equal(before, all(during)))
		for _, s := range i.s.Stores {
			s.EndSplice(0)
		}
		require.True(t, maps.Equal(before, all(during)))
		require.True(t, maps.Equal(map[string]string{"a": "2", "new": "2", "big": "x" + big[1:]}, all(i.read(t))))
	})
}

func TestNonRepeatableRead(t *testing.T) {
	eachReader(t, func(t *testing.T, i *isolation) {
		i.set("a", "1")
		v := i.read(t)
		require.Equal(t, "1", get(v, "a"))
		i.set("a", "2") // the same size: in place, if nobody could see it
		require.Equal(t, "1", get(v, "a"))
		i.write().Delete([]byte("a"))
		require.Equal(t, "1", get(v, "a"))
	})
}

func TestPhantomRead(t *testing.T) {
	eachReader(t, func(t *testing.T, i *isolation) {
		i.set("a", "1")
		v := i.read(t)
		for n := range 100 {
			i.set(fmt.Sprint("b", n), "1")
		}
		require.Equal(t, map[string]string{"a": "1"}, all(v))
	})
}

// A read skew sees one of two values from before a write and the other from
// after it.
func TestReadSkew(t *testing.T) {
	eachReader(t, func(t *testing.T, i *isolation) {
		i.set("x", "50")
		i.set("y", "50")
		v := i.read(t)
		require.Equal(t, "50", get(v, "x"))
		i.set("x", "25")
		i.set("y", "75")
		require.Equal(t, "50", get(v, "y"))
	})
}

// A lost update: the second of two edits starts from what was before the first.
func TestLostUpdate(t *testing.T) {
	eachReader(t, func(t *testing.T, i *isolation) {
		i.set("a", "1")
		old := i.read(t)
		i.write().WriteAt([]byte("a"), 1, []byte("2"))
		i.write().WriteAt([]byte("a"), 2, []byte("3"))
		require.Equal(t, "123", get(i.read(t), "a"))
		require.Equal(t, "1", get(old, "a"))
	})
}

// A dirty write mixes the writes of two writers: a splice and another's.
func TestDirtyWrite(t *testing.T) {
	eachReader(t, func(t *testing.T, i *isolation) {
		for _, s := range i.s.Stores {
			s.BeginSplice(0)
		}
		splice := new(Tx)
		splice.Begin(i.s, 0, 1)
		splice.Splice()
		splice.SetString([]byte("x"), []byte("splice"), 0)
		i.set("other", "1")
		splice.SetString([]byte("y"), []byte("splice"), 0)
		i.set("other", "2")
		require.Equal(t, map[string]string{"other": "2"}, all(i.read(t)))
		for _, s := range i.s.Stores {
			s.EndSplice(0)
		}
		require.Equal(t, map[string]string{"x": "splice", "y": "splice", "other": "2"}, all(i.read(t)))
	})
}

// Read your writes: the live view sees a splice at once, a freeze sees any
// other write at once.
func TestReadYourWrites(t *testing.T) {
	eachReader(t, func(t *testing.T, i *isolation) {
		for n := range 50 {
			want := fmt.Sprint(n)
			i.set("a", want)
			require.Equal(t, want, get(i.read(t), "a"))
			require.Equal(t, want, get(&i.write().View, "a"))
		}
	})
}

// A flush and a swap are writes too (D5: one that meets a snapshot must not
// get lost).
func TestFlushUnderVersion(t *testing.T) {
	eachReader(t, func(t *testing.T, i *isolation) {
		i.set("a", "1")
		v := i.read(t)
		for _, s := range i.s.Stores {
			s.Flush(0)
		}
		require.Equal(t, map[string]string{"a": "1"}, all(v))
		require.Empty(t, all(i.read(t)))
		i.set("a", "2")
		require.Equal(t, "1", get(v, "a"))
	})
}

// A splice cannot be flushed or swapped away from under its writer.
func TestFlushAndSwapRefuseSplice(t *testing.T) {
	s := newSpace(t, 1, 2, 64, 1).Stores[0]
	s.BeginSplice(0)
	require.Panics(t, func() { s.Flush(0) })
	require.Panics(t, func() { s.Swap(1, 0, 0) })
	require.Panics(t, func() { s.BeginSplice(0) })
	s.EndSplice(0)
	s.Swap(1, 0, 0)
}

func TestReleaseTwicePanics(t *testing.T) {
	s := NewSpace(1, 1, Seed{}.Hasher())
	v := s.Stores[0].Freeze(0)
	v.Release()
	require.Panics(t, v.Release)
}
