package rdb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

const now = 1_700_000_000_000

// A keyspace is a small one to keep values in, checked when the test ends.
type keyspace struct {
	*testing.T
	*mvcc.Space
	mvcc.Tx
}

func newKeyspace(t *testing.T) *keyspace {
	k := &keyspace{T: t, Space: mvcc.NewSpace(1, 1, mvcc.Seed{5, 7}.Hasher())}
	k.Begin(k.Space, 0, now)
	t.Cleanup(func() { require.NoError(t, k.Space.Check()) })
	return k
}

func (k *keyspace) entry(key string) mvcc.Entry {
	e, ok := k.Tx.View.Peek([]byte(key))
	require.True(k, ok, key)
	return e
}

// encode returns type and value of a key.
func (k *keyspace) encode(key string, compress bool) (byte, []byte) {
	e := k.entry(key)
	w := Encoder{Compress: compress}
	t := Type(&e, now)
	w.Value(t, &e, now)
	return t, w.Take()
}

// decode puts a value under a key.
func (k *keyspace) decode(key string, t byte, p []byte) error {
	d := NewDecoder(p)
	v, err := d.Value(t, k.Space)
	if err != nil {
		return err
	}
	require.Empty(k, d.Rest())
	if v.Type == mvcc.String {
		k.SetString([]byte(key), v.String, 0)
		return nil
	}
	k.PutValue([]byte(key), v.Collection, 0)
	return nil
}

// show returns a value as text.
func (k *keyspace) show(key string) string {
	e := k.entry(key)
	var out []string
	switch e.Type() {
	case mvcc.String:
		return string(e.Bytes(nil))
	case mvcc.Hash:
		h := e.Hash(now)
		h.Each(func(f, v []byte) bool { out = append(out, fmt.Sprintf("%q=%q@%d", f, v, h.ExpireAt(f))); return true })
	case mvcc.Set:
		s := e.Set(now)
		s.Each(func(m []byte) bool { out = append(out, fmt.Sprintf("%q@%d", m, s.ExpireAt(m))); return true })
	case mvcc.ZSet:
		z := e.ZSet(now)
		z.Ascend(0, func(m []byte, x float64) bool {
			out = append(out, fmt.Sprintf("%q:%v@%d", m, x, z.ExpireAt(m)))
			return true
		})
	case mvcc.List:
		l := e.List()
		l.Ascend(0, func(b []byte) bool { out = append(out, fmt.Sprintf("%q", b)); return true })
	case mvcc.Stream:
		return showStream(e.Stream())
	}
	if e.Type() != mvcc.List && e.Type() != mvcc.ZSet {
		slices.Sort(out)
	}
	return strings.Join(out, " ")
}

func showStream(s mvcc.StreamValue) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v %v %v %d\n", s.Len(), s.FirstID(), s.LastID(), s.MaxDeletedID(), s.Added())
	s.Ascend(mvcc.StreamID{}, func(e *mvcc.StreamEntry) bool {
		fmt.Fprintf(&b, "%v:", e.ID)
		e.Each(func(f, v []byte) bool { fmt.Fprintf(&b, " %q=%q", f, v); return true })
		b.WriteByte('\n')
		return true
	})
	s.EachGroup(func(g mvcc.StreamGroup) bool {
		fmt.Fprintf(&b, "group %q %v %d\n", g.Name(), g.LastID(), g.Read())
		g.AscendPending(mvcc.StreamID{}, func(id mvcc.StreamID, p mvcc.StreamPending) bool {
			fmt.Fprintf(&b, " %v %d %d %q\n", id, p.At, p.Count, g.Owner(p).Name())
			return true
		})
		g.EachConsumer(func(c mvcc.StreamConsumer) bool {
			fmt.Fprintf(&b, " consumer %q %d %d\n", c.Name(), c.Seen(), c.PendingCount())
			return true
		})
		return true
	})
	return b.String()
}

// sizes are how many elements the tests' values have, and lengths how long
// their elements are, around where something changes.
var (
	sizes   = []int{1, 2, 63, 64, 127, 128, 129, 512, 513, 2000}
	lengths = []int{0, 1, 10, 21, 63, 64, 65, 200, 4096, 20_000, 70_000}
)

// text returns the i-th of many different elements, some of them integers.
func text(rnd *rand.Rand, i, length int) []byte {
	switch rnd.IntN(4) {
	case 0:
		return []byte(strconv.Itoa(i))
	case 1:
		return []byte(strconv.Itoa(-i * 1_000_003))
	}
	b := []byte(fmt.Sprintf("e%d-", i))
	for len(b) < length {
		b = append(b, byte('a'+rnd.IntN(3)))
	}
	return b
}

// fill makes a value of each kind with n elements.
func (k *keyspace) fill(rnd *rand.Rand, n, length int) []string {
	h := k.WriteHash([]byte("hash"))
	for i := range n {
		h.Set(text(rnd, i, length), text(rnd, i, length))
	}
	h.Close()
	set := k.WriteSet([]byte("set"))
	for i := range n {
		set.Add(text(rnd, i, length))
	}
	set.Close()
	set = k.WriteSet([]byte("intset"))
	for i := range n {
		set.Add([]byte(strconv.Itoa((i - n/2) * (1 << rnd.IntN(40)))))
	}
	set.Close()
	zset := k.WriteZSet([]byte("zset"))
	for i := range n {
		zset.Set(text(rnd, i, length), score(rnd))
	}
	zset.Close()
	list := k.WriteList([]byte("list"))
	for i := range n {
		list.PushRight(text(rnd, i, length))
	}
	list.Close()
	k.SetString([]byte("string"), text(rnd, n, length), 0)
	return []string{"hash", "set", "intset", "zset", "list", "string"}
}

func score(rnd *rand.Rand) float64 {
	odd := []float64{0, 1, -1, 1.5, 3.14159265358979, 1e300, -1e-300, math.Inf(1), math.Inf(-1), 1 << 53, 1e18, 5e-324, 127, 128, -4096, math.MaxFloat64}
	if rnd.IntN(2) == 0 {
		return rnd.NormFloat64()
	}
	return odd[rnd.IntN(len(odd))]
}

// What is written is read as the same value, of each kind, small and big.
func TestRoundTrip(t *testing.T) {
	rnd := newRand(t)
	for _, n := range sizes {
		for _, length := range lengths {
			if n*length > 2_000_000 {
				continue
			}
			k := newKeyspace(t)
			for _, key := range k.fill(rnd, n, length) {
				for _, compress := range []bool{false, true} {
					typ, p := k.encode(key, compress)
					require.True(t, IsValue(typ))
					require.NoError(t, k.decode("copy", typ, p), "%s of %d elements of %d bytes, type %d", key, n, length, typ)
					require.Equal(t, k.show(key), k.show("copy"), "%s of %d elements of %d bytes", key, n, length)
					was, is := k.entry(key), k.entry("copy")
					require.Equal(t, was.EncodingName(), is.EncodingName(), "%s of %d elements of %d bytes", key, n, length)
				}
			}
		}
	}
}

// A value that is written in pieces is the same bytes.
func TestFlush(t *testing.T) {
	rnd := newRand(t)
	k := newKeyspace(t)
	for _, key := range k.fill(rnd, 3000, 100) {
		typ, whole := k.encode(key, true)
		var pieces []byte
		most := 0
		w := Encoder{Compress: true, Flush: func(p []byte) { pieces, most = append(pieces, p...), max(most, len(p)) }}
		e := k.entry(key)
		w.Value(typ, &e, now)
		require.Equal(t, whole, append(pieces, w.Take()...))
		require.Less(t, most, 2*flushFrom)
	}
}

func TestMemberExpiries(t *testing.T) {
	k := newKeyspace(t)
	h, at := k.WriteHash([]byte("hash")), int64(now+5000)
	for i := range 40 {
		h.Set([]byte(strconv.Itoa(i)), []byte("v"))
	}
	h.SetExpireAt([]byte("3"), at)
	h.SetExpireAt([]byte("4"), at+1)
	h.SetExpireAt([]byte("5"), now+1)
	h.Close()
	s := k.WriteSet([]byte("set"))
	s.Add([]byte("a"))
	s.Add([]byte("b"))
	s.SetExpireAt([]byte("a"), at)
	s.Close()
	z := k.WriteZSet([]byte("zset"))
	z.Set([]byte("a"), 1)
	z.Set([]byte("b"), 2)
	z.SetExpireAt([]byte("b"), at)
	z.Close()
	for _, key := range []string{"hash", "set", "zset"} {
		typ, p := k.encode(key, true)
		require.EqualValues(t, VersionTTL, VersionOf(typ))
		require.NoError(t, k.decode("copy", typ, p))
		require.Equal(t, k.show(key), k.show("copy"))
	}
	e := k.entry("hash")
	later := Encoder{}
	typ := Type(&e, at) // three members have expired: they aren't written
	later.Value(typ, &e, at)
	require.NoError(t, k.decode("copy", typ, later.Take()))
	e = k.entry("copy")
	got := e.Hash(0)
	require.Equal(t, 38, got.Len())
}

func (k *keyspace) stream(rnd *rand.Rand, n int) {
	w := k.WriteStream([]byte("stream"))
	id := mvcc.StreamID{Ms: 5, Seq: 1 << 40}
	names := [][]byte{[]byte("a"), []byte("12"), []byte("name")}
	for i := range n {
		switch rnd.IntN(3) {
		case 0:
			id = mvcc.StreamID{Ms: id.Ms + uint64(rnd.IntN(100_000)) + 1, Seq: uint64(rnd.IntN(3))}
		default:
			id.Seq += uint64(rnd.IntN(5) + 1)
		}
		var pairs [][]byte
		for f := range rnd.IntN(3) + 1 {
			pairs = append(pairs, names[(f+rnd.IntN(2))%3], text(rnd, i, rnd.IntN(400)))
		}
		w.Add(id, pairs)
		if rnd.IntN(10) == 0 {
			w.Delete(id)
		}
	}
	for _, name := range []string{"g", "group 2", "33"} {
		w.AddGroup([]byte(name), id, int64(rnd.IntN(3)-1))
		g, _ := w.Group([]byte(name))
		for c := range rnd.IntN(4) {
			consumer := []byte(strconv.Itoa(c))
			g.AddConsumer(consumer, now-int64(c))
			for range rnd.IntN(50) {
				g.Pend(consumer, mvcc.StreamID{Ms: uint64(rnd.IntN(1000)), Seq: uint64(rnd.IntN(4))}, now, int64(rnd.IntN(3)))
			}
		}
	}
	w.Close()
}

func TestStreamRoundTrip(t *testing.T) {
	rnd := newRand(t)
	for _, n := range []int{0, 1, 2, 99, 100, 101, 3000} {
		k := newKeyspace(t)
		k.stream(rnd, n)
		typ, p := k.encode("stream", true)
		require.NoError(t, k.decode("copy", typ, p))
		require.Equal(t, k.show("stream"), k.show("copy"))
	}
}

func TestPayload(t *testing.T) {
	k := newKeyspace(t)
	k.SetString([]byte("k"), []byte("10"), 0)
	typ, value := k.encode("k", true)
	body := append([]byte{typ}, value...)
	p := AppendFooter(body, typ, CRC64(0, body))
	require.Equal(t, "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb", string(p)) // the example of Redis' manual, of version 10
	got, ok := OpenPayload(p)
	require.True(t, ok)
	require.Equal(t, body, got)
	for i := range p {
		_, ok = OpenPayload(p[:i])
		require.False(t, ok)
		p[i] ^= 1
		_, ok = OpenPayload(p)
		require.False(t, ok)
		p[i] ^= 1
	}
	newer := append(body[:len(body):len(body)], 13, 0)
	_, ok = OpenPayload(AppendFooter(newer, typ, CRC64(0, newer))[:len(newer)+8])
	require.False(t, ok)
}
