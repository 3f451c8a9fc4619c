package mvcc

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStreamModel runs random writes on two streams, one of which is copied over
// the other now and then, against plain maps. They are copied at each freeze, and
// the live streams and all versions are compared after each round.
func TestStreamModel(t *testing.T) {
	r, seed := newRand(t)
	for _, l := range []Limits{{StreamBytes: 4096, StreamCount: 100}, {StreamBytes: 200, StreamCount: 3}, {}} {
		t.Run(fmt.Sprintf("nodes of %d bytes and %d entries", l.StreamBytes, l.StreamCount), func(t *testing.T) {
			m := &streamRun{r: r, s: newSpace(t, 1, 1, 64, seed)}
			m.s.SetLimits(l)
			defer m.release()
			for range 80 {
				m.round()
				require.NoError(t, m.s.Check())
				m.compare(t)
			}
		})
	}
}

type modelEntry struct {
	id    StreamID
	pairs string
}

type modelPending struct {
	at, count int64
	consumer  string
}

type modelGroup struct {
	last      StreamID
	read      int64
	consumers map[string]int64 // seen
	pending   map[StreamID]modelPending
}

type modelStream struct {
	entries          []modelEntry
	last, maxDeleted StreamID
	added            int64
	groups           map[string]modelGroup
}

func (m *modelStream) clone() *modelStream {
	c := *m
	c.entries = slices.Clone(m.entries)
	c.groups = map[string]modelGroup{}
	for name, g := range m.groups {
		g.consumers, g.pending = maps.Clone(g.consumers), maps.Clone(g.pending)
		c.groups[name] = g
	}
	return &c
}

var streamKeys = [2][]byte{[]byte("one"), []byte("two")}

type frozenStreams struct {
	v    *Version
	want [2]*modelStream
}

type streamRun struct {
	r    *rand.Rand
	s    *Space
	tx   Tx
	live [2]*modelStream
	old  []frozenStreams
	m    *modelStream // under edit
	w    *StreamWriter
}

func (m *streamRun) release() {
	for _, f := range m.old {
		f.v.Release()
	}
}

func (m *streamRun) round() {
	m.tx.Begin(m.s, 0, 1000)
	i := m.r.IntN(2)
	if m.live[i] == nil {
		m.live[i] = &modelStream{groups: map[string]modelGroup{}}
	}
	m.m, m.w = m.live[i], m.tx.WriteStream(streamKeys[i])
	for range 100 {
		m.step()
		if m.r.IntN(40) == 0 {
			m.freeze() // as in a pause of a long write
		}
	}
	m.w.Close()
	switch m.r.IntN(10) {
	case 0:
		e, _ := m.tx.Peek(streamKeys[i])
		m.tx.CopyTo(streamKeys[1-i], &e, 0)
		m.live[1-i] = m.m.clone()
	case 1:
		m.tx.Delete(streamKeys[i])
		m.live[i] = nil
	}
	m.freeze()
}

func (m *streamRun) freeze() {
	if len(m.old) > 6 {
		i := m.r.IntN(len(m.old))
		m.old[i].v.Release()
		m.old = slices.Delete(m.old, i, i+1)
	}
	// A stream that is made by this very write is not there before its Close.
	f := frozenStreams{v: m.s.Stores[0].Freeze(0)}
	for i, k := range streamKeys {
		if _, ok := f.v.get(k); ok {
			f.want[i] = m.live[i].clone()
		}
	}
	m.old = append(m.old, f)
}

func (v *Version) get(key []byte) (Entry, bool) {
	r, at, ok := v.find(v.hash(key), key)
	if !ok {
		return Entry{}, false
	}
	return v.entry(r, at), true
}

func (m *streamRun) step() {
	switch m.r.IntN(20) {
	case 0:
		m.trim()
	case 1, 2, 3:
		m.delete()
	case 4:
		m.group()
	case 5, 6, 7, 8:
		m.pend()
	case 9, 10:
		m.ack()
	case 11:
		m.setID()
	default:
		m.add()
	}
}

func (m *streamRun) pairs() (pairs [][]byte) {
	names := []string{"name", "surname", "a", "7", ""}
	n := 1 + m.r.IntN(3)
	if m.r.IntN(4) > 0 {
		n = 2 // as most of the others
	}
	for i := range n {
		value := strings.Repeat("v", m.r.IntN(20)*m.r.IntN(20))
		if m.r.IntN(3) == 0 {
			value = fmt.Sprint(m.r.Int64())
		}
		pairs = append(pairs, []byte(names[(i+m.r.IntN(9)/8)%len(names)]), []byte(value))
	}
	return pairs
}

func (m *streamRun) add() {
	id := m.m.last
	if m.r.IntN(3) == 0 {
		id = StreamID{id.Ms + 1 + m.r.Uint64N(1000), m.r.Uint64N(3) << (20 * m.r.IntN(3))}
	} else {
		id.Seq += 1 + m.r.Uint64N(2)
	}
	pairs := m.pairs()
	m.w.Add(id, pairs)
	m.m.entries = append(m.m.entries, modelEntry{id, fmt.Sprintf("%q", pairs)})
	m.m.last = id
	m.m.added++
}

// anID is mostly that of an entry.
func (m *streamRun) anID() StreamID {
	n := len(m.m.entries)
	if n == 0 || m.r.IntN(8) == 0 {
		return StreamID{m.r.Uint64N(m.m.last.Ms + 2), m.r.Uint64N(3)}
	}
	return m.m.entries[m.r.IntN(n)].id
}

func (m *streamRun) delete() {
	id := m.anID()
	i := slices.IndexFunc(m.m.entries, func(e modelEntry) bool { return e.id == id })
	if got := m.w.Delete(id); got != (i >= 0) {
		panic(fmt.Sprintf("delete of %v: %v", id, got))
	}
	if i >= 0 {
		m.m.entries = slices.Delete(m.m.entries, i, i+1)
		if m.m.maxDeleted.Less(id) {
			m.m.maxDeleted = id
		}
	}
}

func (m *streamRun) trim() {
	t := StreamTrim{Approx: m.r.IntN(2) == 0, MaxLen: m.r.IntN(2 + 2*len(m.m.entries))}
	if m.r.IntN(2) == 0 {
		t.ByID, t.MinID = true, m.anID()
	}
	if t.Approx && m.r.IntN(2) == 0 {
		t.Limit = m.r.IntN(50)
	}
	want := len(m.m.entries) - t.MaxLen
	if t.ByID {
		want, _ = slices.BinarySearchFunc(m.m.entries, t.MinID, func(e modelEntry, id StreamID) int { return e.id.Compare(id) })
	}
	want = max(want, 0)
	// A freeze makes what comes after it copy what it writes to.
	got := m.w.Trim(t, func() { m.s.Stores[0].Freeze(0).Release() })
	if got > want || !t.Approx && got != want || t.Limit > 0 && got > t.Limit {
		panic(fmt.Sprintf("%+v took out %d of %d", t, got, want))
	}
	m.m.entries = slices.Delete(m.m.entries, 0, got)
}

func (m *streamRun) group() {
	name := fmt.Sprint("g", m.r.IntN(3))
	g, ok := m.m.groups[name]
	if !ok {
		m.w.AddGroup([]byte(name), m.m.last, 5)
		m.m.groups[name] = modelGroup{m.m.last, 5, map[string]int64{}, map[StreamID]modelPending{}}
		return
	}
	if m.r.IntN(3) == 0 {
		m.w.RemoveGroup([]byte(name))
		delete(m.m.groups, name)
		return
	}
	w, _ := m.w.Group([]byte(name))
	g.last, g.read = m.anID(), m.r.Int64N(9)
	w.SetLast(g.last, g.read)
	m.m.groups[name] = g
	if len(g.consumers) == 0 || m.r.IntN(2) == 0 {
		return
	}
	consumer := slices.Sorted(maps.Keys(g.consumers))[m.r.IntN(len(g.consumers))]
	n, _ := w.RemoveConsumer([]byte(consumer), nil)
	delete(g.consumers, consumer)
	maps.DeleteFunc(g.pending, func(_ StreamID, p modelPending) bool {
		n -= toInt(p.consumer == consumer)
		return p.consumer == consumer
	})
	if n != 0 {
		panic("wrong number of pending entries")
	}
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *streamRun) aGroup() (w GroupWriter, g modelGroup, ok bool) {
	name := fmt.Sprint("g", m.r.IntN(3))
	w, ok = m.w.Group([]byte(name))
	return w, m.m.groups[name], ok
}

func (m *streamRun) pend() {
	w, g, ok := m.aGroup()
	if !ok {
		return
	}
	consumer, id, at := fmt.Sprint("c", m.r.IntN(4)), m.anID(), m.r.Int64N(9)
	if w.AddConsumer([]byte(consumer), at) {
		g.consumers[consumer] = at
	}
	if m.r.IntN(4) == 0 {
		m.freeze()
	}
	w.Pend([]byte(consumer), id, at, 1)
	g.pending[id] = modelPending{at, 1, consumer}
}

func (m *streamRun) ack() {
	w, g, ok := m.aGroup()
	if !ok {
		return
	}
	id := m.anID()
	if len(g.pending) > 0 && m.r.IntN(4) > 0 {
		id, _, _ = w.Value().NextPending(id)
	}
	_, there := g.pending[id]
	if w.Ack(id) != there {
		panic("ack of what is not pending")
	}
	delete(g.pending, id)
}

func (m *streamRun) setID() {
	m.m.last.Ms += 5
	if n := len(m.m.entries); n > 0 && m.r.IntN(2) == 0 {
		m.m.last = m.m.entries[n-1].id // back over what was deleted
	}
	m.w.SetLastID(m.m.last)
	m.m.added++
	m.w.SetCounters(m.m.added, m.m.maxDeleted)
}

func (m *streamRun) compare(t *testing.T) {
	m.tx.Begin(m.s, 0, 1000)
	for i, k := range streamKeys {
		e, ok := m.tx.Peek(k)
		compareStream(t, e, ok, m.live[i], m.r)
	}
	for _, f := range m.old {
		for i, k := range streamKeys {
			e, ok := f.v.get(k)
			compareStream(t, e, ok, f.want[i], m.r)
		}
	}
}

func compareStream(t *testing.T, e Entry, ok bool, want *modelStream, r *rand.Rand) {
	require.Equal(t, want != nil, ok)
	if !ok {
		return
	}
	v := e.Stream()
	require.NoError(t, v.s.check())
	require.Equal(t, len(want.entries), v.Len())
	require.Equal(t, []any{want.last, want.maxDeleted, want.added}, []any{v.LastID(), v.MaxDeletedID(), v.Added()})
	require.Equal(t, want.entries, collect(v.Ascend, StreamID{}))
	down := collect(v.Descend, MaxStreamID)
	slices.Reverse(down)
	require.Equal(t, want.entries, down)
	if n := len(want.entries); n > 0 {
		i := r.IntN(n)
		require.True(t, v.Has(want.entries[i].id))
		require.Equal(t, want.entries[i:], collect(v.Ascend, want.entries[i].id))
		require.Len(t, collect(v.Descend, want.entries[i].id), i+1)
		j := i + r.IntN(n-i)
		require.Equal(t, j-i+1, v.Count(want.entries[i].id, want.entries[j].id, 0))
		require.Equal(t, min(2, n), v.Count(StreamID{}, MaxStreamID, 2))
		require.Equal(t, n, v.Count(StreamID{}, MaxStreamID, 0))
		require.GreaterOrEqual(t, v.About(StreamID{}, MaxStreamID), n/2)
		var got StreamEntry
		require.True(t, v.Get(want.entries[i].id, &got))
		require.Equal(t, want.entries[i].id, got.ID)
		last, _ := v.LastEntryID()
		require.Equal(t, []StreamID{want.entries[0].id, want.entries[n-1].id}, []StreamID{v.FirstID(), last})
	}
	compareGroups(t, v, want)
}

func collect(walk func(StreamID, func(*StreamEntry) bool), from StreamID) (all []modelEntry) {
	all = []modelEntry{}
	walk(from, func(e *StreamEntry) bool {
		var pairs [][]byte
		e.Each(func(field, value []byte) bool {
			pairs = append(pairs, field, value)
			return true
		})
		all = append(all, modelEntry{e.ID, fmt.Sprintf("%q", pairs)})
		return true
	})
	return all
}

func compareGroups(t *testing.T, v StreamValue, want *modelStream) {
	require.Equal(t, len(want.groups), v.GroupCount())
	v.EachGroup(func(g StreamGroup) bool {
		w := want.groups[g.Name()]
		require.Equal(t, []any{w.last, w.read, len(w.pending)}, []any{g.LastID(), g.Read(), g.PendingCount()})
		require.Equal(t, len(w.consumers), g.ConsumerCount())
		g.AscendPending(StreamID{}, func(id StreamID, p StreamPending) bool {
			require.Equal(t, modelPending{p.At, p.Count, g.Owner(p).Name()}, w.pending[id])
			return true
		})
		g.EachConsumer(func(c StreamConsumer) bool {
			require.Equal(t, w.consumers[c.Name()], c.Seen())
			c.AscendPending(StreamID{}, func(id StreamID) bool {
				require.Equal(t, c.Name(), w.pending[id].consumer)
				return true
			})
			return true
		})
		return true
	})
}

// TestStreamMemory: a million small entries take less than 12 bytes each, where
// redis-server takes some 17.
func TestStreamMemory(t *testing.T) {
	s := newBigStream()
	l := DefaultLimits()
	pairs := [][]byte{[]byte("myfield"), []byte("xxx")}
	for i := range 1_000_000 {
		s.add(StreamID{1_700_000_000_000 + uint64(i)/100, uint64(i) % 100}, pairs, &l)
	}
	require.NoError(t, s.check())
	require.Less(t, s.bytes(), int64(12_000_000))
}

// TestStreamCloneIsCheap: a clone of a stream with much pending shares it, and a
// write to the clone copies a path, not the list.
func TestStreamCloneIsCheap(t *testing.T) {
	s := newBigStream()
	g := s.addGroup([]byte("g"))
	c := s.addConsumer(g, []byte("c"), 1)
	for i := range uint64(100_000) {
		s.pend(g, c, StreamID{i + 1, 0}, 1, 1)
	}
	copied := testing.AllocsPerRun(10, func() {
		d := s.clone().(*bigStream)
		d.ack(d.writableGroup([]byte("g")), StreamID{500, 0})
	})
	require.Less(t, copied, 60.0)
	require.Equal(t, 100_000, g.pending.len())
	require.NoError(t, s.check())
}

// BenchmarkStreamAdd measures an XADD of one small field, as redis-benchmark's.
func BenchmarkStreamAdd(b *testing.B) {
	s := newBigStream()
	l := DefaultLimits()
	pairs := [][]byte{[]byte("myfield"), []byte("xxx")}
	b.ReportAllocs()
	for i := range b.N {
		s.add(StreamID{1_700_000_000_000 + uint64(i)/100, uint64(i) % 100}, pairs, &l)
	}
	b.ReportMetric(float64(s.bytes())/float64(b.N), "bytes/entry")
}

func TestRadixNodes(t *testing.T) {
	want := func(nodes int, ids ...StreamID) {
		t.Helper()
		var r radixCount
		for _, id := range ids {
			r.add(id)
		}
		require.Equal(t, nodes, r.total())
	}
	want(1)
	want(2, StreamID{1, 0})                                 // a chain and its end
	want(4, StreamID{1, 0}, StreamID{1, 1})                 // a chain, a branch, two ends
	want(6, StreamID{1, 0}, StreamID{2, 0})                 // two more chains
	want(5, StreamID{1, 0}, StreamID{1, 1}, StreamID{1, 2}) // three ends
	want(8, StreamID{1, 0}, StreamID{1, 1}, StreamID{2, 0}) // chain, branch, chain and end; chain, branch, two ends
	want(5, StreamID{0, 0}, StreamID{1 << 56, 0})           // a branch at the root
}
