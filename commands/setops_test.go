package commands

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// A setModel is some sets as maps, and the harness that has the same.
type setModel struct {
	t    *testing.T
	h    *harness
	r    *rand.Rand
	sets map[string]map[string]bool
}

func newSetModel(t *testing.T, rough bool) *setModel {
	r := rand.New(rand.NewPCG(testSeed(t), 7))
	h := newHarness(4, r.Uint64())
	h.rough = rough
	return &setModel{t: t, h: h, r: r, sets: map[string]map[string]bool{}}
}

func (m *setModel) do(words ...string) string {
	raw, err := m.h.Do("main", commandLine(words...))
	require.NoError(m.t, err)
	return string(raw)
}

// fill gives a key a set of about so many members.
func (m *setModel) fill(key string, size int) {
	m.do("DEL", key)
	set := map[string]bool{}
	universe := []int{size + size/10 + 1, 2*size + 1, 5000}[m.r.IntN(3)]
	letters := []string{"", "m:", strings.Repeat("long ", 30)}[m.r.IntN(3)]
	for range size {
		set[letters+strconv.Itoa(m.r.IntN(universe))] = true
	}
	if m.r.IntN(3) == 0 && size > 0 {
		set["one more"] = true
	}
	for chunk := range slices.Chunk(slices.Collect(maps.Keys(set)), 100) {
		m.do(append([]string{"SADD", key}, chunk...)...)
	}
	m.sets[key] = set
}

// expect is what the operation makes of the keys.
func (m *setModel) expect(op string, keys []string) map[string]bool {
	result := maps.Clone(m.sets[keys[0]])
	if result == nil {
		result = map[string]bool{}
	}
	for _, key := range keys[1:] {
		other := m.sets[key]
		switch op {
		case "SINTER":
			maps.DeleteFunc(result, func(member string, _ bool) bool { return !other[member] })
		case "SUNION":
			maps.Copy(result, other)
		case "SDIFF":
			maps.DeleteFunc(result, func(member string, _ bool) bool { return other[member] })
		}
	}
	return result
}

// members reads a reply that is a set without line ends in it.
func members(t *testing.T, raw string) []string {
	lines := strings.Split(strings.TrimSuffix(raw, "\r\n"), "\r\n")
	n, err := strconv.Atoi(lines[0][1:])
	require.NoError(t, err, raw)
	require.Len(t, lines, 1+2*n, "the length that was announced")
	all := make([]string, 0, n)
	for i := 2; i < len(lines); i += 2 {
		all = append(all, lines[i])
	}
	return all
}

func (m *setModel) check(want map[string]bool, words ...string) {
	got := members(m.t, m.do(words...))
	slices.Sort(got)
	require.True(m.t, slices.Equal(slices.Sorted(maps.Keys(want)), got), "%.200q: %d members, want %d", words, len(got), len(want))
}

// TestSetAlgebra compares the operations with those on maps, on sets of all
// sizes together, so that each way to compute them is gone.
func TestSetAlgebra(t *testing.T) {
	sizes := []int{0, 1, 3, 20, 150, 700, 3000}
	for _, rough := range []bool{false, true} {
		m := newSetModel(t, rough)
		for range 30 {
			m.fill(fmt.Sprint("k", m.r.IntN(7)), sizes[m.r.IntN(len(sizes))])
			keys := make([]string, 1+m.r.IntN(5))
			for i := range keys {
				keys[i] = fmt.Sprint("k", m.r.IntN(8)) // k7 is never there
			}
			op := []string{"SINTER", "SUNION", "SDIFF"}[m.r.IntN(3)]
			want := m.expect(op, keys)
			m.check(want, append([]string{op}, keys...)...)
			if op == "SINTER" {
				limit := m.r.IntN(len(want) + 2)
				card := len(want)
				if limit > 0 {
					card = min(card, limit)
				}
				words := slices.Concat([]string{"SINTERCARD", fmt.Sprint(len(keys))}, keys, []string{"LIMIT", fmt.Sprint(limit)})
				require.Equal(t, fmt.Sprintf(":%d\r\n", card), m.do(words...))
			}
			dest := fmt.Sprint("k", m.r.IntN(7))
			require.Equal(t, fmt.Sprintf(":%d\r\n", len(want)), m.do(append([]string{op + "STORE", dest}, keys...)...))
			m.sets[dest] = want
			m.check(want, "SMEMBERS", dest)
		}
		require.NoError(t, m.h.verify())
	}
}

// TestSetAlgebraReply: a result that is longer than the head of a list comes
// whole and in one order.
func TestSetAlgebraReply(t *testing.T) {
	m := newSetModel(t, false)
	pad := strings.Repeat("-", 200)
	for _, key := range []string{"a", "b"} {
		m.sets[key] = map[string]bool{}
		for i := range 4000 {
			m.sets[key][fmt.Sprint(key[:i%2], i, pad)] = true
		}
		for chunk := range slices.Chunk(slices.Collect(maps.Keys(m.sets[key])), 500) {
			m.do(append([]string{"SADD", key}, chunk...)...)
		}
	}
	for _, op := range []string{"SINTER", "SUNION", "SDIFF"} {
		want := m.expect(op, []string{"a", "b"})
		raw := m.do(op, "a", "b")
		require.Equal(t, len(raw) > listHead, op == "SUNION" || len(want)*220 > listHead)
		all := members(t, raw)
		require.Len(t, all, len(want))
		require.Equal(t, all, members(t, m.do(op, "a", "b")))
		require.True(t, slices.IsSortedFunc(all, func(x, y string) int {
			return compareAt(m.h.space, x, y)
		}), "in the order of positions")
	}
	m.do("HELLO", "3")
	raw := m.do("SUNION", "a", "b")
	require.Equal(t, "~6000\r\n", raw[:7])
}

func compareAt(s *mvcc.Space, x, y string) int {
	a, b := s.Hash([]byte(x)), s.Hash([]byte(y))
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return strings.Compare(x, y)
}

// TestSetAlgebraExpiredMembers: a member that has expired is not there, in any
// of the ways.
func TestSetAlgebraExpiredMembers(t *testing.T) {
	for _, size := range []int{5, 2000} {
		m := newSetModel(t, false)
		all := make([]string, size)
		for i := range all {
			all[i] = strconv.Itoa(i)
		}
		m.do(append([]string{"SADD", "a"}, all...)...)
		m.do(append([]string{"SADD", "b"}, all...)...)
		tx := &m.h.tx
		tx.Begin(m.h.space, 0, m.h.now)
		w := tx.WriteSet([]byte("b"))
		require.True(t, w.SetExpireAt([]byte("3"), m.h.now+5))
		require.True(t, w.SetExpireAt([]byte("4"), m.h.now+5))
		w.Close()
		m.h.replica = nil // it has not seen this
		m.h.now += 10
		require.Equal(t, []string{"3", "4"}, slices.Sorted(slices.Values(members(t, m.do("SDIFF", "a", "b")))))
		require.Len(t, members(t, m.do("SINTER", "a", "b")), size-2)
		require.Len(t, members(t, m.do("SUNION", "b", "nosuch")), size-2)
		require.Equal(t, fmt.Sprintf(":%d\r\n", size-2), m.do("SINTERCARD", "2", "a", "b"))
		require.Equal(t, fmt.Sprintf(":%d\r\n", size-2), m.do("SUNIONSTORE", "d", "b"))
	}
}

// TestSetAlgebraCollisions: members of one position are told apart.
func TestSetAlgebraCollisions(t *testing.T) {
	m := newSetModel(t, true)
	whole := mvcc.Seed{1, 2}.Hasher()
	few := func(b []byte) uint64 { return whole(b) >> 61 << 30 }
	m.h.space, m.h.replica = mvcc.NewSpace(1, harnessDBs, few), nil
	for range 30 {
		for _, key := range []string{"a", "b", "c"} {
			m.fill(key, 100+m.r.IntN(300))
		}
		for _, op := range []string{"SINTER", "SUNION", "SDIFF"} {
			m.check(m.expect(op, []string{"a", "b", "c"}), op, "a", "b", "c")
			m.do(op+"STORE", "d", "a", "b")
			m.check(m.expect(op, []string{"a", "b"}), "SMEMBERS", "d")
		}
	}
	require.NoError(t, m.h.space.Check())
}

// TestSetAlgebraEvents: an event where something was stored or deleted, and
// nowhere else.
func TestSetAlgebraEvents(t *testing.T) {
	for _, rough := range []bool{false, true} {
		m := newSetModel(t, rough)
		f := func(line, want string) {
			m.do(strings.Fields(line)...)
			got := ""
			for _, e := range m.h.session("main").call.Events() {
				got += string(e.Class) + " " + e.Name
			}
			require.Equal(t, want, got, line)
		}
		f("SADD a 1 2", "s sadd")
		f("SADD b 2 3", "s sadd")
		f("SINTERSTORE d a b", "s sinterstore")
		f("SUNIONSTORE d a b", "s sunionstore")
		f("SDIFFSTORE d a b", "s sdiffstore")
		require.EqualValues(t, 1, m.h.tx.Changes)
		f("SDIFFSTORE d a a", "g del")
		require.EqualValues(t, 1, m.h.tx.Changes)
		f("SDIFFSTORE d a a", "")
		require.Zero(t, m.h.tx.Changes)
		f("SINTERSTORE d a none", "")
		f("SET s v", "$ set")
		f("SUNIONSTORE a s", "")
		require.NoError(t, m.h.verify())
	}
}

// TestSetAlgebraCost: what reads more than a few members is dear, whatever the
// number of keys; a small set and a huge one are not.
func TestSetAlgebraCost(t *testing.T) {
	m := newSetModel(t, false)
	for i := range 1000 {
		m.do("SADD", "big", strconv.Itoa(i))
	}
	m.do("SADD", "few", "1", "2")
	f := func(line string, want int) {
		c := m.h.session("main").call
		args := bytes.Fields([]byte(line))
		c.Begin(m.h.table.Lookup(args[0]), args)
		var v mvcc.View
		v.LiveView(m.h.space, 0, m.h.now)
		require.Equal(t, want, c.Row.Cost(&c, &v), line)
		require.Zero(t, v.Hits+v.Misses)
	}
	f("SINTER big big", 502)
	f("SINTER big few", 3)
	f("SINTER few none big", 3)
	f("SINTERCARD 2 big few LIMIT 1", 3)
	f("SINTERCARD 9 big few", 0)
	f("SINTERCARD x big few", 0)
	f("SUNION big few none", 253)
	f("SDIFF few big", 3)
	f("SDIFF big few", 502)
	f("SINTERSTORE d big few", 3)
	f("SUNIONSTORE big few", 1)
	f("SDIFFSTORE d none big", 2)
}

// BenchmarkSetAlgebra runs the operations on two sets of that size that have
// half of their members in common.
func BenchmarkSetAlgebra(b *testing.B) {
	for _, size := range []int{10, 300, 500_000} {
		space := mvcc.NewSpace(1, 1, mvcc.Seed{1, 2}.Hasher())
		var tx mvcc.Tx
		tx.Begin(space, 0, harnessStart)
		for i, key := range []string{"a", "b"} {
			w := tx.WriteSet([]byte(key))
			for j := range size {
				w.Add(fmt.Append(nil, "member:", j+i*size/2))
			}
			w.Close()
		}
		table := NewTable(setopCommands)
		for _, line := range []string{"SINTER a b", "SUNION a b", "SDIFF a b", "SINTERCARD 2 a b", "SUNIONSTORE d a b", "SINTERSTORE d a b"} {
			b.Run(fmt.Sprint(line, "/", size), func(b *testing.B) {
				var out Reply
				c := Call{Out: &out, Table: table, Now: harnessStart}
				args := bytes.Fields([]byte(line))
				b.ReportAllocs()
				for b.Loop() {
					tx.Begin(space, 0, harnessStart)
					c.Begin(table.Lookup(args[0]), args)
					out.Reset()
					if c.Row.Run.Kind() == KindView {
						require.NoError(b, RunView(&c, &tx.View))
						continue
					}
					require.NoError(b, RunOwner(&c, &tx))
				}
			})
		}
	}
}
