package mvcc

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// member is what the model knows of a member of a hash, set or sorted set.
type member struct {
	val    string
	score  float64
	expire int64
}

type memberModel map[string]map[string]member // by key

func (m memberModel) clone() memberModel {
	c := memberModel{}
	for k, v := range m {
		c[k] = maps.Clone(v)
	}
	return c
}

// TestCollectionModel runs random edits of hashes, sets and sorted sets, small
// and big, with members that expire, against maps that are copied at each
// freeze; all open versions are compared after each round.
func TestCollectionModel(t *testing.T) {
	for _, bits := range []int{6, 64} {
		for _, typ := range []Type{Hash, Set, ZSet} {
			t.Run(fmt.Sprintf("%s, positions of %d bits", typ, bits), func(t *testing.T) { testCollections(t, typ, bits) })
		}
	}
}

type collectionRun struct {
	t    *testing.T
	typ  Type
	r    *rand.Rand
	s    *Space
	tx   Tx
	now  int64
	live memberModel
	old  []frozenMembers

	warmer Warmer
}

type frozenMembers struct {
	now      int64
	versions []*Version
	want     memberModel
}

func testCollections(t *testing.T, typ Type, bits int) {
	r, seed := newRand(t)
	m := &collectionRun{t: t, typ: typ, r: r, s: newSpace(t, 2, 1, bits, seed), live: memberModel{}, now: 1000}
	for range 40 {
		for range 60 {
			m.step()
		}
		require.NoError(t, m.s.Check())
		if r.IntN(2) == 0 {
			m.freeze()
		}
		m.compare()
	}
	for _, f := range m.old {
		release(f.versions)
	}
}

func release(versions []*Version) {
	for _, v := range versions {
		v.Release()
	}
}

func (m *collectionRun) freeze() {
	f := frozenMembers{now: m.now, want: m.live.clone()}
	for _, s := range m.s.Stores {
		f.versions = append(f.versions, s.Freeze(0))
	}
	if m.old = append(m.old, f); len(m.old) > 4 {
		i := m.r.IntN(len(m.old))
		release(m.old[i].versions)
		m.old = slices.Delete(m.old, i, i+1)
	}
}

func (m *collectionRun) compare() {
	var v View
	v.LiveView(m.s, 0, m.now)
	m.same(&v, m.live)
	for _, f := range m.old {
		v.FrozenView(m.s, 0, f.now, f.versions)
		m.same(&v, f.want)
	}
}

// same compares the view with the model, whatever way a reader may go.
func (m *collectionRun) same(v *View, want memberModel) {
	keys := 0
	for i := range m.s.Stores {
		keys += v.Len(i)
	}
	for key, all := range want {
		e, ok := v.Peek([]byte(key))
		all = maps.Clone(all)
		maps.DeleteFunc(all, func(_ string, w member) bool { return w.expire != 0 && w.expire <= v.Now })
		if !ok {
			require.Empty(m.t, all, "%s", key)
			continue
		}
		keys--
		require.GreaterOrEqual(m.t, e.Count(), len(all)) // what has expired may be there still
		switch m.typ {
		case Hash:
			m.sameHash(e.Hash(v.Now), all)
		case Set:
			m.sameSet(e.Set(v.Now), all)
		case ZSet:
			m.sameZSet(e.ZSet(v.Now), all)
		}
	}
	require.Zero(m.t, keys)
}

func (m *collectionRun) sameHash(h HashValue, want map[string]member) {
	got := map[string]member{}
	h.Each(func(f, v []byte) bool {
		got[string(f)] = member{val: string(v), expire: h.ExpireAt(f)}
		return true
	})
	require.Equal(m.t, want, got)
	for f, w := range want {
		v, ok := h.Get([]byte(f))
		require.True(m.t, ok)
		require.Equal(m.t, w.val, string(v))
	}
	_, ok := h.Get([]byte("absent"))
	require.False(m.t, ok)
}

func (m *collectionRun) sameSet(s SetValue, want map[string]member) {
	got := map[string]member{}
	s.Each(func(f []byte) bool {
		got[string(f)] = member{expire: s.ExpireAt(f)}
		return true
	})
	require.Equal(m.t, want, got)
	c, last, n := s.Cursor(), uint64(0), 0
	for c.Next() {
		require.GreaterOrEqual(m.t, c.Pos(), last)
		require.Contains(m.t, want, string(c.Member()))
		last, n = c.Pos(), n+1
	}
	require.Len(m.t, want, n)
	c = s.Cursor()
	for _, f := range slices.SortedFunc(maps.Keys(want), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.s.Hash([]byte(a)), m.s.Hash([]byte(b))), cmp.Compare(a, b))
	}) {
		require.True(m.t, s.Has([]byte(f)))
		if m.r.IntN(3) == 0 {
			require.True(m.t, c.Seek(m.s.Hash([]byte(f)), []byte(f)))
			require.Equal(m.t, f, string(c.Member()))
		}
	}
}

func (m *collectionRun) sameZSet(z ZSetValue, want map[string]member) {
	order := slices.SortedFunc(maps.Keys(want), func(a, b string) int {
		return cmp.Or(cmp.Compare(want[a].score, want[b].score), cmp.Compare(a, b))
	})
	got := []string{}
	z.Ascend(0, func(f []byte, score float64) bool {
		require.Equal(m.t, math.Float64bits(want[string(f)].score), math.Float64bits(score))
		got = append(got, string(f))
		return true
	})
	require.Equal(m.t, append([]string{}, order...), got)
	back := []string{}
	z.Descend(z.Len()-1, func(f []byte, _ float64) bool {
		back = append(back, string(f))
		return true
	})
	slices.Reverse(back)
	require.Equal(m.t, got, back)
	if z.Len() != len(want) {
		return // ranks count what has expired
	}
	for i, f := range order {
		score, ok := z.Score([]byte(f))
		require.True(m.t, ok)
		require.Equal(m.t, want[f].score, score)
		rank, ok := z.Rank([]byte(f))
		require.True(m.t, ok)
		require.Equal(m.t, i, rank)
		member, _ := z.At(i)
		require.Equal(m.t, f, string(member))
		below := func(o string) bool { return want[o].score < score }
		upTo := func(o string) bool { return want[o].score <= score }
		require.Equal(m.t, countIf(order, below), z.RankOfScore(score, false))
		require.Equal(m.t, countIf(order, upTo), z.RankOfScore(score, true))
	}
}

func countIf(all []string, f func(string) bool) (n int) {
	for _, s := range all {
		if f(s) {
			n++
		}
	}
	return n
}

// key returns one of a few keys, those with a low number being larger.
func (m *collectionRun) key() string { return fmt.Sprintf("key:%d", m.r.IntN(5)) }

func (m *collectionRun) member(key string) string {
	if m.r.IntN(50) == 0 {
		return fmt.Sprintf("%02000d", m.r.IntN(3))
	}
	return fmt.Sprint(m.r.IntN(8 << (2 * (key[4] - '0'))))
}

func (m *collectionRun) step() {
	m.now++
	m.tx.Begin(m.s, 0, m.now)
	key := m.key()
	switch m.r.IntN(40) {
	case 0:
		m.tx.Delete([]byte(key))
		delete(m.live, key)
	case 1:
		m.copyOrRename(key)
	case 2:
		m.put(key)
	default:
		m.edit(key)
	}
	if m.r.IntN(4) == 0 {
		for i := range m.s.Stores {
			m.tx.Begin(m.s, 0, m.now)
			m.tx.ExpireMembers(i, 3, nil)
		}
	}
}

func (m *collectionRun) copyOrRename(from string) {
	to := m.key()
	if _, ok := m.tx.Peek([]byte(from)); !ok || from == to {
		return
	}
	if m.r.IntN(2) == 0 {
		m.tx.Rename([]byte(from), []byte(to))
		m.live[to] = m.live[from]
		delete(m.live, from)
		return
	}
	e, _ := m.tx.PeekWrite([]byte(from))
	m.tx.CopyTo([]byte(to), &e, 0)
	m.live[to] = maps.Clone(m.live[from])
}

// put replaces a value by a detached one.
func (m *collectionRun) put(key string) {
	var d Detached
	switch m.typ {
	case Hash:
		d = NewHash(m.s)
	case Set:
		d = NewSet(m.s)
	case ZSet:
		d = NewZSet(m.s)
	}
	m.live[key] = map[string]member{}
	for range m.r.IntN(400) {
		m.add(d, key, m.member(key))
	}
	m.tx.PutValue([]byte(key), d, 0)
}

func (m *collectionRun) add(w any, key, f string) {
	all := m.live[key]
	old, there := all[f]
	switch w := w.(type) {
	case *HashWriter:
		v := fmt.Sprint(m.r.IntN(1000))
		if m.r.IntN(60) == 0 {
			v = fmt.Sprintf("%0*d", m.r.IntN(3000)+1, 7)
		}
		require.Equal(m.t, !there, w.Set([]byte(f), []byte(v)))
		all[f] = member{val: v, expire: old.expire}
	case *SetWriter:
		require.Equal(m.t, !there, w.Add([]byte(f)))
		all[f] = old
	case *ZSetWriter:
		score := []float64{0, math.Copysign(0, -1), 1, math.Inf(1), math.Inf(-1), m.r.NormFloat64(), float64(m.r.IntN(4))}[m.r.IntN(7)]
		added, changed := w.Set([]byte(f), score)
		require.Equal(m.t, !there, added)
		require.Equal(m.t, there && old.score != score, changed)
		if added || changed {
			old.score = score
		}
		all[f] = old
	}
}

type memberEditor interface {
	SetExpireAt(member []byte, at int64) bool
	Len() int
	Close()
}

func (m *collectionRun) edit(key string) {
	w, remove := m.open([]byte(key))
	if m.live[key] == nil {
		m.live[key] = map[string]member{}
	}
	m.purge()
	warm := m.warm(key)
	for range m.r.IntN(30) {
		f := m.member(key)
		if len(warm) > 0 && m.r.IntN(3) > 0 {
			i := m.r.IntN(len(warm))
			f = warm[i]
			m.warmer.Seat(i, m.s.Hash([]byte(key)))
		}
		m.editOne(w, remove, key, f)
	}
	m.warmer.Forget()
	m.cut(w, key)
	require.Len(m.t, m.live[key], w.Len())
	w.Close()
}

// open opens the writer of a key, by its entry or not.
func (m *collectionRun) open(key []byte) (w memberEditor, remove func([]byte) bool) {
	e, there := m.tx.Lookup(key)
	there = there && m.r.IntN(2) == 0
	h, s, z := &m.tx.hashes, &m.tx.sets, &m.tx.zsets
	switch {
	case m.typ == Hash && there:
		m.tx.EditHash(key, &e)
	case m.typ == Hash:
		m.tx.WriteHash(key)
	case m.typ == Set && there:
		m.tx.EditSet(key, &e)
	case m.typ == Set:
		m.tx.WriteSet(key)
	case there:
		m.tx.EditZSet(key, &e)
	default:
		m.tx.WriteZSet(key)
	}
	switch m.typ {
	case Hash:
		return h, h.Delete
	case Set:
		return s, s.Remove
	}
	return z, z.Remove
}

// pop takes a member that has not expired out of a set by its number.
func (m *collectionRun) pop(w memberEditor, key string) {
	s, ok := w.(*SetWriter)
	if !ok || s.Len() == 0 {
		return
	}
	v, i := s.Value(), m.r.IntN(s.Len())
	f := string(v.At(i))
	require.Equal(m.t, "before "+f, string(s.Pop(i, []byte("before "))))
	require.Contains(m.t, m.live[key], f)
	delete(m.live[key], f)
}

// purge takes out of the model what has expired; the writer has done so.
func (m *collectionRun) purge() {
	for _, all := range m.live {
		maps.DeleteFunc(all, func(_ string, v member) bool { return v.expire != 0 && v.expire <= m.now })
	}
}

// warm fetches some members of a key. They are written later, often to another
// tree by then.
func (m *collectionRun) warm(key string) (members []string) {
	for range m.r.IntN(2) * m.r.IntN(20) {
		f := m.member(key)
		members = append(members, f)
		m.warmer.Add(m.s, Place{Pos: m.s.Hash([]byte(key)), Member: []byte(f)})
	}
	m.warmer.Run()
	return members
}

func (m *collectionRun) editOne(w memberEditor, remove func([]byte) bool, key, f string) {
	old, there := m.live[key][f]
	switch n := m.r.IntN(20); {
	case n < 5:
		require.Equal(m.t, there, remove([]byte(f)))
		delete(m.live[key], f)
	case n == 5:
		old.expire = []int64{0, m.now + 1 + m.r.Int64N(100)}[m.r.IntN(2)]
		require.Equal(m.t, there, w.SetExpireAt([]byte(f), old.expire))
		if there {
			m.live[key][f] = old
		}
	case n == 6:
		m.pop(w, key)
	default:
		m.add(w, key, f)
	}
}

// cut removes a range of ranks from a sorted set.
func (m *collectionRun) cut(w memberEditor, key string) {
	z, ok := w.(*ZSetWriter)
	if !ok || z.Len() == 0 || m.r.IntN(5) > 0 {
		return
	}
	lo := m.r.IntN(z.Len())
	hi := lo + m.r.IntN(min(z.Len()-lo, 50)+1)
	value, i := z.Value(), lo
	value.Ascend(lo, func(f []byte, _ float64) bool {
		if i < hi {
			delete(m.live[key], string(f))
		}
		i++
		return i < hi
	})
	require.Equal(m.t, hi-lo, z.RemoveRange(lo, hi))
}

// However many members of a sorted set have expired, whoever writes to it meets
// none of them: its ranks are what a reply announces.
func TestNoExpiredMembersUnderAZSetWriter(t *testing.T) {
	_, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	var tx Tx
	tx.Begin(s, 0, 1000)
	w := tx.WriteZSet([]byte("z"))
	for i := range 3 * purgeLimit {
		m := fmt.Append(nil, i)
		w.Set(m, float64(i))
		if i%3 > 0 {
			w.SetExpireAt(m, 2000)
		}
	}
	w.Close()
	tx.Begin(s, 0, 3000)
	w = tx.WriteZSet([]byte("z"))
	defer w.Close()
	z, n := w.Value(), 0
	z.Ascend(0, func([]byte, float64) bool { n++; return true })
	require.Equal(t, purgeLimit, n)
	require.Equal(t, n, w.Len())
	require.Len(t, tx.Expired, 2*purgeLimit)
}

// TestPopsReadAhead pops from both ends of big sorted sets, one by one and several
// at a time, with other writes in between, of which the members that were read
// ahead must not tell.
func TestPopsReadAhead(t *testing.T) {
	r, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	var tx Tx
	tx.Begin(s, 0, 1)
	w := tx.WriteZSet([]byte("z"))
	defer w.Close()
	model := map[string]float64{}
	add := func() {
		m, score := fmt.Sprint(r.IntN(4000)), r.Float64()
		w.Set([]byte(m), score)
		model[m] = score
	}
	for range 3000 {
		add()
	}
	for w.Len() > 0 {
		n, lo := min(w.Len(), 1+r.IntN(2)*r.IntN(3*aheadMax)), 0
		if r.IntN(2) == 0 {
			lo = w.Len() - n
		}
		z, i := w.Value(), 0
		z.Ascend(lo, func(m []byte, score float64) bool {
			require.Equal(t, model[string(m)], score)
			delete(model, string(m))
			i++
			return i < n
		})
		require.Equal(t, n, w.RemoveRange(lo, lo+n))
		require.Len(t, model, w.Len())
		if r.IntN(20) == 0 {
			add()
		}
		if r.IntN(50) == 0 {
			require.NoError(t, w.obj.val.check())
		}
	}
}
