package scan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"firn/mvcc"
)

// lazyCut freezes stores when they are asked for, as a server does.
type lazyCut struct {
	space    *mvcc.Space
	now      int64
	db       int
	versions map[int]*mvcc.Version
}

func newCut(s *mvcc.Space, now int64) *lazyCut {
	return &lazyCut{space: s, now: now, versions: map[int]*mvcc.Version{}}
}

func (c *lazyCut) Space() *mvcc.Space { return c.space }
func (c *lazyCut) Now() int64         { return c.now }

func (c *lazyCut) Version(store int) *mvcc.Version {
	if c.versions[store] == nil {
		c.versions[store] = c.space.Stores[store].Freeze(c.db)
	}
	return c.versions[store]
}

func (c *lazyCut) All() []*mvcc.Version {
	var all []*mvcc.Version
	for i := range c.space.Stores {
		all = append(all, c.Version(i))
	}
	return all
}

func (c *lazyCut) release() {
	for _, v := range c.versions {
		v.Release()
	}
	clear(c.versions)
}

// page runs one SCAN call and returns its keys.
func page(s *mvcc.Space, now int64, from Cursor, count int64, g *Glob) (keys []string, next Cursor) {
	cut := newCut(s, now)
	defer cut.release()
	w := Walk{Cut: cut, Span: SpanOf(g, s)}
	next = w.Page(from, count, func(k mvcc.Key) {
		if g.All() || g.Match(k.Bytes) {
			keys = append(keys, string(k.Bytes))
		}
	})
	return keys, next
}

// scanAll iterates to the end.
func scanAll(s *mvcc.Space, count int64, pattern string) (keys []string) {
	g := Compile([]byte(pattern))
	for c := Cursor(0); ; {
		var found []string
		found, c = page(s, 0, c, count, g)
		if keys = append(keys, found...); c == 0 {
			return keys
		}
	}
}

func set(s *mvcc.Space, keys ...string) {
	var tx mvcc.Tx
	tx.Begin(s, 0, 0)
	for _, k := range keys {
		tx.SetString([]byte(k), []byte("v"), 0)
	}
}

func del(s *mvcc.Space, keys ...string) {
	var tx mvcc.Tx
	tx.Begin(s, 0, 0)
	for _, k := range keys {
		tx.Delete([]byte(k))
	}
}

func numbered(format string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(format, i)
	}
	return keys
}

func newSpace(stores int) *mvcc.Space { return mvcc.NewSpace(stores, 2, mvcc.Seed{1, 2}.Hasher()) }

func TestPageVisitsCount(t *testing.T) {
	s := newSpace(8)
	set(s, numbered("k%d", 700)...)
	keys, next := page(s, 0, 0, 10, Compile([]byte("*")))
	require.Len(t, keys, 10) // A22
	require.NotZero(t, next)
	keys, next = page(s, 0, 0, 700, Compile([]byte("*")))
	require.Len(t, keys, 700)
	require.Zero(t, next, "the end is told with the last key")
	require.ElementsMatch(t, numbered("k%d", 700), scanAll(s, 1, "*"))
}

func TestPageOfNothing(t *testing.T) {
	s := newSpace(8)
	keys, next := page(s, 0, 0, 10, Compile([]byte("*")))
	require.Empty(t, keys)
	require.Zero(t, next)
	set(s, "a")
	for _, c := range []Cursor{1 << 52, 1<<64 - 1, 1<<52 - 1} {
		keys, next = page(s, 0, c, 10, Compile([]byte("*")))
		require.Empty(t, keys)
		require.Zero(t, next)
	}
}

// TestPageFreezesWhatItReads: a page reads on in the next store only if it has
// to, and pins nothing else.
func TestPageFreezesWhatItReads(t *testing.T) {
	s := newSpace(16)
	set(s, numbered("k%d", 1000)...)
	cut := newCut(s, 0)
	defer cut.release()
	w := Walk{Cut: cut, Span: Everywhere()}
	w.Page(0, 10, func(mvcc.Key) {})
	require.Len(t, cut.versions, 1)
}

func TestPageCountsExpired(t *testing.T) {
	s := newSpace(4)
	var tx mvcc.Tx
	tx.Begin(s, 0, 100)
	for _, k := range numbered("k%d", 100) {
		tx.SetString([]byte(k), nil, 200)
	}
	set(s, "stays")
	freezes := s.Stores[0].Usage().Freezes
	total := 0
	for c, calls := Cursor(0), 1; ; calls++ {
		var keys []string
		keys, c = page(s, 200, c, 10, Compile([]byte("*")))
		total += len(keys)
		if c == 0 {
			require.Equal(t, 11, calls)
			break
		}
	}
	require.Equal(t, 1, total)
	n := 0
	for _, st := range s.Stores {
		keys, _ := st.Len(0)
		n += keys
	}
	require.Equal(t, 101, n, "A19: a scan removes nothing")
	require.LessOrEqual(t, s.Stores[0].Usage().Freezes, freezes+1, "and writes nothing: its versions stay the current ones")
}

func TestPauses(t *testing.T) {
	s := newSpace(4)
	set(s, numbered("k%d", 1024)...)
	cut, pauses := newCut(s, 0), 0
	defer cut.release()
	w := Walk{Cut: cut, Span: Everywhere(), Pause: func() { pauses++ }}
	w.Each(func(mvcc.Key) bool { return true })
	require.Equal(t, 4, pauses)
}

func TestSpanOf(t *testing.T) {
	s := newSpace(8)
	set(s, "foo", "foo1", "{tag}a", "{tag}b", "tag", "x{tag}", "x{tag}y", "{}z", "{", "{tag")
	span := func(pattern string) Span { return SpanOf(Compile([]byte(pattern)), s) }
	require.Equal(t, Everywhere(), span("foo*"))
	require.Equal(t, Everywhere(), span("{tag*"))
	require.Equal(t, Everywhere(), span("{}tag}*"))
	require.Equal(t, span("foo").First, span("foo").Last)
	require.Equal(t, uint64(1)<<52-1, span("{tag}*").Last-span("{tag}*").First)
	for pattern, want := range map[string][]string{
		"foo": {"foo"}, "fo\\o": {"foo"}, "nope": nil, "{tag}*": {"{tag}a", "{tag}b"}, "{tag}[ab]": {"{tag}a", "{tag}b"},
		"x{tag}*": {"x{tag}", "x{tag}y"}, "{*": {"{tag}a", "{tag}b", "{}z", "{", "{tag"}, "{tag": {"{tag"}, "{}*": {"{}z"},
	} {
		require.ElementsMatch(t, want, scanAll(s, 1, pattern), pattern)
	}
}

// TestSpanRandom: a narrow span must never lose a match.
func TestSpanRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	word := func(alphabet string) string {
		b := make([]byte, r.IntN(7))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	s := newSpace(16)
	var keys []string
	seen := map[string]bool{}
	for range 2000 {
		if k := word("{}ab"); !seen[k] {
			seen[k], keys = true, append(keys, k)
		}
	}
	set(s, keys...)
	for range 2000 {
		pattern := word("{}ab*?")
		g := Compile([]byte(pattern))
		var want []string
		for _, k := range keys {
			if g.All() || g.Match([]byte(k)) {
				want = append(want, k)
			}
		}
		require.ElementsMatch(t, want, scanAll(s, 1000, pattern), "%q", pattern)
	}
}

// TestDeepCursors is A4: a page late in the keyspace visits no more records
// than one at its start. A15: nor does a page where millions were deleted.
func TestDeepCursors(t *testing.T) {
	s := newSpace(4)
	keys := numbered("key:%d", 20000)
	set(s, keys...)
	visited := func(from Cursor) int64 {
		cut := newCut(s, 0)
		defer cut.release()
		w := Walk{Cut: cut, Span: Everywhere()}
		w.Page(from, 10, func(mvcc.Key) {})
		return w.visited
	}
	require.Equal(t, int64(11), visited(0))
	require.Equal(t, int64(11), visited(cursorEnd-cursorEnd/100))
	del(s, keys[:19900]...)
	require.Equal(t, int64(11), visited(0))
	require.Equal(t, int64(11), visited(cursorEnd/2))
}

func BenchmarkKeys(b *testing.B) {
	s := newSpace(8)
	var tx mvcc.Tx
	tx.Begin(s, 0, 0)
	value := make([]byte, 100)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 1_000_000 {
		tx.SetString(fmt.Appendf(nil, "user%016d", i*7919+r.IntN(7919)), value, 0)
	}
	cut := newCut(s, 0)
	g := Compile([]byte("*22*"))
	n := 0
	b.Run("each", func(b *testing.B) {
		for range b.N {
			w := Walk{Cut: cut, Span: Everywhere()}
			w.Each(func(k mvcc.Key) bool {
				if g.Match(k.Bytes) {
					n++
				}
				return true
			})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/key")
	})
	for _, count := range []int64{10, 100, 1000} {
		b.Run(fmt.Sprintf("page %d", count), func(b *testing.B) {
			c := Cursor(0)
			for range b.N {
				w := Walk{Cut: cut, Span: Everywhere()}
				c = w.Page(c, count, func(k mvcc.Key) {
					if g.Match(k.Bytes) {
						n++
					}
				})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/key")
		})
	}
}
