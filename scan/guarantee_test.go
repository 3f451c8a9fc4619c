package scan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"firn/mvcc"
)

// A guaranteeRun scans a keyspace while it changes, and knows for each key
// whether it was there, or away, all the time.
//
// The property: a key that is there from the first call to the last is returned
// exactly once; one that never was, never; any other at most once a position
// that it had, which for a key is one. A cursor means the same after a restart
// with another number of stores.
type guaranteeRun struct {
	t        *testing.T
	r        *rand.Rand
	hash     mvcc.Hasher
	space    *mvcc.Space
	there    map[string]bool
	touched  map[string]bool // came or went since the scan began
	returned map[string]int
}

func newGuaranteeRun(t *testing.T, r *rand.Rand, bits int) *guaranteeRun {
	full := mvcc.Seed{r.Uint64(), r.Uint64()}.Hasher()
	g := &guaranteeRun{t: t, r: r, there: map[string]bool{}}
	g.hash = func(k []byte) uint64 { return full(k) >> (64 - bits) << (64 - bits) }
	g.restart()
	return g
}

// restart builds the keyspace anew with another number of stores, as loading
// it from disk does.
func (g *guaranteeRun) restart() {
	g.space = mvcc.NewSpace(1<<g.r.IntN(7), 2, g.hash)
	for k := range g.there {
		set(g.space, k)
	}
}

func (g *guaranteeRun) key() string { return fmt.Sprintf("key:%d", g.r.IntN(600)) }

func (g *guaranteeRun) set(key string) {
	set(g.space, key)
	if !g.there[key] {
		g.there[key], g.touched[key] = true, true
	}
}

func (g *guaranteeRun) del(key string) {
	del(g.space, key)
	if g.there[key] {
		delete(g.there, key)
		g.touched[key] = true
	}
}

func (g *guaranteeRun) rename(from, to string) {
	if from == to || !g.there[from] {
		return
	}
	var tx mvcc.Tx
	tx.Begin(g.space, 0, 0)
	tx.Rename([]byte(from), []byte(to))
	g.touched[from] = true
	g.touched[to] = g.touched[to] || !g.there[to]
	delete(g.there, from)
	g.there[to] = true
}

func (g *guaranteeRun) flush() {
	for _, s := range g.space.Stores {
		s.Flush(0)
	}
	for k := range g.there {
		g.touched[k] = true
	}
	clear(g.there)
}

// disturb is what happens between two calls.
func (g *guaranteeRun) disturb(restarts, flushes bool) {
	for range g.r.IntN(12) {
		switch g.r.IntN(4) {
		case 0, 1:
			g.set(g.key())
		case 2:
			g.del(g.key())
		default:
			g.rename(g.key(), g.key())
		}
	}
	if restarts && g.r.IntN(10) == 0 {
		g.restart()
	}
	if flushes && g.r.IntN(200) == 0 {
		g.flush()
	}
	for _, s := range g.space.Stores {
		s.Clean(1 << 20)
	}
}

func (g *guaranteeRun) scan(restarts, flushes bool) {
	g.touched, g.returned = map[string]bool{}, map[string]int{}
	was := map[string]bool{}
	for k := range g.there {
		was[k] = true
	}
	all := Compile([]byte("*"))
	for c := Cursor(0); ; g.disturb(restarts, flushes) {
		keys, next := page(g.space, 0, c, int64(1+g.r.IntN(20)), all)
		for _, k := range keys {
			g.returned[k]++
			require.True(g.t, g.there[k], "%q is returned, but not there", k)
		}
		require.True(g.t, next == 0 || next > c, "cursor %d after %d", next, c)
		require.Less(g.t, next, Cursor(1)<<53)
		if c = next; c == 0 {
			break
		}
	}
	for k, n := range g.returned {
		require.Equal(g.t, 1, n, "%q", k)
	}
	for k := range was {
		require.True(g.t, g.touched[k] || g.returned[k] == 1, "%q stayed, but was returned %d times", k, g.returned[k])
	}
}

// TestGuarantee covers A26 and A27 as well: stores empty themselves in the
// midst of scans, and cursors outlive restarts.
func TestGuarantee(t *testing.T) {
	for _, bits := range []int{8, 14, 64} {
		for _, mode := range []string{"writes", "restarts", "flushes"} {
			t.Run(fmt.Sprintf("hash of %d bits, %s", bits, mode), func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				g := newGuaranteeRun(t, rand.New(rand.NewPCG(seed, 1)), bits)
				g.touched = map[string]bool{}
				for range 25 {
					for range 100 {
						g.set(g.key())
					}
					g.scan(mode == "restarts", mode == "flushes")
				}
				require.NoError(t, g.space.Check())
				require.Zero(t, g.space.Pins())
			})
		}
	}
}

// TestGuaranteeIsChecked: the checker refuses a scan that forgets a key.
func TestGuaranteeIsChecked(t *testing.T) {
	s := newSpace(4)
	set(s, numbered("k%d", 100)...)
	g := Compile([]byte("*"))
	_, c := page(s, 0, 0, 10, g)
	lost, _ := page(s, 0, c, 1, g)
	rest, _ := page(s, 0, c+1, 1000, g)
	require.Len(t, lost, 1)
	require.Len(t, rest, 89)
	require.NotContains(t, rest, lost[0])
}

// TestDeleteWhileScanning is A2, TestRenameWhileScanning A3.
func TestDeleteWhileScanning(t *testing.T) {
	s := newSpace(8)
	want := numbered("foo%d", 10)
	set(s, want...)
	var seen []string
	g := Compile([]byte("*"))
	for c := Cursor(0); ; {
		var keys []string
		keys, c = page(s, 0, c, 5, g)
		del(s, keys...)
		if seen = append(seen, keys...); c == 0 {
			break
		}
	}
	require.ElementsMatch(t, want, seen)
}

func TestRenameWhileScanning(t *testing.T) {
	s := newSpace(8)
	want := numbered("k%d", 1000)
	set(s, want...)
	var seen []string
	g := Compile([]byte("k*"))
	var tx mvcc.Tx
	tx.Begin(s, 0, 0)
	for c := Cursor(0); ; {
		var keys []string
		keys, c = page(s, 0, c, 10, g)
		for _, k := range keys {
			tx.Rename([]byte(k), []byte("x:"+k))
		}
		if seen = append(seen, keys...); c == 0 {
			break
		}
	}
	require.ElementsMatch(t, want, seen)
}

// TestSparseMatch is A16: empty pages are legal, and the pages are as many as
// COUNT says, matches or not.
func TestSparseMatch(t *testing.T) {
	s := newSpace(8)
	set(s, numbered("hay%d", 1000)...)
	set(s, "needle1")
	g := Compile([]byte("needle*"))
	found, pages := 0, 0
	for c := Cursor(0); ; {
		var keys []string
		keys, c = page(s, 0, c, 10, g)
		found, pages = found+len(keys), pages+1
		if c == 0 {
			break
		}
	}
	require.Equal(t, 1, found)
	require.Equal(t, 101, pages)
}

// TestPrefixes is A23 and A24: prefixes that interleave, in one store and far
// apart.
func TestPrefixes(t *testing.T) {
	s := newSpace(64)
	set(s, "test:B:{1}:info0", "test:B:{1}:info1", "test:B:{1}:info2", "test:A:{1}:info0", "test:A:{1}:info1", "test:A:{1}:info2")
	require.Len(t, scanAll(s, 1, "test:B:*"), 3)
	require.Len(t, scanAll(s, 1, "test:*"), 6)
	set(s, "aa1", "bb1", "bb2", "cc1")
	got := scanAll(s, 2, "bb*")
	slices.Sort(got)
	require.Equal(t, []string{"bb1", "bb2"}, got)
}

// TestCollisions: keys that share a cursor come in one page, however small
// COUNT is.
func TestCollisions(t *testing.T) {
	s := mvcc.NewSpace(4, 1, func([]byte) uint64 { return 5 << 60 })
	set(s, numbered("k%d", 50)...)
	keys, next := page(s, 0, 0, 1, Compile([]byte("*")))
	require.Len(t, keys, 50)
	require.Zero(t, next)
}
