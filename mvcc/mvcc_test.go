package mvcc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSipHash checks SipHash-2-4 against the vectors of its paper's authors;
// the position hash is the same code with fewer rounds.
func TestSipHash(t *testing.T) {
	k0, k1 := uint64(0x0706050403020100), uint64(0x0f0e0d0c0b0a0908)
	var in []byte
	want := []uint64{0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d}
	for i, w := range want {
		require.Equal(t, w, sipHash(k0, k1, in, 2, 4))
		in = append(in, byte(i))
	}
}

func TestPositionTag(t *testing.T) {
	h := Seed{1, 2}.Hasher()
	require.Equal(t, h([]byte("{a}x"))>>52, h([]byte("{a}yy"))>>52)
	require.Equal(t, h([]byte("{a}x"))>>52, h([]byte("a"))>>52)
	require.NotEqual(t, h([]byte("{a}x")), h([]byte("{a}yy")))
}

// TestModel runs random writes against a map that is copied at each freeze, and
// compares every version that is still open after each round.
func TestModel(t *testing.T) {
	for _, bits := range []int{8, 64} {
		t.Run(fmt.Sprintf("hash of %d bits", bits), func(t *testing.T) { testModel(t, bits) })
	}
}

func testModel(t *testing.T, bits int) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	h := Seed{seed, 7}.Hasher()
	m := &modelRun{r: r, s: NewSpace(4, 2, func(k []byte) uint64 { return h(k) >> (64 - bits) << (64 - bits) }), want: map[string]modelValue{}}
	for round := range 60 {
		for range 150 {
			m.step()
		}
		m.clean(round)
		require.NoError(t, m.s.Check())
		m.compare(t)
		if round%3 == 0 {
			m.freeze()
		}
	}
	m.releaseAll()
	require.Zero(t, m.s.Pins())
}

type modelValue struct {
	val    string
	expire int64
}

type frozenModel struct {
	versions []*Version
	want     map[string]modelValue
}

type modelRun struct {
	r    *rand.Rand
	s    *Space
	tx   Tx
	now  int64
	want map[string]modelValue
	old  []frozenModel
}

func (m *modelRun) key() []byte { return fmt.Appendf(nil, "key:%d", m.r.IntN(400)) }

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

func (m *modelRun) step() {
	m.now++
	m.tx.Begin(m.s, 0, m.now)
	key := m.key()
	_, there := m.lookup(key)
	switch op := m.r.IntN(10); {
	case op < 4:
		v := modelValue{val: m.value()}
		if m.r.IntN(3) == 0 {
			v.expire = m.now + int64(m.r.IntN(500))
		}
		m.tx.SetString(key, []byte(v.val), v.expire)
		m.want[string(key)] = v
	case op < 6:
		m.tx.Delete(key)
		delete(m.want, string(key))
	case op < 7 && there:
		v := m.want[string(key)]
		v.expire = m.now + int64(m.r.IntN(300))
		m.tx.SetExpire(key, v.expire)
		m.want[string(key)] = v
	case op < 8 && there:
		if to := m.key(); string(to) != string(key) {
			m.want[string(to)] = m.want[string(key)]
			delete(m.want, string(key))
			m.tx.Rename(key, to)
		}
	case op < 9 && there:
		if to := m.key(); string(to) != string(key) {
			e, _ := m.tx.Lookup(key)
			m.tx.CopyTo(to, &e, e.Expire())
			m.want[string(to)] = m.want[string(key)]
		}
	default:
		m.write(key)
	}
	for i := range m.s.Stores {
		if m.r.IntN(20) == 0 {
			m.tx.ExpireDue(i, 3, nil)
		}
	}
}

func (m *modelRun) lookup(key []byte) (Entry, bool) {
	e, ok := m.tx.Lookup(key)
	if v, has := m.want[string(key)]; has && v.expire != 0 && v.expire <= m.now {
		delete(m.want, string(key))
	}
	return e, ok
}

func (m *modelRun) write(key []byte) {
	old := m.want[string(key)]
	off, p := m.r.IntN(len(old.val)+50), m.value()
	b := []byte(old.val)
	for len(b) < off+len(p) {
		b = append(b, 0)
	}
	copy(b[off:], p)
	m.tx.WriteAt(key, int64(off), []byte(p))
	m.want[string(key)] = modelValue{string(b), old.expire}
}

func (m *modelRun) clean(round int) {
	for _, s := range m.s.Stores {
		s.CleanDebt(1 << 30)
		for round%7 == 0 && s.Clean(1<<20) {
		}
	}
}

func (m *modelRun) freeze() {
	f := frozenModel{want: map[string]modelValue{}}
	for k, v := range m.want {
		if v.expire == 0 || v.expire > m.now {
			f.want[k] = v
		}
	}
	for _, s := range m.s.Stores {
		f.versions = append(f.versions, s.Freeze(0))
	}
	m.old = append(m.old, f)
	if len(m.old) > 6 {
		i := m.r.IntN(len(m.old))
		m.old[i].release()
		m.old = append(m.old[:i], m.old[i+1:]...)
	}
}

func (f frozenModel) release() {
	for _, v := range f.versions {
		v.Release()
	}
}

func (m *modelRun) releaseAll() {
	for _, f := range m.old {
		f.release()
	}
}

func (m *modelRun) compare(t *testing.T) {
	var v View
	v.LiveView(m.s, 0, m.now)
	compareView(t, &v, m.want, m.now)
	for _, f := range m.old {
		v.FrozenView(m.s, 0, 0, f.versions)
		compareView(t, &v, f.want, 0)
		n := 0
		for _, ver := range f.versions {
			ver.Ascend(0, func(_ uint64, e Entry) bool {
				n++
				want, ok := f.want[string(e.Key())]
				require.True(t, ok || e.Expire() != 0)
				require.True(t, !ok || want.val == string(e.Bytes(nil)), "key %q", e.Key())
				return true
			})
		}
		require.GreaterOrEqual(t, n, len(f.want))
	}
}

func compareView(t *testing.T, v *View, want map[string]modelValue, now int64) {
	t.Helper()
	for k, w := range want {
		e, ok := v.Peek([]byte(k))
		if w.expire != 0 && w.expire <= now {
			require.False(t, ok)
			continue
		}
		require.True(t, ok, "key %q", k)
		require.Equal(t, w.expire, e.Expire())
		require.Equal(t, int64(len(w.val)), e.Len())
		require.True(t, w.val == string(e.Bytes(nil)), "value of %q", k)
	}
}
