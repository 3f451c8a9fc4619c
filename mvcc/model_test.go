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

// TestModel runs random writes on two databases against maps that are copied at
// each freeze, and compares the live state and every version that is still open
// after each round. Meanwhile splices are under way, whose writes no freeze
// shows before their end; databases are swapped and flushed; segments are
// cleaned; and pieces of big values are kept that must never change.
func TestModel(t *testing.T) {
	for _, bits := range []int{4, 8, 64} {
		t.Run(fmt.Sprintf("positions of %d bits", bits), func(t *testing.T) { testModel(t, bits) })
	}
}

func testModel(t *testing.T, bits int) {
	r, seed := newRand(t)
	m := &modelRun{r: r, s: newSpace(t, 4, 2, bits, seed), bits: bits}
	m.live[0], m.live[1] = model{}, model{}
	defer m.releaseAll()
	for round := range 60 {
		m.round(round)
		require.NoError(t, m.s.Check())
		m.compare(t)
	}
}

type modelValue struct {
	val    string
	expire int64
}

type model map[string]modelValue

// at is the part of the model that has not expired.
func (m model) at(now int64) model {
	c := maps.Clone(m)
	maps.DeleteFunc(c, func(_ string, v modelValue) bool { return v.expire != 0 && v.expire <= now })
	return c
}

type frozenModel struct {
	now      int64
	versions []*Version
	want     model
}

type modelRun struct {
	r    *rand.Rand
	s    *Space
	bits int
	tx   Tx
	now  int64
	live [2]model
	old  []frozenModel
	kept []keptPieces

	// The splice, if one is under way: its database, the positions that are
	// its alone, and what freezes see.
	spliced   bool
	spliceDB  int
	splicePos map[uint64]bool
	before    model

	// The step: which database, and on whose behalf.
	db     int
	splice bool
}

type keptPieces struct {
	pieces [][]byte
	want   string
}

func (m *modelRun) round(n int) {
	if !m.spliced && m.r.IntN(3) == 0 {
		m.beginSplice()
	}
	for range 120 {
		m.step()
	}
	m.clean(n)
	switch m.r.IntN(9) {
	case 0, 1, 2:
		m.freeze(m.r.IntN(2))
	case 3, 4:
		m.keep()
	case 5, 6:
		m.endSplice()
	case 7:
		m.swapOrFlush()
	}
}

// key returns a key that the present actor may touch.
func (m *modelRun) key() []byte {
	for {
		k := fmt.Appendf(nil, "key:%d", m.r.IntN(300))
		if !m.spliced || m.db != m.spliceDB || m.splicePos[m.s.Hash(k)] == m.splice {
			return k
		}
	}
}

func (m *modelRun) value() string {
	n := m.r.IntN(100)
	switch m.r.IntN(40) {
	case 0:
		n = 70000 + m.r.IntN(100000)
	case 1:
		n = 3000 + m.r.IntN(3000)
	case 2, 3:
		return fmt.Sprint(m.r.Int64())
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + m.r.IntN(26))
	}
	return string(b)
}

func (m *modelRun) beginSplice() {
	m.spliced, m.spliceDB, m.splicePos = true, m.r.IntN(2), map[uint64]bool{}
	n := 40
	if m.bits == 4 {
		n = 4 // of 16 positions
	}
	for range n {
		m.splicePos[m.s.Hash(fmt.Appendf(nil, "key:%d", m.r.IntN(300)))] = true
	}
	m.before = maps.Clone(m.live[m.spliceDB])
	for _, s := range m.s.Stores {
		s.BeginSplice(m.spliceDB)
	}
}

func (m *modelRun) endSplice() {
	if !m.spliced {
		return
	}
	for _, s := range m.s.Stores {
		s.EndSplice(m.spliceDB)
	}
	m.spliced = false
}

func (m *modelRun) step() {
	m.now++
	m.db = m.r.IntN(2)
	m.tx.Begin(m.s, m.db, m.now)
	m.splice = m.spliced && m.db == m.spliceDB && m.r.IntN(3) == 0
	if m.splice {
		m.tx.Splice()
	}
	m.write(m.key())
	for i := range m.s.Stores {
		if m.r.IntN(20) == 0 {
			m.tx.Begin(m.s, m.db, m.now)
			m.tx.ExpireDue(i, 3, func(pos uint64) bool { return m.spliced && m.splicePos[pos] })
		}
	}
}

// set and drop change the model as the present actor.
func (m *modelRun) set(key []byte, v modelValue) {
	m.live[m.db][string(key)] = v
	if m.spliced && m.db == m.spliceDB && !m.splice {
		m.before[string(key)] = v
	}
}

func (m *modelRun) drop(key []byte) {
	delete(m.live[m.db], string(key))
	if m.spliced && m.db == m.spliceDB && !m.splice {
		delete(m.before, string(key))
	}
}

// lookup finds a key to write it, in the Tx and in the model.
func (m *modelRun) lookup(key []byte) (e Entry, v modelValue, ok bool) {
	e, ok = m.tx.Lookup(key)
	v, has := m.live[m.db][string(key)]
	if has && v.expire != 0 && v.expire <= m.now {
		m.drop(key)
		v, has = modelValue{}, false
	}
	if has != ok {
		panic(fmt.Sprintf("key %q is there: %v, should be %v", key, ok, has))
	}
	return e, v, ok
}

func (m *modelRun) write(key []byte) {
	e, v, there := m.lookup(key)
	op := m.r.IntN(10)
	switch {
	case op < 4:
		m.overwrite(key, v)
	case op < 6:
		if m.tx.Delete(key) != there {
			panic("Delete answers wrong")
		}
		m.drop(key)
	case op == 6 && there:
		v.expire = m.now + int64(m.r.IntN(300))
		m.tx.SetExpire(key, v.expire)
		m.set(key, v)
	case op < 9 && there:
		m.move(key, &e, v, op == 7)
	default:
		m.edit(key, v)
	}
}

func (m *modelRun) overwrite(key []byte, old modelValue) {
	v := modelValue{val: m.value()}
	if n := len(old.val); n > 0 && n < 100 && m.r.IntN(2) == 0 {
		v.val = string(bytes.Repeat([]byte{byte('a' + m.r.IntN(26))}, n)) // in place, if that is allowed
	}
	if m.r.IntN(3) == 0 {
		v.expire = m.now + int64(m.r.IntN(500))
	}
	switch m.r.IntN(3) {
	case 0:
		m.tx.SetRaw(key, []byte(v.val), v.expire)
	default:
		m.tx.SetString(key, []byte(v.val), v.expire)
	}
	m.set(key, v)
}

func (m *modelRun) move(key []byte, e *Entry, v modelValue, rename bool) {
	to := m.key()
	if string(to) == string(key) {
		return
	}
	m.set(to, v)
	if rename {
		m.tx.Rename(key, to)
		m.drop(key)
		return
	}
	m.tx.CopyTo(to, e, e.Expire())
}

func (m *modelRun) edit(key []byte, old modelValue) {
	off, p := m.r.IntN(len(old.val)+50), m.value()
	b := []byte(old.val)
	for len(b) < off+len(p) {
		b = append(b, 0)
	}
	copy(b[off:], p)
	m.tx.WriteAt(key, int64(off), []byte(p))
	m.set(key, modelValue{string(b), old.expire})
}

func (m *modelRun) clean(round int) {
	for _, s := range m.s.Stores {
		s.CleanDebt(1 << 30)
		for round%7 == 0 && s.Clean(1<<20) {
		}
	}
}

func (m *modelRun) swapOrFlush() {
	if m.spliced {
		return
	}
	if m.r.IntN(3) > 0 {
		m.live[0], m.live[1] = m.live[1], m.live[0]
		for _, s := range m.s.Stores {
			s.Swap(0, 1, m.now)
		}
		return
	}
	m.live[1] = model{}
	for _, s := range m.s.Stores {
		s.Flush(1)
	}
}

// keep shares a few big values and keeps their pieces.
func (m *modelRun) keep() {
	var v View
	v.LiveView(m.s, 0, m.now)
	for key, want := range m.live[0].at(m.now) {
		if e, _ := v.Peek([]byte(key)); e.Big() {
			v.Share([]byte(key))
			k := keptPieces{want: want.val}
			e.Pieces(0, e.Len(), func(p []byte) bool { k.pieces = append(k.pieces, p); return true })
			m.kept = append(m.kept, k)
		}
	}
	if len(m.kept) > 20 {
		m.kept = slices.Delete(m.kept, 0, len(m.kept)-20)
	}
}

func (m *modelRun) freeze(db int) {
	seen := m.live[db]
	if m.spliced && db == m.spliceDB {
		seen = m.before
	}
	f := frozenModel{now: m.now, want: seen.at(m.now)}
	for _, s := range m.s.Stores {
		f.versions = append(f.versions, s.Freeze(db))
	}
	m.old = append(m.old, f)
	if len(m.old) > 6 {
		i := m.r.IntN(len(m.old))
		m.old[i].release()
		m.old = slices.Delete(m.old, i, i+1)
	}
}

func (f frozenModel) release() {
	for _, v := range f.versions {
		v.Release()
	}
}

func (m *modelRun) releaseAll() {
	m.endSplice()
	for _, f := range m.old {
		f.release()
	}
}

func (m *modelRun) compare(t *testing.T) {
	var v View
	for db, want := range m.live {
		v.LiveView(m.s, db, m.now)
		compareView(t, &v, want.at(m.now))
	}
	for _, f := range m.old {
		v.FrozenView(m.s, 0, f.now, f.versions)
		compareView(t, &v, f.want)
		n := 0
		for _, ver := range f.versions {
			ver.Ascend(0, func(_ uint64, e Entry) bool {
				if !e.Expired(f.now) {
					n++
				}
				return true
			})
		}
		require.Equal(t, len(f.want), n)
	}
	for _, k := range m.kept {
		require.Equal(t, k.want, string(bytes.Join(k.pieces, nil)), "kept pieces have changed")
	}
}

func compareView(t *testing.T, v *View, want model) {
	t.Helper()
	for k, w := range want {
		e, ok := v.Peek([]byte(k))
		require.True(t, ok, "key %q", k)
		require.Equal(t, w.expire, e.Expire())
		require.Equal(t, int64(len(w.val)), e.Len())
		require.Equal(t, w.val, string(e.Bytes(nil)), "value of %q", k)
	}
}

// TestBigStringModel edits big strings and their clones against byte slices:
// whichever side is written, the other keeps its bytes.
func TestBigStringModel(t *testing.T) {
	r, _ := newRand(t)
	type pair struct {
		o    *object
		want []byte
	}
	all := []pair{{newBigString(1, nil), nil}}
	for range 400 {
		i := r.IntN(len(all))
		p := &all[i]
		switch r.IntN(6) {
		case 0: // both go on from the same bytes
			if len(all) < 6 {
				all = append(all, pair{p.o.mutableCopy(1), slices.Clone(p.want)})
			}
		case 1:
			all[i] = pair{newBigString(1, p.want), slices.Clone(p.want)}
		default:
			off, b := r.IntN(300<<10), make([]byte, r.IntN(100<<10))
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			p.want = append(p.want, make([]byte, max(0, off+len(b)-len(p.want)))...)
			copy(p.want[off:], b)
			p.o = p.o.mutable(1)
			p.o.str().writeAtPadded(int64(off), b)
		}
		for _, p := range all {
			require.NoError(t, p.o.val.check())
			from := r.IntN(len(p.want) + 1)
			to := from + r.IntN(len(p.want)-from+1)
			got := p.o.str().appendRange(nil, int64(from), int64(to))
			require.True(t, bytes.Equal(p.want[from:to], got), "bytes %d to %d", from, to)
		}
	}
}
