package commands

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// collections are the three types with members, and the words to use them by.
var collections = []struct{ typ, add, remove, scan string }{
	{"hash", "HSET", "HDEL", "HSCAN"}, {"set", "SADD", "SREM", "SSCAN"}, {"zset", "ZADD", "ZREM", "ZSCAN"},
}

// addLine adds a member to a value of the type.
func addLine(typ, key, member string) []string {
	switch typ {
	case "hash":
		return []string{"HSET", key, member, "value of " + member}
	case "set":
		return []string{"SADD", key, member}
	}
	return []string{"ZADD", key, "1", member}
}

// TestScanGuarantee: while members come and go, the value grows from nothing to
// a big one and shrinks again, one that is there from the first call to the
// last is returned exactly once, and one that never was, never (A14).
func TestScanGuarantee(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 2))
	for _, c := range collections {
		t.Run(c.typ, func(t *testing.T) {
			for _, size := range []int{5, 40, 400, 3000} {
				h := bareHarness(4, r.Uint64())
				scanRun(t, r, h, c.typ, c.remove, c.scan, size)
				require.NoError(t, h.space.Check())
			}
		})
	}
}

func scanRun(t *testing.T, r *rand.Rand, h *harness, typ, remove, scan string, size int) {
	name := func() string { return "member:" + strconv.Itoa(r.IntN(size)) }
	there := map[string]bool{}
	for range size / 2 {
		m := name()
		do(t, h, addLine(typ, "k", m)...)
		there[m] = true
	}
	stays, ever := map[string]bool{}, map[string]bool{}
	for m := range there {
		stays[m], ever[m] = true, true
	}
	got, cursor := map[string]int{}, "0"
	for calls := 0; ; calls++ {
		require.Less(t, calls, 2*size+10)
		v := do(t, h, scan, "k", cursor, "COUNT", strconv.Itoa(1+r.IntN(20)))
		step := 1
		if typ != "set" {
			step = 2
		}
		for i := 0; i < len(v.Elems[1].Elems); i += step {
			got[v.Elems[1].Elems[i].Text]++
		}
		if cursor = v.Elems[0].Text; cursor == "0" {
			break
		}
		for range r.IntN(6) {
			m := name()
			if r.IntN(3) > 0 {
				do(t, h, remove, "k", m)
				delete(there, m)
				delete(stays, m)
				continue
			}
			do(t, h, addLine(typ, "k", m)...)
			there[m], ever[m] = true, true
		}
	}
	for m := range stays {
		require.Equal(t, 1, got[m], m)
	}
	for m := range got {
		require.True(t, ever[m], m)
	}
}

// TestScanMatch: MATCH over a big value returns what matches, of many pages.
func TestScanMatch(t *testing.T) {
	h := newHarness(4, 1)
	line := []string{"HSET", "k"}
	for i := range 2000 {
		line = append(line, fmt.Sprint("field:", i), strings.Repeat("v", i%100))
	}
	do(t, h, line...)
	v := do(t, h, "HSCAN", "k", "0", "COUNT", "1000000", "MATCH", "*:1?")
	require.Equal(t, "0", v.Elems[0].Text)
	require.Len(t, v.Elems[1].Elems, 20)
}

// TestLongScanPage: a page whose reply is longer than is kept of it.
func TestLongScanPage(t *testing.T) {
	h := bareHarness(1, 1)
	want := map[string]string{}
	for i := range 40 {
		field, value := fmt.Sprint("field:", i), strings.Repeat(fmt.Sprint(i%10), 40_000)
		do(t, h, "HSET", "k", field, value)
		want[field] = value
	}
	elems := do(t, h, "HSCAN", "k", "0", "COUNT", "100").Elems[1].Elems
	require.Len(t, elems, 80)
	for i := 0; i < len(elems); i += 2 {
		require.Equal(t, want[elems[i].Text], elems[i+1].Text)
		delete(want, elems[i].Text)
	}
	require.Empty(t, want)
}

// A memberModel is a value whose members expire.
type memberModel struct {
	members map[string]int64 // unix ms; 0: never
	now     int64
}

func (m *memberModel) live() []string {
	var all []string
	for name, at := range m.members {
		if at == 0 || at > m.now {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// TestMemberExpiryModel adds, removes and lets members expire at random, in
// small and in big values. The harness compares with what the effects alone
// make of it.
func TestMemberExpiryModel(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 3))
	for _, c := range collections {
		for _, size := range []int{4, 30, 600} {
			t.Run(fmt.Sprint(c.typ, size), func(t *testing.T) {
				h := newHarness(4, r.Uint64())
				h.rough = true
				m := &memberModel{members: map[string]int64{}, now: h.now}
				for range 1500 {
					memberStep(t, r, h, m, c.typ, c.remove, size)
				}
				require.NoError(t, h.verify())
			})
		}
	}
}

func memberStep(t *testing.T, r *rand.Rand, h *harness, m *memberModel, typ, remove string, size int) {
	name := "m" + strconv.Itoa(r.IntN(size))
	at, there := m.members[name]
	there = there && (at == 0 || at > m.now)
	switch r.IntN(6) {
	case 0, 1:
		do(t, h, addLine(typ, "k", name)...)
		if !there || typ == "hash" {
			m.members[name] = 0
		}
	case 2:
		require.Equal(t, strconv.FormatInt(toInt(there), 10), do(t, h, remove, "k", name).Text)
		delete(m.members, name)
	case 3:
		require.NoError(t, h.Advance(time.Duration(r.IntN(30))*time.Millisecond))
		m.now = h.now
	case 4:
		for range size / 4 { // many at the same instant
			m.expire(t, r, h, "m"+strconv.Itoa(r.IntN(size)), m.now+20)
		}
	case 5:
		m.expire(t, r, h, name, m.now+int64(r.IntN(100)))
	}
	require.Equal(t, m.live(), membersOf(t, h, typ), "of %s", typ)
}

func (m *memberModel) expire(t *testing.T, _ *rand.Rand, h *harness, name string, at int64) {
	was, there := m.members[name]
	there = there && (was == 0 || was > m.now)
	v := do(t, h, "PEXPIREMEMBERAT", "k", name, strconv.FormatInt(at, 10))
	require.Equal(t, strconv.FormatInt(toInt(there), 10), v.Text)
	if there {
		m.members[name] = at
	}
}

// membersOf lists the members as each of two commands gives them.
func membersOf(t *testing.T, h *harness, typ string) []string {
	line := map[string][]string{"hash": {"HKEYS", "k"}, "set": {"SMEMBERS", "k"}, "zset": {"ZRANGE", "k", "0", "-1"}}[typ]
	var all []string
	for _, e := range do(t, h, line...).Elems {
		all = append(all, e.Text)
	}
	slices.Sort(all)
	return all
}

// TestHeapOfExpiredMembers: a write meets more expired members than it removes
// on the way.
func TestHeapOfExpiredMembers(t *testing.T) {
	h := newHarness(1, 1)
	addNumbers(t, h, "k", 1000)
	for i := range 1000 {
		do(t, h, "PEXPIREMEMBERAT", "k", strconv.Itoa(i), strconv.FormatInt(h.now+1000, 10))
	}
	do(t, h, "SADD", "k", "stays")
	require.NoError(t, h.Advance(time.Second))
	require.Len(t, do(t, h, "SMEMBERS", "k").Elems, 1)
	require.Equal(t, "1", do(t, h, "SADD", "k", "999", "stays").Text)
	require.Equal(t, "0", do(t, h, "SREM", "k", "998").Text)
	require.Len(t, do(t, h, "SMEMBERS", "k").Elems, 2)
	require.NotEmpty(t, do(t, h, "SRANDMEMBER", "k").Text)
	require.Len(t, do(t, h, "SRANDMEMBER", "k", "100").Elems, 2)
	require.Len(t, do(t, h, "SPOP", "k", "100").Elems, 2)
	require.NoError(t, h.verify())
}

// TestMemberCosts: what is heavy says so.
func TestMemberCosts(t *testing.T) {
	h := newHarness(1, 1)
	addNumbers(t, h, "s", 1000)
	line := []string{"HSET", "h"}
	for i := range 1000 {
		line = append(line, strconv.Itoa(i), "v")
	}
	do(t, h, line...)
	f := func(want int, line ...string) {
		t.Helper()
		args := make([][]byte, len(line))
		for i, w := range line {
			args[i] = []byte(w)
		}
		row, err := h.table.Resolve(args)
		require.NoError(t, err)
		c := &Call{Args: args, Row: row}
		require.Equal(t, want, h.cost(c))
	}
	f(1000, "SMEMBERS", "s")
	f(1000, "HGETALL", "h")
	f(1, "HGETALL", "none")
	f(10, "HSCAN", "h", "0")
	f(1000, "HSCAN", "h", "0", "COUNT", "99999")
	f(500, "SPOP", "s", "500")
	f(1000, "SRANDMEMBER", "s", "5000")
	f(5000, "SRANDMEMBER", "s", "-5000")
	f(unknownCost, "HRANDFIELD", "h", "-9223372036854775808")
	f(3, "SADD", "s", "a", "b", "c")
	f(2, "HSET", "h", "a", "1", "b", "2")
}
