package commands

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// A listTalk makes random lines of the list commands: few keys, few different
// elements, so that they are found, and some arguments that are wrong.
type listTalk struct{ *rand.Rand }

func (r listTalk) pick(of ...string) string { return of[r.IntN(len(of))] }
func (r listTalk) key() string              { return r.pick("a", "b", "c", "{t}d", "{t}d2", "s") }
func (r listTalk) side() string {
	return r.pick("LEFT", "RIGHT", "left", "Right", "LEFT", "RIGHT", "UP")
}

func (r listTalk) elem() string {
	switch r.IntN(12) {
	case 0:
		return strconv.Itoa(int(int64(r.Uint64()) >> r.IntN(64)))
	case 1:
		return strings.Repeat("x", r.IntN(5)*200)
	}
	return r.pick("a", "b", "1", "2", "100", "-1", "seven", "eleven", "")
}

func (r listTalk) index() string {
	switch r.IntN(10) {
	case 0:
		return r.pick("x", "", "1.5", "9223372036854775807", "-9223372036854775808", "9223372036854775808")
	case 1, 2, 3:
		return strconv.Itoa(r.IntN(2000) - 1000)
	}
	return strconv.Itoa(r.IntN(20) - 10)
}

func (r listTalk) elems(n int) (all []string) {
	for range 1 + r.IntN(n) {
		all = append(all, r.elem())
	}
	return all
}

func (r listTalk) line() []string {
	key := r.key()
	switch r.IntN(20) {
	case 0, 1, 2:
		return append([]string{r.pick("LPUSH", "RPUSH", "LPUSHX", "RPUSHX"), key}, r.elems(4)...)
	case 3:
		return append([]string{r.pick("LPUSH", "RPUSH"), key}, r.elems(300)...)
	case 4:
		return []string{r.pick("LPOP", "RPOP"), key}
	case 5:
		return []string{r.pick("LPOP", "RPOP"), key, r.index()}
	case 6:
		return []string{"LMPOP", "2", key, r.key(), r.side(), "COUNT", r.index()}
	case 7, 8:
		return []string{"LMOVE", key, r.key(), r.side(), r.side()}
	case 9:
		return []string{"RPOPLPUSH", key, r.key()}
	case 10:
		return []string{"LINDEX", key, r.index()}
	case 11:
		return []string{"LSET", key, r.index(), r.elem()}
	case 12, 13:
		return []string{"LINSERT", key, r.pick("BEFORE", "AFTER", "after", "IN"), r.elem(), r.elem()}
	case 14:
		return []string{"LRANGE", key, r.index(), r.index()}
	case 15:
		if r.IntN(3) > 0 {
			return []string{"LTRIM", key, strconv.Itoa(r.IntN(20)), "-" + strconv.Itoa(1+r.IntN(20))}
		}
		return []string{"LTRIM", key, r.index(), r.index()}
	case 16:
		return []string{"LREM", key, r.index(), r.elem()}
	case 17:
		return []string{"LPOS", key, r.elem(), r.pick("RANK", "COUNT", "MAXLEN"), r.index(), r.pick("RANK", "COUNT", "MAXLEN"), r.index()}
	case 18:
		return []string{"LLEN", key}
	}
	return []string{r.pick("DEL", "COPY", "RENAME"), key, r.key()}
}

// TestListsDuel sends random lines to redis-server and to the rows, and compares
// whole lists now and then.
func TestListsDuel(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	r := listTalk{rand.New(rand.NewPCG(testSeed(t), 1))}
	h := newHarness(4, 1)
	h.rough = true
	duelLine(t, redis, h, []string{"SET", "s", "string"})
	for i := range 6000 {
		line := r.line()
		if line[0] == "LPOS" && line[4] == "-9223372036854775808" || line[len(line)-1] == "-9223372036854775808" && line[0] == "LPOS" {
			continue // what it means as a rank is left to the C compiler
		}
		duelLine(t, redis, h, line)
		if i%50 == 0 {
			for _, key := range []string{"a", "b", "c", "{t}d", "{t}d2"} {
				duelLine(t, redis, h, []string{"LRANGE", key, "0", "-1"})
			}
		}
	}
	require.NoError(t, h.verify())
}

// fillList makes a list of n elements: e0, e1, …
func fillList(t testing.TB, h *harness, key string, n int) {
	var tx mvcc.Tx
	tx.Begin(h.space, 0, h.now)
	w := tx.WriteList([]byte(key))
	for i := range n {
		w.PushRight(fmt.Appendf(nil, "e%d", i))
	}
	w.Close()
	require.NoError(t, h.space.Check())
}

// TestListCosts wants what is quick to stay where it is, and what takes longer
// than a small command may hold its shard to go aside (200 and more).
func TestListCosts(t *testing.T) {
	h := bareHarness(1, 1)
	fillList(t, h, "small", 100)
	fillList(t, h, "big", 1_000_000)
	const aside = 200
	f := func(least, most int, line ...string) {
		t.Helper()
		args := make([][]byte, len(line))
		for i, a := range line {
			args[i] = []byte(a)
		}
		row, err := h.table.Resolve(args)
		require.NoError(t, err)
		s := h.session("main")
		s.call.Begin(row, args)
		cost := h.cost(&s.call)
		require.GreaterOrEqual(t, cost, least, line)
		require.Less(t, cost, most, line)
	}
	f(0, aside, "LRANGE", "big", "0", "599")
	f(0, aside, "LRANGE", "big", "-600", "-1")
	f(aside, 1<<30, "LRANGE", "big", "0", "-1")
	f(0, aside, "LRANGE", "small", "0", "-1")
	f(0, aside, "LRANGE", "none", "0", "-1")
	f(aside, 1<<30, "LREM", "big", "0", "x")
	f(0, aside, "LREM", "small", "0", "x")
	f(aside, 1<<30, "LINSERT", "big", "BEFORE", "x", "y")
	f(aside, 1<<30, "LPOS", "big", "x")
	f(0, aside, "LPOS", "big", "x", "MAXLEN", "1000")
	f(0, aside, "LPOP", "big")
	f(0, aside, "LPOP", "big", "100")
	f(aside, 1<<30, "RPOP", "big", "1000000")
	f(aside, 1<<30, "LMPOP", "2", "none", "big", "LEFT", "COUNT", "1000000")
	f(0, aside, "LMPOP", "2", "none", "big", "LEFT")
	f(0, aside, "LTRIM", "big", "10", "20")
	f(0, aside, "LSET", "big", "500000", "x")
	f(0, aside, "LINDEX", "big", "500000")
}

// TestLremMany removes many elements here and there, from either end, while
// versions are made.
func TestLremMany(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	for range 20 {
		h := newHarness(1, 1)
		h.rough = true
		n, want := 1+r.IntN(4000), 0
		var left []string
		var tx mvcc.Tx
		for _, space := range []*mvcc.Space{h.space, h.replica.space} {
			tx.Begin(space, 0, h.now)
			w := tx.WriteList([]byte("l"))
			r := rand.New(rand.NewPCG(uint64(n), 1))
			left, want = nil, 0
			for i := range n {
				elem := fmt.Sprint("e", i)
				if r.IntN(2) == 0 {
					elem = "x"
					want++
				} else {
					left = append(left, elem)
				}
				w.PushRight([]byte(elem))
			}
			w.Close()
		}
		raw, err := h.Do("main", [][]byte{[]byte("LREM"), []byte("l"), []byte(listTalk{r}.pick("0", "10000", "-10000")), []byte("x")})
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf(":%d\r\n", want), string(raw))
		tx.LiveView(h.space, 0, h.now)
		var got []string
		if e, ok := tx.Peek([]byte("l")); ok {
			l := e.List()
			l.Ascend(0, func(b []byte) bool { got = append(got, string(b)); return true })
		}
		require.Equal(t, left, got)
		require.NoError(t, h.verify())
	}
}

// TestLongElements wants long elements of a list to be sent without a copy, and
// not to change when the list does (the harness looks at that).
func TestLongElements(t *testing.T) {
	h := newHarness(1, 1)
	long := strings.Repeat("long", 10_000)
	do := func(line ...string) string {
		args := make([][]byte, len(line))
		for i, a := range line {
			args[i] = []byte(a)
		}
		raw, err := h.Do("main", args)
		require.NoError(t, err)
		return string(raw)
	}
	do("RPUSH", "l", "a", long, "b", long+long)
	require.Contains(t, do("LRANGE", "l", "0", "-1"), long)
	do("LSET", "l", "1", "short")
	require.Contains(t, do("RPOP", "l"), long+long)
	do("LPUSH", "l", strings.Repeat("other", 10_000))
	require.NotEmpty(t, h.kept)
	require.NoError(t, h.verify())
}

func BenchmarkLrange(b *testing.B) {
	h := bareHarness(1, 1)
	var tx mvcc.Tx
	tx.Begin(h.space, 0, h.now)
	w := tx.WriteList([]byte("l"))
	for range 1000 {
		w.PushLeft([]byte("xxx"))
	}
	w.Close()
	args := [][]byte{[]byte("LRANGE"), []byte("l"), []byte("0"), []byte("599")}
	row, _ := h.table.Resolve(args)
	s := h.session("main")
	b.ReportAllocs()
	for b.Loop() {
		s.call.Begin(row, args)
		s.view.LiveView(h.space, 0, h.now)
		if err := RunView(&s.call, &s.view); err != nil {
			b.Fatal(err)
		}
		s.out.Recycle()
	}
}
